//! The text that a custom tool is called with, while the arguments that it stands in are written.

use del_wire::asked::custom_input;

/// What has gone out of it.
#[derive(Debug, Default)]
pub(super) struct Input {
    told: String,
    /// Where the arguments go on behind that, once the text has begun in them.
    at: Option<usize>,
    /// The text ended, or is none that can be told before it is whole.
    over: bool,
}

impl Input {
    /// What is new of it, in arguments as far as they have come.
    pub(super) fn more(&mut self, json: &str) -> String {
        let Some(at) = self.at.or_else(|| begins(json)).filter(|_| !self.over) else { return String::new() };
        let (end, over) = sure(&json[at..]);
        self.over = over;
        self.at = Some(at + end);
        let new: Result<String, _> = serde_json::from_str(&format!("\"{}\"", &json[at..at + end]));
        // What is no JSON is mended once all of it is there.
        self.over |= new.is_err();
        let new = new.unwrap_or_default();
        self.told.push_str(&new);
        new
    }

    /// All the rest of it, of arguments that are whole. What has gone out stands, also where the same key comes again.
    pub(super) fn rest(&self, json: &str) -> String {
        custom_input(json).strip_prefix(&self.told).unwrap_or_default().to_owned()
    }
}

/// Where the text begins that is the first member of an object.
fn begins(json: &str) -> Option<usize> {
    let mut rest = json;
    for sign in ["{", "\"input\"", ":", "\""] {
        rest = rest.trim_start().strip_prefix(sign)?;
    }
    Some(json.len() - rest.len())
}

/// How much of a string of JSON can be told, whatever follows, and whether it ends there.
fn sure(string: &str) -> (usize, bool) {
    let bytes = string.as_bytes();
    let mut at = 0;
    while let Some(next) = memchr::memchr2(b'"', b'\\', &bytes[at..]).map(|next| at + next) {
        if bytes[next] == b'"' {
            return (next, true);
        }
        let escape = &bytes[next..];
        // An escape is told whole, and the two halves of a character together.
        let len = match escape {
            [_, b'u', b'd' | b'D', b'8' | b'9' | b'a' | b'b' | b'A' | b'B', ..] => 12,
            [_, b'u', ..] => 6,
            _ => 2,
        };
        if escape.len() < len {
            return (next, false);
        }
        at = next + len;
    }
    (string.len(), false)
}

#[cfg(test)]
mod tests {
    use super::Input;

    #[test]
    fn a_text_is_told_as_it_is_written_and_only_once() {
        for (json, text) in [
            (r#"{"input": "*** Begin\n+ \"q\" \\ \u00e9 \ud83d\ude00 }"}"#, "*** Begin\n+ \"q\" \\ é 😀 }"),
            (r#"{"input":"a", "more": "b"}"#, "a"),
            (r#"{"input":""}"#, ""),
            (r#"{"more": 1, "input": "late"}"#, "late"),
            (r#"{"input": [1, 2]}"#, "[1,2]"),
            (r#"{"input": "a", "input": "b"}"#, "a"),
            (r#"{"other": "x"}"#, r#"{"other": "x"}"#),
        ] {
            for size in 1..=json.len() {
                let (mut input, mut told, mut pieces) = (Input::default(), String::new(), 0);
                for end in (size..=json.len()).step_by(size).filter(|end| json.is_char_boundary(*end)) {
                    let new = input.more(&json[..end]);
                    pieces += usize::from(!new.is_empty());
                    told.push_str(&new);
                }
                told.push_str(&input.rest(json));
                assert_eq!(told, text, "{json} by {size}");
                let streams = json.starts_with(r#"{"input""#) && text.len() > 20;
                assert!(!streams || size > 8 || pieces > 2, "{json} by {size}: {pieces} pieces");
            }
        }
    }
}
