//! Writing a field.

use super::xml::ENTITIES;
use crate::codec::loose;
use crate::dialect::{FieldForm, Loose, Slot};

/// Writes one field. `value` is the JSON of the value, `text` the value itself where it is a string.
pub(crate) fn write(form: &FieldForm, key: &str, value: &str, text: Option<&str>, out: &mut String) {
    for part in &form.parts {
        match part {
            Slot::Text(literal) => out.push_str(literal),
            Slot::Key => out.push_str(key),
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
                None if form.containers && value.starts_with(['{', '[']) => {
                    if let Ok(value) = serde_json::from_str(value) {
                        loose::write(&Loose::python(), value, out);
                    }
                }
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
