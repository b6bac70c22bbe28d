//! Code in the text.

/// Whether text is code: in a fence, or between backticks on one line.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Fence {
    pub(super) open: bool,
    /// The fence stands behind prose, and not behind nothing or another fence alone.
    pub(super) behind_prose: bool,
    pub(super) inline: bool,
    /// The open fence is one of tildes.
    tildes: bool,
    /// Backticks or tildes at the end of the text so far, and which they are.
    run: u8,
    of: u8,
    /// Something else stands on the line.
    in_line: bool,
}

impl Fence {
    pub(super) fn pass(&mut self, text: &[u8]) {
        let mut at = 0;
        while let Some(skip) = memchr::memchr2(b'`', b'~', &text[at..]) {
            self.between(&text[at..at + skip]);
            let byte = text[at + skip];
            at += skip + 1;
            self.run = if byte == self.of { self.run.saturating_add(1) } else { 1 };
            self.of = byte;
            let tilde = byte == b'~';
            // A fence is closed by what opened it.
            if tilde == self.tildes || !self.open {
                match self.run {
                    1 if !tilde => self.inline = !self.inline,
                    2 if !tilde => self.inline = false,
                    3 if !tilde || !self.in_line => {
                        self.open = !self.open;
                        self.tildes = self.open && tilde;
                    }
                    _ => {}
                }
            }
            self.in_line |= !tilde;
        }
        self.between(&text[at..]);
    }

    fn between(&mut self, text: &[u8]) {
        if !text.is_empty() {
            self.behind_prose |= !self.open && !text.trim_ascii().is_empty();
            self.run = 0;
            self.in_line = !text.ends_with(b"\n");
            self.inline = self.inline && memchr::memchr(b'\n', text).is_none();
        }
    }
}
