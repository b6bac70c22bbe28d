//! Whole conversations with a scripted server.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on should stop")]

mod compaction;
mod conversations;
mod disorder;
mod hybrid;
mod script;
mod trouble;
