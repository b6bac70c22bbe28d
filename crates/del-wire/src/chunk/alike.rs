//! Chunks that are alike: of a stream, most differ from the one before them in their text alone.

use std::borrow::Cow;
use std::ops::Range;

use serde::Deserialize;

use super::{Chunk, Plain};
use crate::error::WireError;

/// Reads the chunks of one stream. One that is the last one again with another text costs next to nothing.
#[derive(Debug, Default)]
pub struct Chunks {
    last: Chunk,
    /// What stands before and behind the text of the last one, its quotes included; nothing where it was more than text.
    before: String,
    behind: String,
}

/// A text in JSON.
#[derive(Deserialize)]
struct Text<'a>(#[serde(borrow)] Cow<'a, str>);

impl Chunks {
    /// Reads the next chunk, and says where its text stands in `json` if it has that and nothing else.
    pub fn read(&mut self, json: &str) -> Result<(&Chunk, Option<Range<usize>>), WireError> {
        if !self.is_alike(json) {
            self.learn(json)?;
        }
        let text = self.before.len()..json.len() - self.behind.len();
        Ok((&self.last, (!self.before.is_empty()).then_some(text)))
    }

    /// True where this is the last one again with another text, which is then the last one's.
    fn is_alike(&mut self, json: &str) -> bool {
        let behind = json.len().checked_sub(self.behind.len());
        let Some(behind) = behind.filter(|at| *at >= self.before.len() && !self.before.is_empty()) else {
            return false;
        };
        if !json.starts_with(&self.before) || !json.ends_with(&self.behind) {
            return false;
        }
        // One text and no more than that stands between the two.
        let text = json.get(self.before.len() - 1..=behind).and_then(|json| serde_json::from_str(json).ok());
        let (Some(Text(text)), Some(delta)) = (text, self.last.choices.first_mut()) else { return false };
        let content = delta.content.get_or_insert_default();
        content.clear();
        content.push_str(&text);
        true
    }

    fn learn(&mut self, json: &str) -> Result<(), WireError> {
        self.before.clear();
        self.behind.clear();
        let Some(plain) = Plain::read(json) else {
            self.last = Chunk::read(json)?;
            return Ok(());
        };
        if let Some(text) = plain.spelling().filter(|text| !text.is_empty()) {
            let at = text.as_ptr().addr() - json.as_ptr().addr();
            self.before.push_str(&json[..at]);
            self.behind.push_str(&json[at + text.len()..]);
        }
        self.last = plain.into_chunk();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::{Chunk, Chunks};

    fn chunk(id: &str, text: &str) -> String {
        format!(
            r#"{{"id":"{id}","choices":[{{"index":0,"delta":{{"content":"{text}"}},"logprobs":null,"finish_reason":null}}]}}"#
        )
    }

    #[test]
    fn every_chunk_is_read_as_if_it_were_alone() {
        let call = r#"{"id":"i","choices":[{"delta":{"tool_calls":[{"index":0,"function":{"name":"f"}}]}}]}"#;
        let two = r#"a"},"finish_reason":null},{"index":1,"delta":{"content":"b"#;
        let texts = ["a", "", "b\\n", "\\u00e9", "\\ud83d", "\\\"", "c", "\t", two, "\\", "\"", "d"];
        let all = texts.iter().flat_map(|text| [chunk("i", text), chunk("j", text), chunk("j", text)]);
        let mut chunks = Chunks::default();
        for json in all.chain([call.to_owned(), chunk("i", "a"), "{}".to_owned(), chunk("i", "b")]) {
            let alone = Chunk::read(&json);
            let read = chunks.read(&json);
            assert_eq!(read.as_ref().map(|(chunk, _)| *chunk).ok(), alone.as_ref().ok(), "{json}");
            assert_eq!(read.is_err(), alone.is_err());
        }
    }

    #[test]
    fn the_place_of_the_text_is_told() {
        let mut chunks = Chunks::default();
        for (text, told) in [("a", true), ("b\\n", true), ("", true), ("c", true)] {
            let json = chunk("i", text);
            let place = chunks.read(&json).unwrap().1;
            assert_eq!(place.is_some(), told);
            assert_eq!(&json[place.unwrap()], text);
        }
        assert_eq!(chunks.read(r#"{"choices":[],"usage":{"prompt_tokens":1}}"#).unwrap().1, None);
    }
}
