//! Taking changes back: which, whether the files are still as they were left, and doing it.

mod known;

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::Serialize;

use crate::commit::{Change, Purpose};
use crate::context::Context;
use crate::diff::difference;
use crate::outcome::{ChangeKind, Failure, FileChange, counted, sized};
use crate::text;
use crate::undo::{Kept, State};
use crate::workspace::{Obstacle, Place};
use known::Known;

/// The name under which the journal has changes that take others back.
const UNDO: &str = "undo";

/// Which changes to take back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Selection {
    /// As many of the last ones. What was taken back already does not count, and neither does taking back.
    Last(usize),
    /// The one with this id, or the only one whose id begins so. The id of an undo brings back what that took back.
    Id(String),
    /// Not back but on: the rest of the change with this id, which was cut off.
    Finish(String),
}

/// A change that can be taken back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Undoable {
    /// Its name.
    pub id: String,
    /// When it was made, in milliseconds since 1970.
    pub time: u64,
    /// The tool that made it, or `undo`.
    pub tool: String,
    /// What has become of it.
    pub state: UndoState,
    /// The files, relative to the working directory (absolute in an allowed directory).
    pub files: Vec<String>,
    /// The changes that it took back.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub undoes: Vec<String>,
}

/// What has become of a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum UndoState {
    /// It was made.
    Done,
    /// It was taken back.
    Undone,
    /// Del died in the middle of it: some files are as they were, some are changed.
    Unfinished,
}

/// Changes that are about to be taken back.
#[derive(Debug)]
pub struct Undo {
    undoes: Vec<String>,
    turns: Vec<Turn>,
    /// Directories that stay because something else is in them.
    stays: Vec<String>,
    finish: bool,
}

/// One path: what stands there, and what will.
#[derive(Debug)]
struct Turn {
    place: Place,
    now: State,
    then: State,
    content: Vec<u8>,
    diff: String,
    counts: (usize, usize),
}

/// Why nothing is taken back. It says what happened; what helps depends on where somebody asked for it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum UndoError {
    /// The toolbox has no store.
    #[error("changes are not kept for undo here")]
    NotKept,
    /// Nothing is left to take back of what was done since a conversation began.
    #[error("nothing to undo: no change that was made since the conversation began is left")]
    NothingSince,
    /// Nothing is left to take back.
    #[error("nothing to undo: no change that was made in this directory is left")]
    Nothing,
    /// There are fewer changes than were asked for.
    #[error("only {there} can be undone in this directory, not {wanted}", there = counted(*there, "change"))]
    TooMany {
        /// How many were asked for.
        wanted: usize,
        /// How many there are.
        there: usize,
    },
    /// No change, or more than one, has an id that begins so.
    #[error("no change that was made in this directory has the id '{0}'")]
    Unknown(String),
    /// It was taken back before.
    #[error("the change {0} was undone already")]
    Already(String),
    /// It was made wholly, so that there is nothing to finish.
    #[error("the change {0} is whole; there is nothing to finish")]
    Whole(String),
    /// Files are not as the change left them. It can be forced.
    #[error("nothing was undone, because other changes came after: {}", .0.join(", "))]
    Stale(Vec<String>),
    /// Something of another kind stands there by now, such as a directory or a link. Nothing forces that.
    #[error("nothing was undone, because something of another kind is there by now: {0}")]
    Replaced(String),
    /// Something is in the way.
    #[error("nothing was undone: {0}")]
    Failed(#[from] Failure),
}

impl Undo {
    /// What will become of the files, as a unified diff. Text in it comes from files: show it through
    /// [`crate::visible`].
    pub fn diff(&self) -> String {
        self.turns.iter().map(|turn| turn.diff.as_str()).collect()
    }

    /// The ids of the changes that are taken back.
    pub fn ids(&self) -> &[String] {
        &self.undoes
    }

    /// Directories that stay because something else is in them.
    pub fn stays(&self) -> &[String] {
        &self.stays
    }
}

impl Context {
    /// The changes that were made in the working directory and are known still, the latest first.
    pub(crate) fn undoable(&self) -> Result<Vec<Undoable>, UndoError> {
        let known = Known::read(self)?;
        let changes = known.changes.iter().rev();
        Ok(changes.map(|kept| self.described(kept, known.state(self, kept))).collect())
    }

    fn described(&self, kept: &Kept, state: UndoState) -> Undoable {
        let record = &kept.record;
        let mut files: Vec<_> = record.files.iter().map(|file| self.shown(&file.path)).collect();
        files.dedup();
        Undoable {
            id: record.id.clone(),
            time: record.time,
            tool: record.tool.clone(),
            state,
            files,
            undoes: record.undoes.clone(),
        }
    }

