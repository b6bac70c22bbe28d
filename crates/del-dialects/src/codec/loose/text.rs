//! Texts in quotes.

use super::behind::Behind;
use super::marks::TextEnd;
use super::within::Within;
use super::words::{char_end, escape_len, push_escape};
use super::{Bracket, LooseProgress, LooseReader, On, State, Stop};
use crate::codec::json::white_space;
use crate::dialect::Loose;
use crate::fault::FaultKind;
use crate::scan::Anchored;
use crate::schema::{escape, quoted, typed};
use crate::turn::End;

/// The text at hand.
#[derive(Debug, Default)]
pub(super) struct Text {
    pub(super) key: bool,
    /// The place of its quote among the syntax's.
    quote: usize,
    /// It belongs to the value before.
    goes_on: bool,
    /// A quote inside it was data.
    pub(super) nested: bool,
    /// Backslashes are data.
    raw: bool,
    /// What can be known of its end is known.
    pub(super) sure: bool,
    /// It is closed further on, behind so many quotes that are data; until then marks are as well.
    pub(super) quotes: Option<usize>,
    /// Braces stand for values, unless they are doubled.
    format: bool,
    /// A brace whose double has to follow.
    brace: Option<char>,
}

impl Text {
    /// The quote that it stands in.
    pub(super) fn quote<'l>(&self, loose: &'l Loose) -> &'l str {
        &loose.quotes[self.quote]
    }

    /// The place of that quote.
    pub(super) fn quote_place(&self) -> usize {
        self.quote
    }

    /// The text that a prefix such as `f` or `r` opens; none for a prefix that makes no text.
    pub(super) fn prefixed(prefix: &str) -> Option<Self> {
        let has = |letter: char| prefix.chars().any(|c| c.eq_ignore_ascii_case(&letter));
        let known = (1..=2).contains(&prefix.len()) && prefix.chars().all(|c| "rRuUfF".contains(c));
        known.then(|| Self { raw: has('r'), format: has('f'), ..Self::default() })
    }
}

impl LooseReader {
    /// Perhaps the quote that opens a text.
    pub(super) fn quote(&mut self, on: &mut On<'_, '_>, key: bool) -> Stop {
        match on.given.marks.quotes.follow(&mut self.scan, on.bytes, &mut on.look, &mut on.again) {
            Anchored::More => {}
            Anchored::Found(hit) => {
                on.kept = hit.end;
                on.look = hit.end;
                self.enter(State::Text);
                let text = std::mem::take(&mut self.text);
                self.text = Text { key, quote: hit.pattern as usize, goes_on: false, ..text };
                self.quoted |= key;
                if !key && !text.goes_on {
                    let typed = self.stack.len() == 1 && self.types.excludes_string();
                    self.holds = typed || self.top() == Some(Bracket::Group);
                    if self.holds {
                        self.word.clear();
                    } else {
                        on.put("\"");
                    }
                }
            }
            Anchored::Nothing if key => {
                on.back(on.kept);
                return Some(LooseProgress::Broken);
            }
            Anchored::Nothing => {
                on.back(on.kept);
                self.begin_bare();
            }
        }
        None
    }

    pub(super) fn text(&mut self, on: &mut On<'_, '_>) -> Stop {
        let quote = self.text.quote(on.given.form);
        let Some(ends) = &on.given.marks.closers[self.text.quote] else {
            return self.short_text(on, quote.as_bytes()[0]);
        };
        let hit = ends.marks.find(&mut self.scan, on.bytes, &mut on.look, &mut on.again);
        let end = hit.map_or(on.look - ends.marks.pending(&self.scan), |hit| hit.start);
        if !self.pass_on(on, end) {
            return Some(LooseProgress::Broken);
        }
        let Some(hit) = hit else { return Some(LooseProgress::More) };
        match ends.kind(hit) {
            TextEnd::Quote if self.text.quotes.is_some_and(|quotes| quotes > 0) => {
                self.text.quotes = self.text.quotes.map(|quotes| quotes - 1);
                self.say(on, quote);
                on.kept = hit.end;
                self.enter(State::Text);
            }
            TextEnd::Quote => {
                on.kept = hit.end;
                return self.text_ends();
            }
            TextEnd::Escape => self.state = State::Escape,
            TextEnd::Lost if self.text.quotes.is_none() => self.enter(State::Lost),
            TextEnd::Other if !self.text.sure && !self.text.key && self.base + end as u64 >= self.doubted => {
                self.enter(State::Within(Within::default()));
            }
            TextEnd::Lost | TextEnd::Other => self.enter(State::Text),
        }
        None
    }

    /// A text in quotes of one byte.
    fn short_text(&mut self, on: &mut On<'_, '_>, quote: u8) -> Stop {
        let stop = memchr::memchr2(quote, b'\\', &on.bytes[on.look..]);
        on.look = stop.map_or(on.bytes.len(), |skip| on.look + skip);
        if !self.pass_on(on, on.look) {
            return Some(LooseProgress::Broken);
        }
        let byte = on.bytes.get(on.look).copied();
        on.look += usize::from(byte.is_some());
        match byte {
            None => return Some(LooseProgress::More),
            Some(b'\\') => self.state = State::Escape,
            Some(_) if self.text.key => {
                on.kept = on.look;
                return self.text_ends();
            }
            Some(_) => self.state = State::Behind(Behind::quote()),
        }
        None
    }

