//! Literals that are not JSON, rewritten as JSON while they arrive: Python's keyword arguments, Gemma's objects.

mod bare;
mod behind;
mod key;
mod marks;
mod skip;
mod text;
mod within;
mod words;
mod write;

use super::json::{Emit, Keys, white_space};
use super::{Notes, reading};
use crate::dialect::Loose;
use crate::fault::FaultKind;
use crate::scan::{Anchored, Scan};
use crate::schema::{Spelling, Types};
use crate::turn::End;
use bare::Bare;
use behind::Behind;
pub(crate) use marks::LooseMarks;
pub(crate) use skip::Skip;
use text::Text;
use within::Within;
pub(crate) use write::{escaped, write, write_arguments};

/// Reads the arguments of one call, from the opening bracket on.
#[derive(Debug)]
pub(crate) struct LooseReader {
    stack: Vec<Bracket>,
    keys: Keys,
    state: State,
    scan: Scan,
    /// The key or the bare word at hand, or a text that is held.
    word: String,
    text: Text,
    bare: Bare,
    /// The first key was seen, and the caller was told so.
    begun: bool,
    /// The outer brace is written.
    opened: bool,
    /// The key at hand stood in quotes.
    quoted: bool,
    /// So many arguments came without a name; none may once one had a name.
    unnamed: Option<usize>,
    /// What the tool declares of the outer key at hand.
    types: Types,
    /// The text at hand is held, since the tool declares no text there, or since it stands first in parentheses.
    holds: bool,
    /// The first item in parentheses: alone it is no list.
    first: Option<String>,
    /// Where in the answer the text at hand begins.
    pub(crate) base: u64,
    /// Where in the answer a search for the end of a text ended in vain.
    pub(crate) doubted: u64,
    pub(crate) notes: Notes,
    max_depth: usize,
    scratch: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Bracket {
    /// The arguments' own, which this byte closes.
    Outer(u8),
    Object,
    /// A brace that may open an object or a set: nothing of it is written yet.
    Brace,
    /// Becomes a list.
    Set,
    List,
    Tuple,
    /// Parentheses around one item so far: nothing of them is written yet.
    Group,
}

impl Bracket {
    fn closer(self) -> u8 {
        match self {
            Self::Outer(closer) => closer,
            Self::Object | Self::Brace | Self::Set => b'}',
            Self::List => b']',
            Self::Tuple | Self::Group => b')',
        }
    }
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
    Text,
    Escape,
    /// Behind the call's closing bracket and mark, inside a text whose quote may never be closed.
    Lost,
    /// Behind a mark inside a text that may never be closed.
    Within(Within),
    /// Behind what may end a text or a bare word.
    Behind(Behind),
    Bare,
    /// Perhaps in a mark that ends the call, though brackets are open; behind a bare word, or behind a value.
    Mark {
        bare: bool,
    },
    /// Perhaps in a quote behind a value, which nobody opened.
    Left,
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

/// The text at hand, and what is known of it.
pub(crate) type Given<'a> = reading::Given<'a, Loose, LooseMarks>;

/// A place in the text at hand, and where what is read goes.
type On<'a, 'e> = reading::On<'a, 'e, Loose, LooseMarks>;

impl On<'_, '_> {
    fn put(&mut self, json: &str) {
        (self.emit)(json, self.look..self.look);
    }

    /// Goes on from `to`.
    fn back(&mut self, to: usize) {
        self.rewind(to);
        self.kept = to;
    }
}

/// Why the reader stops; none when it goes on.
type Stop = Option<LooseProgress>;

/// The longest bare word or key, in bytes.
const MAX_WORD: usize = 4096;

impl LooseReader {
    pub(crate) fn new(max_depth: usize) -> Self {
        Self {
            stack: Vec::new(),
            keys: Keys::default(),
            state: State::Open,
            scan: Scan::default(),
            word: String::new(),
            text: Text::default(),
            bare: Bare::default(),
            begun: false,
            opened: false,
            quoted: false,
            unnamed: Some(0),
            types: Types::default(),
            holds: false,
            first: None,
            base: 0,
            doubted: 0,
            notes: Notes::default(),
            max_depth,
            scratch: String::new(),
        }
    }

