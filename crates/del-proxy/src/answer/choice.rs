//! One choice of an answer, as the client is told of it.

use std::collections::BTreeMap;

use del_dialects::{Call, Dialects, End, Event, FaultKind, Report, Sink, Span};
use del_wire::assembly::NATIVE;
use del_wire::{Blocks, Citation, Delta, Finish, GAP, Ids, Piece, Reading};
use serde_json::{Map, Value};

use super::beside::Beside;
use super::gaps::Gaps;
use super::input::Input;
use super::open::Open;
use super::opening::Opening;
use super::{Asking, Reader, none_of_the_tools};

/// Reads a choice.
///
/// What goes out of a call before it is whole is never a whole object: the last closing brackets wait for its end. So
/// a call that breaks off cannot be taken for one that may run.
#[derive(Debug)]
pub(super) struct Choice {
    reading: Option<Reading>,
    told: Told,
    /// A limit of tokens ended it, or nobody knows what did.
    short: bool,
}

/// What the client has been told, and what waits.
#[derive(Debug, Default)]
struct Told {
    pieces: Vec<Piece>,
    /// What waits for the end of the call that is on its way out.
    waiting: Vec<Piece>,
    text: Opening,
    reasoning: Opening,
    /// Where paragraphs of the text begin, and whether the next thought is one.
    gaps: Gaps,
    thinks_anew: bool,
    /// Where the text has something from: it waits for what is held of that.
    cited: Vec<Citation>,
    open: Option<Open>,
    /// Calls of which something went out.
    sent: u32,
    /// The numbers of the calls that are complete.
    whole: Vec<u32>,
    /// The complete calls by the numbers that the reader gives them, and their ids for the client.
    ids: Vec<(u32, String)>,
    /// Calls, by the same numbers, in whose arguments something was guessed, and what first.
    guessed: BTreeMap<u32, FaultKind>,
    /// The tools whose calls did not go out, as they may not be called.
    refused: Vec<String>,
    /// Members of calls that are not known here.
    beside: Beside,
    /// Calls that ask for definitions, and such members of each.
    asked: Vec<Call>,
    asked_beside: Vec<Map<String, Value>>,
    /// What the model thought in this answer; kept where answers may go on.
    thoughts: Option<Blocks>,
    /// What the model said in this answer and in those that it goes on from, and where this one begins in it; kept where
    /// answers may go on.
    said: String,
    begins: usize,
    /// The calls that do not count.
    broken: Vec<Report>,
    /// The last call was cut.
    cut: bool,
    /// How many faults there were of each kind.
    faults: BTreeMap<&'static str, usize>,
    dialect: Option<String>,
}

impl Choice {
    pub(super) fn new(reader: &Reader) -> Self {
        let mut choice = Self { reading: Some(reader.reading()), told: Told::default(), short: false };
        choice.told.text.follow(&reader.before);
        choice.told.thoughts = reader.defined.is_some().then(Blocks::default);
        choice
    }

    /// Another answer goes on where this one ended.
    pub(super) fn go_on(&mut self, reader: &Reader) {
        self.reading = Some(reader.reading());
        let told = &mut self.told;
        told.text = Opening::default();
        told.text.follow(&told.said);
        told.begins = told.said.len();
        told.reasoning = Opening::default();
        told.gaps = Gaps::default();
        told.asked.clear();
        told.asked_beside.clear();
        told.beside = Beside::default();
        told.thoughts = reader.defined.is_some().then(Blocks::default);
        told.broken.clear();
        told.cut = false;
    }

    /// What the model said with its calls for definitions, where it made no other call.
    pub(super) fn asking(&self) -> Option<Asking> {
        let Told { sent, asked, asked_beside, said, begins, thoughts, pieces, .. } = &self.told;
        let asks = self.is_over() && *sent == 0 && !asked.is_empty();
        asks.then(|| {
            let mut thoughts = thoughts.clone().unwrap_or_default();
            for piece in pieces {
                thoughts.add(piece);
            }
            Asking {
                said: said[*begins..].trim().to_owned(),
                calls: asked.clone(),
                beside: asked_beside.clone(),
                thoughts: thoughts.thoughts(),
            }
        })
    }

