//! Answers in the shape of Anthropic's messages.

use std::io::Write as _;

use super::{call_id, error_kind};
use crate::api_error::ApiErrorKind;
use crate::chunk::Usage;
use crate::citation::Citation;
use crate::members::{Members, json_text};
use crate::told::{
    Block, Blocks, Failure, Piece, ToClient, Told, ToldChoice, UNSEALED, comments, named_event,
};

/// Writes messages. Of several choices the first is told.
#[derive(Debug)]
pub struct Messages {
    /// The message's id and the model, as the client is told of them.
    id: String,
    model: String,
    begun: bool,
    /// How many blocks have begun.
    blocks: u64,
    /// The block that is open.
    open: Option<(u64, Kind)>,
    reason: Option<String>,
    /// Where the client wants the model to stop, and where it did.
    stops: Vec<String>,
    stopped_at: Option<String>,
    /// The model does not do as it was asked, and said so in the text.
    refused: bool,
    /// Why it does not, where it was the server that kept it from going on.
    withheld: Option<String>,
    usage: Usage,
}

/// The delta with a seal, and its member.
const SEAL: [&str; 2] = ["signature_delta", "signature"];

/// What a block holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Text,
    /// One without a seal.
    Thought,
    Sealed,
    Call,
}

impl Messages {
    /// Nothing yet. `id` is the message's, `model` what the client asked for.
    pub fn new(id: impl Into<String>, model: impl Into<String>) -> Self {
        Self {
            id: id.into(),
            model: model.into(),
            begun: false,
            blocks: 0,
            open: None,
            reason: None,
            stops: Vec::new(),
            stopped_at: None,
            refused: false,
            withheld: None,
            usage: Usage::default(),
        }
    }

    /// The same for a client that has named these texts for the model to stop at.
    #[must_use]
    pub fn stopping_at(self, stops: Vec<String>) -> Self {
        Self { stops, ..self }
    }

    /// Keeps why the answer ends.
    fn end(&mut self, told: &Told<'_>, new: &ToldChoice) {
        for piece in new.pieces.iter().filter(|piece| !is_content(piece, new)) {
            if let Piece::Refusal(text) = piece {
                self.withheld.get_or_insert_default().push_str(text);
            }
        }
        self.reason = new.reason.clone().or_else(|| self.reason.take());
        let stop = told.stopped_at(new).filter(|stop| self.stops.iter().any(|named| named == stop));
        self.stopped_at = stop.map(str::to_owned).or_else(|| self.stopped_at.take());
    }

    /// Adds the members that say why it ended.
    fn add_end(&self, to: &mut Members) {
        let reason = match self.reason.as_deref() {
            Some("tool_calls" | "function_call") => "tool_use",
            Some("length") => "max_tokens",
            Some("content_filter") => "refusal",
            _ if self.refused => "refusal",
            _ if self.stopped_at.is_some() => "stop_sequence",
            _ => "end_turn",
        };
        to.add_text("stop_reason", reason);
        match self.stopped_at.as_ref().filter(|_| reason == "stop_sequence") {
            Some(stop) => to.add_text("stop_sequence", stop),
            None => to.add("stop_sequence", "null"),
        }
        if let Some(why) = &self.withheld {
            let mut details = of_type("refusal");
            details.add("category", "null");
            details.add_text("explanation", why);
            to.add_object("stop_details", &details);
        }
    }

    /// The message up to its end.
    fn message(&self, content: impl IntoIterator<Item = Members>) -> Members {
        let mut message = Members::default();
        message.add_text("id", &self.id);
        message.add_text("type", "message");
        message.add_text("role", "assistant");
        message.add_text("model", &self.model);
        message.add_list("content", content);
        message
    }

    fn begin(&mut self, out: &mut Vec<u8>) {
        if !std::mem::replace(&mut self.begun, true) {
            let mut message = self.message([]);
            message.add("stop_reason", "null");
            message.add("stop_sequence", "null");
            message.add_object("usage", &usage(self.usage));
            let mut event = of_type("message_start");
            event.add_object("message", &message);
            named_event("message_start", &event, out);
        }
    }

