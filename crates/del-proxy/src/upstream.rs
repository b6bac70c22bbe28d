//! The model server behind the proxy.

mod address;

use std::sync::Arc;
use std::time::Duration;

use axum::body::Bytes;
use axum::http::uri::{PathAndQuery, Uri};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, Request, Response, header};
use del_wire::ServerApi;
use http_body_util::Full;
use reqwest::{Client, Url};

use self::address::Address;
pub(crate) use self::address::Goal;
use crate::coming::{Cause, Coming};
use crate::keys::Key;
use crate::line::{LineError, Lines};
use crate::refusal::Refusal;
use tokio::time::Instant;

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
/// How a token of OAuth begins, which Anthropic's servers take as `Authorization` alone.
const OAUTH: &str = "sk-ant-oat";

/// The headers of a request: nothing is kept of those that were sent, and most are sent once.
pub(crate) type Headers<'h> = dyn Fn() -> HeaderMap + Sync + 'h;

/// A model server, and how to speak to it.
#[derive(Debug)]
pub struct Upstream {
    client: Client,
    /// Takes a new connection for each request.
    fresh: Option<Client>,
    /// Its own connections, where it is reached without TLS and without a proxy between.
    lines: Option<Arc<Lines>>,
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
    /// The tokens that the model reads and writes at most, where the server says so.
    pub context: Option<u64>,
}

impl Upstream {
    /// A server whose API lies under `base`, which has no slash at its end. Requests to it carry `key`.
    pub fn new(client: Client, base: impl Into<String>, key: Option<String>) -> Self {
        Self {
            client,
            fresh: None,
            lines: None,
            api: ServerApi::default(),
            first_byte: SILENCE,
            between_bytes: SILENCE,
            base: base.into(),
            key: key.map(Key::new),
            passes_keys: false,
            engine: None,
            takes_tools: None,
            context: None,
        }
    }

    /// A connection that lay idle may be dead when it is used. With `fresh`, a client that keeps none, such a request
    /// is sent once more, as long as nothing came back.
    #[must_use]
    pub fn retrying_on(mut self, fresh: Client) -> Self {
        self.fresh = Some(fresh);
        self
    }

    /// Nothing stands between: a server that takes plain HTTP is asked on connections of its own, each of which has to
    /// stand within `connect`. What is not plain, such as a redirection, goes by way of the client.
    #[must_use]
    pub fn direct(mut self, connect: Duration) -> Self {
        let address = Address::of(&self.base);
        self.lines = address.map(|at| Lines::new(at.host, at.port, at.name, connect));
        self
    }

    /// Sends a request to `path` under the API. That of OpenAI which Ollama has as well lies under `/v1`, whatever address
    /// it was given with.
    pub(crate) async fn send(
        &self,
        method: Method,
        path: &str,
        headers: &Headers<'_>,
        body: Bytes,
    ) -> Result<Response<Coming>, Refusal> {
        let url = match self.api {
            ServerApi::Ollama => format!("{}/v1{path}", self.root()),
            _ => format!("{}{path}", self.base),
        };
        self.send_to(method, url, headers, body).await
    }

    /// Where it gives answers of a model.
    pub(crate) fn answers(&self) -> Goal {
        Goal::of(self.api.address(&self.base))
    }

    /// Sends a request for an answer of a model to where it gives them.
    pub(crate) async fn ask(
        &self,
        answers: &Goal,
        headers: &Headers<'_>,
        query: &str,
        body: Bytes,
    ) -> Result<Response<Coming>, Refusal> {
        if self.api == ServerApi::OpenAi && !query.is_empty() {
            let url = format!("{}{query}", answers.url);
            return Box::pin(self.send_to(Method::POST, url, headers, body)).await;
        }
        self.reach(&Method::POST, answers, headers, body).await
    }

    /// The address above the API that begins with `/v1`.
    pub(crate) fn root(&self) -> &str {
        self.base.trim_end_matches("/v1")
    }

    pub(crate) async fn send_to(
        &self,
        method: Method,
        url: String,
        headers: &Headers<'_>,
        body: Bytes,
    ) -> Result<Response<Coming>, Refusal> {
        self.reach(&method, &Goal::of(url), headers, body).await
    }

