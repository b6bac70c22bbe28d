//! The calls of an API answer to events, however the server cuts them.

use del_dialects::{End, Event, Fault, FaultKind, Sink, Span};

use crate::arguments::{self, Mended, Mending};
use crate::balance::Balance;
use crate::chunk::CallDelta;

/// The name under which events and messages report calls that the API itself carried.
pub const NATIVE: &str = "openai-native";

/// Puts the calls of one choice together. Calls come out one after another, in the order in which the server began
/// them; the arguments of the first open one stream as they come.
///
/// Servers differ: some send whole calls at once, leave out ids or numbers, number every call 0, send the name
/// again with each piece, or send `{}` first and the arguments after it. All of these give the calls that were meant.
/// Arguments that are no JSON are mended as those of a dialect are, with the same faults.
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
    /// All argument text so far, `read` bytes of it by `mending`.
    arguments: String,
    mending: Option<Mending>,
    read: usize,
    /// What was given out of the arguments.
    given: String,
    has_arguments: bool,
    started: bool,
    balance: Balance,
    /// Where the first value ends, where that is an object.
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

    /// Something else than calls follows: the open call ends, where it is whole.
    pub fn settle(&mut self, span: &Span, sink: &mut impl Sink) {
        if let Some(slot) = self.slots.get_mut(self.open).filter(|slot| slot.is_whole()) {
            slot.finish(number(self.open), End::End, span, sink);
            self.open += 1;
        }
    }

    /// The answer has ended. Calls that are whole end; the others get a fault.
    pub fn finish(mut self, end: End, span: &Span, sink: &mut impl Sink) {
        let last = self.slots.len().saturating_sub(1);
        for (call, slot) in self.slots.iter_mut().enumerate().skip(self.open) {
            // A call before another one was not cut.
            let end = if call == last { end } else { End::End };
            slot.finish(number(call), end, span, sink);
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
            if !slot.is_whole() || self.open == last {
                return;
            }
            slot.finish(number(self.open), End::End, span, sink);
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
            Some(id) if *id == self.id => self.is_whole_beside(name, piece.arguments.as_deref()),
            Some(_) if !self.id.is_empty() => true,
            _ if piece.index.is_none() => self.has_arguments,
            _ => self.end.is_some() && (*name != self.name || piece.arguments.is_some()),
        }
    }

    /// True when it is whole, and these are a whole call of something else. The same once more is a repetition.
    fn is_whole_beside(&self, name: &str, arguments: Option<&str>) -> bool {
        let Some((end, arguments)) = self.end.zip(arguments.filter(|json| arguments::is_object(json))) else {
            return false;
        };
        let same = name == self.name && arguments.trim() == self.arguments[..end].trim();
        !(same || self.is_empty_object())
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
                self.end = Some(before + end).filter(|end| arguments::is_object(&self.arguments[..*end]));
            }
        }
    }

    /// True when its arguments have come, as far as can be told: after `{}` others may come.
    fn is_whole(&self) -> bool {
        self.started && self.end.is_some() && !self.is_empty_object()
    }

    /// True for `{}`, which some servers send before the arguments.
    fn is_empty_object(&self) -> bool {
        self.end.is_some_and(|end| self.arguments[..end].bytes().all(|b| b"{} \t\r\n".contains(&b)))
    }

    /// Gives out what is certain of arguments that are an object with something in it.
    fn stream(&mut self, call: u32, span: &Span, sink: &mut impl Sink) {
        let Some(inside) = self.arguments.trim_start().strip_prefix('{') else { return };
        if self.name.is_empty() || self.is_empty_object() || inside.trim_start().is_empty() {
            return;
        }
        self.start(call, span, sink);
        if let Some(end) = self.end {
            let whole = self.arguments[..end].trim_start().to_owned();
            return self.give(call, &whole, span, sink);
        }
        let begin = self.arguments.len() - self.arguments.trim_start().len();
        if self.mending.is_none() {
            self.mending = Mending::new();
        }
        let Some(mending) = &mut self.mending else { return };
        let more = mending.push(&self.arguments[self.read.max(begin)..]);
        self.read = self.arguments.len();
        self.given.push_str(&more);
        send(call, &more, span, sink);
    }

    fn start(&mut self, call: u32, span: &Span, sink: &mut impl Sink) {
        if !std::mem::replace(&mut self.started, true) {
            let id = (!self.id.is_empty()).then_some(self.id.as_str());
            sink.event(Event::CallStart { call, name: &self.name, id, dialect: NATIVE }, span.clone());
        }
    }

    /// Gives out the rest of what the arguments are.
    fn give(&mut self, call: u32, json: &str, span: &Span, sink: &mut impl Sink) {
        let rest = json.get(self.given.len()..).unwrap_or_default();
        send(call, rest, span, sink);
        self.given.push_str(rest);
    }

    fn finish(&mut self, call: u32, end: End, span: &Span, sink: &mut impl Sink) {
        let fault = |kind| Event::Fault(Fault { kind, call: Some(call) });
        self.start(call, span, sink);
        let read = if self.name.trim().is_empty() { Err(FaultKind::BadCall) } else { self.reading(end) };
        match read {
            Ok(Mended { json, faults }) if json.starts_with(&self.given) => {
                self.give(call, &json, span, sink);
                for kind in faults {
                    sink.event(fault(kind), span.clone());
                }
                let id = (!self.id.is_empty()).then_some(self.id.as_str());
                sink.event(Event::CallEnd { call, id }, span.clone());
            }
            broken => {
                let kind = broken.err().unwrap_or(FaultKind::BadArguments);
                if self.given.is_empty() {
                    // What stands behind an object is none of it.
                    let upto = self.end.unwrap_or(self.arguments.len());
                    send(call, &self.arguments[..upto], span, sink);
                }
                sink.event(fault(kind), span.clone());
            }
        }
    }

    /// What the arguments are, now that no more come. What was given out already is the beginning of it.
    fn reading(&self, end: End) -> Result<Mended, FaultKind> {
        let whole = |json: &str, fault: Option<FaultKind>| {
            Ok(Mended { json: json.trim_start().to_owned(), faults: fault.into_iter().collect() })
        };
        let text = self.arguments.trim();
        if arguments::is_nothing(text) {
            return whole("{}", text.starts_with('[').then_some(FaultKind::Repaired));
        }
        if text.starts_with('"') {
            return match serde_json::from_str::<String>(text) {
                Ok(inner) if arguments::is_nothing(&inner) => whole("{}", None),
                Ok(inner) => {
                    let mut inner = object(inner.trim(), End::End)?;
                    inner.faults.push(FaultKind::DoubleEncoded);
                    Ok(inner)
                }
                Err(error) if error.is_eof() => Err(FaultKind::UnclosedCall),
                Err(_) => Err(FaultKind::BadArguments),
            };
        }
        let Some(upto) = self.end else { return object(text, end) };
        let (first, rest) = self.arguments.split_at(upto);
        let rest = rest.trim();
        if rest.is_empty() {
            whole(first, None)
        } else if rest == first.trim() || rest.bytes().all(|b| b"} \t\r\n".contains(&b)) {
            whole(first, Some(FaultKind::Repaired))
        } else if self.is_empty_object() && rest.starts_with('{') {
            let mut rest = object(rest, end)?;
            rest.faults.push(FaultKind::Repaired);
            Ok(rest)
        } else {
            Err(FaultKind::BadArguments)
        }
    }
}

/// The object that a text is, mended where it has to be.
fn object(text: &str, end: End) -> Result<Mended, FaultKind> {
    if !text.starts_with('{') {
        Err(FaultKind::BadArguments)
    } else if arguments::is_object(text) {
        Ok(Mended { json: text.to_owned(), faults: Vec::new() })
    } else {
        arguments::mend(text, end)
    }
}

fn send(call: u32, json: &str, span: &Span, sink: &mut impl Sink) {
    if !json.is_empty() {
        sink.event(Event::Args { call, json }, span.clone());
    }
}

fn number(call: usize) -> u32 {
    u32::try_from(call).unwrap_or(u32::MAX)
}
