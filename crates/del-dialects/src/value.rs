//! One reader of values for every syntax that models write them in: JSON, Python's literals, objects with quotes of
//! their own. It reads a value that arrives in pieces and writes JSON.
//!
//! A [`Syntax`] says what is written without a fault. Everything else that is readable is a repair: the same in every
//! syntax, with the same fault. `docs/recovery.md` has the table.
//!
//! What needs lookahead is a pure function of a bounded slice, the window behind the byte in question (`window.rs`),
//! so how the text was cut cannot show.

mod bare;
mod brackets;
mod cursor;
mod json;
mod key;
mod keys;
mod syntax;
mod text;
mod unescaped;
mod window;
mod words;
mod write;

pub use brackets::Brackets;
use cursor::Cursor;
pub(crate) use cursor::{Emit, Given};
pub(crate) use json::{ESCAPES, escape, plain, quoted, white_space};
use keys::Keys;
pub(crate) use syntax::{Family, Marks, Syntax};
use text::{Quote, Text};
use words::is_word;
pub(crate) use words::number;
pub(crate) use write::{escaped, write, write_arguments};

use crate::codec::Notes;
use crate::fault::FaultKind;

/// Reads one value. Keeps its place from one piece of text to the next.
#[derive(Debug, Clone)]
pub(crate) struct Reader {
    stack: Vec<Bracket>,
    state: State,
    keys: Keys,
    /// The key at hand, decoded.
    word: String,
    text: Text,
    /// What stands behind the byte at hand is looked at again when it is so long.
    window: usize,
    /// Objects up to this depth are read member by member: the reader stops at each key, value and end of a value.
    pub(crate) watch: usize,
    /// It has stopped here.
    told: bool,
    /// A comma was dropped with what stood behind it; it is written before the next item.
    owed: bool,
    /// So many arguments came without a key; none may once one had a key.
    unnamed: Option<usize>,
    /// The argument at hand is declared as a text, so that a word or a number may be one.
    pub(crate) wants_text: bool,
    /// JSON inside parentheses of which it is not known yet whether they are a list.
    group: String,
    /// Where in the answer the first byte that is given stands.
    pub(crate) base: u64,
    /// Where in the answer a search for the end of a text ended in vain.
    pub(crate) doubted: u64,
    pub(crate) notes: Notes,
    max_depth: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Bracket {
    /// Around arguments that stand in brackets of their own, which this byte closes.
    Outer(u8),
    Object,
    List,
    /// Braces around items: becomes a list.
    Set,
    /// Parentheses with a comma in them: becomes a list.
    Tuple,
    /// Parentheses around one item so far, which begins there in the group's JSON.
    Group(usize),
}

impl Bracket {
    fn closer(self) -> u8 {
        match self {
            Self::Outer(closer) => closer,
            Self::Object | Self::Set => b'}',
            Self::List => b']',
            Self::Tuple | Self::Group(_) => b')',
        }
    }

    fn is_keyed(self) -> bool {
        matches!(self, Self::Outer(_) | Self::Object)
    }
}

/// What is expected, or being read. Where a token is held, the first kept byte is its first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// A value; or the end of a list, if it is the first.
    Value {
        first: bool,
    },
    /// A key; or the end of an object.
    Key,
    /// In a key that is held: in this quote, or bare.
    InKey(Option<Quote>),
    /// Behind a key.
    Pair,
    /// At an argument without a key.
    Unnamed,
    /// In a text.
    Text,
    /// In a word or number that is held.
    Bare,
    After,
    /// Behind a comma, which is written when an item follows.
    Comma,
    /// In a comment, with what is expected behind it.
    Comment {
        block: bool,
        then: Then,
    },
    Done,
}

/// What is expected behind a comment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Then {
    Value { first: bool },
    Key,
    Pair,
    After,
    Comma,
}

/// How far reading came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Progress {
    /// The value goes on behind the text.
    More,
    /// In a watched object: a key was read, and nothing of it was passed on.
    Key,
    /// In a watched object: a value stands without a key, as the argument at this place. It has to be named.
    Unnamed(usize),
    /// In a watched object: a value begins with this byte.
    Value(u8),
    /// In a watched object: a value is whole.
    Item,
    /// A watched object is over and held nothing.
    Empty,
    /// The value is whole; it ends at `look`.
    Done,
    /// At `look` stands something that cannot be read.
    Broken,
    /// Deeper than the limit.
    TooDeep,
}

/// Why the reader stops; none when it goes on.
type Stop = Option<Progress>;

/// White space behind a comma is held back with it, up to this many bytes.
const MAX_HELD_SPACE: usize = 1024;

