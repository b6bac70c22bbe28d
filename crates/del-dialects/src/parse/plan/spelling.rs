//! What the spelling of a mark tells.

/// Marks of fewer bytes mean too little by themselves to be taken out of text.
pub(super) const MIN_DISTINCT: usize = 5;

/// A mark with and without the white space around it.
pub(super) fn framings(mark: &str) -> Vec<String> {
    let core = mark.trim();
    let before = &mark[..mark.len() - mark.trim_start().len()];
    let behind = &mark[mark.trim_end().len()..];
    // A word means something with what ends it alone: it may be the beginning of another.
    let word = core.ends_with(char::is_alphanumeric);
    let befores: &[&str] = if before.is_empty() { &[""] } else { &["", before] };
    let behinds: &[&str] = match behind {
        "" => &[""],
        _ if word => &[behind],
        _ => &["", behind],
    };
    let spelling = |before, behind| [before, core, behind].concat();
    befores.iter().flat_map(|before| behinds.iter().map(move |behind| spelling(*before, *behind))).collect()
}

/// The white space before a mark.
pub(super) fn framing(mark: &str) -> &str {
    &mark[..mark.len() - mark.trim_start().len()]
}

/// True for a mark that is made of words, as text is.
pub(in crate::parse) fn is_wordy(mark: &str) -> bool {
    mark.trim_start().starts_with(char::is_alphanumeric)
}

/// True for a mark that means something by itself, wherever it stands.
pub(in crate::parse) fn is_distinct(mark: &str) -> bool {
    mark.len() >= MIN_DISTINCT
        && !mark.starts_with(|c: char| c.is_alphanumeric() || matches!(c, '#' | '`' | '*'))
}
