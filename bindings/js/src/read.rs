//! Reading: a whole answer, or one that arrives in pieces.

use del_dialects::{Collect, Dialects, End, Event, Fault, Parser, Sink, Span, Turn, UnknownStart};
use del_wire::{Ids, answer, events};
use wasm_bindgen::prelude::*;

use crate::dialect::Dialect;
use crate::error;
use crate::offsets::Offsets;
use crate::tools::Tools;

/// Reads one answer as it arrives.
#[wasm_bindgen(js_name = RawParser)]
#[derive(Debug, Clone)]
pub struct Reader {
    parser: Parser,
    offsets: Offsets,
    restored: Option<Restored>,
}

#[wasm_bindgen(js_class = RawParser)]
impl Reader {
    /// A parser of all dialects at once. `restore` gives arguments back as they were before their text was neutralised.
    pub fn auto(tools: &Tools, starts_in: &str, restore: bool) -> Result<Reader, JsValue> {
        Ok(Self::new(Dialects::builtin().parser(turn(tools, starts_in)?), restore))
    }

    /// A parser of one dialect.
    pub fn of(dialect: &Dialect, tools: &Tools, starts_in: &str, restore: bool) -> Result<Reader, JsValue> {
        Ok(Self::new(dialect.dialect.parser(turn(tools, starts_in)?), restore))
    }

    /// The next piece; returns what is settled by it, as a list in JSON, or an empty text where that is nothing.
    pub fn push(&mut self, text: &str) -> String {
        self.offsets.push(text);
        let mut lines = Lines::new(&self.offsets, self.restored.as_mut());
        self.parser.push(text, &mut lines);
        lines.finish()
    }

    /// The answer is over; returns what was held.
    pub fn finish(mut self, cut: bool) -> String {
        let mut lines = Lines::new(&self.offsets, self.restored.as_mut());
        self.parser.finish(end(cut), &mut lines);
        lines.finish()
    }

    /// The whole answer at once, as `del parse` prints it. Its ids go on from `seed`.
    pub fn read(mut self, text: &str, cut: bool, seed: u64) -> String {
        self.offsets.push(text);
        let mut collect = Collect::new();
        self.parser.push(text, &mut collect);
        self.parser.finish(end(cut), &mut collect);
        let mut message = collect.into_message();
        for fault in &mut message.faults {
            fault.span = self.offsets.span(&fault.span);
        }
        for call in message.calls.iter_mut().filter(|_| self.restored.is_some()) {
            call.arguments = Dialects::builtin().restore_json(&call.arguments).into_owned();
        }
        for known in &mut message.evidence {
            known.span = self.offsets.span(&known.span);
        }
        serde_json::to_string(&answer::answer(&message, &mut Ids::new(seed))).unwrap_or_default()
    }

    /// How many bytes are held back.
    pub fn held(&self) -> usize {
        self.parser.held()
    }

    /// A parser that reads on from the same place.
    pub fn copy(&self) -> Reader {
        self.clone()
    }
}

impl Reader {
    fn new(parser: Parser, restore: bool) -> Self {
        Self { parser, offsets: Offsets::default(), restored: restore.then(Restored::default) }
    }
}

/// The arguments of the call that is open, where they are given back as they were before they were neutralised.
#[derive(Debug, Clone, Default)]
struct Restored {
    json: String,
    /// Up to here nothing that comes can change what is given back.
    sure: usize,
    /// Up to here it is told.
    told: usize,
    /// What of the answer stands for the rest.
    span: Span,
}

/// Events as a list in JSON.
struct Lines<'o> {
    offsets: &'o Offsets,
    restored: Option<&'o mut Restored>,
    json: String,
}

impl<'o> Lines<'o> {
    fn new(offsets: &'o Offsets, restored: Option<&'o mut Restored>) -> Self {
        Self { offsets, restored, json: String::new() }
    }

    fn finish(mut self) -> String {
        if !self.json.is_empty() {
            self.json.push(']');
        }
        self.json
    }

    fn add(&mut self, event: Event<'_>, span: &Span) {
        self.json.push(if self.json.is_empty() { '[' } else { ',' });
        self.json.push_str(&events::event(&event, &self.offsets.span(span)).to_string());
    }

    fn arguments(&mut self, call: u32, json: &str, span: Span) {
        let Some(restored) = self.restored.as_mut() else {
            return self.add(Event::Args { call, json }, &span);
        };
        if restored.told == restored.json.len() {
            restored.span = span.clone();
        }
        restored.span.end = span.end;
        restored.json.push_str(json);
        let unsure = Dialects::unsure(&restored.json[restored.sure..]);
        restored.sure = unsure.map_or(restored.json.len(), |at| restored.sure + at);
        if restored.sure > restored.told {
            let (piece, span) =
                (restored.json[restored.told..restored.sure].to_owned(), restored.span.clone());
            restored.told = restored.sure;
            self.add(Event::Args { call, json: &piece }, &span);
        }
    }

    /// Tells what is left of a call's arguments: restored where they are whole.
    fn close(&mut self, call: u32, whole: bool) {
        let Some(restored) = self.restored.as_mut() else { return };
        let Restored { json, told, span, .. } = std::mem::take(*restored);
        let json = if whole { Dialects::builtin().restore_json(&json) } else { json.as_str().into() };
        if let Some(rest) = json.get(told..).filter(|rest| !rest.is_empty()) {
            self.add(Event::Args { call, json: rest }, &span);
        }
    }
}

impl Sink for Lines<'_> {
    fn event(&mut self, event: Event<'_>, span: Span) {
        match event {
            Event::Args { call, json } => return self.arguments(call, json, span),
            Event::CallEnd { call, .. } => self.close(call, true),
            Event::Fault(Fault { kind, call: Some(call) }) if kind.ends_call() => self.close(call, false),
            _ => {}
        }
        self.add(event, &span);
    }
}

fn turn(tools: &Tools, starts_in: &str) -> Result<Turn, JsValue> {
    let starts = starts_in
        .parse()
        .map_err(|wrong: UnknownStart| error("bad_option", &format!("startsIn: {wrong}")))?;
    Ok(Turn::new(std::sync::Arc::clone(&tools.tools)).starting(starts))
}

fn end(cut: bool) -> End {
    if cut { End::Cut } else { End::End }
}
