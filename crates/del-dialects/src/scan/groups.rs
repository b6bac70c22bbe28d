//! The order of patterns that are searched for at once.
//!
//! The searcher, Teddy, puts them into eight groups in turn, and a group is found wherever the nibbles of its patterns stand
//! together, whichever pattern each is of: `# ` and `_n` together are found in `c ` as well. A place that is found so is
//! compared with each pattern, which costs more than to pass a hundred bytes of other text.

use std::iter::zip;

/// So many groups has the searcher.
pub(super) const GROUPS: usize = 8;

/// No more bytes of a pattern are told apart by their nibbles.
const LONGEST: usize = 2;

/// Of more patterns than these the searcher takes none, or has twice as many groups.
const MOST: usize = 32;

/// The patterns in the order in which their groups are found in little else. `weight` says how much of any text a byte is.
pub(super) fn in_groups(mut patterns: Vec<Vec<u8>>, weight: fn(u8) -> u64) -> Vec<Vec<u8>> {
    let len = patterns.iter().map(Vec::len).min().unwrap_or(0).min(LONGEST);
    let found = |patterns: &[Vec<u8>], group: usize| {
        let group = patterns.iter().skip(group).step_by(GROUPS);
        in_how_much(group.map(|pattern| &pattern[..len]), len, weight)
    };
    // Two at a time change places, as long as that is of use: where each has a group of its own, it never is.
    let mut better = (GROUPS + 1..=MOST).contains(&patterns.len());
    while std::mem::take(&mut better) {
        for one in 0..patterns.len() {
            for other in one + 1..patterns.len() {
                let both =
                    |patterns: &[Vec<u8>]| found(patterns, one % GROUPS) + found(patterns, other % GROUPS);
                let before = both(&patterns);
                patterns.swap(one, other);
                if both(&patterns) < before {
                    better = true;
                } else {
                    patterns.swap(one, other);
                }
            }
        }
    }
    patterns
}

/// In how much text a group of patterns of this length is found.
fn in_how_much<'p>(patterns: impl Iterator<Item = &'p [u8]>, len: usize, weight: fn(u8) -> u64) -> u64 {
    // The low and the high nibbles of each byte: a bit for each that is there.
    let mut nibbles = [[0_u16; 2]; LONGEST];
    for pattern in patterns {
        for ([low, high], byte) in zip(&mut nibbles, pattern) {
            *low |= 1 << (byte & 15);
            *high |= 1 << (byte >> 4);
        }
    }
    let bits = |bits: u16| (0..16u8).filter(move |bit| bits >> bit & 1 == 1);
    let one = |[low, high]: &[u16; 2]| {
        bits(*high).map(|high| bits(*low).map(|low| weight(high << 4 | low)).sum::<u64>()).sum::<u64>()
    };
    nibbles[..len].iter().map(one).product()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn weight(byte: u8) -> u64 {
        if matches!(byte, b'a'..=b'z' | b' ') { 64 } else { 1 }
    }

    fn patterns(all: &[&str]) -> Vec<Vec<u8>> {
        all.iter().map(|pattern| pattern.as_bytes().to_vec()).collect()
    }

    #[test]
    fn all_patterns_stay() {
        for count in 0..40 {
            let all: Vec<Vec<u8>> = (0..count).map(|byte| vec![b'A' + byte, b'x']).collect();
            let mut got = in_groups(all.clone(), weight);
            got.sort();
            assert_eq!(got, all, "{count}");
        }
    }

    #[test]
    fn a_space_is_grouped_with_what_makes_no_word_of_it() {
        let all = patterns(&["fu", "_n", "|D", "``", "]<", "_U", "**", "~x", "# ", "##", "!a", "a!"]);
        let got = in_groups(all, weight);
        let place =
            |pattern: &str| got.iter().position(|other| *other == pattern.as_bytes()).unwrap() % GROUPS;
        let beside: Vec<&[u8]> = got
            .iter()
            .enumerate()
            .filter(|(at, _)| at % GROUPS == place("# "))
            .map(|(_, pattern)| pattern.as_slice())
            .collect();
        // None brings the high nibble of a small letter to the first byte.
        assert!(beside.iter().all(|pattern| !matches!(pattern[0] >> 4, 6 | 7)), "{beside:?}");
    }
}
