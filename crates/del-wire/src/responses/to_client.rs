//! Answers in the shape of Responses: items, and events that tell how they grow.

use std::borrow::Cow;

use serde_json::{Map, Value, json};

use crate::api_error::ApiErrorKind;
use crate::chunk::Usage;
use crate::citation::Citation;
use crate::members::Members;
use crate::responses::echo::Echo;
use crate::responses::events::Events;
use crate::responses::item::Item;
use crate::told::{Block, Blocks, Failure, Piece, ToClient, Told, comments};

/// Writes responses. Of several choices the first is told.
#[derive(Debug)]
pub struct Responses {
    id: String,
    created: u64,
    /// What is said again of the request.
    echo: Echo,
    events: Events,
    begun: bool,
    /// The items so far, in their order, and whether the last of them is open.
    items: Vec<Item>,
    open: bool,
    reason: Option<String>,
    usage: Usage,
    /// What the model thought is told in summaries.
    summarises: bool,
    /// How likely the tokens were whose text has not gone out.
    logprobs: Vec<Value>,
    /// All of it, once it has ended.
    over: Option<String>,
}

impl Responses {
    /// Nothing yet. `id` is the response's, `created` the time in seconds, `echo` what it says again of its request.
    pub fn new(id: impl Into<String>, created: u64, echo: Echo) -> Self {
        Self {
            id: id.into(),
            created,
            summarises: echo.summarises,
            echo,
            events: Events::default(),
            begun: false,
            items: Vec::new(),
            open: false,
            reason: None,
            usage: Usage::default(),
            logprobs: Vec::new(),
            over: None,
        }
    }

    /// More of an item.
    fn delta(&mut self, name: &str, place: usize, beside: &str, more: &str, out: &mut Vec<u8>) {
        self.events.delta(name, (place, &self.items[place].id), beside, more, out);
    }

    fn begin(&mut self, out: &mut Vec<u8>) {
        if !std::mem::replace(&mut self.begun, true) {
            let begun = self.with("in_progress", "null", |response| {
                response.add("output", "[]");
                response.add("usage", "null");
            });
            for name in ["response.created", "response.in_progress"] {
                self.events.of_all(name, &begun, out);
            }
        }
    }

    /// Begins an item, which ends the one before.
    fn start(&mut self, block: Block, out: &mut Vec<u8>) -> usize {
        self.close(false, out);
        let place = self.items.len();
        let item = self.item(block);
        let (begun, part, (_, of_parts)) = (item.begun(), item.part(true), item.parts());
        self.items.push(item);
        self.open = true;
        self.events.one("response.output_item.added", whole_item(place, &begun), out);
        if let Some(part) = part {
            self.events.one(&format!("{of_parts}.added"), self.part(place, &part), out);
        }
        place
    }

    /// The next item.
    fn item(&self, block: Block) -> Item {
        let item = Item::new(&self.id, &self.items, block).named_in(&self.echo.namespaces);
        item.summing_up(self.summarises)
    }

    /// The item of such a block that is open, begun if there is none.
    fn opened(&mut self, block: Block, out: &mut Vec<u8>) -> usize {
        let kind = std::mem::discriminant(&block);
        match self.items.last().filter(|last| self.open && std::mem::discriminant(&last.block) == kind) {
            Some(_) => self.items.len() - 1,
            None => self.start(block, out),
        }
    }

    /// Ends the item that is open; `cut` says that the answer ended in the middle of it.
    fn close(&mut self, cut: bool, out: &mut Vec<u8>) {
        if std::mem::take(&mut self.open) {
            let place = self.items.len() - 1;
            self.items[place].cut = cut;
            self.end(place, out);
        }
    }

    fn end(&mut self, place: usize, out: &mut Vec<u8>) {
        if let Block::Text { .. } = self.items[place].block {
            let late = std::mem::take(&mut self.logprobs);
            self.items[place].logprobs.extend(late);
        }
        let item = &self.items[place];
        let ended = item.ended(self.echo.seals);
        let (part, (number, of_parts)) = (item.part(false), item.parts());
        let mut said = self.at(place);
        let name = match &item.block {
            Block::Text { text, .. } => {
                said.add("content_index", "0");
                said.add_text("text", text);
                said.add_value("logprobs", &item.logprobs);
                "response.output_text.done"
            }
            Block::Refusal(text) => {
                said.add("content_index", "0");
                said.add_text("refusal", text);
                "response.refusal.done"
            }
            Block::Reasoning { text, .. } => {
                said.add(number, "0");
                said.add_text("text", text);
                &format!("{}.done", item.thoughts())
            }
            // What there is of a call that broke off is no arguments.
            call if call.is_broken() => "",
            Block::Call { name, arguments, .. } => {
                said.add_text("name", name);
                said.add_text("arguments", arguments);
                "response.function_call_arguments.done"
            }
            Block::Custom { input, .. } => {
                said.add_text("input", input);
                "response.custom_tool_call_input.done"
            }
            Block::Redacted(_) | Block::Compaction(_) => "",
        };
        if !name.is_empty() {
            self.events.one(name, said, out);
        }
        if let Some(part) = part {
            self.events.one(&format!("{of_parts}.done"), self.part(place, &part), out);
        }
        self.events.one("response.output_item.done", whole_item(place, &ended), out);
    }

