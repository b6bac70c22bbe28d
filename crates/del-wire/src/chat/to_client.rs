//! Answers in the shape of chat completions.
//!
//! What a chunk of the server has besides text and calls stays in it, byte for byte; a chunk of nothing but text that
//! goes on unchanged is not written anew.

use std::io::Write as _;

use serde_json::{Map, Value, json};

use crate::chunk::Delta;
use crate::fields::Fields;
use crate::told::{Blocks, Piece, Raw, ToClient, Told, ToldChoice, comments};

/// Writes chat completions.
#[derive(Debug)]
pub struct Chat {
    /// The members of the last chunk but its choices, as JSON, for chunks that the server did not send.
    envelope: String,
    /// What stands around the text in chunks that have nothing else to tell.
    silent: String,
    /// The client knows functions, not tools.
    legacy: bool,
    /// For answers of servers that do not say it.
    created: u64,
}

/// Members of a message that are written anew.
const MESSAGE: [&str; 7] =
    ["role", "content", "reasoning_content", "reasoning", "thinking", "tool_calls", "function_call"];
/// Members of a choice that are written anew.
const CHOICE: [&str; 5] = ["index", "delta", "message", "text", "finish_reason"];
const CHUNK: &str = "chat.completion.chunk";

impl Chat {
    /// Nothing yet. `created` is the time in seconds; a `legacy` client knows functions, not tools.
    pub fn new(created: u64, legacy: bool) -> Self {
        Self { envelope: String::new(), silent: String::new(), legacy, created }
    }

    fn envelope(&self, told: &Told<'_>, fields: Option<&Fields<'_>>, object: &str) -> String {
        let mut out = String::new();
        match fields {
            Some(fields) => {
                let usage = if object == CHUNK { fields.get("usage").is_some() } else { false };
                for (name, json) in fields.iter() {
                    match name {
                        "choices" => {}
                        "usage" if usage => {}
                        "object" if object == CHUNK => {}
                        _ => member(name, json, &mut out),
                    }
                }
                if object == CHUNK || !fields.has("object") {
                    member("object", &json!(object).to_string(), &mut out);
                }
            }
            None => {
                member("id", &json!(told.chunk.id.as_deref().unwrap_or("chatcmpl-0")).to_string(), &mut out);
                member("object", &json!(object).to_string(), &mut out);
                member("created", &self.created.to_string(), &mut out);
                member(
                    "model",
                    &json!(told.chunk.model.as_deref().unwrap_or_default()).to_string(),
                    &mut out,
                );
            }
        }
        out
    }

    /// Passes on a chunk as the server wrote it, but for a text in it that comes at another time. True where that can be.
    fn pass(&self, told: &Told<'_>, raw: &Raw<'_>, out: &mut Vec<u8>) -> bool {
        let event = |parts: &[&str], out: &mut Vec<u8>| {
            out.extend_from_slice(b"data: ");
            for part in parts {
                out.extend_from_slice(part.as_bytes());
            }
            out.extend_from_slice(b"\n\n");
            true
        };
        match (told.choices.as_slice(), told.chunk.choices.as_slice()) {
            ([], []) => event(&[raw.json], out),
            ([new], [delta]) if !new.first && new.reason.is_none() => {
                if delta.finish.is_none() && is_same(new, delta) {
                    return event(&[raw.json], out);
                }
                match (new.pieces.as_slice(), raw.around()) {
                    ([Piece::Text(text)], Some((before, behind))) => {
                        event(&[before, &json!(text).to_string(), behind], out)
                    }
                    ([], Some((before, behind))) => self.silent.strip_prefix(before) == Some(behind),
                    _ => false,
                }
            }
            _ => false,
        }
    }

    fn event(&self, choice: &str, usage: Option<&str>, out: &mut Vec<u8>) {
        out.extend_from_slice(b"data: {");
        out.extend_from_slice(self.envelope.as_bytes());
        // A vector takes every write.
        let _ = write!(out, "{}\"choices\":[{choice}]", if self.envelope.is_empty() { "" } else { "," });
        if let Some(usage) = usage {
            let _ = write!(out, ",\"usage\":{usage}");
        }
        out.extend_from_slice(b"}\n\n");
    }

