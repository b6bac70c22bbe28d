//! Between tokens: where a value, a key, a comma or a comment may stand, and what is mended there.

use super::on::On;
use super::text::Quote;
use super::words::{self, is_word};
use super::{Bracket, Family, MAX_HELD_SPACE, Progress, Reader, State, Stop, Then, white_space, window};
use crate::fault::FaultKind;
use crate::scan::find;

impl Reader {
    /// Between tokens.
    pub(super) fn structure(&mut self, on: &mut On<'_, '_>) -> Stop {
        let space = white_space(&on.bytes[on.look..]);
        on.look += space;
        if !on.given.syntax.spaced && !self.holds() {
            on.kept = on.look;
        }
        let Some(&byte) = on.bytes.get(on.look) else {
            if self.state == State::Comma && !self.owed && on.look - on.kept > MAX_HELD_SPACE {
                self.owe_comma(on);
            }
            return Some(Progress::More);
        };
        if matches!(byte, b'/' | b'#') && !self.stack.is_empty() {
            let first = self.state == State::Key && self.keys.is_first();
            let Some(comment) = on.comment(matches!(self.state, State::Value { .. }), first) else {
                return Some(Progress::More);
            };
            if let Some(block) = comment {
                self.open_comment(on, block);
                return None;
            }
        }
        if byte == b'\\' && !self.stack.is_empty() {
            match on.bytes.get(on.look + 1) {
                None if !on.last() => return Some(Progress::More),
                Some(b'n' | b'r' | b't') => {
                    self.leave_out(on, 2);
                    return None;
                }
                _ => {}
            }
        }
        match self.state {
            State::Value { first } => self.value(on, byte, first),
            State::Key => self.begin_key(on, byte),
            State::Pair => self.pair(on, byte),
            State::After => self.after(on, byte),
            _ => self.comma(on, byte),
        }
    }

    /// The first byte of a value.
    pub(super) fn value(&mut self, on: &mut On<'_, '_>, byte: u8, first: bool) -> Stop {
        if first && self.closer() == Some(byte) {
            return self.close(on);
        }
        if self.stack.is_empty()
            && let Some(outer) = on.given.syntax.outer
        {
            let Some(closer) = outer.closer(byte) else { return Some(Progress::Broken) };
            on.skip(1);
            self.push(Bracket::Outer(closer));
            self.enter(State::Key);
            return None;
        }
        if self.watches() && !std::mem::replace(&mut self.told, true) {
            return Some(Progress::Value(byte));
        }
        if matches!(byte, b'{' | b'[' | b'(') {
            return self.open(on, byte);
        }
        if byte == b',' && first {
            // A comma before the first item.
            self.repair_comma(on);
            return None;
        }
        if on.given.syntax.spaced
            && let Some(len) = words::json_literal(&on.bytes[on.look..])
        {
            on.look += len;
            self.value_ends();
            return None;
        }
        match Quote::at(&on.text[on.look..], on.given.syntax, on.last()) {
            None => Some(Progress::More),
            Some(Some(Quote::Double)) => match self.open_in_quotes(on) {
                None => Some(Progress::More),
                Some(true) => None,
                Some(false) => {
                    self.begin_text(on, Quote::Double);
                    None
                }
            },
            Some(Some(quote)) => {
                self.begin_text(on, quote);
                None
            }
            // What stands alone is a word or a number, if it is anything.
            Some(None) if self.stack.is_empty() && !is_word(byte) && !matches!(byte, b'+' | b'-' | b'.') => {
                Some(Progress::Broken)
            }
            Some(None) => {
                self.flush(on, on.look);
                self.enter(State::Bare);
                None
            }
        }
    }

    /// Behind a value.
    pub(super) fn after(&mut self, on: &mut On<'_, '_>, byte: u8) -> Stop {
        if byte == b',' {
            self.open_tuple(on);
            let behind = on.look + 1 + white_space(&on.bytes[on.look + 1..]);
            let item = on.bytes.get(behind).is_some_and(|next| !b",}])/#".contains(next));
            if item && on.given.syntax.spaced {
                on.look = behind;
                self.expect_item();
                return None;
            }
            self.flush(on, on.look);
            on.look += 1;
            self.enter(State::Comma);
            return None;
        }
        if self.closer() == Some(byte) {
            return self.close(on);
        }
        if self.stack.iter().any(|bracket| bracket.closer() == byte) {
            // The brackets inside are not closed, and everything in them is whole.
            on.at.note(self.missing(), on.at.look);
            self.flush(on, on.look);
            while self.closer() != Some(byte) {
                self.close_unseen(on);
            }
            return None;
        }
        self.unexpected(on)
    }

    /// Another item follows in parentheses: they are a list.
    pub(super) fn open_tuple(&mut self, on: &mut On<'_, '_>) {
        if let Some(Bracket::Group(from)) = self.top() {
            self.flush(on, on.look);
            self.group.insert(from, '[');
            self.turn_into(Bracket::Tuple);
        }
    }

