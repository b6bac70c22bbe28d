//! Finding the text that an edit is to replace: exactly, or as good as exactly, never by likeness.

use std::borrow::Cow;
use std::ops::Range;

use crate::endings::Span;

/// Comparisons of lines after which the loose search gives up.
const MAX_COMPARISONS: usize = 20_000_000;

/// Where to replace what.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Edit {
    /// Ascending, without overlap.
    pub(crate) spans: Vec<Span>,
    /// What the model should know of how the text was found.
    pub(crate) note: Option<&'static str>,
}

/// Why nothing is replaced.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Miss {
    /// It is there more than once: the lines, counted from 1, where it starts.
    NotUnique {
        lines: Vec<usize>,
        /// Whether it is there only when whitespace is ignored.
        loose: bool,
    },
    NoMatch,
}

/// Finds `old` in `text`; both have `\n` alone at line ends.
///
/// First as it stands; then without the line numbers or with the line breaks that models write as `\n`; then line by
/// line without regard to whitespace at the ends and to typographic punctuation, which must leave one place only.
pub(crate) fn find(text: &str, old: &str, new: &str, all: bool) -> Result<Edit, Miss> {
    let attempts = attempts(old, new);
    for attempt in &attempts {
        let found: Vec<_> =
            text.match_indices(attempt.old.as_ref()).map(|(at, found)| at..at + found.len()).collect();
        if found.len() > 1 && !all {
            return Err(Miss::NotUnique { lines: lines_at(text, &found), loose: false });
        }
        if !found.is_empty() {
            let span = |range: Range<usize>| Span { range, with: attempt.new.clone().into_owned() };
            return Ok(Edit { spans: found.into_iter().map(span).collect(), note: attempt.note });
        }
    }
    for attempt in &attempts {
        if let Some(span) = loosely(text, &attempt.old, &attempt.new)? {
            let note = Some("Note: matched ignoring whitespace; check the result.");
            return Ok(Edit { spans: vec![span], note });
        }
    }
    Err(Miss::NoMatch)
}

struct Attempt<'a> {
    old: Cow<'a, str>,
    new: Cow<'a, str>,
    note: Option<&'static str>,
}

fn attempts<'a>(old: &'a str, new: &'a str) -> Vec<Attempt<'a>> {
    let mut attempts = vec![Attempt { old: old.into(), new: new.into(), note: None }];
    if let Some(plain) = without_numbers(old) {
        let new = without_numbers(new).map_or(Cow::Borrowed(new), Cow::Owned);
        let note = Some("Note: the line numbers in old_string were left out.");
        attempts.push(Attempt { old: plain.into(), new, note });
    }
    if let Some(plain) = unescaped(old) {
        let new = unescaped(new).map_or(Cow::Borrowed(new), Cow::Owned);
        let note = Some("Note: \\n in old_string was read as a line break.");
        attempts.push(Attempt { old: plain.into(), new, note });
    }
    attempts
}

/// `text` without the numbers that `read_file` puts before lines, if every line has one.
fn without_numbers(text: &str) -> Option<String> {
    let mut plain = Vec::new();
    for line in text.split('\n') {
        if line.is_empty() {
            plain.push(line);
            continue;
        }
        let (number, rest) = line.split_once('\t')?;
        let number = number.trim_start_matches(' ');
        if number.is_empty() || !number.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        plain.push(rest);
    }
    let plain = plain.join("\n");
    (!plain.trim().is_empty()).then_some(plain)
}

/// `text` with `\n` and `\t` written out made line breaks and tabs, if it has no real line break.
fn unescaped(text: &str) -> Option<String> {
    if text.contains('\n') || !text.contains("\\n") {
        return None;
    }
    Some(text.replace("\\r\\n", "\n").replace("\\n", "\n").replace("\\t", "\t").replace("\\\"", "\""))
}

/// Lines are the same up to this.
type Sameness = fn(&str) -> Cow<'_, str>;

