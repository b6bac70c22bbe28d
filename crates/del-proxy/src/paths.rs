//! Which request goes where.

use std::sync::Arc;
use std::time::Instant;

use axum::Router;
use axum::body::Body;
use axum::extract::State;
use axum::http::request::Parts;
use axum::http::{HeaderName, HeaderValue, Method, Request, Response, StatusCode, Uri, header};
use axum::response::IntoResponse;
use axum::routing::{get, head, post};
use percent_encoding::percent_decode_str;
use serde_json::{Map, Value, json};
use tokio::sync::OwnedSemaphorePermit;
use tokio::task::JoinSet;
use tower::ServiceExt as _;

use crate::account::Account;
use crate::api::Api;
use crate::compact;
use crate::document::Document;
use crate::earlier;
use crate::embed;
use crate::family::Family;
use crate::held::Held;
use crate::inspector::is_page;
use crate::listing;
use crate::member::Member;
use crate::models;
use crate::of_model::OfModel;
use crate::pages;
use crate::proxy::{Proxy, Setup};
use crate::refusal::Refusal;
use crate::route::Route;
use crate::sites::{is_preflight, may_ask, may_read};
use crate::stamp::unique;
use crate::under_way::{UnderWay, Unsure};

type Shared = State<Arc<Proxy>>;
type Outcome = Result<Response<Body>, Refusal>;

/// A client's own id of its request comes back; one without gets an id.
const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// What Anthropic's clients know it by.
const ANTHROPIC_REQUEST_ID: HeaderName = HeaderName::from_static("request-id");

/// The paths that give answers of a model.
const ANSWERS: [(&str, Api); 5] = [
    ("/v1/chat/completions", Api::Chat),
    ("/v1/responses", Api::Responses),
    ("/v1/messages", Api::Messages),
    ("/api/chat", Api::OllamaChat),
    ("/api/generate", Api::OllamaGenerate),
];

/// All paths, behind the gate.
#[derive(Debug)]
pub(crate) struct Paths {
    proxy: Arc<Proxy>,
    /// Those that give none.
    others: Router,
}

impl Paths {
    pub(crate) fn new(proxy: Arc<Proxy>) -> Arc<Self> {
        // Ollama's clients look there whether anybody is at home.
        let pages = match proxy.inspector {
            Some(_) => pages::router(),
            None => Router::new().route("/", head(async || ()).get(unknown)),
        };
        let others = Router::new()
            .merge(pages)
            .route("/v1/responses/{id}", get(earlier::response).delete(earlier::delete))
            .route("/v1/responses/{id}/input_items", get(earlier::input_items))
            .route("/v1/responses/{id}/cancel", post(earlier::cancel))
            .route("/v1/responses/input_tokens", post(listing::input_tokens))
            .route("/v1/responses/compact", post(compact::compact))
            .route("/v1/messages/count_tokens", post(listing::count_tokens))
            .route("/api/tags", get(listing::tags))
            .route("/api/show", post(listing::show))
            .route("/api/version", get(listing::version))
            .route("/api/ps", get(listing::loaded))
            .route("/api/embed", post(embed::embed))
            .route("/api/embeddings", post(embed::embeddings))
            .route("/v1/completions", post(pass))
            .route("/v1/embeddings", post(pass))
            .route("/v1/models", get(models::models))
            .route("/v1/models/{*model}", get(models::model))
            .route("/health", get(health))
            .route("/ready", get(ready))
            .route("/metrics", get(metrics))
            .fallback(unknown)
            .method_not_allowed_fallback(wrong_method)
            .with_state(Arc::clone(&proxy));
        Arc::new(Self { proxy, others })
    }