    /// The members that say which item an event is about.
    fn at(&self, place: usize) -> Members {
        let mut at = Members::default();
        at.add_text("item_id", &self.items[place].id);
        at.add_number("output_index", place as u64);
        at
    }

    /// The same with the part of its content.
    fn part(&self, place: usize, part: &Members) -> Members {
        let mut of_part = self.at(place);
        of_part.add(self.items[place].parts().0, "0");
        of_part.add_object("part", part);
        of_part
    }

    fn piece(&mut self, piece: &Piece, out: &mut Vec<u8>) {
        match piece {
            Piece::Paragraph => drop(self.start(text(true), out)),
            Piece::Text(more) => {
                let place = self.opened(text(false), out);
                let new = std::mem::take(&mut self.logprobs);
                let beside = match new.as_slice() {
                    [] => Cow::Borrowed(",\"content_index\":0,\"logprobs\":[]"),
                    new => Cow::Owned(format!(",\"content_index\":0,\"logprobs\":{}", json!(new))),
                };
                self.items[place].logprobs.extend(new);
                self.grow(place, more);
                self.delta("response.output_text.delta", place, &beside, more, out);
            }
            Piece::Citation(citation) => self.cite(citation, out),
            Piece::Reasoning(more) => {
                let place = self.opened(thought(), out);
                self.grow(place, more);
                let (name, beside) = if self.items[place].summary {
                    ("response.reasoning_summary_text.delta", ",\"summary_index\":0")
                } else {
                    ("response.reasoning_text.delta", ",\"content_index\":0")
                };
                self.delta(name, place, beside, more, out);
            }
            Piece::Refusal(more) => {
                let place = self.opened(Block::Refusal(String::new()), out);
                self.grow(place, more);
                self.delta("response.refusal.delta", place, ",\"content_index\":0", more, out);
            }
            Piece::Call { id, name, .. } => {
                let (id, name) = (id.clone(), name.clone());
                let (arguments, beside) = (String::new(), Map::new());
                self.start(Block::Call { id, name, arguments, whole: false, beside }, out);
            }
            Piece::Arguments { json, .. } => {
                let Some(place) = self.items.len().checked_sub(1).filter(|_| self.open) else { return };
                if let Block::Call { arguments, .. } = &mut self.items[place].block {
                    arguments.push_str(json);
                    self.delta("response.function_call_arguments.delta", place, "", json, out);
                }
            }
            Piece::CallEnd { .. } => {
                let last = self.items.last_mut().map(|item| &mut item.block);
                if let Some(Block::Call { whole, .. } | Block::Custom { whole, .. }) = last {
                    *whole = true;
                    self.close(false, out);
                }
            }
            Piece::Custom { id, name, .. } => {
                let (id, name) = (id.clone(), name.clone());
                self.start(Block::Custom { id, name, input: String::new(), whole: false }, out);
            }
            Piece::Input { text, .. } => {
                let Some(place) = self.items.len().checked_sub(1).filter(|_| self.open) else { return };
                if let Block::Custom { input, .. } = &mut self.items[place].block {
                    input.push_str(text);
                    self.delta("response.custom_tool_call_input.delta", place, "", text, out);
                }
            }
            Piece::Compaction(item) => {
                self.start(Block::Compaction(item.clone()), out);
                self.close(false, out);
            }
            // A seal without a thought that can be read is one all the same.
            Piece::Signature(seal) if self.echo.seals => {
                let place = self.opened(thought(), out);
                if let Block::Reasoning { signature, .. } = &mut self.items[place].block {
                    signature.get_or_insert_default().push_str(seal);
                }
            }
            Piece::Signature(_) | Piece::Redacted(_) | Piece::Details(_) | Piece::Beside { .. } => {}
        }
    }

    /// Adds where the text of the item that is open has something from.
    fn cite(&mut self, citation: &Citation, out: &mut Vec<u8>) {
        let place = self.items.len().saturating_sub(1);
        let Some(Item { block: Block::Text { citations, .. }, before, .. }) =
            self.items.get_mut(place).filter(|_| self.open)
        else {
            return;
        };
        let Some(annotation) = citation.for_response(*before) else { return };
        let number = citations.len() as u64;
        citations.push(citation.clone());
        let mut members = self.at(place);
        members.add("content_index", "0");
        members.add_number("annotation_index", number);
        members.add_value("annotation", &annotation);
        self.events.one("response.output_text.annotation.added", members, out);
    }

