//! Filters of jq. Nothing in the language writes or runs anything; these words read other files, or the environment.

use super::Unsure;

const WORDS: [&str; 6] = ["import", "include", "modulemeta", "get_search_list", "env", "ENV"];
/// What begins names that nobody writes.
const BEGINNING: &str = "__prog";

pub(super) fn check(filter: &str) -> Result<(), Unsure> {
    if filter.contains(BEGINNING) {
        return Err(Unsure::Word(BEGINNING));
    }
    match WORDS.into_iter().find(|word| names(filter, word)) {
        Some(word) => Err(Unsure::Word(word)),
        None => Ok(()),
    }
}

/// Whether a word stands for itself: `.env` is a key, `env` the environment. Some read `$ ENV` as `$ENV`.
pub(super) fn names(filter: &str, word: &str) -> bool {
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    filter.match_indices(word).any(|(at, _)| {
        !filter[..at].ends_with(|c: char| is_name(c) || matches!(c, '.' | '"'))
            && !filter[at + word.len()..].starts_with(is_name)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_not_the_environment() {
        for filter in [
            ".env",
            ".ENV.a",
            "{\"env\": 1}",
            ".environment",
            "[.a[] | .env]",
            "$a.env",
            ".a_env",
            ".compilerOptions.include",
            ".imports",
            ".important",
        ] {
            assert_eq!(check(filter), Ok(()), "{filter}");
        }
        for filter in [
            "env",
            "$ENV",
            "$ ENV",
            "$\nENV",
            ".|env",
            "[env]",
            "\"\\(env)\"",
            "include \"x\"; .",
            "import \"x\" as x; .",
            "get_search_list",
            "$__prog_args",
            "$ __prog_args",
        ] {
            assert!(check(filter).is_err(), "{filter}");
        }
    }
}
