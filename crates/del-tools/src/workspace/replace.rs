//! Replacing a file whole: the old content or the new one is there at every moment, and nothing outside is touched.

use std::hash::{BuildHasher, RandomState};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use cap_std::fs::{Dir, Metadata, OpenOptions, Permissions, PermissionsExt};

use super::entries::RUNS_AS;
use super::stamp::Stamp;
use super::walk::{EntryKind, Flow, Order, Walk};
use super::writing::{STAGED, STAGED_DIGITS, handle};
use super::{Obstacle, Place, Workspace, attributes, regular};

/// Entries looked at when the other names of a hard-linked file are sought.
const MAX_LOOKED_AT: usize = 200_000;

/// New content in a file of its own, on disk beside the one that it is to replace. Dropping it takes it away again.
#[derive(Debug)]
pub(crate) struct Staged<'a> {
    workspace: &'a Workspace,
    place: Place,
    /// The name beside it; the content itself where the directory takes no new file.
    content: Result<PathBuf, Vec<u8>>,
    before: Option<Stamp>,
    published: bool,
}

impl Workspace {
    /// Writes `content` beside the file that `before` is the stamp of, or beside where there is none yet. A file that
    /// is new gets `mode`, or else the usual one; none gets rights of its owner or group that who runs it has not. The
    /// directory is there.
    pub(crate) fn stage(
        &self,
        place: &Place,
        content: &[u8],
        before: Option<&Stamp>,
        mode: Option<u32>,
    ) -> Result<Staged<'_>, Obstacle> {
        let (parent, name) = self.parent(place)?;
        self.clear_up(&parent);
        let old = unchanged(&parent, &name, before)?;
        let mut staged = Staged {
            workspace: self,
            place: place.clone(),
            content: Ok(place.path.with_file_name(fresh_name())),
            before: before.copied(),
            published: false,
        };
        match staged.write(&parent, &name, content, old.as_ref(), mode) {
            Err(error) if old.is_some() && cannot_create(&error) => {
                drop(std::mem::replace(&mut staged.content, Err(content.to_owned())));
            }
            result => result?,
        }
        Ok(staged)
    }

    /// The directory that a place lies in, and its name there.
    pub(super) fn parent(&self, place: &Place) -> Result<(Dir, PathBuf), Obstacle> {
        let Some(name) = place.path.file_name().filter(|_| place.path != Path::new(".")) else {
            return Err(Obstacle::Directory);
        };
        let root = self.dir(place);
        let parent = match place.path.parent().filter(|path| !path.as_os_str().is_empty()) {
            Some(path) => root.open_dir(path)?,
            None => root.try_clone()?,
        };
        Ok((parent, PathBuf::from(name)))
    }

    /// All names of the file at a place, as far as they lie beneath the same root: writing under one writes them all.
    pub(crate) fn names(&self, place: &Place) -> Vec<Place> {
        let file = self.metadata(place).ok().filter(Metadata::is_file);
        let others = file.map_or_else(Vec::new, |file| self.other_names(place, &file));
        let named = |path: &PathBuf| Place { path: path.clone(), ..place.clone() };
        std::iter::once(&place.path).chain(&others).map(named).collect()
    }

    /// The other names of a hard-linked file beneath the same root.
    fn other_names(&self, place: &Place, old: &Metadata) -> Vec<PathBuf> {
        let wanted = attributes::links(old);
        let mut others = Vec::new();
        if wanted <= 1 {
            return others;
        }
        let root = Place { path: PathBuf::from("."), ..place.clone() };
        let walk = Walk { depth: usize::MAX, respect_ignored: false, hidden: true, order: Order::Path };
        let mut looked_at = 0;
        let _ = self.walk(&root, walk, &mut |entry| {
            looked_at += 1;
            let same = entry.kind == EntryKind::File
                && entry.path != place.path
                && entry.metadata().is_some_and(|m| attributes::identity(&m) == attributes::identity(old));
            if same {
                others.push(entry.path.to_owned());
            }
            if looked_at == MAX_LOOKED_AT || others.len() as u64 + 1 == wanted {
                Flow::Stop
            } else {
                Flow::On
            }
        });
        others
    }
}

