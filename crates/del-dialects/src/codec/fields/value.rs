//! From a field's text to a member of the arguments.

use std::borrow::Cow;
use std::ops::ControlFlow::{Break, Continue};

use super::delimiters::{Delimiter, Expected, FieldMarks};
use super::header::Header;
use super::repeated::Repeated;
use super::sole::{Sole, trailing_space};
use super::xml::{SECTION, entities_read, half_entity, unescaped};
use super::{FieldsReader, On, Phase, Step, elements, escaped, yaml};
use crate::codec::ArgsProgress;
use crate::dialect::FieldForm;
use crate::event::End;
use crate::fault::FaultKind;
use crate::scan::Scan;
use crate::schema::Types;
use crate::tool::{Tool, is_constant, may_have, may_wrap, misplaces, place_of, types_of};
use crate::typed::{Spelling, TooDeep, Typed, as_json, typed};
use crate::value::{escape, members, quoted, white_space};

/// So much of a value that went out is remembered at least, in bytes.
pub(super) const MAX_LAST: usize = 64;

/// The field at hand.
#[derive(Debug, Default, Clone)]
pub(super) struct Field {
    pub(super) key: String,
    pub(super) types: Types,
    /// The value goes out while it arrives.
    pub(super) streams: bool,
    /// The field itself says that the value is JSON.
    pub(super) says_json: bool,
    /// What the closers of the value begin with, where attributes have several: its quote, or the bracket of a tag.
    pub(super) edge: Option<char>,
    /// The value stands on the line of its header.
    pub(super) compact: bool,
    /// The value may be all the arguments: their object in a field of its own.
    pub(super) wraps: bool,
    /// The value may be made of elements.
    pub(super) elements: bool,
    /// So many elements of its key are open in it, or fields that it quotes.
    pub(super) open: usize,
    pub(super) sole: Sole,
}

impl Field {
    /// What may end the value.
    pub(super) fn borders<'m>(&self, marks: &'m FieldMarks) -> &'m Expected {
        if self.elements { &marks.nested } else { &marks.value }
    }
}

impl FieldsReader {
    /// True for a key that has its value, and takes no second one.
    pub(super) fn is_given(&self, key: &str) -> bool {
        let types = self.field.types;
        let lists =
            self.repeated.is_some() && self.field.key == key && (types.array || types == Types::default());
        self.keys.contains(key) && !lists
    }

