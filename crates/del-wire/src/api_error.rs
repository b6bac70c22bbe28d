//! What servers say when they refuse.

use std::fmt;

use serde_json::{Map, Value, json};

use crate::error::excerpt;
use crate::fields::{Fields, list, string};

/// A server's refusal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApiError {
    /// What it means for the caller.
    pub kind: ApiErrorKind,
    /// The server's own words; when it sent none that can be read, what was expected and what came.
    pub message: String,
    /// The status of the answer; of an error that came inside of one, the status that it says or means.
    pub status: u16,
}

/// What a refusal means for the caller.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ApiErrorKind {
    /// The key is missing, wrong, or not allowed to do this.
    Authentication,
    /// There is no such model, or no such address.
    NotFound,
    /// The server or the model cannot take tools; the same request without them may work.
    ToolsUnsupported,
    /// The conversation is longer than the model's context. Tokens, where the server says them.
    ContextExceeded {
        /// What fits.
        limit: Option<u64>,
        /// What was sent.
        sent: Option<u64>,
    },
    /// Too many requests; later may work.
    RateLimited,
    /// The server is broken, loading or overloaded; later may work.
    Unavailable,
    /// Anything else.
    Other,
}

impl ApiErrorKind {
    /// By this code clients of `OpenAI`'s API know that they have to make the conversation shorter.
    pub const TOO_LONG: &'static str = "context_length_exceeded";

    /// By these words, at the beginning of the message, clients of Anthropic's API know it.
    pub const TOO_LONG_WORDS: &'static str = "prompt is too long";
}

impl ApiError {
    /// True when the conversation is longer than the model's context.
    pub(crate) fn is_too_long(&self) -> bool {
        matches!(self.kind, ApiErrorKind::ContextExceeded { .. })
    }

    /// The type by which clients of `OpenAI`'s API know it.
    pub fn openai_type(&self) -> &'static str {
        match self.status {
            401 => "authentication_error",
            403 => "permission_error",
            429 => "rate_limit_error",
            400..500 => "invalid_request_error",
            _ => "server_error",
        }
    }

    /// The code by which programs know it there, if they know it by one.
    pub fn openai_code(&self) -> Option<&'static str> {
        match self.kind {
            ApiErrorKind::ContextExceeded { .. } => Some(ApiErrorKind::TOO_LONG),
            ApiErrorKind::Authentication if self.status == 401 => Some("invalid_api_key"),
            ApiErrorKind::NotFound if self.message.to_lowercase().contains("model") => {
                Some("model_not_found")
            }
            ApiErrorKind::RateLimited => Some("rate_limit_exceeded"),
            _ => None,
        }
    }

    /// Names it so in an error object of that API, as far as the server does not. A server's own code for a conversation that
    /// is too long is another one, and often a number.
    pub fn name_in(&self, error: &mut Map<String, Value>) {
        for (name, word) in [("type", Some(self.openai_type())), ("code", self.openai_code())] {
            let unsaid = error.get(name).is_none_or(Value::is_null);
            if let Some(word) = word.filter(|word| unsaid || *word == ApiErrorKind::TOO_LONG) {
                error.insert(name.to_owned(), json!(word));
            }
        }
    }

    /// Reads the body of an answer with an error status.
    pub fn from_response(status: u16, body: &str) -> Self {
        Self::read(Some(status), body)
    }

    /// Reads an error object that came inside a stream.
    pub fn from_stream(json: &str) -> Self {
        Self::read(None, json)
    }

    fn read(status: Option<u16>, body: &str) -> Self {
        let said = Said::read(body);
        let status = status.or(said.status).or_else(|| said.named_status());
        let kind = said.kind(status.unwrap_or(0));
        let status = status.unwrap_or(match kind {
            ApiErrorKind::ContextExceeded { .. } | ApiErrorKind::ToolsUnsupported => 400,
            _ => 502,
        });
        Self { kind, message: said.message.unwrap_or_else(|| nothing_readable(body)), status }
    }
}

impl fmt::Display for ApiError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for ApiError {}

