//! Behind a call: what closes it, the next call, or text again.

use super::character::{first_char, is_name, starts_name};
use super::known::{OpenCall, Rest};
use super::opening::Opening;
use super::plan::{Body, Opener, Target, Then, Walk};
use super::{Engine, Flow, Io, State};
use crate::codec::reading::{MAX_SPACE, repeats};
use crate::dialect::Codec;
use crate::fault::FaultKind;
use crate::scan::{Anchored, Match, Scan};
use crate::tool::{declared, takes_some};
use crate::value::{is_member, white_space};

/// A member of an object shows within so many bytes that it is one.
const MEMBER: usize = 64;

/// A place behind a call.
#[derive(Debug, Clone)]
pub(super) struct Gap {
    pub(super) walk: usize,
    /// The first closing step that has not been passed.
    pub(super) step: usize,
    scan: Scan,
    /// Where the mark at hand begins, counted from the first held byte.
    token: usize,
    separated: bool,
    before: Before,
    /// The name in a closing mark, such as `</get_weather>`, was looked for.
    renamed: bool,
}

/// How the call before ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Before {
    Whole,
    /// Its last braces are missing: nothing but a mark follows it, or words may belong to it.
    Unbraced,
    /// It did not count, so nobody misses its closers.
    Broken,
}

impl Gap {
    pub(super) fn new(walk: usize, step: usize) -> Self {
        Self {
            walk,
            step,
            scan: Scan::default(),
            token: 0,
            separated: false,
            before: Before::Whole,
            renamed: false,
        }
    }

    /// Behind a call that did not count.
    pub(super) fn behind_broken(walk: usize, step: usize) -> Self {
        Self { before: Before::Broken, ..Self::new(walk, step) }
    }

    /// Behind a call whose last braces are missing.
    pub(super) fn behind_unbraced(walk: usize, step: usize) -> Self {
        Self { before: Before::Unbraced, ..Self::new(walk, step) }
    }

    /// True behind a call that counts.
    fn counts(&self) -> bool {
        self.before != Before::Broken
    }

    /// True when a mark between two calls was read.
    pub(super) fn is_separated(&self) -> bool {
        self.separated
    }

    /// True while a mark is half read.
    pub(super) fn is_in_mark(&self) -> bool {
        !self.scan.is_fresh()
    }

    /// Whether closers are missing here: those of the call, and those around a group.
    fn misses_closers(&self, walk: &Walk, call: &OpenCall) -> (bool, bool) {
        let own = self.counts() && self.step <= walk.close && walk.misses(self.step, walk.close);
        (own, call.in_block && walk.misses_block(self.step, walk.steps.len(), call.opened))
    }

    /// Passes the name in a closing mark: whether it is another one than `called`. None where more of it may come.
    fn pass_name(&mut self, walk: &Walk, called: &str, io: &mut Io<'_>) -> Option<bool> {
        if self.renamed || !walk.repeats_name(self.step) {
            return Some(false);
        }
        let start = io.look + white_space(&io.bytes[io.look..]);
        let mut end = start;
        while end < io.bytes.len() && end - io.look < MAX_SPACE && is_name(io.text, end) {
            end += first_char(io.text, end);
        }
        if end == io.bytes.len() && !io.last() {
            return None;
        }
        (io.look, io.at) = (end, end);
        self.renamed = true;
        Some(start < end && io.text[start..end] != *called)
    }

