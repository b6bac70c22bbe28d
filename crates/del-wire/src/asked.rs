//! What a client asks, whatever its API: a request for a chat completion, in which all that the other APIs have finds
//! its place.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use crate::error::WireError;
use crate::{fields, inline};

/// A request for a chat completion whose tools are functions, all of them.
#[derive(Debug, Clone, Default)]
pub struct Asked {
    /// The request.
    pub body: Map<String, Value>,
    /// The tools that take a text in place of arguments. In the body they are functions with one parameter, `input`.
    pub custom: BTreeSet<String>,
    /// The kinds of tools that only the makers of an API have, such as a search of the web. They are not in the body.
    pub dropped: Vec<String>,
    /// Kinds of content of the client's API that have no place in the body.
    pub unread: BTreeSet<String>,
    /// The body differs from what the client wrote in more than such tools.
    pub changed: bool,
}

impl Asked {
    /// Reads the tools of a request for a chat completion, and what its messages say of them.
    pub fn of(body: Map<String, Value>) -> Result<Self, WireError> {
        let mut asked = Self { body, ..Self::default() };
        asked.take_functions();
        asked.take_tools();
        asked.take_choice()?;
        if !asked.dropped.is_empty() && !asked.body.contains_key("tools") {
            for name in ["tool_choice", "parallel_tool_calls"] {
                asked.body.shift_remove(name);
            }
        }
        if !asked.custom.is_empty() {
            asked.take_custom_calls();
        }
        Ok(asked)
    }

    /// Refuses a conversation or tools that no server of another API could be told.
    pub fn check(&self) -> Result<(), WireError> {
        let messages = self.body.get("messages").and_then(Value::as_array).into_iter().flatten();
        for (place, message) in messages.enumerate() {
            let at = format!("messages[{place}]");
            if !message.is_object() {
                return Err(WireError::shape(&at, "an object", &message.to_string()));
            }
            let content = fields::content(message, &at)?;
            for (number, part) in content.as_array().into_iter().flatten().enumerate() {
                check_address(part).map_err(|(member, got)| {
                    let at = format!("{at}.content[{number}].{member}");
                    WireError::shape(&at, "an address (`https://…` or `data:image/png;base64,…`)", got)
                })?;
            }
        }
        match self.body.get("tools") {
            None | Some(Value::Null | Value::Array(_)) => {}
            Some(other) => return Err(WireError::shape("tools", "a list", &other.to_string())),
        }
        match self.body.get("tool_choice") {
            None | Some(Value::Null) => Ok(()),
            Some(Value::String(word)) if matches!(word.as_str(), "none" | "auto" | "required" | "any") => {
                Ok(())
            }
            Some(choice) if choice.pointer("/function/name").is_some_and(Value::is_string) => Ok(()),
            Some(other) => {
                let expected = "none, auto, required or a function with its name";
                Err(WireError::shape("tool_choice", expected, &other.to_string()))
            }
        }
    }

    /// `functions` and what belongs to them, as they were before there were tools.
    fn take_functions(&mut self) {
        let functions = self.body.shift_remove("functions");
        let Some(functions) = functions.filter(|functions| !functions.is_null()) else { return };
        self.changed = true;
        let list = functions.as_array().cloned().unwrap_or_default();
        let tools = list.into_iter().map(|function| json!({"type": "function", "function": function}));
        self.body.insert("tools".to_owned(), tools.collect());
        match self.body.shift_remove("function_call") {
            None | Some(Value::Null) => {}
            Some(Value::String(word)) => {
                self.body.insert("tool_choice".to_owned(), json!(word));
            }
            Some(named) => {
                let choice = json!({"type": "function", "function": {"name": named["name"]}});
                self.body.insert("tool_choice".to_owned(), choice);
            }
        }
        self.body.insert("parallel_tool_calls".to_owned(), json!(false));
        self.take_function_calls();
    }

    /// Calls of functions in the conversation, and their results, as they are of tools. Without `functions` beside them, a
    /// server of chats may know them, others do not.
    pub fn take_function_calls(&mut self) {
        let mut last = String::new();
        for (place, message) in self.messages_mut().iter_mut().enumerate() {
            let Some(members) = message.as_object_mut() else { continue };
            if let Some(call) = members.shift_remove("function_call").filter(|call| !call.is_null()) {
                last = format!("call_function_{place}");
                let call = json!({"id": last, "type": "function", "function": call});
                members.insert("tool_calls".to_owned(), json!([call]));
            }
            if members.get("role").is_some_and(|role| role == "function") {
                members.insert("role".to_owned(), json!("tool"));
                members.insert("tool_call_id".to_owned(), json!(last));
            }
        }
    }

