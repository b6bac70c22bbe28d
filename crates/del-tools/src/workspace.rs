//! Confinement: the directories that tools may touch, and every way of opening something in them.
//!
//! A path is first resolved by hand, link by link, which says what is meant and where it lies. What is then opened is
//! opened beneath the root's own handle, so a link swapped in between leads nowhere: the answer to "what is meant" is
//! advice, the handle is the boundary.

mod attributes;
mod entries;
mod ignored;
mod listing;
mod newlines;
mod replace;
mod resolve;
mod roam;
mod stamp;
mod walk;
mod withheld;
mod writing;

use std::collections::HashSet;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock};

use cap_std::ambient_authority;
use cap_std::fs::{Dir, FileTypeExt, Metadata, MetadataExt, OpenOptions, OpenOptionsExt};
use rustix::fs::OFlags;

use crate::scratch::Scratch;
use crate::system_error::plain_error;
use crate::text::on_one_line;

pub(crate) use entries::{Found, SET_GROUP};
pub(crate) use replace::Staged;
pub(crate) use roam::Roamed;
pub(crate) use stamp::Stamp;
pub(crate) use walk::{Entry, EntryKind, Flow, Kept, LATE, Order, Walk};
pub(crate) use writing::Writing;

/// Why a directory could not become a workspace.
#[derive(Debug, thiserror::Error)]
pub enum WorkspaceError {
    /// The directory cannot be opened.
    #[error("cannot open {path} as a working directory: {source}")]
    Open {
        /// The directory, as given.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// A name that no tool has.
    #[error("unknown tool '{name}'; expected one of: {known}")]
    UnknownTool {
        /// The name, as given.
        name: String,
        /// The tools there are.
        known: String,
    },
}

/// The directories that tools may touch.
#[derive(Debug)]
pub(crate) struct Workspace {
    roots: Vec<Root>,
    /// Held while a file is replaced, so that edits of one file follow each other.
    writing: Mutex<()>,
    /// The directories in which there is nothing left of processes that died.
    cleared: Mutex<HashSet<(u64, u64)>>,
    /// A directory in which nothing is written even where it lies inside.
    guarded: Option<PathBuf>,
    /// What a rule denies to be read.
    withheld: withheld::Withheld,
    /// A private directory for output that is too long to show: it can be read, once there is any.
    shelf: OnceLock<Option<Shelf>>,
}

#[derive(Debug)]
struct Shelf {
    root: Root,
    _scratch: Scratch,
}

#[derive(Debug)]
struct Root {
    dir: Dir,
    path: PathBuf,
    access: Access,
}

impl Root {
    fn open(path: &Path, access: Access) -> io::Result<Self> {
        let path = std::fs::canonicalize(path)?;
        let dir = Dir::open_ambient_dir(&path, ambient_authority())?;
        Ok(Self { dir, path, access })
    }
}

/// What a tool wants with a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Access {
    Read,
    Write,
}

/// A path that lies in a workspace: resolved, with no link left in it when it was looked at.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Place {
    root: usize,
    path: PathBuf,
    /// The path for people and models: relative to the working directory, `.` for itself, absolute elsewhere.
    pub(crate) shown: String,
    /// False when nothing was there.
    pub(crate) exists: bool,
}

impl Place {
    /// The path beneath its root, `.` for the root itself.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// What stands before the paths of what lies in this directory, when they are shown.
    pub(crate) fn prefix(&self) -> String {
        if self.shown == "." { String::new() } else { format!("{}/", self.shown) }
    }

    /// Where the place is once `from`, at or above it, has become `to`.
    pub(crate) fn moved(&self, from: &Self, to: &Self) -> Self {
        match self.path.strip_prefix(&from.path) {
            Ok(rest) if !rest.as_os_str().is_empty() => Self { path: to.path.join(rest), ..to.clone() },
            _ => to.clone(),
        }
    }

    /// The same place when something is there.
    pub(crate) fn present(&self) -> Self {
        Self { exists: true, ..self.clone() }
    }
}

/// What stands in the way of opening a place.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Obstacle {
    #[error("nothing is there")]
    Missing,
    #[error("a link that leads nowhere")]
    Dangling,
    #[error("links that lead to each other")]
    Loop,
    #[error("outside the workspace")]
    Outside,
    #[error("a directory")]
    Directory,
    #[error("a file")]
    NotDirectory,
    #[error("a {0}")]
    Special(&'static str),
    #[error("read-only")]
    ReadOnly,
    #[error("changed meanwhile")]
    Changed,
    #[error("{}", plain_error(.0))]
    System(io::Error),
}

impl From<io::Error> for Obstacle {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::NotFound => Self::Missing,
            io::ErrorKind::NotADirectory => Self::NotDirectory,
            io::ErrorKind::IsADirectory => Self::Directory,
            // The sandboxed open refuses without an error number of the system's: a link was swapped under us.
            io::ErrorKind::PermissionDenied if error.raw_os_error().is_none() => Self::Outside,
            _ => Self::System(error),
        }
    }
}

impl Workspace {
    /// A workspace in `root`, with further directories that may be read and written.
    pub(crate) fn open(root: &Path, allowed: &[PathBuf]) -> Result<Self, WorkspaceError> {
        let open = |path: &Path| {
            Root::open(path, Access::Write)
                .map_err(|source| WorkspaceError::Open { path: path.to_owned(), source })
        };
        let mut roots = vec![open(root)?];
        for path in allowed {
            roots.push(open(path)?);
        }
        Ok(Self {
            roots,
            writing: Mutex::new(()),
            cleared: Mutex::default(),
            guarded: None,
            withheld: withheld::Withheld::default(),
            shelf: OnceLock::new(),
        })
    }

