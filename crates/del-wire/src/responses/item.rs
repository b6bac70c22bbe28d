//! One item of a response.

use serde_json::Value;

use crate::chunk::GAP;
use crate::citation;
use crate::members::Members;
use crate::responses::namespace::Namespaces;
use crate::told::{Block, UNSEALED};

/// An item on its way, or whole.
#[derive(Debug)]
pub(super) struct Item {
    pub(super) id: String,
    pub(super) block: Block,
    /// The answer ended in the middle of it.
    pub(super) cut: bool,
    /// How likely the tokens of its text were.
    pub(super) logprobs: Vec<Value>,
    /// So many characters of the response's text stand before it.
    pub(super) before: u64,
    /// That of the tool, which is named without it.
    pub(super) namespace: Option<String>,
    /// It is a thought of which a summary is told.
    pub(super) summary: bool,
}

impl Item {
    /// Nothing of it yet, behind these items of the response with this id.
    pub(super) fn new(response: &str, before: &[Self], block: Block) -> Self {
        let kind = match block {
            Block::Text { .. } | Block::Refusal(_) => "msg",
            Block::Reasoning { .. } | Block::Redacted(_) => "rs",
            Block::Call { .. } => "fc",
            Block::Custom { .. } => "ctc",
            Block::Compaction(_) => "cmp",
        };
        let id = format!("{kind}_{}_{}", response.trim_start_matches("resp_"), before.len());
        let of_others = before.iter().map(|item| match &item.block {
            Block::Text { text, .. } => gap(&item.block) + citation::length(text),
            _ => 0,
        });
        let before = of_others.sum::<u64>() + gap(&block);
        Self { id, block, cut: false, logprobs: Vec::new(), before, namespace: None, summary: false }
    }

    /// Names the tool of a call as the client does.
    #[must_use]
    pub(super) fn named_in(mut self, namespaces: &Namespaces) -> Self {
        if let Block::Call { name, .. } | Block::Custom { name, .. } = &mut self.block
            && let Some([space, inner]) = namespaces.split(name)
        {
            self.namespace = Some(space.clone());
            name.clone_from(inner);
        }
        self
    }

    /// The same, where thoughts are summaries or not.
    #[must_use]
    pub(super) fn summing_up(mut self, summary: bool) -> Self {
        self.summary = summary && matches!(self.block, Block::Reasoning { .. });
        self
    }

    /// The member that has the number of a part, and what the events about parts are called.
    pub(super) fn parts(&self) -> (&'static str, &'static str) {
        if self.summary {
            ("summary_index", "response.reasoning_summary_part")
        } else {
            ("content_index", "response.content_part")
        }
    }

    /// What the events with the text of a thought are called.
    pub(super) fn thoughts(&self) -> &'static str {
        if self.summary { "response.reasoning_summary_text" } else { "response.reasoning_text" }
    }

    /// It is a call that broke off.
    pub(super) fn is_broken(&self) -> bool {
        self.block.is_broken()
    }

    /// As it begins.
    pub(super) fn begun(&self) -> Members {
        self.json(true, false)
    }

    /// As it is. Seals on thoughts are told to clients that want them alone.
    pub(super) fn ended(&self, sealed: bool) -> Members {
        self.json(false, sealed)
    }

    /// The part of its content, where it has one; empty as it begins.
    pub(super) fn part(&self, begun: bool) -> Option<Members> {
        let mut part = Members::default();
        match &self.block {
            Block::Text { text, citations, .. } => {
                part.add_text("type", "output_text");
                part.add_text("text", so_far(begun, text));
                let cited = citations.iter().filter(|_| !begun);
                let cited: Vec<Value> = cited.filter_map(|cited| cited.for_response(self.before)).collect();
                part.add_value("annotations", &cited);
                let logprobs = if begun { &[] } else { self.logprobs.as_slice() };
                part.add_value("logprobs", &logprobs);
            }
            Block::Refusal(text) => {
                part.add_text("type", "refusal");
                part.add_text("refusal", so_far(begun, text));
            }
            Block::Reasoning { text, .. } if begun || !text.is_empty() => {
                part.add_text("type", if self.summary { "summary_text" } else { "reasoning_text" });
                part.add_text("text", so_far(begun, text));
            }
            _ => return None,
        }
        Some(part)
    }

    fn json(&self, begun: bool, sealed: bool) -> Members {
        if let Block::Compaction(given) = &self.block {
            let mut item = Members::default();
            item.add_text("id", &self.id);
            let given = given.as_object().into_iter().flatten().filter(|(name, _)| *name != "id");
            given.for_each(|(name, value)| item.add_value(name, value));
            return item;
        }
        let status = match self.block {
            _ if begun => "in_progress",
            _ if self.is_broken() => "incomplete",
            Block::Call { .. } | Block::Custom { .. } => "completed",
            _ if self.cut => "incomplete",
            _ => "completed",
        };
        let content = self.part(false).filter(|_| !begun);
        let mut item = Members::default();
        item.add_text("id", &self.id);
        let kind = match &self.block {
            Block::Text { .. } | Block::Refusal(_) => "message",
            Block::Reasoning { .. } | Block::Redacted(_) => "reasoning",
            Block::Call { .. } => "function_call",
            Block::Custom { .. } => "custom_tool_call",
            Block::Compaction(_) => "compaction",
        };
        item.add_text("type", kind);
        item.add_text("status", status);
        match &self.block {
            Block::Text { .. } | Block::Refusal(_) => {
                item.add_text("role", "assistant");
                item.add_list("content", content);
            }
            Block::Compaction(_) => {}
            Block::Redacted(_) => {
                item.add("summary", "[]");
                item.add("content", "[]");
            }
            Block::Reasoning { signature, .. } => {
                let (summary, content) = if self.summary { (content, None) } else { (None, content) };
                item.add_list("summary", summary);
                item.add_list("content", content);
                if sealed {
                    item.add_text("encrypted_content", signature.as_deref().unwrap_or(UNSEALED));
                }
            }
            Block::Call { id, name, arguments, .. } => {
                item.add_text("call_id", id);
                item.add_text("name", name);
                item.add_text("arguments", so_far(begun, arguments));
                if let Some(space) = &self.namespace {
                    item.add_text("namespace", space);
                }
            }
            Block::Custom { id, name, input, .. } => {
                item.add_text("call_id", id);
                item.add_text("name", name);
                item.add_text("input", so_far(begun, input));
                if let Some(space) = &self.namespace {
                    item.add_text("namespace", space);
                }
            }
        }
        item
    }
}

/// How many characters stand before a text that is a paragraph of its own.
fn gap(block: &Block) -> u64 {
    if matches!(block, Block::Text { apart: true, .. }) { citation::length(GAP) } else { 0 }
}

/// The text of an item, which is empty as that begins.
fn so_far(begun: bool, text: &str) -> &str {
    if begun { "" } else { text }
}
