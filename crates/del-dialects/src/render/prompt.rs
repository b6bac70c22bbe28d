//! What a model is told of its tools.

use std::sync::Arc;

use serde_json::value::to_raw_value;
use serde_json::{Value, json};

use super::{Detail, fill};
use crate::codec::loose;
use crate::dialect::{Codec, Dialect, Literal};
use crate::message::{Call, Tool};

impl Dialect {
    /// What a model is told in prompt mode: its tools, and how to call one, by an example in the dialect.
    pub fn system_prompt(self: &Arc<Self>, tools: &[Tool], detail: Detail) -> String {
        let mut out = String::from("# Tools\n");
        match detail {
            Detail::Compact => tools.iter().for_each(|tool| out.push_str(&compact(tool))),
            Detail::Full => {
                out.push_str(&self.definitions.open);
                for (place, tool) in tools.iter().enumerate() {
                    if place > 0 {
                        out.push_str(&self.definitions.between);
                    }
                    out.push_str(&self.definition(tool));
                }
                out.push_str(&self.definitions.close);
                out.push('\n');
            }
        }
        if let Some(example) =
            tools.iter().find_map(|tool| self.render_calls(&[example_of(tool)], tools).ok())
        {
            out.push_str("\nTo use a tool, write:\n");
            out.push_str(&example);
            out.push('\n');
        }
        out
    }

    /// What is known of a tool, in the dialect's own literals, with the names of types in capitals.
    fn literal(&self, tool: &Tool) -> String {
        let mut out = String::new();
        let known = json!({"description": tool.description, "parameters": in_capitals(&tool.parameters)});
        if let (Codec::Object(Literal::Loose(loose)), Ok(known)) = (self.codec(), to_raw_value(&known)) {
            loose::write(loose, &known, &mut out);
        }
        out
    }

    fn definition(&self, tool: &Tool) -> String {
        let function =
            json!({"name": tool.name, "description": tool.description, "parameters": tool.parameters});
        let wrapped = json!({"type": "function", "function": function});
        let each = &self.definitions.each;
        let parameters = if each.contains("{parameters}") { xml_parameters(tool) } else { String::new() };
        fill(
            each,
            &[
                ("{json}", &spaced(&wrapped)),
                ("{function}", &spaced(&function)),
                ("{name}", &xml_attribute(&tool.name)),
                ("{description}", &xml_attribute(&tool.description)),
                ("{parameters}", &parameters),
                ("{signature}", compact(tool).trim()),
                ("{literal}", &self.literal(tool)),
            ],
        )
    }
}

/// A schema with the names of its types in capitals.
fn in_capitals(schema: &Value) -> Value {
    match schema {
        Value::Object(members) => {
            let member = |(key, value): (&String, &Value)| match (key.as_str(), value) {
                ("type", Value::String(word)) => (key.clone(), Value::from(word.to_uppercase())),
                _ => (key.clone(), in_capitals(value)),
            };
            Value::Object(members.iter().map(member).collect())
        }
        Value::Array(items) => Value::Array(items.iter().map(in_capitals).collect()),
        scalar => scalar.clone(),
    }
}

fn required(tool: &Tool) -> Vec<&str> {
    tool.parameters
        .get("required")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect()
}

/// `- read_file(path): Read a file.`
fn compact(tool: &Tool) -> String {
    let sentence = tool.description.split_inclusive(". ").next().unwrap_or_default().trim();
    format!("- {}({}): {}\n", tool.name, required(tool).join(", "), sentence)
}

/// A call with the name of each required argument, in capitals, as its value: a small model does not take that for a
/// real value, as it would a plausible one.
fn example_of(tool: &Tool) -> Call {
    let properties = tool.parameters.get("properties");
    let arguments: serde_json::Map<String, Value> = required(tool)
        .into_iter()
        .map(|key| {
            let kind = properties.and_then(|all| all.get(key)?.get("type")?.as_str());
            let value = match kind {
                Some("integer" | "number") => json!(1),
                Some("boolean") => json!(true),
                Some("array") => json!([]),
                Some("object") => json!({}),
                _ => json!(key.rsplit('_').next().unwrap_or(key).to_uppercase()),
            };
            (key.to_owned(), value)
        })
        .collect();
    Call { id: None, name: tool.name.clone(), arguments: spaced(&Value::Object(arguments)) }
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

fn xml_attribute(text: &str) -> String {
    text.replace('&', "&amp;").replace('"', "&quot;").replace('<', "&lt;").replace('>', "&gt;")
}

/// A `<parameter …/>` a line; a schema that is more than a scalar stands inside as JSON.
fn xml_parameters(tool: &Tool) -> String {
    let mut out = String::new();
    let required = required(tool);
    let properties = tool.parameters.get("properties").and_then(Value::as_object);
    for (key, schema) in properties.into_iter().flatten() {
        let kind = schema.get("type").and_then(Value::as_str).unwrap_or("string");
        let description = schema.get("description").and_then(Value::as_str).unwrap_or_default();
        let head = format!(
            "<parameter name=\"{}\" type=\"{}\" description=\"{}\" required=\"{}\"",
            xml_attribute(key),
            xml_attribute(kind),
            xml_attribute(description),
            required.contains(&key.as_str())
        );
        out.push_str(&head);
        if matches!(kind, "object" | "array") {
            let schema = schema.to_string().replace('&', "&amp;").replace('<', "&lt;");
            out.push('>');
            out.push_str(&schema);
            out.push_str("</parameter>\n");
        } else {
            out.push_str("/>\n");
        }
    }
    out
}
