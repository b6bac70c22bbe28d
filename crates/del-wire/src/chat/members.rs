//! Objects whose members are written in their order, from JSON that is there already.

use crate::told::json_text;

/// Members of an object, as JSON.
#[derive(Debug, Default)]
pub(super) struct Members(pub(super) Vec<u8>);

impl Members {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn name(&mut self, name: &str) {
        if !self.0.is_empty() {
            self.0.push(b',');
        }
        self.text(name);
        self.0.push(b':');
    }

    pub(super) fn text(&mut self, text: &str) {
        json_text(text, &mut self.0);
    }

    /// Adds one whose value is JSON already.
    pub(super) fn add(&mut self, name: &str, json: &str) {
        self.name(name);
        self.0.extend_from_slice(json.as_bytes());
    }

    pub(super) fn add_text(&mut self, name: &str, text: &str) {
        self.name(name);
        self.text(text);
    }

    pub(super) fn add_object(&mut self, name: &str, object: &Self) {
        self.name(name);
        object.write(&mut self.0);
    }

    pub(super) fn extend(&mut self, list: &[(String, &str)]) {
        for (name, json) in list {
            self.add(name, json);
        }
    }

    /// The object.
    pub(super) fn write(&self, out: &mut Vec<u8>) {
        out.push(b'{');
        out.extend_from_slice(&self.0);
        out.push(b'}');
    }

    pub(super) fn into_text(self) -> String {
        let mut out = Vec::with_capacity(self.0.len() + 2);
        self.write(&mut out);
        String::from_utf8(out).unwrap_or_default()
    }
}
