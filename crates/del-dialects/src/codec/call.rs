//! A whole call as one JSON object: name, arguments, perhaps an id, in any order. A filter on the members that the reader
//! of values finds.

mod member;
mod text;
mod whole;
mod write;

use super::misplaced::misplaced;
use crate::cursor::{Cursor, Emit};
use crate::dialect::CallForm;
use crate::fault::FaultKind;
use crate::tool::{Tool, place_of, takes_some};
use crate::value::{Given, Marks, Progress, Reader};
use member::{Member, member_of};
pub(crate) use member::{NAMES, is_usual};
pub(crate) use text::{arguments_of_text, unwrapped};
use text::{owned_string, plain_text, string};
pub(crate) use whole::Whole;
pub(crate) use write::{drop_id, write};

/// Reads one call object. The name is known before any argument text is passed on.
#[derive(Debug, Clone)]
pub(crate) struct CallReader {
    pub(crate) values: Reader,
    member: Member,
    into: Into,
    /// The value that is being read, as JSON text.
    token: String,
    pub(crate) name: Option<String>,
    pub(crate) id: Option<String>,
    /// Arguments that came before the name.
    early: String,
    args: Args,
    /// Before the name, only keys of a call are taken: anything else is data.
    strict: bool,
    /// It is no object of its syntax.
    malformed: bool,
    definition: Definition,
    /// Keys that mean nothing: their values may be arguments.
    unknown: Vec<String>,
    max_depth: usize,
}

/// Whether the object defines a tool, as the model was told it: its parameters are a schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Definition {
    None,
    /// It has a description.
    Begun,
    /// And parameters behind it, where the form has arguments.
    Sure,
}

/// So many keys without a meaning are remembered.
const MAX_UNKNOWN: usize = 16;

/// Where the value at hand goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Into {
    Nothing,
    Token,
    Arguments,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Args {
    None,
    Open,
    Done,
}

/// How far a call object is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CallProgress {
    More,
    /// The name is known, and the arguments begin at `look`, or were read before: the reader stops here once.
    Named,
    /// The object is closed.
    Done,
    /// At `look` stands something that is no part of a call object.
    Broken,
    TooDeep,
}

impl CallReader {
    pub(crate) fn new(max_depth: usize, strict: bool) -> Self {
        let mut values = Reader::watching(max_depth);
        values.arguments = 0;
        Self {
            values,
            member: Member::Other,
            into: Into::Nothing,
            token: String::new(),
            name: None,
            id: None,
            early: String::new(),
            args: Args::None,
            strict,
            malformed: false,
            definition: Definition::None,
            unknown: Vec::new(),
            max_depth,
        }
    }

    /// True once the arguments are whole.
    pub(crate) fn has_args(&self) -> bool {
        self.args == Args::Done
    }

    /// True for the definition of a tool.
    pub(crate) fn is_definition(&self) -> bool {
        self.definition == Definition::Sure
    }

    /// True where no form of the same syntax reads the object any further.
    pub(crate) fn is_malformed(&self) -> bool {
        self.malformed
    }

    /// True inside a string of the arguments that goes on with `piece` as it stands.
    pub(crate) fn passes(&self, marks: &Marks, piece: &str) -> bool {
        matches!(self.into, Into::Arguments) && self.values.passes(marks, piece)
    }

    /// Arguments that are read whole before they are passed on, as far as they are there.
    pub(crate) fn buffered(&self) -> &str {
        if self.args == Args::Open && self.into == Into::Token { &self.token } else { "" }
    }

    /// Arguments that came before the name; asking takes them.
    pub(crate) fn take_early(&mut self) -> String {
        std::mem::take(&mut self.early)
    }

    /// Reads on at the byte at hand. `emit` gets argument text, and only after [`CallProgress::Named`] was returned.
    pub(crate) fn read(
        &mut self,
        form: &CallForm,
        callee: Callee<'_>,
        given: Given<'_>,
        at: &mut Cursor<'_>,
        emit: Emit<'_>,
    ) -> CallProgress {
        loop {
            let Self { values, token, into, .. } = &mut *self;
            let progress = values.read(given, at, &mut |json, range| match into {
                Into::Nothing => {}
                Into::Token => token.push_str(json),
                Into::Arguments => emit(json, range),
            });
            let stop = match progress {
                Progress::More => Some(CallProgress::More),
                Progress::TooDeep => Some(CallProgress::TooDeep),
                Progress::Key => (!self.key(form, callee)).then_some(CallProgress::Broken),
                Progress::Value(byte) => self.value(byte, at),
                Progress::Item => self.item(callee, emit, at),
                Progress::Empty | Progress::Unnamed(_) => None,
                Progress::Done => {
                    let named = self.item(callee, emit, at);
                    Some(named.unwrap_or_else(|| {
                        self.note_unknown(callee, at);
                        at.kept = at.look;
                        CallProgress::Done
                    }))
                }
                Progress::Broken => {
                    self.malformed = true;
                    Some(CallProgress::Broken)
                }
            };
            if let Some(stop) = stop {
                return stop;
            }
        }
    }

