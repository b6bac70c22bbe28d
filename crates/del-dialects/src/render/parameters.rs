//! Parameters one by one, where a template does not show their schema as JSON: types and comments in the style of
//! TypeScript or Python, or elements of XML.

use serde_json::{Value, json};

use super::form::Said;
use super::spelling::{spaced, spelt};
use crate::dialect::{Definitions, ParameterForm};

/// The names of the arguments that have to be there.
pub(super) fn required(schema: &Value) -> Vec<&str> {
    let names = schema.get("required").and_then(Value::as_array);
    names.into_iter().flatten().filter_map(Value::as_str).collect()
}

/// The properties of a schema, each by its form.
pub(super) fn described(form: &ParameterForm, definitions: &Definitions, schema: &Value) -> Said {
    properties(form, definitions, schema, 0)
}

fn properties(form: &ParameterForm, definitions: &Definitions, schema: &Value, depth: usize) -> Said {
    let required = required(schema);
    let properties = schema.get("properties").and_then(Value::as_object);
    let described = properties.into_iter().flatten().map(|(key, schema)| {
        let needed = required.contains(&key.as_str());
        let kind = type_of(form, schema, definitions, depth);
        let kind = match &form.optional {
            Some(optional) if !needed => around(optional, "type", &kind),
            _ => kind,
        };
        let compound = matches!(schema["type"].as_str(), Some("object" | "array"));
        let text = form.compound.as_ref().filter(|_| compound).unwrap_or(&form.form);
        let said = |text: &str| Some(Said::by_others(definitions.escaped(text)));
        Said::spoken(text, |slot| match slot {
            "key" => said(key),
            "type" => Some(kind.clone()),
            "description" => said(schema["description"].as_str().unwrap_or_default().trim()),
            "required" => Some(Said::own(form.words[usize::from(!needed)].as_str())),
            "optional" => Some(Said::own(if needed { "" } else { "?" })),
            "schema" => said(&spelt(schema, definitions.json)),
            "rest" => Some(rest(schema, &["name", "type", "description"])),
            _ => None,
        })
    });
    Said::joined(described, &form.joint)
}

/// What else a schema says, an element a line.
pub(super) fn rest(schema: &Value, known: &[&str]) -> Said {
    let others = schema.as_object().into_iter().flatten();
    let others = others.filter(|(key, _)| !known.contains(&key.as_str())).map(|(key, value)| {
        let text = value.as_str().map_or_else(|| spaced(value), str::to_owned);
        Said::filled("<{key}>{text}</{key}>", |slot| match slot {
            "key" => Some(Said::by_others(key.as_str())),
            "text" => Some(Said::by_others(text.as_str())),
            _ => None,
        })
    });
    Said::joined(others, "\n")
}

/// Deeper than this, a type is only named.
const MAX_DEPTH: usize = 8;

/// The type of a value in the words of a template; as the schema says it, where the template has none.
fn type_of(form: &ParameterForm, schema: &Value, definitions: &Definitions, depth: usize) -> Said {
    let Some(words) = &definitions.types else {
        return Said::by_others(definitions.escaped(&said(schema)));
    };
    let word = |name: &str| words.get(name).or_else(|| words.get("any")).map_or("any", String::as_str);
    if depth > MAX_DEPTH {
        return Said::own(word("any"));
    }
    let inner = |schema: &Value| type_of(form, schema, definitions, depth + 1);
    if let Some(values) = schema["enum"].as_array().filter(|_| definitions.values) {
        return Said::joined(values.iter().map(|value| Said::by_others(value.to_string())), " | ");
    }
    let several = ["anyOf", "oneOf"].into_iter().find_map(|key| schema[key].as_array());
    let union: Vec<Said> = match (&schema["type"], several) {
        (Value::Array(names), _) => names.iter().map(|name| inner(&json!({"type": name}))).collect(),
        (_, Some(schemas)) => schemas.iter().map(inner).collect(),
        _ => Vec::new(),
    };
    if !union.is_empty() {
        let [before, bar, behind] = &definitions.union;
        let mut out = Said::own(before.as_str());
        out.add(&Said::joined(union, bar));
        out.add(&Said::own(behind.as_str()));
        return out;
    }
    match schema["type"].as_str() {
        Some("array") => around(word("array"), "items", &inner(&schema["items"])),
        Some("object") => {
            let known = schema["properties"].as_object().is_some_and(|all| !all.is_empty());
            match words.get("record").filter(|_| known) {
                Some(record) => {
                    around(record, "parameters", &properties(form, definitions, schema, depth + 1))
                }
                None => Said::own(word("object")),
            }
        }
        name => Said::own(word(name.unwrap_or("any"))),
    }
}

fn around(form: &str, slot: &str, value: &Said) -> Said {
    Said::filled(form, |name| (name == slot).then(|| value.clone()))
}

/// A type as the schema names it.
fn said(schema: &Value) -> String {
    match &schema["type"] {
        Value::String(name) => name.clone(),
        Value::Null => "string".to_owned(),
        other => spaced(other),
    }
}
