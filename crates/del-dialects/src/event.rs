//! What a parser says, in the order in which the model wrote it.

use std::ops::Range;

use crate::fault::Fault;

/// Bytes of the model's answer, counted from its first byte.
pub type Span = Range<u64>;

/// One step of an answer. Text, reasoning and arguments arrive in pieces, as they come. There will be no other kind of
/// step before the next major version, so that a match may name them all.
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
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OwnedEvent {
    /// See [`Event::Text`].
    Text(String),
    /// See [`Event::Reasoning`].
    Reasoning(String),
    /// See [`Event::CallStart`].
    CallStart {
        /// The call's number.
        call: u32,
        /// The tool's name, whole.
        name: String,
        /// The id that the model wrote before the arguments.
        id: Option<String>,
        /// The canonical name of the dialect the call is written in.
        dialect: String,
    },
    /// See [`Event::Args`].
    Args {
        /// The call's number.
        call: u32,
        /// JSON text.
        json: String,
    },
    /// See [`Event::CallEnd`].
    CallEnd {
        /// The call's number.
        call: u32,
        /// The id that the model wrote behind the arguments.
        id: Option<String>,
    },
    /// See [`Event::Fault`].
    Fault(Fault),
}

impl From<Event<'_>> for OwnedEvent {
    fn from(event: Event<'_>) -> Self {
        match event {
            Event::Text(text) => Self::Text(text.to_owned()),
            Event::Reasoning(text) => Self::Reasoning(text.to_owned()),
            Event::CallStart { call, name, id, dialect } => Self::CallStart {
                call,
                name: name.to_owned(),
                id: id.map(str::to_owned),
                dialect: dialect.to_owned(),
            },
            Event::Args { call, json } => Self::Args { call, json: json.to_owned() },
            Event::CallEnd { call, id } => Self::CallEnd { call, id: id.map(str::to_owned) },
            Event::Fault(fault) => Self::Fault(fault),
        }
    }
}

impl OwnedEvent {
    /// The event, borrowed.
    pub fn event(&self) -> Event<'_> {
        match self {
            Self::Text(text) => Event::Text(text),
            Self::Reasoning(text) => Event::Reasoning(text),
            Self::CallStart { call, name, id, dialect } => {
                Event::CallStart { call: *call, name, id: id.as_deref(), dialect }
            }
            Self::Args { call, json } => Event::Args { call: *call, json },
            Self::CallEnd { call, id } => Event::CallEnd { call: *call, id: id.as_deref() },
            Self::Fault(fault) => Event::Fault(*fault),
        }
    }
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
