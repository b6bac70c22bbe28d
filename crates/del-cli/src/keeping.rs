//! Whether a conversation is kept, and which one goes on.

use std::io::{IsTerminal, Write};
use std::path::Path;

use anyhow::Result;
use clap::Args;
use del_tools::visible;

use crate::age::ago;
use crate::colour::When;
use crate::consent;
use crate::exit::Exit;
use crate::record::{Kept, Record, Store, Summary, Trouble};
use crate::say;
use crate::screen::look::{self, Look};
use crate::screen::picker;
use crate::table::cut;
use crate::terminal;

/// Which conversation goes on, and whether it is kept.
#[derive(Debug, Clone, Args)]
pub(crate) struct Keeping {
    /// Goes on with the last conversation in this directory
    #[arg(short = 'c', long = "continue", conflicts_with = "resume")]
    goes_on: bool,
    /// Goes on with the conversation whose id begins so, or with one that you pick
    #[arg(short, long, value_name = "ID", num_args = 0..=1, default_missing_value = "")]
    resume: Option<String>,
    /// Does not keep the conversation
    #[arg(long)]
    no_session: bool,
}

/// Conversations that are offered.
const OFFERED: usize = 20;

impl Keeping {
    /// Whether a conversation was asked for that goes on.
    pub(crate) fn goes_on(&self) -> bool {
        self.goes_on || self.resume.is_some()
    }

    /// The record of a conversation in `directory`, and what it goes on with.
    pub(crate) fn begin(&self, directory: &Path) -> Result<(Record, Option<Kept>)> {
        let store = Store::find();
        let Some(id) = self.wanted(store.as_ref(), directory)? else {
            return Ok((Record::new(store.filter(|_| !self.no_session), directory), None));
        };
        let store = store.ok_or_else(|| Exit::Configuration.because("there is no home directory"))?;
        let (kept, record) = store.take_up(&id).map_err(|trouble| refused(&trouble))?;
        if kept.damaged > 0 {
            say(format!("lines of this session that cannot be read are left out: {}", kept.damaged));
        }
        if kept.head.working_dir != directory {
            let there = kept.head.working_dir.display();
            say(format!("the session was in {there}; tools work in {} now", directory.display()));
        }
        let record = if self.no_session { Record::new(None, directory) } else { record };
        Ok((record, Some(kept)))
    }

    /// The id of the conversation that is to go on.
    fn wanted(&self, store: Option<&Store>, directory: &Path) -> Result<Option<String>> {
        let none = || {
            let directory = directory.display();
            Exit::Failed.because(format!(
                "there is no session in {directory}; `del sessions list --all` lists others"
            ))
        };
        match &self.resume {
            None if !self.goes_on => Ok(None),
            None => Ok(Some(store.and_then(|store| store.last(directory)).ok_or_else(none)?.head.id)),
            Some(id) if !id.is_empty() => Ok(Some(id.clone())),
            Some(_) if !std::io::stdin().is_terminal() => Err(Exit::Usage
                .because("expected the id of a session behind --resume; `del sessions list` lists them")),
            Some(_) => {
                let mut offered = store.map(|store| store.list(Some(directory))).unwrap_or_default();
                offered.truncate(OFFERED);
                if offered.is_empty() {
                    return Err(none());
                }
                let rows: Vec<String> = offered.iter().map(row).collect();
                let picked =
                    pick(&rows, 0)?.ok_or_else(|| Exit::Interrupted.because("no session was picked"))?;
                Ok(Some(offered.swap_remove(picked).head.id))
            }
        }
    }
}

/// How a run ends that cannot take a session up.
pub(crate) fn refused(trouble: &Trouble) -> anyhow::Error {
    let exit = match trouble {
        Trouble::Unknown(_) | Trouble::Unclear(_) => Exit::Usage,
        Trouble::Busy(_) | Trouble::File { .. } => Exit::Failed,
    };
    exit.because(trouble.to_string())
}

/// What a list of conversations that one is picked from says of one.
pub(crate) fn row(summary: &Summary) -> String {
    format!("{:<11} {}", ago(summary.changed), summary.title)
}

/// Has the person at the terminal pick one of these rows, `now` being marked first; nothing when they want none.
pub(crate) fn pick(rows: &[String], now: usize) -> Result<Option<usize>> {
    if look::redraws() {
        return Ok(picker::pick(rows, now, Look::find(When::Auto))?);
    }
    let mut stderr = std::io::stderr().lock();
    for (place, row) in rows.iter().enumerate() {
        let line = format!("{:>3}  {}", place + 1, visible(row));
        writeln!(stderr, "{}", cut(&line, terminal::width().saturating_sub(1)))?;
    }
    loop {
        let prompt = format!("Which one? [1-{}, nothing for none]", rows.len());
        let line = consent::line(&prompt)?.unwrap_or_default();
        match line.trim().parse::<usize>() {
            _ if line.trim().is_empty() => return Ok(None),
            Ok(number) if (1..=rows.len()).contains(&number) => return Ok(Some(number - 1)),
            _ => {
                writeln!(stderr, "expected a number from 1 to {}, got {}", rows.len(), visible(line.trim()))?;
            }
        }
    }
}