    /// Begins a block, which ends the one before.
    fn start(&mut self, kind: Kind, block: &Members, out: &mut Vec<u8>) -> u64 {
        self.close(out);
        let index = self.blocks;
        self.blocks += 1;
        self.open = Some((index, kind));
        let mut event = of_type("content_block_start");
        event.add_number("index", index);
        event.add_object("content_block", block);
        named_event("content_block_start", &event, out);
        index
    }

    /// The open block of text or of thinking, begun if there is none.
    fn opened(&mut self, kind: Kind, out: &mut Vec<u8>) -> u64 {
        match self.open.filter(|(_, open)| *open == kind) {
            Some((index, _)) => index,
            None if kind == Kind::Text => self.start(kind, &text_block(""), out),
            None => self.start(kind, &thought_block("", ""), out),
        }
    }

    fn close(&mut self, out: &mut Vec<u8>) {
        if let Some((index, kind)) = self.open.take() {
            if kind == Kind::Thought {
                delta(index, SEAL, UNSEALED, out);
            }
            stop(index, out);
        }
    }

    fn piece(&mut self, piece: &Piece, out: &mut Vec<u8>) {
        match piece {
            Piece::Text(text) | Piece::Refusal(text) => {
                self.refused |= matches!(piece, Piece::Refusal(_));
                let index = self.opened(Kind::Text, out);
                delta(index, ["text_delta", "text"], text, out);
            }
            Piece::Citation(citation) => {
                if let Some((index, Kind::Text)) = self.open
                    && let Some(citation) = citation.for_message()
                {
                    let mut delta = of_type("citations_delta");
                    delta.add_value("citation", &citation);
                    let mut event = of_type("content_block_delta");
                    event.add_number("index", index);
                    event.add_object("delta", &delta);
                    named_event("content_block_delta", &event, out);
                }
            }
            Piece::Redacted(data) => {
                self.start(Kind::Sealed, &redacted_block(data), out);
                self.close(out);
            }
            Piece::Reasoning(text) => {
                let index = self.opened(Kind::Thought, out);
                delta(index, ["thinking_delta", "thinking"], text, out);
            }
            Piece::Signature(seal) => {
                let index = self.opened(Kind::Thought, out);
                delta(index, SEAL, seal, out);
                // What is thought behind the seal is not under it.
                self.open = Some((index, Kind::Sealed));
                self.close(out);
            }
            Piece::Call { id, name, .. } => {
                self.start(Kind::Call, &call_block(id, name, "{}"), out);
            }
            Piece::Arguments { json, .. } => {
                if let Some((index, Kind::Call)) = self.open {
                    delta(index, ["input_json_delta", "partial_json"], json, out);
                }
            }
            Piece::CallEnd { .. } => self.close(out),
            Piece::Paragraph
            | Piece::Compaction(_)
            | Piece::Custom { .. }
            | Piece::Input { .. }
            | Piece::Details(_)
            | Piece::Beside { .. } => {}
        }
    }
}

impl ToClient for Messages {
    fn tell(&mut self, told: &Told<'_>, out: &mut Vec<u8>) {
        self.usage = told.chunk.usage.unwrap_or(self.usage);
        self.begin(out);
        for new in told.choices.iter().filter(|new| new.index == 0) {
            let content = new.pieces.iter().filter(|piece| is_content(piece, new));
            content.for_each(|piece| self.piece(piece, out));
            self.end(told, new);
        }
    }

    fn done(&mut self, remarks: &[(&str, String)], out: &mut Vec<u8>) {
        self.begin(out);
        self.close(out);
        comments(remarks, out);
        let mut ended = Members::default();
        self.add_end(&mut ended);
        let mut event = of_type("message_delta");
        event.add_object("delta", &ended);
        event.add_object("usage", &usage(self.usage));
        named_event("message_delta", &event, out);
        named_event("message_stop", &of_type("message_stop"), out);
    }

    fn cites(&self, citation: &Citation) -> bool {
        citation.for_message().is_some()
    }

