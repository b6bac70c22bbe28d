//! What the proxy makes of answers, without a network: every case of every dialect, however the server cuts it.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on should stop")]

mod apis;
mod broken;
mod cases;
mod citations;
mod client;
mod cuts;
mod halves;
mod nulls;
mod numbers;
mod paragraphs;
mod streams;
