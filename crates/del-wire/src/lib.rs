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
//! - [`server_api`]: the API of a model server, and [`from_server`]: who reads its answers;
//! - [`prompt`]: a conversation with tools as text in a dialect;
//! - [`failed`]: results of calls that failed;
//! - [`history`]: the conversation that a client sends, mended where a server would refuse it;
//! - [`hybrid`]: of which tools a model has the definitions, where it gets those that it asks for;
//! - [`count`]: how servers count the tokens of a request;
//! - [`error`]: what servers say when they refuse;
//! - [`answer`], [`events`], [`records`]: what `del parse` prints and reads;
//! - [`convert`]: the records of `del convert`;
//! - [`time`]: times as text;
//! - [`tools`]: tool definitions in the spellings of the APIs.
//!
//! The bytes of a streamed answer become one message of text and calls, wherever they are cut:
//!
//! ```
//! use del_dialects::{Collect, Dialects, End, Turn};
//! use del_wire::chunk::Chunk;
//! use del_wire::reading::Reading;
//! use del_wire::sse::{Decoder, Frame};
//!
//! let body = b"data: {\"choices\": [{\"index\": 0, \"delta\": {\"content\": \"<tool_call>list_dir\"}}]}\n\n\
//!     data: {\"choices\": [{\"index\": 0, \"delta\": {\"content\": \"\\n</tool_call>\"}}]}\n\ndata: [DONE]\n\n";
//! let mut message = Collect::new();
//! let mut reading = Reading::new(Dialects::builtin().parser(Turn::default()));
//! let mut decoder = Decoder::new();
//! for piece in body.chunks(7) {
//!     decoder.push(piece, &mut |frame| {
//!         let Frame::Data { data, .. } = frame else { return };
//!         let chunk = Chunk::read(data).expect("a chunk of a chat completion");
//!         for delta in &chunk.choices {
//!             reading.push(delta, &mut message);
//!         }
//!     })?;
//! }
//! reading.finish(End::End, &mut message);
//! assert_eq!(message.into_message().calls[0].name, "list_dir");
//! # Ok::<(), del_wire::sse::SseError>(())
//! ```
//!
//! Offsets are bytes of UTF-8. What is wrong with the shape of JSON is a [`WireError`], which says what was
//! expected and what came; what a model wrote is never an error.
#![forbid(unsafe_code)]

mod amends;
pub mod answer;
pub mod anthropic;
mod api_error;
mod arguments;
pub mod asked;
pub mod assembly;
mod balance;
pub mod chat;
pub mod chunk;
mod citation;
pub mod convert;
pub mod count;
pub mod error;
pub mod events;
pub mod failed;
mod fields;
mod finite;
pub mod from_server;
mod halves;
mod heard;
pub mod history;
pub mod hybrid;
pub mod ids;
mod inline;
mod left_out;
mod logprobs;
mod members;
pub mod names;
pub mod native;
pub mod ollama;
mod own;
pub mod prompt;
pub mod reading;
pub mod records;
mod refused;
pub mod request;
pub mod responses;
mod roles;
pub mod server_api;
mod spelling;
pub mod sse;
mod surrogate;
mod think;
pub mod time;
pub mod told;
pub mod tools;

pub use amends::{Amends, Wishes};
pub use api_error::{ApiError, ApiErrorKind};
pub use asked::Asked;
pub use assembly::Assembly;
pub use chunk::{CallDelta, Chunk, Chunks, Delta, Finish, GAP, Times, Usage};
pub use citation::Citation;
pub use error::WireError;
pub use finite::read_finite;
pub use from_server::FromServer;
pub use heard::Heard;
pub use history::{History, Mending, Mendings};
pub use hybrid::Hybrid;
pub use ids::{Ids, Seed};
pub use members::on_one_line;
pub use names::ToolNames;
pub use prompt::{Part, Prompt, PromptError, Words};
pub use reading::Reading;
pub use request::{ChatMessage, ChatRequest, ToolChoice, UnknownChoice};
pub use server_api::{ServerApi, Think};
pub use sse::{Decoder, Frame, SseError};
pub use surrogate::lone_halves;
pub use told::{Block, Blocks, Failure, Paragraphs, Piece, Raw, ToClient, Told, ToldChoice};
