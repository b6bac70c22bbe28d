//! A text in place of the arguments: a command, or the input of a tool with one parameter. It ends at its closer, at the
//! next line of its form, or with the answer.

use crate::codec::reading::MAX_SPACE;

/// What went out of such a text.
#[derive(Debug, Default, Clone)]
pub(super) struct Sole {
    begun: bool,
    /// What may be its end stands in it.
    odd: bool,
    /// So many code fences are open in it.
    fences: usize,
}

impl Sole {
    /// A part of it goes out. Its closers begin so, where it may end without one.
    pub(super) fn pass(&mut self, text: &str, closers: Option<&[String]>) {
        self.begun |= !text.is_empty();
        self.odd |= closers.is_some_and(|closers| {
            text.contains('\n') || closers.iter().any(|begin| text.contains(begin.as_str()))
        });
    }

    /// True where only the end of the answer ends it and something in it may have been meant to.
    pub(super) fn is_odd(&self) -> bool {
        self.odd
    }

    /// Whether this closer, with `behind` it what follows, is a fence inside the text; none where that may still come. A fence
    /// closes one of the text's own, opens another where a word follows, and stands on a line of its own.
    pub(super) fn holds(&mut self, closer: &str, behind: &str) -> Option<bool> {
        if !closer.ends_with('`') {
            return Some(false);
        }
        let inside = if self.begun && !closer.starts_with('\n') {
            true
        } else {
            let opens = behind.bytes().next()?.is_ascii_alphanumeric();
            let closes = !opens && self.fences > 0;
            self.fences = self.fences + usize::from(opens) - usize::from(closes);
            opens || closes
        };
        self.odd |= inside;
        Some(inside)
    }
}

/// How many bytes of white space a text ends in, as far as they are held.
pub(super) fn trailing_space(text: &str) -> usize {
    let held = text.len().saturating_sub(MAX_SPACE);
    text.len() - text.trim_end_matches(|c: char| c.is_ascii_whitespace()).len().max(held)
}
