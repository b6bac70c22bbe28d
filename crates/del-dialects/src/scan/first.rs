//! Where a spelling may begin: most text is passed without a look at the automaton.

use memchr::memmem::Finder;
use memchr::{memchr, memchr2, memchr3};

use super::Node;
use super::trie::index;

/// The bytes that spellings begin with.
#[derive(Debug, Clone, Default)]
pub(super) enum First {
    #[default]
    None,
    One(u8),
    Two(u8, u8),
    Three(u8, u8, u8),
    Many {
        table: Box<[bool; 256]>,
        /// The bytes, without those that begin a needle.
        bytes: Vec<u8>,
        /// In place of bytes that any prose is full of: how all spellings that begin with one go on.
        needles: Vec<Finder<'static>>,
    },
}

/// The longest needle, in bytes: so many say enough.
const MAX_NEEDLE: usize = 8;

impl First {
    /// From what the spellings begin with, each with another byte.
    pub(super) fn of(prefixes: impl Iterator<Item = Vec<u8>>) -> Self {
        let mut table = [false; 256];
        let (mut bytes, mut needles) = (Vec::new(), Vec::new());
        for prefix in prefixes {
            let first = prefix[0];
            table[first as usize] = true;
            if prefix.len() > 1 && (first == b' ' || first.is_ascii_lowercase()) {
                needles.push(Finder::new(&prefix).into_owned());
            } else {
                bytes.push(first);
            }
        }
        match bytes[..] {
            _ if !needles.is_empty() => Self::Many { table: Box::new(table), bytes, needles },
            [] => Self::None,
            [a] => Self::One(a),
            [a, b] => Self::Two(a, b),
            [a, b, c] => Self::Three(a, b, c),
            _ => Self::Many { table: Box::new(table), bytes, needles },
        }
    }

    /// How far the next byte is that a spelling may begin with. `busy` remembers, from call to call, how many of the next
    /// bytes are worth a look.
    pub(super) fn next(&self, text: &[u8], busy: &mut u32) -> Option<usize> {
        match self {
            Self::None => None,
            Self::One(a) => memchr(*a, text),
            Self::Two(a, b) => memchr2(*a, *b, text),
            Self::Three(a, b, c) => memchr3(*a, *b, *c, text),
            Self::Many { table, bytes, needles } => next_of_many(table, bytes, needles, text, busy),
        }
    }
}

/// How all spellings go on that begin with `byte`, which leads to `child`.
pub(super) fn prefix(byte: u8, mut child: u32, nodes: &[Node], children: &[Vec<(u8, u32)>]) -> Vec<u8> {
    let mut prefix = vec![byte];
    while let [(next, grandchild)] = children[child as usize][..]
        && nodes[child as usize].found.is_none()
        && prefix.len() < MAX_NEEDLE
    {
        prefix.push(next);
        child = grandchild;
    }
    prefix
}

/// Text without any of the bytes and needles is passed block by block at the speed of `memchr`; in a block that holds
/// one, each byte is looked up.
fn next_of_many(
    table: &[bool; 256],
    bytes: &[u8],
    needles: &[Finder<'static>],
    text: &[u8],
    busy: &mut u32,
) -> Option<usize> {
    const BLOCK: usize = 512;
    let mut at = 0;
    while at < text.len() {
        if *busy == 0 {
            let block = &text[at..text.len().min(at + BLOCK)];
            // A needle may begin in the block and end behind it.
            let around = &text[at..text.len().min(at + BLOCK + MAX_NEEDLE)];
            let quiet = around.len() == BLOCK + MAX_NEEDLE
                && needles.iter().all(|needle| needle.find(around).is_none())
                && bytes.chunks(3).all(|bytes| match *bytes {
                    [a, b, c] => memchr3(a, b, c, block).is_none(),
                    [a, b] => memchr2(a, b, block).is_none(),
                    [a] => memchr(a, block).is_none(),
                    _ => true,
                });
            if quiet {
                at += BLOCK;
                continue;
            }
            *busy = index(block.len());
        }
        let block = &text[at..text.len().min(at + *busy as usize)];
        match block.iter().position(|byte| table[*byte as usize]) {
            Some(skip) => {
                *busy -= index(skip);
                return Some(at + skip);
            }
            None => {
                *busy -= index(block.len());
                at += block.len();
            }
        }
    }
    None
}
