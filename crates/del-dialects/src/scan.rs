//! Finding markers in a text that arrives in pieces. The only code that waits for a split marker.
//!
//! An [`Automaton`] holds the spellings that matter in one situation; a [`Scan`] is a place in it that survives from
//! one piece of text to the next, so no byte of a held marker is looked at again when more text comes.
//!
//! A spelling may hold [`SUFFIX`] once, which stands for any `:word`. Where such a spelling comes to nothing, no suffix
//! of what was read is kept: the search begins again behind its first byte.

mod ahead;
mod groups;
mod nodes;

use std::sync::OnceLock;

pub(crate) use ahead::Ahead;
use ahead::Starts;
use nodes::{ANEW, Nodes};

pub(crate) use crate::dialect::{MAX_WORD, SUFFIX, is_word};

/// The spellings that matter in one situation. Their nodes are made when they are first searched for: of the many
/// situations of a plan, an answer meets few.
#[derive(Debug, Clone, Default)]
pub(crate) struct Automaton {
    /// The spellings, one behind the other, and where each ends.
    text: Box<str>,
    ends: Box<[usize]>,
    made: OnceLock<Made>,
}

/// What searching needs.
#[derive(Debug, Clone)]
struct Made {
    nodes: Nodes,
    starts: Starts,
}

/// A place in an automaton.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Scan {
    node: u32,
    /// How much longer the word of a suffix is than one byte.
    extra: u32,
    /// A pattern that was found while a longer one was still possible.
    candidate: Option<Candidate>,
}

#[derive(Debug, Clone, Copy)]
struct Candidate {
    pattern: u16,
    len: u32,
    /// The bytes looked at since its end.
    since: u32,
}

impl Candidate {
    /// From where it begins to where the search is, in bytes.
    fn reach(self) -> u32 {
        self.len + self.since
    }
}

/// A pattern, found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Match {
    pub(crate) pattern: u16,
    pub(crate) start: usize,
    pub(crate) end: usize,
}

/// What an anchored step says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Anchored {
    /// No spelling decided yet.
    More,
    /// This one, and where it ends.
    Found(Match),
    /// None of them stands here.
    Nothing,
}

