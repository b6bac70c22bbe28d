//! Characters of a text, and those that names are made of.

/// The length of the character at `at`.
pub(super) fn first_char(text: &str, at: usize) -> usize {
    text[at..].chars().next().map_or(1, char::len_utf8)
}

/// True when the character at `at` may begin a name.
pub(super) fn starts_name(text: &str, at: usize) -> bool {
    text[at..].chars().next().is_some_and(|c| c.is_alphanumeric() || c == '_')
}

/// True when the character at `at` may be part of a name.
pub(super) fn is_name(text: &str, at: usize) -> bool {
    let byte = text.as_bytes()[at];
    if byte < 0x80 {
        return is_in_name(byte.into());
    }
    text[at..].chars().next().is_some_and(is_in_name)
}

/// True for a character of names.
pub(super) fn is_in_name(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | ':' | '/' | '@' | '$' | '+' | '#')
}
