//! Answers in the shape of Responses: items, and events that tell how they grow.

use std::borrow::Cow;
use std::io::Write as _;

use serde_json::{Map, Value, json};

use crate::api_error::{ApiError, ApiErrorKind};
use crate::chunk::Usage;
use crate::responses::item::Item;
use crate::responses::{LOGPROBS, SEALS};
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
    /// How likely the tokens were whose text has not gone out.
    logprobs: Vec<Value>,
    /// The client wants that, and the seals on thoughts.
    weighs: bool,
    seals: bool,
    /// How it ended.
    over: Option<&'static str>,
}

/// Members of a request that its response says again, and what they are where it does not say them.
const ECHO: [(&str, &str); 15] = [
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
    ("top_logprobs", "0"),
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
        let includes = |what: &str| {
            let list = request.get("include").and_then(Value::as_array);
            list.is_some_and(|list| list.iter().any(|name| name == what))
        };
        Self {
            response,
            id: id.to_owned(),
            sequence: 0,
            begun: false,
            items: Vec::new(),
            reason: None,
            usage: Usage::default(),
            logprobs: Vec::new(),
            weighs: includes(LOGPROBS) || request.get("top_logprobs").is_some_and(|count| !count.is_null()),
            seals: includes(SEALS),
            over: None,
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
        let item = Item::new(&self.id, place, block, call);
        let (id, begun, part) = (item.id.clone(), item.begun(), item.part(true));
        self.items.push(item);
        self.event("response.output_item.added", json!({"output_index": place, "item": begun}), out);
        let Some(part) = part else { return place };
        let added = json!({"item_id": id, "output_index": place, "content_index": 0, "part": part});
        self.event("response.content_part.added", added, out);
        place
    }

    /// The item of such a block that is open, begun if there is none.
    fn opened(&mut self, block: Block, out: &mut Vec<u8>) -> usize {
        let kind = std::mem::discriminant(&block);
        let same = |item: &Item| item.open && std::mem::discriminant(&item.block) == kind;
        if let Some(place) = self.items.iter().position(same) {
            return place;
        }
        self.close(|item| item.call.is_none(), out);
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
        if let Block::Text(_) = self.items[place].block {
            let late = std::mem::take(&mut self.logprobs);
            self.items[place].logprobs.extend(late);
        }
        let item = &self.items[place];
        let (id, json, logprobs) = (item.id.clone(), item.ended(self.seals), json!(item.logprobs));
        let at = json!({"item_id": id, "output_index": place});
        match item.block.clone() {
            Block::Text(text) => {
                let mut done = with(&at, "text", &json!(text));
                done["content_index"] = json!(0);
                done["logprobs"] = logprobs;
                self.event("response.output_text.done", done, out);
                self.part_done(&at, &json["content"][0], out);
            }
            Block::Refusal(text) => {
                let mut done = with(&at, "refusal", &json!(text));
                done["content_index"] = json!(0);
                self.event("response.refusal.done", done, out);
                self.part_done(&at, &json["content"][0], out);
            }
            Block::Redacted(_) => {}
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
            Piece::Text(more) => {
                let place = self.opened(Block::Text(String::new()), out);
                let new = std::mem::take(&mut self.logprobs);
                let beside = match new.as_slice() {
                    [] => Cow::Borrowed(",\"content_index\":0,\"logprobs\":[]"),
                    new => Cow::Owned(format!(",\"content_index\":0,\"logprobs\":{}", json!(new))),
                };
                self.items[place].logprobs.extend(new);
                self.grow(place, more);
                self.delta("response.output_text.delta", place, &beside, more, out);
            }
            Piece::Reasoning(more) => {
                let place = self.opened(thought(), out);
                self.grow(place, more);
                self.delta("response.reasoning_text.delta", place, ",\"content_index\":0", more, out);
            }
            Piece::Refusal(more) => {
                let place = self.opened(Block::Refusal(String::new()), out);
                self.grow(place, more);
                self.delta("response.refusal.delta", place, ",\"content_index\":0", more, out);
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
            // A seal without a thought that can be read is one all the same.
            Piece::Signature(seal) if self.seals => {
                let place = self.opened(thought(), out);
                if let Block::Reasoning { signature, .. } = &mut self.items[place].block {
                    signature.get_or_insert_default().push_str(seal);
                }
            }
            Piece::Signature(_) | Piece::Redacted(_) => {}
        }
    }

    /// Adds to the text of an item.
    fn grow(&mut self, place: usize, more: &str) {
        if let Block::Text(text) | Block::Refusal(text) | Block::Reasoning { text, .. } =
            &mut self.items[place].block
        {
            text.push_str(more);
        }
    }

    /// The response as it is now.
    fn response(&self, status: &str) -> Value {
        let output: Vec<Value> = self.items.iter().map(|item| item.ended(self.seals)).collect();
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

    /// Ends what is open. A call that broke off never ends.
    fn close_all(&mut self, cut: bool, out: &mut Vec<u8>) {
        for item in self.items.iter_mut().filter(|item| item.open) {
            item.cut = cut;
        }
        self.close(|item| item.call.is_none(), out);
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
            if self.weighs {
                self.logprobs.extend(told.logprobs(new));
            }
            new.pieces.iter().for_each(|piece| self.piece(piece, out));
            self.reason = new.reason.clone().or_else(|| self.reason.take());
        }
    }

    fn done(&mut self, remarks: &[(&str, String)], out: &mut Vec<u8>) {
        self.begin(out);
        let status = self.status();
        self.close_all(status == "incomplete", out);
        comments(remarks, out);
        let response = self.response(status);
        self.over = Some(status);
        self.event(&format!("response.{status}"), json!({"response": response}), out);
    }

    fn fail(&mut self, message: &str, raw: Option<&str>, out: &mut Vec<u8>) {
        self.begin(out);
        self.close_all(true, out);
        let mut response = self.response("failed");
        let code = match raw.map(|raw| ApiError::from_stream(raw).kind) {
            Some(ApiErrorKind::RateLimited) => "rate_limit_exceeded",
            Some(ApiErrorKind::ContextExceeded { .. }) => "context_length_exceeded",
            _ => "server_error",
        };
        response["error"] = json!({"code": code, "message": message});
        self.event("response.failed", json!({"response": response}), out);
    }

    fn whole(&mut self, told: &Told<'_>) -> String {
        self.usage = told.chunk.usage.unwrap_or_default();
        if let Some(new) = told.choices.first() {
            self.reason.clone_from(&new.reason);
            let blocks = Blocks::of(&new.pieces);
            let shown = blocks.whole().filter(|block| !matches!(block, Block::Redacted(_)));
            for (place, block) in shown.enumerate() {
                let item = Item::new(&self.id, place, block.clone(), None);
                self.items.push(Item { open: false, ..item });
            }
            let text = self.items.iter_mut().find(|item| matches!(item.block, Block::Text(_)));
            if let Some(text) = text.filter(|_| self.weighs) {
                text.logprobs = told.logprobs(new);
            }
        }
        let status = self.status();
        if let Some(last) = self.items.last_mut().filter(|last| status == "incomplete" && last.is_said()) {
            last.cut = true;
        }
        self.over = Some(status);
        self.response(status).to_string()
    }

    fn kept(&self) -> Option<Value> {
        self.over.map(|status| self.response(status))
    }
}

fn thought() -> Block {
    Block::Reasoning { text: String::new(), signature: None }
}

fn with(at: &Value, name: &str, value: &Value) -> Value {
    let mut event = at.clone();
    event[name] = value.clone();
    event
}

fn usage(usage: Usage) -> Value {
    json!({
        "input_tokens": usage.prompt,
        "input_tokens_details": {"cached_tokens": usage.cached, "cache_write_tokens": usage.written},
        "output_tokens": usage.completion,
        "output_tokens_details": {"reasoning_tokens": usage.reasoning},
        "total_tokens": usage.prompt.saturating_add(usage.completion),
    })
}