impl Reader {
    /// A reader for one value of at most this many nested containers.
    pub(crate) fn new(max_depth: usize) -> Self {
        Self {
            stack: Vec::new(),
            state: State::Value { first: false },
            keys: Keys::default(),
            word: String::new(),
            text: Text::default(),
            window: 0,
            watch: 0,
            told: false,
            owed: false,
            unnamed: Some(0),
            wants_text: false,
            group: String::new(),
            base: 0,
            doubted: 0,
            notes: Notes::default(),
            max_depth,
        }
    }

    /// A reader that stops at the members of the outermost object.
    pub(crate) fn watching(max_depth: usize) -> Self {
        Self { watch: 1, ..Self::new(max_depth) }
    }

    /// Ready for another value.
    pub(crate) fn restart(&mut self) {
        self.stack.clear();
        self.keys.clear();
        self.group.clear();
        (self.state, self.unnamed, self.wants_text) = (State::Value { first: false }, Some(0), false);
        (self.told, self.owed, self.window, self.notes) = (false, false, 0, Notes::default());
    }

    /// True before the first byte of the value.
    pub(crate) fn is_fresh(&self) -> bool {
        self.stack.is_empty() && matches!(self.state, State::Value { .. })
    }

    /// True behind the opening bracket of the outermost object, before a key.
    pub(crate) fn is_opened(&self) -> bool {
        self.stack.len() == 1 && self.state == State::Key
    }

    /// The key behind which the reader stopped.
    pub(crate) fn key(&self) -> &str {
        &self.word
    }

    /// Names the argument that stands without a key.
    pub(crate) fn name(&mut self, key: &str) {
        key.clone_into(&mut self.word);
    }

    /// How many brackets are open.
    pub(crate) fn depth(&self) -> usize {
        self.stack.len()
    }

    /// The text is over: where only closing brackets are missing, they are written.
    pub(crate) fn close_missing(&mut self, given: Given<'_>, emit: Emit<'_>) -> bool {
        let end = given.text.len();
        let mut on = Cursor::new(given, end, end, emit);
        let whole = self.state == State::After;
        if whole {
            self.notes.add(FaultKind::MissingCloser, end);
            self.close_all(&mut on);
        }
        whole
    }

    /// What finds the end of a value that cannot be read.
    pub(crate) fn brackets(&self) -> Brackets {
        let quote = (self.state == State::Text).then(|| self.text.quote.first());
        Brackets::within(self.stack.len(), quote)
    }

    /// Reads on from `*look`. `*kept` is the first byte that has not been passed on: on return everything before it
    /// has been, and what lies between it and `*look` has to be there again next time. Bytes that were looked at again
    /// are added to `*work`.
    pub(crate) fn read(
        &mut self,
        given: Given<'_>,
        look: &mut usize,
        kept: &mut usize,
        work: &mut u64,
        emit: Emit<'_>,
    ) -> Progress {
        let mut on = Cursor::new(given, *look, *kept, emit);
        let progress = self.run(&mut on);
        if !self.holds() {
            let look = on.look;
            self.flush(&mut on, look);
        } else if progress == Progress::More && on.last() && on.given.syntax.spaced {
            let end = on.bytes.len();
            self.flush(&mut on, end);
        }
        (*look, *kept) = (on.look, on.kept);
        *work += on.again;
        progress
    }

    fn run(&mut self, on: &mut Cursor<'_, '_>) -> Progress {
        loop {
            let stop = match self.state {
                State::Text => self.text(on),
                State::Done => return Progress::Done,
                State::InKey(quote) => self.in_key(on, quote),
                State::Bare => self.bare(on),
                State::Unnamed => self.unnamed(on),
                State::After if self.watches() && !self.told => {
                    self.told = true;
                    Some(Progress::Item)
                }
                State::Comment { block, then } => self.comment(on, block, then),
                State::Value { .. } | State::Key | State::Pair | State::After | State::Comma => {
                    self.structure(on)
                }
            };
            if let Some(progress) = stop {
                return progress;
            }
        }
    }

