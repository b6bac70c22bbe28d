//! Conversations that were made shorter: the item that stands for what was left out, and the answer that it comes in.
//!
//! What OpenAI's servers put into such an item is theirs alone. What is made here is a summary as plain text.

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::{OWN, past, to_client::usage};
use crate::chunk::Usage;
use crate::own;

/// What a summary that was made here stands behind, in the place of a server's own data.
const MADE_HERE: &str = "del.summary:";

/// An item that asks for such an item in place of an answer.
pub const TRIGGER: &str = "compaction_trigger";

/// True for a message that such an item is.
pub fn is_trigger(message: &Value) -> bool {
    message[OWN]["type"] == TRIGGER
}

/// True for a message that is an item which nobody said, such as what a hosted tool did.
pub fn is_record(message: &Value) -> bool {
    own::whole(message, OWN)
        .is_some_and(|item| !item["type"].as_str().is_some_and(|kind| kind.starts_with("compaction")))
}

/// The item that a summary is.
pub fn item(summary: &str) -> Value {
    json!({"type": "compaction", "encrypted_content": format!("{MADE_HERE}{summary}")})
}

/// An item as a message: a summary that was made here, or whatever else as the server wants it back.
pub(super) fn message(item: &Value) -> Value {
    let sealed = item["encrypted_content"].as_str();
    match sealed.and_then(|sealed| sealed.strip_prefix(MADE_HERE)) {
        Some(summary) => json!({"role": "user", "content": summary}),
        None => json!({"role": "user", "content": "", OWN: item}),
    }
}

/// The answer to a request to make a conversation shorter: what the user said, as messages, and the summary of the rest.
pub fn response(id: &str, created: u64, said: &[Value], summary: &str, cost: Usage) -> Value {
    let mut output = past::items(said, id);
    let of = id.trim_start_matches("resp_");
    let mut item = item(summary);
    item["id"] = json!(format!("cmp_{of}"));
    output.push(item);
    let cost: Value = serde_json::from_str(&usage(cost).into_text()).unwrap_or_default();
    json!({"id": id, "object": "response.compaction", "created_at": created, "output": output, "usage": cost})
}

/// A conversation as a text, for somebody who sums it up: of arguments and results so many characters.
pub fn as_text(messages: &[Value], longest: usize) -> String {
    let mut out = String::new();
    for message in messages {
        let said = text(&message["content"]);
        // Writing to a string cannot fail.
        let _ = match message["role"].as_str() {
            Some("assistant" | "user") if said.is_empty() => Ok(()),
            Some("assistant") => writeln!(out, "ASSISTANT: {said}"),
            Some("tool") => writeln!(out, "RESULT: {}", cut(&said, longest)),
            Some("system") => writeln!(out, "NOTE: {said}"),
            _ => writeln!(out, "USER: {said}"),
        };
        for call in message["tool_calls"].as_array().into_iter().flatten() {
            let function = &call["function"];
            let (name, arguments) = (&function["name"], function["arguments"].as_str().unwrap_or_default());
            let _ = writeln!(out, "CALL {}: {}", name.as_str().unwrap_or_default(), cut(arguments, longest));
        }
        out.push('\n');
    }
    out
}

/// All text of a content, and what else is in it by its kind.
fn text(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => {
            let texts = parts.iter().map(|part| match (part["text"].as_str(), part["type"].as_str()) {
                (Some(text), _) => text.to_owned(),
                (None, kind) => format!("[{}]", kind.unwrap_or_default()),
            });
            texts.collect::<Vec<_>>().join("\n")
        }
        _ => String::new(),
    }
}

fn cut(text: &str, longest: usize) -> String {
    match text.char_indices().nth(longest) {
        Some((at, _)) => format!("{} [...]", &text[..at]),
        None => text.to_owned(),
    }
}
