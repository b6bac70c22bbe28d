//! What a response has said and thought so far: in messages and thoughts of their own, each of which is a paragraph of its
//! own, and with places in the text that count from the beginning of all of it.

use serde_json::Value;

use crate::chunk::{Delta, GAP};
use crate::citation::{self, Citation};

/// What was said and thought so far.
#[derive(Debug, Default)]
pub(super) struct Said {
    /// Characters of text so far, and up to the part that is under way.
    length: u64,
    before: u64,
    /// The message whose text came last, and whether the next piece of text begins another one.
    message: Option<u32>,
    begins: bool,
    /// Something was thought, and the item and the part of it that came last.
    thought: bool,
    part: Option<(u32, u32)>,
}

impl Said {
    /// A piece of the text of this message.
    pub(super) fn says(&mut self, message: u32, text: Option<String>) -> Delta {
        let Some(text) = text.filter(|text| !text.is_empty()) else { return Delta::default() };
        self.goes_on_in(message);
        self.length += citation::length(&text);
        let gap = std::mem::take(&mut self.begins);
        Delta { content: Some(behind(gap, text)), gap, ..Delta::default() }
    }

    /// A piece of a part of a thought.
    pub(super) fn thinks(&mut self, item: u32, part: u32, text: Option<String>) -> Delta {
        let Some(text) = text.filter(|text| !text.is_empty()) else { return Delta::default() };
        let other = self.part.replace((item, part)) != Some((item, part));
        let gap = std::mem::replace(&mut self.thought, true) && other;
        Delta { reasoning: Some(behind(gap, text)), gap, ..Delta::default() }
    }

    /// An item begins. Where servers number none, only this tells it from the one before.
    pub(super) fn begins_item(&mut self) {
        (self.message, self.part) = (None, None);
    }

    /// A part of the text of this message begins.
    pub(super) fn begins_part(&mut self, message: u32) {
        self.goes_on_in(message);
        self.before = self.length;
    }

    /// A citation of the part that is under way.
    pub(super) fn cites(&self, json: Value) -> Citation {
        Citation::of_response(json, self.before)
    }

    /// Where the text of the last message begins, which has so many characters.
    pub(super) fn begin_of_last(&self, length: u64) -> u64 {
        self.length.saturating_sub(length)
    }

    /// What comes next is text of this message.
    fn goes_on_in(&mut self, message: u32) {
        if self.message.replace(message) != Some(message) && self.length > 0 && !self.begins {
            self.begins = true;
            self.length += citation::length(GAP);
        }
    }
}

/// A text, which stands behind a gap or not.
fn behind(gap: bool, text: String) -> String {
    if gap { GAP.to_owned() + &text } else { text }
}
