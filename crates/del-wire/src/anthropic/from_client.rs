//! A request for a message as one for a chat completion.

use serde_json::{Map, Value, json};

use super::{ARGUMENTS, call_id, plain};
use crate::asked::Asked;
use crate::error::WireError;
use crate::fields;
use crate::told::UNSEALED;
use crate::tools::Functions;
use crate::{arguments, failed, own, spelling};

/// Members that mean nothing beside a chat completion, or that are read here.
const KNOWN: &[&str] = &[
    "system",
    "messages",
    "tools",
    "tool_choice",
    "stop_sequences",
    "metadata",
    "service_tier",
    "container",
    "context_management",
    "mcp_servers",
    "output_config",
    "output_format",
    "cache_control",
    "betas",
    "speed",
    "inference_geo",
];

/// Members that mean the same in a chat completion, or whose place is taken there.
const ALIKE: &[&str] = &["model", "max_tokens", "temperature", "top_p", "top_k", "stream", "thinking"];

/// Those that mean something to Anthropic's servers alone, and change nothing of how an answer is read.
const OWN: &[&str] = &[
    "metadata",
    "service_tier",
    "container",
    "context_management",
    "mcp_servers",
    "output_config",
    "output_format",
    "speed",
    "inference_geo",
];

/// The tools that a request gives.
pub fn functions(given: Vec<Value>) -> Functions {
    let mut functions = Functions::default();
    for tool in given {
        match tool.get("type").and_then(Value::as_str) {
            None | Some("custom") => functions.list.push(function(tool)),
            Some(kind) => functions.dropped.push(kind.to_owned()),
        }
    }
    functions
}

/// The messages that a request gives, with the arguments of calls as they were written.
pub fn messages(json: &str) -> Result<Value, WireError> {
    spelling::read(json, &ARGUMENTS[1..])
}

/// Reads the request, without its tools. Members that are not known here stay in it.
pub fn read(mut body: Map<String, Value>, functions: Functions) -> Result<Asked, WireError> {
    let mut messages = Vec::new();
    if let Some(system) = body.get("system") {
        let said = said(fields::said(system, "system")?, "system");
        if said.as_str() != Some("") {
            messages.push(json!({"role": "system", "content": said}));
        }
    }
    let Some(Value::Array(given)) = body.get("messages") else {
        let got = body.get("messages").map_or_else(|| "nothing".to_owned(), Value::to_string);
        return Err(WireError::shape("messages", "a list", &got));
    };
    for (place, message) in given.iter().enumerate() {
        let role = message["role"].as_str().unwrap_or_default();
        let content = fields::content(message, &format!("messages[{place}]"))?;
        let known = messages.len();
        match role {
            "user" => user(content, &mut messages),
            "assistant" => messages.push(assistant(content)),
            "system" => messages.push(json!({"role": "system", "content": said(content, "system")})),
            _ => {
                let at = format!("messages[{place}].role");
                return Err(WireError::shape(&at, "user, assistant or system", &message["role"].to_string()));
            }
        }
        if let Some(first) = messages.get_mut(known) {
            own::keep_rest(message, &["role", "content"], plain::OF_MESSAGE, first);
        }
    }
    let Functions { list: tools, dropped } = functions;
    let mut out = Map::new();
    choose(&body, &tools, &mut out)?;
    if let Some(stop) = body.get("stop_sequences").filter(|stop| !stop.is_null()) {
        out.insert("stop".to_owned(), stop.clone());
    }
    if let Some(user) = body.get("metadata").and_then(|metadata| metadata.get("user_id")?.as_str()) {
        out.insert("user".to_owned(), json!(user));
    }
    let schema = |name: &str, path: &str| body.get(name)?.pointer(path);
    if let Some(schema) =
        schema("output_config", "/format/schema").or_else(|| schema("output_format", "/schema"))
    {
        let schema = json!({"name": "answer", "schema": schema});
        out.insert("response_format".to_owned(), json!({"type": "json_schema", "json_schema": schema}));
    }
    // What nobody knows here, such a server may.
    let goes_on = |name: &str| OWN.contains(&name) || !KNOWN.contains(&name) && !ALIKE.contains(&name);
    let own = body.iter().filter(|(name, _)| goes_on(name.as_str()));
    let own: Map<String, Value> = own.map(|(name, value)| (name.clone(), value.clone())).collect();
    if !own.is_empty() {
        out.insert(plain::OWN.to_owned(), Value::Object(own));
    }
    if let Some(mark) = body.get("cache_control").filter(|mark| mark.is_object()) {
        out.insert(plain::MARK.to_owned(), mark.clone());
    }
    if body.get("stream") == Some(&Value::Bool(true)) {
        out.insert("stream_options".to_owned(), json!({"include_usage": true}));
    }
    body.retain(|name, _| !KNOWN.contains(&name.as_str()));
    body.insert("messages".to_owned(), Value::Array(messages));
    if !tools.is_empty() {
        body.insert("tools".to_owned(), Value::Array(tools));
    }
    body.extend(out);
    Ok(Asked { dropped, changed: true, ..Asked::of(body)? })
}

