//! A request for a response as one for a chat completion.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use crate::arguments;
use crate::asked::Asked;
use crate::error::WireError;
use crate::fields;
use crate::own;
use crate::responses::{LOGPROBS, OWN, compaction, namespace, to_server};
use crate::told::UNSEALED;
use crate::tools::Functions;

/// Members that are read here, or that mean nothing beside a chat completion, whatever the server.
const KNOWN: &[&str] = &[
    "input",
    "instructions",
    "tools",
    "tool_choice",
    "max_output_tokens",
    "previous_response_id",
    "store",
    "background",
    "conversation",
    "prompt",
    "stream_options",
];

/// The others that are read here: they mean something to servers of responses.
const OF_SERVERS: [&str; 12] = [
    "include",
    "reasoning",
    "text",
    "truncation",
    "metadata",
    "prompt_cache_key",
    "prompt_cache_retention",
    "safety_identifier",
    "service_tier",
    "max_tool_calls",
    "client_metadata",
    "context_management",
];

/// What a request says.
#[derive(Debug)]
pub struct Read {
    /// The request for a chat completion.
    pub asked: Asked,
    /// The conversation without the instructions, which hold for one answer alone.
    pub conversation: Vec<Value>,
}

/// The tools that a request gives.
pub fn functions(given: Vec<Value>) -> Functions {
    Functions::alike(namespace::flat(given).into_iter().map(tool).collect())
}

/// Reads the request, without its tools. `earlier` is the conversation that it goes on with, and `kept` gives the items of earlier answers by
/// their ids; members that are not known here stay in it.
pub fn read(
    mut body: Map<String, Value>,
    functions: Functions,
    earlier: Vec<Value>,
    kept: &dyn Fn(&str) -> Option<Value>,
) -> Result<Read, WireError> {
    for name in ["background", "conversation", "prompt"] {
        let wanted = body.get(name).is_some_and(|value| !matches!(value, Value::Null | Value::Bool(false)));
        if wanted {
            let got = body.get(name).map(Value::to_string).unwrap_or_default();
            return Err(WireError::shape(name, "left out: nothing is kept here but earlier responses", &got));
        }
    }
    let mut items = Items { messages: earlier, thought: None, sealed: Vec::new(), unread: BTreeSet::new() };
    match body.get("input") {
        Some(Value::String(text)) => items.messages.push(json!({"role": "user", "content": text})),
        Some(Value::Array(list)) => {
            for (place, item) in list.iter().enumerate() {
                if item["type"] == "item_reference" {
                    let known = item["id"].as_str().and_then(kept);
                    items.add(&known.ok_or_else(|| unknown(item, place))?, place)?;
                } else {
                    items.add(item, place)?;
                }
            }
        }
        other => {
            let got = other.map_or_else(|| "nothing".to_owned(), Value::to_string);
            return Err(WireError::shape("input", "a string or a list", &got));
        }
    }
    items.forget_thought();
    let (conversation, unread) = (items.messages, items.unread);
    let mut messages = conversation.clone();
    match body.get("instructions") {
        None | Some(Value::Null) => {}
        Some(Value::String(text)) if text.is_empty() => {}
        Some(text @ Value::String(_)) => messages.insert(0, json!({"role": "system", "content": text})),
        Some(other) => return Err(WireError::shape("instructions", "a string", &other.to_string())),
    }
    join_system(&mut messages);
    let mut out = Map::from_iter([("messages".to_owned(), Value::Array(messages))]);
    ask(&body, functions, &mut out);
    let own = own(&mut body);
    body.retain(|name, _| !KNOWN.contains(&name.as_str()));
    if !own.is_empty() {
        body.insert(OWN.to_owned(), Value::Object(own));
    }
    body.extend(out);
    Ok(Read { asked: Asked { changed: true, unread, ..Asked::of(body)? }, conversation })
}

/// What is asked of servers of responses alone.
fn own(body: &mut Map<String, Value>) -> Map<String, Value> {
    let members = OF_SERVERS.iter().filter_map(|name| Some(((*name).to_owned(), body.shift_remove(*name)?)));
    let mut own: Map<String, Value> = members.collect();
    // What nobody knows here, such a server may.
    let unknown = body.iter().filter(|(name, _)| !KNOWN.contains(&name.as_str()) && !to_server::takes(name));
    own.extend(unknown.map(|(name, value)| (name.clone(), value.clone())));
    for (name, read) in [("reasoning", "effort"), ("text", "format")] {
        if let Some(Value::Object(inner)) = own.get_mut(name) {
            inner.shift_remove(read);
        }
    }
    if let Some(Value::Array(include)) = own.get_mut("include") {
        include.retain(|what| what != LOGPROBS);
    }
    own.retain(|_, value| !matches!(value, Value::Null) && *value != json!({}) && *value != json!([]));
    own
}

fn unknown(item: &Value, place: usize) -> WireError {
    let at = format!("input[{place}]");
    WireError::shape(&at, "an item in full, or the id of one that is kept here", &item.to_string())
}

