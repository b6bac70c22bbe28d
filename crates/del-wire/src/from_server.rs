//! Answers of servers, of whichever API, to what they add.

use std::borrow::Cow;

use crate::anthropic::from_server::Messages;
use crate::chunk::{Chunk, Chunks};
use crate::error::WireError;
use crate::fields::Fields;
use crate::heard::Heard;
use crate::responses::from_server::Responses;

/// Reads the answer of one server.
#[derive(Debug)]
pub enum FromServer {
    /// Chat completions.
    Chat(Chunks),
    /// OpenAI's responses.
    Responses(Responses),
    /// Anthropic's messages.
    Anthropic(Messages),
    /// Ollama's chat.
    Ollama,
}

impl Default for FromServer {
    fn default() -> Self {
        Self::chat()
    }
}

impl FromServer {
    /// Reads chat completions.
    pub fn chat() -> Self {
        Self::Chat(Chunks::default())
    }

    /// Reads one event of a stream.
    pub fn event(&mut self, data: &str) -> Result<Heard<'_>, WireError> {
        match self {
            Self::Chat(_) if is_ping(data) => Ok(Heard::Nothing),
            Self::Chat(chunks) => {
                chunks.read(data).map(|(chunk, text)| Heard::Chunk(Cow::Borrowed(chunk), text))
            }
            Self::Ollama => Chunk::read(data).map(|chunk| Heard::Chunk(Cow::Owned(chunk), None)),
            Self::Responses(responses) => responses.event(data),
            Self::Anthropic(messages) => messages.event(data),
        }
    }

    /// Reads an answer that comes at once.
    pub fn whole(&mut self, body: &str) -> Result<Chunk, WireError> {
        match self {
            Self::Chat(_) => Chunk::read_whole(body),
            Self::Ollama => Chunk::read(body),
            Self::Responses(responses) => responses.whole(body),
            Self::Anthropic(messages) => messages.whole(body),
        }
    }

    /// True when what the server says beside text and calls means the same to a client of chat completions.
    pub fn is_chat(&self) -> bool {
        matches!(self, Self::Chat(_))
    }
}

/// True for what keeps a connection alive, which some servers of chats send as an event.
fn is_ping(data: &str) -> bool {
    const LONGEST: usize = 64;
    data.len() <= LONGEST
        && data.contains("\"ping\"")
        && Fields::read(data, "event").is_ok_and(|event| event.get("type") == Some("\"ping\""))
}
