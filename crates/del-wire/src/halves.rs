//! Surrogate pairs whose halves come in two events. A server that cuts texts in UTF-16 writes half of a sign at the end of one
//! event and the other at the beginning of the next.

use std::borrow::Cow;

use memchr::memmem;

use crate::error::WireError;
use crate::fields::{Fields, list};

/// No text of an answer lies deeper in an event.
const DEPTH: usize = 12;
/// So many texts may go on at once.
const MOST: usize = 1024;
/// As long as any escape.
const ESCAPE: usize = 6;

/// Puts halves together in the events of one stream. The first waits for the second, which is where the same text goes on; where
/// another text does, it stands for U+FFFD.
#[derive(Debug, Default)]
pub(crate) struct Halves {
    /// What waits, and for which text.
    waiting: Vec<(String, String)>,
}

impl Halves {
    /// The same event, without the half that waits now, and with the one that waited.
    pub(crate) fn join<'a>(&mut self, json: &'a str) -> Cow<'a, str> {
        if self.waiting.is_empty() && !ends_in_half(json) {
            return Cow::Borrowed(json);
        }
        let mut texts = Vec::new();
        // What cannot be read is somebody else's affair.
        if find(json, "", 0, &mut texts).is_err() {
            return Cow::Borrowed(json);
        }
        let (mut joined, mut copied) = (String::new(), 0);
        for (place, quoted) in texts {
            let start = quoted.as_ptr().addr() - json.as_ptr().addr() + 1;
            let text = &json[start..start + quoted.len() - 2];
            if text.is_empty() {
                continue;
            }
            if let Some(at) = self.waiting.iter().position(|(waits, _)| *waits == place) {
                let (_, half) = self.waiting.swap_remove(at);
                joined.push_str(&json[copied..start]);
                joined.push_str(if begins_with_low(text) { &half } else { "\\ufffd" });
                copied = start;
            }
            if let Some(half) = high_at_end(text).filter(|_| self.waiting.len() < MOST) {
                let at = start + text.len() - ESCAPE;
                joined.push_str(&json[copied..at]);
                copied = at + ESCAPE;
                self.waiting.push((place, half.to_owned()));
            }
        }
        if copied == 0 {
            return Cow::Borrowed(json);
        }
        joined.push_str(&json[copied..]);
        Cow::Owned(joined)
    }
}

/// The texts of an event with their quotes, each with what tells it from others: the names on the way to it, and the numbers of
/// what it is part of.
fn find<'a>(
    json: &'a str,
    place: &str,
    depth: usize,
    texts: &mut Vec<(String, &'a str)>,
) -> Result<(), WireError> {
    match json.trim_start().as_bytes().first() {
        Some(b'"') if depth > 0 => texts.push((place.to_owned(), json)),
        Some(b'[') if depth < DEPTH => {
            for element in list(json, "event")? {
                find(element, place, depth + 1, texts)?;
            }
        }
        Some(b'{') if depth < DEPTH => {
            let fields = Fields::read(json, "event")?;
            let mut place = place.to_owned();
            for number in ["index", "output_index", "content_index", "summary_index"] {
                if let Some(number) = fields.number(number) {
                    place.push_str(&format!("#{number}"));
                }
            }
            // Tokens by themselves are no text that goes on.
            for (name, member) in fields.iter().filter(|(name, _)| *name != "logprobs") {
                find(member, &format!("{place}.{name}"), depth + 1, texts)?;
            }
        }
        _ => {}
    }
    Ok(())
}

/// True when some text ends with a first half.
fn ends_in_half(json: &str) -> bool {
    let escapes = memmem::find_iter(json.as_bytes(), b"\\u");
    escapes.into_iter().any(|at| json.as_bytes().get(at + ESCAPE) == Some(&b'"') && is_high(&json[at..]))
}

/// The first half that this text ends with.
fn high_at_end(text: &str) -> Option<&str> {
    let at = text.len().checked_sub(ESCAPE)?;
    let before = text.get(..at)?;
    let is_escaped = (before.len() - before.trim_end_matches('\\').len()) % 2 == 1;
    text.get(at..).filter(|half| is_high(half) && !is_escaped)
}

fn is_high(escape: &str) -> bool {
    matches!(unit(escape), Some(0xd800..=0xdbff))
}

fn begins_with_low(text: &str) -> bool {
    matches!(unit(text), Some(0xdc00..=0xdfff))
}

