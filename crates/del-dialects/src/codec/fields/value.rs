//! From a field's text to a member of the arguments.

use std::borrow::Cow;

use super::elements;
use super::header::Header;
use super::lookahead::{Found, Searched};
use super::marks::{Border, Next};
use super::repeated::Repeated;
use super::xml::{SECTION, entities_read, half_entity, unescaped};
use super::{FieldsProgress, FieldsReader, On, Phase, Stop, escaped};
use crate::codec::members;
use crate::dialect::FieldForm;
use crate::fault::FaultKind;
use crate::message::Tool;
use crate::schema::{
    Place, Spelling, TooDeep, Typed, Types, as_json, escape, is_constant, may_have, typed, types_of,
};
use crate::turn::End;
use crate::value::white_space;

/// The field at hand.
#[derive(Debug, Default, Clone)]
pub(super) struct Field {
    pub(super) key: String,
    pub(super) types: Types,
    /// The value goes out while it arrives.
    pub(super) streams: bool,
    /// The field itself says that the value is JSON.
    pub(super) says_json: bool,
    /// The value stands on the line of its header.
    pub(super) compact: bool,
    /// The value may be all the arguments: their object in a field of its own.
    pub(super) wraps: bool,
    /// The value may be made of elements.
    pub(super) elements: bool,
    /// So many elements of its key are open in it.
    pub(super) open: usize,
}

impl FieldsReader {
    /// True for a key that has its value, and takes no second one.
    pub(super) fn is_given(&self, key: &str) -> bool {
        let listed = self.repeated.as_ref().is_some_and(|values| values.is_of(key) && values.may_be_list());
        self.keys.contains(key) && !listed
    }

    /// The value of this field is next.
    pub(super) fn open_field(&mut self, on: &On<'_, '_>, header: &Header<'_>) {
        let tool = on.given.tool;
        self.field.key.clear();
        self.field.key.push_str(&header.key);
        self.field.types = types_of(tool, &header.key);
        self.field.says_json = false;
        self.field.wraps = may_wrap(tool, &header.key);
        if let Some(word) = header.type_word {
            self.set_type(on.given.form, word);
        }
    }

    /// The field itself says what its value is.
    pub(super) fn set_type(&mut self, form: &FieldForm, word: &str) {
        match form.types_said(Some(word)) {
            Some(types) if types.only_string() && self.field.wraps => {}
            Some(types) if types.only_string() || form.nest.is_some() => self.field.types = types,
            Some(_) => self.field.says_json = true,
            None => {}
        }
    }

    /// At the first byte behind the header: the line feed there may belong to the markup, and a section of XML does not
    /// go out while it arrives.
    pub(super) fn value_start(&mut self, on: &mut On<'_, '_>) -> Stop {
        let form = on.given.form;
        let line = match &on.bytes[on.kept..] {
            _ if !form.framed => 0,
            [] | [b'\r'] if !on.last() => return Some(FieldsProgress::More),
            [b'\n', ..] => 1,
            [b'\r', b'\n', ..] => 2,
            _ => 0,
        };
        let text = self.field.types.only_string() && !form.json;
        let mut streams = text;
        if text && form.xml {
            let rest = &on.bytes[on.kept + line..];
            let blank = white_space(rest);
            on.again += blank as u64;
            let half = SECTION.as_bytes().starts_with(&rest[blank..]);
            if half && !on.last() {
                return self.wait(on, blank);
            }
            streams = !half && !rest[blank..].starts_with(SECTION.as_bytes());
        }
        self.field.compact = form.framed && line == 0;
        self.field.streams = streams;
        on.kept += line;
        on.look = on.kept;
        self.begin_value(on, text);
        self.enter(Phase::Value);
        None
    }

    fn begin_value(&mut self, on: &mut On<'_, '_>, text: bool) {
        let form = on.given.form;
        let written = form.nest.as_ref().is_some_and(|nest| nest.written);
        let collects = written && !text && !self.field.wraps;
        let collected =
            self.repeated.as_ref().is_some_and(|values| collects && values.is_of(&self.field.key));
        if !collected {
            self.tell_repeated(on);
        }
        self.scratch.clear();
        self.scratch.push_str(if self.keys.is_empty() { "{\"" } else { ",\"" });
        escape(&self.field.key, &mut self.scratch);
        self.scratch.push_str("\":");
        if self.field.streams {
            self.scratch.push('"');
        }
        if !self.keys.contains(&self.field.key) {
            self.keys.insert(self.field.key.clone());
        }
        if collects {
            let values = || Repeated::new(&self.field.key, &self.scratch, self.field.types);
            self.repeated = self.repeated.take().or_else(|| Some(values()));
        } else if !self.field.wraps {
            on.put(&self.scratch);
        }
        self.field.elements = form.nest.is_some() && self.field.types.may_nest();
        self.field.open = 0;
    }

