//! What kind of line it is, as far as its beginning tells.

use unicode_width::UnicodeWidthChar;

use super::flow::Style;

/// A line that is taken whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Whole {
    Fence,
    Row,
    Rule,
}

/// What a line begins with.
pub(super) enum Head {
    /// More is needed.
    Unknown,
    Blank,
    Whole(Whole),
    /// A line of text behind so many bytes, in this style; `mark` stands in place of them.
    Text {
        taken: usize,
        mark: String,
        dim: bool,
        style: Style,
    },
}

/// What kind of line begins so.
pub(super) fn head(line: &str, coloured: bool) -> Head {
    let (line, over) = line.strip_suffix('\n').map_or((line, false), |line| (line, true));
    let inner = line.trim_start_matches([' ', '\t']);
    let spaces = line.len() - inner.len();
    let Some(first) = inner.chars().next() else { return if over { Head::Blank } else { Head::Unknown } };
    let indent = " ".repeat(spaces.min(16));
    let text = || Head::Text { taken: spaces, mark: indent.clone(), dim: false, style: Style::PLAIN };
    let run = inner.chars().take_while(|c| *c == first).count();
    let behind = inner[run * first.len_utf8()..].chars().next();
    let undecided = behind.is_none() && !over;
    match first {
        '#' if undecided => Head::Unknown,
        '#' if run <= 6 && behind.is_none_or(|c| c == ' ') => {
            let style = if run == 1 { Style::BOLD.and(Style::UNDERLINED) } else { Style::BOLD };
            // Where bold cannot be seen, the signs tell a heading.
            let taken = if coloured {
                spaces + run + inner[run..].chars().take_while(|c| *c == ' ').count()
            } else {
                0
            };
            Head::Text { taken, mark: String::new(), dim: false, style }
        }
        '`' | '~' if undecided => Head::Unknown,
        '`' if run >= 3 && inner[run..].contains('`') => text(),
        '`' | '~' if run >= 3 => Head::Whole(Whole::Fence),
        '|' => Head::Whole(Whole::Row),
        '-' | '*' | '_' | '+' if undecided => Head::Unknown,
        '-' | '*' | '_' if run >= 3 && inner[run..].trim().is_empty() => {
            if over {
                Head::Whole(Whole::Rule)
            } else {
                Head::Unknown
            }
        }
        '-' | '*' | '+' if run == 1 && behind == Some(' ') => {
            let (sign, length) = match &inner.as_bytes()[2..] {
                [b'[', b' ', b']', b' ', ..] => ('☐', 4),
                [b'[', b'x' | b'X', b']', b' ', ..] => ('☑', 4),
                [] | [b'['] | [b'[', b' ' | b'x' | b'X'] | [b'[', b' ' | b'x' | b'X', b']'] if !over => {
                    return Head::Unknown;
                }
                _ => ('•', 0),
            };
            let mark = format!("{indent}{sign} ");
            Head::Text { taken: spaces + 2 + length, mark, dim: false, style: Style::PLAIN }
        }
        '>' => quoted(inner, spaces, over, coloured),
        '0'..='9' => numbered(inner, spaces, over).unwrap_or_else(text),
        _ => text(),
    }
}

/// A line of a quote, which may be a quote in a quote, or an item.
fn quoted(inner: &str, spaces: usize, over: bool, coloured: bool) -> Head {
    let (mut mark, mut rest) = (" ".repeat(spaces.min(16)), inner);
    while let Some(within) = rest.strip_prefix('>') {
        mark.push_str("│ ");
        rest = within.strip_prefix(' ').unwrap_or(within);
    }
    let before = spaces + inner.len() - rest.len();
    let whole = if over { format!("{rest}\n") } else { rest.to_owned() };
    match head(&whole, coloured) {
        Head::Unknown => Head::Unknown,
        Head::Text { taken, mark: item, style, .. } => {
            Head::Text { taken: before + taken, mark: mark + &item, dim: true, style }
        }
        Head::Blank | Head::Whole(_) => Head::Text { taken: before, mark, dim: true, style: Style::PLAIN },
    }
}

/// What stands before the rows that follow the first: the bars of a quote, and else nothing.
pub(super) fn below(mark: &str, spoken: bool) -> String {
    let width = |c: char| c.width().unwrap_or(0);
    mark.chars().map(|c| if c == '│' && !spoken { c.to_string() } else { " ".repeat(width(c)) }).collect()
}

/// What begins a line, for somebody who hears it.
pub(super) fn in_words(mark: &str) -> String {
    mark.replace('│', "quote:").replace('☑', "done:").replace('☐', "to do:")
}

/// A line that begins with a number, as far as that is an item's.
fn numbered(inner: &str, spaces: usize, over: bool) -> Option<Head> {
    let digits = inner.chars().take_while(char::is_ascii_digit).count();
    let mut behind = inner[digits..].chars();
    match (behind.next(), behind.next()) {
        _ if digits > 9 => None,
        (None, _) | (Some('.' | ')'), None) if !over => Some(Head::Unknown),
        (Some('.' | ')'), Some(' ')) => {
            let mark = format!("{}{} ", " ".repeat(spaces.min(16)), &inner[..=digits]);
            Some(Head::Text { taken: spaces + digits + 2, mark, dim: false, style: Style::PLAIN })
        }
        _ => None,
    }
}
