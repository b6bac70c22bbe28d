//! The shapes that go over the wire, to and from the neutral types of [`del_dialects`].
//!
//! There is no input or output here: bytes and JSON come in, values go out.
//!
//! - [`sse`]: the bytes of a streamed answer, cut anywhere, to the JSON texts in it;
//! - [`chunk`]: one such text (or a whole answer) to what it adds;
//! - [`assembly`]: the calls in it to events, however a server cuts them;
//! - [`reading`]: the text of an answer and the calls of the API beside it, as one stream of events;
//! - [`native`]: an assistant message with `tool_calls` to a message and back;
//! - [`request`]: a request for a chat completion, as a program writes one;
//! - [`asked`]: a client's request, whatever its API, and [`told`]: what it is told of the answer; between them and each
//!   API stand a file in and a file out: [`chat`], [`responses`], [`anthropic`], [`ollama`];
//! - [`prompt`]: a conversation with tools as text in a dialect;
//! - [`failed`]: results of calls that failed;
//! - [`history`]: the conversation that a client sends, mended where a server would refuse it;
//! - [`hybrid`]: of which tools a model has the definitions, where it gets those that it asks for;
//! - [`error`]: what servers say when they refuse;
//! - [`answer`], [`events`], [`records`]: what `del parse` prints and reads;
//! - [`convert`]: the records of `del convert`;
//! - [`tools`]: tool definitions in the spellings of the APIs.
#![forbid(unsafe_code)]

pub mod answer;
pub mod anthropic;
pub mod asked;
pub mod assembly;
mod balance;
pub mod chat;
pub mod chunk;
pub mod convert;
pub mod error;
pub mod events;
pub mod failed;
mod fields;
pub mod from_server;
pub mod history;
pub mod hybrid;
pub mod ids;
pub mod native;
pub mod ollama;
pub mod prompt;
pub mod reading;
pub mod records;
pub mod request;
pub mod responses;
pub mod sse;
pub mod told;
pub mod tools;

pub use asked::Asked;
pub use assembly::Assembly;
pub use chunk::{CallDelta, Chunk, Chunks, Delta, Finish, Usage};
pub use error::{ApiError, ApiErrorKind, WireError};
pub use from_server::{FromServer, Heard};
pub use history::{History, Mending, Mendings};
pub use hybrid::Hybrid;
pub use ids::Ids;
pub use prompt::{Part, Prompt, PromptError, Words};
pub use reading::Reading;
pub use request::{ChatMessage, ChatRequest, ToolChoice};
pub use sse::{Decoder, Frame, SseError};
pub use told::{Block, Blocks, Piece, Raw, ToClient, Told, ToldChoice};
