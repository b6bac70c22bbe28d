//! JSON as chat templates spell it.

use serde::Serialize;
use serde_json::Value;
use serde_json::ser::{PrettyFormatter, Serializer};
use serde_json::value::to_raw_value;

use crate::dialect::{Loose, Spelling};
use crate::order::sort;
use crate::value;

/// A value as a template writes it.
pub(super) fn spelt(value: &Value, spelling: Spelling) -> String {
    match spelling {
        Spelling::Spaced => spaced(value),
        Spelling::Compact => in_order(value).to_string(),
        Spelling::Indent2 => indented(value, b"  "),
        Spelling::Indent4 => indented(value, b"    "),
        Spelling::Python => literal(&Loose::python(), value),
    }
}

/// The value with the members of all objects in the order of their keys.
fn in_order(value: &Value) -> Value {
    match value {
        Value::Object(members) => {
            let mut members: Vec<(&String, &Value)> = members.iter().collect();
            sort(&mut members, |(one, _), (other, _)| one.cmp(other));
            members.into_iter().map(|(key, value)| (key.clone(), in_order(value))).collect()
        }
        Value::Array(items) => items.iter().map(in_order).collect(),
        scalar => scalar.clone(),
    }
}

/// JSON on one line with a space behind `:` and `,`, as chat templates write it.
pub(crate) fn spaced(value: &Value) -> String {
    match value {
        Value::Object(members) => {
            let member =
                |(key, value): (&String, &Value)| format!("{}: {}", value::quoted(key), spaced(value));
            format!("{{{}}}", members.iter().map(member).collect::<Vec<_>>().join(", "))
        }
        Value::Array(items) => format!("[{}]", items.iter().map(spaced).collect::<Vec<_>>().join(", ")),
        scalar => scalar.to_string(),
    }
}

/// JSON over several lines.
fn indented(value: &Value, indent: &[u8]) -> String {
    let mut out = Vec::new();
    let written =
        value.serialize(&mut Serializer::with_formatter(&mut out, PrettyFormatter::with_indent(indent)));
    written.ok().and_then(|()| String::from_utf8(out).ok()).unwrap_or_default()
}

/// A value as a literal of a syntax that is not JSON.
pub(crate) fn literal(syntax: &Loose, value: &Value) -> String {
    let mut out = String::new();
    if let Ok(raw) = to_raw_value(value) {
        value::write(syntax, &raw, &mut out);
    }
    out
}
