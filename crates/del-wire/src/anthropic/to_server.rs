//! A request for a server that speaks Anthropic's messages.

use std::collections::{HashMap, HashSet, VecDeque};

use serde_json::{Map, Value, json};

use super::from_client::spoken;
use super::plain;
use crate::{failed, fields, inline, own, think};

/// The API wants a limit; this one is for requests that have none.
pub(crate) const MOST_TOKENS: u64 = 8192;

/// Members that both APIs have alike.
const ALIKE: [&str; 6] = ["model", "temperature", "top_p", "top_k", "stream", "thinking"];

/// Members that become others.
const RENAMED: [&str; 5] = ["max_tokens", "max_completion_tokens", "stop", "user", "cache_control"];

/// True for members of a request that the API has in some way.
pub(crate) fn takes(name: &str, value: &Value) -> bool {
    ALIKE.contains(&name)
        || RENAMED.contains(&name)
        || name == "response_format" && value["type"] != "json_object"
        || name == "reasoning_effort" && word_of_effort(value).is_some()
}

/// The body, in which the arguments of calls are text. Members that the API does not have are left out, for it refuses them.
pub(crate) fn write(body: &Map<String, Value>) -> Value {
    let mut out = Map::new();
    for name in ALIKE {
        if let Some(value) = body.get(name).filter(|value| !value.is_null()) {
            out.insert(name.to_owned(), value.clone());
        }
    }
    let mut limits = ["max_completion_tokens", "max_tokens"].iter().filter_map(|name| body.get(*name));
    let limit = limits.find(|limit| !limit.is_null());
    out.insert("max_tokens".to_owned(), limit.cloned().unwrap_or_else(|| json!(thought(body) + MOST_TOKENS)));
    // Chats go further.
    if out.get("temperature").and_then(Value::as_f64).is_some_and(|heat| heat > 1.0) {
        out.insert("temperature".to_owned(), json!(1.0));
    }
    let stops =
        body.get("stop").map(|stop| stop.as_array().map_or(std::slice::from_ref(stop), Vec::as_slice));
    // White space alone is refused.
    let said = |stop: &&Value| stop.as_str().is_some_and(|stop| !stop.trim().is_empty());
    let stops: Vec<&Value> = stops.into_iter().flatten().filter(said).collect();
    if !stops.is_empty() {
        out.insert("stop_sequences".to_owned(), json!(stops));
    }
    let mut config = Map::new();
    if let Some(schema) = body.get("response_format").and_then(|format| format.pointer("/json_schema/schema"))
    {
        config.insert("format".to_owned(), json!({"type": "json_schema", "schema": schema}));
    }
    if let Some(effort) = effort(body) {
        config.insert("effort".to_owned(), json!(effort));
    }
    if !config.is_empty() {
        out.insert("output_config".to_owned(), Value::Object(config));
    }
    if let Some(user) = body.get("user").and_then(Value::as_str) {
        out.insert("metadata".to_owned(), json!({"user_id": user}));
    }
    let (system, messages) = conversation(body);
    if !system.is_empty() {
        out.insert("system".to_owned(), Value::Array(system));
    }
    out.insert("messages".to_owned(), Value::Array(messages));
    add_tools(body, &mut out);
    if let Some(Value::Object(own)) = body.get(plain::OWN) {
        if own.contains_key("output_format") {
            out.shift_remove("output_config");
        }
        out.extend(own.clone());
    }
    if let Some(mark) = [plain::MARK, "cache_control"].iter().find_map(|name| body.get(*name)) {
        out.insert("cache_control".to_owned(), mark.clone());
    }
    Value::Object(out)
}

/// How much effort the model is to make, where the request says it. It holds for the text and for the calls as for thoughts,
/// and asks for no thoughts: those would refuse a demand for a call, and calls of earlier turns without seals.
pub(crate) fn effort(body: &Map<String, Value>) -> Option<&'static str> {
    word_of_effort(&think::effort(body)?)
}

/// The same word here; that nothing is to be thought is no effort.
fn word_of_effort(word: &Value) -> Option<&'static str> {
    match word.as_str()? {
        "minimal" | "low" => Some("low"),
        "medium" => Some("medium"),
        "high" => Some("high"),
        "xhigh" => Some("xhigh"),
        "max" => Some("max"),
        _ => None,
    }
}

/// So many tokens of an answer may be thought.
fn thought(body: &Map<String, Value>) -> u64 {
    let budget = body.get("thinking").and_then(|thinking| thinking["budget_tokens"].as_u64());
    budget.unwrap_or(0)
}

