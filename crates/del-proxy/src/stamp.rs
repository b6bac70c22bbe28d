//! What an answer is marked with: an id.

use std::hash::{BuildHasher, Hasher, RandomState};

/// The id of the response that has this one inside.
pub(crate) fn response_id(id: &str) -> String {
    format!("resp_{id}")
}

/// An id that nothing else has: sixteen hexadecimal digits. Every request has one.
pub(crate) fn unique() -> String {
    format!("{:016x}", RandomState::new().build_hasher().finish())
}
