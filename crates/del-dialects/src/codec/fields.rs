//! Keys and values between delimiters, typed by the tool's schema or by the field itself.
//!
//! A reader walks through each field in phases: behind a value or at the beginning of a body, in a header, between
//! header and value, in a value. All but two know at their first delimiter what it is. In a value (`value.rs`) any
//! delimiter may be data, so each that is found there opens the phase [`Phase::Border`]: whether the value ends there is
//! decided in `border.rs`, by a function of the text behind the delimiter (`lookahead.rs`), of which at most 4 KiB are
//! looked at for each further delimiter. While it asks for more text, nothing behind the delimiter is read, and it is
//! asked again once twice as much is there; so cutting cannot show, and the work stays linear.
//!
//! What it does with a delimiter that is not followed as it should be are the three classical repairs: a closer that is
//! missing is inserted in front of the next opener or the call's own closer, words behind a closer are deleted, and
//! where other markup stands between two fields, reading resynchronises at FOLLOW (`Phase::Junk`). Each is a guess, and
//! told as one; what shows later that it was wrong breaks the call.

mod border;
mod elements;
mod header;
mod lookahead;
mod marks;
mod repeated;
mod value;
mod write;
mod xml;

use std::collections::HashSet;

use super::{Notes, reading};
use crate::dialect::FieldForm;
use crate::fault::FaultKind;
use crate::scan::{Anchored, Match, Scan};
use crate::schema::Types;
use crate::value::{Emit, escape, white_space};
use lookahead::{Found, Searched};
pub(crate) use marks::{Closers, FieldMarks, Next};
use repeated::Repeated;
use value::Field;
pub(crate) use value::raw_value;
pub(crate) use write::{write, written_key};

/// Reads the fields of one call, from behind the first field's opening mark on.
#[derive(Debug, Clone)]
pub(crate) struct FieldsReader {
    phase: Phase,
    scan: Scan,
    /// Nothing is decided before so many bytes are there, counted from the first kept one.
    wake: usize,
    field: Field,
    /// Keys of the values that have begun.
    keys: HashSet<String>,
    /// Values that may be the first of several of their key.
    repeated: Option<Repeated>,
    /// Where a value ended was guessed: what shows that the guess was wrong breaks the call.
    guessed: bool,
    /// Where in the answer the text at hand begins.
    pub(crate) base: u64,
    /// Where in the answer a search for the rest of a value ended in vain.
    pub(crate) doubted: u64,
    scratch: String,
    pub(crate) notes: Notes,
    /// A value was nested deeper than the limit.
    too_deep: bool,
    max_depth: usize,
}

/// Places count from the first byte that is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// Behind a value, or in a body that has just begun: a field, or what closes the call.
    Behind,
    /// Behind a value, in something that is no field: up to the next field or the end of the call.
    Junk,
    Header,
    /// Behind the header, where the value has an opener of its own.
    Between,
    ValueStart,
    Value,
    /// At a delimiter inside the value: does it end there?
    Border {
        found: Found,
        /// What was looked for behind it in vain.
        searched: Searched,
    },
}

/// How far the fields are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FieldsProgress {
    More,
    /// All fields are read; this follows, from where the reader looks if it is an opener, and up to there otherwise.
    Done(Next),
    /// The answer ended behind a value.
    Ended,
    Broken,
    /// A value is nested deeper than the limit.
    TooDeep,
}

/// The text at hand, and what is known of it.
pub(crate) type Given<'a> = reading::Given<'a, FieldForm, FieldMarks>;

impl Given<'_> {
    /// What a delimiter of `text` behind a value is; none when that cannot be said yet. The closer of a call that goes on
    /// with a name is that of this call only with the name of its tool.
    fn following(&self, text: &str, hit: Match) -> Option<Next> {
        let next = self.marks.next.kind(hit);
        let closes = self.closes(self.marks.named.as_deref(), text, hit)?;
        Some(if closes || !matches!(next, Next::Closer(_)) { next } else { Next::Stray })
    }
}

