//! What clients ask of models beside their answers, in the shapes of Anthropic's and Ollama's APIs.

use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::{Path, State};
use axum::http::{HeaderMap, HeaderValue, Method, Request, Response};
use axum::response::IntoResponse;
use del_wire::Asked;
use del_wire::anthropic::plain;
use del_wire::time::rfc3339;
use serde_json::{Map, Value, json};
use tokio::task::JoinSet;

use crate::api::Api;
use crate::document::Document;
use crate::family::Family;
use crate::member::{Question, Sent};
use crate::of_model::OfModel;
use crate::proxy::{Proxy, Setup, text};
use crate::refusal::Refusal;
use crate::route::{Route, Routes};
use crate::upstream::Engine;
use del_wire::ServerApi;
use del_wire::count::{Counted, Counter};

type Shared = State<Arc<Proxy>>;
type Outcome = Result<Response<Body>, Refusal>;

/// The version of Ollama's API that is spoken here.
const OLLAMA: &str = "0.13.0";
/// A model that stays loaded does so until then.
const FOREVER: &str = "2318-01-01T00:00:00Z";
/// The longest answer that is read.
const LONGEST: usize = 32 << 20;
/// How long a server may take to list its models.
const LIST: Duration = Duration::from_secs(10);

/// The models of all routes, in the shape that the client's API has.
pub(crate) async fn models(State(proxy): Shared, request: Request<Body>) -> Outcome {
    let (parts, _) = request.into_parts();
    let setup = proxy.setup();
    let anthropic = Family::of(&parts) == Family::Anthropic;
    if let Some(route) = setup.routes.only().filter(|only| !anthropic || only.api == ServerApi::Anthropic) {
        return proxy.pass(&setup, route, &parts, "/models", Bytes::new()).await;
    }
    let models = listed(&proxy, &setup, &parts.headers).await?;
    if !anthropic {
        return Ok(Document(json!({"object": "list", "data": models})).into_response());
    }
    let models: Vec<Value> = models.iter().map(of_anthropic).collect();
    let end = |model: Option<&Value>| model.map_or(Value::Null, |model| model["id"].clone());
    let (first, last) = (end(models.first()), end(models.last()));
    Ok(Document(json!({"data": models, "has_more": false, "first_id": first, "last_id": last}))
        .into_response())
}

/// A model in the shape of Anthropic's API.
fn of_anthropic(model: &Value) -> Value {
    let (name, created) = (&model["id"], rfc3339(created(model)));
    json!({"type": "model", "id": name, "display_name": name, "created_at": created})
}

/// One model, in that shape.
pub(crate) async fn model(State(proxy): Shared, Path(name): Path<String>, request: Request<Body>) -> Outcome {
    let (parts, _) = request.into_parts();
    let setup = proxy.setup();
    let anthropic = Family::of(&parts) == Family::Anthropic;
    if let Some(route) = setup.routes.only().filter(|only| !anthropic || only.api == ServerApi::Anthropic) {
        let path = parts.uri.path().trim_start_matches("/v1").to_owned();
        return proxy.pass(&setup, route, &parts, &path, Bytes::new()).await;
    }
    let models = listed(&proxy, &setup, &parts.headers).await?;
    let model = models.into_iter().find(|model| model["id"] == name);
    let model = model.ok_or_else(|| Refusal::not_found(format!("there is no model `{name}`")))?;
    Ok(Document(if anthropic { of_anthropic(&model) } else { model }).into_response())
}

/// The same for Ollama's clients.
pub(crate) async fn tags(State(proxy): Shared, headers: HeaderMap) -> Outcome {
    let models = listed(&proxy, &proxy.setup(), &headers).await?;
    let models = models.iter().map(|model| {
        json!({"name": model["id"], "model": model["id"], "modified_at": rfc3339(created(model)), "size": 0,
            "digest": "", "details": details()})
    });
    Ok(Document(json!({"models": models.collect::<Value>()})).into_response())
}

