//! What looks like the end of a value: it is one if something follows that can follow a value.

use super::header::Header;
use super::lead::{MAX_HEADER, beyond, window};
use super::marks::{Own, ValueEnd};
use super::{FieldsProgress, FieldsReader, Next, On, Phase, Stop};
use crate::dialect::KeyKind;
use crate::scan::{Anchored, is_word};
use crate::turn::End;
use crate::value::white_space;

/// The longest word that a message may begin with, in bytes.
const MAX_WORD: usize = 64;

impl FieldsReader {
    /// Inside the value, behind a mark that may end it.
    pub(super) fn may_end(
        &mut self,
        on: &mut On<'_, '_>,
        kind: ValueEnd,
        (end, behind): (usize, usize),
    ) -> Stop {
        let phase = match kind {
            ValueEnd::Body(step) => {
                self.close_value(on, end);
                on.kept += behind;
                return Some(FieldsProgress::Done(Next::Closer(step)));
            }
            ValueEnd::Nested => {
                self.elements = self.elements.map(|open| open + 1);
                return None;
            }
            ValueEnd::Closer if self.elements.is_some_and(|open| open > 0) => {
                self.elements = self.elements.map(|open| open - 1);
                return None;
            }
            ValueEnd::Closer => {
                // Behind its line feed the same closer is found once more.
                self.words = self.words.filter(|words| words + 1 == end);
                Phase::After { end, behind }
            }
            ValueEnd::Drifted => Phase::Drifted { end, behind },
            ValueEnd::Turn => Phase::Turn { end },
            ValueEnd::Data => Phase::Value,
            // Elements of other keys.
            ValueEnd::Field if self.elements.is_some() && self.words.is_none() => return None,
            ValueEnd::Field if end < self.deaf => return self.resume(on, end, behind),
            ValueEnd::Field => Phase::FieldOpens { end, header: behind },
            ValueEnd::Message => Phase::Message { end, behind },
            ValueEnd::Call(_) if end < self.inside => return self.resume(on, end, behind),
            ValueEnd::Call(step) => Phase::CallCloses { end, behind, step },
        };
        self.enter(phase);
        None
    }

    /// Behind a value's closer without its last character: it is misspelt, if what can only follow a value does.
    pub(super) fn drifted(&mut self, on: &mut On<'_, '_>, (end, behind): (usize, usize)) -> Stop {
        let marks = on.given.marks;
        if self.scan.is_fresh() {
            let from = on.kept + behind;
            if on.look == from || is_word(on.bytes[on.look - 1]) {
                let left = MAX_WORD.saturating_sub(on.look - from);
                on.look += on.bytes[on.look..].iter().take(left).take_while(|byte| is_word(**byte)).count();
                on.look += usize::from(on.bytes.get(on.look) == Some(&b'>'));
            }
            on.look += white_space(&on.bytes[on.look..]);
        }
        if on.look == on.bytes.len() {
            return if on.last() { self.resume(on, end, behind) } else { Some(FieldsProgress::More) };
        }
        let next = match marks.next.follow(&mut self.scan, on.bytes, &mut on.look, &mut on.again) {
            Anchored::More => return None,
            Anchored::Nothing => return self.resume(on, end, behind),
            Anchored::Found(hit) => (marks.next_kinds[hit.pattern as usize], hit.end),
        };
        let (then @ (Next::Field | Next::Closer(_)), from) = next else {
            return self.resume(on, end, behind);
        };
        let end = self.value_end(end, on.kept, true);
        self.close_value(on, end);
        on.kept = from;
        if then == Next::Field {
            self.enter(Phase::Header);
            return None;
        }
        Some(FieldsProgress::Done(then))
    }

