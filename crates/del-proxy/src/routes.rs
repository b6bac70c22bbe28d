//! Which request goes where.

use std::sync::Arc;
use std::time::Instant;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderName, HeaderValue, Method, Request, Response, StatusCode, Uri, header};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::IntoResponse;
use axum::routing::{MethodRouter, get, post};
use serde_json::json;

use crate::api::{Api, Family, unique};
use crate::document::Document;
use crate::listing;
use crate::proxy::Proxy;
use crate::refusal::Refusal;

type Shared = State<Arc<Proxy>>;
type Outcome = Result<Response<Body>, Refusal>;

/// A client's own id of its request comes back; one without gets an id.
const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

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
        .route("/ready", get(ready))
        .route("/metrics", get(metrics))
        .fallback(unknown)
        .method_not_allowed_fallback(wrong_method)
        .layer(from_fn_with_state(Arc::clone(&proxy), guard))
        .with_state(proxy)
}

/// Lets in what may come in, and gives refusals the shape of the API that was called, and every answer an id.
async fn guard(State(proxy): Shared, request: Request<Body>, next: Next) -> Response<Body> {
    let (parts, body) = request.into_parts();
    let (family, begun) = (Family::of(&parts), Instant::now());
    let path = parts.uri.path().to_owned();
    let id = parts.headers.get(REQUEST_ID).cloned();
    let mut response = match proxy.gate.check(&parts) {
        Ok(()) => next.run(Request::from_parts(parts, body)).await,
        Err(refusal) => refusal.into_response(),
    };
    if let Some(refusal) = response.extensions_mut().remove::<Refusal>()
        && family != Family::OpenAi
    {
        response = refusal.shaped(family);
    }
    if let Some(id) = id.or_else(|| HeaderValue::from_str(&format!("req_{}", unique())).ok()) {
        response.headers_mut().entry(REQUEST_ID).or_insert(id);
    }
    proxy.metrics.answered(&path, response.status().as_u16(), begun.elapsed());
    response
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

/// Ready is a proxy whose server answers.
async fn ready(State(proxy): Shared) -> Response<Body> {
    let ready = proxy.look().await.is_ok_and(|status| !status.is_server_error());
    let (status, word) =
        if ready { (StatusCode::OK, "ready") } else { (StatusCode::SERVICE_UNAVAILABLE, "waiting") };
    (status, Document(json!({"status": word}))).into_response()
}

async fn metrics(State(proxy): Shared) -> Outcome {
    if !proxy.settings.metrics {
        return Err(Refusal::not_found("there is no /metrics").hint("start the proxy with --metrics"));
    }
    let kind = HeaderValue::from_static("application/openmetrics-text; version=1.0.0; charset=utf-8");
    Ok(([(header::CONTENT_TYPE, kind)], proxy.metrics.text()).into_response())
}

async fn unknown(uri: Uri) -> Refusal {
    Refusal::not_found(format!("there is no {}", uri.path())).hint(
        "OpenAI's API lies under /v1, Anthropic's at /v1/messages, and Ollama's under /api; see docs/proxy.md",
    )
}

async fn wrong_method(method: Method, uri: Uri) -> Response<Body> {
    let message = format!("{} takes no {method}", uri.path());
    Refusal::new(StatusCode::METHOD_NOT_ALLOWED, "invalid_request_error", message).into_response()
}
