//! A definition in the dialect's own literals.

use serde_json::{Value, json};

use crate::dialect::{Codec, Dialect, Literal};
use crate::neutral::Marks;
use crate::tool::Tool;

/// What is known of a tool, in the literals that the dialect writes arguments with, the names of types in capitals. What
/// others say in it is neutral: some literals have no escapes.
pub(super) fn of(dialect: &Dialect, tool: &Tool) -> String {
    let known = json!({"description": tool.description, "parameters": in_capitals(&tool.parameters)});
    let known = neutral(&known, &dialect.foreign_marks());
    match dialect.codec() {
        Codec::Object(Literal::Loose(loose)) => super::literal(loose, &known),
        _ => String::new(),
    }
}

/// A schema with the names of its types in capitals.
fn in_capitals(schema: &Value) -> Value {
    match schema {
        Value::Object(members) => {
            let member = |(key, value): (&String, &Value)| match (key.as_str(), value) {
                ("type", Value::String(word)) => (key.clone(), Value::from(word.to_ascii_uppercase())),
                _ => (key.clone(), in_capitals(value)),
            };
            Value::Object(members.iter().map(member).collect())
        }
        Value::Array(items) => Value::Array(items.iter().map(in_capitals).collect()),
        scalar => scalar.clone(),
    }
}

fn neutral(value: &Value, marks: &Marks) -> Value {
    match value {
        Value::String(text) => Value::from(marks.neutralise(text).into_owned()),
        Value::Array(items) => items.iter().map(|item| neutral(item, marks)).collect(),
        Value::Object(members) => {
            let member =
                |(key, value): (&String, &Value)| (marks.neutralise(key).into_owned(), neutral(value, marks));
            Value::Object(members.iter().map(member).collect())
        }
        scalar => scalar.clone(),
    }
}
