//! `del policy`: what safe mode would do.

mod records;

use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use anyhow::Result;
use clap::{Args, Subcommand};
use del_judge::{Ground, Judge};
use del_tools::{Gate, Level, Verdict, visible};
use serde_json::{Value, json};

use crate::colour::Paint;
use crate::common::Common;
use crate::exit::Exit;
use crate::hands::{Confining, Consenting};
use crate::input::Input;
use crate::terminal::shown;

/// Say what safe mode would do, without doing it
#[derive(Debug, Args)]
pub(crate) struct Options {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// What would be done with a shell command, and why; nothing is run
    Check(CheckOptions),
}

#[derive(Debug, Args)]
struct CheckOptions {
    /// The command as one word; without it, or with `-`, standard input
    command: Option<String>,
    /// Where the command would run, and what it may look into [default: the current directory]
    #[arg(long, value_name = "DIR")]
    working_dir: Option<PathBuf>,
    /// Lets the command look into DIR as well; may be given again
    #[arg(long, value_name = "DIR")]
    allow_dir: Vec<PathBuf>,
    #[command(flatten)]
    confining: Confining,
    #[command(flatten)]
    consenting: Consenting,
    /// Print the verdict as JSON
    #[arg(long)]
    json: bool,
    /// Reads requests, one JSON object on each line, and answers each on a line of its own
    #[arg(long, conflicts_with_all = ["command", "json"])]
    jsonl: bool,
}

/// Judges commands as the assistant would.
struct Checker {
    judge: Judge,
    gate: Gate,
    /// How far commands are confined here.
    level: Level,
    /// The working directory that was named.
    directory: Option<PathBuf>,
    /// What it may look into besides.
    allowed: Vec<PathBuf>,
}

/// A verdict with its reasons, in the words of the interface.
struct Checked {
    verdict: &'static str,
    reasons: Vec<String>,
}

pub(crate) fn run(options: &Options, common: &Common) -> Result<Exit> {
    let Action::Check(options) = &options.action;
    let directory = options.working_dir.clone();
    if let Some(directory) = &directory {
        let metadata = directory.metadata().and_then(|metadata| {
            if metadata.is_dir() { Ok(()) } else { Err(ErrorKind::NotADirectory.into()) }
        });
        metadata.map_err(|error| {
            let reason = crate::input::plain(&error);
            Exit::Configuration.because(format!("cannot work in {}: {reason}", directory.display()))
        })?;
    }
    let level = options.confining.confinement().level();
    let level = level.map_err(|error| Exit::Sandbox.because(error.to_string()))?;
    let allowed = options.allow_dir.clone();
    let checker =
        Checker { judge: Judge::default(), gate: options.consenting.gate(), level, directory, allowed };
    if options.jsonl {
        return records::run(&checker, Input::open(None)?);
    }
    let command = match options.command.as_deref() {
        Some(command) if command != "-" => command.to_owned(),
        _ => Input::open(None)?.text()?,
    };
    let checked = checker.check(&command, &checker.ground());
    let mut out = std::io::stdout().lock();
    if options.json {
        writeln!(out, "{}", shown(&format!("{:#}", checked.json())))?;
        return Ok(Exit::Done);
    }
    let paint = Paint::stdout(common.color);
    let verdict = match checked.verdict {
        "safe" => paint.green(checked.verdict),
        "ask" => paint.yellow(checked.verdict),
        _ => paint.red(checked.verdict),
    };
    writeln!(out, "{verdict}")?;
    for reason in &checked.reasons {
        writeln!(out, "  {}", visible(reason))?;
    }
    Ok(Exit::Done)
}

impl Checker {
    fn ground(&self) -> Ground {
        self.over(self.directory.as_deref().unwrap_or(Path::new(".")))
    }

    fn over(&self, root: &Path) -> Ground {
        self.gate.kept_from(Ground::new(root).and(&self.allowed))
    }

    /// Checks a command that would stand in `directory`. Where a working directory was named, that has to hold it.
    fn check_in(&self, command: &str, directory: &str) -> Checked {
        let ground = match &self.directory {
            None => Some(self.over(Path::new(directory))),
            Some(root) => self.ground().at(&root.join(directory)),
        };
        ground.map_or_else(
            || Checked {
                verdict: "ask",
                reasons: vec![format!("{directory} is no directory in the working directory")],
            },
            |ground| self.check(command, &ground),
        )
    }
    fn check(&self, command: &str, ground: &Ground) -> Checked {
        let judgement = self.judge.judge(command, ground);
        let safe = judgement.verdict == del_judge::Verdict::Safe;
        let refused = judgement.verdict == del_judge::Verdict::Refuse;
        match self.gate.command_verdict(command, &judgement, self.level) {
            Verdict::Run if safe => Checked { verdict: "safe", reasons: judgement.reasons },
            Verdict::Run => {
                let mut reasons = vec!["a rule or the approval mode lets it run".to_owned()];
                reasons.extend(judgement.reasons);
                Checked { verdict: "safe", reasons }
            }
            Verdict::Ask if safe => {
                let mut reasons = vec![UNCONFINED.to_owned()];
                reasons.extend(judgement.reasons);
                Checked { verdict: "ask", reasons }
            }
            Verdict::Ask => Checked { verdict: "ask", reasons: judgement.reasons },
            Verdict::Deny(_) if refused => Checked { verdict: "refuse", reasons: judgement.reasons },
            Verdict::Deny(failure) => Checked { verdict: "refuse", reasons: vec![failure.to_string()] },
        }
    }
}

/// Why a command asks that only reads.
const UNCONFINED: &str = "this system cannot keep commands from writing, so each one asks";

impl Checked {
    fn json(&self) -> Value {
        json!({"verdict": self.verdict, "reasons": self.reasons})
    }
}
