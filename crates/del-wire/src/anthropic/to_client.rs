//! Answers in the shape of Anthropic's messages.

use std::io::Write as _;

use serde_json::{Value, json};

use crate::chunk::Usage;
use crate::told::{Block, Blocks, Piece, ToClient, Told, comments, json_text, named_event};

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
            usage: Usage::default(),
        }
    }

    fn message(&self, content: &[Value], reason: Option<&str>) -> Value {
        json!({"id": self.id, "type": "message", "role": "assistant", "model": self.model, "content": content,
            "stop_reason": reason, "stop_sequence": null, "usage": usage(self.usage)})
    }

    fn begin(&mut self, out: &mut Vec<u8>) {
        if !std::mem::replace(&mut self.begun, true) {
            let message = self.message(&[], None);
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
            Piece::Text(text) => {
                let index = self.opened(true, out);
                delta(index, ["text_delta", "text"], text, out);
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
            new.pieces.iter().for_each(|piece| self.piece(piece, out));
            self.reason = new.reason.clone().or_else(|| self.reason.take());
        }
    }

    fn done(&mut self, remarks: &[(&str, String)], out: &mut Vec<u8>) {
        self.begin(out);
        self.close(out);
        for (_, block) in std::mem::take(&mut self.calls) {
            stop(block, out);
        }
        comments(remarks, out);
        let ended = json!({"stop_reason": reason(self.reason.as_deref()), "stop_sequence": null});
        let event = json!({"type": "message_delta", "delta": ended, "usage": usage(self.usage)});
        named_event("message_delta", &event, out);
        named_event("message_stop", &json!({"type": "message_stop"}), out);
    }

    fn fail(&mut self, message: &str, _: Option<&str>, out: &mut Vec<u8>) {
        let error = json!({"type": "error", "error": {"type": "api_error", "message": message}});
        named_event("error", &error, out);
    }

    fn whole(&mut self, told: &Told<'_>) -> String {
        self.usage = told.chunk.usage.unwrap_or_default();
        let Some(new) = told.choices.first() else { return self.message(&[], Some("end_turn")).to_string() };
        let blocks = Blocks::of(&new.pieces);
        let content: Vec<Value> = blocks.whole().filter_map(block).collect();
        self.message(&content, Some(reason(new.reason.as_deref()))).to_string()
    }

    fn keep_alive(&self) -> &'static str {
        "event: ping\ndata: {\"type\": \"ping\"}\n\n"
    }
}

fn block(block: &Block) -> Option<Value> {
    Some(match block {
        Block::Text(text) => json!({"type": "text", "text": text}),
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

fn reason(said: Option<&str>) -> &'static str {
    match said {
        Some("tool_calls" | "function_call") => "tool_use",
        Some("length") => "max_tokens",
        Some("content_filter") => "refusal",
        _ => "end_turn",
    }
}

/// Here tokens that were read before are counted apart from the others.
fn usage(usage: Usage) -> Value {
    json!({
        "input_tokens": usage.prompt.saturating_sub(usage.cached),
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": usage.cached,
        "output_tokens": usage.completion,
    })
}
