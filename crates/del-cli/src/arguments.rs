//! The command line, as clap reads it.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

use crate::colour::When;
use crate::command::{completions, dialects, exec, parse, render, tools};

/// Makes any language model call tools, and works with it at the terminal.
#[derive(Debug, Parser)]
#[command(name = "del", version, max_term_width = 100)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) common: Common,
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
}

/// What every command takes.
#[derive(Debug, Clone, Args)]
pub(crate) struct Common {
    /// When to colour output
    #[arg(long, value_enum, value_name = "WHEN", default_value = "auto", global = true)]
    pub(crate) color: When,
    /// Adds the dialects in DIR (NAME.toml or NAME/dialect.toml) to the built-in ones
    #[arg(long, value_name = "DIR", global = true)]
    pub(crate) dialect_dir: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Parse(parse::Options),
    Exec(exec::Options),
    Render(render::Options),
    Dialects(dialects::Options),
    Tools(tools::Options),
    Completions(completions::Options),
}