    /// Works out what taking back comes to, and whether it can be done. With `force`, files that were changed since are
    /// no hindrance.
    pub(crate) fn plan_undo(&self, selection: &Selection, force: bool) -> Result<Undo, UndoError> {
        let known = Known::read(self)?;
        let chosen = known.choose(self, selection)?;
        let forward = matches!(selection, Selection::Finish(_));
        let mut goals: Vec<Goal<'_>> = Vec::new();
        let mut at: HashMap<&Path, usize> = HashMap::new();
        let mut names: HashMap<(u64, u64), &Path> = HashMap::new();
        let mut stale = Vec::new();
        for kept in &chosen {
            for file in kept.record.files.iter().rev() {
                let (left, goal) =
                    if forward { (&file.before, &file.after) } else { (&file.after, &file.before) };
                // Of a file with several names, each is the same file: what was done to one was done to all.
                let name = self.workspace.same_file(&file.path);
                let path = name.map_or(file.path.as_path(), |name| names.entry(name).or_insert(&file.path));
                if let Some(&place) = at.get(path) {
                    let earlier = &mut goals[place];
                    // What one change made of one name, it made of the other as well.
                    let at_once = path != file.path && earlier.kept.record.id == kept.record.id;
                    if !at_once && !earlier.wanted.holds(left) {
                        stale.push(self.shown(&file.path));
                    }
                    (earlier.wanted, earlier.kept) = (goal, kept);
                } else {
                    at.insert(path, goals.len());
                    let torn = file.in_place && !kept.done;
                    goals.push(Goal { path: &file.path, left, wanted: goal, kept, torn });
                }
            }
        }
        let mut turns = Vec::new();
        for goal in goals {
            let (place, now) = self.now(goal.path)?;
            if now.holds(goal.wanted) {
                continue;
            }
            let same_kind = |other: &State| std::mem::discriminant(&now) == std::mem::discriminant(other);
            if !now.holds(goal.left) && !goal.torn {
                stale.push(place.shown.clone());
            }
            if now != State::Absent && *goal.wanted != State::Absent && !same_kind(goal.wanted) {
                // What is to be put back has another kind by now; that is not for a program to sort out.
                return Err(UndoError::Replaced(place.shown));
            }
            turns.push(self.turn(place, now, &goal)?);
        }
        stale.sort();
        stale.dedup();
        if !stale.is_empty() && !force {
            return Err(UndoError::Stale(stale));
        }
        let stays = self.keep_full(&mut turns);
        order(&mut turns);
        Ok(Undo {
            undoes: chosen.iter().map(|kept| kept.record.id.clone()).collect(),
            turns,
            stays,
            finish: forward,
        })
    }

    /// Does what was planned: all of it, or nothing. Files that changed since it was planned are left alone.
    pub(crate) fn undo(&self, undo: &Undo) -> Result<Vec<FileChange>, UndoError> {
        let places = undo.turns.iter().map(|turn| &turn.place);
        let writing = self.workspace.writing(places);
        let mut changes = Vec::new();
        let mut stale = Vec::new();
        for turn in &undo.turns {
            let place = turn.place.clone();
            let now = self.state(&place).map_err(|obstacle| self.failure(&obstacle, &place))?;
            if !now.holds(&turn.now) {
                stale.push(place.shown.clone());
            }
            changes.push(match &turn.then {
                State::Absent => Change::Remove { place },
                State::Directory { mode } => Change::MakeDirectory { place, mode: *mode },
                State::Link { target } => Change::MakeLink { place, target: target.clone() },
                State::File { mode, .. } => {
                    let before = match turn.now {
                        State::File { .. } => Some(Cow::Owned(self.load(&place)?)),
                        _ => None,
                    };
                    Change::Write { place, content: Cow::Borrowed(&turn.content), before, mode: *mode }
                }
            });
        }
        if !stale.is_empty() {
            return Err(UndoError::Stale(stale));
        }
        let undoes = if undo.finish { Vec::new() } else { undo.undoes.clone() };
        self.commit(&Purpose { tool: UNDO, by_model: false, undoes }, &changes, &writing)?;
        Ok(undo.turns.iter().map(Turn::change).collect())
    }

    /// What stands now where the journal says `path`.
    pub(super) fn now(&self, path: &Path) -> Result<(Place, State), UndoError> {
        let place = self.workspace.entry_at(path).map_err(|obstacle| match obstacle {
            Obstacle::Outside => UndoError::Failed(self.workspace.outside(&path.to_string_lossy())),
            _ => UndoError::Replaced(self.shown(path)),
        })?;
        if self.workspace.absolute(&place) != path {
            // A directory has become a link: what it leads to is not what was changed.
            return Err(UndoError::Replaced(self.shown(path)));
        }
        let now = match self.state(&place) {
            Err(Obstacle::NotDirectory) => State::Absent,
            other => other.map_err(|obstacle| self.failure(&obstacle, &place))?,
        };
        Ok((place, now))
    }

