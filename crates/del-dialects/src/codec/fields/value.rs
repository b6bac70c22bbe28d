//! From a field's text to a member of the arguments.

use std::borrow::Cow;

use super::elements::{self, Element};
use super::header::Header;
use super::repeated::Repeated;
use super::xml::{entities_read, unescaped};
use super::{FieldMarks, FieldsReader, Phase};
use crate::codec::json::Emit;
use crate::codec::members;
use crate::dialect::FieldForm;
use crate::fault::FaultKind;
use crate::message::Tool;
use crate::parse::is_token;
use crate::schema::{Place, Types, escape, may_have, quoted, typed, types_of};

impl FieldsReader {
    pub(super) fn may_follow(&self, key: &str, tool: Option<&Tool>, form: &FieldForm) -> bool {
        !self.keys.iter().any(|seen| seen == key)
            && may_have(tool, key)
            && ((form.framed && !self.compact)
                || tool.is_some()
                || form.open.iter().all(|open| is_token(open))
                || (self.words.is_some() && form.repeats_key() && elements::is_key(key)))
    }

    pub(super) fn open_field(&mut self, form: &FieldForm, header: &Header, tool: Option<&Tool>, at: usize) {
        let collected =
            self.repeated.as_ref().is_some_and(|values| values.is_of(&header.key) && values.may_be_list());
        if self.keys.contains(&header.key) && !collected {
            self.notes.add(FaultKind::DuplicateKey, at);
        }
        self.key.clone_from(&header.key);
        self.keys.push(header.key.clone());
        self.types = types_of(tool, &header.key);
        self.says_json = false;
        self.wraps = may_wrap(tool, &header.key);
        if let Some(word) = &header.type_word {
            self.set_type(form, word);
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

    pub(super) fn begin_value(
        &mut self,
        (form, marks, tool): (&FieldForm, &FieldMarks, Option<&Tool>),
        at: usize,
        emit: Emit<'_>,
    ) {
        self.deaf = 0;
        self.inside = 0;
        self.sure = false;
        self.words = None;
        self.streams = self.types.only_string() && !form.xml;
        self.undecided = self.types.only_string() && form.xml;
        let written = form.nest.as_ref().is_some_and(|nest| nest.written);
        let collects = written && !self.streams && !self.undecided && !self.wraps;
        let collected = self.repeated.as_ref().is_some_and(|values| collects && values.is_of(&self.key));
        if !collected {
            self.tell_repeated((form, marks, tool), at, emit);
        }
        self.scratch.clear();
        self.scratch.push(if self.keys.len() == 1 { '{' } else { ',' });
        self.scratch.push_str(&quoted(&self.key));
        self.scratch.push(':');
        if self.streams {
            self.scratch.push('"');
        }
        if collects {
            let values = || Repeated::new(&self.key, &self.scratch, self.types);
            self.repeated = self.repeated.take().or_else(|| Some(values()));
        } else if !self.wraps {
            emit(&self.scratch, at..at);
        }
        self.elements = (form.nest.is_some() && self.types.may_nest()).then_some(0);
        let elements = self.elements.is_some();
        self.closer = (elements || form.repeats_key()).then(|| marks.ends_of(form, &self.key, elements));
        self.own = None;
        self.enter(Phase::Value);
    }

    pub(super) fn pass_on(&mut self, form: &FieldForm, text: &str, at: usize, emit: Emit<'_>) {
        let range = at..at + text.len();
        let plain = if form.xml && text.contains('&') {
            Cow::Owned(entities_read(text))
        } else {
            Cow::Borrowed(text)
        };
        let text = plain.as_ref();
        if text.bytes().any(|byte| byte < 0x20 || byte == b'"' || byte == b'\\') {
            self.scratch.clear();
            escape(text, &mut self.scratch);
            emit(&self.scratch, range);
        } else {
            emit(text, range);
        }
    }

    pub(super) fn close_value(
        &mut self,
        (form, marks, tool): (&FieldForm, &FieldMarks, Option<&Tool>),
        text: &str,
        at: usize,
        emit: Emit<'_>,
    ) {
        if self.streams {
            self.pass_on(form, text, at, emit);
            emit("\"", at + text.len()..at + text.len());
            return;
        }
        let read = match (self.elements, &form.nest, &marks.elements) {
            (Some(_), Some(nest), Some(marks)) => {
                let place = Place::argument(tool, &self.key);
                elements::read(form, nest, marks, text, place, self.types, self.max_depth)
            }
            _ => {
                let plain = if form.xml { unescaped(text) } else { text.to_owned() };
                let types = if self.says_json { Types::default() } else { self.types };
                typed(&plain, types, self.max_depth).map(|(json, fits)| Element { json, fits, closed: true })
            }
        };
        let Ok(Element { json, fits, closed }) = read else {
            self.too_deep = true;
            return;
        };
        if !closed {
            self.notes.add(FaultKind::MissingCloser, at);
        }
        if let Some(values) = &mut self.repeated {
            if !values.add(text, json, fits) {
                self.notes.add(FaultKind::WrongType, at);
            }
            return;
        }
        if !fits {
            self.notes.add(FaultKind::WrongType, at);
        }
        let range = at..at + text.len();
        if !self.wraps {
            emit(&json, range);
        } else if let Some(members) = wrapped(tool, &json) {
            self.notes.add(FaultKind::Repaired, at);
            emit(&self.scratch[..1], at..at);
            emit(members, range);
        } else {
            self.scratch.push_str(&json);
            emit(&self.scratch, range);
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
