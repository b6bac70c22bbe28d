//! One answer of the model, as it comes in.

use del_dialects::{Call, Collect, End, Event, FaultKind, Message, Parser, Part, Report, Sink, Span};
use del_wire::{ApiError, Assembly, Chunk, Decoder, Delta, Finish, Frame, Usage};
use serde_json::Value;

use crate::view::View;

/// Reads an answer from two sources at once: the calls of the API, and the text, in which calls may have leaked.
#[derive(Debug)]
pub(crate) struct Reading {
    decoder: Decoder,
    stray: Option<String>,
    parser: Parser,
    assembly: Assembly,
    text: Source,
    native: Source,
    calls: u32,
    /// Bytes of text so far.
    at: u64,
    chunks: u32,
    shown: bool,
    finish: Option<Finish>,
    done: bool,
    usage: Option<Usage>,
}

/// What one source has given, and which numbers its calls have among the calls of both.
#[derive(Debug, Default)]
struct Source {
    collect: Collect,
    numbers: Vec<u32>,
}

/// Why an answer cannot be read further.
#[derive(Debug)]
pub(crate) enum Trouble {
    /// It is not one of a model server.
    Garbage(String),
    /// The server gave up.
    Refused(ApiError),
}

/// A whole answer.
#[derive(Debug)]
pub(crate) struct Answer {
    /// Its text, without white space around it.
    pub(crate) text: String,
    /// The calls that are complete.
    pub(crate) calls: Vec<Call>,
    /// The calls that do not count.
    pub(crate) broken: Vec<Report>,
    /// Cut at a limit of tokens.
    pub(crate) cut: bool,
    /// It ended as answers end, rather than with its connection.
    pub(crate) ended: bool,
    pub(crate) usage: Option<Usage>,
}

