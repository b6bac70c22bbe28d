//! The part of a text that is most like one that was sought in vain: a hint, never a match.

use std::time::{Duration, Instant};

use similar::TextDiff;

use crate::edit::Lines;
use crate::outcome::counted;

/// Above this many lines to compare there is no hint.
const MAX_COMPARISONS: usize = 2_000_000;
/// Likeness below this helps nobody.
const MIN_LIKENESS: f32 = 0.6;
/// Windows that are compared closely.
const CANDIDATES: usize = 6;
/// Characters of a line that are compared.
const MAX_COMPARED: usize = 400;
/// Lines of the hint that are shown.
const MAX_SHOWN: usize = 40;
const BUCKETS: usize = 32;
/// After this, lines that differ count as nothing like each other.
const PATIENCE: Duration = Duration::from_secs(1);

/// Lines of a text, counted from 1, and how like they are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Closest {
    pub(crate) first: usize,
    pub(crate) last: usize,
    pub(crate) percent: u8,
    /// The lines.
    pub(crate) text: String,
}

/// The lines of `text` most like `old`, if any are like it.
pub(crate) fn closest(text: &str, old: &str) -> Option<Closest> {
    let lines = Lines::of(text);
    let wanted = Lines::of(old);
    let size = wanted.len().min(lines.len());
    if size == 0 || (lines.len() - size + 1).saturating_mul(size) > MAX_COMPARISONS {
        return None;
    }
    let ours: Vec<_> = lines.iter(text).map(Sketch::of).collect();
    let theirs: Vec<_> = wanted.iter(old).map(Sketch::of).collect();
    let mut rough: Vec<(f32, usize)> =
        ours.windows(size).enumerate().map(|(at, window)| (likeness(window, &theirs), at)).collect();
    rough.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    let ours: Vec<_> = lines.iter(text).collect();
    let theirs: Vec<_> = wanted.iter(old).collect();
    let deadline = Instant::now() + PATIENCE;
    let close = |at: usize| exact_likeness(&ours[at..at + size], &theirs, deadline);
    let best =
        rough.iter().take(CANDIDATES).map(|(_, at)| (close(*at), *at)).max_by(|a, b| a.0.total_cmp(&b.0))?;
    let (like, at) = best;
    if like < MIN_LIKENESS {
        return None;
    }
    let whole = |line: &&str| match line.char_indices().nth(MAX_COMPARED) {
        Some((end, _)) => format!("{} … [more of this line]", &line[..end]),
        None => (*line).to_owned(),
    };
    let mut shown: Vec<_> = ours[at..at + size].iter().take(MAX_SHOWN).map(whole).collect();
    if size > MAX_SHOWN {
        shown.push(format!("... [{}]", counted(size - MAX_SHOWN, "more line")));
    }
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 0 and 99")]
    let percent = (like * 100.0).floor().clamp(0.0, 99.0) as u8;
    Some(Closest { first: at + 1, last: at + size, percent, text: shown.join("\n") })
}

/// How often pairs of bytes stand in a line, roughly.
struct Sketch {
    pairs: [u8; BUCKETS],
    total: u32,
}

impl Sketch {
    fn of(line: &str) -> Self {
        let mut sketch = Self { pairs: [0; BUCKETS], total: 0 };
        for pair in line.trim().as_bytes().windows(2).take(MAX_COMPARED) {
            let bucket = (usize::from(pair[0]) * 31 + usize::from(pair[1])) % BUCKETS;
            sketch.pairs[bucket] = sketch.pairs[bucket].saturating_add(1);
        }
        sketch.total = sketch.pairs.iter().map(|n| u32::from(*n)).sum();
        sketch
    }

    fn shared(&self, other: &Self) -> u32 {
        self.pairs.iter().zip(&other.pairs).map(|(a, b)| u32::from(*a.min(b))).sum()
    }
}

#[expect(clippy::cast_precision_loss, reason = "a rank, not a figure")]
fn likeness(window: &[Sketch], wanted: &[Sketch]) -> f32 {
    let (mut shared, mut total) = (0, 1);
    for (ours, theirs) in window.iter().zip(wanted) {
        shared += 2 * ours.shared(theirs);
        total += ours.total + theirs.total;
    }
    shared as f32 / total as f32
}

#[expect(clippy::cast_precision_loss, reason = "lines are short")]
fn exact_likeness(window: &[&str], wanted: &[&str], deadline: Instant) -> f32 {
    let (mut same, mut total) = (0.0, 0.0);
    for (at, theirs) in wanted.iter().enumerate() {
        let ours = window.get(at).copied().unwrap_or_default();
        let weight = (ours.len() + theirs.len()).min(2 * MAX_COMPARED) as f32;
        let ratio = match () {
            () if ours == *theirs => 1.0,
            () if Instant::now() > deadline => 0.0,
            () => ratio(ours, theirs),
        };
        same += ratio * weight;
        total += weight;
    }
    if total > 0.0 { same / total } else { 0.0 }
}

fn ratio(a: &str, b: &str) -> f32 {
    let (a, b): (String, String) =
        (a.chars().take(MAX_COMPARED).collect(), b.chars().take(MAX_COMPARED).collect());
    TextDiff::configure().timeout(Duration::from_millis(20)).diff_chars(&a, &b).ratio()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_most_similar_lines_are_found() {
        let text = "fn a() {}\n\nfn total(items: &[u32]) -> u32 {\n    items.iter().sum()\n}\n";
        let closest = closest(text, "fn total(items: &[u64]) -> u64 {\n    items.iter().sum()\n}").unwrap();
        assert_eq!((closest.first, closest.last), (3, 5));
        assert!((90..99).contains(&closest.percent), "{}", closest.percent);
        assert!(closest.text.starts_with("fn total"));
    }

    #[test]
    fn nothing_is_said_where_nothing_is_like_it() {
        assert_eq!(closest("a\nb\n", "something else entirely"), None);
        assert_eq!(closest("", "a"), None);
        assert_eq!(closest(&"x\n".repeat(3_000), &"y\n".repeat(1_500)), None);
    }
}
