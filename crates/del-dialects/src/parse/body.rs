//! The arguments of a call, whatever the codec.

use super::automaton::Scan;
use super::gap::Gap;
use super::opening::Opening;
use super::plan::{Body, Walk};
use super::{Engine, Flow, Io, State};
use crate::codec::Notes;
use crate::codec::call::{CallProgress, CallReader, unwrapped};
use crate::codec::fields::{self, FieldsProgress, FieldsReader, Next};
use crate::codec::json::{Json, Progress, white_space};
use crate::codec::loose::{Given, LooseProgress, LooseReader};
use crate::dialect::{Codec, FieldForm, Literal};
use crate::event::Event;
use crate::fault::{Fault, FaultKind};
use crate::schema::meant;

/// A call whose arguments are being read.
#[derive(Debug)]
pub(super) struct Reading {
    pub(super) walk: usize,
    kind: Kind,
    /// The opening, as long as it is not sure that this is a call.
    pub(super) pending: Option<Opening>,
    /// The first byte that the reader has not passed on, counted from the first held one.
    kept: usize,
    /// Bytes of arguments so far.
    size: u64,
    /// What was odd, of each kind the first place in the answer. It is told when the call is over.
    notes: Vec<(FaultKind, u64)>,
    /// The search for the closing mark without which this is no call, and where reading goes on when it is there.
    proof: Option<(Scan, usize)>,
}

#[derive(Debug)]
enum Kind {
    Object(Json),
    /// The object inside a JSON string, read whole.
    Text(Json, String),
    /// An object whose call has an id and no name: read whole, as only its keys tell the tool.
    Unnamed {
        json: Json,
        object: String,
        name: String,
    },
    Call(Box<CallReader>),
    Loose(Box<LooseReader>),
    Fields(Box<FieldsReader>),
}

/// What came of reading on.
enum Outcome {
    More,
    /// The arguments turned out to be written in another way: read on.
    Again,
    /// The call object says its name, or the first argument is there: the call can begin.
    Begins,
    /// The arguments are whole; the call's own closers from this step on may follow.
    Done {
        step: usize,
        fault: Option<FaultKind>,
    },
    /// A whole object that names no tool.
    Nameless,
    Broken(FaultKind),
}

/// So much is skipped at a time, in bytes.
const SKIPPED: usize = 64;

/// A bare call has to show what it is within this many bytes.
pub(super) const MAX_BARE: usize = 64 << 10;

impl Reading {
    /// `spare` is a reader that a call before has used.
    pub(super) fn new(
        number: usize,
        walk: &Walk,
        object: bool,
        depth: usize,
        spare: &mut Option<Box<CallReader>>,
    ) -> Self {
        let kind = match &walk.body {
            Body::Object => Kind::Object(Json::new(depth)),
            _ if object => Kind::Object(Json::new(depth)),
            Body::Call => {
                let python = matches!(walk.dialect.codec(), Codec::Call(form) if form.python);
                Kind::Call(match spare.take() {
                    Some(mut reader) => {
                        reader.restart(walk.is_bare(), python);
                        reader
                    }
                    None => Box::new(CallReader::new(depth, walk.is_bare(), python)),
                })
            }
            Body::Loose(_) => Kind::Loose(Box::new(LooseReader::new(depth))),
            Body::Fields(_) => Kind::Fields(Box::new(match walk.dialect.codec() {
                Codec::Raw { key, .. } => FieldsReader::raw(key, depth),
                _ if walk.channels().is_some() && !walk.is_inside() => FieldsReader::of_body(depth),
                _ => FieldsReader::new(depth),
            })),
        };
        Self { walk: number, kind, pending: None, kept: 0, size: 0, notes: Vec::new(), proof: None }
    }

    /// The object of a call that does not say its name.
    pub(super) fn unnamed(walk: usize, depth: usize) -> Self {
        let kind = Kind::Unnamed { json: Json::new(depth), object: String::new(), name: String::new() };
        Self { walk, kind, pending: None, kept: 0, size: 0, notes: Vec::new(), proof: None }
    }

    /// A reading that may still turn out to be no call.
    pub(super) fn pending(mut self, opening: Opening, kept: usize) -> Self {
        self.pending = Some(opening);
        self.kept = kept;
        self
    }

