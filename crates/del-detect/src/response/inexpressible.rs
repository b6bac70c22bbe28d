//! What no response template can say.

use std::fmt;

/// Why a dialect has no response template.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Inexpressible {
    reason: &'static str,
}

impl fmt::Display for Inexpressible {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "expected a dialect that a response template can say, got one in which {}", self.reason)
    }
}

impl std::error::Error for Inexpressible {}

pub(super) fn because<T>(reason: &'static str) -> Result<T, Inexpressible> {
    Err(Inexpressible { reason })
}
