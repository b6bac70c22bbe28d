//! Keys and values between marks, typed by the tool's schema or by the field itself.
//!
//! A mark inside a value is data: what looks like the end of a value counts only when something follows that can
//! follow a value.

mod ahead;
mod elements;
mod ends;
mod header;
mod lead;
mod marks;
mod repeated;
mod value;
mod write;
mod xml;

use std::collections::HashSet;

use super::{Notes, reading};
use crate::dialect::FieldForm;
use crate::fault::FaultKind;
use crate::scan::{Automaton, Scan};
use crate::schema::{Types, escape};
use crate::value::Emit;
use ahead::Outline;
pub(crate) use marks::{FieldMarks, Next};
use marks::{Own, ValueEnd};
use repeated::Repeated;
pub(crate) use write::{write, written_key};

/// Reads the fields of one call, from behind the first field's opening mark on.
#[derive(Debug, Clone)]
pub(crate) struct FieldsReader {
    phase: Phase,
    scan: Scan,
    key: String,
    /// Keys of the values that have begun.
    keys: HashSet<String>,
    types: Types,
    /// The value goes out while it arrives.
    streams: bool,
    /// The white space that the value begins with, in bytes, as far as it was looked at.
    white: usize,
    /// The field itself says that the value is JSON.
    says_json: bool,
    /// The value stands on the line of its header.
    compact: bool,
    /// The value may be all the arguments: their object in a field of its own.
    wraps: bool,
    /// What ends this value, where every value has its own.
    closer: Option<(Automaton, Vec<ValueEnd>)>,
    /// What its closer is found by further on, in the same case.
    own: Option<Own>,
    /// The value may be made of elements; so many of its key are open in it.
    elements: Option<usize>,
    /// Up to here, counted from the first kept byte, no field can open: it was looked at before.
    deaf: usize,
    /// Up to here, counted likewise, no call closes: there the value's own closer stands.
    inside: usize,
    /// From here on, counted likewise, the value is over if a field or the end of the call comes before another closer:
    /// a closer stands here, with words behind it.
    words: Option<usize>,
    /// Values that may be the first of several of their key.
    repeated: Option<Repeated>,
    /// Where a value ended was guessed: what shows that the guess was wrong breaks the call.
    guessed: bool,
    /// The next closer ends the value, whatever its JSON looks like.
    sure: bool,
    outline: Outline,
    /// Where in the answer the text at hand begins.
    pub(crate) base: u64,
    /// Where in the answer a search for the rest of a value ended in vain.
    pub(crate) doubted: u64,
    scratch: String,
    pub(crate) notes: Notes,
    /// A value was nested deeper than the limit.
    too_deep: bool,
    /// It is not known yet whether the value goes out while it arrives: it may be a section of XML.
    undecided: bool,
    max_depth: usize,
}

