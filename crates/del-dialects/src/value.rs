//! One reader of values for every syntax that models write them in: JSON, Python's literals, objects with quotes of
//! their own. It reads a value that arrives in pieces and writes JSON.
//!
//! A [`Syntax`] says what is written without a fault. Everything else that is readable is a repair: the same in every
//! syntax, with the same fault. `docs/repairs.md` has the table.
//!
//! What needs lookahead is a pure function of a bounded slice, the window behind the byte in question (`window.rs`),
//! so how the text was cut cannot show.

mod bare;
mod between;
mod brackets;
mod exact;
mod json;
mod key;
mod keys;
mod nesting;
mod on;
mod syntax;
mod text;
mod unescaped;
mod window;
mod words;
mod write;

pub use brackets::Brackets;
pub(crate) use exact::{exact, exact_text};
pub(crate) use json::{escape, members, plain, quoted, white_space};
pub(crate) use keys::Keys;
pub(crate) use on::Given;
use on::On;
pub(crate) use syntax::{Family, Marks, Syntax};
use text::{Quote, Text};
pub(crate) use window::is_member;
pub(crate) use words::number;
pub(crate) use write::{escaped, write, write_arguments};

use crate::cursor::{Cursor, Emit};

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
    /// So many brackets are open between the members of the arguments, where these are known to have begun.
    pub(crate) arguments: usize,
    /// Where a value of theirs began that is none of its argument.
    misplaced: Option<u64>,
    /// It has stopped here.
    told: bool,
    /// A comma was dropped with what stood behind it; it is written before the next item.
    owed: bool,
    /// A bracket inside another such one was closed last: where closers are missing, it may be its own that is.
    unsure: bool,
    /// So many arguments came without a key; none may once one had a key.
    unnamed: Option<usize>,
    /// The argument at hand is declared as a text, so that a word or a number may be one.
    pub(crate) wants_text: bool,
    /// JSON inside parentheses of which it is not known yet whether they are a list.
    group: String,
    max_depth: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Bracket {
    /// Around arguments that stand in brackets of their own, which this byte closes.
    Outer(u8),
    /// The same around one object that is all of them.
    Around(u8),
    Object,
    /// An object whose braces are doubled, as in a template of Python.
    Doubled,
    /// An object in quotes, though the quotes in it are not escaped.
    Quoted,
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
            Self::Outer(closer) | Self::Around(closer) => closer,
            Self::Object | Self::Doubled | Self::Quoted | Self::Set => b'}',
            Self::List => b']',
            Self::Tuple | Self::Group(_) => b')',
        }
    }

    fn is_keyed(self) -> bool {
        matches!(self, Self::Outer(_) | Self::Object | Self::Doubled | Self::Quoted)
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
            arguments: 1,
            misplaced: None,
            told: false,
            owed: false,
            unsure: false,
            unnamed: Some(0),
            wants_text: false,
            group: String::new(),
            max_depth,
        }
    }

    /// A reader that stops at the members of the outermost object.
    pub(crate) fn watching(max_depth: usize) -> Self {
        Self { watch: 1, ..Self::new(max_depth) }
    }

    /// True before the first byte of the value.
    pub(crate) fn is_fresh(&self) -> bool {
        self.stack.is_empty() && matches!(self.state, State::Value { .. })
    }

    /// The key behind which the reader stopped.
    pub(crate) fn key(&self) -> &str {
        &self.word
    }

    /// Names the argument that stands without a key.
    pub(crate) fn name(&mut self, key: &str) {
        key.clone_into(&mut self.word);
    }

    /// The object without a name that is the first argument is all of them.
    pub(crate) fn take_all_arguments(&mut self) {
        if let Some(Bracket::Outer(closer)) = self.top() {
            self.keys.leave();
            self.turn_into(Bracket::Around(closer));
            (self.watch, self.arguments, self.unnamed) = (2, 2, None);
            self.enter(State::Value { first: false });
        }
    }

    /// How many brackets are open.
    pub(crate) fn depth(&self) -> usize {
        self.stack.len()
    }

    /// The text is over: where only closing brackets are missing, they are written.
    pub(crate) fn close_missing(&mut self, given: Given<'_>, at: &mut Cursor<'_>, emit: Emit<'_>) -> bool {
        let mut on = On { given, at, emit };
        let whole = self.state == State::After;
        if whole {
            let end = on.text.len();
            on.skip(end - on.look);
            on.note(self.missing(), end);
            self.close_all(&mut on);
        }
        whole
    }

    /// What finds the end of a value that cannot be read.
    pub(crate) fn brackets(&self) -> Brackets {
        let quote = (self.state == State::Text).then(|| self.text.quote.first());
        Brackets::within(self.stack.len(), quote)
    }

    /// Reads on at the byte at hand.
    pub(crate) fn read(&mut self, given: Given<'_>, at: &mut Cursor<'_>, emit: Emit<'_>) -> Progress {
        let mut on = On { given, at, emit };
        let progress = self.run(&mut on);
        if !self.holds() {
            let look = on.look;
            self.flush(&mut on, look);
        } else if progress == Progress::More && on.last() && on.given.syntax.spaced {
            let end = on.bytes.len();
            self.flush(&mut on, end);
        }
        progress
    }

    fn run(&mut self, on: &mut On<'_, '_>) -> Progress {
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

    fn value_ends(&mut self) {
        self.enter(if self.stack.is_empty() { State::Done } else { State::After });
    }

    fn enter(&mut self, state: State) {
        (self.state, self.told) = (state, false);
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
