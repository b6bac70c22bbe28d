//! `del completions`: a script for the shell.

use std::io::Write;

use anyhow::Result;
use clap::Args;
use clap_complete::Shell;

use crate::exit::Exit;

/// Print the completions for a shell
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// The shell
    shell: Shell,
}

pub(crate) fn run(options: &Options, mut program: clap::Command) -> Result<Exit> {
    // Into memory first: the generator panics when its output is closed.
    let mut script = Vec::new();
    clap_complete::generate(options.shell, &mut program, "del", &mut script);
    std::io::stdout().write_all(&script)?;
    Ok(Exit::Done)
}
