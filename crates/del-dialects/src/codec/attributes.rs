//! Attributes inside a mark: `tool="get_weather" index="1"`.

use std::borrow::Cow;
use std::ops::Range;

/// Where the value of an attribute stands in `text`, without its quotes.
pub(crate) fn find(text: &str, name: &str) -> Option<Range<usize>> {
    all(text).find_map(|(known, value)| (known == name).then_some(value))
}

/// True where `text`, behind what a tag is about, says more than attributes that are no arguments: one that `is_argument`, or
/// words beside them.
pub(crate) fn say_more(text: &str, is_argument: impl Fn(&str) -> bool) -> bool {
    let in_word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | ':');
    let mut end = 0;
    let more = all(text).any(|(name, value)| {
        end = value.end;
        let name = name.trim_matches(|c| !in_word(c));
        name.is_empty() || !name.chars().all(in_word) || is_argument(name)
    });
    more || text[end..].contains(in_word)
}

/// The names of attributes, and where their values stand.
fn all(text: &str) -> impl Iterator<Item = (&str, Range<usize>)> {
    let mut at = 0;
    std::iter::from_fn(move || {
        at += text[at..].find(|c: char| !c.is_whitespace())?;
        let equals = at + text[at..].find('=')?;
        let known = text[at..equals].trim_end();
        let opens = equals + 1 + text[equals + 1..].find(|c: char| !c.is_whitespace())?;
        let quote = text[opens..].chars().next().filter(|c| matches!(c, '"' | '\''));
        let (from, to, behind) = match quote {
            Some(quote) => {
                let to = opens + 1 + text[opens + 1..].find(quote).unwrap_or(text.len() - opens - 1);
                (opens + 1, to, text.len().min(to + 1))
            }
            None => {
                let len = text[opens..].find(char::is_whitespace).unwrap_or(text.len() - opens);
                (opens, opens + len, opens + len)
            }
        };
        at = behind;
        Some((known, from..to))
    })
}

/// A value as it is meant.
pub(crate) fn read(value: &str) -> Cow<'_, str> {
    if value.contains('&') {
        return Cow::Owned(value.replace("&quot;", "\"").replace("&amp;", "&"));
    }
    Cow::Borrowed(value)
}

/// A value as it is written.
pub(crate) fn written(value: &str) -> Cow<'_, str> {
    if value.contains(['&', '"']) {
        return Cow::Owned(value.replace('&', "&amp;").replace('"', "&quot;"));
    }
    Cow::Borrowed(value)
}
