//! Code in the text.

/// Whether text is code: in a fence, or between backticks on one line.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Fence {
    pub(super) open: bool,
    /// The fence stands behind prose, and not behind nothing or another fence alone.
    pub(super) behind_prose: bool,
    pub(super) inline: bool,
    /// Backticks at the end of the text so far.
    run: u8,
}

impl Fence {
    pub(super) fn pass(&mut self, text: &[u8]) {
        let mut at = 0;
        while let Some(skip) = memchr::memchr(b'`', &text[at..]) {
            self.between(&text[at..at + skip]);
            at += skip + 1;
            self.run = self.run.saturating_add(1);
            match self.run {
                1 => self.inline = !self.inline,
                2 => self.inline = false,
                3 => self.open = !self.open,
                _ => {}
            }
        }
        self.between(&text[at..]);
    }

    fn between(&mut self, text: &[u8]) {
        if !text.is_empty() {
            self.behind_prose |= !self.open && !text.trim_ascii().is_empty();
            self.run = 0;
            self.inline = self.inline && memchr::memchr(b'\n', text).is_none();
        }
    }
}