    async fn reach(
        &self,
        method: &Method,
        goal: &Goal,
        headers: &Headers<'_>,
        body: Bytes,
    ) -> Result<Response<Coming>, Refusal> {
        let with_key = || {
            let mut headers = headers();
            self.add_key(&mut headers);
            headers
        };
        match self.sent(method, goal, &with_key, &body).await {
            Ok(response) => Ok(response),
            Err(Unreached::Silent) => Err(self.silent()),
            Err(Unreached::For(reason)) => {
                let place = self.place();
                Err(Refusal::bad_gateway(format!("cannot reach the model server at {place} ({reason})"))
                    .hint("start it, or give the proxy another address with --upstream"))
            }
        }
    }

    async fn sent(
        &self,
        method: &Method,
        goal: &Goal,
        headers: &Headers<'_>,
        body: &Bytes,
    ) -> Result<Response<Coming>, Unreached> {
        let end = Instant::now() + self.first_byte;
        if let Some(lines) = &self.lines
            && let Some(path) = &goal.path
            && let Some(answer) = ask_plainly(lines, method, path, headers, body, end).await?
        {
            return Ok(answer);
        }
        // It is large, and rare.
        let asked = Box::pin(self.ask_client(method, &goal.url, headers(), body));
        tokio::time::timeout_at(end, asked).await.unwrap_or(Err(Unreached::Silent))
    }

    /// What shows the server that it is asked by someone who may.
    fn add_key(&self, headers: &mut HeaderMap) {
        let shown = self.key.as_ref().map(|key| match self.api {
            ServerApi::Anthropic => (HeaderName::from_static("x-api-key"), key.secret().to_owned()),
            _ => (header::AUTHORIZATION, format!("Bearer {}", key.secret())),
        });
        if let Some((name, secret)) = shown
            && let Ok(mut secret) = HeaderValue::from_str(&secret)
        {
            secret.set_sensitive(true);
            headers.insert(name, secret);
        }
        if self.api == ServerApi::Anthropic {
            headers.entry(ANTHROPIC_VERSION).or_insert(HeaderValue::from_static("2023-06-01"));
        }
    }

    async fn ask_client(
        &self,
        method: &Method,
        url: &str,
        headers: HeaderMap,
        body: &Bytes,
    ) -> Result<Response<Coming>, Unreached> {
        let send = |client: &Client| {
            client.request(method.clone(), url).headers(headers.clone()).body(body.clone()).send()
        };
        let sent = match (send(&self.client).await, &self.fresh) {
            (Err(error), Some(fresh)) if !error.is_connect() && !error.is_timeout() => send(fresh).await,
            (sent, _) => sent,
        };
        match sent {
            Ok(response) => Ok(Coming::of_client(Response::from(response)).await?),
            Err(error) if error.is_timeout() && !error.is_connect() => Err(Unreached::Silent),
            Err(error) if error.is_timeout() => Err(Unreached::For("no answer in time".to_owned())),
            Err(error) => Err(Unreached::For(reason(&error))),
        }
    }

    fn silent(&self) -> Refusal {
        Refusal::too_late(format!("the model server at {} did not answer in time", self.place()))
    }

