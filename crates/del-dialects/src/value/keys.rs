//! The keys of the objects that are open, to tell when one comes twice.

use std::collections::HashSet;

/// The keys of the objects that are open, as hashes of their spelling.
#[derive(Debug, Default, Clone)]
pub(crate) struct Keys {
    /// Those of the innermost object come last. Before those of each object stands where the object around it begins.
    hashes: Vec<u64>,
    /// Where those of the innermost object begin.
    from: usize,
    /// How many objects are open.
    open: usize,
    /// The same in sets, for each open object that has many: how many objects are open in it, itself among them.
    many: Vec<(usize, HashSet<u64>)>,
}

/// So many keys are compared one by one.
const FEW: usize = 16;

impl Keys {
    pub(super) fn enter(&mut self) {
        self.hashes.reserve(FEW);
        self.hashes.push(self.from as u64);
        self.from = self.hashes.len();
        self.open += 1;
    }

    pub(super) fn leave(&mut self) {
        let Some(around) = self.from.checked_sub(1) else { return };
        if self.many.last().is_some_and(|(open, _)| *open == self.open) {
            self.many.pop();
        }
        self.from = self.hashes.get(around).and_then(|from| usize::try_from(*from).ok()).unwrap_or(0);
        self.hashes.truncate(around);
        self.open -= 1;
    }

    /// Leaves all but so many objects.
    pub(super) fn leave_all(&mut self, but: usize) {
        while self.open > but {
            self.leave();
        }
    }

    /// How many objects are open.
    pub(super) fn open(&self) -> usize {
        self.open
    }

    /// True where no key was read yet.
    pub(super) fn is_first(&self) -> bool {
        self.from == self.hashes.len()
    }

    /// True where several keys were read.
    pub(super) fn are_several(&self) -> bool {
        self.hashes.len() > self.from + 1
    }

    /// A key of the innermost object is whole; true when the object has it already.
    pub(super) fn is_repeated(&mut self, key: &[u8]) -> bool {
        if self.open == 0 {
            return false;
        }
        let (hash, own) = (hash(key), &self.hashes[self.from..]);
        if own.len() < FEW {
            let repeated = own.contains(&hash);
            if !repeated {
                self.hashes.push(hash);
            }
            return repeated;
        }
        if self.many.last().is_none_or(|(open, _)| *open != self.open) {
            self.many.push((self.open, own.iter().copied().collect()));
        }
        self.many.last_mut().is_some_and(|(_, set)| !set.insert(hash))
    }
}

fn hash(key: &[u8]) -> u64 {
    let add = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
    key.iter().fold(0xcbf2_9ce4_8422_2325, add)
}
