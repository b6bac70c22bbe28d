//! Systems with no sandbox that Del knows.

use std::io;
use std::path::PathBuf;

use super::Level;

/// Nothing is given up.
#[derive(Debug, Default)]
pub(super) struct Hold;

impl Hold {
    pub(super) fn new(_: &[PathBuf], _: bool) -> Self {
        Self
    }

    pub(super) fn level(&self) -> Level {
        Level::None
    }

    pub(super) fn filters(&self) -> bool {
        false
    }

    pub(super) fn names(&self) -> String {
        "only Linux has a sandbox that Del knows".to_owned()
    }

    pub(super) fn apply(&self) -> io::Result<()> {
        Ok(())
    }
}

/// Sets no limits.
pub(super) fn limit(_: u32) {}
