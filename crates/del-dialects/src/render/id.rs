//! The shape of ids, where a model knows no other.

use std::borrow::Cow;
use std::fmt::Write as _;

use crate::dialect::Dialect;

impl Dialect {
    /// The id of a call as this dialect writes it. One of another shape is made anew: its digits say the call's place
    /// in the turn, its letters depend on the id alone, so that a result finds its call.
    pub(crate) fn native_id<'i>(&self, id: &'i str, place: usize) -> Cow<'i, str> {
        match &self.ids {
            Some(shape) if !fits(shape, id) => Cow::Owned(minted(shape, id, place)),
            _ => Cow::Borrowed(id),
        }
    }
}

/// How many digits a shape begins with, and what is behind them.
fn digits(shape: &str) -> Option<(usize, &str)> {
    let rest = shape.trim_start_matches('#');
    let digits = shape.len() - rest.len();
    (digits > 0).then_some((digits, rest))
}

/// True when an id has this shape; digits may be more than it shows.
fn fits(shape: &str, id: &str) -> bool {
    if let Some((least, shape)) = digits(shape) {
        let rest = id.trim_start_matches(|c: char| c.is_ascii_digit());
        return id.len() - rest.len() >= least && fits(shape, rest);
    }
    let (mut shape, mut id) = (shape.chars(), id.chars());
    match (shape.next(), id.next()) {
        (None, None) => true,
        (Some(expected), Some(c)) => {
            (if expected == '*' { c.is_ascii_alphanumeric() } else { c == expected })
                && fits(shape.as_str(), id.as_str())
        }
        _ => false,
    }
}

fn minted(shape: &str, id: &str, place: usize) -> String {
    const LETTERS: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    // FNV-1a: the same everywhere and forever, which is all that is asked of it.
    let mut hash = id.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    let mut out = String::new();
    let mut rest = shape;
    while let Some(first) = rest.chars().next() {
        if let Some((width, behind)) = digits(rest) {
            let _ = write!(out, "{place:0width$}");
            rest = behind;
            continue;
        }
        if first == '*' {
            out.push(char::from(LETTERS[usize::try_from(hash % 62).unwrap_or(0)]));
            hash /= 62;
        } else {
            out.push(first);
        }
        rest = &rest[first.len_utf8()..];
    }
    out
}

#[cfg(test)]
mod tests {
    use super::{fits, minted};

    #[test]
    fn an_id_fits_or_is_made_anew() {
        for (shape, good, bad) in [
            ("*********", "a1B2c3D4e", "call_1"),
            ("call#####", "call00012", "call_00012"),
            ("#", "10", "x"),
            ("f-#-*", "f-007-z", "f-7-"),
        ] {
            assert!(fits(shape, good), "{shape} {good}");
            assert!(!fits(shape, bad), "{shape} {bad}");
            let made = minted(shape, bad, 3);
            assert!(fits(shape, &made), "{shape} {made}");
            assert_eq!(made, minted(shape, bad, 3));
        }
        assert_eq!(minted("call#####", "toolu_01", 1), "call00001");
        assert_ne!(minted("*********", "a", 0), minted("*********", "b", 0));
    }
}
