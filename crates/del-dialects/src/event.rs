//! What a parser says, in the order in which the model wrote it.

use std::ops::Range;

use crate::fault::Fault;

/// Bytes of the model's answer, counted from its first byte.
pub type Span = Range<u64>;

/// One step of an answer. Text, reasoning and arguments arrive in pieces, as they come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event<'a> {
    /// Text for the user.
    Text(&'a str),
    /// The model's thinking.
    Reasoning(&'a str),
    /// A call begins. Calls never nest or interleave; they are numbered from 0 in the order of this event.
    CallStart {
        /// The call's number.
        call: u32,
        /// The tool's name, whole.
        name: &'a str,
        /// The id that the model wrote, if its dialect carries one.
        id: Option<&'a str>,
        /// The canonical name of the dialect the call is written in.
        dialect: &'a str,
    },
    /// A piece of the call's arguments, as JSON text. All pieces together are one object.
    Args {
        /// The call's number.
        call: u32,
        /// JSON text; a piece may end anywhere between two characters.
        json: &'a str,
    },
    /// The call is complete and its arguments are valid JSON. A call without this event must not run.
    CallEnd {
        /// The call's number.
        call: u32,
        /// The id that the model wrote, where it stands behind the arguments.
        id: Option<&'a str>,
    },
    /// Something was wrong with what the model wrote, or was mended.
    Fault(Fault),
}

/// Where events go. `span` says which bytes of the answer an event stands for.
pub trait Sink {
    /// Takes the next event.
    fn event(&mut self, event: Event<'_>, span: Span);
}

impl<F: FnMut(Event<'_>, Span)> Sink for F {
    fn event(&mut self, event: Event<'_>, span: Span) {
        self(event, span);
    }
}
