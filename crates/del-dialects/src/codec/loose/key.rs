//! Keys of arguments and of objects, and arguments that have none.

use super::words::{char_end, is_word, key_of, literal};
use super::{Bracket, LooseProgress, LooseReader, MAX_WORD, On, State, Stop, Text};
use crate::fault::FaultKind;
use crate::schema::{Types, escape, positional, quoted, types_of};

impl LooseReader {
    pub(super) fn key(&mut self, on: &mut On<'_, '_>, byte: u8) -> Stop {
        let (outer, brace) = (self.stack.len() == 1, self.top() == Some(Bracket::Brace));
        if self.closer() == Some(byte) {
            if !std::mem::replace(&mut self.begun, true) {
                return Some(LooseProgress::Begun);
            }
            on.look += 1;
            if brace {
                self.open_object(on);
            }
            return self.close(on);
        }
        self.word.clear();
        self.quoted = false;
        let signed = !outer && matches!(byte, b'-' | b'+' | b'.');
        if is_word(byte) || signed {
            self.state = State::BareKey;
        } else if brace && matches!(byte, b'(' | b'[' | b'{') {
            on.put("[");
            self.turn_into(Bracket::Set);
            self.state = State::Value { first: false };
        } else if !outer || on.given.form.pair == b':' {
            self.text = Text::default();
            self.enter(State::Quote { key: true });
        } else if byte == b'*' || byte == b'=' {
            return Some(LooseProgress::Broken);
        } else {
            return self.without_name(on);
        }
        None
    }

    pub(super) fn bare_key(&mut self, on: &mut On<'_, '_>, byte: u8) -> Stop {
        // Where all keys stand bare, words with spaces between them are one: only its colon ends a key.
        let space = matches!(byte, b' ' | b'\t') && !on.given.form.quoted_keys;
        if !space && !is_word(byte) && !matches!(byte, b'-' | b'+' | b'.' | b'$') {
            self.word.truncate(self.word.trim_end().len());
            self.state = State::Pair;
            return None;
        }
        let end = char_end(on.given.text, on.look);
        self.word.push_str(&on.given.text[on.look..end]);
        on.look = end;
        (self.word.len() > MAX_WORD).then_some(LooseProgress::Broken)
    }

    pub(super) fn pair(&mut self, on: &mut On<'_, '_>, byte: u8) -> Stop {
        let outer = self.stack.len() == 1;
        if self.quoted && on.given.form.is_short_quote(byte) {
            self.enter(State::Quote { key: true });
            return None;
        }
        if self.top() == Some(Bracket::Brace) && matches!(byte, b',' | b'}') {
            on.put("[");
            self.turn_into(Bracket::Set);
            let json = if self.quoted { Some(quoted(&self.word)) } else { literal(&self.word) };
            let Some(json) = json else { return Some(LooseProgress::Broken) };
            on.put(&json);
            self.state = State::After;
            return None;
        }
        if byte != b':' && !(byte == b'=' && outer) {
            let ends = byte == b',' || self.closer() == Some(byte);
            if !outer || self.quoted || !ends || on.given.form.pair != b'=' {
                return Some(LooseProgress::Broken);
            }
            let word = self.word.clone();
            let stop = self.without_name(on);
            self.word = word;
            return stop.or_else(|| if self.bare_ends(on) { None } else { Some(LooseProgress::Broken) });
        }
        if !std::mem::replace(&mut self.begun, true) {
            return Some(LooseProgress::Begun);
        }
        on.look += 1;
        let word = std::mem::take(&mut self.word);
        let json = !outer && !self.quoted && on.given.form.quoted_keys;
        self.write_key(on, &if json { key_of(&word) } else { word });
        if outer {
            self.unnamed = None;
        }
        None
    }

    /// An argument begins without its name: it has the one that the tool declares at this place, if that is plain.
    pub(super) fn without_name(&mut self, on: &mut On<'_, '_>) -> Stop {
        let key = self.unnamed.zip(on.given.tool).and_then(|(place, tool)| positional(tool, place));
        let Some(key) = key else { return Some(LooseProgress::Broken) };
        if !std::mem::replace(&mut self.begun, true) {
            return Some(LooseProgress::Begun);
        }
        self.unnamed = self.unnamed.map(|place| place + 1);
        self.notes.add(FaultKind::GuessedValue, on.look);
        self.write_key(on, key);
        None
    }

    fn write_key(&mut self, on: &mut On<'_, '_>, key: &str) {
        self.open(on);
        if self.top() == Some(Bracket::Brace) {
            self.open_object(on);
        }
        self.keys.begin();
        self.keys.add(key.as_bytes());
        if self.keys.is_repeated() {
            self.notes.add_markup(FaultKind::DuplicateKey, on.look);
        }
        self.types = if self.stack.len() == 1 { types_of(on.given.tool, key) } else { Types::default() };
        self.scratch.clear();
        self.scratch.push('"');
        escape(key, &mut self.scratch);
        self.scratch.push_str("\":");
        on.put(&self.scratch);
        self.state = State::Value { first: false };
    }
}
