//! The beginning of a call: nothing of it is settled before it is sure that it is one.

mod commit;
mod failed;
mod seen;
mod site;
mod strict;

use super::body::Reading;
use super::gap::Gap;
use super::plan::{Body, Opener, Plan, Target, Walk, bit};
use super::{Engine, Flow, Io, State};
use crate::dialect::Codec;
use crate::fault::FaultKind;
use crate::scan::Scan;
use crate::tool::has_required;
use site::{Settled, head, site, tag};

/// A place where a call may begin. Offsets count from the first byte that is held.
#[derive(Debug, Clone, Copy)]
pub(super) struct Opening {
    /// The walk that is being tried; those that are still to try are the engine's `candidates`.
    pub(super) walk: usize,
    /// Where the call's markup would begin; what is held before it is framing, if the call is one.
    start: usize,
    /// Where the mark ends that it was found by.
    found: usize,
    from: From,
    place: Place,
    /// The first step that has not been passed.
    step: usize,
    scan: Scan,
    /// Where the mark at hand begins.
    token: usize,
    /// A whole mark has been passed, so this is no ordinary text.
    pub(super) marked: bool,
    block: bool,
    /// The steps of the block's opening that were passed, a bit each.
    pub(super) opened: u32,
    missed: bool,
    name: Option<(usize, usize)>,
    id: Option<(usize, usize)>,
    /// No attributes of the tag that holds the name are to be looked for any more.
    bare_tag: bool,
    /// The head is half of what it should be: it names nothing but a tool that is known.
    doubted: bool,
    /// The walk that came furthest of those that failed, and how far: what it passed is surely markup.
    broken: Option<(usize, usize)>,
    /// One of those that failed was a whole call but for its name, which is none of a declared tool.
    pub(super) undeclared: bool,
}

/// Where an opening was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum From {
    /// In text; at the start of the answer or behind some.
    Text { fresh: bool },
    /// In thinking of this kind.
    Thought(usize),
    /// Behind a call.
    Gap,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    /// At the site of `step`.
    Site,
    /// In the head of this step.
    Head(usize),
    /// In other attributes of the tag that holds the name.
    Tag,
}

impl Opening {
    pub(super) fn in_text(opener: Opener, plan: &Plan, start: usize, found: usize, fresh: bool) -> Self {
        Self::at(opener, plan, start, found, From::Text { fresh })
    }

    pub(super) fn in_thought(opener: Opener, plan: &Plan, found: usize, kind: usize) -> Self {
        Self::at(opener, plan, 0, found, From::Thought(kind))
    }

    pub(super) fn after(walk: usize, start: usize) -> Self {
        Self::new(walk, start, start, From::Gap)
    }

    /// A call that a header announced; the header begins at the first held byte.
    pub(super) fn behind_header(walk: usize) -> Self {
        Self { marked: true, ..Self::new(walk, 0, 0, From::Gap) }
    }

    /// A call whose name begins at `start`, without the marks before it.
    pub(super) fn named(walk: usize, step: usize, start: usize, fresh: bool) -> Self {
        let opening = Self::new(walk, start, start, From::Text { fresh });
        Self { place: Place::Head(step), step, missed: true, ..opening }
    }

    /// The same, where no marks are written before the name.
    pub(super) fn unmarked(self) -> Self {
        Self { missed: false, ..self }
    }

    fn new(walk: usize, start: usize, found: usize, from: From) -> Self {
        Self {
            walk,
            start,
            found,
            from,
            place: Place::Site,
            step: 0,
            scan: Scan::default(),
            token: start,
            marked: false,
            block: false,
            opened: 0,
            missed: false,
            name: None,
            id: None,
            bare_tag: false,
            doubted: false,
            broken: None,
            undeclared: false,
        }
    }

    /// An opening that was found by a mark: reading goes on at its `token`.
    fn at(opener: Opener, plan: &Plan, start: usize, found: usize, from: From) -> Self {
        let mut opening = Self::new(opener.walk, start, found, from);
        if let Some(step) = opener.step {
            opening.pass(&plan.walks[opener.walk], step, found);
        }
        opening
    }

    /// The same for a walk that reads alike what was passed, which is not read again.
    fn as_read_by(&self, opener: Opener, plan: &Plan) -> Option<Self> {
        let [mine, theirs] = [self.walk, opener.walk].map(|walk| plan.walks[walk].steps.get(..self.step));
        let found = opener.step.is_some_and(|step| self.opened & bit(step) != 0);
        let alike = found && self.place == Place::Site && self.name.is_some() && mine? == theirs?;
        alike.then(|| Self { walk: opener.walk, scan: Scan::default(), bare_tag: false, ..*self })
    }