    /// The id, where the call object carries one.
    fn id(&self) -> Option<&str> {
        if let Kind::Call(reader) = &self.kind { reader.id.as_deref() } else { None }
    }

    /// True when only closing markup can be missing.
    pub(super) fn is_whole(&self) -> bool {
        match &self.kind {
            Kind::Call(reader) => reader.name.is_some() && reader.has_args(),
            _ => false,
        }
    }
}

impl Engine {
    pub(super) fn reading(&mut self, io: &mut Io<'_>) -> Flow {
        if let State::Reading(Reading { proof: Some(_), .. }) = &self.state {
            return self.prove(io);
        }
        let outcome = self.read_on(io);
        let State::Reading(reading) = &mut self.state else { return Flow::Next };
        let number = reading.walk;
        let bare = io.plan.walks[number].is_bare();
        if let Some(opening) = &reading.pending
            && bare
            && io.look - io.at - opening.start() > MAX_BARE
        {
            return self.no_call(io);
        }
        match outcome {
            _ if reading.size > self.turn.limits.arguments && reading.pending.is_none() => {
                self.break_call(io, FaultKind::Limit)
            }
            Outcome::More => Flow::More,
            Outcome::Again => Flow::Next,
            Outcome::Begins => self.named(io),
            Outcome::Done { step, fault } => {
                if reading.pending.is_some() {
                    return self.at_once(io);
                }
                if let Some(kind) = fault.filter(|_| !self.silent) {
                    io.fault(kind, Some(self.call), io.at, io.look);
                }
                self.end_call(io, number, step);
                Flow::Next
            }
            Outcome::Nameless => {
                let words = reading.pending.as_ref().is_some_and(|opening| opening.has_words_alone(io.plan));
                if bare || words {
                    return self.no_call(io);
                }
                let Some(opening) = reading.pending.take() else { return Flow::Next };
                let start = io.at + opening.start();
                self.settle_before(io, &opening);
                io.fault(FaultKind::BadCall, None, start, io.look);
                io.at = io.look;
                self.state = State::Gap(Gap::behind_broken(number, io.plan.walks[number].args + 1));
                Flow::Next
            }
            Outcome::Broken(kind) => {
                let marked = !bare && reading.pending.as_ref().is_some_and(|opening| opening.marked);
                let named = match &reading.kind {
                    Kind::Call(reader) => reader.name.is_some(),
                    // Behind a name and a bracket stands something else than arguments.
                    Kind::Loose(_) => self.candidates.is_empty(),
                    _ => false,
                };
                let known = |opening: &Opening| {
                    let name = opening.name(io).unwrap_or_default();
                    let tool = self.turn.tools.iter().any(|tool| tool.name == name);
                    opening.is_behind_a_call() || (tool && opening.marked && !opening.is_doubtful())
                };
                let loose = matches!(reading.kind, Kind::Loose(_));
                let marked = marked || (loose && reading.pending.as_ref().is_some_and(known));
                match (reading.pending.is_some(), marked && named) {
                    (true, false) => self.no_call(io),
                    (true, true) => {
                        if self.start_call(io) {
                            self.break_call(io, kind)
                        } else {
                            Flow::Next
                        }
                    }
                    (false, _) => self.break_call(io, kind),
                }
            }
        }
    }

