//! Walking a tree, directory handle by directory handle: no link is followed and none can lead out.

use std::ffi::OsStr;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use cap_std::fs::{Dir, Metadata, ReadDir};

use super::ignored::Rules;
use super::listing::{Listed, list};
use super::withheld::Withheld;
use super::{Obstacle, Place, Workspace, open_regular};
use crate::text::on_one_line;

/// One handle is open for each level.
const MAX_DEPTH: usize = 200;
/// What is said where time ran out.
pub(crate) const LATE: &str = "[stopped after 20 s; not everything was looked at. Narrow path.]";
/// After this a walk ends where it is.
pub(crate) const PATIENCE: Duration = Duration::from_secs(20);

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
    pub(super) dir: &'a Arc<Dir>,
    pub(super) name: &'a OsStr,
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
    #[cfg(feature = "code")]
    pub(crate) fn open(&self) -> Result<(File, Metadata), Obstacle> {
        open_regular(self.dir, Path::new(self.name))
    }

    /// The file, to be opened once the walk has gone on.
    pub(crate) fn keep(&self) -> Kept {
        Kept { dir: Arc::clone(self.dir), path: self.path.to_owned() }
    }
}

/// A file that a walk found, to be opened later or by another thread. It holds its directory open.
pub(crate) struct Kept {
    dir: Arc<Dir>,
    /// From where the walk started.
    path: PathBuf,
}

impl Kept {
    /// The path from the start of the walk, on one line.
    pub(crate) fn shown(&self) -> String {
        on_one_line(&self.path.to_string_lossy())
    }

    /// Opens the file.
    pub(crate) fn open(&self) -> Result<(File, Metadata), Obstacle> {
        let name = self.path.file_name().ok_or(Obstacle::Missing)?;
        open_regular(&self.dir, Path::new(name))
    }
}

impl Workspace {
    /// Shows `visit` what is below `place`, each directory before what is in it. True when time ran out on the way.
    pub(crate) fn walk(
        &self,
        place: &Place,
        walk: Walk,
        visit: &mut dyn FnMut(&Entry<'_>) -> Flow,
    ) -> Result<bool, Obstacle> {
        let Start { dir, entries, rules, absolute, deadline } = self.start(place, walk)?;
        let withheld = &self.withheld;
        let mut walker = Walker { walk, rules, absolute, withheld, path: PathBuf::new(), deadline, visit };
        walker.directory(&dir, entries, 1);
        Ok(Instant::now() > deadline)
    }

    pub(super) fn start(&self, place: &Place, walk: Walk) -> Result<Start, Obstacle> {
        let dir = self.open_dir(place)?;
        let entries = dir.entries()?;
        let rules = if walk.respect_ignored { self.rules_above(place) } else { Rules::default() };
        let deadline = Instant::now() + PATIENCE;
        Ok(Start { dir: Arc::new(dir), entries, rules, absolute: self.absolute(place), deadline })
    }

    /// The rules from the top of the repository down to, but not of, `place`.
    fn rules_above(&self, place: &Place) -> Rules {
        let root = self.root_at(place.root);
        let mut rules = Rules::above(&root.path);
        let mut within = PathBuf::new();
        for component in place.path.components().filter(|_| place.path != Path::new(".")) {
            let dir =
                if within.as_os_str().is_empty() { root.dir.try_clone() } else { root.dir.open_dir(&within) };
            if let Ok(dir) = dir {
                rules.enter(&dir, &root.path.join(&within), |_| true);
            }
            within.push(component);
        }
        rules
    }
}

/// The directory in which a walk starts.
pub(super) struct Start {
    pub(super) dir: Arc<Dir>,
    pub(super) entries: ReadDir,
    /// The rules that hold there, without its own.
    pub(super) rules: Rules,
    pub(super) absolute: PathBuf,
    /// When the walk ends, wherever it is.
    pub(super) deadline: Instant,
}

impl Walk {
    /// Whether a directory so many levels down is shown but not entered.
    pub(super) fn cuts(self, kind: EntryKind, depth: usize) -> bool {
        kind == EntryKind::Directory && depth >= self.depth.min(MAX_DEPTH)
    }
}

/// Opens the directory `name` if it can be read.
pub(super) fn enter(dir: &Dir, name: &OsStr) -> Option<(Arc<Dir>, ReadDir)> {
    let inner = dir.open_dir(name).ok()?;
    let entries = inner.entries().ok()?;
    Some((Arc::new(inner), entries))
}

struct Walker<'a> {
    walk: Walk,
    rules: Rules,
    absolute: PathBuf,
    withheld: &'a Withheld,
    path: PathBuf,
    deadline: Instant,
    visit: &'a mut dyn FnMut(&Entry<'_>) -> Flow,
}

impl Walker<'_> {
    fn directory(&mut self, dir: &Arc<Dir>, entries: ReadDir, depth: usize) -> Flow {
        let outer = self.rules.depth();
        let at = self.absolute.join(&self.path);
        let mut listed =
            list(dir, entries, &at, self.walk, &mut self.rules, self.withheld, self.deadline).entries;
        listed.sort_unstable_by(|one, other| one.compare(other, self.walk.order));
        let mut flow = Flow::On;
        for Listed { name, kind } in listed {
            self.path.push(&name);
            flow = self.entry(dir, &name, kind, depth);
            self.path.pop();
            if flow == Flow::Stop {
                break;
            }
        }
        self.rules.leave(outer);
        flow
    }

    fn entry(&mut self, dir: &Arc<Dir>, name: &OsStr, kind: EntryKind, depth: usize) -> Flow {
        if Instant::now() > self.deadline {
            return Flow::Stop;
        }
        let cut = self.walk.cuts(kind, depth);
        let entered = kind == EntryKind::Directory && !cut;
        let inner = if entered { enter(dir, name) } else { None };
        let denied = entered && inner.is_none();
        let entry = Entry { dir, name, path: &self.path, kind, denied, cut };
        if (self.visit)(&entry) == Flow::Stop {
            return Flow::Stop;
        }
        match inner {
            Some((inner, entries)) => self.directory(&inner, entries, depth + 1),
            None => Flow::On,
        }
    }
}