    /// Answers what may come in, and gives refusals the shape of the API that was called, and every answer an id. In a
    /// `crowded` place, only how the proxy is.
    pub(crate) async fn answer(
        &self,
        request: Request<Body>,
        crowded: bool,
        under_way: Arc<UnderWay>,
    ) -> Response<Body> {
        let (proxy, setup) = (&self.proxy, self.proxy.setup());
        let (mut parts, body) = request.into_parts();
        let (family, begun) = (Family::of(&parts), Instant::now());
        let path = parts.uri.path().to_owned();
        let id = parts.headers.get(REQUEST_ID).cloned();
        let id = id.or_else(|| HeaderValue::from_str(&["req_", &unique()].concat()).ok());
        let account =
            id.as_ref().filter(|_| is_told(&path)).and_then(|id| proxy.observers.open(&mut parts, id));
        let site = setup.gate.site(&parts).cloned();
        let mut response = match enter(proxy, &setup, &mut parts, crowded) {
            Ok(None) if site.is_some() && is_preflight(&parts) => may_ask(&parts.headers),
            Ok(None) => self.inside(setup, under_way, Request::from_parts(parts, body)).await,
            Ok(place) => {
                let response = self.inside(setup, under_way, Request::from_parts(parts, body)).await;
                response.map(|body| Body::new(Held::new(body, place)))
            }
            Err(refusal) => refusal.into_response(),
        };
        let refusal = response.extensions_mut().remove::<Refusal>();
        let error = refusal.as_ref().map(Refusal::kind);
        if let Some(refusal) = refusal
            && family != Family::OpenAi
        {
            let allowed = response.headers_mut().remove(header::ALLOW);
            response = refusal.shaped(family);
            response.headers_mut().extend(allowed.map(|methods| (header::ALLOW, methods)));
        }
        if response.status() == StatusCode::UNAUTHORIZED && is_page(&path) {
            // A browser then asks its user.
            let ask = HeaderValue::from_static(
                "Basic realm=\"Del inspector: any name, and the key of the proxy\", charset=\"UTF-8\"",
            );
            response.headers_mut().insert(header::WWW_AUTHENTICATE, ask);
        }
        if crowded {
            response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
        }
        if let Some(site) = site {
            may_read(site, response.headers_mut());
        }
        if let Some(id) = id {
            if family == Family::Anthropic {
                response.headers_mut().entry(ANTHROPIC_REQUEST_ID).or_insert_with(|| id.clone());
            }
            response.headers_mut().entry(REQUEST_ID).or_insert(id);
        }
        proxy.metrics.answered(&path, response.status().as_u16(), begun.elapsed());
        match account {
            Some(account) => account.answers(response, error),
            None => response,
        }
    }

    async fn inside(
        &self,
        setup: Arc<Setup>,
        under_way: Arc<UnderWay>,
        request: Request<Body>,
    ) -> Response<Body> {
        let path = request.uri().path();
        match ANSWERS.into_iter().find_map(|(known, api)| (known == path).then_some(api)) {
            Some(api) if request.method() == Method::POST => {
                Arc::clone(&self.proxy).answer(setup, api, request, Some(under_way)).await.into_response()
            }
            Some(_) if request.headers().get(header::UPGRADE).is_some_and(|to| to == "websocket") => {
                // Codex asks so first, and goes on at once without one when it is told.
                let refusal = Refusal::new(
                    StatusCode::UPGRADE_REQUIRED,
                    "invalid_request_error",
                    "expected a request of HTTP, got one for a WebSocket",
                );
                refusal.header(header::UPGRADE, HeaderValue::from_static("HTTP/1.1")).into_response()
            }
            Some(_) => {
                let (parts, _) = request.into_parts();
                let mut response = wrong_method(parts.method, parts.uri).await;
                response.headers_mut().insert(header::ALLOW, HeaderValue::from_static("POST"));
                response
            }
            None if !leads_down(path) => unknown(request.uri().clone()).await.into_response(),
            None => match self.others.clone().oneshot(request).await {
                Ok(response) => response,
            },
        }
    }
}

/// True for what observers are told of: not what looks at the proxy itself.
fn is_told(path: &str) -> bool {
    !is_page(path) && !matches!(path, "/health" | "/ready" | "/metrics")
}

/// True for a path of names. One that leads up again, which a model server may follow, is none, nor is what is no text.
fn leads_down(path: &str) -> bool {
    percent_decode_str(path)
        .decode_utf8()
        .is_ok_and(|path| !path.split(['/', '\\']).any(|name| matches!(name, "." | "..")))
}

/// What may come in, with its place among the requests of its key.
fn enter(
    proxy: &Proxy,
    setup: &Setup,
    parts: &mut Parts,
    crowded: bool,
) -> Result<Option<OwnedSemaphorePermit>, Refusal> {
    if let Some(unsure) = parts.extensions.get::<Unsure>() {
        let (status, message) = match unsure {
            Unsure::BothLengths => {
                (StatusCode::BAD_REQUEST, "expected Content-Length or Transfer-Encoding, got both")
            }
            Unsure::SentAhead => (
                StatusCode::BAD_REQUEST,
                "expected Content-Length, or chunks once the request before was answered, got chunks ahead of that",
            ),
            Unsure::Coded => {
                (StatusCode::NOT_IMPLEMENTED, "expected `chunked` as Transfer-Encoding, got more than that")
            }
        };
        return Err(Refusal::new(status, "invalid_request_error", message)
            .header(header::CONNECTION, HeaderValue::from_static("close")));
    }
    if crowded && is_told(parts.uri.path()) {
        return Err(Refusal::unavailable("too many connections are open")
            .hint("start the proxy with more --max-connections")
            .header(header::RETRY_AFTER, HeaderValue::from_static("1")));
    }
    let Some(holder) = setup.gate.check(parts)? else {
        if let Some(stranger) = proxy.memory.stranger(&parts.headers) {
            parts.extensions.insert(stranger);
        }
        return Ok(None);
    };
    parts.extensions.insert(Arc::clone(&holder));
    if let Some(account) = Account::of(parts) {
        account.note(|record| record.key = Some(holder.name.clone()));
    }
    // Looking asks no model.
    if is_page(parts.uri.path()) {
        return Ok(None);
    }
    holder.enter().inspect_err(|_| proxy.metrics.limited(&holder.name))
}

