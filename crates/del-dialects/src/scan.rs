//! Finding markers in a text that arrives in pieces. The only code that waits for a split marker.
//!
//! An [`Automaton`] holds the spellings that matter in one situation; a [`Scan`] is a place in it that survives from
//! one piece of text to the next, so no byte of a held marker is looked at again when more text comes.
//!
//! A spelling may hold [`SUFFIX`] once, which stands for any `:word`. Where such a spelling comes to nothing, no suffix
//! of what was read is kept: the search begins again behind its first byte.

mod first;
mod trie;

use first::{First, prefix};
use trie::{Trie, index, link};

/// In a spelling: a colon and a word of up to [`MAX_WORD`] letters, digits, `_`, `.` and `-`.
pub(crate) const SUFFIX: char = '\0';

/// The longest word of a suffix, in bytes.
pub(crate) const MAX_WORD: usize = 32;

/// True for a byte that a suffix may be made of.
pub(crate) fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-')
}

/// The spellings that matter in one situation.
#[derive(Debug, Clone, Default)]
pub(crate) struct Automaton {
    nodes: Vec<Node>,
    edges: Vec<(u8, u32)>,
    first: First,
}

#[derive(Debug, Default, Clone, Copy)]
struct Node {
    /// This node's edges: a range of `Automaton::edges`.
    from: u32,
    to: u32,
    /// The longest proper suffix of this node's text that is a node, or [`ANEW`].
    fail: u32,
    /// How long this node's text is; a suffix counts with a word of one byte.
    depth: u32,
    /// The pattern that ends here, as a whole or as a suffix of this node's text, and how long it is.
    found: Option<(u16, u32)>,
}

/// In place of a node to fall back to: begin again behind the first byte.
const ANEW: u32 = u32::MAX;

/// A place in an automaton.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Scan {
    node: u32,
    /// How much longer the word of a suffix is than one byte.
    extra: u32,
    /// A pattern that was found while a longer one was still possible.
    candidate: Option<Candidate>,
    /// So many of the next bytes are known to hold the beginning of some pattern.
    busy: u32,
}

