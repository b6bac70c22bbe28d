//! JSON text that arrives in pieces: checked in one pass, passed on byte for byte, mended where the meaning is plain.
//!
//! What is mended: single quotes, bare keys, trailing and missing commas, comments, Python's words, control
//! characters and bad escapes in strings. Each mend is reported once a value.

mod keys;
mod number;
mod run;
use std::ops::Range;

use super::Notes;
use crate::fault::FaultKind;
pub(super) use keys::Keys;
use number::Number;
use run::Run;
pub(crate) use run::{ESCAPES, plain, white_space};

/// Reads one JSON value. Keeps its place from one piece of text to the next.
#[derive(Debug)]
pub(crate) struct Json {
    stack: Vec<u8>,
    state: State,
    /// The state that a comment interrupts.
    resume: State,
    /// A comma was read and dropped with the comment behind it; it is written before the next item.
    owed: bool,
    keys: Keys,
    notes: Notes,
    max_depth: usize,
    literals: Literals,
}

/// Whose literals a value may hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Literals {
    /// JSON's: a word of Python is mended by a guess.
    Json,
    /// A raw text's, which may be in the spelling of either.
    Either,
    /// Python's, where what it writes otherwise than JSON is no fault.
    Python,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Value,
    ValueOrClose,
    /// After a comma: the comma itself is held back until something follows it.
    NextValue,
    KeyOrClose,
    NextKey,
    Colon,
    After,
    /// In a string that ends with this quote.
    Text {
        key: bool,
        quote: u8,
    },
    /// After a backslash, and this many bytes of its escape. The escape is held back.
    Escape {
        key: bool,
        quote: u8,
        seen: u8,
    },
    Number(Number),
    /// In a word; its letters are held back.
    Word,
    BareKey,
    /// After `/`.
    Slash,
    LineComment,
    BlockComment {
        star: bool,
    },
    Done,
}

/// How far reading came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Progress {
    /// The value goes on behind the text.
    More,
    /// The value is whole; it ends at `look`.
    Done,
    /// At `look` stands something that no mending makes JSON.
    Broken,
    /// Deeper than the limit.
    TooDeep,
}

/// Takes JSON text, and the place in the input that it stands for.
pub(crate) type Emit<'e> = &'e mut dyn FnMut(&str, Range<usize>);

impl Json {
    /// A reader for one value of at most this many nested containers.
    pub(crate) fn new(max_depth: usize) -> Self {
        Self {
            stack: Vec::new(),
            state: State::Value,
            resume: State::Value,
            owed: false,
            keys: Keys::default(),
            notes: Notes::default(),
            max_depth,
            literals: Literals::Json,
        }
    }

    /// Whose literals values hold from now on.
    pub(crate) fn expect(&mut self, literals: Literals) {
        self.literals = literals;
    }

    /// Ready for another value.
    pub(crate) fn restart(&mut self) {
        self.stack.clear();
        self.keys.clear();
        (self.state, self.resume, self.owed, self.notes) =
            (State::Value, State::Value, false, Notes::default());
    }

    /// What was mended, and whether a key came twice; asking forgets it.
    pub(crate) fn take_notes(&mut self) -> Option<Notes> {
        let notes = self.notes.take()?;
        Some(if self.is_python() { notes.without(FaultKind::Repaired) } else { notes })
    }

    /// True before the first byte of the value.
    pub(crate) fn is_fresh(&self) -> bool {
        self.state == State::Value && self.stack.is_empty()
    }

    /// True inside a string that is no key: plain text in it is passed on as it stands.
    pub(crate) fn is_in_text(&self) -> bool {
        matches!(self.state, State::Text { key: false, .. })
    }