    /// A key is whole; false when it shows that this is no call.
    fn key(&mut self, form: &CallForm, callee: Callee<'_>) -> bool {
        let depth = self.values.depth();
        self.values.watch = depth;
        let key = self.values.key();
        self.into = Into::Nothing;
        self.member = member_of(key, form, self.name.is_some());
        let foreign =
            self.member == Member::Other && key != "type" && !form.others.iter().any(|other| other == key);
        let first = self.name.is_none() && self.args == Args::None;
        match key {
            "description" if foreign && self.definition == Definition::None => {
                self.definition = Definition::Begun;
            }
            "parameters" if self.definition == Definition::Begun && form.args != key => {
                (self.definition, self.name) = (Definition::Sure, None);
            }
            _ => {}
        }
        if self.definition == Definition::Sure {
            self.member = Member::Other;
            return !self.strict;
        }
        if form.name.is_none() && depth == 1 && self.name.is_none() {
            self.name = Some(key.to_owned()).filter(|name| !name.is_empty());
            self.member = if self.name.is_some() { Member::Args } else { Member::Other };
            return self.name.is_some() || !self.strict;
        } else if form.name.is_none() && depth == 1 && foreign {
            // Another name, in an object of one call.
            self.member = Member::Args;
        } else if foreign && first && !self.strict && callee.declared(key).is_some() {
            self.member = Member::Tool;
        }
        if foreign && self.unknown.len() < MAX_UNKNOWN {
            self.unknown.push(key.to_owned());
        }
        !(self.strict && foreign && (self.name.is_none() || self.args == Args::None))
    }

    /// The object is over. What stands beside the arguments, or in place of them, may have been meant as some.
    fn note_unknown(&self, callee: Callee<'_>, at: &mut Cursor<'_>) {
        let tool = self.name.as_deref().and_then(|name| callee.declared(name));
        let meant = match self.args {
            Args::None => !self.unknown.is_empty() && takes_some(tool),
            _ => self.unknown.iter().any(|key| place_of(tool, key).is_declared()),
        };
        if meant {
            at.note(FaultKind::GuessedBorder, at.look);
        }
    }

    /// The first byte of a value.
    fn value(&mut self, byte: u8, at: &mut Cursor<'_>) -> Option<CallProgress> {
        match (self.member, byte) {
            (Member::Wrapper | Member::Around, b'{') => {
                self.values.watch += 1;
                return None;
            }
            (Member::Around, _) => self.member = Member::Other,
            (Member::Tool, b'{') => {
                at.note(FaultKind::Repaired, at.look);
                self.name = Some(self.values.key().to_owned());
                self.member = Member::Args;
            }
            (Member::Tool, _) => self.member = Member::Other,
            (Member::Wrapper, _) => {
                self.member = if self.name.is_none() { Member::Name } else { Member::Other };
            }
            (Member::Name, _) if self.name.is_some() => self.member = Member::Other,
            (Member::Args, _) if self.args != Args::None => {
                at.note(FaultKind::DuplicateKey, at.look);
                self.member = Member::Other;
            }
            _ => {}
        }
        match (self.member, byte) {
            (Member::Name, b'"' | b'\'') => {}
            (Member::Name, _) if self.strict => return Some(CallProgress::Broken),
            (Member::Name, _) => self.member = Member::Word,
            _ => {}
        }
        self.token.clear();
        self.into = if matches!(self.member, Member::Name | Member::Word | Member::Id | Member::Args) {
            Into::Token
        } else {
            Into::Nothing
        };
        if self.member == Member::Args {
            let depth = self.values.depth();
            if !matches!(byte, b'{' | b'"' | b'\'' | b'n' | b'N' | b'[') {
                return Some(CallProgress::Broken);
            }
            self.args = Args::Open;
            self.values.arguments = depth + 1;
            // Anything but an object is read whole before it is passed on.
            if byte == b'{' && self.name.is_some() {
                self.into = Into::Arguments;
            }
            if self.name.is_some() {
                return Some(CallProgress::Named);
            }
        }
        None
    }

    /// A value is whole.
    fn item(&mut self, callee: Callee<'_>, emit: Emit<'_>, at: &mut Cursor<'_>) -> Option<CallProgress> {
        let into = std::mem::replace(&mut self.into, Into::Nothing);
        match std::mem::replace(&mut self.member, Member::Other) {
            member @ (Member::Name | Member::Word) => {
                let known = |name: &String| member == Member::Name || callee.declared(name).is_some();
                self.name = owned_string(std::mem::take(&mut self.token))
                    .filter(|name| !name.is_empty() && known(name));
                let tool = self.name.as_deref().and_then(|name| callee.declared(name));
                if misplaced(tool, &self.early).is_some() {
                    at.note(FaultKind::GuessedValue, at.look);
                }
                if self.args == Args::Done && self.name.is_some() {
                    return Some(CallProgress::Named);
                }
            }
            Member::Id => self.id = plain_text(&self.token),
            Member::Args => {
                if into == Into::Token {
                    let object = match self.name.as_deref().and_then(|name| callee.object(name, &self.token))
                    {
                        Some(object) => Some(object),
                        None => unwrapped(&self.token, at, self.max_depth),
                    };
                    let Some(object) = object else { return Some(CallProgress::Broken) };
                    if let Some(name) = &self.name {
                        if misplaced(callee.declared(name), &object).is_some() {
                            at.note(FaultKind::GuessedValue, at.look);
                        }
                        emit(&object, at.look..at.look);
                    } else {
                        self.early = object;
                    }
                }
                self.args = Args::Done;
            }
            Member::Wrapper | Member::Around | Member::Tool | Member::Other => {}
        }
        None
    }
}

/// The tools that may be called.
#[derive(Clone, Copy)]
pub(crate) struct Callee<'a> {
    pub(crate) tools: &'a [Tool],
    /// A text in place of the arguments is the value of the only parameter.
    pub(crate) takes_text: bool,
}

impl<'a> Callee<'a> {
    fn declared(self, name: &str) -> Option<&'a Tool> {
        self.tools.iter().rfind(|tool| tool.name == name)
    }

    /// The arguments that a JSON string stands for, where it is a text and not an object.
    fn object(self, name: &str, json: &str) -> Option<String> {
        if !self.takes_text || string(json)?.trim_start().starts_with('{') {
            return None;
        }
        arguments_of_text(self.declared(name), json)
    }
}
