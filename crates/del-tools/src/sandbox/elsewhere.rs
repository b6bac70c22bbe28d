//! Systems with no sandbox that Del knows.

use std::io;
use std::path::Path;
use std::process::Command;

use super::{Level, Reach, Rights};

/// Nothing is given up.
#[derive(Debug, Default)]
pub(super) struct Hold;

impl Hold {
    pub(super) fn new(_: &Rights<'_>) -> Self {
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

    pub(super) fn filter_bytes(&self) -> Option<Vec<u8>> {
        None
    }

    pub(super) fn apply(&self) -> io::Result<()> {
        Ok(())
    }
}

/// There is no bwrap.
#[derive(Debug)]
pub(super) enum Bubble {}

impl Bubble {
    pub(super) fn new(_: [&Rights<'_>; 3], _: Option<Vec<u8>>) -> Result<Self, String> {
        Err("bwrap is a program of Linux".to_owned())
    }

    pub(super) fn command(&self, _: &Path, _: Reach) -> Command {
        match *self {}
    }
}

/// Sets no limits.
pub(super) fn limit(_: u32) {}
