//! Names, ids and arguments that stand in JSON strings.

use std::borrow::Cow;

use crate::cursor::Cursor;
use crate::fault::FaultKind;
use crate::notes::Notes;
use crate::tool::{Tool, parameter_of_text};
use crate::value::{Given, Marks, Progress, Reader, Syntax};

/// The arguments that a text stands for, which is given as a JSON string.
pub(crate) fn arguments_of_text(tool: Option<&Tool>, json: &str) -> Option<String> {
    let key = serde_json::Value::from(parameter_of_text(tool)?);
    Some(format!("{{{key}:{json}}}"))
}

/// Arguments that were read whole, as an object: JSON inside a string, or nothing at all. What is odd in them is noted
/// where they end.
pub(crate) fn unwrapped(text: &str, at: &mut Cursor<'_>, max_depth: usize) -> Option<String> {
    let text = text.trim();
    if matches!(text, "null" | "[]") {
        at.note(FaultKind::Repaired, at.look);
        return Some("{}".to_owned());
    }
    if text.starts_with('{') {
        return Some(text.to_owned());
    }
    let inner = string(text)?;
    at.note(FaultKind::DoubleEncoded, at.look);
    let inner = inner.trim();
    if inner.is_empty() || inner == "null" {
        return Some("{}".to_owned());
    }
    if !inner.starts_with('{') {
        return None;
    }
    let (mut object, mut notes) = (String::new(), Notes::default());
    let mut inside = Cursor::new(inner, None, &mut notes);
    let given = Given { syntax: Syntax::json(), marks: &Marks::default(), tool: None };
    let progress = Reader::new(max_depth).read(given, &mut inside, &mut |piece, _| object.push_str(piece));
    let whole = progress == Progress::Done && inside.rest().trim().is_empty();
    for (kind, _) in notes.iter() {
        at.note(kind, at.look);
    }
    whole.then_some(object)
}

/// A JSON string as text, in its own place where nothing is escaped.
pub(super) fn owned_string(mut json: String) -> Option<String> {
    if json.contains('\\') {
        return string(&json).map(Cow::into_owned);
    }
    let quoted = json.len() > 1 && json.starts_with('"') && json.pop() == Some('"');
    quoted.then(|| {
        json.remove(0);
        json
    })
}

/// A JSON string as text.
pub(super) fn string(json: &str) -> Option<Cow<'_, str>> {
    match json.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) {
        Some(plain) if !plain.contains('\\') => Some(Cow::Borrowed(plain)),
        _ => serde_json::from_str(json).ok().map(Cow::Owned),
    }
}

/// A JSON string or number as plain text.
pub(super) fn plain_text(json: &str) -> Option<String> {
    match serde_json::from_str(json).ok()? {
        serde_json::Value::String(text) => Some(text),
        serde_json::Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}