    /// The choices of the events that tell what is new of one, as JSON.
    fn choices(&self, new: &ToldChoice, raw: Option<&str>, told: &mut Vec<String>) {
        let (beside, inside) = unknown(raw, "delta");
        let mut deltas: Vec<String> =
            new.pieces.iter().filter_map(|piece| written(piece, self.legacy)).collect();
        if new.first {
            deltas.insert(0, r#""role":"assistant","content":null"#.to_owned());
        } else if deltas.is_empty() && (!inside.is_empty() || beside.iter().any(|(_, json)| *json != "null"))
        {
            deltas.push(String::new());
        }
        for (place, delta) in deltas.iter().enumerate() {
            let mut delta = delta.clone();
            let mut choice = format!("\"index\":{}", new.index);
            if place == 0 {
                members(&inside, &mut delta);
            }
            member("delta", &format!("{{{delta}}}"), &mut choice);
            if place == 0 {
                members(&beside, &mut choice);
            }
            member("finish_reason", "null", &mut choice);
            told.push(format!("{{{choice}}}"));
        }
        if let Some(reason) = &new.reason {
            let reason = if self.legacy && reason == "tool_calls" { "function_call" } else { reason };
            told.push(format!(
                "{{\"index\":{},\"delta\":{{}},\"finish_reason\":{}}}",
                new.index,
                json!(reason)
            ));
        }
    }
}

impl ToClient for Chat {
    fn tell(&mut self, told: &Told<'_>, out: &mut Vec<u8>) {
        if told.raw.as_ref().is_some_and(|raw| self.pass(told, raw, out)) {
            return;
        }
        let raw = told.raw.as_ref().map(|raw| raw.json);
        let fields = raw.and_then(|raw| Fields::read(raw, "chunk").ok());
        if raw.is_some() || self.envelope.is_empty() {
            self.envelope = self.envelope(told, fields.as_ref(), CHUNK);
        }
        let given =
            fields.as_ref().and_then(|fields| fields.list("choices").ok().flatten()).unwrap_or_default();
        let mut choices = Vec::new();
        for new in &told.choices {
            self.choices(new, new.place.and_then(|place| given.get(place).copied()), &mut choices);
        }
        if choices.is_empty()
            && let Some((before, behind)) = told.raw.as_ref().and_then(Raw::around)
        {
            self.silent = [before, behind].concat();
        }
        let usage = match &fields {
            Some(fields) => fields.get("usage").map(str::to_owned),
            None => told.chunk.usage.map(|usage| usage_of(usage).to_string()),
        };
        let last = choices.len().saturating_sub(1);
        for (place, choice) in choices.iter().enumerate() {
            self.event(choice, usage.as_deref().filter(|_| place == last), out);
        }
        if choices.is_empty()
            && let Some(usage) = usage
        {
            self.event("", Some(&usage), out);
        }
    }

    fn done(&mut self, remarks: &[(&str, String)], out: &mut Vec<u8>) {
        comments(remarks, out);
        out.extend_from_slice(b"data: [DONE]\n\n");
    }

    fn fail(&mut self, message: &str, raw: Option<&str>, out: &mut Vec<u8>) {
        let shaped = raw.and_then(|raw| serde_json::from_str::<Value>(raw).ok());
        let shaped = shaped.filter(|said| said.get("error").is_some_and(Value::is_object));
        let event = shaped.unwrap_or_else(
            || json!({"error": {"message": message, "type": "upstream_error", "param": null, "code": null}}),
        );
        out.extend_from_slice(format!("data: {event}\n\n").as_bytes());
    }

