//! What is new of a choice as the deltas of a stream.

use std::io::Write as _;

use serde_json::{Map, Value, json};

use crate::members::Members;
use crate::told::{Piece, Told};

/// Writes the deltas of one answer.
#[derive(Debug)]
pub(super) struct Deltas {
    /// The client knows functions, not tools.
    legacy: bool,
    /// The server calls thoughts `reasoning`, and so does the client when it sends them back.
    as_reasoning: bool,
    /// What was thought since the last seal.
    thought: String,
}

const THOUGHT: &str = "reasoning_content";

impl Deltas {
    pub(super) fn new(legacy: bool) -> Self {
        Self { legacy, as_reasoning: false, thought: String::new() }
    }

    /// Learns what a server of chats calls thoughts.
    pub(super) fn think_as(&mut self, told: &Told<'_>) {
        self.as_reasoning |= told.raw.is_some() && told.chunk.choices.iter().any(|delta| delta.as_reasoning);
    }

    /// The name that a member of a message has for the client.
    pub(super) fn name<'n>(&self, name: &'n str) -> &'n str {
        if self.as_reasoning && name == THOUGHT { "reasoning" } else { name }
    }

    /// The deltas that these pieces are, where the server's own chunk stays around them or there is none.
    pub(super) fn of(&mut self, pieces: &[Piece], in_chunk: bool) -> Vec<Members> {
        let mut deltas: Vec<Members> = Vec::with_capacity(pieces.len());
        let mut before: Option<&Piece> = None;
        for piece in pieces {
            match (before, piece) {
                // These are members of the chunk, which stay.
                (_, Piece::Refusal(_) | Piece::Citation(_) | Piece::Details(_)) if in_chunk => {}
                // Clients read what else a call has where it begins.
                (Some(Piece::Call { index, id, name }), Piece::Beside { index: same, members })
                    if index == same && !self.legacy =>
                {
                    deltas.pop();
                    deltas.push(begun(*index, id, name, members));
                }
                _ => deltas.extend(self.written(piece)),
            }
            before = Some(piece);
        }
        deltas
    }

    /// A piece as the members of the delta that adds it.
    fn written(&mut self, piece: &Piece) -> Option<Members> {
        let mut delta = Members::default();
        let mut add = |name: &str, value: Value| delta.add_value(name, &value);
        match piece {
            Piece::Reasoning(text) => {
                self.thought.push_str(text);
                delta.add_text(self.name(THOUGHT), text);
            }
            Piece::Signature(seal) => {
                let thought = std::mem::take(&mut self.thought);
                let block = json!({"type": "thinking", "thinking": thought, "signature": seal});
                add("thinking_blocks", json!([block]));
            }
            Piece::Redacted(data) => {
                add("thinking_blocks", json!([{"type": "redacted_thinking", "data": data}]));
            }
            Piece::Details(details) => add("reasoning_details", json!(details)),
            Piece::Text(text) => delta.add_text("content", text),
            Piece::Refusal(text) => delta.add_text("refusal", text),
            Piece::Citation(citation) => add("annotations", json!([citation.for_chat()?])),
            Piece::Call { name, .. } if self.legacy => {
                add("function_call", json!({"name": name, "arguments": ""}));
            }
            Piece::Arguments { json, .. } if self.legacy => add("function_call", json!({"arguments": json})),
            Piece::Beside { .. } if self.legacy => return None,
            Piece::Call { index, id, name } => return Some(begun(*index, id, name, &Map::new())),
            Piece::Beside { index, members } => {
                let mut call = Map::from_iter([("index".to_owned(), json!(index))]);
                call.extend(members.clone());
                add("tool_calls", json!([call]));
            }
            Piece::Arguments { index, json } => {
                // A call's arguments come in many pieces.
                delta.name("tool_calls");
                let _ = write!(delta.0, "[{{\"index\":{index},\"function\":{{\"arguments\":");
                delta.text(json);
                delta.0.extend_from_slice(b"}}]");
            }
            Piece::Custom { index, id, name } => {
                let custom = json!({"name": name, "input": ""});
                add("tool_calls", json!([{"index": index, "id": id, "type": "custom", "custom": custom}]));
            }
            Piece::Input { index, text } => {
                add("tool_calls", json!([{"index": index, "custom": {"input": text}}]));
            }
            Piece::Paragraph | Piece::Compaction(_) | Piece::CallEnd { .. } => return None,
        }
        Some(delta)
    }
}

/// The beginning of a call, with its members that are not known here.
fn begun(index: u32, id: &str, name: &str, beside: &Map<String, Value>) -> Members {
    let function = json!({"name": name, "arguments": ""});
    let mut call = json!({"index": index, "id": id, "type": "function", "function": function});
    if let Value::Object(members) = &mut call {
        members.extend(beside.clone());
    }
    let mut delta = Members::default();
    delta.add_value("tool_calls", &json!([call]));
    delta
}
