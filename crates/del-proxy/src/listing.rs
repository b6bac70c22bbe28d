//! What clients ask of models beside their answers, in the shapes of Anthropic's and Ollama's APIs.

use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, Method, Request, Response, header};
use axum::response::IntoResponse;
use del_wire::Asked;
use serde_json::{Map, Value, json};

use crate::api::{Api, Family, rfc3339};
use crate::document::Document;
use crate::proxy::Proxy;
use crate::refusal::Refusal;
use crate::upstream::ServerApi;

type Shared = State<Arc<Proxy>>;
type Outcome = Result<Response<Body>, Refusal>;

/// The version of Ollama's API that is spoken here.
const OLLAMA: &str = "0.13.0";
/// The longest answer that is read.
const LONGEST: usize = 32 << 20;

/// The models of the server, in the shape that the client's API has.
pub(crate) async fn models(State(proxy): Shared, request: Request<Body>) -> Outcome {
    let (parts, _) = request.into_parts();
    let anthropic = Family::of(&parts) == Family::Anthropic;
    if !anthropic || proxy.settings.upstream.api == ServerApi::Anthropic {
        return proxy.pass(&parts, "/models", Bytes::new()).await;
    }
    let models: Vec<Value> = listed(&proxy, &parts.headers)
        .await?
        .iter()
        .map(|(name, created)| {
            json!({"type": "model", "id": name, "display_name": name, "created_at": rfc3339(*created)})
        })
        .collect();
    let end = |model: Option<&Value>| model.map_or(Value::Null, |model| model["id"].clone());
    let (first, last) = (end(models.first()), end(models.last()));
    Ok(Document(json!({"data": models, "has_more": false, "first_id": first, "last_id": last}))
        .into_response())
}

/// The same for Ollama's clients.
pub(crate) async fn tags(State(proxy): Shared, headers: HeaderMap) -> Outcome {
    let models = listed(&proxy, &headers).await?;
    let models = models.iter().map(|(name, created)| {
        json!({"name": name, "model": name, "modified_at": rfc3339(*created), "size": 0, "digest": "",
            "details": details()})
    });
    Ok(Document(json!({"models": models.collect::<Value>()})).into_response())
}

/// One model, for Ollama's clients: the server's own words, where it is Ollama, else that it calls tools.
pub(crate) async fn show(State(proxy): Shared, request: Request<Body>) -> Outcome {
    let (parts, body) = request.into_parts();
    let bytes = proxy.read(&parts.headers, body).await?;
    let asked: Value = serde_json::from_slice(&bytes).unwrap_or_default();
    let name = asked["model"].as_str().or_else(|| asked["name"].as_str());
    let name = name.ok_or_else(|| Refusal::bad_request("expected the name of a model as `model`"))?;
    if let Some(mut said) = ask(&proxy, &parts.headers, "/api/show", &json!({"model": name})).await {
        if let Some(Value::Array(able)) = said.get_mut("capabilities")
            && !able.contains(&json!("tools"))
        {
            // Tools are what the proxy adds.
            able.push(json!("tools"));
        }
        return Ok(Document(said).into_response());
    }
    if !listed(&proxy, &parts.headers).await?.iter().any(|(known, _)| known == name) {
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

/// How many tokens a request has: the server's count where it has one, else an estimate, which a header says.
pub(crate) async fn count_tokens(State(proxy): Shared, request: Request<Body>) -> Outcome {
    let (parts, body) = request.into_parts();
    let bytes = proxy.read(&parts.headers, body).await?;
    if proxy.settings.upstream.api == ServerApi::Anthropic {
        return proxy.pass(&parts, "/messages/count_tokens", bytes).await;
    }
    let body: Map<String, Value> = serde_json::from_slice(&bytes)
        .map_err(|error| Refusal::bad_request(format!("expected a JSON object as body, got {error}")))?;
    let taken = Api::Messages.take(body, Vec::new())?;
    if let Some(count) = counted(&proxy, &parts.headers, &taken.asked).await {
        return Ok(Document(json!({"input_tokens": count})).into_response());
    }
    let text: usize = ["messages", "tools"]
        .iter()
        .filter_map(|name| taken.asked.body.get(*name))
        .map(|said| said.to_string().len())
        .sum();
    let estimated = [("x-del-estimated", HeaderValue::from_static("input_tokens"))];
    Ok((estimated, Document(json!({"input_tokens": text.div_ceil(4)}))).into_response())
}

/// The server's count: of llama.cpp, or of vLLM.
async fn counted(proxy: &Proxy, headers: &HeaderMap, asked: &Asked) -> Option<u64> {
    let mut body = Map::new();
    for name in ["model", "messages", "tools"] {
        if let Some(value) = asked.body.get(name) {
            body.insert(name.to_owned(), value.clone());
        }
    }
    let body = Value::Object(body);
    if !proxy.settings.upstream.llama_cpp {
        return ask(proxy, headers, "/tokenize", &body).await?["count"].as_u64();
    }
    let said = ask(proxy, headers, "/apply-template", &body).await?;
    let prompt = said["prompt"].as_str()?;
    let tokens = json!({"content": prompt, "add_special": true, "parse_special": true});
    let said = ask(proxy, headers, "/tokenize", &tokens).await?;
    said["tokens"].as_array().and_then(|tokens| u64::try_from(tokens.len()).ok())
}

/// The answer to a question that not every server understands.
async fn ask(proxy: &Proxy, headers: &HeaderMap, path: &str, body: &Value) -> Option<Value> {
    let upstream = &proxy.settings.upstream;
    let mut headers = upstream.forwarded(headers, proxy.gate.wants_key());
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    let url = format!("{}{path}", upstream.root());
    let response = upstream.send_to(Method::POST, url, headers, body.to_string().into()).await.ok()?;
    if !response.status().is_success() {
        return None;
    }
    let text = proxy.text(response.into_body(), LONGEST).await.ok()?;
    serde_json::from_str(&text).ok().filter(Value::is_object)
}

/// The models of the server, and when they were made.
async fn listed(proxy: &Proxy, headers: &HeaderMap) -> Result<Vec<(String, u64)>, Refusal> {
    let upstream = &proxy.settings.upstream;
    let headers = upstream.forwarded(headers, proxy.gate.wants_key());
    let response = upstream.send(Method::GET, "/models", headers, Bytes::new()).await?;
    let (status, said) = (response.status(), proxy.text(response.into_body(), LONGEST).await?);
    let said: Value = serde_json::from_str(&said).unwrap_or_default();
    let Some(models) = said["data"].as_array().filter(|_| status.is_success()) else {
        return Err(Refusal::bad_gateway("the model server lists no models"));
    };
    let model =
        |model: &Value| Some((model["id"].as_str()?.to_owned(), model["created"].as_u64().unwrap_or(0)));
    Ok(models.iter().filter_map(model).collect())
}

fn details() -> Value {
    json!({"parent_model": "", "format": "gguf", "family": "", "families": [], "parameter_size": "",
        "quantization_level": ""})
}