    /// Lets the codec read what is there.
    fn read_on(&mut self, io: &mut Io<'_>) -> Outcome {
        let State::Reading(reading) = &mut self.state else { return Outcome::More };
        let walk = &io.plan.walks[reading.walk];
        let behind = walk.args + 1;
        let pending = reading.pending.is_some();
        let mut kept = io.at + reading.kept;
        let (call, base, end, silent) = (self.call, io.base, io.end, self.silent);
        let plan = io.plan;
        let name = reading.pending.as_ref().and_then(|opening| opening.name(io)).unwrap_or(&self.name);
        let tools = &self.turn.tools;
        let tool = || tools.iter().rfind(|tool| tool.name == name);
        let Reading { kind, size, .. } = &mut *reading;
        let Io { text, bytes, look, sink, again, .. } = io;
        let most = self.turn.limits.arguments;
        let mut emit = |json: &str, range: std::ops::Range<usize>| {
            let free = most.saturating_sub(*size);
            *size += json.len() as u64;
            if silent {
                return;
            }
            if json.len() as u64 > free {
                // What is over the limit is not passed on; the call is given up as soon as the reader returns.
                let free = usize::try_from(free).unwrap_or(usize::MAX);
                let end = (0..=free).rev().find(|&end| json.is_char_boundary(end)).unwrap_or(0);
                if end > 0 {
                    let span = base + range.start as u64..base + range.end as u64;
                    sink.event(Event::Args { call, json: &json[..end] }, span);
                }
                return;
            }
            sink.event(Event::Args { call, json }, base + range.start as u64..base + range.end as u64);
        };
        let mut notes = None;
        let mut mended = Notes::default();
        let outcome = match (kind, &walk.body, walk.dialect.codec()) {
            (Kind::Object(json), ..) => {
                if json.is_fresh() {
                    *look += white_space(&bytes[*look..]);
                    kept = *look;
                    match bytes.get(*look) {
                        Some(b'{') => {}
                        Some(b'"') => {
                            reading.kind = Kind::Text(Json::new(self.turn.limits.depth), String::new());
                            return keep(reading, io, kept, Outcome::Again);
                        }
                        None => return keep(reading, io, kept, Outcome::More),
                        Some(_) if plan.may_end_here(&text[*look..]) && end.is_none() => {
                            return keep(reading, io, kept, Outcome::More);
                        }
                        Some(_) if plan.ends_here(&text[*look..]) => {
                            emit("{}", *look..*look);
                            return keep(reading, io, kept, Outcome::Done { step: behind, fault: None });
                        }
                        Some(_) => return keep(reading, io, kept, Outcome::Broken(FaultKind::BadArguments)),
                    }
                }
                let progress = json.read(text, look, &mut kept, &mut emit);
                mended.add_all(json.take_notes());
                match progress {
                    Progress::More => Outcome::More,
                    Progress::Done => Outcome::Done { step: behind, fault: None },
                    Progress::Broken => Outcome::Broken(FaultKind::BadArguments),
                    Progress::TooDeep => Outcome::Broken(FaultKind::Limit),
                }
            }
            (Kind::Text(json, token), ..) => {
                let progress = json.read(text, look, &mut kept, &mut |piece, _| token.push_str(piece));
                let object = match progress {
                    Progress::More => return keep(reading, io, kept, Outcome::More),
                    Progress::Done => unwrapped(token, *look, &mut mended, self.turn.limits.depth),
                    Progress::Broken | Progress::TooDeep => None,
                };
                match object {
                    Some(object) => {
                        emit(&object, *look..*look);
                        Outcome::Done { step: behind, fault: None }
                    }
                    None => Outcome::Broken(FaultKind::BadArguments),
                }
            }
            (Kind::Unnamed { json, object, name }, ..) => {
                match json.read(text, look, &mut kept, &mut |piece, _| object.push_str(piece)) {
                    Progress::More => Outcome::More,
                    Progress::Done => match meant(tools, object) {
                        Some(tool) => {
                            name.clone_from(&tool.name);
                            Outcome::Done { step: behind, fault: None }
                        }
                        None => Outcome::Nameless,
                    },
                    Progress::Broken => Outcome::Broken(FaultKind::BadArguments),
                    Progress::TooDeep => Outcome::Broken(FaultKind::Limit),
                }
            }
            (Kind::Call(reader), _, Codec::Call(form)) => {
                let progress = reader.read(form, text, look, &mut kept, &mut emit);
                notes = reader.notes.take();
                match progress {
                    CallProgress::More => Outcome::More,
                    CallProgress::Named => Outcome::Begins,
                    CallProgress::Done if reader.name.is_none() => Outcome::Nameless,
                    CallProgress::Done => Outcome::Done { step: behind, fault: None },
                    // A brace is missing, and something that cannot belong to the call follows.
                    CallProgress::Broken if !pending && reader.has_args() => {
                        Outcome::Done { step: behind, fault: Some(FaultKind::MissingCloser) }
                    }
                    CallProgress::Broken => Outcome::Broken(FaultKind::BadArguments),
                    CallProgress::TooDeep => Outcome::Broken(FaultKind::Limit),
                }
            }
            (Kind::Loose(reader), Body::Loose(marks), Codec::Object(Literal::Loose(loose))) => {
                let given = Given { loose, marks, tool: tool(), text, end };
                reader.base = base;
                reader.doubted = reader.doubted.max(self.doubted);
                let progress = reader.read(given, look, &mut kept, again, &mut emit);
                self.doubted = reader.doubted;
                notes = reader.notes.take();
                match progress {
                    LooseProgress::More => Outcome::More,
                    LooseProgress::Begun => Outcome::Begins,
                    LooseProgress::Done => Outcome::Done { step: behind, fault: None },
                    LooseProgress::Broken => Outcome::Broken(FaultKind::BadArguments),
                    LooseProgress::TooDeep => Outcome::Broken(FaultKind::Limit),
                }
            }
            (Kind::Fields(reader), Body::Fields(marks), codec) => {
                if reader.is_fresh() {
                    *look += white_space(&bytes[*look..]);
                    kept = *look;
                    if bytes.get(*look) == Some(&b'{') {
                        reading.kind = Kind::Object(Json::new(self.turn.limits.depth));
                        return keep(reading, io, kept, Outcome::Again);
                    }
                }
                let raw;
                let form = if let Codec::Fields(form) = codec {
                    form
                } else {
                    raw = FieldForm::raw();
                    &raw
                };
                reader.base = base;
                reader.doubted = reader.doubted.max(self.doubted);
                let given = fields::Given { form, marks, tool: tool(), text, end };
                let progress = reader.read(given, look, &mut kept, again, &mut emit);
                self.doubted = reader.doubted;
                notes = reader.notes.take();
                let whole = progress == FieldsProgress::Ended
                    && walk.is_whole_without_closer(end, self.in_block, self.unopened);
                if whole || matches!(progress, FieldsProgress::Done(_)) {
                    emit(reader.closing(), kept..kept);
                }
                match progress {
                    FieldsProgress::More => Outcome::More,
                    FieldsProgress::Done(Next::Closer(step)) => Outcome::Done { step: step + 1, fault: None },
                    FieldsProgress::Done(_) => Outcome::Done { step: behind, fault: None },
                    FieldsProgress::Ended if whole => Outcome::Done { step: behind, fault: None },
                    FieldsProgress::Ended => Outcome::More,
                    FieldsProgress::Broken => Outcome::Broken(FaultKind::BadArguments),
                    FieldsProgress::TooDeep => Outcome::Broken(FaultKind::Limit),
                }
            }
            _ => Outcome::Broken(FaultKind::BadArguments),
        };
        for (kind, at) in notes.or_else(|| mended.take()).iter().flat_map(Notes::iter) {
            if !reading.notes.iter().any(|(known, _)| *known == kind) {
                reading.notes.push((kind, base + at as u64));
            }
        }
        keep(reading, io, kept, outcome)
    }

