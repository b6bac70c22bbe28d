//! What stood there before: kept for every change that a tool makes, so that it can be taken back.
//!
//! A store is a folder outside the workspace, with a folder in it for each session. A session has objects, which are
//! contents of files under their SHA-256, and a journal. Before a file is touched, what stands there is an object on
//! disk and the change a line of the journal on disk; so whenever the process dies, the old content can be had again.

mod record;
mod session;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use record::Line;
pub(crate) use record::{Record, State, Touched, sha256_of};
use session::Session;

/// Sessions that nothing was written to for this long are dropped.
const KEPT_FOR: Duration = Duration::from_secs(30 * 24 * 60 * 60);
/// Bytes that all sessions may take; the oldest are dropped first.
const KEPT_AT_MOST: u64 = 1 << 30;

/// Where the states of files before each change are kept.
///
/// Only its owner can look into it. Sessions that were not written to for 30 days are dropped, and the oldest ones when
/// all take more than 1 GiB.
#[derive(Debug)]
pub struct UndoStore {
    folder: PathBuf,
    /// Begun with the first change.
    session: Mutex<Option<Session>>,
}

/// A change that has been written down and is not over yet.
#[derive(Debug)]
pub(crate) struct Open<'a> {
    store: &'a UndoStore,
    record: Record,
}

/// A change in the journals.
#[derive(Debug, Clone)]
pub(crate) struct Kept {
    pub(crate) record: Record,
    /// Whether the journal says that it has happened.
    pub(crate) done: bool,
    folder: PathBuf,
}

impl UndoStore {
    /// The store in `folder`, which is made if it is not there.
    pub fn open(folder: &Path) -> io::Result<Self> {
        session::private_folder(folder)?;
        Ok(Self { folder: fs::canonicalize(folder)?, session: Mutex::new(None) })
    }

    /// The folder, absolute and without links.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Keeps `content`, which a change is about to be written down with.
    pub(crate) fn keep(&self, content: &[u8]) -> io::Result<String> {
        self.with_session(|session| session.keep(content))
    }

    /// Keeps what `read` gives, which has been found to be `name`.
    pub(crate) fn keep_file(&self, name: &str, read: impl io::Read) -> io::Result<()> {
        self.with_session(|session| session.keep_file(name, read))
    }

    /// Writes down what is about to happen.
    pub(crate) fn begin(
        &self,
        tool: &str,
        directory: &Path,
        files: Vec<Touched>,
        undoes: Vec<String>,
    ) -> io::Result<Open<'_>> {
        let (id, time) = (session::fresh_id(), session::now());
        let (tool, directory) = (tool.to_owned(), directory.to_owned());
        let record = Record { id, time, tool, directory, files, undoes };
        self.with_session(|session| session.write(&Line::Change(record.clone())))?;
        Ok(Open { store: self, record })
    }

    /// The changes that were made in `directory`, oldest first. Those that failed are left out, and so are those that
    /// another process is about to make.
    pub(crate) fn changes(&self, directory: &Path) -> Vec<Kept> {
        let own = self.session().as_ref().map(|session| session.folder.clone());
        let mut changes = Vec::new();
        for folder in self.sessions() {
            let mut found: Vec<Kept> = Vec::new();
            // A session that vanishes while we look is not there.
            for line in session::lines(&folder).unwrap_or_default() {
                match line {
                    Line::Change(record) if record.directory == directory => {
                        found.push(Kept { record, done: false, folder: folder.clone() });
                    }
                    Line::Change(_) => {}
                    Line::Done(id) => {
                        found
                            .iter_mut()
                            .filter(|kept| kept.record.id == id)
                            .for_each(|kept| kept.done = true);
                    }
                    Line::Void(id) => found.retain(|kept| kept.record.id != id),
                }
            }
            if found.iter().any(|kept| !kept.done)
                && own.as_ref() != Some(&folder)
                && session::is_live(&folder)
            {
                found.retain(|kept| kept.done);
            }
            changes.append(&mut found);
        }
        changes.sort_by_key(|kept| kept.record.time);
        changes
    }

    /// The session that is being written; begun anew when there is none or it has become too large.
    fn with_session<T>(&self, act: impl FnOnce(&mut Session) -> io::Result<T>) -> io::Result<T> {
        let mut session = self.session();
        let current = match session.take() {
            Some(current) if current.folder.is_dir() => current,
            _ => {
                self.prune();
                Session::begin(&self.folder)?
            }
        };
        act(session.insert(current))
    }

    fn session(&self) -> MutexGuard<'_, Option<Session>> {
        self.session.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The folders of all sessions, oldest first.
    fn sessions(&self) -> Vec<PathBuf> {
        let entries = fs::read_dir(&self.folder).into_iter().flatten().flatten();
        let mut folders: Vec<_> = entries.map(|entry| entry.path()).filter(|path| path.is_dir()).collect();
        folders.sort();
        folders
    }

    /// Drops sessions that are too old or too many. What cannot be dropped stays.
    fn prune(&self) {
        let now = SystemTime::now();
        let mut sessions: Vec<_> =
            self.sessions().into_iter().map(|folder| (session::extent(&folder), folder)).collect();
        sessions.sort();
        let mut total: u64 = sessions.iter().map(|((_, size), _)| size).sum();
        for ((written, size), folder) in sessions {
            let old = now.duration_since(written).is_ok_and(|age| age > KEPT_FOR);
            if (old || total > KEPT_AT_MOST)
                && !session::is_live(&folder)
                && fs::remove_dir_all(&folder).is_ok()
            {
                total -= size;
            }
        }
    }
}

impl Kept {
    /// The content that was kept under this name.
    pub(crate) fn content(&self, sha256: &str) -> io::Result<Vec<u8>> {
        session::content(&self.folder, sha256)
    }
}

impl Open<'_> {
    /// What stood at `path`.
    pub(crate) fn before(&self, path: &Path) -> Option<&State> {
        self.record.files.iter().find(|file| file.path == path).map(|file| &file.before)
    }

    /// The content that was kept under this name.
    pub(crate) fn content(&self, sha256: &str) -> io::Result<Vec<u8>> {
        let folder = self.store.session().as_ref().map(|session| session.folder.clone());
        session::content(&folder.ok_or(io::ErrorKind::NotFound)?, sha256)
    }

    /// It has happened.
    pub(crate) fn done(self) {
        self.close(Line::Done);
    }

    /// It failed, and everything is as it was.
    pub(crate) fn void(self) {
        self.close(Line::Void);
    }

    /// Without this line the files themselves say what has become of the change.
    fn close(self, line: fn(String) -> Line) {
        let mut session = self.store.session();
        if let Some(current) = session.as_mut() {
            let _ = current.write(&line(self.record.id));
            if current.is_full() {
                *session = None;
            }
        }
    }
}
