//! The end of a call, and what is left of one that is broken.

use super::kind::Kind;
use crate::codec::reading::repeats;
use crate::event::Event;
use crate::fault::{Fault, FaultKind};
use crate::order::sort;
use crate::parse::gap::Gap;
use crate::parse::known::Rest;
use crate::parse::{Engine, Flow, Io, Meaning, State};
use crate::scan::Scan;
use serde_json::Value;

/// So much is skipped at a time, in bytes.
const SKIPPED: usize = 16;

impl Engine {
    /// Passes on arguments that no text at hand stands for.
    pub(in crate::parse) fn send_arguments(&mut self, io: &mut Io<'_>, json: &str) {
        match &mut self.call.meaning {
            Meaning::Call => io.send(Event::Args { call: self.call.number, json }, io.at, io.at),
            Meaning::Answer(arguments) => arguments.push_str(json),
            Meaning::Nothing => {}
        }
    }

    /// Emits the answer that the model gave in the form of a call; false where it gave none.
    pub(in crate::parse) fn send_answer(&mut self, io: &mut Io<'_>) -> bool {
        match std::mem::take(&mut self.call.meaning) {
            Meaning::Call => return false,
            Meaning::Answer(arguments) => {
                let text = answer(&arguments);
                if !text.is_empty() {
                    io.send(Event::Text(&text), io.at, io.at);
                }
            }
            Meaning::Nothing => {}
        }
        true
    }

    /// The call is whole.
    pub(in crate::parse) fn end_call(&mut self, io: &mut Io<'_>, walk: usize, step: usize) {
        io.at = io.look;
        self.tell_notes(io);
        let answered = self.send_answer(io);
        let (id, empty, text) = match &self.state {
            State::Reading(reading) => {
                let fields = io.plan.walks[walk].takes_fields();
                (reading.id(), reading.is_empty(), matches!(reading.kind, Kind::Fields(_)) && !fields)
            }
            _ => (None, true, false),
        };
        if !answered {
            io.send(Event::CallEnd { call: self.call.number, id }, io.at, io.at);
            self.call.number += 1;
            self.call.last = Some(walk);
            self.call.empty = empty;
            self.call.rest = if text { Rest::Closer } else { Rest::Nothing };
        }
        self.state = State::Gap(Gap::new(walk, step));
    }

    /// Faults of the call whose arguments are over.
    pub(in crate::parse) fn tell_notes(&mut self, io: &mut Io<'_>) {
        let State::Reading(reading) = &self.state else { return };
        if self.call.notes.is_empty()
            || reading.pending.is_some()
            || !matches!(self.call.meaning, Meaning::Call)
        {
            return;
        }
        if self.call.notes.markup && io.plan.walks[reading.walk].writes_raw() {
            self.doubt_calls(io, io.at);
        }
        let mut notes: Vec<(FaultKind, u64)> = std::mem::take(&mut self.call.notes).iter().collect();
        if notes.len() > 1 {
            let place = |(kind, at): &(FaultKind, u64)| (*at, kind.as_str());
            sort(&mut notes, |one, other| place(one).cmp(&place(other)));
        }
        for (kind, at) in notes {
            io.sink.event(Event::Fault(Fault { kind, call: Some(self.call.number) }), at..at);
        }
    }

    /// The call does not count; reading goes on behind its markup.
    pub(in crate::parse) fn break_call(&mut self, io: &mut Io<'_>, kind: FaultKind) -> Flow {
        self.tell_notes(io);
        let State::Reading(reading) = &self.state else { return Flow::Next };
        let walk = reading.walk;
        let skip = if let Kind::Literals(reader) = &reading.kind {
            let mut brackets = reader.brackets();
            // A word that was held may have some of its own.
            brackets.follow(&io.bytes[io.at..io.look]);
            Some(brackets)
        } else {
            None
        };
        let fresh = match &reading.kind {
            Kind::Fields(fields) => !fields.has_begun(),
            Kind::Object(values) => values.is_fresh(),
            _ => false,
        };
        if reading.may_quote(io.plan) {
            self.doubt_calls(io, io.look);
        }
        let from = usize::try_from(self.call.from.saturating_sub(io.base)).unwrap_or(0);
        let span = self.call.from.min(io.base + from as u64)..io.base + io.look as u64;
        if !self.send_answer(io) {
            io.sink.event(Event::Fault(Fault { kind, call: Some(self.call.number) }), span);
            self.call.number += 1;
        }
        let args = io.plan.walks[walk].args;
        // Where nothing closes a call, what stands behind it is the user's.
        self.state = if fresh && io.plan.walks[walk].steps.len() == args + 1 {
            io.rewind(io.at);
            State::Gap(Gap::behind_broken(walk, args + 1))
        } else {
            io.at = io.look;
            State::Rescue { walk, scan: Scan::default(), skip }
        };
        Flow::Next
    }

    pub(in crate::parse) fn rescue(&mut self, io: &mut Io<'_>) -> Flow {
        let State::Rescue { walk, scan, skip } = &mut self.state else { return Flow::Next };
        let number = *walk;
        let walk = &io.plan.walks[number];
        let mut hit = None;
        while hit.is_none() && io.look < io.bytes.len() {
            let from = io.look;
            let Some(skip) = skip else {
                hit = walk.expected().rescue.find(scan, io.bytes, &mut io.look, &mut io.again);
                let named = hit.filter(|hit| walk.named_closer() == Some(&io.text[hit.start..hit.end]));
                match named.map(|hit| (hit.start, repeats(&self.call.name, &io.text[hit.end..], io.last()))) {
                    Some((_, Some(false))) => hit = None,
                    Some((start, None)) => {
                        io.at = start;
                        io.rewind(start);
                        *scan = Scan::default();
                        return Flow::More;
                    }
                    None | Some((_, Some(true))) => break,
                }
                continue;
            };
            // A piece at a time, so that nothing is looked at far behind the end of the arguments.
            let piece = &io.bytes[..io.bytes.len().min(from + SKIPPED)];
            hit = walk.expected().rescue.find(scan, piece, &mut io.look, &mut io.again);
            let passed = &piece[from..hit.map_or(piece.len(), |hit| hit.end.max(from))];
            io.again += passed.len() as u64;
            if let Some(len) = skip.follow(passed)
                && hit.is_none_or(|hit| from + len < hit.end)
            {
                io.at = from + len;
                io.rewind(io.at);
                self.state = State::Gap(Gap::behind_broken(number, walk.args + 1));
                return Flow::Next;
            }
        }
        let free = io.look - walk.expected().rescue.pending(scan);
        match hit {
            None => {
                io.at = free;
                Flow::More
            }
            Some(hit) => {
                io.at = hit.start;
                io.rewind(hit.start);
                self.state = State::Gap(Gap::behind_broken(number, walk.args + 1));
                Flow::Next
            }
        }
    }
}

/// The text that the arguments of an answer hold: themselves, or that of their only member. Of arguments that were cut
/// off, as much as is there.
fn answer(arguments: &str) -> String {
    let endings = ["", "\"}", "}", "\""];
    let read = |ending: &&str| serde_json::from_str::<Value>(&format!("{arguments}{ending}")).ok();
    match endings.iter().find_map(read) {
        Some(Value::String(text)) => text,
        Some(Value::Object(members)) => match members.values().next() {
            Some(Value::String(text)) if members.len() == 1 => text.clone(),
            Some(value) if members.len() == 1 => value.to_string(),
            _ => arguments.to_owned(),
        },
        _ => String::new(),
    }
}
