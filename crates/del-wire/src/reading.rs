//! One choice of an answer, read from both of its sources at once.

use del_dialects::{Call, Collect, End, Event, Fault, OwnedEvent, Parser, Sink, Span};
use serde_json::Value;

use crate::assembly::Assembly;
use crate::chunk::Delta;

/// Reads the text of a choice, in which calls may stand, and the API's own calls beside it, as one stream of events.
///
/// Text and thinking go out as they come, and so do the calls of the source that is first to give one. Calls of the
/// other source come at the end, numbered on, without those that the first gave as well: some servers read a call and
/// leave it in the text.
#[derive(Debug)]
pub struct Reading {
    /// Nothing where text is text.
    parser: Option<Parser>,
    begun: Option<Begun>,
    assembly: Assembly,
    /// Bytes of text so far.
    at: u64,
    /// As far as text went out before the parser was sure of it.
    ahead: u64,
    calls: Calls,
}

/// Where an event comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Source {
    Text,
    Api,
}

/// The calls of both sources.
#[derive(Debug, Default)]
struct Calls {
    /// The source that was first to give one.
    first: Option<Source>,
    /// How many it has begun.
    begun: u32,
    given: Collect,
    held: Collect,
}

impl Reading {
    /// Reads the text with this parser.
    pub fn new(parser: Parser) -> Self {
        Self { parser: Some(parser), ..Self::plain() }
    }

    /// Takes text as text.
    pub fn plain() -> Self {
        Self {
            parser: None,
            begun: None,
            assembly: Assembly::new(),
            at: 0,
            ahead: 0,
            calls: Calls::default(),
        }
    }

    /// The same of an answer that the request began with this text, whether the server repeats it or goes on behind it.
    #[must_use]
    pub fn begun_with(self, text: &str) -> Self {
        Self { begun: Some(Begun { text: text.to_owned(), repeated: 0 }), ..self }
    }

    /// Takes what is added to the choice. A call of the API stands where the text has come to, behind what the parser
    /// still holds of it if that would be text at the end of the answer.
    pub fn push(&mut self, delta: &Delta, sink: &mut dyn Sink) {
        if !self.assembly.is_empty() && delta.says_more() {
            let mut junction = Junction { source: Source::Api, ahead: 0, calls: &mut self.calls, sink };
            self.assembly.settle(&(self.at..self.at), &mut junction);
        }
        if let Some(reasoning) = delta.reasoning.as_deref().filter(|text| !text.is_empty()) {
            sink.event(Event::Reasoning(reasoning), self.at..self.at);
        }
        if let Some(content) = delta.content.as_deref().filter(|text| !text.is_empty()) {
            match self.begun.take() {
                None => self.push_text(content, sink),
                Some(begun) => match begun.and(content) {
                    Ok(text) => self.push_text(&text, sink),
                    Err(begun) => self.begun = Some(begun),
                },
            }
        }
        if delta.calls.iter().any(|piece| piece.name.is_some()) {
            self.let_go(sink);
        }
        for piece in &delta.calls {
            let mut junction = Junction { source: Source::Api, ahead: 0, calls: &mut self.calls, sink };
            self.assembly.push(piece, &(self.at..self.at), &mut junction);
        }
    }

    /// Bytes of text so far.
    pub fn at(&self) -> u64 {
        self.at
    }

    fn push_text(&mut self, content: &str, sink: &mut dyn Sink) {
        let from = self.at;
        self.at += content.len() as u64;
        match &mut self.parser {
            Some(parser) => {
                let (source, ahead) = (Source::Text, self.ahead);
                parser.push(content, &mut Junction { source, ahead, calls: &mut self.calls, sink });
            }
            None => sink.event(Event::Text(content), from..self.at),
        }
    }

    /// Gives out what the parser holds back as a possible mark, where nothing but text would come of it.
    fn let_go(&mut self, sink: &mut dyn Sink) {
        let Some(parser) = self.parser.as_ref().filter(|_| self.ahead < self.at) else { return };
        let mut held: Vec<(OwnedEvent, Span)> = Vec::new();
        parser.clone().finish(End::End, &mut held);
        if held.iter().all(|(event, _)| matches!(event, OwnedEvent::Text(_) | OwnedEvent::Reasoning(_))) {
            let new = held.iter().filter_map(|(event, span)| behind(self.ahead, event.event(), span.clone()));
            new.for_each(|(event, span)| sink.event(event, span));
            self.ahead = self.at;
        }
    }

    /// The choice is over.
    pub fn finish(mut self, end: End, sink: &mut dyn Sink) {
        if let Some(begun) = self.begun.take() {
            self.push_text(&begun.text, sink);
        }
        if let Some(parser) = self.parser.take() {
            let (source, ahead) = (Source::Text, self.ahead);
            parser.finish(end, &mut Junction { source, ahead, calls: &mut self.calls, sink });
        }
        let mut junction = Junction { source: Source::Api, ahead: 0, calls: &mut self.calls, sink };
        self.assembly.finish(end, &(self.at..self.at), &mut junction);
        self.calls.release(sink);
    }
}

