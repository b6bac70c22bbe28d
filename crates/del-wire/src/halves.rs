//! Surrogate pairs whose halves come in two events. A server that cuts texts in UTF-16 writes half of a sign at the end of one
//! event and the other at the beginning of the next.

use std::borrow::Cow;

use crate::error::WireError;
use crate::fields::{Fields, list};
use crate::surrogate::{ESCAPE, lone_halves, unit};

/// The members of events that hold pieces of texts, of any API.
const TEXTS: [&str; 9] = [
    "content",
    "reasoning_content",
    "reasoning",
    "thinking",
    "refusal",
    "text",
    "delta",
    "arguments",
    "partial_json",
];
/// No text of an answer lies deeper in an event.
const DEPTH: usize = 12;
/// So many texts may go on at once.
const MOST: usize = 1024;
const REPLACEMENT: &str = "\\ufffd";

/// Puts halves together in the events of one stream. The first waits for the second, which is where the same text goes on. One
/// that gets no other half becomes U+FFFD.
#[derive(Debug, Default)]
pub(crate) struct Halves {
    /// What waits, and for which text.
    waiting: Vec<(String, String)>,
}

impl Halves {
    /// The same event, without the half that waits now, and with the one that waited.
    pub(crate) fn join<'a>(&mut self, json: &'a str) -> Cow<'a, str> {
        if self.waiting.is_empty() && lone_halves(json.as_bytes()).is_empty() {
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
            let end = start + quoted.len() - 2;
            if start == end {
                continue;
            }
            joined.push_str(&json[copied..start]);
            copied = start;
            let mut halves = lone_halves(&json.as_bytes()[start..end]);
            if let Some(at) = self.waiting.iter().position(|(waits, _)| *waits == place) {
                let (_, half) = self.waiting.swap_remove(at);
                let goes_on = matches!(unit(json.as_bytes(), start), Some(0xdc00..=0xdfff));
                joined.push_str(if goes_on { &half } else { REPLACEMENT });
                halves.retain(|at| *at > 0 || !goes_on);
            }
            for at in halves {
                let (half, behind) = (start + at, start + at + ESCAPE);
                joined.push_str(&json[copied..half]);
                copied = behind;
                let is_first = matches!(unit(json.as_bytes(), half), Some(0xd800..=0xdbff));
                if is_first && behind == end && self.waiting.len() < MOST {
                    self.waiting.push((place.clone(), json[half..behind].to_owned()));
                } else {
                    joined.push_str(REPLACEMENT);
                }
            }
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
            let elements = list(json, "event")?;
            for element in elements.into_iter().filter(|element| !element.starts_with('"')) {
                find(element, place, depth + 1, texts)?;
            }
        }
        Some(b'{') if depth < DEPTH => {
            let fields = Fields::read(json, "event")?;
            let mut place = place.to_owned();
            for number in ["index", "output_index", "content_index", "summary_index"] {
                if let Some(number) = fields.number(number) {
                    place = format!("{place}#{number}");
                }
            }
            // What nobody knows stays as it is, and tokens by themselves are no text that goes on.
            for (name, member) in fields.iter().filter(|(name, _)| *name != "logprobs") {
                if !member.starts_with('"') || TEXTS.contains(&name) {
                    find(member, &format!("{place}.{name}"), depth + 1, texts)?;
                }
            }
        }
        _ => {}
    }
    Ok(())
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
            (
                [r#"{"text":"x\ud83d"}"#, r#"{"text":"\ude00y"}"#],
                [r#"{"text":"x"}"#, r#"{"text":"\ud83d\ude00y"}"#],
            ),
            (
                [r#"{"text":"\uD83D" }"#, r#"{ "text" : "\uDE00" }"#],
                [r#"{"text":"" }"#, r#"{ "text" : "\uD83D\uDE00" }"#],
            ),
            (
                [r#"{"text":"\ud83d"}"#, r#"{"text":"\ude00\ud83d"}"#],
                [r#"{"text":""}"#, r#"{"text":"\ud83d\ude00"}"#],
            ),
            (
                [r#"{"text":"\\\ud83d"}"#, r#"{"text":"\ude00"}"#],
                [r#"{"text":"\\"}"#, r#"{"text":"\ud83d\ude00"}"#],
            ),
            // Another text goes on.
            ([r#"{"text":"\ud83d"}"#, r#"{"text":"y"}"#], [r#"{"text":""}"#, r#"{"text":"\ufffdy"}"#]),
            ([r#"{"text":"\ud83d"}"#, r#"{"text":"\ud83d"}"#], [r#"{"text":""}"#, r#"{"text":"\ufffd"}"#]),
            (
                [r#"{"text":"\ud83d"}"#, r#"{"content":"\ude00"}"#],
                [r#"{"text":""}"#, r#"{"content":"\ufffd"}"#],
            ),
            (
                [r#"{"text":"\"\ud83d"}"#, r#"{"text":"\ude00\""}"#],
                [r#"{"text":"\""}"#, r#"{"text":"\ud83d\ude00\""}"#],
            ),
            // No half, or none at the end.
            ([r#""\ud83d""#, "\""], [r#""\ud83d""#, "\""]),
            (
                [r#"{"text":"\\ud83d"}"#, r#"{"text":"\ude00"}"#],
                [r#"{"text":"\\ud83d"}"#, r#"{"text":"\ufffd"}"#],
            ),
            (
                [r#"{"text":"\ud83d \ud83d\ud83d"}"#, r#"{"text":"\ude00\ude00"}"#],
                [r#"{"text":"\ufffd \ufffd"}"#, r#"{"text":"\ud83d\ude00\ufffd"}"#],
            ),
            (
                [r#"{"text":"\ud83d\ude00"}"#, r#"{"text":"b"}"#],
                [r#"{"text":"\ud83d\ude00"}"#, r#"{"text":"b"}"#],
            ),
            (
                [r#"{"text":"\u+d83"}"#, r#"{"text":"é\ud83""#],
                [r#"{"text":"\u+d83"}"#, r#"{"text":"é\ud83""#],
            ),
        ] {
            assert_eq!(joined(&events), expected);
        }
    }

    #[test]
    fn a_half_waits_for_its_own_text() {
        let choice = |index: u8, text: &str| {
            format!(r#"{{"choices":[{{"delta":{{"content":"{text}"}},"index":{index}}}]}}"#)
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
        let event = r#"{"content":"\ud83d","logprobs":{"content":[{"token":"\ud83d"}]}}"#;
        assert_eq!(joined(&[event]), [r#"{"content":"","logprobs":{"content":[{"token":"\ud83d"}]}}"#]);
    }
}
