//! A text of a model and what is read in it, cut where one kind of thing ends and another begins.

use del_dialects::{Collect, End, Event, Message, Parser, Sink, Span};
use del_wire::Ids;
use del_wire::answer::answer;
use del_wire::events;
use serde_json::{Value, json};

/// What was read.
#[derive(Debug, Default)]
pub(super) struct Reading {
    collect: Collect,
    events: Vec<Value>,
    spans: Vec<(Span, &'static str, Option<u32>)>,
    /// The names of calls, and the spans of their openings.
    names: Vec<(Span, String)>,
    faults: Vec<Span>,
}

/// More faults of a text than this are not marked.
const MOST_FAULTS: usize = 200;
/// More events of a text than this are not shown.
const MOST_EVENTS: usize = 2000;

impl Reading {
    /// Reads a text.
    pub(super) fn of(text: &str, mut parser: Parser, end: End) -> Self {
        let mut reading = Self::default();
        parser.push(text, &mut reading);
        parser.finish(end, &mut reading);
        reading
    }

    /// The segments of the text, its events, and the message.
    pub(super) fn json(self, text: &str) -> (Value, Message) {
        let segments = self.segments(text);
        let more = self.events.len().saturating_sub(MOST_EVENTS);
        let events: Vec<Value> = self.events.into_iter().take(MOST_EVENTS).collect();
        let message = self.collect.into_message();
        let told = answer(&message, &mut Ids::of_text(text.as_bytes()));
        let json = json!({"segments": segments, "events": events, "more_events": more, "message": told});
        (json, message)
    }

    fn segments(&self, text: &str) -> Vec<Value> {
        let mut cuts: Vec<usize> = vec![0, text.len()];
        let names: Vec<(usize, usize)> =
            self.names.iter().filter_map(|(span, name)| place(text, span, name)).collect();
        let ends = self.spans.iter().map(|(span, ..)| span).chain(&self.faults);
        cuts.extend(ends.flat_map(|span| [at(text, span.start), at(text, span.end)]));
        cuts.extend(names.iter().flat_map(|(start, end)| [*start, *end]));
        cuts.sort_unstable();
        cuts.dedup();
        let mut segments = Vec::new();
        for pair in cuts.windows(2) {
            self.points(text, pair[0], &mut segments);
            let (start, end) = (pair[0] as u64, pair[1] as u64);
            let inside = |span: &Span| span.start <= start && end <= span.end;
            // They stand in the order of the text, and none over another.
            let known = self.spans.get(self.spans.partition_point(|(span, ..)| span.end <= start));
            let known = known.filter(|(span, ..)| inside(span));
            let name = names.get(names.partition_point(|(_, to)| *to <= pair[0]));
            let name = name.is_some_and(|(from, to)| *from <= pair[0] && pair[1] <= *to);
            let (kind, call) = known.map_or(("mark", None), |(_, kind, call)| (*kind, *call));
            let faults: Vec<usize> =
                (0..self.faults.len()).filter(|place| inside(&self.faults[*place])).collect();
            segments.push(json!({
                "kind": if name { "name" } else { kind }, "text": &text[pair[0]..pair[1]], "call": call, "faults": faults,
            }));
        }
        self.points(text, text.len(), &mut segments);
        segments
    }

    /// The faults that lie between two characters, here.
    fn points(&self, text: &str, here: usize, segments: &mut Vec<Value>) {
        let point = |span: &Span| span.is_empty() && at(text, span.start) == here;
        let faults: Vec<usize> = (0..self.faults.len()).filter(|place| point(&self.faults[*place])).collect();
        if !faults.is_empty() {
            segments.push(json!({"kind": "point", "text": "", "call": null, "faults": faults}));
        }
    }
}

impl Sink for Reading {
    fn event(&mut self, event: Event<'_>, span: Span) {
        self.events.push(events::event(&event, &span));
        if span.is_empty() && !matches!(event, Event::CallStart { .. } | Event::Fault(_)) {
            return self.collect.event(event, span);
        }
        match event {
            Event::Text(_) => self.spans.push((span.clone(), "text", None)),
            Event::Reasoning(_) => self.spans.push((span.clone(), "reasoning", None)),
            Event::CallStart { call, name, .. } => {
                self.spans.push((span.clone(), "mark", Some(call)));
                self.names.push((span.clone(), name.to_owned()));
            }
            Event::Args { call, .. } => self.spans.push((span.clone(), "arguments", Some(call))),
            Event::CallEnd { call, .. } => self.spans.push((span.clone(), "mark", Some(call))),
            Event::Fault(_) if self.faults.len() < MOST_FAULTS => self.faults.push(span.clone()),
            Event::Fault(_) => {}
        }
        self.collect.event(event, span);
    }
}

/// Where a name stands in the opening of its call.
fn place(text: &str, span: &Span, name: &str) -> Option<(usize, usize)> {
    let start = at(text, span.start);
    let found = text[start..at(text, span.end)].rfind(name)? + start;
    Some((found, found + name.len()))
}

/// An offset of the text, which may be shorter than what was read.
fn at(text: &str, offset: u64) -> usize {
    let mut at = usize::try_from(offset).unwrap_or(usize::MAX).min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}
