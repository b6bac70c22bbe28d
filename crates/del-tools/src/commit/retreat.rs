//! Taking back what was changed already, where a later one of the changes cannot be made.

use super::{Change, Ready};
use crate::context::{Context, Loaded};
use crate::undo::{Open, State};
use crate::workspace::{Found, Obstacle, Place};

impl Context {
    /// Takes changes back that have been made, with the directories that were made for each; the paths that could not be
    /// put back.
    pub(super) fn take_back(
        &self,
        made: Vec<(&Change<'_>, Vec<Place>)>,
        open: Option<&Open<'_>>,
    ) -> Vec<String> {
        let removed: Vec<_> = made
            .iter()
            .rev()
            .filter_map(|(change, _)| match change {
                Change::Remove { place } => Some(place),
                _ => None,
            })
            .collect();
        let lost = made.into_iter().rev().filter_map(|made| self.take_one_back(made, open)).collect();
        let mode = |place| match open?.before(&self.workspace.absolute(place))? {
            State::Directory { mode } => mode.map(|mode| (place, mode)),
            _ => None,
        };
        // Which of them are there was told already.
        self.give_modes(removed.into_iter().filter_map(mode));
        lost
    }

    /// The path that could not be put back, if so.
    fn take_one_back(
        &self,
        (change, directories): (&Change<'_>, Vec<Place>),
        open: Option<&Open<'_>>,
    ) -> Option<String> {
        let result = match change {
            Change::Write { place, before, .. } => self.put_back(place, before.as_deref()),
            Change::MakeLink { place, .. } => self.remove_now(place),
            Change::Move { from, to } => self.workspace.rename(to, from),
            Change::Remove { place } => self.bring_back(place, open),
            Change::MakeDirectory { .. } => Ok(()),
        };
        self.take_directories_back(&directories);
        result.err().map(|_| change.place().shown.clone())
    }

    fn remove_now(&self, place: &Place) -> Result<(), Obstacle> {
        self.workspace.find(place).and_then(|found| self.workspace.remove(place, &found))
    }

    /// Makes anew what was removed, from what was kept.
    fn bring_back(&self, place: &Place, open: Option<&Open<'_>>) -> Result<(), Obstacle> {
        let open = open.ok_or(Obstacle::Missing)?;
        match open.before(&self.workspace.absolute(place)) {
            None | Some(State::Absent) => {}
            Some(State::Directory { mode }) => {
                self.workspace.make_directory(place, mode.is_some())?;
            }
            Some(State::Link { target }) => self.workspace.make_link(place, target)?,
            Some(State::File { sha256, mode }) => {
                let content = open.content(sha256)?;
                self.workspace.stage(place, &content, None, *mode)?.publish()?;
            }
        }
        Ok(())
    }

    fn put_back(&self, place: &Place, before: Option<&Loaded>) -> Result<(), Obstacle> {
        let Some(before) = before else {
            return self.remove_now(place);
        };
        let Found::File { stamp, .. } = self.workspace.find(place)? else { return Err(Obstacle::Changed) };
        self.workspace.stage(place, &before.bytes, Some(&stamp), None)?.publish()?;
        self.remember_written(place, &before.bytes);
        Ok(())
    }

    /// Takes away what was made ready for changes that do not happen.
    pub(super) fn abandon<'r>(&self, ready: impl DoubleEndedIterator<Item = Ready<'r>>) {
        for Ready { made, staged, .. } in ready.rev() {
            drop(staged);
            self.take_directories_back(&made);
        }
    }

    /// Removes directories that were made for a change which does not happen, where nothing is in them.
    pub(super) fn take_directories_back(&self, made: &[Place]) {
        for place in made.iter().rev() {
            let _ = self.workspace.remove(place, &Found::Directory { mode: 0 });
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs::{self, Permissions};
    use std::os::unix::fs::PermissionsExt;

    use super::*;
    use crate::commit::Purpose;
    use crate::registry::Toolset;
    use crate::toolbox::Toolbox;
    use crate::undo::UndoStore;
    use crate::workspace::Access;

    #[test]
    fn removed_directories_come_back_with_their_modes() {
        let folder = tempfile::tempdir().unwrap();
        let work = folder.path().join("work");
        fs::create_dir_all(work.join("tree/inner")).unwrap();
        for name in ["tree/inner/file", "a", "b"] {
            fs::write(work.join(name), "x").unwrap();
        }
        let modes = [("tree/inner/file", 0o750), ("tree/inner", 0o500), ("tree", 0o710)];
        for (name, mode) in modes {
            fs::set_permissions(work.join(name), Permissions::from_mode(mode)).unwrap();
        }
        let mut toolbox = Toolbox::open(&work, &[], Toolset::All).unwrap();
        toolbox.keep_undo(UndoStore::open(&folder.path().join("undo")).unwrap());
        let context = toolbox.context();
        let place = |name: &str| context.workspace.resolve(name, Access::Write).unwrap();
        let mut changes: Vec<_> =
            modes.iter().map(|(name, _)| Change::Remove { place: place(name) }).collect();
        changes.push(Change::Move { from: place("a"), to: place("b") });
        let writing = context.workspace.writing([]);
        let purpose = Purpose { tool: "undo", by_model: false, undoes: Vec::new() };
        let failure = context.commit(&purpose, &changes, &writing).unwrap_err();
        assert!(failure.cause.ends_with("was put back."), "{}", failure.cause);
        let now = modes.map(|(name, _)| {
            let mode = fs::metadata(work.join(name)).unwrap().permissions().mode() & 0o7777;
            (name, mode)
        });
        assert_eq!(now, modes);
        fs::set_permissions(work.join("tree/inner"), Permissions::from_mode(0o700)).unwrap();
    }
}
