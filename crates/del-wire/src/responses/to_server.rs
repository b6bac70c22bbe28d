//! A request for a server of responses.

use serde_json::{Map, Value, json};

use crate::responses::{LOGPROBS, OWN, SEALS};
use crate::{arguments, failed, fields, own, think};

/// Members that the API has as chat completions do.
const ALIKE: [&str; 14] = [
    "model",
    "temperature",
    "top_p",
    "stream",
    "parallel_tool_calls",
    "metadata",
    "user",
    "include",
    "reasoning",
    "prompt_cache_key",
    "safety_identifier",
    "service_tier",
    "store",
    "top_logprobs",
];
/// Those that it has under another name.
const RENAMED: [&str; 6] =
    ["max_completion_tokens", "max_tokens", "logprobs", "reasoning_effort", "response_format", "verbosity"];

/// True for members of a request that the API has in some way.
pub(crate) fn takes(name: &str) -> bool {
    ALIKE.contains(&name) || RENAMED.contains(&name)
}

/// The body. Members that the API does not have are left out, for it refuses them.
pub(crate) fn write(body: &Map<String, Value>) -> Value {
    let given = |name: &str| body.get(name).filter(|value| !value.is_null());
    let mut out = Map::new();
    for name in ALIKE {
        if let Some(value) = given(name) {
            out.insert(name.to_owned(), value.clone());
        }
    }
    if let Some(Value::Object(own)) = given(OWN) {
        out.extend(own.clone());
    }
    // Each request has the whole conversation, so that nothing has to be kept at the server.
    let keeps = *out.entry("store").or_insert(json!(false)) == true;
    if !keeps && given("tools").is_some() {
        // What it thought before a call comes back to it under its seal.
        include(SEALS, &mut out);
    }
    if let Some(limit) = given("max_completion_tokens").or_else(|| given("max_tokens")) {
        out.insert("max_output_tokens".to_owned(), limit.clone());
    }
    if given("logprobs") == Some(&Value::Bool(true)) {
        include(LOGPROBS, &mut out);
    }
    if let Some(effort) = think::effort(body) {
        out.entry("reasoning").or_insert_with(|| json!({"summary": "auto"}));
        put("reasoning", "effort", effort, &mut out);
    }
    let format = given("response_format").map(|format| ("format", flat(format, "json_schema")));
    for (name, value) in
        format.into_iter().chain(given("verbosity").map(|value| ("verbosity", value.clone())))
    {
        put("text", name, value, &mut out);
    }
    let (instructions, input) = conversation(body);
    if !instructions.is_empty() {
        out.insert("instructions".to_owned(), json!(instructions));
    }
    out.insert("input".to_owned(), Value::Array(input));
    if let Some(tools) = given("tools").and_then(Value::as_array).filter(|tools| !tools.is_empty()) {
        out.insert("tools".to_owned(), tools.iter().map(tool).collect());
        if let Some(choice) = given("tool_choice") {
            out.insert("tool_choice".to_owned(), flat(choice, "function"));
        }
    }
    Value::Object(out)
}

/// Has the answer hold this as well.
fn include(what: &str, body: &mut Map<String, Value>) {
    let include = body.entry("include").or_insert_with(|| json!([]));
    if let Some(include) = include.as_array_mut().filter(|list| !list.contains(&json!(what))) {
        include.push(json!(what));
    }
}

/// Adds a member to an object of the body.
fn put(object: &str, name: &str, value: Value, body: &mut Map<String, Value>) {
    match body.get_mut(object) {
        Some(Value::Object(members)) => drop(members.insert(name.to_owned(), value)),
        _ => drop(body.insert(object.to_owned(), json!({name: value}))),
    }
}

/// A tool. Without a word on it, the API takes schemas for strict ones and refuses those that are not.
fn tool(tool: &Value) -> Value {
    let mut flat = flat(tool, "function");
    if let Some(members) = flat.as_object_mut()
        && let Some(Value::Object(own)) = members.shift_remove(OWN)
    {
        members.extend(own);
    }
    if flat["type"] == "function" && flat.get("strict").is_none() {
        flat["strict"] = json!(false);
    }
    flat
}

/// An object whose member `inner` lies in it rather than beneath it.
fn flat(value: &Value, inner: &str) -> Value {
    let mut flat = value.clone();
    if let Some(object) = flat.as_object_mut()
        && let Some(Value::Object(members)) = object.shift_remove(inner)
    {
        object.extend(members);
    }
    flat
}

/// The instructions that the conversation begins with, and the items of the rest.
fn conversation(body: &Map<String, Value>) -> (String, Vec<Value>) {
    let (mut instructions, mut items) = (Vec::new(), Vec::new());
    for message in body.get("messages").and_then(Value::as_array).into_iter().flatten() {
        match message["role"].as_str().unwrap_or_default() {
            "system" | "developer" if items.is_empty() && !says_more(message) => {
                instructions.push(text(&message["content"]));
            }
            _ => add(message, &mut items),
        }
    }
    (instructions.join("\n\n"), items)
}