fn loosely(text: &str, old: &str, new: &str) -> Result<Option<Span>, Miss> {
    let lines = Lines::of(text);
    let wanted = Lines::of(old);
    if wanted.0.iter().all(|line| old[line.clone()].trim().is_empty()) || wanted.len() > lines.len() {
        return Ok(None);
    }
    if lines.len().saturating_mul(wanted.len()) > MAX_COMPARISONS {
        return Ok(None);
    }
    let samenesses: [Sameness; 3] =
        [|l| l.trim_end().into(), |l| l.trim().into(), |l| folded(l.trim()).into()];
    for same in samenesses {
        let ours: Vec<_> = lines.iter(text).map(same).collect();
        let theirs: Vec<_> = wanted.iter(old).map(same).collect();
        let found: Vec<_> =
            ours.windows(theirs.len()).enumerate().filter(|(_, w)| *w == theirs).map(|(at, _)| at).collect();
        match found[..] {
            [] => {}
            [at] => {
                let block = &lines.0[at..at + theirs.len()];
                return Ok(Some(replacement(text, block, old, &wanted, new)));
            }
            _ => return Err(Miss::NotUnique { lines: found.iter().map(|at| at + 1).collect(), loose: true }),
        }
    }
    Ok(None)
}

fn replacement(text: &str, block: &[Range<usize>], old: &str, wanted: &Lines, new: &str) -> Span {
    let first = block.first().map_or(0, |line| line.start);
    let mut end = block.last().map_or(0, |line| line.end);
    let mut with = reindented(text, block, old, wanted, new);
    if old.ends_with('\n') {
        if text[end..].starts_with('\n') {
            end += 1;
        } else if with.ends_with('\n') {
            // The file ends without a line break; it stays so.
            with.pop();
        }
    }
    Span { range: first..end, with }
}

/// `new` with its lines indented as the text is, where `old` was indented otherwise.
fn reindented(text: &str, block: &[Range<usize>], old: &str, wanted: &Lines, new: &str) -> String {
    let pair = block.iter().zip(&wanted.0).find(|(_, line)| !old[(*line).clone()].trim().is_empty());
    let Some((ours, theirs)) = pair else { return new.to_owned() };
    let (ours, theirs) = (indent(&text[ours.clone()]), indent(&old[theirs.clone()]));
    if ours == theirs {
        return new.to_owned();
    }
    let line = |line: &str| match line.strip_prefix(theirs) {
        _ if line.trim().is_empty() => line.to_owned(),
        Some(rest) => format!("{ours}{rest}"),
        None => line.to_owned(),
    };
    new.split('\n').map(line).collect::<Vec<_>>().join("\n")
}

fn indent(line: &str) -> &str {
    &line[..line.len() - line.trim_start().len()]
}

/// Typographic punctuation as plain.
fn folded(line: &str) -> String {
    let mut out = String::with_capacity(line.len());
    for c in line.chars() {
        match c {
            '\u{2018}'..='\u{201b}' | '\u{2032}' => out.push('\''),
            '\u{201c}'..='\u{201f}' | '\u{2033}' | '\u{ab}' | '\u{bb}' => out.push('"'),
            '\u{2010}'..='\u{2015}' | '\u{2212}' => out.push('-'),
            '\u{a0}' | '\u{2000}'..='\u{200a}' | '\u{202f}' | '\u{205f}' | '\u{3000}' => out.push(' '),
            '\u{2026}' => out.push_str("..."),
            c => out.push(c),
        }
    }
    out
}

/// The ranges of lines, without their line breaks; a break at the end starts no line.
pub(crate) struct Lines(pub(crate) Vec<Range<usize>>);

impl Lines {
    pub(crate) fn of(text: &str) -> Self {
        let mut at = 0;
        let mut lines = Vec::new();
        for line in text.split_inclusive('\n') {
            let end = at + line.len();
            lines.push(at..end - usize::from(line.ends_with('\n')));
            at = end;
        }
        Self(lines)
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    pub(crate) fn iter<'a>(&'a self, text: &'a str) -> impl Iterator<Item = &'a str> {
        self.0.iter().map(|line| &text[line.clone()])
    }
}

/// The lines, counted from 1, in which ascending ranges begin.
fn lines_at(text: &str, found: &[Range<usize>]) -> Vec<usize> {
    let (mut line, mut counted) = (1, 0);
    let begins = |range: &Range<usize>| {
        line += text.as_bytes()[counted..range.start].iter().filter(|byte| **byte == b'\n').count();
        counted = range.start;
        line
    };
    found.iter().map(begins).collect()
}

/// The line, counted from 1, in which the byte `at` lies.
pub(crate) fn line_at(text: &str, at: usize) -> usize {
    text[..at].bytes().filter(|byte| *byte == b'\n').count() + 1
}

#[cfg(test)]
#[path = "edit_tests.rs"]
mod tests;
