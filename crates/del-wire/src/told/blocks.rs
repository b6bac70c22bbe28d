//! Messages of parts, as what is told of an answer amounts to.

use serde_json::{Map, Value, json};

use super::{Piece, details};
use crate::chunk::GAP;
use crate::citation::Citation;
use crate::native::call_json;
use crate::refused;

/// A part of a message: neighbours of one kind are one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Block {
    /// What the model thought.
    Reasoning {
        /// The thought.
        text: String,
        /// The server's seal on it.
        signature: Option<String>,
    },
    /// A thought that the server shows to nobody.
    Redacted(String),
    /// What it said.
    Text {
        /// It is a paragraph of its own.
        apart: bool,
        /// The text.
        text: String,
        /// Where it has something from.
        citations: Vec<Citation>,
    },
    /// Why it does not do as it was asked.
    Refusal(String),
    /// An item that stands for the conversation so far from now on.
    Compaction(Value),
    /// A call.
    Call {
        /// Its id.
        id: String,
        /// The tool.
        name: String,
        /// JSON text of an object, once it is whole.
        arguments: String,
        /// Nothing of it is missing.
        whole: bool,
        /// Its members that are not known here.
        beside: Map<String, Value>,
    },
    /// A call of a tool that takes a text.
    Custom {
        /// Its id.
        id: String,
        /// The tool.
        name: String,
        /// What it is to work on.
        input: String,
        /// Nothing of it is missing.
        whole: bool,
    },
}

impl Block {
    /// True for a call that broke off.
    pub(crate) fn is_broken(&self) -> bool {
        matches!(self, Self::Call { whole: false, .. } | Self::Custom { whole: false, .. })
    }
}

/// The blocks of a message while they come.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Blocks {
    list: Vec<Block>,
    /// The thoughts in the server's own words.
    details: Vec<Value>,
}