    /// Reads on from `*look`. `*kept` is the first byte that has not been passed on: on return everything before it
    /// has been, and what lies between it and `*look` has to be there again next time.
    pub(crate) fn read(
        &mut self,
        text: &str,
        look: &mut usize,
        kept: &mut usize,
        emit: Emit<'_>,
    ) -> Progress {
        let mut run = Run { text, bytes: text.as_bytes(), at: *look, kept: *kept, hold: *kept, emit };
        let progress = self.run(&mut run);
        match self.state {
            State::NextValue | State::NextKey if !self.owed => run.flush(run.hold),
            State::Escape { .. } | State::Word => run.flush(run.hold),
            State::Slash | State::LineComment | State::BlockComment { .. } => run.kept = run.at,
            _ => run.flush(run.at),
        }
        (*look, *kept) = (run.at, run.kept);
        progress
    }

    fn run(&mut self, run: &mut Run<'_, '_>) -> Progress {
        loop {
            match self.state {
                State::Done => return Progress::Done,
                State::Text { key, quote } => {
                    let from = run.at;
                    run.at += plain(&run.bytes[run.at..]);
                    if key {
                        self.keys.add(&run.bytes[from..run.at]);
                    }
                    let Some(&byte) = run.bytes.get(run.at) else { return Progress::More };
                    self.text_byte(run, byte, key, quote);
                }
                State::Escape { key, quote, seen } => {
                    let Some(&byte) = run.bytes.get(run.at) else { return Progress::More };
                    self.escape_byte(run, byte, key, quote, seen);
                }
                State::Number(number) => {
                    let Some(&byte) = run.bytes.get(run.at) else { return Progress::More };
                    match number.step(byte) {
                        Some(next) => {
                            self.state = State::Number(next);
                            run.at += 1;
                        }
                        None if number.is_whole() && !byte.is_ascii_alphanumeric() && byte != b'.' => {
                            self.value_ends();
                        }
                        None => return Progress::Broken,
                    }
                }
                State::Word => {
                    let Some(&byte) = run.bytes.get(run.at) else { return Progress::More };
                    if byte.is_ascii_alphanumeric() || byte == b'_' {
                        if run.at - run.hold > 16 {
                            return Progress::Broken;
                        }
                        run.at += 1;
                    } else if !self.word_ends(run) {
                        return Progress::Broken;
                    }
                }
                State::BareKey => {
                    let Some(&byte) = run.bytes.get(run.at) else { return Progress::More };
                    if byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'$') || byte >= 0x80 {
                        self.keys.add(&[byte]);
                        run.at += 1;
                    } else {
                        run.insert("\"");
                        self.key_ends(run.at);
                    }
                }
                State::Slash | State::LineComment | State::BlockComment { .. } => {
                    let Some(&byte) = run.bytes.get(run.at) else { return Progress::More };
                    if !self.comment_byte(run, byte) {
                        return Progress::Broken;
                    }
                }
                _ => {
                    run.at += white_space(&run.bytes[run.at..]);
                    let Some(&byte) = run.bytes.get(run.at) else {
                        if self.awaits_item() && run.at - run.hold > MAX_HELD_SPACE {
                            run.hold = run.at;
                        }
                        return Progress::More;
                    };
                    match self.structure_byte(run, byte) {
                        Progress::More => {}
                        end => return end,
                    }
                }
            }
        }
    }

    /// A byte between tokens.
    fn structure_byte(&mut self, run: &mut Run<'_, '_>, byte: u8) -> Progress {
        if matches!(byte, b'/' | b'#') && !self.stack.is_empty() {
            self.resume = self.state;
            if self.awaits_item() && !self.owed {
                run.flush(run.hold);
                self.owed = true;
            } else {
                run.flush(run.at);
            }
            run.at += 1;
            run.kept = run.at;
            self.notes.add(FaultKind::Repaired, run.at);
            self.state = if byte == b'#' { State::LineComment } else { State::Slash };
            return Progress::More;
        }
        if self.awaits_item() {
            if matches!((self.state, byte), (State::NextKey, b'}') | (State::NextValue, b']')) {
                if !std::mem::take(&mut self.owed) && run.bytes.get(run.hold) == Some(&b',') {
                    run.flush(run.hold);
                    run.kept += 1;
                }
                self.notes.add(FaultKind::Repaired, run.at);
                run.at += 1;
                self.close();
                return Progress::More;
            }
            if std::mem::take(&mut self.owed) {
                run.insert(",");
            }
        }
        match (self.state, byte) {
            (State::KeyOrClose, b'}') | (State::ValueOrClose, b']') => {
                run.at += 1;
                self.close();
            }
            (State::KeyOrClose | State::NextKey, b'"') => {
                run.at += 1;
                self.keys.begin();
                self.state = State::Text { key: true, quote: b'"' };
            }
            (State::KeyOrClose | State::NextKey, b'\'') => {
                run.replace("\"", 1);
                self.notes.add(FaultKind::Repaired, run.at);
                self.keys.begin();
                self.state = State::Text { key: true, quote: b'\'' };
            }
            (State::KeyOrClose | State::NextKey, _)
                if byte.is_ascii_alphabetic() || matches!(byte, b'_' | b'$') =>
            {
                run.insert("\"");
                self.notes.add(FaultKind::Repaired, run.at);
                self.keys.begin();
                self.state = State::BareKey;
            }
            (State::Colon, b':') => {
                run.at += 1;
                self.state = State::Value;
            }
            (State::After, b',') => {
                run.hold = run.at;
                run.at += 1;
                self.state = if self.stack.last() == Some(&b'{') { State::NextKey } else { State::NextValue };
            }
            (State::After, b'}') if self.stack.last() == Some(&b'{') => {
                run.at += 1;
                self.close();
            }
            (State::After, b']') if self.stack.last() == Some(&b'[') => {
                run.at += 1;
                self.close();
            }
            (State::After, b'"') => {
                run.insert(",");
                self.notes.add(FaultKind::GuessedBorder, run.at);
                self.state = if self.stack.last() == Some(&b'{') { State::KeyOrClose } else { State::Value };
            }
            (State::Value | State::ValueOrClose | State::NextValue, _) => return self.value_byte(run, byte),
            _ => return Progress::Broken,
        }
        Progress::More
    }

    /// The first byte of a value.
    fn value_byte(&mut self, run: &mut Run<'_, '_>, byte: u8) -> Progress {
        match byte {
            b'{' | b'[' => {
                if self.stack.len() >= self.max_depth {
                    return Progress::TooDeep;
                }
                self.stack.push(byte);
                if byte == b'{' {
                    self.keys.enter();
                }
                self.state = if byte == b'{' { State::KeyOrClose } else { State::ValueOrClose };
                run.at += 1;
            }
            b'"' => {
                run.at += 1;
                self.state = State::Text { key: false, quote: b'"' };
            }
            b'\'' => {
                run.replace("\"", 1);
                self.notes.add(FaultKind::Repaired, run.at);
                self.state = State::Text { key: false, quote: b'\'' };
            }
            b'-' | b'0'..=b'9' => {
                self.state = State::Number(match byte {
                    b'-' => Number::Minus,
                    b'0' => Number::Zero,
                    _ => Number::Int,
                });
                run.at += 1;
            }
            _ if byte.is_ascii_alphabetic() => {
                run.hold = run.at;
                run.at += 1;
                self.state = State::Word;
            }
            _ => return Progress::Broken,
        }
        Progress::More
    }

    fn text_byte(&mut self, run: &mut Run<'_, '_>, byte: u8, key: bool, quote: u8) {
        match byte {
            b'\\' => {
                run.hold = run.at;
                run.at += 1;
                self.state = State::Escape { key, quote, seen: 0 };
            }
            _ if byte == quote => {
                if quote == b'"' {
                    run.at += 1;
                } else {
                    run.replace("\"", 1);
                }
                if key {
                    self.key_ends(run.at);
                } else {
                    self.value_ends();
                }
            }
            b'"' => run.replace("\\\"", 1),
            0..=0x1f => {
                run.replace(ESCAPES[byte as usize], 1);
                self.notes.add(FaultKind::Repaired, run.at);
            }
            _ => run.at += 1,
        }
    }

    fn escape_byte(&mut self, run: &mut Run<'_, '_>, byte: u8, key: bool, quote: u8, seen: u8) {
        self.keys.add(&[byte]);
        let text = State::Text { key, quote };
        match (seen, byte) {
            (0, b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => {
                run.at += 1;
                self.state = text;
            }
            (0, b'u') | (1..=3, b'0'..=b'9' | b'a'..=b'f' | b'A'..=b'F') => {
                run.at += 1;
                self.state = State::Escape { key, quote, seen: seen + 1 };
            }
            (0, b'x') if self.is_python() => {
                run.at += 1;
                self.state = State::Escape { key, quote, seen: 3 };
            }
            (4, b'0'..=b'9' | b'a'..=b'f' | b'A'..=b'F') => {
                if run.bytes[run.hold + 1] == b'x' {
                    run.flush(run.hold);
                    (run.emit)("\\u00", run.hold..run.hold + 2);
                    run.kept += 2;
                }
                run.at += 1;
                self.state = text;
            }
            (0, b'\'') => {
                run.flush(run.hold);
                run.kept += 1;
                run.at += 1;
                self.notes.add(FaultKind::Repaired, run.at);
                self.state = text;
            }
            _ => {
                // No escape of JSON: the backslash was meant as a backslash.
                run.flush(run.hold);
                (run.emit)("\\\\", run.hold..run.hold + 1);
                run.kept += 1;
                if !self.is_python() {
                    self.notes.add(FaultKind::GuessedValue, run.at);
                }
                self.state = text;
            }
        }
    }

    fn word_ends(&mut self, run: &mut Run<'_, '_>) -> bool {
        let json = match &run.text[run.hold..run.at] {
            "true" | "false" | "null" => None,
            "True" | "TRUE" => Some("true"),
            "False" | "FALSE" => Some("false"),
            "None" | "NULL" | "undefined" => Some("null"),
            _ => return false,
        };
        if let Some(json) = json {
            run.flush(run.hold);
            (run.emit)(json, run.hold..run.at);
            run.kept = run.at;
            let guess = self.literals == Literals::Json;
            self.notes.add(if guess { FaultKind::GuessedValue } else { FaultKind::Repaired }, run.at);
        }
        self.value_ends();
        true
    }

    fn comment_byte(&mut self, run: &mut Run<'_, '_>, byte: u8) -> bool {
        self.state = match (self.state, byte) {
            (State::Slash, b'/') => State::LineComment,
            (State::Slash, b'*') => State::BlockComment { star: false },
            (State::Slash, _) => return false,
            (State::LineComment, b'\n') | (State::BlockComment { star: true }, b'/') => {
                run.at += 1;
                run.kept = run.at;
                run.hold = run.at;
                self.state = self.resume;
                return true;
            }
            (State::BlockComment { .. }, _) => State::BlockComment { star: byte == b'*' },
            (state, _) => state,
        };
        run.at += 1;
        true
    }

    fn is_python(&self) -> bool {
        self.literals == Literals::Python
    }

    /// True behind a comma, which is held back until something follows it.
    fn awaits_item(&self) -> bool {
        matches!(self.state, State::NextKey | State::NextValue)
    }

    fn key_ends(&mut self, at: usize) {
        if self.keys.is_repeated() {
            self.notes.add(FaultKind::DuplicateKey, at);
        }
        self.state = State::Colon;
    }

    fn close(&mut self) {
        if self.stack.pop() == Some(b'{') {
            self.keys.leave();
        }
        self.value_ends();
    }

    fn value_ends(&mut self) {
        self.state = if self.stack.is_empty() { State::Done } else { State::After };
    }
}

/// White space behind a comma is held back with it, up to this many bytes.
const MAX_HELD_SPACE: usize = 1024;

#[cfg(test)]
mod tests;