    /// The call of a pending reading begins, if it may.
    fn named(&mut self, io: &mut Io<'_>) -> Flow {
        let State::Reading(reading) = &self.state else { return Flow::Next };
        let Some(opening) = &reading.pending else { return Flow::Next };
        let name = match &reading.kind {
            Kind::Call(reader) => reader.name.as_deref(),
            _ => opening.name(io),
        };
        let known = name.is_some_and(|name| self.tool(name).is_some());
        let bare = io.plan.walks[reading.walk].is_bare();
        let word = matches!(reading.kind, Kind::Loose(_)) && !opening.marked && !opening.is_behind_a_call();
        // A token of the model's markup is no part of data, and where no tools are declared no name can be known.
        let free = self.takes_any_name(io.plan) && !opening.in_a_thought();
        let doubtful = opening.is_doubtful() && !free && !opening.has_token(io.plan);
        let nameless = name.is_none_or(str::is_empty);
        let worded = opening.is_worded(io.plan);
        let unproven = io.base + ((io.at + opening.start()) as u64) < self.unproven;
        let may_not = worded && (opening.in_a_thought() || unproven || !(known || free));
        if may_not || (bare && !known && (word || doubtful || nameless)) {
            return self.no_call(io);
        }
        if worded && let State::Reading(reading) = &mut self.state {
            reading.proof = Some((Scan::default(), io.look - io.at));
            return Flow::Next;
        }
        self.start_call(io);
        Flow::Next
    }

