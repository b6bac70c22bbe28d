//! Reads and writes the tool calls of language models.

pub mod collect;
pub mod event;
pub mod fault;
pub mod message;

pub use collect::{Collect, Message, Part, Report};
pub use event::{Event, Sink, Span};
pub use fault::{Fault, FaultKind};
pub use message::{Call, CallResult, Tool};

/// What bounds the work and memory that one answer may cost.
#[derive(Debug, Clone)]
pub struct Limits {}
