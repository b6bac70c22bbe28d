//! Reads and writes the tool calls of language models.

mod codec;
pub mod collect;
pub mod dialect;
pub mod dialects;
pub mod event;
pub mod fault;
mod grammar;
pub mod message;
mod neutral;
pub mod parse;
pub mod render;
mod schema;

pub use collect::{Collect, Message, Part, Report};
pub use dialect::{Dialect, DialectError};
pub use dialects::{AddError, Dialects};
pub use event::{Event, Sink, Span};
pub use fault::{Fault, FaultKind};
pub use grammar::{Choice, Grammar, GrammarError, Warning};
pub use message::{Call, CallResult, Tool};
pub use parse::{End, Limits, Parser, Start, Turn};
pub use render::{Detail, RenderError};
