//! Where the reader of values is, and where what it reads goes.

use std::ops::Range;

use super::{Family, Marks, Progress, Reader, State, Syntax};
use crate::tool::Tool;

/// What is known of the value at hand.
#[derive(Clone, Copy)]
pub(crate) struct Given<'a> {
    pub(crate) syntax: &'a Syntax,
    pub(crate) marks: &'a Marks,
    /// The tool whose arguments these are, where it is declared.
    pub(crate) tool: Option<&'a Tool>,
}

/// A place in a value.
pub(super) type On<'c, 't> = crate::cursor::On<'c, 't, Given<'c>>;

/// What a window says, as far as it can be said, and how many bytes of it were looked at.
type Question<'q, T> = &'q dyn Fn(&str, bool) -> (Option<T>, usize);

/// How much longer a window is when it is looked at again.
const GROWTH: usize = 4;

/// So far is looked ahead, in bytes: a power of the growth, so that the last window is not nearly the one before.
pub(super) const AHEAD: usize = 4096;

impl On<'_, '_> {
    /// So many bytes do not go out; nothing is pending before them.
    pub(super) fn skip(&mut self, len: usize) {
        self.look += len;
        self.kept = self.look;
    }

    /// A token goes on beyond `most`, where it has to end.
    pub(super) fn too_long(&mut self, most: usize) -> Progress {
        self.look = most;
        while !self.text.is_char_boundary(self.look) {
            self.look -= 1;
        }
        Progress::Broken
    }

    /// At `/` or `#`: whether a comment begins, and then whether it is a block; none when the next byte is needed. Where
    /// a value stands, `#` may begin it, as in `#fff`; and where texts stand bare, anything may. `first` says that no key of the
    /// object came yet.
    #[expect(clippy::option_option, reason = "undecided and none are two answers")]
    pub(super) fn comment(&self, value: bool, first: bool) -> Option<Option<bool>> {
        let next = self.bytes.get(self.look + 1);
        match (self.bytes[self.look], next) {
            _ if value && self.given.syntax.family == Family::Bare => Some(None),
            // In place of the first key it may begin a block of a template.
            (b'#', None) if first && !self.last() => None,
            (b'#', Some(next)) if first && next.is_ascii_alphabetic() => Some(None),
            (b'#', _) if !value => Some(Some(false)),
            (_, None) => {
                if self.last() {
                    Some(None)
                } else {
                    None
                }
            }
            (b'#', Some(b' ' | b'\t' | b'\n' | b'\r')) | (b'/', Some(b'/')) => Some(Some(false)),
            (b'/', Some(b'*')) => Some(Some(true)),
            _ => Some(None),
        }
    }
}

impl Reader {
    /// Writes JSON that stands nowhere in the text.
    pub(super) fn emit(&mut self, on: &mut On<'_, '_>, json: &str) {
        self.give(on, json, on.look..on.look);
    }

    /// Passes on what is spelt as JSON, up to `to`: where other spellings are read, only the inside of a text is.
    pub(super) fn flush(&mut self, on: &mut On<'_, '_>, to: usize) {
        if on.kept < to {
            if on.given.syntax.spaced || self.state == State::Text {
                let piece = &on.text[on.kept..to];
                self.give(on, piece, on.kept..to);
            }
            on.kept = to;
        }
    }

    /// Writes `json` for the bytes at hand.
    pub(super) fn replace(&mut self, on: &mut On<'_, '_>, json: &str, len: usize) {
        self.flush(on, on.look);
        self.give(on, json, on.look..on.look + len);
        on.skip(len);
    }

    /// Passes a byte of JSON on, which is written as it is.
    pub(super) fn pass(&mut self, on: &mut On<'_, '_>, json: &str) {
        if on.given.syntax.spaced {
            on.look += 1;
        } else {
            self.replace(on, json, 1);
        }
    }

    fn give(&mut self, on: &mut On<'_, '_>, json: &str, range: Range<usize>) {
        if self.is_grouped() {
            self.group.push_str(json);
        } else {
            (on.emit)(json, range);
        }
    }

    /// What ends the call at the byte at hand, as [`Marks::end`] says it.
    #[expect(clippy::option_option, reason = "undecided and none are two answers")]
    pub(super) fn end_of_call(&mut self, on: &mut On<'_, '_>) -> Option<Option<bool>> {
        let rest = &on.text[on.look..];
        if rest.len() < self.window && !on.last() {
            return None;
        }
        let (end, looks) = on.given.marks.end(rest, on.last(), !self.is_outer());
        on.again += looks as u64;
        self.window = if end.is_none() { GROWTH * rest.len() } else { 0 };
        end
    }

    /// What `question` says of the window that begins at `from`; none when it needs more of it. It is told whether this
    /// is all that it gets.
    pub(super) fn look_ahead<T>(
        &mut self,
        on: &mut On<'_, '_>,
        from: usize,
        question: &dyn Fn(&str, bool) -> Option<T>,
    ) -> Option<T> {
        self.search_ahead(on, from, &|window, all| (question(window, all), window.len()))
    }

    /// The same where the answer may stand far behind: the question also says how many bytes it has looked at.
    pub(super) fn search_ahead<T>(
        &mut self,
        on: &mut On<'_, '_>,
        from: usize,
        question: Question<'_, T>,
    ) -> Option<T> {
        let text = on.text;
        let there = AHEAD.min(text.len() - from);
        let full = there == AHEAD || on.last();
        // Mostly the next byte tells. A window that does not is looked at again when it is so much longer, which keeps
        // the work linear.
        let mut len = self.window.max(1);
        loop {
            if len > there && !full {
                self.window = len;
                return None;
            }
            len = len.min(there);
            let all = full && len == there;
            let mut end = from + len;
            while !text.is_char_boundary(end) {
                end -= 1;
            }
            let (answer, looks) = question(&text[from..end], all);
            on.again += looks as u64;
            if answer.is_some() || all {
                self.window = 0;
                return answer;
            }
            len *= GROWTH;
        }
    }
}
