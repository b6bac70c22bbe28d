//! From an opening that may be a call to the call.

use std::borrow::Cow;

use super::kind::Kind;
use super::{Callee, MAX_BARE, Proof, Reading};
use crate::dialect::Codec;
use crate::fault::FaultKind;
use crate::parse::gap::Gap;
use crate::parse::plan::{Opener, Walk};
use crate::parse::{Engine, Flow, Io, State};
use crate::scan::Scan;
use crate::tool::{takes_nothing, takes_some};
use crate::value::Brackets;

impl Engine {
    /// The call of a pending reading begins, if it may.
    pub(super) fn named(&mut self, io: &mut Io<'_>) -> Flow {
        let State::Reading(reading) = &self.state else { return Flow::Next };
        let Some(opening) = &reading.pending else { return Flow::Next };
        let name = match &reading.kind {
            Kind::Call(reader) => reader.name.as_deref(),
            Kind::Whole(call) => Some(call.name(&io.text[io.at + reading.kept..])),
            _ => opening.called(io),
        };
        let known = name.is_some_and(|name| self.means_something(name, &io.plan.walks[reading.walk]));
        let bare = io.plan.walks[reading.walk].is_bare();
        let word =
            matches!(reading.kind, Kind::Literals(_)) && !opening.marked && !opening.is_behind_a_call();
        // A token of the model's markup is no part of data, and where no tools are declared no name can be known.
        let free = self.takes_any_name(io.plan) && !opening.in_a_thought();
        let doubtful = opening.is_doubtful() && !free && !opening.has_token(io.plan);
        let nameless = name.is_none_or(str::is_empty);
        // Inside the marks around a group the next call has no other mark.
        let worded = opening.is_worded(io.plan) && !(self.call.in_block && opening.is_behind_a_call());
        let unproven = io.base + ((io.at + opening.start()) as u64) < self.tried.proof;
        let undeclared = io.plan.walks[reading.walk].needs_declared && !known;
        // Without a mark of its own, what names no declared tool is text.
        let text = bare
            && !known
            && !self.turn.tools.is_empty()
            && !io.plan.walks[reading.walk].is_told(opening.opened)
            && !opening.is_behind_a_call();
        let told = text && !undeclared && !nameless && !opening.is_doubtful();
        let may_not = text
            || undeclared
            || (word && bare && unproven)
            || (worded && (opening.in_a_thought() || unproven || !(known || free)));
        if may_not || (bare && !known && (word || doubtful || nameless)) {
            if let (true, State::Reading(Reading { pending: Some(opening), .. })) = (told, &mut self.state) {
                opening.undeclared = true;
            }
            return self.no_call(io);
        }
        let proof = match word {
            _ if worded => Some(Proof::Mark(Scan::default())),
            true if bare => Some(Proof::Line(Some(Brackets::default()))),
            _ => None,
        };
        if let Some(proof) = proof {
            let (back, bracket) = (io.look - io.at, opening.token());
            if let Proof::Line(_) = proof {
                io.rewind(io.at + bracket);
            }
            if let State::Reading(reading) = &mut self.state {
                reading.proof = Some((proof, back));
            }
            return Flow::Next;
        }
        self.start_call(io);
        Flow::Next
    }

    /// A call that is opened by a word alone begins when it is proven to be one.
    pub(super) fn prove(&mut self, io: &mut Io<'_>) -> Flow {
        let State::Reading(reading) = &mut self.state else { return Flow::Next };
        let (Some((proof, back)), Some(opening)) = (&mut reading.proof, &reading.pending) else {
            return Flow::Next;
        };
        let most = io.at + opening.start() + MAX_BARE;
        let walk = &io.plan.walks[reading.walk];
        let back = io.at + *back;
        let proven = match proof {
            Proof::Mark(scan) => closes(walk, scan, io, most),
            Proof::Line(brackets) => ends_line(walk, brackets, io, most),
        };
        if proven == Some(true) {
            // Nobody looks once more for a bracket that the answer does not have.
            if let Proof::Line(Some(_)) = proof {
                self.tried.proof = self.tried.proof.max(io.base + io.look as u64);
            }
            reading.proof = None;
            io.rewind(back);
            self.start_call(io);
            return Flow::Next;
        }
        if proven.is_none() && !io.last() && io.bytes.len() < most {
            return Flow::More;
        }
        self.tried.proof = self.tried.proof.max(io.base + io.look as u64);
        self.no_call(io)
    }