impl Staged<'_> {
    /// Whether the file will be written over where it stands: there is nothing in between if the process dies.
    pub(crate) fn is_in_place(&self) -> bool {
        self.content.is_err()
    }

    /// Puts the new content in its place, if the file is still as it was. Says what else there is to know.
    pub(crate) fn publish(mut self) -> Result<Option<&'static str>, Obstacle> {
        let (parent, name) = self.workspace.parent(&self.place)?;
        let old = unchanged(&parent, &name, self.before.as_ref())?;
        let beside = match &self.content {
            Ok(path) => PathBuf::from(path.file_name().unwrap_or_default()),
            Err(content) => {
                in_place(&parent, &name, content)?;
                self.published = true;
                return Ok(Some("[written in place: the directory is read-only]"));
            }
        };
        let others = old.as_ref().map_or_else(Vec::new, |old| self.workspace.other_names(&self.place, old));
        if old.is_some() {
            parent.rename(&beside, &parent, &name)?;
        } else {
            attributes::rename_new(&parent, &beside, &parent, &name).map_err(|error| match error.kind() {
                io::ErrorKind::AlreadyExists => Obstacle::Changed,
                _ => error.into(),
            })?;
        }
        self.published = true;
        let mut missed = old.as_ref().is_some_and(|old| attributes::links(old) > others.len() as u64 + 1);
        for other in others {
            missed |= relink(self.workspace.dir(&self.place), &self.place.path, &other).is_err();
        }
        make_durable(&parent);
        if missed {
            return Ok(Some(
                "[the file had another name (hard link) outside; that name keeps the old content]",
            ));
        }
        let runs_as = old.is_some_and(|old| old.permissions().mode() & RUNS_AS != 0);
        Ok(runs_as
            .then_some("[the file ran with the rights of its owner or group; the new content does not]"))
    }

    fn write(
        &self,
        parent: &Dir,
        name: &Path,
        content: &[u8],
        old: Option<&Metadata>,
        mode: Option<u32>,
    ) -> io::Result<()> {
        let beside = self.content.as_ref().ok().and_then(|path| path.file_name()).unwrap_or_default();
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        if old.is_some() || mode.is_some() {
            attributes::private(&mut options);
        }
        let mut file = parent.open_with(beside, &options)?;
        file.write_all(content)?;
        if let Some(old) = old {
            attributes::copy(parent, name, old, &file)?;
        } else if let Some(mode) = mode {
            file.set_permissions(Permissions::from_mode(mode & !RUNS_AS))?;
        }
        file.sync_all()
    }
}

impl Drop for Staged<'_> {
    fn drop(&mut self) {
        if let (false, Ok(path)) = (self.published, &self.content) {
            let _ = self.workspace.dir(&self.place).remove_file(path);
        }
    }
}

/// The file as it is, if it is as it was.
pub(super) fn unchanged(
    parent: &Dir,
    name: &Path,
    before: Option<&Stamp>,
) -> Result<Option<Metadata>, Obstacle> {
    let now = match parent.symlink_metadata(name) {
        Ok(now) => now,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return if before.is_some() { Err(Obstacle::Changed) } else { Ok(None) };
        }
        Err(error) => return Err(error.into()),
    };
    regular(&now)?;
    if now.permissions().readonly() {
        return Err(Obstacle::ReadOnly);
    }
    match before {
        Some(before) if before.holds(&Stamp::of(&now, None)) => Ok(Some(now)),
        _ => Err(Obstacle::Changed),
    }
}

/// Makes new names in a directory outlast a loss of power, where the file system can.
pub(super) fn make_durable(directory: &Dir) {
    let _ = handle(directory).and_then(|handle| handle.sync_all());
}

fn fresh_name() -> PathBuf {
    PathBuf::from(format!("{STAGED}{:0STAGED_DIGITS$x}", RandomState::new().hash_one(std::process::id())))
}

fn cannot_create(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem)
        && error.raw_os_error().is_some()
}

/// Overwrites the content of a file in a directory that takes no new file; puts the old content back if that fails.
fn in_place(parent: &Dir, name: &Path, content: &[u8]) -> Result<(), Obstacle> {
    let old = parent.read(name)?;
    let write = |content: &[u8]| -> io::Result<()> {
        let mut file = parent.open_with(name, OpenOptions::new().write(true))?;
        file.write_all(content)?;
        file.set_len(content.len() as u64)?;
        file.sync_all()
    };
    write(content).inspect_err(|_| drop(write(&old))).map_err(Obstacle::from)
}

/// Makes `other` a name of the file at `path` again.
fn relink(root: &Dir, path: &Path, other: &Path) -> io::Result<()> {
    let staged = other.with_file_name(fresh_name());
    root.hard_link(path, root, &staged)?;
    root.rename(&staged, root, other).inspect_err(|_| drop(root.remove_file(&staged)))
}
