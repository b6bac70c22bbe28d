//! The few members of a request by which it is decided what becomes of it.

use del_wire::ToolChoice;
use serde_json::{Map, Value};

/// What decides on the way of a request.
#[derive(Debug)]
pub(super) struct Facts {
    pub(super) model: String,
    pub(super) streams: bool,
    pub(super) one_call: bool,
    pub(super) has_tools: bool,
    /// What `tool_choice` says, if that is known here.
    pub(super) choice: Option<ToolChoice>,
    /// The model may have said something before.
    pub(super) past: bool,
    /// How many choices the client wants.
    pub(super) choices: u64,
}

impl Facts {
    /// Of a body as one for a chat completion.
    pub(super) fn of(body: &Map<String, Value>) -> Self {
        let choice = match body.get("tool_choice") {
            None | Some(Value::Null) => choice_of(None),
            Some(Value::String(word)) => choice_of(Some(word)),
            Some(named) => {
                let name = named.pointer("/function/name").or_else(|| named.get("name"));
                name.and_then(Value::as_str).map(|name| ToolChoice::Named(name.to_owned()))
            }
        };
        Self {
            model: body.get("model").and_then(Value::as_str).unwrap_or_default().to_owned(),
            streams: body.get("stream") == Some(&Value::Bool(true)),
            one_call: body.get("parallel_tool_calls") == Some(&Value::Bool(false)),
            has_tools: body.get("tools").and_then(Value::as_array).is_some_and(|tools| !tools.is_empty()),
            choice,
            past: true,
            choices: body.get("n").and_then(Value::as_u64).unwrap_or(1),
        }
    }
}

/// What a word as `tool_choice` means.
pub(super) fn choice_of(word: Option<&str>) -> Option<ToolChoice> {
    match word {
        None | Some("auto") => Some(ToolChoice::Auto),
        Some("none") => Some(ToolChoice::None),
        Some("required" | "any") => Some(ToolChoice::Required),
        Some(_) => None,
    }
}
