//! Where a spelling may begin: most text is passed without a look at the nodes.
//!
//! Every spelling is looked for by its rarest byte near its beginning (`:` in `Action:`), with the bytes beside it.

use aho_corasick::packed;
use memchr::{memchr, memchr2, memchr3};

use super::SUFFIX;
use super::groups::{GROUPS, in_groups};

/// How to find where the spellings of an automaton may begin.
#[derive(Debug, Clone)]
pub(super) struct Starts {
    /// What spellings begin with.
    begins: Box<Pairs>,
    /// For each byte one more than the place in `marks` of what it stands for; 0 for a byte that is no mark.
    numbers: Box<[u8; 256]>,
    marks: Vec<Mark>,
    /// What stands before marks and behind them.
    before: Box<Pairs>,
    behind: Box<Pairs>,
    searches: Vec<Search>,
    /// How far a mark stands behind the beginning of its spelling at most.
    reach: usize,
}

/// A byte that tells some spellings from the text around them.
#[derive(Debug, Clone)]
struct Mark {
    byte: u8,
    /// How far it stands behind their beginnings at most.
    offset: usize,
}

/// Which bytes may stand beside which: a bit for each of the first 64 bytes that are looked for, which others share. So a
/// pair that is in it may be none, and one that is not never is.
#[derive(Debug, Clone)]
struct Pairs {
    bits: [u64; 256],
    beside: [u64; 256],
    /// So many bytes have a bit.
    len: u32,
}

impl Pairs {
    fn new() -> Box<Self> {
        Box::new(Self { bits: [0; 256], beside: [0; 256], len: 0 })
    }

    /// Beside `byte` may stand this other one, or any.
    fn add(&mut self, byte: u8, beside: Option<u8>) {
        let bit = &mut self.bits[byte as usize];
        if *bit == 0 {
            *bit = 1 << (self.len % u64::BITS);
            self.len += 1;
        }
        match beside {
            Some(other) => self.beside[other as usize] |= *bit,
            None => self.beside.iter_mut().for_each(|other| *other |= *bit),
        }
    }

    fn has(&self, byte: u8) -> bool {
        self.bits[byte as usize] != 0
    }

    fn may_be(&self, byte: u8, beside: u8) -> bool {
        self.bits[byte as usize] & self.beside[beside as usize] != 0
    }
}

/// A search for the next of some marks, behind which another byte stands.
#[derive(Debug, Clone)]
enum Search {
    One(u8),
    Two(u8, u8),
    Three(u8, u8, u8),
    /// Marks, or marks with the byte behind them.
    Packed(Box<packed::Searcher>),
    /// All marks, by `numbers`.
    Table,
}

/// How far the searches have come in a text.
#[derive(Debug, Default)]
pub(crate) struct Ahead([Known; MAX_SEARCHES]);

/// What one search knows: from `from` on, its next mark is the one at `to`, or there is none before that.
#[derive(Debug, Default, Clone, Copy)]
struct Known {
    from: usize,
    to: usize,
    found: bool,
}

/// More searches are not faster than looking at each byte.
const MAX_SEARCHES: usize = 6;

/// No search runs further ahead of the others, in bytes.
const WINDOW: usize = 4 << 10;

/// Marks are taken from so many bytes of a spelling.
const MAX_REACH: usize = 16;

/// As common as letters.
const COMMON: u8 = 3;

/// Text that is shorter is looked up byte by byte.
const SHORT: usize = 2 * MAX_REACH;

