//! Words, numbers, and texts whose quotes were forgotten.

use std::borrow::Cow;

use super::on::On;
use super::text::{Quote, Text};
use super::words::{is_expression, is_word, literal, runs_on};
use super::{Family, Progress, Reader, State, Stop, quoted, white_space, window};
use crate::fault::FaultKind;

/// The longest bare word, in bytes.
const MAX_WORD: usize = 4096;

/// No literal is longer, in bytes.
const MAX_LITERAL: usize = 512;

impl Reader {
    /// In a value without quotes, which begins at the first kept byte.
    pub(super) fn bare(&mut self, on: &mut On<'_, '_>) -> Stop {
        let family = on.given.syntax.family;
        let python = family == Family::Python;
        // Line feeds before this place belong to the word.
        let mut inside = 0;
        loop {
            let top = self.stack.is_empty();
            let stop = |byte: &u8| {
                matches!(byte, b',' | b'\n' | b'}' | b']' | b')' | b'"' | b'\'' | b':' | b'=' | b'/' | b'#')
                    || on.given.marks.may_end(*byte)
                    || (top && !is_word(*byte) && !matches!(byte, b'+' | b'-' | b'.'))
            };
            let most = on.bytes.len().min(on.kept + MAX_WORD);
            let skip = on.bytes[on.look..most.max(on.look)].iter().position(stop);
            on.look = skip.map_or(most, |skip| on.look + skip);
            if skip.is_none() && most < on.bytes.len() {
                return Some(on.too_long(most));
            }
            let Some(&byte) = on.bytes.get(on.look) else {
                if top && on.last() {
                    return self.end_bare(on, on.look);
                }
                return Some(Progress::More);
            };
            let word = &on.text[on.kept..on.look];
            // A literal is over where something follows that cannot belong to it.
            let whole = word.len() < MAX_LITERAL && literal(word.trim(), family).is_some();
            if on.given.marks.may_end(byte) {
                match self.end_of_call(on) {
                    None => return Some(Progress::More),
                    Some(Some(_)) => return self.end_bare(on, on.look),
                    Some(None) => {}
                }
            }
            let word = &on.text[on.kept..on.look];
            let ends = match byte {
                b'"' | b'\'' if python && Text::prefixed(word).is_some() => return self.prefixed(on),
                b'"' | b'\'' | b'#' => whole,
                b'/' if whole => match on.bytes.get(on.look + 1) {
                    None if !on.last() => return Some(Progress::More),
                    next => matches!(next, Some(b'/' | b'*')),
                },
                b'}' | b']' | b')' => python || !opens_inside(word),
                b'\n' if on.look < inside => false,
                b',' | b'\n' if self.may_go_on(on, word, whole) && (byte == b',' || !python) => {
                    let place = self.place(on);
                    let line = byte == b'\n';
                    let question =
                        |window: &str, all| place.counted(window, window::edge(line, window, all, &place));
                    match self.search_ahead(on, on.look + 1, &question) {
                        None => return Some(Progress::More),
                        Some(ends) => {
                            inside = on.look + white_space(&on.bytes[on.look..]);
                            ends
                        }
                    }
                }
                b',' | b'\n' => true,
                b':' | b'=' => match runs_on(word, family) {
                    // The comma before the next key is missing.
                    Some(len) => {
                        on.at.rewind(on.at.kept + len);
                        true
                    }
                    None => false,
                },
                _ => top,
            };
            if ends {
                return self.end_bare(on, on.look);
            }
            on.look += 1;
        }
    }

    /// The quote at hand opens a text with a prefix.
    fn prefixed(&mut self, on: &mut On<'_, '_>) -> Stop {
        let Some(text) = Text::prefixed(&on.text[on.kept..on.look]) else {
            return Some(Progress::Broken);
        };
        match Quote::at(&on.text[on.look..], on.given.syntax, on.last()) {
            None => Some(Progress::More),
            Some(quote) => {
                on.kept = on.look;
                self.open_text(on, Text { quote: quote.unwrap_or_default(), ..text });
                None
            }
        }
    }

    /// True when the argument at hand can only be a text, so that a comma or a line feed may belong to it.
    fn may_go_on(&self, on: &On<'_, '_>, word: &str, whole: bool) -> bool {
        self.is_outer() && !on.given.syntax.spaced && !word.trim().is_empty() && !whole
    }

    /// The bare word ends at `end`.
    fn end_bare(&mut self, on: &mut On<'_, '_>, end: usize) -> Stop {
        let from = on.kept;
        let Some((json, behind)) = self.word(on, end) else { return Some(Progress::Broken) };
        on.rewind(behind);
        if json != on.text[from..behind] || !on.given.syntax.spaced {
            on.look = from;
            self.replace(on, &json, behind - from);
        }
        self.value_ends();
        (self.state == State::Done).then_some(Progress::Done)
    }

    /// The bare word up to `end` as JSON, and where it ends; none for what may not stand there.
    fn word<'a>(&mut self, on: &mut On<'_, 'a>, end: usize) -> Option<(Cow<'a, str>, usize)> {
        let syntax = on.given.syntax;
        let (family, from) = (syntax.family, on.kept);
        let word = on.text[from..end].trim();
        let python = family == Family::Python;
        let behind = from + on.text[from..end].trim_end().len();
        let json = match (literal(word, family), syntax.unopened(word)) {
            (_, Some(text)) => {
                on.note_markup(FaultKind::GuessedBorder, behind);
                Cow::Owned(quoted(text))
            }
            _ if word.is_empty() => return None,
            // Where any value may stand bare, the schema says what it is.
            (Some(_), _) if !python && self.wants_text => Cow::Owned(quoted(word)),
            (Some((json, mended)), _) => {
                if let Some(kind) = mended {
                    on.note(kind, behind);
                }
                json
            }
            _ if self.stack.is_empty() || is_expression(word, family, self.wants_text, self.is_outer()) => {
                return None;
            }
            // A word without a name is a variable.
            _ if python && self.is_outer() && self.unnamed.is_some_and(|place| place > 0) => return None,
            _ => {
                on.note(FaultKind::GuessedValue, behind);
                Cow::Owned(quoted(word))
            }
        };
        Some((json, behind))
    }
}

/// True when a bracket opens in a word and is not closed in it.
fn opens_inside(word: &str) -> bool {
    let count = |brackets: [u8; 3]| word.bytes().filter(|byte| brackets.contains(byte)).count();
    count(*b"([{") > count(*b")]}")
}