    fn whole(&mut self, told: &Told<'_>) -> String {
        let raw = told.raw.as_ref().map(|raw| raw.json);
        if let (Some(raw), [new], [delta]) = (raw, told.choices.as_slice(), told.chunk.choices.as_slice())
            && is_same(new, delta)
            && new.reason == delta.reason
        {
            return raw.to_owned();
        }
        let fields = raw.and_then(|raw| Fields::read(raw, "completion").ok());
        let given =
            fields.as_ref().and_then(|fields| fields.list("choices").ok().flatten()).unwrap_or_default();
        let choices = told.choices.iter().map(|new| {
            let raw = new.place.and_then(|place| given.get(place).copied());
            let (beside, inside) = unknown(raw, "message");
            let mut message = Blocks::of(&new.pieces).message();
            message.shift_remove("thinking_blocks");
            let mut reason = new.reason.as_deref().unwrap_or("stop");
            if self.legacy {
                as_function(&mut message, &mut reason);
            }
            let mut text = String::new();
            for (name, value) in &message {
                member(name, &value.to_string(), &mut text);
            }
            members(&inside, &mut text);
            let mut choice = format!("\"index\":{},\"message\":{{{text}}}", new.index);
            members(&beside, &mut choice);
            member("finish_reason", &json!(reason).to_string(), &mut choice);
            format!("{{{choice}}}")
        });
        let choices: Vec<String> = choices.collect();
        let mut out = self.envelope(told, fields.as_ref(), "chat.completion");
        member("choices", &format!("[{}]", choices.join(",")), &mut out);
        if fields.is_none()
            && let Some(usage) = told.chunk.usage
        {
            member("usage", &usage_of(usage).to_string(), &mut out);
        }
        format!("{{{out}}}")
    }
}

/// Nothing but text is new, and it is what the server wrote.
fn is_same(new: &ToldChoice, delta: &Delta) -> bool {
    let more = delta.reasoning.is_some() || delta.signature.is_some() || !delta.calls.is_empty();
    !more && matches!(new.pieces.as_slice(), [Piece::Text(text)] if delta.content.as_ref() == Some(text))
}

/// Members of a choice, and of its delta or message, that are not known here: names and JSON.
#[expect(clippy::type_complexity, reason = "two lists of one kind")]
fn unknown<'r>(raw: Option<&'r str>, of: &str) -> (Vec<(String, &'r str)>, Vec<(String, &'r str)>) {
    let without = |fields: &Fields<'r>, known: &[&str]| -> Vec<(String, &'r str)> {
        let unknown = fields.iter().filter(|(name, _)| !known.contains(name));
        unknown.map(|(name, json)| (name.to_owned(), json)).collect()
    };
    let Some(fields) = raw.and_then(|raw| Fields::read(raw, "choice").ok()) else {
        return (Vec::new(), Vec::new());
    };
    let inner = [of, "delta", "message"].iter().find_map(|name| fields.object(name).ok().flatten());
    (without(&fields, &CHOICE), inner.map(|inner| without(&inner, &MESSAGE)).unwrap_or_default())
}

fn members(list: &[(String, &str)], out: &mut String) {
    for (name, json) in list {
        member(name, json, out);
    }
}

fn member(name: &str, json: &str, out: &mut String) {
    if !out.is_empty() {
        out.push(',');
    }
    out.push_str(&json!(name).to_string());
    out.push(':');
    out.push_str(json);
}

/// A piece as the members of the delta that adds it.
fn written(piece: &Piece, legacy: bool) -> Option<String> {
    Some(match piece {
        Piece::Reasoning(text) => format!("\"reasoning_content\":{}", json!(text)),
        Piece::Text(text) => format!("\"content\":{}", json!(text)),
        Piece::Call { name, .. } if legacy => {
            format!("\"function_call\":{}", json!({"name": name, "arguments": ""}))
        }
        Piece::Arguments { json, .. } if legacy => {
            format!("\"function_call\":{}", json!({"arguments": json}))
        }
        Piece::Call { index, id, name } => {
            let function = json!({"name": name, "arguments": ""});
            let call = json!({"index": index, "id": id, "type": "function", "function": function});
            format!("\"tool_calls\":[{call}]")
        }
        Piece::Arguments { index, json } => {
            let call = json!({"index": index, "function": {"arguments": json}});
            format!("\"tool_calls\":[{call}]")
        }
        Piece::Custom { index, id, name, input } => {
            let custom = json!({"name": name, "input": input});
            let call = json!({"index": index, "id": id, "type": "custom", "custom": custom});
            format!("\"tool_calls\":[{call}]")
        }
        Piece::Signature(_) | Piece::CallEnd { .. } => return None,
    })
}

/// The one call of a message as it was before there were tools.
fn as_function(message: &mut Map<String, Value>, reason: &mut &str) {
    if let Some(calls) = message.shift_remove("tool_calls") {
        message.insert("function_call".to_owned(), calls[0]["function"].clone());
        *reason = "function_call";
    }
}

fn usage_of(usage: crate::Usage) -> Value {
    json!({
        "prompt_tokens": usage.prompt,
        "completion_tokens": usage.completion,
        "total_tokens": usage.prompt.saturating_add(usage.completion),
        "prompt_tokens_details": {"cached_tokens": usage.cached},
        "completion_tokens_details": {"reasoning_tokens": usage.reasoning},
    })
}
