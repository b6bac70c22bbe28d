//! One request for a chat completion, from the client to the model server and back.

mod streamed;

use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes, to_bytes};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, Request, Response, StatusCode, header};
use axum::response::IntoResponse;
use del_agent::{Constrain, Mode};
use del_dialects::Dialect;
use del_wire::{ApiError, ApiErrorKind, Ids};
use serde_json::Value;

use self::streamed::Streamed;
use crate::answer::{CHANGED, Reader, Stream, Trouble, translate};
use crate::document::Document;
use crate::gate::Gate;
use crate::modes::Modes;
use crate::refusal::{self, Refusal};
use crate::request::{Asked, Writing};
use crate::settings::{Settings, SettingsError};
use crate::upstream::{end_to_end, untouched};

/// Everything that requests share.
#[derive(Debug)]
pub(crate) struct Proxy {
    pub(crate) settings: Settings,
    pub(crate) gate: Gate,
    modes: Modes,
    /// Calls of a model of which nothing is known are written in it.
    fallback: Arc<Dialect>,
}

/// How long a client may take to send its body.
const PATIENCE: Duration = Duration::from_secs(60);
/// The longest answer that is not streamed.
const LONGEST_ANSWER: usize = 256 << 20;
/// The longest error that is read.
const LONGEST_ERROR: usize = 1 << 20;
/// Names the dialect of an answer's calls.
const DIALECT: HeaderName = HeaderName::from_static("x-del-dialect");

impl Proxy {
    pub(crate) fn new(settings: Settings, gate: Gate) -> Result<Self, SettingsError> {
        let name = del_agent::Settings::default().fallback;
        let fallback = settings.dialects.get(&name).cloned();
        let fallback = fallback.ok_or(SettingsError::NoDialect { got: name })?;
        Ok(Self { modes: Modes::new(&settings), settings, gate, fallback })
    }

    /// Answers a request for a chat completion.
    pub(crate) async fn chat(&self, request: Request<Body>) -> Result<Response<Body>, Refusal> {
        let (parts, body) = request.into_parts();
        let bytes = self.read(body).await?;
        let asked = Asked::read(bytes, self.settings.model.as_deref())?;
        let mut mode = self.modes.of(asked.model());
        let mut constrain = self.constrain();
        loop {
            let read = asked.offers_tools();
            if !read && (mode == Mode::Native || !asked.speaks_of_tools()) {
                return self.pass(&parts, "/chat/completions", asked.bytes()).await;
            }
            let dialect = self.dialect(asked.model());
            let body = match mode {
                Mode::Native => asked.bytes(),
                Mode::Prompt => asked
                    .in_prompt(Writing {
                        dialect,
                        constrain,
                        words: self.settings.words.as_ref(),
                        detail: self.settings.detail,
                    })?
                    .to_string()
                    .into(),
            };
            let response = self.send(&parts, "/chat/completions", body, read).await?;
            if response.status().is_success() {
                if !read {
                    return Ok(untouched(response));
                }
                return self.answered(&asked, mode, response).await;
            }
            let (head, said) = self.refusal(response).await?;
            let error = ApiError::from_response(head.status.as_u16(), &said);
            if mode == Mode::Native
                && error.kind == ApiErrorKind::ToolsUnsupported
                && self.modes.refused(asked.model())
            {
                mode = Mode::Prompt;
            } else if mode == Mode::Prompt
                && constrain != Constrain::Off
                && error.message.to_lowercase().contains("grammar")
            {
                constrain = Constrain::Off;
            } else {
                return Ok(refused(&head, said, &error));
            }
        }
    }

    /// Passes a request on and its answer back, both as they are.
    pub(crate) async fn pass(
        &self,
        parts: &Parts,
        path: &str,
        body: Bytes,
    ) -> Result<Response<Body>, Refusal> {
        self.send(parts, path, body, false).await.map(untouched)
    }

    /// The body of a request.
    pub(crate) async fn read(&self, body: Body) -> Result<Bytes, Refusal> {
        let limit = self.settings.max_body;
        match tokio::time::timeout(PATIENCE, to_bytes(body, limit)).await {
            Ok(Ok(bytes)) => Ok(bytes),
            Ok(Err(error)) if is_limit(&error) => Err(Refusal::new(
                StatusCode::PAYLOAD_TOO_LARGE,
                "invalid_request_error",
                format!("expected a body of at most {limit} bytes, got more"),
            )
            .hint("start the proxy with a larger --max-body")),
            Ok(Err(_)) => Err(Refusal::bad_request("the body of the request broke off")),
            Err(_) => Err(Refusal::new(
                StatusCode::REQUEST_TIMEOUT,
                "invalid_request_error",
                format!("expected the body of the request within {} seconds", PATIENCE.as_secs()),
            )),
        }
    }