    /// A call that is opened by a word alone begins when its closing mark is there.
    fn prove(&mut self, io: &mut Io<'_>) -> Flow {
        let State::Reading(reading) = &mut self.state else { return Flow::Next };
        let (Some((scan, back)), Some(opening)) = (&mut reading.proof, &reading.pending) else {
            return Flow::Next;
        };
        let most = io.at + opening.start() + MAX_BARE;
        let window = &io.bytes[..io.bytes.len().min(most)];
        let marks = &io.plan.walks[reading.walk].proof;
        let mut hit = marks.find(scan, window, &mut io.look, &mut io.again);
        if hit.is_none() && io.last() {
            hit = marks.take(scan, &mut io.look, &mut io.again);
        }
        let back = io.at + *back;
        if hit.is_some() {
            reading.proof = None;
            io.rewind(back);
            self.start_call(io);
            return Flow::Next;
        }
        if !io.last() && window.len() < most {
            return Flow::More;
        }
        self.unproven = self.unproven.max(io.base + io.look as u64);
        self.no_call(io)
    }

    /// Starts the call of a pending reading; false when there are too many calls.
    fn start_call(&mut self, io: &mut Io<'_>) -> bool {
        let State::Reading(reading) = &mut self.state else { return false };
        let Some(opening) = reading.pending.take() else { return true };
        reading.kept = 0;
        let (name, id, early) = match &mut reading.kind {
            Kind::Call(reader) => {
                (reader.name.clone().unwrap_or_default(), reader.id.clone(), reader.take_early())
            }
            Kind::Unnamed { name, .. } => {
                (std::mem::take(name), opening.id(io).map(str::to_owned), String::new())
            }
            _ => (
                opening.name(io).unwrap_or_default().to_owned(),
                opening.id(io).map(str::to_owned),
                String::new(),
            ),
        };
        if name.len() > self.turn.limits.name {
            self.settle_before(io, &opening);
            io.fault(FaultKind::Limit, None, io.at, io.look);
            io.at = io.look;
            self.state = State::Rescue { walk: opening.walk, scan: Scan::default(), skip: None };
            return false;
        }
        if !self.commit(io, &opening, &name, id.as_deref()) {
            return false;
        }
        if !early.is_empty() && !self.silent {
            io.send(Event::Args { call: self.call, json: &early }, io.at, io.at);
        }
        true
    }

    /// A call that begins where its arguments are over: a call object without any, or one whose tool they told.
    fn at_once(&mut self, io: &mut Io<'_>) -> Flow {
        let State::Reading(reading) = &mut self.state else { return Flow::Next };
        let number = reading.walk;
        let object = match &mut reading.kind {
            Kind::Unnamed { object, .. } => std::mem::take(object),
            _ => "{}".to_owned(),
        };
        let token = reading.pending.as_ref().is_some_and(|opening| opening.has_token(io.plan));
        if io.plan.walks[number].is_bare() && !token {
            return self.no_call(io);
        }
        if self.start_call(io) {
            if !self.silent {
                io.send(Event::Args { call: self.call, json: &object }, io.at, io.at);
            }
            self.end_call(io, number, io.plan.walks[number].args + 1);
        }
        Flow::Next
    }

    /// The call that has begun is without arguments.
    pub(super) fn no_arguments(&self, io: &mut Io<'_>) {
        if !self.silent {
            io.send(Event::Args { call: self.call, json: "{}" }, io.at, io.at);
        }
    }

    fn no_call(&mut self, io: &mut Io<'_>) -> Flow {
        let State::Reading(reading) = &mut self.state else { return Flow::Next };
        let walk = reading.walk;
        match reading.pending.take() {
            // The header said that this is a call.
            Some(_) if io.plan.walks[walk].channels().is_some() => {
                io.fault(FaultKind::BadCall, None, io.at, io.look);
                io.at = io.look;
                self.state = State::Rescue { walk, scan: Scan::default(), skip: None };
                Flow::Next
            }
            Some(opening) => self.try_next(io, opening),
            None => Flow::Next,
        }
    }

