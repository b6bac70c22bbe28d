//! Values as Python shows them: chat templates are written for Jinja on Python, and print its dicts and booleans.

use std::fmt::{self, Write as _};
use std::sync::{Arc, Mutex};

use minijinja::value::{Enumerator, Kwargs, Object, ObjectRepr, Value, ValueKind};
use minijinja::{Error, ErrorKind, State};
use serde_json::Value as Json;

/// A JSON value as templates see it.
pub(super) fn value(json: &Json) -> Value {
    match json {
        Json::Null => Value::from(()),
        Json::Bool(word) => Value::from(*word),
        Json::Number(number) => match (number.as_i64(), number.as_f64()) {
            (Some(whole), _) => Value::from(whole),
            (None, Some(real)) => Value::from(real),
            (None, None) => Value::from(()),
        },
        Json::String(text) => Value::from(text.as_str()),
        Json::Array(items) => Value::from_object(List(items.iter().map(value).collect())),
        Json::Object(members) => {
            Value::from_object(Dict(members.iter().map(|(key, item)| (key.clone(), value(item))).collect()))
        }
    }
}

#[derive(Debug)]
struct List(Vec<Value>);

#[derive(Debug)]
struct Dict(Vec<(String, Value)>);

impl Object for List {
    fn repr(self: &Arc<Self>) -> ObjectRepr {
        ObjectRepr::Seq
    }

    fn get_value(self: &Arc<Self>, key: &Value) -> Option<Value> {
        self.0.get(key.as_usize()?).cloned()
    }

    fn enumerate(self: &Arc<Self>) -> Enumerator {
        Enumerator::Seq(self.0.len())
    }

    fn render(self: &Arc<Self>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        shown(self, f)
    }
}

/// A list that a template fills. Templates do, although some sandboxes refuse it.
#[derive(Debug, Default)]
pub(super) struct Growing(Mutex<Vec<Value>>);

/// What such a list may hold.
const MAX_ITEMS: usize = 10_000;

impl Object for Growing {
    fn repr(self: &Arc<Self>) -> ObjectRepr {
        ObjectRepr::Seq
    }

    fn get_value(self: &Arc<Self>, key: &Value) -> Option<Value> {
        self.0.lock().ok()?.get(key.as_usize()?).cloned()
    }

    fn enumerate(self: &Arc<Self>) -> Enumerator {
        Enumerator::Seq(self.0.lock().map_or(0, |items| items.len()))
    }

    fn call_method(
        self: &Arc<Self>,
        _: &mut State<'_, '_>,
        method: &str,
        args: &[Value],
    ) -> Result<Value, Error> {
        let full =
            || Error::new(ErrorKind::InvalidOperation, "expected a list of at most 10000 items, got more");
        let mut items = self.0.lock().map_err(|_| full())?;
        match (method, args) {
            ("append", [item]) if items.len() < MAX_ITEMS => items.push(item.clone()),
            ("extend", [more]) if items.len() < MAX_ITEMS => {
                let more: Vec<Value> = more.try_iter()?.take(MAX_ITEMS).collect();
                items.extend(more);
            }
            ("pop", []) => return Ok(items.pop().unwrap_or_default()),
            ("pop", [place]) => {
                let place = place.as_usize().filter(|place| *place < items.len());
                return Ok(place.map(|place| items.remove(place)).unwrap_or_default());
            }
            ("append" | "extend", [_]) => return Err(full()),
            _ => return Err(Error::from(ErrorKind::UnknownMethod)),
        }
        Ok(Value::from(()))
    }

    fn render(self: &Arc<Self>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        shown(self, f)
    }
}

/// The filter `from_json`.
pub(super) fn from_json(text: &str) -> Result<Value, Error> {
    let json: Json = serde_json::from_str(text)
        .map_err(|error| Error::new(ErrorKind::InvalidOperation, format!("expected JSON: {error}")))?;
    Ok(value(&json))
}

impl Object for Dict {
    fn get_value(self: &Arc<Self>, key: &Value) -> Option<Value> {
        let key = key.as_str()?;
        self.0.iter().find(|(known, _)| known == key).map(|(_, value)| value.clone())
    }

    fn enumerate(self: &Arc<Self>) -> Enumerator {
        Enumerator::Values(self.0.iter().map(|(key, _)| Value::from(key.as_str())).collect())
    }

    fn render(self: &Arc<Self>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        shown(self, f)
    }
}

/// What errors say of values that are too deep, or too long when they are written.
pub(super) const TOO_DEEP: &str = "a value of more than 100 levels";
pub(super) const TOO_LONG: &str = "a value of more than four million bytes";

const MAX_DEPTH: usize = 100;

fn within_bounds(depth: usize, out: &str) -> Result<(), Error> {
    let over = if depth > MAX_DEPTH {
        TOO_DEEP
    } else if out.len() > super::MAX_TEXT {
        TOO_LONG
    } else {
        return Ok(());
    };
    Err(Error::new(ErrorKind::InvalidOperation, over))
}

/// What `str` makes of a value.
pub(super) fn text(value: &Value) -> Result<String, Error> {
    match value.as_str() {
        Some(text) => Ok(text.to_owned()),
        None if value.is_undefined() => Ok(String::new()),
        None => {
            let mut out = String::new();
            repr(value, 0, &mut out)?;
            Ok(out)
        }
    }
}

/// The filter `escape`: five signs as entities, and no more.
pub(super) fn escaped(value: &Value) -> Result<String, Error> {
    let mut out = text(value)?;
    for (sign, entity) in [("&", "&amp;"), (">", "&gt;"), ("<", "&lt;"), ("'", "&#39;"), ("\"", "&#34;")] {
        out = out.replace(sign, entity);
    }
    Ok(out)
}