    /// Behind a value's closer: is it one?
    pub(super) fn after(&mut self, on: &mut On<'_, '_>, (end, behind): (usize, usize)) -> Stop {
        let (marks, text) = (on.given.marks, on.given.text);
        if self.scan.is_fresh() {
            on.look += white_space(&on.bytes[on.look..]);
        }
        if on.look == on.bytes.len() {
            if !on.last() {
                return Some(FieldsProgress::More);
            }
            self.close_value(on, end);
            on.kept = on.look;
            return Some(FieldsProgress::Ended);
        }
        let followed = marks.next.follow(&mut self.scan, on.bytes, &mut on.look, &mut on.again);
        let rest = &text[on.kept + behind..];
        match followed {
            Anchored::More => None,
            Anchored::Found(hit) if marks.next_kinds[hit.pattern as usize] == Next::Turn => {
                // The model ended its turn behind the value, whatever else it left open.
                on.rewind(hit.start);
                self.enter(Phase::Ahead { end, behind: hit.start - on.kept, then: Next::Turn });
                None
            }
            Anchored::Found(hit) if marks.next_kinds[hit.pattern as usize] != Next::Stray => {
                if marks.own.is_some() && self.stops_in_a_string(on, (end, behind)) {
                    on.rewind(on.kept + end);
                    self.enter(Phase::Json { end, behind });
                    return None;
                }
                self.close_value(on, end);
                match marks.next_kinds[hit.pattern as usize] {
                    Next::Field => {
                        on.kept = hit.end;
                        self.enter(Phase::Header);
                        None
                    }
                    Next::Opener => {
                        on.rewind(hit.start);
                        on.kept = hit.start;
                        Some(FieldsProgress::Done(Next::Opener))
                    }
                    closer => {
                        on.kept = hit.end;
                        Some(FieldsProgress::Done(closer))
                    }
                }
            }
            // A closer on a line of its own, with other markup on the next.
            _ if text[on.kept + end..].starts_with('\n')
                && rest.starts_with('\n')
                && rest.trim_start().starts_with('<') =>
            {
                if self.guessed {
                    return Some(FieldsProgress::Broken);
                }
                self.close_value(on, end);
                on.kept += behind;
                on.rewind(on.kept);
                self.guess(on.kept);
                self.enter(Phase::Junk);
                None
            }
            Anchored::Nothing if on.given.form.key == KeyKind::Whole => {
                let from = behind + white_space(rest.as_bytes());
                on.rewind(on.kept + from);
                self.enter(Phase::Key { end, behind, from });
                None
            }
            _ => self.pass_words(on, (end, behind)),
        }
    }

    /// In a word behind what looks like a value's closer: a key without its opener, if a header closes behind it.
    pub(super) fn key(&mut self, on: &mut On<'_, '_>, (end, behind): (usize, usize), from: usize) -> Stop {
        let marks = on.given.marks;
        if self.scan.is_fresh() {
            on.look += on.bytes[on.look..].iter().take_while(|byte| is_word(**byte)).count();
        }
        let over = on.look == on.bytes.len();
        if over || on.look - on.kept - from > MAX_HEADER {
            let more = over && !on.last();
            return if more { Some(FieldsProgress::More) } else { self.pass_words(on, (end, behind)) };
        }
        match marks.header.follow(&mut self.scan, on.bytes, &mut on.look, &mut on.again) {
            Anchored::More => Some(FieldsProgress::More),
            Anchored::Found(hit)
                if (hit.pattern as usize) < marks.header_closers && hit.start > on.kept + from =>
            {
                let key = on.given.text[on.kept + from..hit.start].to_owned();
                self.close_value(on, end);
                self.guess(on.kept + from);
                self.open_field(on, &Header { key, type_word: None }, hit.start);
                self.pass_header(on, hit);
                None
            }
            _ => self.pass_words(on, (end, behind)),
        }
    }

    /// Behind a mark that ends the model's turn, inside a value: it ends it if nothing follows.
    pub(super) fn turn(&mut self, on: &mut On<'_, '_>, end: usize) -> Stop {
        on.look += white_space(&on.bytes[on.look..]);
        if on.look == on.bytes.len() {
            return Some(FieldsProgress::More);
        }
        self.resume(on, end, end + 1)
    }

    /// Behind a value, in something that is no field.
    pub(super) fn junk(&mut self, on: &mut On<'_, '_>) -> Stop {
        let marks = on.given.marks;
        let Some(hit) = marks.next.find(&mut self.scan, on.bytes, &mut on.look, &mut on.again) else {
            on.kept = on.look - marks.next.pending(&self.scan);
            return Some(FieldsProgress::More);
        };
        on.kept = hit.end;
        match marks.next_kinds[hit.pattern as usize] {
            Next::Field => self.enter(Phase::Header),
            Next::Opener => {
                on.rewind(hit.start);
                on.kept = hit.start;
                return Some(FieldsProgress::Done(Next::Opener));
            }
            Next::Stray | Next::Turn => {}
            closer @ Next::Closer(_) => return Some(FieldsProgress::Done(closer)),
        }
        None
    }

