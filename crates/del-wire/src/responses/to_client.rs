//! Answers in the shape of Responses: items, and events that tell how they grow.

use std::io::Write as _;

use serde_json::{Map, Value, json};

use crate::chunk::Usage;
use crate::told::{Block, Blocks, Piece, ToClient, Told, comments, json_text};

/// Writes responses. Of several choices the first is told.
#[derive(Debug)]
pub struct Responses {
    /// All members of the response but what comes of the answer.
    response: Map<String, Value>,
    id: String,
    /// The number of the next event.
    sequence: u64,
    begun: bool,
    /// The items so far, in their order, and those that are open by number.
    items: Vec<Item>,
    reason: Option<String>,
    usage: Usage,
}

/// An item on its way.
#[derive(Debug)]
struct Item {
    id: String,
    block: Block,
    /// The number of the call, where it is one.
    call: Option<u32>,
    open: bool,
}

/// Members of a request that its response says again, and what they are where it does not say them.
const ECHO: [(&str, &str); 14] = [
    ("instructions", "null"),
    ("max_output_tokens", "null"),
    ("metadata", "{}"),
    ("parallel_tool_calls", "true"),
    ("previous_response_id", "null"),
    ("reasoning", r#"{"effort": null, "summary": null}"#),
    ("store", "true"),
    ("temperature", "1.0"),
    ("text", r#"{"format": {"type": "text"}}"#),
    ("tool_choice", "\"auto\""),
    ("tools", "[]"),
    ("top_p", "1.0"),
    ("truncation", "\"disabled\""),
    ("user", "null"),
];

impl Responses {
    /// Nothing yet. `id` is the response's, `created` the time in seconds, `request` what the client asked.
    pub fn new(id: &str, created: u64, request: &Map<String, Value>) -> Self {
        let mut response = Map::from_iter([
            ("id".to_owned(), json!(id)),
            ("object".to_owned(), json!("response")),
            ("created_at".to_owned(), json!(created)),
            ("status".to_owned(), json!("in_progress")),
            ("error".to_owned(), Value::Null),
            ("incomplete_details".to_owned(), Value::Null),
            ("model".to_owned(), request.get("model").cloned().unwrap_or_else(|| json!(""))),
            ("output".to_owned(), json!([])),
            ("usage".to_owned(), Value::Null),
        ]);
        for (name, usual) in ECHO {
            let said = request.get(name).filter(|value| !value.is_null()).cloned();
            let usual = || serde_json::from_str(usual).unwrap_or_default();
            response.insert(name.to_owned(), said.unwrap_or_else(usual));
        }
        Self {
            response,
            id: id.to_owned(),
            sequence: 0,
            begun: false,
            items: Vec::new(),
            reason: None,
            usage: Usage::default(),
        }
    }

    fn event(&mut self, name: &str, mut event: Value, out: &mut Vec<u8>) {
        event["type"] = json!(name);
        event["sequence_number"] = json!(self.sequence);
        self.sequence += 1;
        crate::told::named_event(name, &event, out);
    }

    /// More of an item. Streams consist of these, so no [`Value`] is made of them.
    fn delta(&mut self, name: &str, place: usize, beside: &str, more: &str, out: &mut Vec<u8>) {
        let (id, number) = (&self.items[place].id, self.sequence);
        // A vector takes every write, and an id has no signs that JSON writes in another way.
        let _ = write!(
            out,
            "event: {name}\ndata: {{\"type\":\"{name}\",\"sequence_number\":{number},\"item_id\":\"{id}\",\"output_index\":{place}{beside},\"delta\":"
        );
        json_text(more, out);
        out.extend_from_slice(b"}\n\n");
        self.sequence += 1;
    }

    fn begin(&mut self, out: &mut Vec<u8>) {
        if !std::mem::replace(&mut self.begun, true) {
            for name in ["response.created", "response.in_progress"] {
                let response = self.response.clone();
                self.event(name, json!({"response": response}), out);
            }
        }
    }

    /// Begins an item.
    fn start(&mut self, block: Block, call: Option<u32>, out: &mut Vec<u8>) -> usize {
        let place = self.items.len();
        let id = item_id(&self.id, &block, place);
        self.items.push(Item { id, block, call, open: true });
        let item = self.items[place].json("in_progress");
        let id = self.items[place].id.clone();
        self.event("response.output_item.added", json!({"output_index": place, "item": item}), out);
        let part = match &self.items[place].block {
            Block::Text(_) => json!({"type": "output_text", "text": "", "annotations": [], "logprobs": []}),
            Block::Reasoning { .. } => json!({"type": "reasoning_text", "text": ""}),
            Block::Call { .. } | Block::Custom { .. } => return place,
        };
        let added = json!({"item_id": id, "output_index": place, "content_index": 0, "part": part});
        self.event("response.content_part.added", added, out);
        place
    }

    /// The item of text or thinking that is open, begun if there is none.
    fn opened(&mut self, text: bool, out: &mut Vec<u8>) -> usize {
        let same = |item: &Item| match item.block {
            Block::Text(_) => item.open && text,
            Block::Reasoning { .. } => item.open && !text,
            _ => false,
        };
        if let Some(place) = self.items.iter().position(same) {
            return place;
        }
        self.close(|item| item.call.is_none(), out);
        let block = if text {
            Block::Text(String::new())
        } else {
            Block::Reasoning { text: String::new(), signature: None }
        };
        self.start(block, None, out)
    }

    /// Ends the open items that these are.
    fn close(&mut self, which: impl Fn(&Item) -> bool, out: &mut Vec<u8>) {
        for place in 0..self.items.len() {
            if self.items[place].open && which(&self.items[place]) {
                self.items[place].open = false;
                self.end(place, out);
            }
        }
    }

    fn end(&mut self, place: usize, out: &mut Vec<u8>) {
        let item = &self.items[place];
        let (id, json) = (item.id.clone(), item.json("completed"));
        let at = json!({"item_id": id, "output_index": place});
        match item.block.clone() {
            Block::Text(text) => {
                let mut done = with(&at, "text", &json!(text));
                done["content_index"] = json!(0);
                done["logprobs"] = json!([]);
                self.event("response.output_text.done", done, out);
                self.part_done(&at, &json["content"][0], out);
            }
            Block::Reasoning { text, .. } => {
                let mut done = with(&at, "text", &json!(text));
                done["content_index"] = json!(0);
                self.event("response.reasoning_text.done", done, out);
                self.part_done(&at, &json["content"][0], out);
            }
            Block::Call { name, arguments, .. } => {
                let done = with(&with(&at, "arguments", &json!(arguments)), "name", &json!(name));
                self.event("response.function_call_arguments.done", done, out);
            }
            Block::Custom { input, .. } => {
                self.event("response.custom_tool_call_input.delta", with(&at, "delta", &json!(input)), out);
                self.event("response.custom_tool_call_input.done", with(&at, "input", &json!(input)), out);
            }
        }
        self.event("response.output_item.done", json!({"output_index": place, "item": json}), out);
    }

    fn part_done(&mut self, at: &Value, part: &Value, out: &mut Vec<u8>) {
        let mut done = with(at, "part", part);
        done["content_index"] = json!(0);
        self.event("response.content_part.done", done, out);
    }

    fn piece(&mut self, piece: &Piece, out: &mut Vec<u8>) {
        match piece {
            Piece::Text(more) | Piece::Reasoning(more) => {
                let said = matches!(piece, Piece::Text(_));
                let place = self.opened(said, out);
                let item = &mut self.items[place];
                if let Block::Text(text) | Block::Reasoning { text, .. } = &mut item.block {
                    text.push_str(more);
                }
                if said {
                    let beside = ",\"content_index\":0,\"logprobs\":[]";
                    self.delta("response.output_text.delta", place, beside, more, out);
                } else {
                    self.delta("response.reasoning_text.delta", place, ",\"content_index\":0", more, out);
                }
            }
            Piece::Call { index, id, name } => {
                self.close(|item| item.call.is_none(), out);
                let (id, name) = (id.clone(), name.clone());
                let block = Block::Call { id, name, arguments: String::new(), whole: false };
                self.start(block, Some(*index), out);
            }
            Piece::Arguments { index, json } => {
                let Some(place) = self.items.iter().position(|item| item.open && item.call == Some(*index))
                else {
                    return;
                };
                if let Block::Call { arguments, .. } = &mut self.items[place].block {
                    arguments.push_str(json);
                }
                self.delta("response.function_call_arguments.delta", place, "", json, out);
            }
            Piece::CallEnd { index } => {
                for item in &mut self.items {
                    if let Block::Call { whole, .. } = &mut item.block {
                        *whole |= item.open && item.call == Some(*index);
                    }
                }
                self.close(|item| item.call == Some(*index), out);
            }
            Piece::Custom { index, id, name, input } => {
                self.close(|item| item.call.is_none(), out);
                let (id, name, input) = (id.clone(), name.clone(), input.clone());
                self.start(Block::Custom { id, name, input }, Some(*index), out);
                self.close(|item| item.call == Some(*index), out);
            }
            Piece::Signature(_) => {}
        }
    }

    /// The response as it is now.
    fn response(&mut self, status: &str) -> Value {
        let output: Vec<Value> = self.items.iter().map(|item| item.json(status)).collect();
        let mut response = self.response.clone();
        response.insert("status".to_owned(), json!(status));
        response.insert("output".to_owned(), Value::Array(output));
        response.insert("usage".to_owned(), usage(self.usage));
        if status == "incomplete" {
            let filtered = self.reason.as_deref() == Some("content_filter");
            let reason = if filtered { "content_filter" } else { "max_output_tokens" };
            response.insert("incomplete_details".to_owned(), json!({"reason": reason}));
        }
        Value::Object(response)
    }

    fn status(&self) -> &'static str {
        match self.reason.as_deref() {
            Some("length" | "content_filter") => "incomplete",
            _ => "completed",
        }
    }
}

impl ToClient for Responses {
    fn tell(&mut self, told: &Told<'_>, out: &mut Vec<u8>) {
        self.usage = told.chunk.usage.unwrap_or(self.usage);
        self.begin(out);
        for new in told.choices.iter().filter(|new| new.index == 0) {
            new.pieces.iter().for_each(|piece| self.piece(piece, out));
            self.reason = new.reason.clone().or_else(|| self.reason.take());
        }
    }

    fn done(&mut self, remarks: &[(&str, String)], out: &mut Vec<u8>) {
        self.begin(out);
        // A call that broke off never ends.
        self.close(|item| item.call.is_none(), out);
        comments(remarks, out);
        let status = self.status();
        let response = self.response(status);
        self.event(&format!("response.{status}"), json!({"response": response}), out);
    }

    fn fail(&mut self, message: &str, _: Option<&str>, out: &mut Vec<u8>) {
        self.begin(out);
        self.close(|item| item.call.is_none(), out);
        let mut response = self.response("failed");
        response["error"] = json!({"code": "server_error", "message": message});
        self.event("response.failed", json!({"response": response}), out);
    }

    fn whole(&mut self, told: &Told<'_>) -> String {
        self.usage = told.chunk.usage.unwrap_or_default();
        if let Some(new) = told.choices.first() {
            self.reason.clone_from(&new.reason);
            for (place, block) in Blocks::of(&new.pieces).whole().enumerate() {
                let id = item_id(&self.id, block, place);
                self.items.push(Item { id, block: block.clone(), call: None, open: false });
            }
        }
        let status = self.status();
        self.response(status).to_string()
    }

    /// Those that are whole.
    fn items(&self) -> Vec<Value> {
        let whole = self.items.iter().filter(|item| !item.open);
        whole.map(|item| item.json("completed")).collect()
    }
}

/// The id of the response that an item with this one is of.
pub fn response_of(item: &str) -> Option<String> {
    let (_, rest) = item.split_once('_')?;
    let (response, _) = rest.rsplit_once('_')?;
    Some(format!("resp_{response}"))
}

impl Item {
    fn json(&self, status: &str) -> Value {
        let begun = self.open && status == "in_progress";
        match &self.block {
            Block::Text(text) => {
                let part = json!({"type": "output_text", "text": text, "annotations": [], "logprobs": []});
                let content = if begun { json!([]) } else { json!([part]) };
                json!({"id": self.id, "type": "message", "status": status, "role": "assistant", "content": content})
            }
            Block::Reasoning { text, .. } => {
                let part = json!({"type": "reasoning_text", "text": text});
                let content = if begun { json!([]) } else { json!([part]) };
                json!({"id": self.id, "type": "reasoning", "summary": [], "content": content, "status": status})
            }
            Block::Call { id, name, arguments, whole } => {
                let status = if !whole && status != "in_progress" { "incomplete" } else { status };
                json!({"id": self.id, "type": "function_call", "status": status, "call_id": id, "name": name,
                    "arguments": arguments})
            }
            Block::Custom { id, name, input } => {
                let input = if begun { "" } else { input.as_str() };
                json!({"id": self.id, "type": "custom_tool_call", "status": status, "call_id": id, "name": name,
                    "input": input})
            }
        }
    }
}

fn item_id(response: &str, block: &Block, place: usize) -> String {
    let kind = match block {
        Block::Text(_) => "msg",
        Block::Reasoning { .. } => "rs",
        Block::Call { .. } => "fc",
        Block::Custom { .. } => "ctc",
    };
    format!("{kind}_{}_{place}", response.trim_start_matches("resp_"))
}

fn with(at: &Value, name: &str, value: &Value) -> Value {
    let mut event = at.clone();
    event[name] = value.clone();
    event
}

fn usage(usage: Usage) -> Value {
    json!({
        "input_tokens": usage.prompt,
        "input_tokens_details": {"cached_tokens": usage.cached},
        "output_tokens": usage.completion,
        "output_tokens_details": {"reasoning_tokens": usage.reasoning},
        "total_tokens": usage.prompt.saturating_add(usage.completion),
    })
}