    /// A private directory for output that is too long to show, which tools may read. It is made when it is first asked
    /// for; nothing where the system has no place for it.
    pub(crate) fn shelf(&self) -> Option<&Path> {
        let made = self.shelf.get_or_init(|| {
            let scratch = Scratch::new("").ok()?;
            Some(Shelf { root: Root::open(scratch.path(), Access::Read).ok()?, _scratch: scratch })
        });
        made.as_ref().map(|shelf| shelf.root.path.as_path())
    }

    /// All directories in which a place may lie; what is made later stands last.
    fn all_roots(&self) -> impl Iterator<Item = &Root> {
        let shelf = self.shelf.get().and_then(Option::as_ref).map(|shelf| &shelf.root);
        self.roots.iter().chain(shelf)
    }

    /// The directory in which a place lies: none of them goes before the workspace does.
    fn root_at(&self, index: usize) -> &Root {
        self.all_roots().nth(index).unwrap_or(&self.roots[0])
    }

    /// Lets nothing be written in `path`, which is absolute and without links.
    pub(crate) fn guard(&mut self, path: &Path) {
        self.guarded = Some(path.to_owned());
    }

    /// The working directory, absolute and without links.
    pub(crate) fn root(&self) -> &Path {
        &self.roots[0].path
    }

    /// The absolute path of a place, for programs that take a path.
    pub(crate) fn absolute(&self, place: &Place) -> PathBuf {
        match place.path.to_str() {
            Some(".") => self.root_at(place.root).path.clone(),
            _ => self.root_at(place.root).path.join(&place.path),
        }
    }

    /// The directories that may be written, for the message of a refusal.
    pub(crate) fn allowed(&self) -> impl Iterator<Item = String> {
        self.roots.iter().filter(|root| root.access == Access::Write).map(|root| without_home(&root.path))
    }

    /// The directories that may be written.
    pub(crate) fn writable(&self) -> Vec<PathBuf> {
        let roots = self.roots.iter().filter(|root| root.access == Access::Write);
        roots.map(|root| root.path.clone()).collect()
    }

    /// What is there, links followed.
    pub(crate) fn metadata(&self, place: &Place) -> Result<Metadata, Obstacle> {
        Ok(self.dir(place).metadata(&place.path)?)
    }

    /// What the file at this absolute path has in common with all of its names, where it has several.
    pub(crate) fn same_file(&self, path: &Path) -> Option<(u64, u64)> {
        let place = self.entry_at(path).ok().filter(|place| self.absolute(place) == path)?;
        let metadata = self.dir(&place).symlink_metadata(&place.path).ok()?;
        (metadata.is_file() && metadata.nlink() > 1).then(|| (metadata.dev(), metadata.ino()))
    }

    /// Opens a regular file for reading. Pipes, sockets and devices are refused, not waited for.
    pub(crate) fn open_file(&self, place: &Place) -> Result<(File, Metadata), Obstacle> {
        regular(&self.metadata(place)?)?;
        open_regular(self.dir(place), &place.path)
    }

    /// Opens a directory.
    pub(crate) fn open_dir(&self, place: &Place) -> Result<Dir, Obstacle> {
        if !self.metadata(place)?.is_dir() {
            return Err(Obstacle::NotDirectory);
        }
        Ok(self.dir(place).open_dir(&place.path)?)
    }

    /// Whether a directory above `place` is what `.git` is elsewhere: a bare repository, or one that is kept apart.
    pub(crate) fn lies_in_repository(&self, place: &Place) -> bool {
        let dir = self.dir(place);
        let has = |above: &Path, name: &str| dir.symlink_metadata(above.join(name)).is_ok();
        place
            .path
            .ancestors()
            .skip(1)
            .any(|above| ["HEAD", "objects", "refs"].into_iter().all(|name| has(above, name)))
    }

    fn dir(&self, place: &Place) -> &Dir {
        &self.root_at(place.root).dir
    }
}

/// Opens `path` beneath `dir` if it is a regular file, without waiting for a writer at the other end of a pipe.
fn open_regular(dir: &Dir, path: &Path) -> Result<(File, Metadata), Obstacle> {
    let mut options = OpenOptions::new();
    options.read(true).custom_flags(OFlags::NONBLOCK.bits().cast_signed());
    let file = dir.open_with(path, &options)?;
    let metadata = file.metadata()?;
    regular(&metadata)?;
    Ok((file.into_std(), metadata))
}

fn regular(metadata: &Metadata) -> Result<(), Obstacle> {
    if metadata.is_file() {
        return Ok(());
    }
    if metadata.is_dir() {
        return Err(Obstacle::Directory);
    }
    Err(Obstacle::Special(special(metadata)))
}

fn special(metadata: &Metadata) -> &'static str {
    let kind = metadata.file_type();
    match () {
        () if kind.is_fifo() => "FIFO",
        () if kind.is_socket() => "socket",
        () if kind.is_block_device() || kind.is_char_device() => "device",
        () => "special file",
    }
}

/// A path for people, with the home directory as `~`.
pub(crate) fn without_home(path: &Path) -> String {
    let home = std::env::home_dir().filter(|home| home.parent().is_some());
    let text = match home.and_then(|home| path.strip_prefix(home).ok()) {
        Some(rest) if rest.as_os_str().is_empty() => "~".to_owned(),
        Some(rest) => format!("~/{}", rest.display()),
        None => path.display().to_string(),
    };
    on_one_line(&text)
}
