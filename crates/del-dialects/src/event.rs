//! What a parser says, in the order in which the model wrote it.

use std::ops::Range;

use crate::fault::Fault;

/// Bytes of the model's answer, counted from its first byte.
pub type Span = Range<u64>;

/// One step of an answer. Text, reasoning and arguments arrive in pieces, as they come. There will be no other kind of
/// step before the next major version, so that a match may name them all.
pub type Event<'a> = Step<&'a str>;

/// An [`Event`] that owns what it says: to be kept, or sent to another thread.
///
/// ```
/// use del_dialects::{Dialects, End, Event, OwnedEvent, Span, Turn};
///
/// let mut events: Vec<(OwnedEvent, Span)> = Vec::new();
/// let mut parser = Dialects::builtin().parser(Turn::default());
/// parser.push("Hello.", &mut events);
/// parser.finish(End::End, &mut events);
/// assert_eq!(events[0].0.event(), Event::Text("Hello."));
/// assert_eq!(events[0].1, 0..6);
/// ```
pub type OwnedEvent = Step<String>;

/// An [`Event`] or an [`OwnedEvent`], by what it has its text in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step<T> {
    /// Text for the user.
    Text(T),
    /// The model's thinking.
    Reasoning(T),
    /// A call begins. Calls never nest or interleave; they are numbered from 0 in the order of this event.
    CallStart {
        /// The call's number.
        call: u32,
        /// The tool's name, whole.
        name: T,
        /// The id that the model wrote, if its dialect carries one and it stands before the arguments.
        id: Option<T>,
        /// The canonical name of the dialect the call is written in.
        dialect: T,
    },
    /// A piece of the call's arguments, as JSON text. All pieces together are one object.
    Args {
        /// The call's number.
        call: u32,
        /// JSON text; a piece may end anywhere between two characters.
        json: T,
    },
    /// The call is complete and its arguments are valid JSON. A call without this event must not run.
    CallEnd {
        /// The call's number.
        call: u32,
        /// The id that the model wrote, where it stands behind the arguments.
        id: Option<T>,
    },
    /// Something was wrong with what the model wrote, or was mended.
    Fault(Fault),
}

impl<T> Step<T> {
    /// The same step with other text.
    fn with<'s, U>(&'s self, text: impl Fn(&'s T) -> U) -> Step<U> {
        match self {
            Self::Text(piece) => Step::Text(text(piece)),
            Self::Reasoning(piece) => Step::Reasoning(text(piece)),
            Self::CallStart { call, name, id, dialect } => Step::CallStart {
                call: *call,
                name: text(name),
                id: id.as_ref().map(&text),
                dialect: text(dialect),
            },
            Self::Args { call, json } => Step::Args { call: *call, json: text(json) },
            Self::CallEnd { call, id } => Step::CallEnd { call: *call, id: id.as_ref().map(text) },
            Self::Fault(fault) => Step::Fault(*fault),
        }
    }
}

impl From<Event<'_>> for OwnedEvent {
    fn from(event: Event<'_>) -> Self {
        event.with(|text| (*text).to_owned())
    }
}

impl OwnedEvent {
    /// The event, borrowed.
    pub fn event(&self) -> Event<'_> {
        self.with(String::as_str)
    }
}

/// How an answer ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// The model stopped by itself, or at a stop sequence.
    End,
    /// The answer was cut off: a length limit, a lost connection.
    Cut,
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

/// Keeps every event, with the bytes of the answer that it stands for.
impl Sink for Vec<(OwnedEvent, Span)> {
    fn event(&mut self, event: Event<'_>, span: Span) {
        self.push((event.into(), span));
    }
}

/// Gives every event to a collection, as owned.
///
/// ```
/// use std::collections::VecDeque;
///
/// use del_dialects::{Dialects, End, Gather, OwnedEvent, Span, Turn};
///
/// let mut queue: VecDeque<(OwnedEvent, Span)> = VecDeque::new();
/// let mut parser = Dialects::builtin().parser(Turn::default());
/// parser.push("Hello.", &mut Gather(&mut queue));
/// parser.finish(End::End, &mut Gather(&mut queue));
/// assert_eq!(queue.pop_front(), Some((OwnedEvent::Text("Hello.".to_owned()), 0..6)));
/// ```
#[derive(Debug)]
pub struct Gather<'e, E>(
    /// What takes the events.
    pub &'e mut E,
);

impl<E: Extend<(OwnedEvent, Span)>> Sink for Gather<'_, E> {
    fn event(&mut self, event: Event<'_>, span: Span) {
        self.0.extend([(event.into(), span)]);
    }
}