    /// Starts the call of a pending reading; false when it has no name, or there are too many calls.
    pub(super) fn start_call(&mut self, io: &mut Io<'_>) -> bool {
        let State::Reading(reading) = &mut self.state else { return false };
        let Some(opening) = reading.pending.take() else { return true };
        let kept = std::mem::take(&mut reading.kept);
        // A call object has said by now whose arguments follow.
        reading.callee = Callee::Unknown;
        let of_opening = opening.id(io).map(Cow::Borrowed);
        let (name, id, early) = match &mut reading.kind {
            Kind::Call(reader) => {
                let name = reader.name.clone().unwrap_or_default();
                (Cow::Owned(name), reader.id.clone().map(Cow::Owned), reader.take_early())
            }
            Kind::Whole(call) => {
                let id = call.early_id().map(|id| Cow::Owned(id.to_owned()));
                (Cow::Borrowed(call.name(&io.text[io.at + kept..])), id, String::new())
            }
            Kind::Unnamed { name, .. } => (Cow::Owned(std::mem::take(name)), of_opening, String::new()),
            _ => (Cow::Borrowed(opening.called(io).unwrap_or_default()), of_opening, String::new()),
        };
        if name.is_empty() {
            self.nameless(io, opening);
            return false;
        }
        if name.len() > self.turn.limits.name {
            self.settle_before(io, &opening);
            io.fault(FaultKind::Limit, None, io.at, io.look);
            io.at = io.look;
            self.state = State::Rescue { walk: opening.walk, scan: Scan::default(), skip: None };
            return false;
        }
        if !self.commit(io, &opening, &name, id.as_deref()) {
            return false;
        }
        if !early.is_empty() {
            self.send_arguments(io, &early);
        }
        true
    }

    /// A call that begins where its arguments are over: a call object without any, or one whose tool they told.
    pub(super) fn at_once(&mut self, io: &mut Io<'_>) -> Flow {
        let State::Reading(reading) = &self.state else { return Flow::Next };
        let number = reading.walk;
        let name = if let Kind::Call(reader) = &reading.kind { reader.name.as_deref() } else { None };
        let told = reading.pending.as_ref().is_some_and(|opening| {
            // An object that says nothing but the name of a tool, and is all that the answer says so far.
            let tool = name.and_then(|name| self.tool(name));
            opening.has_token(io.plan) || (!opening.is_doubtful() && tool.is_some_and(takes_nothing))
        });
        if io.plan.walks[number].is_bare() && !told {
            return self.no_call(io);
        }
        let object = match &mut self.state {
            State::Reading(Reading { kind: Kind::Unnamed { object, .. }, .. }) => std::mem::take(object),
            _ => "{}".to_owned(),
        };
        if self.start_call(io) {
            self.send_arguments(io, &object);
            self.end_call(io, number, io.plan.walks[number].args + 1);
        }
        Flow::Next
    }

    pub(super) fn no_call(&mut self, io: &mut Io<'_>) -> Flow {
        let State::Reading(reading) = &mut self.state else { return Flow::Next };
        let walk = reading.walk;
        if let Some(opening) = &reading.pending {
            let start = io.base + (io.at + opening.start()) as u64;
            let look = io.base + io.look as u64;
            if io.plan.walks[walk].is_bare() {
                self.tried.bare = self.tried.bare.max(look.min(start + MAX_BARE as u64));
            } else {
                self.tried.nameless.add(start, look);
            }
        }
        match reading.pending.take() {
            // The header said that this is a call.
            Some(_) if io.plan.walks[walk].channels().is_some() => {
                io.fault(FaultKind::BadCall, None, io.at, io.look);
                io.at = io.look;
                self.state = State::Rescue { walk, scan: Scan::default(), skip: None };
                Flow::Next
            }
            Some(opening) => self.try_next(io, opening),
            None => Flow::Next,
        }
    }

