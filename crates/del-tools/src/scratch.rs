//! Private directories for what is of use only while the program runs.

use std::fs::{self, DirEntry, File, OpenOptions, Permissions};
use std::io;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, Once, PoisonError};
use std::thread;

use rustix::fs::{FlockOperation, OFlags, flock};
use rustix::io::Errno;
use rustix::process::{Pid, geteuid, test_kill_process};
use tempfile::TempDir;

/// A private directory, which is removed with this.
#[derive(Debug)]
pub struct Scratch {
    directory: TempDir,
    /// Held as long as the process lives, however it ends.
    _lock: File,
}

/// Those that are there.
static LIVE: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());
static TIDIED: Once = Once::new();

/// What only the owner may enter.
const MODE: u32 = 0o700;
/// Random characters at the end of a name.
const RANDOM: usize = 6;
/// Names begin so; behind it may stand what for, and then the number of the process.
const PREFIX: &str = "del-";

impl Scratch {
    /// A new one, whose name says what it is `for_what`. Fails where the system's directory for such cannot be written
    /// to. The first one of a process removes those of processes that were killed, beside what else is done.
    pub fn new(for_what: &str) -> io::Result<Self> {
        let top = std::env::temp_dir();
        TIDIED.call_once(|| {
            let top = top.clone();
            // Without the thread they stay for another time.
            let _ = thread::Builder::new().name("tidy".to_owned()).spawn(move || remove_left(&top));
        });
        let dash = if for_what.is_empty() { "" } else { "-" };
        let directory = tempfile::Builder::new()
            .prefix(&format!("{PREFIX}{for_what}{dash}{}-", std::process::id()))
            .rand_bytes(RANDOM)
            .permissions(Permissions::from_mode(MODE))
            .tempdir_in(top)?;
        let lock = open(directory.path())?;
        // Where there are no locks, none can be had by whoever cleans up either.
        let _ = flock(&lock, FlockOperation::NonBlockingLockExclusive);
        LIVE.lock().unwrap_or_else(PoisonError::into_inner).push(directory.path().to_owned());
        Ok(Self { directory, _lock: lock })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        self.directory.path()
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let mut live = LIVE.lock().unwrap_or_else(PoisonError::into_inner);
        live.retain(|path| path != self.directory.path());
    }
}

/// Removes all of them: for a program that is about to end without dropping what it has.
pub fn remove_scratch() {
    for path in std::mem::take(&mut *LIVE.lock().unwrap_or_else(PoisonError::into_inner)) {
        // What cannot be removed is for whoever cleans up after everybody.
        let _ = fs::remove_dir_all(path);
    }
}

/// Removes from `top` what processes of this user left that are dead.
fn remove_left(top: &Path) {
    for entry in fs::read_dir(top).into_iter().flatten().flatten() {
        if let Some(process) = maker(&entry)
            && is_dead(process)
            && is_left(&entry).unwrap_or(false)
        {
            // No link is followed, not in the place of the directory either.
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

/// The process that made this, if it is named as scratch directories are.
fn maker(entry: &DirEntry) -> Option<Pid> {
    let name = entry.file_name();
    let (before, random) = name.to_str()?.strip_prefix(PREFIX)?.rsplit_once('-')?;
    let number = before.rsplit_once('-').map_or(before, |(_, number)| number);
    let random = random.len() == RANDOM && random.bytes().all(|byte| byte.is_ascii_alphanumeric());
    let digits = number.bytes().all(|byte| byte.is_ascii_digit());
    if random && digits { Pid::from_raw(number.parse().ok()?) } else { None }
}

fn is_dead(process: Pid) -> bool {
    test_kill_process(process) == Err(Errno::SRCH)
}

/// Whether it is such a directory of this user, and no process holds it: one in another container is not seen by its
/// number, but the lock is.
fn is_left(entry: &DirEntry) -> io::Result<bool> {
    let found = entry.metadata()?;
    if !found.is_dir() || found.uid() != geteuid().as_raw() || found.mode() & 0o777 != MODE {
        return Ok(false);
    }
    let directory = open(&entry.path())?;
    let held = flock(&directory, FlockOperation::NonBlockingLockExclusive).is_err();
    let same = directory.metadata()?;
    Ok(!held && (same.dev(), same.ino()) == (found.dev(), found.ino()))
}

/// A directory, and never where a link to one leads.
fn open(path: &Path) -> io::Result<File> {
    let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW;
    OpenOptions::new().read(true).custom_flags(flags.bits().cast_signed()).open(path)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{DirBuilderExt, symlink};
    use std::process::Command;

    use super::*;

    /// The number of a process that was and is no more.
    fn dead() -> u32 {
        let mut child = Command::new("true").spawn().unwrap();
        let number = child.id();
        child.wait().unwrap();
        number
    }

    fn made(top: &Path, name: &str, mode: u32) -> PathBuf {
        let path = top.join(name);
        fs::DirBuilder::new().mode(mode).create(&path).unwrap();
        fs::write(path.join("output-1.txt"), "x").unwrap();
        path
    }

    #[test]
    fn nobody_else_can_look_into_one() {
        let scratch = Scratch::new("").unwrap();
        assert_eq!(fs::metadata(scratch.path()).unwrap().mode() & 0o777, MODE);
        let mut entries = fs::read_dir(scratch.path().parent().unwrap()).unwrap().flatten();
        let entry = entries.find(|entry| entry.path() == scratch.path()).unwrap();
        assert!(maker(&entry).is_some() && !is_left(&entry).unwrap());
    }

    #[test]
    fn what_a_killed_process_left_is_removed_and_nothing_else() {
        let top = tempfile::tempdir().unwrap();
        let (top, dead, own) = (top.path(), dead(), std::process::id());
        let elsewhere = tempfile::tempdir().unwrap();
        fs::write(elsewhere.path().join("kept"), "x").unwrap();
        let gone = [
            made(top, &format!("del-{dead}-aB3xY9"), 0o700),
            made(top, &format!("del-look-{dead}-aB3xY9"), 0o700),
        ];
        symlink(elsewhere.path(), gone[0].join("link")).unwrap();
        let kept = [
            made(top, &format!("del-{own}-aB3xY9"), 0o700),
            made(top, &format!("del-{dead}-aB3xY0"), 0o755),
            made(top, &format!("del-{dead}-aB3xY"), 0o700),
            made(top, &format!("del-{dead}-notes."), 0o700),
            made(top, &format!("del-x{dead}-aB3xY9"), 0o700),
            made(top, &format!("my-{dead}-aB3xY9"), 0o700),
            made(top, "del-notes", 0o700),
            made(top, "del--1-aB3xY9", 0o700),
            made(top, "del-0-aB3xY9", 0o700),
        ];
        let held = made(top, &format!("del-look-{dead}-aB3xY1"), 0o700);
        let lock = open(&held).unwrap();
        flock(&lock, FlockOperation::NonBlockingLockExclusive).unwrap();
        let link = top.join(format!("del-{dead}-aB3xY2"));
        symlink(elsewhere.path(), &link).unwrap();
        let file = top.join(format!("del-{dead}-aB3xY3"));
        fs::write(&file, "x").unwrap();
        remove_left(top);
        assert!(gone.iter().all(|path| !path.exists()), "{gone:?}");
        for path in kept.iter().chain([&held, &link, &file, &elsewhere.path().join("kept")]) {
            assert!(path.symlink_metadata().is_ok(), "{path:?}");
        }
    }
}