    /// Inside the value, up to what may end it.
    pub(super) fn value(&mut self, on: &mut On<'_, '_>) -> Stop {
        let (text, marks) = (on.given.text, on.given.marks);
        let borders = if self.field.elements { &marks.nested } else { &marks.value };
        let mut hit = borders.automaton.find(&mut self.scan, on.bytes, &mut on.look, &mut on.again);
        // A cut answer might have gone on with a longer mark.
        if hit.is_none() && on.given.end == Some(End::End) {
            hit = borders.automaton.take(&mut self.scan, &mut on.look, &mut on.again);
        }
        let end = hit.map_or(on.look - borders.automaton.pending(&self.scan), |hit| hit.start);
        if self.field.streams && end > on.kept {
            // Half an entity waits for its other half.
            let half = on.given.form.xml && hit.is_none();
            let end = end - if half { half_entity(&text[on.kept..end]) } else { 0 };
            self.pass_on(on, &text[on.kept..end]);
            on.kept = end;
        }
        let Some(hit) = hit else {
            if on.last() && marks.ends_with_the_answer {
                self.close_value(on, text.len() - on.kept);
                on.kept = text.len();
                return Some(FieldsProgress::Ended);
            }
            return Some(FieldsProgress::More);
        };
        let found = Found { border: borders.kind(hit), start: hit.start - on.kept, end: hit.end - on.kept };
        let (next, kept) = match found.border {
            Border::Body(step) => (Next::Closer(step), hit.end),
            Border::Outside => (Next::Opener, hit.start),
            _ => {
                self.enter(Phase::Border { found, searched: Searched::default() });
                return None;
            }
        };
        self.close_value(on, found.start);
        on.kept = kept;
        on.rewind(kept);
        Some(FieldsProgress::Done(next))
    }

    /// Passes on `text`, which begins at the first kept byte, as a part of a string.
    fn pass_on(&mut self, on: &mut On<'_, '_>, text: &str) {
        let range = on.kept..on.kept + text.len();
        let read = if on.given.form.xml && text.contains('&') {
            Cow::Owned(entities_read(text))
        } else {
            Cow::Borrowed(text)
        };
        (on.emit)(escaped(&read, &mut self.scratch), range);
    }

    /// The value ends at `end`, counted from the first kept byte.
    pub(super) fn close_value(&mut self, on: &mut On<'_, '_>, end: usize) {
        let at = on.kept;
        let text = &on.given.text[at..at + end];
        if self.field.streams {
            self.pass_on(on, text);
            (on.emit)("\"", at + end..at + end);
            return;
        }
        let Ok(read) = self.read_value(on, text) else {
            self.too_deep = true;
            return;
        };
        if let Some(values) = &mut self.repeated {
            values.add(text, read, &mut self.notes, at);
            return;
        }
        self.notes.add_read(&read, at);
        let json = read.json;
        let range = at..at + end;
        if !self.field.wraps {
            (on.emit)(&json, range);
        } else if let Some(members) = wrapped(on.given.tool, &json) {
            self.notes.add(FaultKind::GuessedValue, at);
            on.put(&self.scratch[..1]);
            (on.emit)(members, range);
        } else {
            self.scratch.push_str(&json);
            (on.emit)(&self.scratch, range);
        }
    }

    /// A whole value as JSON.
    fn read_value(&self, on: &On<'_, '_>, text: &str) -> Result<Typed, TooDeep> {
        let (form, tool) = (on.given.form, on.given.tool);
        if let (true, Some(nest), Some(marks)) = (self.field.elements, &form.nest, &on.given.marks.elements) {
            let place = Place::argument(tool, &self.field.key);
            return elements::read(form, nest, marks, text, place, self.field.types, self.max_depth);
        }
        let plain = if form.xml { Cow::Owned(unescaped(text)) } else { Cow::Borrowed(text) };
        let types = match () {
            () if self.field.says_json => Types::default(),
            () if is_constant(tool, &self.field.key, plain.trim()) => Types::TEXT,
            () => self.field.types,
        };
        let spelling = Spelling { python: form.python, max_depth: self.max_depth };
        raw_value(&plain, form.json || self.field.says_json, types, self.field.types, spelling)
    }
}

/// Raw text as a value: JSON where its form or its field says so and it is JSON, else what its types make of it.
pub(crate) fn raw_value(
    text: &str,
    json: bool,
    types: Types,
    declared: Types,
    spelling: Spelling,
) -> Result<Typed, TooDeep> {
    if json && let Some(read) = as_json(text.trim(), spelling)? {
        return Ok(read);
    }
    // What says that it is JSON, and is none, is text, whatever is declared.
    let read = typed(text, types, spelling)?;
    let text = read.json.starts_with('"');
    Ok(Typed { fits: read.fits && !(text && declared.excludes_string()), ..read })
}

/// True for a key under which models put all the arguments, where the tool has none of this name.
fn may_wrap(tool: Option<&Tool>, key: &str) -> bool {
    tool.is_some()
        && matches!(key, "arguments" | "input" | "parameters" | "properties")
        && !may_have(tool, key)
}

/// The members of an object that is all the arguments: there are some, and the tool knows them all.
fn wrapped<'j>(tool: Option<&Tool>, json: &'j str) -> Option<&'j str> {
    let members = members(json)?;
    let all = !members.is_empty() && members.iter().all(|(key, _)| may_have(tool, key));
    json.strip_prefix('{')?.strip_suffix('}').filter(|_| all)
}
