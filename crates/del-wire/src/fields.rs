//! Reads JSON objects of other people's servers: what is missing, `null` or unknown is no error,
//! a member of another type is one that says what was expected and what came.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::error::{WireError, excerpt};
use crate::surrogate::lone_halves;

/// The members of one object, unread. Of members with the same name the last counts.
#[derive(Debug)]
pub(crate) struct Fields<'a>(Vec<(Cow<'a, str>, &'a str)>);

impl<'a> Fields<'a> {
    /// Reads the text of an object; `at` names the place in errors.
    pub(crate) fn read(text: &'a str, at: &str) -> Result<Self, WireError> {
        if !matches!(text.trim_start().as_bytes().first(), Some(b'{')) {
            json::<serde::de::IgnoredAny>(text)?;
            return Err(WireError::shape(at, "an object", text));
        }
        json(text)
    }

    /// The JSON text of a member that is there and not `null`.
    pub(crate) fn get(&self, name: &str) -> Option<&'a str> {
        let (_, text) = self.0.iter().rev().find(|(key, _)| key == name)?;
        (*text != "null").then_some(text)
    }

    /// All members, in order, as names and JSON texts.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, &'a str)> {
        self.0.iter().map(|(key, json)| (key.as_ref(), *json))
    }

    /// True when the member is there, even if `null`.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.0.iter().any(|(key, _)| key == name)
    }

    /// A string member.
    pub(crate) fn text(&self, name: &str) -> Result<Option<String>, WireError> {
        self.get(name).map(|text| string(text, name)).transpose()
    }

    /// An object member.
    pub(crate) fn object(&self, name: &str) -> Result<Option<Fields<'a>>, WireError> {
        self.get(name).map(|text| Fields::read(text, name)).transpose()
    }

    /// A list member, its elements unread.
    pub(crate) fn list(&self, name: &str) -> Result<Option<Vec<&'a str>>, WireError> {
        self.get(name).map(|text| list(text, name)).transpose()
    }

    /// A whole number, also one written as a string or as `1.0`; anything else counts as missing.
    pub(crate) fn number(&self, name: &str) -> Option<u64> {
        let number = self.get(name)?.trim_matches('"');
        number.strip_suffix(".0").unwrap_or(number).parse().ok()
    }
}

/// The elements of a list, unread.
pub(crate) fn list<'a>(text: &'a str, at: &str) -> Result<Vec<&'a str>, WireError> {
    if !text.trim_start().starts_with('[') {
        return Err(WireError::shape(at, "a list", text));
    }
    let elements: Vec<&RawValue> = json(text)?;
    Ok(elements.into_iter().map(RawValue::get).collect())
}

/// A string. Half of a surrogate pair, which no text can hold, becomes U+FFFD.
pub(crate) fn string(text: &str, at: &str) -> Result<String, WireError> {
    struct Lossy(String);
    struct LossyVisitor;
    impl Visitor<'_> for LossyVisitor {
        type Value = Lossy;
        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a string")
        }
        fn visit_bytes<E>(self, bytes: &[u8]) -> Result<Lossy, E> {
            let text = str::from_utf8(bytes).map(str::to_owned);
            Ok(Lossy(text.unwrap_or_else(|_| without_halves(bytes))))
        }
    }
    impl<'de> Deserialize<'de> for Lossy {
        fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
            deserializer.deserialize_bytes(LossyVisitor)
        }
    }
    if !text.trim_start().starts_with('"') {
        return Err(WireError::shape(at, "a string", text));
    }
    json::<Lossy>(text).map(|lossy| lossy.0)
}

/// A string all of which is text: half of a surrogate pair is an error, where a text must not change on its way.
pub(crate) fn whole_string(text: &str, at: &str) -> Result<String, WireError> {
    serde_json::from_str(text).map_err(|_| match string(text, at) {
        Ok(_) => WireError::shape(at, UNICODE, text),
        Err(error) => error,
    })
}

/// An error where `json`, whose texts must not change on their way, has half of a surrogate pair in it.
pub(crate) fn no_halves(json: &str, at: &str) -> Result<(), WireError> {
    if lone_halves(json.as_bytes()).is_empty() { Ok(()) } else { Err(WireError::shape(at, UNICODE, json)) }
}

const UNICODE: &str = "of Unicode characters, without half of a surrogate pair";

/// The text of bytes that are UTF-8 but for halves of surrogate pairs, each of which is as any other sign would be.
fn without_halves(bytes: &[u8]) -> String {
    const HALF: usize = 3;
    let mut text = String::with_capacity(bytes.len());
    let mut rest = bytes;
    while !rest.is_empty() {
        let whole = match str::from_utf8(rest) {
            Ok(whole) => whole,
            Err(error) => str::from_utf8(&rest[..error.valid_up_to()]).unwrap_or_default(),
        };
        text.push_str(whole);
        rest = &rest[whole.len()..];
        if !rest.is_empty() {
            text.push(char::REPLACEMENT_CHARACTER);
            rest = &rest[HALF.min(rest.len())..];
        }
    }
    text
}

