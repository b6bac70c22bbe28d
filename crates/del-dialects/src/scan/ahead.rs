//! Where a spelling may begin: most text is passed without a look at the nodes.

use memchr::memmem::Finder;
use memchr::{memchr, memchr2, memchr3};

/// What the spellings of an automaton begin with.
#[derive(Debug, Clone)]
pub(super) struct Starts {
    /// For each byte: 0 where none begins with it, else one more than the place of its `seconds`.
    table: Box<[u16; 256]>,
    /// The bytes that may follow the first of a spelling.
    seconds: Vec<[bool; 256]>,
    /// Searches that together find all places where one may begin; none where that would be too many.
    lanes: Option<Vec<Lane>>,
}

/// What begins with one byte.
pub(super) struct Start {
    /// How all spellings go on that begin with it.
    pub(super) prefix: Vec<u8>,
    /// The bytes that may follow; none where a spelling is over.
    pub(super) next: Option<Vec<u8>>,
}

#[derive(Debug, Clone)]
#[expect(
    clippy::large_enum_variant,
    reason = "an automaton has a few of them, and a box would be one more step"
)]
enum Lane {
    One(u8),
    Two(u8, u8),
    Three(u8, u8, u8),
    /// In place of a byte that any text is full of: how all spellings that begin with it go on.
    Needle(Finder<'static>),
}

/// What the lanes know of the text ahead, as long as one search goes on.
#[derive(Debug, Clone, Default)]
pub(super) struct Ahead {
    /// How far they have looked.
    end: usize,
    /// Where each finds something, or the end.
    next: [usize; MAX_LANES],
}

/// More needles than would leave room for all bytes are not searched for as such.
const MAX_LANES: usize = 16;
const MAX_NEEDLES: usize = 8;

/// The longest needle, in bytes: so many say enough.
const MAX_NEEDLE: usize = 8;

/// So far several lanes look ahead: one may find something behind every few bytes, and the others have looked in vain.
const BLOCK: usize = 2048;

/// Text that is shorter is looked up byte by byte.
const SHORT: usize = 32;

impl Starts {
    pub(super) fn of(starts: Vec<Start>) -> Self {
        let mut table = Box::new([0; 256]);
        let (mut bytes, mut lanes, mut seconds) = (Vec::new(), Vec::new(), Vec::new());
        for Start { prefix, next } in starts {
            let first = prefix[0];
            let mut second = [next.is_none(); 256];
            for byte in next.into_iter().flatten() {
                second[byte as usize] = true;
            }
            seconds.push(second);
            table[first as usize] = u16::try_from(seconds.len()).unwrap_or(0);
            if prefix.len() > 1 && is_common(first) && lanes.len() < MAX_NEEDLES {
                let needle = &prefix[..prefix.len().min(MAX_NEEDLE)];
                lanes.push(Lane::Needle(Finder::new(needle).into_owned()));
            } else {
                bytes.push(first);
            }
        }
        lanes.extend(bytes.chunks(3).map(|bytes| match *bytes {
            [a, b, c] => Lane::Three(a, b, c),
            [a, b] => Lane::Two(a, b),
            _ => Lane::One(bytes[0]),
        }));
        Self { table, seconds, lanes: Some(lanes).filter(|lanes| lanes.len() <= MAX_LANES) }
    }

    /// True when a spelling may begin in `bytes`.
    pub(super) fn any_in(&self, bytes: &[u8]) -> bool {
        self.lanes.as_deref().is_none_or(|lanes| !lanes.is_empty())
            && self.next(bytes, 0, &mut Ahead::default()) < bytes.len()
    }

    /// The next place from `at` on where a spelling may begin, or the end of `bytes`.
    pub(super) fn next(&self, bytes: &[u8], mut at: usize, ahead: &mut Ahead) -> usize {
        match self.lanes.as_deref() {
            _ if bytes.len() < at + SHORT => {}
            None => {}
            Some([]) => return bytes.len(),
            Some([lane @ (Lane::One(_) | Lane::Two(..) | Lane::Three(..))]) => {
                let end = bytes.len() - 1;
                while at < end {
                    at = lane.find(bytes, at, end);
                    if at < end && self.may_begin(bytes, at) {
                        return at;
                    }
                    at = end.min(at + 1);
                }
            }
            Some(lanes) => {
                // At the end of the text may stand half a needle.
                let last = bytes.len() - MAX_NEEDLE;
                while at < last {
                    if at >= ahead.end {
                        ahead.end = last.min(at + BLOCK);
                        ahead.next = [0; MAX_LANES];
                    }
                    let mut nearest = ahead.end;
                    for (lane, next) in lanes.iter().zip(&mut ahead.next) {
                        if *next <= at {
                            *next = lane.find(bytes, at, ahead.end);
                        }
                        nearest = nearest.min(*next);
                    }
                    at = nearest;
                    if at < ahead.end {
                        if self.may_begin(bytes, at) {
                            return at;
                        }
                        at += 1;
                    }
                }
            }
        }
        let rest = &bytes[at..];
        at + rest.iter().position(|byte| self.table[*byte as usize] != 0).unwrap_or(rest.len())
    }

    /// True where the two bytes at `at` begin a spelling.
    fn may_begin(&self, bytes: &[u8], at: usize) -> bool {
        let seconds = (self.table[bytes[at] as usize] as usize).checked_sub(1);
        let seconds = seconds.and_then(|place| self.seconds.get(place));
        seconds.is_some_and(|seconds| seconds[bytes[at + 1] as usize])
    }
}

impl Lane {
    /// The next place from `from` on and before `to`, or `to`.
    fn find(&self, bytes: &[u8], from: usize, to: usize) -> usize {
        let text = &bytes[from..to];
        let skip = match self {
            Self::One(a) => memchr(*a, text),
            Self::Two(a, b) => memchr2(*a, *b, text),
            Self::Three(a, b, c) => memchr3(*a, *b, *c, text),
            Self::Needle(needle) => needle.find(&bytes[from..to + needle.needle().len() - 1]),
        };
        skip.map_or(to, |skip| from + skip)
    }
}

/// True for a byte that any text is full of.
fn is_common(byte: u8) -> bool {
    byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte.is_ascii_whitespace() || byte >= 0x80
}
