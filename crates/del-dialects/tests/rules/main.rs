//! The thirteen rules of parsing: one test or a few for each, and each fails when its rule is broken.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

#[path = "../reading/mod.rs"]
mod reading;

mod calls;
mod foreign;
mod stream;
mod text;
mod work;

use del_dialects::{FaultKind, Span};
use reading::Merged;

/// The kinds of the faults among events.
fn faults(events: &[(Merged, Span)]) -> Vec<FaultKind> {
    events
        .iter()
        .filter_map(|(event, _)| if let Merged::Fault(fault) = event { Some(fault.kind) } else { None })
        .collect()
}