/// Offsets count from the first byte that is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// In a body that has just begun: a field, or what closes a call without any.
    First,
    Header,
    /// Behind what seems to close the header, from `end` to `behind`, inside the quotes of its key: it is data if the
    /// quotes close before the header does.
    Quoted {
        end: usize,
        behind: usize,
        pattern: u16,
    },
    /// Behind the header, where the value has an opener of its own.
    Between,
    /// In the type of the value.
    Type,
    ValueStart,
    Value,
    /// Behind a value's closer, which begins at `end`: is it one?
    After {
        end: usize,
        behind: usize,
    },
    /// Behind a value's closer without its last character, which begins at `end`.
    Drifted {
        end: usize,
        behind: usize,
    },
    /// Behind what looks like a value's closer, in a word from `from` on: a key, if a header closes behind it.
    Key {
        end: usize,
        behind: usize,
        from: usize,
    },
    /// Behind a mark that ends the model's turn, inside a value that begins at the first kept byte.
    Turn {
        end: usize,
    },
    /// Behind a value, in something that is no field: up to the next field or the end of the call.
    Junk,
    /// Another field seems to open at `end`, with its header from `header` on.
    FieldOpens {
        end: usize,
        header: usize,
    },
    /// Another message seems to begin at `end`.
    Message {
        end: usize,
        behind: usize,
    },
    /// The call seems to close at `end`.
    CallCloses {
        end: usize,
        behind: usize,
        step: usize,
    },
    /// The last closer of the call stands at `end`, and something else follows: it ends the value if nothing else does.
    Unclosed {
        end: usize,
        behind: usize,
        step: usize,
    },
    /// The value and the call end, unless the value's own closer is still to come.
    Ahead {
        end: usize,
        behind: usize,
        then: Next,
    },
    /// Behind what may be that closer, which begins at `closer` and ends at `from`.
    OwnCloser {
        end: usize,
        behind: usize,
        then: Next,
        closer: usize,
        from: usize,
    },
    /// Behind a closer inside a string of JSON: the value may go on.
    Json {
        end: usize,
        behind: usize,
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

/// A place in the text at hand, and where what is read goes.
type On<'a, 'e> = reading::On<'a, 'e, FieldForm, FieldMarks>;

impl On<'_, '_> {
    /// Passes JSON on that no text of its own stands for.
    fn put(&mut self, json: &str) {
        (self.emit)(json, self.kept..self.kept);
    }
}

/// Why the reader stops; none when it goes on.
type Stop = Option<FieldsProgress>;

impl FieldsReader {
    pub(crate) fn new(max_depth: usize) -> Self {
        Self {
            phase: Phase::Header,
            scan: Scan::default(),
            key: String::new(),
            keys: HashSet::new(),
            types: Types::default(),
            streams: false,
            white: 0,
            says_json: false,
            wraps: false,
            closer: None,
            own: None,
            compact: false,
            elements: None,
            deaf: 0,
            inside: 0,
            words: None,
            repeated: None,
            guessed: false,
            sure: false,
            outline: Outline::default(),
            base: 0,
            doubted: 0,
            scratch: String::new(),
            notes: Notes::default(),
            too_deep: false,
            undecided: false,
            max_depth,
        }
    }

    /// A reader for a body that holds nothing but fields, from its first byte on.
    pub(crate) fn of_body(max_depth: usize) -> Self {
        Self { phase: Phase::First, ..Self::new(max_depth) }
    }

    /// True before the first byte of a body that holds nothing but fields.
    pub(crate) fn is_fresh(&self) -> bool {
        self.phase == Phase::First && self.scan.is_fresh()
    }

    /// A reader for a body that is the one text of `key`.
    pub(crate) fn raw(key: &str, max_depth: usize) -> Self {
        let mut reader = Self::new(max_depth);
        key.clone_into(&mut reader.key);
        reader.types = Types::TEXT;
        reader.phase = Phase::ValueStart;
        reader
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
        let inside = matches!(self.phase, Phase::Value)
            && self.streams
            && self.words.is_none()
            && self.deaf == 0
            && self.inside == 0
            && self.scan.is_fresh()
            && match (&self.closer, marks.ends(self.compact)) {
                (Some((ends, _)), _) | (None, Some((ends, _))) => ends.is_absent(text.as_bytes()),
                (None, None) => false,
            };
        if !inside || text.contains('&') {
            return None;
        }
        if !text.bytes().any(|byte| byte < 0x20 || matches!(byte, b'"' | b'\\')) {
            return Some(text);
        }
        self.scratch.clear();
        escape(text, &mut self.scratch);
        Some(&self.scratch)
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
        loop {
            if self.too_deep {
                return FieldsProgress::TooDeep;
            }
            let stop = match self.phase {
                Phase::First => self.first(on),
                Phase::Header => self.header(on),
                Phase::Quoted { end, behind, pattern } => self.quoted(on, (end, behind), pattern),
                Phase::Between => self.between(on),
                Phase::Type => self.type_word(on),
                Phase::ValueStart => self.value_start(on),
                Phase::Value => self.value(on),
                Phase::After { end, behind } => self.after(on, (end, behind)),
                Phase::Drifted { end, behind } => self.drifted(on, (end, behind)),
                Phase::Key { end, behind, from } => self.key(on, (end, behind), from),
                Phase::Turn { end } => self.turn(on, end),
                Phase::Junk => self.junk(on),
                Phase::FieldOpens { end, header } => self.field_opens(on, end, header),
                Phase::Message { end, behind } => self.message(on, (end, behind)),
                Phase::CallCloses { end, behind, step } => self.call_closes(on, (end, behind), step),
                Phase::Unclosed { end, behind, step } => self.unclosed(on, (end, behind), step),
                Phase::Ahead { end, behind, then } => self.ahead(on, (end, behind, then)),
                Phase::OwnCloser { end, behind, then, closer, from } => {
                    self.own_closer(on, (end, behind, then), closer, from)
                }
                Phase::Json { end, behind } => self.whole_json(on, (end, behind)),
            };
            if let Some(progress) = stop {
                return progress;
            }
        }
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

    /// What looked like the end of the value was data.
    fn resume(&mut self, on: &mut On<'_, '_>, end: usize, behind: usize) -> Stop {
        // What was looked at lies behind a whole mark, so going back costs each byte a bounded number of looks.
        on.rewind(on.kept + if behind > end { end + 1 } else { behind });
        self.enter(Phase::Value);
        None
    }
}
