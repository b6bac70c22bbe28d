//! Whole conversations with a scripted server.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on should stop")]

mod added;
mod compaction;
mod constraint;
mod conversations;
mod disorder;
mod hybrid;
mod limits;
mod script;
mod trouble;