    /// Whether arguments seem to go on at hand, so that they ended too early; none where more text decides.
    fn goes_on(&self, walk: &Walk, unclosed: bool, io: &mut Io<'_>) -> Option<bool> {
        if matches!(walk.dialect.codec(), Codec::Fields(_) | Codec::Lines(_)) {
            return Some(false);
        }
        match &io.bytes[io.look..] {
            // A member, also behind a closer: that stood in the middle of the call.
            [b','] | [b',', b' '] if !io.last() => None,
            [b',', b'"', ..] | [b',', b' ', b'"', ..] => Some(true),
            [b'"', ..] if self.separated && io.bytes.len() - io.look < MEMBER && !io.last() => None,
            [b'"', rest @ ..]
                if self.separated && is_member(&io.bytes[io.look..][..MEMBER.min(rest.len() + 1)]) =>
            {
                Some(true)
            }
            _ if walk.is_closed(self.step) => Some(false),
            [b'"' | b'\'' | b':' | b'{', ..] => Some(true),
            [b',', b' ', next, ..] | [b',', next, ..] => {
                Some(matches!(next, b'"' | b'\'' | b'_' | b'{') || next.is_ascii_alphabetic())
            }
            [b'<'] if !io.last() => None,
            // Markup stands where the closer of the call is missing: it may belong to the call.
            [b'<', next, ..] if next.is_ascii_alphabetic() && unclosed => {
                let mut look = io.look;
                match io.plan.text.follow(&mut Scan::default(), io.bytes, &mut look, &mut io.again) {
                    Anchored::More if !io.last() => None,
                    Anchored::Found(hit) => Some(!io.plan.marks[hit.pattern as usize].is_told()),
                    _ => Some(true),
                }
            }
            // Where no mark tells a call it has its line to itself: a sentence that goes on may have talked about it.
            [byte, ..] if walk.is_bare() || walk.begins_line() => {
                let goes_on = byte.is_ascii_alphanumeric() || *byte >= 0x80 || b".,:;!?(){[".contains(byte);
                Some(goes_on && !io.bytes[io.at..io.look].contains(&b'\n'))
            }
            _ => Some(false),
        }
    }

    /// What stands behind the white space here; none where there is too much of it.
    fn follow(&mut self, walk: &Walk, io: &mut Io<'_>) -> Option<Anchored> {
        if self.scan.is_fresh() {
            let from = io.look;
            let fits = io.pass_space(io.at);
            self.separated |= walk.dialect.between == "\n" && io.bytes[from..io.look].contains(&b'\n');
            if !fits {
                return None;
            }
        }
        Some(io.follow(&walk.expected().sites[self.step].marks, &mut self.scan, &mut self.token))
    }
}

/// Whether what stands at hand may begin arguments: an object, or a tag. None where more text decides.
fn begins_arguments(io: &Io<'_>) -> Option<bool> {
    // Brackets that close nothing.
    const MOST: usize = 8;
    let rest = &io.bytes[io.look..];
    let stray = |byte: &&u8| byte.is_ascii_whitespace() || b">})]".contains(byte);
    match &rest[rest.iter().take(MOST).take_while(stray).count()..] {
        [] | [b'<'] if !io.last() => None,
        [b'<', next, ..] => Some(next.is_ascii_alphabetic()),
        rest => Some(rest.starts_with(b"{")),
    }
}

impl Engine {
    #[inline(never)]
    pub(super) fn gap(&mut self, io: &mut Io<'_>) -> Flow {
        let plan = io.plan;
        loop {
            let State::Gap(gap) = &mut self.state else { return Flow::Next };
            let walk = &plan.walks[gap.walk];
            match gap.pass_name(walk, &self.call.name, io) {
                None => return Flow::More,
                Some(true) if self.call.empty => {
                    self.doubt_last(io, io.look);
                    continue;
                }
                Some(_) => {}
            }
            let Some(found) = gap.follow(walk, io) else { return self.leave(io) };
            let settled = match found {
                Anchored::More => Some(Flow::More),
                Anchored::Found(hit) => self.at_a_mark(io, hit),
                Anchored::Nothing => self.without_a_mark(io),
            };
            if let Some(flow) = settled {
                return flow;
            }
        }
    }

