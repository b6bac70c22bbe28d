//! How much of a command is looked into for what is refused and forbidden. What ends it counts as not understood.

use crate::rough::{self, Rough};

/// Texts within texts are looked into so far.
const MAX_DEPTH: usize = 5;
/// Texts that are looked into in all.
const MAX_TEXTS: usize = 256;
/// Bytes of them.
const MAX_BYTES: usize = 512 * 1024;
/// Words that are looked at, one counted again for each place at which a command may begin.
const MAX_WORDS: usize = 1_000_000;

/// What is left to be looked at.
#[derive(Debug)]
pub(crate) struct Budget {
    texts: usize,
    bytes: usize,
    words: usize,
    whole: bool,
}

impl Budget {
    pub(crate) fn new() -> Self {
        Self { texts: MAX_TEXTS, bytes: MAX_BYTES, words: MAX_WORDS, whole: true }
    }

    /// The commands in a text that stands so deep in others; none where nothing is left for them.
    pub(crate) fn scan(&mut self, text: &str, depth: usize) -> Vec<Rough> {
        let left = self.texts.checked_sub(1).zip(self.bytes.checked_sub(text.len()));
        let Some((texts, bytes)) = left.filter(|_| depth <= MAX_DEPTH) else {
            self.whole = false;
            return Vec::new();
        };
        (self.texts, self.bytes) = (texts, bytes);
        let scanned = rough::scan(text);
        self.whole &= scanned.whole;
        scanned.commands
    }

    /// Whether so many words may be looked at once more.
    pub(crate) fn spend(&mut self, words: usize) -> bool {
        let left = self.words.checked_sub(words);
        self.words = left.unwrap_or(self.words);
        self.whole &= left.is_some();
        left.is_some()
    }

    /// Something is left out.
    pub(crate) fn cut(&mut self) {
        self.whole = false;
    }

    /// Whether nothing was left out.
    pub(crate) fn is_whole(&self) -> bool {
        self.whole
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_ends_it_is_remembered() {
        let mut budget = Budget::new();
        assert_eq!(budget.scan("ls; rm x", 0).len(), 2);
        assert!(budget.is_whole());
        assert!(budget.scan("ls", MAX_DEPTH + 1).is_empty() && !budget.is_whole());
        let mut budget = Budget::new();
        let many = (0..=MAX_TEXTS).filter(|_| !budget.scan("ls", 0).is_empty()).count();
        assert_eq!((many, budget.is_whole()), (MAX_TEXTS, false));
        let mut budget = Budget::new();
        assert!(budget.spend(MAX_WORDS) && budget.is_whole());
        assert!(!budget.spend(1) && !budget.is_whole());
        let mut budget = Budget::new();
        budget.cut();
        assert!(budget.spend(MAX_WORDS), "what is left does not depend on what was left out");
    }
}
