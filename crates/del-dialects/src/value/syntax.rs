//! How values are written, and the delimiters around them.

use crate::dialect::{CallForm, Loose};
use crate::scan::{Anchored, Automaton, Match, Scan};

/// How values are written: what is read here without a fault.
#[derive(Debug, Clone)]
pub(crate) struct Syntax {
    pub(super) family: Family,
    /// White space between tokens is kept, and JSON goes out as it is spelt.
    pub(super) spaced: bool,
    /// Arguments stand in brackets of their own.
    pub(super) outer: Option<Outer>,
    /// Quotes of several characters, in which nothing is escaped.
    pub(super) quotes: Vec<String>,
}

/// Whose literals a value is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Family {
    Json,
    /// The raw text of a field, which may be JSON or in the spelling of Python.
    Either,
    Python,
    /// Objects with bare keys and quotes of their own.
    Bare,
}

/// The brackets around arguments, and what stands between a key and its value there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Outer {
    open: u8,
    close: u8,
    pub(super) pair: u8,
}

impl Outer {
    /// What closes the arguments that `open` opens, if it may: where keys stand bare in braces, parentheses are read too.
    pub(crate) fn closer(self, open: u8) -> Option<u8> {
        match open {
            _ if open == self.open => Some(self.close),
            b'(' if self.open == b'{' => Some(b')'),
            _ => None,
        }
    }
}

impl Syntax {
    const fn spaced(family: Family) -> Self {
        Self { family, spaced: true, outer: None, quotes: Vec::new() }
    }

    /// JSON.
    pub(crate) const fn json() -> &'static Self {
        const { &Self::spaced(Family::Json) }
    }

    /// Python's literals, as an object between delimiters.
    pub(crate) const fn python() -> &'static Self {
        const { &Self::spaced(Family::Python) }
    }

    /// The raw text of a field, in the spelling of JSON or of Python.
    pub(crate) const fn either() -> &'static Self {
        const { &Self::spaced(Family::Either) }
    }

    /// Of the object that is a call.
    pub(crate) fn of_call(form: &CallForm) -> Self {
        if form.python { Self::python() } else { Self::json() }.clone()
    }

    /// Of arguments that are no JSON.
    pub(crate) fn of_literals(loose: &Loose) -> Self {
        Self {
            family: if loose.quoted_keys { Family::Python } else { Family::Bare },
            spaced: false,
            outer: Some(Outer { open: loose.open, close: loose.close, pair: loose.pair }),
            quotes: loose.quotes.iter().filter(|quote| is_own(quote)).cloned().collect(),
        }
    }

    /// True for the literals of Python.
    pub(crate) fn is_python(&self) -> bool {
        self.family == Family::Python
    }

    /// True for a byte that may open the arguments in brackets of their own.
    pub(crate) fn opens_arguments(&self, byte: u8) -> bool {
        self.outer.is_some_and(|outer| outer.closer(byte).is_some())
    }

    /// True for a byte that opens a text.
    pub(crate) fn opens_text(&self, byte: u8) -> bool {
        matches!(byte, b'"' | b'\'')
            || self.quotes.iter().any(|quote| quote.as_bytes().first() == Some(&byte))
    }

    pub(super) fn is_json(&self) -> bool {
        matches!(self.family, Family::Json | Family::Either)
    }

    /// True where a comma may stand before a closing bracket.
    pub(super) fn ends_with_comma(&self) -> bool {
        self.family == Family::Python
    }

    /// What stands before a closing quote of several characters, whose opening one is missing.
    pub(super) fn unopened<'w>(&self, word: &'w str) -> Option<&'w str> {
        self.quotes.iter().find_map(|quote| word.strip_suffix(quote.as_str()))
    }
}

/// True for quotes in which a backslash does not escape.
fn is_own(quote: &str) -> bool {
    !quote.bytes().all(|byte| matches!(byte, b'\'' | b'"'))
}

/// The delimiters around a value, ready to be found.
#[derive(Debug, Default)]
pub(crate) struct Marks {
    /// For each quote of the syntax's own, what may end a text in it.
    pub(super) texts: Vec<TextEnds>,
    /// What ends a call whose brackets are not closed: its closers, and so many in, what opens something else.
    ends: Automaton,
    closers: usize,
    /// The bytes that these begin with.
    firsts: Vec<u8>,
    /// What follows a call for sure.
    pub(super) next: Automaton,
    /// A mark behind the arguments is a parenthesis itself, as in `print(f(…))`.
    pub(super) wrapped: bool,
}

