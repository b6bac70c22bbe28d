//! The command line, as clap reads it.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

use crate::colour::When;
use crate::command::{completions, dialects, exec, models, parse, render, task, tools};
use crate::session::SessionOptions;

/// Makes any language model call tools, and works with it at the terminal.
#[derive(Debug, Parser)]
#[command(name = "del", version, args_conflicts_with_subcommands = true)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) common: Common,
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
    #[command(flatten)]
    pub(crate) assistant: Assistant,
}

/// The assistant itself: interactive, or with -p for one task.
#[derive(Debug, Args)]
pub(crate) struct Assistant {
    /// Does one task and ends; what is piped in is added to the prompt
    #[arg(short, long, value_name = "PROMPT", num_args = 0..=1, default_missing_value = "")]
    pub(crate) print: Option<String>,
    /// What standard output carries with -p
    #[arg(long, value_enum, value_name = "FORMAT", default_value = "text", requires = "print")]
    pub(crate) output_format: task::Format,
    #[command(flatten)]
    pub(crate) session: SessionOptions,
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
    Models(models::Options),
    Completions(completions::Options),
}
