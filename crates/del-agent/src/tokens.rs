//! How many tokens a text has, about. Only the server knows, and it counts only what it was sent.

use del_dialects::Tool;

use crate::history::{Entry, Thinking};

/// Tokens around a message.
const MESSAGE: u64 = 6;
/// Tokens of an image: models differ, from some dozen to a few thousand.
const IMAGE: u64 = 1000;

/// About as many tokens as a text has: four bytes of ASCII, or one character of anything else, are one.
pub fn of(text: &str) -> u64 {
    let ascii = text.bytes().filter(u8::is_ascii).count() as u64;
    let others = text.chars().filter(|c| !c.is_ascii()).count() as u64;
    ascii.div_ceil(4) + others
}

/// The tokens of a step of the conversation.
pub fn entry(entry: &Entry) -> u64 {
    let images = match entry {
        Entry::User { images, .. } | Entry::Added { images, .. } => images.len() as u64,
        _ => 0,
    };
    of_words(entry) + IMAGE * images
}

/// The tokens of a step of the conversation without its images, of which nobody can tell how many they are.
pub(crate) fn of_words(entry: &Entry) -> u64 {
    match entry {
        Entry::User { text, .. }
        | Entry::Added { text, .. }
        | Entry::Note { text }
        | Entry::Summary { text, .. } => of(text) + MESSAGE,
        Entry::Ran { command, output } => of(command) + of(output) + MESSAGE,
        Entry::Assistant { text, calls, thinking } => {
            let thought = |thinking: &Thinking| {
                of(&thinking.text) + thinking.blocks.iter().map(|block| of(&block.to_string())).sum::<u64>()
            };
            of(text)
                + MESSAGE
                + thinking.as_ref().map_or(0, thought)
                + calls.iter().map(|call| of(&call.name) + of(&call.arguments) + MESSAGE).sum::<u64>()
        }
        Entry::Results { results } => results.iter().map(|result| of(&result.text) + MESSAGE).sum(),
    }
}

/// The tokens of a tool's definition.
pub fn tool(tool: &Tool) -> u64 {
    of(&tool.name) + of(&tool.description) + of(&tool.parameters.to_string()) + MESSAGE
}
