//! What needs lookahead, as pure functions of a bounded window: the text from one byte on. `all` says that the window
//! will not grow; otherwise the answer is none as long as more text could change it.
//!
//! Models forget to escape quotes, and to write them. A quote ends its text where only the syntax can go on: a closing
//! bracket that is open, a comma with a key behind it, another text, an operator. Anything else shows that the quote
//! stands inside the text.

use std::cell::Cell;

use super::on::On;
use super::words::is_word;
use super::{Bracket, Marks, Reader, Syntax, white_space};

/// What is known of the place of a value.
pub(super) struct Place<'a> {
    syntax: &'a Syntax,
    marks: &'a Marks,
    /// It is the value of a key.
    keyed: bool,
    /// It is an argument in brackets of their own.
    outer: bool,
    /// It may stand among arguments without keys.
    unnamed: bool,
    /// A quote inside it was data.
    nested: bool,
    /// What closes the innermost bracket.
    closer: Option<u8>,
    /// Whether `)`, `]` and `}` close something that is open.
    open: [bool; 3],
    /// Bytes at the end of the window that nobody looked at.
    unseen: Cell<usize>,
}

/// What stands behind a quote.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Close {
    /// It ends the text.
    Ends,
    /// It is part of the text.
    Data,
    /// It ends the text, and another one, so many bytes further on, belongs to the same value. Two of them are one in
    /// Python; elsewhere that is a guess.
    Joins(usize),
}

/// What stands behind a value that no comma or bracket ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Next {
    /// The next item: the comma before it is missing.
    Item,
    /// The end of the call: closing brackets are missing. Perhaps it is the opening of something else.
    End {
        opens: bool,
    },
    /// A quote of the syntax's own, of so many bytes: the value has closed its own quotes, and this is left over.
    Quote(usize),
    Other,
}

/// The longest key that is waited for, in bytes.
const MAX_KEY: usize = 128;

impl Reader {
    pub(super) fn place<'a>(&self, on: &On<'a, '_>) -> Place<'a> {
        let closes = |closer: u8| self.stack.iter().any(|bracket| bracket.closer() == closer);
        Place {
            syntax: on.given.syntax,
            marks: on.given.marks,
            keyed: self.top().is_some_and(Bracket::is_keyed),
            outer: self.is_outer(),
            unnamed: self.unnamed.is_some(),
            nested: self.text.nested,
            closer: self.closer(),
            open: [closes(b')'), closes(b']'), closes(b'}')],
            unseen: Cell::new(0),
        }
    }
}

impl Place<'_> {
    fn closes_any(&self, byte: u8) -> bool {
        match byte {
            b')' => self.open[0],
            b']' => self.open[1],
            b'}' => self.open[2],
            _ => false,
        }
    }

    /// An answer to a question of the window, with how many bytes of it were looked at for it.
    pub(super) fn counted<T>(&self, window: &str, answer: T) -> (T, usize) {
        (answer, window.len() - self.unseen.take())
    }

    fn is_python(&self) -> bool {
        self.syntax.is_python()
    }

    /// True for what stands between the keys and values around here.
    fn is_pair(&self, byte: u8) -> bool {
        byte == b':' || (byte == b'=' && (self.outer || !self.is_python()))
    }

    /// Keys stand without quotes, and nothing else begins an item.
    fn has_bare_keys(&self) -> bool {
        self.outer && self.syntax.outer.is_some_and(|outer| outer.pair == b'=')
    }
}

