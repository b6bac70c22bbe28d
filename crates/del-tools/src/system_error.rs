//! What the system says of errors, as part of a sentence.

use std::io;

/// An error without its number, which says nothing to people, and without a capital.
pub fn plain_error(error: &io::Error) -> String {
    let text = error.to_string();
    uncapped(text.split(" (os error").next().unwrap_or_default())
}

/// A text without the capital that it begins with, unless that is part of a name.
pub fn uncapped(text: &str) -> String {
    let mut chars = text.chars();
    match (chars.next(), chars.clone().next()) {
        (Some(first), second) if second.is_none_or(|second| second.is_lowercase() || second == ' ') => {
            first.to_lowercase().chain(chars).collect()
        }
        _ => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_of_the_system_are_parts_of_sentences() {
        assert_eq!(plain_error(&io::Error::from_raw_os_error(2)), "no such file or directory");
        assert_eq!(uncapped("I/O error"), "I/O error");
        assert_eq!((uncapped("A file"), uncapped("")), ("a file".to_owned(), String::new()));
    }
}