    async fn send(
        &self,
        parts: &Parts,
        path: &str,
        body: Bytes,
        read: bool,
    ) -> Result<Response<reqwest::Body>, Refusal> {
        let upstream = &self.settings.upstream;
        let mut headers = upstream.forwarded(&parts.headers, self.gate.wants_key());
        if read {
            // What is packed cannot be read here.
            headers.remove(header::ACCEPT_ENCODING);
        }
        let query = parts.uri.query().map_or_else(String::new, |query| format!("?{query}"));
        upstream.send(parts.method.clone(), &format!("{path}{query}"), headers, body).await
    }

    async fn answered(
        &self,
        asked: &Asked,
        mode: Mode,
        response: Response<reqwest::Body>,
    ) -> Result<Response<Body>, Refusal> {
        let reader = Reader {
            dialects: self.settings.dialects,
            dialect: self.settings.dialect.clone(),
            tools: asked.tools().into(),
            one_call: asked.wants_one_call(),
            restore: mode == Mode::Prompt,
        };
        let (head, body) = response.into_parts();
        let mut headers = end_to_end(&head.headers);
        headers.remove(header::CONTENT_LENGTH);
        if asked.streams() {
            let written = (mode == Mode::Prompt).then(|| self.dialect(asked.model()));
            if let Some(dialect) = self.settings.dialect.as_ref().or(written) {
                insert(&mut headers, DIALECT, &dialect.name);
            }
            headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
            headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
            let body = Body::new(Streamed::new(body, Stream::new(reader, ids())));
            return Ok((head.status, headers, body).into_response());
        }
        let text = self.text(body, LONGEST_ANSWER).await?;
        let answer = translate(&reader, ids(), &text).map_err(|trouble| match trouble {
            Trouble::Garbage(_) => {
                Refusal::bad_gateway(format!("this is no answer of a model server: {trouble}"))
                    .hint("check the address of --upstream; it usually ends in /v1")
            }
            Trouble::Refused(error) => Refusal::bad_gateway(error.message),
        })?;
        headers.remove(header::CONTENT_TYPE);
        if let Some(dialect) = &answer.dialect {
            insert(&mut headers, DIALECT, dialect);
        }
        if !answer.changed.is_empty() {
            insert(&mut headers, HeaderName::from_static(CHANGED), &answer.changed.join(","));
        }
        Ok((head.status, headers, Document(answer.body)).into_response())
    }

    async fn refusal(
        &self,
        response: Response<reqwest::Body>,
    ) -> Result<(axum::http::response::Parts, String), Refusal> {
        let (head, body) = response.into_parts();
        let said = self.text(body, LONGEST_ERROR).await?;
        Ok((head, said))
    }

    async fn text(&self, body: reqwest::Body, limit: usize) -> Result<String, Refusal> {
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
        let sent = self.settings.upstream.send(Method::GET, "/models", HeaderMap::new(), "");
        match tokio::time::timeout(LOOK, sent).await {
            Ok(sent) => sent.map(|response| response.status()),
            Err(_) => Err(Refusal::bad_gateway("the model server does not answer")),
        }
    }

    /// The dialect that calls of this model are written in.
    fn dialect(&self, model: &str) -> &Arc<Dialect> {
        let settings = &self.settings;
        let told = settings.words.as_ref().map(|words| &words.dialect);
        let own = settings.dialect.as_ref().or(told).or_else(|| settings.dialects.for_model(model));
        own.unwrap_or(&self.fallback)
    }

    fn constrain(&self) -> Constrain {
        if self.settings.upstream.llama_cpp { self.settings.constrain } else { Constrain::Off }
    }
}

/// The server's refusal in the shape of the API, in its own words where they have it.
fn refused(head: &axum::http::response::Parts, said: String, error: &ApiError) -> Response<Body> {
    let mut headers = end_to_end(&head.headers);
    headers.remove(header::CONTENT_LENGTH);
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    let shaped = serde_json::from_str::<Value>(&said).is_ok_and(|said| said["error"]["message"].is_string());
    let body = if shaped { said } else { refusal::upstream(&error.message).to_string() };
    (head.status, headers, body).into_response()
}

/// Adds a header, where its value may stand in one.
fn insert(headers: &mut HeaderMap, name: HeaderName, value: &str) {
    if let Ok(value) = HeaderValue::from_str(value) {
        headers.insert(name, value);
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

/// Ids that no other answer has: clients put the calls of several into one conversation.
fn ids() -> Ids {
    use std::hash::{BuildHasher, Hasher};
    Ids::new(std::hash::RandomState::new().build_hasher().finish())
}
