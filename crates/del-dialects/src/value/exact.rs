//! JSON that is written to the letter goes out as it stands, once all of it is there.

use super::key::MAX_KEY;
use super::keys::Keys;
use super::words::json_literal;
use super::{plain, white_space};

/// So deep JSON may be here; the objects around a place are a bit each.
const MAX_DEPTH: usize = 128;

/// The length of the object or list that `bytes` begin with, where nothing of it has to be mended or looked at twice: it
/// is whole, is JSON to the letter, is at most `depth` deep, and has no key twice in an object, and none that is too long.
/// Else how far it was read.
pub(crate) fn exact(bytes: &[u8], depth: usize, keys: &mut Keys) -> Result<usize, usize> {
    let open = keys.open();
    let mut on = Exact { bytes, at: 0, depth: 0, objects: 0, keys };
    let whole = on.read(depth.min(MAX_DEPTH));
    let at = on.at;
    keys.leave_all(open);
    whole.map(|()| at).ok_or(at)
}

struct Exact<'b, 'k> {
    bytes: &'b [u8],
    at: usize,
    /// So many brackets are open, and of each whether it is an object's, the innermost's in the lowest bit.
    depth: usize,
    objects: u128,
    keys: &'k mut Keys,
}

impl Exact<'_, '_> {
    fn read(&mut self, most: usize) -> Option<()> {
        loop {
            match self.peek()? {
                bracket @ (b'{' | b'[') => {
                    if self.depth == most {
                        return None;
                    }
                    self.open(bracket == b'{');
                    self.space();
                    let empty = self.peek()? == bracket + 2;
                    match (empty, bracket) {
                        (true, _) => self.close(),
                        (false, b'{') => {
                            self.key()?;
                            continue;
                        }
                        (false, _) => continue,
                    }
                }
                b'"' => {
                    self.text()?;
                }
                _ => self.at += json_literal(&self.bytes[self.at..])?,
            }
            // Behind a value.
            while self.depth > 0 {
                self.space();
                let object = self.objects & 1 == 1;
                match self.peek()? {
                    b',' => {
                        self.at += 1;
                        self.space();
                        if object {
                            self.key()?;
                        }
                        break;
                    }
                    b'}' if object => self.close(),
                    b']' if !object => self.close(),
                    _ => return None,
                }
            }
            if self.depth == 0 {
                return Some(());
            }
        }
    }

    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn space(&mut self) {
        self.at += white_space(&self.bytes[self.at..]);
    }

    fn open(&mut self, object: bool) {
        self.at += 1;
        self.depth += 1;
        self.objects = self.objects << 1 | u128::from(object);
        if object {
            self.keys.enter();
        }
    }

    fn close(&mut self) {
        self.at += 1;
        self.depth -= 1;
        if self.objects & 1 == 1 {
            self.keys.leave();
        }
        self.objects >>= 1;
    }

    /// A key and its colon, up to the value.
    fn key(&mut self) -> Option<()> {
        let from = self.at + 1;
        let escapes = self.text()?;
        // What is written with an escape may be the same key.
        if escapes || self.at + 1 - from > MAX_KEY || self.keys.is_repeated(&self.bytes[from..self.at - 1]) {
            return None;
        }
        self.space();
        if self.peek()? != b':' {
            return None;
        }
        self.at += 1;
        self.space();
        Some(())
    }

    /// A text in its quotes; true when something in it is escaped.
    fn text(&mut self) -> Option<bool> {
        let (len, escapes) = text(&self.bytes[self.at..])?;
        self.at += len;
        Some(escapes)
    }
}

/// How long the text is that `bytes` begin with, quotes included, where nothing in it is escaped.
pub(crate) fn exact_text(bytes: &[u8]) -> Option<usize> {
    text(bytes).filter(|(_, escapes)| !escapes).map(|(len, _)| len)
}

/// The same of any text, and whether something in it is escaped.
fn text(bytes: &[u8]) -> Option<(usize, bool)> {
    let (mut at, mut escapes) = (1, false);
    if bytes.first() != Some(&b'"') {
        return None;
    }
    loop {
        at += plain(&bytes[at..]);
        match bytes[at..] {
            [b'"', ..] => return Some((at + 1, escapes)),
            [b'\'', ..] => at += 1,
            [b'\\', b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't', ..] => {
                at += 2;
                escapes = true;
            }
            [b'\\', b'u', a, b, c, d, ..] if [a, b, c, d].iter().all(u8::is_ascii_hexdigit) => {
                at += 6;
                escapes = true;
            }
            _ => return None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_json_to_the_letter_and_nothing_else() {
        let read = |text: &str| exact(text.as_bytes(), 3, &mut Keys::default());
        for whole in [
            r#"{"a": [1, {"b": "x\"y\u00e4'"}], "c": null}"#,
            "[ ]",
            "{\n}",
            r#"[[-0.5 , true],["z"]]"#,
            r#"{"a":{"a":{}},"b":{"a":1}}"#,
        ] {
            for behind in ["", " rest", "}", ","] {
                assert_eq!(read(&format!("{whole}{behind}")), Ok(whole.len()), "{whole}{behind}");
            }
            for cut in 1..whole.len() {
                if whole.is_char_boundary(cut) {
                    assert!(read(&whole[..cut]).is_err(), "{}", &whole[..cut]);
                }
            }
        }
        for other in [
            r#"{"a": 1,}"#,
            r#"{"a": 1, "a": 2}"#,
            r#"{"a": 1, "\u0061": 2}"#,
            "{'a': 1}",
            r#"{"a" 1}"#,
            r#"{"a": 'b'}"#,
            r#"{"a": "b" "c"}"#,
            "{\"a\": \"b\nc\"}",
            r#"["\q"]"#,
            "[1 2]",
            "[01]",
            "[,]",
            "[1}",
            "[[[[]]]]",
            "[True]",
        ] {
            assert!(read(other).is_err(), "{other}");
        }
    }
}
