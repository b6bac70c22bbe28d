//! The tools that run here, in a request: added beside those of the client, and with them what earlier calls gave.

use std::collections::BTreeSet;
use std::sync::Arc;

use del_dialects::CallResult;
use del_wire::{Asked, failed};
use serde_json::{Value, json};

use crate::memory::Shelf;
use crate::refusal::Refusal;

/// The tools that were added to a request.
#[derive(Debug)]
pub(super) struct Injected {
    pub(super) names: Arc<BTreeSet<String>>,
    /// Those that were not, as the client has tools of the same names.
    pub(super) clashes: Vec<String>,
    /// The client has tools as well.
    pub(super) beside: bool,
}

impl Injected {
    /// Adds these tools. `None` where the client wants no calls.
    pub(super) fn add(asked: &mut Asked, tools: &[Value]) -> Result<Option<Self>, Refusal> {
        if asked.body.get("tool_choice").is_some_and(|choice| choice == "none") {
            if !asked.body.contains_key("tools") {
                // The choice was about those that are not added, and some servers refuse one without tools.
                asked.body.shift_remove("tool_choice");
                asked.changed = true;
            }
            return Ok(None);
        }
        if asked.body.get("n").and_then(Value::as_u64).is_some_and(|choices| choices > 1) {
            return Err(Refusal::bad_request("expected no more than one choice (`n`), as tools run here")
                .hint("send a request for each choice"));
        }
        let given = asked.body.entry("tools").or_insert_with(|| Value::Array(Vec::new()));
        let Some(given) = given.as_array_mut() else {
            return Err(Refusal::bad_request("expected a list as `tools`"));
        };
        let theirs: BTreeSet<String> = given.iter().filter_map(name).map(str::to_owned).collect();
        let (mut names, mut clashes) = (BTreeSet::new(), Vec::new());
        for tool in tools {
            match name(tool) {
                Some(name) if theirs.contains(name) => clashes.push(name.to_owned()),
                Some(name) => {
                    names.insert(name.to_owned());
                    given.push(tool.clone());
                }
                None => {}
            }
        }
        asked.changed = true;
        Ok(Some(Self { names: Arc::new(names), clashes, beside: !theirs.is_empty() }))
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.names.contains(name)
    }
}

fn name(tool: &Value) -> Option<&str> {
    tool.get("function").unwrap_or(tool).get("name")?.as_str()
}

/// Under what the messages around a call of the client's are remembered.
pub(super) fn place(call: &str) -> String {
    format!("before {call}")
}

/// Puts back what a client never saw: calls that ran here before or beside its own, and their results. Where they are
/// forgotten, the conversation stays as the client has it, which is whole as well.
pub(super) fn recall(asked: &mut Asked, memory: &Shelf<'_>) {
    let Some(Value::Array(messages)) = asked.body.get_mut("messages") else { return };
    let mut whole = Vec::with_capacity(messages.len());
    for message in std::mem::take(messages) {
        let ids = calls(&message);
        let kept = ids.first().and_then(|id| memory.conversation(&place(id)));
        match kept.filter(|kept| open(kept) == ids) {
            Some(kept) => {
                asked.changed = true;
                whole.extend(kept);
            }
            None => whole.push(message),
        }
    }
    *messages = whole;
}

/// The ids of the calls of a message.
fn calls(message: &Value) -> Vec<&str> {
    let calls = message["tool_calls"].as_array().into_iter().flatten();
    calls.filter_map(|call| call["id"].as_str()).collect()
}

/// The ids of the calls that have no results.
fn open(messages: &[Value]) -> Vec<&str> {
    let answered: Vec<&str> =
        messages.iter().filter_map(|message| message["tool_call_id"].as_str()).collect();
    messages.iter().flat_map(calls).filter(|id| !answered.contains(id)).collect()
}

/// A result, as a message.
pub(super) fn message_of(result: &CallResult) -> Value {
    let mut message = json!({"role": "tool", "tool_call_id": result.id, "content": result.text});
    if !result.ok {
        message[failed::MEMBER] = json!(true);
    }
    message
}