/// A place in the text at hand, and where what is read goes.
type On<'a, 'e> = reading::On<'a, 'e, FieldForm, FieldMarks>;

impl On<'_, '_> {
    /// Passes JSON on that no text of its own stands for.
    fn put(&mut self, json: &str) {
        (self.emit)(json, self.kept..self.kept);
    }
}

/// Text as it stands inside a JSON string.
fn escaped<'t>(text: &'t str, scratch: &'t mut String) -> &'t str {
    let special = |byte: u8| byte < 0x20 || matches!(byte, b'"' | b'\\');
    // Without a branch for each byte.
    if !text.bytes().fold(false, |any, byte| any | special(byte)) {
        return text;
    }
    scratch.clear();
    escape(text, scratch);
    scratch
}

/// Most delimiters are as long, in bytes.
const DELIMITER: usize = 16;

/// Why the reader stops; none when it goes on.
type Stop = Option<FieldsProgress>;

impl FieldsReader {
    pub(crate) fn new(max_depth: usize) -> Self {
        Self {
            phase: Phase::Header,
            scan: Scan::default(),
            wake: 0,
            field: Field::default(),
            keys: HashSet::new(),
            repeated: None,
            guessed: false,
            base: 0,
            doubted: 0,
            scratch: String::new(),
            notes: Notes::default(),
            too_deep: false,
            max_depth,
        }
    }

    /// A reader for a body that holds nothing but fields, from its first byte on.
    pub(crate) fn of_body(max_depth: usize) -> Self {
        Self { phase: Phase::Behind, ..Self::new(max_depth) }
    }

    /// True before the first byte of a body that holds nothing but fields.
    pub(crate) fn is_fresh(&self) -> bool {
        self.phase == Phase::Behind && !self.has_begun() && self.scan.is_fresh()
    }

    /// A reader for a body that is the one text of `key`.
    pub(crate) fn raw(key: &str, max_depth: usize) -> Self {
        let field = Field { key: key.to_owned(), types: Types::TEXT, ..Field::default() };
        Self { phase: Phase::ValueStart, field, ..Self::new(max_depth) }
    }

    /// True when a value has begun.
    pub(crate) fn has_begun(&self) -> bool {
        !self.keys.is_empty()
    }

    /// True when this key has its value.
    pub(crate) fn has(&self, key: &str) -> bool {
        self.keys.contains(key)
    }

