//! Text for the user: which marks stand in it, and what each of them means there. Results that the model invented.

use super::character::first_char;
use super::plan::{Dropped, MIN_NAMED, is_distinct, is_wordy};
use super::tail::before;
use super::{Engine, Flow, Io, State};
use crate::dialect::{is_plain_tag, is_token};
use crate::fault::FaultKind;
use crate::scan::{Match, Scan};

impl Engine {
    #[inline(never)]
    pub(super) fn text(&mut self, io: &mut Io<'_>) -> Flow {
        let plan = io.plan;
        if self.text.fence.around_call
            && let Some(flow) = self.fence_end(io)
        {
            return flow;
        }
        if self.text.fresh
            && !plan.words.is_empty()
            && let Some(flow) = self.first_word(io)
        {
            return flow;
        }
        loop {
            // At the start of an answer any mark may count, and any bracket where no name can be known.
            let anywhere = self.text.fresh || self.takes_any_name(plan);
            let (bytes, tail, tools) = (io.bytes, &self.position.tail, &self.turn.tools);
            let counts = |hit: Match| {
                let mark = &plan.marks[hit.pattern as usize];
                anywhere
                    || !mark.only_opens
                    || may_begin_line(before(bytes, tail, hit.start))
                    || mark.may_open(plan, tools, &io.text[hit.end..])
            };
            let State::Text(scan) = &mut self.state else { return Flow::Next };
            let text = plan.worded.as_ref().filter(|_| self.text.worded).unwrap_or(&plan.text);
            let mut hit = text.find_where(
                scan,
                io.ahead.get_or_insert_default(),
                bytes,
                &mut io.look,
                &mut io.again,
                counts,
            );
            if hit.is_none() && io.last() {
                hit = text.take(scan, &mut io.look, &mut io.again);
                // The end of a turn that goes on as a longer mark would, up to the end of the answer.
                if let Some(hit) = hit.filter(|hit| hit.end < io.text.len())
                    && plan.marks[hit.pattern as usize].dropped == Some(Dropped::TurnEnd)
                {
                    self.say(io, hit.start);
                    io.fault(FaultKind::OrphanMark, None, hit.start, io.text.len());
                    io.look = io.text.len();
                    io.at = io.look;
                    return Flow::More;
                }
                let short =
                    |hit: Match| hit.end - hit.start < MIN_NAMED && plan.holds_more(&io.text[hit.start..]);
                if let Some(hit) = hit.filter(|hit| hit.end < io.text.len())
                    && (plan.is_half(&io.text[hit.start..]) || short(hit))
                {
                    self.say(io, hit.start);
                    return Flow::More;
                }
            }
            let Some(hit) = hit else {
                let free = io.look - text.pending(scan);
                let free = if io.last() { free } else { free - self.held_before(io, free) };
                if io.last() {
                    self.say(io, free);
                } else {
                    self.pass(io, free);
                }
                return Flow::More;
            };
            if let Some(flow) = self.text_mark(io, hit) {
                return flow;
            }
            // Not what it looked like: the search goes on behind its first character, or behind all of it where it only
            // counts at the start of a line, as nothing in it does then.
            let line = plan.marks[hit.pattern as usize].is_line();
            io.rewind(if line { hit.end } else { hit.start + first_char(io.text, hit.start) });
            if let State::Text(scan) = &mut self.state {
                scan.restart();
            }
        }
    }

    /// How many bytes before `end` may belong to a call that begins behind them.
    fn held_before(&mut self, io: &Io<'_>, end: usize) -> usize {
        let lead = self.lead_before(io, end, true);
        match if io.plan.headed { self.name_before(io, end) } else { 0 } {
            0 => lead,
            word => lead.max(word + self.lead_before(io, end - word, false)),
        }
    }

    /// How many bytes before `end` are what stands between text and a call, or may become it: what a dialect writes there,
    /// and the line that opens a fence around the call.
    pub(super) fn lead_before(&mut self, io: &Io<'_>, end: usize, partial: bool) -> usize {
        let fence = self.fence_before(io, end, partial);
        fence + Self::written_before(io, end - fence, partial && fence == 0)
    }

    /// How many bytes before `end` are what a dialect writes between text and a call, or may become it.
    fn written_before(io: &Io<'_>, end: usize, partial: bool) -> usize {
        let text = &io.bytes[io.at.min(end)..end];
        if !text.last().is_some_and(|last| io.plan.lead_bytes.contains(last)) {
            return 0;
        }
        let fits = |lead: &String| {
            let lead = lead.as_bytes();
            if partial {
                (1..=lead.len()).rev().find(|len| text.ends_with(&lead[..*len])).unwrap_or(0)
            } else if text.ends_with(lead) {
                lead.len()
            } else {
                0
            }
        };
        io.plan.leads.iter().map(fits).max().unwrap_or(0)
    }

