//! What a model is told of its tools.

use std::sync::Arc;

use serde_json::{Value, json};

use super::form::Said;
use super::parameters::{described, required, rest};
use super::spelling::{spaced, spelt};
use super::{Detail, literal};
use crate::dialect::Dialect;
use crate::message::{Call, Tool};

impl Dialect {
    /// What a model is told in prompt mode: its tools, and how to call one, by an example in the dialect. What others say
    /// in it is neutralised.
    pub fn system_prompt(self: &Arc<Self>, tools: &[Tool], detail: Detail) -> String {
        let mut out = Said::own("# Tools\n");
        match detail {
            Detail::Compact => tools.iter().for_each(|tool| out.add(&compact(tool))),
            Detail::Full => {
                out.add(&self.defined(tools));
                out.add(&Said::own("\n"));
            }
        }
        let mut out = out.neutral(&self.foreign_marks());
        let example = |tool: &Tool| {
            let call = self.example_of(tool);
            // The name is another where it had to be broken.
            let known = Tool { name: call.name.clone(), ..tool.clone() };
            self.render_calls(&[call], &[known]).ok()
        };
        if let Some(example) = tools.iter().find_map(example) {
            out.push_str("\nTo use a tool, write:\n");
            out.push_str(&example);
            out.push('\n');
        }
        out
    }

    /// The tools as the family's own template shows them, without any words around; neutralised.
    pub fn definitions(&self, tools: &[Tool]) -> String {
        self.defined(tools).neutral(&self.foreign_marks())
    }

    fn defined(&self, tools: &[Tool]) -> Said {
        let mut out = Said::own(self.definitions.open.as_str());
        out.add(&Said::joined(tools.iter().map(|tool| self.defined_one(tool)), &self.definitions.between));
        out.add(&Said::own(self.definitions.close.as_str()));
        out
    }

    fn defined_one(&self, tool: &Tool) -> Said {
        let form = &self.definitions;
        let properties = tool.parameters.get("properties").and_then(Value::as_object);
        let none = properties.is_none_or(serde_json::Map::is_empty);
        let each = form.plain.as_ref().filter(|_| none).unwrap_or(&form.each);
        let json = |value: &Value| Some(Said::by_others(spelt(value, &form.spelling)));
        let plain = |text: &str| Some(Said::by_others(form.escaped(text)));
        Said::spoken(each, |slot| match slot {
            "json" => json(&json!({"type": "function", "function": function(tool)})),
            "function" => json(&function(tool)),
            "schema" => json(&tool.parameters),
            "name" => plain(&tool.name),
            "description" => plain(tool.description.trim()),
            "quoted_name" => json(&Value::from(tool.name.as_str())),
            "quoted_description" => json(&Value::from(tool.description.as_str())),
            "parameters" => Some(described(form.parameter.as_ref()?, form, &tool.parameters)),
            "arguments" => Some(described(form.argument.as_ref()?, form, &tool.parameters)),
            "rest" => Some(rest(&tool.parameters, &["type", "properties"])),
            "literal" => Some(Said::own(literal::of(self, tool))),
            _ => None,
        })
    }

    /// A call with the name of each required argument, in capitals, as its value: a small model does not take that for a
    /// real value, as it would a plausible one.
    fn example_of(&self, tool: &Tool) -> Call {
        let properties = tool.parameters.get("properties");
        let arguments: serde_json::Map<String, Value> = required(&tool.parameters)
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
        let neutral = |text: &str| self.foreign_marks().neutralise_inside(text).into_owned();
        Call { id: None, name: neutral(&tool.name), arguments: neutral(&spaced(&Value::Object(arguments))) }
    }
}

fn function(tool: &Tool) -> Value {
    json!({"name": tool.name, "description": tool.description, "parameters": tool.parameters})
}

/// `- read_file(path): Read a file.`
fn compact(tool: &Tool) -> Said {
    let sentence = tool.description.split_inclusive(". ").next().unwrap_or_default().trim();
    Said::filled("- {name}({arguments}): {sentence}\n", |slot| match slot {
        "name" => Some(Said::by_others(tool.name.as_str())),
        "arguments" => Some(Said::by_others(required(&tool.parameters).join(", "))),
        "sentence" => Some(Said::by_others(sentence)),
        _ => None,
    })
}
