//! Filters of jq. Nothing in the language writes or runs anything; these words read other files.

use super::Unsure;

const WORDS: [&str; 5] = ["import", "include", "modulemeta", "get_search_list", "$__prog"];

pub(super) fn check(filter: &str) -> Result<(), Unsure> {
    match WORDS.into_iter().find(|word| filter.contains(word)) {
        Some(word) => Err(Unsure::Word(word)),
        None => Ok(()),
    }
}