/// A tool as the function that it is.
fn function(mut tool: Value) -> Value {
    let mut take = |name: &str| tool.get_mut(name).map(Value::take).unwrap_or_default();
    let description = Some(take("description")).filter(Value::is_string).unwrap_or_else(|| json!(""));
    let members = [
        ("name".to_owned(), take("name")),
        ("description".to_owned(), description),
        ("parameters".to_owned(), take("input_schema")),
    ];
    let inner = Value::Object(Map::from_iter(members));
    let mut function = Value::Object(Map::from_iter([
        ("type".to_owned(), json!("function")),
        ("function".to_owned(), inner),
    ]));
    plain::mark(&tool, &mut function);
    if let Value::Object(mut rest) = tool {
        const READ: [&str; 5] = ["type", "name", "description", "input_schema", "cache_control"];
        rest.retain(|name, value| !READ.contains(&name.as_str()) && !value.is_null());
        if !rest.is_empty() {
            function[plain::OWN] = Value::Object(rest);
        }
    }
    function
}

fn choose(body: &Map<String, Value>, tools: &[Value], out: &mut Map<String, Value>) -> Result<(), WireError> {
    let Some(choice) = body.get("tool_choice").filter(|choice| !choice.is_null()) else { return Ok(()) };
    let chosen = match choice["type"].as_str() {
        Some("auto") => json!("auto"),
        Some("any") => json!("required"),
        Some("none") => json!("none"),
        Some("tool") => {
            let name = &choice["name"];
            if !tools.iter().any(|tool| tool["function"]["name"] == *name) {
                return Err(WireError::shape(
                    "tool_choice.name",
                    "the name of one of the tools, other than hosted ones, which do not run here",
                    &name.to_string(),
                ));
            }
            json!({"type": "function", "function": {"name": name}})
        }
        _ => {
            return Err(WireError::shape("tool_choice.type", "auto, any, tool or none", &choice.to_string()));
        }
    };
    if !tools.is_empty() {
        out.insert("tool_choice".to_owned(), chosen);
        if choice["disable_parallel_tool_use"] == true {
            out.insert("parallel_tool_calls".to_owned(), json!(false));
        }
    }
    Ok(())
}

/// All text of a content.
fn text(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(blocks) => {
            let texts = blocks.iter().filter_map(|block| block["text"].as_str());
            texts.collect::<Vec<_>>().join("\n\n")
        }
        _ => String::new(),
    }
}

/// What is read of a text, of a result and of a call.
const READ_TEXT: [&str; 3] = ["type", "text", "cache_control"];
const READ_RESULT: [&str; 5] = ["type", "tool_use_id", "content", "is_error", "cache_control"];
const READ_CALL: [&str; 5] = ["type", "id", "name", "input", "cache_control"];

