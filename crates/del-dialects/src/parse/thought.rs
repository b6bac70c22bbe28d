//! Inside thinking: its end, what is dropped in it, and calls that begin there.

use super::channels::Origin;
use super::opening::Opening;
use super::plan::Role;
use super::{Engine, Flow, Io, State};
use crate::dialect::is_token;
use crate::fault::FaultKind;
use crate::parse::character::first_char;
use crate::scan::{Match, Scan};

impl Engine {
    #[inline(never)]
    pub(super) fn thought(&mut self, io: &mut Io<'_>) -> Flow {
        let plan = io.plan;
        loop {
            let State::Thought { kind, scan } = &mut self.state else { return Flow::Next };
            let kind = *kind;
            let thought = &plan.thoughts[kind];
            let mut hit = thought.marks.find(scan, io.bytes, &mut io.look, &mut io.again);
            if hit.is_none() && io.last() {
                hit = thought.marks.take(scan, &mut io.look, &mut io.again);
            }
            let Some(hit) = hit else {
                let free = io.look - thought.marks.pending(scan);
                io.think(free);
                return Flow::More;
            };
            let here = io.base + hit.start as u64;
            let role = thought.role(hit.pattern);
            let token = is_token(&io.text[hit.start..hit.end]);
            let counts = match role {
                Role::Mark => true,
                Role::TurnEnd => match self.is_talked_about(io, hit, true, false) {
                    None => {
                        io.think(hit.start);
                        io.rewind(hit.start);
                        self.state = State::Thought { kind, scan: Scan::default() };
                        return Flow::More;
                    }
                    Some(talked) => !talked,
                },
                // A token of the model's markup opens nothing anew, and is no word of a thought.
                Role::Begin => here == self.text.empty_to || (token && !self.is_code(io, hit.start)),
                Role::Edge => self.before(io, hit.start)[1] != b' ',
            };
            if !counts || self.is_mentioned(io, hit.start) {
                io.rewind(hit.start + first_char(io.text, hit.start));
                self.state = State::Thought { kind, scan: Scan::default() };
                continue;
            }
            let openers = &thought.openers[hit.pattern as usize];
            let header = openers.iter().any(|opener| opener.is_header(plan));
            if !header && self.may_be_mentioned(io, (hit.start, hit.end), Some(kind)) {
                return Flow::Next;
            }
            if role != Role::Mark {
                self.drop_in_thought(io, hit, kind, role);
                continue;
            }
            if openers.is_empty() {
                io.think(hit.start);
                io.at = hit.end;
                io.rewind(hit.end);
                self.resume_text();
                return Flow::Next;
            }
            let before = self.before(io, hit.start);
            let quoted = if header { self.is_code(io, hit.start) } else { before[1] == b'`' };
            let fits =
                openers.iter().rev().filter(|opener| !quoted && (!opener.line_start || before[1] == b'\n'));
            self.candidates.clear();
            self.candidates.extend(fits);
            let Some(first) = self.candidates.pop() else {
                io.rewind(hit.start + first_char(io.text, hit.start));
                self.state = State::Thought { kind, scan: Scan::default() };
                continue;
            };
            io.think(hit.start);
            self.state = if first.is_header(plan) {
                io.rewind(hit.start);
                first.header(plan, Origin::Thought(kind), &io.text[hit.start..hit.end])
            } else {
                let opening = Opening::in_thought(first, plan, hit.end - io.at, kind);
                io.rewind(io.at + opening.token());
                State::Opening(opening)
            };
            return Flow::Next;
        }
    }

    /// True for a mark behind a backtick, or behind one that is open on its line.
    fn is_code(&mut self, io: &mut Io<'_>, start: usize) -> bool {
        self.before(io, start)[1] == b'`' || self.open_quote(io, start) == Some(b'`')
    }

    /// Drops a mark that neither ends thinking nor opens a call.
    fn drop_in_thought(&mut self, io: &mut Io<'_>, hit: Match, kind: usize, role: Role) {
        io.think(hit.start);
        if role == Role::Begin {
            io.fault(FaultKind::OrphanMark, None, hit.start, hit.end);
        }
        if io.base + hit.start as u64 == self.text.empty_to {
            self.text.empty_to = io.base + hit.end as u64;
        }
        io.at = hit.end;
        io.rewind(hit.end);
        self.state = State::Thought { kind, scan: Scan::default() };
    }
}