/// The unit of UTF-16 whose escape a text begins with.
fn unit(text: &str) -> Option<u16> {
    let digits = text.get(..ESCAPE)?.strip_prefix("\\u")?;
    let digits = Some(digits).filter(|digits| !digits.starts_with('+'))?;
    u16::from_str_radix(digits, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::Halves;

    /// Each event as it is read, the next one on a line of its own.
    fn joined(events: &[&str]) -> Vec<String> {
        let mut halves = Halves::default();
        events.iter().map(|event| halves.join(event).into_owned()).collect()
    }

    #[test]
    fn halves_in_two_events_are_one_sign() {
        for (events, expected) in [
            ([r#"{"a":"x\ud83d"}"#, r#"{"a":"\ude00y"}"#], [r#"{"a":"x"}"#, r#"{"a":"\ud83d\ude00y"}"#]),
            (
                [r#"{"a":"\uD83D" }"#, r#"{ "a" : "\uDE00" }"#],
                [r#"{"a":"" }"#, r#"{ "a" : "\uD83D\uDE00" }"#],
            ),
            ([r#"{"a":"\ud83d"}"#, r#"{"a":"\ude00\ud83d"}"#], [r#"{"a":""}"#, r#"{"a":"\ud83d\ude00"}"#]),
            ([r#"{"a":"\\\ud83d"}"#, r#"{"a":"\ude00"}"#], [r#"{"a":"\\"}"#, r#"{"a":"\ud83d\ude00"}"#]),
            // Another text goes on.
            ([r#"{"a":"\ud83d"}"#, r#"{"a":"y"}"#], [r#"{"a":""}"#, r#"{"a":"\ufffdy"}"#]),
            ([r#"{"a":"\ud83d"}"#, r#"{"a":"\ud83d"}"#], [r#"{"a":""}"#, r#"{"a":"\ufffd"}"#]),
            ([r#"{"a":"\ud83d"}"#, r#"{"b":"\ude00"}"#], [r#"{"a":""}"#, r#"{"b":"\ude00"}"#]),
            ([r#"{"a":"\"\ud83d"}"#, r#"{"a":"\ude00\""}"#], [r#"{"a":"\""}"#, r#"{"a":"\ud83d\ude00\""}"#]),
            // No half, or none at the end.
            ([r#""\ud83d""#, "\""], [r#""\ud83d""#, "\""]),
            ([r#"{"a":"\\ud83d"}"#, r#"{"a":"\ude00"}"#], [r#"{"a":"\\ud83d"}"#, r#"{"a":"\ude00"}"#]),
            ([r#"{"a":"\ud83d "}"#, r#"{"a":"\ude00"}"#], [r#"{"a":"\ud83d "}"#, r#"{"a":"\ude00"}"#]),
            ([r#"{"a":"\ud83d\ude00"}"#, r#"{"a":"b"}"#], [r#"{"a":"\ud83d\ude00"}"#, r#"{"a":"b"}"#]),
            ([r#"{"a":"\u+d83"}"#, r#"{"a":"é\ud83""#], [r#"{"a":"\u+d83"}"#, r#"{"a":"é\ud83""#]),
        ] {
            assert_eq!(joined(&events), expected);
        }
    }

    #[test]
    fn a_half_waits_for_its_own_text() {
        let choice = |index: u8, text: &str| {
            format!(r#"{{"choices":[{{"delta":{{"c":"{text}"}},"index":{index}}}]}}"#)
        };
        let events = [
            choice(0, r"\ud83d"),
            choice(1, r"\ud83c"),
            choice(0, ""),
            choice(1, r"\udf0d"),
            choice(0, r"\ude00"),
        ];
        let events = events.each_ref().map(String::as_str);
        let expected = [
            choice(0, ""),
            choice(1, ""),
            choice(0, ""),
            choice(1, r"\ud83c\udf0d"),
            choice(0, r"\ud83d\ude00"),
        ];
        assert_eq!(joined(&events), expected);
    }

    #[test]
    fn tokens_stay_as_they_are() {
        let event = r#"{"c":"\ud83d","logprobs":{"content":[{"token":"\ud83d"}]}}"#;
        assert_eq!(joined(&[event]), [r#"{"c":"","logprobs":{"content":[{"token":"\ud83d"}]}}"#]);
    }
}
