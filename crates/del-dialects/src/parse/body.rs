//! The arguments of a call, whatever the codec.

mod begin;
mod end;
mod kind;

use std::ops::Range;

use super::gap::Gap;
use super::opening::Opening;
use super::plan::{Body, Plan, Walk};
use super::{Engine, Flow, Io, Meaning, State};
use crate::codec::call::{CallReader, Whole};
use crate::codec::fields::FieldsReader;
use crate::codec::literals::LiteralsReader;
use crate::cursor::Cursor;
use crate::dialect::Codec;
use crate::event::Event;
use crate::fault::FaultKind;
use crate::notes::Notes;
use crate::scan::Scan;
use crate::turn::Limits;
use crate::value::{Brackets, Reader};
use kind::{Kind, On, Outcome};

/// A call whose arguments are being read.
#[derive(Debug, Clone)]
pub(super) struct Reading {
    pub(super) walk: usize,
    kind: Kind,
    /// The opening, as long as it is not sure that this is a call.
    pub(super) pending: Option<Opening>,
    /// How far in the answer it may be read until then.
    most: u64,
    /// The first byte that the reader has not passed on, counted from the first held one.
    kept: usize,
    /// Looked up once for all pieces.
    callee: Callee,
    /// Bytes of arguments so far.
    size: u64,
    /// What has to be seen before this is a call, and where reading goes on then.
    proof: Option<(Proof, usize)>,
}

/// What makes a call of what nothing but a word opens.
#[derive(Debug, Clone)]
enum Proof {
    /// A closing mark.
    Mark(Scan),
    /// The end of the line behind its brackets, which are followed until they close.
    Line(Option<Brackets>),
}

/// Which of the declared tools is called.
#[derive(Debug, Clone, Copy)]
enum Callee {
    /// Nobody asked yet.
    Unknown,
    Undeclared,
    Tool(usize),
}

/// A bare call has to show what it is within this many bytes.
pub(super) const MAX_BARE: usize = 64 << 10;

impl Reading {
    pub(super) fn new(number: usize, walk: &Walk, object: bool, depth: usize) -> Self {
        let kind = match walk.body {
            Body::Object => Kind::Object(Box::new(Reader::new(depth))),
            _ if object => Kind::Object(Box::new(Reader::new(depth))),
            Body::Call => Kind::Call(Box::new(CallReader::new(depth, walk.is_bare()))),
            Body::Literals => Kind::Literals(Box::new(LiteralsReader::new(depth))),
            Body::Fields => Kind::Fields(Box::new(match walk.dialect.codec() {
                Codec::Raw { key, .. } => FieldsReader::raw(key, depth),
                Codec::Lines(_) => FieldsReader::of_body(depth),
                _ if walk.channels().is_some() && !walk.is_inside() => FieldsReader::of_body(depth),
                _ => FieldsReader::new(depth),
            })),
        };
        Self::of(number, kind)
    }

    fn of(walk: usize, kind: Kind) -> Self {
        Self {
            walk,
            kind,
            pending: None,
            most: u64::MAX,
            kept: 0,
            callee: Callee::Unknown,
            size: 0,
            proof: None,
        }
    }

    /// The object of a call that does not say its name.
    pub(super) fn unnamed(walk: usize, depth: usize) -> Self {
        let values = Box::new(Reader::new(depth));
        let kind = Kind::Unnamed { values, object: String::new(), name: String::new() };
        Self::of(walk, kind)
    }

    /// A reading that may still turn out to be no call, as far as `most`.
    pub(super) fn pending(mut self, opening: Opening, kept: usize, most: u64) -> Self {
        self.pending = Some(opening);
        self.most = most;
        self.kept = kept;
        self
    }

    /// The id, where the call object carries one.
    fn id(&self) -> Option<&str> {
        match &self.kind {
            Kind::Call(reader) => reader.id.as_deref(),
            Kind::Whole(call) => call.id.as_deref(),
            _ => None,
        }
    }

    /// The JSON of `text` where it goes on with a value of the call, nothing in it could be more, and there is room.
    pub(super) fn plain<'t>(&'t mut self, walk: &Walk, text: &'t str, limits: &Limits) -> Option<&'t str> {
        if self.pending.is_some() {
            return None;
        }
        let json = self.kind.plain(walk, text)?;
        let size = self.size + json.len() as u64;
        if size > limits.arguments {
            return None;
        }
        self.size = size;
        Some(json)
    }

    /// The arguments that were read and not passed on, as they are not whole.
    pub(super) fn buffered(&self) -> &str {
        if let Kind::Call(reader) = &self.kind { reader.buffered() } else { "" }
    }

    /// True for a call without a word of arguments.
    fn is_empty(&self) -> bool {
        match &self.kind {
            Kind::Call(reader) => !reader.has_args(),
            Kind::Fields(reader) => !reader.has_begun(),
            _ => false,
        }
    }

    /// What it is that closing markup is missing, where nothing else can be.
    pub(super) fn missing(&self) -> Option<FaultKind> {
        match &self.kind {
            Kind::Call(reader) if reader.name.is_some() && reader.has_args() => Some(reader.values.missing()),
            _ => None,
        }
    }

    /// True where the call breaks in a value that may quote markup, so that it may have begun inside another one.
    pub(super) fn may_quote(&self, plan: &Plan) -> bool {
        plan.walks[self.walk].writes_raw() && self.kind.has_begun()
    }
}

impl Engine {
    /// Arguments are read next, of a call or of what may be one.
    pub(super) fn begin_reading(&mut self, reading: Reading) {
        self.call.notes = Notes::default();
        self.state = State::Reading(reading);
    }

