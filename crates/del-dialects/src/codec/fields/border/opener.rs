//! An opener of a field, or a key without one, inside a value: does it open one there?

use super::super::delimiters::Delimiter;
use super::super::elements::is_key;
use super::super::header::{Header, MAX_HEADER};
use super::super::lookahead::{Found, Lookahead};
use super::{Given, Verdict};
use crate::dialect::{FieldForm, KeyKind, Slot, is_token};
use crate::scan::{Anchored, is_word};
use crate::tool::may_have;

/// True where nothing is written behind a value, so that what follows it ends it.
pub(super) fn is_unclosed(form: &FieldForm) -> bool {
    form.parts.last() == Some(&Slot::Value)
}

/// True where only a token of the model's markup opens a field.
pub(super) fn opens_with_tokens(form: &FieldForm) -> bool {
    form.open.iter().all(|open| is_token(open))
}

impl Lookahead<'_> {
    /// Whether a key stands at `from` without an opener, with the end of its header behind it; none when that cannot be
    /// said yet.
    pub(super) fn has_key(&mut self, from: usize) -> Option<bool> {
        let Given { form, marks, tool, .. } = *self.given;
        if let Some(line) = &marks.line {
            return match self.find(&marks.header, from, from + MAX_HEADER) {
                Err(_) if self.may_grow(from, MAX_HEADER) => None,
                Err(_) => Some(false),
                Ok(end) => {
                    let key = line.key(&self.text[from..end.start], tool);
                    Some(
                        end.delimiter == Delimiter::Header && key.is_some_and(|key| !self.keys.contains(key)),
                    )
                }
            };
        }
        if form.key != KeyKind::Whole && !form.free {
            return Some(false);
        }
        let window = self.window(from, MAX_HEADER);
        let word = window[from..].iter().take_while(|byte| is_word(**byte)).count();
        match self.stands(&marks.header, from, word, MAX_HEADER) {
            Anchored::Found(hit) => Some(word > 0 && marks.header.delimiter(hit) == Delimiter::Header),
            Anchored::More if self.may_grow(from, MAX_HEADER) => None,
            _ => Some(false),
        }
    }

    /// The opener of another field: it is one if its key may follow.
    pub(super) fn opener(&mut self, found: Found, border: Option<usize>) -> Verdict {
        let (given, from) = (self.given, found.end);
        if self.field.elements && border.is_none() {
            return Verdict::Data(found.end);
        }
        let end = match self.find(&given.marks.header, from, from + MAX_HEADER) {
            Err(_) if self.may_grow(from, MAX_HEADER) => return Verdict::More,
            Err(_) => return Verdict::Data(found.end),
            Ok(end) => end,
        };
        let Some(header) = Header::read(&self.text[from..end.start], given) else {
            return Verdict::Data(found.end);
        };
        let follows = self.may_follow(&header.key, border.is_some());
        let inline = self.is_inline(found);
        if follows && !inline {
            return self.ends_unclosed(found, border, found.start);
        }
        let written = end.delimiter == Delimiter::Header && self.is_written(&header.key, from);
        let meant = if inline { follows && given.tool.is_some() } else { written };
        self.open += usize::from(is_key(&header.key));
        if meant { Verdict::Guessed(found.end) } else { Verdict::Data(found.end) }
    }

    /// True for a key that stands right behind the opener at `from`, unless its attribute is named there.
    fn is_written(&self, key: &str, from: usize) -> bool {
        let named = matches!(self.given.form.key, KeyKind::Attribute(_));
        let spaced = matches!(self.given.form.parts.first(), Some(Slot::Text(open)) if open.ends_with(' '));
        let rest = &self.text[from..];
        let rest = if spaced { rest.strip_prefix(' ').unwrap_or(rest) } else { rest };
        is_key(key) && (named || !rest.starts_with(char::is_whitespace))
    }

    /// True where delimiters have lines of their own, and this one has none.
    fn is_inline(&self, found: Found) -> bool {
        self.given.form.framed && !self.field.compact && !self.text[found.start..].starts_with('\n')
    }

    /// Whether a field of this key may open here, though nothing closed the value before it.
    fn may_follow(&self, key: &str, words: bool) -> bool {
        let Given { form, tool, .. } = *self.given;
        !self.keys.contains(key)
            && may_have(tool, key)
            && (tool.is_some()
                || (form.framed && !self.field.compact)
                || is_unclosed(form)
                || opens_with_tokens(form)
                || (words && form.repeats_key() && is_key(key)))
    }
}