    fn fail(&mut self, failure: &Failure<'_>, out: &mut Vec<u8>) {
        let said = failure.error();
        let mut error = of_type(said.as_ref().map_or("api_error", |said| error_kind(said.status)));
        let (words, message) = (ApiErrorKind::TOO_LONG_WORDS, failure.message);
        if said.is_some_and(|said| said.is_too_long()) && !message.starts_with(words) {
            error.add_text("message", &format!("{words}: {message}"));
        } else {
            error.add_text("message", message);
        }
        let mut event = of_type("error");
        event.add_object("error", &error);
        named_event("error", &event, out);
    }

    fn whole(&mut self, told: &Told<'_>) -> String {
        self.usage = told.chunk.usage.unwrap_or_default();
        let mut content = Vec::new();
        if let Some(new) = told.choices.first() {
            let blocks = Blocks::of(new.pieces.iter().filter(|piece| is_content(piece, new)));
            self.refused = blocks.whole().any(|block| matches!(block, Block::Refusal(_)));
            content.extend(blocks.whole().filter_map(block));
            self.end(told, new);
        }
        let mut message = self.message(content);
        self.add_end(&mut message);
        message.add_object("usage", &usage(self.usage));
        message.into_text()
    }

    fn keep_alive(&self) -> &'static str {
        "event: ping\ndata: {\"type\": \"ping\"}\n\n"
    }
}

/// False for why the server withheld the rest of a choice, which is told beside the content.
fn is_content(piece: &Piece, new: &ToldChoice) -> bool {
    !matches!(piece, Piece::Refusal(_)) || new.reason.as_deref() != Some("content_filter")
}

fn block(block: &Block) -> Option<Members> {
    Some(match block {
        Block::Text { text, citations, .. } => {
            let cited: Vec<_> = citations.iter().filter_map(Citation::for_message).collect();
            let mut block = text_block(text);
            if !cited.is_empty() {
                block.add_value("citations", &cited);
            }
            block
        }
        Block::Refusal(text) => text_block(text),
        Block::Redacted(data) => redacted_block(data),
        Block::Reasoning { text, signature } => thought_block(text, signature.as_deref().unwrap_or(UNSEALED)),
        Block::Call { id, name, arguments, .. } => call_block(id, name, arguments),
        Block::Compaction(_) | Block::Custom { .. } => return None,
    })
}

fn of_type(kind: &str) -> Members {
    let mut members = Members::default();
    members.add_text("type", kind);
    members
}

fn text_block(text: &str) -> Members {
    let mut block = of_type("text");
    block.add_text("text", text);
    block
}

fn thought_block(text: &str, seal: &str) -> Members {
    let mut block = of_type("thinking");
    block.add_text("thinking", text);
    block.add_text("signature", seal);
    block
}

fn redacted_block(data: &str) -> Members {
    let mut block = of_type("redacted_thinking");
    block.add_text("data", data);
    block
}

fn call_block(id: &str, name: &str, arguments: &str) -> Members {
    let mut block = of_type("tool_use");
    block.add_text("id", &call_id::spell(id));
    block.add_text("name", name);
    block.add_arguments("input", arguments);
    block
}

/// More of a block. Streams consist of these, so no [`Value`] is made of them.
fn delta(index: u64, [kind, member]: [&str; 2], more: &str, out: &mut Vec<u8>) {
    const NAME: &str = "content_block_delta";
    // A vector takes every write.
    let _ = write!(
        out,
        "event: {NAME}\ndata: {{\"type\":\"{NAME}\",\"index\":{index},\"delta\":{{\"type\":\"{kind}\",\"{member}\":"
    );
    json_text(more, out);
    out.extend_from_slice(b"}}\n\n");
}

fn stop(index: u64, out: &mut Vec<u8>) {
    let mut event = of_type("content_block_stop");
    event.add_number("index", index);
    named_event("content_block_stop", &event, out);
}

/// Here tokens that were read before are counted apart from the others.
fn usage(usage: Usage) -> Members {
    let mut told = Members::default();
    let new = usage.prompt.saturating_sub(usage.cached).saturating_sub(usage.written);
    told.add_number("input_tokens", new);
    told.add_number("cache_creation_input_tokens", usage.written);
    told.add_number("cache_read_input_tokens", usage.cached);
    told.add_number("output_tokens", usage.completion);
    told
}
