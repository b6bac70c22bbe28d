//! Marks in text that neither open a call nor begin anything: they are dropped, or talked about.

use super::known::Rest;
use super::plan::{Dropped, TextMark, Wrapper};
use super::{Engine, Fence, Flow, Io};
use crate::dialect::is_token;
use crate::fault::FaultKind;
use crate::scan::Match;

impl Engine {
    /// Drops a mark in text that neither opens nor makes up anything; none where it means nothing here. `code` says that it
    /// stands in code.
    pub(super) fn stray_mark(
        &mut self,
        io: &mut Io<'_>,
        hit: Match,
        mark: &TextMark,
        code: bool,
    ) -> Option<Flow> {
        let thinks = mark.thought_end.is_some() && self.text.undecided;
        if self.text.fence.told && mark.dropped != Some(Dropped::TurnEnd) && !thinks {
            return None;
        }
        let inside = self.call.last.is_some_and(|walk| mark.values.contains(&walk));
        if inside {
            self.doubt_calls(io, hit.start);
        }
        let closes = |walk: usize| {
            io.plan.walks[walk].closers().any(|(_, closer)| closer.read.contains(&mark.spelling))
        };
        if self.call.rest == Rest::Closer && self.call.last.is_some_and(closes) {
            self.doubt_last(io, hit.start);
        }
        let before = self.before(io, hit.start)[1];
        let talked = match (&mark.thought_end, mark.dropped) {
            (Some(_), _) if code => Some(!self.text.undecided),
            (Some(_), _) => self.is_sentence_about(io, hit),
            (_, Some(dropped)) => {
                let ends = matches!(dropped, Dropped::TurnEnd | Dropped::Edge);
                self.is_talked_about(io, hit, ends, code)
            }
            _ => Some(code),
        };
        match talked {
            None => return Some(self.hold(io, hit.start)),
            Some(true) => {
                // Nothing in it is a mark of its own.
                self.quotes.closed_to = self.quotes.closed_to.max(io.base + hit.end as u64);
                return None;
            }
            Some(false) => {}
        }
        let (fault, framing) = match (self.wrapper(mark), &mark.thought_end, mark.dropped) {
            (Some(framing), ..) => (None, framing),
            (_, Some(end), _) if end.prefilled && self.text.undecided => {
                self.was_thinking(io, hit, &end.before);
                return Some(Flow::Next);
            }
            // A token that ends turns as well as thinking: no one misses an opener.
            (_, Some(end), Some(Dropped::TurnEnd)) => (None, end.before.as_str()),
            (_, Some(end), _) => (Some(FaultKind::ReasoningNotOpened), end.before.as_str()),
            (.., Some(Dropped::Inside)) if !self.call.in_tool => return None,
            (.., Some(Dropped::Value)) if !inside && !self.text.fresh && before != b'\n' => return None,
            (.., Some(Dropped::Closer | Dropped::Inside | Dropped::Value)) => {
                (Some(FaultKind::OrphanMark), "")
            }
            (.., Some(Dropped::TurnEnd)) => (None, ""),
            (.., Some(Dropped::Edge)) if before != b' ' => (None, ""),
            _ => return None,
        };
        let framed = io.bytes[io.at..hit.start].ends_with(framing.as_bytes());
        self.say(io, hit.start - if framed { framing.len() } else { 0 });
        io.at = hit.end;
        io.rewind(hit.end);
        if let Some(kind) = fault {
            io.fault(kind, None, hit.start, hit.end);
            // What came before was thinking, whatever it went out as.
            self.text.fresh |= kind == FaultKind::ReasoningNotOpened;
        }
        self.resume_text();
        Some(Flow::Next)
    }

    /// Takes a mark as one around the answer, if it is one here: what belongs to it of the text before.
    fn wrapper<'m>(&mut self, mark: &'m TextMark) -> Option<&'m str> {
        let token = is_token(&mark.spelling);
        match mark.wrapper.as_ref()? {
            Wrapper::Begin if self.text.fresh => {
                self.text.wrapped = true;
                Some("")
            }
            Wrapper::Begin => (token && mark.thought_end.is_none()).then_some(""),
            Wrapper::End(framing) => {
                (std::mem::take(&mut self.text.wrapped) || token).then_some(framing.as_str())
            }
        }
    }

    /// The answer started inside thinking: its closing mark stands here, and no opening one came before.
    fn was_thinking(&mut self, io: &mut Io<'_>, hit: Match, framing: &str) {
        let framed = io.bytes[io.at..hit.start].ends_with(framing.as_bytes());
        io.think(hit.start - if framed { framing.len() } else { 0 });
        io.at = hit.end;
        io.rewind(hit.end);
        self.text.undecided = false;
        self.text.fence = Fence::default();
        self.text.fresh = true;
        self.text.noted = io.base + hit.end as u64;
        self.resume_text();
    }
}
