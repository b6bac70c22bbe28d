//! Writing a field.

use std::borrow::Cow;

use super::xml::ENTITIES;
use crate::codec::attributes;
use crate::dialect::{FieldForm, KeyKind, Slot};

/// Writes one field. `value` is the JSON of the value, `text` the value itself where it is a string.
pub(crate) fn write(form: &FieldForm, key: &str, value: &str, text: Option<&str>, out: &mut String) {
    for part in &form.parts {
        match part {
            Slot::Text(literal) => out.push_str(literal),
            Slot::Key => out.push_str(&written_key(form, key)),
            Slot::IsString => out.push_str(if text.is_some() { "true" } else { "false" }),
            Slot::Type => out.push_str(type_word(value)),
            Slot::Value => match text {
                Some(text) if form.xml => {
                    text.chars().for_each(|c| match ENTITIES[..3].iter().find(|(_, plain)| *plain == c) {
                        Some((entity, _)) => out.push_str(entity),
                        None => out.push(c),
                    });
                }
                Some(text) => out.push_str(text),
                None if form.python => out.push_str(match value {
                    "true" => "True",
                    "false" => "False",
                    "null" => "None",
                    other => other,
                }),
                None => out.push_str(value),
            },
            _ => {}
        }
    }
}

/// A key as the form writes it.
pub(crate) fn written_key<'k>(form: &FieldForm, key: &'k str) -> Cow<'k, str> {
    match form.key {
        KeyKind::Attribute(_) => attributes::written(key),
        KeyKind::First => Cow::Borrowed(key),
    }
}

pub(super) fn type_word(json: &str) -> &'static str {
    match json.as_bytes().first() {
        Some(b'"') => "string",
        Some(b'{') => "object",
        Some(b'[') => "array",
        Some(b't' | b'f') => "boolean",
        Some(b'n') => "null",
        _ => "number",
    }
}
