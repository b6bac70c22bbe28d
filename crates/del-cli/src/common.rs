//! What every command takes.

use std::path::PathBuf;

use clap::Args;

use crate::colour::When;

/// What every command takes.
#[derive(Debug, Clone, Args)]
pub(crate) struct Common {
    /// When to colour output
    #[arg(long, value_enum, value_name = "WHEN", default_value = "auto", global = true)]
    pub(crate) color: When,
    /// Adds the dialects in DIR (NAME.toml or NAME/dialect.toml) to the built-in ones
    #[arg(long, value_name = "DIR", global = true)]
    pub(crate) dialect_dir: Option<PathBuf>,
    /// Takes the values of [profiles.NAME] in the configuration file
    #[arg(long, value_name = "NAME", global = true)]
    pub(crate) profile: Option<String>,
}
