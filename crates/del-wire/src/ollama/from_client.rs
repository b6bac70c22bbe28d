//! A request of Ollama's API as one for a chat completion.

use std::collections::{HashMap, VecDeque};

use serde_json::{Map, Value, json};

use crate::asked::Asked;
use crate::error::WireError;
use crate::ollama::{ARGUMENTS, OWN};
use crate::tools::Functions;
use crate::{arguments, inline, spelling};

/// Members that are read here.
const KNOWN: [&str; 9] =
    ["model", "messages", "prompt", "system", "images", "tools", "options", "format", "stream"];
/// Members that mean nothing to servers of other APIs.
const LOCAL: [&str; 6] = ["think", "keep_alive", "template", "raw", "suffix", "context"];

/// The messages that a request gives, with the arguments of calls as they were written.
pub fn messages(json: &str) -> Result<Value, WireError> {
    spelling::read(json, &ARGUMENTS[1..])
}

/// Reads a request for a chat, without its tools.
pub fn read_chat(body: &Map<String, Value>, functions: Functions) -> Result<Asked, WireError> {
    let Some(Value::Array(given)) = body.get("messages") else {
        let got = body.get("messages").map_or_else(|| "nothing".to_owned(), Value::to_string);
        return Err(WireError::shape("messages", "a list", &got));
    };
    let mut messages = Vec::with_capacity(given.len());
    // Calls have no ids here: results come in the order of the calls, or say the tool's name.
    let mut waiting = Waiting::default();
    for (place, message) in given.iter().enumerate() {
        if !matches!(message.get("content"), None | Some(Value::Null | Value::String(_)))
            || !message.is_object()
        {
            let at = format!("messages[{place}]");
            return Err(WireError::shape(&at, "an object whose content is a string", &message.to_string()));
        }
        messages.push(self::message(message, place, &mut waiting));
    }
    let mut out = options(body)?;
    out.insert("messages".to_owned(), Value::Array(messages));
    if !functions.list.is_empty() {
        out.insert("tools".to_owned(), Value::Array(functions.list));
    }
    Ok(Asked { changed: true, ..Asked::of(out)? })
}

/// Reads a request for the completion of one prompt. One without a prompt says nothing: it has the model loaded.
pub fn read_generate(body: &Map<String, Value>) -> Result<Asked, WireError> {
    let text = |name: &str| body.get(name).and_then(Value::as_str).filter(|text| !text.is_empty());
    let mut messages = Vec::new();
    if let Some(prompt) = text("prompt") {
        messages.extend(text("system").map(|system| json!({"role": "system", "content": system})));
        let mut user = json!({"role": "user", "content": prompt});
        add_images(body.get("images"), &mut user);
        messages.push(user);
    }
    let mut out = options(body)?;
    out.insert("messages".to_owned(), Value::Array(messages));
    Ok(Asked { changed: true, ..Asked::of(out)? })
}

/// Calls without a result.
#[derive(Default)]
struct Waiting {
    /// Their ids, in their order; none where a result has come.
    ids: Vec<Option<String>>,
    /// Nothing before this one waits.
    first: usize,
    /// The places of those of each tool.
    of_tools: HashMap<String, VecDeque<usize>>,
}

impl Waiting {
    fn add(&mut self, id: String, tool: &str) {
        self.of_tools.entry(tool.to_owned()).or_default().push_back(self.ids.len());
        self.ids.push(Some(id));
    }

    /// The first call of this tool, else the first of all.
    fn take(&mut self, tool: Option<&str>) -> Option<String> {
        let places = tool.and_then(|tool| self.of_tools.get_mut(tool));
        for place in places.into_iter().flat_map(|places| std::iter::from_fn(|| places.pop_front())) {
            if let Some(id) = self.ids[place].take() {
                return Some(id);
            }
        }
        while let Some(id) = self.ids.get_mut(self.first) {
            self.first += 1;
            if let Some(id) = id.take() {
                return Some(id);
            }
        }
        None
    }
}

fn message(message: &Value, place: usize, waiting: &mut Waiting) -> Value {
    let role = message["role"].as_str().unwrap_or("user");
    let mut out = json!({"role": role, "content": message["content"].as_str().unwrap_or_default()});
    if role == "tool" {
        let name = message["tool_name"].as_str().or_else(|| message["name"].as_str());
        let id = message["tool_call_id"].as_str().map(str::to_owned);
        let taken = waiting.take(name);
        out["tool_call_id"] = json!(id.or(taken).unwrap_or_else(|| format!("call_{place}")));
    }
    if let Some(thought) = message["thinking"].as_str().filter(|thought| !thought.is_empty()) {
        out["reasoning_content"] = json!(thought);
    }
    if let Some(calls) = message["tool_calls"].as_array().filter(|calls| !calls.is_empty()) {
        *waiting = Waiting::default();
        let calls = calls.iter().enumerate().map(|(number, call)| {
            let function = &call["function"];
            let id = call["id"].as_str().map_or_else(|| format!("call_{place}_{number}"), str::to_owned);
            waiting.add(id.clone(), function["name"].as_str().unwrap_or_default());
            let arguments = arguments::text(&function["arguments"]);
            json!({"id": id, "type": "function", "function": {"name": function["name"], "arguments": arguments}})
        });
        out["tool_calls"] = calls.collect();
    }
    add_images(message.get("images"), &mut out);
    out
}