    /// The headers of a client that go on.
    pub(crate) fn forwarded(&self, headers: &HeaderMap, gate_wants_key: bool) -> HeaderMap {
        let keeps_keys = self.passes_keys && self.key.is_none() && !gate_wants_key;
        let mut headers = end_to_end(headers, |name| {
            matches!(
                *name,
                header::HOST
                    | header::CONTENT_LENGTH
                    // Bodies are unpacked here.
                    | header::CONTENT_ENCODING
                    | header::ACCEPT_ENCODING
                    | header::ORIGIN
                    | header::REFERER
                    | header::COOKIE
            ) || !keeps_keys && KEYS.contains(&name.as_str())
        });
        // Clients of Anthropic's API show their key in a header of its own.
        let theirs = headers.get("x-api-key").and_then(|key| key.to_str().ok());
        let bearer = theirs.and_then(|key| HeaderValue::from_str(&format!("Bearer {key}")).ok());
        if let Some(bearer) = bearer.filter(|_| self.api != ServerApi::Anthropic) {
            headers.entry(header::AUTHORIZATION).or_insert(bearer);
        }
        // Clients of OpenAI's know no such header. A token of OAuth is none of these keys.
        let is_known = headers.contains_key(ANTHROPIC_VERSION) || headers.contains_key("x-api-key");
        if self.api == ServerApi::Anthropic && !is_known {
            let shown = headers.get(header::AUTHORIZATION).and_then(|shown| shown.to_str().ok());
            let key =
                shown.and_then(|shown| shown.strip_prefix("Bearer ")).filter(|key| !key.starts_with(OAUTH));
            if let Some(mut key) = key.and_then(|key| HeaderValue::from_str(key).ok()) {
                key.set_sensitive(true);
                headers.insert("x-api-key", key);
            }
        }
        headers
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

/// The headers that are not about one connection or the pages of a browser alone, without those that are left out.
pub(crate) fn end_to_end(headers: &HeaderMap, left_out: impl Fn(&HeaderName) -> bool) -> HeaderMap {
    let named = |name: &HeaderName| {
        let lists = headers.get_all(header::CONNECTION).iter().filter_map(|value| value.to_str().ok());
        lists.flat_map(|names| names.split(',')).any(|other| name.as_str().eq_ignore_ascii_case(other.trim()))
    };
    let some_are_named = headers.contains_key(header::CONNECTION);
    let mut kept = HeaderMap::with_capacity(headers.len() + 4);
    for (name, value) in headers {
        if !(is_of_one_hop(name) || left_out(name) || (some_are_named && named(name))) {
            kept.append(name.clone(), value.clone());
        }
    }
    kept
}

/// The same of an answer: mostly all of them.
pub(crate) fn that_go_on(headers: HeaderMap) -> HeaderMap {
    if headers.keys().any(is_of_one_hop) { end_to_end(&headers, |_| false) } else { headers }
}

/// True for a header that is about one connection, or says that others are.
fn is_of_one_hop(name: &HeaderName) -> bool {
    const PROXY_CONNECTION: &str = "proxy-connection";
    const KEEP_ALIVE: &str = "keep-alive";
    matches!(
        *name,
        header::CONNECTION
            | header::PROXY_AUTHENTICATE
            | header::PROXY_AUTHORIZATION
            | header::TE
            | header::TRAILER
            | header::TRANSFER_ENCODING
            | header::UPGRADE
    ) || matches!(name.as_str(), KEEP_ALIVE | PROXY_CONNECTION)
        // Which pages may read an answer is between a browser and whom it asked.
        || name.as_str().starts_with("access-control-")
}

/// What went wrong, at the bottom of it.
pub(crate) fn reason(error: &(dyn std::error::Error + 'static)) -> String {
    let mut cause = error;
    while let Some(inner) = cause.source() {
        cause = inner;
    }
    cause.to_string()
}

/// Why a server did not answer.
enum Unreached {
    /// It said nothing for too long.
    Silent,
    /// For this reason.
    For(String),
}

impl From<LineError> for Unreached {
    fn from(error: LineError) -> Self {
        match error {
            LineError::Late => Self::Silent,
            error => Self::For(reason(&error)),
        }
    }
}

impl From<Cause> for Unreached {
    fn from(error: Cause) -> Self {
        Self::For(reason(&*error))
    }
}

/// What the client for everything else adds by itself.
fn add_own(headers: &mut HeaderMap, name: &HeaderValue) {
    headers.insert(header::HOST, name.clone());
    headers.entry(header::ACCEPT).or_insert(HeaderValue::from_static("*/*"));
    headers.insert(header::ACCEPT_ENCODING, HeaderValue::from_static("gzip, zstd"));
}

/// Asks on a connection of the server's own. `None` where the answer leads elsewhere.
async fn ask_plainly(
    lines: &Arc<Lines>,
    method: &Method,
    path: &PathAndQuery,
    headers: &Headers<'_>,
    body: &Bytes,
    end: Instant,
) -> Result<Option<Response<Coming>>, Unreached> {
    let request = || {
        let mut request = Request::new(Full::new(body.clone()));
        *request.method_mut() = method.clone();
        *request.uri_mut() = Uri::from(path.clone());
        *request.headers_mut() = headers();
        add_own(request.headers_mut(), lines.name());
        request
    };
    let answer = lines.ask(request, end).await?;
    if answer.status().is_redirection() {
        return Ok(None);
    }
    Ok(Some(Coming::of(answer).await?))
}
