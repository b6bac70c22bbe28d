//! One answer of the model, as it comes in.

use del_dialects::{Collect, End, Event, FaultKind, Message, Parser, Part, ReadCall, Report, Sink, Span};
use del_wire::{
    ApiError, Decoder, Delta, Finish, Frame, FromServer, Heard, ServerApi, Usage, WireError, read_finite,
};
use serde_json::Value;

use crate::circles::{self, Circles};
use crate::view::{Circle, View};

/// Reads an answer: the calls of the API, and the text, in which calls may have leaked.
#[derive(Debug)]
pub(crate) struct Reading {
    decoder: Decoder,
    server: FromServer,
    choice: del_wire::Reading,
    collect: Collect,
    thinking_blocks: Vec<Value>,
    chunks: u32,
    shown: bool,
    /// A word of the answer or a call was shown, and not only thoughts.
    spoke: bool,
    finish: Option<Finish>,
    done: bool,
    usage: Option<Usage>,
    circles: Circles,
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
    /// What the model thought.
    pub(crate) reasoning: String,
    /// The same, block by block, as a request takes it back; only where the server sealed it.
    pub(crate) thinking_blocks: Vec<Value>,
    /// The calls that are complete.
    pub(crate) calls: Vec<ReadCall>,
    /// The calls that do not count.
    pub(crate) broken: Vec<Report>,
    /// Something in its text reads like a call of a tool that is not declared.
    pub(crate) undeclared: bool,
    /// Cut at a limit of tokens.
    pub(crate) cut: bool,
    /// The server withheld the rest.
    pub(crate) withheld: bool,
    /// Ended because it was the same again and again; its text has that no more than twice, and its calls once.
    pub(crate) circular: Option<Circle>,
    /// It ended as answers end, rather than with its connection.
    pub(crate) ended: bool,
    pub(crate) usage: Option<Usage>,
}

