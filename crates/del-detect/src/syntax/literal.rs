//! Values as templates write them: JSON, Python's literals, and objects with quotes of their own, with their places.

use std::ops::Range;

use serde_json::{Map, Number, Value as Json};

/// How a value is written.
#[derive(Debug, Clone)]
pub(super) struct Syntax<'q> {
    /// Quotes of texts. Those of one byte know escapes.
    pub(super) quotes: &'q [String],
    /// Opens, closes and pairs at the outer level; inner objects are always in braces, with a colon.
    pub(super) outer: [char; 3],
}

/// A member of an object.
#[derive(Debug, Clone)]
pub(super) struct Member {
    pub(super) key: String,
    /// The key with its quotes.
    pub(super) key_at: Range<usize>,
    pub(super) value: Json,
    pub(super) value_at: Range<usize>,
    pub(super) quoted: bool,
}

const BRACES: [char; 3] = ['{', '}', ':'];
const MAX_DEPTH: usize = 32;

impl Syntax<'_> {
    /// The object that begins at a place: its members, and where it ends.
    pub(super) fn object(&self, text: &str, at: usize) -> Option<(Vec<Member>, usize)> {
        self.members(text, at, self.outer, 0)
    }

    fn members(
        &self,
        text: &str,
        at: usize,
        [open, close, pair]: [char; 3],
        depth: usize,
    ) -> Option<(Vec<Member>, usize)> {
        let mut at = at + text[at..].strip_prefix(open).map(|_| open.len_utf8())?;
        let mut members = Vec::new();
        loop {
            at = spaces(text, at);
            if text[at..].starts_with(close) {
                return Some((members, at + close.len_utf8()));
            }
            if !members.is_empty() {
                at = spaces(text, at + text[at..].strip_prefix(',').map(|_| 1)?);
            }
            let start = at;
            let (key, quoted, end) = match self.text(text, at) {
                Some((key, end)) => (key, true, end),
                None => {
                    let end = word(text, at);
                    (text[at..end].to_owned(), false, end)
                }
            };
            if end == start {
                return None;
            }
            at = spaces(text, end);
            at = spaces(text, at + text[at..].strip_prefix(pair).map(|_| pair.len_utf8())?);
            let (value, end_of_value) = self.value(text, at, depth + 1)?;
            members.push(Member { key, key_at: start..end, value, value_at: at..end_of_value, quoted });
            at = end_of_value;
        }
    }

    /// The value that begins at a place, and where it ends.
    pub(super) fn value(&self, text: &str, at: usize, depth: usize) -> Option<(Json, usize)> {
        if depth > MAX_DEPTH {
            return None;
        }
        if let Some((string, end)) = self.text(text, at) {
            return Some((Json::String(string), end));
        }
        match text[at..].chars().next()? {
            '{' => {
                let (members, end) = self.members(text, at, BRACES, depth)?;
                let members: Map<String, Json> =
                    members.into_iter().map(|member| (member.key, member.value)).collect();
                Some((Json::Object(members), end))
            }
            '[' => self.items(text, at + 1, ']', depth),
            '(' => self.items(text, at + 1, ')', depth),
            _ => scalar(text, at),
        }
    }

    fn items(&self, text: &str, at: usize, close: char, depth: usize) -> Option<(Json, usize)> {
        let mut items = Vec::new();
        let mut at = spaces(text, at);
        while !text[at..].starts_with(close) {
            if !items.is_empty() {
                at = spaces(text, at + text[at..].strip_prefix(',').map(|_| 1)?);
            }
            let (item, end) = self.value(text, at, depth + 1)?;
            items.push(item);
            at = spaces(text, end);
        }
        Some((Json::Array(items), at + 1))
    }

    /// The text in quotes that begins at a place.
    fn text(&self, text: &str, at: usize) -> Option<(String, usize)> {
        let rest = &text[at..];
        let quote = self
            .quotes
            .iter()
            .filter(|quote| rest.starts_with(quote.as_str()))
            .max_by_key(|quote| quote.len())?;
        let body = &rest[quote.len()..];
        if quote.len() > 1 {
            let len = body.find(quote.as_str())?;
            return Some((body[..len].to_owned(), at + 2 * quote.len() + len));
        }
        let mut out = String::new();
        let mut chars = body.char_indices();
        while let Some((place, c)) = chars.next() {
            match c {
                '\\' => out.push(escaped(&mut chars)?),
                c if quote.starts_with(c) => return Some((out, at + 1 + place + 1)),
                c => out.push(c),
            }
        }
        None
    }
}

/// The character that an escape stands for, behind its backslash.
fn escaped(chars: &mut std::str::CharIndices<'_>) -> Option<char> {
    Some(match chars.next()?.1 {
        'n' => '\n',
        't' => '\t',
        'r' => '\r',
        'b' => '\u{8}',
        'f' => '\u{c}',
        'u' => {
            let mut unit = || {
                let digits: String = chars.by_ref().take(4).map(|(_, c)| c).collect();
                u16::from_str_radix(&digits, 16).ok()
            };
            let first = unit()?;
            let units = if (0xD800..0xDC00).contains(&first) {
                chars.next()?;
                chars.next()?;
                let digits: String = chars.by_ref().take(4).map(|(_, c)| c).collect();
                vec![first, u16::from_str_radix(&digits, 16).ok()?]
            } else {
                vec![first]
            };
            char::decode_utf16(units).next()?.ok()?
        }
        other => other,
    })
}

fn scalar(text: &str, at: usize) -> Option<(Json, usize)> {
    let end = word(text, at);
    let value = match &text[at..end] {
        "true" | "True" => Json::Bool(true),
        "false" | "False" => Json::Bool(false),
        "null" | "None" => Json::Null,
        number => Json::Number(number.parse::<Number>().ok()?),
    };
    Some((value, end))
}

/// Where the word or number that begins at a place ends.
fn word(text: &str, at: usize) -> usize {
    let len = text[at..].find(|c: char| !c.is_alphanumeric() && !matches!(c, '_' | '-' | '.' | '+'));
    len.map_or(text.len(), |len| at + len)
}

/// The next place that is no white space.
fn spaces(text: &str, at: usize) -> usize {
    text.len() - text[at..].trim_start().len()
}
