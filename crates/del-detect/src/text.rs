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
    while cut > 0 {
        let (in_a, in_b) = (a.len() - cut, b.len() - cut);
        if is_seam(a, in_a) && is_seam(b, in_b) && !(ends_word(a, in_a) && ends_word(b, in_b)) {
            break;
        }
        cut -= 1;
    }
    cut
}

/// True where a word ends that stands between two marks, as in `<|close|>tools<|sep|>`.
fn ends_word(text: &str, at: usize) -> bool {
    let Some(before) = text.get(..at) else { return false };
    let start = before.trim_end_matches(|c: char| c.is_alphanumeric() || c == '_');
    start.len() < before.len() && start.ends_with(closes) && mark_at(text, at).is_some()
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

/// The brackets of marks.
const BRACKETS: [(char, char); 11] = [
    ('<', '>'),
    ('[', ']'),
    ('◁', '▷'),
    ('«', '»'),
    ('‹', '›'),
    ('⟦', '⟧'),
    ('⟨', '⟩'),
    ('⟪', '⟫'),
    ('【', '】'),
    ('「', '」'),
    ('『', '』'),
];

/// True for a bracket that may open a mark.
pub(crate) fn opens(c: char) -> bool {
    BRACKETS.iter().any(|(open, _)| *open == c)
}

/// True for a bracket that may close a mark.
pub(crate) fn closes(c: char) -> bool {
    BRACKETS.iter().any(|(_, close)| *close == c)
}

/// The bracket that closes what the text opens.
fn closer(text: &str) -> Option<char> {
    let first = text.chars().next()?;
    BRACKETS.iter().find(|(open, _)| *open == first).map(|(_, close)| *close)
}

/// True when `at` lies between the brackets of a mark.
fn inside_mark(text: &str, at: usize) -> bool {
    let from = ceiling(text, at.saturating_sub(MAX_MARK));
    let Some(open) = text[from..at].rfind(opens).map(|open| open + from) else { return false };
    mark_at(text, open).is_some_and(|mark| open + mark.len() > at)
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
    text.rmatch_indices(opens).find_map(|(at, _)| mark_at(text, at))
}

/// The first mark of a text.
pub(crate) fn first_mark(text: &str) -> Option<&str> {
    text.match_indices(opens).find_map(|(at, _)| mark_at(text, at))
}

/// The marks of a text, one behind the other. A word between two is part of them: `<|close|>tools<|sep|>` is one mark.
pub(crate) fn marks(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let at = rest.find(first_mark(rest)?)?;
        let (mark, behind) = rest[at..].split_at(whole_mark(&rest[at..]));
        rest = behind;
        Some(mark)
    })
}

/// The length of the mark that a text begins with, and of a word behind it with the mark that follows that.
pub(crate) fn whole_mark(text: &str) -> usize {
    let len = mark_at(text, 0).map_or(0, str::len);
    let behind = text[len..].trim_start_matches(|c: char| c.is_alphanumeric() || c == '_');
    let word = text[len..].len() - behind.len();
    match mark_at(behind, 0) {
        Some(second) if len > 0 && (1..=MAX_WORD).contains(&word) => len + word + second.len(),
        _ => len,
    }
}

/// A word between two marks is at most this long, in bytes.
const MAX_WORD: usize = 16;

/// A text without the mark that it ends with.
pub(crate) fn without_last_mark(text: &str) -> Option<&str> {
    let text = text.trim_end();
    text.strip_suffix(last_mark(text)?).map(str::trim_end)
}

fn mark_at(text: &str, at: usize) -> Option<&str> {
    let text = &text[at..];
    mark_len(text, closer(text)?).map(|len| &text[..len])
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
