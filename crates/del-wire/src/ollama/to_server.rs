//! A request for a server that speaks Ollama's own chat.

use std::collections::HashMap;

use serde_json::{Map, Value, json};

use crate::ollama::OWN;
use crate::{failed, fields, inline, responses, think};

/// Members of a request for a chat completion that the API has nothing for, or another. What nobody knows stays in it: some may be its own.
pub(crate) const IGNORED: [&str; 13] = [
    "audio",
    "logit_bias",
    "metadata",
    "modalities",
    "prediction",
    "prompt_cache_key",
    "safety_identifier",
    "service_tier",
    "store",
    "thinking",
    "user",
    "verbosity",
    "web_search_options",
];

/// The body, in which the arguments of calls are text. Members that are not known stay in it, for the API ignores others than its own.
pub(crate) fn write(body: &Map<String, Value>) -> Value {
    const OPTIONS: [(&str, &str); 11] = [
        ("temperature", "temperature"),
        ("top_p", "top_p"),
        ("top_k", "top_k"),
        ("min_p", "min_p"),
        ("seed", "seed"),
        ("stop", "stop"),
        ("presence_penalty", "presence_penalty"),
        ("frequency_penalty", "frequency_penalty"),
        ("repeat_penalty", "repeat_penalty"),
        ("max_tokens", "num_predict"),
        ("max_completion_tokens", "num_predict"),
    ];
    const OTHERS: [&str; 9] = [
        "messages",
        "stream",
        "stream_options",
        "response_format",
        "tool_choice",
        "parallel_tool_calls",
        "n",
        "reasoning_effort",
        responses::OWN,
    ];
    let (mut out, mut options) = (Map::new(), Map::new());
    for (name, value) in body {
        match OPTIONS.iter().find(|(ours, _)| ours == name) {
            _ if value.is_null() => {}
            // A list is all that it takes.
            Some((_, "stop")) if value.is_string() => {
                options.insert("stop".to_owned(), json!([value]));
            }
            Some((_, theirs)) => {
                options.insert((*theirs).to_owned(), value.clone());
            }
            None if OTHERS.contains(&name.as_str()) || IGNORED.contains(&name.as_str()) => {}
            None => {
                out.insert(name.clone(), value.clone());
            }
        }
    }
    if let Some(think) = think::think(body) {
        out.insert("think".to_owned(), think);
    }
    if let Some(Value::Object(own)) = out.shift_remove(OWN) {
        out.extend(own);
    }
    if let Some(Value::Object(given)) = out.shift_remove("options") {
        options.extend(given);
    }
    if !options.is_empty() {
        out.insert("options".to_owned(), Value::Object(options));
    }
    if let Some(format) = body.get("response_format") {
        let schema = format.pointer("/json_schema/schema").cloned();
        if format["type"] != "text" {
            out.insert("format".to_owned(), schema.unwrap_or_else(|| json!("json")));
        }
    }
    let mut names = HashMap::new();
    let messages = body.get("messages").and_then(Value::as_array).into_iter().flatten();
    let messages = messages.map(|given| message(given, &mut names)).collect();
    out.insert("messages".to_owned(), messages);
    // It streams unless told otherwise.
    out.insert("stream".to_owned(), json!(body.get("stream") == Some(&Value::Bool(true))));
    Value::Object(out)
}

fn message(given: &Value, names: &mut HashMap<String, String>) -> Value {
    let role = match given["role"].as_str().unwrap_or("user") {
        "developer" => "system",
        "function" => "tool",
        role => role,
    };
    let (mut text, images) = content(&given["content"]);
    if given[failed::MEMBER] == true {
        failed::add_words(&mut text);
    }
    let mut out = json!({"role": role, "content": text});
    if !images.is_empty() {
        out["images"] = json!(images);
    }
    if let Some(thought) = given["reasoning_content"].as_str() {
        out["thinking"] = json!(thought);
    }
    if let Some(name) = given["tool_call_id"].as_str().and_then(|id| names.get(id)) {
        out["tool_name"] = json!(name);
    }
    let calls: Vec<Value> = given["tool_calls"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|call| {
            let function = &call["function"];
            if let (Some(id), Some(name)) = (call["id"].as_str(), function["name"].as_str()) {
                names.insert(id.to_owned(), name.to_owned());
            }
            json!({"function": {"name": function["name"], "arguments": function["arguments"]}})
        })
        .collect();
    if !calls.is_empty() {
        out["tool_calls"] = json!(calls);
    }
    out
}

/// True for a content part that the API has a place for: a text, or an image in base 64. It fetches none, so those that are
/// addresses stay out.
pub(crate) fn takes_part(part: &Value) -> bool {
    part["text"].is_string() || image(part).is_some()
}

fn image(part: &Value) -> Option<&str> {
    inline::read(fields::image(part)?).map(|image| image.data)
}

/// The text of a content, and its images.
fn content(content: &Value) -> (String, Vec<String>) {
    let Some(parts) = content.as_array() else {
        return (content.as_str().unwrap_or_default().to_owned(), Vec::new());
    };
    let texts: Vec<&str> = parts.iter().filter_map(|part| part["text"].as_str()).collect();
    (texts.join("\n"), parts.iter().filter_map(image).map(str::to_owned).collect())
}
