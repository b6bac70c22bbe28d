//! The paths, and what stands behind them.

use std::sync::Arc;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{Method, Request, Response, StatusCode, Uri};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::IntoResponse;
use axum::routing::{get, post};
use serde_json::json;

use crate::document::Document;
use crate::proxy::Proxy;
use crate::refusal::Refusal;

type Shared = State<Arc<Proxy>>;
type Outcome = Result<Response<Body>, Refusal>;

/// All of it, behind the gate.
pub(crate) fn router(proxy: Arc<Proxy>) -> Router {
    Router::new()
        .route("/v1/chat/completions", post(chat))
        .route("/v1/completions", post(pass))
        .route("/v1/embeddings", post(pass))
        .route("/v1/models", get(pass))
        .route("/v1/models/{*model}", get(pass))
        .route("/health", get(health))
        .fallback(unknown)
        .method_not_allowed_fallback(wrong_method)
        .layer(from_fn_with_state(Arc::clone(&proxy), guard))
        .with_state(proxy)
}

async fn guard(State(proxy): Shared, request: Request<Body>, next: Next) -> Outcome {
    let (parts, body) = request.into_parts();
    proxy.gate.check(&parts)?;
    Ok(next.run(Request::from_parts(parts, body)).await)
}

async fn chat(State(proxy): Shared, request: Request<Body>) -> Outcome {
    proxy.chat(request).await
}

async fn pass(State(proxy): Shared, request: Request<Body>) -> Outcome {
    let (parts, body) = request.into_parts();
    let body = if parts.method == Method::POST { proxy.read(body).await? } else { Bytes::new() };
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
    Refusal::not_found(format!("there is no {}", uri.path()))
        .hint("the API lies under /v1: give clients a base URL that ends so")
}

async fn wrong_method(method: Method, uri: Uri) -> Response<Body> {
    let message = format!("{} takes no {method}", uri.path());
    Refusal::new(StatusCode::METHOD_NOT_ALLOWED, "invalid_request_error", message).into_response()
}
