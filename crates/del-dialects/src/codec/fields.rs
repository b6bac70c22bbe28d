//! Keys and values between delimiters, typed by the tool's schema or by the field itself.
//!
//! A reader walks through each field in phases: behind a value or at the beginning of a body, in a header, between
//! header and value, in a value. All but one know at their first delimiter what it is. In a value (`value.rs`) any
//! delimiter may be data: whether the value ends there is decided in `border.rs`, by a function of the text behind the
//! delimiter, of which at most 4 KiB are looked at for each further delimiter. While it asks for more text, nothing
//! behind the delimiter is read, and it is asked anew once twice as much is there; so cutting cannot show, and
//! the work stays linear. What a value is, is decided when it has ended, in [`FieldsReader::close_value`].
//!
//! What it does with a delimiter that is not followed as it should be are two of the classical repairs: a closer that is
//! missing is inserted in front of the next opener or the call's own closer, and words behind a closer are deleted.
//! Each is a guess, and told as one; what shows later that it was wrong breaks the call.

mod border;
mod delimiters;
mod elements;
mod header;
mod lookahead;
mod repeated;
mod slip;
mod sole;
mod types;
mod value;
mod write;
mod xml;
mod yaml;

use std::collections::HashSet;
use std::ops::ControlFlow::{self, Break, Continue};

use super::ArgsProgress;
use super::reading::repeats;
use crate::cursor::{Cursor, Emit};
use crate::dialect::FieldForm;
use crate::fault::FaultKind;
use crate::scan::{Anchored, Match, Scan, is_word};
use crate::schema::Types;
use crate::tool::{Tool, may_have};
use crate::value::{escape, plain, white_space};
use delimiters::Delimiter;
pub(crate) use delimiters::{Closers, FieldMarks, LINE_BREAKS};
use lookahead::Vain;
use repeated::Repeated;
use value::Field;
pub(crate) use write::{write, written_key};

/// Reads the fields of one call, from behind the first field's opening mark on.
#[derive(Debug, Clone)]
pub(crate) struct FieldsReader {
    phase: Phase,
    scan: Scan,
    /// Nothing is decided before so many bytes are there, and then reading goes on here; from the first kept one.
    wake: usize,
    resume: usize,
    field: Field,
    /// Keys of the values that have begun.
    keys: HashSet<String>,
    /// Values that may be the first of several of their key.
    repeated: Option<Repeated>,
    /// Where a value ended was guessed: what shows that the guess was wrong breaks the call.
    guessed: bool,
    /// A value went on behind what closes the call, as its own closer stood there.
    beyond: bool,
    /// The end of the value that went out, where what stands before a delimiter is asked for.
    last: String,
    /// The last search ahead that ended in vain: it goes on there with more text.
    vain: Vain,
    scratch: String,
    max_depth: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// Behind a value, or in a body that has just begun: a field, or what closes the call.
    Behind,
    Header,
    /// Behind the header, where the value has an opener of its own.
    Between,
    ValueStart,
    Value,
}

/// Why the reader stops; or it goes on.
type Step = ControlFlow<ArgsProgress>;

/// What is known of the fields.
#[derive(Clone, Copy)]
pub(crate) struct Given<'a> {
    pub(crate) form: &'a FieldForm,
    pub(crate) marks: &'a FieldMarks,
    pub(crate) tool: Option<&'a Tool>,
    /// The call has begun: if not, its first key has to show that it is one.
    pub(crate) begun: bool,
    /// Tools that the next call may name where a field may stand, as nothing but its name opens it.
    pub(crate) others: &'a [Tool],
}

