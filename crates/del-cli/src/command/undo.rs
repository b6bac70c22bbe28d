//! `del undo`: takes back what tools did to files.

use std::fmt::Write as _;
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::Result;
use clap::Args;
use del_tools::{FileChange, Selection, Toolbox, Toolset, UndoError, UndoState, Undoable, counted, visible};
use serde_json::json;

use crate::age::ago;
use crate::colour::Paint;
use crate::common::Common;
use crate::exit::Exit;
use crate::hands;
use crate::record::Store;
use crate::table::Table;
use crate::terminal;

/// Take back the last change that tools made to files in this directory
///
/// What a command did is not known and cannot be undone. Taking back is a change itself: `del undo ID` with its id brings
/// back what it took back. What is kept for it is dropped after 30 days, the oldest first above 1 GiB.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// The change with this id, in place of the last one
    #[arg(value_name = "ID", conflicts_with_all = ["list", "steps"])]
    id: Option<String>,
    /// Show what can be undone
    #[arg(long)]
    list: bool,
    /// Take back the last N changes as one
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..), conflicts_with = "list")]
    steps: Option<u32>,
    /// Take back all changes since the last conversation in this directory began, as one
    #[arg(long, conflicts_with_all = ["id", "list", "steps"])]
    session: bool,
    /// Also where a file was changed since: that change is lost, but kept for another undo
    #[arg(long, conflicts_with = "list")]
    force: bool,
    /// Complete a change that was cut off halfway, in place of taking it back
    #[arg(long, requires = "id")]
    finish: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// The directory that tools worked in [default: the current directory]
    #[arg(long, value_name = "DIR")]
    working_dir: Option<PathBuf>,
    /// A directory beside it that tools worked in as well; may be given again
    #[arg(long, value_name = "DIR")]
    allow_dir: Vec<PathBuf>,
}

/// What was taken back.
pub(crate) struct Done {
    ids: Vec<String>,
    diff: String,
    changes: Vec<FileChange>,
    stays: Vec<String>,
    finish: bool,
    /// It brought back what an undo took back.
    again: bool,
}

pub(crate) fn run(options: &Options, common: &Common) -> Result<Exit> {
    let directory = options.working_dir.as_deref().unwrap_or(Path::new("."));
    let mut toolbox = hands::open(directory, &options.allow_dir, Toolset::All)?;
    hands::keep_undo(&mut toolbox).map_err(|reason| Exit::Configuration.because(reason))?;
    let mut out = std::io::stdout().lock();
    if options.list {
        let text = if options.json {
            terminal::shown(&format!("{:#}\n", json!(toolbox.undoable().map_err(|error| problem(&error))?)))
                .into_owned()
        } else {
            listed(&toolbox, Paint::stdout(common.color), terminal::stdout_width())
                .map_err(|error| problem(&error))?
        };
        out.write_all(text.as_bytes())?;
        return Ok(Exit::Done);
    }
    let selection = match &options.id {
        Some(id) if options.finish => Selection::Finish(id.clone()),
        Some(id) => Selection::Id(id.clone()),
        None if options.session => {
            let last = Store::find().and_then(|store| store.last(toolbox.directory()));
            let last =
                last.ok_or_else(|| Exit::Failed.because("no conversation was kept in this directory"))?;
            since(&toolbox, last.head.created * 1000).map_err(|error| problem(&error))?
        }
        None => Selection::Last(options.steps.unwrap_or(1) as usize),
    };
    let done = taken_back(&toolbox, &selection, options.force).map_err(|error| problem(&error))?;
    let text = if options.json {
        terminal::shown(&done.json()).into_owned()
    } else {
        done.text(Paint::stdout(common.color))
    };
    out.write_all(text.as_bytes())?;
    Ok(Exit::Done)
}

/// All changes since then, in milliseconds since 1970, that were not taken back.
pub(crate) fn since(toolbox: &Toolbox, begun: u64) -> Result<Selection, UndoError> {
    let changes = toolbox.undoable()?;
    let open = changes
        .iter()
        .filter(|change| change.time >= begun && change.tool != "undo" && change.state != UndoState::Undone);
    match open.count() {
        0 => Err(UndoError::NothingSince),
        count => Ok(Selection::Last(count)),
    }
}

/// Takes changes back, or says why not.
pub(crate) fn taken_back(toolbox: &Toolbox, selection: &Selection, force: bool) -> Result<Done, UndoError> {
    let undo = toolbox.plan_undo(selection, force)?;
    let known = toolbox.undoable()?;
    let again = known.iter().any(|change| undo.ids().contains(&change.id) && !change.undoes.is_empty());
    let changes = toolbox.undo(&undo)?;
    Ok(Done {
        ids: undo.ids().to_vec(),
        diff: undo.diff(),
        changes,
        stays: undo.stays().to_vec(),
        finish: matches!(selection, Selection::Finish(_)),
        again,
    })
}

/// Takes back what `/undo` names: the last change, so many, or one by its id.
pub(crate) fn by_words(toolbox: &Toolbox, words: &str) -> Result<Done, UndoError> {
    let selection = match words.parse() {
        // An id has eight digits; nobody counts so far.
        Ok(steps) if (1..1000).contains(&steps) => Selection::Last(steps),
        _ if words.is_empty() => Selection::Last(1),
        _ => Selection::Id(words.to_owned()),
    };
    taken_back(toolbox, &selection, false)
}

