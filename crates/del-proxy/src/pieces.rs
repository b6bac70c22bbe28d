//! Bytes that come in pieces, and mostly in one.

use axum::body::Bytes;

/// One piece as it came, or several in a copy.
#[derive(Debug, Default)]
pub(crate) struct Pieces {
    first: Bytes,
    /// All of them, where there are several.
    all: Vec<u8>,
}

/// Where more than one piece has come, there is room for so much.
const AT_LEAST: usize = 4 << 10;

impl Pieces {
    pub(crate) fn len(&self) -> usize {
        self.first.len().max(self.all.len())
    }

    pub(crate) fn add(&mut self, more: Bytes) {
        if self.len() == 0 {
            self.first = more;
            return;
        }
        if self.all.is_empty() {
            self.all.reserve((self.first.len() + 2 * more.len()).max(AT_LEAST));
            self.all.extend_from_slice(&self.first);
        }
        self.all.extend_from_slice(&more);
    }

    pub(crate) fn into_bytes(self) -> Bytes {
        if self.all.is_empty() { self.first } else { self.all.into() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_one_in_their_order() {
        let together = |given: &[&'static str]| {
            let mut pieces = Pieces::default();
            for piece in given {
                pieces.add(Bytes::from_static(piece.as_bytes()));
            }
            (pieces.len(), pieces.into_bytes())
        };
        for (given, all) in [
            (&[][..], ""),
            (&["", ""], ""),
            (&["", "a", ""], "a"),
            (&["ab", "c"], "abc"),
            (&["a", "", "bc", "d"], "abcd"),
        ] {
            assert_eq!(together(given), (all.len(), Bytes::from_static(all.as_bytes())), "{given:?}");
        }
        let only = Bytes::from_static(b"one");
        let mut pieces = Pieces::default();
        pieces.add(only.clone());
        assert_eq!(pieces.into_bytes().as_ptr(), only.as_ptr(), "one piece is not copied");
    }
}
