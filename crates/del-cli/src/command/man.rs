//! `del man`: the manual.

use std::io::Write;
use std::path::PathBuf;

use anyhow::Result;
use clap::Args;
use clap_mangen::Man;

use crate::exit::Exit;
use crate::input::plain;

/// Print the manual page of del, or of one of its commands
///
/// `del man | man -l -` shows it. With --dir, the pages of all commands are written, for a package or for
/// `~/.local/share/man/man1`.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// The command, such as `sessions` or `mcp serve`
    #[arg(conflicts_with = "dir")]
    command: Vec<String>,
    /// Writes the pages of all commands into DIR
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
}

pub(crate) fn run(options: &Options, mut program: clap::Command) -> Result<Exit> {
    if let Some(folder) = &options.dir {
        let program = without_help(program);
        let written =
            std::fs::create_dir_all(folder).and_then(|()| clap_mangen::generate_to(program, folder));
        written.map_err(|error| {
            Exit::Failed.because(format!("cannot write into {}: {}", folder.display(), plain(&error)))
        })?;
        return Ok(Exit::Done);
    }
    // Names of commands get the names of those before them.
    program.build();
    let mut command = &program;
    for name in &options.command {
        command = command.find_subcommand(name).ok_or_else(|| {
            let names: Vec<&str> = command.get_subcommands().map(clap::Command::get_name).collect();
            Exit::Usage.because(format!("expected one of {}; got `{name}`", names.join(", ")))
        })?;
    }
    let mut page = Vec::new();
    Man::new(command.clone()).render(&mut page)?;
    std::io::stdout().lock().write_all(&page)?;
    Ok(Exit::Done)
}

/// To the parser of arguments, `help` before another command is one too: a page of it would have nothing but its name.
fn without_help(command: clap::Command) -> clap::Command {
    command.disable_help_subcommand(true).mut_subcommands(without_help)
}
