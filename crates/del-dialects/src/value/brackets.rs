//! Where a value ends, by its brackets and quotes alone.

/// Follows the brackets and quotes of one value through any number of pieces, without reading it.
#[derive(Debug, Clone, Default)]
pub struct Brackets {
    depth: usize,
    quote: Option<u8>,
    escaped: bool,
}

impl Brackets {
    /// Inside a value of which so many brackets are open; perhaps in a text in this quote.
    pub(super) fn within(depth: usize, quote: Option<u8>) -> Self {
        Self { depth, quote, escaped: false }
    }

    /// Follows `text`; where the outermost bracket closes, the number of bytes up to behind it. What stands behind it is
    /// not looked at.
    pub fn follow(&mut self, text: &[u8]) -> Option<usize> {
        for (at, &byte) in text.iter().enumerate() {
            match (self.quote, byte) {
                _ if self.escaped => self.escaped = false,
                (Some(_), b'\\') => self.escaped = true,
                (Some(quote), _) if byte == quote => self.quote = None,
                (Some(_), _) => {}
                (None, b'\'' | b'"') => self.quote = Some(byte),
                (None, b'(' | b'[' | b'{') => self.depth += 1,
                (None, b')' | b']' | b'}') => {
                    self.depth = self.depth.saturating_sub(1);
                    if self.depth == 0 {
                        return Some(at + 1);
                    }
                }
                _ => {}
            }
        }
        None
    }
}
