//! Making, moving and removing what stands in directories. Links are what they are here: none is followed.

use std::io;
use std::path::{Path, PathBuf};

use cap_std::fs::{DirBuilder, DirBuilderExt, OpenOptions, OpenOptionsExt, Permissions, PermissionsExt};
use rustix::fs::OFlags;

use super::replace::make_durable;
use super::stamp::Stamp;
use super::{Obstacle, Place, Workspace, attributes, special};

/// The bit of a mode by which a program runs as its owner.
const SET_USER: u32 = 0o4000;
/// The one by which a program runs as its group, and the files of a directory get the group of that.
pub(crate) const SET_GROUP: u32 = 0o2000;
/// Both.
pub(super) const RUNS_AS: u32 = SET_USER | SET_GROUP;

/// What stands at a place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Found {
    Nothing,
    File { stamp: Stamp, len: u64, mode: u32 },
    Directory { mode: u32 },
    Link { target: PathBuf },
}

impl Workspace {
    /// What stands at `place`. Pipes, sockets and devices are refused.
    pub(crate) fn find(&self, place: &Place) -> Result<Found, Obstacle> {
        let dir = self.dir(place);
        let metadata = match dir.symlink_metadata(&place.path).map_err(Obstacle::from) {
            Err(Obstacle::Missing) => return Ok(Found::Nothing),
            other => other?,
        };
        let kind = metadata.file_type();
        let mode = metadata.permissions().mode() & 0o7777;
        if kind.is_dir() {
            return Ok(Found::Directory { mode });
        }
        if kind.is_symlink() {
            return Ok(Found::Link { target: dir.read_link_contents(&place.path)? });
        }
        if !kind.is_file() {
            return Err(Obstacle::Special(special(&metadata)));
        }
        Ok(Found::File { stamp: Stamp::of(&metadata, None), len: metadata.len(), mode })
    }

    /// Everything below the directory `place`, each directory before what is in it; `None` above `limit` entries.
    /// An obstacle comes with where it is.
    pub(crate) fn below(&self, place: &Place, limit: usize) -> Result<Option<Vec<Place>>, (Obstacle, Place)> {
        let mut found = Vec::new();
        let mut pending = vec![place.clone()];
        while let Some(directory) = pending.pop() {
            let names = || -> Result<Vec<_>, Obstacle> {
                let entries = self.open_dir(&directory)?.entries()?;
                let mut names =
                    entries.map(|entry| Ok(entry?.file_name())).collect::<io::Result<Vec<_>>>()?;
                names.sort();
                Ok(names)
            };
            for name in names().map_err(|obstacle| (obstacle, directory.clone()))? {
                let entry =
                    self.entry(&directory, &name).map_err(|obstacle| (obstacle, directory.clone()))?;
                let kind = self.find(&entry).map_err(|obstacle| (obstacle, entry.clone()))?;
                if matches!(kind, Found::Directory { .. }) {
                    pending.push(entry.clone());
                }
                found.push(entry);
            }
            if found.len() > limit {
                return Ok(None);
            }
        }
        Ok(Some(found))
    }

    /// Makes the directories that `place` is to lie in, one by one; those that were not there, outermost first.
    pub(crate) fn make_parents(&self, place: &Place) -> Result<Vec<Place>, Obstacle> {
        let mut made = Vec::new();
        let above: Vec<&Path> =
            place.path.ancestors().skip(1).filter(|path| !path.as_os_str().is_empty()).collect();
        for path in above.into_iter().rev() {
            let directory = self.place_at(place.root, path);
            if self.make_directory(&directory, false)? {
                made.push(directory);
            }
        }
        Ok(made)
    }

    /// Makes a directory in one that is there; false when it is there already. One that is `private` is its owner's
    /// alone until it gets its mode.
    pub(crate) fn make_directory(&self, place: &Place, private: bool) -> Result<bool, Obstacle> {
        let dir = self.dir(place);
        let mut builder = DirBuilder::new();
        if private {
            builder.mode(0o700);
        }
        match dir.create_dir_with(&place.path, &builder).map_err(|error| (error.kind(), error)) {
            Ok(()) => {}
            Err((io::ErrorKind::AlreadyExists, _)) => {
                return if dir.metadata(&place.path)?.is_dir() {
                    Ok(false)
                } else {
                    Err(Obstacle::NotDirectory)
                };
            }
            Err((_, error)) => return Err(error.into()),
        }
        make_durable(&self.parent(place)?.0);
        Ok(true)
    }

    /// Gives a directory that was made private the permissions in `mode`. Whose group its files get stays as the
    /// directory above it has it.
    pub(crate) fn give_mode(&self, place: &Place, mode: u32) -> Result<(), Obstacle> {
        let (parent, name) = self.parent(place)?;
        let mut options = OpenOptions::new();
        options.read(true).custom_flags((OFlags::DIRECTORY | OFlags::NOFOLLOW).bits().cast_signed());
        let directory = parent.open_with(&name, &options)?;
        let inherited = directory.metadata()?.permissions().mode() & SET_GROUP;
        directory.set_permissions(Permissions::from_mode(mode & !SET_USER | inherited))?;
        Ok(())
    }

    /// Makes a link that says `target`, whatever that leads to: what opens it stays inside.
    pub(crate) fn make_link(&self, place: &Place, target: &Path) -> Result<(), Obstacle> {
        let (parent, name) = self.parent(place)?;
        parent.symlink_contents(target, &name)?;
        make_durable(&parent);
        Ok(())
    }

    /// Removes a file, a link or an empty directory, if it is still what was found there.
    pub(crate) fn remove(&self, place: &Place, was: &Found) -> Result<(), Obstacle> {
        let (parent, name) = self.parent(place)?;
        if !same(&self.find(place)?, was) {
            return Err(Obstacle::Changed);
        }
        match was {
            Found::Nothing => return Err(Obstacle::Missing),
            Found::Directory { .. } => parent.remove_dir(&name)?,
            Found::File { .. } | Found::Link { .. } => parent.remove_file(&name)?,
        }
        make_durable(&parent);
        Ok(())
    }

    /// Gives what stands at `from` the name `to`, under which nothing may stand yet.
    pub(crate) fn rename(&self, from: &Place, to: &Place) -> Result<(), Obstacle> {
        let ((old, from), (new, to)) = (self.parent(from)?, self.parent(to)?);
        attributes::rename_new(&old, &from, &new, &to)?;
        make_durable(&old);
        make_durable(&new);
        Ok(())
    }

    /// A place that is there.
    fn place_at(&self, root: usize, path: &Path) -> Place {
        Place { root, path: path.to_owned(), shown: self.shown(root, path), exists: true }
    }
}

/// Whether it is the same thing, untouched since.
fn same(now: &Found, was: &Found) -> bool {
    match (now, was) {
        (Found::File { stamp: now, .. }, Found::File { stamp: was, .. }) => was.holds(now),
        (Found::Directory { .. }, Found::Directory { .. }) => true,
        _ => now == was,
    }
}
