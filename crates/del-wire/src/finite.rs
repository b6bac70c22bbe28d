//! Numbers that JSON does not have, as some servers write them all the same: `NaN`, `Infinity` and their like.

use std::ops::Range;

use serde_json::json;

use crate::balance::Balance;

/// Members that hold the arguments of a call. There, what a number is may be guessed by whoever mends arguments, and told.
const ARGUMENTS: [&str; 2] = ["arguments", "input"];

/// Reads JSON of a server, and where it is none for such numbers alone, the same without them.
pub fn read_finite<T, E>(json: &str, mut read: impl FnMut(&str) -> Result<T, E>) -> Result<T, E> {
    read(json).or_else(|error| match finite(json) {
        Some(finite) => read(&finite),
        None => Err(error),
    })
}

/// The same JSON without such numbers; `None` where there are none. One that says how likely a token was is as small as the
/// APIs have it, any other is `null`. Arguments with one are the text that they are.
fn finite(json: &str) -> Option<String> {
    let mut finite = String::new();
    let mut done = 0;
    let mut change = |range: Range<usize>, other: &str| {
        finite.push_str(&json[done..range.start]);
        finite.push_str(other);
        done = range.end;
    };
    let mut rest = Rest { json, at: 0, member: "", inside: false };
    while let Some(found) = rest.next() {
        match found {
            Found::Number(range) => {
                let small = json[range.clone()].starts_with('-') && rest.member == "logprob";
                change(range, if small { "-9999.0" } else { "null" });
            }
            Found::Arguments(range) => {
                let inside = &json[range.clone()];
                if (Rest { json: inside, at: 0, member: "", inside: true }).next().is_some() {
                    change(range, &json!(inside).to_string());
                }
            }
        }
    }
    (done > 0).then(|| finite + &json[done..])
}

/// Something of interest in JSON.
enum Found {
    Number(Range<usize>),
    Arguments(Range<usize>),
}

/// What is left of a JSON text.
struct Rest<'j> {
    json: &'j str,
    at: usize,
    /// The name of the member whose value comes, or in whose value this is.
    member: &'j str,
    /// It is those of a call.
    inside: bool,
}

impl Iterator for Rest<'_> {
    type Item = Found;

    fn next(&mut self) -> Option<Found> {
        loop {
            let from = self.at;
            let here = &self.json[from..];
            match here.as_bytes().first()? {
                b'"' => self.string(),
                b'{' if !self.inside && ARGUMENTS.contains(&self.member) => {
                    self.member = "";
                    self.at += Balance::default().follow(here)?;
                    return Some(Found::Arguments(from..self.at));
                }
                sign if sign.is_ascii_alphabetic() || b"+-".contains(sign) => {
                    let word = |sign: char| sign.is_ascii_alphanumeric() || "+-.".contains(sign);
                    self.at += here.find(|sign| !word(sign)).unwrap_or(here.len());
                    if is_none(&self.json[from..self.at]) {
                        return Some(Found::Number(from..self.at));
                    }
                }
                _ => self.at += here.chars().next().map_or(1, char::len_utf8),
            }
        }
    }
}

impl Rest<'_> {
    /// Passes a string, which may be the name of a member.
    fn string(&mut self) {
        let begin = self.at + 1;
        let mut escaped = false;
        let end = self.json[begin..].find(|sign| {
            let ends = sign == '"' && !escaped;
            escaped = sign == '\\' && !escaped;
            ends
        });
        let end = end.map_or(self.json.len(), |end| begin + end);
        self.at = self.json.len().min(end + 1);
        if self.json[self.at..].trim_start().starts_with(':') {
            self.member = &self.json[begin..end];
        }
    }
}

/// True for the word of a number that is none, in the spellings of Python, JavaScript, C and Lua.
fn is_none(word: &str) -> bool {
    let word = word.trim_start_matches(['+', '-']);
    ["nan", "inf", "infinity"].iter().any(|none| word.eq_ignore_ascii_case(none))
}

#[cfg(test)]
mod tests {
    use super::finite;

    #[test]
    fn numbers_that_json_does_not_have_are_null() {
        for (given, expected) in [
            (
                r#"{"a": NaN, "b": [Infinity,-Infinity, -nan, +inf,1e5,-2,true,null]}"#,
                r#"{"a": null, "b": [null,null, null, null,1e5,-2,true,null]}"#,
            ),
            (r#"{"é": "NaN, \"Infinity", "b": nan}"#, r#"{"é": "NaN, \"Infinity", "b": null}"#),
            (
                r#"[{"logprob": -Infinity, "top_logprobs": [{"logprob": NaN}, {"logprob":-inf}]}]"#,
                r#"[{"logprob": -9999.0, "top_logprobs": [{"logprob": null}, {"logprob":-9999.0}]}]"#,
            ),
            (
                r#"{"arguments": {"a": NaN, "b": "}"}, "c": NaN}"#,
                r#"{"arguments": "{\"a\": NaN, \"b\": \"}\"}", "c": null}"#,
            ),
            (r#"{"input":{"input":{"a":-Infinity}}}"#, r#"{"input":"{\"input\":{\"a\":-Infinity}}"}"#),
            (r#"{"arguments": {"a": 1}, "c": NaN}"#, r#"{"arguments": {"a": 1}, "c": null}"#),
        ] {
            assert_eq!(finite(given).as_deref(), Some(expected));
        }
    }

    #[test]
    fn what_has_none_is_not_changed() {
        for json in [
            "",
            "{",
            "\"NaN",
            "{\"a\": \"NaN\"}",
            "<html>info</html>",
            "{\"arguments\": {\"a\": NaN",
            "[1, -",
            "nano",
            "é",
        ] {
            assert_eq!(finite(json), None, "{json}");
        }
    }
}
