//! Walking a tree, directory handle by directory handle: no link is followed and none can lead out.

use std::ffi::OsStr;
use std::fs::File;
use std::path::{Path, PathBuf};

use cap_std::fs::{Dir, Metadata};

use super::ignored::Rules;
use super::{Obstacle, Place, Workspace, on_one_line, open_regular};

/// One handle is open for each level.
const MAX_DEPTH: usize = 200;

/// How to walk.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Walk {
    /// Levels below the start; 1 is the directory itself.
    pub(crate) depth: usize,
    /// Leave out what ignore files name.
    pub(crate) respect_ignored: bool,
    /// Show names that start with a dot. `.git` is never shown.
    pub(crate) hidden: bool,
    /// In which order the entries of a directory come.
    pub(crate) order: Order,
}

/// The order of entries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Order {
    /// As the whole paths sort.
    Path,
    /// Directories before files, each by name without case.
    DirectoriesFirst,
}

/// What an entry is, links not followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum EntryKind {
    Directory,
    File,
    Link,
    Special,
}

/// Whether to go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Flow {
    On,
    Stop,
}

/// Something in a directory.
pub(crate) struct Entry<'a> {
    dir: &'a Dir,
    name: &'a OsStr,
    /// From where the walk started.
    pub(crate) path: &'a Path,
    pub(crate) kind: EntryKind,
    /// A directory that cannot be read.
    pub(crate) denied: bool,
    /// A directory that is not entered because it lies too deep.
    pub(crate) cut: bool,
}

impl Entry<'_> {
    /// The path from the start of the walk, on one line.
    pub(crate) fn shown(&self) -> String {
        on_one_line(&self.path.to_string_lossy())
    }

    /// Facts of the entry itself, not of what a link leads to.
    pub(crate) fn metadata(&self) -> Option<Metadata> {
        self.dir.symlink_metadata(self.name).ok()
    }

    /// What a link leads to, if it lies inside.
    pub(crate) fn followed(&self) -> Option<Metadata> {
        self.dir.metadata(self.name).ok()
    }

    /// What a link says, followed or not.
    pub(crate) fn link(&self) -> Option<PathBuf> {
        self.dir.read_link_contents(self.name).ok()
    }

    /// Opens the file.
    pub(crate) fn open(&self) -> Result<(File, Metadata), Obstacle> {
        open_regular(self.dir, Path::new(self.name))
    }
}

impl Workspace {
    /// Shows `visit` what is below `place`, each directory before what is in it.
    pub(crate) fn walk(
        &self,
        place: &Place,
        walk: Walk,
        visit: &mut dyn FnMut(&Entry<'_>) -> Flow,
    ) -> Result<(), Obstacle> {
        let dir = self.open_dir(place)?;
        let absolute = self.absolute(place);
        let rules = if walk.respect_ignored { self.rules_above(place) } else { Rules::default() };
        let mut walker = Walker { walk, rules, absolute, path: PathBuf::new(), visit };
        walker.directory(&dir, 1)?;
        Ok(())
    }

    /// The rules from the top of the repository down to, but not of, `place`.
    fn rules_above(&self, place: &Place) -> Rules {
        let root = &self.roots[place.root];
        let mut rules = Rules::above(&root.path);
        let mut within = PathBuf::new();
        for component in place.path.components().filter(|_| place.path != Path::new(".")) {
            let dir =
                if within.as_os_str().is_empty() { root.dir.try_clone() } else { root.dir.open_dir(&within) };
            if let Ok(dir) = dir {
                rules.enter(&dir, &root.path.join(&within));
            }
            within.push(component);
        }
        rules
    }
}

struct Walker<'a> {
    walk: Walk,
    rules: Rules,
    absolute: PathBuf,
    path: PathBuf,
    visit: &'a mut dyn FnMut(&Entry<'_>) -> Flow,
}

impl Walker<'_> {
    fn directory(&mut self, dir: &Dir, depth: usize) -> Result<Flow, Obstacle> {
        let outer = self.rules.depth();
        if self.walk.respect_ignored {
            let at = self.absolute.join(&self.path);
            self.rules.enter(dir, &at);
        }
        let flow = self.entries(dir, depth);
        self.rules.leave(outer);
        flow
    }

    fn entries(&mut self, dir: &Dir, depth: usize) -> Result<Flow, Obstacle> {
        let mut entries = Vec::new();
        for entry in dir.entries()? {
            // An entry that vanishes while we look is not there.
            let Ok(entry) = entry else { continue };
            let Ok(kind) = entry.file_type() else { continue };
            let kind = match () {
                () if kind.is_dir() => EntryKind::Directory,
                () if kind.is_symlink() => EntryKind::Link,
                () if kind.is_file() => EntryKind::File,
                () => EntryKind::Special,
            };
            let name = entry.file_name();
            let hidden = name.as_encoded_bytes().starts_with(b".") && !self.walk.hidden;
            if hidden || name == ".git" {
                continue;
            }
            if self.walk.respect_ignored {
                let path = self.absolute.join(&self.path).join(&name);
                if self.rules.leave_out(&path, kind == EntryKind::Directory) {
                    continue;
                }
            }
            let key = sort_key(self.walk.order, kind, name.as_encoded_bytes());
            entries.push((key, name, kind));
        }
        entries.sort();
        for (_, name, kind) in entries {
            self.path.push(&name);
            let flow = self.entry(dir, &name, kind, depth);
            self.path.pop();
            if flow == Flow::Stop {
                return Ok(Flow::Stop);
            }
        }
        Ok(Flow::On)
    }

    fn entry(&mut self, dir: &Dir, name: &OsStr, kind: EntryKind, depth: usize) -> Flow {
        let cut = kind == EntryKind::Directory && depth >= self.walk.depth.min(MAX_DEPTH);
        let inner = if kind == EntryKind::Directory && !cut { dir.open_dir(name).ok() } else { None };
        let readable = inner.as_ref().is_some_and(|dir| dir.entries().is_ok());
        let denied = kind == EntryKind::Directory && !cut && !readable;
        let entry = Entry { dir, name, path: &self.path, kind, denied, cut };
        if (self.visit)(&entry) == Flow::Stop {
            return Flow::Stop;
        }
        match inner {
            Some(inner) if readable => self.directory(&inner, depth + 1).unwrap_or(Flow::On),
            _ => Flow::On,
        }
    }
}

fn sort_key(order: Order, kind: EntryKind, name: &[u8]) -> (bool, Vec<u8>) {
    match order {
        Order::Path => {
            let mut key = name.to_vec();
            if kind == EntryKind::Directory {
                key.push(b'/');
            }
            (false, key)
        }
        Order::DirectoriesFirst => (kind != EntryKind::Directory, name.to_ascii_lowercase()),
    }
}
