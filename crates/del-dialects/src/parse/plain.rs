//! Pieces that are nothing but a part of a text, a thought or a value: they go out as they come, and nothing else is looked
//! at.

use super::known::Prose;
use super::plan::Plan;
use super::{Engine, Meaning, State};
use crate::event::{Event, Sink};
use crate::scan::is_word;

/// Longer pieces are searched for marks, which is faster than looking at each byte.
const SHORT: usize = 32;

impl Engine {
    /// Passes on a piece in the middle of something. False, and nothing is done, where anything of it could mean more; so
    /// it is only asked where nothing is held.
    pub(super) fn pass_plain(&mut self, plan: &Plan, text: &str, sink: &mut dyn Sink) -> bool {
        let span = self.position.base..self.position.base + text.len() as u64;
        let named = plan.headed && matches!(self.state, State::Text(_)) && self.may_end_in_a_name(text);
        match &mut self.state {
            State::Reading(reading) => {
                let walk = &plan.walks[reading.walk];
                let Some(json) = reading.plain(walk, text, &self.turn.limits) else { return false };
                match &mut self.call.meaning {
                    Meaning::Call => sink.event(Event::Args { call: self.call.number, json }, span),
                    Meaning::Answer(arguments) => arguments.push_str(json),
                    Meaning::Nothing => {}
                }
            }
            State::Text(scan)
                if scan.is_fresh() && !named && self.text.pass_plain(plan, text.as_bytes(), span.end) =>
            {
                self.quotes.unquoted = false;
                sink.event(Event::Text(text), span);
            }
            State::Thought { kind, scan }
                if scan.is_fresh()
                    && text.len() <= SHORT
                    && !text.bytes().any(|byte| plan.thoughts[*kind].marks.begins_with(byte)) =>
            {
                sink.event(Event::Reasoning(text), span);
            }
            _ => return false,
        }
        self.position.tail.push(text.as_bytes());
        self.position.base += text.len() as u64;
        self.position.work += text.len() as u64;
        true
    }

    /// True where the last word may be the name of a call, or become it.
    fn may_end_in_a_name(&self, text: &str) -> bool {
        let before = text.trim_end_matches(|c: char| u8::try_from(c).is_ok_and(is_word));
        let word = &text[before.len()..];
        // The end of a word is no name.
        let goes_on = before.is_empty() && is_word(self.position.tail.byte(1));
        let may = || self.text.behind_call || self.turn.tools.iter().any(|tool| tool.name.starts_with(word));
        !word.is_empty() && !goes_on && may()
    }
}

impl Prose {
    /// Takes a piece, up to `to`, in which no mark and no code begins, no line ends, and behind which no mark could claim some
    /// of it. False for any other.
    fn pass_plain(&mut self, plan: &Plan, text: &[u8], to: u64) -> bool {
        let special = text.iter().any(|byte| plan.special[*byte as usize]);
        let code = || text.iter().any(|byte| matches!(byte, b'`' | b'~' | b'\n'));
        let waits = self.undecided || self.fresh || self.worded || self.fence.around_call;
        if text.len() > SHORT || waits || (special && (code() || !plan.text.is_absent(text))) {
            return false;
        }
        if text.last().is_some_and(|last| plan.lead_bytes.contains(last)) {
            return false;
        }
        let blank = text.iter().all(u8::is_ascii_whitespace);
        self.behind_call &= blank;
        self.fence.pass_plain(blank);
        self.noted = to;
        true
    }
}