/// The models that are loaded, for Ollama's clients: Ollama says which, and other servers have theirs at hand.
pub(crate) async fn loaded(State(proxy): Shared, headers: HeaderMap) -> Outcome {
    let setup = proxy.setup();
    let mut models = Vec::new();
    for route in setup.routes.iter() {
        let sent = setup.sent(&headers, Bytes::new());
        if route.api == ServerApi::Ollama || route.engine.is_none() {
            let question = Question::Above(Method::GET, "/api/ps");
            if let Some(said) = answer(&proxy, route, question, &sent).await
                && let Some(said) = said["models"].as_array()
            {
                models.extend(said.iter().cloned());
                continue;
            }
        }
        let Ok(served) = served(&proxy, &setup, route, &headers).await else { continue };
        models.extend(named(&setup.routes, route, &served).iter().map(|model| {
            json!({"name": model["id"], "model": model["id"], "size": 0, "digest": "", "details": details(),
                "expires_at": FOREVER, "size_vram": 0})
        }));
    }
    Ok(Document(json!({"models": models})).into_response())
}

/// One model, for Ollama's clients: the server's own words, where it is Ollama, else that it calls tools.
pub(crate) async fn show(State(proxy): Shared, request: Request<Body>) -> Outcome {
    let OfModel { parts, setup, route, model: name, .. } =
        OfModel::read(&proxy, request, &["model", "name"]).await?;
    if name.is_empty() {
        return Err(Refusal::bad_request("expected the name of a model as `model`"));
    }
    let question = json!({"model": route.target(&name)});
    if let Some(mut said) = ask(&proxy, &setup, &route, &parts.headers, "/api/show", &question).await {
        if let Some(Value::Array(able)) = said.get_mut("capabilities")
            && !able.contains(&json!("tools"))
        {
            // Tools are what the proxy adds.
            able.push(json!("tools"));
        }
        return Ok(Document(said).into_response());
    }
    if !listed(&proxy, &setup, &parts.headers).await?.iter().any(|model| model["id"] == name) {
        return Err(Refusal::not_found(format!("model '{name}' not found")));
    }
    Ok(Document(
        json!({"modelfile": "", "parameters": "", "template": "", "details": details(), "model_info": {},
        "capabilities": ["completion", "tools"]}),
    )
    .into_response())
}

/// Ollama's clients ask whether it is new enough.
pub(crate) async fn version() -> Document {
    Document(json!({"version": OLLAMA}))
}

/// How many tokens a request for a message has.
pub(crate) async fn count_tokens(State(proxy): Shared, request: Request<Body>) -> Outcome {
    let own = (ServerApi::Anthropic, "/messages/count_tokens");
    count(&proxy, request, Api::Messages, own, |tokens| json!({"input_tokens": tokens})).await
}

/// How many tokens a request for a response has.
pub(crate) async fn input_tokens(State(proxy): Shared, request: Request<Body>) -> Outcome {
    let own = (ServerApi::Responses, "/responses/input_tokens");
    let told = |tokens| json!({"object": "response.input_tokens", "input_tokens": tokens});
    count(&proxy, request, Api::Responses, own, told).await
}

/// The server's count where it has one, by itself where it is of the client's `own` API, else an estimate, which a header says.
async fn count(
    proxy: &Arc<Proxy>,
    request: Request<Body>,
    api: Api,
    own: (ServerApi, &str),
    told: impl Fn(u64) -> Value,
) -> Outcome {
    let OfModel { parts, setup, route, body, bytes, .. } = OfModel::read(proxy, request, &["model"]).await?;
    if route.api == own.0 {
        return proxy.pass(&setup, &route, &parts, own.1, bytes).await;
    }
    let mut taken = api.take(body, None, &proxy.memory.of(&parts.extensions))?;
    plain::make(&mut taken.asked.body, false);
    if let Some(count) = counted(proxy, &setup, &route, &parts.headers, &taken.asked).await {
        return Ok(Document(told(count)).into_response());
    }
    let text: u64 = ["messages", "tools"]
        .iter()
        .filter_map(|name| taken.asked.body.get(*name))
        .map(|said| said.to_string().len() as u64)
        .sum();
    let estimated = [("x-del-estimated", HeaderValue::from_static("input_tokens"))];
    Ok((estimated, Document(told(text.div_ceil(4)))).into_response())
}

/// The server's count: of llama.cpp, or of vLLM.
async fn counted(
    proxy: &Proxy,
    setup: &Setup,
    route: &Route,
    headers: &HeaderMap,
    asked: &Asked,
) -> Option<u64> {
    let mut body = Map::new();
    for name in ["model", "messages", "tools"] {
        if let Some(value) = asked.body.get(name) {
            body.insert(name.to_owned(), value.clone());
        }
    }
    let counter = if route.engine == Some(Engine::LlamaCpp) { Counter::LlamaCpp } else { Counter::Vllm };
    let mut question = counter.ask(&Value::Object(body));
    loop {
        let said = ask(proxy, setup, route, headers, question.path, &question.body).await?;
        match counter.hear(&said) {
            Counted::Tokens(tokens) => return Some(tokens),
            Counted::Ask(more) => question = more,
            Counted::Unknown => return None,
        }
    }
}