    /// The value of this field is next.
    pub(super) fn open_field(&mut self, on: &mut On<'_, '_>, header: &Header<'_>) -> Step {
        if self.field.key != header.key {
            self.tell_repeated(on)?;
        }
        let (tool, key) = (on.given.tool, header.key.clone().into_owned());
        let (types, wraps) = (types_of(tool, &key), may_wrap(tool, &key));
        self.field = Field { key, types, wraps, ..Field::default() };
        if let Some(word) = header.type_word {
            self.set_type(on.given.form, word);
        }
        Continue(())
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

    /// At the first byte behind the header: the white space there may belong to the markup, and a section of XML does
    /// not go out while it arrives.
    pub(super) fn value_start(&mut self, on: &mut On<'_, '_>) -> Step {
        let (form, rest) = (on.given.form, &on.text[on.kept..]);
        let mut markup = match (&on.given.marks.line, rest.as_bytes()) {
            (Some(line), _) if rest.starts_with(&line.space) => line.space.len(),
            (Some(line), _) if line.space.starts_with(rest) && !on.last() => {
                return Break(ArgsProgress::More);
            }
            (None, [] | [b'\r']) if form.framed && !on.last() => return Break(ArgsProgress::More),
            (None, [b'\n', ..]) if form.framed => 1,
            (None, [b'\r', b'\n', ..]) if form.framed => 2,
            _ => 0,
        };
        // The end of the header once more.
        let again = |close: &String| close.bytes().next_back() == rest.bytes().next();
        if markup == 0 && form.framed && form.header_close.iter().any(again) {
            match rest.as_bytes() {
                [_] if !on.last() => return Break(ArgsProgress::More),
                [_, b'\n', ..] => {
                    self.guess(on, on.kept);
                    markup = 2;
                }
                _ => {}
            }
        }
        let rest = &on.text.as_bytes()[on.kept + markup..];
        if form.yaml && rest.is_empty() && !on.last() {
            return Break(ArgsProgress::More);
        }
        let text = self.field.types.only_string() && !form.json && !(form.yaml && yaml::is_marked(rest));
        let mut section = false;
        if text && form.xml {
            let blank = white_space(rest);
            on.again += blank as u64;
            if SECTION.as_bytes().starts_with(&rest[blank..]) && !on.last() {
                return self.wait(on, on.kept, blank as u64);
            }
            section = rest[blank..].starts_with(SECTION.as_bytes());
        }
        self.field.compact = form.framed && markup == 0;
        self.field.streams = text && !section;
        self.last.clear();
        on.kept += markup;
        on.look = on.kept;
        self.begin_value(on, text)?;
        self.enter(Phase::Value);
        Continue(())
    }

    fn begin_value(&mut self, on: &mut On<'_, '_>, text: bool) -> Step {
        let nest = on.given.form.nest.as_ref();
        let collects = nest.is_some_and(|nest| nest.written) && !text && !self.field.wraps;
        if !collects {
            self.tell_repeated(on)?;
        }
        self.field.elements = nest.is_some() && self.field.types.may_nest();
        self.scratch.clear();
        self.scratch.push_str(if self.keys.is_empty() { "{\"" } else { ",\"" });
        escape(&self.field.key, &mut self.scratch);
        self.scratch.push_str(if self.field.streams { "\":\"" } else { "\":" });
        if !self.keys.contains(&self.field.key) {
            self.keys.insert(self.field.key.clone());
        }
        if collects {
            let lead = &self.scratch;
            self.repeated.get_or_insert_with(|| Repeated { lead: lead.clone(), values: Vec::new() });
        } else if !self.field.wraps {
            on.put(&self.scratch);
        }
        Continue(())
    }

    /// Inside the value, up to what may end it.
    pub(super) fn value(&mut self, on: &mut On<'_, '_>) -> Step {
        let (text, borders) = (on.text, self.field.borders(on.given.marks));
        let mut hit = on.find(&borders.automaton, &mut self.scan);
        // A cut answer might have gone on with a longer mark.
        if hit.is_none() && on.end == Some(End::End) {
            hit = borders.automaton.take(&mut self.scan, &mut on.at.look, &mut on.at.again);
        }
        let mut end = hit.map_or(on.look - borders.automaton.pending(&self.scan), |hit| hit.start);
        if on.given.marks.text.is_some() && hit.is_none() {
            end -= trailing_space(&text[on.kept..end]);
        }
        if self.field.streams && end > on.kept {
            // Half an entity waits for its other half.
            let half = on.given.form.xml && hit.is_none();
            let end = end - if half { half_entity(&text[on.kept..end]) } else { 0 };
            self.pass_on(on, end);
        }
        let Some(hit) = hit else {
            if on.last() && on.given.marks.ends_with_the_answer {
                let space = if on.given.marks.text.is_some() { trailing_space(&text[on.kept..]) } else { 0 };
                let end = text.len() - space;
                if self.field.sole.is_odd() {
                    self.guess(on, end);
                }
                self.close_value(on, end)?;
                return Break(ArgsProgress::Ended);
            }
            return Break(ArgsProgress::More);
        };
        let (closer, behind) = match borders.delimiter(hit) {
            Delimiter::Body(step) => match self.field.sole.holds(&text[hit.start..hit.end], &text[hit.end..])
            {
                None if !on.last() => return self.wait(on, hit.start, (hit.end - hit.start) as u64),
                Some(true) => {
                    on.rewind(hit.end);
                    self.scan = Scan::default();
                    return Continue(());
                }
                _ => (Some(step), hit.end),
            },
            Delimiter::Outside => (None, hit.start),
            delimiter => return self.border(on, delimiter, hit),
        };
        let space = if closer.is_none() { trailing_space(&text[on.kept..hit.start]) } else { 0 };
        self.close_value(on, hit.start - space)?;
        on.kept = behind;
        on.rewind(behind);
        Break(ArgsProgress::Done(closer))
    }

    /// Passes on the text up to `end` as a part of a string.
    fn pass_on(&mut self, on: &mut On<'_, '_>, end: usize) {
        let mut text = Cow::Borrowed(&on.text[on.kept..end]);
        if on.given.form.xml && text.contains('&') {
            text = Cow::Owned(entities_read(&text));
        }
        if on.given.marks.slips {
            self.remember(&text);
        }
        self.field.sole.pass(&text, on.given.marks.text.as_deref());
        (on.emit)(escaped(&text, &mut self.scratch), on.at.kept..end);
        on.kept = end;
    }

    /// Remembers the end of a value that goes out.
    pub(super) fn remember(&mut self, text: &str) {
        let ending = |text: &str| {
            let mut from = text.len().saturating_sub(MAX_LAST);
            while !text.is_char_boundary(from) {
                from -= 1;
            }
            from
        };
        let from = ending(text);
        if from > 0 {
            self.last.clear();
        } else if self.last.len() > 4 * MAX_LAST {
            self.last.drain(..ending(&self.last));
        }
        self.last.push_str(&text[from..]);
    }

    /// The value ends here.
    pub(super) fn close_value(&mut self, on: &mut On<'_, '_>, end: usize) -> Step {
        if self.field.streams {
            self.pass_on(on, end);
            on.put("\"");
            return Continue(());
        }
        let (at, text) = (on.kept, &on.text[on.kept..end]);
        on.kept = end;
        let Ok(read) = self.read_value(on, text) else { return Break(ArgsProgress::TooDeep) };
        if let Some(repeated) = &mut self.repeated {
            repeated.values.push((text.to_owned(), read));
            return Continue(());
        }
        self.note_read(on, &read, at);
        if self.field.wraps
            && let Some(members) = wrapped(on.given.tool, &read.json)
        {
            on.note(FaultKind::GuessedValue, at);
            (on.emit)(&self.scratch[..1], at..at);
            (on.emit)(members, at..end);
        } else if self.field.wraps {
            // The tool has no such argument: a text may be all of them, in another form.
            if read.json.starts_with('"') {
                on.note(FaultKind::GuessedValue, at);
            }
            self.scratch.push_str(&read.json);
            (on.emit)(&self.scratch, at..end);
        } else {
            (on.emit)(&read.json, at..end);
        }
        Continue(())
    }

    /// Remembers what was odd in a value of the field at hand.
    pub(super) fn note_read(&self, on: &mut On<'_, '_>, read: &Typed, at: usize) {
        on.at.note_read(read, at);
        if read.json.starts_with(['{', '[']) && misplaces(on.given.tool, &self.field.key, false) {
            on.note(FaultKind::GuessedValue, at);
        }
    }

    /// A whole value as JSON: what the form or the field itself says it is, or what its declared types make of it.
    fn read_value(&self, on: &On<'_, '_>, text: &str) -> Result<Typed, TooDeep> {
        let (form, tool, field) = (on.given.form, on.given.tool, &self.field);
        if let (true, Some(marks)) = (field.elements, &on.given.marks.elements) {
            let place = place_of(tool, &field.key);
            return elements::read(form, marks, text, place, field.types, self.max_depth);
        }
        let text = if form.xml { Cow::Owned(unescaped(text)) } else { Cow::Borrowed(text) };
        let spelling = Spelling { python: form.python, max_depth: self.max_depth };
        if form.yaml
            && field.types.may_nest()
            && let Some(node) = yaml::nodes(&text, self.max_depth)
        {
            let fits = if node.starts_with('[') { field.types.array } else { field.types.object };
            return Ok(Typed { json: node, fits: fits || field.types.is_unknown(), mended: None });
        }
        if form.yaml
            && !field.types.excludes_string()
            && let Some(text) = yaml::text(&text)
        {
            return Ok(Typed { json: quoted(&text), fits: true, mended: None });
        }
        let says_json = form.json || field.says_json || (form.yaml && text.trim_start().starts_with('"'));
        if says_json && let Some(read) = as_json(text.trim(), spelling)? {
            return Ok(read);
        }
        let types = match () {
            () if field.says_json => Types::default(),
            () if is_constant(tool, &field.key, text.trim()) => Types::TEXT,
            () => field.types,
        };
        let read = typed(&text, types, spelling)?;
        // What says that it is JSON, and is none, is text, whatever is declared.
        let fits = read.fits && !(read.json.starts_with('"') && field.types.excludes_string());
        Ok(Typed { fits, ..read })
    }
}

/// The members of an object that is all the arguments: there are some, and the tool knows them all.
fn wrapped<'j>(tool: Option<&Tool>, json: &'j str) -> Option<&'j str> {
    let members = members(json)?;
    let all = !members.is_empty() && members.iter().all(|(key, _)| may_have(tool, key));
    json.strip_prefix('{')?.strip_suffix('}').filter(|_| all)
}
