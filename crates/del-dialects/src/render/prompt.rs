//! What a model is told of its tools.

use std::sync::Arc;

use serde_json::{Value, json};

use super::form::Said;
use super::parameters::{described, rest};
use super::spelling::{spaced, spelt};
use super::typescript::TYPESCRIPT;
use super::{Detail, literal};
use crate::dialect::{Definitions, Dialect};
use crate::message::{Call, Tool};

impl Dialect {
    /// What a model is told in prompt mode: its tools, and how to call one, in the dialect. What others say in it is
    /// neutralised.
    ///
    /// Every part is there because models of several families call better with it (`docs/evaluation.md`): an order to the
    /// model rather than a hint for a reader, a form with placeholders, an example of a tool that is not declared (values
    /// of one that is get copied), and last what to do where no tool fits.
    pub fn system_prompt(self: &Arc<Self>, tools: &[Tool], detail: Detail) -> String {
        let form = match detail {
            Detail::Compact => &TYPESCRIPT,
            Detail::Full => &self.definitions,
        };
        let mut out = Said::own("# Tools\n\nYou have these tools to do what the user asks:\n");
        out.add(&self.defined(form, tools));
        let mut out = out.neutral(&self.foreign_marks());
        if let Some(form) = self.written(&made_up("tool_name", &json!({"argument_name": "value"}))) {
            out.push_str(
                "\n\nWhen a tool can do what the user asks, answer with a call of it and nothing else. ",
            );
            out.push_str("Return each call in exactly this form:\n");
            out.push_str(&form);
        }
        let example = made_up("book_table", &json!({"restaurant": "Luigi's", "people": 4, "outdoor": true}));
        let declared = tools.iter().any(|tool| tool.name == example.name);
        if let Some(example) = self.written(&example).filter(|_| !declared) {
            out.push_str("\n\nExample, with another tool. ");
            out.push_str("The user: \"Get us a table for four at Luigi's, outside.\" You:\n");
            out.push_str(&example);
        }
        out.push_str("\n\nWhen no tool fits, answer in plain words.\n");
        out
    }

    /// A call of this tool with a placeholder for each argument, as the model would write it; none where the dialect cannot.
    /// What others say in it is neutralised.
    pub fn skeleton(self: &Arc<Self>, tool: &Tool) -> Option<String> {
        let neutral = |text: &str| self.foreign_marks().neutralise_inside(text).into_owned();
        let arguments = neutral(&tool.placeholders());
        let call = Call { id: None, name: neutral(&tool.name), arguments };
        // The name is another where it had to be broken.
        let known = Tool { name: call.name.clone(), ..tool.clone() };
        Some(self.render_calls(&[call], &[known]).ok()?.trim().to_owned())
    }

    /// A call of a tool that does not exist, as the model would write it.
    fn written(self: &Arc<Self>, call: &Call) -> Option<String> {
        let written = self.render_calls(std::slice::from_ref(call), &[]).ok()?;
        Some(written.trim().to_owned())
    }

    /// The tools as the family's own template shows them, without any words around; neutralised.
    pub fn definitions(&self, tools: &[Tool]) -> String {
        self.defined(&self.definitions, tools).neutral(&self.foreign_marks())
    }

    fn defined(&self, form: &Definitions, tools: &[Tool]) -> Said {
        let mut out = Said::own(form.open.as_str());
        out.add(&Said::joined(tools.iter().map(|tool| self.defined_one(form, tool)), &form.between));
        out.add(&Said::own(form.close.as_str()));
        out
    }

    fn defined_one(&self, form: &Definitions, tool: &Tool) -> Said {
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
}

fn made_up(name: &str, arguments: &Value) -> Call {
    Call { id: None, name: name.to_owned(), arguments: spaced(arguments) }
}

impl Tool {
    /// The tool's arguments as JSON, each with a value of its type that nobody takes for a real one.
    pub fn placeholders(&self) -> String {
        let properties = self.parameters.get("properties").and_then(Value::as_object);
        let value = |schema: &Value| match schema["type"].as_str() {
            Some("integer" | "number") => json!(0),
            Some("boolean") => json!(false),
            Some("array") => json!([]),
            Some("object") => json!({}),
            _ => json!("…"),
        };
        spaced(&properties.into_iter().flatten().map(|(key, schema)| (key.clone(), value(schema))).collect())
    }
}

fn function(tool: &Tool) -> Value {
    json!({"name": tool.name, "description": tool.description, "parameters": tool.parameters})
}