    /// Behind a call stands this mark; none where the place behind it is one as well.
    fn at_a_mark(&mut self, io: &mut Io<'_>, hit: Match) -> Option<Flow> {
        let State::Gap(gap) = &mut self.state else { return None };
        let walk = &io.plan.walks[gap.walk];
        match walk.expected().sites[gap.step].targets[hit.pattern as usize] {
            Target::Step(step) => {
                let call = walk.misses(gap.step, step.min(walk.close).max(gap.step));
                let block = self.call.in_block && walk.misses_block(gap.step, step, self.call.opened);
                let (number, missing) = (gap.walk, gap.counts() && (call || block));
                if step >= walk.close {
                    self.call.in_block &= walk.misses_block(step + 1, walk.steps.len(), self.call.opened);
                }
                let before = if gap.counts() { Before::Whole } else { Before::Broken };
                *gap = Gap { before, ..Gap::new(gap.walk, step + 1) };
                if missing {
                    self.miss(io, number, call, hit.start);
                }
                io.at = hit.end;
                io.rewind(hit.end);
                None
            }
            Target::Header | Target::Other => {
                self.miss_closers(io);
                io.at = hit.start;
                io.rewind(hit.start);
                self.resume_text();
                Some(Flow::Next)
            }
            Target::Separator => {
                gap.separated = true;
                gap.scan = Scan::default();
                None
            }
            Target::Opener { .. } if self.closes_again(io, hit.start).is_none() => {
                io.rewind(hit.start);
                if let State::Gap(gap) = &mut self.state {
                    gap.scan = Scan::default();
                }
                Some(Flow::More)
            }
            Target::Opener { block, step } => Some(self.next_call(io, hit.start, block, Some((step, hit)))),
            _ => Some(self.next_call(io, hit.start, false, None)),
        }
    }

    /// Behind a call stands no mark that may; none where the place behind it is one as well.
    fn without_a_mark(&mut self, io: &mut Io<'_>) -> Option<Flow> {
        let State::Gap(gap) = &mut self.state else { return None };
        let walk = &io.plan.walks[gap.walk];
        io.rewind(io.at + gap.token);
        gap.scan = Scan::default();
        let byte = io.bytes[io.look];
        let next = match walk.expected().sites[gap.step].then {
            Then::Args => byte == b'{',
            Then::Head(_) => gap.separated && gap.step <= walk.close && starts_name(io.text, io.look),
            Then::Nothing => false,
        };
        if next {
            return Some(self.next_call(io, io.look, false, None));
        }
        let number = gap.walk;
        // A text in a list of calls, or a member of the call before, which then ended too early.
        let listed = gap.separated && self.call.in_block && gap.step <= walk.close;
        if byte == b'"' && listed && !walk.is_bare() && walk.body == Body::Call {
            if io.bytes.len() - io.look < MEMBER && !io.last() {
                return Some(Flow::More);
            }
            if is_member(&io.bytes[io.look..io.bytes.len().min(io.look + MEMBER)]) {
                self.doubt_calls(io, io.look);
            }
            io.fault(FaultKind::BadCall, None, io.look, io.look + 1);
            self.state = State::Rescue { walk: number, scan: Scan::default(), skip: None };
            return Some(Flow::Next);
        }
        if walk.expected().echo.is_some() && gap.step == walk.steps.len() && byte == b'[' {
            return Some(self.begin_echo(io, number));
        }
        // A bracket too many.
        let json = !matches!(walk.dialect.codec(), Codec::Fields(_) | Codec::Lines(_));
        if json && gap.token == 0 && matches!(byte, b'}' | b']') {
            io.fault(FaultKind::OrphanMark, None, io.look, io.look + 1);
            io.look += 1;
            io.at = io.look;
            return None;
        }
        if gap.before == Before::Unbraced {
            let mut look = io.look;
            match io.plan.text.follow(&mut Scan::default(), io.bytes, &mut look, &mut io.again) {
                Anchored::More if !io.last() => return Some(Flow::More),
                Anchored::Found(hit) if io.plan.marks[hit.pattern as usize].is_markup(io.plan) => {}
                _ => self.doubt_last(io, io.look),
            }
        }
        if self.call.empty && takes_some(self.tool(&self.call.name)) {
            match begins_arguments(io) {
                None => return Some(Flow::More),
                Some(true) => self.doubt_last(io, io.look),
                Some(false) => {}
            }
        }
        let State::Gap(gap) = &self.state else { return None };
        let unclosed = gap.counts() && gap.misses_closers(walk, &self.call) != (false, false);
        match gap.goes_on(walk, unclosed, io) {
            None => return Some(Flow::More),
            Some(true) => self.doubt_calls(io, io.look),
            Some(false) => {}
        }
        Some(self.leave(io))
    }

