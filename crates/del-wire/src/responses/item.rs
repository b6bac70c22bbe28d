//! One item of a response.

use serde_json::{Map, Value, json};

use crate::told::Block;

/// An item on its way, or whole.
#[derive(Debug)]
pub(super) struct Item {
    pub(super) id: String,
    pub(super) block: Block,
    /// The number of the call, where it is one.
    pub(super) call: Option<u32>,
    pub(super) open: bool,
    /// It ended before the model was done with it.
    pub(super) cut: bool,
    /// How likely the tokens of its text were.
    pub(super) logprobs: Vec<Value>,
}

impl Item {
    /// Nothing of it yet. `place` is that in the response with this id.
    pub(super) fn new(response: &str, place: usize, block: Block, call: Option<u32>) -> Self {
        let kind = match block {
            Block::Text(_) | Block::Refusal(_) => "msg",
            Block::Reasoning { .. } | Block::Redacted(_) => "rs",
            Block::Call { .. } => "fc",
            Block::Custom { .. } => "ctc",
        };
        let id = format!("{kind}_{}_{place}", response.trim_start_matches("resp_"));
        Self { id, block, call, open: true, cut: false, logprobs: Vec::new() }
    }

    /// It is no call.
    pub(super) fn is_said(&self) -> bool {
        !matches!(self.block, Block::Call { .. } | Block::Custom { .. })
    }

    /// As it begins.
    pub(super) fn begun(&self) -> Value {
        self.json(true, false)
    }

    /// As it is. Seals on thoughts are told to clients that want them alone.
    pub(super) fn ended(&self, sealed: bool) -> Value {
        self.json(false, sealed)
    }

    /// The part of its content, where it has one; empty as it begins.
    pub(super) fn part(&self, begun: bool) -> Option<Value> {
        let said = |text: &'_ str| if begun { String::new() } else { text.to_owned() };
        Some(match &self.block {
            Block::Text(text) => {
                let logprobs = if begun { &[] } else { self.logprobs.as_slice() };
                json!({"type": "output_text", "text": said(text), "annotations": [], "logprobs": logprobs})
            }
            Block::Refusal(text) => json!({"type": "refusal", "refusal": said(text)}),
            Block::Reasoning { text, .. } if begun || !text.is_empty() => {
                json!({"type": "reasoning_text", "text": said(text)})
            }
            _ => return None,
        })
    }

    fn json(&self, begun: bool, sealed: bool) -> Value {
        let broken = matches!(self.block, Block::Call { whole: false, .. });
        let status = match (begun, self.cut || broken) {
            (true, _) => "in_progress",
            (false, true) => "incomplete",
            (false, false) => "completed",
        };
        let content: Vec<Value> = self.part(false).filter(|_| !begun).into_iter().collect();
        let mut item = Map::from_iter([("id".to_owned(), json!(self.id))]);
        let members = match &self.block {
            Block::Text(_) | Block::Refusal(_) => {
                json!({"type": "message", "status": status, "role": "assistant", "content": content})
            }
            Block::Reasoning { .. } | Block::Redacted(_) => {
                let seal = match &self.block {
                    Block::Reasoning { signature, .. } => signature.as_ref(),
                    _ => None,
                };
                let mut item =
                    json!({"type": "reasoning", "summary": [], "content": content, "status": status});
                if let Some(seal) = seal.filter(|_| sealed) {
                    item["encrypted_content"] = json!(seal);
                }
                item
            }
            Block::Call { id, name, arguments, .. } => {
                let arguments = if begun { "" } else { arguments.as_str() };
                json!({"type": "function_call", "status": status, "call_id": id, "name": name,
                    "arguments": arguments})
            }
            Block::Custom { id, name, input } => {
                let input = if begun { "" } else { input.as_str() };
                json!({"type": "custom_tool_call", "status": status, "call_id": id, "name": name,
                    "input": input})
            }
        };
        if let Value::Object(members) = members {
            item.extend(members);
        }
        Value::Object(item)
    }
}
