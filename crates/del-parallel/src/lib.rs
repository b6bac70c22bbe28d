//! Work on several threads, in the two shapes that Del needs it.
//!
//! [`ordered`] maps items that come one after another and gives the results in the order of the items. So many items are
//! under way at most, so memory does not grow with their number, and whoever takes the results can stop the work, or
//! wait for them no longer than to a deadline.
//!
//! ```
//! use del_parallel::ordered;
//!
//! let lengths: Vec<usize> = std::thread::scope(|scope| {
//!     let workers = [str::len, str::len];
//!     let (mut feed, results) = ordered(scope, workers, 8);
//!     for word in ["one", "three", "eleven"] {
//!         feed.give(word);
//!     }
//!     drop(feed); // no more will come
//!     results.collect()
//! });
//! assert_eq!(lengths, [3, 5, 6]);
//! ```
//!
//! [`spread`] does work that finds more work, such as the directories of a tree, in any order.
//!
//! ```
//! use std::ops::ControlFlow;
//! use std::sync::atomic::{AtomicU32, Ordering};
//!
//! use del_parallel::spread;
//!
//! let leaves = AtomicU32::new(0);
//! spread(2, [4], |depth, more| {
//!     if depth == 0 {
//!         leaves.fetch_add(1, Ordering::Relaxed);
//!     } else {
//!         more.extend([depth - 1, depth - 1]);
//!     }
//!     ControlFlow::Continue(())
//! });
//! assert_eq!(leaves.into_inner(), 16);
//! ```
//!
//! Threads are those of a scope, so work may borrow. A worker that panics ends the work, and the scope passes its panic on.
//!
//! # Why no library
//!
//! Rayon's pool has no ordered results in bounded memory from a source that blocks, and channels alone cannot end the
//! workers while the thread that feeds them waits for input.
#![forbid(unsafe_code)]

mod ordered;
mod spread;

use std::num::NonZero;
use std::thread;

pub use ordered::{Feed, Results, ordered};
pub use spread::spread;

/// How many threads to use: one for each core, and `most` at most.
pub fn threads(most: usize) -> usize {
    thread::available_parallelism().map_or(1, NonZero::get).min(most).max(1)
}
