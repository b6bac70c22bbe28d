//! The APIs that clients speak: which one a request is of, how it is read, and who writes its answer.

use std::time::{SystemTime, UNIX_EPOCH};

use del_wire::anthropic::{self, to_client::Messages};
use del_wire::chat::to_client::Chat;
use del_wire::ollama::{self, to_client::Ollama};
use del_wire::responses::{self, Echo, to_client::Responses};
use del_wire::time::rfc3339;
use del_wire::tools::Functions;
use del_wire::{Asked, ToClient, WireError};
use serde_json::{Map, Value};

use crate::memory::Shelf;
use crate::refusal::Refusal;
use crate::stamp::response_id;

/// An endpoint that gives answers of a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Api {
    Chat,
    Responses,
    Messages,
    OllamaChat,
    OllamaGenerate,
}

/// What the writer of an answer has to know of the request, as the client wrote that.
#[derive(Debug, Default)]
pub(crate) struct About {
    pub(crate) model: String,
    /// Where the client wants the model to stop, as Anthropic's API has it.
    stops: Vec<String>,
    /// The client knows functions, not tools.
    pub(crate) legacy: bool,
    /// The client wants to know what a stream cost.
    pub(crate) counts: bool,
    /// What a response says again.
    echo: Echo,
}

/// A request that was read.
#[derive(Debug)]
pub(crate) struct Taken {
    pub(crate) asked: Asked,
    /// What an answer is remembered with, where the API goes on with earlier answers.
    pub(crate) conversation: Option<Vec<Value>>,
}

/// Reads the messages of a request.
type ReadMessages = fn(&str) -> Result<Value, WireError>;

impl Api {
    /// The tools that a request of this API gives.
    pub(crate) fn functions(self, given: Vec<Value>) -> Functions {
        match self {
            Self::Messages => anthropic::from_client::functions(given),
            Self::Responses => responses::from_client::functions(given),
            Self::Chat | Self::OllamaChat | Self::OllamaGenerate => Functions::alike(given),
        }
    }

    /// Who reads the messages of a request, where the arguments of calls in them are objects.
    pub(crate) fn messages(self) -> Option<ReadMessages> {
        match self {
            Self::Messages => Some(anthropic::from_client::messages),
            Self::OllamaChat => Some(ollama::from_client::messages),
            Self::Chat | Self::Responses | Self::OllamaGenerate => None,
        }
    }

    /// Reads the body of a request, and its tools where they were `given` apart from it. The memory has what it goes on
    /// with or refers to.
    pub(crate) fn take(
        self,
        mut body: Map<String, Value>,
        given: Option<Functions>,
        memory: &Shelf<'_>,
    ) -> Result<Taken, Refusal> {
        let apart = given.is_some();
        let functions = match given {
            Some(given) => given,
            // In a chat, what is no list of tools is the server's affair.
            None if self == Self::Chat => Functions::default(),
            None => Functions::take(&mut body, |given| self.functions(given)).map_err(wrong)?,
        };
        let asked = match self {
            Self::Chat if body.get("messages").is_some_and(Value::is_array) => {
                if apart {
                    body.insert("tools".to_owned(), Value::Array(functions.list));
                }
                Asked::of(body)
            }
            Self::Chat => return Err(Refusal::bad_request("expected a list as `messages`")),
            Self::Messages => anthropic::from_client::read(body, functions),
            Self::OllamaChat => ollama::from_client::read_chat(&body, functions),
            Self::OllamaGenerate => ollama::from_client::read_generate(&body),
            Self::Responses => {
                let earlier = match body.get("previous_response_id") {
                    None | Some(Value::Null) => Vec::new(),
                    Some(id) => {
                        id.as_str().and_then(|id| memory.conversation(id)).ok_or_else(|| forgotten(id))?
                    }
                };
                let kept = |id: &str| memory.item(id);
                let read = responses::from_client::read(body, functions, earlier, &kept).map_err(wrong)?;
                return Ok(Taken { asked: read.asked, conversation: Some(read.conversation) });
            }
        };
        Ok(Taken { asked: asked.map_err(wrong)?, conversation: None })
    }

    /// True where a request that says nothing has the model loaded.
    pub(crate) fn loads(self) -> bool {
        matches!(self, Self::OllamaChat | Self::OllamaGenerate)
    }

    /// Who writes the answer to this request. `id` is one that no other answer has.
    pub(crate) fn client(self, request: &About, id: &str) -> Box<dyn ToClient> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
        let About { model, stops, legacy, counts, echo } = request;
        match self {
            Self::Chat => Box::new(Chat::new(now, *legacy).counting(*counts).named(format!("chatcmpl-{id}"))),
            Self::Messages => Box::new(Messages::new(format!("msg_{id}"), model).stopping_at(stops.clone())),
            Self::Responses => Box::new(Responses::new(response_id(id), now, echo.clone())),
            Self::OllamaChat | Self::OllamaGenerate => {
                Box::new(Ollama::new(model, rfc3339(now), self == Self::OllamaGenerate))
            }
        }
    }
}

impl About {
    /// That of this request, whose tools are this JSON where they stand apart from it.
    pub(crate) fn of(api: Api, request: &Map<String, Value>, tools: Option<&str>) -> Self {
        let stops = request.get("stop_sequences").and_then(Value::as_array).into_iter().flatten();
        Self {
            model: request.get("model").and_then(Value::as_str).unwrap_or_default().to_owned(),
            stops: stops.filter_map(Value::as_str).map(str::to_owned).collect(),
            legacy: request.get("functions").is_some_and(|functions| !functions.is_null()),
            counts: request.get("stream_options").is_some_and(|told| told["include_usage"] == true),
            echo: if api == Api::Responses { Echo::of(request, tools) } else { Echo::default() },
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
        .code("previous_response_not_found")
        .hint("send the conversation itself, or start the proxy with a larger --response-memory")
}