/// What may end a text, ready to be found.
#[derive(Debug)]
pub(super) struct TextEnds {
    pub(super) marks: Automaton,
    kinds: Vec<TextEnd>,
}

/// What looks like the end of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TextEnd {
    Quote,
    /// The call closes.
    Call,
    /// Another call begins, or something else that follows a call.
    Other,
}

impl TextEnds {
    pub(super) fn kind(&self, hit: Match) -> TextEnd {
        self.kinds[hit.pattern as usize]
    }
}

/// A delimiter of fewer bytes may well stand in a text.
const MIN_DISTINCT: usize = 5;

/// One of fewer bytes may well stand between values.
const MIN_TOKEN: usize = 3;

impl Marks {
    /// `closers` are the delimiters behind the value, `next` those that open another call, a result or end the turn.
    pub(crate) fn new(syntax: &Syntax, closers: &[String], next: &[String]) -> Self {
        let bracket = syntax.outer.map_or('}', |outer| char::from(outer.close));
        let long = |marks: &[String]| -> Vec<String> {
            marks.iter().filter(|mark| mark.len() >= MIN_DISTINCT).cloned().collect()
        };
        let (over, others) = (long(closers), long(next));
        let over: Vec<String> = over.iter().map(|mark| format!("{bracket}{mark}")).collect();
        let text = |quote: &String| {
            let mut spellings = vec![(quote.as_str(), TextEnd::Quote)];
            spellings.extend(over.iter().map(|mark| (mark.as_str(), TextEnd::Call)));
            spellings.extend(others.iter().map(|mark| (mark.as_str(), TextEnd::Other)));
            TextEnds {
                marks: Automaton::new(spellings.iter().map(|(mark, _)| *mark)),
                kinds: spellings.iter().map(|(_, kind)| *kind).collect(),
            }
        };
        let texts = syntax.quotes.iter().map(text).collect();
        let closers: Vec<&String> = closers.iter().filter(|mark| !mark.is_empty()).collect();
        let firsts: Vec<u8> =
            closers.iter().copied().chain(next).filter_map(|mark| mark.bytes().next()).collect();
        let others = next.iter().filter(|mark| mark.len() >= MIN_TOKEN);
        Self {
            texts,
            ends: Automaton::new(closers.iter().copied().chain(others).map(String::as_str)),
            closers: closers.len(),
            firsts,
            next: Automaton::new(next.iter().map(String::as_str)),
            wrapped: closers.iter().any(|mark| mark.starts_with(')')),
        }
    }

    /// True for a byte that what ends the call may begin with.
    pub(super) fn may_end(&self, byte: u8) -> bool {
        self.firsts.contains(&byte)
    }

    /// What ends the call at the beginning of `window`: true for what opens something else than the call at hand.
    /// `Some(None)` when nothing does, none when more is needed. `inner` says that other brackets are open than those of
    /// the call: what is one bracket itself closes nothing then. With it, how many bytes were looked at.
    #[expect(clippy::option_option, reason = "undecided and none are two answers")]
    pub(super) fn end(&self, window: &str, all: bool, inner: bool) -> (Option<Option<bool>>, usize) {
        let mut look = 0;
        let end = match self.ends.follow(&mut Scan::default(), window.as_bytes(), &mut look, &mut 0) {
            Anchored::Found(hit) if inner && hit.end == 1 => Some(None),
            Anchored::Found(hit) => Some(Some(hit.pattern as usize >= self.closers)),
            Anchored::More if !all => None,
            Anchored::More | Anchored::Nothing => Some(None),
        };
        (end, look)
    }

    /// How long what ends the call is that stands at the beginning of `window`.
    pub(super) fn end_len(&self, window: &str) -> usize {
        match self.ends.follow(&mut Scan::default(), window.as_bytes(), &mut 0, &mut 0) {
            Anchored::Found(hit) => hit.end - hit.start,
            Anchored::More | Anchored::Nothing => 0,
        }
    }
}
