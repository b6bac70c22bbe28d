//! Changes that happen together: what stands there is kept for undo first, then all of them happen, or none.

mod retreat;

use std::borrow::Cow;
use std::fmt::Write;
use std::io::Seek;
use std::path::PathBuf;

use crate::context::{Context, Loaded};
use crate::outcome::{Code, Failure, sized};
use crate::undo::{Open, State, Touched, UndoStore, sha256_of};
use crate::workspace::{Found, Obstacle, Place, Staged, Writing, without_home};

/// Entries that one change takes away or moves at most.
pub(crate) const MAX_ENTRIES: usize = 10_000;
/// Bytes that one change takes away or moves at most: they are kept.
pub(crate) const MAX_KEPT: u64 = 256 << 20;

/// One change of the file system.
#[derive(Debug)]
pub(crate) enum Change<'a> {
    /// New content for the file that `before` was loaded from, or a new file, with `mode` if that is not the usual.
    Write { place: Place, content: Cow<'a, [u8]>, before: Option<Cow<'a, Loaded>>, mode: Option<u32> },
    /// A file, a link, or a directory that is empty by then, taken away.
    Remove { place: Place },
    /// A directory made, with those above it, and with `mode` if that is not the usual.
    MakeDirectory { place: Place, mode: Option<u32> },
    /// A link made that says `target`.
    MakeLink { place: Place, target: PathBuf },
    /// What stands at `from` put to `to`, where nothing stands.
    Move { from: Place, to: Place },
}

/// What a change is for, as the journal names it.
#[derive(Debug, Clone)]
pub(crate) struct Purpose<'a> {
    /// The tool's canonical name.
    pub(crate) tool: &'a str,
    /// Whether it is the model that writes, so that it knows what stands there from now on.
    pub(crate) by_model: bool,
    /// The ids of the changes that this one takes back.
    pub(crate) undoes: Vec<String>,
}

impl<'a> Change<'a> {
    /// New content for the file that `before` was loaded from, or a new file.
    pub(crate) fn write(place: &Place, content: &'a [u8], before: Option<&'a Loaded>) -> Self {
        let before = before.map(Cow::Borrowed);
        Self::Write { place: place.clone(), content: content.into(), before, mode: None }
    }

    fn place(&self) -> &Place {
        match self {
            Self::Write { place, .. }
            | Self::Remove { place }
            | Self::MakeDirectory { place, .. }
            | Self::MakeLink { place, .. } => place,
            Self::Move { to, .. } => to,
        }
    }
}

impl<'a> From<&'a str> for Purpose<'a> {
    fn from(tool: &'a str) -> Self {
        Self { tool, by_model: true, undoes: Vec::new() }
    }
}

/// A change that only has to be made, and what has been made ready for it.
struct Ready<'a> {
    change: &'a Change<'a>,
    /// The directories that were made for it.
    made: Vec<Place>,
    staged: Option<Staged<'a>>,
    /// What stands where something is taken away.
    found: Vec<(Place, Found)>,
}

impl Context {
    /// Makes all of `changes`, in their order. If one fails, those before it are taken back, and nothing has changed.
    /// What stood there is kept first where there is a store. `writing` was had for the places of the changes before
    /// what they are based on was looked at. Returns what there is to know beside.
    pub(crate) fn commit(
        &self,
        purpose: &Purpose<'_>,
        changes: &[Change<'_>],
        _writing: &Writing<'_>,
    ) -> Result<Vec<&'static str>, Failure> {
        let mut ready = Vec::with_capacity(changes.len());
        for change in changes {
            match self.make_ready(change) {
                Ok(change) => ready.push(change),
                Err(failure) => {
                    self.abandon(ready.into_iter());
                    return Err(failure);
                }
            }
        }
        let open = match &self.undo {
            None => None,
            Some(store) => match self.write_down(store, purpose, &ready) {
                Ok(open) => Some(open),
                Err(failure) => {
                    self.abandon(ready.into_iter());
                    return Err(failure);
                }
            },
        };
        self.make(purpose, ready, open)
    }