    /// True when nothing more is read.
    pub(super) fn is_over(&self) -> bool {
        self.reading.is_none()
    }

    pub(super) fn push(&mut self, delta: &Delta, reader: &Reader, ids: &mut Ids) {
        if let Some(reading) = &mut self.reading {
            if delta.gap && delta.reasoning.is_none() {
                self.told.gaps.add(reading.at());
            }
            self.told.thinks_anew = delta.gap;
            self.told.beside.add(&delta.calls);
            reading.push(delta, &mut Teller { told: &mut self.told, reader, ids });
            let pieces = self.told.others();
            if !delta.details.is_empty() {
                pieces.push(Piece::Details(delta.details.clone()));
            }
            pieces.extend(delta.signature.clone().map(Piece::Signature));
            // One that can be read has its seal beside it.
            let redacted = delta.thinking_blocks.iter().filter(|block| block["type"] == "redacted_thinking");
            let redacted = redacted.filter_map(|block| block["data"].as_str());
            pieces.extend(redacted.map(|data| Piece::Redacted(data.to_owned())));
            pieces.extend(delta.refusal.clone().map(Piece::Refusal));
            pieces.extend(delta.compaction.clone().map(Piece::Compaction));
            self.told.cited.extend_from_slice(&delta.citations);
        }
    }

    pub(super) fn finish(&mut self, end: End, reader: &Reader, ids: &mut Ids) {
        if let Some(reading) = self.reading.take() {
            self.short = end == End::Cut;
            reading.finish(end, &mut Teller { told: &mut self.told, reader, ids });
            self.told.cite();
            if !reader.runs {
                self.told.explain();
            }
        }
    }

    /// What has come since this was last asked.
    pub(super) fn pieces(&mut self) -> Vec<Piece> {
        let pieces = std::mem::take(&mut self.told.pieces);
        if let Some(thoughts) = &mut self.told.thoughts {
            for piece in &pieces {
                thoughts.add(piece);
            }
        }
        pieces
    }

    /// True when something of a call went out.
    pub(super) fn has_call(&self) -> bool {
        self.told.sent > 0
    }

    /// True where it is over, by itself, and nothing of a call went out.
    pub(super) fn lacks_call(&self) -> bool {
        self.is_over() && !self.short && !self.has_call()
    }

    /// How many whole calls went out.
    pub(super) fn calls(&self) -> usize {
        self.told.whole.len()
    }

    /// The tools whose calls did not go out, as they may not be called.
    pub(super) fn refused(&self) -> &[String] {
        &self.told.refused
    }

    /// The ids of the complete calls whose arguments recovery may have changed.
    pub(super) fn changed(&self) -> impl Iterator<Item = &str> {
        self.guesses().map(|(id, _)| id)
    }

    /// The same, and what was guessed first.
    pub(super) fn guesses(&self) -> impl Iterator<Item = (&str, FaultKind)> {
        let told = &self.told;
        told.ids.iter().filter_map(|(call, id)| Some((id.as_str(), *told.guessed.get(call)?)))
    }

    /// The calls that do not count.
    pub(super) fn broken(&self) -> &[Report] {
        &self.told.broken
    }

    /// How many faults there were of each kind.
    pub(super) fn faults(&self) -> &BTreeMap<&'static str, usize> {
        &self.told.faults
    }

    /// The dialect of the first call.
    pub(super) fn dialect(&self) -> Option<&str> {
        self.told.dialect.as_deref()
    }

    /// The reason of the end for the client. `length` also stands for a last call that was cut, and for one that does not
    /// count where no other does: what a streaming client has of it must not run.
    pub(super) fn reason(&self, finish: Option<Finish>, said: Option<&str>) -> String {
        let told = &self.told;
        let reason = match finish {
            Some(Finish::ContentFilter) => "content_filter",
            _ if !told.whole.is_empty() && !told.cut => "tool_calls",
            _ if !told.broken.is_empty() => "length",
            Some(Finish::Length) => "length",
            Some(Finish::Other) => said.unwrap_or("stop"),
            _ => "stop",
        };
        reason.to_owned()
    }
}

