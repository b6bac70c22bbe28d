//! Prompts with tools and without, which show how a template tells the model of them.

use del_dialects::Tool;

use super::{Message, Probe, Style};

/// A template's prompts with tools and without, from the same conversation.
#[derive(Debug, Clone, Default)]
pub(crate) struct Introduction {
    /// Without tools.
    pub(crate) plain: String,
    /// With the first of the lists, and without a system message.
    pub(crate) alone: String,
    /// Lists of tools, each with the prompt that shows it. Two tell the words from what is said of the tools.
    pub(crate) shown: Vec<(Vec<Tool>, String)>,
}

impl Probe<'_> {
    /// Prompts behind a system message, where the template takes one: without it, some write one of their own.
    pub(super) fn look_at_instructions(&mut self) {
        let given = self.style;
        let mut introduction = Introduction::default();
        for system in [true, false] {
            let messages: &[Message] =
                if system { &[Message::system(), Message::user()] } else { &[Message::user()] };
            self.style = Style { tools: false, ..given };
            let Ok(plain) = self.text(messages, true) else { continue };
            introduction.plain = plain;
            for single in [false, true] {
                // Uncommon types may be spelt in another way; the words around are the same.
                self.style = Style { simple: true, single, ..given };
                if let Ok(text) = self.text(messages, true) {
                    introduction.shown.push((self.style.told(), text));
                }
            }
            break;
        }
        self.style = Style { simple: true, ..given };
        introduction.alone = self.text(&[Message::user()], true).unwrap_or_default();
        self.style = given;
        self.findings.introduction = introduction;
    }
}
