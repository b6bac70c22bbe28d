//! The folder of one session: its journal, and the objects that the journal names.

use std::collections::HashSet;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::hash::{BuildHasher, RandomState};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use rustix::fs::{FlockOperation, flock};
use sha2::{Digest, Sha256};

use super::record::{Line, sha256};

const JOURNAL: &str = "journal.jsonl";
const OBJECTS: &str = "objects";
/// Bytes of objects after which a session goes on in a new folder, so that the old one can be pruned.
const FULL: u64 = 256 << 20;

/// A session that is being written. Its journal is locked for as long as it lives.
#[derive(Debug)]
pub(super) struct Session {
    pub(super) folder: PathBuf,
    journal: File,
    kept: HashSet<String>,
    size: u64,
}

impl Session {
    /// Begins a session in `store`, which is there.
    pub(super) fn begin(store: &Path) -> io::Result<Self> {
        let folder = store.join(format!("{:013}-{}", now(), fresh_id()));
        private_folder(&folder.join(OBJECTS))?;
        let mut options = OpenOptions::new();
        let journal = options.append(true).create_new(true).mode(0o600).open(folder.join(JOURNAL))?;
        // Where locks do not work, sessions that crashed are told from running ones by their files alone.
        let _ = flock(&journal, FlockOperation::NonBlockingLockExclusive);
        sync(&folder)?;
        sync(store)?;
        Ok(Self { folder, journal, kept: HashSet::new(), size: 0 })
    }

    pub(super) fn is_full(&self) -> bool {
        self.size >= FULL
    }

    /// Keeps `content`; on disk before this returns.
    pub(super) fn keep(&mut self, content: &[u8]) -> io::Result<String> {
        let name = sha256(content);
        self.keep_as(&name, |file| file.write_all(content).map(|()| content.len() as u64))?;
        Ok(name)
    }

    /// Keeps what `read` gives, without holding it in memory. `name` is what it has been found to be.
    pub(super) fn keep_file(&mut self, name: &str, mut read: impl Read) -> io::Result<()> {
        self.keep_as(name, |file| {
            let mut through = Through { inner: file, hash: Sha256::new() };
            let length = io::copy(&mut read, &mut through)?;
            if hex::encode(through.hash.finalize()) == name { Ok(length) } else { Err(changed()) }
        })
    }

    /// Writes a line; on disk before this returns.
    pub(super) fn write(&mut self, line: &Line) -> io::Result<()> {
        let mut text = serde_json::to_vec(line)?;
        text.push(b'\n');
        self.journal.write_all(&text)?;
        self.journal.sync_data()
    }

    fn keep_as(&mut self, name: &str, write: impl FnOnce(&mut File) -> io::Result<u64>) -> io::Result<()> {
        if self.kept.contains(name) {
            return Ok(());
        }
        let path = object(&self.folder, name);
        let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path)?;
        let written = write(&mut file).and_then(|length| file.sync_all().map(|()| length));
        let length = written.inspect_err(|_| drop(fs::remove_file(&path)))?;
        sync(&self.folder.join(OBJECTS))?;
        self.size += length;
        self.kept.insert(name.to_owned());
        Ok(())
    }
}

/// The lines of the session in `folder`. A last line that was cut off by a crash was not yet meant.
pub(super) fn lines(folder: &Path) -> io::Result<Vec<Line>> {
    let text = fs::read(folder.join(JOURNAL))?;
    let whole = text.split_inclusive(|byte| *byte == b'\n').filter(|line| line.ends_with(b"\n"));
    Ok(whole.filter_map(|line| serde_json::from_slice(line).ok()).collect())
}

/// The content that was kept in `folder` under this name.
pub(super) fn content(folder: &Path, name: &str) -> io::Result<Vec<u8>> {
    let content = fs::read(object(folder, name))?;
    if sha256(&content) == name { Ok(content) } else { Err(changed()) }
}

/// Whether another process writes this session now.
pub(super) fn is_live(folder: &Path) -> bool {
    let Ok(journal) = File::open(folder.join(JOURNAL)) else { return false };
    matches!(flock(&journal, FlockOperation::NonBlockingLockShared), Err(rustix::io::Errno::WOULDBLOCK))
}

/// When the session was written last, and how many bytes it takes.
pub(super) fn extent(folder: &Path) -> (SystemTime, u64) {
    let journal = fs::metadata(folder.join(JOURNAL));
    let objects = fs::read_dir(folder.join(OBJECTS)).into_iter().flatten().flatten();
    let sizes = objects.filter_map(|entry| entry.metadata().ok()).map(|metadata| metadata.len());
    let length = journal.as_ref().map_or(0, fs::Metadata::len);
    let written = journal.or_else(|_| fs::metadata(folder)).and_then(|metadata| metadata.modified());
    (written.unwrap_or(UNIX_EPOCH), sizes.sum::<u64>() + length)
}

/// Makes a folder that only its owner can look into, with the folders above it.
pub(super) fn private_folder(folder: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(folder)
}

/// Milliseconds since 1970.
pub(super) fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

/// A short name that no other change has.
pub(super) fn fresh_id() -> String {
    let random = RandomState::new().hash_one(now());
    hex::encode(&random.to_be_bytes()[..4])
}

fn object(folder: &Path, name: &str) -> PathBuf {
    folder.join(OBJECTS).join(name)
}

fn sync(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

fn changed() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "its content is not what its name says")
}

/// Passes on what is written, and hashes it.
struct Through<'a> {
    inner: &'a mut File,
    hash: Sha256,
}

impl Write for Through<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.inner.write(bytes)?;
        self.hash.update(&bytes[..written]);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}
