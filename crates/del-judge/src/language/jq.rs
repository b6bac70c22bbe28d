//! Filters of jq. Nothing in the language writes or runs anything; these words read other files, or the environment.

use super::Unsure;

const WORDS: [&str; 6] = ["$ENV", "import", "include", "modulemeta", "get_search_list", "$__prog"];

pub(super) fn check(filter: &str) -> Result<(), Unsure> {
    if let Some(word) = WORDS.into_iter().find(|word| filter.contains(word)) {
        return Err(Unsure::Word(word));
    }
    // `.env` is a key, `env` the environment.
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let whole = |at: usize| {
        !filter[..at].ends_with(|c: char| is_name(c) || matches!(c, '.' | '"'))
            && !filter[at + 3..].starts_with(is_name)
    };
    if filter.match_indices("env").any(|(at, _)| whole(at)) { Err(Unsure::Word("env")) } else { Ok(()) }
}
