//! The calls of an API answer to events, however the server cuts them.

use std::borrow::Cow;

use del_dialects::{Event, Fault, FaultKind, Sink, Span};
use serde::de::IgnoredAny;

use crate::balance::Balance;
use crate::chunk::CallDelta;

/// The name under which events and messages report calls that the API itself carried.
pub const NATIVE: &str = "openai-native";

/// Puts the calls of one choice together. Calls come out one after another, in the order in which the server began
/// them; the arguments of the first open one stream as they come.
///
/// Servers differ: some send whole calls at once, leave out ids or numbers, number every call 0, send the name
/// again with each piece, or send `{}` first and the arguments after it. All of these give the calls that were meant.
#[derive(Debug, Default)]
pub struct Assembly {
    slots: Vec<Slot>,
    /// The first call that has not ended.
    open: usize,
}

#[derive(Debug, Default)]
struct Slot {
    index: Option<u32>,
    id: String,
    name: String,
    /// All argument text so far, `sent` bytes of it given out.
    arguments: String,
    sent: usize,
    has_arguments: bool,
    started: bool,
    balance: Balance,
    /// Where the first value ends.
    end: Option<usize>,
}

impl Assembly {
    /// Nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// True when no call has begun.
    pub fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    /// Takes a piece. `span` is what the events name as their place.
    pub fn push(&mut self, piece: &CallDelta, span: &Span, sink: &mut impl Sink) {
        let place = self.place(piece);
        self.slots[place].add(piece);
        self.advance(span, sink);
    }

    /// The answer has ended. Calls that are whole end; the others get a fault.
    pub fn finish(mut self, span: &Span, sink: &mut impl Sink) {
        for (call, slot) in self.slots.iter_mut().enumerate().skip(self.open) {
            slot.finish(number(call), span, sink);
        }
    }

    /// Which call a piece belongs to.
    fn place(&mut self, piece: &CallDelta) -> usize {
        let known = match (piece.index, &piece.id) {
            (Some(index), _) => self.slots.iter().rposition(|slot| slot.index == Some(index)),
            (None, Some(id)) => self.slots.iter().rposition(|slot| slot.id == *id),
            (None, None) => self.slots.len().checked_sub(1),
        };
        match known {
            Some(place) if !self.slots[place].is_other_than(piece) => place,
            _ => {
                self.slots.push(Slot { index: piece.index, ..Slot::default() });
                self.slots.len() - 1
            }
        }
    }

    fn advance(&mut self, span: &Span, sink: &mut impl Sink) {
        let last = self.slots.len().saturating_sub(1);
        while let Some(slot) = self.slots.get_mut(self.open) {
            slot.stream(number(self.open), span, sink);
            let whole = slot.started && slot.end.is_some() && !slot.is_empty_object();
            if !whole || self.open == last {
                return;
            }
            slot.finish(number(self.open), span, sink);
            self.open += 1;
        }
    }
}

impl Slot {
    /// True when `piece` begins another call, although it has this one's number or none.
    fn is_other_than(&self, piece: &CallDelta) -> bool {
        let Some(name) = &piece.name else { return false };
        if self.name.is_empty() {
            return false;
        }
        match &piece.id {
            Some(id) if *id == self.id => false,
            Some(_) if !self.id.is_empty() => true,
            _ if piece.index.is_none() => self.has_arguments,
            _ => self.end.is_some() && (*name != self.name || piece.arguments.is_some()),
        }
    }

    fn add(&mut self, piece: &CallDelta) {
        if let Some(id) = &piece.id
            && self.id.is_empty()
        {
            id.clone_into(&mut self.id);
        }
        if let Some(name) = &piece.name {
            let repeated = self.has_arguments && *name == self.name;
            if !self.started && !repeated {
                self.name.push_str(name);
            }
        }
        if let Some(text) = &piece.arguments {
            self.has_arguments = true;
            let before = self.arguments.len();
            self.arguments.push_str(text);
            if let Some(end) = self.balance.follow(text) {
                self.end = Some(before + end);
            }
        }
    }

    /// True for `{}`, which some servers send before the arguments.
    fn is_empty_object(&self) -> bool {
        self.end.is_some_and(|end| self.arguments[..end].bytes().all(|b| b"{} \t\r\n".contains(&b)))
    }