fn nothing_readable(body: &str) -> String {
    if body.trim().is_empty() {
        "expected an error message, got an empty body".to_owned()
    } else {
        format!("expected an error message in JSON, got `{}`", excerpt(body))
    }
}

/// What an error body says, wherever it says it.
#[derive(Default)]
struct Said {
    message: Option<String>,
    code: String,
    status: Option<u16>,
    limit: Option<u64>,
    sent: Option<u64>,
}

impl Said {
    fn read(body: &str) -> Self {
        // Google's servers put it into a list.
        let listed = list(body, "error").ok().and_then(|list| list.into_iter().next());
        let body = listed.unwrap_or(body);
        let Ok(outer) = Fields::read(body, "error") else { return Self::default() };
        // The event with which a response fails has all of that in it.
        let response = outer.object("response").ok().flatten();
        let inner = outer.get("error").or_else(|| response?.get("error")).unwrap_or(body);
        if let Ok(message) = string(inner, "error") {
            return Self { message: Some(message), ..Self::default() };
        }
        let Ok(fields) = Fields::read(inner, "error") else { return Self::default() };
        let text = |name| fields.text(name).ok().flatten();
        let code = [text("code"), text("type")].into_iter().flatten().collect::<Vec<_>>().join(" ");
        Self {
            message: text("message").or_else(|| {
                // Mistral's have it in the message.
                let inner = fields.object("message").ok().flatten();
                fields.get("detail").or_else(|| inner?.get("detail")).and_then(detail)
            }),
            code,
            status: fields
                .number("code")
                .and_then(|code| u16::try_from(code).ok())
                .filter(|code| matches!(code, 400..600)),
            limit: fields.number("n_ctx"),
            sent: fields.number("n_prompt_tokens"),
        }
    }

    /// The status of an error that servers call so.
    fn named_status(&self) -> Option<u16> {
        let code = self.code.to_lowercase().replace('_', "");
        NAMES.iter().find(|(name, _)| code.contains(name)).map(|(_, status)| *status)
    }

    fn kind(&self, status: u16) -> ApiErrorKind {
        let message = self.message.as_deref().unwrap_or_default().to_lowercase();
        let says = |words: &[&str]| words.iter().any(|word| message.contains(word));
        let codes = |words: &[&str]| words.iter().any(|word| self.code.contains(word));
        if refuses_tools(&message) {
            ApiErrorKind::ToolsUnsupported
        } else if self.code.contains("context") || says(CONTEXT_EXCEEDED) {
            let (sent, limit) = compared(&message).unzip();
            ApiErrorKind::ContextExceeded { limit: self.limit.or(limit), sent: self.sent.or(sent) }
        } else if matches!(status, 401 | 403) || codes(&["invalid_api_key", "authentication", "permission"]) {
            ApiErrorKind::Authentication
        } else if status == 404 || self.code.contains("not_found") {
            ApiErrorKind::NotFound
        } else if status == 429 || codes(&["rate_limit"]) {
            ApiErrorKind::RateLimited
        } else if matches!(status, 408 | 409 | 500..) || codes(&["overloaded", "server_error"]) {
            ApiErrorKind::Unavailable
        } else {
            ApiErrorKind::Other
        }
    }
}

/// The numbers of `205000 tokens > 200000 maximum`, as Anthropic says it.
fn compared(message: &str) -> Option<(u64, u64)> {
    let (sent, limit) = message.split_once(" tokens > ")?;
    let sent = sent.rsplit(' ').next()?.parse().ok()?;
    Some((sent, limit.split(' ').next()?.parse().ok()?))
}

/// `detail` of a `FastAPI` server: a sentence, or a list of what is wrong with the request.
fn detail(text: &str) -> Option<String> {
    if let Ok(sentence) = string(text, "detail") {
        return Some(sentence);
    }
    let parts: Vec<String> = list(text, "detail")
        .ok()?
        .into_iter()
        .filter_map(|part| {
            let fields = Fields::read(part, "detail").ok()?;
            let said = fields.text("msg").ok().flatten()?;
            let place = list(fields.get("loc")?, "loc").ok()?.join(".").replace('"', "");
            Some(format!("{place}: {said}"))
        })
        .collect();
    (!parts.is_empty()).then(|| parts.join("; "))
}