/// True for a message with members that only servers of this API know.
fn says_more(message: &Value) -> bool {
    let mut parts = message["content"].as_array().into_iter().flatten();
    message.get(OWN).is_some() || parts.any(|part| part.get(OWN).is_some())
}

/// Adds the items that a message is.
pub(super) fn add(message: &Value, items: &mut Vec<Value>) {
    let content = &message["content"];
    match message["role"].as_str().unwrap_or_default() {
        _ if own::whole(message, OWN).is_some() => {
            thoughts(message, items);
            items.push(message[OWN].clone());
            return;
        }
        role @ ("system" | "developer") => {
            items.push(json!({"role": role, "content": said(content, "input_text")}));
        }
        "assistant" => return assistant(message, items),
        "tool" | "function" => {
            let (id, mut said) = (&message["tool_call_id"], text(content));
            if message[failed::MEMBER] == true {
                failed::add_words(&mut said);
            }
            let parts = content.as_array().into_iter().flatten();
            let output = if parts.clone().all(|part| part["type"] == "text" && part.get(OWN).is_none()) {
                json!(said)
            } else if parts.clone().any(|part| part.get(OWN).is_some()) {
                self::parts(content)
            } else {
                let mut parts: Vec<Value> = parts.filter(|part| part["type"] != "text").cloned().collect();
                parts.insert(0, json!({"type": "text", "text": said}));
                self::parts(&Value::Array(parts))
            };
            items.push(json!({"type": "function_call_output", "call_id": id, "output": output}));
        }
        _ => items.push(json!({"role": "user", "content": parts(content)})),
    }
    items.iter_mut().last().into_iter().for_each(|item| own::put_rest(message, OWN, item));
}

/// Adds the thoughts under a seal that go before what a message says.
fn thoughts(message: &Value, items: &mut Vec<Value>) {
    for block in message["thinking_blocks"].as_array().into_iter().flatten() {
        if let Some(seal) = block["signature"].as_str() {
            let thought = block["thinking"].as_str().filter(|thought| !thought.is_empty());
            let summary: Vec<Value> =
                thought.iter().map(|text| json!({"type": "summary_text", "text": text})).collect();
            items.push(json!({"type": "reasoning", "summary": summary, "encrypted_content": seal}));
        }
    }
}

fn assistant(message: &Value, items: &mut Vec<Value>) {
    thoughts(message, items);
    let said = said(&message["content"], "output_text");
    if said != json!("") {
        let mut item = json!({"role": "assistant", "content": said});
        own::put_rest(message, OWN, &mut item);
        items.push(item);
    }
    for call in message["tool_calls"].as_array().into_iter().flatten() {
        let function = &call["function"];
        let arguments = arguments::text(&function["arguments"]);
        let mut item = json!({
            "type": "function_call", "call_id": call["id"], "name": function["name"], "arguments": arguments});
        own::put_rest(call, OWN, &mut item);
        items.push(item);
    }
}

/// What the model says, or who instructs it: a text, unless something goes along with its parts, which are of this `kind`.
fn said(content: &Value, kind: &str) -> Value {
    let parts = content.as_array().into_iter().flatten();
    if !parts.clone().any(|part| part.get(OWN).is_some()) {
        return json!(text(content));
    }
    let told = parts.filter_map(|part| {
        let mut told = self::part(part)?;
        if told["type"] == "input_text" {
            told["type"] = json!(kind);
        }
        Some(told)
    });
    told.collect()
}

/// The text of a content.
fn text(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => {
            let texts: Vec<&str> = parts.iter().filter_map(|part| part["text"].as_str()).collect();
            texts.join("\n")
        }
        _ => String::new(),
    }
}

/// What a user says: a text, or texts with images and files.
fn parts(content: &Value) -> Value {
    let Some(list) = content.as_array() else { return json!(text(content)) };
    list.iter().filter_map(part).collect()
}

/// True for a content part of a user that the API has a place for.
pub(crate) fn takes_part(part: &Value) -> bool {
    match part["type"].as_str() {
        Some("text" | "input_audio" | "file" | OWN) => true,
        Some("image_url") => fields::image(part).is_some(),
        _ => false,
    }
}

/// Such a part as the API has it.
fn part(part: &Value) -> Option<Value> {
    let mut told = match part["type"].as_str()? {
        OWN => return part.get(OWN).cloned(),
        "text" => json!({"type": "input_text", "text": part["text"]}),
        "image_url" => {
            let detail = part["image_url"]["detail"].as_str().unwrap_or("auto");
            json!({"type": "input_image", "image_url": fields::image(part)?, "detail": detail})
        }
        kind @ "input_audio" => json!({"type": kind, kind: part[kind]}),
        "file" => {
            let mut file = Map::from_iter([("type".to_owned(), json!("input_file"))]);
            for name in ["filename", "file_data", "file_id"] {
                if let Some(value @ Value::String(text)) = part["file"].get(name) {
                    let is_address = name == "file_data" && text.starts_with("http");
                    let name = if is_address { "file_url" } else { name };
                    file.insert(name.to_owned(), value.clone());
                }
            }
            Value::Object(file)
        }
        _ => return None,
    };
    own::put_rest(part, OWN, &mut told);
    Some(told)
}
