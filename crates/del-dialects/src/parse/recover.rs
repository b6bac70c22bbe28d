//! What the end of an answer makes of what is not finished, and what becomes of too much.
//!
//! One policy for all dialects: what is provably whole counts; what was cut inside its arguments never does; half a
//! mark is markup and not text.

use super::character::{is_name, starts_name};
use super::opening::Opening;
use super::plan::Walk;
use super::{End, Engine, Flow, Io, Meaning, State};
use crate::dialect::Codec;
use crate::event::{Event, Span};
use crate::fault::{Fault, FaultKind};
use crate::tool::{declared, takes_nothing};

/// Fewer characters than this at the end of an answer are text rather than half a mark.
const MIN_PARTIAL: usize = 3;

impl Engine {
    /// The answer is over, and everything has been looked at.
    pub(super) fn ended(&mut self, io: &mut Io<'_>) {
        match &mut self.state {
            State::Text(_) => self.end_text(io),
            State::Thought { .. } => {
                let end = io.text.len();
                if is_markup(&io.text[io.at..], io.end) {
                    io.at = end;
                }
                io.think(end);
                io.fault(FaultKind::UnclosedReasoning, None, end, end);
            }
            State::Gap(gap) => {
                // Half a closer, or what would have stood between this call and the next, is markup.
                let (in_mark, separated) = (gap.is_in_mark(), gap.is_separated());
                let markup = in_mark || separated;
                // Where the stop sequence ate a mark, white space stood before it.
                let eaten = io.end == Some(End::End) && io.plan.walks[gap.walk].may_be_eaten(gap.step);
                let missed = self.miss_closers(io);
                let rest = io.text[io.at..].trim_start();
                if in_mark && !missed && !rest.is_empty() {
                    io.fault(FaultKind::OrphanMark, None, io.text.len() - rest.len(), io.text.len());
                }
                let end = if markup { io.text.len() - rest.len() } else { io.text.len() };
                if !(eaten && rest.is_empty()) {
                    self.say(io, end);
                }
            }
            State::Echo(_) => io.fault(FaultKind::OrphanMark, None, io.at, io.text.len()),
            State::Reading(_) => self.end_reading(io),
            State::Header(_) => self.end_header(io),
            State::Opening(_)
            | State::Cited(_)
            | State::Trial(_)
            | State::Mention(_)
            | State::Invented { .. }
            | State::Rescue { .. }
            | State::Dropping => {}
        }
        io.at = io.text.len();
    }

    /// The end of text, which may be half a mark.
    fn end_text(&mut self, io: &mut Io<'_>) {
        let end = io.text.len();
        // What closes a fence is no half mark.
        let closes = self.text.fence.is_open() && io.text[io.at..].bytes().all(|byte| byte == b'`');
        if !closes && is_markup(&io.text[io.at..], io.end) {
            io.fault(FaultKind::OrphanMark, None, io.at, end);
            io.at = end;
        }
        self.say(io, end);
    }

    fn end_reading(&mut self, io: &mut Io<'_>) {
        let end = io.text.len();
        self.tell_notes(io);
        let State::Reading(reading) = &mut self.state else { return };
        if let Meaning::Answer(answer) = &mut self.call.meaning {
            answer.push_str(reading.buffered());
        }
        let (missing, may_quote) = (reading.missing(), reading.may_quote(io.plan));
        if let Some(opening) = reading.pending.take() {
            let start = io.at + opening.start();
            let bare = io.plan.walks[reading.walk].is_bare();
            let short = io.text[start..].chars().count() < least(io.end);
            if bare && short && !opening.is_behind_a_call() {
                self.say(io, end);
            } else {
                self.settle_before(io, &opening);
                io.fault(FaultKind::UnclosedCall, None, start, end);
            }
        } else if self.send_answer(io) {
            // No call was begun.
        } else if let Some(kind) = missing {
            io.fault(kind, Some(self.call.number), end, end);
            io.send(Event::CallEnd { call: self.call.number, id: None }, end, end);
        } else {
            // A model does not end inside a value by itself.
            if io.end == Some(End::End) && may_quote {
                self.doubt_calls(io, end);
            }
            let fault = Fault { kind: FaultKind::UnclosedCall, call: Some(self.call.number) };
            let span: Span = self.call.from..io.base + end as u64;
            io.sink.event(Event::Fault(fault), span);
        }
    }

