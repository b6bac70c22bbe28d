//! JSON as chat templates spell it.

use serde_json::Value;
use serde_json::value::to_raw_value;

use crate::dialect::{Loose, Spelling};
use crate::value;

/// A value as a template writes it.
pub(super) fn spelt(value: &Value, spelling: &Spelling) -> String {
    let sorted;
    let value = if spelling.sorted {
        sorted = {
            let mut value = value.clone();
            value.sort_all_objects();
            value
        };
        &sorted
    } else {
        value
    };
    if spelling.python {
        let mut out = String::new();
        if let Ok(raw) = to_raw_value(value) {
            value::write(&Loose::python(), &raw, &mut out);
        }
        return out;
    }
    if spelling.compact {
        return value.to_string();
    }
    match spelling.indent {
        Some(width) => {
            let mut out = String::new();
            write_lines(value, width, 0, &mut out);
            out
        }
        None => spaced(value),
    }
}

/// JSON on one line with a space behind `:` and `,`, as chat templates write it.
pub(crate) fn spaced(value: &Value) -> String {
    match value {
        Value::Object(members) => {
            let members: Vec<String> = members
                .iter()
                .map(|(key, value)| format!("{}: {}", Value::from(key.as_str()), spaced(value)))
                .collect();
            format!("{{{}}}", members.join(", "))
        }
        Value::Array(items) => format!("[{}]", items.iter().map(spaced).collect::<Vec<_>>().join(", ")),
        scalar => scalar.to_string(),
    }
}

/// JSON over several lines.
fn write_lines(value: &Value, width: usize, depth: usize, out: &mut String) {
    let line = |depth: usize, out: &mut String| {
        out.push('\n');
        out.extend(std::iter::repeat_n(' ', width * depth));
    };
    let mut first = true;
    let mut next = |out: &mut String| {
        if !std::mem::replace(&mut first, false) {
            out.push(',');
        }
        line(depth + 1, out);
    };
    match value {
        Value::Object(members) if !members.is_empty() => {
            out.push('{');
            for (key, value) in members {
                next(out);
                out.push_str(&Value::from(key.as_str()).to_string());
                out.push_str(": ");
                write_lines(value, width, depth + 1, out);
            }
            line(depth, out);
            out.push('}');
        }
        Value::Array(items) if !items.is_empty() => {
            out.push('[');
            for item in items {
                next(out);
                write_lines(item, width, depth + 1, out);
            }
            line(depth, out);
            out.push(']');
        }
        plain => out.push_str(&plain.to_string()),
    }
}
