//! The APIs that clients speak: which one a request is of, how it is read, and who writes its answer.

use std::time::{SystemTime, UNIX_EPOCH};

use del_wire::anthropic::{self, to_client::Messages};
use del_wire::chat::to_client::Chat;
use del_wire::ollama::{self, to_client::Ollama};
use del_wire::responses::{self, to_client::Responses};
use del_wire::time::rfc3339;
use del_wire::{Asked, ToClient, WireError};
use serde_json::{Map, Value};

use crate::memory::Shelf;
use crate::refusal::Refusal;
use crate::stamp::response_id;

/// An endpoint that gives answers of a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Api {
    Chat,
    Responses,
    Messages,
    OllamaChat,
    OllamaGenerate,
}

/// A request that was read.
#[derive(Debug)]
pub(crate) struct Taken {
    pub(crate) asked: Asked,
    /// What an answer is remembered with, where the API goes on with earlier answers.
    pub(crate) conversation: Option<Vec<Value>>,
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