type Watch<'a> = &'a mut dyn FnMut(View<'_>);

impl Reading {
    /// Reads an answer, which a grammar or a schema may hold.
    pub(crate) fn new(parser: Parser, api: ServerApi, held: bool) -> Self {
        Self {
            decoder: Decoder::new(),
            server: api.reader(),
            choice: del_wire::Reading::new(parser),
            collect: Collect::new(),
            thinking_blocks: Vec::new(),
            chunks: 0,
            shown: false,
            spoke: false,
            finish: None,
            done: false,
            usage: None,
            circles: Circles::new(held),
        }
    }

    /// The model writes the same again and again, and nothing more is to be read of it.
    pub(crate) fn goes_round(&self) -> bool {
        self.circles.found().is_some()
    }

    /// True when nothing of the answer has been shown.
    pub(crate) fn is_fresh(&self) -> bool {
        !self.shown
    }

    /// True when no word of the answer and no call has been shown; thoughts perhaps.
    pub(crate) fn is_mute(&self) -> bool {
        !self.spoke
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
        let mut server = std::mem::take(&mut self.server);
        let taken = read_finite(json, |json| Ok(self.heard(server.event(json)?, watch)));
        self.server = server;
        taken.map_err(|error: WireError| Trouble::Garbage(error.to_string()))?
    }

    fn heard(&mut self, heard: Heard<'_>, watch: Watch<'_>) -> Result<(), Trouble> {
        let chunk = match heard {
            Heard::Chunk(chunk, _) => chunk,
            Heard::Nothing => return Ok(()),
            Heard::Done => {
                self.done = true;
                return Ok(());
            }
        };
        if let Some(error) = &chunk.error {
            return Err(Trouble::Refused(ApiError::clone(error)));
        }
        self.chunks += 1;
        self.usage = chunk.usage.or(self.usage);
        for delta in chunk.choices.iter().filter(|delta| delta.choice == 0) {
            self.delta(delta, watch);
        }
        Ok(())
    }

    /// The body has ended. `whole` is false when its connection broke.
    pub(crate) fn end(mut self, whole: bool, watch: Watch<'_>) -> Result<Answer, Trouble> {
        let mut frames = Vec::new();
        let mut decoder = std::mem::take(&mut self.decoder);
        let mut sink = |frame: Frame<'_>| frames.push(keep(frame));
        // The last line counts without its end; half of one is what a broken connection leaves.
        let ended = if whole { decoder.push(b"\n", &mut sink) } else { Ok(()) };
        let stray = decoder.stray().map(str::to_owned);
        let finished = ended.and_then(|()| decoder.finish(&mut sink));
        finished.map_err(|error| Trouble::Garbage(error.to_string()))?;
        for frame in frames {
            match self.frame(frame, watch) {
                // Half an event is what a broken connection leaves.
                Err(Trouble::Garbage(_)) if self.chunks > 0 => {}
                other => other?,
            }
        }
        if self.chunks == 0 && !self.done && whole {
            let got = stray.map_or_else(|| "an empty body".to_owned(), |line| format!("`{line}`"));
            return Err(Trouble::Garbage(format!("expected a model's answer, got {got}")));
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

    fn delta(&mut self, delta: &Delta, watch: Watch<'_>) {
        let repeated = self.circles.repeats();
        for (raw, apart) in [(&delta.reasoning, true), (&delta.content, false), (&delta.refusal, false)] {
            let Some(text) = raw.as_ref().filter(|text| !text.is_empty()) else { continue };
            self.shown = true;
            self.circles.push(text, apart);
            watch(View::Raw { text, apart });
        }
        for call in &delta.calls {
            self.shown = true;
            [&call.name, &call.arguments].into_iter().flatten().for_each(|text| self.circles.push_json(text));
        }
        if self.circles.repeats() != repeated {
            watch(View::Repeating(!repeated));
        }
        self.thinking_blocks.extend_from_slice(&delta.thinking_blocks);
        let Self { choice, collect, circles, spoke, .. } = self;
        let mut tee = Tee { collect, circles, spoke, watch };
        choice.push(delta, &mut tee);
        if let Some(refusal) = &delta.refusal {
            tee.event(Event::Text(refusal), 0..0);
        }
        self.finish = delta.finish.or(self.finish);
    }

    fn into_answer(mut self, whole: bool, watch: Watch<'_>) -> Answer {
        self.circles.look();
        let circular = self.circles.found();
        let ended = circular.is_some() || whole && (self.finish.is_some() || self.done);
        let cut = self.finish == Some(Finish::Length) || circular.is_some();
        let end = if ended && !cut { End::End } else { End::Cut };
        let (collect, circles, spoke) = (&mut self.collect, &mut self.circles, &mut self.spoke);
        self.choice.finish(end, &mut Tee { collect, circles, spoke, watch });
        // Where it did not end by itself, what it is shown of that must not lead it there again.
        let again = self.circles.repeats() && (cut || !ended);
        let message = self.collect.into_message();
        let text = honest_text(&message);
        let text = if again { circles::once(&text) } else { &text }.trim().to_owned();
        let mut calls = message.read_calls();
        let undeclared = message.faults.iter().any(|fault| fault.kind == FaultKind::NotDeclared);
        let mut broken: Vec<Report> =
            message.faults.into_iter().filter(|fault| fault.kind.ends_call()).collect();
        if circular.is_some() && !calls.is_empty() {
            calls = each_once(calls);
            // One more of the same.
            broken.retain(|fault| fault.kind != FaultKind::UnclosedCall);
        }
        let (reasoning, thinking_blocks) = (message.reasoning, self.thinking_blocks);
        Answer {
            text,
            reasoning,
            thinking_blocks,
            calls,
            broken,
            undeclared,
            cut,
            withheld: self.finish == Some(Finish::ContentFilter),
            circular,
            ended,
            usage: self.usage,
        }
    }
}

/// The calls, without those that say the same as an earlier one.
fn each_once(calls: Vec<ReadCall>) -> Vec<ReadCall> {
    let mut once: Vec<ReadCall> = Vec::new();
    for read in calls {
        let same = |other: &ReadCall| {
            (&other.call.name, &other.call.arguments) == (&read.call.name, &read.call.arguments)
        };
        if !once.iter().any(same) {
            once.push(read);
        }
    }
    once
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

/// Collects events and shows them.
struct Tee<'a> {
    collect: &'a mut Collect,
    circles: &'a mut Circles,
    spoke: &'a mut bool,
    watch: Watch<'a>,
}

impl Sink for Tee<'_> {
    fn event(&mut self, event: Event<'_>, span: Span) {
        *self.spoke |= match event {
            Event::Text(text) => !text.trim().is_empty(),
            Event::CallStart { .. } => true,
            _ => false,
        };
        (self.watch)(match event {
            Event::Text(text) => View::Text(text),
            Event::Reasoning(text) => View::Reasoning(text),
            Event::CallStart { call, name, dialect, .. } => {
                View::CallStart { call, name, dialect, span: span.clone() }
            }
            Event::Args { call, json } => View::Args { call, json },
            Event::CallEnd { call, .. } => {
                self.circles.call();
                View::CallEnd { call }
            }
            Event::Fault(fault) => View::Fault { fault, span: span.clone() },
        });
        self.collect.event(event, span);
    }
}