/// The answer to a question that not every server understands.
async fn ask(
    proxy: &Proxy,
    setup: &Setup,
    route: &Route,
    headers: &HeaderMap,
    path: &str,
    body: &Value,
) -> Option<Value> {
    let sent = setup.sent(headers, body.to_string().into());
    answer(proxy, route, Question::Above(Method::POST, path), &sent).await
}

async fn answer(proxy: &Proxy, route: &Route, question: Question<'_>, sent: &Sent<'_>) -> Option<Value> {
    let response = route.pool.turn(&proxy.metrics).ask(question, sent).await.ok()?;
    if !response.status().is_success() {
        return None;
    }
    let text = text(response.into_body(), LONGEST).await.ok()?;
    serde_json::from_str(&text).ok().filter(Value::is_object)
}

/// The models of all routes whose servers answer, under the names by which they are asked for here.
async fn listed(proxy: &Arc<Proxy>, setup: &Arc<Setup>, headers: &HeaderMap) -> Result<Vec<Value>, Refusal> {
    let mut lists = JoinSet::new();
    for (at, route) in setup.routes.iter().enumerate() {
        let (proxy, setup, route) = (Arc::clone(proxy), Arc::clone(setup), Arc::clone(route));
        let headers = headers.clone();
        lists.spawn(async move {
            let served = tokio::time::timeout(LIST, served(&proxy, &setup, &route, &headers)).await;
            let late = |_| Err(Refusal::too_late("the model server does not list its models in time"));
            (at, served.unwrap_or_else(late).map(|served| named(&setup.routes, &route, &served)))
        });
    }
    let mut lists = lists.join_all().await;
    lists.sort_by_key(|(at, _)| *at);
    let (mut models, mut refused): (Vec<Value>, _) = (Vec::new(), None);
    let mut answers = false;
    for (_, list) in lists {
        match list {
            Ok(list) => {
                answers = true;
                for model in list {
                    if !models.iter().any(|known| known["id"] == model["id"]) {
                        models.push(model);
                    }
                }
            }
            Err(refusal) => refused = Some(refusal),
        }
    }
    match refused {
        Some(refusal) if !answers => Err(refusal),
        _ => Ok(models),
    }
}

/// What the servers of a route say of their models.
async fn served(
    proxy: &Proxy,
    setup: &Setup,
    route: &Route,
    headers: &HeaderMap,
) -> Result<Vec<Value>, Refusal> {
    let sent = setup.sent(headers, Bytes::new());
    let question = Question::Path(Method::GET, "/models");
    let response = route.pool.turn(&proxy.metrics).ask(question, &sent).await?;
    let (status, said) = (response.status(), text(response.into_body(), LONGEST).await?);
    let said: Value = serde_json::from_str(&said).unwrap_or_default();
    match said["data"].as_array().filter(|_| status.is_success()) {
        Some(models) => Ok(models.iter().filter(|model| model["id"].is_string()).cloned().collect()),
        None => Err(Refusal::bad_gateway("the model server lists no models")),
    }
}

/// The models of a route, of those that are `served`, by the names that lead there.
fn named(routes: &Routes, route: &Arc<Route>, served: &[Value]) -> Vec<Value> {
    let settings = &route.settings;
    let own_names = settings.models.iter().filter(|name| !name.contains('*'));
    let own = own_names.map(|name| {
        let known = served.iter().find(|model| model["id"] == route.target(name));
        let mut model =
            known.cloned().unwrap_or_else(|| json!({"object": "model", "created": 0, "owned_by": "del"}));
        model["id"] = json!(name);
        model
    });
    // All other names that lead to an alias mean the same model.
    let others = served.iter().filter(|model| {
        let leads_here = |name| routes.find(name).is_some_and(|found| Arc::ptr_eq(found, route));
        (settings.model.is_none() || settings.models.is_empty())
            && model["id"].as_str().is_some_and(leads_here)
    });
    own.chain(others.cloned()).collect()
}

fn created(model: &Value) -> u64 {
    model["created"].as_u64().unwrap_or(0)
}

fn details() -> Value {
    json!({"parent_model": "", "format": "gguf", "family": "", "families": [], "parameter_size": "",
        "quantization_level": ""})
}
