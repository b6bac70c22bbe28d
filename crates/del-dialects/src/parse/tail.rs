//! The last bytes before the held text.

/// So far back text is looked at again, in bytes.
pub(super) const REACH: usize = 64;

/// The last bytes of a text that goes by in pieces. Before its beginning there are line feeds.
#[derive(Debug, Clone, Copy)]
pub(super) struct Tail {
    /// The last bytes, somewhere inside, so that few pieces have to move them.
    bytes: [u8; 2 * REACH],
    end: usize,
}

impl Default for Tail {
    fn default() -> Self {
        Self { bytes: [b'\n'; 2 * REACH], end: REACH }
    }
}

impl Tail {
    /// The text goes on with `piece`.
    pub(super) fn push(&mut self, piece: &[u8]) {
        let new = &piece[piece.len().saturating_sub(REACH)..];
        if self.end + new.len() > self.bytes.len() {
            self.bytes.copy_within(self.end - REACH..self.end, 0);
            self.end = REACH;
        }
        self.bytes[self.end..self.end + new.len()].copy_from_slice(new);
        self.end += new.len();
    }

    /// The byte that stands `back` bytes before the end; 1 is the last.
    pub(super) fn byte(&self, back: usize) -> u8 {
        self.bytes[self.end - back]
    }

    /// The last bytes.
    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes[self.end - REACH..self.end]
    }
}

/// So many blanks may indent a line.
const MAX_INDENT: usize = 16;

/// The byte that stands `back` bytes before `at` in a text that `tail` stands before.
pub(super) fn byte_before(text: &[u8], tail: &Tail, at: usize, back: usize) -> u8 {
    match at.checked_sub(back) {
        Some(at) => text[at],
        None => tail.byte(back - at),
    }
}

/// The two bytes before `at` in a text that `tail` stands before; those that indent its line are passed over.
pub(super) fn before(text: &[u8], tail: &Tail, at: usize) -> [u8; 2] {
    let byte = |back| byte_before(text, tail, at, back);
    let blanks = (1..=MAX_INDENT).take_while(|back| matches!(byte(*back), b' ' | b'\t')).count();
    let indent = if byte(blanks + 1) == b'\n' { blanks } else { 0 };
    [byte(indent + 2), byte(indent + 1)]
}
