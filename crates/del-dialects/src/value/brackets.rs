//! Where a value ends, by its brackets and quotes alone.

/// Follows the brackets and quotes of one value through any number of pieces, without reading it. As where it is read, a
/// bracket that closes one closes all that are still open in it, and one that closes none means nothing.
#[derive(Debug, Clone, Default)]
pub struct Brackets {
    /// What closes the open ones; a NUL where anything does.
    open: Vec<u8>,
    quote: Option<u8>,
    escaped: bool,
}

impl Brackets {
    /// Inside a value of which so many brackets are open; perhaps in a text in this quote.
    pub(super) fn within(depth: usize, quote: Option<u8>) -> Self {
        Self { open: vec![0; depth], quote, escaped: false }
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
                (None, b'(') => self.open.push(b')'),
                (None, b'[') => self.open.push(b']'),
                (None, b'{') => self.open.push(b'}'),
                (None, b')' | b']' | b'}') => {
                    let closed = self.open.iter().rposition(|closer| *closer == byte || *closer == 0);
                    self.open.truncate(closed.unwrap_or(self.open.len()));
                    if self.open.is_empty() {
                        return Some(at + 1);
                    }
                }
                _ => {}
            }
        }
        None
    }
}