    /// Reads on from `*look`; `*kept` follows it, but for what is split or not decided.
    pub(crate) fn read(
        &mut self,
        given: Given<'_>,
        look: &mut usize,
        kept: &mut usize,
        work: &mut u64,
        emit: Emit<'_>,
    ) -> LooseProgress {
        let mut on = On::new(given, *look, *kept, emit);
        let progress = self.run(&mut on);
        (*look, *kept) = (on.look, on.kept);
        *work += on.again;
        progress
    }

    /// How values are spelt that the schema types.
    fn spelling(&self, loose: &Loose) -> Spelling {
        Spelling { python: loose.quoted_keys, max_depth: self.max_depth }
    }

    /// What finds the end of arguments that cannot be read.
    pub(crate) fn skip(&self, loose: &Loose) -> Skip {
        let word = if self.state == State::Bare { self.word.as_str() } else { "" };
        let quote = (self.state == State::Text).then(|| self.text.quote(loose).as_bytes()[0]);
        Skip::new(self.stack.len(), quote, word)
    }

    fn run(&mut self, on: &mut On<'_, '_>) -> LooseProgress {
        loop {
            let space = matches!(
                self.state,
                State::Key | State::Pair | State::Value { .. } | State::After | State::Comma | State::Closed
            );
            if space {
                on.look += white_space(&on.bytes[on.look..]);
            }
            if space || matches!(self.state, State::Open | State::BareKey | State::Bare) {
                on.kept = on.look;
            }
            let stop = match (self.state, on.bytes.get(on.look)) {
                (State::Lost, byte) => self.lost(on, byte.is_none()),
                (State::Behind(behind), None) if on.given.end.is_some() => {
                    // Where quotes were forgotten before, a cut proves nothing.
                    if self.text.nested && on.given.end == Some(End::Cut) {
                        return LooseProgress::More;
                    }
                    self.decide(on, behind, true)
                }
                (State::Within(at), _) => self.within(on, at),
                (_, None) => return LooseProgress::More,
                (State::Open, Some(&byte)) => self.arguments(on, byte),
                (State::Key, Some(&byte)) => self.key(on, byte),
                (State::BareKey, Some(&byte)) => self.bare_key(on, byte),
                (State::Pair, Some(&byte)) => self.pair(on, byte),
                (State::Value { first }, Some(&byte)) => self.value(on, byte, first),
                (State::Quote { key }, _) => self.quote(on, key),
                (State::Text, _) => self.text(on),
                (State::Escape, _) => self.escape(on),
                (State::Behind(behind), Some(&byte)) => self.behind(on, behind, byte),
                (State::Bare, Some(&byte)) => self.bare(on, byte),
                (State::Mark { bare }, _) => self.mark(on, bare),
                (State::Left, _) => self.left(on),
                (State::Closed, Some(&byte)) => self.closed(on, byte),
                (State::After, Some(&byte)) => self.after(on, byte),
                (State::Comma, Some(&byte)) => self.comma(on, byte),
            };
            if let Some(progress) = stop {
                return progress;
            }
        }
    }

    fn arguments(&mut self, on: &mut On<'_, '_>, byte: u8) -> Stop {
        let Some(closer) = on.given.form.closer(byte) else { return Some(LooseProgress::Broken) };
        self.stack.push(Bracket::Outer(closer));
        self.keys.enter();
        on.look += 1;
        self.state = State::Key;
        None
    }

    fn value(&mut self, on: &mut On<'_, '_>, byte: u8, first: bool) -> Stop {
        let bracket = match byte {
            b'{' => Bracket::Brace,
            b'[' => Bracket::List,
            b'(' if on.given.form.quoted_keys => Bracket::Group,
            _ if first && self.closer() == Some(byte) => {
                on.look += 1;
                return self.close(on);
            }
            _ => {
                self.text = Text::default();
                self.enter(State::Quote { key: false });
                return None;
            }
        };
        if self.stack.len() >= self.max_depth {
            return Some(LooseProgress::TooDeep);
        }
        on.look += 1;
        if self.top() == Some(Bracket::Group) {
            on.put("[");
            self.turn_into(Bracket::Tuple);
        }
        if bracket == Bracket::List {
            on.put("[");
        }
        self.stack.push(bracket);
        self.state = if bracket == Bracket::Brace { State::Key } else { State::Value { first: true } };
        None
    }

