//! The keys of the objects that are open, to tell when one comes twice.

use std::collections::HashSet;

/// The keys of the objects that are open, as hashes of their spelling.
#[derive(Debug, Default, Clone)]
pub(super) struct Keys {
    levels: Vec<Level>,
    open: usize,
    /// The key that is being read.
    hash: u64,
}

/// The keys of one object: the first few in a row, more of them in a set.
#[derive(Debug, Default, Clone)]
struct Level {
    few: Vec<u64>,
    many: HashSet<u64>,
}

const FEW: usize = 16;
const SEED: u64 = 0xcbf2_9ce4_8422_2325;

impl Keys {
    pub(super) fn clear(&mut self) {
        self.open = 0;
    }

    pub(super) fn enter(&mut self) {
        if self.open == self.levels.len() {
            self.levels.push(Level::default());
        }
        let level = &mut self.levels[self.open];
        level.few.clear();
        level.many.clear();
        self.open += 1;
    }

    pub(super) fn leave(&mut self) {
        self.open = self.open.saturating_sub(1);
    }

    /// True where no key was read yet.
    pub(super) fn is_first(&self) -> bool {
        self.open.checked_sub(1).and_then(|at| self.levels.get(at)).is_none_or(|level| level.few.is_empty())
    }

    pub(super) fn begin(&mut self) {
        self.hash = SEED;
    }

    /// More bytes of the key.
    pub(super) fn add(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.hash = (self.hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }

    /// The key is whole; true when its object has it already.
    pub(super) fn is_repeated(&mut self) -> bool {
        let Some(level) = self.open.checked_sub(1).and_then(|at| self.levels.get_mut(at)) else {
            return false;
        };
        if level.few.contains(&self.hash) || level.many.contains(&self.hash) {
            return true;
        }
        if level.few.len() < FEW {
            level.few.push(self.hash);
        } else {
            level.many.insert(self.hash);
        }
        false
    }
}
