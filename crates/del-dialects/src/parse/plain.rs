//! Pieces that are nothing but a part of a text, a thought or a value: they go out as they come, and nothing else is looked
//! at.

use super::known::Prose;
use super::plan::Plan;
use super::{Engine, Meaning, State};
use crate::event::{Event, Sink};
use crate::scan::Scan;

/// Longer pieces are searched for marks, which is faster than looking at each byte.
const SHORT: usize = 32;

impl Engine {
    /// Passes on a piece in the middle of something; `text` are `held` bytes and that piece. Returns how much is settled,
    /// or none, with nothing done, where any of it could mean more.
    pub(super) fn pass_plain(
        &mut self,
        plan: &Plan,
        text: &str,
        held: usize,
        sink: &mut dyn Sink,
    ) -> Option<usize> {
        let used = match self.state {
            State::Text(scan) if text.len() <= SHORT => self.pass_prose(plan, scan, text, sink)?,
            State::Text(_) => return None,
            _ if held > 0 => return None,
            _ => self.pass_whole(plan, text, sink)?,
        };
        let position = &mut self.position;
        position.tail.push(&text.as_bytes()[..used]);
        position.base += used as u64;
        position.work += (text.len() - position.look) as u64;
        position.look = text.len() - used;
        Some(used)
    }

    /// Passes on a part of a value or of a thought, all of it or nothing.
    fn pass_whole(&mut self, plan: &Plan, text: &str, sink: &mut dyn Sink) -> Option<usize> {
        let span = self.position.base..self.position.base + text.len() as u64;
        match &mut self.state {
            State::Reading(reading) => {
                let json = reading.plain(&plan.walks[reading.walk], text, &self.turn.limits)?;
                match &mut self.call.meaning {
                    Meaning::Call => sink.event(Event::Args { call: self.call.number, json }, span),
                    Meaning::Answer(arguments) => arguments.push_str(json),
                    Meaning::Nothing => {}
                }
            }
            State::Thought { kind, scan }
                if scan.is_fresh()
                    && text.len() <= SHORT
                    && !text.bytes().any(|byte| plan.thoughts[*kind].marks.begins_with(byte)) =>
            {
                sink.event(Event::Reasoning(text), span);
            }
            _ => return None,
        }
        Some(text.len())
    }

    /// Passes on text in which nothing ends a line, and in or before which neither a mark nor code begins, up to what may
    /// begin a mark at its end. Returns how much is settled; none for any other text.
    fn pass_prose(&mut self, plan: &Plan, mut scan: Scan, text: &str, sink: &mut dyn Sink) -> Option<usize> {
        let (bytes, mut look) = (text.as_bytes(), self.position.look);
        if !self.text.is_underway(self.position.base) {
            return None;
        }
        let special = bytes.iter().any(|byte| plan.special[*byte as usize]);
        if special && bytes.iter().any(|byte| matches!(byte, b'`' | b'~' | b'\n')) {
            return None;
        }
        let (mut used, mut again) = (text.len(), 0);
        if !scan.is_fresh() || special && plan.text.may_begin_in(bytes) {
            if plan.text.find(&mut scan, bytes, &mut look, &mut again).is_some() {
                return None;
            }
            used -= plan.text.pending(&scan);
        }
        let prose = &text[..used];
        let lead = prose.as_bytes().last().is_some_and(|last| plan.lead_bytes.contains(last));
        if lead || text.len() - used > self.turn.limits.held || plan.headed && self.may_end_in_a_name(prose) {
            return None;
        }
        if let State::Text(at) = &mut self.state {
            *at = scan;
        }
        self.position.work += again;
        if used > 0 {
            let to = self.position.base + used as u64;
            self.text.pass_plain(prose.as_bytes(), to);
            self.quotes.unquoted = false;
            sink.event(Event::Text(prose), self.position.base..to);
        }
        Some(used)
    }
}

impl Prose {
    /// True in the middle of text that is nothing but text: it is noted up to `base`, and nothing waits for what comes.
    fn is_underway(&self, base: u64) -> bool {
        !(self.undecided || self.fresh || self.worded || self.fence.around_call) && self.noted <= base
    }

    /// A part of a line without code, up to `to`.
    fn pass_plain(&mut self, text: &[u8], to: u64) {
        let blank = text.iter().all(u8::is_ascii_whitespace);
        self.behind_call &= blank;
        self.fence.pass_plain(blank);
        self.noted = to;
    }
}
