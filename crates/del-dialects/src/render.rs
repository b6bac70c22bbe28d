//! The way back: calls, results and definitions as text, from the same description that reads them.

use std::borrow::Cow;
use std::sync::Arc;

use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Value, json};
use thiserror::Error;

use crate::codec::{attributes, call, fields, loose, members};
use crate::collect::Collect;
use crate::dialect::{Codec, Dialect, HeadForm, Literal, Mark, Need, Piece, Slot};
use crate::dialects::Dialects;
use crate::message::{Call, CallResult, Tool};
use crate::parse::{End, Turn};

/// Why a call cannot be written in a dialect.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum RenderError {
    /// The arguments are no JSON object.
    #[error("expected a JSON object as the arguments of {name:?}, got {got:?}")]
    Arguments {
        /// The tool's name.
        name: String,
        /// The start of the arguments.
        got: String,
    },
    /// What would be written does not read as the same call.
    #[error("{dialect} cannot carry this call of {name:?}: its text would not read back the same")]
    Unrepresentable {
        /// The dialect's name.
        dialect: String,
        /// The tool's name.
        name: String,
    },
}

/// How much a model is told of its tools.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Detail {
    /// Name, required arguments and one sentence: for small models and small contexts.
    Compact,
    /// The whole schema.
    #[default]
    Full,
}

impl Dialect {
    /// Calls as the model itself writes them. `tools` are those of the conversation: they type raw values.
    ///
    /// # Errors
    /// When the text would not read back as the same calls: nothing is ever silently changed.
    pub fn render_calls(self: &Arc<Self>, calls: &[Call], tools: &[Tool]) -> Result<String, RenderError> {
        let mut out = String::new();
        for (place, call) in calls.iter().enumerate() {
            let native = call.id.as_deref().map(|id| self.native_id(id, place));
            let renamed = match native {
                Some(Cow::Owned(id)) => Some(Call { id: Some(id), ..call.clone() }),
                _ => None,
            };
            let call = renamed.as_ref().unwrap_or(call);
            let own = |variant: &&Arc<Self>| variant.tool.as_deref() == Some(call.name.as_str());
            let form = self.variants.iter().find(own).map_or(self.as_ref(), Arc::as_ref);
            form.write_call(call, tools, place, calls.len(), &mut out)?;
        }
        self.read_back(calls, tools, &out)?;
        Ok(out)
    }

    fn write_call(
        &self,
        call: &Call,
        tools: &[Tool],
        place: usize,
        count: usize,
        out: &mut String,
    ) -> Result<(), RenderError> {
        if place == 0 {
            self.block.open.iter().for_each(|mark| write_mark(mark, call, out));
        } else {
            out.push_str(&self.between);
        }
        for piece in &self.call {
            match piece {
                Piece::Mark(mark, head) => {
                    if mark.need == Need::Id && call.id.is_none() {
                        continue;
                    }
                    write_mark(mark, call, out);
                    if let Some(form) = head {
                        write_head(form, call, place, out);
                    }
                }
                Piece::Head(form) => write_head(form, call, place, out),
                Piece::Args(codec) => write_args(codec, call, tools, place, out)?,
            }
        }
        if place + 1 == count {
            self.block.close.iter().for_each(|mark| write_mark(mark, call, out));
        }
        Ok(())
    }

    /// The proof that nothing was lost: what was written reads as what was meant.
    fn read_back(self: &Arc<Self>, calls: &[Call], tools: &[Tool], text: &str) -> Result<(), RenderError> {
        let mut parser = self.parser(Turn::new(tools));
        let mut collect = Collect::new();
        parser.push(text, &mut collect);
        parser.finish(End::End, &mut collect);
        let message = collect.into_message();
        let same = |(meant, read): (&Call, &Call)| {
            meant.name == read.name && same_json(&meant.arguments, &read.arguments)
        };
        let different = calls.iter().zip(&message.calls).position(|pair| !same(pair));
        // White space around a name is easily lost, or left behind as text.
        let named = calls.iter().all(|call| call.name.trim() == call.name);
        let clean = named && message.calls.len() == calls.len() && message.content.trim().is_empty();
        match different.or((!clean).then_some(message.calls.len().min(calls.len().saturating_sub(1)))) {
            Some(place) if !calls.is_empty() => Err(RenderError::Unrepresentable {
                dialect: self.name.clone(),
                name: calls[place].name.clone(),
            }),
            _ => Ok(()),
        }
    }

