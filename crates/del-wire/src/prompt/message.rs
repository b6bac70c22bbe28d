//! One message while it is written.

use std::borrow::Cow;

use serde_json::{Map, Value, json};

use super::{parts, text_of};
use crate::anthropic::plain;
use crate::own;

/// What a stretch of a prompt is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// What somebody said.
    Text,
    /// What the model is told of its tools.
    Definitions,
    /// Calls of the model.
    Calls,
    /// Results of calls.
    Results,
}

/// Members and content.
#[derive(Debug)]
pub(super) struct Message {
    /// The role, and what else is known of it.
    members: Map<String, Value>,
    pieces: Vec<Piece>,
}

#[derive(Debug)]
struct Piece {
    part: Part,
    /// Stands before a text that does not begin the content.
    before: String,
    /// A text, or a content part of another kind.
    body: Value,
}

impl Message {
    /// An empty message in this role.
    pub(super) fn of(role: &str) -> Self {
        Self { members: Map::from_iter([("role".to_owned(), json!(role))]), pieces: Vec::new() }
    }

    /// An empty message with these members but `without`.
    pub(super) fn with(members: &Map<String, Value>, without: &[&str]) -> Self {
        let kept = members.iter().filter(|(key, _)| !without.contains(&key.as_str()));
        Self { members: kept.map(|(key, value)| (key.clone(), value.clone())).collect(), pieces: Vec::new() }
    }

    pub(super) fn role(&self) -> &str {
        self.members.get("role").and_then(Value::as_str).unwrap_or_default()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.pieces.is_empty() && self.members.len() < 2
    }

    /// True when both are in one role, and nothing else is known of either.
    pub(super) fn is_alike(&self, other: &Self) -> bool {
        self.members.len() == 1 && self.members == other.members
    }

    /// Adds a text, if it is not empty.
    pub(super) fn add_text(&mut self, part: Part, before: &str, text: &str) {
        if !text.is_empty() {
            self.pieces.push(Piece { part, before: before.to_owned(), body: json!(text) });
        }
    }

    /// Adds a content part.
    pub(super) fn add_part(&mut self, part: Part, body: Value) {
        self.pieces.push(Piece { part, before: String::new(), body });
    }

    /// Adds the content of a message of the API, its texts changed by `change`.
    pub(super) fn add_content<'t>(
        &mut self,
        fields: &'t Map<String, Value>,
        change: impl Fn(&'t str) -> Cow<'t, str>,
    ) {
        if let Some(Value::String(text)) = fields.get("content") {
            self.add_text(Part::Text, "", &change(text));
        }
        for part in parts(fields) {
            let mut body = if part.is_string() { json!({"type": "text"}) } else { part.clone() };
            if let Some(text) = text_of(part) {
                body["text"] = json!(change(text));
                // What it was in another API says the same unchanged.
                if own::whole(part, plain::OWN).is_some() {
                    body.as_object_mut().and_then(|members| members.shift_remove(plain::OWN));
                }
            }
            self.add_part(Part::Text, body);
        }
    }

    /// What `other` holds, behind this.
    pub(super) fn append(&mut self, before: &str, other: Self) {
        for (place, mut piece) in other.pieces.into_iter().enumerate() {
            if place == 0 {
                before.clone_into(&mut piece.before);
            }
            self.pieces.push(piece);
        }
    }

    /// All its text.
    pub(super) fn text(&self) -> String {
        self.pieces.iter().filter_map(|piece| text_of(&piece.body)).collect()
    }

    /// The message as the API has it, or one part of it; nothing where there is nothing of that part.
    pub(super) fn into_json(self, part: Option<Part>) -> Option<Value> {
        let mut pieces = self.pieces;
        if let Some(part) = part {
            pieces.retain(|piece| piece.part == part);
            if pieces.is_empty() {
                return None;
            }
        }
        let mut list = pieces.iter().any(|piece| !piece.body.is_string()).then(Vec::new);
        let mut text = String::new();
        for Piece { before, body, .. } in pieces {
            match (body, &mut list) {
                (Value::String(more), _) => {
                    if !text.is_empty() {
                        text.push_str(&before);
                    }
                    text.push_str(&more);
                }
                (other, Some(list)) => {
                    push_text(list, &mut text);
                    list.push(other);
                }
                (_, None) => {}
            }
        }
        let content = match list {
            Some(mut list) => {
                push_text(&mut list, &mut text);
                Value::Array(list)
            }
            None => Value::String(text),
        };
        let mut members = self.members;
        members.insert("content".to_owned(), content);
        Some(Value::Object(members))
    }
}

fn push_text(list: &mut Vec<Value>, text: &mut String) {
    if !text.is_empty() {
        list.push(json!({"type": "text", "text": std::mem::take(text)}));
    }
}