impl Given<'_> {
    /// Whether what opens like a field is the next call: it names a tool, and no argument of this one. None when that cannot
    /// be said yet, as the answer is not `over`.
    fn is_call(&self, opener: &str, rest: &str, over: bool) -> Option<bool> {
        let others =
            self.others.iter().filter(|_| opener == "<").filter(|other| !may_have(self.tool, &other.name));
        let mut unknown = false;
        for other in others {
            match repeats(&other.name, rest, over) {
                Some(true) => return Some(true),
                Some(false) => {}
                None => unknown = true,
            }
        }
        (!unknown).then_some(false)
    }

    /// Whether the closer of the call repeats the name of its tool, which is known.
    fn is_named(&self) -> bool {
        self.tool.is_some() && self.marks.named.is_some()
    }

    /// What a delimiter of `text` behind a value is; none when that cannot be said yet, as the answer is not `over`. The
    /// closer of a call that goes on with a name is that of this call only with the name of its tool.
    fn following(&self, text: &str, hit: Match, over: bool) -> Option<Delimiter> {
        let next = self.marks.next.delimiter(hit);
        let named = self.marks.named.as_deref() == Some(&text[hit.start..hit.end]);
        match self.tool {
            Some(tool) if named => repeats(&tool.name, &text[hit.end..], over)
                .map(|own| if own { next } else { Delimiter::Stray }),
            _ => Some(next),
        }
    }
}

/// A place in the fields.
type On<'c, 't> = crate::cursor::On<'c, 't, Given<'c>>;

impl On<'_, '_> {
    /// Goes on at a place up to which so many bytes were looked at ahead, and counted.
    fn pass(&mut self, to: usize, looked: u64) {
        self.again -= looked.min(to.saturating_sub(self.look) as u64);
        self.rewind(to);
    }

    /// Passes JSON on that no text of its own stands for.
    fn put(&mut self, json: &str) {
        (self.emit)(json, self.at.kept..self.at.kept);
    }
}

/// Text as it stands inside a JSON string.
fn escaped<'t>(text: &'t str, scratch: &'t mut String) -> &'t str {
    if plain(text.as_bytes()) == text.len() {
        return text;
    }
    scratch.clear();
    escape(text, scratch);
    scratch
}

/// Most delimiters are as long, in bytes.
const DELIMITER: usize = 16;

