//! Calls that begin with the name of a tool, and no mark before it.

use super::character::starts_name;
use super::opening::Opening;
use super::plan::{Headed, begins_a_name, may_be_named};
use super::{Engine, Flow, Io, State};
use crate::codec::reading::MAX_SPACE;
use crate::scan::{Match, is_word};
use crate::value::white_space;

impl Engine {
    /// The first word of an answer may be the name of a call that has no marks.
    pub(super) fn first_word(&mut self, io: &mut Io<'_>) -> Option<Flow> {
        let start = io.at + white_space(&io.bytes[io.at..]);
        let here = io.base + start as u64;
        if start - io.at > MAX_SPACE {
            self.tried.word = Some(u64::MAX);
            return None;
        }
        if start == io.bytes.len() {
            return (!io.last()).then_some(Flow::More);
        }
        if self.tried.word.is_some_and(|word| word >= here) {
            return None;
        }
        // Among all dialects nothing is held for a word that no tool is named by.
        let named = match may_be_named(&self.turn.tools, &io.text[start..]) {
            _ if io.plan.alone => true,
            None if !io.last() => return Some(Flow::More),
            named => named != Some(false),
        };
        self.tried.word = Some(here);
        if !named || !starts_name(io.text, start) {
            return None;
        }
        self.candidates.clear();
        self.candidates.extend(io.plan.words.iter().rev());
        let first = self.candidates.pop()?;
        let lead = start - io.at;
        io.rewind(start);
        io.look = start;
        self.state = State::Opening(Opening::in_text(first, io.plan, lead, lead, true));
        Some(Flow::Next)
    }

    /// A call without the marks before its name, which may stand right before the mark at hand.
    pub(super) fn headed(&mut self, io: &mut Io<'_>, hit: Match, headed: Headed) -> bool {
        let word = self.word_before(io, hit.start);
        if word == 0 {
            return false;
        }
        let start = hit.start - word;
        let lead = self.lead_before(io, start, false);
        self.pass(io, start - lead);
        let name = io.text[start..hit.start].trim_end();
        let here = io.base + hit.start as u64;
        let first = self.text.fresh || self.text.behind_call;
        let meant = match self.tool(name) {
            Some(_) if headed.line => first || self.before(io, start)[1] == b'\n',
            // Behind a tag that is not the dialect's own it is a part of that.
            Some(_) => first || (!headed.closer && self.before(io, start)[1] != b'>'),
            // Any other word before a mark may be talked about.
            None => first && !headed.closer && !headed.line && io.plan.walks[headed.walk].takes_fields(),
        };
        let code = self.text.fence.is_open() || self.text.fence.inline;
        let tried = self.tried.word.is_some_and(|word| word >= here);
        let fits = name.len() <= self.turn.limits.name && starts_name(name, 0);
        if !meant || code || tried || !fits {
            return false;
        }
        self.tried.word = Some(here);
        self.candidates.clear();
        io.rewind(start);
        let opening = Opening::named(headed.walk, headed.step, start - io.at, self.text.fresh);
        self.state = State::Opening(if headed.line { opening.unmarked() } else { opening });
        true
    }

    /// How long the word before `end` is that may be a name, with the end of a line behind it. A longer one than a name
    /// may be is not looked at as a whole.
    fn word_before(&self, io: &Io<'_>, end: usize) -> usize {
        let text = &io.bytes[io.at.min(end)..end];
        let line = usize::from(text.ends_with(b"\n"));
        let name = text[..text.len() - line].iter().rev().take(self.turn.limits.name + 1);
        match name.take_while(|byte| is_word(**byte)).count() {
            0 => 0,
            // The end of a word is no name.
            name if is_word(self.before(io, end - name - line)[1]) => 0,
            name => name + line,
        }
    }

    /// How many bytes before `end` may become the name of a call: what begins an answer, and the beginning of a declared name.
    pub(super) fn name_before(&self, io: &Io<'_>, end: usize) -> usize {
        let held = self.word_before(io, end);
        let name = io.text[end - held..end].trim_end();
        let nothing = white_space(&io.bytes[io.at..end - held]) == end - held - io.at;
        let first = nothing && (self.text.fresh || self.text.behind_call);
        if first || begins_a_name(&self.turn.tools, name) { held } else { 0 }
    }

    /// True where the last word may be the name of a call, or become it.
    pub(super) fn may_end_in_a_name(&self, text: &str) -> bool {
        let before = text.trim_end_matches(|c: char| u8::try_from(c).is_ok_and(is_word));
        let word = &text[before.len()..];
        // The end of a word is no name.
        let goes_on = before.is_empty() && is_word(self.position.tail.byte(1));
        !word.is_empty() && !goes_on && (self.text.behind_call || begins_a_name(&self.turn.tools, word))
    }
}
