//! How the writer spells what stands in a call.
//!
//! A grammar has to accept it to the byte, and its crate is another one: that is who this is for. Nobody else should
//! build on it, for it changes with the writer.

use std::borrow::Cow;

use serde_json::Value;

use crate::codec::{attributes, call, fields};
use crate::dialect::{CallForm, FieldForm, Loose, Slot};
use crate::{render, scan, value};

/// In a spelling that is read: any suffix, a colon and a word.
pub const SUFFIX: char = scan::SUFFIX;

/// A value as JSON, with a space behind `:` and `,`.
pub fn json(value: &Value) -> String {
    render::spaced(value)
}

/// A text as a JSON string.
pub fn string(text: &str) -> String {
    value::quoted(text)
}

/// A value as a literal of a loose syntax.
pub fn literal(syntax: &Loose, value: &Value) -> String {
    render::literal(syntax, value)
}

/// A text as the value of an attribute, without the quotes.
pub fn attribute(text: &str) -> Cow<'_, str> {
    attributes::written(text)
}

/// The key of a field.
pub fn key<'k>(form: &FieldForm, key: &'k str) -> Cow<'k, str> {
    fields::written_key(form, key)
}

/// What one slot of a field becomes for a value.
pub fn slot(form: &FieldForm, slot: Slot, value: &Value) -> String {
    let form = FieldForm { parts: vec![slot], ..form.clone() };
    let mut out = String::new();
    fields::write(&form, "", &json(value), value.as_str(), None, &mut out);
    out
}

/// The parts of a call without an id.
pub fn without_id(form: &CallForm) -> Vec<Slot> {
    call::drop_id(&form.parts)
}