/// Words in the names of errors, and the status that goes along with each. What is called two things is the first.
const NAMES: &[(&str, u16)] = &[
    ("authentication", 401),
    ("invalidapikey", 401),
    ("billing", 402),
    ("permission", 403),
    ("notfound", 404),
    ("toolarge", 413),
    ("ratelimit", 429),
    ("quota", 429),
    ("toomanyrequests", 429),
    ("overloaded", 529),
    ("unavailable", 503),
    ("timeout", 504),
    ("badrequest", 400),
    ("invalid", 400),
    ("servererror", 500),
    ("internal", 500),
    ("apierror", 500),
];

const CONTEXT_EXCEEDED: &[&str] = &[
    "context length",
    "context size",
    "context window",
    "context the overflows",
    "maximum context",
    ApiErrorKind::TOO_LONG_WORDS,
    "too many tokens",
];

/// Ollama, llama.cpp, vLLM, LM Studio and their kin refuse tools in words of their own.
fn refuses_tools(message: &str) -> bool {
    const ABOUT_TOOLS: &[&str] = &["tool", "function call"];
    const REFUSAL: &[&str] = &[
        "not support",
        "unsupported",
        "requires --jinja",
        "--enable-auto-tool-choice",
        "not enabled",
        "not permitted",
        "unrecognized request argument",
        "unable to generate parser",
        "no endpoints found",
    ];
    let says = |words: &[&str]| words.iter().any(|word| message.contains(word));
    says(ABOUT_TOOLS) && says(REFUSAL) || message.contains("unable to generate parser for this template")
}

#[cfg(test)]
mod tests {
    use super::{ApiError, ApiErrorKind};

    fn kind(status: u16, body: &str) -> ApiErrorKind {
        ApiError::from_response(status, body).kind
    }

