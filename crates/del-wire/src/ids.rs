//! Ids for calls whose dialect carries none.

use std::collections::HashSet;

/// Mints ids that look alike, never repeat within one run, and are the same in every run with the same seed. A conversation
/// has calls of many answers in it, so each answer wants a seed of its own: [`Seed`] makes one of its text.
#[derive(Debug, Clone, Default)]
pub struct Ids {
    seed: u64,
    next: u64,
    taken: HashSet<String>,
}

impl Ids {
    /// Ids of the run with this seed.
    pub fn new(seed: u64) -> Self {
        Self { seed, ..Self::default() }
    }

    /// The same for an answer in a conversation that has calls with these ids.
    #[must_use]
    pub fn beside<'i>(mut self, ids: impl IntoIterator<Item = &'i str>) -> Self {
        self.taken.extend(ids.into_iter().map(str::to_owned));
        self
    }

    /// Ids for the calls in one text: the same for the same text, and others for any other.
    pub fn of_text(text: &[u8]) -> Self {
        Self::new(Seed::of(text).number())
    }

    /// Ids for the calls of one record of many: those of equal records in different places differ, whoever makes them.
    pub fn of_record(record: &[u8], place: u64) -> Self {
        Self::new(scramble(Seed::of(record).number() ^ scramble(place)))
    }

    /// A new id.
    pub fn mint(&mut self) -> String {
        loop {
            self.next += 1;
            let id = format!("call_{:016x}", scramble(self.seed.wrapping_add(self.next)));
            if self.taken.insert(id.clone()) {
                return id;
            }
        }
    }

    /// The model's own id if it has one, with another number where a call has that already; else a new one. Some models
    /// number their calls anew in each answer.
    pub fn keep_or_mint(&mut self, native: Option<&str>) -> String {
        let Some(mut id) = native.filter(|id| !id.is_empty()).map(str::to_owned) else { return self.mint() };
        while !self.taken.insert(id.clone()) {
            id = after(&id);
        }
        id
    }
}

/// The same id with the next number at its end.
fn after(id: &str) -> String {
    let stem = id.trim_end_matches(|sign: char| sign.is_ascii_digit());
    match id[stem.len()..].parse::<u64>().ok().and_then(|number| number.checked_add(1)) {
        Some(number) => format!("{stem}{number}"),
        None => format!("{id}_1"),
    }
}

/// What ids are made from: a number for a text, whatever pieces it comes in, on every machine the same.
#[derive(Debug, Clone, Default)]
pub struct Seed {
    state: u64,
    bytes: u64,
    /// Bytes that are too few for a step yet, the first one lowest, and how many they are.
    word: u64,
    held: usize,
}

/// Bytes of a step.
const STEP: usize = 8;

impl Seed {
    /// That of a whole text.
    pub fn of(text: &[u8]) -> Self {
        let mut seed = Self::default();
        seed.push(text);
        seed
    }

    /// The next piece of the text.
    pub fn push(&mut self, text: &[u8]) {
        self.bytes += text.len() as u64;
        let missing = (STEP - self.held) % STEP;
        let (first, rest) = text.split_at(missing.min(text.len()));
        self.add(first);
        let mut words = rest.chunks_exact(STEP);
        for word in &mut words {
            let word = word.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte));
            self.state = scramble(self.state ^ word);
        }
        self.add(words.remainder());
    }

    /// The number of the text so far.
    pub fn number(&self) -> u64 {
        scramble(scramble(self.state ^ self.word) ^ self.bytes)
    }

    fn add(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.word |= u64::from(*byte) << (8 * self.held);
            self.held += 1;
        }
        if self.held == STEP {
            self.state = scramble(self.state ^ std::mem::take(&mut self.word));
            self.held = 0;
        }
    }
}

/// Spreads numbers so that ids do not look like counters; different numbers stay different.
fn scramble(number: u64) -> u64 {
    let mut x = number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::{Ids, Seed};

    #[test]
    fn ids_never_repeat_and_runs_do() {
        let (mut ids, mut again) = (Ids::new(3), Ids::new(3));
        let seen: HashSet<String> = (0..10_000).map(|_| ids.mint()).collect();
        assert_eq!(seen.len(), 10_000);
        assert!(seen.contains(&again.mint()));
        assert_ne!(Ids::new(1).mint(), Ids::new(2).mint());
    }

    #[test]
    fn a_text_has_one_number_whatever_pieces_it_comes_in() {
        let text = "0123456789 abcdefghijklmnop é\0\0".as_bytes();
        for size in 1..=text.len() {
            let mut seed = Seed::default();
            text.chunks(size).for_each(|piece| seed.push(piece));
            assert_eq!(seed.number(), Seed::of(text).number(), "{size}");
        }
        let beginnings: HashSet<u64> = (0..=text.len()).map(|end| Seed::of(&text[..end]).number()).collect();
        assert_eq!(beginnings.len(), text.len() + 1, "one for each text");
    }

    #[test]
    fn ids_follow_from_the_text_and_its_place() {
        let of = |text: &str, place| Ids::of_record(text.as_bytes(), place).mint();
        assert_eq!(of("a", 1), of("a", 1));
        let texts = (0..1000).map(|number| number.to_string());
        let seen: HashSet<String> = texts.flat_map(|text| [1, 2, 3].map(|place| of(&text, place))).collect();
        assert_eq!(seen.len(), 3000);
        assert_ne!(Ids::of_text(b"a").mint(), Ids::of_text(b"b").mint());
    }

    #[test]
    fn an_id_of_the_models_is_kept_once() {
        let mut ids = Ids::default();
        assert_eq!(ids.keep_or_mint(Some("functions.f:0")), "functions.f:0");
        assert_eq!(ids.keep_or_mint(Some("functions.f:0")), "functions.f:1");
        assert_eq!(["a", "a", "a"].map(|id| ids.keep_or_mint(Some(id))), ["a", "a_1", "a_2"]);
        let long = "9".repeat(30);
        assert_eq!([&long, &long].map(|id| ids.keep_or_mint(Some(id))), [long.clone(), long.clone() + "_1"]);
        let mut later = Ids::default().beside(["functions.f:0", "functions.f:1"]);
        assert_eq!(later.keep_or_mint(Some("functions.f:0")), "functions.f:2");
        assert!(ids.keep_or_mint(Some("")).starts_with("call_"));
        let next = Ids::default().mint();
        let mut ids = Ids::default();
        assert_eq!(ids.keep_or_mint(Some(&next)), next);
        assert_ne!(ids.mint(), next);
    }
}
