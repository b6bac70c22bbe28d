//! From a field's text to a member of the arguments.

use std::borrow::Cow;

use super::ahead::AHEAD;
use super::elements;
use super::header::Header;
use super::marks::ValueEnd;
use super::repeated::Repeated;
use super::xml::{SECTION, entities_read, half_entity, unescaped};
use super::{FieldsProgress, FieldsReader, On, Phase, Stop};
use crate::codec::members;
use crate::dialect::FieldForm;
use crate::dialect::is_token;
use crate::fault::FaultKind;
use crate::message::Tool;
use crate::schema::{
    Place, Spelling, Typed, Types, as_json, escape, is_constant, may_have, quoted, typed, types_of,
};
use crate::value::white_space;

impl FieldsReader {
    /// Reads on inside the value, up to what may end it.
    pub(super) fn value(&mut self, on: &mut On<'_, '_>) -> Stop {
        let text = on.given.text;
        let own = self.closer.as_ref().map(|(automaton, kinds)| (automaton, &kinds[..]));
        let Some((automaton, kinds)) = own.or_else(|| on.given.marks.ends(self.compact)) else {
            return Some(FieldsProgress::Broken);
        };
        let hit = automaton.find(&mut self.scan, on.bytes, &mut on.look, &mut on.again);
        let kind = hit.map(|hit| kinds[hit.pattern as usize]);
        let body = matches!(kinds, [ValueEnd::Body(_) | ValueEnd::Message, ..]);
        let end = hit.map_or(on.look - automaton.pending(&self.scan), |hit| hit.start);
        self.decide(on, end);
        // Half an entity waits for its other half.
        let half = on.given.form.xml && hit.is_none();
        let end = end - if half { half_entity(&text[on.kept..end]) } else { 0 };
        // Words are held until what follows tells, but not for long.
        let far = |words: &usize| end > on.kept + *words + AHEAD || (on.last() && hit.is_none());
        self.words = self.words.filter(|words| !far(words));
        let end = self.words.map_or(end, |words| end.min(on.kept + words));
        if self.streams && end > on.kept {
            let passed = end - on.kept;
            self.pass_on(on, &text[on.kept..end]);
            self.deaf = self.deaf.saturating_sub(passed);
            self.inside = self.inside.saturating_sub(passed);
            self.words = self.words.map(|words| words - passed);
            on.kept = end;
        }
        match hit.zip(kind) {
            Some((hit, kind)) => self.may_end(on, kind, (hit.start - on.kept, hit.end - on.kept)),
            None if on.last() && body => {
                self.close_value(on, text.len() - on.kept);
                on.kept = text.len();
                Some(FieldsProgress::Ended)
            }
            None => Some(FieldsProgress::More),
        }
    }

    /// Whether the value goes out while it arrives, once what there is of it up to `end` tells.
    fn decide(&mut self, on: &mut On<'_, '_>, end: usize) {
        if !self.undecided {
            return;
        }
        let begun = self.begun(on, end);
        if !begun.is_empty() && !SECTION.starts_with(begun) {
            self.undecided = false;
            self.streams = !begun.starts_with(SECTION);
            if self.streams {
                on.put("\"");
            }
        }
    }

    /// The value that is held, up to `end`, without the white space before it.
    pub(super) fn begun<'t>(&mut self, on: &On<'t, '_>, end: usize) -> &'t str {
        let value = &on.given.text[on.kept..end];
        if let Some(rest) = value.as_bytes().get(self.white..) {
            self.white += white_space(rest);
        }
        value.get(self.white..).unwrap_or_default()
    }

    /// Whether a field of this key may open here, though nothing closed the value before it.
    pub(super) fn may_follow(&self, on: &On<'_, '_>, key: &str) -> bool {
        let (form, tool) = (on.given.form, on.given.tool);
        !self.keys.contains(key)
            && may_have(tool, key)
            && ((form.framed && !self.compact)
                || tool.is_some()
                || form.open.iter().all(|open| is_token(open))
                || (self.words.is_some() && form.repeats_key() && elements::is_key(key)))
    }

    /// True for a key that has its value, and takes no second one.
    pub(super) fn is_given(&self, key: &str) -> bool {
        let listed = self.repeated.as_ref().is_some_and(|values| values.is_of(key) && values.may_be_list());
        self.keys.contains(key) && !listed
    }

    /// The value of this field is next; `at` is the end of its header.
    pub(super) fn open_field(&mut self, on: &On<'_, '_>, header: &Header, at: usize) {
        let tool = on.given.tool;
        if self.is_given(&header.key) {
            self.notes.add_markup(FaultKind::DuplicateKey, at);
        }
        self.key.clone_from(&header.key);
        self.types = types_of(tool, &header.key);
        self.says_json = false;
        self.wraps = may_wrap(tool, &header.key);
        if let Some(word) = &header.type_word {
            self.set_type(on.given.form, word);
        }
    }

