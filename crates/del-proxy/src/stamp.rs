//! What an answer is marked with: an id.

use std::hash::{BuildHasher, Hasher, RandomState};

/// The id of the response that has this one inside.
pub(crate) fn response_id(id: &str) -> String {
    format!("resp_{id}")
}

/// An id that nothing else has: sixteen hexadecimal digits. Every request has one.
pub(crate) fn unique() -> String {
    const DIGITS: [u8; 16] = *b"0123456789abcdef";
    let number = RandomState::new().build_hasher().finish();
    (0..u64::BITS / 4).map(|digit| char::from(DIGITS[(number >> (4 * digit) & 15) as usize])).collect()
}