#[derive(Debug, Clone, Copy)]
struct Candidate {
    pattern: u16,
    len: u32,
    /// The bytes looked at since its end.
    since: u32,
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
        let mut trie = Trie { nodes: vec![Node::default()], children: vec![Vec::new()] };
        let patterns: Vec<(u16, &str)> = (0..=u16::MAX).zip(patterns).collect();
        // What a suffix stands for takes the place of the same word spelled out.
        let (any, plain): (Vec<_>, Vec<_>) =
            patterns.into_iter().partition(|(_, pattern)| pattern.contains(SUFFIX));
        for (number, pattern) in any.into_iter().chain(plain) {
            trie.add(number, pattern.as_bytes());
        }
        let Trie { mut nodes, children } = trie;
        link(&mut nodes, &children);
        let mut edges = Vec::new();
        for (node, list) in nodes.iter_mut().zip(&children) {
            node.from = index(edges.len());
            edges.extend_from_slice(list);
            node.to = index(edges.len());
        }
        let first =
            First::of(children[0].iter().map(|&(byte, child)| prefix(byte, child, &nodes, &children)));
        Self { nodes, edges, first }
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
        loop {
            if scan.node == 0 {
                match self.first.next(&bytes[*look..], &mut scan.busy) {
                    Some(skip) => *look += skip,
                    None => {
                        *look = bytes.len();
                        return None;
                    }
                }
            }
            let byte = *bytes.get(*look)?;
            if let Some(node) = self.advance(scan, byte) {
                *look += 1;
                if let Some((pattern, len)) = node.found
                    && (scan.candidate.is_none() || node.depth == len)
                {
                    scan.candidate = Some(Candidate { pattern, len: len + scan.extra, since: 0 });
                    if node.from == node.to {
                        return self.take(scan, look, work);
                    }
                } else if let Some(candidate) = &mut scan.candidate {
                    candidate.since += 1;
                }
            } else if scan.candidate.is_some() {
                return self.take(scan, look, work);
            } else if scan.node != 0 {
                *work += 1;
                let node = &self.nodes[scan.node as usize];
                if node.fail == ANEW {
                    let behind_first = (node.depth + scan.extra) as usize - 1;
                    *work += behind_first as u64;
                    *look -= behind_first;
                    scan.restart();
                } else {
                    scan.node = node.fail;
                }
            } else {
                *look += 1;
            }
        }
    }

    /// The text from `*look` on, which has to go on with a pattern.
    pub(crate) fn follow(&self, scan: &mut Scan, bytes: &[u8], look: &mut usize, work: &mut u64) -> Anchored {
        while let Some(&byte) = bytes.get(*look) {
            match self.step(scan, byte, look, work) {
                Anchored::More => {}
                end => return end,
            }
        }
        Anchored::More
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
        let Some(node) = self.advance(scan, byte) else {
            return match self.take(scan, look, work) {
                Some(found) => Anchored::Found(found),
                None => Anchored::Nothing,
            };
        };
        *look += 1;
        match node.found {
            Some((pattern, len)) if node.depth == len => {
                scan.candidate = Some(Candidate { pattern, len: len + scan.extra, since: 0 });
                if node.from == node.to {
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
        let partial = self.nodes.get(scan.node as usize).map_or(0, |node| node.depth + scan.extra);
        let candidate = scan.candidate.map_or(0, |candidate| candidate.len + candidate.since);
        partial.max(candidate) as usize
    }

    /// The node behind the next byte.
    fn advance(&self, scan: &mut Scan, byte: u8) -> Option<&Node> {
        let child = self.child(scan.node, byte)?;
        // Only the word of a suffix leads back to itself.
        if child == scan.node {
            if scan.extra as usize + 1 == MAX_WORD {
                return None;
            }
            scan.extra += 1;
        }
        scan.node = child;
        self.nodes.get(child as usize)
    }

    fn child(&self, node: u32, byte: u8) -> Option<u32> {
        let node = self.nodes.get(node as usize)?;
        let edges = self.edges.get(node.from as usize..node.to as usize)?;
        edges.iter().find(|(edge, _)| *edge == byte).map(|&(_, child)| child)
    }
}

impl Scan {
    /// Starts over; what is known of the text ahead stays known.
    pub(crate) fn restart(&mut self) {
        (self.node, self.extra, self.candidate) = (0, 0, None);
    }

    /// True when nothing has been matched yet.
    pub(crate) fn is_fresh(&self) -> bool {
        self.node == 0 && self.candidate.is_none()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(patterns: &[&str], text: &str, cut: usize) -> Vec<(u16, usize)> {
        let automaton = Automaton::new(patterns.iter().copied());
        let (mut scan, mut look, mut work, mut found) = (Scan::default(), 0, 0, Vec::new());
        let mut end = 0;
        while end < text.len() {
            end = (end + cut).min(text.len());
            while let Some(hit) = automaton.find(&mut scan, &text.as_bytes()[..end], &mut look, &mut work) {
                found.push((hit.pattern, hit.start));
            }
        }
        if let Some(hit) = automaton.take(&mut scan, &mut look, &mut work) {
            found.push((hit.pattern, hit.start));
        }
        found
    }

    #[test]
    fn finds_the_leftmost_longest_however_the_text_is_cut() {
        type Case = (&'static [&'static str], &'static str, &'static [(u16, usize)]);
        let cases: [Case; 12] = [
            (&["<a>", "<ab>"], "x<a><ab><<a>", &[(0, 1), (1, 4), (0, 9)]),
            (&["```", "```json"], "```js ```json", &[(0, 0), (1, 6)]),
            (&["]<x>", "<x>"], "]<x> <x>", &[(0, 0), (1, 5)]),
            (&["</p>", "\n</p>"], "\n\n</p></p>", &[(1, 1), (0, 6)]),
            (&["abcd", "bc"], "abce", &[(1, 1)]),
            (&["aab"], "aaab", &[(0, 1)]),
            (&["<a\0>"], "<a> <a:> <a:b> <a:b-c_D.9><a:b<a:c>", &[(0, 9), (0, 15), (0, 30)]),
            (&["<a>", "<a\0>"], "<a><a:b>", &[(0, 0), (1, 3)]),
            (&["<a\0>", "\n<a\0>\n"], "\n<a:bc>.\n<a:bc>\n", &[(0, 1), (1, 8)]),
            (&["\n<a:bc", "<a\0>"], "\n<a:bcd>\n<a:bd>", &[(0, 0), (1, 9)]),
            (&["<a\0", "b>"], "<a:bcd>b>", &[(0, 0), (1, 7)]),
            (&["<a:b>", "<a\0>", "d:"], "<a:b><a:cd:", &[(1, 0), (2, 9)]),
        ];
        for (patterns, text, expected) in cases {
            for cut in 1..=text.len() {
                assert_eq!(all(patterns, text, cut), expected, "{patterns:?} in {text:?} cut every {cut}");
            }
        }
    }

    #[test]
    fn holds_back_a_suffix_of_bounded_length() {
        let automaton = Automaton::new(["<a\0>"]);
        for (len, held, found) in [(MAX_WORD, MAX_WORD + 3, true), (MAX_WORD + 1, 0, false)] {
            let text = format!("<a:{}>", "x".repeat(len));
            let (mut scan, mut look, mut work) = (Scan::default(), 0, 0);
            assert_eq!(automaton.find(&mut scan, &text.as_bytes()[..len + 3], &mut look, &mut work), None);
            assert_eq!(automaton.pending(&scan), held);
            let hit = automaton.find(&mut scan, text.as_bytes(), &mut look, &mut work);
            assert_eq!(hit.map(|hit| (hit.start, hit.end)), found.then_some((0, text.len())));
        }
    }

    #[test]
    fn holds_back_no_more_than_may_begin_a_pattern() {
        let automaton = Automaton::new(["<tool>"]);
        let (mut scan, mut look, mut work) = (Scan::default(), 0, 0);
        assert_eq!(automaton.find(&mut scan, b"a <to", &mut look, &mut work), None);
        assert_eq!(automaton.pending(&scan), 3);
        assert_eq!(automaton.find(&mut scan, b"a <to b", &mut look, &mut work), None);
        assert_eq!(automaton.pending(&scan), 0);
    }
}
