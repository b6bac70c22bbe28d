//! Long pastes: a word stands for each in the line, and the question has them whole.

use std::sync::{Arc, Mutex, PoisonError};

/// The pastes of a conversation, for whoever reads keys.
#[derive(Debug, Clone, Default)]
pub(crate) struct Pastes(Arc<Mutex<Vec<String>>>);

/// A paste of more lines or bytes than this is folded.
const LINES: usize = 8;
const BYTES: usize = 2000;

impl Pastes {
    /// What stands in the line for this text.
    pub(crate) fn fold(&self, text: &str) -> String {
        // Terminals paste the ends of lines as they were, or as the key.
        let text = text.replace("\r\n", "\n").replace('\r', "\n");
        // A row that ends with `\` would lose it in the line, where it says that the line goes on.
        if text.lines().count() <= LINES && text.len() <= BYTES && !text.contains("\\\n") {
            return text;
        }
        let mut texts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        texts.push(text);
        texts.last().map_or_else(String::new, |text| name(texts.len(), text))
    }

    /// The line with what was pasted in its place. What is left of a word that was changed stays as it is.
    pub(crate) fn unfold(&self, line: &str) -> String {
        let mut line = line.to_owned();
        for (place, text) in self.0.lock().unwrap_or_else(PoisonError::into_inner).iter().enumerate() {
            line = line.replace(&name(place + 1, text), text);
        }
        line
    }
}

fn name(number: usize, text: &str) -> String {
    match text.lines().count() {
        1 => format!("[paste {number}: {} bytes]", text.len()),
        lines => format!("[paste {number}: {lines} lines]"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_paste_is_a_word_in_the_line_and_whole_in_the_question() {
        let pastes = Pastes::default();
        assert_eq!(pastes.fold("two\r\nlines\rand a third"), "two\nlines\nand a third");
        let long = "a line\n".repeat(10_000);
        let line = format!("look: {} and more", pastes.fold(&long));
        assert_eq!(line, "look: [paste 1: 10000 lines] and more");
        assert_eq!(pastes.unfold(&line), format!("look: {long} and more"));
        let command = "cargo test \\\n  --locked";
        assert_eq!(pastes.unfold(&pastes.fold(command).replace("\\\n", "\n")), command);
        let wide = "x".repeat(3000);
        assert_eq!(pastes.fold(&wide), "[paste 3: 3000 bytes]");
        assert_eq!(pastes.unfold("[paste 3: 3000 bytes]"), wide);
    }
}
