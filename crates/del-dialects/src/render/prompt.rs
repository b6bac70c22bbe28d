//! What a model is told of its tools.

use std::sync::Arc;

use serde_json::{Value, json};

use super::form::Said;
use super::parameters::{described, required, rest};
use super::spelling::{spaced, spelt};
use super::typescript::TYPESCRIPT;
use super::{Detail, literal};
use crate::dialect::{Definitions, Dialect};
use crate::message::Call;
use crate::tool::Tool;

/// The tool of the worked example.
const EXAMPLE: &str = "book_table";

impl Dialect {
    /// What a model is told in prompt mode: its tools, and how to call one, in the dialect. What others say in it is
    /// neutralised.
    pub fn system_prompt(self: &Arc<Self>, tools: &[Tool], detail: Detail) -> String {
        match detail {
            Detail::Compact => self.shortest_prompt(tools),
            Detail::Types | Detail::Full => self.whole_prompt(tools, detail),
        }
    }

    /// Small models were measured with each part (`docs/evaluation.md`): an order to the model rather than a hint for a
    /// reader, a form with placeholders, an example of a tool that is not declared (values of one that is get copied), and
    /// last what to do where no tool fits.
    fn whole_prompt(self: &Arc<Self>, tools: &[Tool], detail: Detail) -> String {
        let mut out = "# Tools\n\nYou have these tools to do what the user asks:\n".to_owned();
        out.push_str(&self.definitions_in(tools, detail));
        if let Some(form) = self.made_up("tool_name", &json!({"argument_name": "value"})) {
            out.push_str(
                "\n\nWhen a tool can do what the user asks, answer with a call of it and nothing else. ",
            );
            out.push_str("Return each call in exactly this form:\n");
            out.push_str(&form);
        }
        let values = json!({"restaurant": "Luigi's", "people": 4, "outdoor": true});
        let declared = tools.iter().any(|tool| tool.name == EXAMPLE);
        if let Some(example) = self.made_up(EXAMPLE, &values).filter(|_| !declared) {
            out.push_str("\n\nExample, with another tool. ");
            out.push_str("The user: \"Get us a table for four at Luigi's, outside.\" You:\n");
            out.push_str(&example);
        }
        out.push_str("\n\nWhen no tool fits, answer in plain words.\n");
        out
    }

    /// What very small models are told: an example of the first tool that can be called, of which they copy the shape.
    fn shortest_prompt(self: &Arc<Self>, tools: &[Tool]) -> String {
        let mut out = format!("# Tools\n{}", self.definitions_in(tools, Detail::Compact));
        if let Some(example) = tools.iter().find_map(|tool| self.filled(tool, &capitals(&tool.parameters))) {
            out.push_str("\n\nTo use a tool, write:\n");
            out.push_str(&example);
        }
        out.push('\n');
        out
    }

    /// A call of this tool with a placeholder for each argument, as the model would write it; none where the dialect cannot.
    /// What others say in it is neutralised.
    pub fn skeleton(self: &Arc<Self>, tool: &Tool) -> Option<String> {
        self.filled(tool, &tool.placeholders())
    }

    /// How an answer begins that is a call of this tool, or with `None` of any: for servers that go on with an answer that a
    /// request begins. It ends where a token may end, in front of white space and opening brackets. None where calls have
    /// nothing in common that stands in front of their names.
    pub fn opening(self: &Arc<Self>, tool: Option<&Tool>) -> Option<String> {
        let other = json!({"other": 1});
        let calls = match tool {
            Some(tool) => {
                [self.skeleton(tool), self.filled(tool, "{}"), self.filled(tool, &other.to_string())]
            }
            None => ["a", "z.z", "Q"].map(|name| self.made_up(name, &other)),
        };
        let mut common: Option<String> = None;
        for call in calls.into_iter().flatten() {
            let Some(known) = &mut common else {
                common = Some(call);
                continue;
            };
            let same = known.char_indices().zip(call.chars()).find(|((_, ours), theirs)| ours != theirs);
            let length = same.map_or(known.len().min(call.len()), |((at, _), _)| at);
            known.truncate(length);
        }
        let opens = |char: char| char.is_whitespace() || "<[{(\"'`".contains(char);
        let opening = common?.trim_end_matches(opens).to_owned();
        (!opening.is_empty()).then_some(opening)
    }

    /// A call of a tool with these arguments, in which what others say is neutralised.
    fn filled(self: &Arc<Self>, tool: &Tool, arguments: &str) -> Option<String> {
        let neutral = |text: &str| self.foreign_marks().neutralise_inside(text).into_owned();
        let call = Call { id: None, name: neutral(&tool.name), arguments: neutral(arguments) };
        // The name is another where it had to be broken.
        let known = Tool { name: call.name.clone(), ..tool.clone() };
        Some(self.render_calls(&[call], &[known]).ok()?.trim().to_owned())
    }

    /// A call of a tool that does not exist, as the model would write it; some dialects are written by the declared names
    /// and types.
    fn made_up(self: &Arc<Self>, name: &str, arguments: &Value) -> Option<String> {
        let kind = |value: &Value| match value {
            Value::Number(_) => "integer",
            Value::Bool(_) => "boolean",
            _ => "string",
        };
        let types = arguments.as_object().into_iter().flatten();
        let types: Value = types.map(|(key, value)| (key.clone(), json!({"type": kind(value)}))).collect();
        let parameters = json!({"type": "object", "properties": types}).into();
        self.filled(
            &Tool { name: name.to_owned(), description: String::new(), parameters },
            &spaced(arguments),
        )
    }

    /// The tools as the family's own template shows them, without any words around; neutralised.
    pub fn definitions(&self, tools: &[Tool]) -> String {
        self.definitions_in(tools, Detail::Full)
    }

    /// The tools in as much detail, without any words around; neutralised.
    pub fn definitions_in(&self, tools: &[Tool], detail: Detail) -> String {
        let said = match detail {
            Detail::Compact => Said::joined(tools.iter().map(compact), "\n"),
            Detail::Types => self.defined(&TYPESCRIPT, tools),
            Detail::Full => self.defined(&self.definitions, tools),
        };
        said.neutral(&self.foreign_marks())
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
        let json = |value: &Value| Some(Said::by_others(spelt(value, form.json)));
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

/// `- read_file(path): Read a file.`
fn compact(tool: &Tool) -> Said {
    let sentence = tool.description.split_inclusive(". ").next().unwrap_or_default().trim();
    Said::filled("- {name}({arguments}): {sentence}", |slot| match slot {
        "name" => Some(Said::by_others(tool.name.as_str())),
        "arguments" => Some(Said::by_others(required(&tool.parameters).join(", "))),
        "sentence" => Some(Said::by_others(sentence)),
        _ => None,
    })
}

/// The required arguments as JSON, each with its own name in capitals, which nobody takes for a real value.
fn capitals(schema: &Value) -> String {
    let properties = schema.get("properties");
    let arguments = required(schema).into_iter().map(|key| {
        let value = match properties.and_then(|all| all.get(key)?.get("type")?.as_str()) {
            Some("integer" | "number") => json!(1),
            Some("boolean") => json!(true),
            Some("array") => json!([]),
            Some("object") => json!({}),
            _ => json!(key.rsplit('_').next().unwrap_or(key).to_ascii_uppercase()),
        };
        (key.to_owned(), value)
    });
    spaced(&arguments.collect())
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
