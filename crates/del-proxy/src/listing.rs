//! What clients ask of models beside their answers: how long requests are, and what Ollama's clients ask.

use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, Method, Request, Response};
use axum::response::IntoResponse;
use del_wire::Asked;
use del_wire::anthropic::plain;
use del_wire::time::rfc3339;
use serde_json::{Map, Value, json};

use crate::api::Api;
use crate::document::Document;
use crate::member::{Question, Sent};
use crate::models::{created, listed, named, served};
use crate::of_model::OfModel;
use crate::proxy::{Proxy, Setup, text};
use crate::refusal::Refusal;
use crate::route::Route;
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

/// The models of all routes, for Ollama's clients.
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

fn details() -> Value {
    json!({"parent_model": "", "format": "gguf", "family": "", "families": [], "parameter_size": "",
        "quantization_level": ""})
}
