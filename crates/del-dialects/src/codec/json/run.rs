//! Passing text on in slices, and the bytes that mean something in it.

use super::Emit;

pub(super) struct Run<'t, 'e> {
    pub(super) text: &'t str,
    pub(super) bytes: &'t [u8],
    pub(super) at: usize,
    /// The first byte that has not been passed on.
    pub(super) kept: usize,
    /// The first byte that may not be passed on yet, where the state holds something back.
    pub(super) hold: usize,
    pub(super) emit: Emit<'e>,
}

impl Run<'_, '_> {
    /// Passes on everything before `end`.
    pub(super) fn flush(&mut self, end: usize) {
        if self.kept < end {
            (self.emit)(&self.text[self.kept..end], self.kept..end);
            self.kept = end;
        }
    }

    /// Writes `json` before the byte at hand.
    pub(super) fn insert(&mut self, json: &str) {
        self.flush(self.at);
        (self.emit)(json, self.at..self.at);
    }

    /// Writes `json` for the bytes at hand.
    pub(super) fn replace(&mut self, json: &str, len: usize) {
        self.flush(self.at);
        (self.emit)(json, self.at..self.at + len);
        self.at += len;
        self.kept = self.at;
    }
}

/// How many bytes at the start are white space between tokens.
pub(crate) fn white_space(bytes: &[u8]) -> usize {
    bytes.iter().position(|byte| !matches!(byte, b' ' | b'\n' | b'\r' | b'\t')).unwrap_or(bytes.len())
}

/// How many bytes at the start mean nothing special in any string: no quote, no backslash, no control character.
pub(crate) fn plain(bytes: &[u8]) -> usize {
    const ONES: u64 = u64::from_ne_bytes([0x01; 8]);
    const HIGHS: u64 = u64::from_ne_bytes([0x80; 8]);
    let zero = |word: u64| word.wrapping_sub(ONES) & !word & HIGHS;
    let same = |word: u64, byte: u8| zero(word ^ u64::from_ne_bytes([byte; 8]));
    let mut at = 0;
    for chunk in bytes.chunks_exact(8) {
        let mut eight = [0; 8];
        eight.copy_from_slice(chunk);
        let word = u64::from_le_bytes(eight);
        let control = word.wrapping_sub(u64::from_ne_bytes([0x20; 8])) & !word & HIGHS;
        let special = control | same(word, b'"') | same(word, b'\\') | same(word, b'\'');
        if special != 0 {
            return at + (special.trailing_zeros() / 8) as usize;
        }
        at += 8;
    }
    let rest = &bytes[at..];
    at + rest.iter().position(|byte| matches!(byte, 0..=0x1f | b'"' | b'\\' | b'\'')).unwrap_or(rest.len())
}

/// The escapes of the control characters.
pub(crate) const ESCAPES: [&str; 32] = [
    "\\u0000", "\\u0001", "\\u0002", "\\u0003", "\\u0004", "\\u0005", "\\u0006", "\\u0007", "\\b", "\\t",
    "\\n", "\\u000b", "\\f", "\\r", "\\u000e", "\\u000f", "\\u0010", "\\u0011", "\\u0012", "\\u0013",
    "\\u0014", "\\u0015", "\\u0016", "\\u0017", "\\u0018", "\\u0019", "\\u001a", "\\u001b", "\\u001c",
    "\\u001d", "\\u001e", "\\u001f",
];
