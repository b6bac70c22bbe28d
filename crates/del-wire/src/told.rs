//! What a client is told of an answer, whatever its API: pieces of choices, in their order.

mod paragraphs;

use std::fmt::Debug;
use std::ops::Range;

use serde_json::{Map, Value, json};

pub use self::paragraphs::Paragraphs;
use crate::chunk::{Chunk, Delta, GAP, Times};
use crate::citation::Citation;
use crate::members::Members;
use crate::native::call_json;
use crate::{logprobs, refused};

/// Something new of a choice.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Piece {
    /// More of what the model thought.
    Reasoning(String),
    /// The server's seal on the thinking before it.
    Signature(String),
    /// A thought that the server shows to nobody, as it wants it back.
    Redacted(String),
    /// More text.
    Text(String),
    /// The text, or the thought, that comes next is a paragraph of its own. Once [`Paragraphs`] were written, it stands
    /// before texts alone, in messages that have them apart.
    Paragraph,
    /// Where the text before it has something from.
    Citation(Citation),
    /// An item that stands for the conversation so far from now on.
    Compaction(Value),
    /// More of why the model does not do as it was asked.
    Refusal(String),
    /// A call begins. Its arguments and its end come before anything else; one that something else follows has broken off.
    Call {
        /// Its number in the choice.
        index: u32,
        /// Its id, which no other call has.
        id: String,
        /// The tool.
        name: String,
    },
    /// More of the arguments of a call that has begun.
    Arguments {
        /// Its number.
        index: u32,
        /// JSON text.
        json: String,
    },
    /// The call is whole.
    CallEnd {
        /// Its number.
        index: u32,
    },
    /// A whole call of a tool that takes a text in place of arguments.
    Custom {
        /// Its number.
        index: u32,
        /// Its id.
        id: String,
        /// The tool.
        name: String,
        /// What it is to work on.
        input: String,
    },
}

/// What one text of the server, streamed or whole, tells the client.
#[derive(Debug)]
pub struct Told<'a> {
    /// The server's own words, where they are a chat completion or a chunk of one.
    pub raw: Option<Raw<'a>>,
    /// The same, read.
    pub chunk: &'a Chunk,
    /// What is new of the choices.
    pub choices: Vec<ToldChoice>,
}

/// A chat completion, or a chunk of one.
#[derive(Debug, Clone)]
pub struct Raw<'a> {
    /// All of it.
    pub json: &'a str,
    /// Where its text stands in it, if it is a chunk with that and nothing else.
    pub text: Option<Range<usize>>,
}

impl Raw<'_> {
    /// What stands before and behind that text and its quotes.
    pub(crate) fn around(&self) -> Option<(&str, &str)> {
        let text = self.text.as_ref()?;
        Some((self.json.get(..text.start.checked_sub(1)?)?, self.json.get(text.end + 1..)?))
    }
}

impl Told<'_> {
    /// How likely the tokens were that are new of a choice.
    pub(crate) fn logprobs(&self, new: &ToldChoice) -> Vec<Value> {
        self.said_of(new).filter_map(|delta| delta.logprobs.as_deref()).flat_map(logprobs::read).collect()
    }

    /// At which text of the request's the server stopped.
    pub(crate) fn stopped_at(&self, new: &ToldChoice) -> Option<&str> {
        self.said_of(new).find_map(|delta| delta.stopped_at.as_deref())
    }

    /// How long the answer took.
    pub(crate) fn times(&self, new: &ToldChoice) -> Option<Times> {
        self.said_of(new).find_map(|delta| delta.times)
    }

    fn said_of(&self, new: &ToldChoice) -> impl Iterator<Item = &Delta> {
        let index = new.index;
        self.chunk.choices.iter().filter(move |delta| delta.choice == index)
    }
}

/// What is new of one choice.
#[derive(Debug, Default)]
pub struct ToldChoice {
    /// Its number.
    pub index: u32,
    /// Its place among those of the chunk, where it stands there.
    pub place: Option<usize>,
    /// Nothing was told of it before.
    pub first: bool,
    /// In their order.
    pub pieces: Vec<Piece>,
    /// Why it has ended, in the words of chat completions.
    pub reason: Option<String>,
}

/// Writes answers in the shape of one API.
pub trait ToClient: Debug + Send {
    /// What is new, as a part of a stream.
    fn tell(&mut self, told: &Told<'_>, out: &mut Vec<u8>);

    /// The stream is over. `remarks` are names and values of what headers would say of an answer that comes at once.
    fn done(&mut self, remarks: &[(&str, String)], out: &mut Vec<u8>);

    /// The stream breaks off; `raw` is what the server said of it, where it said so as JSON.
    fn fail(&mut self, message: &str, raw: Option<&str>, out: &mut Vec<u8>);

    /// An answer that comes at once.
    fn whole(&mut self, told: &Told<'_>) -> String;

    /// True where a message has all its text in one place, and all that was thought in another.
    fn in_one(&self) -> bool {
        false
    }

    /// True where the API has a place for this citation.
    fn cites(&self, _: &Citation) -> bool {
        false
    }

    /// The answer as its client may ask for it again, as JSON, once it is over; nothing where the API has no such thing.
    fn kept(&self) -> Option<String> {
        None
    }

    /// The type of a stream.
    fn content_type(&self) -> &'static str {
        "text/event-stream"
    }

    /// What keeps a silent stream alive.
    fn keep_alive(&self) -> &'static str {
        ": keep-alive\n\n"
    }
}

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
    },
    /// A call of a tool that takes a text.
    Custom {
        /// Its id.
        id: String,
        /// The tool.
        name: String,
        /// What it is to work on.
        input: String,
    },
}