struct Teller<'a> {
    told: &'a mut Told,
    reader: &'a Reader,
    ids: &'a mut Ids,
}

impl Sink for Teller<'_> {
    fn event(&mut self, event: Event<'_>, span: Span) {
        match event {
            Event::Text(text) => self.text(text, span.start),
            Event::Reasoning(text) => {
                self.told.cite();
                let begins = std::mem::take(&mut self.told.thinks_anew);
                let behind = text.strip_prefix(GAP).filter(|_| begins);
                if behind.is_some() {
                    self.told.add(Piece::Paragraph);
                }
                if let Some(text) = self.told.reasoning.pass(behind.unwrap_or(text)) {
                    self.told.add(Piece::Reasoning(text));
                }
            }
            Event::CallStart { name, id, dialect, .. } => {
                self.told.cite();
                let asks = self.reader.asks(name);
                let refused = !asks && !self.reader.may_call(name);
                if refused {
                    self.told.refused.push(self.reader.names.given(name).to_owned());
                }
                let surplus = asks || refused || self.reader.one_call && !self.told.whole.is_empty();
                if !surplus {
                    self.told.dialect.get_or_insert_with(|| dialect.to_owned());
                }
                let input = self.reader.custom.contains(name).then(Input::default);
                let native = dialect == NATIVE;
                self.told.open = Some(Open { native, surplus, asks, input, ..Open::new(name, id) });
            }
            Event::Args { json, .. } => {
                if let Some(mut open) = self.told.open.take() {
                    open.add(json, self.reader.restore);
                    self.send(&mut open, None);
                    self.told.open = Some(open);
                }
            }
            Event::CallEnd { call, .. } => self.end(call),
            Event::Fault(fault) => {
                *self.told.faults.entry(fault.kind.as_str()).or_default() += 1;
                if let Some(call) = fault.call.filter(|_| fault.kind.changes_arguments()) {
                    self.told.guessed.entry(call).or_insert(fault.kind);
                }
                if fault.kind.ends_call() {
                    self.break_off(fault.kind, span);
                }
            }
        }
    }
}

impl Teller<'_> {
    /// More text, from this place of it on.
    fn text(&mut self, mut text: &str, mut at: u64) {
        loop {
            let (here, behind) = self.told.gaps.cut(text, at);
            if let Some(here) = self.told.text.pass(here).filter(|here| !here.is_empty()) {
                self.say(Piece::Text(here));
            }
            self.told.cite();
            let Some(behind) = behind else { return };
            self.say(Piece::Paragraph);
            at += (text.len() - behind.len()) as u64;
            text = behind;
        }
    }

    fn say(&mut self, piece: Piece) {
        if self.reader.defined.is_some() {
            self.told.said.push_str(if let Piece::Text(text) = &piece { text } else { GAP });
        }
        self.told.add(piece);
    }

    /// The open call is whole; this is its number for the reader.
    fn end(&mut self, call: u32) {
        let open = self.told.close();
        if let Some(mut open) = open.filter(|open| !open.surplus) {
            let json = std::mem::take(&mut open.json);
            let json =
                if self.reader.restore { Dialects::builtin().restore_json(&json) } else { json.into() };
            self.send(&mut open, Some(&json));
            if let Some(index) = open.index {
                self.told.whole.push(index);
                self.told.cut = false;
                if open.input.is_none() {
                    self.told.add_beside(index, open.native, open.told.as_deref());
                }
                self.told.pieces.push(Piece::CallEnd { index });
            }
            self.told.ids.extend(open.id.map(|id| (call, id)));
        }
        self.told.pieces.append(&mut self.told.waiting);
    }

    /// The open call does not count.
    fn break_off(&mut self, kind: FaultKind, span: Span) {
        let open = self.told.close();
        self.told.pieces.append(&mut self.told.waiting);
        if !open.as_ref().is_some_and(|open| open.surplus) {
            let call = open.map(|Open { id, name, json, .. }| Call { id, name, arguments: json });
            self.told.cut = kind == FaultKind::UnclosedCall;
            self.told.broken.push(Report { kind, span, call, place: None });
        }
    }

    /// Sends what is certain of a call, or all of it once it is `whole`.
    fn send(&mut self, open: &mut Open, whole: Option<&str>) {
        let (json, upto) = match whole {
            Some(json) => (json, json.len()),
            None if !open.is_object() => return,
            None => (open.json.as_str(), open.solid.min(open.sure)),
        };
        if open.surplus || upto <= open.sent {
            return;
        }
        let text = open.input.as_mut().map(|input| match whole {
            Some(json) => input.rest(json),
            None => input.more(&json[..upto]),
        });
        if whole.is_none() && text.as_ref().is_some_and(String::is_empty) {
            return;
        }
        let index = *open.index.get_or_insert_with(|| {
            let index = self.told.sent;
            self.told.sent += 1;
            let native = open.id.as_deref().filter(|_| !self.reader.runs);
            let id = self.ids.keep_or_mint(native);
            open.id = Some(id.clone());
            let name = self.reader.names.given(&open.name).to_owned();
            if open.input.is_some() {
                self.told.pieces.push(Piece::Custom { index, id, name });
            } else {
                self.told.pieces.push(Piece::Call { index, id, name });
                self.told.add_beside(index, open.native, open.told.as_deref());
            }
            index
        });
        if let Some(text) = text {
            if !text.is_empty() {
                self.told.pieces.push(Piece::Input { index, text });
            }
            return;
        }
        self.told.add_arguments(index, &json[open.sent..upto]);
        open.sent = upto;
    }
}