/// All text of a content, in its blocks where these are marked.
fn said(content: &Value, role: &str) -> Value {
    let blocks = content.as_array().into_iter().flatten().filter(|block| block["text"].is_string());
    let parts: Vec<Value> = blocks
        .map(|block| {
            let mut part = json!({"type": "text", "text": block["text"]});
            plain::mark(block, &mut part);
            if role == "system" {
                own::keep_rest(block, &READ_TEXT, plain::OWN, &mut part);
            }
            part
        })
        .collect();
    let marked = parts.iter().any(plain::is_marked);
    let one = plain::joined(&parts, role).filter(|_| content.is_array() && !marked);
    match one {
        Some(text) => json!(text),
        None if marked => Value::Array(parts),
        None => json!(text(content)),
    }
}

/// What the user says: results first, each a message, then the rest.
fn user(content: &Value, messages: &mut Vec<Value>) {
    let Some(blocks) = content.as_array() else {
        messages.push(json!({"role": "user", "content": content}));
        return;
    };
    let mut parts = Vec::new();
    for block in blocks {
        if block["type"] == "tool_result" {
            let result = result(&block["content"]);
            let mut message = json!({"role": "tool", "tool_call_id": call_id::of(&block["tool_use_id"]), "content": result});
            if block["is_error"] == true {
                message[failed::MEMBER] = json!(true);
            }
            plain::mark(block, &mut message);
            own::keep_rest(block, &READ_RESULT, plain::OWN, &mut message);
            messages.push(message);
        } else {
            parts.push(part(block));
        }
    }
    if let [Value::Object(only)] = parts.as_slice()
        && only.get("type").is_some_and(|kind| kind == "text")
        && !parts.iter().any(plain::is_marked)
    {
        messages.push(json!({"role": "user", "content": only["text"]}));
    } else if !parts.is_empty() {
        messages.push(json!({"role": "user", "content": parts}));
    }
}

/// What a result says: a text where it is nothing else.
fn result(content: &Value) -> Value {
    let Some(blocks) = content.as_array() else { return json!(text(content)) };
    let parts: Vec<Value> = blocks.iter().map(part).collect();
    let marked = parts.iter().any(plain::is_marked);
    match plain::joined(&parts, "tool").filter(|_| !marked) {
        Some(text) => json!(text),
        None => Value::Array(parts),
    }
}

/// A block as a content part.
fn part(block: &Value) -> Value {
    let kind = block["type"].as_str().unwrap_or_default();
    let Some(mut part) = bare_part(block) else { return own::part(plain::OWN, block) };
    plain::mark(block, &mut part);
    match kind {
        "document" | "search_result" => part[plain::OWN] = block.clone(),
        "text" => own::keep_rest(block, &READ_TEXT, plain::OWN, &mut part),
        _ => own::keep_rest(block, &["type", "source", "cache_control"], plain::OWN, &mut part),
    }
    part
}

/// The same without what it is marked with; `None` for one that has no place in a chat, such as a file that the server keeps.
fn bare_part(block: &Value) -> Option<Value> {
    let (kind, source) = (block["type"].as_str().unwrap_or_default(), &block["source"]);
    let inline =
        || Some(format!("data:{};base64,{}", source["media_type"].as_str()?, source["data"].as_str()?));
    let address = || source["url"].as_str().map(str::to_owned).or_else(inline);
    Some(match kind {
        "text" => json!({"type": "text", "text": block["text"]}),
        "search_result" => titled(block, "source", &text(&block["content"])),
        "image" => json!({"type": "image_url", "image_url": {"url": address()?}}),
        "document" if source["type"] == "text" => {
            titled(block, "context", source["data"].as_str().unwrap_or_default())
        }
        "document" if source["type"] == "content" => titled(block, "context", &text(&source["content"])),
        "document" => {
            let name = block["title"].as_str().unwrap_or("document.pdf");
            json!({"type": "file", "file": {"filename": name, "file_data": address()?}})
        }
        _ => return None,
    })
}