    /// The mark of `step` was there, and ends at `behind`.
    fn pass(&mut self, walk: &Walk, step: usize, behind: usize) {
        self.missed |= walk.misses(self.step, step);
        self.marked = true;
        self.block |= step < walk.call && walk.is_written(step);
        self.opened |= bit(step);
        if walk.head(step).is_some() {
            self.enter(step, behind);
            self.place = Place::Head(step);
        } else {
            self.enter(step + 1, behind);
        }
    }

    fn enter(&mut self, step: usize, token: usize) {
        self.place = Place::Site;
        self.step = step;
        self.scan = Scan::default();
        self.token = token;
    }
}

impl Engine {
    #[inline(never)]
    pub(super) fn opening(&mut self, io: &mut Io<'_>) -> Flow {
        let plan = io.plan;
        loop {
            let State::Opening(opening) = &mut self.state else { return Flow::Next };
            let walk = &plan.walks[opening.walk];
            let settled = match opening.place {
                Place::Site => site(opening, walk, io, &mut self.tried.passed),
                Place::Head(step) => head(opening, walk, step, io, &self.turn),
                Place::Tag => tag(opening, io),
            };
            match settled {
                Settled::More if io.last() => return self.unfinished_opening(io),
                Settled::More => return Flow::More,
                Settled::On => {}
                Settled::Nothing => {
                    let opening = *opening;
                    return self.try_next(io, opening);
                }
                Settled::Malformed | Settled::Nameless if opening.is_worded(plan) || walk.needs_declared => {
                    let opening = *opening;
                    return self.try_next(io, opening);
                }
                Settled::Malformed => {
                    let opening = *opening;
                    // Behind a call of one dialect comes one of another.
                    let sure = walk.alone || self.is_broken_call(io, &opening, io.at + opening.token);
                    if opening.from == From::Gap && !sure {
                        return self.try_next(io, opening);
                    }
                    return self.malformed(io, opening);
                }
                Settled::Nameless => {
                    let opening = *opening;
                    // An object may be the call in another form, and behind a call of one dialect comes one of another.
                    let object = io.bytes.get(io.at + opening.token) == Some(&b'{');
                    let other = opening.from == From::Gap && !walk.alone;
                    let form = object && (!self.candidates.is_empty() || !walk.alone);
                    // Where calls need no mark, one before an object does not say that the object is one.
                    let bare = walk.is_bare() && walk.takes_object();
                    if other || form || bare || self.is_in_words(io, &opening) {
                        return self.try_next(io, opening);
                    }
                    return self.nameless(io, opening);
                }
                Settled::Empty(step) => return self.empty(io, step),
                Settled::Again(start) => return self.start_over(io, start),
                Settled::Body(target) => return self.begin(io, target),
            }
        }
    }

    /// Something else stands where the arguments should begin. Another dialect may know it, and in a sentence the mark
    /// was talked about; otherwise the call began, and is broken.
    fn malformed(&mut self, io: &mut Io<'_>, opening: Opening) -> Flow {
        // Behind a bare name only a tool that is known makes it more than the beginning of a sentence.
        let walk = &io.plan.walks[opening.walk];
        let named = opening
            .name
            .is_some_and(|(_, end)| io.text[io.at + end..io.at + opening.token].trim().is_empty());
        let doubtful = (walk.skips(opening.step, walk.args) || walk.is_loose())
            && named
            && opening.name(io).and_then(|name| self.tool(name)).is_none();
        let told = walk.is_told(opening.opened);
        if !self.candidates.is_empty() || self.in_a_sentence(io, io.at + opening.start) || doubtful || !told {
            return self.try_next(io, opening);
        }
        let Some(name) = opening.called(io) else { return self.nameless(io, opening) };
        // Among all dialects a word behind the mark, and then no arguments, is no name but of a tool that is known.
        if !walk.alone && !self.turn.tools.is_empty() && self.tool(name).is_none() {
            return self.try_next(io, opening);
        }
        if !self.commit(io, &opening, name, opening.id(io)) {
            return Flow::Next;
        }
        self.begin_reading(Reading::new(opening.walk, walk, true, self.turn.limits.depth));
        self.break_call(io, FaultKind::BadArguments)
    }

    /// A call begins here for sure, and has no name.
    pub(super) fn nameless(&mut self, io: &mut Io<'_>, opening: Opening) -> Flow {
        self.settle_before(io, &opening);
        io.fault(FaultKind::BadCall, None, io.at, io.look);
        io.at = io.look;
        self.state = State::Rescue { walk: opening.walk, scan: Scan::default(), skip: None };
        Flow::Next
    }

    /// The markup that was read so far is closed by `step`, with nothing in it.
    fn empty(&mut self, io: &mut Io<'_>, step: usize) -> Flow {
        let State::Opening(opening) = self.state else { return Flow::Next };
        self.say_before(io, &opening);
        let in_call = opening.step > io.plan.walks[opening.walk].call;
        let kind = if in_call { FaultKind::BadCall } else { FaultKind::OrphanMark };
        io.fault(kind, None, io.at, io.look);
        io.at = io.look;
        self.state = match opening.from {
            From::Thought(kind) => State::Thought { kind, scan: Scan::default() },
            _ => State::Gap(Gap::behind_broken(opening.walk, step + 1)),
        };
        Flow::Next
    }

