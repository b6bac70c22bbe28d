//! Literals that are not JSON, rewritten as JSON while they arrive: Python's keyword arguments, Gemma's objects.

mod words;
mod write;

use super::Notes;
use super::json::{Emit, white_space};
use crate::dialect::Loose;
use crate::fault::FaultKind;
use crate::message::Tool;
use crate::parse::automaton::{Anchored, Automaton, Scan};
use crate::schema::{Types, escape, quoted, typed, types_of};
use words::{char_end, escape_len, is_word, literal, push_escape};
pub(crate) use write::{escaped, write, write_arguments};

/// The quotes of a loose syntax, ready to be found.
#[derive(Debug)]
pub(crate) struct LooseMarks {
    quotes: Automaton,
    /// One automaton a quote, for the quotes of more than one byte.
    closers: Vec<Option<Automaton>>,
}

impl LooseMarks {
    pub(crate) fn new(loose: &Loose) -> Self {
        Self {
            quotes: Automaton::new(loose.quotes.iter().map(String::as_str)),
            closers: loose
                .quotes
                .iter()
                .map(|quote| (quote.len() > 1).then(|| Automaton::new([quote.as_str()])))
                .collect(),
        }
    }
}

/// Reads the arguments of one call, from the opening bracket on.
#[derive(Debug)]
pub(crate) struct LooseReader {
    /// What closes each open bracket.
    stack: Vec<u8>,
    state: State,
    scan: Scan,
    word: String,
    /// The first key was seen, and the caller was told so.
    begun: bool,
    /// The outer brace is written.
    opened: bool,
    /// A text follows that belongs to the value before.
    goes_on: bool,
    /// A brace was read that may open a dictionary or a set.
    undecided: bool,
    /// The key at hand stood in quotes.
    quoted: bool,
    /// What the tool declares of the outer key at hand.
    types: Types,
    /// The text at hand is held, since the tool declares no text there.
    holds: bool,
    pub(crate) notes: Notes,
    max_depth: usize,
    scratch: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Open,
    Key,
    BareKey,
    Pair,
    Value {
        first: bool,
    },
    /// Perhaps in a quote.
    Quote {
        key: bool,
    },
    Text {
        key: bool,
        quote: usize,
    },
    Escape {
        key: bool,
        quote: usize,
    },
    Bare,
    /// Behind a closing quote: another text may follow, and belongs to the same value.
    Closed,
    After,
    /// Behind a comma, which is written when an item follows.
    Comma,
}

/// How far the arguments are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LooseProgress {
    More,
    /// The first key is read, or there is none: the reader stops here once, before anything is passed on.
    Begun,
    Done,
    Broken,
    TooDeep,
}

/// Stands for the brace that closes a set, which becomes a list.
const SET: u8 = 0;

/// The longest bare word or key, in bytes.
const MAX_WORD: usize = 4096;

impl LooseReader {
    pub(crate) fn new(max_depth: usize) -> Self {
        Self {
            stack: Vec::new(),
            state: State::Open,
            scan: Scan::default(),
            word: String::new(),
            begun: false,
            opened: false,
            goes_on: false,
            undecided: false,
            quoted: false,
            types: Types::default(),
            holds: false,
            notes: Notes::default(),
            max_depth,
            scratch: String::new(),
        }
    }

