//! Writing a field.

use std::borrow::Cow;

use serde_json::value::RawValue;
use serde_json::{Value, from_str};

use super::elements::{self, ElementMarks};
use super::yaml;
use crate::codec::attributes;
use crate::dialect::{FieldForm, KeyKind, Loose, Nest, Slot};
use crate::tool::{Tool, place_of};
use crate::value;
use crate::value::members;

/// Writes one field. `value` is the JSON of the value, `text` the value itself where it is a string.
///
/// Objects and lists are elements where the form writes them so and they come back as they were; JSON otherwise.
pub(crate) fn write(
    form: &FieldForm,
    key: &str,
    value: &str,
    text: Option<&str>,
    tool: Option<&Tool>,
    out: &mut String,
) {
    let place = place_of(tool, key);
    let inside =
        form.nest.as_ref().filter(|nest| nest.written && value.starts_with(['{', '['])).and_then(|nest| {
            let mut inside = String::new();
            children(form, nest, value, &mut inside)?;
            let types = form.types_said(Some(form.type_word(value))).filter(|_| form.says_type());
            let types = types.unwrap_or_else(|| place.types());
            let marks = ElementMarks::new(form);
            let read = elements::read(form, &marks, &inside, place, types, MAX_DEPTH).ok()?;
            let same = read.mended.is_none()
                && from_str::<Value>(&read.json).ok()? == from_str::<Value>(value).ok()?;
            same.then_some(inside)
        });
    match inside {
        Some(inside) => fill(form, &form.parts, key, value, &inside, out),
        None => fill(form, &form.parts, key, value, &plain(form, value, text), out),
    }
}

/// Deeper than any call may be nested.
const MAX_DEPTH: usize = 1024;

/// The members of an object or the items of a list as elements; none when a key is no key of an element.
fn children(form: &FieldForm, nest: &Nest, value: &str, out: &mut String) -> Option<()> {
    if value.starts_with('[') {
        let items: Vec<&RawValue> = from_str(value).ok()?;
        return items.into_iter().try_for_each(|item| child(form, nest, &nest.item, "", item.get(), out));
    }
    members(value)?.into_iter().try_for_each(|(key, value)| {
        elements::is_key(&key).then_some(())?;
        child(form, nest, &form.parts, &key, value.get(), out)
    })
}

fn child(
    form: &FieldForm,
    nest: &Nest,
    parts: &[Slot],
    key: &str,
    value: &str,
    out: &mut String,
) -> Option<()> {
    let inside = if value.starts_with(['{', '[']) {
        let mut inside = String::new();
        children(form, nest, value, &mut inside)?;
        inside
    } else {
        plain(form, value, from_str::<String>(value).ok().as_deref())
    };
    fill(form, parts, key, value, &inside, out);
    Some(())
}

/// Puts `inside`, which stands for `value`, between the marks.
fn fill(form: &FieldForm, parts: &[Slot], key: &str, value: &str, inside: &str, out: &mut String) {
    for part in parts {
        match part {
            Slot::Text(literal) => out.push_str(literal),
            Slot::Key => out.push_str(&written_key(form, key)),
            Slot::IsString => out.push_str(if value.starts_with('"') { "true" } else { "false" }),
            Slot::Type => out.push_str(form.type_word(value)),
            Slot::Value => out.push_str(inside),
            _ => {}
        }
    }
}

/// A value that is no element.
fn plain(form: &FieldForm, value: &str, text: Option<&str>) -> String {
    match text {
        _ if form.json => value.to_owned(),
        Some(text) if form.yaml && yaml::is_marked(text.as_bytes()) => value.to_owned(),
        Some(text) if form.xml => {
            let mut out = String::new();
            text.chars().for_each(|c| match form.entities().iter().find(|(plain, _)| *plain == c) {
                Some((_, entity)) => out.push_str(entity),
                None => out.push(c),
            });
            out
        }
        Some(text) => text.to_owned(),
        None if form.containers && value.starts_with(['{', '[']) => {
            let mut out = String::new();
            if let Ok(value) = from_str(value) {
                value::write(&Loose::python(), value, &mut out);
            }
            out
        }
        None if form.python => match value {
            "true" => "True",
            "false" => "False",
            "null" => "None",
            other => other,
        }
        .to_owned(),
        None => value.to_owned(),
    }
}

/// A key as the form writes it.
pub(crate) fn written_key<'k>(form: &FieldForm, key: &'k str) -> Cow<'k, str> {
    match form.key {
        KeyKind::Attribute(_) => attributes::written(key),
        _ => Cow::Borrowed(key),
    }
}