    #[test]
    fn servers_refuse_tools_in_many_words() {
        for (status, body) in [
            (
                400,
                r#"{"error":{"message":"registry.ollama.ai/library/gemma:2b does not support tools","type":"invalid_request_error"}}"#,
            ),
            (400, r#"{"error":"\"llama2\" does not support tools"}"#),
            (
                500,
                r#"{"error":{"code":500,"message":"tools param requires --jinja flag","type":"server_error"}}"#,
            ),
            (
                400,
                r#"{"object":"error","message":"\"auto\" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set","code":400}"#,
            ),
            (
                422,
                r#"{"detail":[{"type":"extra_forbidden","loc":["body","tools"],"msg":"Extra inputs are not permitted"}]}"#,
            ),
            (404, r#"{"error":{"message":"No endpoints found that support tool use.","code":404}}"#),
            (
                500,
                r#"{"error":{"message":"Unable to generate parser for this template. Automatic parser generation failed"}}"#,
            ),
        ] {
            assert_eq!(kind(status, body), ApiErrorKind::ToolsUnsupported, "{body}");
        }
    }

    #[test]
    fn other_refusals_are_told_apart() {
        assert_eq!(kind(401, r#"{"error":{"message":"Incorrect API key"}}"#), ApiErrorKind::Authentication);
        assert_eq!(kind(404, r#"{"error":{"message":"model 'x' not found"}}"#), ApiErrorKind::NotFound);
        assert_eq!(kind(429, "slow down"), ApiErrorKind::RateLimited);
        assert_eq!(kind(503, r#"{"error":{"message":"Loading model"}}"#), ApiErrorKind::Unavailable);
        assert_eq!(kind(400, r#"{"error":{"message":"temperature must be >= 0"}}"#), ApiErrorKind::Other);
        assert_eq!(
            kind(
                400,
                r#"{"error":{"code":400,"message":"the request exceeds the available context size","type":"exceed_context_size_error","n_prompt_tokens":9000,"n_ctx":8192}}"#
            ),
            ApiErrorKind::ContextExceeded { limit: Some(8192), sent: Some(9000) },
        );
        assert_eq!(
            kind(400, r#"{"error":{"message":"This model's maximum context length is 4096 tokens"}}"#),
            ApiErrorKind::ContextExceeded { limit: None, sent: None },
        );
    }

    #[test]
    fn other_apis_say_the_same_in_their_words() {
        let anthropic = |kind: &str, message: &str| {
            format!(r#"{{"type":"error","error":{{"type":"{kind}","message":"{message}"}}}}"#)
        };
        assert_eq!(
            kind(
                400,
                &anthropic("invalid_request_error", "prompt is too long: 205000 tokens > 200000 maximum")
            ),
            ApiErrorKind::ContextExceeded { limit: Some(200_000), sent: Some(205_000) },
        );
        for (code, expected) in [
            ("overloaded_error", ApiErrorKind::Unavailable),
            ("rate_limit_error", ApiErrorKind::RateLimited),
            ("authentication_error", ApiErrorKind::Authentication),
            ("invalid_request_error", ApiErrorKind::Other),
        ] {
            assert_eq!(ApiError::from_stream(&anthropic(code, "no")).kind, expected, "{code}");
        }
        let ollama = r#"{"error":"the input length exceeds the context length"}"#;
        assert_eq!(kind(400, ollama), ApiErrorKind::ContextExceeded { limit: None, sent: None });
    }

    #[test]
    fn a_tool_word_alone_is_no_refusal_of_tools() {
        assert_eq!(kind(400, r#"{"error":"tool_call_id is missing"}"#), ApiErrorKind::Other);
        assert_eq!(kind(400, r#"{"error":"images are not supported"}"#), ApiErrorKind::Other);
    }

    #[test]
    fn an_error_in_a_stream_brings_its_status_along() {
        let error = ApiError::from_stream(r#"{"error":{"code":503,"message":"Loading model"}}"#);
        assert_eq!((error.kind, error.message.as_str()), (ApiErrorKind::Unavailable, "Loading model"));
        for (error, status) in [
            (r#"{"code":503,"message":"Loading model"}"#, 503),
            (r#"{"code":7,"message":"?"}"#, 502),
            (r#"{"message":"?"}"#, 502),
            (r#"{"code":"model_not_found","type":"invalid_request_error","message":"no"}"#, 404),
            (r#"{"code":null,"type":"invalid_request_error","message":"no"}"#, 400),
            (r#"{"code":"insufficient_quota","message":"no"}"#, 429),
            (r#"{"type":"overloaded_error","message":"no"}"#, 529),
            (r#"{"type":"api_error","message":"no"}"#, 500),
            (r#"{"type":"InternalServerError","message":"no"}"#, 500),
            (r#"{"message":"This model's maximum context length is 10 tokens."}"#, 400),
        ] {
            assert_eq!(ApiError::from_stream(&format!(r#"{{"error":{error}}}"#)).status, status, "{error}");
        }
    }

    #[test]
    fn an_error_in_a_list_or_in_its_own_message_is_read() {
        let google = r#"[{"error":{"code":400,"message":"Function calling is not enabled for m","status":"INVALID_ARGUMENT"}}]"#;
        let flat = r#"{"object":"error","message":"Function calling is not supported for this model","type":"BadRequestError","code":400}"#;
        for body in [google, flat] {
            let error = ApiError::from_response(400, body);
            assert_eq!(error.kind, ApiErrorKind::ToolsUnsupported, "{}", error.message);
        }
        let mistral = r#"{"object":"error","message":{"detail":[{"type":"missing","loc":["body","model"],"msg":"Field required"}]},"type":"invalid_request_error"}"#;
        assert_eq!(ApiError::from_response(422, mistral).message, "body.model: Field required");
    }

    #[test]
    fn what_cannot_be_read_is_shown() {
        let error = ApiError::from_response(502, "<html>\n<b>Bad gateway</b>");
        assert_eq!(error.message, "expected an error message in JSON, got `<html> <b>Bad gateway</b>`");
        assert_eq!(ApiError::from_response(500, " ").message, "expected an error message, got an empty body");
    }
}