    /// The reader of the arguments at `look`: where they are there as a whole and nothing in them has to be mended, it knows
    /// all of them already. They may not be read further than `most`.
    pub(super) fn read_whole(&mut self, io: &mut Io<'_>, number: usize, object: bool, most: u64) -> Reading {
        let (walk, depth) = (&io.plan.walks[number], self.turn.limits.depth);
        let text = &io.text[io.look..io.before(most)];
        let whole = match (walk.body, walk.dialect.codec()) {
            _ if !text.starts_with('{') || self.tried.whole => Err(0),
            (Body::Call, Codec::Call(form)) if !object && !form.python && form.name.is_some() => {
                Whole::call(form, text, depth, &mut self.keys)
            }
            (Body::Object, _) => Whole::arguments(text, depth, &mut self.keys),
            _ => Err(0),
        };
        match whole {
            Ok(whole) => Reading::of(number, Kind::Whole(whole)),
            Err(looks) => {
                io.again += looks as u64;
                self.tried.whole |= looks > 0;
                Reading::new(number, walk, object, depth)
            }
        }
    }

    #[inline(never)]
    pub(super) fn reading(&mut self, io: &mut Io<'_>) -> Flow {
        if let State::Reading(Reading { proof: Some(_), .. }) = &self.state {
            return self.prove(io);
        }
        if let State::Reading(Reading { kind: Kind::Whole(whole), pending: Some(_), kept, .. }) = &self.state
        {
            io.look = io.at + *kept + whole.before();
            return self.named(io);
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
        let limit = usize::try_from(reading.most.saturating_sub(io.base)).unwrap_or(usize::MAX);
        match outcome {
            Outcome::More if reading.pending.is_some() && io.text.len() > limit => self.no_call(io),
            _ if reading.size > self.turn.limits.arguments && reading.pending.is_none() => {
                self.break_call(io, FaultKind::Limit)
            }
            // No key came.
            Outcome::More if io.last() && matches!(reading.kind, Kind::Fields(_)) => {
                let Some(opening) = reading.pending.take() else { return Flow::More };
                self.state = State::Opening(opening);
                self.unfinished_opening(io)
            }
            Outcome::More => Flow::More,
            Outcome::Again => Flow::Next,
            Outcome::Begins => self.named(io),
            Outcome::Done { step, fault } => {
                if reading.pending.is_some() {
                    return self.at_once(io);
                }
                let fault = fault.filter(|_| matches!(self.call.meaning, Meaning::Call));
                if let Some(kind) = fault {
                    io.fault(kind, Some(self.call.number), io.at, io.look);
                }
                self.end_call(io, number, step);
                if fault == Some(FaultKind::MissingCloser) {
                    self.state = State::Gap(Gap::behind_unbraced(number, step));
                }
                Flow::Next
            }
            Outcome::Nameless => self.without_a_name(io),
            Outcome::Broken(kind) => self.broken(io, kind),
        }
    }

    /// Lets the codec read what is there.
    fn read_on(&mut self, io: &mut Io<'_>) -> Outcome {
        let State::Reading(reading) = &mut self.state else { return Outcome::More };
        let Reading { walk, kind, size, pending, kept, callee, most, .. } = &mut *reading;
        let end = if pending.is_some() { io.before(*most) } else { io.text.len() };
        let tools = &self.turn.tools;
        if let Callee::Unknown = callee {
            let name = pending.as_ref().and_then(|opening| opening.name(io)).unwrap_or(&self.call.name);
            let place = tools.iter().rposition(|tool| tool.name == *name);
            *callee = place.map_or(Callee::Undeclared, Callee::Tool);
        }
        let tool = if let Callee::Tool(place) = *callee { tools.get(place) } else { None };
        let (call, base, room) = (self.call.number, io.base, self.turn.limits.arguments);
        let meaning = &mut self.call.meaning;
        let Io { plan, text, bytes, sink, .. } = io;
        let mut at = Cursor {
            text: &text[..end],
            bytes: &bytes[..end],
            base,
            end: io.end.filter(|_| end == text.len()),
            look: io.look,
            kept: io.at + *kept,
            again: io.again,
            doubted: self.tried.value,
            notes: &mut self.call.notes,
        };
        let mut emit = |json: &str, range: Range<usize>| {
            let free = room.saturating_sub(*size);
            *size += json.len() as u64;
            // What is over the limit is not passed on; the call is given up as soon as the reader returns.
            let over = json.len() as u64 > free;
            let json = if over { beginning(json, free) } else { json };
            match meaning {
                Meaning::Call if !over || !json.is_empty() => {
                    sink.event(
                        Event::Args { call, json },
                        base + range.start as u64..base + range.end as u64,
                    );
                }
                Meaning::Answer(arguments) => arguments.push_str(json),
                Meaning::Call | Meaning::Nothing => {}
            }
        };
        let mut on = On {
            plan,
            walk: &plan.walks[*walk],
            tools,
            tool,
            pending: pending.is_some(),
            in_block: self.call.in_block,
            unopened: self.call.unopened,
            max_depth: self.turn.limits.depth,
            at: &mut at,
            emit: &mut emit,
        };
        let outcome = kind.read(&mut on);
        let kept = at.kept;
        (io.look, io.again, self.tried.value) = (at.look, at.again, at.doubted);
        if reading.pending.is_some() {
            reading.kept = kept - io.at;
        } else {
            reading.kept = 0;
            io.at = kept;
        }
        outcome
    }
}

/// As much of `json` as fits into so many bytes.
fn beginning(json: &str, free: u64) -> &str {
    let free = usize::try_from(free).unwrap_or(usize::MAX);
    let end = (0..=free).rev().find(|&end| json.is_char_boundary(end)).unwrap_or(0);
    &json[..end]
}
