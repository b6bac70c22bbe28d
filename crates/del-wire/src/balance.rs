//! Finds where a JSON object or list ends, without reading it.

use memchr::memchr2;

/// Follows brackets and strings of one JSON value through any number of pieces.
#[derive(Debug, Clone, Default)]
pub(crate) struct Balance {
    depth: u32,
    in_string: bool,
    escaped: bool,
    complete: bool,
}

impl Balance {
    /// True when the outermost bracket has been closed.
    pub(crate) fn is_complete(&self) -> bool {
        self.complete
    }

    /// Follows `text`. When the outermost bracket closes in it: the offset after that bracket.
    /// What comes after the value is not looked at.
    pub(crate) fn follow(&mut self, text: &str) -> Option<usize> {
        if self.complete {
            return None;
        }
        let bytes = text.as_bytes();
        let mut at = 0;
        while let Some(&byte) = bytes.get(at) {
            at += 1;
            if self.in_string {
                match byte {
                    _ if self.escaped => self.escaped = false,
                    b'\\' => self.escaped = true,
                    b'"' => self.in_string = false,
                    _ => at += memchr2(b'"', b'\\', &bytes[at..]).unwrap_or(bytes.len() - at),
                }
                continue;
            }
            match byte {
                b'"' => self.in_string = true,
                b'{' | b'[' => self.depth += 1,
                b'}' | b']' if self.depth == 1 => {
                    self.complete = true;
                    return Some(at);
                }
                b'}' | b']' => self.depth = self.depth.saturating_sub(1),
                _ => {}
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::Balance;

    fn end(text: &str) -> Option<usize> {
        Balance::default().follow(text)
    }

    #[test]
    fn ends_at_the_outermost_bracket() {
        assert_eq!(end("{}"), Some(2));
        assert_eq!(end(r#"{"a":[1,{"b":"}]\"}"}]} tail"#), Some(23));
        assert_eq!(end(r#"{"a":"\\"}x"#), Some(10));
        assert_eq!(end(r#"{"a":"\""#), None);
        assert_eq!(end("{[}"), None);
    }

    #[test]
    fn pieces_do_not_matter() {
        let text = r#"{"a":"\\\"}","b":[{}]}"#;
        for cut in 0..text.len() {
            let mut balance = Balance::default();
            assert_eq!(balance.follow(&text[..cut]), None);
            assert_eq!(balance.follow(&text[cut..]), Some(text.len() - cut));
            assert!(balance.is_complete());
        }
    }
}
