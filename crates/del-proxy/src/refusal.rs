//! What a client is told when there is no answer, in the shape of the API that it called.

use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use del_wire::anthropic::error_kind;
use del_wire::{ApiError, ApiErrorKind, Failure, ToClient};
use serde_json::{Value, json};

use crate::document::Document;
use crate::family::Family;

/// Why there is no answer, and what to do about it.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{message}")]
pub(crate) struct Refusal {
    status: StatusCode,
    kind: &'static str,
    message: String,
    hint: Option<String>,
    /// What goes along: a model server's own where it refused.
    headers: Box<HeaderMap>,
    /// A model server's error, where that has the shape of OpenAI's API.
    said: Option<Box<Value>>,
    /// What clients of OpenAI's API know it by.
    code: Option<&'static str>,
    /// A model server refused.
    theirs: bool,
}

impl Refusal {
    /// The request is wrong.
    pub(crate) fn bad_request(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "invalid_request_error", message)
    }

    /// The request is not allowed.
    pub(crate) fn forbidden(message: impl Into<String>) -> Self {
        Self::new(StatusCode::FORBIDDEN, "permission_error", message)
    }

    /// The key is missing or wrong.
    pub(crate) fn unauthorized(message: impl Into<String>) -> Self {
        Self::new(StatusCode::UNAUTHORIZED, "authentication_error", message).code("invalid_api_key")
    }

    /// There is no such path.
    pub(crate) fn not_found(message: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, "invalid_request_error", message)
    }

    /// The model server cannot be reached, or says what is none of its words.
    pub(crate) fn bad_gateway(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_GATEWAY, UPSTREAM, message)
    }

    /// What a server says is no answer, for this reason.
    pub(crate) fn no_answer(reason: &dyn std::fmt::Display) -> Self {
        Self::bad_gateway(format!("this is no answer of a model server: {reason}"))
            .hint("check the address of --upstream; it usually ends in /v1")
    }

    /// The model server does not answer in time.
    pub(crate) fn too_late(message: impl Into<String>) -> Self {
        Self::new(StatusCode::GATEWAY_TIMEOUT, UPSTREAM, message)
    }

    /// What a model server says in place of an answer.
    pub(crate) fn of_server(status: StatusCode, headers: HeaderMap, error: &ApiError, said: &str) -> Self {
        let body = serde_json::from_str::<Value>(said).ok();
        let body = body.filter(|said| said["error"]["message"].is_string());
        // A response that failed has more in it than that.
        let mut body =
            body.map(|said| if said["object"] == "response" { of_response(&said["error"]) } else { said });
        if let Some(said) = body.as_mut().filter(|said| said["type"] != "error")
            && let Some(members) = said["error"].as_object_mut()
        {
            error.name_in(members);
        }
        let refusal = Self::new(status, error.openai_type(), error.message.as_str());
        let (said, code) = (body.map(Box::new), error.openai_code());
        Self { headers: Box::new(headers), said, code, theirs: true, ..refusal }
    }

    /// The same inside of what was to be an answer, and came as one: as if it had come with the status of what it says.
    pub(crate) fn in_answer(error: &ApiError, said: &str) -> Self {
        let status = StatusCode::from_u16(error.status).unwrap_or(StatusCode::BAD_GATEWAY);
        Self::of_server(status, HeaderMap::new(), error, said)
    }

    /// Too much at once: soon there will be room.
    pub(crate) fn busy(message: impl Into<String>) -> Self {
        Self::new(StatusCode::TOO_MANY_REQUESTS, "rate_limit_error", message)
            .code("rate_limit_exceeded")
            .header(header::RETRY_AFTER, HeaderValue::from_static("1"))
    }

    /// The proxy takes nothing now; another one may.
    pub(crate) fn unavailable(message: impl Into<String>) -> Self {
        Self::new(StatusCode::SERVICE_UNAVAILABLE, "api_error", message)
    }

    /// Any other.
    pub(crate) fn new(status: StatusCode, kind: &'static str, message: impl Into<String>) -> Self {
        let (message, headers) = (message.into(), Box::default());
        Self { status, kind, message, hint: None, headers, said: None, code: None, theirs: false }
    }

    /// True when the conversation is longer than the model can read, upon which clients of each API make it shorter.
    pub(crate) fn is_too_long(&self) -> bool {
        self.code == Some(ApiErrorKind::TOO_LONG)
    }

    /// True when the model server did not answer in time.
    pub(crate) fn is_late(&self) -> bool {
        self.status == StatusCode::GATEWAY_TIMEOUT
    }

    /// Its name in the shape of OpenAI's API.
    pub(crate) fn kind(&self) -> &'static str {
        self.kind
    }

    pub(crate) fn status(&self) -> StatusCode {
        self.status
    }

    /// With what to do about it.
    #[must_use]
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// With a code for programs.
    #[must_use]
    pub(crate) fn code(mut self, code: &'static str) -> Self {
        self.code = Some(code);
        self
    }

    /// With a header.
    #[must_use]
    pub(crate) fn header(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.headers.insert(name, value);
        self
    }

    /// What a stream ends with in place of an answer.
    pub(crate) fn end_stream(&self, client: &mut dyn ToClient, out: &mut Vec<u8>) {
        let (message, raw) = (self.to_string(), self.body(Family::OpenAi).to_string());
        let status = Some(self.status.as_u16());
        client.fail(&Failure { message: &message, raw: Some(&raw), status }, out);
    }

    /// The answer in the shape of an API.
    pub(crate) fn shaped(self, family: Family) -> Response {
        let mut response = (self.status, *self.headers.clone(), Document(self.body(family))).into_response();
        if self.status == StatusCode::UNAUTHORIZED && !self.theirs {
            response.headers_mut().insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        response
    }

    /// What it says in the shape of an API.
    pub(crate) fn body(&self, family: Family) -> Value {
        let with_hint = || match &self.hint {
            Some(hint) => format!("{}; {hint}", self.message),
            None => self.message.clone(),
        };
        match family {
            Family::OpenAi => {
                if let Some(said) = self.said.as_ref().filter(|said| said["type"] != "error") {
                    return Value::clone(said);
                }
                let kind =
                    self.said.as_ref().map_or_else(|| json!(self.kind), |said| said["error"]["type"].clone());
                let mut error =
                    json!({"message": self.message, "type": kind, "param": null, "code": self.code});
                if let Some(hint) = &self.hint {
                    error["hint"] = json!(hint);
                }
                json!({"error": error})
            }
            Family::Anthropic => {
                let kind = error_kind(self.status.as_u16());
                let said = with_hint();
                let words = ApiErrorKind::TOO_LONG_WORDS;
                let told = if self.is_too_long() && !said.starts_with(words) {
                    format!("{words}: {said}")
                } else {
                    said
                };
                json!({"type": "error", "error": {"type": kind, "message": told}})
            }
            Family::Ollama => json!({"error": with_hint()}),
        }
    }
}

/// The error of a response, as that of a chat.
fn of_response(error: &Value) -> Value {
    let (message, code) = (&error["message"], &error["code"]);
    json!({"error": {"message": message, "type": null, "param": null, "code": code}})
}

/// The refusal itself goes along, so that whoever knows the API that was called can give it another shape.
impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let mut response = self.clone().shaped(Family::OpenAi);
        response.extensions_mut().insert(self);
        response
    }
}

/// The kind of errors that come from the model server.
const UPSTREAM: &str = "upstream_error";