    /// Reads on from `*look`; `*kept` follows it, but for a split quote or escape.
    #[expect(clippy::too_many_arguments, reason = "one place calls it, and a struct would only rename them")]
    pub(crate) fn read(
        &mut self,
        loose: &Loose,
        marks: &LooseMarks,
        tool: Option<&Tool>,
        text: &str,
        look: &mut usize,
        kept: &mut usize,
        work: &mut u64,
        emit: Emit<'_>,
    ) -> LooseProgress {
        let bytes = text.as_bytes();
        loop {
            if matches!(
                self.state,
                State::Key | State::Pair | State::Value { .. } | State::After | State::Comma | State::Closed
            ) {
                *look += white_space(&bytes[*look..]);
            }
            if !matches!(self.state, State::Quote { .. } | State::Escape { .. } | State::Text { .. }) {
                *kept = *look;
            }
            let Some(&byte) = bytes.get(*look) else { return LooseProgress::More };
            match self.state {
                State::Open => {
                    if byte != loose.open {
                        return LooseProgress::Broken;
                    }
                    self.stack.push(loose.close);
                    *look += 1;
                    self.state = State::Key;
                }
                State::Key if self.closer() == Some(byte) => {
                    *look += 1;
                    if std::mem::take(&mut self.undecided) {
                        emit("{", *look..*look);
                    }
                    if !std::mem::replace(&mut self.begun, true) {
                        *look -= 1;
                        *kept = *look;
                        return LooseProgress::Begun;
                    }
                    self.open(*look, emit);
                    if self.close(*look, emit) {
                        *kept = *look;
                        return LooseProgress::Done;
                    }
                }
                State::Key => {
                    self.word.clear();
                    self.quoted = false;
                    if is_word(byte) {
                        self.state = State::BareKey;
                    } else if self.stack.len() > 1 || loose.pair == b':' {
                        self.enter(State::Quote { key: true });
                    } else {
                        return LooseProgress::Broken;
                    }
                }
                State::BareKey => {
                    if is_word(byte) || matches!(byte, b'-' | b'.' | b'$') {
                        self.word.push(char::from(byte));
                        // A character of several bytes is taken whole.
                        let end = char_end(text, *look);
                        if byte >= 0x80 {
                            self.word.pop();
                            self.word.push_str(&text[*look..end]);
                        }
                        *look = end;
                        if self.word.len() > MAX_WORD {
                            return LooseProgress::Broken;
                        }
                    } else {
                        self.state = State::Pair;
                    }
                }
                State::Pair if self.undecided && (byte == b',' || byte == b'}') => {
                    self.undecided = false;
                    self.stack.pop();
                    self.stack.push(SET);
                    emit("[", *look..*look);
                    let word = std::mem::take(&mut self.word);
                    let json = if self.quoted { Some(quoted(&word)) } else { literal(&word) };
                    let Some(json) = json else { return LooseProgress::Broken };
                    emit(&json, *look..*look);
                    self.state = State::After;
                }
                State::Pair => {
                    let outer = self.stack.len() == 1;
                    let fits = byte == b':' || (byte == b'=' && outer);
                    if !fits {
                        return LooseProgress::Broken;
                    }
                    if !std::mem::replace(&mut self.begun, true) {
                        *kept = *look;
                        return LooseProgress::Begun;
                    }
                    *look += 1;
                    let word = std::mem::take(&mut self.word);
                    self.scratch.clear();
                    self.scratch.push('"');
                    escape(&word, &mut self.scratch);
                    self.scratch.push_str("\":");
                    self.open(*look, emit);
                    if std::mem::take(&mut self.undecided) {
                        emit("{", *look..*look);
                    }
                    self.types = if outer { types_of(tool, &word) } else { Types::default() };
                    emit(&self.scratch, *look..*look);
                    self.state = State::Value { first: false };
                }
                State::Value { first } => match byte {
                    b'{' | b'[' | b'(' => {
                        if self.stack.len() >= self.max_depth {
                            return LooseProgress::TooDeep;
                        }
                        *look += 1;
                        self.stack.push(match byte {
                            b'{' => b'}',
                            b'[' => b']',
                            _ => b')',
                        });
                        if byte == b'{' {
                            self.undecided = true;
                        } else {
                            emit("[", *look..*look);
                        }
                        self.state = if byte == b'{' { State::Key } else { State::Value { first: true } };
                    }
                    _ if first && self.closer() == Some(byte) => {
                        *look += 1;
                        if self.close(*look, emit) {
                            *kept = *look;
                            return LooseProgress::Done;
                        }
                    }
                    _ => self.enter(State::Quote { key: false }),
                },
                State::Quote { key } => match marks.quotes.follow(&mut self.scan, bytes, look, work) {
                    Anchored::More => {}
                    Anchored::Found(hit) => {
                        *kept = hit.end;
                        self.enter(State::Text { key, quote: hit.pattern as usize });
                        self.quoted |= key;
                        if !key && !std::mem::take(&mut self.goes_on) {
                            self.holds = self.stack.len() == 1 && self.types.excludes_string();
                            if self.holds {
                                self.word.clear();
                            } else {
                                emit("\"", hit.end..hit.end);
                            }
                        }
                    }
                    Anchored::Nothing if key => return LooseProgress::Broken,
                    Anchored::Nothing => {
                        *work += (*look - *kept) as u64;
                        *look = *kept;
                        self.word.clear();
                        self.state = State::Bare;
                    }
                },
                State::Text { key, quote } => {
                    if let Some(closer) = &marks.closers[quote] {
                        let hit = closer.find(&mut self.scan, bytes, look, work);
                        let end = hit.map_or(*look - closer.pending(&self.scan), |hit| hit.start);
                        self.pass_on(&text[*kept..end], *kept, key, emit);
                        *kept = end;
                        let Some(hit) = hit else { return LooseProgress::More };
                        *kept = hit.end;
                        self.text_ends(key);
                        continue;
                    }
                    let mark = loose.quotes[quote].as_bytes()[0];
                    let stop = memchr::memchr2(mark, b'\\', &bytes[*look..]);
                    *look = stop.map_or(bytes.len(), |skip| *look + skip);
                    self.pass_on(&text[*kept..*look], *kept, key, emit);
                    *kept = *look;
                    if stop.is_none() {
                        return LooseProgress::More;
                    }
                    *look += 1;
                    if bytes[*look - 1] == b'\\' {
                        self.state = State::Escape { key, quote };
                    } else {
                        *kept = *look;
                        self.text_ends(key);
                    }
                }
                State::Escape { key, quote } => {
                    let Some(len) = escape_len(&bytes[*kept..]) else { return LooseProgress::More };
                    let spelling = &text[*kept..*kept + len];
                    let mut out = String::new();
                    push_escape(spelling, &mut out);
                    if key || self.holds {
                        self.word.push_str(&out);
                    } else {
                        self.scratch.clear();
                        escape(&out, &mut self.scratch);
                        emit(&self.scratch, *kept..*kept + len);
                    }
                    *kept += len;
                    *work += look.saturating_sub(*kept) as u64;
                    *look = *kept;
                    self.state = State::Text { key, quote };
                }
                State::Bare => {
                    let ends = byte == b','
                        || self.closer() == Some(byte)
                        || matches!(byte, b'\n' | b'}' | b']' | b')');
                    if matches!(byte, b'\'' | b'"') && matches!(self.word.as_str(), "f" | "r" | "u" | "b") {
                        self.enter(State::Quote { key: false });
                    } else if !ends {
                        let end = char_end(text, *look);
                        self.word.push_str(&text[*look..end]);
                        *look = end;
                        if self.word.len() > MAX_WORD {
                            return LooseProgress::Broken;
                        }
                    } else if !self.bare_ends(*look, emit) {
                        return LooseProgress::Broken;
                    }
                }
                State::Closed
                    if matches!(byte, b'"' | b'\'') && loose.quotes.iter().any(|quote| quote.len() == 1) =>
                {
                    self.goes_on = true;
                    self.enter(State::Quote { key: false });
                }
                State::Closed => {
                    if std::mem::take(&mut self.holds) {
                        let Ok((json, fits)) = typed(&self.word, self.types, self.max_depth) else {
                            return LooseProgress::TooDeep;
                        };
                        self.notes.add(if fits { FaultKind::Repaired } else { FaultKind::WrongType }, *look);
                        emit(&json, *look..*look);
                    } else {
                        emit("\"", *look..*look);
                    }
                    self.state = State::After;
                }
                State::After => match byte {
                    b',' => {
                        *look += 1;
                        self.state = State::Comma;
                    }
                    _ if self.closer() == Some(byte) => {
                        *look += 1;
                        if self.close(*look, emit) {
                            *kept = *look;
                            return LooseProgress::Done;
                        }
                    }
                    _ => return LooseProgress::Broken,
                },
                State::Comma if self.closer() == Some(byte) => self.state = State::After,
                State::Comma => {
                    emit(",", *look..*look);
                    let keyed = self.stack.len() == 1 || self.stack.last() == Some(&b'}');
                    self.state = if keyed { State::Key } else { State::Value { first: false } };
                }
            }
        }
    }

