//! Answers of servers, of whichever API, to what they add.

use crate::anthropic::from_server::Messages;
use crate::chunk::Chunk;
use crate::error::WireError;
use crate::responses::from_server::Responses;

/// Reads the answer of one server.
#[derive(Debug)]
pub enum FromServer {
    /// Chat completions.
    Chat,
    /// OpenAI's responses.
    Responses(Responses),
    /// Anthropic's messages.
    Anthropic(Messages),
    /// Ollama's chat.
    Ollama,
}

/// What one event of a stream says.
#[derive(Debug)]
pub enum Heard {
    /// More of the answer, or an error.
    Chunk(Box<Chunk>),
    /// Nothing of the answer.
    Nothing,
    /// The answer is over.
    Done,
}

impl FromServer {
    /// Reads one event of a stream.
    pub fn event(&mut self, data: &str) -> Result<Heard, WireError> {
        match self {
            Self::Chat | Self::Ollama => Chunk::read(data).map(|chunk| Heard::Chunk(Box::new(chunk))),
            Self::Responses(responses) => responses.event(data),
            Self::Anthropic(messages) => messages.event(data),
        }
    }

    /// Reads an answer that comes at once.
    pub fn whole(&mut self, body: &str) -> Result<Chunk, WireError> {
        match self {
            Self::Chat | Self::Ollama => Chunk::read(body),
            Self::Responses(responses) => responses.whole(body),
            Self::Anthropic(messages) => messages.whole(body),
        }
    }

    /// True when what the server says beside text and calls means the same to a client of chat completions.
    pub fn is_chat(&self) -> bool {
        matches!(self, Self::Chat)
    }
}