/// What is asked beside the conversation.
fn ask(body: &Map<String, Value>, functions: Functions, out: &mut Map<String, Value>) {
    if !functions.list.is_empty() {
        out.insert("tools".to_owned(), Value::Array(functions.list));
        if let Some(choice) = body.get("tool_choice").filter(|choice| !choice.is_null()) {
            let choice = match (choice["type"].as_str(), choice.get("name")) {
                (Some("function"), Some(_)) => {
                    json!({"type": "function", "function": {"name": namespace::name_of(choice)}})
                }
                _ => choice.clone(),
            };
            out.insert("tool_choice".to_owned(), choice);
        }
    }
    for (theirs, ours) in [("/max_output_tokens", "max_tokens"), ("/reasoning/effort", "reasoning_effort")] {
        let (first, rest) = theirs[1..].split_once('/').unwrap_or((&theirs[1..], ""));
        let value = body.get(first).map(|value| if rest.is_empty() { value } else { &value[rest] });
        if let Some(value) = value.filter(|value| !value.is_null()) {
            out.insert(ours.to_owned(), value.clone());
        }
    }
    let format = body.get("text").map(|text| &text["format"]);
    match format.and_then(|format| format["type"].as_str()) {
        Some("json_object") => {
            out.insert("response_format".to_owned(), json!({"type": "json_object"}));
        }
        Some("json_schema") => {
            let mut schema = format.and_then(Value::as_object).cloned().unwrap_or_default();
            schema.shift_remove("type");
            out.insert("response_format".to_owned(), json!({"type": "json_schema", "json_schema": schema}));
        }
        _ => {}
    }
    let includes =
        body.get("include").and_then(Value::as_array).is_some_and(|list| list.contains(&json!(LOGPROBS)));
    if includes || body.get("top_logprobs").is_some_and(|count| !count.is_null()) {
        // Beside a chat completion the one is nothing without the other.
        out.insert("logprobs".to_owned(), json!(true));
    }
    if body.get("stream") == Some(&Value::Bool(true)) {
        out.insert("stream_options".to_owned(), json!({"include_usage": true}));
    }
}

/// A tool, with what belongs to a function in a member of its own.
fn tool(tool: Value) -> Value {
    let kind = json!(tool["type"].as_str().unwrap_or("function"));
    let mut members = Map::from_iter([("type".to_owned(), kind.clone())]);
    if let (Some(kind @ ("function" | "custom")), Value::Object(mut inner)) = (kind.as_str(), tool) {
        inner.shift_remove("type");
        // Servers of other APIs refuse some schemas under it.
        if let Some(strict @ Value::Bool(_)) = inner.shift_remove("strict") {
            members.insert(OWN.to_owned(), json!({"strict": strict}));
        }
        members.insert(kind.to_owned(), Value::Object(inner));
    }
    Value::Object(members)
}

/// Instructions at the beginning become one message: many templates take one alone.
fn join_system(messages: &mut Vec<Value>) {
    let is_instruction = |message: &&Value| message["role"] == "system" && message["content"].is_string();
    let texts: Vec<&str> = messages
        .iter()
        .take_while(is_instruction)
        .filter_map(|message| message["content"].as_str())
        .collect();
    if texts.len() > 1 {
        let (count, joined) = (texts.len(), texts.join("\n\n"));
        messages[0]["content"] = json!(joined);
        messages.drain(1..count);
    }
}

/// What is read of a call.
const READ_CALL: [&str; 8] = ["type", "id", "status", "call_id", "name", "namespace", "arguments", "input"];

/// Items that become messages.
struct Items {
    messages: Vec<Value>,
    /// What the model thought before its next item.
    thought: Option<String>,
    /// The same with the server's seals on it.
    sealed: Vec<Value>,
    /// Kinds of items and of parts that have no place in messages.
    unread: BTreeSet<String>,
}

impl Items {
    fn add(&mut self, item: &Value, place: usize) -> Result<(), WireError> {
        let kind = item["type"].as_str().unwrap_or("message");
        match kind {
            "message" => self.message(item, place)?,
            "function_call" => self.call(item, &arguments::text(&item["arguments"])),
            "custom_tool_call" => self.call(item, &json!({"input": item["input"]}).to_string()),
            "function_call_output" | "custom_tool_call_output" => self.result(item),
            "reasoning" => {
                let of = |name: &str| item[name].as_array().into_iter().flatten();
                let texts: Vec<&str> =
                    of("content").chain(of("summary")).filter_map(|part| part["text"].as_str()).collect();
                let thought = texts.join("\n");
                let seal = item["encrypted_content"].as_str();
                if let Some(seal) = seal.filter(|seal| !seal.is_empty() && *seal != UNSEALED) {
                    self.sealed.push(json!({"type": "thinking", "thinking": thought, "signature": seal}));
                }
                if !texts.is_empty() {
                    let before = self.thought.take().map(|before| before + "\n");
                    self.thought = Some(before.unwrap_or_default() + &thought);
                }
            }
            "compaction" | "compaction_summary" | compaction::TRIGGER => {
                self.messages.push(compaction::message(item));
            }
            // What hosted tools did, and other records that the server alone reads.
            _ => {
                let mut message = json!({"role": "user", "content": "", OWN: item});
                // The server knows its thoughts by what follows them.
                if !self.sealed.is_empty() {
                    message["thinking_blocks"] = Value::Array(std::mem::take(&mut self.sealed));
                }
                self.messages.push(message);
            }
        }
        Ok(())
    }