    /// The field itself says what its value is.
    pub(super) fn set_type(&mut self, form: &FieldForm, word: &str) {
        match form.types_said(Some(word)) {
            Some(types) if types.only_string() && self.wraps => {}
            Some(types) if types.only_string() || form.nest.is_some() => self.types = types,
            Some(_) => self.says_json = true,
            None => {}
        }
    }

    pub(super) fn begin_value(&mut self, on: &mut On<'_, '_>) {
        let form = on.given.form;
        self.white = 0;
        self.deaf = 0;
        self.inside = 0;
        self.sure = false;
        self.words = None;
        let text = self.types.only_string() && !form.json;
        self.streams = text && !form.xml;
        self.undecided = text && form.xml;
        let written = form.nest.as_ref().is_some_and(|nest| nest.written);
        let collects = written && !self.streams && !self.undecided && !self.wraps;
        let collected = self.repeated.as_ref().is_some_and(|values| collects && values.is_of(&self.key));
        if !collected {
            self.tell_repeated(on);
        }
        self.scratch.clear();
        self.scratch.push(if self.keys.is_empty() { '{' } else { ',' });
        self.keys.insert(self.key.clone());
        self.scratch.push_str(&quoted(&self.key));
        self.scratch.push(':');
        if self.streams {
            self.scratch.push('"');
        }
        if collects {
            let values = || Repeated::new(&self.key, &self.scratch, self.types);
            self.repeated = self.repeated.take().or_else(|| Some(values()));
        } else if !self.wraps {
            on.put(&self.scratch);
        }
        self.elements = (form.nest.is_some() && self.types.may_nest()).then_some(0);
        let elements = self.elements.is_some();
        self.closer =
            (elements || form.repeats_key()).then(|| on.given.marks.ends_of(form, &self.key, elements));
        self.own = None;
        self.enter(Phase::Value);
    }

    /// Passes on `text`, which begins at the first kept byte, as a part of a string.
    fn pass_on(&mut self, on: &mut On<'_, '_>, text: &str) {
        let range = on.kept..on.kept + text.len();
        let plain = if on.given.form.xml && text.contains('&') {
            Cow::Owned(entities_read(text))
        } else {
            Cow::Borrowed(text)
        };
        let text = plain.as_ref();
        if text.bytes().any(|byte| byte < 0x20 || byte == b'"' || byte == b'\\') {
            self.scratch.clear();
            escape(text, &mut self.scratch);
            (on.emit)(&self.scratch, range);
        } else {
            (on.emit)(text, range);
        }
    }

    /// The value ends at `end`, counted from the first kept byte.
    pub(super) fn close_value(&mut self, on: &mut On<'_, '_>, end: usize) {
        let (form, tool, at) = (on.given.form, on.given.tool, on.kept);
        let text = &on.given.text[at..at + end];
        if self.streams {
            self.pass_on(on, text);
            (on.emit)("\"", at + end..at + end);
            return;
        }
        let spelling = Spelling { python: form.python, max_depth: self.max_depth };
        let read = match (self.elements, &form.nest, &on.given.marks.elements) {
            (Some(_), Some(nest), Some(marks)) => {
                let place = Place::argument(tool, &self.key);
                elements::read(form, nest, marks, text, place, self.types, self.max_depth)
            }
            _ => {
                let plain = if form.xml { unescaped(text) } else { text.to_owned() };
                let types = match () {
                    () if self.says_json => Types::default(),
                    () if is_constant(tool, &self.key, plain.trim()) => Types::TEXT,
                    () => self.types,
                };
                let json =
                    if form.json || self.says_json { as_json(plain.trim(), spelling) } else { Ok(None) };
                json.and_then(|json| match json {
                    Some(read) => Ok(read),
                    // What says that it is JSON, and is none, is text, whatever is declared.
                    None => typed(&plain, types, spelling).map(|read| {
                        let text = read.json.starts_with('"');
                        Typed { fits: read.fits && !(text && self.types.excludes_string()), ..read }
                    }),
                })
            }
        };
        let Ok(read) = read else {
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
        if !self.wraps {
            (on.emit)(&json, range);
        } else if let Some(members) = wrapped(tool, &json) {
            self.notes.add(FaultKind::GuessedValue, at);
            on.put(&self.scratch[..1]);
            (on.emit)(members, range);
        } else {
            self.scratch.push_str(&json);
            (on.emit)(&self.scratch, range);
        }
    }
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
