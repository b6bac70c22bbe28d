//! Braces and brackets: one of several words, and one of several characters.

use super::{Builder, Lexer};
use crate::syntax::{Cause, Piece, Unclear};

/// More words than this do not come of one pair of braces.
const MAX_CHOICES: usize = 256;

impl Lexer<'_> {
    /// `{}` and `{word}` stand for themselves, `{a,b}` and `{1..3}` for several words, and `{` alone for itself.
    pub(super) fn brace(&mut self, word: &mut Builder) -> Result<(), Unclear> {
        if word.is_empty() && self.ends() {
            word.plain('{');
            return Ok(());
        }
        let rest = self.rest.as_str();
        let Some((inside, _)) = rest.split_once('}') else { return self.unclear(Cause::Brace) };
        if inside.bytes().all(|b| b.is_ascii_alphanumeric()) {
            word.quoted('{');
            for _ in 0..=inside.len() {
                if let Some(c) = self.next() {
                    word.quoted(c);
                }
            }
            return Ok(());
        }
        // Braces come before everything else: `$a{b,c}` would be the variables `ab` and `ac`.
        let lengthens =
            matches!(word.pieces.last(), Some(Piece::Variable { quoted: false, .. })) && !word.closed;
        let Some(choices) = choices(inside).filter(|_| !lengthens) else { return self.unclear(Cause::Brace) };
        for _ in 0..=inside.len() {
            self.next();
        }
        word.expansion(Piece::Choice(choices));
        Ok(())
    }

    /// `[` and `[[` by themselves, or a plain list of characters.
    pub(super) fn bracket(&mut self, word: &mut Builder) -> Result<(), Unclear> {
        if word.is_empty() && self.ends() {
            word.plain('[');
            return Ok(());
        }
        if word.is_empty() && self.rest.as_str().starts_with('[') {
            self.next();
            if !self.ends() {
                return self.unclear(Cause::Bracket);
            }
            word.plain('[');
            word.plain('[');
            return Ok(());
        }
        let rest = self.rest.as_str();
        let set = rest.split_once(']').and_then(|(inside, _)| Some((inside.len(), set(inside)?)));
        let Some((length, piece)) = set else { return self.unclear(Cause::Bracket) };
        for _ in 0..=length {
            self.next();
        }
        word.expansion(piece);
        Ok(())
    }
}

/// `a,b` or `1..3`, of plain characters.
fn choices(inside: &str) -> Option<Vec<String>> {
    let plain = |b: u8| b.is_ascii_alphanumeric() || b"_-./+,".contains(&b);
    if !inside.bytes().all(plain) {
        return None;
    }
    if inside.contains(',') {
        let parts: Vec<_> = inside.split(',').map(str::to_owned).collect();
        return (parts.len() <= MAX_CHOICES).then_some(parts);
    }
    let (first, last) = inside.split_once("..")?;
    let number = |text: &str| {
        let plain = text.len() <= 4 && (text == "0" || !text.starts_with('0'));
        text.parse::<u16>().ok().filter(|_| plain && !text.starts_with('+'))
    };
    let letter = |text: &str| match text.as_bytes() {
        [b] if b.is_ascii_lowercase() => Some(u16::from(*b)),
        _ => None,
    };
    let numbers = number(first).zip(number(last));
    let (from, to) = numbers.or_else(|| letter(first).zip(letter(last)))?;
    let show = |n: u16| match u8::try_from(n) {
        Ok(b) if numbers.is_none() => char::from(b).to_string(),
        _ => n.to_string(),
    };
    if usize::from(from.abs_diff(to)) >= MAX_CHOICES {
        return None;
    }
    Some(if from <= to { (from..=to).map(show).collect() } else { (to..=from).rev().map(show).collect() })
}

/// A list of characters such as `a-z0-9`, or of all others behind `!` or `^`.
fn set(inside: &str) -> Option<Piece> {
    let (others, list) = match inside.strip_prefix(['!', '^']) {
        Some(rest) => (true, rest),
        None => (false, inside),
    };
    let mut ranges = Vec::new();
    let mut rest = list.chars().peekable();
    while let Some(first) = rest.next() {
        if !(first.is_ascii_alphanumeric() || first == '_' || first == '.') {
            return None;
        }
        let mut last = first;
        if rest.next_if_eq(&'-').is_some() {
            last = rest.next()?;
            let alike = (first.is_ascii_digit() && last.is_ascii_digit())
                || (first.is_ascii_lowercase() && last.is_ascii_lowercase())
                || (first.is_ascii_uppercase() && last.is_ascii_uppercase());
            if !alike || last < first {
                return None;
            }
        }
        ranges.push((first, last));
    }
    (!ranges.is_empty()).then_some(Piece::Set { others, ranges })
}
