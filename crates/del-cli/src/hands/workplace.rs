//! Where tools work, how commands are confined, and what asks, as options have it.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use del_tools::{Approval, Confinement, Gate, Need, Rule, Toolbox, Toolset, WorkspaceError};

use crate::config::blame;
use crate::exit::Exit;
use crate::hands::DELEGATE;
use crate::todo;

/// Where tools work, and which.
#[derive(Debug, Clone, Args)]
pub(crate) struct Workplace {
    /// Where tools work [default: the current directory]
    #[arg(long, value_name = "DIR")]
    working_dir: Option<PathBuf>,
    /// Lets tools work in DIR as well; may be given again
    #[arg(long, value_name = "DIR")]
    allow_dir: Vec<PathBuf>,
    #[command(flatten)]
    confining: Confining,
    /// Only these tools, with commas between them; those of an MCP server as `mcp__SERVER__*`; `none` for words alone
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    tools: Vec<String>,
}

/// How commands are confined.
#[derive(Debug, Clone, Args)]
pub(crate) struct Confining {
    /// How far the kernel confines commands
    #[arg(long, value_enum, value_name = "WHEN", default_value = "auto")]
    sandbox: SandboxOption,
    /// Lets commands in the sandbox use the network, and sockets of any kind
    #[arg(long)]
    allow_network: bool,
    /// Keeps commands in the sandbox from reading keys, credentials and browsers' data in your home directory
    #[arg(long)]
    hide_secrets: bool,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum SandboxOption {
    /// As far as it can; where it cannot keep commands from writing, each one asks
    Auto,
    /// Wholly, or nothing runs
    On,
    /// By the program bwrap, or nothing runs
    Bwrap,
    /// Not at all
    Off,
}

/// What is done without asking.
#[derive(Debug, Clone, Args)]
pub(crate) struct Consenting {
    /// What is done without asking
    #[arg(long, value_enum, value_name = "MODE", default_value = "ask")]
    approval_mode: ApprovalMode,
    /// Asks nothing: the same as --approval-mode yolo
    #[arg(long = "unsafe", visible_alias = "yolo", conflicts_with = "approval_mode")]
    no_questions: bool,
    /// Runs calls that fit RULE without asking: `TOOL`, `TOOL(PATTERN)`, `run_command(START:*)`
    #[arg(long, value_name = "RULE", value_parser = Rule::parse)]
    allow_tool: Vec<Rule>,
    /// Never runs calls that fit RULE
    #[arg(long, value_name = "RULE", value_parser = Rule::parse)]
    deny_tool: Vec<Rule>,
    /// Rules of the configuration file, whose calls run without asking
    #[arg(long, value_name = "RULE", value_parser = Rule::parse, hide = true)]
    configured_allow_tool: Vec<Rule>,
    /// Rules of the configuration file, whose calls never run
    #[arg(long, value_name = "RULE", value_parser = Rule::parse, hide = true)]
    configured_deny_tool: Vec<Rule>,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum ApprovalMode {
    /// Everything but reading asks
    Ask,
    /// Changing files in the working directory does not ask
    AutoEdit,
    /// Nothing asks
    Yolo,
    /// Nothing but reading is done
    Plan,
}

impl Workplace {
    fn given(&self) -> &Path {
        self.working_dir.as_deref().unwrap_or(Path::new("."))
    }

    /// The working directory, absolute and without links.
    pub(crate) fn directory(&self) -> anyhow::Result<PathBuf> {
        let path = self.given();
        path.canonicalize()
            .map_err(|source| configuration(&WorkspaceError::Open { path: path.to_owned(), source }))
    }

    /// The tools over the working directory.
    pub(super) fn open(&self, toolset: Toolset) -> anyhow::Result<Toolbox> {
        let directory = self.given();
        let mut toolbox = open(directory, &self.allow_dir, toolset)?;
        let elsewhere = [DELEGATE, todo::NAME];
        let none = self.has_none();
        let own = |name: &&str| !name.starts_with("mcp__") && !elsewhere.contains(name) && !none;
        let names: Vec<&str> = self.tools.iter().map(|name| name.trim()).filter(own).collect();
        if !self.tools.is_empty() {
            toolbox.restrict(&names).map_err(|error| Exit::Usage.because(error.to_string()))?;
        }
        if let Some(web) = crate::web::service()? {
            toolbox.search_with(web);
        }
        toolbox
            .confine(&self.confining.confinement())
            .map_err(|error| Exit::Sandbox.because(error.to_string()))?;
        Ok(toolbox)
    }

    /// Tools work in `directory`, and in `more` as well.
    pub(crate) fn lie_in(&mut self, directory: &Path, more: &[PathBuf]) {
        self.working_dir = Some(directory.to_owned());
        self.allow_dir.extend_from_slice(more);
    }

    /// The tools over the working directory, and the gate in front of them, for another host.
    pub(crate) fn open_with(
        &self,
        toolset: Toolset,
        consenting: &Consenting,
    ) -> anyhow::Result<(Toolbox, Gate)> {
        let (mut toolbox, gate) = (self.open(toolset)?, consenting.gate());
        toolbox.withhold(&gate);
        Ok((toolbox, gate))
    }

    /// The model is to have no tools at all.
    pub(crate) fn has_none(&self) -> bool {
        matches!(self.tools.as_slice(), [only] if only.trim() == "none")
    }

    /// Whether a tool of an MCP server is wanted.
    pub(crate) fn wants(&self, tool: &str) -> bool {
        self.tools.is_empty()
            || self.tools.iter().map(|name| name.trim()).any(|name| match name.strip_suffix('*') {
                Some(start) => tool.starts_with(start),
                None => tool == name,
            })
    }
}

impl Confining {
    pub(crate) fn confinement(&self) -> Confinement {
        let need = match self.sandbox {
            SandboxOption::Auto => Need::Auto,
            SandboxOption::On => Need::On,
            SandboxOption::Bwrap => Need::Bwrap,
            SandboxOption::Off => Need::Off,
        };
        Confinement {
            need,
            network: self.allow_network,
            hide_secrets: self.hide_secrets,
            launches: true,
            ..Confinement::default()
        }
    }
}

impl Consenting {
    /// The gate that these options make.
    pub(crate) fn gate(&self) -> Gate {
        let mut gate = Gate::new(if self.no_questions {
            Approval::Yolo
        } else {
            match self.approval_mode {
                ApprovalMode::Ask => Approval::Ask,
                ApprovalMode::AutoEdit => Approval::AutoEdit,
                ApprovalMode::Yolo => Approval::Yolo,
                ApprovalMode::Plan => Approval::Plan,
            }
        });
        // Rules of the file and of the command line add up.
        self.configured_allow_tool.iter().chain(&self.allow_tool).cloned().for_each(|rule| gate.allow(rule));
        self.configured_deny_tool.iter().chain(&self.deny_tool).cloned().for_each(|rule| gate.deny(rule));
        gate
    }
}

/// The tools over a directory and those beside it.
pub(crate) fn open(directory: &Path, beside: &[PathBuf], toolset: Toolset) -> anyhow::Result<Toolbox> {
    Toolbox::open(directory, beside, toolset).map_err(|error| match &error {
        WorkspaceError::Open { path, .. } if beside.contains(path) => {
            blame("allow_dir", &path.to_string_lossy(), configuration(&error))
        }
        _ => configuration(&error),
    })
}

fn configuration(error: &WorkspaceError) -> anyhow::Error {
    Exit::Configuration.because(error.to_string())
}
