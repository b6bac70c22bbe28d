//! Comparing texts: where they part, without cutting a mark in two.

/// How many bytes two texts have in common at the start, up to where a mark or a word begins in both.
pub(crate) fn common_prefix(a: &str, b: &str) -> usize {
    let same = a.bytes().zip(b.bytes()).take_while(|(a, b)| a == b).count();
    if same == a.len() && same == b.len() {
        return same;
    }
    let mut cut = same;
    while cut > 0 && !(is_seam(a, cut) && is_seam(b, cut)) {
        cut -= 1;
    }
    cut
}

/// How many bytes two texts have in common at the end, down to where a mark or a word begins in both.
pub(crate) fn common_suffix(a: &str, b: &str) -> usize {
    let same = a.bytes().rev().zip(b.bytes().rev()).take_while(|(a, b)| a == b).count();
    let mut cut = same;
    while cut > 0 && !(is_seam(a, a.len() - cut) && is_seam(b, b.len() - cut)) {
        cut -= 1;
    }
    cut
}

/// What `longer` has in place of what `shorter` has between their common ends.
pub(crate) fn inserted<'t>(shorter: &str, longer: &'t str) -> &'t str {
    let start = common_prefix(shorter, longer);
    let end = common_suffix(&shorter[start..], &longer[start..]);
    &longer[start..longer.len() - end]
}

/// True where a text may be cut: not inside a word, and not inside a mark such as `<…>`, `[…]` or `<|…|>`.
pub(crate) fn is_seam(text: &str, at: usize) -> bool {
    if at == 0 || at == text.len() {
        return true;
    }
    if !text.is_char_boundary(at) {
        return false;
    }
    let before = text[..at].chars().next_back();
    let behind = text[at..].chars().next();
    let inner =
        |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || matches!(c, '_' | '|' | '｜' | '▁' | '/'));
    if inner(before) && inner(behind) {
        return false;
    }
    !inside_mark(text, at)
}

/// A mark is at most this long, in bytes.
const MAX_MARK: usize = 80;

/// True when `at` lies between the brackets of a mark.
fn inside_mark(text: &str, at: usize) -> bool {
    let from = ceiling(text, at.saturating_sub(MAX_MARK));
    let Some(open) = text[from..at].rfind(['<', '[', '◁']).map(|open| open + from) else { return false };
    let close = match text.as_bytes()[open] {
        b'<' => '>',
        b'[' => ']',
        _ => '▷',
    };
    mark_len(&text[open..], close).is_some_and(|len| open + len > at)
}

/// The length of the mark that a text begins with.
fn mark_len(text: &str, close: char) -> Option<usize> {
    let len = start(text, MAX_MARK).find(close)? + close.len_utf8();
    let opener = text.chars().next()?.len_utf8();
    let body = text.get(opener..len)?;
    let word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '/' | '-' | ']');
    let sound = match close {
        ']' => body.chars().all(word),
        _ => !body.contains(['{', '}', '\n']) && !body.starts_with([' ', '<', '"', '[']),
    };
    (sound && len > 2).then_some(len)
}

/// The last mark of a text, and where it begins.
pub(crate) fn last_mark(text: &str) -> Option<&str> {
    let starts = text.char_indices().rev().filter(|(_, c)| matches!(c, '<' | '[' | '◁')).map(|(at, _)| at);
    starts.into_iter().find_map(|at| mark_at(text, at))
}

/// The first mark of a text.
pub(crate) fn first_mark(text: &str) -> Option<&str> {
    let starts = text.char_indices().filter(|(_, c)| matches!(c, '<' | '[' | '◁')).map(|(at, _)| at);
    starts.into_iter().find_map(|at| mark_at(text, at))
}

/// The marks of a text, one behind the other.
pub(crate) fn marks(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let mark = first_mark(rest)?;
        rest = rest.split_once(mark)?.1;
        Some(mark)
    })
}

/// A text without the mark that it ends with.
pub(crate) fn without_last_mark(text: &str) -> Option<&str> {
    let text = text.trim_end();
    text.strip_suffix(last_mark(text)?).map(str::trim_end)
}

fn mark_at(text: &str, at: usize) -> Option<&str> {
    let close = match text.as_bytes()[at] {
        b'<' => '>',
        b'[' => ']',
        _ => '▷',
    };
    mark_len(&text[at..], close).map(|len| &text[at..at + len])
}

/// The start of a text, of at most so many bytes.
pub(crate) fn start(text: &str, most: usize) -> &str {
    &text[..floor(text, most)]
}

/// The last place up to `at` where a character begins or the text ends.
pub(crate) fn floor(text: &str, at: usize) -> usize {
    (0..=at.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0)
}

/// The first place from `at` on where a character begins or the text ends.
pub(crate) fn ceiling(text: &str, at: usize) -> usize {
    (at..text.len()).find(|at| text.is_char_boundary(*at)).unwrap_or(text.len())
}