    fn enter(&mut self, state: State) {
        self.state = state;
        self.scan = Scan::default();
    }

    /// What closes the innermost bracket.
    fn closer(&self) -> Option<u8> {
        self.stack.last().map(|&closer| if closer == SET { b'}' } else { closer })
    }

    /// Writes the outer brace, once.
    fn open(&mut self, at: usize, emit: Emit<'_>) {
        if !std::mem::replace(&mut self.opened, true) {
            emit("{", at..at);
        }
    }

    /// Closes the innermost bracket; true when it was the outermost.
    fn close(&mut self, at: usize, emit: Emit<'_>) -> bool {
        let closer = self.stack.pop();
        let outer = self.stack.is_empty();
        emit(if outer || closer == Some(b'}') { "}" } else { "]" }, at..at);
        self.state = State::After;
        outer
    }

    fn pass_on(&mut self, text: &str, at: usize, key: bool, emit: Emit<'_>) {
        if text.is_empty() {
            return;
        }
        if key || self.holds {
            self.word.push_str(text);
            return;
        }
        if text.bytes().any(|byte| byte < 0x20 || byte == b'"' || byte == b'\\') {
            self.scratch.clear();
            escape(text, &mut self.scratch);
            emit(&self.scratch, at..at + text.len());
        } else {
            emit(text, at..at + text.len());
        }
    }

    fn text_ends(&mut self, key: bool) {
        self.state = if key { State::Pair } else { State::Closed };
    }

    fn bare_ends(&mut self, at: usize, emit: Emit<'_>) -> bool {
        let word = self.word.trim();
        let json = match word {
            "" => return false,
            _ => match literal(word) {
                Some(literal) => literal,
                None if word.contains(['(', '[', '{', '=', '"', '\'']) => return false,
                None => {
                    self.notes.add(FaultKind::Repaired, at);
                    quoted(word)
                }
            },
        };
        emit(&json, at..at);
        self.state = State::After;
        true
    }
}
