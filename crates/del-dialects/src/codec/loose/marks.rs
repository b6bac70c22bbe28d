//! The quotes of a loose syntax and the marks around it, ready to be found.

use crate::dialect::Loose;
use crate::scan::{Automaton, Match};

/// The quotes of a loose syntax and the marks around it, ready to be found.
#[derive(Debug)]
pub(crate) struct LooseMarks {
    pub(super) quotes: Automaton,
    /// For each quote of more than one byte, what may end a text in it.
    pub(super) closers: Vec<Option<TextEnds>>,
    /// What ends a call whose brackets are not closed: its closers, and so many in, what opens something else.
    pub(super) ends: Automaton,
    closers_of_call: usize,
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
    /// An escape, which is none.
    Escape,
    /// The call closes.
    Lost,
    /// Another call begins, or something else that follows a call.
    Other,
}

impl TextEnds {
    pub(super) fn kind(&self, hit: Match) -> TextEnd {
        self.kinds[hit.pattern as usize]
    }
}

/// A mark of fewer bytes may well stand in a text.
const MIN_DISTINCT: usize = 5;

impl LooseMarks {
    /// `closers` are the marks behind the arguments, `next` those that open another call, a result or end the turn.
    pub(crate) fn new(loose: &Loose, closers: &[String], next: &[String]) -> Self {
        let bracket = char::from(loose.close);
        let distinct = || closers.iter().filter(|mark| mark.len() >= MIN_DISTINCT);
        let lost: Vec<String> = distinct().map(|mark| format!("{bracket}{mark}")).collect();
        let closer = |quote: &String| {
            let mut spellings = vec![(quote.as_str(), TextEnd::Quote)];
            if is_python(quote) {
                spellings.push(("\\", TextEnd::Escape));
            } else {
                spellings.extend(lost.iter().map(|mark| (mark.as_str(), TextEnd::Lost)));
                let others = next.iter().filter(|mark| mark.len() >= MIN_DISTINCT);
                spellings.extend(others.map(|mark| (mark.as_str(), TextEnd::Other)));
            }
            (quote.len() > 1).then(|| TextEnds {
                marks: Automaton::new(spellings.iter().map(|(mark, _)| *mark)),
                kinds: spellings.iter().map(|(_, kind)| *kind).collect(),
            })
        };
        let ends = closers.iter().chain(next.iter().filter(|mark| mark.len() >= MIN_DISTINCT));
        Self {
            quotes: Automaton::new(loose.quotes.iter().map(String::as_str)),
            closers: loose.quotes.iter().map(closer).collect(),
            ends: Automaton::new(ends.map(String::as_str)),
            closers_of_call: closers.len(),
            next: Automaton::new(next.iter().map(String::as_str)),
            wrapped: closers.iter().any(|mark| mark.starts_with(')')),
        }
    }
}

impl LooseMarks {
    /// True for what opens something else than the call at hand.
    pub(super) fn opens(&self, hit: Match) -> bool {
        hit.pattern as usize >= self.closers_of_call
    }
}

/// True for quotes in which a backslash escapes.
pub(super) fn is_python(quote: &str) -> bool {
    quote.bytes().all(|byte| matches!(byte, b'\'' | b'"'))
}
