//! Objects whose members are written in their order, from JSON that is there already.

use std::borrow::Cow;
use std::io::Write as _;

use memchr::memchr2;
use serde::Serialize;

use crate::arguments::object;

/// Members of an object, as JSON.
#[derive(Debug, Clone, Default)]
pub(crate) struct Members(pub(crate) Vec<u8>);

impl Members {
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn name(&mut self, name: &str) {
        if !self.0.is_empty() {
            self.0.push(b',');
        }
        self.text(name);
        self.0.push(b':');
    }

    pub(crate) fn text(&mut self, text: &str) {
        json_text(text, &mut self.0);
    }

    pub(crate) fn add_value(&mut self, name: &str, value: &impl Serialize) {
        self.name(name);
        // A vector takes every write, and a value can always be written.
        let _ = serde_json::to_writer(&mut self.0, value);
    }

    /// Adds one whose value is JSON already.
    pub(crate) fn add(&mut self, name: &str, json: &str) {
        self.name(name);
        self.0.extend_from_slice(json.as_bytes());
    }

    pub(crate) fn add_text(&mut self, name: &str, text: &str) {
        self.name(name);
        self.text(text);
    }

    pub(crate) fn add_number(&mut self, name: &str, number: u64) {
        self.name(name);
        // A vector takes every write.
        let _ = write!(self.0, "{number}");
    }

    pub(crate) fn add_object(&mut self, name: &str, object: &Self) {
        self.name(name);
        object.write(&mut self.0);
    }

    pub(crate) fn add_list(&mut self, name: &str, objects: impl IntoIterator<Item = Self>) {
        self.name(name);
        self.0.push(b'[');
        for (place, object) in objects.into_iter().enumerate() {
            if place > 0 {
                self.0.push(b',');
            }
            object.write(&mut self.0);
        }
        self.0.push(b']');
    }

    /// Adds the arguments of a call as the object that they are. Its numbers keep all their digits.
    pub(crate) fn add_arguments(&mut self, name: &str, arguments: &str) {
        self.add(name, &on_one_line(object(arguments)));
    }

    /// Adds those of another object.
    pub(crate) fn append(&mut self, mut others: Self) {
        if !(self.is_empty() || others.is_empty()) {
            self.0.push(b',');
        }
        self.0.append(&mut others.0);
    }

    pub(crate) fn extend(&mut self, list: &[(String, &str)]) {
        for (name, json) in list {
            self.add(name, json);
        }
    }

    /// The object.
    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        out.push(b'{');
        out.extend_from_slice(&self.0);
        out.push(b'}');
    }

    pub(crate) fn into_text(self) -> String {
        let mut out = Vec::with_capacity(self.0.len() + 2);
        self.write(&mut out);
        String::from_utf8(out).unwrap_or_default()
    }
}

/// A text as JSON.
pub(crate) fn json_text(text: &str, out: &mut Vec<u8>) {
    // A vector takes every write, and a text can always be written.
    let _ = serde_json::to_writer(out, text);
}

/// JSON on one line. Texts in it have no line ends.
pub fn on_one_line(json: &str) -> Cow<'_, str> {
    if memchr2(b'\n', b'\r', json.as_bytes()).is_some() {
        Cow::Owned(json.replace(['\n', '\r'], " "))
    } else {
        Cow::Borrowed(json)
    }
}

#[cfg(test)]
mod tests {
    use super::Members;

    #[test]
    fn arguments_stay_as_they_were_written() {
        for (arguments, told) in [
            (
                r#"{"n": 12345678901234567890123, "f": 1.50}"#,
                r#"{"a":{"n": 12345678901234567890123, "f": 1.50}}"#,
            ),
            ("{\n \"t\": \"a\\nb\"\r\n}", r#"{"a":{  "t": "a\nb"  }}"#),
            ("", r#"{"a":{}}"#),
            ("[1]", r#"{"a":{}}"#),
            (r#"{"b""#, r#"{"a":{}}"#),
        ] {
            let mut members = Members::default();
            members.add_arguments("a", arguments);
            assert_eq!(members.into_text(), told);
        }
    }
}