impl Blocks {
    /// Those that these pieces amount to.
    pub fn of<'p>(pieces: impl IntoIterator<Item = &'p Piece>) -> Self {
        let mut blocks = Self::default();
        pieces.into_iter().for_each(|piece| blocks.add(piece));
        blocks
    }

    /// Adds a piece.
    pub fn add(&mut self, piece: &Piece) {
        match piece {
            Piece::Reasoning(more) => match self.list.last_mut() {
                Some(Block::Reasoning { text, signature: None }) => text.push_str(more),
                _ => self.list.push(Block::Reasoning { text: more.clone(), signature: None }),
            },
            Piece::Signature(more) => {
                let last = self.list.len().saturating_sub(1);
                let thought = self.list.iter_mut().enumerate().rev().find_map(|(place, block)| match block {
                    Block::Reasoning { signature, .. } => Some((place, signature)),
                    _ => None,
                });
                match thought {
                    // What is under a seal already has its last piece where something else came.
                    Some((place, signature)) if place == last || signature.is_none() => {
                        signature.get_or_insert_default().push_str(more);
                    }
                    _ => {
                        let signature = Some(more.clone());
                        self.list.push(Block::Reasoning { text: String::new(), signature });
                    }
                }
            }
            Piece::Text(more) => match self.list.last_mut() {
                Some(Block::Text { text, .. }) => text.push_str(more),
                _ => {
                    self.list.push(Block::Text { apart: false, text: more.clone(), citations: Vec::new() });
                }
            },
            Piece::Paragraph => {
                self.list.push(Block::Text { apart: true, text: String::new(), citations: Vec::new() });
            }
            Piece::Citation(citation) => {
                let texts = self.list.iter_mut().rev().find_map(|block| match block {
                    Block::Text { citations, .. } => Some(citations),
                    _ => None,
                });
                if let Some(citations) = texts {
                    citations.push(citation.clone());
                }
            }
            Piece::Refusal(more) => match self.list.last_mut() {
                Some(Block::Refusal(text)) => text.push_str(more),
                _ => self.list.push(Block::Refusal(more.clone())),
            },
            Piece::Redacted(data) => self.list.push(Block::Redacted(data.clone())),
            Piece::Compaction(item) => self.list.push(Block::Compaction(item.clone())),
            Piece::Call { id, name, .. } => {
                let (id, name) = (id.clone(), name.clone());
                let (arguments, beside) = (String::new(), Map::new());
                self.list.push(Block::Call { id, name, arguments, whole: false, beside });
            }
            Piece::Arguments { json, .. } => {
                if let Some(Block::Call { arguments, .. }) = self.list.last_mut() {
                    arguments.push_str(json);
                }
            }
            Piece::Beside { members, .. } => {
                if let Some(Block::Call { beside, .. }) = self.list.last_mut() {
                    beside.extend(members.clone());
                }
            }
            Piece::Details(more) => details::add(&mut self.details, more),
            Piece::CallEnd { .. } => {
                if let Some(Block::Call { whole, .. } | Block::Custom { whole, .. }) = self.list.last_mut() {
                    *whole = true;
                }
            }
            Piece::Custom { id, name, .. } => {
                let (id, name) = (id.clone(), name.clone());
                self.list.push(Block::Custom { id, name, input: String::new(), whole: false });
            }
            Piece::Input { text, .. } => {
                if let Some(Block::Custom { input, .. }) = self.list.last_mut() {
                    input.push_str(text);
                }
            }
        }
    }

    /// All of them, without calls that broke off.
    pub fn whole(&self) -> impl Iterator<Item = &Block> {
        self.list.iter().filter(|block| !block.is_broken())
    }

    /// Where its texts have something from.
    pub fn citations(&self) -> impl Iterator<Item = &Citation> {
        self.list.iter().flat_map(|block| match block {
            Block::Text { citations, .. } => citations.as_slice(),
            _ => &[],
        })
    }

    /// The message as a later request has it: what it refuses with is text there, for few servers read anything else, and
    /// without calls it has a text, if an empty one, for many servers refuse one with neither.
    pub fn past(&self) -> Map<String, Value> {
        let mut message = self.message();
        refused::tell(&mut message);
        if message["content"].is_null() && !message.contains_key("tool_calls") {
            message["content"] = json!("");
        }
        message
    }

    /// The message of a chat completion.
    pub fn message(&self) -> Map<String, Value> {
        let (mut content, mut refusal, mut calls) = (None::<String>, None::<String>, Vec::new());
        for block in self.whole() {
            match block {
                Block::Text { apart, text, .. } => {
                    let content = content.get_or_insert_default();
                    content.push_str(if *apart && !content.is_empty() { GAP } else { "" });
                    content.push_str(text);
                }
                Block::Refusal(text) => refusal.get_or_insert_default().push_str(text),
                // No API but that of responses has a place for it.
                Block::Compaction(_) => {}
                Block::Redacted(_) | Block::Reasoning { .. } => {}
                Block::Call { id, name, arguments, beside, .. } => {
                    let (name, arguments) = (name.clone(), arguments.clone());
                    let mut call = call_json(id, &del_dialects::Call { id: None, name, arguments });
                    if let Value::Object(members) = &mut call {
                        members.extend(beside.clone());
                    }
                    calls.push(call);
                }
                Block::Custom { id, name, input, .. } => {
                    calls.push(json!({"id": id, "type": "custom", "custom": {"name": name, "input": input}}));
                }
            }
        }
        let mut message = Map::from_iter([
            ("role".to_owned(), json!("assistant")),
            ("content".to_owned(), content.map_or(Value::Null, Value::String)),
        ]);
        if let Some(refusal) = refusal {
            message.insert(refused::MEMBER.to_owned(), json!(refusal));
        }
        message.extend(self.thoughts());
        if !calls.is_empty() {
            message.insert("tool_calls".to_owned(), Value::Array(calls));
        }
        message
    }

    /// The members of that message which say what the model thought.
    pub fn thoughts(&self) -> Map<String, Value> {
        let (mut reasoning, mut sealed) = (None::<String>, Vec::new());
        for block in &self.list {
            match block {
                Block::Redacted(data) => sealed.push(json!({"type": "redacted_thinking", "data": data})),
                Block::Reasoning { text, signature } => {
                    reasoning.get_or_insert_default().push_str(text);
                    if let Some(signature) = signature {
                        sealed.push(json!({"type": "thinking", "thinking": text, "signature": signature}));
                    }
                }
                _ => {}
            }
        }
        let mut thoughts = Map::new();
        if let Some(reasoning) = reasoning {
            thoughts.insert("reasoning_content".to_owned(), json!(reasoning));
        }
        if !sealed.is_empty() {
            thoughts.insert("thinking_blocks".to_owned(), Value::Array(sealed));
        }
        if !self.details.is_empty() {
            thoughts.insert("reasoning_details".to_owned(), json!(self.details));
        }
        thoughts
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{Blocks, Piece};

    #[test]
    fn every_thought_keeps_its_own_seal() {
        let seal = |text: &str| Piece::Signature(text.to_owned());
        let text = || Piece::Text("Well.".to_owned());
        let thought = || Piece::Reasoning("Hm.".to_owned());
        for (pieces, seals) in [
            (vec![thought(), seal("a"), seal("b"), text()], json!([["Hm.", "ab"]])),
            (vec![thought(), text(), seal("a")], json!([["Hm.", "a"]])),
            (vec![thought(), seal("a"), text(), thought(), seal("b")], json!([["Hm.", "a"], ["Hm.", "b"]])),
            (vec![seal("a"), text(), seal("b")], json!([["", "a"], ["", "b"]])),
        ] {
            let blocks = Blocks::of(&pieces).message()["thinking_blocks"].clone();
            let told = blocks.as_array().unwrap().iter();
            let told: Vec<_> = told.map(|block| json!([block["thinking"], block["signature"]])).collect();
            assert_eq!(json!(told), seals);
        }
    }
}