    fn after(&mut self, on: &mut On<'_, '_>, byte: u8) -> Stop {
        if byte == b',' {
            on.look += 1;
            if self.top() == Some(Bracket::Group) {
                on.put("[");
                on.put(&self.first.take().unwrap_or_default());
                self.turn_into(Bracket::Tuple);
            }
            self.state = State::Comma;
        } else if self.closer() == Some(byte) {
            on.look += 1;
            return self.close(on);
        } else {
            self.enter(State::Mark { bare: false });
        }
        None
    }

    fn comma(&mut self, on: &mut On<'_, '_>, byte: u8) -> Stop {
        if self.closer() == Some(byte) {
            self.state = State::After;
            return None;
        }
        on.put(",");
        let keyed = matches!(self.top(), Some(Bracket::Outer(_) | Bracket::Object));
        self.state = if keyed { State::Key } else { State::Value { first: false } };
        None
    }

    /// Brackets are open, and what ends the call may stand here.
    fn mark(&mut self, on: &mut On<'_, '_>, bare: bool) -> Stop {
        let found = on.given.marks.ends.follow(&mut self.scan, on.bytes, &mut on.look, &mut on.again);
        match found {
            Anchored::More => None,
            Anchored::Found(hit) => {
                on.back(on.kept);
                if bare && !self.bare_ends(on) {
                    return Some(LooseProgress::Broken);
                }
                // Where nothing escapes quotes, what opens a call may stand in the text before.
                let guess = on.given.marks.opens(hit) && !on.given.form.quoted_keys;
                if guess {
                    self.notes.add_markup(FaultKind::GuessedBorder, on.look);
                } else {
                    self.notes.add(FaultKind::MissingCloser, on.look);
                }
                self.close_all(on)
            }
            Anchored::Nothing => {
                on.back(on.kept);
                if bare {
                    return self.bare_char(on);
                }
                self.enter(State::Left);
                None
            }
        }
    }

    /// Behind a value: its own quotes are closed, and the syntax's quote is left over.
    fn left(&mut self, on: &mut On<'_, '_>) -> Stop {
        match on.given.marks.quotes.follow(&mut self.scan, on.bytes, &mut on.look, &mut on.again) {
            Anchored::More => None,
            Anchored::Found(hit) if hit.end - hit.start > 1 && !on.given.form.quoted_keys => {
                self.notes.add_markup(FaultKind::GuessedBorder, hit.start);
                on.look = hit.end;
                self.state = State::After;
                None
            }
            Anchored::Found(_) | Anchored::Nothing => {
                on.back(on.kept);
                Some(LooseProgress::Broken)
            }
        }
    }

    fn enter(&mut self, state: State) {
        self.state = state;
        self.scan = Scan::default();
    }

    fn top(&self) -> Option<Bracket> {
        self.stack.last().copied()
    }

    /// The brace at hand opens an object.
    fn open_object(&mut self, on: &mut On<'_, '_>) {
        on.put("{");
        self.turn_into(Bracket::Object);
        self.keys.enter();
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

    /// Writes the outer brace, once.
    fn open(&mut self, on: &mut On<'_, '_>) {
        if !std::mem::replace(&mut self.opened, true) {
            on.put("{");
        }
    }

    /// Closes the innermost bracket, and stops behind the outermost.
    fn close(&mut self, on: &mut On<'_, '_>) -> Stop {
        self.state = State::After;
        self.open(on);
        match self.stack.pop() {
            Some(Bracket::Outer(_)) | None => {
                on.kept = on.look;
                on.put("}");
                return Some(LooseProgress::Done);
            }
            Some(Bracket::Object | Bracket::Brace) => {
                self.keys.leave();
                on.put("}");
            }
            Some(Bracket::Group) => on.put(self.first.take().as_deref().unwrap_or("[]")),
            Some(Bracket::Set | Bracket::List | Bracket::Tuple) => on.put("]"),
        }
        None
    }

    /// Closes what is open.
    fn close_all(&mut self, on: &mut On<'_, '_>) -> Stop {
        while self.stack.len() > 1 {
            self.close(on);
        }
        self.close(on)
    }
}