/// The instructions, and the messages, whose roles take turns here.
fn conversation(body: &Map<String, Value>) -> (Vec<Value>, Vec<Value>) {
    let (mut system, mut messages) = (Vec::new(), Vec::<Value>::new());
    let mut ids = CallIds::default();
    for message in body.get("messages").and_then(Value::as_array).into_iter().flatten() {
        let (role, blocks) = match message["role"].as_str().unwrap_or_default() {
            "system" | "developer" => {
                system.extend(text_blocks(&message["content"]));
                continue;
            }
            "assistant" => ("assistant", assistant(message, &mut ids)),
            "tool" | "function" => ("user", vec![result(message, &mut ids)]),
            _ => ("user", content(&message["content"])),
        };
        if blocks.is_empty() {
            continue;
        }
        match messages.last_mut() {
            Some(last) if last["role"] == role => {
                if let Some(Value::Array(content)) = last.get_mut("content") {
                    content.extend(blocks);
                }
            }
            _ => messages.push(json!({"role": role, "content": blocks})),
        }
        messages
            .iter_mut()
            .last()
            .into_iter()
            .for_each(|last| own::put_rest(message, plain::OF_MESSAGE, last));
    }
    // There has to be a message.
    if messages.is_empty() {
        messages.extend(system.pop().map(|said| json!({"role": "user", "content": [said]})));
    }
    messages.iter_mut().last().into_iter().for_each(trim_end);
    (system, messages)
}

/// An answer that goes on with what the last message of the model says is refused where that ends with white space.
fn trim_end(last: &mut Value) {
    let begun = last["role"] == "assistant";
    let block = last
        .get_mut("content")
        .and_then(Value::as_array_mut)
        .filter(|_| begun)
        .and_then(|list| list.last_mut());
    if let Some(Value::String(text)) = block.and_then(|block| block.get_mut("text")) {
        text.truncate(text.trim_end().len());
    }
}

fn add_tools(body: &Map<String, Value>, out: &mut Map<String, Value>) {
    let tools = body.get("tools").and_then(Value::as_array).into_iter().flatten();
    let tools: Vec<Value> = tools
        .filter_map(|tool| Some((tool, tool.get("function")?)))
        .map(|(tool, function)| {
            let schema = schema(&function["parameters"]);
            let description = function["description"].as_str().unwrap_or_default();
            let mut told =
                json!({"name": function["name"], "description": description, "input_schema": schema});
            plain::unmark(tool, &mut told);
            own::put_rest(tool, plain::OWN, &mut told);
            told
        })
        .collect();
    if tools.is_empty() {
        return;
    }
    out.insert("tools".to_owned(), Value::Array(tools));
    let choice = body.get("tool_choice");
    let mut choice = match choice.and_then(Value::as_str) {
        Some("none") => json!({"type": "none"}),
        Some("required" | "any") => json!({"type": "any"}),
        _ => match choice.and_then(|choice| choice.pointer("/function/name")) {
            Some(name) => json!({"type": "tool", "name": name}),
            None => json!({"type": "auto"}),
        },
    };
    if body.get("parallel_tool_calls") == Some(&Value::Bool(false)) && choice["type"] != "none" {
        choice["disable_parallel_tool_use"] = json!(true);
    }
    out.insert("tool_choice".to_owned(), choice);
}

/// The API refuses a schema that does not say that arguments are an object; chats may leave out all of it.
fn schema(parameters: &Value) -> Value {
    let mut schema = parameters.as_object().cloned().unwrap_or_default();
    schema.retain(|_, value| !value.is_null());
    schema.insert("type".to_owned(), json!("object"));
    Value::Object(schema)
}

/// The ids of calls as the API takes them: of few signs, and none twice in a conversation. Other servers number their calls
/// anew in each answer, or write the tool's name into the id.
#[derive(Debug, Default)]
struct CallIds {
    told: HashSet<String>,
    /// The last number that made one like it unique.
    numbers: HashMap<String, usize>,
    /// Those without a result: as they are told, by how they were given.
    waiting: HashMap<String, VecDeque<String>>,
}

impl CallIds {
    fn call(&mut self, id: &Value) -> String {
        let given = id.as_str().unwrap_or_default();
        let plain = Self::plain(given);
        let mut told = plain.clone();
        while !self.told.insert(told.clone()) {
            let number = self.numbers.entry(plain.clone()).or_insert(1);
            *number += 1;
            told = format!("{plain}_{number}");
        }
        self.waiting.entry(given.to_owned()).or_default().push_back(told.clone());
        told
    }

    fn result(&mut self, id: &Value) -> String {
        let given = id.as_str().unwrap_or_default();
        let told = self.waiting.get_mut(given).and_then(VecDeque::pop_front);
        told.unwrap_or_else(|| Self::plain(given))
    }

    fn plain(id: &str) -> String {
        let plain = |sign: char| if sign.is_ascii_alphanumeric() || sign == '-' { sign } else { '_' };
        id.chars().map(plain).collect()
    }
}

