//! Finding markers in a text that arrives in pieces. The only code that waits for a split marker.
//!
//! An [`Automaton`] holds the spellings that matter in one situation; a [`Scan`] is a place in it that survives from
//! one piece of text to the next, so no byte of a held marker is looked at again when more text comes.
//!
//! A spelling may hold [`SUFFIX`] once, which stands for any `:word`. Where such a spelling comes to nothing, no suffix
//! of what was read is kept: the search begins again behind its first byte.

mod ahead;
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

    /// For each byte, whether a pattern begins with it.
    pub(crate) fn firsts(&self) -> &[bool; 256] {
        self.made().starts.firsts()
    }

    /// True when no pattern begins in `bytes`, as far as they tell.
    pub(crate) fn is_absent(&self, bytes: &[u8]) -> bool {
        if !self.made().starts.any_in(bytes) {
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
        while let Some(hit) = automaton.take(&mut scan, &mut look, &mut work) {
            found.push((hit.pattern, hit.start));
            while let Some(hit) = automaton.find(&mut scan, text.as_bytes(), &mut look, &mut work) {
                found.push((hit.pattern, hit.start));
            }
        }
        found
    }

    #[test]
    fn finds_the_leftmost_longest_however_the_text_is_cut() {
        type Case = (&'static [&'static str], &'static str, &'static [(u16, usize)]);
        let cases: [Case; 15] = [
            (&["><a", "<", "<bc>"], "><bc> ><bx", &[(2, 1), (1, 7)]),
            (&["x<ab", "<", "<a", "<ac"], "x<ac x<ad", &[(3, 1), (2, 6)]),
            (&["x<ab>", "<", "ab<"], "x<ab<", &[(1, 1), (2, 2)]),
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

    /// Beside a search that tries all patterns at every place.
    #[test]
    fn finds_what_a_plain_search_finds() {
        let mut state = 7_u32;
        let mut next = |below: usize| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 16) as usize % below
        };
        for _ in 0..4000 {
            let mut word = |longest: usize| -> String {
                (0..1 + next(longest)).map(|_| ['a', 'b', '<'][next(3)]).collect()
            };
            let patterns: Vec<String> = (0..5).map(|_| word(5)).collect();
            let text = word(24);
            let patterns: Vec<&str> = patterns.iter().map(String::as_str).collect();
            let (mut expected, mut at) = (Vec::new(), 0);
            while at < text.len() {
                let here = || patterns.iter().enumerate().filter(|(_, one)| text[at..].starts_with(**one));
                let longest = here().map(|(_, one)| one.len()).max().unwrap_or(0);
                if let Some((number, _)) = here().find(|(_, one)| one.len() == longest) {
                    expected.push((u16::try_from(number).unwrap(), at));
                }
                at += longest.max(1);
            }
            for cut in [1, 3, text.len()] {
                assert_eq!(all(&patterns, &text, cut), expected, "{patterns:?} in {text:?} cut every {cut}");
            }
        }
    }

    /// Long texts are searched otherwise than short ones, and both find the same.
    #[test]
    fn finds_the_same_in_long_texts_as_in_short_pieces() {
        let sets: [&[&str]; 5] = [
            &["<tool>"],
            &["<tool>", "</tool>", "{", "[", "```", "```json"],
            &[
                "<tool>",
                "call:",
                "calls",
                "function",
                " to=",
                "\n<tool>",
                "｜DSML｜",
                "◁think▷",
                "{",
                "#",
                "|a",
                ">>",
            ],
            &["<a\0>", "<a>", "a:b", "{\"name\":"],
            &["\n</p>", "</p>", "\n\n"],
        ];
        let words = [
            "<tool>",
            "<too",
            "call",
            ":",
            "calls ",
            "function",
            " to",
            "=",
            "\n",
            "｜DSML｜",
            "｜",
            "◁think▷",
            "日本",
            "{",
            "{\"name\":",
            "[1, 2] ",
            "a < b ",
            "`x` ",
            "```json",
            "<a:b>",
            "</p>",
            "the parser reads on and on ",
        ];
        let mut state = 1_u32;
        for patterns in sets {
            let mut text = String::new();
            while text.len() < 32 << 10 {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                text.push_str(words[(state >> 16) as usize % words.len()]);
                // Stretches in which nothing begins.
                text.extend(std::iter::repeat_n("read on, ", (state >> 28) as usize));
            }
            let whole = all(patterns, &text, text.len());
            assert!(whole.len() > 5, "{patterns:?}");
            for cut in [7, 33, 1000, 2049] {
                assert_eq!(all(patterns, &text, cut), whole, "{patterns:?} cut every {cut}");
            }
        }
    }

    #[test]
    fn goes_on_behind_what_does_not_count() {
        let automaton = Automaton::new(["{", "{{", "<a>"]);
        let text = b"{ {{ <a> {";
        let (mut scan, mut look, mut seen) = (Scan::default(), 0, Vec::new());
        let hit = automaton.find_where(&mut scan, &mut Ahead::default(), text, &mut look, &mut 0, |hit| {
            seen.push(hit.start);
            hit.pattern == 2
        });
        assert_eq!((hit.map(|hit| hit.start), seen), (Some(5), vec![0, 2, 5]));
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
