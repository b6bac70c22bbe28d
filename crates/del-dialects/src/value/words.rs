//! Words, numbers and escapes as JSON.

use std::borrow::Cow;

use super::{Family, white_space};
use crate::fault::FaultKind;

pub(super) fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}

/// A word or number as JSON, and what was mended in it; none for any other word.
pub(super) fn literal(word: &str, family: Family) -> Option<(Cow<'_, str>, Option<FaultKind>)> {
    let json = match word {
        "true" | "false" | "null" => return Some((Cow::Borrowed(word), None)),
        "True" => "true",
        "False" => "false",
        "None" => "null",
        "TRUE" => return Some((Cow::Borrowed("true"), Some(FaultKind::GuessedValue))),
        "FALSE" => return Some((Cow::Borrowed("false"), Some(FaultKind::GuessedValue))),
        "NULL" | "undefined" => return Some((Cow::Borrowed("null"), Some(FaultKind::GuessedValue))),
        word => return number(word, family),
    };
    let mended = match family {
        Family::Json => Some(FaultKind::GuessedValue),
        Family::Either => Some(FaultKind::Repaired),
        Family::Python | Family::Bare => None,
    };
    Some((Cow::Borrowed(json), mended))
}

/// A number as JSON: Python's spellings are read everywhere. What JSON does not write may have been meant as a text,
/// but for a sign or a dot at an end.
pub(crate) fn number(word: &str, family: Family) -> Option<(Cow<'_, str>, Option<FaultKind>)> {
    if is_json(word) {
        return Some((Cow::Borrowed(word), None));
    }
    let (sign, digits) = match word.as_bytes().first()? {
        b'-' => ("-", word[1..].trim_start()),
        b'+' => ("", &word[1..]),
        _ => ("", word),
    };
    // A point alone is none.
    if !digits.strip_prefix('.').unwrap_or(digits).starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    let python = family == Family::Python;
    let guess = |sure: bool| if sure { None } else { Some(FaultKind::GuessedValue) };
    if let Some(value) = based(digits) {
        return Some((Cow::Owned(format!("{sign}{value}")), guess(python)));
    }
    let grouped = digits.contains('_');
    let well_grouped = digits.split('_').all(|part| part.starts_with(|c: char| c.is_ascii_digit()));
    let mut plain = digits.replace('_', "");
    let zeros = plain.bytes().take_while(|byte| *byte == b'0').count();
    let padded = zeros > 0 && plain.as_bytes().get(zeros).is_some_and(u8::is_ascii_digit);
    if padded {
        plain.drain(..zeros);
    }
    if plain.starts_with('.') {
        plain.insert(0, '0');
    }
    if plain.ends_with('.') {
        plain.push('0');
    }
    if (grouped && !well_grouped) || !is_json(&plain) {
        return None;
    }
    let mended = match (grouped || padded, python) {
        (true, true) if !padded => None,
        (true, _) => Some(FaultKind::GuessedValue),
        (false, true) => None,
        (false, false) => Some(FaultKind::Repaired),
    };
    Some((Cow::Owned(format!("{sign}{plain}")), mended))
}

/// A whole number in base 16, 8 or 2.
fn based(digits: &str) -> Option<u128> {
    let (base, rest) = match digits.get(..2)? {
        "0x" | "0X" => (16, &digits[2..]),
        "0o" | "0O" => (8, &digits[2..]),
        "0b" | "0B" => (2, &digits[2..]),
        _ => return None,
    };
    let rest = rest.strip_prefix('_').unwrap_or(rest);
    let sound =
        rest.split('_').all(|part| !part.is_empty() && part.bytes().all(|b| b.is_ascii_alphanumeric()));
    if sound { u128::from_str_radix(&rest.replace('_', ""), base).ok() } else { None }
}

