//! The sink that collects events into a whole answer.

use crate::event::{Event, Sink, Span};
use crate::fault::FaultKind;
use crate::message::Call;

/// An answer, whole. Equal for every way of cutting the same text into pieces.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Message {
    /// The dialect of the first call.
    pub dialect: Option<String>,
    /// All text, joined.
    pub content: String,
    /// All thinking, joined.
    pub reasoning: String,
    /// The calls that are complete.
    pub calls: Vec<Call>,
    /// Text, thinking and calls in the order in which the model wrote them.
    pub parts: Vec<Part>,
    /// What was wrong.
    pub faults: Vec<Report>,
    /// For each complete call, by which markup it was known.
    pub evidence: Vec<Evidence>,
}

/// The markup by which a call was known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Evidence {
    /// The dialect of the call.
    pub dialect: String,
    /// Which bytes of the answer: from the first byte of the call's markup to where its arguments begin.
    pub span: Span,
}

/// A stretch of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Part {
    /// Text for the user.
    Text(String),
    /// Thinking.
    Reasoning(String),
    /// A complete call: its place in [`Message::calls`].
    Call(usize),
}

/// A fault with what a person needs to understand it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    /// What it is.
    pub kind: FaultKind,
    /// Which bytes of the answer.
    pub span: Span,
    /// For a call that does not count: its name and what there was of its arguments.
    pub call: Option<Call>,
    /// The complete call that it belongs to: its place in [`Message::calls`].
    pub place: Option<usize>,
}

/// A complete call, and what recovery may have changed in its arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadCall {
    /// The call.
    pub call: Call,
    /// The first fault that may have changed the arguments. With one, the call must not run unasked, unless it only
    /// reads.
    pub guess: Option<FaultKind>,
}

impl Message {
    /// The complete calls, each with what was guessed in it.
    pub fn read_calls(&self) -> Vec<ReadCall> {
        let mut calls: Vec<ReadCall> =
            self.calls.iter().map(|call| ReadCall { call: call.clone(), guess: None }).collect();
        for report in self.faults.iter().filter(|report| report.kind.changes_arguments()) {
            if let Some(read) = report.place.and_then(|place| calls.get_mut(place)) {
                read.guess.get_or_insert(report.kind);
            }
        }
        calls
    }

    /// What recovery may have changed in the arguments of the call at this place in [`Message::calls`].
    pub fn guesses(&self, place: usize) -> impl Iterator<Item = &Report> {
        self.faults
            .iter()
            .filter(move |report| report.place == Some(place) && report.kind.changes_arguments())
    }
}

/// Collects events. Use it as a [`Sink`], then take the [`Message`].
#[derive(Debug, Clone, Default)]
pub struct Collect {
    message: Message,
    open: Option<(Call, Evidence)>,
    /// The numbers of the complete calls, which grow.
    numbers: Vec<u32>,
    /// For each fault the number of its call.
    owners: Vec<Option<u32>>,
}

impl Collect {
    /// An empty collector.
    pub fn new() -> Self {
        Self::default()
    }

    /// The answer so far; an open call is not in it.
    pub fn into_message(mut self) -> Message {
        for (report, owner) in self.message.faults.iter_mut().zip(&self.owners) {
            report.place = owner.and_then(|owner| self.numbers.binary_search(&owner).ok());
        }
        self.message
    }

    fn part(&mut self, text: &str, reasoning: bool) {
        match (self.message.parts.last_mut(), reasoning) {
            (Some(Part::Text(part)), false) | (Some(Part::Reasoning(part)), true) => part.push_str(text),
            (_, false) => self.message.parts.push(Part::Text(text.to_owned())),
            (_, true) => self.message.parts.push(Part::Reasoning(text.to_owned())),
        }
    }
}

impl Sink for Collect {
    fn event(&mut self, event: Event<'_>, span: Span) {
        match event {
            Event::Text(text) => {
                self.message.content.push_str(text);
                self.part(text, false);
            }
            Event::Reasoning(text) => {
                self.message.reasoning.push_str(text);
                self.part(text, true);
            }
            Event::CallStart { name, id, dialect, .. } => {
                if self.message.dialect.is_none() {
                    self.message.dialect = Some(dialect.to_owned());
                }
                let call =
                    Call { id: id.map(str::to_owned), name: name.to_owned(), arguments: String::new() };
                self.open = Some((call, Evidence { dialect: dialect.to_owned(), span }));
            }
            Event::Args { json, .. } => {
                if let Some((call, _)) = &mut self.open {
                    call.arguments.push_str(json);
                }
            }
            Event::CallEnd { call: number, id } => {
                if let Some((mut call, evidence)) = self.open.take() {
                    call.id = call.id.or_else(|| id.map(str::to_owned));
                    self.message.parts.push(Part::Call(self.message.calls.len()));
                    self.message.calls.push(call);
                    self.numbers.push(number);
                    self.message.evidence.push(evidence);
                }
            }
            Event::Fault(fault) => {
                let call = if fault.kind.ends_call() { self.open.take().map(|(call, _)| call) } else { None };
                self.message.faults.push(Report { kind: fault.kind, span, call, place: None });
                self.owners.push(fault.call);
            }
        }
    }
}