/// What a request began an answer with, until it is known whether the server repeats it.
#[derive(Debug)]
struct Begun {
    text: String,
    /// So much of it has come again.
    repeated: usize,
}

impl Begun {
    /// The text from its beginning on, with `more` of what the server says; or this, where `more` repeats another part of it.
    fn and(mut self, more: &str) -> Result<String, Self> {
        let left = &self.text[self.repeated..];
        if let Some(behind) = more.strip_prefix(left) {
            self.text.push_str(behind);
            return Ok(self.text);
        }
        if left.starts_with(more) {
            self.repeated += more.len();
            return Err(self);
        }
        // What looked like a repetition was the beginning of something else.
        let other = [&self.text[..self.repeated], more].concat();
        Ok(self.text + &other)
    }
}

impl Calls {
    /// Gives out the held calls that are no twins, and those that do not count with their faults.
    fn release(self, sink: &mut dyn Sink) {
        let (given, held) = (self.given.into_message(), self.held.into_message());
        let mut twins = given.calls;
        let mut call = self.begun;
        let mut numbers = Vec::new();
        for (known, evidence) in held.calls.iter().zip(&held.evidence) {
            if let Some(twin) = twins.iter().position(|other| same(other, known)) {
                twins.remove(twin);
                numbers.push(None);
                continue;
            }
            numbers.push(Some(call));
            let (id, dialect, span) = (known.id.as_deref(), evidence.dialect.as_str(), evidence.span.clone());
            sink.event(Event::CallStart { call, name: &known.name, id, dialect }, span.clone());
            sink.event(Event::Args { call, json: &known.arguments }, span.clone());
            sink.event(Event::CallEnd { call, id }, span);
            call += 1;
        }
        for report in held.faults {
            let broken = report.call.is_some();
            if let Some(known) = &report.call {
                let dialect = held.dialect.as_deref().unwrap_or_default();
                let id = known.id.as_deref();
                sink.event(Event::CallStart { call, name: &known.name, id, dialect }, report.span.clone());
                sink.event(Event::Args { call, json: &known.arguments }, report.span.clone());
            }
            let whole = report.place.and_then(|place| numbers.get(place).copied().flatten());
            let fault = Fault { kind: report.kind, call: broken.then_some(call).or(whole) };
            sink.event(Event::Fault(fault), report.span);
            call += u32::from(broken);
        }
    }
}

pub(crate) fn same(a: &Call, b: &Call) -> bool {
    let value = |call: &Call| serde_json::from_str::<Value>(&call.arguments).ok();
    a.name == b.name && (a.arguments == b.arguments || value(a).is_some_and(|a| Some(a) == value(b)))
}

/// Where the events of one source meet those of the other.
struct Junction<'a> {
    source: Source,
    /// Text up to here is out already.
    ahead: u64,
    calls: &'a mut Calls,
    sink: &'a mut dyn Sink,
}

impl Sink for Junction<'_> {
    fn event(&mut self, event: Event<'_>, span: Span) {
        let Some((event, span)) = behind(self.ahead, event, span) else { return };
        let of_call = match event {
            Event::Text(_) | Event::Reasoning(_) => false,
            Event::CallStart { .. } | Event::Args { .. } | Event::CallEnd { .. } => true,
            Event::Fault(fault) => fault.call.is_some(),
        };
        if !of_call {
            return self.sink.event(event, span);
        }
        if *self.calls.first.get_or_insert(self.source) == self.source {
            self.calls.begun += u32::from(matches!(event, Event::CallStart { .. }));
            self.calls.given.event(event, span.clone());
            self.sink.event(event, span);
        } else {
            self.calls.held.event(event, span);
        }
    }
}

/// What is left of an event behind the text that is out already.
fn behind(ahead: u64, event: Event<'_>, span: Span) -> Option<(Event<'_>, Span)> {
    let out = usize::try_from(ahead.saturating_sub(span.start)).unwrap_or(usize::MAX);
    let event = match event {
        Event::Text(text) if out > 0 => Event::Text(rest(text, out)?),
        Event::Reasoning(text) if out > 0 => Event::Reasoning(rest(text, out)?),
        other => return Some((other, span)),
    };
    Some((event, ahead..span.end))
}

fn rest(text: &str, out: usize) -> Option<&str> {
    text.get(out..).filter(|rest| !rest.is_empty())
}

#[cfg(test)]
mod tests {
    use del_dialects::{Collect, Dialects, End, FaultKind, Message, OwnedEvent, Sink, Span, Turn};

    use super::Reading;
    use crate::chunk::{CallDelta, Delta};

    const HERMES: &str = "<tool_call>\n{\"name\": \"f\", \"arguments\": {\"a\": 1, \"b\": 2}}\n</tool_call>";