impl Told {
    /// The call that was open. One that asks for definitions is kept: what there is of it is as good where it broke off.
    fn close(&mut self) -> Option<Open> {
        let open = self.open.take();
        if let Some(Open { id, name, json, .. }) = open.as_ref().filter(|open| open.asks) {
            self.asked.push(Call { id: id.clone(), name: name.clone(), arguments: json.clone() });
            let native = open.as_ref().filter(|open| open.native);
            let beside = native.and_then(|open| self.beside.take(open.told.as_deref()));
            self.asked_beside.push(beside.unwrap_or_default());
        }
        open
    }

    /// Adds what the text so far has something from.
    fn cite(&mut self) {
        for citation in std::mem::take(&mut self.cited) {
            self.add(Piece::Citation(citation));
        }
    }

    /// An answer that was nothing but calls which may not go out says so: without a word, clients take it for broken.
    fn explain(&mut self) {
        let silent = self.sent == 0 && !self.text.over && self.asked.is_empty();
        if let Some(name) = self.refused.first().filter(|_| silent) {
            self.add(Piece::Text(none_of_the_tools(name)));
        }
    }

    /// Where goes what belongs to no call. Some servers say it in the middle of one.
    fn others(&mut self) -> &mut Vec<Piece> {
        let calls = self.open.as_ref().is_some_and(|open| open.index.is_some());
        if calls { &mut self.waiting } else { &mut self.pieces }
    }

    /// Adds what belongs to no call.
    fn add(&mut self, new: Piece) {
        let pieces = self.others();
        match (pieces.last_mut(), new) {
            (Some(Piece::Text(text)), Piece::Text(more))
            | (Some(Piece::Reasoning(text)), Piece::Reasoning(more)) => text.push_str(&more),
            (_, new) => pieces.push(new),
        }
    }

    /// Adds the members of a call that are not known here, as far as they have come.
    fn add_beside(&mut self, index: u32, native: bool, id: Option<&str>) {
        let members = native.then(|| self.beside.take(id)).flatten();
        self.pieces.extend(members.map(|members| Piece::Beside { index, members }));
    }

    fn add_arguments(&mut self, index: u32, more: &str) {
        match self.pieces.last_mut() {
            Some(Piece::Arguments { index: last, json }) if *last == index => json.push_str(more),
            _ => self.pieces.push(Piece::Arguments { index, json: more.to_owned() }),
        }
    }
}
