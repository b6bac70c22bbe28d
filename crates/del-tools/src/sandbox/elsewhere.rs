//! Systems with no sandbox that Del knows.

use std::fs::File;
use std::io;
use std::path::Path;
use std::process::{Command, ExitCode};

use super::{Level, Reach, Rights};

/// Nothing is given up.
#[derive(Debug, Default)]
pub(super) struct Hold;

impl Hold {
    pub(super) fn new(_: &Rights<'_>) -> Self {
        Self
    }

    pub(super) fn with(&self, _: &Rights<'_>) -> Option<Self> {
        None
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

    pub(super) fn keeps_modes(&self) -> bool {
        false
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

/// There is no view of the file system that only a command has.
#[derive(Debug)]
pub(super) enum Launcher {}

impl Launcher {
    pub(super) fn new(_: &Rights<'_>) -> Option<Self> {
        None
    }

    pub(super) fn command(&self, _: Option<&Path>) -> Command {
        match *self {}
    }
}

/// No process is started to become a confined command.
pub(super) fn launch() -> Option<ExitCode> {
    None
}

/// Files without a name that nobody can change are made by Linux.
pub(super) fn sealed(_: &[u8]) -> io::Result<File> {
    Err(io::ErrorKind::Unsupported.into())
}
