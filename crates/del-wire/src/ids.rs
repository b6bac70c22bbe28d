//! Ids for calls whose dialect carries none.

use std::collections::HashSet;

/// Mints ids that look alike, never repeat within one run, and are the same in every run with the same seed.
#[derive(Debug, Clone, Default)]
pub struct Ids {
    seed: u64,
    next: u64,
    taken: HashSet<String>,
}

/// No record has more calls than there are ids between two lines.
const IDS_A_LINE: u64 = 1 << 20;

impl Ids {
    /// Ids of the run with this seed.
    pub fn new(seed: u64) -> Self {
        Self { seed, ..Self::default() }
    }

    /// Ids for the calls of one record of many: those of different lines differ, whoever makes them.
    pub fn of_line(number: u64) -> Self {
        Self::new(number.wrapping_mul(IDS_A_LINE))
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

    /// The model's own id if it has one that no other call of this run has; else a new one.
    pub fn keep_or_mint(&mut self, native: Option<&str>) -> String {
        match native {
            Some(id) if !id.is_empty() && self.taken.insert(id.to_owned()) => id.to_owned(),
            _ => self.mint(),
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

    use super::Ids;

    #[test]
    fn ids_never_repeat_and_runs_do() {
        let (mut ids, mut again) = (Ids::new(3), Ids::new(3));
        let seen: HashSet<String> = (0..10_000).map(|_| ids.mint()).collect();
        assert_eq!(seen.len(), 10_000);
        assert!(seen.contains(&again.mint()));
        assert_ne!(Ids::new(1).mint(), Ids::new(2).mint());
    }

    #[test]
    fn an_id_of_the_models_is_kept_once() {
        let mut ids = Ids::default();
        assert_eq!(ids.keep_or_mint(Some("functions.f:0")), "functions.f:0");
        assert!(ids.keep_or_mint(Some("functions.f:0")).starts_with("call_"));
        assert!(ids.keep_or_mint(Some("")).starts_with("call_"));
        let next = Ids::default().mint();
        let mut ids = Ids::default();
        assert_eq!(ids.keep_or_mint(Some(&next)), next);
        assert_ne!(ids.mint(), next);
    }
}