    /// Between tokens.
    fn structure(&mut self, on: &mut Cursor<'_, '_>) -> Stop {
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
            let Some(comment) = on.comment(matches!(self.state, State::Value { .. })) else {
                return Some(Progress::More);
            };
            if let Some(block) = comment {
                self.open_comment(on, block);
                return None;
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
    fn value(&mut self, on: &mut Cursor<'_, '_>, byte: u8, first: bool) -> Stop {
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
        match Quote::at(&on.given.text[on.look..], on.given.syntax, on.last()) {
            None => Some(Progress::More),
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

    /// A bracket opens where a value stands.
    fn open(&mut self, on: &mut Cursor<'_, '_>, byte: u8) -> Stop {
        if self.stack.len() >= self.max_depth {
            return Some(Progress::TooDeep);
        }
        match byte {
            b'{' => {
                // Braces of an object between delimiters hold members, also in Python.
                let python = on.given.syntax.is_python() && !on.given.syntax.spaced;
                let set =
                    if python { self.look_ahead(on, on.look + 1, &window::is_set) } else { Some(false) };
                let Some(set) = set else { return Some(Progress::More) };
                if set {
                    self.replace(on, "[", 1);
                    self.push(Bracket::Set);
                    self.enter(State::Value { first: false });
                } else {
                    self.pass(on, "{");
                    self.push(Bracket::Object);
                    self.enter(State::Key);
                }
            }
            b'[' => {
                self.pass(on, "[");
                self.push(Bracket::List);
                self.enter(State::Value { first: true });
            }
            _ => {
                if on.given.syntax.family != Family::Python {
                    self.notes.add(FaultKind::Repaired, on.look);
                }
                self.flush(on, on.look);
                on.skip(1);
                self.push(Bracket::Group(self.group.len()));
                self.enter(State::Value { first: true });
            }
        }
        None
    }

    /// Behind a value.
    fn after(&mut self, on: &mut Cursor<'_, '_>, byte: u8) -> Stop {
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
            self.notes.add(FaultKind::MissingCloser, on.look);
            self.flush(on, on.look);
            while self.closer() != Some(byte) {
                self.close_unseen(on);
            }
            return None;
        }
        self.unexpected(on)
    }

    /// Another item follows in parentheses: they are a list.
    fn open_tuple(&mut self, on: &mut Cursor<'_, '_>) {
        if let Some(Bracket::Group(from)) = self.top() {
            self.flush(on, on.look);
            self.group.insert(from, '[');
            self.turn_into(Bracket::Tuple);
        }
    }

    /// Behind a comma.
    fn comma(&mut self, on: &mut Cursor<'_, '_>, byte: u8) -> Stop {
        if self.closer() == Some(byte) {
            if !on.given.syntax.ends_with_comma() {
                self.notes.add(FaultKind::Repaired, on.look);
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
    fn expect_item(&mut self) {
        let keyed = self.top().is_some_and(Bracket::is_keyed);
        self.enter(if keyed { State::Key } else { State::Value { first: false } });
    }

    /// The comma behind which the reader is goes out with the next item, if one comes.
    fn owe_comma(&mut self, on: &mut Cursor<'_, '_>) {
        if !std::mem::replace(&mut self.owed, true) {
            on.kept = if on.given.syntax.spaced { on.kept + 1 } else { on.look };
            self.flush(on, on.look);
        }
    }

    /// A comma too many: among members nothing can be missing between two, in a list a value may be.
    fn repair_comma(&mut self, on: &mut Cursor<'_, '_>) {
        let keyed = self.top().is_some_and(Bracket::is_keyed);
        self.notes.add(if keyed { FaultKind::Repaired } else { FaultKind::GuessedValue }, on.look);
        if self.state == State::Comma {
            self.owe_comma(on);
        }
        self.flush(on, on.look);
        on.skip(1);
    }

    /// Behind a value stands something else than a comma or a closing bracket.
    fn unexpected(&mut self, on: &mut Cursor<'_, '_>) -> Stop {
        let place = self.place(on);
        let next = self.look_ahead(on, on.look, &|window, last| window::next(window, last, &place));
        let Some(next) = next else { return Some(Progress::More) };
        match next {
            window::Next::Item => {
                self.notes.add(FaultKind::GuessedBorder, on.look);
                self.flush(on, on.look);
                self.open_tuple(on);
                self.emit(on, ",");
                self.expect_item();
                None
            }
            window::Next::End { opens } => {
                // Where nothing escapes quotes, what opens a call may stand in the text before.
                if opens && on.given.syntax.family == Family::Bare {
                    self.notes.add_markup(FaultKind::GuessedBorder, on.look);
                } else {
                    self.notes.add(FaultKind::MissingCloser, on.look);
                }
                Some(self.close_all(on))
            }
            window::Next::Quote(len) => {
                self.notes.add_markup(FaultKind::GuessedBorder, on.look);
                self.flush(on, on.look);
                on.skip(len);
                None
            }
            window::Next::Other => Some(Progress::Broken),
        }
    }

    fn open_comment(&mut self, on: &mut Cursor<'_, '_>, block: bool) {
        let then = match self.state {
            State::Value { first } => Then::Value { first },
            State::Key => Then::Key,
            State::Pair => Then::Pair,
            State::Comma => Then::Comma,
            _ => Then::After,
        };
        self.notes.add(FaultKind::Repaired, on.look);
        if self.state == State::Comma {
            // With it goes the white space up to the comment.
            on.kept = if self.owed { on.kept } else { on.look };
            self.owed = true;
        }
        self.flush(on, on.look);
        on.skip(if on.bytes[on.look] == b'#' { 1 } else { 2 });
        self.enter(State::Comment { block, then });
    }

    /// In a comment, none of which goes out.
    fn comment(&mut self, on: &mut Cursor<'_, '_>, block: bool, then: Then) -> Stop {
        let rest = &on.bytes[on.look..];
        let end = if block {
            memchr::memmem::find(rest, b"*/").map(|at| at + 2)
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

    /// Closes the innermost bracket, at its closer; stops behind the outermost.
    fn close(&mut self, on: &mut Cursor<'_, '_>) -> Stop {
        if self.watches() && matches!(self.state, State::Key) && !std::mem::replace(&mut self.told, true) {
            return Some(Progress::Empty);
        }
        match self.top() {
            Some(Bracket::Group(from)) => {
                self.flush(on, on.look);
                on.skip(1);
                self.stack.pop();
                if self.group.len() == from {
                    self.group.push_str("[]");
                }
                self.give_group(on);
                self.value_ends();
            }
            bracket => {
                if self.is_outer() && self.keys.is_first() {
                    self.emit(on, "{");
                }
                let json = if bracket.is_some_and(Bracket::is_keyed) { "}" } else { "]" };
                if bracket.map(Bracket::closer) == json.bytes().next() {
                    self.pass(on, json);
                } else {
                    self.replace(on, json, 1);
                }
                self.leave(on, bracket);
            }
        }
        (self.state == State::Done).then_some(Progress::Done)
    }

    fn leave(&mut self, on: &mut Cursor<'_, '_>, bracket: Option<Bracket>) {
        self.stack.pop();
        if bracket.is_some_and(Bracket::is_keyed) {
            self.keys.leave();
        }
        if bracket == Some(Bracket::Tuple) {
            self.flush(on, on.look);
            self.give_group(on);
        }
        self.value_ends();
    }

    /// Closes everything that is open, where the closing brackets are missing.
    fn close_all(&mut self, on: &mut Cursor<'_, '_>) -> Progress {
        self.flush(on, on.look);
        while !self.stack.is_empty() {
            self.close_unseen(on);
        }
        Progress::Done
    }

    /// Closes the innermost bracket, whose closer is missing.
    fn close_unseen(&mut self, on: &mut Cursor<'_, '_>) {
        let bracket = self.top();
        match bracket {
            Some(Bracket::Group(_)) => {}
            Some(Bracket::Outer(_)) if self.keys.is_first() => self.emit(on, "{}"),
            // Of a watched object only the values go out.
            Some(Bracket::Object) if self.watches() => {}
            Some(bracket) => self.emit(on, if bracket.is_keyed() { "}" } else { "]" }),
            None => {}
        }
        self.leave(on, bracket);
        self.give_group(on);
    }

    /// What stood in parentheses goes out once none is open that may be a list.
    fn give_group(&mut self, on: &mut Cursor<'_, '_>) {
        if !self.is_grouped() && !self.group.is_empty() {
            let json = std::mem::take(&mut self.group);
            (on.emit)(&json, on.look..on.look);
        }
    }

    fn value_ends(&mut self) {
        self.enter(if self.stack.is_empty() { State::Done } else { State::After });
    }

    fn enter(&mut self, state: State) {
        (self.state, self.told) = (state, false);
    }

    fn push(&mut self, bracket: Bracket) {
        if bracket.is_keyed() {
            self.keys.enter();
        }
        self.stack.push(bracket);
    }

    fn top(&self) -> Option<Bracket> {
        self.stack.last().copied()
    }

    fn turn_into(&mut self, bracket: Bracket) {
        if let Some(top) = self.stack.last_mut() {
            *top = bracket;
        }
    }

    /// What closes the innermost bracket.
    fn closer(&self) -> Option<u8> {
        self.top().map(Bracket::closer)
    }

    /// True where the members of a watched object stand.
    fn watches(&self) -> bool {
        !self.stack.is_empty() && self.stack.len() <= self.watch
    }

    /// True where the arguments of the call itself stand in brackets of their own.
    fn is_outer(&self) -> bool {
        matches!(self.top(), Some(Bracket::Outer(_)))
    }

    fn is_grouped(&self) -> bool {
        self.stack.iter().any(|bracket| matches!(bracket, Bracket::Group(_) | Bracket::Tuple))
    }

    /// True while a token is held from the first kept byte on.
    fn holds(&self) -> bool {
        match self.state {
            State::InKey(_) | State::Bare => true,
            State::Comma => !self.owed,
            // Where arguments stand in brackets of their own, a word may be a value without its key.
            State::Pair => self.is_outer(),
            State::Text => self.text.waits,
            _ => false,
        }
    }
}