    /// Does all that can fail before anything has changed.
    fn make_ready<'a>(&'a self, change: &'a Change<'a>) -> Result<Ready<'a>, Failure> {
        let fail = |obstacle: Obstacle| self.failure(&obstacle, change.place());
        let mut ready = Ready { change, made: Vec::new(), staged: None, found: Vec::new() };
        if !matches!(change, Change::Remove { .. }) {
            ready.made = self.workspace.make_parents(change.place()).map_err(fail)?;
        }
        match change {
            Change::Write { place, content, before, mode } => {
                let stamp = before.as_ref().map(|before| &before.stamp);
                match self.workspace.stage(place, content, stamp, *mode) {
                    Ok(staged) => ready.staged = Some(staged),
                    Err(obstacle) => {
                        self.take_directories_back(&ready.made);
                        return Err(fail(obstacle));
                    }
                }
            }
            Change::Remove { place } => {
                ready.found.push((place.clone(), self.workspace.find(place).map_err(fail)?));
            }
            Change::Move { from, .. } => ready.found = self.found_at(from)?,
            Change::MakeDirectory { place, mode } => {
                if self.workspace.make_directory(place, mode.is_some()).map_err(fail)? {
                    ready.made.push(place.clone());
                }
            }
            Change::MakeLink { .. } => {}
        }
        Ok(ready)
    }

    /// What stands at `place`, and below it.
    pub(crate) fn found_at(&self, place: &Place) -> Result<Vec<(Place, Found)>, Failure> {
        let find = |place: Place| {
            let found = self.workspace.find(&place).map_err(|obstacle| self.failure(&obstacle, &place))?;
            Ok((place, found))
        };
        let mut all = vec![find(place.clone())?];
        if matches!(all[0].1, Found::Directory { .. }) {
            let below = self.workspace.below(place, MAX_ENTRIES);
            let below =
                below.map_err(|(obstacle, place)| self.failure(&obstacle, &place))?.ok_or_else(|| {
                    let cause = format!(
                        "{} has more than {MAX_ENTRIES} entries; that is too many at once.",
                        place.shown
                    );
                    Failure::new(Code::TooLarge, cause)
                })?;
            all.extend(below.into_iter().map(find).collect::<Result<Vec<_>, _>>()?);
        }
        Ok(all)
    }

    /// Keeps what stands there and writes down what is about to happen.
    fn write_down<'a>(
        &'a self,
        store: &'a UndoStore,
        purpose: &Purpose<'_>,
        ready: &[Ready<'_>],
    ) -> Result<Open<'a>, Failure> {
        let len = |found: &Found| if let Found::File { len, .. } = found { *len } else { 0 };
        let total: u64 = ready.iter().flat_map(|ready| &ready.found).map(|(_, found)| len(found)).sum();
        if total > MAX_KEPT {
            let cause = format!(
                "{} are too much to keep for undo; at most {} can be taken away or moved at once.",
                sized(total),
                sized(MAX_KEPT)
            );
            return Err(Failure::new(Code::TooLarge, cause));
        }
        let mut files = Vec::new();
        for one in ready {
            self.touch(store, one, ready.len() > 1, &mut files)?;
        }
        let directory = self.workspace.root();
        store
            .begin(purpose.tool, directory, files, purpose.undoes.clone())
            .map_err(|error| unkept(store, error))
    }

    /// What one change touches, its old states kept; the new content as well where `several`, so that a change which
    /// was cut off can be finished.
    fn touch(
        &self,
        store: &UndoStore,
        ready: &Ready<'_>,
        several: bool,
        files: &mut Vec<Touched>,
    ) -> Result<(), Failure> {
        let path = |place: &Place| self.workspace.absolute(place);
        let mut add = |place: &Place, before, after, in_place| {
            files.push(Touched { path: path(place), before, after, in_place });
        };
        for made in &ready.made {
            let mode = match ready.change {
                Change::MakeDirectory { place, mode } if place == made => *mode,
                _ => None,
            };
            add(made, State::Absent, State::Directory { mode }, false);
        }
        match ready.change {
            Change::Write { place, content, before, mode } => {
                let in_place = ready.staged.as_ref().is_some_and(Staged::is_in_place);
                if several || in_place {
                    store.keep(content).map_err(|error| unkept(store, error))?;
                }
                let before = match before {
                    None => State::Absent,
                    Some(before) => {
                        let sha256 = store.keep(&before.bytes).map_err(|error| unkept(store, error))?;
                        State::File { sha256, mode: Some(before.mode) }
                    }
                };
                add(place, before, State::file(content, *mode), in_place);
            }
            Change::Remove { .. } => {
                for (place, found) in &ready.found {
                    add(place, self.keep_found(store, place, found)?, State::Absent, false);
                }
            }
            Change::MakeDirectory { .. } => {}
            Change::MakeLink { place, target } => {
                add(place, State::Absent, State::Link { target: target.clone() }, false);
            }
            Change::Move { from, to } => {
                for (place, found) in &ready.found {
                    let state = self.keep_found(store, place, found)?;
                    let moved = place.moved(from, to);
                    add(place, state.clone(), State::Absent, false);
                    add(&moved, State::Absent, state, false);
                }
            }
        }
        Ok(())
    }

    /// What was found at `place` as the journal writes it, the content of a file kept.
    fn keep_found(&self, store: &UndoStore, place: &Place, found: &Found) -> Result<State, Failure> {
        Ok(match found {
            Found::Nothing => State::Absent,
            Found::Directory { mode } => State::Directory { mode: Some(*mode) },
            Found::Link { target } => State::Link { target: target.clone() },
            Found::File { mode, .. } => {
                let (mut file, _) =
                    self.workspace.open_file(place).map_err(|obstacle| self.failure(&obstacle, place))?;
                let keep = |file: &mut std::fs::File| {
                    let sha256 = sha256_of(&mut *file)?;
                    file.rewind()?;
                    store.keep_file(&sha256, file).map(|()| sha256)
                };
                let sha256 = keep(&mut file).map_err(|error| unkept(store, error))?;
                State::File { sha256, mode: Some(*mode) }
            }
        })
    }

    /// What stands at `place` now, as the journal would write it.
    pub(crate) fn state(&self, place: &Place) -> Result<State, Obstacle> {
        Ok(match self.workspace.find(place)? {
            Found::Nothing => State::Absent,
            Found::Directory { mode } => State::Directory { mode: Some(mode) },
            Found::Link { target } => State::Link { target },
            Found::File { mode, .. } => {
                let (file, _) = self.workspace.open_file(place)?;
                State::File { sha256: sha256_of(file)?, mode: Some(mode) }
            }
        })
    }

    fn make(
        &self,
        purpose: &Purpose<'_>,
        ready: Vec<Ready<'_>>,
        open: Option<Open<'_>>,
    ) -> Result<Vec<&'static str>, Failure> {
        let mut notes = Vec::new();
        let opened = if purpose.by_model { Vec::new() } else { self.open_up(&ready) };
        let mut made: Vec<(&Change<'_>, Vec<Place>)> = Vec::new();
        let mut pending = ready.into_iter();
        while let Some(next) = pending.next() {
            let (change, directories) = (next.change, next.made.clone());
            match self.make_one(next, purpose.by_model) {
                Ok(note) => notes.extend(note),
                Err(obstacle) => {
                    let mut failure = self.failure(&obstacle, change.place());
                    self.abandon(pending);
                    self.take_directories_back(&directories);
                    let others = made.len();
                    let lost = self.take_back(made, open.as_ref());
                    self.give_modes(opened.iter().map(|(place, mode)| (place, *mode)));
                    if lost.is_empty() {
                        if let Some(open) = open {
                            open.void();
                        }
                        if others > 0 {
                            failure.cause.push_str(" What had been changed already was put back.");
                        }
                    } else {
                        // The journal is left open: it says what is missing.
                        let lost = lost.join(", ");
                        // Writing to a string cannot fail.
                        let _ = write!(failure.cause, " These could not be put back: {lost}.");
                    }
                    return Err(failure);
                }
            }
            made.push((change, directories));
        }
        let directories = made.iter().filter_map(|(change, made)| match change {
            Change::MakeDirectory { place, mode: Some(mode) } if made.contains(place) => Some((place, *mode)),
            _ => None,
        });
        notes.extend(self.give_modes(directories));
        if let Some(open) = open {
            open.done();
        }
        notes.dedup();
        Ok(notes)
    }

    /// Lets what is in directories that go be taken out of them, where their modes forbid it; the modes. A user who takes
    /// a change back may: what the change made there, it could make.
    fn open_up(&self, ready: &[Ready<'_>]) -> Vec<(Place, u32)> {
        let shut = ready.iter().filter_map(|ready| match (ready.change, ready.found.first()?) {
            (Change::Remove { .. }, (place, Found::Directory { mode })) if mode & 0o300 != 0o300 => {
                Some((place.clone(), *mode))
            }
            _ => None,
        });
        shut.filter(|(place, mode)| self.workspace.give_mode(place, mode | 0o700).is_ok()).collect()
    }

    /// Gives directories that were made private their modes, the last ones first: what a mode keeps others from would
    /// keep from going on as well. What there is to know beside.
    fn give_modes<'p>(
        &self,
        directories: impl DoubleEndedIterator<Item = (&'p Place, u32)>,
    ) -> Option<&'static str> {
        let failed =
            directories.rev().filter(|(place, mode)| self.workspace.give_mode(place, *mode).is_err()).count();
        (failed > 0).then_some("[a directory did not get its permissions; it is its owner's alone]")
    }

    fn make_one(&self, ready: Ready<'_>, by_model: bool) -> Result<Option<&'static str>, Obstacle> {
        match (ready.change, ready.staged) {
            (Change::Write { place, content, .. }, Some(staged)) => {
                let note = staged.publish()?;
                if by_model {
                    self.remember_written(place, content);
                }
                return Ok(note);
            }
            (Change::Write { .. }, None) | (Change::MakeDirectory { .. }, _) => {}
            (Change::Remove { place }, _) => {
                let was = ready.found.first().map_or(&Found::Nothing, |(_, found)| found);
                self.workspace.remove(place, was)?;
            }
            (Change::MakeLink { place, target }, _) => self.workspace.make_link(place, target)?,
            (Change::Move { from, to }, _) => self.workspace.rename(from, to)?,
        }
        Ok(None)
    }
}

/// Why nothing may be changed: what is there could not be kept.
fn unkept(store: &UndoStore, error: std::io::Error) -> Failure {
    let cause = format!(
        "what is there cannot be kept for undo in {}: {}. Nothing was changed.",
        without_home(store.folder()),
        Obstacle::System(error)
    );
    Failure::new(Code::System, cause)
}