/// What stands behind the quote before `window`.
pub(super) fn closes(window: &str, all: bool, place: &Place<'_>) -> Option<Close> {
    let ends = |ends: bool| if ends { Close::Ends } else { Close::Data };
    let undecided = if all { Some(Close::Ends) } else { None };
    let space = white_space(window.as_bytes());
    let rest = &window[space..];
    let bytes = rest.as_bytes();
    let Some(&byte) = bytes.first() else { return undecided };
    let next = bytes.get(1);
    match byte {
        b',' if place.keyed && !(place.outer && place.unnamed) => next_item(&rest[1..], all, place).map(ends),
        b',' => Some(Close::Ends),
        _ if place.outer && place.closer == Some(byte) => {
            // Behind the arguments: what a sentence in parentheses would go on with is data.
            let behind = &bytes[1..];
            match behind.get(white_space(behind)) {
                None => undecided,
                Some(b')') => Some(ends(place.marks.wrapped)),
                Some(b'"' | b'\'') => Some(Close::Data),
                Some(_) => Some(Close::Ends),
            }
        }
        _ if place.closes_any(byte) => Some(Close::Ends),
        b'"' | b'\'' if place.nested => Some(Close::Data),
        b'"' | b'\'' if place.is_python() && (!place.keyed || place.has_bare_keys()) => {
            Some(Close::Joins(space))
        }
        b'"' | b'\'' if !place.keyed => Some(Close::Ends),
        b'"' | b'\'' => {
            joins(rest, all, place).map(|joins| if joins { Close::Joins(space) } else { Close::Ends })
        }
        b'+' | b'%' | b'*' | b'[' => Some(Close::Ends),
        // Among items there are no keys.
        b':' if !place.keyed => Some(Close::Ends),
        b'#' => Some(ends(space > 0)),
        b'.' | b'/' if next.is_none() => undecided,
        b'.' => Some(ends(next.is_some_and(u8::is_ascii_alphabetic))),
        b'/' => Some(ends(matches!(next, Some(b'/' | b'*')))),
        _ if is_word(byte) => match (space > 0 && !place.nested, place.is_python()) {
            (false, _) => Some(Close::Data),
            (true, true) => match goes_on(bytes) {
                None if !all => None,
                Some(true) => Some(Close::Ends),
                _ => key(rest, all, place).map(|found| ends(place.keyed && found)),
            },
            (true, false) => key(rest, all, place).map(|found| ends(place.keyed && found)),
        },
        _ => match own_quote(rest, place.syntax) {
            None if !all => None,
            Some(len) if len > 0 => {
                let behind = &bytes[len..];
                match behind.get(white_space(behind)) {
                    None => undecided,
                    Some(byte) => Some(ends(*byte == b',' || place.closer == Some(*byte))),
                }
            }
            _ => {
                let (end, looks) = place.marks.end(rest, all, !place.outer);
                place.unseen.set(rest.len().saturating_sub(looks));
                end.map(|end| ends(end.is_some()))
            }
        },
    }
}

/// True where the text at the beginning of `rest` belongs to the one before it: no key, and followed by what may stand
/// behind a value.
fn joins(rest: &str, all: bool, place: &Place<'_>) -> Option<bool> {
    let bytes = rest.as_bytes();
    let undecided = if all { Some(place.is_python()) } else { None };
    let Some(end) = text_end(bytes) else { return undecided };
    let behind = &bytes[end..];
    match behind.get(white_space(behind)) {
        None => undecided,
        Some(byte) if place.is_python() => Some(!place.is_pair(*byte)),
        Some(byte) => Some(*byte == b',' || place.closer == Some(*byte)),
    }
}

/// Where the text ends that the quote at the beginning opens, if its end is there.
fn text_end(bytes: &[u8]) -> Option<usize> {
    let mut at = 1;
    loop {
        match bytes.get(at)? {
            b'\\' => at += 2,
            byte if *byte == bytes[0] => return Some(at + 1),
            _ => at += 1,
        }
    }
}

/// True where a text in quotes stands at the beginning, and behind it what separates a key from its value.
pub(crate) fn is_member(bytes: &[u8]) -> bool {
    let behind = text_end(bytes).and_then(|end| bytes.get(end..)).unwrap_or_default();
    behind.get(white_space(behind)) == Some(&b':')
}

/// True where the first key of an object stands at the beginning, in quotes that are not escaped.
pub(super) fn begins_with_a_key(rest: &str, all: bool) -> Option<bool> {
    let rest = &rest.as_bytes()[white_space(rest.as_bytes())..];
    let long = all || rest.len() > MAX_KEY;
    match rest.first() {
        None => long.then_some(false),
        Some(b'"') => {
            let end = text_end(rest).filter(|end| *end < MAX_KEY);
            let behind = end.and_then(|end| rest.get(end + white_space(&rest[end..])));
            behind.map(|byte| *byte == b':').or(long.then_some(false))
        }
        Some(_) => Some(false),
    }
}

/// True when `rest`, behind a comma, goes on with another member or a closing bracket.
fn next_item(rest: &str, all: bool, place: &Place<'_>) -> Option<bool> {
    let rest = &rest[white_space(rest.as_bytes())..];
    let Some(c) = rest.chars().next() else { return if all { Some(true) } else { None } };
    match c {
        '"' | '\'' | '“' | '‘' => Some(!place.has_bare_keys()),
        '*' | '#' | ',' => Some(true),
        '/' if rest.len() == 1 && !all => None,
        '/' => Some(rest[1..].starts_with(['/', '*'])),
        _ if c.is_ascii() && place.closer == Some(c as u8) => Some(true),
        c if !c.is_ascii() || is_word(c as u8) => key(rest, all, place),
        _ if place.has_bare_keys() => Some(false),
        _ => match own_quote(rest, place.syntax) {
            None if !all => None,
            len => Some(len.is_some_and(|len| len > 0)),
        },
    }
}

/// True when a bare key stands at the beginning, with what separates it from its value.
fn key(rest: &str, all: bool, place: &Place<'_>) -> Option<bool> {
    let word = |byte: &u8| is_word(*byte) || *byte == b'-';
    let bytes = rest.as_bytes();
    let len = bytes.iter().take_while(|byte| word(byte)).count();
    let behind = len + white_space(&bytes[len..]);
    place.unseen.set(bytes.len().saturating_sub(behind + 1));
    if len > MAX_KEY {
        return Some(false);
    }
    match bytes.get(behind) {
        None => {
            if all {
                Some(true)
            } else {
                None
            }
        }
        Some(byte) => Some(place.is_pair(*byte)),
    }
}

