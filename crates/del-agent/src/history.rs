//! The conversation, and how it is told to the model.

use std::borrow::Cow;
use std::sync::Arc;

use del_dialects::{Call, CallResult, Dialect, Dialects, Tool};
use del_wire::ChatMessage;
use serde::{Deserialize, Serialize};

/// A step of the conversation. What the model thought is not kept, nor is the markup of its calls: calls are told
/// to it in one canonical form.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "type")]
pub enum Entry {
    /// The user asked.
    User {
        /// What.
        text: String,
    },
    /// The model answered.
    Assistant {
        /// Its text.
        text: String,
        /// Its calls, each with an id.
        calls: Vec<Call>,
    },
    /// The calls were run.
    Results {
        /// One for each call, in order.
        results: Vec<CallResult>,
    },
    /// The agent tells the model something.
    Note {
        /// What.
        text: String,
    },
}

/// The conversation through the API's own shapes.
pub(crate) fn native(system: &str, entries: &[Entry]) -> Vec<ChatMessage> {
    let mut messages = Messages::new(system);
    for entry in entries {
        match entry {
            Entry::User { text } | Entry::Note { text } => messages.user(text),
            Entry::Assistant { text, calls } => messages.assistant(text, calls),
            Entry::Results { results } => {
                messages.list.extend(results.iter().cloned().map(ChatMessage::Result));
            }
        }
    }
    messages.list
}

/// The conversation as text in a dialect. Results go in the user's role: every template and server takes that, while
/// messages of other roles are refused by some and wrapped in markup of their own by others. What users and tools say
/// is neutralised. With `remind`, results are followed by the question that they are for.
pub(crate) fn written(
    system: &str,
    entries: &[Entry],
    dialect: &Arc<Dialect>,
    tools: &[Tool],
    remind: bool,
) -> Vec<ChatMessage> {
    let mut messages = Messages::new(system);
    let marks = Dialects::builtin();
    let mut question = Cow::Borrowed("");
    for entry in entries {
        match entry {
            Entry::User { text } => {
                question = marks.neutralise(text);
                messages.user(&question);
            }
            Entry::Note { text } => messages.user(text),
            Entry::Assistant { text, calls } => {
                messages.assistant(&with_calls(text, calls, dialect, tools), &[]);
            }
            Entry::Results { results } => {
                messages.user(&dialect.render_results(results));
                if remind {
                    messages.user(&reminder(&question));
                }
            }
        }
    }
    messages.list
}

/// Text and calls in the dialect; a call that the dialect cannot write is told in plain words.
fn with_calls(text: &str, calls: &[Call], dialect: &Arc<Dialect>, tools: &[Tool]) -> String {
    if calls.is_empty() {
        return text.to_owned();
    }
    let written = dialect.render_calls(calls, tools).unwrap_or_else(|_| {
        let told: Vec<String> =
            calls.iter().map(|call| format!("(I called {} with {}.)", call.name, call.arguments)).collect();
        told.join("\n")
    });
    if text.is_empty() {
        return written;
    }
    let lead = if dialect.lead.is_empty() { "\n" } else { &dialect.lead };
    format!("{text}{lead}{written}")
}

/// A small model forgets what it was asked when a long result stands between.
fn reminder(question: &str) -> String {
    const LONGEST: usize = 500;
    if question.is_empty() || question.len() > LONGEST {
        "Use the text above to answer in plain words.".to_owned()
    } else {
        format!("Use the text above to answer in plain words: {question}")
    }
}

/// Messages as templates want them: one system message and that first, no empty ones, never two of the user or two
/// texts of the model in a row.
struct Messages {
    list: Vec<ChatMessage>,
}

impl Messages {
    fn new(system: &str) -> Self {
        let list = if system.is_empty() { Vec::new() } else { vec![ChatMessage::System(system.to_owned())] };
        Self { list }
    }

    fn user(&mut self, text: &str) {
        if let Some(ChatMessage::User(last)) = self.list.last_mut() {
            last.push_str("\n\n");
            last.push_str(text);
        } else {
            self.list.push(ChatMessage::User(text.to_owned()));
        }
    }

    fn assistant(&mut self, text: &str, calls: &[Call]) {
        if text.is_empty() && calls.is_empty() {
            return;
        }
        match self.list.last_mut() {
            Some(ChatMessage::Assistant { text: last, calls: before }) if before.is_empty() => {
                last.push_str("\n\n");
                last.push_str(text);
                before.extend_from_slice(calls);
            }
            _ => self.list.push(ChatMessage::Assistant { text: text.to_owned(), calls: calls.to_vec() }),
        }
    }
}