impl Automaton {
    /// An automaton for these spellings; a pattern's number is its place. Empty spellings never match; of equal ones
    /// the first counts.
    pub(crate) fn new<'p>(patterns: impl IntoIterator<Item = &'p str>) -> Self {
        let (mut text, mut ends) = (String::new(), Vec::new());
        for pattern in patterns {
            text.push_str(pattern);
            ends.push(text.len());
        }
        Self { text: text.into(), ends: ends.into(), made: OnceLock::new() }
    }

    fn made(&self) -> &Made {
        self.made.get_or_init(|| Made {
            nodes: Nodes::new(self.spellings()),
            starts: Starts::of(self.spellings()),
        })
    }

    fn nodes(&self) -> &Nodes {
        &self.made().nodes
    }

    /// The spellings, each at the place of its number.
    pub(crate) fn spellings(&self) -> impl Iterator<Item = &str> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(start, end)| &self.text[start..*end])
    }

    /// The next pattern in `bytes` from `*look` on: the leftmost, of several there the longest. Without one, `*look`
    /// is the end of `bytes` and [`Self::pending`] says how much of the end may begin one. `work` counts the bytes that
    /// are looked at more often than `look` passes them.
    pub(crate) fn find(
        &self,
        scan: &mut Scan,
        bytes: &[u8],
        look: &mut usize,
        work: &mut u64,
    ) -> Option<Match> {
        self.find_where(scan, &mut Ahead::default(), bytes, look, work, |_| true)
    }

    /// The next pattern that `counts`; behind one that does not, the search goes on. `ahead` is kept from one search in
    /// `bytes` to the next.
    pub(crate) fn find_where(
        &self,
        scan: &mut Scan,
        ahead: &mut Ahead,
        bytes: &[u8],
        look: &mut usize,
        work: &mut u64,
        mut counts: impl FnMut(Match) -> bool,
    ) -> Option<Match> {
        let Made { nodes, starts } = self.made();
        loop {
            if scan.node == 0 {
                *look = starts.next(ahead, bytes, *look);
            }
            *look += nodes.stride(scan, bytes.get(*look..)?);
            let byte = *bytes.get(*look)?;
            if let Some(node) = nodes.advance(scan, byte) {
                *look += 1;
                let begun = scan.candidate.map_or(0, Candidate::reach);
                if let Some((pattern, len)) = node.found.filter(|(_, len)| len + scan.extra > begun) {
                    scan.candidate = Some(Candidate { pattern, len: len + scan.extra, since: 0 });
                    if node.is_leaf()
                        && let Some(hit) = self.take(scan, look, work).filter(|hit| counts(*hit))
                    {
                        return Some(hit);
                    }
                } else if let Some(candidate) = &mut scan.candidate {
                    candidate.since += 1;
                }
            } else if scan.node == 0 {
                *look += 1;
            } else if scan.candidate.is_some_and(|candidate| candidate.reach() > nodes.left(scan)) {
                if let Some(hit) = self.take(scan, look, work).filter(|hit| counts(*hit)) {
                    return Some(hit);
                }
            } else {
                *work += 1;
                let node = nodes.at(scan.node);
                if node.fail == ANEW {
                    let behind_first = (node.depth + scan.extra) as usize - 1;
                    *work += behind_first as u64;
                    *look -= behind_first;
                    scan.restart();
                } else {
                    scan.node = node.fail;
                }
            }
        }
    }

    /// The text from `*look` on, which has to go on with a pattern.
    pub(crate) fn follow(&self, scan: &mut Scan, bytes: &[u8], look: &mut usize, work: &mut u64) -> Anchored {
        let nodes = self.nodes();
        while let Some(rest) = bytes.get(*look..) {
            *look += nodes.stride(scan, rest);
            let Some(&byte) = bytes.get(*look) else { break };
            match self.step(scan, byte, look, work) {
                Anchored::More => {}
                end => return end,
            }
        }
        Anchored::More
    }

    /// True for a byte that a pattern begins with.
    pub(crate) fn begins_with(&self, byte: u8) -> bool {
        self.made().starts.begins_with(byte)
    }

    /// False when surely no pattern begins in `bytes`, as a quick look tells.
    pub(crate) fn may_begin_in(&self, bytes: &[u8]) -> bool {
        self.made().starts.any_in(bytes)
    }

    /// True when no pattern begins in `bytes`, as far as they tell.
    pub(crate) fn is_absent(&self, bytes: &[u8]) -> bool {
        if !self.may_begin_in(bytes) {
            return true;
        }
        let mut scan = Scan::default();
        self.find(&mut scan, bytes, &mut 0, &mut 0).is_none() && scan.is_fresh()
    }

    /// Whether `bytes` begins with a pattern; none when that cannot be said yet.
    pub(crate) fn starts(&self, bytes: &[u8]) -> Option<bool> {
        let (mut scan, mut look) = (Scan::default(), 0);
        match self.follow(&mut scan, bytes, &mut look, &mut 0) {
            Anchored::Found(_) => Some(true),
            Anchored::Nothing => Some(false),
            Anchored::More => scan.candidate.is_some().then_some(true),
        }
    }

    /// One byte of a text that has to begin with a pattern.
    pub(crate) fn step(&self, scan: &mut Scan, byte: u8, look: &mut usize, work: &mut u64) -> Anchored {
        let Some(node) = self.nodes().advance(scan, byte) else {
            return match self.take(scan, look, work) {
                Some(found) => Anchored::Found(found),
                None => Anchored::Nothing,
            };
        };
        *look += 1;
        match node.found {
            Some((pattern, len)) if node.depth == len => {
                scan.candidate = Some(Candidate { pattern, len: len + scan.extra, since: 0 });
                if node.is_leaf() {
                    return self.take(scan, look, work).map_or(Anchored::Nothing, Anchored::Found);
                }
            }
            _ => {
                if let Some(candidate) = &mut scan.candidate {
                    candidate.since += 1;
                }
            }
        }
        Anchored::More
    }

    /// The pattern that was found before the text ended, if a longer one was still possible.
    #[expect(clippy::unused_self, reason = "a place means nothing without the automaton that it is in")]
    pub(crate) fn take(&self, scan: &mut Scan, look: &mut usize, work: &mut u64) -> Option<Match> {
        let Candidate { pattern, len, since } = scan.candidate?;
        scan.restart();
        *look -= since as usize;
        *work += u64::from(since);
        Some(Match { pattern, start: *look - len as usize, end: *look })
    }

    /// The pattern that ends exactly where the text ended, though a longer one was still possible.
    pub(crate) fn take_whole(&self, scan: &mut Scan, look: &mut usize) -> Option<Match> {
        match scan.candidate {
            Some(Candidate { since: 0, .. }) => self.take(scan, look, &mut 0),
            _ => None,
        }
    }

    /// How many bytes at the end of what was looked at may begin a pattern.
    pub(crate) fn pending(&self, scan: &Scan) -> usize {
        if scan.is_fresh() {
            return 0;
        }
        let partial = if scan.node == 0 { 0 } else { self.nodes().at(scan.node).depth + scan.extra };
        let candidate = scan.candidate.map_or(0, Candidate::reach);
        partial.max(candidate) as usize
    }
}

impl Scan {
    /// Starts over.
    pub(crate) fn restart(&mut self) {
        *self = Self::default();
    }

    /// True when nothing has been matched yet.
    pub(crate) fn is_fresh(&self) -> bool {
        self.node == 0 && self.candidate.is_none()
    }
}

/// Where `what` stands first, whose first byte stands nowhere else in it: so this is linear, and a page that reads answers
/// need not load a search for any text.
pub(crate) fn find(text: &[u8], what: &[u8]) -> Option<usize> {
    let first = *what.first()?;
    memchr::memchr_iter(first, text).find(|at| text[*at..].starts_with(what))
}

#[cfg(test)]
mod tests;
