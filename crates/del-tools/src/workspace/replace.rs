//! Replacing a file whole: the old content or the new one is there at every moment, and nothing outside is touched.

use std::hash::{BuildHasher, DefaultHasher, Hash, Hasher, RandomState};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{MutexGuard, PoisonError};
use std::time::SystemTime;

use cap_std::fs::{Dir, Metadata, OpenOptions};

use super::walk::{EntryKind, Flow, Order, Walk};
use super::{Obstacle, Place, Workspace, attributes, regular};

/// Entries looked at when the other names of a hard-linked file are sought.
const MAX_LOOKED_AT: usize = 200_000;

/// How a file was when it was looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stamp {
    len: u64,
    modified: Option<SystemTime>,
    identity: (u64, u64),
    /// Of the content, if all of it was read.
    hash: Option<u64>,
}

impl Stamp {
    /// The stamp of a file whose content, if given, was read whole.
    pub(crate) fn of(metadata: &Metadata, content: Option<&[u8]>) -> Self {
        let modified = metadata.modified().ok().map(cap_std::time::SystemTime::into_std);
        Self {
            len: metadata.len(),
            modified,
            identity: attributes::identity(metadata),
            hash: content.map(hash),
        }
    }

    /// Whether a file with the stamp `now` still has the content that `self` was made of.
    pub(crate) fn holds(&self, now: &Self) -> bool {
        let untouched = (self.len, self.modified, self.identity) == (now.len, now.modified, now.identity);
        untouched || (self.len == now.len && self.hash.is_some() && self.hash == now.hash)
    }
}

fn hash(content: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    content.hash(&mut hasher);
    hasher.finish()
}

impl Workspace {
    /// Keeps other writers out until it is dropped. Who compares a file with what was read of it holds it too, or a
    /// write between the look and the comparison would seem to come from outside.
    pub(crate) fn lock(&self) -> MutexGuard<'_, ()> {
        self.writing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Puts `content` in the place of what `before` is the stamp of, or creates the file, with its directories, when
    /// there was none. Says what else there is to know. The caller holds the lock.
    pub(crate) fn replace(
        &self,
        place: &Place,
        content: &[u8],
        before: Option<&Stamp>,
    ) -> Result<Option<&'static str>, Obstacle> {
        let Some(name) = place.path.file_name().filter(|_| place.path != Path::new(".")) else {
            return Err(Obstacle::Directory);
        };
        let root = self.dir(place);
        let parent = match place.path.parent().filter(|path| !path.as_os_str().is_empty()) {
            Some(path) => {
                root.create_dir_all(path)?;
                root.open_dir(path)?
            }
            None => root.try_clone()?,
        };
        let name = Path::new(name);
        let old = unchanged(&parent, name, before)?;
        let staged = match Staged::write(&parent, content, old.as_ref(), name) {
            Ok(staged) => staged,
            Err(error) if old.is_some() && cannot_create(&error) => {
                return in_place(&parent, name, content)
                    .map(|()| Some("[written in place: the directory is read-only]"));
            }
            Err(error) => return Err(error.into()),
        };
        let others = old.as_ref().map_or_else(Vec::new, |old| self.other_names(place, old));
        unchanged(&parent, name, before)?;
        staged.publish(name, old.is_none())?;
        let mut missed = old.as_ref().is_some_and(|old| attributes::links(old) > others.len() as u64 + 1);
        for other in others {
            missed |= relink(root, &place.path, &other).is_err();
        }
        // Not every file system can make a directory durable; the file's own content is.
        let _ = parent.into_std_file().sync_all();
        Ok(missed
            .then_some("[the file had another name (hard link) outside; that name keeps the old content]"))
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

/// The file as it is, if it is as it was.
fn unchanged(parent: &Dir, name: &Path, before: Option<&Stamp>) -> Result<Option<Metadata>, Obstacle> {
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

/// New content in a file of its own, beside the one it is to replace.
struct Staged<'a> {
    parent: &'a Dir,
    name: PathBuf,
    published: bool,
}

impl<'a> Staged<'a> {
    fn write(parent: &'a Dir, content: &[u8], old: Option<&Metadata>, old_name: &Path) -> io::Result<Self> {
        let name = fresh_name();
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        if old.is_some() {
            attributes::private(&mut options);
        }
        let mut file = parent.open_with(&name, &options)?;
        let staged = Self { parent, name, published: false };
        file.write_all(content)?;
        if let Some(old) = old {
            attributes::copy(parent, old_name, old, &file)?;
        }
        file.sync_all()?;
        Ok(staged)
    }

    fn publish(mut self, name: &Path, new: bool) -> Result<(), Obstacle> {
        if new {
            attributes::rename_new(self.parent, &self.name, name).map_err(|error| match error.kind() {
                io::ErrorKind::AlreadyExists => Obstacle::Changed,
                _ => error.into(),
            })?;
        } else {
            self.parent.rename(&self.name, self.parent, name)?;
        }
        self.published = true;
        Ok(())
    }
}

impl Drop for Staged<'_> {
    fn drop(&mut self) {
        if !self.published {
            let _ = self.parent.remove_file(&self.name);
        }
    }
}

fn fresh_name() -> PathBuf {
    PathBuf::from(format!(".del-{:016x}", RandomState::new().hash_one(std::process::id())))
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