impl Starts {
    pub(super) fn of<'p>(spellings: impl Iterator<Item = &'p str>) -> Self {
        let mut starts = Self {
            begins: Pairs::new(),
            numbers: Box::new([0; 256]),
            marks: Vec::new(),
            before: Pairs::new(),
            behind: Pairs::new(),
            searches: Vec::new(),
            reach: 0,
        };
        for spelling in spellings.filter(|spelling| !spelling.is_empty()) {
            starts.add(spelling);
        }
        starts.searches = starts.searches();
        starts
    }

    fn add(&mut self, spelling: &str) {
        let bytes = spelling.as_bytes();
        let ends = spelling.find(SUFFIX);
        let fixed = &bytes[..ends.unwrap_or(bytes.len()).min(MAX_REACH)];
        let Some((offset, &byte)) = fixed.iter().enumerate().min_by_key(|(_, byte)| commonness(**byte))
        else {
            return;
        };
        let second = fixed_byte(bytes, 1);
        self.begins.add(bytes[0], second);
        self.reach = self.reach.max(offset);
        let number = &mut self.numbers[byte as usize];
        if *number == 0 {
            self.marks.push(Mark { byte, offset: 0 });
            *number = u8::try_from(self.marks.len()).unwrap_or(u8::MAX);
        }
        let mark = &mut self.marks[*number as usize - 1];
        mark.offset = mark.offset.max(offset);
        self.before.add(byte, offset.checked_sub(1).map(|before| bytes[before]));
        self.behind.add(byte, fixed_byte(bytes, offset + 1));
    }

    /// True for a byte that a spelling begins with.
    pub(super) fn begins_with(&self, byte: u8) -> bool {
        self.begins.has(byte)
    }

    /// True when a spelling may begin in `bytes`.
    pub(super) fn any_in(&self, bytes: &[u8]) -> bool {
        match bytes {
            [] => false,
            [.., last] if bytes.len() <= SHORT => self.begins.has(*last) || self.pair_in(bytes).is_some(),
            _ => self.next(&mut Ahead::default(), bytes, 0) < bytes.len(),
        }
    }

    /// Where the first two bytes of a spelling may stand in `bytes`.
    fn pair_in(&self, bytes: &[u8]) -> Option<usize> {
        bytes.windows(2).position(|pair| self.begins.may_be(pair[0], pair[1]))
    }

    /// The next place from `at` on where a spelling may begin, or the end of `bytes`. `ahead` is what was found in `bytes`
    /// before.
    pub(super) fn next(&self, ahead: &mut Ahead, bytes: &[u8], at: usize) -> usize {
        let from = if self.searches.is_empty() {
            bytes.len()
        } else if bytes.len() < at + SHORT {
            at
        } else {
            self.skip(ahead, bytes, at)
        };
        let rest = &bytes[from..];
        let pair = self.pair_in(rest);
        // The last byte may begin one, whatever comes.
        let last = || rest.len() - usize::from(rest.last().is_some_and(|last| self.begins.has(*last)));
        from + pair.unwrap_or_else(last)
    }

    /// How far no spelling begins, as marks tell.
    fn skip(&self, ahead: &mut Ahead, bytes: &[u8], at: usize) -> usize {
        // Behind the end of the text may stand the mark of what begins before it, and what stands behind a mark.
        let last = bytes.len() - 1;
        let mut start = last - self.reach;
        // A mark further on may be of a spelling that begins before this one.
        let (mut look, mut end) = (at, last);
        while look < end {
            look = self.find(ahead, bytes, look, end);
            if look < end
                && let Some(offset) = self.tells(bytes, look, at)
            {
                start = start.min(at.max(look.saturating_sub(offset)));
                end = last.min(start + self.reach + 1);
            }
            look += 1;
        }
        start
    }

    /// How far the spelling may begin before `look` that the mark there may be of; it begins at `at` or behind it.
    fn tells(&self, bytes: &[u8], look: usize, at: usize) -> Option<usize> {
        let byte = bytes[look];
        let mark = &self.marks[(self.numbers[byte as usize] as usize).checked_sub(1)?];
        let tells = self.behind.may_be(byte, bytes[look + 1])
            && (look == at || self.before.may_be(byte, bytes[look - 1]));
        tells.then_some(mark.offset)
    }

    /// The next mark from `from` on and before `to`, or `to`; a byte stands behind `to`.
    fn find(&self, Ahead(ahead): &mut Ahead, bytes: &[u8], mut from: usize, to: usize) -> usize {
        while from < to {
            let until = to.min(from + WINDOW);
            let mut first = until;
            for (search, known) in self.searches.iter().zip(&mut *ahead) {
                if from < known.from || known.to < from {
                    *known = Known { from, to: from, found: false };
                }
                // Of one search, no mark has to be known behind that of another.
                while !known.found && known.to < first {
                    let end = (known.to + WINDOW).min(bytes.len() - 1);
                    let mark = self.find_one(search, bytes, known.to, end);
                    (known.to, known.found) = (mark.unwrap_or(end), mark.is_some());
                }
                if known.found {
                    first = first.min(known.to);
                }
            }
            if first < until {
                return first;
            }
            from = until;
        }
        to
    }

    /// Finds all marks: a few in one search, and of many those together behind which few bytes may stand.
    fn searches(&self) -> Vec<Search> {
        const FEW: usize = 6;
        const MOST_AT_ONCE: usize = 16;
        let patterns = |mark: &Mark| -> Vec<Vec<u8>> {
            let behind = (0..=u8::MAX).filter(|byte| self.behind.may_be(mark.byte, *byte));
            let behind: Vec<u8> = behind.take(FEW + 1).collect();
            if behind.len() > FEW {
                return vec![vec![mark.byte]];
            }
            behind.into_iter().map(|behind| vec![mark.byte, behind]).collect()
        };
        let marks: Vec<(&Mark, Vec<Vec<u8>>)> =
            self.marks.iter().map(|mark| (mark, patterns(mark))).collect();
        let count = marks.iter().map(|(_, patterns)| patterns.len()).sum::<usize>();
        // With a mark that stands alone, all are looked for by their first bytes.
        let rare = self.marks.iter().all(|mark| commonness(mark.byte) < COMMON);
        let at_once = rare && marks.len() <= GROUPS && count <= MOST_AT_ONCE;
        let several = marks.len() > 3;
        let (packed, alone): (Vec<_>, Vec<_>) = marks.into_iter().partition(|(_, patterns)| {
            several && (at_once || patterns.iter().all(|pattern| pattern.len() > 1))
        });
        let pairs = search_packed(packed.into_iter().flat_map(|(_, patterns)| patterns));
        let single: Vec<u8> = if pairs.is_some() {
            alone.into_iter().map(|(mark, _)| mark.byte).collect()
        } else {
            self.marks.iter().map(|mark| mark.byte).collect()
        };
        let apart = || {
            single.chunks(3).map(|bytes| match *bytes {
                [a, b, c] => Search::Three(a, b, c),
                [a, b] => Search::Two(a, b),
                [a] => Search::One(a),
                _ => Search::Table,
            })
        };
        // Each has a group of its own.
        let singles = if (4..=GROUPS).contains(&single.len()) {
            search_packed(single.iter().map(|byte| vec![*byte]))
        } else {
            None
        };
        let singles = singles.map_or_else(|| apart().collect(), |search| vec![search]);
        let all: Vec<Search> = pairs.into_iter().chain(singles).collect();
        if all.len() > MAX_SEARCHES { vec![Search::Table] } else { all }
    }

    fn find_one(&self, search: &Search, bytes: &[u8], from: usize, to: usize) -> Option<usize> {
        let text = &bytes[from..to];
        let place = match search {
            Search::One(a) => memchr(*a, text),
            Search::Two(a, b) => memchr2(*a, *b, text),
            Search::Three(a, b, c) => memchr3(*a, *b, *c, text),
            Search::Packed(pairs) if PACKED => pairs.find(&bytes[from..=to]).map(|pair| pair.start()),
            Search::Packed(_) => None,
            Search::Table => text.iter().position(|byte| self.numbers[*byte as usize] != 0),
        };
        place.map(|place| from + place)
    }
}

/// Whether the processor searches for several at once. Where it does not, what would stand in for it need not be there.
const PACKED: bool = cfg!(any(target_arch = "x86_64", target_arch = "aarch64"));

/// A search for all these at once; none where the processor has none.
fn search_packed(patterns: impl Iterator<Item = Vec<u8>>) -> Option<Search> {
    let in_groups = || in_groups(patterns.collect(), |byte| 1 << (3 * commonness(byte)));
    let searcher = if PACKED { packed::Searcher::new(in_groups()) } else { None };
    searcher.map(|searcher| Search::Packed(Box::new(searcher)))
}

/// The byte at this place of a spelling; none where any may stand.
fn fixed_byte(spelling: &[u8], at: usize) -> Option<u8> {
    spelling.get(at).copied().filter(|byte| *byte != SUFFIX as u8)
}

/// How much of any text a byte is.
fn commonness(byte: u8) -> u8 {
    match byte {
        b'a'..=b'z' | b' ' | b'\n' => COMMON,
        b'A'..=b'Z' | b'0'..=b'9' | b'.' | b',' | b'-' | b'\'' | b'"' | b'(' | b')' | 0xc0.. => 2,
        _ => 1,
    }
}
