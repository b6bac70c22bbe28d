//! One choice of an answer, as the client is told of it.

use std::collections::BTreeMap;

use del_dialects::{Call, Dialects, End, Event, FaultKind, Report, Sink, Span};
use del_wire::assembly::NATIVE;
use del_wire::{Blocks, Delta, Finish, GAP, Ids, Piece, Reading};

use super::beside::Beside;
use super::gaps::Gaps;
use super::input::Input;
use super::open::Open;
use super::opening::Opening;
use super::told::Told;
use super::{Asking, Reader, none_of_the_tools, none_to_be_read};

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
    /// Nothing of it goes out before it is whole.
    at_once: bool,
}

impl Choice {
    pub(super) fn new(reader: &Reader) -> Self {
        let (reading, told) = (Some(reader.reading()), Told::default());
        let mut choice = Self { reading, told, short: false, at_once: false };
        choice.told.text.follow(&reader.before);
        choice.told.thoughts = reader.goes_on().then(Blocks::default);
        choice
    }

    /// One of an answer that comes at once.
    pub(super) fn at_once(reader: &Reader) -> Self {
        Self { at_once: true, ..Self::new(reader) }
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
        told.thoughts = reader.goes_on().then(Blocks::default);
        told.broken.clear();
        told.refused.clear();
        told.cut = false;
    }

    /// What the model is asked again with, where no call went out: what it said with its calls for definitions, or with
    /// those that do not count.
    pub(super) fn asking(&self, reader: &Reader) -> Option<Asking> {
        let Told { asked, asked_beside, said, begins, thoughts, pieces, broken, .. } = &self.told;
        let refused = &self.told.refused;
        let calls = if self.at_once { self.calls() > 0 } else { self.has_call() };
        let fails = reader.asks_again && !self.short && !(broken.is_empty() && refused.is_empty());
        let asks = self.is_over() && !calls && (!asked.is_empty() || fails);
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
                broken: broken.clone(),
                refused: refused.clone(),
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
            if !reader.runs && self.asking(reader).is_none() {
                self.explain();
            }
        }
    }

    /// An answer without a call says why its calls did not go out: clients take one without a word for broken.
    fn explain(&mut self) {
        let told = &mut self.told;
        let said = match (told.broken.first(), told.refused.first()) {
            _ if !told.whole.is_empty() || !told.asked.is_empty() => return,
            (Some(report), _) if !self.short && !told.half => none_to_be_read(report),
            (None, Some(name)) if !told.text.over => none_of_the_tools(name),
            _ => return,
        };
        let said = told.text.remark(&said);
        told.add(Piece::Text(said));
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

    /// The reason of the end for the client. `length` also stands for a call that does not count, where a streaming client
    /// has a part of it, which must not run, and no other call is whole, or that one was cut behind them.
    pub(super) fn reason(&self, finish: Option<Finish>, said: Option<&str>) -> String {
        let told = &self.told;
        let short = told.half || finish == Some(Finish::Length);
        let reason = match finish {
            Some(Finish::ContentFilter) => "content_filter",
            _ if !(told.whole.is_empty() || told.cut && short) => "tool_calls",
            _ if short => "length",
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
        if self.reader.goes_on() {
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
            self.told.half |= open.as_ref().is_some_and(|open| open.index.is_some());
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