    fn message(&mut self, item: &Value, place: usize) -> Result<(), WireError> {
        let role = match item["role"].as_str() {
            Some("developer") => "system",
            Some(role @ ("user" | "assistant" | "system")) => role,
            _ => {
                let at = format!("input[{place}].role");
                return Err(WireError::shape(
                    &at,
                    "user, assistant, system or developer",
                    &item["role"].to_string(),
                ));
            }
        };
        let said = fields::content(item, &format!("input[{place}]"))?;
        let mut message = json!({"role": role, "content": content(said)});
        own::keep_rest(item, &["type", "role", "content", "id", "status"], OWN, &mut message);
        if role == "assistant" {
            self.think(&mut message);
        } else {
            self.forget_thought();
        }
        self.messages.push(message);
        Ok(())
    }

    fn think(&mut self, message: &mut Value) {
        if let Some(thought) = self.thought.take() {
            message["reasoning_content"] = json!(thought);
        }
        if !self.sealed.is_empty() {
            message["thinking_blocks"] = Value::Array(std::mem::take(&mut self.sealed));
        }
    }

    /// A thought behind which the model said nothing is none of its next answer.
    fn forget_thought(&mut self) {
        let (thought, sealed) = (self.thought.take(), std::mem::take(&mut self.sealed));
        if thought.is_some() || !sealed.is_empty() {
            self.unread.insert("reasoning".to_owned());
        }
    }

    /// Adds a call to what the model said last.
    fn call(&mut self, item: &Value, arguments: &str) {
        if !self.messages.last().is_some_and(|last| last["role"] == "assistant")
            || self.thought.is_some()
            || !self.sealed.is_empty()
        {
            let mut message = json!({"role": "assistant", "content": ""});
            self.think(&mut message);
            self.messages.push(message);
        }
        let function = json!({"name": namespace::name_of(item), "arguments": arguments});
        let mut call = json!({"id": item["call_id"], "type": "function", "function": function});
        own::keep_rest(item, &READ_CALL, OWN, &mut call);
        if let Some(last) = self.messages.last_mut() {
            match last.get_mut("tool_calls") {
                Some(Value::Array(calls)) => calls.push(call),
                _ => last["tool_calls"] = json!([call]),
            }
        }
    }

    fn result(&mut self, item: &Value) {
        let output = match content(&item["output"]) {
            said @ (Value::Array(_) | Value::String(_)) => said,
            other => json!(other.to_string()),
        };
        let mut message = json!({"role": "tool", "tool_call_id": item["call_id"], "content": output});
        own::keep_rest(item, &["type", "id", "status", "call_id", "output"], OWN, &mut message);
        self.messages.push(message);
    }
}

/// Content as chat completions have it: text where it is nothing but text.
fn content(content: &Value) -> Value {
    let Some(list) = content.as_array() else { return content.clone() };
    let parts: Vec<Value> = list.iter().map(part).collect();
    if parts.iter().all(|part| part["type"] == "text" && part.get(OWN).is_none()) {
        let texts: Vec<&str> = parts.iter().filter_map(|part| part["text"].as_str()).collect();
        return json!(texts.join("\n"));
    }
    Value::Array(parts)
}

/// A content part, and what else goes along with it.
fn part(given: &Value) -> Value {
    let read: &[&str] = match given["type"].as_str().unwrap_or_default() {
        "refusal" => &["type", "refusal"],
        "input_audio" => &["type", "input_audio"],
        "input_image" => &["type", "image_url", "detail"],
        "input_file" => &["type", "file_data", "file_url", "filename"],
        _ => &["type", "text", "annotations", "logprobs"],
    };
    match bare_part(given) {
        Some(mut part) => {
            own::keep_rest(given, read, OWN, &mut part);
            part
        }
        None => own::part(OWN, given),
    }
}

/// The part alone; `None` for one that has no place in a chat, such as a file that the server keeps.
fn bare_part(part: &Value) -> Option<Value> {
    let kind = part["type"].as_str().unwrap_or_default();
    let given = |names: &[&str]| names.iter().map(|name| &part[*name]).find(|value| value.is_string());
    Some(match kind {
        "input_text" | "output_text" | "text" | "summary_text" => {
            json!({"type": "text", "text": part["text"]})
        }
        "refusal" => json!({"type": "text", "text": part["refusal"]}),
        "input_audio" => json!({"type": kind, kind: part[kind]}),
        "input_image" => {
            let mut image = json!({"url": given(&["image_url"])?});
            if part["detail"].is_string() {
                image["detail"] = part["detail"].clone();
            }
            json!({"type": "image_url", "image_url": image})
        }
        "input_file" => {
            let mut file = json!({"file_data": given(&["file_data", "file_url"])?});
            if part["filename"].is_string() {
                file["filename"] = part["filename"].clone();
            }
            json!({"type": "file", "file": file})
        }
        _ => return None,
    })
}
