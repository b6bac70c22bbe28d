//! What stands behind a quote that may end a text, or behind a comma or a line feed that may end a bare word: models
//! forget to escape quotes, and to write them.
//!
//! A quote ends its text where only Python can go on: a comma and the next key, a bracket that is open, another text,
//! an operator. Anything else shows that the quote stands inside the text.

use super::words::is_word;
use super::{Bracket, LooseProgress, LooseReader, On, State, Stop};
use crate::fault::FaultKind;

/// A place behind a quote, a comma or a line feed, which is held until it is clear what it means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Behind {
    quote: bool,
    stage: Stage,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// Behind the quote, and perhaps white space.
    Quote { space: bool },
    /// Behind a dot: a method of the text, or the end of a sentence.
    Dot,
    /// In a word, which began so many bytes ago: `if` and `for` go on a Python expression.
    Word { len: usize },
    /// In a quote of several characters, so far into it: nobody opened it, as the text had another.
    Left { len: usize },
    /// Behind a comma.
    Comma,
    /// Behind a line feed in a bare word.
    Line,
    /// In what may be the next key, which began so many bytes ago.
    Key { len: usize },
    /// Behind it.
    KeyEnd,
    /// Behind the bracket that closes the arguments.
    Closer,
}

/// The longest key that is waited for, in bytes.
const MAX_KEY: usize = 128;

impl Behind {
    pub(super) fn quote() -> Self {
        Self { quote: true, stage: Stage::Quote { space: false } }
    }

    pub(super) fn comma() -> Self {
        Self { quote: false, stage: Stage::Comma }
    }

    pub(super) fn line() -> Self {
        Self { quote: false, stage: Stage::Line }
    }
}

impl LooseReader {
    /// Looks at one byte behind what is held.
    pub(super) fn behind(&mut self, on: &mut On<'_, '_>, behind: Behind, byte: u8) -> Stop {
        let space = matches!(byte, b' ' | b'\t' | b'\n' | b'\r');
        let short = on.given.form.is_short_quote(byte);
        let outer = self.stack.len() == 1;
        let closes = self.closer() == Some(byte);
        let open = self.stack.iter().any(|bracket| bracket.closer() == byte);
        let next = match behind.stage {
            Stage::Quote { .. } if space => Stage::Quote { space: true },
            Stage::Quote { .. } if byte == b',' && outer && self.unnamed.is_none() => Stage::Comma,
            Stage::Quote { .. } if closes && outer => Stage::Closer,
            Stage::Quote { .. } if byte == b'.' => Stage::Dot,
            Stage::Quote { space: true } if is_word(byte) && !self.text.nested => Stage::Word { len: 1 },
            Stage::Quote { .. } if !short && on.given.form.long_quote().starts_with(char::from(byte)) => {
                Stage::Left { len: 1 }
            }
            Stage::Quote { .. } => {
                let goes_on =
                    (short && !self.text.nested) || open || matches!(byte, b',' | b'+' | b'%' | b'*' | b'[');
                return self.decide(on, behind, goes_on);
            }
            Stage::Left { len } => match on.given.form.long_quote().as_bytes().get(len) {
                Some(next) if *next == byte => Stage::Left { len: len + 1 },
                None if space => Stage::Left { len },
                next => return self.decide(on, behind, next.is_none() && (byte == b',' || closes)),
            },
            Stage::Dot => return self.decide(on, behind, byte.is_ascii_alphabetic()),
            Stage::Word { len } if is_word(byte) && len < 4 => Stage::Word { len: len + 1 },
            Stage::Word { len } => {
                let word = matches!(&on.bytes[on.look - len..on.look], b"if" | b"for");
                return self.decide(on, behind, word && space);
            }
            Stage::Comma if space => Stage::Comma,
            Stage::Line if space => Stage::Line,
            Stage::Line => {
                return self.decide(on, behind, closes || matches!(byte, b',' | b'<'));
            }
            Stage::Comma if is_word(byte) => Stage::Key { len: 0 },
            Stage::Comma => return self.decide(on, behind, closes || byte == b'*'),
            Stage::Key { len } if (is_word(byte) || byte == b'-') && len < MAX_KEY => {
                Stage::Key { len: len + 1 }
            }
            Stage::Key { .. } | Stage::KeyEnd if space => Stage::KeyEnd,
            Stage::Key { .. } | Stage::KeyEnd => {
                return self.decide(on, behind, byte == on.given.form.pair || byte == b':');
            }
            Stage::Closer if space => Stage::Closer,
            Stage::Closer => {
                let wrapped = on.given.marks.wrapped;
                return self.decide(on, behind, (byte != b')' || wrapped) && !short);
            }
        };
        on.look += 1;
        self.state = State::Behind(Behind { stage: next, ..behind });
        None
    }

    /// What is held ends the text or the bare word, or is part of it.
    pub(super) fn decide(&mut self, on: &mut On<'_, '_>, behind: Behind, ends: bool) -> Stop {
        match (behind.quote, ends) {
            (true, true) => {
                on.back(on.kept + 1);
                return self.text_ends();
            }
            (true, false) => {
                self.text.nested = true;
                self.notes.add_markup(FaultKind::GuessedBorder, on.kept);
                on.back(on.kept);
                if !self.pass_on_quote(on) {
                    return Some(LooseProgress::Broken);
                }
                self.enter(State::Text);
            }
            (false, true) => {
                on.back(on.kept);
                if !self.bare_ends(on) {
                    return Some(LooseProgress::Broken);
                }
            }
            (false, false) => {
                on.back(on.kept);
                self.state = State::Bare;
                return self.bare_char(on);
            }
        }
        None
    }

    fn pass_on_quote(&mut self, on: &mut On<'_, '_>) -> bool {
        on.look += 1;
        self.pass_on(on, on.look)
    }

    /// True where the arguments of the call itself stand.
    pub(super) fn is_outer(&self) -> bool {
        matches!(self.top(), Some(Bracket::Outer(_)))
    }
}