/// What `repr` makes of a value.
fn repr(value: &Value, depth: usize, out: &mut String) -> Result<(), Error> {
    within_bounds(depth, out)?;
    match value.kind() {
        ValueKind::None => out.push_str("None"),
        ValueKind::Bool => out.push_str(if value.is_true() { "True" } else { "False" }),
        ValueKind::String => quoted(value.as_str().unwrap_or_default(), out),
        ValueKind::Map => {
            out.push('{');
            for (place, key) in value.try_iter()?.enumerate() {
                out.push_str(if place > 0 { ", " } else { "" });
                repr(&key, depth + 1, out)?;
                out.push_str(": ");
                repr(&value.get_item(&key).unwrap_or_default(), depth + 1, out)?;
            }
            out.push('}');
        }
        ValueKind::Seq => {
            out.push('[');
            for (place, item) in value.try_iter()?.enumerate() {
                out.push_str(if place > 0 { ", " } else { "" });
                repr(&item, depth + 1, out)?;
            }
            out.push(']');
        }
        _ => out.push_str(&value.to_string()),
    }
    Ok(())
}

/// A list or a dict as `repr` shows it, for values that print themselves.
fn shown<T: Object + 'static>(object: &Arc<T>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let mut out = String::new();
    repr(&Value::from_dyn_object(Arc::clone(object)), 0, &mut out).map_err(|_| fmt::Error)?;
    f.write_str(&out)
}

fn quoted(text: &str, out: &mut String) {
    let quote = if text.contains('\'') && !text.contains('"') { '"' } else { '\'' };
    out.push(quote);
    for c in text.chars() {
        match c {
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\\' => out.push_str("\\\\"),
            c if c == quote => out.extend(['\\', c]),
            c => out.push(c),
        }
    }
    out.push(quote);
}

/// How `json.dumps` is asked to write.
struct Layout {
    ascii: bool,
    sorted: bool,
    indent: Option<usize>,
    comma: String,
    colon: String,
}

/// The filter `tojson`, as chat templates know it: `json.dumps` with its options, no escapes for HTML.
pub(super) fn tojson(value: &Value, options: &Kwargs) -> Result<Value, Error> {
    let indent: Option<usize> = options.get("indent")?;
    if indent.is_some_and(|width| width > MAX_INDENT) {
        return Err(Error::new(ErrorKind::InvalidOperation, TOO_LONG));
    }
    let separators: Option<Vec<String>> = options.get("separators")?;
    let mut separators = separators.unwrap_or_default().into_iter();
    let comma = separators.next().unwrap_or_else(|| if indent.is_some() { "," } else { ", " }.to_owned());
    let layout = Layout {
        ascii: options.get::<Option<bool>>("ensure_ascii")?.unwrap_or(false),
        sorted: options.get::<Option<bool>>("sort_keys")?.unwrap_or(false),
        indent,
        comma,
        colon: separators.next().unwrap_or_else(|| ": ".to_owned()),
    };
    let mut out = String::new();
    layout.write(value, 0, &mut out)?;
    Ok(Value::from(out))
}

const MAX_INDENT: usize = 64;

impl Layout {
    fn write(&self, value: &Value, depth: usize, out: &mut String) -> Result<(), Error> {
        within_bounds(depth, out)?;
        match value.kind() {
            ValueKind::Undefined => {
                return Err(Error::new(
                    ErrorKind::InvalidOperation,
                    "expected a value for tojson, got an undefined one",
                ));
            }
            ValueKind::None => out.push_str("null"),
            ValueKind::Bool => out.push_str(if value.is_true() { "true" } else { "false" }),
            ValueKind::String => self.string(value.as_str().unwrap_or_default(), out),
            ValueKind::Map => {
                let mut keys: Vec<Value> = value.try_iter()?.collect();
                if self.sorted {
                    keys.sort();
                }
                self.container(['{', '}'], &keys, depth, out, |layout, key, out| {
                    layout.string(&text(key)?, out);
                    out.push_str(&layout.colon);
                    layout.write(&value.get_item(key)?, depth + 1, out)
                })?;
            }
            ValueKind::Seq | ValueKind::Iterable => {
                self.container(
                    ['[', ']'],
                    &value.try_iter()?.collect::<Vec<_>>(),
                    depth,
                    out,
                    |layout, item, out| layout.write(item, depth + 1, out),
                )?;
            }
            ValueKind::Number => out.push_str(&value.to_string()),
            _ => {
                return Err(Error::new(
                    ErrorKind::InvalidOperation,
                    "expected a value that JSON knows for tojson",
                ));
            }
        }
        Ok(())
    }

    fn container(
        &self,
        [open, close]: [char; 2],
        items: &[Value],
        depth: usize,
        out: &mut String,
        mut each: impl FnMut(&Self, &Value, &mut String) -> Result<(), Error>,
    ) -> Result<(), Error> {
        out.push(open);
        let empty = items.is_empty();
        for (place, item) in items.iter().enumerate() {
            if place > 0 {
                out.push_str(&self.comma);
            }
            self.line(depth + 1, out);
            each(self, item, out)?;
        }
        if !empty {
            self.line(depth, out);
        }
        out.push(close);
        Ok(())
    }

    fn line(&self, depth: usize, out: &mut String) {
        if let Some(width) = self.indent {
            out.push('\n');
            out.extend(std::iter::repeat_n(' ', width * depth));
        }
    }

    fn string(&self, text: &str, out: &mut String) {
        let json = Json::from(text).to_string();
        if !self.ascii {
            out.push_str(&json);
            return;
        }
        for c in json.chars() {
            if c.is_ascii() {
                out.push(c);
            } else {
                for unit in c.encode_utf16(&mut [0; 2]) {
                    let _ = write!(out, "\\u{unit:04x}");
                }
            }
        }
    }
}