    /// The call is whole.
    pub(super) fn end_call(&mut self, io: &mut Io<'_>, walk: usize, step: usize) {
        io.at = io.look;
        self.tell_notes(io);
        let id = match &self.state {
            State::Reading(reading) => reading.id(),
            _ => None,
        };
        if !std::mem::take(&mut self.silent) {
            io.send(Event::CallEnd { call: self.call, id }, io.at, io.at);
            self.call += 1;
        }
        if let State::Reading(Reading { kind: Kind::Call(_), .. }) = &self.state
            && let State::Reading(Reading { kind: Kind::Call(reader), .. }) =
                std::mem::replace(&mut self.state, State::Dropping)
        {
            self.spare = Some(reader);
        }
        self.state = State::Gap(Gap::new(walk, step));
    }

    /// Faults of the call whose arguments are over.
    pub(super) fn tell_notes(&mut self, io: &mut Io<'_>) {
        let State::Reading(reading) = &mut self.state else { return };
        if reading.pending.is_some() || self.silent {
            return;
        }
        reading.notes.sort_unstable_by_key(|(kind, at)| (*at, kind.as_str()));
        for (kind, at) in reading.notes.drain(..) {
            io.sink.event(Event::Fault(Fault { kind, call: Some(self.call) }), at..at);
        }
    }

    /// The call does not count; reading goes on behind its markup.
    pub(super) fn break_call(&mut self, io: &mut Io<'_>, kind: FaultKind) -> Flow {
        self.tell_notes(io);
        let State::Reading(reading) = &self.state else { return Flow::Next };
        let walk = reading.walk;
        let skip = match (&reading.kind, io.plan.walks[walk].dialect.codec()) {
            (Kind::Loose(reader), Codec::Object(Literal::Loose(loose))) => Some(reader.skip(loose)),
            _ => None,
        };
        let from = usize::try_from(self.call_from.saturating_sub(io.base)).unwrap_or(0);
        let span = self.call_from.min(io.base + from as u64)..io.base + io.look as u64;
        if !std::mem::take(&mut self.silent) {
            io.sink.event(Event::Fault(Fault { kind, call: Some(self.call) }), span);
            self.call += 1;
        }
        io.at = io.look;
        self.state = State::Rescue { walk, scan: Scan::default(), skip };
        Flow::Next
    }

    pub(super) fn rescue(&mut self, io: &mut Io<'_>) -> Flow {
        let State::Rescue { walk, scan, skip } = &mut self.state else { return Flow::Next };
        let number = *walk;
        let walk = &io.plan.walks[number];
        let mut hit = None;
        while hit.is_none() && io.look < io.bytes.len() {
            let from = io.look;
            let Some(skip) = skip else {
                hit = walk.rescue.find(scan, io.bytes, &mut io.look, &mut io.again);
                break;
            };
            // A piece at a time, so that nothing is looked at far behind the mark.
            let piece = &io.bytes[from..io.bytes.len().min(from + SKIPPED)];
            let end = skip.read(piece).map(|len| from + len);
            let bytes = &io.bytes[..end.unwrap_or(from + piece.len())];
            io.again += (bytes.len() - from) as u64;
            hit = walk.rescue.find(scan, bytes, &mut io.look, &mut io.again);
            if let (Some(end), None) = (end, hit) {
                (io.at, io.look) = (end, end);
                self.state = State::Gap(Gap::behind_broken(number, walk.args + 1));
                return Flow::Next;
            }
        }
        let free = io.look - walk.rescue.pending(scan);
        match hit {
            None => {
                io.at = free;
                Flow::More
            }
            Some(hit) => {
                io.at = hit.start;
                io.rewind(hit.start);
                self.state = State::Gap(Gap::behind_broken(number, walk.args + 1));
                Flow::Next
            }
        }
    }
}

/// Remembers how far a reader has passed the text on.
fn keep(reading: &mut Reading, io: &mut Io<'_>, kept: usize, outcome: Outcome) -> Outcome {
    if reading.pending.is_some() {
        reading.kept = kept - io.at;
    } else {
        reading.kept = 0;
        io.at = kept;
    }
    outcome
}
