//! What Ollama's clients ask for beside answers, of servers that have it under OpenAI's API: texts as vectors.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, Method, Request, Response, header};
use axum::response::IntoResponse;
use del_wire::ApiError;
use serde_json::{Value, json};

use crate::document::Document;
use crate::lists;
use crate::member::Question;
use crate::of_model::OfModel;
use crate::proxy::{DROPPED, Proxy, text};
use crate::refusal::Refusal;

type Shared = State<Arc<Proxy>>;
type Outcome = Result<Response<Body>, Refusal>;

/// The longest answer that is read.
const LONGEST: usize = 256 << 20;

/// A vector for each text.
pub(crate) async fn embed(State(proxy): Shared, request: Request<Body>) -> Outcome {
    let Vectors { model, list, tokens, headers } = vectors(&proxy, request, "input").await?;
    let told = json!({"model": model, "embeddings": list, "total_duration": 0, "load_duration": 0,
        "prompt_eval_count": tokens});
    Ok((headers, Document(told)).into_response())
}

/// The same for one text, as Ollama's clients of old ask for it.
pub(crate) async fn embeddings(State(proxy): Shared, request: Request<Body>) -> Outcome {
    let Vectors { list, headers, .. } = vectors(&proxy, request, "prompt").await?;
    Ok((headers, Document(json!({"embedding": list.into_iter().next()}))).into_response())
}

struct Vectors {
    model: String,
    list: Vec<Value>,
    tokens: Value,
    /// They name what of the request the server is not told.
    headers: HeaderMap,
}

async fn vectors(proxy: &Arc<Proxy>, request: Request<Body>, texts: &str) -> Result<Vectors, Refusal> {
    let OfModel { parts, setup, route, model, body: asked, .. } =
        OfModel::read(proxy, request, &["model"]).await?;
    let input = asked.get(texts).filter(|input| input.is_string() || input.is_array());
    let input = input
        .ok_or_else(|| Refusal::bad_request(format!("expected a text or a list of texts as `{texts}`")))?;
    let mut question = json!({"model": route.target(&model), "input": input});
    if let Some(size) = asked.get("dimensions").filter(|size| !size.is_null()) {
        question["dimensions"] = size.clone();
    }
    let known = |name: &str| matches!(name, "model" | "dimensions") || name == texts;
    let rest = asked.iter().filter(|(name, value)| !known(name) && !value.is_null());
    let left_out: Vec<&String> = rest.map(|(name, _)| name).collect();
    let mut told = HeaderMap::new();
    lists::insert(&mut told, DROPPED, &left_out);
    let mut headers = parts.headers;
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    let sent = setup.sent(&headers, question.to_string().into());
    let question = Question::Path(Method::POST, "/embeddings");
    let response = route.pool.turn(&proxy.metrics).ask(question, &sent).await?;
    let (head, said) = response.into_parts();
    let said = text(said, LONGEST).await?;
    if !head.status.is_success() {
        let error = ApiError::from_response(head.status.as_u16(), &said);
        return Err(Refusal::of_server(head.status, HeaderMap::new(), &error, &said));
    }
    let said: Value = serde_json::from_str(&said).unwrap_or_default();
    let list =
        said["data"].as_array().map(|list| list.iter().map(|item| item["embedding"].clone()).collect());
    let list = list.ok_or_else(|| Refusal::bad_gateway("the model server gives no vectors"))?;
    let tokens = said["usage"]["prompt_tokens"].clone();
    Ok(Vectors { model, list, tokens, headers: told })
}
