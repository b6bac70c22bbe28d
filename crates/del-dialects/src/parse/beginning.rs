//! Where a call may begin in text: which of the walks that a mark opens are tried there, and how.

use super::channels::Origin;
use super::opening::Opening;
use super::plan::{Opener, Walk};
use super::tail::byte_before;
use super::trial::Around;
use super::{Engine, Flow, Io};
use crate::dialect::is_token;
use crate::scan::Match;

/// A place in text where a mark stands that opens calls.
struct Spot {
    start: usize,
    /// The end of the mark.
    end: usize,
    /// Nothing of the answer stands before it.
    fresh: bool,
    starts_line: bool,
    /// A sentence ends before it.
    announced: bool,
    /// An object may stand here, though a line begins elsewhere.
    behind_text: bool,
    /// A fence behind prose begins here, which is an example unless it is all there is.
    cites: bool,
    /// The same, or code in one.
    fenced: bool,
}

impl Engine {
    fn spot(&self, io: &Io<'_>, Match { start, end, .. }: Match, before: [u8; 2]) -> Spot {
        let fresh = self.text.fresh;
        let tail = &self.position.tail;
        // Behind a key in quotes it is data.
        let announced = match before {
            [b':', b' '] => !matches!(byte_before(io.bytes, tail, start, 3), b'"' | b'\''),
            [b'.' | b'!' | b'?', b' '] => true,
            _ => false,
        };
        let behind_object = matches!(before, [_, b'}'] | [b'}', b' ']);
        // Where one dialect is meant, its objects may follow a sentence, and any text where no name can be known.
        let bracket = matches!(&io.bytes[start..end], b"{" | b"[");
        let cites = !fresh && io.bytes[start] == b'`' && self.quotes.fence != Some(io.base + start as u64);
        Spot {
            start,
            end,
            fresh,
            starts_line: fresh || before[1] == b'\n',
            announced,
            behind_text: bracket && (announced || behind_object || self.takes_any_name(io.plan)),
            cites,
            fenced: cites || self.text.fence.is_open(),
        }
    }

    /// Whether a call may begin so at this place.
    fn fits(&self, io: &Io<'_>, spot: &Spot, opener: &Opener) -> bool {
        let (walk, here) = (&io.plan.walks[opener.walk], io.base + spot.start as u64);
        let begins = spot.starts_line
            || !opener.line_start
            || (spot.announced && opener.announced)
            || (spot.behind_text && walk.is_bare_object());
        // A walk that came by this mark before, and failed behind it, would fail again.
        begins
            && (spot.fresh || !walk.is_in_fence())
            && !(walk.is_bare() && (spot.fenced || here < self.tried.bare))
            && !(opener.is_worded(io.plan) && (spot.fenced || here < self.tried.proof))
            && !(opener.step.is_some() && self.tried.passed.contains(&(opener.walk, here)))
            && (opener.step.is_none()
                || !walk.is_inside()
                || self.call.in_tool
                || self.call.message == Some(here))
    }

    /// Takes those of `openers` that may begin a call here as candidates; false where more text decides.
    fn gather(&mut self, io: &Io<'_>, spot: &Spot, openers: &[Opener]) -> bool {
        self.candidates.clear();
        for opener in openers.iter().rev() {
            if !self.fits(io, spot, opener) {
                continue;
            }
            match opener.may_be_named(io.plan, &self.turn.tools, &io.text[spot.end..]) {
                // Whether a name follows may decide more than where the call begins.
                None if !io.last() => return false,
                Some(false) => {}
                _ => self.candidates.push(*opener),
            }
        }
        true
    }

    /// True for a fence behind prose that nothing opens as a call, where bare calls may stand in it.
    fn may_hold_calls(&self, io: &Io<'_>, spot: &Spot, openers: &[Opener]) -> bool {
        let walks = || openers.iter().map(|opener| &io.plan.walks[opener.walk]);
        let objects = || self.takes_any_name(io.plan) && walks().any(Walk::is_bare_object);
        spot.cites
            && spot.starts_line
            && self.candidates.is_empty()
            && !self.text.fence.is_open()
            && self.quotes.fence.is_none()
            && io.base + spot.start as u64 >= self.tried.bare
            && (objects() || (!self.turn.tools.is_empty() && walks().any(Walk::is_bare)))
    }

    /// Tries the calls that may begin with a mark in text; none where no call may.
    pub(super) fn open(
        &mut self,
        io: &mut Io<'_>,
        hit: Match,
        openers: &[Opener],
        before: [u8; 2],
    ) -> Option<Flow> {
        let (start, lead) = (hit.start, hit.start - io.at);
        if io.base + start as u64 >= self.tried.openings {
            self.tried.passed.clear();
        }
        let spot = self.spot(io, hit, before);
        if !self.gather(io, &spot, openers) {
            return Some(self.hold(io, start));
        }
        if self.may_hold_calls(io, &spot, openers) {
            self.try_fence(io, start);
            return Some(Flow::Next);
        }
        let first = self.candidates.pop()?;
        if io.plan.walks[first.walk].is_in_fence() && self.quotes.fence.is_none() {
            self.try_fence(io, start);
        } else if self.awaits_fence() {
            self.wait_for_fence(io, start);
        } else if let Some(quote) = self.quote_before(io, start) {
            self.try_in_words(io, start, Around::Quoted(quote));
        } else if self.is_behind_words(io, start) && !is_token(&io.text[start..hit.end]) {
            self.try_in_words(io, start, Around::Worded);
        } else if first.is_header(io.plan) {
            io.rewind(start);
            self.say(io, start);
            self.state = first.header(io.plan, Origin::Text, &io.text[start..hit.end]);
        } else {
            let opening = Opening::in_text(first, io.plan, lead, hit.end - io.at, spot.fresh);
            io.rewind(io.at + opening.token());
            self.begin_opening(io, opening, None);
        }
        Some(Flow::Next)
    }
}