    /// Another field seems to open inside the value: it does if its key may follow.
    pub(super) fn field_opens(&mut self, on: &mut On<'_, '_>, end: usize, header: usize) -> Stop {
        let (form, text, from) = (on.given.form, on.given.text, on.kept + header);
        let window = window(on.bytes, from);
        let closers = &on.given.marks.header;
        let Some(hit) = closers.find(&mut self.scan, window, &mut on.look, &mut on.again) else {
            if beyond(window, from) == FieldsProgress::Broken || on.last() {
                self.deaf = on.look - on.kept;
                return self.resume(on, end, header);
            }
            return Some(FieldsProgress::More);
        };
        match Header::declared(&text[from..hit.start], &form.key, on.given.tool) {
            Some(found) if self.may_follow(on, &found.key) => {
                let end = self.value_end(end, on.kept, !form.value_close.is_empty());
                self.close_value(on, end);
                self.open_field(on, &found, hit.start);
                self.pass_header(on, hit);
                None
            }
            _ => {
                self.words = None;
                self.deaf = on.look - on.kept;
                self.resume(on, end, header)
            }
        }
    }

    /// Another message seems to begin inside the value: it does if a word stands alone on this line.
    pub(super) fn message(&mut self, on: &mut On<'_, '_>, (end, behind): (usize, usize)) -> Stop {
        let word = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-');
        while on.look - on.kept - behind <= MAX_WORD && on.bytes.get(on.look).is_some_and(word) {
            on.look += 1;
        }
        match on.bytes.get(on.look) {
            None if !on.last() => Some(FieldsProgress::More),
            Some(b'\n') if on.look > on.kept + behind => {
                self.close_value(on, end);
                on.kept += end;
                on.rewind(on.kept);
                Some(FieldsProgress::Done(Next::Opener))
            }
            _ => self.resume(on, end, behind),
        }
    }

    /// The call seems to close inside the value.
    pub(super) fn call_closes(
        &mut self,
        on: &mut On<'_, '_>,
        (end, behind): (usize, usize),
        step: usize,
    ) -> Stop {
        let (form, marks) = (on.given.form, on.given.marks);
        if self.scan.is_fresh() {
            on.look += white_space(&on.bytes[on.look..]);
        }
        let over = on.look == on.bytes.len();
        if step >= marks.group {
            return if over {
                Some(FieldsProgress::More)
            } else {
                self.unless_it_goes_on(on, (end, behind), step)
            };
        }
        let confirmed = if form.value_close.is_empty() {
            true
        } else if over {
            // A model that stops behind a closer has closed the value; a cut proves nothing.
            if on.given.end != Some(End::End) {
                return Some(FieldsProgress::More);
            }
            true
        } else {
            match marks.next.follow(&mut self.scan, on.bytes, &mut on.look, &mut on.again) {
                Anchored::More => return None,
                Anchored::Found(hit) => {
                    let next = marks.next_kinds[hit.pattern as usize];
                    !matches!(next, Next::Field | Next::Stray | Next::Turn)
                }
                Anchored::Nothing => false,
            }
        };
        if !confirmed {
            return if marks.alone == Some(step) {
                self.unless_it_goes_on(on, (end, behind), step)
            } else {
                self.resume(on, end, behind)
            };
        }
        if over || (marks.own.is_none() && !form.repeats_key()) {
            return Some(self.close_call(on, (end, behind, Next::Closer(step))));
        }
        if form.repeats_key() && self.own.is_none() {
            self.own = Some(Own::of_key(form, &self.key));
        }
        on.rewind(on.kept + behind);
        self.enter(Phase::Ahead { end, behind, then: Next::Closer(step) });
        None
    }

    /// The value ends at `end`, and with it the call.
    pub(super) fn close_call(&mut self, on: &mut On<'_, '_>, at: (usize, usize, Next)) -> FieldsProgress {
        let (end, behind, then) = at;
        let closes = !on.given.form.value_close.is_empty();
        let end = if then == Next::Turn { end } else { self.value_end(end, on.kept, closes) };
        self.close_value(on, end);
        on.kept += behind;
        on.rewind(on.kept);
        FieldsProgress::Done(then)
    }

    /// Where a value ends whose next field or whose call's end stands at `end` without its closer before it; `at` is the
    /// place of its first byte. `closes` says that values have closers.
    fn value_end(&mut self, end: usize, at: usize, closes: bool) -> usize {
        let Some(words) = self.words.take() else {
            if closes {
                self.guess(at);
            }
            return end;
        };
        self.guess(at + words);
        words
    }

    /// Words follow what looked like the end of the value: what comes next tells whether they are part of it.
    fn pass_words(&mut self, on: &mut On<'_, '_>, (end, behind): (usize, usize)) -> Stop {
        if self.guessed {
            return Some(FieldsProgress::Broken);
        }
        self.words = self.words.or(Some(end));
        self.resume(on, end, behind)
    }
}
