//! The conversation, and how it is told to the model.

use del_dialects::{Call, CallResult};
use del_wire::{ChatMessage, Prompt};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::prompt;

/// A step of the conversation. What the model thought is kept only where its server wants it back, and the markup of its
/// calls not at all: calls are told to it in one canonical form.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "type")]
pub enum Entry {
    /// The user asked.
    User {
        /// What.
        text: String,
        /// Images that go along.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        images: Vec<Image>,
    },
    /// The user said more while the model worked on what was asked.
    Added {
        /// What.
        text: String,
        /// Images that go along.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        images: Vec<Image>,
    },
    /// The user ran a command, which the model had no part in.
    Ran {
        /// The command.
        command: String,
        /// What came of it, as the model would be told of a call.
        output: String,
    },
    /// The model answered.
    Assistant {
        /// Its text.
        text: String,
        /// Its calls, each with an id.
        calls: Vec<Call>,
        /// What it thought before.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        thinking: Option<Thinking>,
    },
    /// The calls were run.
    Results {
        /// One for each call, in order.
        results: Vec<CallResult>,
    },
    /// What stands in place of all that came before it.
    Summary {
        /// The summary.
        text: String,
        /// In hybrid mode, the tools that the model had the definitions of.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        defined: Vec<String>,
    },
    /// The agent tells the model something.
    Note {
        /// What.
        text: String,
    },
}

/// What a model thought, as its server wants it back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Thinking {
    /// Which API and model it is of.
    pub by: String,
    /// Blocks with the server's seal; they go back with the whole conversation.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub blocks: Vec<Value>,
    /// The thought itself, which goes back until the question is answered.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub text: String,
}

/// An image that goes along with a question.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Image {
    /// `image/png`
    pub media_type: String,
    /// Its bytes in Base64.
    pub data: String,
}

impl Image {
    /// An image of these bytes, which are in Base64 already.
    pub fn new(media_type: impl Into<String>, data: String) -> Self {
        Self { media_type: media_type.into(), data }
    }

    /// The part of a message that it is.
    fn part(&self) -> Value {
        let url = format!("data:{};base64,{}", self.media_type, self.data);
        json!({"type": "image_url", "image_url": {"url": url}})
    }
}

impl Entry {
    /// What the user asks.
    pub fn user(text: impl Into<String>) -> Self {
        Self::User { text: text.into(), images: Vec::new() }
    }
}

/// A question with images, as the API has it.
fn with_images(text: &str, images: &[Image]) -> Value {
    // Some servers refuse an empty text.
    let text = (!text.is_empty()).then(|| json!({"type": "text", "text": text}));
    let parts: Vec<Value> = text.into_iter().chain(images.iter().map(Image::part)).collect();
    json!({"role": "user", "content": parts})
}

/// The conversation through the API's own shapes; `thinker` gets its own thoughts back.
pub(crate) fn native(system: &str, entries: &[Entry], thinker: &str) -> Vec<ChatMessage> {
    let mut messages = Messages::new(system);
    let question = entries.iter().rposition(|entry| matches!(entry, Entry::User { .. })).unwrap_or(0);
    for (place, entry) in entries.iter().enumerate() {
        match entry {
            Entry::User { text, images } | Entry::Added { text, images } if !images.is_empty() => {
                messages.seen(text, images);
            }
            Entry::User { text, .. }
            | Entry::Added { text, .. }
            | Entry::Note { text }
            | Entry::Summary { text, .. } => messages.user(text),
            Entry::Ran { command, output } => messages.user(&prompt::ran(command, output)),
            Entry::Assistant { text, calls, thinking } => {
                messages.assistant(text, calls);
                if let Some(thinking) = thinking.as_ref().filter(|thinking| thinking.by == thinker) {
                    messages.thought(thinking, place > question);
                }
            }
            Entry::Results { results } => {
                messages.list.extend(results.iter().cloned().map(ChatMessage::Result));
            }
        }
    }
    messages.list
}

/// The conversation as text in the dialect of `prompt`.
pub(crate) fn written(system: &str, entries: &[Entry], mut out: Prompt<'_>) -> Vec<ChatMessage> {
    out.system(system.trim());
    for entry in entries {
        match entry {
            Entry::User { text, images } | Entry::Added { text, images } if !images.is_empty() => {
                // A message of this form is always read.
                let _ = out.read(&[with_images(text, images)]);
            }
            Entry::User { text, .. } | Entry::Added { text, .. } | Entry::Summary { text, .. } => {
                out.user(text);
            }
            Entry::Ran { command, output } => out.user(&prompt::ran(command, output)),
            Entry::Note { text } => out.note(text),
            Entry::Assistant { text, calls, .. } => out.assistant(text, calls),
            Entry::Results { results } => out.results(results),
        }
    }
    out.into_messages().into_iter().map(ChatMessage::Json).collect()
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
        match self.list.last_mut() {
            Some(ChatMessage::User(last)) => {
                last.push_str("\n\n");
                last.push_str(text);
            }
            // A question with images.
            Some(ChatMessage::Json(last)) if last["role"] == "user" => {
                last["content"]
                    .as_array_mut()
                    .into_iter()
                    .for_each(|parts| parts.push(json!({"type": "text", "text": text})));
            }
            _ => self.list.push(ChatMessage::User(text.to_owned())),
        }
    }

    fn seen(&mut self, text: &str, images: &[Image]) {
        let before = match self.list.last() {
            Some(ChatMessage::User(last)) => Some(last.clone()),
            _ => None,
        };
        let text = match before {
            Some(before) => {
                self.list.pop();
                format!("{before}\n\n{text}")
            }
            None => text.to_owned(),
        };
        self.list.push(ChatMessage::Json(with_images(&text, images)));
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

    /// What the model thought before what it said last.
    fn thought(&mut self, thinking: &Thinking, recently: bool) {
        let Some(last) = self.list.last_mut().filter(|last| matches!(last, ChatMessage::Assistant { .. }))
        else {
            return;
        };
        let mut message = last.to_json();
        if !thinking.blocks.is_empty() {
            message["thinking_blocks"] = json!(thinking.blocks);
        }
        if recently && !thinking.text.is_empty() {
            message["reasoning_content"] = json!(thinking.text);
        }
        *last = ChatMessage::Json(message);
    }
}