/// A text behind the title that a block has, and what another member says of it.
fn titled(block: &Value, member: &str, said: &str) -> Value {
    let about = ["title", member].into_iter().filter_map(|name| block[name].as_str());
    let lines: Vec<&str> = about.chain([said]).collect();
    json!({"type": "text", "text": lines.join("\n")})
}

/// What the model said in its blocks. Where it cited something, texts right behind each other are one text.
pub(super) fn spoken(content: &Value) -> Value {
    let Some(blocks) = content.as_array().filter(|blocks| blocks.iter().any(cites)) else {
        return said(content, "assistant");
    };
    let mut joined: Vec<Value> = Vec::with_capacity(blocks.len());
    let mut last: Option<&Value> = None;
    for block in blocks {
        let goes_on =
            last.is_some_and(|last| is_text(last) && is_text(block) && (cites(last) || cites(block)));
        match joined.last_mut().filter(|_| goes_on) {
            Some(joined) => {
                let text =
                    [&joined["text"], &block["text"]].map(|text| text.as_str().unwrap_or_default()).concat();
                joined["text"] = json!(text);
                if let Some(mark) = block.get("cache_control") {
                    joined["cache_control"] = mark.clone();
                }
            }
            None => joined.push(block.clone()),
        }
        last = Some(block);
    }
    said(&Value::Array(joined), "assistant")
}

fn is_text(block: &Value) -> bool {
    block["type"] == "text"
}

fn cites(block: &Value) -> bool {
    block["citations"].as_array().is_some_and(|citations| !citations.is_empty())
}

/// True where thoughts come before texts and these before calls, as they do on their way, and nothing but a call has more to it
/// than is read here.
fn is_usual(blocks: &[Value]) -> bool {
    let rank = |block: &Value| match block["type"].as_str() {
        Some("text") => 1,
        Some("tool_use") => 2,
        _ => 0,
    };
    let usual = |block: &Value| match block["type"].as_str() {
        Some("text") => {
            !cites(block) && own::rest(block, &[&READ_TEXT[..], &["citations"]].concat()).is_empty()
        }
        Some(kind) => SAID.contains(&kind),
        None => false,
    };
    blocks.is_sorted_by_key(rank) && blocks.iter().all(usual)
}

/// What is read of an answer.
pub(crate) const SAID: [&str; 4] = ["text", "thinking", "redacted_thinking", "tool_use"];

fn assistant(content: &Value) -> Value {
    let mut message = json!({"role": "assistant", "content": spoken(content)});
    if content.as_array().is_some_and(|blocks| !is_usual(blocks)) {
        message[plain::OWN] = json!({ "content": content });
    }
    let blocks = || content.as_array().into_iter().flatten();
    let thought: Vec<&str> = blocks().filter_map(|block| block["thinking"].as_str()).collect();
    if !thought.is_empty() {
        message["reasoning_content"] = json!(thought.join("\n"));
    }
    let sealed: Vec<&Value> = blocks()
        .filter(|block| {
            block["type"] == "redacted_thinking"
                || block["signature"].as_str().is_some_and(|seal| !seal.is_empty() && seal != UNSEALED)
        })
        .collect();
    if !sealed.is_empty() {
        message["thinking_blocks"] = json!(sealed);
    }
    let calls: Vec<Value> = blocks()
        .filter(|block| block["type"] == "tool_use")
        .map(|block| {
            let function = json!({"name": block["name"], "arguments": arguments::text(&block["input"])});
            let mut call = json!({"id": call_id::of(&block["id"]), "type": "function", "function": function});
            plain::mark(block, &mut call);
            own::keep_rest(block, &READ_CALL, plain::OWN, &mut call);
            call
        })
        .collect();
    if !calls.is_empty() {
        message["tool_calls"] = Value::Array(calls);
    }
    message
}