    fn read(deltas: &[Delta]) -> Message {
        let mut reading = Reading::new(Dialects::builtin().parser(Turn::default()));
        let mut collect = Collect::new();
        for delta in deltas {
            reading.push(delta, &mut collect);
        }
        reading.finish(End::End, &mut collect);
        collect.into_message()
    }

    fn text(text: &str) -> Delta {
        Delta { content: Some(text.to_owned()), ..Delta::default() }
    }

    fn native(name: &str, arguments: &str) -> Delta {
        let call = CallDelta {
            id: Some(format!("id-{name}")),
            name: Some(name.to_owned()),
            arguments: Some(arguments.to_owned()),
            ..CallDelta::default()
        };
        Delta { calls: vec![call], ..Delta::default() }
    }

    /// More of the arguments of the call before.
    fn native_piece(arguments: &str) -> Delta {
        let call = CallDelta { arguments: Some(arguments.to_owned()), ..CallDelta::default() };
        Delta { calls: vec![call], ..Delta::default() }
    }

    fn content(events: &[(OwnedEvent, Span)]) -> String {
        let mut message = Collect::new();
        for (event, span) in events {
            message.event(event.event(), span.clone());
        }
        message.into_message().content
    }

    fn names(message: &Message) -> Vec<&str> {
        message.calls.iter().map(|call| call.name.as_str()).collect()
    }

    #[test]
    fn a_call_that_comes_both_ways_is_one() {
        let twin = native("f", "{\"b\":2,\"a\":1}");
        for deltas in [[text(HERMES), twin.clone()], [twin, text(HERMES)]] {
            assert_eq!(names(&read(&deltas)), ["f"]);
        }
    }

    #[test]
    fn other_calls_of_both_sources_stay_and_are_numbered_on() {
        let message =
            read(&[text("Now. "), native("g", "{\"x\":1}"), text(HERMES), native("h", "{\"x\":0}")]);
        assert_eq!(names(&message), ["g", "h", "f"]);
        assert_eq!(message.content, "Now. ");
        assert_eq!(names(&read(&[text(HERMES), text(HERMES), native("f", "{\"a\":1,\"b\":2}")])), ["f", "f"]);
    }

    #[test]
    fn text_stands_before_the_call_that_comes_behind_it() {
        for (said, more) in
            [("I look at `a`", ""), ("Now edit", " more"), ("Look:\n\n", "Done."), ("a <", "b>")]
        {
            let mut reading = Reading::new(Dialects::builtin().parser(Turn::default()));
            let mut events: Vec<(OwnedEvent, Span)> = Vec::new();
            reading.push(&text(said), &mut events);
            reading.push(&native("f", "{\"a\":1}"), &mut events);
            assert_eq!(content(&events), said);
            assert!(matches!(
                events.last(),
                Some((OwnedEvent::CallStart { .. } | OwnedEvent::Args { .. }, _))
            ));
            reading.push(&text(more), &mut events);
            reading.finish(End::End, &mut events);
            assert_eq!(content(&events), [said, more].concat());
        }
    }

    #[test]
    fn a_call_that_is_whole_ends_before_the_text_behind_it() {
        let mut reading = Reading::new(Dialects::builtin().parser(Turn::default()));
        let mut events: Vec<(OwnedEvent, Span)> = Vec::new();
        for delta in [native("f", "{\"a\""), native_piece(":1}"), text("Done."), native("g", "{\"b\":2}")] {
            reading.push(&delta, &mut events);
        }
        reading.finish(End::End, &mut events);
        let kinds: Vec<&str> = events
            .iter()
            .filter_map(|(event, _)| match event {
                OwnedEvent::CallStart { .. } => Some("start"),
                OwnedEvent::CallEnd { .. } => Some("end"),
                OwnedEvent::Text(_) => Some("text"),
                _ => None,
            })
            .collect();
        assert_eq!(kinds, ["start", "end", "text", "start", "end"]);
    }

    #[test]
    fn a_call_in_the_text_that_a_call_of_the_api_interrupts_stays_one() {
        let twin = native("f", "{\"a\": 1, \"b\": 2}");
        let message = read(&[text(&HERMES[..30]), twin, text(&HERMES[30..])]);
        assert_eq!((names(&message), message.content.as_str()), (vec!["f"], ""));
        assert!(message.faults.is_empty(), "{:?}", message.faults);
    }

    #[test]
    fn a_held_call_that_does_not_count_is_a_fault() {
        let message = read(&[native("g", "{\"x\":1}"), text(&HERMES[..50])]);
        assert_eq!(names(&message), ["g"]);
        assert_eq!(message.faults[0].kind, FaultKind::UnclosedCall);
        assert_eq!(message.faults[0].call.as_ref().map(|call| call.name.as_str()), Some("f"));
    }

    #[test]
    fn thinking_of_the_api_stays_thinking() {
        let message = read(&[Delta { reasoning: Some("<tool_call>".into()), ..Delta::default() }, text("a")]);
        assert_eq!((message.reasoning.as_str(), message.content.as_str()), ("<tool_call>", "a"));
    }
}