pub(crate) fn json<'a, T: Deserialize<'a>>(text: &'a str) -> Result<T, WireError> {
    serde_json::from_str(text)
        .map_err(|error| WireError::Json { got: excerpt(text), reason: error.to_string() })
}

impl<'de> Deserialize<'de> for Fields<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(serde::Deserialize)]
        struct Key<'a>(#[serde(borrow)] Cow<'a, str>);

        struct FieldsVisitor;
        impl<'de> Visitor<'de> for FieldsVisitor {
            type Value = Fields<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Fields<'de>, A::Error> {
                let mut fields = Vec::new();
                while let Some((Key(key), value)) = map.next_entry::<Key<'de>, &'de RawValue>()? {
                    fields.push((key, value.get()));
                }
                Ok(Fields(fields))
            }
        }
        deserializer.deserialize_map(FieldsVisitor)
    }
}

/// The list that a member of a request is, taken out of that; none is an empty one.
pub(crate) fn take_values(body: &mut Map<String, Value>, name: &str) -> Result<Vec<Value>, WireError> {
    match body.shift_remove(name) {
        None | Some(Value::Null) => Ok(Vec::new()),
        Some(Value::Array(list)) => Ok(list),
        Some(other) => Err(WireError::shape(name, "a list", &other.to_string())),
    }
}

/// What a message says: a text or a list of parts.
pub(crate) fn content<'v>(message: &'v Value, at: &str) -> Result<&'v Value, WireError> {
    said(&message["content"], &format!("{at}.content"))
}

/// A text, or a list of parts whose texts are some.
pub(crate) fn said<'v>(content: &'v Value, at: &str) -> Result<&'v Value, WireError> {
    let parts = match content {
        Value::Null | Value::String(_) => return Ok(content),
        Value::Array(parts) => parts,
        other => return Err(WireError::shape(at, "a string or a list", &other.to_string())),
    };
    for (place, part) in parts.iter().enumerate() {
        said_part(part, &format!("{at}[{place}]"))?;
    }
    Ok(content)
}

/// One of the parts of a content.
pub(crate) fn said_part(part: &Value, at: &str) -> Result<(), WireError> {
    let is_text = part["type"].as_str().is_some_and(|kind| kind == "text" || kind.ends_with("_text"));
    if !part.is_object() {
        return Err(WireError::shape(at, "an object", &part.to_string()));
    }
    if is_text && !part["text"].is_string() {
        let got = part.get("text").map_or_else(|| "nothing".to_owned(), Value::to_string);
        return Err(WireError::shape(&format!("{at}.text"), "a string", &got));
    }
    Ok(())
}

/// The address of an image in a content part, or the image itself as one; some clients leave out the object around it.
pub(crate) fn image(part: &Value) -> Option<&str> {
    let image = &part["image_url"];
    image["url"].as_str().or_else(|| image.as_str())
}

#[cfg(test)]
mod tests {
    use super::{Fields, string};

    #[test]
    fn null_and_missing_are_the_same() {
        let fields = Fields::read(r#"{"a": null, "b\n": "x"}"#, "it").unwrap();
        assert_eq!(fields.get("a"), None);
        assert!(fields.has("a") && !fields.has("c"));
        assert_eq!(fields.text("b\n").unwrap().as_deref(), Some("x"));
    }

    #[test]
    fn the_last_of_two_equal_members_counts() {
        let fields = Fields::read(r#"{"a": 1, "a": "2"}"#, "it").unwrap();
        assert_eq!(fields.number("a"), Some(2));
    }

    #[test]
    fn errors_say_expected_and_got() {
        let fields = Fields::read(r#"{"a": [1]}"#, "it").unwrap();
        assert_eq!(fields.text("a").unwrap_err().to_string(), "`a` should be a string, got `[1]`");
        assert_eq!(Fields::read("[]", "it").unwrap_err().to_string(), "`it` should be an object, got `[]`");
        let error = Fields::read("<html>", "it").unwrap_err().to_string();
        assert!(error.starts_with("expected JSON, got `<html>`"), "{error}");
    }

    #[test]
    fn half_a_surrogate_pair_is_no_error() {
        for (json, text) in
            [(r#""a\ud83d""#, "a\u{fffd}"), (r#""\ude00é\ud83d\ud83db""#, "\u{fffd}é\u{fffd}\u{fffd}b")]
        {
            assert_eq!(string(json, "it").unwrap(), text);
        }
        assert_eq!(string(r#""\ud83d\ude00""#, "it").unwrap(), "😀");
    }
}