    /// The closer of the call may stand at `at` once more, or that of an argument: then the call may have ended inside a value
    /// that quotes another one, and is doubted. None where more text decides.
    fn closes_again(&mut self, io: &mut Io<'_>, at: usize) -> Option<()> {
        let State::Gap(gap) = &self.state else { return Some(()) };
        let walk = &io.plan.walks[gap.walk];
        let Some(closer) = walk.named_closer().filter(|_| gap.step > walk.args + 1) else { return Some(()) };
        let rest = &io.text[at..];
        let again = match rest.strip_prefix(closer) {
            Some(rest) => {
                let tool = self.tool(&self.call.name);
                let names = tool.into_iter().flat_map(declared).chain([self.call.name.as_str()]);
                let again: Vec<Option<bool>> = names.map(|name| repeats(name, rest, io.last())).collect();
                again.contains(&Some(true)) || (!again.contains(&None)).then_some(false)?
            }
            None if closer.starts_with(rest) && !io.last() => return None,
            None => false,
        };
        if again {
            self.doubt_calls(io, at);
        }
        Some(())
    }

    /// The next call seems to open at `at`, where the mark of this step stands, or none.
    fn next_call(&mut self, io: &mut Io<'_>, at: usize, block: bool, mark: Option<(usize, Match)>) -> Flow {
        let State::Gap(gap) = &self.state else { return Flow::Next };
        let walk = &io.plan.walks[gap.walk];
        let closes_block = block && self.call.in_block;
        let end = if closes_block { walk.steps.len() } else { walk.close };
        let number = gap.walk;
        if gap.counts() && gap.step < end && walk.misses(gap.step, end) {
            self.miss(io, number, gap.step < walk.close, at);
        }
        self.call.in_block &= !block;
        let start = at - io.at;
        // The next call may be of another form of the same dialect, but for one that is all of an answer.
        self.candidates.clear();
        let others = walk.forms.clone().rev().filter(|other| *other != number);
        let others = others.filter(|other| !io.plan.walks[*other].is_in_fence());
        self.candidates.extend(others.map(Opener::of));
        self.begin_opening(io, Opening::after(number, start), mark)
    }

    /// Back to text: what was held is the user's.
    pub(super) fn leave(&mut self, io: &mut Io<'_>) -> Flow {
        if let State::Gap(gap) = &self.state
            && gap.counts()
            && self.call.rest == Rest::Nothing
        {
            let walk = &io.plan.walks[gap.walk];
            let group = self.call.in_block || gap.step > walk.close;
            let end = if group { walk.steps.len() } else { walk.close };
            if !walk.is_closed(gap.step) && walk.has_closers(gap.step, end) {
                self.call.rest = Rest::Closer;
            }
        }
        self.miss_closers(io);
        self.text.behind_call = true;
        io.rewind(io.at);
        self.state = match self.text.around.take() {
            Some(kind) => State::Thought { kind, scan: Scan::default() },
            None => State::Text(Scan::default()),
        };
        Flow::Next
    }

    /// Notes closers that are not there; false when none is missing.
    pub(super) fn miss_closers(&mut self, io: &mut Io<'_>) -> bool {
        let State::Gap(gap) = &self.state else { return false };
        let walk = &io.plan.walks[gap.walk];
        let (call, block) = gap.misses_closers(walk, &self.call);
        if call || block {
            let number = gap.walk;
            self.miss(io, number, call, io.at);
        }
        self.call.in_block = false;
        call || block
    }

    /// Tells that closers are missing at `at`. Where those of the call itself are, a tag with attributes may hold more.
    fn miss(&mut self, io: &mut Io<'_>, walk: usize, own: bool, at: usize) {
        io.fault(FaultKind::MissingCloser, None, at, at);
        let codec = io.plan.walks[walk].dialect.codec();
        if own && matches!(codec, Codec::Fields(form) if form.is_quoted() && form.open.is_empty()) {
            self.doubt_last(io, at);
        }
    }
}
