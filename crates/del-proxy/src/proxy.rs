//! What requests share, and what is the same for all of them.

mod driven;
mod exchange;
mod injected;
mod runs;
mod streamed;
mod turns;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::body::{Body, Bytes, to_bytes};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, Request, Response, StatusCode, header};
use del_agent::Constrain;
use del_dialects::Dialect;
use del_wire::tools::KnownTools;
use tokio::sync::watch;

use self::exchange::Exchange;
use crate::api::Api;
use crate::gate::Gate;
use crate::memory::Memory;
use crate::metrics::Metrics;
use crate::modes::Modes;
use crate::refusal::Refusal;
use crate::settings::{Settings, SettingsError};
use crate::upstream::end_to_end;

/// Everything that requests share.
#[derive(Debug)]
pub(crate) struct Proxy {
    pub(crate) settings: Settings,
    pub(crate) gate: Gate,
    pub(crate) metrics: Metrics,
    modes: Modes,
    memory: Memory,
    /// Calls of a model of which nothing is known are written in it.
    fallback: Arc<Dialect>,
    /// The dialects that calls are written in, by the names of models: finding one means looking at all of them.
    written: Mutex<HashMap<String, Arc<Dialect>>>,
    /// Clients send the same tools with each request.
    tools: Mutex<KnownTools>,
    /// True once the server stops.
    stopping: watch::Receiver<bool>,
}

/// How long a client may take to send its body.
const PATIENCE: Duration = Duration::from_secs(60);

impl Proxy {
    pub(crate) fn new(
        settings: Settings,
        gate: Gate,
        stopping: watch::Receiver<bool>,
    ) -> Result<Self, SettingsError> {
        let name = del_agent::Settings::default().fallback;
        let fallback = settings.dialects.get(&name).cloned();
        let fallback = fallback.ok_or(SettingsError::NoDialect { got: name })?;
        let (modes, memory) = (Modes::new(&settings), Memory::new(settings.memory));
        let (written, tools) = (Mutex::default(), Mutex::default());
        let metrics = Metrics::new();
        Ok(Self { settings, gate, metrics, modes, memory, fallback, written, tools, stopping })
    }

    /// Answers a request for an answer of a model.
    pub(crate) async fn answer(
        self: Arc<Self>,
        api: Api,
        request: Request<Body>,
    ) -> Result<Response<Body>, Refusal> {
        let (parts, body) = request.into_parts();
        let bytes = self.read(&parts.headers, body).await?;
        Exchange::new(self, api, parts, bytes)?.run().await
    }

    /// Passes a request on and its answer back, both as they are.
    pub(crate) async fn pass(
        &self,
        parts: &Parts,
        path: &str,
        body: Bytes,
    ) -> Result<Response<Body>, Refusal> {
        let upstream = &self.settings.upstream;
        let headers = upstream.forwarded(&parts.headers, self.gate.wants_key());
        let path = format!("{path}{}", query(parts));
        let response = upstream.send(parts.method.clone(), &path, headers, body).await?;
        Ok(self.untouched(response))
    }

    /// The body of a request.
    pub(crate) async fn read(&self, headers: &HeaderMap, body: Body) -> Result<Bytes, Refusal> {
        let limit = self.settings.max_body;
        let too_large = || {
            Refusal::new(
                StatusCode::PAYLOAD_TOO_LARGE,
                "invalid_request_error",
                format!("expected a body of at most {limit} bytes, got more"),
            )
            .hint("start the proxy with a larger --max-body")
        };
        let length =
            headers.get(header::CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse().ok());
        if length.is_some_and(|length: u64| length > limit as u64) {
            return Err(too_large());
        }
        let mut stopping = self.stopping.clone();
        let read = tokio::select! {
            read = tokio::time::timeout(PATIENCE, to_bytes(body, limit)) => read,
            // Nobody waits for the rest of a request once the server stops.
            Ok(_) = stopping.wait_for(|stops| *stops) => {
                let message = "the proxy stops before the request has come whole";
                return Err(Refusal::new(StatusCode::SERVICE_UNAVAILABLE, "api_error", message));
            }
        };
        match read {
            Ok(Ok(bytes)) => Ok(bytes),
            Ok(Err(error)) if is_limit(&error) => Err(too_large()),
            Ok(Err(_)) => Err(Refusal::bad_request("the body of the request broke off")),
            Err(_) => Err(Refusal::new(
                StatusCode::REQUEST_TIMEOUT,
                "invalid_request_error",
                format!("expected the body of the request within {} seconds", PATIENCE.as_secs()),
            )),
        }
    }

    /// The server's answer as it is.
    fn untouched(&self, response: Response<reqwest::Body>) -> Response<Body> {
        let (mut parts, body) = response.into_parts();
        parts.headers = end_to_end(&parts.headers);
        Response::from_parts(parts, Body::new(self.settings.upstream.timed(body)))
    }

    /// The text of an answer of at most so many bytes.
    pub(crate) async fn text(&self, body: reqwest::Body, limit: usize) -> Result<String, Refusal> {
        let body = self.settings.upstream.timed(body);
        let bytes = to_bytes(Body::new(body), limit).await.map_err(|error| {
            let place = self.settings.upstream.place();
            if is_limit(&error) {
                Refusal::bad_gateway(format!(
                    "expected an answer of at most {limit} bytes from the model server at {place}, got more"
                ))
            } else {
                Refusal::bad_gateway(format!(
                    "the model server at {place} broke off in the middle of its answer"
                ))
            }
        })?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// What the server says of its models, for a look at whether it is there.
    pub(crate) async fn look(&self) -> Result<StatusCode, Refusal> {
        const LOOK: Duration = Duration::from_secs(3);
        let sent = self.settings.upstream.send(Method::GET, "/models", HeaderMap::new(), Bytes::new());
        match tokio::time::timeout(LOOK, sent).await {
            Ok(sent) => sent.map(|response| response.status()),
            Err(_) => Err(Refusal::bad_gateway("the model server does not answer")),
        }
    }

    /// The dialect that calls of this model are written in.
    fn dialect(&self, model: &str) -> Arc<Dialect> {
        /// Names come from clients.
        const MOST_MODELS: usize = 1024;
        let settings = &self.settings;
        let told = settings.words.as_ref().map(|words| &words.dialect);
        if let Some(dialect) = settings.dialect.as_ref().or(told) {
            return Arc::clone(dialect);
        }
        let mut written = self.written.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = written.get(model) {
            return Arc::clone(known);
        }
        let dialect = Arc::clone(settings.dialects.for_model(model).unwrap_or(&self.fallback));
        if written.len() < MOST_MODELS {
            written.insert(model.to_owned(), Arc::clone(&dialect));
        }
        dialect
    }

    fn constrain(&self) -> Constrain {
        if self.settings.upstream.llama_cpp { self.settings.constrain } else { Constrain::Off }
    }
}

/// Of an address, with its question mark.
fn query(parts: &Parts) -> String {
    parts.uri.query().map_or_else(String::new, |query| format!("?{query}"))
}

/// Adds a header, where its value may stand in one.
fn insert(headers: &mut HeaderMap, name: &'static str, value: &str) {
    if let Ok(value) = HeaderValue::from_str(value) {
        headers.insert(HeaderName::from_static(name), value);
    }
}

fn is_limit(error: &axum::Error) -> bool {
    let mut cause: Option<&dyn std::error::Error> = Some(error);
    while let Some(error) = cause {
        if error.to_string() == "length limit exceeded" {
            return true;
        }
        cause = error.source();
    }
    false
}