type Watch<'a> = &'a mut dyn FnMut(View<'_>);

impl Reading {
    pub(crate) fn new(parser: Parser) -> Self {
        Self {
            decoder: Decoder::new(),
            stray: None,
            parser,
            assembly: Assembly::new(),
            text: Source::default(),
            native: Source::default(),
            calls: 0,
            at: 0,
            chunks: 0,
            shown: false,
            finish: None,
            done: false,
            usage: None,
        }
    }

    /// True when nothing of the answer has been shown.
    pub(crate) fn is_fresh(&self) -> bool {
        !self.shown
    }

    pub(crate) fn bytes(&mut self, bytes: &[u8], watch: Watch<'_>) -> Result<(), Trouble> {
        let mut frames = Vec::new();
        let pushed = self.decoder.push(bytes, &mut |frame: Frame<'_>| frames.push(keep(frame)));
        for frame in frames {
            self.frame(frame, watch)?;
        }
        pushed.map_err(|error| Trouble::Garbage(error.to_string()))
    }

    pub(crate) fn chunk(&mut self, json: &str, watch: Watch<'_>) -> Result<(), Trouble> {
        let chunk = Chunk::read(json).map_err(|error| Trouble::Garbage(error.to_string()))?;
        if let Some(error) = chunk.error {
            return Err(Trouble::Refused(error));
        }
        self.chunks += 1;
        self.usage = chunk.usage.or(self.usage);
        for delta in chunk.choices.into_iter().filter(|delta| delta.choice == 0) {
            self.delta(delta, watch);
        }
        Ok(())
    }

    /// The body has ended. `whole` is false when its connection broke.
    pub(crate) fn end(mut self, whole: bool, watch: Watch<'_>) -> Result<Answer, Trouble> {
        self.stray = self.decoder.stray().map(str::to_owned);
        let mut frames = Vec::new();
        let decoder = std::mem::take(&mut self.decoder);
        let finished = decoder.finish(&mut |frame: Frame<'_>| frames.push(keep(frame)));
        finished.map_err(|error| Trouble::Garbage(error.to_string()))?;
        for frame in frames {
            match self.frame(frame, watch) {
                // Half an event is what a broken connection leaves.
                Err(Trouble::Garbage(_)) if self.chunks > 0 => {}
                other => other?,
            }
        }
        if self.chunks == 0 && !self.done && whole {
            let got = self.stray.map_or_else(|| "an empty body".to_owned(), |line| format!("`{line}`"));
            return Err(Trouble::Garbage(format!("expected a stream of chat completion chunks, got {got}")));
        }
        Ok(self.into_answer(whole, watch))
    }

    fn frame(&mut self, frame: Option<String>, watch: Watch<'_>) -> Result<(), Trouble> {
        let Some(data) = frame else {
            self.done = true;
            return Ok(());
        };
        self.chunk(&data, watch)
    }

    fn delta(&mut self, delta: Delta, watch: Watch<'_>) {
        if let Some(reasoning) = delta.reasoning {
            self.shown = true;
            watch(View::Raw(&reasoning));
            watch(View::Reasoning(&reasoning));
        }
        if let Some(content) = delta.content.filter(|content| !content.is_empty()) {
            self.shown = true;
            watch(View::Raw(&content));
            self.at += content.len() as u64;
            let mut tee = Tee { source: &mut self.text, calls: &mut self.calls, watch };
            self.parser.push(&content, &mut tee);
        }
        for piece in &delta.calls {
            self.shown = true;
            let span = self.at..self.at;
            let mut tee = Tee { source: &mut self.native, calls: &mut self.calls, watch };
            self.assembly.push(piece, &span, &mut tee);
        }
        self.finish = delta.finish.or(self.finish);
    }

    fn into_answer(mut self, whole: bool, watch: Watch<'_>) -> Answer {
        let ended = whole && (self.finish.is_some() || self.done);
        let cut = self.finish == Some(Finish::Length);
        let end = if ended && !cut { End::End } else { End::Cut };
        self.parser.finish(end, &mut Tee { source: &mut self.text, calls: &mut self.calls, watch });
        let span = self.at..self.at;
        self.assembly.finish(&span, &mut Tee { source: &mut self.native, calls: &mut self.calls, watch });
        let (text, native) = (self.text.collect.into_message(), self.native.collect.into_message());
        let broken = text.faults.iter().chain(&native.faults).filter(|fault| fault.kind.ends_call()).cloned();
        Answer {
            broken: broken.collect(),
            text: honest_text(&text).trim().to_owned(),
            calls: both(text.calls, native.calls),
            cut,
            ended,
            usage: self.usage,
        }
    }
}

fn keep(frame: Frame<'_>) -> Option<String> {
    match frame {
        Frame::Data { data, .. } => Some(data.to_owned()),
        Frame::Done => None,
    }
}

/// The text; without what follows a call when the model made up the call's result: it rests on nothing.
fn honest_text(message: &Message) -> String {
    let invented = message.faults.iter().any(|fault| fault.kind == FaultKind::InventedResult);
    if !invented || message.calls.is_empty() {
        return message.content.clone();
    }
    let before = message.parts.iter().take_while(|part| !matches!(part, Part::Call(_)));
    before.filter_map(|part| if let Part::Text(text) = part { Some(text.as_str()) } else { None }).collect()
}

/// Calls of both sources. A server may read a call and leave it in the text as well: that is one call.
fn both(mut text: Vec<Call>, native: Vec<Call>) -> Vec<Call> {
    for call in &native {
        if let Some(twin) = text.iter().position(|other| same(other, call)) {
            text.remove(twin);
        }
    }
    text.extend(native);
    text
}

fn same(a: &Call, b: &Call) -> bool {
    let value = |call: &Call| serde_json::from_str::<Value>(&call.arguments).ok();
    a.name == b.name && (a.arguments == b.arguments || value(a).is_some_and(|a| Some(a) == value(b)))
}

/// Collects the events of one source and shows them.
struct Tee<'a> {
    source: &'a mut Source,
    calls: &'a mut u32,
    watch: Watch<'a>,
}

impl Sink for Tee<'_> {
    fn event(&mut self, event: Event<'_>, span: Span) {
        if let Event::CallStart { .. } = event {
            self.source.numbers.push(*self.calls);
            *self.calls += 1;
        }
        let number = |call: u32| self.source.numbers.get(call as usize).copied().unwrap_or(call);
        (self.watch)(match event {
            Event::Text(text) => View::Text(text),
            Event::Reasoning(text) => View::Reasoning(text),
            Event::CallStart { call, name, dialect, .. } => {
                View::CallStart { call: number(call), name, dialect, span: span.clone() }
            }
            Event::Args { call, json } => View::Args { call: number(call), json },
            Event::CallEnd { call, .. } => View::CallEnd { call: number(call) },
            Event::Fault(mut fault) => {
                fault.call = fault.call.map(number);
                View::Fault { fault, span: span.clone() }
            }
        });
        self.source.collect.event(event, span);
    }
}
