//! What a field says of the type of its value.

use crate::dialect::{FieldForm, Slot};
use crate::schema::Types;

impl FieldForm {
    /// True when a field says the type of its value.
    pub(crate) fn says_type(&self) -> bool {
        self.parts.contains(&Slot::Type)
    }

    /// What `{type}` says of a value.
    pub(crate) fn type_word(&self, json: &str) -> &str {
        let first = json.as_bytes().first();
        let (own, usual) = match first {
            Some(b'"') => (0, "string"),
            Some(b'{') => (1, "object"),
            Some(b'[') => (2, "array"),
            Some(b't' | b'f') => (3, "boolean"),
            Some(b'n') => (3, "null"),
            _ => (3, "number"),
        };
        self.types.as_ref().map_or(usual, |words| &words[own])
    }

    /// The types that the word of a field stands for; none for a word that says nothing but that it is JSON.
    pub(crate) fn types_said(&self, word: Option<&str>) -> Option<Types> {
        let word = word?;
        let own = |place: usize| self.types.as_ref().is_some_and(|words| words[place] == word);
        Some(Types {
            string: own(0) || matches!(word, "true" | "string" | "raw"),
            object: own(1) || word == "object",
            array: own(2) || word == "array",
            ..Types::default()
        })
    }
}
