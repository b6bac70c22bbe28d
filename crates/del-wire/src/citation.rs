//! Where a text of an answer has something from, as each API says it.
//!
//! What two APIs have in common is an address with a title. The rest goes to clients of the server's own API alone.

use serde_json::{Value, json};

/// A source of something in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Citation {
    /// In the words of this API.
    json: Value,
    of: Origin,
    /// The characters of the answer's text that rest on it. Anthropic's API has blocks in their place.
    span: [u64; 2],
}

/// The API that a citation is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Origin {
    Chat,
    Response,
    Message,
}

impl Citation {
    /// One of a chat, whose places count from the beginning of the message.
    pub(crate) fn of_chat(json: Value) -> Self {
        let span = span(&json["url_citation"], 0);
        Self { json, of: Origin::Chat, span }
    }

    /// One of a response, in a part of its text that begins behind so many characters.
    pub(crate) fn of_response(json: Value, before: u64) -> Self {
        let span = span(&json, before);
        Self { json, of: Origin::Response, span }
    }

    /// One of a block of a message, which has these characters of the text.
    pub(crate) fn of_message(json: Value, span: [u64; 2]) -> Self {
        Self { json, of: Origin::Message, span }
    }

    /// What it is, in the words of its API.
    pub fn kind(&self) -> &str {
        self.json["type"].as_str().unwrap_or("citation")
    }

    /// For a client of chats; `None` where these have no such thing.
    pub(crate) fn for_chat(&self) -> Option<Value> {
        if self.of == Origin::Chat {
            return Some(self.json.clone());
        }
        let (url, title) = self.address()?;
        let [start, end] = self.span;
        let place = json!({"start_index": start, "end_index": end, "url": url, "title": title});
        Some(json!({"type": "url_citation", "url_citation": place}))
    }

    /// The same for a client of responses, in a part of the text that begins behind so many characters.
    pub(crate) fn for_response(&self, before: u64) -> Option<Value> {
        let [start, end] = self.span.map(|place| place.saturating_sub(before));
        if self.of == Origin::Response {
            let mut same = self.json.clone();
            for (name, place) in [("start_index", start), ("end_index", end)] {
                if same[name].is_u64() {
                    same[name] = json!(place);
                }
            }
            return Some(same);
        }
        let (url, title) = self.address()?;
        Some(
            json!({"type": "url_citation", "start_index": start, "end_index": end, "url": url, "title": title}),
        )
    }

    /// The same for a client of messages.
    pub(crate) fn for_message(&self) -> Option<Value> {
        if self.of == Origin::Message {
            return Some(self.json.clone());
        }
        let (url, title) = self.address()?;
        Some(json!({"type": "web_search_result_location", "url": url, "title": title, "cited_text": "",
            "encrypted_index": ""}))
    }

    /// The address that it names, and the title there.
    fn address(&self) -> Option<(&str, &str)> {
        let (kind, inner, address) = match self.of {
            Origin::Chat => ("url_citation", &self.json["url_citation"], "url"),
            Origin::Response => ("url_citation", &self.json, "url"),
            Origin::Message if self.kind() == "search_result_location" => {
                ("search_result_location", &self.json, "source")
            }
            Origin::Message => ("web_search_result_location", &self.json, "url"),
        };
        let url = inner[address].as_str().filter(|_| self.kind() == kind)?;
        Some((url, inner["title"].as_str().unwrap_or_default()))
    }
}

fn span(json: &Value, before: u64) -> [u64; 2] {
    ["start_index", "end_index"].map(|name| json[name].as_u64().unwrap_or(0).saturating_add(before))
}

/// How many characters a text has, as places in it are counted.
pub(crate) fn length(text: &str) -> u64 {
    text.chars().count() as u64
}
