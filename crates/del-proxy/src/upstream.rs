//! The model server behind the proxy.

use std::time::Duration;

use axum::body::Bytes;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, Response, header};
use del_wire::ServerApi;
use reqwest::{Client, Url};

use crate::keys::Key;
use crate::refusal::Refusal;

/// The program that a model server is, where that takes a grammar of calls, each in its own way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Engine {
    /// llama.cpp: a grammar in GBNF.
    LlamaCpp,
    /// vLLM: a structural tag, or a grammar in EBNF.
    Vllm,
    /// `SGLang`: the same by other names.
    Sglang,
}

/// A slow machine reads a long prompt for minutes before its first word.
const SILENCE: Duration = Duration::from_secs(600);
const ANTHROPIC_VERSION: &str = "anthropic-version";

/// A model server, and how to speak to it.
#[derive(Debug)]
pub struct Upstream {
    client: Client,
    /// Takes a new connection for each request.
    fresh: Option<Client>,
    /// The API that it speaks.
    pub api: ServerApi,
    /// How long it may take until the first bytes of an answer.
    pub first_byte: Duration,
    /// How long it may be silent in the middle of one.
    pub between_bytes: Duration,
    base: String,
    key: Option<Key>,
    /// Requests go on with the client's own key, where there is none for the server.
    pub passes_keys: bool,
    /// How it takes a grammar, if it does.
    pub engine: Option<Engine>,
    /// Whether the model's template takes tools, where the server says so.
    pub takes_tools: Option<bool>,
}

impl Upstream {
    /// A server whose API lies under `base`, which has no slash at its end. Requests to it carry `key`.
    pub fn new(client: Client, base: impl Into<String>, key: Option<String>) -> Self {
        Self {
            client,
            fresh: None,
            api: ServerApi::default(),
            first_byte: SILENCE,
            between_bytes: SILENCE,
            base: base.into(),
            key: key.map(Key::new),
            passes_keys: false,
            engine: None,
            takes_tools: None,
        }
    }

    /// A connection that lay idle may be dead when it is used. With `fresh`, a client that keeps none, such a request
    /// is sent once more, as long as nothing came back.
    #[must_use]
    pub fn retrying_on(mut self, fresh: Client) -> Self {
        self.fresh = Some(fresh);
        self
    }

    /// Sends a request to `path` under the API.
    pub(crate) async fn send(
        &self,
        method: Method,
        path: &str,
        headers: HeaderMap,
        body: Bytes,
    ) -> Result<Response<reqwest::Body>, Refusal> {
        self.send_to(method, format!("{}{path}", self.base), headers, body).await
    }

    /// Sends a request for an answer of a model.
    pub(crate) async fn ask(
        &self,
        headers: HeaderMap,
        query: &str,
        body: Bytes,
    ) -> Result<Response<reqwest::Body>, Refusal> {
        let url = match self.api {
            ServerApi::OpenAi => format!("{}{query}", self.api.address(&self.base)),
            api => api.address(&self.base),
        };
        self.send_to(Method::POST, url, headers, body).await
    }

    /// The address above the API that begins with `/v1`.
    pub(crate) fn root(&self) -> &str {
        self.base.trim_end_matches("/v1")
    }

    pub(crate) async fn send_to(
        &self,
        method: Method,
        url: String,
        headers: HeaderMap,
        body: Bytes,
    ) -> Result<Response<reqwest::Body>, Refusal> {
        let sent = self.try_send(&self.client, &method, &url, &headers, &body).await?;
        match (sent, &self.fresh) {
            (Ok(response), _) => Ok(response),
            (Err(error), Some(fresh)) if !error.is_connect() && !error.is_timeout() => {
                let sent = self.try_send(fresh, &method, &url, &headers, &body).await?;
                sent.map_err(|error| self.unreachable(&error))
            }
            (Err(error), _) => Err(self.unreachable(&error)),
        }
    }

    async fn try_send(
        &self,
        client: &Client,
        method: &Method,
        url: &str,
        headers: &HeaderMap,
        body: &Bytes,
    ) -> Result<reqwest::Result<Response<reqwest::Body>>, Refusal> {
        let mut request = client.request(method.clone(), url).headers(headers.clone()).body(body.clone());
        if let Some(key) = &self.key {
            request = match self.api {
                ServerApi::Anthropic => request.header("x-api-key", key.secret()),
                _ => request.bearer_auth(key.secret()),
            };
        }
        if self.api == ServerApi::Anthropic && !headers.contains_key(ANTHROPIC_VERSION) {
            request = request.header(ANTHROPIC_VERSION, "2023-06-01");
        }
        match tokio::time::timeout(self.first_byte, request.send()).await {
            Ok(sent) => Ok(sent.map(Into::into)),
            Err(_) => Err(self.silent()),
        }
    }

    fn silent(&self) -> Refusal {
        Refusal::too_late(format!("the model server at {} did not answer in time", self.place()))
    }

    /// The headers of a client that go on.
    pub(crate) fn forwarded(&self, headers: &HeaderMap, gate_wants_key: bool) -> HeaderMap {
        let mut headers = end_to_end(headers);
        for name in [
            header::HOST,
            header::CONTENT_LENGTH,
            header::ACCEPT_ENCODING,
            header::ORIGIN,
            header::REFERER,
            header::COOKIE,
        ] {
            headers.remove(name);
        }
        if !self.passes_keys || self.key.is_some() || gate_wants_key {
            for name in KEYS {
                headers.remove(*name);
            }
        }
        // Clients of Anthropic's API show their key in a header of its own.
        let theirs = headers.get("x-api-key").and_then(|key| key.to_str().ok());
        let bearer = theirs.and_then(|key| HeaderValue::from_str(&format!("Bearer {key}")).ok());
        if let Some(bearer) = bearer.filter(|_| self.api != ServerApi::Anthropic) {
            headers.entry(header::AUTHORIZATION).or_insert(bearer);
        }
        headers
    }

    fn unreachable(&self, error: &reqwest::Error) -> Refusal {
        let place = self.place();
        if error.is_timeout() && !error.is_connect() {
            return self.silent();
        }
        Refusal::bad_gateway(format!("cannot reach the model server at {place} ({})", reason(error)))
            .hint("start it, or give the proxy another address with --upstream")
    }

    /// The address without what may be secret in it.
    pub fn place(&self) -> String {
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