/// How long the word or number of JSON is that stands at the beginning, where a comma or a closing bracket follows it:
/// of good JSON it is the only question.
pub(super) fn json_literal(bytes: &[u8]) -> Option<usize> {
    let digits = |from: usize| bytes[from..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    let len = match bytes {
        [b't', b'r', b'u', b'e', ..] | [b'n', b'u', b'l', b'l', ..] => 4,
        [b'f', b'a', b'l', b's', b'e', ..] => 5,
        [b'-' | b'0'..=b'9', ..] => {
            let sign = usize::from(bytes[0] == b'-');
            let whole = digits(sign);
            if whole == 0 || (whole > 1 && bytes[sign] == b'0') {
                return None;
            }
            let point = sign + whole;
            match bytes.get(point) {
                Some(b'.') => match digits(point + 1) {
                    0 => return None,
                    part => point + 1 + part,
                },
                _ => point,
            }
        }
        _ => return None,
    };
    let behind = len + white_space(&bytes[len..]);
    matches!(bytes.get(behind), Some(b',' | b'}' | b']')).then_some(len)
}

/// True for a number as JSON writes it.
fn is_json(word: &str) -> bool {
    matches!(word.as_bytes().first(), Some(b'-' | b'0'..=b'9'))
        && serde_json::from_str::<serde::de::IgnoredAny>(word).is_ok()
        && word.ends_with(|c: char| c.is_ascii_digit())
}

/// True for a word or number of Python.
pub(super) fn is_literal(word: &str) -> bool {
    literal(word, Family::Python).is_some()
}

/// The key of an object as JSON has it: Python's words are other words there.
pub(super) fn key_of(word: &str) -> String {
    literal(word, Family::Python).map_or_else(|| word.to_owned(), |(json, _)| json.into_owned())
}

/// True for a bare word that is code rather than a text whose quotes were forgotten. `text` says that a text is declared
/// there, `outer` that it is an argument itself.
pub(super) fn is_expression(word: &str, family: Family, text: bool, outer: bool) -> bool {
    if family == Family::Bare && outer {
        return false;
    }
    let arithmetic = |c: char| {
        c.is_ascii_digit() || matches!(c, '.' | ' ' | '+' | '-' | '*' | '/' | '%' | 'j' | 'J' | '_')
    };
    word.contains(['(', '[', '{', '=', '"', '\''])
        || word.starts_with(['*', '@', ':'])
        || word.starts_with("lambda ")
        || (!outer && word.contains(" for ") && word.contains(" in "))
        || (!text && word.starts_with(|c: char| c.is_ascii_digit()) && word.chars().all(arithmetic))
}

/// How long the literal is that a bare word begins with, if the next key follows it: the comma between them is missing.
pub(super) fn runs_on(word: &str, family: Family) -> Option<usize> {
    let (first, rest) = word.trim_end().split_once(char::is_whitespace)?;
    let key = rest.trim_start().trim_matches(['"', '\'']);
    (literal(first, family).is_some() && !key.is_empty() && key.bytes().all(is_word)).then_some(first.len())
}

/// The length of the escape at the start, backslash included; none when more bytes are needed.
pub(super) fn escape_len(bytes: &[u8]) -> Option<usize> {
    let hex = match bytes.get(1)? {
        b'x' => 2,
        b'u' => 4,
        b'U' => 8,
        0x80.. => return Some(1),
        _ => return Some(2),
    };
    let digits = bytes[2..].iter().take(hex).take_while(|byte| byte.is_ascii_hexdigit()).count();
    match (digits == hex, bytes.len() >= 2 + hex || bytes.len() > 2 + digits) {
        (true, _)
            if hex == 4 && matches!(&bytes[2..4], [b'd' | b'D', b'8' | b'9' | b'a' | b'b' | b'A' | b'B']) =>
        {
            low_surrogate(&bytes[6..])
        }
        (true, _) => Some(2 + hex),
        (false, true) => Some(1),
        (false, false) => None,
    }
}

/// The length of an escape of two halves, the first of which is there.
fn low_surrogate(rest: &[u8]) -> Option<usize> {
    let fits = |(place, byte): (usize, &u8)| match place {
        0 => *byte == b'\\',
        1 => *byte == b'u',
        2 => matches!(byte, b'd' | b'D'),
        3 => matches!(byte, b'c'..=b'f' | b'C'..=b'F'),
        _ => byte.is_ascii_hexdigit(),
    };
    match rest.iter().take(6).enumerate().take_while(|pair| fits(*pair)).count() {
        6 => Some(12),
        len if len == rest.len() => None,
        _ => Some(6),
    }
}

/// What a Python escape stands for; one that Python does not know stands for itself.
pub(super) fn push_escape(spelling: &str, out: &mut String) {
    let mut chars = spelling.chars();
    chars.next();
    match chars.next() {
        None => out.push('\\'),
        Some('n') => out.push('\n'),
        Some('t') => out.push('\t'),
        Some('r') => out.push('\r'),
        Some('b') => out.push('\u{8}'),
        Some('f') => out.push('\u{c}'),
        Some('v') => out.push('\u{b}'),
        Some('a') => out.push('\u{7}'),
        Some('0') => out.push('\0'),
        Some('\n') => {}
        Some(c @ ('\\' | '\'' | '"')) => out.push(c),
        Some('u') if spelling.len() == 12 => {
            let units =
                [&spelling[2..6], &spelling[8..]].map(|hex| u16::from_str_radix(hex, 16).unwrap_or(0));
            out.extend(char::decode_utf16(units).map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER)));
        }
        Some('x' | 'u' | 'U') => {
            let code = u32::from_str_radix(chars.as_str(), 16).ok().and_then(char::from_u32);
            out.push(code.unwrap_or(char::REPLACEMENT_CHARACTER));
        }
        Some(_) => out.push_str(spelling),
    }
}

/// Appends `text` without its escapes.
pub(super) fn push_unescaped(text: &str, out: &mut String) {
    let mut rest = text;
    while let Some((before, _)) = rest.split_once('\\') {
        out.push_str(before);
        let at = before.len();
        let len = escape_len(&rest.as_bytes()[at..]).unwrap_or(rest.len() - at).min(rest.len() - at);
        push_escape(&rest[at..at + len], out);
        rest = &rest[at + len..];
    }
    out.push_str(rest);
}