/// Images are given beside the text, in base 64 and without a type.
fn add_images(images: Option<&Value>, message: &mut Value) {
    let images: Vec<&str> =
        images.and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect();
    if images.is_empty() {
        return;
    }
    let mut parts = vec![json!({"type": "text", "text": message["content"]})];
    parts.extend(images.iter().map(|image| {
        let url = if image.starts_with("data:") {
            (*image).to_owned()
        } else {
            let kind = inline::begun(image).unwrap_or("image/png");
            format!("data:{kind};base64,{image}")
        };
        json!({"type": "image_url", "image_url": {"url": url}})
    }));
    message["content"] = Value::Array(parts);
}

/// What is asked beside the conversation. Members that are not known here stay in it.
fn options(body: &Map<String, Value>) -> Result<Map<String, Value>, WireError> {
    const RENAMED: [(&str, &str); 1] = [("num_predict", "max_tokens")];
    const SAME: [&str; 9] = [
        "temperature",
        "top_p",
        "top_k",
        "min_p",
        "seed",
        "stop",
        "presence_penalty",
        "frequency_penalty",
        "repeat_penalty",
    ];
    let mut out = Map::new();
    out.insert("model".to_owned(), body.get("model").cloned().unwrap_or_else(|| json!("")));
    let mut own = Map::new();
    for (name, value) in body.iter().filter(|(name, _)| !KNOWN.contains(&name.as_str())) {
        let into = if LOCAL.contains(&name.as_str()) { &mut own } else { &mut out };
        into.insert(name.clone(), value.clone());
    }
    match own.get("think") {
        Some(effort @ Value::String(_)) => drop(out.insert("reasoning_effort".to_owned(), effort.clone())),
        Some(Value::Bool(false)) => drop(out.insert("reasoning_effort".to_owned(), json!("none"))),
        _ => {}
    }
    let mut given = match body.get("options") {
        None | Some(Value::Null) => Map::new(),
        Some(Value::Object(given)) => given.clone(),
        Some(other) => return Err(WireError::shape("options", "an object", &other.to_string())),
    };
    let same = SAME.iter().map(|name| (*name, *name));
    for (theirs, ours) in RENAMED.into_iter().chain(same) {
        // A limit below zero is none.
        let value = given.shift_remove(theirs);
        if let Some(value) = value.filter(|value| theirs != "num_predict" || value.as_i64() > Some(0)) {
            out.insert(ours.to_owned(), value);
        }
    }
    if !given.is_empty() {
        own.insert("options".to_owned(), Value::Object(given));
    }
    if !own.is_empty() {
        out.insert(OWN.to_owned(), Value::Object(own));
    }
    match body.get("format") {
        Some(Value::String(word)) if word == "json" => {
            out.insert("response_format".to_owned(), json!({"type": "json_object"}));
        }
        Some(schema @ Value::Object(_)) => {
            let schema = json!({"name": "answer", "schema": schema});
            out.insert("response_format".to_owned(), json!({"type": "json_schema", "json_schema": schema}));
        }
        None | Some(Value::Null) => {}
        Some(Value::String(none)) if none.is_empty() => {}
        Some(other) => {
            return Err(WireError::shape("format", "\"json\" or a JSON schema", &other.to_string()));
        }
    }
    if body.get("stream") != Some(&Value::Bool(false)) {
        out.insert("stream".to_owned(), json!(true));
        out.insert("stream_options".to_owned(), json!({"include_usage": true}));
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::Waiting;

    #[test]
    fn a_result_is_for_the_first_call_of_its_tool_or_of_all() {
        let waiting = || {
            let mut waiting = Waiting::default();
            for (id, tool) in [("a", "f"), ("b", "g"), ("c", "f"), ("d", "g")] {
                waiting.add(id.to_owned(), tool);
            }
            waiting
        };
        for (results, ids) in [
            ([Some("g"), None, Some("f"), Some("g"), None], "bacd-"),
            ([None, None, Some("f"), None, Some("f")], "abcd-"),
            ([Some("x"), Some("f"), Some("f"), Some("g"), Some("g")], "acbd-"),
        ] {
            let mut waiting = waiting();
            let taken: String =
                results.map(|tool| waiting.take(tool).unwrap_or_else(|| "-".to_owned())).concat();
            assert_eq!(taken, ids, "{results:?}");
        }
    }
}