    /// Behind a comma.
    pub(super) fn comma(&mut self, on: &mut On<'_, '_>, byte: u8) -> Stop {
        if self.closer() == Some(byte) {
            if !on.given.syntax.ends_with_comma() {
                on.at.note(FaultKind::Repaired, on.at.look);
            }
            self.owe_comma(on);
            self.owed = false;
            return self.close(on);
        }
        if byte == b',' {
            self.repair_comma(on);
            return None;
        }
        if std::mem::take(&mut self.owed) {
            self.flush(on, on.look);
            self.emit(on, ",");
        } else if !on.given.syntax.spaced {
            on.kept = on.look;
            self.emit(on, ",");
        }
        self.expect_item();
        None
    }

    /// A key or a value is expected next.
    pub(super) fn expect_item(&mut self) {
        let keyed = self.top().is_some_and(Bracket::is_keyed);
        self.unsure = false;
        self.enter(if keyed { State::Key } else { State::Value { first: false } });
    }

    /// The comma behind which the reader is goes out with the next item, if one comes.
    pub(super) fn owe_comma(&mut self, on: &mut On<'_, '_>) {
        if !std::mem::replace(&mut self.owed, true) {
            on.kept = if on.given.syntax.spaced { on.kept + 1 } else { on.look };
            self.flush(on, on.look);
        }
    }

    /// A comma too many: among members nothing can be missing between two, in a list a value may be.
    pub(super) fn repair_comma(&mut self, on: &mut On<'_, '_>) {
        let keyed = self.top().is_some_and(Bracket::is_keyed);
        on.at.note(if keyed { FaultKind::Repaired } else { FaultKind::GuessedValue }, on.at.look);
        if self.state == State::Comma {
            self.owe_comma(on);
        }
        self.flush(on, on.look);
        on.skip(1);
    }

    /// Behind a value stands something else than a comma or a closing bracket.
    pub(super) fn unexpected(&mut self, on: &mut On<'_, '_>) -> Stop {
        let place = self.place(on);
        let next = self.search_ahead(on, on.look, &|window, all| window::next(window, all, &place));
        let Some(next) = next else { return Some(Progress::More) };
        match next {
            window::Next::Item => {
                on.at.note(FaultKind::GuessedBorder, on.at.look);
                self.flush(on, on.look);
                self.open_tuple(on);
                self.emit(on, ",");
                self.expect_item();
                None
            }
            window::Next::End { opens } => {
                // Where nothing escapes quotes, what opens a call may stand in the text before.
                if opens && on.given.syntax.family == Family::Bare {
                    on.at.note_markup(FaultKind::GuessedBorder, on.at.look);
                } else {
                    on.at.note(self.missing(), on.at.look);
                }
                Some(self.close_all(on))
            }
            window::Next::Quote(len) => {
                on.at.note_markup(FaultKind::GuessedBorder, on.at.look);
                self.flush(on, on.look);
                on.skip(len);
                None
            }
            window::Next::Other => Some(Progress::Broken),
        }
    }

    pub(super) fn open_comment(&mut self, on: &mut On<'_, '_>, block: bool) {
        let then = match self.state {
            State::Value { first } => Then::Value { first },
            State::Key => Then::Key,
            State::Pair => Then::Pair,
            State::Comma => Then::Comma,
            _ => Then::After,
        };
        self.leave_out(on, if on.bytes[on.look] == b'#' { 1 } else { 2 });
        self.enter(State::Comment { block, then });
    }

    /// So many bytes stand between tokens and mean nothing: the beginning of a comment, or white space that is escaped as if
    /// it stood in a text.
    fn leave_out(&mut self, on: &mut On<'_, '_>, len: usize) {
        on.at.note(FaultKind::Repaired, on.at.look);
        if self.state == State::Comma {
            // With it goes the white space up to here.
            on.kept = if self.owed { on.kept } else { on.look };
            self.owed = true;
        }
        self.flush(on, on.look);
        on.skip(len);
    }

    /// In a comment, none of which goes out.
    pub(super) fn comment(&mut self, on: &mut On<'_, '_>, block: bool, then: Then) -> Stop {
        let rest = &on.bytes[on.look..];
        let end = if block {
            find(rest, b"*/").map(|at| at + 2)
        } else {
            memchr::memchr(b'\n', rest).map(|at| at + 1)
        };
        let Some(end) = end else {
            // A star at the end may be half of what closes it.
            on.skip(rest.len() - usize::from(block && rest.ends_with(b"*")));
            return Some(Progress::More);
        };
        on.skip(end);
        self.state = match then {
            Then::Value { first } => State::Value { first },
            Then::Key => State::Key,
            Then::Pair => State::Pair,
            Then::After => State::After,
            Then::Comma => State::Comma,
        };
        None
    }
}
