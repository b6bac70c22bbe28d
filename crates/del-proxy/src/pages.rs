//! The page and what it asks for. Nothing of it comes from elsewhere, and nothing that it shows can act.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::{Path, Query, Request, State};
use axum::http::{HeaderMap, HeaderValue, Response, StatusCode, header};
use axum::middleware::{Next, from_fn};
use axum::response::IntoResponse;
use axum::routing::{get, post};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::document::Document;
use crate::inspector::{Inspector, Lens, Trial};
use crate::keys::Holder;
use crate::proxy::Proxy;
use crate::refusal::Refusal;

type Shared = State<Arc<Proxy>>;
type Outcome = Result<Response<Body>, Refusal>;

/// The files of the page: path, type and text.
const FILES: [(&str, &str, &str); 6] = [
    ("/", "text/html; charset=utf-8", include_str!("pages/index.html")),
    ("/inspector/style.css", "text/css; charset=utf-8", include_str!("pages/style.css")),
    ("/inspector/app.js", SCRIPT, include_str!("pages/app.js")),
    ("/inspector/build.js", SCRIPT, include_str!("pages/build.js")),
    ("/inspector/request.js", SCRIPT, include_str!("pages/request.js")),
    ("/inspector/trial.js", SCRIPT, include_str!("pages/trial.js")),
];
const SCRIPT: &str = "text/javascript; charset=utf-8";

/// Scripts and styles come from here alone, and none stands in the page itself.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src data:; connect-src 'self'; \
                      base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'";
/// A page that waits for news gets an answer after this long.
const PATIENCE: Duration = Duration::from_secs(20);

/// The paths of the inspector.
pub(crate) fn router() -> Router<Arc<Proxy>> {
    let mut router = Router::new()
        .route("/inspector/requests", get(list).delete(clear))
        .route("/inspector/requests/{id}", get(request))
        .route("/inspector/requests/{id}/case/{turn}", get(case))
        .route("/inspector/try", post(attempt));
    for (path, kind, text) in FILES {
        let answer = ([(header::CONTENT_TYPE, HeaderValue::from_static(kind))], text);
        router = router.route(path, get(move || async move { answer }));
    }
    router.layer(from_fn(guarded))
}

/// With the headers that keep a browser from doing more than showing it.
async fn guarded(request: Request, next: Next) -> Response<Body> {
    let mut response = next.run(request).await;
    for (name, value) in [
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::X_FRAME_OPTIONS, "DENY"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::CACHE_CONTROL, "no-store"),
    ] {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    response.headers_mut().insert("cross-origin-resource-policy", HeaderValue::from_static("same-origin"));
    response.headers_mut().insert("cross-origin-opener-policy", HeaderValue::from_static("same-origin"));
    response
}

#[derive(Debug, Deserialize)]
struct After {
    /// Waits for something newer than this.
    after: Option<u64>,
}

async fn list(State(proxy): Shared, Query(After { after }): Query<After>, request: Request) -> Outcome {
    let inspector = inspector(&proxy)?;
    let mut stopping = proxy.stopping();
    if let Some(after) = after {
        tokio::select! {
            () = inspector.newer_than(after) => {}
            _ = stopping.wait_for(|stops| *stops) => {}
            () = tokio::time::sleep(PATIENCE) => {}
        }
    }
    let version = inspector.version();
    let lines: Value = inspector.list(key(&request)).iter().map(|entry| entry.line()).collect();
    Ok(Document(json!({"version": version, "requests": lines})).into_response())
}

async fn clear(State(proxy): Shared, request: Request) -> Outcome {
    inspector(&proxy)?.clear(key(&request));
    Ok(StatusCode::NO_CONTENT.into_response())
}

async fn request(State(proxy): Shared, Path(id): Path<u64>, request: Request) -> Outcome {
    let entry = inspector(&proxy)?.get(id, key(&request)).ok_or_else(|| gone(id))?;
    let page = tokio::task::spawn_blocking(move || entry.page()).await.map_err(|_| broken())?;
    Ok(Document(page).into_response())
}

async fn case(State(proxy): Shared, Path((id, turn)): Path<(u64, usize)>, request: Request) -> Outcome {
    let entry = inspector(&proxy)?.get(id, key(&request)).ok_or_else(|| gone(id))?;
    let lens = lens(&proxy)?;
    let case = tokio::task::spawn_blocking(move || entry.case(turn, lens.as_ref()));
    let (dialect, toml) = case.await.map_err(|_| broken())?.ok_or_else(|| {
        Refusal::not_found("there is nothing to export: this answer was passed on without being read")
    })?;
    let name = format!("attachment; filename=\"{dialect}-{id}.toml\"");
    let mut headers = HeaderMap::new();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/toml; charset=utf-8"));
    headers.extend(HeaderValue::from_str(&name).ok().map(|name| (header::CONTENT_DISPOSITION, name)));
    Ok((headers, toml).into_response())
}

async fn attempt(State(proxy): Shared, request: Request) -> Outcome {
    let lens = lens(&proxy)?;
    let (parts, body) = request.into_parts();
    let setup = proxy.setup();
    let bytes = setup.read(&parts, body).await?;
    let wrong = |error: serde_json::Error| Refusal::bad_request(format!("expected what to try, got {error}"));
    let trial: Trial = serde_json::from_slice(&bytes).map_err(wrong)?;
    let dialects = setup.settings.dialects;
    let answer = tokio::task::spawn_blocking(move || trial.answer(dialects, lens.as_ref()));
    let answer = answer.await.map_err(|_| broken())?.map_err(Refusal::bad_request)?;
    Ok(Document(answer).into_response())
}

/// The name of the key that was shown.
fn key(request: &Request) -> Option<&str> {
    request.extensions().get::<Arc<Holder>>().map(|holder| holder.name.as_str())
}

fn inspector(proxy: &Proxy) -> Result<&Arc<Inspector>, Refusal> {
    proxy.inspector.as_ref().ok_or_else(off)
}

fn lens(proxy: &Proxy) -> Result<Arc<dyn Lens>, Refusal> {
    proxy.setup().settings.inspector.clone().ok_or_else(off)
}

fn off() -> Refusal {
    Refusal::not_found("the inspector is off")
}

fn gone(id: u64) -> Refusal {
    Refusal::not_found(format!("request {id} is not kept any more"))
}

fn broken() -> Refusal {
    Refusal::new(StatusCode::INTERNAL_SERVER_ERROR, "api_error", "the inspector failed at this")
}