/// True when a word of Python goes on an expression; none when more is needed.
fn goes_on(bytes: &[u8]) -> Option<bool> {
    let word: &[u8] = &bytes[..bytes.iter().take(4).take_while(|byte| is_word(**byte)).count()];
    let space = bytes.get(word.len())?.is_ascii_whitespace();
    Some(space && matches!(word, b"if" | b"for"))
}

/// How long the quote of the syntax's own is that stands at the beginning: 0 for none; none when more is needed.
fn own_quote(rest: &str, syntax: &Syntax) -> Option<usize> {
    for quote in &syntax.quotes {
        if rest.starts_with(quote.as_str()) {
            return Some(quote.len());
        }
        if quote.starts_with(rest) {
            return None;
        }
    }
    Some(0)
}

/// What stands at the beginning of `window`, behind a value that no comma or bracket ends. With it, how many bytes were
/// looked at.
pub(super) fn next(window: &str, all: bool, place: &Place<'_>) -> (Option<Next>, usize) {
    match place.marks.end(window, all, !place.outer) {
        (None, looks) => (None, looks),
        (Some(Some(_)), _) if place.has_bare_keys() && place.marks.end_len(window) == 1 => {
            place.counted(window, end_or_bracket(window, all, place))
        }
        (Some(Some(opens)), looks) => (Some(Next::End { opens }), looks),
        (Some(None), looks) => {
            let (next, more) = place.counted(window, next_in_call(window, all, place));
            (next, looks.max(more))
        }
    }
}

/// The same at a bracket that would end the call: it is one too many if another keyword argument follows it.
fn end_or_bracket(window: &str, all: bool, place: &Place<'_>) -> Option<Next> {
    let rest = &window[1..];
    let rest = &rest[white_space(rest.as_bytes())..];
    let goes_on = match rest.strip_prefix(',').map(|behind| (behind, behind.trim().is_empty())) {
        Some((behind, false)) => next_item(behind, all, place),
        None if !rest.is_empty() => Some(false),
        _ if all => Some(false),
        _ => None,
    };
    goes_on.map(|goes_on| if goes_on { Next::Other } else { Next::End { opens: false } })
}

/// The same where the call goes on.
fn next_in_call(window: &str, all: bool, place: &Place<'_>) -> Option<Next> {
    let byte = window.as_bytes().first().copied()?;
    let quotes = place.syntax.quotes.iter().map(String::len).max();
    place.unseen.set(window.len().saturating_sub(quotes.unwrap_or(0).max(1)));
    match own_quote(window, place.syntax) {
        None if !all => return None,
        Some(len) if len > 0 => return Some(Next::Quote(len)),
        _ => {}
    }
    let item = match byte {
        _ if place.has_bare_keys() => key(window, all, place)? && is_word(byte),
        b'"' | b'\'' => true,
        b'{' | b'[' => !place.keyed && !place.is_python(),
        _ => place.keyed && is_word(byte) && key(window, all, place)?,
    };
    Some(if item { Next::Item } else { Next::Other })
}

/// True when a comma or a line feed ends the bare text before `window`, since the next argument follows.
pub(super) fn edge(line: bool, window: &str, all: bool, place: &Place<'_>) -> Option<bool> {
    let rest = &window[white_space(window.as_bytes())..];
    let Some(&byte) = rest.as_bytes().first() else { return if all { Some(true) } else { None } };
    if line {
        return Some(place.closer == Some(byte) || matches!(byte, b',' | b'<'));
    }
    if is_word(byte) { key(rest, all, place) } else { Some(place.closer == Some(byte) || byte == b'*') }
}

/// True when the braces of Python before `window` hold items and no members.
pub(super) fn is_set(window: &str, all: bool) -> Option<bool> {
    let rest = &window[white_space(window.as_bytes())..];
    let bytes = rest.as_bytes();
    let undecided = if all { Some(false) } else { None };
    let Some(&first) = bytes.first() else { return undecided };
    let end = match first {
        // No item of a set is an object: the brace stands there twice.
        b'{' => return Some(false),
        b'(' | b'[' => return Some(true),
        b'"' | b'\'' => match text_end(bytes) {
            None => return undecided,
            Some(end) => end,
        },
        _ => bytes.iter().take_while(|byte| is_word(**byte) || matches!(byte, b'-' | b'+' | b'.')).count(),
    };
    match bytes.get(end + white_space(&bytes[end..])) {
        None => undecided,
        Some(byte) => Some(end > 0 && matches!(byte, b',' | b'}' | b'"' | b'\'')),
    }
}
