//! Keeping writers apart, and clearing up behind those that died.

use std::collections::HashSet;
use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::{MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use cap_std::fs::Dir;
use rustix::fs::{FlockOperation, flock};

use super::{Place, Workspace, attributes};

/// How new content is called until it takes the place of the old.
pub(super) const STAGED: &str = ".del-";
/// Hexadecimal digits behind it.
pub(super) const STAGED_DIGITS: usize = 16;
/// A file under such a name that is older was left behind by a process that died.
const LEFT_BEHIND: Duration = Duration::from_secs(600);

/// Directories that are locked at most; a handle is open for each.
const MAX_LOCKED: usize = 64;
/// How often, and how far apart, a lock that another process holds is tried.
const PATIENCE: (u32, Duration) = (40, Duration::from_millis(50));

/// While it lives, nobody else writes: no other call of this toolbox, and in the directories of the places that it was
/// made for no other process that is Del, as long as that is not held up for seconds.
#[derive(Debug)]
pub(crate) struct Writing<'a> {
    _own: MutexGuard<'a, ()>,
    _directories: Vec<File>,
}

impl Workspace {
    /// Keeps other writers out until it is dropped. Who compares a file with what was read of it holds it too, or a
    /// write between the look and the comparison would seem to come from outside.
    pub(crate) fn lock(&self) -> MutexGuard<'_, ()> {
        self.writing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps other writers out of `places`, those of other processes too.
    pub(crate) fn writing<'p>(&self, places: impl IntoIterator<Item = &'p Place>) -> Writing<'_> {
        let own = self.lock();
        let mut directories: Vec<((u64, u64), Dir)> = Vec::new();
        for place in places {
            if directories.len() < MAX_LOCKED
                && let Some(directory) = self.nearest(place)
                && let Ok(metadata) = directory.dir_metadata()
            {
                directories.push((attributes::identity(&metadata), directory));
            }
        }
        // All processes take them in the same order, so that none waits for one that waits for it.
        directories.sort_by_key(|(identity, _)| *identity);
        directories.dedup_by_key(|(identity, _)| *identity);
        let locked = directories.iter().filter_map(|(_, directory)| {
            let handle = handle(directory).ok()?;
            patiently(&handle).then_some(handle)
        });
        Writing { _directories: locked.collect(), _own: own }
    }

    /// The directory that `place` lies in, or the deepest one above it that is there.
    fn nearest(&self, place: &Place) -> Option<Dir> {
        let root = self.dir(place);
        place.path.ancestors().skip(1).find_map(|above| {
            let here = above.as_os_str().is_empty();
            if here { root.try_clone() } else { root.open_dir(above) }.ok()
        })
    }

    /// Removes from `directory`, the first time it is written to, what processes that died have left there.
    pub(super) fn clear_up(&self, directory: &Dir) {
        let Ok(metadata) = directory.dir_metadata() else { return };
        let mut cleared: MutexGuard<'_, HashSet<(u64, u64)>> =
            self.cleared.lock().unwrap_or_else(PoisonError::into_inner);
        if !cleared.insert(attributes::identity(&metadata)) {
            return;
        }
        drop(cleared);
        for entry in directory.entries().into_iter().flatten().flatten() {
            let name = entry.file_name();
            let old = || {
                let metadata = directory.symlink_metadata(&name).ok()?;
                let modified = metadata.modified().ok()?.into_std();
                let age = SystemTime::now().duration_since(modified).ok()?;
                Some(metadata.is_file() && age > LEFT_BEHIND)
            };
            if name.to_str().is_some_and(is_staged) && old() == Some(true) {
                // Who may not remove it leaves it.
                let _ = directory.remove_file(&name);
            }
        }
    }
}

fn is_staged(name: &str) -> bool {
    name.strip_prefix(STAGED).is_some_and(|rest| {
        rest.len() == STAGED_DIGITS && rest.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
    })
}

/// A handle of a directory that can be locked and made durable; the one it is opened by may be for paths alone.
pub(super) fn handle(directory: &Dir) -> io::Result<File> {
    Ok(directory.open(Path::new("."))?.into_std())
}

/// Whether the lock was had. Who cannot get it goes on all the same: the stamps of the files still guard them.
fn patiently(handle: &File) -> bool {
    for _ in 0..PATIENCE.0 {
        match flock(handle, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => return true,
            Err(rustix::io::Errno::WOULDBLOCK) => std::thread::sleep(PATIENCE.1),
            Err(_) => return false,
        }
    }
    false
}