fn assistant(message: &Value, ids: &mut CallIds) -> Vec<Value> {
    let list = |name: &str| message[name].as_array().cloned().unwrap_or_default();
    let (thoughts, mut calls) = (list("thinking_blocks"), list("tool_calls"));
    for call in &mut calls {
        let function = &call["function"];
        let (id, input) = (ids.call(&call["id"]), &function["arguments"]);
        let mut block = json!({"type": "tool_use", "id": id, "name": function["name"], "input": input});
        plain::unmark(call, &mut block);
        own::put_rest(call, plain::OWN, &mut block);
        *call = block;
    }
    match as_given(message, &thoughts, &calls) {
        Some(blocks) => blocks,
        None => thoughts.into_iter().chain(text_blocks(&message["content"])).chain(calls).collect(),
    }
}

/// The blocks in the order in which the client had them, unless something of the message was mended: the server knows its
/// thoughts by their places.
fn as_given(message: &Value, thoughts: &[Value], calls: &[Value]) -> Option<Vec<Value>> {
    let given = &message[plain::OWN]["content"];
    if message["content"] != spoken(given) {
        return None;
    }
    let (mut thoughts, mut calls) = (thoughts.iter(), calls.iter());
    let mut blocks = Vec::new();
    for block in given.as_array()? {
        match block["type"].as_str()? {
            "text" => {
                blocks.extend(Some(block.clone()).filter(|block| block["text"].as_str().is_some_and(says)));
            }
            "tool_use" => blocks.push(calls.next()?.clone()),
            "thinking" | "redacted_thinking" if thoughts.as_slice().first() == Some(block) => {
                blocks.extend(thoughts.next().cloned());
            }
            "thinking" | "redacted_thinking" => {}
            _ => blocks.push(block.clone()),
        }
    }
    (thoughts.next().is_none() && calls.next().is_none()).then_some(blocks)
}

fn result(message: &Value, ids: &mut CallIds) -> Value {
    let (id, said) = (ids.result(&message["tool_call_id"]), content(&message["content"]));
    let mut result = json!({"type": "tool_result", "tool_use_id": id, "content": said});
    if message[failed::MEMBER] == true {
        result["is_error"] = json!(true);
    }
    plain::unmark(message, &mut result);
    own::put_rest(message, plain::OWN, &mut result);
    result
}

/// The blocks of text in a content.
fn text_blocks(said: &Value) -> Vec<Value> {
    content(said).into_iter().filter(|block| block["type"] == "text").collect()
}

/// The API refuses a text of nothing but white space.
fn says(text: &str) -> bool {
    !text.trim().is_empty()
}

fn content(content: &Value) -> Vec<Value> {
    match content {
        Value::String(text) if says(text) => vec![json!({"type": "text", "text": text})],
        Value::Array(parts) => parts.iter().filter_map(part).collect(),
        _ => Vec::new(),
    }
}

/// True for a content part that the API has a place for.
pub(crate) fn takes_part(part: &Value) -> bool {
    match part["type"].as_str() {
        _ if own::whole(part, plain::OWN).is_some() => true,
        Some("text") => part["text"].as_str().is_some_and(|text| !text.is_empty()),
        Some("image_url") => fields::image(part).is_some(),
        Some("file") => part["file"]["file_data"].is_string(),
        _ => false,
    }
}

/// Such a part as a block.
fn part(part: &Value) -> Option<Value> {
    if let Some(whole) = own::whole(part, plain::OWN) {
        return Some(whole.clone());
    }
    let mut block = match part["type"].as_str()? {
        "text" => {
            let text = part["text"].as_str().filter(|text| says(text))?;
            json!({"type": "text", "text": text})
        }
        "image_url" => json!({"type": "image", "source": image(fields::image(part)?)}),
        "file" => {
            let file = &part["file"];
            let mut document = json!({"type": "document", "source": document(file["file_data"].as_str()?)});
            if let Some(name @ Value::String(_)) = file.get("filename") {
                document["title"] = name.clone();
            }
            document
        }
        _ => return None,
    };
    plain::unmark(part, &mut block);
    own::put_rest(part, plain::OWN, &mut block);
    Some(block)
}

/// Text types are documents of another kind.
fn document(address: &str) -> Value {
    let Some(inline) = inline::read(address) else { return json!({"type": "url", "url": address}) };
    match inline.text() {
        Some(text) => json!({"type": "text", "media_type": "text/plain", "data": text}),
        None => json!({"type": "base64", "media_type": inline.of_document(), "data": inline.data}),
    }
}

fn image(address: &str) -> Value {
    match inline::read(address) {
        Some(image) => json!({"type": "base64", "media_type": image.of_image(), "data": image.data}),
        None => json!({"type": "url", "url": address}),
    }
}
