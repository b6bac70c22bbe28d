//! Which request goes where.

use std::sync::Arc;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{Method, Request, Response, Uri};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::IntoResponse;
use axum::routing::{MethodRouter, get, post};
use serde_json::json;

use crate::api::{Api, Family};
use crate::document::Document;
use crate::listing;
use crate::proxy::Proxy;
use crate::refusal::Refusal;

type Shared = State<Arc<Proxy>>;
type Outcome = Result<Response<Body>, Refusal>;

/// All of it, behind the gate.
pub(crate) fn router(proxy: Arc<Proxy>) -> Router {
    Router::new()
        .route("/v1/chat/completions", answers(Api::Chat))
        .route("/v1/responses", answers(Api::Responses))
        .route("/v1/messages", answers(Api::Messages))
        .route("/v1/messages/count_tokens", post(listing::count_tokens))
        .route("/api/chat", answers(Api::OllamaChat))
        .route("/api/generate", answers(Api::OllamaGenerate))
        .route("/api/tags", get(listing::tags))
        .route("/api/show", post(listing::show))
        .route("/api/version", get(listing::version))
        .route("/v1/completions", post(pass))
        .route("/v1/embeddings", post(pass))
        .route("/v1/models", get(listing::models))
        .route("/v1/models/{*model}", get(pass))
        .route("/health", get(health))
        .fallback(unknown)
        .method_not_allowed_fallback(wrong_method)
        .layer(from_fn_with_state(Arc::clone(&proxy), guard))
        .with_state(proxy)
}

/// Lets in what may come in, and gives refusals the shape of the API that was called.
async fn guard(State(proxy): Shared, request: Request<Body>, next: Next) -> Response<Body> {
    let (parts, body) = request.into_parts();
    let family = Family::of(&parts);
    if let Err(refusal) = proxy.gate.check(&parts) {
        return refusal.shaped(family);
    }
    let mut response = next.run(Request::from_parts(parts, body)).await;
    match response.extensions_mut().remove::<Refusal>() {
        Some(refusal) if family != Family::OpenAi => refusal.shaped(family),
        _ => response,
    }
}

fn answers(api: Api) -> MethodRouter<Arc<Proxy>> {
    post(move |State(proxy): Shared, request: Request<Body>| async move { proxy.answer(api, request).await })
}

async fn pass(State(proxy): Shared, request: Request<Body>) -> Outcome {
    let (parts, body) = request.into_parts();
    let body =
        if parts.method == Method::POST { proxy.read(&parts.headers, body).await? } else { Bytes::new() };
    let path = parts.uri.path().trim_start_matches("/v1").to_owned();
    proxy.pass(&parts, &path, body).await
}

/// The proxy is alive when it says anything; whether its server is stands in the answer.
async fn health(State(proxy): Shared) -> Document {
    let upstream = match proxy.look().await {
        Ok(status) if status.is_success() => json!({"status": "ok"}),
        Ok(status) => {
            json!({"status": "error", "message": format!("it answers with status {}", status.as_u16())})
        }
        Err(refusal) => json!({"status": "unreachable", "message": refusal.to_string()}),
    };
    Document(json!({"status": "ok", "upstream": upstream}))
}

async fn unknown(uri: Uri) -> Refusal {
    Refusal::not_found(format!("there is no {}", uri.path())).hint(
        "OpenAI's API lies under /v1, Anthropic's at /v1/messages, and Ollama's under /api; see docs/proxy.md",
    )
}

async fn wrong_method(method: Method, uri: Uri) -> Response<Body> {
    let message = format!("{} takes no {method}", uri.path());
    Refusal::new(axum::http::StatusCode::METHOD_NOT_ALLOWED, "invalid_request_error", message).into_response()
}
