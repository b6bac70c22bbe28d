//! Arguments between marks, as `xml-inline` takes them apart.

use del_dialects::description::{FieldForm, Slot};
use serde_json::{Value, json};

use super::inexpressible::{Inexpressible, because};
use super::regex::literal;

/// One field as a regular expression; a key that stands in the closer is that of group `group`.
fn field(form: &FieldForm, key: &str, value: &str, group: &str) -> String {
    let mut out = String::new();
    for (place, part) in form.parts.iter().enumerate() {
        let first_key = !form.parts[..place].contains(&Slot::Key);
        match part {
            Slot::Key if first_key => out.push_str(key),
            Slot::Key => out.push_str(group),
            Slot::Value => out.push_str(value),
            Slot::IsString | Slot::Type => out.push_str(r#"[^"<>]*?"#),
            Slot::Text(text) => {
                let before_value = form.parts.get(place + 1) == Some(&Slot::Value);
                let behind_value =
                    place.checked_sub(1).and_then(|place| form.parts.get(place)) == Some(&Slot::Value);
                out.push_str(&between(text, before_value, behind_value));
            }
            _ => {}
        }
    }
    out.trim_start_matches(r"\s*").trim_end_matches(r"\s*").to_owned()
}

/// The text of a form. A line feed at a value belongs to the markup and may be missing; others are free white space.
fn between(text: &str, before_value: bool, behind_value: bool) -> String {
    if text.trim().is_empty() {
        return literal(text);
    }
    let (start, end) = (text.len() - text.trim_start().len(), text.trim_end().len());
    let edge = |space: &str, at_value: bool| match space {
        "\n" if at_value => "\n?".to_owned(),
        space if space.contains('\n') => r"\s*".to_owned(),
        space => literal(space),
    };
    let mut inner = String::new();
    for (number, line) in text[start..end].split('\n').enumerate() {
        if number > 0 {
            inner.push_str(r"\s*");
        }
        inner.push_str(&literal(line.trim()));
    }
    edge(&text[..start], behind_value) + &inner + &edge(&text[end..], before_value)
}

/// What opens a field, up to its key.
fn opener(form: &FieldForm) -> String {
    match form.parts.first() {
        Some(Slot::Text(text)) => literal(text.trim_start()),
        _ => String::new(),
    }
}

const KEY: &str = r#"[^\n<>"]+?"#;

/// All fields of a call, which `close` follows; a key that is repeated is group `group`.
pub(super) fn body(form: &FieldForm, close: &str, group: usize) -> String {
    let one = field(form, &format!("({KEY})"), ".*?", &format!("\\{group}"));
    let opener = opener(form);
    format!(r"(?:\s*{one}(?=\s*(?:{opener}|{close})))*+")
}

/// What `xml-inline` takes them apart with.
pub(super) fn tag_pattern(form: &FieldForm) -> String {
    let one = field(form, &format!("(?P<key>{KEY})"), "(?P<value>.*?)", "(?P=key)");
    format!(r"{one}(?=\s*(?:{}|\Z))", opener(form))
}

/// The arguments of the parser of fields, or why it cannot read them.
pub(super) fn arguments(form: &FieldForm) -> Result<Value, Inexpressible> {
    if form.nest.as_ref().is_some_and(|nest| nest.written) {
        return because("objects and lists are elements inside elements");
    }
    if form.xml {
        return because("values carry entities of XML, which nothing decodes");
    }
    if form.python && form.containers {
        return because("objects and lists in values are literals of Python");
    }
    if form.value_close.is_empty() {
        return because("nothing closes a value");
    }
    let mut arguments = json!({ "tag_pattern": tag_pattern(form) });
    if form.json {
        arguments["value_parser"] = json!({ "name": "json" });
    }
    Ok(arguments)
}
