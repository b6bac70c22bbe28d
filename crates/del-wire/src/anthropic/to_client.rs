//! Answers in the shape of Anthropic's messages.

use std::io::Write as _;

use serde_json::{Value, json};

use crate::api_error::{ApiError, ApiErrorKind};
use crate::chunk::Usage;
use crate::told::{Block, Blocks, Piece, ToClient, Told, ToldChoice, comments, json_text, named_event};

/// Writes messages. Of several choices the first is told.
#[derive(Debug)]
pub struct Messages {
    /// The message's id and the model, as the client is told of them.
    id: String,
    model: String,
    begun: bool,
    /// How many blocks have begun.
    blocks: u64,
    /// The block of text or thinking that is open, and whether it is text.
    open: Option<(u64, bool)>,
    /// The blocks of calls that are open, by the calls' numbers.
    calls: Vec<(u32, u64)>,
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

impl Messages {
    /// Nothing yet. `id` is the message's, `model` what the client asked for.
    pub fn new(id: impl Into<String>, model: impl Into<String>) -> Self {
        Self {
            id: id.into(),
            model: model.into(),
            begun: false,
            blocks: 0,
            open: None,
            calls: Vec::new(),
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

    /// The members that say why it ended.
    fn ended(&self) -> Value {
        let reason = match self.reason.as_deref() {
            Some("tool_calls" | "function_call") => "tool_use",
            Some("length") => "max_tokens",
            Some("content_filter") => "refusal",
            _ if self.refused => "refusal",
            _ if self.stopped_at.is_some() => "stop_sequence",
            _ => "end_turn",
        };
        let stop = self.stopped_at.as_ref().filter(|_| reason == "stop_sequence");
        let mut ended = json!({"stop_reason": reason, "stop_sequence": stop});
        if let Some(why) = &self.withheld {
            ended["stop_details"] = json!({"type": "refusal", "category": null, "explanation": why});
        }
        ended
    }

    fn message(&self, content: &[Value], ended: Value) -> Value {
        let mut message = json!({"id": self.id, "type": "message", "role": "assistant", "model": self.model,
            "content": content});
        if let (Some(message), Value::Object(ended)) = (message.as_object_mut(), ended) {
            message.extend(ended);
        }
        message["usage"] = usage(self.usage);
        message
    }

    fn begin(&mut self, out: &mut Vec<u8>) {
        if !std::mem::replace(&mut self.begun, true) {
            let message = self.message(&[], json!({"stop_reason": null, "stop_sequence": null}));
            named_event("message_start", &json!({"type": "message_start", "message": message}), out);
        }
    }

    fn start(&mut self, block: &Value, out: &mut Vec<u8>) -> u64 {
        let index = self.blocks;
        self.blocks += 1;
        let event = json!({"type": "content_block_start", "index": index, "content_block": block});
        named_event("content_block_start", &event, out);
        index
    }

    /// The open block of text or of thinking, begun if there is none.
    fn opened(&mut self, text: bool, out: &mut Vec<u8>) -> u64 {
        if let Some((index, _)) = self.open.filter(|(_, kind)| *kind == text) {
            return index;
        }
        self.close(out);
        let block = if text {
            json!({"type": "text", "text": ""})
        } else {
            json!({"type": "thinking", "thinking": "", "signature": ""})
        };
        let index = self.start(&block, out);
        self.open = Some((index, text));
        index
    }

    fn close(&mut self, out: &mut Vec<u8>) {
        if let Some((index, _)) = self.open.take() {
            stop(index, out);
        }
    }

    fn piece(&mut self, piece: &Piece, out: &mut Vec<u8>) {
        match piece {
            Piece::Text(text) | Piece::Refusal(text) => {
                self.refused |= matches!(piece, Piece::Refusal(_));
                let index = self.opened(true, out);
                delta(index, ["text_delta", "text"], text, out);
            }
            Piece::Redacted(data) => {
                self.close(out);
                let index = self.start(&json!({"type": "redacted_thinking", "data": data}), out);
                stop(index, out);
            }
            Piece::Reasoning(text) => {
                let index = self.opened(false, out);
                delta(index, ["thinking_delta", "thinking"], text, out);
            }
            Piece::Signature(seal) => {
                let index = self.opened(false, out);
                delta(index, ["signature_delta", "signature"], seal, out);
                // What is thought behind the seal is not under it.
                self.close(out);
            }
            Piece::Call { index, id, name } => {
                self.close(out);
                let block =
                    self.start(&json!({"type": "tool_use", "id": id, "name": name, "input": {}}), out);
                self.calls.push((*index, block));
            }
            Piece::Arguments { index, json } => {
                if let Some((_, block)) = self.calls.iter().find(|(call, _)| call == index) {
                    delta(*block, ["input_json_delta", "partial_json"], json, out);
                }
            }
            Piece::CallEnd { index } => {
                if let Some(place) = self.calls.iter().position(|(call, _)| call == index) {
                    stop(self.calls.remove(place).1, out);
                }
            }
            Piece::Custom { .. } => {}
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
        for (_, block) in std::mem::take(&mut self.calls) {
            stop(block, out);
        }
        comments(remarks, out);
        let event = json!({"type": "message_delta", "delta": self.ended(), "usage": usage(self.usage)});
        named_event("message_delta", &event, out);
        named_event("message_stop", &json!({"type": "message_stop"}), out);
    }

    fn fail(&mut self, message: &str, raw: Option<&str>, out: &mut Vec<u8>) {
        let kind = match raw.map(|raw| ApiError::from_stream(raw).kind) {
            Some(ApiErrorKind::RateLimited) => "rate_limit_error",
            Some(ApiErrorKind::Unavailable) => "overloaded_error",
            Some(ApiErrorKind::Authentication) => "authentication_error",
            Some(ApiErrorKind::ContextExceeded { .. }) => "invalid_request_error",
            _ => "api_error",
        };
        let error = json!({"type": "error", "error": {"type": kind, "message": message}});
        named_event("error", &error, out);
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
        self.message(&content, self.ended()).to_string()
    }

    fn keep_alive(&self) -> &'static str {
        "event: ping\ndata: {\"type\": \"ping\"}\n\n"
    }
}

/// False for why the server withheld the rest of a choice, which is told beside the content.
fn is_content(piece: &Piece, new: &ToldChoice) -> bool {
    !matches!(piece, Piece::Refusal(_)) || new.reason.as_deref() != Some("content_filter")
}

fn block(block: &Block) -> Option<Value> {
    Some(match block {
        Block::Text(text) | Block::Refusal(text) => json!({"type": "text", "text": text}),
        Block::Redacted(data) => json!({"type": "redacted_thinking", "data": data}),
        Block::Reasoning { text, signature } => {
            json!({"type": "thinking", "thinking": text, "signature": signature.as_deref().unwrap_or_default()})
        }
        Block::Call { id, name, arguments, .. } => {
            let input: Value = serde_json::from_str(arguments).unwrap_or_else(|_| json!({}));
            json!({"type": "tool_use", "id": id, "name": name, "input": input})
        }
        Block::Custom { .. } => return None,
    })
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
    named_event("content_block_stop", &json!({"type": "content_block_stop", "index": index}), out);
}

/// Here tokens that were read before are counted apart from the others.
fn usage(usage: Usage) -> Value {
    json!({
        "input_tokens": usage.prompt.saturating_sub(usage.cached).saturating_sub(usage.written),
        "cache_creation_input_tokens": usage.written,
        "cache_read_input_tokens": usage.cached,
        "output_tokens": usage.completion,
    })
}
