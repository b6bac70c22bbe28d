//! The types that a field itself says, beside its value.

use super::Types;
use crate::dialect::FieldForm;

impl FieldForm {
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
