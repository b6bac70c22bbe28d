//! The APIs that clients speak: which one a request is of, how it is read, and who writes its answer.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::time::{SystemTime, UNIX_EPOCH};

use axum::http::Uri;
use axum::http::request::Parts;
use del_wire::anthropic::{self, to_client::Messages};
use del_wire::chat::to_client::Chat;
use del_wire::ollama::{self, to_client::Ollama};
use del_wire::responses::{self, to_client::Responses};
use del_wire::{Asked, ToClient, WireError};
use serde_json::{Map, Value};

use crate::memory::Shelf;
use crate::refusal::Refusal;

/// An endpoint that gives answers of a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Api {
    Chat,
    Responses,
    Messages,
    OllamaChat,
    OllamaGenerate,
}

/// Those whose errors have one shape.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Family {
    OpenAi,
    Anthropic,
    Ollama,
}

/// A request that was read.
#[derive(Debug)]
pub(crate) struct Taken {
    pub(crate) asked: Asked,
    /// What an answer is remembered with, where the API goes on with earlier answers.
    pub(crate) conversation: Option<Vec<Value>>,
}

impl Family {
    /// That of a request, also of one to a path that there is not.
    pub(crate) fn of(parts: &Parts) -> Self {
        Self::of_path(&parts.uri, parts.headers.contains_key("anthropic-version"))
    }

    fn of_path(uri: &Uri, anthropic: bool) -> Self {
        let path = uri.path();
        if anthropic || path.starts_with("/v1/messages") {
            Self::Anthropic
        } else if path == "/api" || path.starts_with("/api/") {
            Self::Ollama
        } else {
            Self::OpenAi
        }
    }
}

impl Api {
    /// Reads the body of a request. The memory has what it goes on with or refers to.
    pub(crate) fn take(self, body: Map<String, Value>, memory: &Shelf<'_>) -> Result<Taken, Refusal> {
        let asked = match self {
            Self::Chat if body.get("messages").is_some_and(Value::is_array) => Asked::of(body),
            Self::Chat => return Err(Refusal::bad_request("expected a list as `messages`")),
            Self::Messages => anthropic::from_client::read(body),
            Self::OllamaChat => ollama::from_client::read_chat(&body),
            Self::OllamaGenerate => ollama::from_client::read_generate(&body),
            Self::Responses => {
                let earlier = match body.get("previous_response_id") {
                    None | Some(Value::Null) => Vec::new(),
                    Some(id) => {
                        id.as_str().and_then(|id| memory.conversation(id)).ok_or_else(|| forgotten(id))?
                    }
                };
                let kept = |id: &str| memory.item(id);
                let read = responses::from_client::read(body, earlier, &kept).map_err(wrong)?;
                return Ok(Taken { asked: read.asked, conversation: Some(read.conversation) });
            }
        };
        Ok(Taken { asked: asked.map_err(wrong)?, conversation: None })
    }

    /// True where a request that says nothing has the model loaded.
    pub(crate) fn loads(self) -> bool {
        matches!(self, Self::OllamaChat | Self::OllamaGenerate)
    }

    /// Who writes the answer. `request` is the body as the client wrote it, and `id` is one that no other answer has.
    pub(crate) fn client(self, request: &Map<String, Value>, id: &str) -> Box<dyn ToClient> {
        let model = || request.get("model").and_then(Value::as_str).unwrap_or_default();
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        match self {
            Self::Chat => {
                let counts = request.get("stream_options").is_some_and(|told| told["include_usage"] == true);
                Box::new(Chat::new(now.as_secs(), request.contains_key("functions")).counting(counts))
            }
            Self::Messages => {
                let stops = request.get("stop_sequences").and_then(Value::as_array).into_iter().flatten();
                let stops = stops.filter_map(Value::as_str).map(str::to_owned).collect();
                Box::new(Messages::new(format!("msg_{id}"), model()).stopping_at(stops))
            }
            Self::Responses => Box::new(Responses::new(&response_id(id), now.as_secs(), request)),
            Self::OllamaChat | Self::OllamaGenerate => {
                Box::new(Ollama::new(model(), rfc3339(now.as_secs()), self == Self::OllamaGenerate))
            }
        }
    }
}

#[expect(clippy::needless_pass_by_value, reason = "what `map_err` gives")]
fn wrong(error: WireError) -> Refusal {
    Refusal::bad_request(error.to_string())
}

fn forgotten(id: &Value) -> Refusal {
    let id = id.as_str().map_or_else(|| id.to_string(), str::to_owned);
    Refusal::bad_request(format!("expected the id of an earlier response, got `{id}`"))
        .hint("send the conversation itself, or start the proxy with a larger --response-memory")
}

/// The id of the response that has this one inside.
pub(crate) fn response_id(id: &str) -> String {
    format!("resp_{id}")
}

/// An id that nothing else has.
pub(crate) fn unique() -> String {
    format!("{:016x}", RandomState::new().build_hasher().finish())
}

/// A time in seconds, as text.
pub(crate) fn rfc3339(seconds: u64) -> String {
    let (days, rest) = (seconds / 86_400, seconds % 86_400);
    // Years that begin with March end with the day that some of them have.
    let shifted = days + 719_468;
    let (era, day_of_era) = (shifted / 146_097, shifted % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    let year = era * 400 + year_of_era + u64::from(month < 3);
    let (hour, minute, second) = (rest / 3_600, rest / 60 % 60, rest % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}

#[cfg(test)]
mod tests {
    use super::rfc3339;

    #[test]
    fn times_are_dates() {
        for (seconds, date) in [
            (0, "1970-01-01T00:00:00Z"),
            (951_782_400, "2000-02-29T00:00:00Z"),
            (1_709_251_199, "2024-02-29T23:59:59Z"),
            (1_798_761_600, "2027-01-01T00:00:00Z"),
        ] {
            assert_eq!(rfc3339(seconds), date);
        }
    }
}