/// What is asked of a model by its name, beside a chat.
async fn pass(State(proxy): Shared, request: Request<Body>) -> Outcome {
    let setup = proxy.setup();
    let path = request.uri().path().trim_start_matches("/v1").to_owned();
    if let Some(route) = setup.routes.only() {
        let (parts, body) = request.into_parts();
        let body = setup.read(&parts, body).await?;
        return proxy.pass(&setup, route, &parts, &path, body).await;
    }
    let OfModel { parts, setup, route, bytes, .. } = OfModel::read(&proxy, request, &["model"]).await?;
    proxy.pass(&setup, &route, &parts, &path, bytes).await
}

/// The proxy is alive when it says anything; how its model servers are stands in the answer.
async fn health(State(proxy): Shared) -> Document {
    let servers = states(&proxy).await;
    let best = servers.iter().min_by_key(|state| match state["status"].as_str() {
        Some("ok") => 0,
        Some("error") => 1,
        _ => 2,
    });
    let mut upstream = Map::new();
    for key in ["status", "message"] {
        if let Some(value) = best.and_then(|best| best.get(key)) {
            upstream.insert(key.to_owned(), value.clone());
        }
    }
    Document(json!({"status": "ok", "upstream": upstream, "upstreams": servers}))
}

/// Ready is a proxy one of whose servers answers.
async fn ready(State(proxy): Shared) -> Response<Body> {
    let servers = states(&proxy).await;
    let ready = servers.iter().any(|state| state["ready"] == true);
    let (status, word) =
        if ready { (StatusCode::OK, "ready") } else { (StatusCode::SERVICE_UNAVAILABLE, "waiting") };
    (status, Document(json!({"status": word, "upstreams": servers}))).into_response()
}

/// How each model server is, as it says now.
async fn states(proxy: &Proxy) -> Vec<Value> {
    let setup = proxy.setup();
    let mut looks = JoinSet::new();
    for (at, route) in setup.routes.iter().enumerate() {
        for (place, member) in route.pool.members().iter().enumerate() {
            let (route, member) = (Arc::clone(route), Arc::clone(member));
            looks.spawn(async move { ((at, place), state(&route, &member).await) });
        }
    }
    let mut states: Vec<_> = looks.join_all().await;
    states.sort_by_key(|(place, _)| *place);
    states.into_iter().map(|(_, state)| state).collect()
}

async fn state(route: &Route, member: &Member) -> Value {
    let looked = member.look().await;
    let ready = looked.as_ref().is_ok_and(|status| !status.is_server_error());
    let (status, message) = match looked {
        Ok(status) if status.is_success() => ("ok", None),
        Ok(status) => ("error", Some(format!("it answers with status {}", status.as_u16()))),
        Err(refusal) => ("unreachable", Some(refusal.to_string())),
    };
    let load = member.load();
    let mut state = json!({"url": load.place, "models": route.settings.models, "status": status, "ready": ready,
        "left_alone": !load.is_up, "under_way": load.under_way});
    if let Some(message) = message {
        state["message"] = json!(message);
    }
    state
}

async fn metrics(State(proxy): Shared) -> Outcome {
    let setup = proxy.setup();
    if !setup.settings.metrics {
        return Err(Refusal::not_found("there is no /metrics").hint("start the proxy with --metrics"));
    }
    let kind = HeaderValue::from_static("application/openmetrics-text; version=1.0.0; charset=utf-8");
    let servers = setup.routes.iter().flat_map(|route| route.pool.members()).map(|member| member.load());
    Ok(([(header::CONTENT_TYPE, kind)], proxy.metrics.text(servers, proxy.observers.lost())).into_response())
}

async fn unknown(uri: Uri) -> Refusal {
    // CONNECT has no path.
    let asked =
        Some(uri.path()).filter(|path| !path.is_empty()).map_or_else(|| uri.to_string(), str::to_owned);
    Refusal::not_found(format!("there is no {asked}")).hint(
        "OpenAI's API lies under /v1, Anthropic's at /v1/messages, and Ollama's under /api; see docs/proxy.md",
    )
}

async fn wrong_method(method: Method, uri: Uri) -> Response<Body> {
    let message = format!("{} takes no {method}", uri.path());
    Refusal::new(StatusCode::METHOD_NOT_ALLOWED, "invalid_request_error", message).into_response()
}