    /// The answer ended where a call may have begun.
    pub(super) fn unfinished_opening(&mut self, io: &mut Io<'_>) -> Flow {
        let plan = io.plan;
        let end = io.text.len();
        let State::Opening(opening) = self.state else { return Flow::More };
        let walk = &plan.walks[opening.walk];
        // No declared name begins behind a mark that means nothing without one.
        let declared = opening.may_be_declared(io, &self.turn.tools);
        // Words in place of a name and its bracket go on with a sentence, unless any name may stand there.
        let any = walk.is_bare() && self.turn.tools.is_empty();
        let words = io.end == Some(End::End)
            && !opening.has_token(plan)
            && !opening.is_behind_a_call()
            && !any
            && self.in_a_sentence(io, io.at + opening.start());
        if !declared && (walk.needs_declared || words) {
            return self.try_next(io, opening);
        }
        let empty = !walk.needs_declared && !matches!(walk.dialect.codec(), Codec::Raw { .. });
        let closed = empty && (walk.may_be_eaten(walk.args + 1) || walk.is_line());
        if io.end == Some(End::End)
            && opening.awaits_arguments(walk, io)
            && closed
            && let Some(name) = opening.called(io)
            && self.tool(name).is_none_or(takes_nothing)
        {
            let line = walk.is_line();
            if line {
                io.rewind(io.at + opening.token());
            }
            if self.commit(io, &opening, name, None) {
                let at = io.at;
                self.send_arguments(io, "{}");
                if !self.send_answer(io) {
                    io.send(Event::CallEnd { call: self.call.number, id: None }, at, at);
                }
            }
            if line {
                self.say(io, end);
            }
            self.state = State::Dropping;
            return Flow::More;
        }
        let (start, thought) = (io.at + opening.start(), opening.in_a_thought());
        // Where the model ended by itself, a word is no more than that.
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
        let word = io.end == Some(End::End) && io.text[start..].trim_end().bytes().all(plain);
        let bracket = io.end == Some(End::End) && walk.is_bare() && io.text[start..].trim_end().len() == 1;
        // A mark that means nothing without a name behind it may be a sign of its own, or, where a sentence goes on
        // behind it, be talked about.
        let sign = io.end == Some(End::End) && walk.needs_declared;
        let rest = io.text[(io.at + opening.token()).min(end)..].trim();
        let sentence = self.in_a_sentence(io, start) || self.names_no_argument(&opening, io, rest);
        let told = sign && opening.name(io).is_some() && !rest.is_empty() && sentence;
        let marked = opening.marked && !word && !bracket && !sign && !opening.is_worded(plan);
        // Where white space stands between calls, the last word behind one may be all that the model had to say.
        let spaced = io.end == Some(End::End) && io.text[io.at..start].trim().is_empty();
        let named = io.text[start..].trim_end();
        let said = spaced
            && !opening.marked
            && starts_name(named, 0)
            && named.char_indices().all(|(at, _)| is_name(named, at));
        let behind = !said && opening.is_behind_a_call() && (self.call.in_block || !walk.is_loose());
        let markup = marked || behind || (!told && is_markup(&io.text[start..], io.end));
        if markup {
            self.settle_before(io, &opening);
        } else if thought {
            io.think(end);
        } else {
            let token = io.at + opening.token();
            let half = !told && is_markup(&io.text[token.min(end)..], io.end);
            self.say(io, if half { token } else { end });
            if half {
                io.fault(FaultKind::OrphanMark, None, token, end);
            }
        }
        if markup {
            io.fault(if marked { FaultKind::UnclosedCall } else { FaultKind::OrphanMark }, None, start, end);
        }
        if thought {
            io.fault(FaultKind::UnclosedReasoning, None, end, end);
        }
        io.at = end;
        Flow::More
    }

    /// True where words behind the name of a tool begin as none of its arguments does.
    fn names_no_argument(&self, opening: &Opening, io: &Io<'_>, words: &str) -> bool {
        let tool = opening.name(io).and_then(|name| self.tool(name));
        let word = words.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or_default();
        !word.is_empty()
            && tool.is_some()
            && !tool.into_iter().flat_map(declared).any(|key| key.starts_with(word))
    }

    /// More is held back than the limits allow.
    pub(super) fn overflow(&mut self, io: &mut Io<'_>) {
        match &mut self.state {
            State::Reading(reading) if reading.pending.is_none() => {
                self.break_call(io, FaultKind::Limit);
            }
            State::Reading(reading) => {
                let opening = reading.pending.take();
                if let Some(opening) = opening {
                    let start = io.at + opening.start();
                    self.say(io, start);
                    io.fault(FaultKind::Limit, None, start, io.look);
                    io.at = io.look;
                    self.resume_text();
                }
            }
            _ => {
                self.say(io, io.look);
                self.resume_text();
            }
        }
    }
}

impl Walk {
    /// True when a call that ended behind an argument is whole all the same: only its outermost closer may be missing,
    /// and only when the model itself ended the answer. Nobody misses the closer of a mark that was not there.
    pub(super) fn is_whole_without_closer(&self, end: Option<End>, in_block: bool, unopened: bool) -> bool {
        let last = if in_block { self.steps.len() } else { self.close - usize::from(unopened) };
        let closers = (self.args + 1..last).filter(|step| self.misses(*step, step + 1)).count();
        end == Some(End::End) && (self.may_be_eaten(self.args + 1) || closers <= 1)
    }
}

/// How many characters at the end of an answer are half a mark.
fn least(end: Option<End>) -> usize {
    if end == Some(End::Cut) { 1 } else { MIN_PARTIAL }
}

/// True when what an answer ends with is half a mark rather than text.
pub(super) fn is_markup(text: &str, end: Option<End>) -> bool {
    let text = text.trim_start();
    !text.starts_with(char::is_alphanumeric) && text.chars().count() >= least(end)
}
