//! A call begins: what is said of it, and what its name means.

use std::borrow::Cow;

use super::{From, Opening};
use crate::codec::attributes;
use crate::event::Event;
use crate::fault::FaultKind;
use crate::parse::plan::Walk;
use crate::parse::{Engine, Io, Meaning, State};

impl Engine {
    /// Settles an opening: its call has begun. False when there are too many of them.
    pub(in crate::parse) fn commit(
        &mut self,
        io: &mut Io<'_>,
        opening: &Opening,
        name: &str,
        id: Option<&str>,
    ) -> bool {
        let plan = io.plan;
        let walk = &plan.walks[opening.walk];
        let start = io.at + opening.start;
        let says = opening.says_argument(io, self.tool(name));
        self.settle_before(io, opening);
        io.at = io.look;
        self.tried.passed.clear();
        self.call.from = io.base + start as u64;
        let name = self.registered(name, walk);
        let name = name.as_ref();
        name.clone_into(&mut self.call.name);
        self.text.fresh = false;
        self.text.fence.told = false;
        if opening.block {
            self.call.opened = opening.opened;
        }
        self.call.unopened = walk.is_unopened(opening.opened);
        let holds_calls = walk.dialect.reasoning.as_ref().is_some_and(|reasoning| reasoning.holds_calls);
        match opening.from {
            From::Text { .. } => self.text.around = None,
            From::Thought(kind) => self.text.around = Some(kind).filter(|_| holds_calls),
            From::Gap => {}
        }
        self.call.in_block = opening.block || (self.call.in_block && opening.from == From::Gap);
        self.call.meaning = self.meant_by(name, walk);
        if !matches!(self.call.meaning, Meaning::Call) {
            return true;
        }
        if self.call.number >= self.turn.limits.calls {
            io.fault(FaultKind::Limit, None, start, io.at);
            self.state = State::Dropping;
            return false;
        }
        let dialect = walk.dialect.name.as_str();
        io.send(Event::CallStart { call: self.call.number, name, id, dialect }, start, io.at);
        self.doubt(io, start);
        if let Some(at) = says {
            io.fault(FaultKind::GuessedBorder, Some(self.call.number), at, io.at);
        }
        if opening.missed && opening.from != From::Gap {
            io.fault(FaultKind::MissingOpener, Some(self.call.number), start, start);
        }
        true
    }

    /// True for the name of a declared tool, and for one that says that nothing is called or that the answer follows.
    pub(in crate::parse) fn means_something(&self, name: &str, walk: &Walk) -> bool {
        self.tool(name).is_some() || !matches!(self.meant_by(name, walk), Meaning::Call)
    }

    /// What a call of this name is.
    fn meant_by(&self, name: &str, walk: &Walk) -> Meaning {
        let is = |names: &[String]| names.iter().any(|known| known == name);
        match walk.dialect.as_ref() {
            dialect if is(&dialect.none) => Meaning::Nothing,
            dialect if is(&dialect.answers) && self.tool(name).is_none() => Meaning::Answer(String::new()),
            _ => Meaning::Call,
        }
    }

    /// The name of the tool that is meant: some models put a plain name in a namespace of its own, or write a head as one
    /// word.
    fn registered<'n>(&self, name: &'n str, walk: &Walk) -> Cow<'n, str> {
        if walk.has_attributes() {
            return attributes::read(name);
        }
        let declared = |name: &&str| self.tool(name).is_some();
        if declared(&name) {
            return Cow::Borrowed(name);
        }
        let doubled = name.split_once(['.', ':']).filter(|(space, plain)| space == plain);
        let plain = doubled.map(|(_, plain)| plain).filter(declared);
        Cow::Borrowed(
            plain
                .or_else(|| walk.heads().find_map(|form| form.worded(name)).filter(declared))
                .unwrap_or(name),
        )
    }

    /// Settles what is held before an opening: text, but for what the dialect writes between text and a call.
    pub(in crate::parse) fn settle_before(&mut self, io: &mut Io<'_>, opening: &Opening) {
        let start = io.at + opening.start;
        match opening.from {
            From::Text { .. } => {
                let fence = self.fence_before(io, start, false);
                self.text.fence.around_call = fence > 0;
                let leads = &io.plan.walks[opening.walk].dialect.leads;
                let held = &io.text[io.at..start - fence];
                let lead = leads.iter().filter(|lead| held.ends_with(lead.as_str())).map(String::len).max();
                self.say(io, start - fence - lead.unwrap_or(0));
            }
            From::Thought(_) => io.think(start),
            From::Gap => {}
        }
        io.at = start;
    }
}