    /// What a mark in text means here; none when it means nothing.
    fn text_mark(&mut self, io: &mut Io<'_>, hit: Match) -> Option<Flow> {
        let plan = io.plan;
        let mark = &plan.marks[hit.pattern as usize];
        let before = self.before(io, hit.start);
        if let Some(headed) = mark.headed
            && self.headed(io, hit, headed)
        {
            return Some(Flow::Next);
        }
        let fence = self.fence_before(io, hit.start, false);
        let lead = fence + Self::written_before(io, hit.start - fence, false);
        self.pass(io, hit.start - lead);
        // The fence opens, even if its line is held.
        if fence > 0 {
            self.note(io, hit.start);
        }
        // What is held before the mark may end the line, and with it the code.
        if self.text.fence.inline && !io.bytes[hit.start - lead..hit.start].contains(&b'\n') {
            self.text.fence.call |= before[1] == b'`' && !mark.openers.is_empty();
            return None;
        }
        if self.is_mentioned(io, hit.start) {
            return None;
        }
        if self.is_quoted_line(io, hit.start) {
            self.tell(io, hit.start, hit.end);
            return None;
        }
        let header = mark.openers.iter().any(|opener| opener.is_header(plan));
        if !header && is_distinct(&mark.spelling) && self.may_be_mentioned(io, (hit.start, hit.end), None) {
            return Some(Flow::Next);
        }
        if !mark.openers.is_empty()
            && let Some(flow) = self.open(io, hit, &mark.openers, before)
        {
            return Some(flow);
        }
        if !mark.openers.is_empty() {
            self.tell(io, hit.start, hit.end);
        }
        // Thinking holds no other, so an answer that shows how it begins is none.
        let code = self.is_in_code(&mark.spelling);
        self.text.undecided &= !(code && mark.thought.is_some());
        let may_begin = !code && (self.text.fresh || !is_wordy(&mark.spelling));
        let begins = match mark.thought.filter(|_| may_begin) {
            Some(kind) if self.text.fresh => Some(kind),
            Some(kind) => match self.is_sentence_about(io, hit) {
                None => return Some(self.hold(io, hit.start)),
                Some(true) => {
                    self.tell(io, hit.start, hit.end);
                    return None;
                }
                Some(false) => Some(kind),
            },
            None => None,
        };
        if let Some(kind) = begins {
            self.say(io, hit.start);
            io.at = hit.end;
            io.rewind(hit.end);
            self.text.empty_to = io.base + hit.end as u64;
            self.state = State::Thought { kind, scan: Scan::default() };
            return Some(Flow::Next);
        }
        let makes_up = |walk: usize| plan.walks[walk].dialect.results.makes_up(&mark.spelling);
        // Words mean a result only behind a call, and among all dialects so does a tag of one plain word right behind one of
        // its own dialect; elsewhere people write them, and inside a line whatever is no token of markup.
        let told = match &mark.spelling {
            _ if code && self.call.last.is_none() => false,
            tag if !plan.alone && is_plain_tag(tag) => {
                self.text.behind_call && self.call.last.is_some_and(makes_up)
            }
            mark if self.call.last.is_none() && before[1] != b'\n' => self.text.fresh || is_token(mark),
            mark => self.call.last.is_some() || !is_wordy(mark),
        };
        if let Some(kind) = mark.invented.filter(|_| told) {
            // A sentence about results makes up none.
            let talked = if self.call.last.is_none() { self.is_sentence_about(io, hit) } else { Some(false) };
            match talked {
                None => return Some(self.hold(io, hit.start)),
                Some(true) => return None,
                Some(false) => {}
            }
            self.say(io, hit.start);
            io.at = hit.end;
            io.rewind(hit.end);
            io.fault(FaultKind::InventedResult, None, hit.start, hit.end);
            self.state = State::Invented { kind, scan: Scan::default() };
            return Some(Flow::Next);
        }
        self.stray_mark(io, hit, mark, code)
    }

    /// More text has to tell what the mark at `start` is.
    pub(super) fn hold(&mut self, io: &mut Io<'_>, start: usize) -> Flow {
        io.rewind(start);
        self.resume_text();
        Flow::More
    }

    pub(super) fn invented(&mut self, io: &mut Io<'_>) -> Flow {
        let plan = io.plan;
        let State::Invented { kind, scan } = &mut self.state else { return Flow::Next };
        let hit = plan.invented[*kind].find(scan, io.bytes, &mut io.look, &mut io.again);
        io.at = io.look - if hit.is_some() { 0 } else { plan.invented[*kind].pending(scan) };
        if hit.is_none() {
            return Flow::More;
        }
        self.resume_text();
        Flow::Next
    }
}

/// True where a mark that only counts at the start of a line may count: there, behind a sentence, another object or
/// the backtick of code.
fn may_begin_line(before: [u8; 2]) -> bool {
    matches!(before, [_, b'\n' | b'}' | b'`'] | [b':' | b'.' | b'!' | b'?' | b'}', b' '])
}