    fn take_tools(&mut self) {
        let Some(Value::Array(tools)) = self.body.get_mut("tools") else { return };
        let mut kept = Vec::with_capacity(tools.len());
        for tool in std::mem::take(tools) {
            let kind = tool.get("type").and_then(Value::as_str).unwrap_or("function");
            if kind == "function" {
                kept.push(tool);
                continue;
            }
            let custom = tool.get("custom").filter(|_| kind == "custom");
            let name = custom.and_then(|custom| custom.get("name")?.as_str());
            match (custom, name) {
                (Some(custom), Some(name)) => {
                    self.custom.insert(name.to_owned());
                    kept.push(function_of(name, custom));
                }
                _ => self.dropped.push(kind.to_owned()),
            }
        }
        *tools = kept;
        self.changed |= !self.custom.is_empty();
        if tools.is_empty() && !self.dropped.is_empty() {
            self.body.shift_remove("tools");
        }
    }

    fn take_choice(&mut self) -> Result<(), WireError> {
        let Some(choice) = self.body.get("tool_choice").filter(|choice| choice.is_object()).cloned() else {
            return Ok(());
        };
        let kind = choice.get("type").and_then(Value::as_str).unwrap_or("function");
        match kind {
            "function" => {}
            "custom" => {
                let name = choice.pointer("/custom/name").or_else(|| choice.get("name"));
                let choice = json!({"type": "function", "function": {"name": name}});
                self.body.insert("tool_choice".to_owned(), choice);
                self.changed = true;
            }
            "allowed_tools" => {
                let inner = choice.get("allowed_tools").unwrap_or(&choice);
                let mode = inner.get("mode").cloned().unwrap_or_else(|| json!("auto"));
                let allowed: Vec<&str> = inner
                    .get("tools")
                    .and_then(Value::as_array)
                    .into_iter()
                    .flatten()
                    .filter_map(name_of)
                    .collect();
                if let Some(Value::Array(tools)) = self.body.get_mut("tools") {
                    tools.retain(|tool| name_of(tool).is_some_and(|name| allowed.contains(&name)));
                    if tools.is_empty() {
                        return Err(WireError::shape(
                            "tool_choice.tools",
                            "names of some of the tools",
                            &inner["tools"].to_string(),
                        ));
                    }
                }
                self.body.insert("tool_choice".to_owned(), mode);
                self.changed = true;
            }
            _ => {
                return Err(WireError::shape(
                    "tool_choice",
                    "a choice among functions, for hosted tools do not run here",
                    &choice.to_string(),
                ));
            }
        }
        Ok(())
    }

    /// Past calls of custom tools as calls of the functions that stand for them.
    fn take_custom_calls(&mut self) {
        for message in self.messages_mut() {
            let Some(Value::Array(calls)) = message.get_mut("tool_calls") else { continue };
            for call in calls {
                let Some(custom) = call.get("custom").cloned() else { continue };
                let arguments = json!({"input": custom["input"]}).to_string();
                *call = json!({"id": call["id"], "type": "function",
                    "function": {"name": custom["name"], "arguments": arguments}});
            }
        }
    }

    fn messages_mut(&mut self) -> &mut [Value] {
        match self.body.get_mut("messages") {
            Some(Value::Array(messages)) => messages,
            _ => &mut [],
        }
    }
}

/// What of a content part is to be an address and is none: the member, and what it says.
fn check_address(part: &Value) -> Result<(), (&'static str, &str)> {
    let address = match part["type"].as_str() {
        Some("image_url") => fields::image(part).map(|address| ("image_url", address)),
        Some("file") => part["file"]["file_data"].as_str().map(|address| ("file.file_data", address)),
        _ => None,
    };
    address.filter(|(_, address)| !inline::is_address(address)).map_or(Ok(()), Err)
}

/// The text of a call of a custom tool, from the arguments of the function that stands for it.
pub fn custom_input(arguments: &str) -> String {
    let known = serde_json::from_str::<Value>(arguments).ok();
    match known.as_ref().and_then(|known| known.get("input")) {
        Some(Value::String(input)) => input.clone(),
        Some(other) => other.to_string(),
        None => arguments.to_owned(),
    }
}

/// The function that stands for a custom tool.
fn function_of(name: &str, custom: &Value) -> Value {
    let mut description = custom["description"].as_str().unwrap_or_default().to_owned();
    let format = &custom["format"];
    let grammar = format.pointer("/grammar/definition").or_else(|| format.get("definition"));
    if let Some(grammar) = grammar.and_then(Value::as_str) {
        description.push_str("\n\nThe input follows this grammar:\n");
        description.push_str(grammar);
    }
    let input = json!({"type": "string", "description": "The input of the tool, as plain text."});
    json!({"type": "function", "function": {"name": name, "description": description.trim_start(), "parameters":
        {"type": "object", "properties": {"input": input}, "required": ["input"], "additionalProperties": false}}})
}

fn name_of(tool: &Value) -> Option<&str> {
    ["function", "custom"].iter().find_map(|kind| tool.get(kind)).unwrap_or(tool).get("name")?.as_str()
}