    /// Results as the dialect hands them to the model, neutralised, for one message of the role [`results_role`](Self::results_role).
    pub fn render_results(&self, results: &[CallResult]) -> String {
        let mut out = self.results.open.clone();
        for (place, result) in results.iter().enumerate() {
            if place > 0 {
                out.push_str(&self.results.between);
            }
            let form = match &self.results.failed {
                Some(failed) if !result.ok => failed,
                _ => &self.results.each,
            };
            let all = Dialects::builtin();
            let (name, text) = (all.neutralise(&result.name), all.neutralise(&result.text));
            let id = self.native_id(result.id.as_deref().unwrap_or_default(), place);
            out.push_str(&fill(form, &[("{name}", &name), ("{id}", &id), ("{text}", &text)]));
        }
        out.push_str(&self.results.close);
        out
    }

    /// The role of the message that carries results.
    pub fn results_role(&self) -> &str {
        &self.results.role
    }

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

fn write_mark(mark: &Mark, call: &Call, out: &mut String) {
    match mark.need {
        Need::Noise => {}
        Need::Id if call.id.is_none() => {}
        _ => out.push_str(&mark.write),
    }
}

fn write_head(form: &HeadForm, call: &Call, place: usize, out: &mut String) {
    // Where the head is the id, an id of another form would confuse the model.
    if let Some(id) = call.id.as_ref().filter(|id| form.is_id && form.says(id, &call.name)) {
        out.push_str(id);
        return;
    }
    for part in &form.parts {
        match part {
            Slot::Text(text) => out.push_str(text),
            Slot::Name if !form.attributes.is_empty() => out.push_str(&attributes::written(&call.name)),
            Slot::Name => out.push_str(&call.name),
            Slot::Id => out.push_str(call.id.as_deref().unwrap_or_default()),
            Slot::Index => out.push_str(&place.to_string()),
            Slot::Number => match call.id.as_deref() {
                Some(id) if !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_digit()) => {
                    out.push_str(id);
                }
                _ => out.push_str(&(place + 1).to_string()),
            },
            _ => {}
        }
    }
}

fn write_args(
    codec: &Codec,
    call: &Call,
    tools: &[Tool],
    place: usize,
    out: &mut String,
) -> Result<(), RenderError> {
    let members = arguments(call)?;
    match codec {
        Codec::Object(Literal::Json) => out.push_str(&call.arguments),
        Codec::Call(form) => call::write(form, call, place, out),
        Codec::Object(Literal::Loose(syntax)) => loose::write_arguments(syntax, &members, out),
        Codec::Raw { key, .. } => {
            let text = match &members[..] {
                [(name, value)] if name == key => serde_json::from_str::<String>(value.get()).ok(),
                _ => None,
            };
            out.push_str(&text.ok_or_else(|| no_object(call))?);
        }
        Codec::Fields(form) => {
            let tool = tools.iter().find(|tool| tool.name == call.name);
            for (key, value) in members {
                let text: Option<String> = serde_json::from_str(value.get()).ok();
                fields::write(form, &key, value.get(), text.as_deref(), tool, out);
            }
        }
    }
    Ok(())
}

fn arguments(call: &Call) -> Result<Vec<(String, &RawValue)>, RenderError> {
    members(&call.arguments).ok_or_else(|| no_object(call))
}

fn no_object(call: &Call) -> RenderError {
    RenderError::Arguments { name: call.name.clone(), got: call.arguments.chars().take(40).collect() }
}

/// True when two JSON texts mean the same; order of keys and number spelling do not matter.
fn same_json(a: &str, b: &str) -> bool {
    if a == b {
        return true;
    }
    if let (Some(mut a), Some(mut b)) = (members(a), members(b)) {
        a.sort_by(|(a, _), (b, _)| a.cmp(b));
        b.sort_by(|(a, _), (b, _)| a.cmp(b));
        let same = a.iter().zip(&b).all(|((a, x), (b, y))| a == b && same_json(x.get(), y.get()));
        return a.len() == b.len() && same;
    }
    let items = |text| serde_json::from_str::<Vec<&RawValue>>(text).ok();
    if let (Some(a), Some(b)) = (items(a), items(b)) {
        return a.len() == b.len() && a.iter().zip(&b).all(|(a, b)| same_json(a.get(), b.get()));
    }
    let value = |text: &str| serde_json::from_str::<Value>(text).ok();
    matches!((value(a), value(b)), (Some(a), Some(b)) if a == b)
}

/// Puts values in the place of slots, in one pass: what a value holds is never taken for a slot.
fn fill(form: &str, slots: &[(&str, &str)]) -> String {
    let mut out = String::new();
    let mut rest = form;
    while let Some(at) = rest.find('{') {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        match slots.iter().find(|(slot, _)| rest.starts_with(slot)) {
            Some((slot, value)) => {
                out.push_str(value);
                rest = &rest[slot.len()..];
            }
            None => {
                out.push('{');
                rest = &rest[1..];
            }
        }
    }
    out.push_str(rest);
    out
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
