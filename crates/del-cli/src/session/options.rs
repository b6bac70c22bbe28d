//! What a conversation is set to, as options have it.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::{Args, ValueEnum};
use del_agent::{Constrain, ToolsMode};
use del_mcp::Server;
use del_tools::Toolset;

use crate::hands::{Consenting, Workplace};
use crate::hooks::Hook;
use crate::keeping::Keeping;
use crate::project::{Follow, Project};
use crate::prompts::Prompt;
use crate::server::taught::TemplateOptions;
use crate::server::{ModelOptions, ServerOptions};
use crate::servers::ServerTools;

/// What a conversation is set to.
#[derive(Debug, Clone, Args)]
pub(crate) struct SessionOptions {
    #[command(flatten)]
    pub(crate) server: ServerOptions,
    #[command(flatten)]
    pub(crate) model: ModelOptions,
    /// Another program works with this one: nobody sits at the terminal.
    #[arg(skip)]
    pub(super) hosted: bool,
    #[command(flatten)]
    pub(super) keeping: Keeping,
    /// The dialect of the model's calls, or `auto`: written in the model's own, read in all [default: auto, or that of
    /// the session that goes on]
    #[arg(long, value_name = "NAME")]
    pub(super) dialect: Option<String>,
    /// How the model learns of the tools
    #[arg(long, value_enum, value_name = "MODE", default_value = "auto")]
    pub(super) tools_mode: ToolsModeOption,
    /// Holds calls to a grammar (llama.cpp, tools in the prompt): auto once one begins, on from the start until there is a result
    #[arg(long, value_enum, value_name = "WHEN", default_value = "auto")]
    pub(super) constrain: ConstrainOption,
    #[command(flatten)]
    pub(super) template: TemplateOptions,
    /// The set of tools: core, del or all
    #[arg(long, value_name = "SET", default_value = "core")]
    pub(super) toolset: Toolset,
    #[command(flatten)]
    pub(super) workplace: Workplace,
    #[command(flatten)]
    pub(super) consenting: Consenting,
    #[command(flatten)]
    pub(super) servers: ServerTools,
    /// Whether to follow what the directory brings along (.del, .mcp.json) and you trust
    #[arg(long = "project", value_enum, value_name = "WHEN", default_value = "auto")]
    follow: Follow,
    /// What of it is followed
    #[arg(skip)]
    pub(crate) project: Arc<Project>,
    /// Commands that are told what happens
    #[arg(skip)]
    pub(crate) hooks: Vec<Hook>,
    /// Commands and skills in files.
    #[arg(skip)]
    pub(crate) prompts: Arc<[Prompt]>,
    /// How many requests one question may cost [default: 25, or 50 in a conversation]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(super) max_turns: Option<u32>,
    /// Takes answers whole, and not as they are written
    #[arg(short = 'S', long)]
    pub(crate) no_stream: bool,
    /// Tells the model this, in place of Del's own instructions
    #[arg(long, value_name = "TEXT")]
    pub(super) system: Option<String>,
    /// Tells the model this as well, behind all other instructions
    #[arg(long, value_name = "TEXT")]
    pub(super) append_system: Option<String>,
    /// Shows the model's raw text, and which dialect matched where
    #[arg(long)]
    pub(crate) debug: bool,
    /// Does not show the model's thinking
    #[arg(long)]
    pub(crate) hide_reasoning: bool,
}

impl SessionOptions {
    /// What is told behind all other instructions.
    pub(super) fn appended(&self) -> &str {
        self.append_system.as_deref().unwrap_or_default()
    }

    /// Whether a conversation was asked for that goes on.
    pub(crate) fn goes_on(&self) -> bool {
        self.keeping.goes_on()
    }

    /// The same for a program that works in `directory` and `more`, and brings MCP servers.
    pub(crate) fn for_a_host(mut self, directory: &Path, more: &[PathBuf], servers: Vec<Server>) -> Self {
        self.hosted = true;
        self.workplace.lie_in(directory, more);
        self.servers.bring(servers);
        self
    }
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum ToolsModeOption {
    /// Native, until it shows that the server or the model cannot; then prompt
    Auto,
    /// Through the API
    Native,
    /// In the system prompt, in the dialect
    Prompt,
    /// First the names, then the definitions that the model asks for: for dozens of tools
    Hybrid,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum ConstrainOption {
    Auto,
    On,
    Off,
}

impl From<ToolsModeOption> for ToolsMode {
    fn from(option: ToolsModeOption) -> Self {
        match option {
            ToolsModeOption::Auto => Self::Auto,
            ToolsModeOption::Native => Self::Native,
            ToolsModeOption::Prompt => Self::Prompt,
            ToolsModeOption::Hybrid => Self::Hybrid,
        }
    }
}

impl From<ConstrainOption> for Constrain {
    fn from(option: ConstrainOption) -> Self {
        match option {
            ConstrainOption::Auto => Self::Auto,
            ConstrainOption::On => Self::On,
            ConstrainOption::Off => Self::Off,
        }
    }
}
