//! The ends of a text, where half a mark may meet its other half.

use crate::order::sort;
use crate::scan::{MAX_WORD, is_word};

/// What marks begin and end with.
#[derive(Debug)]
pub(super) struct Edges {
    /// All marks, sorted.
    marks: Vec<String>,
    /// Marks without the first few characters, sorted, and whether the other text leaves them to be broken here.
    tails: Vec<(String, bool)>,
    longest: usize,
}

/// A part of a mark at one end of a text.
#[derive(Debug, Clone, Copy)]
pub(super) struct Half {
    /// Where its break stands.
    pub(super) place: usize,
    /// The first and the last place at which a break may stand in it.
    pub(super) within: (usize, usize),
    /// It has to be broken here.
    pub(super) sure: bool,
}

impl Edges {
    pub(super) fn new(marks: &[String]) -> Self {
        // A suffix is a colon and any word: what stands before the word is known.
        let known =
            |mark: &String| mark.split_once('\0').map_or(mark.clone(), |(stem, _)| format!("{stem}:"));
        let mut marks: Vec<String> = marks.iter().map(known).filter(|mark| !mark.is_empty()).collect();
        sort(&mut marks, String::cmp);
        marks.dedup();
        let mut tails: Vec<(String, bool)> = Vec::new();
        for mark in &marks {
            let least = least(mark);
            for missing in 1..least.max(2) {
                let tail: String = mark.chars().skip(missing).collect();
                if !tail.is_empty() {
                    let alone = missing < least && tail.chars().nth(1).is_some() && !is_fence(mark);
                    tails.push((tail, alone));
                }
            }
        }
        sort(&mut tails, Ord::cmp);
        let longest = marks.iter().map(String::len).max().unwrap_or(0) + MAX_WORD;
        Self { marks, tails, longest }
    }

    /// What `text` begins and ends with of marks the rest of which would stand beside it.
    pub(super) fn of(&self, text: &str) -> Vec<Half> {
        let mut halves: Vec<Half> = self.begins(text).into_iter().collect();
        let mut from = text.len().saturating_sub(self.longest);
        while !text.is_char_boundary(from) {
            from += 1;
        }
        for (at, c) in text[from..].char_indices() {
            let half = &text[from + at..];
            let next = self.marks.partition_point(|mark| mark.as_str() <= half);
            let begun = self.marks.get(next).is_some_and(|mark| mark.starts_with(half));
            if begun || self.is_stem(half) {
                let sure = half.chars().count() >= least(half) && !is_fence(half);
                let place = from + at + c.len_utf8();
                halves.push(Half { place, within: (from + at + 1, text.len()), sure });
            }
        }
        halves
    }

    /// True for the beginning of a mark up to somewhere in its suffix.
    fn is_stem(&self, half: &str) -> bool {
        let stem = half.trim_end_matches(|c| u8::try_from(c).is_ok_and(is_word));
        stem.ends_with(':') && self.marks.binary_search_by(|mark| mark.as_str().cmp(stem)).is_ok()
    }

    fn begins(&self, text: &str) -> Option<Half> {
        let Some(first) = text.chars().next() else {
            return Some(Half { place: 0, within: (0, 0), sure: false });
        };
        let from = self.tails.partition_point(|(tail, _)| !tail.starts_with(first) && tail.as_str() < text);
        let alike = self.tails[from..].iter().take_while(|(tail, _)| tail.starts_with(first));
        let fits = alike.filter(|(tail, _)| text.starts_with(tail.as_str()) || tail.starts_with(text));
        let half = |(tail, alone): &(String, bool)| Half {
            place: 0,
            within: (0, tail.len().min(text.len()) - 1),
            sure: *alone && text.starts_with(tail.as_str()),
        };
        fits.map(half).reduce(|a, b| Half {
            place: 0,
            within: a.within.max(b.within),
            sure: a.sure || b.sure,
        })
    }
}

/// True for the beginning of a fence: half of one is one, and much text ends so.
fn is_fence(mark: &str) -> bool {
    mark.starts_with('`')
}

/// From how many characters on the beginning of a mark is broken at the end of a text. A text that begins with the rest
/// of a mark is broken there, where less was left behind. Much ordinary text ends in a bracket or a letter.
fn least(mark: &str) -> usize {
    match mark.chars().next() {
        Some('<' | '[') => 1,
        Some(first) if first.is_alphanumeric() => 4,
        _ => 2,
    }
}
