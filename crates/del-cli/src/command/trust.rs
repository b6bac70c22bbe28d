//! `del trust`: what the user agreed to of what directories bring along.

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::Result;
use clap::Args;
use del_tools::{Cancel, visible};
use serde_json::{Value, json};

use crate::colour::Paint;
use crate::common::Common;
use crate::config::Config;
use crate::consent::Asked;
use crate::exit::Exit;
use crate::input::plain;
use crate::project::{self, Length, Project};
use crate::say;
use crate::table::Table;
use crate::terminal::{self, shown};
use crate::trust::{Said, Trust};

/// Agree to what a directory brings along, or take that back
///
/// A project's settings and hooks (.del/config.toml), MCP servers (.mcp.json), commands and skills (in .del and .claude) do
/// nothing until you have seen them and agreed, here or when `del` asks. The answer is to their content: when a file
/// changes, you are asked again.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// The directory [default: the current one]
    directory: Option<PathBuf>,
    /// Lists what you have agreed to, or not
    #[arg(long, conflicts_with_all = ["directory", "revoke", "yes"])]
    list: bool,
    /// Forgets what you said of the directory's files: they ask again
    #[arg(long, conflicts_with = "yes")]
    revoke: bool,
    /// Agrees without asking
    #[arg(short, long)]
    yes: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(options: &Options, common: &Common) -> Result<Exit> {
    if options.list {
        return list(options.json, common);
    }
    let directory = options.directory.as_deref().unwrap_or(Path::new("."));
    let directory = directory.canonicalize().map_err(|error| {
        Exit::BadInput.because(format!(
            "expected a directory, got {}: {}",
            directory.display(),
            plain(&error)
        ))
    })?;
    if !directory.is_dir() {
        return Err(
            Exit::BadInput.because(format!("expected a directory, got the file {}", directory.display()))
        );
    }
    if options.revoke {
        return revoke(project::root(&directory), options.json);
    }
    let mut project = Project::find(&directory);
    if project.parts.is_empty() {
        project.whole()?;
        let here = directory.display();
        return Err(Exit::Failed.because(format!("{here} brings nothing along that could be trusted")));
    }
    project.complain();
    settle(&mut project, options.yes, common)?;
    if options.json {
        let file = |part| json!({"file": project.name(part), "trusted": part.is_trusted()});
        let files: Value = project.parts.iter().map(file).collect();
        print(&json!({"directory": project.root, "files": files}).to_string())?;
    } else {
        let done = if project.is_trusted() { "trusted" } else { "not trusted" };
        print(&format!("{done}: {}", project.names(|_| true).join(", ")))?;
    }
    Ok(match project.is_whole() {
        _ if !project.is_trusted() => Exit::Untrusted,
        false => Exit::Configuration,
        true => Exit::Done,
    })
}

/// Shows what is not trusted and asks, also about what the user said no to before; without a terminal it ends with what
/// there is to see.
pub(crate) fn settle(project: &mut Project, yes: bool, common: &Common) -> Result<()> {
    if project.is_trusted() {
        return Ok(());
    }
    project.forget_refusals();
    let layers = Config::load()?.layers(common.profile.as_deref())?;
    if yes {
        project.keep(true);
        return Ok(());
    }
    let cancel = Cancel::new();
    let mut asked = Asked::find(false, common.color, &cancel);
    if matches!(asked, Asked::Nobody) {
        say(project.question(&layers, Length::Whole, |part| !part.is_trusted()));
        return Err(Exit::Untrusted.because("there is no terminal to ask on"));
    }
    project.ask(&layers, &mut asked, &cancel);
    if cancel.is_cancelled() { Err(Exit::Interrupted.because("interrupted")) } else { Ok(()) }
}

fn revoke(root: &Path, json: bool) -> Result<Exit> {
    let revoked = match Trust::find() {
        Some(trust) => trust.revoke(root).map_err(|error| Exit::Failed.because(plain(&error)))?,
        None => Vec::new(),
    };
    if json {
        print(&json!({"directory": root, "revoked": revoked}).to_string())?;
    } else if revoked.is_empty() {
        print(&format!("nothing was said of files in {}", root.display()))?;
    } else {
        for path in revoked {
            print(&format!("asks again: {}", path.display()))?;
        }
    }
    Ok(Exit::Done)
}

fn list(json: bool, common: &Common) -> Result<Exit> {
    let all = Trust::find().map(|trust| trust.all()).unwrap_or_default();
    if json {
        let list: Value =
            all.iter().map(|(path, said)| json!({"file": path, "state": state(path, said)})).collect();
        print(&format!("{list:#}"))?;
        return Ok(Exit::Done);
    }
    if all.is_empty() {
        say("you have not been asked about any file yet");
        return Ok(Exit::Done);
    }
    let mut table = Table::new(&["FILE", "STATE"]);
    for (path, said) in &all {
        let shown = visible(&path.display().to_string()).into_owned();
        table.row(vec![shown, state(path, said).to_owned()]);
    }
    let text = table.text(Paint::stdout(common.color), terminal::stdout_width());
    std::io::stdout().lock().write_all(text.as_bytes())?;
    Ok(Exit::Done)
}

/// What holds of a file now.
fn state(path: &Path, said: &Said) -> &'static str {
    match std::fs::read(path) {
        Err(_) => "gone",
        Ok(content) if !said.is_of(&content) => "changed",
        Ok(_) if said.trusted => "trusted",
        Ok(_) => "refused",
    }
}

fn print(text: &str) -> Result<()> {
    Ok(writeln!(std::io::stdout().lock(), "{}", shown(text))?)
}
