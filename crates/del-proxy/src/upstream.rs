//! The model server behind the proxy.

use std::fmt;

use axum::body::Body;
use axum::http::{HeaderMap, HeaderName, Method, Response, header};
use reqwest::{Client, Url};

use crate::gate::Key;
use crate::refusal::Refusal;

/// A model server, and how to speak to it.
#[derive(Debug)]
pub struct Upstream {
    client: Client,
    base: String,
    key: Option<Key>,
    /// Requests go on with the client's own key, where there is none for the server.
    pub passes_keys: bool,
    /// It is llama.cpp, which takes a `grammar`.
    pub llama_cpp: bool,
    /// Whether the model's template takes tools, where the server says so.
    pub takes_tools: Option<bool>,
}

impl Upstream {
    /// A server whose API lies under `base`, which has no slash at its end. Requests to it carry `key`.
    pub fn new(client: Client, base: impl Into<String>, key: Option<String>) -> Self {
        Self {
            client,
            base: base.into(),
            key: key.map(Key::new),
            passes_keys: false,
            llama_cpp: false,
            takes_tools: None,
        }
    }

    /// Sends a request to `path` under the API.
    pub(crate) async fn send(
        &self,
        method: Method,
        path: &str,
        headers: HeaderMap,
        body: impl Into<reqwest::Body>,
    ) -> Result<Response<reqwest::Body>, Refusal> {
        let mut request =
            self.client.request(method, format!("{}{path}", self.base)).headers(headers).body(body);
        if let Some(key) = &self.key {
            request = request.bearer_auth(key.secret());
        }
        request.send().await.map(Into::into).map_err(|error| self.unreachable(&error))
    }

    /// The headers of a client that go on.
    pub(crate) fn forwarded(&self, headers: &HeaderMap, gate_wants_key: bool) -> HeaderMap {
        let mut headers = end_to_end(headers);
        for name in [header::HOST, header::CONTENT_LENGTH, header::ORIGIN, header::REFERER, header::COOKIE] {
            headers.remove(name);
        }
        if !self.passes_keys || self.key.is_some() || gate_wants_key {
            for name in KEYS {
                headers.remove(*name);
            }
        }
        headers
    }

    fn unreachable(&self, error: &reqwest::Error) -> Refusal {
        let place = self.place();
        if error.is_timeout() && !error.is_connect() {
            return Refusal::new(
                axum::http::StatusCode::GATEWAY_TIMEOUT,
                "upstream_error",
                format!("the model server at {place} did not answer in time"),
            );
        }
        Refusal::bad_gateway(format!("cannot reach the model server at {place} ({})", reason(error)))
            .hint("start it, or give the proxy another address with --upstream")
    }

    /// The address without what may be secret in it.
    pub fn place(&self) -> impl fmt::Display {
        Url::parse(&self.base).map_or_else(
            |_| String::new(),
            |mut url| {
                let _ = url.set_username("");
                let _ = url.set_password(None);
                url.set_query(None);
                url.to_string().trim_end_matches('/').to_owned()
            },
        )
    }
}

/// Headers that may hold a key.
const KEYS: &[&str] = &["authorization", "x-api-key", "api-key"];

/// The headers that are not about one connection alone.
pub(crate) fn end_to_end(headers: &HeaderMap) -> HeaderMap {
    const HOP: [&str; 9] = [
        "connection",
        "keep-alive",
        "proxy-authenticate",
        "proxy-authorization",
        "proxy-connection",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
    ];
    let mut kept = headers.clone();
    let named: Vec<HeaderName> = headers
        .get_all(header::CONNECTION)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|names| names.split(','))
        .filter_map(|name| name.trim().parse().ok())
        .collect();
    for name in named.iter().map(HeaderName::as_str).chain(HOP) {
        kept.remove(name);
    }
    kept
}

/// The server's answer as it is.
pub(crate) fn untouched(response: Response<reqwest::Body>) -> Response<Body> {
    let (mut parts, body) = response.into_parts();
    parts.headers = end_to_end(&parts.headers);
    Response::from_parts(parts, Body::new(body))
}

/// What went wrong, at the bottom of it.
pub(crate) fn reason(error: &reqwest::Error) -> String {
    if error.is_timeout() {
        return "no answer in time".to_owned();
    }
    let mut cause: &dyn std::error::Error = error;
    while let Some(inner) = cause.source() {
        cause = inner;
    }
    cause.to_string()
}