    /// The markup that was read so far is repeated at `start`: there the call begins, if anywhere.
    fn start_over(&mut self, io: &mut Io<'_>, start: usize) -> Flow {
        let State::Opening(opening) = self.state else { return Flow::Next };
        // In a sentence a word behind the mark that names no tool goes on with it.
        let words = self.stands_in_words(io, io.at + opening.start)
            && opening.name(io).is_some_and(|name| self.tool(name).is_none());
        self.say_before(io, &opening);
        match opening.from {
            From::Thought(_) if words => io.think(start),
            From::Text { .. } if words => self.say(io, start),
            _ => io.fault(FaultKind::OrphanMark, None, io.at, start),
        }
        io.at = start;
        io.rewind(start);
        self.state = match opening.from {
            From::Thought(kind) => State::Thought { kind, scan: Scan::default() },
            _ => State::Text(Scan::default()),
        };
        Flow::Next
    }

    /// Settles what is held before markup that begins no call, to the byte.
    fn say_before(&mut self, io: &mut Io<'_>, opening: &Opening) {
        let start = io.at + opening.start;
        match opening.from {
            From::Thought(_) => io.think(start),
            From::Text { .. } => self.say(io, start),
            From::Gap => {}
        }
        io.at = start;
    }

    /// A call begins for sure, or for as much as can be said before its object is read.
    fn begin(&mut self, io: &mut Io<'_>, target: Option<Target>) -> Flow {
        let State::Opening(opening) = self.state else { return Flow::Next };
        let number = opening.walk;
        let walk = &io.plan.walks[number];
        let raw = matches!(walk.dialect.codec(), Codec::Raw { .. } | Codec::Lines(_));
        let object = match (walk.body, target) {
            (Body::Fields, None) => !raw && io.bytes.get(io.look) == Some(&b'{'),
            (body, _) => body == Body::Object,
        };
        let start = io.base + (io.at + opening.start) as u64;
        let most = if walk.is_bare() { u64::MAX } else { self.tried.nameless.limit(start) };
        if object && opening.name.is_none() && walk.dialect.tool.is_none() && walk.takes_object() {
            let reading = Reading::unnamed(number, self.turn.limits.depth);
            self.begin_reading(reading.pending(opening, io.look - io.at, most));
            return Flow::Next;
        }
        let closed = matches!(target, Some(Target::Closer(_)));
        let waits = match walk.body {
            Body::Call | Body::Literals => !object,
            Body::Fields => !object && !closed && walk.begins_with_key(),
            Body::Object => false,
        };
        let reading = self.read_whole(io, number, object, if waits { most } else { u64::MAX });
        // In a sentence, a tag without the arguments that its tool requires is talked about.
        let bare = closed && self.in_a_sentence(io, io.at + opening.start);
        let meant = |name| self.tool(name).is_some_and(|tool| !bare || has_required(tool, |_| false));
        if walk.needs_declared && opening.called(io).is_some_and(|name| !meant(name)) {
            return self.try_next(io, opening);
        }
        if waits {
            self.begin_reading(reading.pending(opening, io.look - io.at, most));
            return Flow::Next;
        }
        let called = opening.called(io);
        // A tag without arguments, and without the marks around it, is one of any document.
        let alone = closed && opening.missed && opening.from != From::Gap && !self.turn.tools.is_empty();
        if alone && called.is_some_and(|name| self.tool(name).is_none()) {
            return self.try_next(io, opening);
        }
        let to_user = self.call.message == Some(start);
        if to_user && called.is_none_or(|name| self.tool(name).is_none()) {
            return self.leave_to_user(io, &opening);
        }
        self.call.in_tool |= to_user;
        let known = |name: &&str| !opening.doubted || self.tool(name).is_some();
        let Some(name) = called.filter(known) else { return self.nameless(io, opening) };
        if !self.commit(io, &opening, name, opening.id(io)) {
            return Flow::Next;
        }
        if let Some(Target::Closer(step)) = target {
            self.send_arguments(io, "{}");
            self.end_call(io, number, step + 1);
        } else {
            self.begin_reading(reading);
        }
        Flow::Next
    }

    /// What begins a message to the user calls no tool that is declared: it is what the message says.
    fn leave_to_user(&mut self, io: &mut Io<'_>, opening: &Opening) -> Flow {
        self.call.message = None;
        io.rewind(io.at + opening.start);
        self.candidates.clear();
        self.state = State::Text(Scan::default());
        Flow::Next
    }
}
