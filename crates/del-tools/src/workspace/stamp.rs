//! How a file was when it was looked at, to tell later whether it still is so.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::time::SystemTime;

use cap_std::fs::Metadata;

use super::attributes;

/// How a file was when it was looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stamp {
    len: u64,
    modified: Option<SystemTime>,
    identity: (u64, u64),
    /// Of the content, if all of it was read.
    hash: Option<u64>,
}

impl Stamp {
    /// The stamp of a file whose content, if given, was read whole.
    pub(crate) fn of(metadata: &Metadata, content: Option<&[u8]>) -> Self {
        let modified = metadata.modified().ok().map(cap_std::time::SystemTime::into_std);
        Self {
            len: metadata.len(),
            modified,
            identity: attributes::identity(metadata),
            hash: content.map(hash),
        }
    }

    /// Whether a file with the stamp `now` still has the content that `self` was made of.
    pub(crate) fn holds(&self, now: &Self) -> bool {
        let untouched = (self.len, self.modified, self.identity) == (now.len, now.modified, now.identity);
        untouched || (self.len == now.len && self.hash.is_some() && self.hash == now.hash)
    }
}

fn hash(content: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    content.hash(&mut hasher);
    hasher.finish()
}