    /// Adds to the text of an item.
    fn grow(&mut self, place: usize, more: &str) {
        if let Block::Text { text, .. } | Block::Refusal(text) | Block::Reasoning { text, .. } =
            &mut self.items[place].block
        {
            text.push_str(more);
        }
    }

    /// The response as it is now, without calls that broke off; `error` is JSON.
    fn response(&self, status: &str, error: &str) -> Members {
        let items = self.items.iter().filter(|item| !item.is_broken());
        self.with(status, error, |response| {
            response.add_list("output", items.map(|item| item.ended(self.echo.seals)));
            response.add_object("usage", &usage(self.usage));
        })
    }

    /// The response with what it amounts to.
    fn with(&self, status: &str, error: &str, add_answer: impl FnOnce(&mut Members)) -> Members {
        let mut response = Members::default();
        response.add_text("id", &self.id);
        response.add_text("object", "response");
        response.add_number("created_at", self.created);
        response.add_text("status", status);
        response.add("error", error);
        let why = match self.reason.as_deref() {
            _ if status != "incomplete" => "null",
            Some("content_filter") => r#"{"reason":"content_filter"}"#,
            _ => r#"{"reason":"max_output_tokens"}"#,
        };
        response.add("incomplete_details", why);
        response.add_text("model", &self.echo.model);
        add_answer(&mut response);
        response.append(Members::clone(&self.echo.members));
        response
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
            if self.echo.weighs {
                self.logprobs.extend(told.logprobs(new));
            }
            self.summarises |= told.summarises(new);
            new.pieces.iter().for_each(|piece| self.piece(piece, out));
            self.reason = new.reason.clone().or_else(|| self.reason.take());
        }
    }

    fn done(&mut self, remarks: &[(&str, String)], out: &mut Vec<u8>) {
        self.begin(out);
        let status = self.status();
        self.close(status == "incomplete", out);
        comments(remarks, out);
        let response = self.response(status, "null").into_text();
        let mut members = Members::default();
        members.add("response", &response);
        self.events.one(&format!("response.{status}"), members, out);
        self.over = Some(response);
    }

    fn cites(&self, citation: &Citation) -> bool {
        citation.for_response(0).is_some()
    }

    fn fail(&mut self, failure: &Failure<'_>, out: &mut Vec<u8>) {
        self.begin(out);
        self.close(true, out);
        let code = match failure.error().map(|error| error.kind) {
            Some(ApiErrorKind::RateLimited) => "rate_limit_exceeded",
            Some(ApiErrorKind::ContextExceeded { .. }) => ApiErrorKind::TOO_LONG,
            _ => "server_error",
        };
        let error = json!({"code": code, "message": failure.message}).to_string();
        self.events.of_all("response.failed", &self.response("failed", &error), out);
    }

    fn whole(&mut self, told: &Told<'_>) -> String {
        self.usage = told.chunk.usage.unwrap_or_default();
        if let Some(new) = told.choices.first() {
            self.reason.clone_from(&new.reason);
            self.summarises |= told.summarises(new);
            let blocks = Blocks::of(&new.pieces);
            let shown = blocks.whole().filter(|block| !matches!(block, Block::Redacted(_)));
            for block in shown {
                self.items.push(self.item(block.clone()));
            }
            let text = self.items.iter_mut().find(|item| matches!(item.block, Block::Text { .. }));
            if let Some(text) = text.filter(|_| self.echo.weighs) {
                text.logprobs = told.logprobs(new);
            }
        }
        let status = self.status();
        if let Some(last) = self.items.last_mut() {
            last.cut = status == "incomplete";
        }
        let response = self.response(status, "null").into_text();
        self.over.insert(response).clone()
    }

    fn kept(&self) -> Option<String> {
        self.over.clone()
    }
}

fn text(apart: bool) -> Block {
    Block::Text { apart, text: String::new(), citations: Vec::new() }
}

fn thought() -> Block {
    Block::Reasoning { text: String::new(), signature: None }
}

/// The members of an event about all of an item.
fn whole_item(place: usize, item: &Members) -> Members {
    let mut members = Members::default();
    members.add_number("output_index", place as u64);
    members.add_object("item", item);
    members
}

pub(super) fn usage(usage: Usage) -> Members {
    let (mut read, mut written, mut told) = (Members::default(), Members::default(), Members::default());
    read.add_number("cached_tokens", usage.cached);
    read.add_number("cache_write_tokens", usage.written);
    written.add_number("reasoning_tokens", usage.reasoning);
    told.add_number("input_tokens", usage.prompt);
    told.add_object("input_tokens_details", &read);
    told.add_number("output_tokens", usage.completion);
    told.add_object("output_tokens_details", &written);
    told.add_number("total_tokens", usage.prompt.saturating_add(usage.completion));
    told
}