    /// A whole object names no tool.
    pub(super) fn without_a_name(&mut self, io: &mut Io<'_>) -> Flow {
        let State::Reading(reading) = &mut self.state else { return Flow::Next };
        let walk = reading.walk;
        // Definitions between the tags of a document may be what the user asked for.
        let defines = matches!(&reading.kind, Kind::Call(reader) if reader.is_definition());
        let words = reading
            .pending
            .as_ref()
            .is_some_and(|opening| opening.has_words_alone(io.plan) || (defines && opening.is_plain(io)));
        if io.plan.walks[walk].is_bare() || words {
            return self.no_call(io);
        }
        let Some(opening) = reading.pending.take() else { return Flow::Next };
        let start = io.at + opening.start();
        self.settle_before(io, &opening);
        if opening.is_behind_a_call() && self.call.empty && takes_some(self.tool(&self.call.name)) {
            self.doubt_calls(io, start);
        }
        io.fault(FaultKind::BadCall, None, start, io.look);
        io.at = io.look;
        self.state = State::Gap(Gap::behind_broken(walk, io.plan.walks[walk].args + 1));
        Flow::Next
    }

    /// The arguments cannot be read: the call is broken, or it was none.
    pub(super) fn broken(&mut self, io: &mut Io<'_>, kind: FaultKind) -> Flow {
        let State::Reading(reading) = &self.state else { return Flow::Next };
        let Some(opening) = &reading.pending else { return self.break_call(io, kind) };
        if let Kind::Call(reader) = &reading.kind
            && reader.is_malformed()
        {
            // It breaks there in every form of the same syntax.
            let walks = &io.plan.walks;
            let python = |walk: &Walk| match walk.dialect.codec() {
                Codec::Call(form) => Some(form.python),
                _ => None,
            };
            let own = python(&walks[reading.walk]);
            let same = |opener: &Opener| opener.step.is_none() && python(&walks[opener.walk]) == own;
            let behind = opening.behind(io);
            self.candidates.retain(|opener| !same(opener) && opener.may_go_on(io.plan, behind));
            // Nor is it an object without the marks before it.
            self.tried.bare = self.tried.bare.max(io.base + (io.at + opening.token()) as u64 + 1);
        }
        let opening = *opening;
        let name = opening.called(io);
        let known =
            opening.marked && !opening.is_doubtful() && name.is_some_and(|name| self.tool(name).is_some());
        let (named, loose) = match &reading.kind {
            Kind::Call(reader) => (reader.name.is_some(), false),
            // Behind a name and a bracket stands something else than arguments.
            Kind::Literals(_) => (self.candidates.is_empty(), true),
            _ => (false, false),
        };
        let marked = !io.plan.walks[reading.walk].is_bare() && opening.marked;
        let first = self.candidates.is_empty() && matches!(reading.kind, Kind::Call(_));
        if !named && marked && first && self.is_broken_call(io, &opening, io.at + opening.token()) {
            return self.nameless(io, opening);
        }
        if !named || !(marked || (loose && (known || opening.is_behind_a_call()))) {
            return self.no_call(io);
        }
        if self.start_call(io) { self.break_call(io, kind) } else { Flow::Next }
    }
}

/// Whether a mark that closes the call comes before `most`; none where it may still come.
fn closes(walk: &Walk, scan: &mut Scan, io: &mut Io<'_>, most: usize) -> Option<bool> {
    let window = &io.bytes[..io.bytes.len().min(most)];
    let marks = &walk.expected().proof;
    let hit = marks.find(scan, window, &mut io.look, &mut io.again);
    let hit = hit.or_else(|| io.last().then(|| marks.take(scan, &mut io.look, &mut io.again)).flatten());
    hit.map(|_| true)
}

/// Whether nothing but marks stands behind the call on its line, or the answer ends inside it; none where that is not
/// known yet.
fn ends_line(walk: &Walk, brackets: &mut Option<Brackets>, io: &mut Io<'_>, most: usize) -> Option<bool> {
    let window = &io.bytes[..io.bytes.len().min(most)];
    if let Some(open) = brackets {
        let closed = open.follow(&window[io.look..]);
        io.again += closed.unwrap_or(window.len() - io.look) as u64;
        io.look = closed.map_or(window.len(), |len| io.look + len);
        if closed.is_none() {
            return io.last().then_some(io.bytes.len() < most);
        }
        *brackets = None;
    }
    let blank = |byte: &&u8| matches!(byte, b' ' | b'\t' | b'\r');
    io.look += window[io.look..].iter().take_while(blank).count();
    match window.get(io.look) {
        None => io.last().then_some(true),
        Some(byte) => Some(*byte == b'\n' || walk.expected().sites[walk.args + 1].marks.begins_with(*byte)),
    }
}
