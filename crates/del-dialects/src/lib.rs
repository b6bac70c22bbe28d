//! Reads and writes the tool calls of language models, whichever dialect they are written in.
//!
//! A [`Dialect`] is data: a TOML file that says in which order marks, names and arguments stand. From it come the
//! parser ([`Dialect::parser`]), the renderer ([`Dialect::render_answer`], [`Dialect::system_prompt`]) and the marks that
//! must not survive in text of others ([`Dialects::neutralise`]). [`Dialects::parser`] reads all dialects at once. The
//! grammar for constrained decoding comes from it as well, in the crate `del-grammar`.
//!
//! The crate does no input or output, knows no clock and never panics on input. Model output is never an error: any
//! text gives ordered events, and what was wrong with it is a [`Fault`] among them. How the text is cut into pieces
//! does not show in the events, and work is linear in the text.
//!
//! A [`Schema`] is a [`serde_json::Value`] and reads as one. Definitions show its members in the order in which it has
//! them: that of its text where the program turns on `preserve_order` of `serde_json`, and the alphabet's else.
//!
//! A whole answer is read in one call:
//!
//! ```
//! use del_dialects::{Dialects, Turn};
//!
//! let dialect = Dialects::builtin().get("hermes").expect("a built-in dialect");
//! let text = "Let me look.\n<tool_call>\n{\"name\": \"list_dir\", \"arguments\": {}}\n</tool_call>";
//! let message = dialect.parse(text, Turn::default());
//! assert_eq!(message.calls[0].name, "list_dir");
//! ```
//!
//! One that arrives in pieces is pushed as it comes:
//!
//! ```
//! use del_dialects::{Collect, Dialects, End, Turn};
//!
//! let dialect = Dialects::builtin().get("hermes").expect("a built-in dialect");
//! let mut parser = dialect.parser(Turn::default());
//! let mut answer = Collect::new();
//! for piece in ["Let me look.\n<tool_", "call>{\"name\": \"list_dir\", \"arg", "uments\": {\"path\": \".\"}}</tool_call>"] {
//!     parser.push(piece, &mut answer); // events go out as soon as they are sure
//! }
//! parser.finish(End::End, &mut answer);
//!
//! let message = answer.into_message();
//! assert_eq!(message.content, "Let me look.");
//! assert_eq!(message.calls[0].name, "list_dir");
//! assert_eq!(message.calls[0].arguments, r#"{"path": "."}"#);
//! ```
//!
//! In place of [`Collect`], a closure can take each [`Event`], with the bytes of the answer that it stands for:
//!
//! ```
//! use del_dialects::{Dialects, End, Event, Span, Turn};
//!
//! let mut text = String::new();
//! let mut take = |event: Event<'_>, bytes: Span| match event {
//!     Event::Text(piece) => text.push_str(piece),
//!     other => println!("bytes {} to {}: {other:?}", bytes.start, bytes.end),
//! };
//! let mut parser = Dialects::builtin().parser(Turn::default());
//! parser.push("Let me look.\n<tool_call>{\"name\": \"list_dir\"}</tool_call>", &mut take);
//! parser.finish(End::End, &mut take);
//! assert_eq!(text, "Let me look.");
//! ```
#![forbid(unsafe_code)]

mod codec;
mod collect;
mod cursor;
mod dialect;
mod dialects;
mod event;
mod fault;
mod message;
mod neutral;
mod notes;
mod order;
mod parse;
mod render;
mod scan;
mod schema;
#[doc(hidden)]
pub mod spelling;
mod tool;
mod turn;
mod typed;
mod value;

pub use collect::{Collect, Evidence, Message, Part, ReadCall, Report};
pub use dialect::{Dialect, DialectError};
pub use dialects::{AddError, Dialects, UnknownDialect};
pub use event::{End, Event, Gather, OwnedEvent, Sink, Span, Step};
pub use fault::{Fault, FaultKind};
pub use message::{Call, CallResult};
pub use parse::Parser;
pub use render::{Detail, RenderError};
pub use schema::Schema;
pub use tool::Tool;
pub use turn::{Limits, Start, Turn, UnknownStart};
pub use value::Brackets;

/// The parts of a description, as a [`Dialect`] shows them: for those who constrain a model to it, detect it or show it.
/// They gain fields with the language of descriptions, and are made by [`Dialect::from_toml`] alone.
pub mod description {
    pub use crate::dialect::{
        Block, CallForm, Channels, Codec, Content, Definitions, Detect, FieldForm, Frame, HeadForm, KeyKind,
        Literal, Loose, Mark, Need, Nest, ParameterForm, Piece, Reasoning, Results, Route, Slot, Spelling,
        Written,
    };
}
