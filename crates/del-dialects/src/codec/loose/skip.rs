//! The end of arguments that cannot be read.

/// Finds where the brackets of a broken call are closed, so that the calls behind it can be read.
#[derive(Debug, Default)]
pub(crate) struct Skip {
    depth: usize,
    quote: Option<u8>,
    escaped: bool,
}

impl Skip {
    /// So many brackets are open; perhaps a text in this quote, or a bare word.
    pub(super) fn new(depth: usize, quote: Option<u8>, word: &str) -> Self {
        let mut skip = Self { depth, quote, escaped: false };
        skip.read(word.as_bytes());
        skip
    }

    /// Reads on; where the last bracket is closed, if it is.
    pub(crate) fn read(&mut self, bytes: &[u8]) -> Option<usize> {
        for (at, &byte) in bytes.iter().enumerate() {
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