/// The blocks of a message while they come.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Blocks(Vec<Block>);

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
            Piece::Reasoning(more) => match self.0.last_mut() {
                Some(Block::Reasoning { text, signature: None }) => text.push_str(more),
                _ => self.0.push(Block::Reasoning { text: more.clone(), signature: None }),
            },
            Piece::Signature(more) => {
                let last = self.0.len().saturating_sub(1);
                let thought = self.0.iter_mut().enumerate().rev().find_map(|(place, block)| match block {
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
                        self.0.push(Block::Reasoning { text: String::new(), signature });
                    }
                }
            }
            Piece::Text(more) => match self.0.last_mut() {
                Some(Block::Text { text, .. }) => text.push_str(more),
                _ => {
                    self.0.push(Block::Text { apart: false, text: more.clone(), citations: Vec::new() });
                }
            },
            Piece::Paragraph => {
                self.0.push(Block::Text { apart: true, text: String::new(), citations: Vec::new() });
            }
            Piece::Citation(citation) => {
                let texts = self.0.iter_mut().rev().find_map(|block| match block {
                    Block::Text { citations, .. } => Some(citations),
                    _ => None,
                });
                if let Some(citations) = texts {
                    citations.push(citation.clone());
                }
            }
            Piece::Refusal(more) => match self.0.last_mut() {
                Some(Block::Refusal(text)) => text.push_str(more),
                _ => self.0.push(Block::Refusal(more.clone())),
            },
            Piece::Redacted(data) => self.0.push(Block::Redacted(data.clone())),
            Piece::Compaction(item) => self.0.push(Block::Compaction(item.clone())),
            Piece::Call { id, name, .. } => {
                let (id, name) = (id.clone(), name.clone());
                self.0.push(Block::Call { id, name, arguments: String::new(), whole: false });
            }
            Piece::Arguments { json, .. } => {
                if let Some(Block::Call { arguments, .. }) = self.0.last_mut() {
                    arguments.push_str(json);
                }
            }
            Piece::CallEnd { .. } => {
                if let Some(Block::Call { whole, .. }) = self.0.last_mut() {
                    *whole = true;
                }
            }
            Piece::Custom { id, name, input, .. } => {
                self.0.push(Block::Custom { id: id.clone(), name: name.clone(), input: input.clone() });
            }
        }
    }

    /// All of them, without calls that broke off.
    pub fn whole(&self) -> impl Iterator<Item = &Block> {
        self.0.iter().filter(|block| !matches!(block, Block::Call { whole: false, .. }))
    }

    /// Where its texts have something from.
    pub fn citations(&self) -> impl Iterator<Item = &Citation> {
        self.0.iter().flat_map(|block| match block {
            Block::Text { citations, .. } => citations.as_slice(),
            _ => &[],
        })
    }

    /// The message as a later request has it: what it refuses with is text there, for few servers read anything else.
    pub fn past(&self) -> Map<String, Value> {
        let mut message = self.message();
        refused::tell(&mut message);
        message
    }

    /// The message of a chat completion.
    pub fn message(&self) -> Map<String, Value> {
        let (mut content, mut reasoning, mut refusal) = (None::<String>, None::<String>, None::<String>);
        let mut calls = Vec::new();
        let mut thinking = Vec::new();
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
                Block::Redacted(data) => {
                    thinking.push(json!({"type": "redacted_thinking", "data": data}));
                }
                Block::Reasoning { text, signature } => {
                    reasoning.get_or_insert_default().push_str(text);
                    if let Some(signature) = signature {
                        thinking.push(json!({"type": "thinking", "thinking": text, "signature": signature}));
                    }
                }
                Block::Call { id, name, arguments, .. } => {
                    let (name, arguments) = (name.clone(), arguments.clone());
                    calls.push(call_json(id, &del_dialects::Call { id: None, name, arguments }));
                }
                Block::Custom { id, name, input } => {
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
        if let Some(reasoning) = reasoning {
            message.insert("reasoning_content".to_owned(), json!(reasoning));
        }
        if !thinking.is_empty() {
            message.insert("thinking_blocks".to_owned(), Value::Array(thinking));
        }
        if !calls.is_empty() {
            message.insert("tool_calls".to_owned(), Value::Array(calls));
        }
        message
    }
}

/// One server-sent event with a name.
pub(crate) fn named_event(name: &str, data: &Members, out: &mut Vec<u8>) {
    for part in ["event: ", name, "\ndata: "] {
        out.extend_from_slice(part.as_bytes());
    }
    data.write(out);
    out.extend_from_slice(b"\n\n");
}

/// What headers would say, as comments of a stream.
pub(crate) fn comments(remarks: &[(&str, String)], out: &mut Vec<u8>) {
    for (name, value) in remarks {
        out.extend_from_slice(format!(": {name}: {value}\n\n").as_bytes());
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