impl FieldsReader {
    pub(crate) fn new(max_depth: usize) -> Self {
        Self {
            phase: Phase::Header,
            scan: Scan::default(),
            wake: 0,
            resume: 0,
            field: Field::default(),
            keys: HashSet::new(),
            repeated: None,
            guessed: false,
            beyond: false,
            last: String::new(),
            vain: Vain::default(),
            scratch: String::new(),
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
            && self.wake == 0
            && self.scan.is_fresh()
            && marks.text.is_none()
            && marks.value.automaton.is_absent(text.as_bytes());
        if !inside || memchr::memchr(b'&', text.as_bytes()).is_some() {
            return None;
        }
        if marks.slips {
            self.remember(text);
        }
        Some(escaped(text, &mut self.scratch))
    }

    /// Reads on at the byte at hand.
    pub(crate) fn read(&mut self, given: Given<'_>, at: &mut Cursor<'_>, emit: Emit<'_>) -> ArgsProgress {
        let mut on = On { given, at, emit };
        if self.wake > 0 {
            if on.bytes.len() - on.kept < self.wake && !on.last() {
                on.look = on.bytes.len();
                return ArgsProgress::More;
            }
            on.look = on.kept + self.resume;
            self.wake = 0;
        }
        let mut progress = loop {
            if let Break(progress) = self.step(&mut on) {
                break progress;
            }
        };
        if (progress != ArgsProgress::More || on.last())
            && let Break(stop) = self.tell_repeated(&mut on)
        {
            progress = stop;
        }
        progress
    }

    fn step(&mut self, on: &mut On<'_, '_>) -> Step {
        match self.phase {
            Phase::Behind => self.behind(on),
            Phase::Header => self.header(on),
            Phase::Between => self.between(on),
            Phase::ValueStart => self.value_start(on),
            Phase::Value => self.value(on),
        }
    }

    /// Behind a value, or at the first byte of a body.
    fn behind(&mut self, on: &mut On<'_, '_>) -> Step {
        let next = &on.given.marks.next;
        // Where nothing closes the call, the white space may stand before text.
        let ended = on.given.marks.unclosed && self.has_begun();
        if self.scan.is_fresh() {
            on.look += white_space(&on.bytes[on.look..]);
            if !ended {
                on.kept = on.look;
            }
        }
        let mut followed = on.follow(&next.automaton, &mut self.scan);
        if followed == Anchored::More
            && on.last()
            && let Some(hit) = next.automaton.take_whole(&mut self.scan, &mut on.look)
            && matches!(next.delimiter(hit), Delimiter::Call(_))
        {
            followed = Anchored::Found(hit);
        }
        let hit = match followed {
            Anchored::Found(hit) => hit,
            Anchored::Nothing if on.given.marks.line.is_some() => {
                on.at.rewind(on.at.kept);
                self.enter(Phase::Header);
                return Continue(());
            }
            Anchored::Nothing if on.given.form.free && is_word(on.bytes[on.kept]) => {
                on.at.rewind(on.at.kept);
                self.enter(Phase::Header);
                return Continue(());
            }
            Anchored::Nothing if ended => {
                on.at.rewind(on.at.kept);
                return Break(ArgsProgress::Done(None));
            }
            Anchored::Nothing => return Break(ArgsProgress::Broken),
            // Half the opener of a field: an argument is missing.
            Anchored::More if on.last() && next.opens_field(on.text[on.kept..].trim_ascii_start()) => {
                return Break(ArgsProgress::More);
            }
            Anchored::More if on.last() && self.has_begun() => {
                on.kept = on.look;
                return Break(ArgsProgress::Ended);
            }
            Anchored::More => return Break(ArgsProgress::More),
        };
        let Some(next) = on.given.following(on.text, hit, on.last()) else {
            return self.wait(on, hit.start, (hit.end - hit.start) as u64);
        };
        let call = match next {
            Delimiter::Field => {
                on.given.is_call(&on.text[hit.start..hit.end], &on.text[hit.end..], on.last())
            }
            _ => Some(false),
        };
        let Some(call) = call else {
            let ahead = (on.text.len() - hit.end) as u64;
            on.again += ahead;
            return self.wait(on, hit.start, ahead);
        };
        let next = if call { Delimiter::Opener } else { next };
        let before = matches!(next, Delimiter::Opener | Delimiter::Turn);
        on.kept = if before { hit.start } else { hit.end };
        on.at.rewind(on.at.kept);
        match next {
            Delimiter::Field => {
                self.enter(Phase::Header);
                Continue(())
            }
            Delimiter::Stray => Break(ArgsProgress::Broken),
            Delimiter::Call(step) => Break(ArgsProgress::Done(Some(step))),
            _ => Break(ArgsProgress::Done(None)),
        }
    }

    /// Notes a guess about where a value or a key ends.
    fn guess(&mut self, on: &mut On<'_, '_>, at: usize) {
        self.guessed = true;
        on.note_markup(FaultKind::GuessedBorder, at);
    }

    fn enter(&mut self, phase: Phase) {
        self.phase = phase;
        self.scan = Scan::default();
    }

    /// More text decides what stands at `place`: that is asked anew when there is as much more of it as was looked at, so
    /// that all the looks together are linear.
    fn wait(&mut self, on: &mut On<'_, '_>, place: usize, looked: u64) -> Step {
        on.again += on.look.saturating_sub(place) as u64;
        on.again -= looked.min((on.bytes.len() - on.look) as u64);
        let more = usize::try_from(looked).unwrap_or(usize::MAX);
        self.wake = (on.bytes.len() - on.kept).saturating_add(more.max(DELIMITER));
        self.resume = place - on.kept;
        self.scan = Scan::default();
        on.look = on.bytes.len();
        Break(ArgsProgress::More)
    }
}