    /// Behind a backslash.
    pub(super) fn escape(&mut self, on: &mut On<'_, '_>) -> Stop {
        let held = &on.bytes[on.kept..];
        let len = match (self.text.raw, held.len()) {
            (true, 0 | 1) => None,
            (true, _) => Some(char_end(on.given.text, on.kept + 1) - on.kept),
            (false, _) => escape_len(held),
        };
        let Some(len) = len else {
            on.look = on.bytes.len();
            return Some(LooseProgress::More);
        };
        let end = on.kept + len;
        let spelling = &on.given.text[on.kept..end];
        let mut plain = String::new();
        if self.text.raw {
            plain.push_str(spelling);
        } else {
            push_escape(spelling, &mut plain);
        }
        on.back(end);
        self.say(on, &plain);
        self.enter(State::Text);
        None
    }

    /// The call seems to end inside a text: its quote was forgotten if what follows cannot be text.
    pub(super) fn lost(&mut self, on: &mut On<'_, '_>, none: bool) -> Stop {
        if self.scan.is_fresh() {
            on.look += white_space(&on.bytes[on.look..]);
        }
        let none = none || on.look == on.bytes.len();
        let found = match on.given.end {
            Some(End::End) if none => true,
            _ if none => return Some(LooseProgress::More),
            _ => match on.given.marks.next.follow(&mut self.scan, on.bytes, &mut on.look, &mut on.again) {
                Anchored::More => return None,
                Anchored::Found(_) => true,
                Anchored::Nothing => false,
            },
        };
        on.back(on.kept + 1);
        if found && !self.text.key {
            self.notes.add_markup(FaultKind::GuessedBorder, on.look - 1);
            if let Some(stop) = self.value_ends(on) {
                return Some(stop);
            }
            return self.close_all(on);
        }
        self.say(on, char::from(on.bytes[on.look - 1]).encode_utf8(&mut [0; 4]));
        self.enter(State::Text);
        None
    }

    /// Behind a text: another one goes on with it, and anything else ends the value.
    pub(super) fn closed(&mut self, on: &mut On<'_, '_>, byte: u8) -> Stop {
        if on.given.form.is_short_quote(byte) {
            self.text = Text { goes_on: true, ..Text::default() };
            self.enter(State::Quote { key: false });
            return None;
        }
        self.value_ends(on)
    }

    fn value_ends(&mut self, on: &mut On<'_, '_>) -> Stop {
        self.state = State::After;
        if !std::mem::take(&mut self.holds) {
            on.put("\"");
        } else if self.top() == Some(Bracket::Group) {
            self.first = Some(quoted(&self.word));
        } else {
            let Ok(read) = typed(&self.word, self.types, self.spelling(on.given.form)) else {
                return Some(LooseProgress::TooDeep);
            };
            self.notes.add_read(&read, on.look);
            self.notes.add(if read.fits { FaultKind::Repaired } else { FaultKind::WrongType }, on.look);
            on.put(&read.json);
        }
        None
    }

    /// Behind a closing quote.
    pub(super) fn text_ends(&mut self) -> Stop {
        if self.text.brace.is_some() {
            return Some(LooseProgress::Broken);
        }
        self.state = if self.text.key { State::Pair } else { State::Closed };
        None
    }

    /// Passes text on up to `end`; false when it holds a value that nobody can know.
    pub(super) fn pass_on(&mut self, on: &mut On<'_, '_>, end: usize) -> bool {
        let text = &on.given.text[on.kept..end];
        if self.text.format && (self.text.brace.is_some() || text.contains(['{', '}'])) {
            let mut plain = String::new();
            for (at, c) in text.char_indices() {
                match self.text.brace.take() {
                    Some(brace) if brace == c => plain.push(c),
                    Some(_) => {
                        on.back(on.kept + at);
                        self.say(on, &plain);
                        return false;
                    }
                    None if matches!(c, '{' | '}') => self.text.brace = Some(c),
                    None => plain.push(c),
                }
            }
            self.say(on, &plain);
        } else if self.text.key || self.holds {
            self.word.push_str(text);
        } else if text.bytes().any(|byte| byte < 0x20 || byte == b'"' || byte == b'\\') {
            self.scratch.clear();
            escape(text, &mut self.scratch);
            (on.emit)(&self.scratch, on.kept..end);
        } else if !text.is_empty() {
            (on.emit)(text, on.kept..end);
        }
        on.kept = end;
        true
    }

    /// Says something that does not stand in the text as it is.
    fn say(&mut self, on: &mut On<'_, '_>, plain: &str) {
        if self.text.key || self.holds {
            self.word.push_str(plain);
        } else {
            self.scratch.clear();
            escape(plain, &mut self.scratch);
            on.put(&self.scratch);
        }
    }
}