    /// What closes the object that was passed on.
    pub(crate) fn closing(&self) -> &'static str {
        if self.keys.is_empty() { "{}" } else { "}" }
    }

    /// The JSON of `text` where it goes on with a value that goes out while it arrives, and holds nothing that may end it.
    pub(crate) fn plain<'t>(&'t mut self, marks: &FieldMarks, text: &'t str) -> Option<&'t str> {
        let inside = self.phase == Phase::Value
            && self.field.streams
            && self.scan.is_fresh()
            && marks.value.automaton.is_absent(text.as_bytes());
        if !inside || text.contains('&') {
            return None;
        }
        Some(escaped(text, &mut self.scratch))
    }

    /// Reads on from `*look`; `*kept` follows it, but for what is split or not decided.
    pub(crate) fn read(
        &mut self,
        given: Given<'_>,
        look: &mut usize,
        kept: &mut usize,
        work: &mut u64,
        emit: Emit<'_>,
    ) -> FieldsProgress {
        let mut on = On::new(given, *look, *kept, emit);
        let mut progress = self.run(&mut on);
        if progress != FieldsProgress::More || on.last() {
            self.tell_repeated(&mut on);
            if self.too_deep {
                progress = FieldsProgress::TooDeep;
            }
        }
        (*look, *kept) = (on.look, on.kept);
        *work += on.again;
        progress
    }

    fn run(&mut self, on: &mut On<'_, '_>) -> FieldsProgress {
        if self.wake > 0 {
            if on.bytes.len() - on.kept < self.wake && !on.last() {
                on.look = on.bytes.len();
                return FieldsProgress::More;
            }
            on.look = on.kept;
            self.wake = 0;
        }
        loop {
            if self.too_deep {
                return FieldsProgress::TooDeep;
            }
            let stop = match self.phase {
                Phase::Behind => self.behind(on),
                Phase::Junk => self.junk(on),
                Phase::Header => self.header(on),
                Phase::Between => self.between(on),
                Phase::ValueStart => self.value_start(on),
                Phase::Value => self.value(on),
                Phase::Border { found, searched } => self.border(on, found, searched),
            };
            if let Some(progress) = stop {
                return progress;
            }
        }
    }

    /// Behind a value, or at the first byte of a body.
    fn behind(&mut self, on: &mut On<'_, '_>) -> Stop {
        let next = &on.given.marks.next;
        if self.scan.is_fresh() {
            on.look += white_space(&on.bytes[on.look..]);
            on.kept = on.look;
        }
        let followed = match next.automaton.follow(&mut self.scan, on.bytes, &mut on.look, &mut on.again) {
            Anchored::More if on.last() => {
                let hit = next.automaton.take_whole(&mut self.scan, &mut on.look);
                let hit = hit.filter(|hit| matches!(next.kind(*hit), Next::Closer(_)));
                hit.map_or(Anchored::More, Anchored::Found)
            }
            followed => followed,
        };
        match followed {
            Anchored::Found(hit) => match on.given.following(on.given.text, hit) {
                Some(Next::Stray) if on.given.marks.named.is_some() => Some(FieldsProgress::Broken),
                Some(next) => self.goes_on(on, hit, next),
                None => {
                    self.scan.restart();
                    self.wait(on, hit.end - on.kept)
                }
            },
            Anchored::Nothing => Some(FieldsProgress::Broken),
            Anchored::More if on.last() && self.has_begun() => {
                on.kept = on.look;
                Some(FieldsProgress::Ended)
            }
            Anchored::More => Some(FieldsProgress::More),
        }
    }

    /// Behind a value, in something that is no field.
    fn junk(&mut self, on: &mut On<'_, '_>) -> Stop {
        let next = &on.given.marks.next;
        let Some(hit) = next.automaton.find(&mut self.scan, on.bytes, &mut on.look, &mut on.again) else {
            on.kept = on.look - next.automaton.pending(&self.scan);
            return Some(FieldsProgress::More);
        };
        match on.given.following(on.given.text, hit) {
            Some(Next::Stray | Next::Turn) => {
                on.kept = hit.end;
                None
            }
            Some(next) => self.goes_on(on, hit, next),
            None => {
                on.kept = hit.start;
                self.scan.restart();
                self.wait(on, hit.end - hit.start)
            }
        }
    }

    /// What follows a value stands here.
    fn goes_on(&mut self, on: &mut On<'_, '_>, hit: Match, next: Next) -> Stop {
        on.kept = if matches!(next, Next::Opener | Next::Turn) { hit.start } else { hit.end };
        on.rewind(on.kept);
        if next == Next::Field {
            self.enter(Phase::Header);
            return None;
        }
        Some(FieldsProgress::Done(next))
    }

    /// Notes a guess about where a value or a key ends.
    fn guess(&mut self, at: usize) {
        self.guessed = true;
        self.notes.add_markup(FaultKind::GuessedBorder, at);
    }

    fn enter(&mut self, phase: Phase) {
        self.phase = phase;
        self.scan = Scan::default();
    }

    /// More text decides: what is there is looked at again when there is as much more of it as was looked at now, so
    /// that all the looks together are linear.
    #[expect(clippy::unnecessary_wraps, reason = "it is how a phase stops")]
    fn wait(&mut self, on: &mut On<'_, '_>, looked: usize) -> Stop {
        self.wake = on.bytes.len() - on.kept + looked.max(DELIMITER);
        on.look = on.bytes.len();
        Some(FieldsProgress::More)
    }
}