/// Brings back what was taken back last, if anything was.
pub(crate) fn brought_back(toolbox: &Toolbox) -> Option<Result<Done, UndoError>> {
    let changes = toolbox.undoable().unwrap_or_default();
    let is_undo = |id: &String| changes.iter().any(|change| change.id == *id && change.tool == "undo");
    let undone = changes.iter().filter(|change| {
        // What brought something back is an undo as well, of an undo.
        change.tool == "undo" && change.state == UndoState::Done && !change.undoes.iter().any(is_undo)
    });
    let last = undone.max_by_key(|change| change.time)?;
    Some(taken_back(toolbox, &Selection::Id(last.id.clone()), false))
}

/// What can be taken back, as a table.
pub(crate) fn listed(toolbox: &Toolbox, paint: Paint, width: Option<usize>) -> Result<String, UndoError> {
    let known = toolbox.undoable()?;
    if known.is_empty() {
        return Ok("no changes are known that were made in this directory\n".to_owned());
    }
    let mut table = Table::new(&["ID", "WHEN", "TOOL", "STATE", "FILES"]);
    for change in &known {
        let state = match change.state {
            UndoState::Done => "done",
            UndoState::Undone => "undone",
            UndoState::Unfinished => "unfinished",
        };
        table.row(vec![change.id.clone(), ago(change.at()), told(change), state.to_owned(), files(change)]);
    }
    Ok(table.text(paint, width))
}

impl Done {
    /// What it changed.
    pub(crate) fn diff(&self) -> &str {
        &self.diff
    }

    /// What was done, for people: the difference, and a line for each file.
    pub(crate) fn text(&self, paint: Paint) -> String {
        self.told(paint, usize::MAX, "")
    }

    /// The same with so many lines of the difference at most. `hint` says how the others are seen.
    pub(crate) fn told(&self, paint: Paint, most: usize, hint: &str) -> String {
        let mut text = String::new();
        let diff = visible(&self.diff);
        let more = diff.lines().count().saturating_sub(most);
        for line in diff.lines().take(most) {
            let line = match line.as_bytes().first() {
                Some(b'+') => paint.green(line),
                Some(b'-') => paint.red(line),
                Some(b'@') => paint.cyan(line),
                _ => line.to_owned(),
            };
            text.push_str(&line);
            text.push('\n');
        }
        if more > 0 {
            text.push_str(&paint.dim(format!("… {} · {hint}", counted(more, "more line"))));
            text.push('\n');
        }
        let verb = match (self.finish, self.again) {
            (true, _) => "finished",
            (false, true) => "undo taken back",
            (false, false) => "undone",
        };
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{verb}: {}", self.ids.join(", "));
        for change in &self.changes {
            let kind = json!(change.kind);
            let kind = kind.as_str().unwrap_or_default();
            let counts = format!("+{} -{}", change.added, change.removed);
            let _ = writeln!(text, "  {kind} {} ({counts})", visible(&change.path));
        }
        for directory in &self.stays {
            let _ = writeln!(text, "  kept {}: something else is in it", visible(directory));
        }
        if self.changes.is_empty() {
            text.push_str("  everything was so already\n");
        }
        text
    }

    fn json(&self) -> String {
        let value = json!({
            "changes": self.ids, "finished": self.finish, "files": self.changes, "kept": self.stays, "diff": self.diff,
        });
        format!("{value:#}\n")
    }
}

/// The tool, and for an undo what it took back.
fn told(change: &Undoable) -> String {
    match change.undoes.as_slice() {
        [] => change.tool.clone(),
        undone => format!("{} of {}", change.tool, undone.join(", ")),
    }
}

fn files(change: &Undoable) -> String {
    const SHOWN: usize = 5;
    let mut text = change.files.iter().take(SHOWN).cloned().collect::<Vec<_>>().join(", ");
    if change.files.len() > SHOWN {
        let _ = write!(text, " and {} more", change.files.len() - SHOWN);
    }
    visible(&text).into_owned()
}

/// Where somebody asked for an undo.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Front {
    CommandLine,
    Terminal,
    Editor,
}

/// Why nothing was taken back, and what helps there.
pub(crate) fn why(error: &UndoError, front: Front) -> String {
    let helps = match (error, front) {
        (UndoError::NothingSince, Front::CommandLine) => "`del undo` takes older ones back",
        (UndoError::NothingSince, _) => "`/undo` takes older ones back",
        (UndoError::Unknown(_), Front::CommandLine) => "`del undo --list` shows them",
        (UndoError::Unknown(_), Front::Terminal) => "`/undo list` shows them",
        (UndoError::Unknown(_), Front::Editor) => "`del undo --list` in a terminal shows them",
        (UndoError::Already(_), _) => "undo the undo to have it again",
        (UndoError::Stale(_), Front::CommandLine) => "--force undoes it all the same",
        (UndoError::Stale(_), Front::Terminal) => {
            "`del undo ID --force` undoes it all the same, where ID is one of `/undo list`"
        }
        (UndoError::Stale(_), Front::Editor) => {
            "`del undo ID --force` in a terminal undoes it all the same, where ID is one of `del undo --list`"
        }
        _ => return error.to_string(),
    };
    format!("{error}; {helps}")
}

fn problem(error: &UndoError) -> anyhow::Error {
    let exit = match error {
        UndoError::NotKept => Exit::Configuration,
        UndoError::Unknown(_) | UndoError::TooMany { .. } => Exit::Usage,
        _ => Exit::Failed,
    };
    exit.because(why(error, Front::CommandLine))
}
