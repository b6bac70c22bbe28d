//! Where a spelling may begin: most text is passed without a look at the nodes.
//!
//! Every spelling is looked for by its rarest byte near its beginning (`:` in `Action:`), with the bytes beside it.

use aho_corasick::packed;
use memchr::{memchr, memchr2, memchr3};

use super::SUFFIX;

/// How to find where the spellings of an automaton may begin.
#[derive(Debug, Clone)]
pub(super) struct Starts {
    /// True for a byte that a spelling begins with.
    firsts: Box<[bool; 256]>,
    /// For each byte one more than the place in `marks` of what it stands for; 0 for a byte that is no mark.
    numbers: Box<[u8; 256]>,
    marks: Vec<Mark>,
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
    /// What stands before and behind it in one of them, in which anything may where a spelling begins or ends.
    before: [bool; 256],
    behind: [bool; 256],
}

/// A search for the next of some marks, behind which another byte stands.
#[derive(Debug, Clone)]
enum Search {
    One(u8),
    Two(u8, u8),
    Three(u8, u8, u8),
    /// Marks with the byte behind them.
    Pairs(Box<packed::Searcher>),
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

/// Text that is shorter is looked up byte by byte.
const SHORT: usize = 2 * MAX_REACH;

impl Starts {
    pub(super) fn of<'p>(spellings: impl Iterator<Item = &'p str>) -> Self {
        let mut starts = Self {
            firsts: Box::new([false; 256]),
            numbers: Box::new([0; 256]),
            marks: Vec::new(),
            searches: Vec::new(),
            reach: 0,
        };
        for spelling in spellings.filter(|spelling| !spelling.is_empty()) {
            starts.add(spelling);
        }
        starts.searches = searches(&starts.marks);
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
        self.firsts[bytes[0] as usize] = true;
        self.reach = self.reach.max(offset);
        let number = &mut self.numbers[byte as usize];
        if *number == 0 {
            self.marks.push(Mark { byte, offset: 0, before: [false; 256], behind: [false; 256] });
            *number = u8::try_from(self.marks.len()).unwrap_or(u8::MAX);
        }
        let mark = &mut self.marks[*number as usize - 1];
        mark.offset = mark.offset.max(offset);
        match offset.checked_sub(1) {
            Some(before) => mark.before[bytes[before] as usize] = true,
            None => mark.before = [true; 256],
        }
        match bytes.get(offset + 1) {
            Some(behind) if *behind != SUFFIX as u8 => mark.behind[*behind as usize] = true,
            _ => mark.behind = [true; 256],
        }
    }

    /// For each byte, whether a spelling begins with it.
    pub(super) fn firsts(&self) -> &[bool; 256] {
        &self.firsts
    }

    /// True when a spelling may begin in `bytes`.
    pub(super) fn any_in(&self, bytes: &[u8]) -> bool {
        self.next(&mut Ahead::default(), bytes, 0) < bytes.len()
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
        from + rest.iter().position(|byte| self.firsts[*byte as usize]).unwrap_or(rest.len())
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
        let mark = &self.marks[(self.numbers[bytes[look] as usize] as usize).checked_sub(1)?];
        let tells =
            mark.behind[bytes[look + 1] as usize] && (look == at || mark.before[bytes[look - 1] as usize]);
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

    fn find_one(&self, search: &Search, bytes: &[u8], from: usize, to: usize) -> Option<usize> {
        let text = &bytes[from..to];
        let place = match search {
            Search::One(a) => memchr(*a, text),
            Search::Two(a, b) => memchr2(*a, *b, text),
            Search::Three(a, b, c) => memchr3(*a, *b, *c, text),
            Search::Pairs(pairs) => pairs.find(&bytes[from..=to]).map(|pair| pair.start()),
            Search::Table => text.iter().position(|byte| self.numbers[*byte as usize] != 0),
        };
        place.map(|place| from + place)
    }
}

/// Finds all marks. Of many, those behind which few bytes may stand are looked for with these.
fn searches(marks: &[Mark]) -> Vec<Search> {
    const FEW: usize = 4;
    let behind = |mark: &Mark| (0..=u8::MAX).filter(|byte| mark.behind[*byte as usize]).collect::<Vec<u8>>();
    let (paired, alone): (Vec<&Mark>, Vec<&Mark>) =
        marks.iter().partition(|mark| marks.len() > 3 && behind(mark).len() <= FEW);
    let pairs = paired.iter().flat_map(|mark| behind(mark).into_iter().map(|behind| [mark.byte, behind]));
    // Elsewhere there is none, and what would look for one need not be there.
    let pairs = if cfg!(any(target_arch = "x86_64", target_arch = "aarch64")) {
        packed::Searcher::new(pairs)
    } else {
        None
    };
    let single = if pairs.is_some() { alone } else { marks.iter().collect() };
    let singles = single.chunks(3).map(|bytes| match *bytes {
        [a, b, c] => Search::Three(a.byte, b.byte, c.byte),
        [a, b] => Search::Two(a.byte, b.byte),
        [a] => Search::One(a.byte),
        _ => Search::Table,
    });
    let all: Vec<Search> =
        pairs.map(|pairs| Search::Pairs(Box::new(pairs))).into_iter().chain(singles).collect();
    if all.len() > MAX_SEARCHES { vec![Search::Table] } else { all }
}

/// How much of any text a byte is.
fn commonness(byte: u8) -> u8 {
    match byte {
        b'a'..=b'z' | b' ' | b'\n' => 3,
        b'A'..=b'Z' | b'0'..=b'9' | b'.' | b',' | b'-' | b'\'' | b'"' | b'(' | b')' | 0xc0.. => 2,
        _ => 1,
    }
}
