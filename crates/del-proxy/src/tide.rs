//! What many answers took of the memory goes back to the system when most of them are over. The allocator of GNU's C library
//! keeps what is free in between what is not, and gives it back only when it is asked to.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Fewer answers than this at once take too little to be asked for.
const MANY: usize = 64;

/// How many answers are under way.
#[derive(Debug, Default)]
pub(crate) struct Tide {
    now: AtomicUsize,
    /// The most of them since memory was given back.
    most: AtomicUsize,
}

/// An answer under way.
#[derive(Debug)]
pub(crate) struct Answer(Arc<Tide>);

impl Tide {
    /// One more answer, until this is dropped.
    pub(crate) fn begin(self: &Arc<Self>) -> Answer {
        let now = self.now.fetch_add(1, Ordering::Relaxed) + 1;
        self.most.fetch_max(now, Ordering::Relaxed);
        Answer(Arc::clone(self))
    }

    /// True, once, when there were many answers and most of them are over.
    pub(crate) fn has_ebbed(&self) -> bool {
        let (now, most) = (self.now.load(Ordering::Relaxed), self.most.load(Ordering::Relaxed));
        let ebbed = most >= MANY && now <= most / 4;
        if ebbed {
            self.most.store(now, Ordering::Relaxed);
        }
        ebbed
    }
}

impl Drop for Answer {
    fn drop(&mut self) {
        self.0.now.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Gives free memory back. It may take some milliseconds.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[expect(unsafe_code, reason = "no safe call does it")]
pub(crate) fn give_back() {
    // SAFETY: it takes no pointer, and nothing but what the allocator itself holds as free.
    unsafe { libc::malloc_trim(0) };
}

/// Other allocators give free memory back by themselves.
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub(crate) fn give_back() {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_ebbs_once_when_most_of_many_are_over() {
        let tide = Arc::new(Tide::default());
        let few: Vec<Answer> = (0..MANY - 1).map(|_| tide.begin()).collect();
        drop(few);
        assert!(!tide.has_ebbed(), "too few");
        let mut many: Vec<Answer> = (0..2 * MANY).map(|_| tide.begin()).collect();
        assert!(!tide.has_ebbed());
        many.truncate(MANY);
        assert!(!tide.has_ebbed(), "half of them are there");
        many.truncate(1);
        assert!(tide.has_ebbed());
        assert!(!tide.has_ebbed(), "nothing came since");
    }

    /// What is free between what is not is what the allocator would keep.
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    #[test]
    fn memory_between_what_is_in_use_goes_back() {
        let resident = || {
            let pages = std::fs::read_to_string("/proc/self/statm").unwrap();
            pages.split(' ').nth(1).unwrap().parse::<usize>().unwrap() * 4
        };
        // As large as what the allocator takes from its own, and not from the system.
        let mut blocks: Vec<Vec<u8>> = (0..1024).map(|_| vec![1; 64 << 10]).collect();
        let last = blocks.pop();
        drop(blocks);
        let kept = resident();
        give_back();
        let left = resident();
        assert!(kept > left + (32 << 10), "{kept} kB before, {left} kB behind");
        drop(last);
    }
}