    /// Gives out what is certain: arguments that are an object with something in it.
    fn stream(&mut self, call: u32, span: &Span, sink: &mut impl Sink) {
        let Some(inside) = self.arguments.trim_start().strip_prefix('{') else { return };
        if self.name.is_empty() || self.is_empty_object() || inside.trim_start().is_empty() {
            return;
        }
        self.start(call, span, sink);
        let upto = self.end.unwrap_or(self.arguments.len());
        self.send(call, upto, span, sink);
    }

    fn start(&mut self, call: u32, span: &Span, sink: &mut impl Sink) {
        if !std::mem::replace(&mut self.started, true) {
            let id = (!self.id.is_empty()).then_some(self.id.as_str());
            sink.event(Event::CallStart { call, name: &self.name, id, dialect: NATIVE }, span.clone());
        }
    }

    fn send(&mut self, call: u32, upto: usize, span: &Span, sink: &mut impl Sink) {
        if self.sent < upto {
            sink.event(Event::Args { call, json: &self.arguments[self.sent..upto] }, span.clone());
            self.sent = upto;
        }
    }

    fn finish(&mut self, call: u32, span: &Span, sink: &mut impl Sink) {
        let fault = |kind| Event::Fault(Fault { kind, call: Some(call) });
        if self.name.trim().is_empty() {
            self.start(call, span, sink);
            self.send(call, self.arguments.len(), span, sink);
            sink.event(fault(FaultKind::BadCall), span.clone());
            return;
        }
        self.start(call, span, sink);
        match self.reading() {
            Reading::Whole { json, mended } => {
                let unsent = json.get(self.sent..).unwrap_or_default();
                if !unsent.is_empty() {
                    sink.event(Event::Args { call, json: unsent }, span.clone());
                }
                if let Some(kind) = mended {
                    sink.event(fault(kind), span.clone());
                }
                let id = (!self.id.is_empty()).then_some(self.id.as_str());
                sink.event(Event::CallEnd { call, id }, span.clone());
            }
            Reading::Broken(kind) => {
                self.send(call, self.arguments.len(), span, sink);
                sink.event(fault(kind), span.clone());
            }
        }
    }

    /// What the arguments are, now that no more come. What was sent already is a prefix of it.
    fn reading(&self) -> Reading<'_> {
        let text = self.arguments.as_str();
        let whole = |json, mended| Reading::Whole { json, mended };
        match text.trim() {
            "" | "null" => return whole(Cow::Borrowed("{}"), None),
            trimmed if trimmed.starts_with('"') => {
                return match serde_json::from_str::<String>(trimmed) {
                    Ok(inner) if is_object(&inner) => {
                        whole(Cow::Owned(inner), Some(FaultKind::DoubleEncoded))
                    }
                    Ok(inner) if inner.trim().is_empty() => whole(Cow::Borrowed("{}"), None),
                    Err(error) if error.is_eof() => Reading::Broken(FaultKind::UnclosedCall),
                    Ok(_) | Err(_) => Reading::Broken(FaultKind::BadArguments),
                };
            }
            trimmed if !trimmed.starts_with('{') => return Reading::Broken(FaultKind::BadArguments),
            _ => {}
        }
        let Some(end) = self.end else { return Reading::Broken(FaultKind::UnclosedCall) };
        let (first, rest) = text.split_at(end);
        if !is_object(first) {
            return Reading::Broken(FaultKind::BadArguments);
        }
        let rest = rest.trim();
        if rest.is_empty() {
            whole(Cow::Borrowed(first), None)
        } else if self.is_empty_object() && is_object(rest) {
            whole(Cow::Borrowed(rest), Some(FaultKind::Repaired))
        } else if rest == first.trim() || rest.bytes().all(|b| b"} \t\r\n".contains(&b)) {
            whole(Cow::Borrowed(first), Some(FaultKind::Repaired))
        } else if self.is_empty_object() && rest.starts_with('{') {
            Reading::Broken(FaultKind::UnclosedCall)
        } else {
            Reading::Broken(FaultKind::BadArguments)
        }
    }
}

enum Reading<'a> {
    Whole { json: Cow<'a, str>, mended: Option<FaultKind> },
    Broken(FaultKind),
}

fn is_object(text: &str) -> bool {
    text.trim_start().starts_with('{') && serde_json::from_str::<IgnoredAny>(text).is_ok()
}

fn number(call: usize) -> u32 {
    u32::try_from(call).unwrap_or(u32::MAX)
}
