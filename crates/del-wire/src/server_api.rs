//! The APIs that model servers speak.

use serde_json::{Map, Value, json};

use crate::anthropic::from_server::Messages;
use crate::from_server::FromServer;
use crate::responses::from_server::Responses;
use crate::{anthropic, chat, ollama, refused, responses, spelling};

/// The API that a model server speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ServerApi {
    /// OpenAI's chat completions.
    #[default]
    OpenAi,
    /// OpenAI's responses.
    Responses,
    /// Anthropic's messages.
    Anthropic,
    /// Ollama's chat.
    Ollama,
}

/// Whether the model is to think before it answers, and how much.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Think {
    /// Not at all.
    Off,
    /// As the model does by itself.
    On,
    /// A little.
    Low,
    /// Some.
    Medium,
    /// Much.
    High,
}

impl ServerApi {
    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::OpenAi => "openai",
            Self::Responses => "responses",
            Self::Anthropic => "anthropic",
            Self::Ollama => "ollama",
        }
    }

    /// Who reads its answers.
    pub fn reader(self) -> FromServer {
        match self {
            Self::OpenAi => FromServer::chat(),
            Self::Responses => FromServer::Responses(Responses::default()),
            Self::Anthropic => FromServer::Anthropic(Messages::default()),
            Self::Ollama => FromServer::Ollama,
        }
    }

    /// A request for a chat completion as a server of this API reads it.
    pub fn write(self, body: Map<String, Value>) -> Value {
        if self == Self::OpenAi {
            return chat::to_server::write(body);
        }
        let mut told = self.translate(&body);
        spelling::forget(&mut told, self.arguments());
        told
    }

    /// The same as JSON, of a body that is needed afterwards. There, arguments keep their spelling.
    pub fn text(self, body: &Map<String, Value>) -> String {
        if self == Self::OpenAi {
            return chat::to_server::text(body);
        }
        let mut out = Vec::new();
        spelling::write(&self.translate(body), self.arguments(), &mut out);
        String::from_utf8(out).unwrap_or_default()
    }

    /// Where the arguments of calls stand in a request, where they are objects.
    fn arguments(self) -> &'static [&'static str] {
        match self {
            Self::OpenAi | Self::Responses => &[],
            Self::Anthropic => &anthropic::ARGUMENTS,
            Self::Ollama => &ollama::ARGUMENTS,
        }
    }

    /// A request for a chat completion in the shape of another API.
    fn translate(self, body: &Map<String, Value>) -> Value {
        let body = refused::told(body);
        match self {
            Self::OpenAi => chat::to_server::write(body.into_owned()),
            Self::Responses => responses::to_server::write(&body),
            Self::Anthropic => anthropic::to_server::write(&body),
            Self::Ollama => ollama::to_server::write(&body),
        }
    }

    /// Where a server whose API lies under `base`, which has no slash at its end, gives answers.
    pub fn address(self, base: &str) -> String {
        match self {
            Self::OpenAi => format!("{base}/chat/completions"),
            Self::Responses => format!("{base}/responses"),
            Self::Anthropic => format!("{base}/messages"),
            Self::Ollama => format!("{}/api/chat", base.trim_end_matches("/v1")),
        }
    }

    /// The members of a request for a chat completion that have the model think so much, where it goes to a server of this
    /// API. `fills` says that the server fills the model's template with members of a request's choosing, as llama.cpp,
    /// vLLM and `SGLang` do.
    pub fn thinking(self, think: Think, fills: bool) -> Map<String, Value> {
        let member = |name: &str, value: Value| Map::from_iter([(name.to_owned(), value)]);
        let effort = match think {
            Think::Off => "none",
            Think::On | Think::Medium => "medium",
            Think::Low => "low",
            Think::High => "high",
        };
        match (self, think) {
            (Self::Ollama, Think::On | Think::Off) => member("think", json!(think == Think::On)),
            (Self::Ollama, _) => member("think", json!(effort)),
            (Self::Anthropic, Think::Off) => member("thinking", json!({"type": "disabled"})),
            (Self::Anthropic, _) => {
                let budget = match think {
                    Think::Low => 2048,
                    Think::High => 16_384,
                    _ => 8192,
                };
                let mut members = member("thinking", json!({"type": "enabled", "budget_tokens": budget}));
                // The thought counts as a part of the answer.
                members.insert("max_tokens".to_owned(), json!(budget + anthropic::to_server::MOST_TOKENS));
                members
            }
            (Self::Responses, Think::On) => member("reasoning", json!({"summary": "auto"})),
            (Self::OpenAi, _) if fills => {
                let mut given = member("enable_thinking", json!(think != Think::Off));
                if matches!(think, Think::Low | Think::Medium | Think::High) {
                    given.extend(member("reasoning_effort", json!(effort)));
                }
                member("chat_template_kwargs", Value::Object(given))
            }
            (Self::OpenAi, Think::On) => Map::new(),
            (Self::OpenAi | Self::Responses, _) => member("reasoning_effort", json!(effort)),
        }
    }
}
