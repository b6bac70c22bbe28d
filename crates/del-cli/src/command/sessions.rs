//! `del sessions`: conversations that were kept.

mod written;

pub(crate) use written::markdown;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use anyhow::Result;
use clap::{Args, Subcommand, ValueEnum};
use del_tools::{counted, visible};
use serde_json::{Value, json};

use crate::age::ago;
use crate::colour::Paint;
use crate::common::Common;
use crate::exit::Exit;
use crate::input::plain;
use crate::keeping::refused;
use crate::record::{Kept, Store, Summary, Trouble};
use crate::say;
use crate::table::Table;
use crate::terminal::{self, shown};

/// List, show, export and remove conversations that were kept
///
/// They lie in `~/.local/state/del/sessions` (`$XDG_STATE_HOME`), for you alone to read. `del -c` goes on with the last one in
/// a directory, `del -r ID` with any; --no-session keeps none. An id may be cut where no other begins so.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Options {
    #[command(subcommand)]
    action: Option<Action>,
    #[command(flatten)]
    listed: Listed,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// List those of a directory, the latest first
    List(Listed),
    /// Show one as it was
    Show {
        /// Its id, or the beginning
        id: String,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Write one for other programs or people
    Export {
        /// Its id, or the beginning
        id: String,
        /// The form
        #[arg(long, value_enum, value_name = "FORM", default_value = "markdown")]
        format: Form,
        /// Where to write it [default: standard output]
        #[arg(short, long, value_name = "FILE")]
        output: Option<PathBuf>,
    },
    /// Remove some for good
    Rm {
        /// Their ids, or the beginnings
        #[arg(required_unless_present = "older_than", value_name = "ID")]
        ids: Vec<String>,
        /// All that nothing was added to for so many days, in every directory
        #[arg(long, value_name = "DAYS", conflicts_with = "ids")]
        older_than: Option<u32>,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
}

#[derive(Debug, Args)]
struct Listed {
    /// Those of all directories
    #[arg(long, conflicts_with = "working_dir")]
    all: bool,
    /// The directory that the assistant worked in [default: the current directory]
    #[arg(long, value_name = "DIR")]
    working_dir: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Form {
    Markdown,
    Json,
}

/// Characters of an id in a list.
const SHORT: usize = 8;

pub(crate) fn run(options: &Options, common: &Common) -> Result<Exit> {
    let store = Store::find().ok_or_else(|| Exit::Configuration.because("there is no home directory"))?;
    match &options.action {
        None => list(&store, &options.listed, common),
        Some(Action::List(listed)) => list(&store, listed, common),
        Some(Action::Show { id, json }) => show(&get(&store, id)?, *json, common),
        Some(Action::Export { id, format, output }) => export(&get(&store, id)?, *format, output.as_deref()),
        Some(Action::Rm { ids, older_than, json }) => remove(&store, ids, *older_than, *json),
    }
}

fn list(store: &Store, listed: &Listed, common: &Common) -> Result<Exit> {
    let directory = listed.working_dir.as_deref().unwrap_or(Path::new("."));
    let directory = directory.canonicalize().map_err(|error| {
        Exit::Configuration.because(format!("cannot look at {}: {}", directory.display(), plain(&error)))
    })?;
    let place = (!listed.all).then_some(directory.as_path());
    let found = store.list(place);
    for path in store.damaged(place) {
        say(format!("{} is left out: its beginning is damaged", path.display()));
    }
    let mut out = std::io::stdout().lock();
    if listed.json {
        let rows: Value = found.iter().map(row).collect();
        writeln!(out, "{}", shown(&format!("{rows:#}")))?;
        return Ok(Exit::Done);
    }
    if found.is_empty() {
        say(format!(
            "there are no sessions in {}; --all lists those of all directories",
            directory.display()
        ));
        return Ok(Exit::Done);
    }
    let table = table(&found, listed.all);
    out.write_all(table.text(Paint::stdout(common.color), terminal::stdout_width()).as_bytes())?;
    Ok(Exit::Done)
}

/// A row for each, with its directory where they are of several.
pub(crate) fn table(found: &[Summary], several: bool) -> Table {
    let mut headings = vec!["ID", "WHEN", "MODEL", "TITLE"];
    if several {
        headings.insert(3, "DIRECTORY");
    }
    let mut table = Table::new(&headings);
    for summary in found {
        let id = summary.head.id.chars().take(SHORT).collect();
        let mut cells = vec![id, ago(summary.changed), visible(&summary.model).into_owned()];
        if several {
            cells.push(visible(&summary.head.working_dir.display().to_string()).into_owned());
        }
        cells.push(visible(&summary.title).into_owned());
        table.row(cells);
    }
    table
}

fn row(summary: &Summary) -> Value {
    json!({
        "id": summary.head.id, "working_dir": summary.head.working_dir, "created": summary.head.created,
        "changed": seconds(summary.changed), "model": summary.model, "title": summary.title,
        "bytes": summary.bytes(),
    })
}

fn get(store: &Store, id: &str) -> Result<Kept> {
    let kept = store.get(id).map_err(|trouble| refused(&trouble))?;
    if kept.damaged > 0 {
        say(format!("lines of {} that cannot be read are left out: {}", kept.path().display(), kept.damaged));
    }
    Ok(kept)
}

fn show(kept: &Kept, json: bool, common: &Common) -> Result<Exit> {
    let text = if json {
        shown(&format!("{:#}\n", whole(kept))).into_owned()
    } else {
        written::transcript(kept, Paint::stdout(common.color))
    };
    std::io::stdout().lock().write_all(text.as_bytes())?;
    Ok(Exit::Done)
}

fn export(kept: &Kept, format: Form, output: Option<&Path>) -> Result<Exit> {
    let text = match format {
        Form::Markdown => markdown(kept),
        Form::Json => format!("{:#}\n", whole(kept)),
    };
    match output {
        Some(path) => std::fs::write(path, text).map_err(|error| {
            Exit::Failed.because(format!("cannot write {}: {}", path.display(), plain(&error)))
        })?,
        None => std::io::stdout().lock().write_all(shown(&text).as_bytes())?,
    }
    Ok(Exit::Done)
}

fn whole(kept: &Kept) -> Value {
    json!({
        "id": kept.head.id, "working_dir": kept.head.working_dir, "created": kept.head.created,
        "changed": seconds(kept.changed), "model": kept.set.model, "base_url": kept.set.base_url,
        "dialect": kept.set.dialect, "tools_mode": if kept.set.in_prompt { "prompt" } else { "native" },
        "title": kept.title(), "entries": kept.entries,
    })
}

fn remove(store: &Store, ids: &[String], older_than: Option<u32>, json: bool) -> Result<Exit> {
    let wanted = match older_than {
        Some(days) => {
            let age = Duration::from_secs(u64::from(days) * 24 * 60 * 60);
            let is_old = |summary: &Summary| summary.changed.elapsed().is_ok_and(|elapsed| elapsed >= age);
            store.list(None).into_iter().filter(is_old).map(|summary| summary.head.id).collect()
        }
        None => ids.to_vec(),
    };
    let mut removed = Vec::new();
    for id in &wanted {
        match store.remove(id) {
            Ok(id) => removed.push(id),
            // It is not as old as it was when it was listed.
            Err(Trouble::Busy(_)) if older_than.is_some() => {}
            Err(trouble) => return Err(refused(&trouble)),
        }
    }
    let text = if json {
        format!("{:#}", json!({"removed": removed}))
    } else if let [only] = removed.as_slice() {
        format!("removed {only}")
    } else {
        format!("removed {}", counted(removed.len(), "session"))
    };
    writeln!(std::io::stdout().lock(), "{text}")?;
    Ok(Exit::Done)
}

fn seconds(at: SystemTime) -> u64 {
    at.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_secs()
}
