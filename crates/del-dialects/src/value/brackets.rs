//! Where a value ends, by its brackets and quotes alone.

/// Follows the brackets and quotes of one value through any number of pieces, without reading it. As where it is read, a
/// bracket that closes one closes all that are still open in it, and one that closes none means nothing.
#[derive(Debug, Clone, Default)]
pub struct Brackets {
    /// The kinds of the open ones.
    open: Vec<u8>,
    /// How many there are of each kind.
    counts: [usize; 4],
    /// More that are open inside these, of whatever kind.
    deeper: usize,
    quote: Option<u8>,
    escaped: bool,
}

const ROUND: u8 = 0;
const SQUARE: u8 = 1;
const CURLY: u8 = 2;
/// One that any bracket closes.
const ANY: u8 = 3;
/// Of so many it is known which kind they are.
const MAX_KNOWN: usize = 1 << 16;

impl Brackets {
    /// Inside a value of which so many brackets are open; perhaps in a text in this quote.
    pub(super) fn within(depth: usize, quote: Option<u8>) -> Self {
        Self { open: vec![ANY; depth], counts: [0, 0, 0, depth], quote, ..Self::default() }
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
                (None, b'(') => self.open(ROUND),
                (None, b'[') => self.open(SQUARE),
                (None, b'{') => self.open(CURLY),
                (None, b')') => self.close(ROUND),
                (None, b']') => self.close(SQUARE),
                (None, b'}') => self.close(CURLY),
                _ => {}
            }
            if self.open.is_empty() && self.quote.is_none() && matches!(byte, b')' | b']' | b'}') {
                return Some(at + 1);
            }
        }
        None
    }

    fn open(&mut self, kind: u8) {
        if self.open.len() >= MAX_KNOWN {
            self.deeper += 1;
            return;
        }
        self.open.push(kind);
        self.counts[usize::from(kind)] += 1;
    }

    fn close(&mut self, kind: u8) {
        if self.deeper > 0 {
            self.deeper -= 1;
            return;
        }
        if self.counts[usize::from(kind)] + self.counts[usize::from(ANY)] == 0 {
            return;
        }
        while let Some(inner) = self.open.pop() {
            self.counts[usize::from(inner)] -= 1;
            if inner == kind || inner == ANY {
                break;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Brackets;

    #[test]
    fn a_bracket_closes_what_is_open_inside_it_and_no_other() {
        for (text, len) in [
            ("(a[1, 2) b", Some(8)),
            ("{\"a\": [1}", Some(9)),
            ("[1})]x", Some(5)),
            ("(\")\")", Some(5)),
            ("('\\')')", Some(7)),
            ("([)", Some(3)),
            ("([]", None),
        ] {
            assert_eq!(Brackets::default().follow(text.as_bytes()), len, "{text}");
        }
        assert_eq!(Brackets::within(2, None).follow(b"})"), Some(2));
        // Brackets that close none do not look for one in all that are open.
        let flood = ["[".repeat(1 << 16), ")".repeat(1 << 20), "]".repeat(1 << 16)].concat();
        assert_eq!(Brackets::default().follow(flood.as_bytes()), Some(flood.len()));
        let deep = ["[".repeat(1 << 20), "]".repeat(1 << 20)].concat();
        assert_eq!(Brackets::default().follow(deep.as_bytes()), Some(deep.len()));
    }
}
