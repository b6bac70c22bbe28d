//! What matters inside thinking.

use std::sync::Arc;

use super::walk::Walk;
use super::{Opener, alike, framings};
use crate::dialect::Reasoning;
use crate::scan::Automaton;

/// A kind of thinking.
#[derive(Debug, Default)]
pub(in crate::parse) struct Thought {
    pub(in crate::parse) marks: Automaton,
    /// For each spelling: the calls that it may open; an end, when there are none.
    pub(in crate::parse) openers: Vec<Vec<Opener>>,
    /// From these spellings on they open the thinking that is open already, end turns, and stand around texts.
    begins: usize,
    turns: usize,
    edges: usize,
}

/// What a mark means inside thinking.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::parse) enum Role {
    /// It ends the thinking, or opens a call.
    Mark,
    /// It opens the thinking that is open already, and means nothing at its start.
    Begin,
    TurnEnd,
    Edge,
}

/// Tokens that begin and end texts, whatever the dialect: a server that passes them on means them for no one.
pub(super) const EDGES: [&str; 2] = ["<bos>", "<eos>"];

/// What begins and ends a kind of thinking, and whose it is.
#[derive(Debug)]
pub(super) struct Kind<'w> {
    pub(super) begins: Vec<String>,
    /// And whether the prompt may end inside it.
    pub(super) ends: Vec<(String, bool)>,
    members: Vec<&'w Walk>,
}

impl<'w> Kind<'w> {
    pub(super) fn of(walk: &'w Walk) -> Self {
        let prefilled = walk.dialect.reasoning.as_ref().is_some_and(|reasoning| reasoning.prefilled);
        Self {
            begins: walk.thought_begins().cloned().collect(),
            ends: walk.thought_ends().map(|end| (end.clone(), prefilled)).collect(),
            members: vec![walk],
        }
    }

    /// Thinking as most models write it that think. No dialect at hand has it, so a call in it is only thought of.
    pub(super) fn usual() -> Self {
        let Reasoning { begin, end, .. } = Reasoning::usual();
        Self { begins: begin, ends: end.into_iter().map(|end| (end, false)).collect(), members: Vec::new() }
    }

    /// True where it begins with a mark that `other` begins with.
    pub(super) fn begins_like(&self, other: &Self) -> bool {
        let has = |begin: &String| other.begins.iter().any(|known| known.trim() == begin.trim());
        self.begins.iter().any(has)
    }

    pub(super) fn take(&mut self, other: Self) {
        self.begins.extend(other.begins);
        self.ends.extend(other.ends);
        self.members.extend(other.members);
    }
}

impl Thought {
    pub(super) fn new(kinds: &[Kind<'_>], walks: &[Walk]) -> Self {
        let mut spellings: Vec<String> = Vec::new();
        let mut openers: Vec<Vec<Opener>> = Vec::new();
        let members = || kinds.iter().flat_map(|kind| &kind.members);
        for spelling in kinds.iter().flat_map(|kind| &kind.ends).flat_map(|(end, _)| framings(end)) {
            if !spellings.contains(&spelling) {
                spellings.push(spelling);
                openers.push(Vec::new());
            }
        }
        for (number, walk) in walks.iter().enumerate() {
            let calls = |reasoning: &Reasoning| reasoning.until_call || reasoning.holds_calls;
            if !walk.dialect.reasoning.as_ref().is_some_and(calls)
                || !members().any(|member| Arc::ptr_eq(&member.dialect, &walk.dialect))
            {
                continue;
            }
            for (spelling, opener) in walk.openers(number) {
                match spellings.iter().position(|known| *known == spelling) {
                    Some(place) if !openers[place].is_empty() => {
                        alike::add(&mut openers[place], opener, walks);
                    }
                    Some(_) => {}
                    None => {
                        spellings.push(spelling);
                        openers.push(vec![opener]);
                    }
                }
            }
        }
        let begins = spellings.len();
        spellings.extend(kinds.iter().flat_map(|kind| &kind.begins).flat_map(|begin| framings(begin)));
        spellings.extend(members().flat_map(|walk| walk.thought_labels()).map(str::to_owned));
        let turns = spellings.len();
        spellings.extend(members().flat_map(|walk| walk.dialect.ends.iter().cloned()));
        openers.resize(spellings.len(), Vec::new());
        Self { begins, turns, ..Self::with_edges(spellings.iter().map(String::as_str), openers) }
    }

    /// The marks of a channel, and those that may be left of its header.
    pub(super) fn new_in_channels<'m>(
        marks: impl Iterator<Item = &'m str>,
        mut openers: Vec<Vec<Opener>>,
    ) -> Self {
        let marks: Vec<&str> = marks.collect();
        let begins = openers.len();
        openers.resize(marks.len(), Vec::new());
        Self { begins, ..Self::with_edges(marks.into_iter(), openers) }
    }

    /// These marks, and the tokens around texts; none of them opens the thinking again, or ends a turn.
    fn with_edges<'m>(marks: impl Iterator<Item = &'m str>, mut openers: Vec<Vec<Opener>>) -> Self {
        let edges = openers.len();
        openers.extend(EDGES.map(|_| Vec::new()));
        let marks = Automaton::new(marks.chain(EDGES));
        Self { marks, openers, begins: edges, turns: edges, edges }
    }

    /// What a spelling means.
    pub(in crate::parse) fn role(&self, spelling: u16) -> Role {
        let bounds = [self.begins, self.turns, self.edges];
        match bounds.iter().filter(|from| spelling as usize >= **from).count() {
            0 => Role::Mark,
            1 => Role::Begin,
            2 => Role::TurnEnd,
            _ => Role::Edge,
        }
    }
}
