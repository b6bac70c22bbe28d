//! Arguments as literals that are no JSON: Python's keyword arguments, Gemma's objects. A filter on the members that the
//! reader of values finds: the tool's schema names arguments without a key, and types what stands in the wrong quotes
//! or in none.

use super::ArgsProgress;
use crate::cursor::{Cursor, Emit};
use crate::fault::FaultKind;
use crate::schema::Types;
use crate::tool::{Tool, positional, types_of};
use crate::typed::{Spelling, typed};
use crate::value::{Brackets, Given, Marks, Progress, Reader};

/// Reads the arguments of one call, from the opening bracket on.
#[derive(Debug, Clone)]
pub(crate) struct LiteralsReader {
    values: Reader,
    /// What the tool declares of the argument at hand.
    types: Types,
    /// The value at hand, where it does not go out as it is read.
    held: Option<String>,
    /// It stands in quotes.
    quoted: bool,
    max_depth: usize,
}

impl LiteralsReader {
    pub(crate) fn new(max_depth: usize) -> Self {
        Self {
            values: Reader::watching(max_depth),
            types: Types::default(),
            held: None,
            quoted: false,
            max_depth,
        }
    }

    /// True inside a string that goes out as it is read, and goes on with `piece` as it stands.
    pub(crate) fn passes(&self, marks: &Marks, piece: &str) -> bool {
        self.held.is_none() && self.values.passes(marks, piece)
    }

    /// What finds the end of arguments that cannot be read.
    pub(crate) fn brackets(&self) -> Brackets {
        self.values.brackets()
    }

    /// Reads on as the reader of values does; `begun` says that the call has begun.
    pub(crate) fn read(
        &mut self,
        given: Given<'_>,
        (tool, begun): (Option<&Tool>, bool),
        at: &mut Cursor<'_>,
        emit: Emit<'_>,
    ) -> ArgsProgress {
        loop {
            let Self { values, held, .. } = &mut *self;
            let progress = values.read(given, at, &mut |json, range| match held {
                Some(held) => held.push_str(json),
                None => emit(json, range),
            });
            match progress {
                Progress::Key | Progress::Empty | Progress::Unnamed(_) if !begun => {
                    if let Progress::Unnamed(place) = progress
                        && !self.name(tool, place, at)
                    {
                        return ArgsProgress::Broken;
                    }
                    return ArgsProgress::Begun;
                }
                Progress::Unnamed(place) => {
                    if !self.name(tool, place, at) {
                        return ArgsProgress::Broken;
                    }
                }
                Progress::Value(byte) => self.value(given, tool, byte),
                Progress::Item => {
                    if !self.item(given, at, emit) {
                        return ArgsProgress::TooDeep;
                    }
                }
                Progress::Key | Progress::Empty => {}
                Progress::More => return ArgsProgress::More,
                Progress::Done => return ArgsProgress::Done(None),
                Progress::Broken => return ArgsProgress::Broken,
                Progress::TooDeep => return ArgsProgress::TooDeep,
            }
        }
    }

    /// An argument without its name has the one that the tool declares at this place, if that is plain. An object where
    /// none is declared is all arguments at once.
    fn name(&mut self, tool: Option<&Tool>, place: usize, at: &mut Cursor<'_>) -> bool {
        let key = tool.and_then(|tool| positional(tool, place));
        let object = at.bytes.get(at.look) == Some(&b'{');
        match key.filter(|key| !object || types_of(tool, key).may_nest()) {
            Some(key) => self.values.name(key),
            None if object && place == 0 => {
                at.note(FaultKind::GuessedValue, at.look);
                self.values.take_all_arguments();
            }
            None => return false,
        }
        true
    }

    fn value(&mut self, given: Given<'_>, tool: Option<&Tool>, byte: u8) {
        self.types = types_of(tool, self.values.key());
        let python = given.syntax.is_python();
        let declared = self.types != Types::default();
        self.values.wants_text = if python { self.types.string } else { self.types.only_string() };
        self.quoted = given.syntax.opens_text(byte);
        let nests = matches!(byte, b'{' | b'[' | b'(');
        let held = if self.quoted { self.types.excludes_string() } else { declared && !nests };
        self.held = held.then(String::new);
    }

    /// The value is whole; false when it is nested too deep.
    fn item(&mut self, given: Given<'_>, at: &mut Cursor<'_>, emit: Emit<'_>) -> bool {
        self.values.wants_text = false;
        let Some(json) = self.held.take() else { return true };
        let text = if json.starts_with('"') { serde_json::from_str::<String>(&json).ok() } else { None };
        let Some(text) = text else {
            emit(&json, at.look..at.look);
            return true;
        };
        let spelling = Spelling { python: given.syntax.is_python(), max_depth: self.max_depth };
        let Ok(read) = typed(&text, self.types, spelling) else { return false };
        at.note_read(&read, at.look);
        if self.quoted {
            at.note(if read.fits { FaultKind::Repaired } else { FaultKind::WrongType }, at.look);
        }
        emit(&read.json, at.look..at.look);
        true
    }
}