    fn turn(&self, place: Place, now: State, goal: &Goal<'_>) -> Result<Turn, UndoError> {
        let gone = |error| UndoError::Failed(self.failure(&Obstacle::System(error), &place));
        let content = match goal.wanted {
            State::File { sha256, .. } => goal.kept.content(sha256).map_err(gone)?,
            _ => Vec::new(),
        };
        let old = match &now {
            State::File { .. } => self.load(&place)?.bytes,
            _ => Vec::new(),
        };
        let shown = &place.shown;
        let side = |state: &State, bytes: &[u8]| match state {
            State::File { .. } => text::decode(bytes).text,
            _ => String::new(),
        };
        let name = |state: &State, side: &str| match state {
            State::File { .. } => format!("{side}/{shown}"),
            _ => "/dev/null".to_owned(),
        };
        let binary = [&old, &content]
            .into_iter()
            .any(|bytes| text::is_binary(&bytes[..bytes.len().min(text::SNIFFED)]));
        let (diff, counts) = match (&now, goal.wanted) {
            (State::File { .. }, _) | (_, State::File { .. }) if binary => (
                format!("{shown}: {} would become {}\n", said(&now, &old), said(goal.wanted, &content)),
                (0, 0),
            ),
            (State::File { .. }, _) | (_, State::File { .. }) => {
                let from = (side(&now, &old), name(&now, "a"));
                let to = (side(goal.wanted, &content), name(goal.wanted, "b"));
                let found = difference(&from.0, &to.0, &from.1, &to.1);
                let unified = if found.unified.is_empty() {
                    format!("{shown}: {} would become {}\n", said(&now, &old), said(goal.wanted, &content))
                } else {
                    found.unified
                };
                (unified, (found.added, found.removed))
            }
            _ => (
                format!("{shown}: {} would become {}\n", said(&now, &old), said(goal.wanted, &content)),
                (0, 0),
            ),
        };
        Ok(Turn { now, then: goal.wanted.clone(), content, diff, counts, place })
    }

    /// Leaves out the directories that would be removed but hold something else; their names.
    fn keep_full(&self, turns: &mut Vec<Turn>) -> Vec<String> {
        let going: HashSet<PathBuf> = turns
            .iter()
            .filter(|turn| turn.then == State::Absent)
            .map(|turn| self.workspace.absolute(&turn.place))
            .collect();
        let mut stays = Vec::new();
        turns.retain(|turn| {
            if !matches!((&turn.now, &turn.then), (State::Directory { .. }, State::Absent)) {
                return true;
            }
            let below = self.workspace.below(&turn.place, crate::commit::MAX_ENTRIES).ok().flatten();
            let empty = below.is_some_and(|below| {
                below.iter().all(|place| going.contains(&self.workspace.absolute(place)))
            });
            if !empty {
                stays.push(turn.place.shown.clone());
            }
            empty
        });
        stays
    }

    fn shown(&self, path: &Path) -> String {
        match path.strip_prefix(self.workspace.root()) {
            Ok(inner) => text::on_one_line(&inner.to_string_lossy()),
            Err(_) => crate::workspace::without_home(path),
        }
    }
}

/// What a path is to become.
struct Goal<'a> {
    path: &'a Path,
    /// How the change left it.
    left: &'a State,
    /// How it is to be.
    wanted: &'a State,
    /// Where the content for the goal is.
    kept: &'a Kept,
    /// Whether half of the file may have been written over.
    torn: bool,
}

impl Turn {
    fn change(&self) -> FileChange {
        let kind = match (&self.now, &self.then) {
            (State::Absent, _) => ChangeKind::Created,
            (_, State::Absent) => ChangeKind::Removed,
            _ => ChangeKind::Modified,
        };
        FileChange {
            path: self.place.shown.clone(),
            kind,
            added: self.counts.0,
            removed: self.counts.1,
            before: None,
        }
    }
}

impl Undoable {
    /// When the change was made.
    pub fn at(&self) -> SystemTime {
        UNIX_EPOCH + Duration::from_millis(self.time)
    }
}

/// Puts turns into an order in which each can be done: what goes goes first, deepest first; directories come before
/// what is put into them.
fn order(turns: &mut [Turn]) {
    turns.sort_by_cached_key(|turn| {
        let depth = turn.place.path().components().count();
        match (&turn.now, &turn.then) {
            (State::Directory { .. }, State::Absent) => (1, usize::MAX - depth),
            (_, State::Absent) => (0, 0),
            (_, State::Directory { .. }) => (2, depth),
            _ => (3, 0),
        }
    });
}

fn said(state: &State, content: &[u8]) -> String {
    match state {
        State::Absent => "nothing".to_owned(),
        State::Directory { .. } => "a directory".to_owned(),
        State::Link { target } => format!("a link to {}", target.display()),
        State::File { .. } if content.is_empty() => "an empty file".to_owned(),
        State::File { .. } => format!("a file of {}", sized(content.len() as u64)),
    }
}
