//! Words, numbers, and texts whose quotes were forgotten.

use super::behind::Behind;
use super::text::Text;
use super::words::{char_end, is_expression, literal, runs_on};
use super::{Bracket, LooseProgress, LooseReader, MAX_WORD, On, State, Stop};
use crate::fault::FaultKind;
use crate::schema::{Types, quoted, typed};

/// What is known of the bare word at hand.
#[derive(Debug, Default)]
pub(super) struct Bare {
    /// Brackets that were opened in it.
    inner: usize,
    /// It holds a comma, or goes over several lines.
    prose: bool,
}

impl LooseReader {
    /// A value begins that stands in no quotes.
    pub(super) fn begin_bare(&mut self) {
        self.word.clear();
        self.bare = Bare::default();
        self.state = State::Bare;
    }

    pub(super) fn bare(&mut self, on: &mut On<'_, '_>, byte: u8) -> Stop {
        let python = on.given.form.quoted_keys;
        if on.given.form.is_short_quote(byte)
            && let Some(text) = Text::prefixed(&self.word)
        {
            self.text = text;
            self.enter(State::Quote { key: false });
            return None;
        }
        let closes = matches!(byte, b'}' | b']' | b')');
        let may_go_on = self.is_outer() && self.may_go_on();
        if byte == b',' && may_go_on {
            on.look += 1;
            self.state = State::Behind(Behind::comma());
        } else if byte == b'\n' && may_go_on && !python {
            on.look += 1;
            self.state = State::Behind(Behind::line());
        } else if matches!(byte, b',' | b'\n') || (closes && (python || self.bare.inner == 0)) {
            return if self.bare_ends(on) { None } else { Some(LooseProgress::Broken) };
        } else if byte == b'<' {
            self.enter(State::Mark { bare: true });
        } else {
            return self.bare_char(on);
        }
        None
    }

    /// One more character of a bare word.
    pub(super) fn bare_char(&mut self, on: &mut On<'_, '_>) -> Stop {
        let end = char_end(on.given.text, on.look);
        match on.bytes[on.look] {
            b'(' | b'[' | b'{' => self.bare.inner += 1,
            b')' | b']' | b'}' => self.bare.inner = self.bare.inner.saturating_sub(1),
            b',' | b'\n' => self.bare.prose = true,
            _ => {}
        }
        self.word.push_str(&on.given.text[on.look..end]);
        on.look = end;
        self.state = State::Bare;
        (self.word.len() > MAX_WORD).then_some(LooseProgress::Broken)
    }

    /// True when the word at hand can only be a text, so that a comma or a line feed may belong to it.
    fn may_go_on(&self) -> bool {
        self.bare.prose || (!self.word.trim().is_empty() && literal(&self.word).is_none())
    }

    /// The bare word ends; false when it is nothing that may stand there.
    pub(super) fn bare_ends(&mut self, on: &mut On<'_, '_>) -> bool {
        let word = self.word.trim();
        let python = on.given.form.quoted_keys;
        let types = if self.is_outer() { self.types } else { Types::default() };
        let json = match (literal(word), on.given.form.unopened(word)) {
            (_, Some(text)) if !python => {
                let types = if types.excludes_string() { types } else { Types::TEXT };
                let Ok(read) = typed(text, types, self.spelling(on.given.form)) else { return false };
                self.notes.add_markup(FaultKind::GuessedBorder, on.look);
                read.json
            }
            _ if word.is_empty() || (!python && runs_on(word)) => return false,
            // Where any value may stand bare, the schema says what it is.
            (Some(_), _) if !python && types.only_string() => quoted(word),
            (Some(json), _) => json,
            (None, _) if python && is_expression(word, types.string, self.is_outer()) => return false,
            // A word without a name is a variable.
            (None, _) if python && self.is_outer() && self.unnamed.is_some_and(|place| place > 0) => {
                return false;
            }
            (None, _) if types == Types::default() => {
                self.notes.add(FaultKind::GuessedValue, on.look);
                quoted(word)
            }
            (None, _) => {
                let Ok(read) = typed(word, types, self.spelling(on.given.form)) else { return false };
                self.notes.add(FaultKind::GuessedValue, on.look);
                self.notes.add_read(&read, on.look);
                read.json
            }
        };
        if self.top() == Some(Bracket::Group) {
            self.first = Some(json);
        } else {
            on.put(&json);
        }
        self.word.clear();
        self.state = State::After;
        true
    }
}
