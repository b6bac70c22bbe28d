//! Names that a closer repeats.

/// White space before a name, inside an opening and between two calls, in bytes; behind more of it everything is text.
pub(crate) const MAX_SPACE: usize = 256;

/// Whether `rest`, behind a closing mark, begins with this name. None when that cannot be said yet, as the answer is not
/// `over`.
pub(crate) fn repeats(name: &str, rest: &str, over: bool) -> Option<bool> {
    let space = rest.len() - rest.trim_start().len();
    if space > MAX_SPACE {
        return Some(false);
    }
    let rest = &rest[space..];
    match rest.strip_prefix(name) {
        Some("") | None if !over && name.starts_with(rest) => None,
        Some(behind) => Some(!behind.starts_with(|c: char| c.is_alphanumeric() || c == '_')),
        None => Some(false),
    }
}
