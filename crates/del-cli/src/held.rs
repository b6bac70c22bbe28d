//! Files of the user's that are read, changed and written again: by one run of Del at a time, or what another wrote
//! meanwhile is lost.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use rustix::fs::{FlockOperation, flock};
use rustix::io::{Errno, retry_on_intr};

/// As long as this lives, nobody else holds the same file.
#[derive(Debug)]
pub(crate) struct Held {
    _lock: Option<File>,
}

impl Held {
    /// Waits until nobody holds the file at `path`, which need not be there; its folder is made. What is locked is a file
    /// beside it, as the file itself is replaced by what is written.
    pub(crate) fn wait(path: &Path) -> io::Result<Self> {
        // A link stands for the file that it leads to.
        let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        fs::create_dir_all(path.parent().unwrap_or(Path::new(".")))?;
        let mut beside = OsString::from(".");
        beside.push(path.file_name().unwrap_or_default());
        beside.push(".lock");
        let lock = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            .open(path.with_file_name(beside))?;
        match retry_on_intr(|| flock(&lock, FlockOperation::LockExclusive)) {
            Ok(()) => Ok(Self { _lock: Some(lock) }),
            // A file system without locks: better than never to write there.
            Err(Errno::NOLCK | Errno::NOTSUP | Errno::NOSYS) => Ok(Self { _lock: None }),
            Err(error) => Err(error.into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Barrier;

    use super::*;

    #[test]
    fn nothing_is_lost_where_many_count_in_one_file() {
        let folder = tempfile::tempdir().unwrap();
        let (path, link) = (folder.path().join("deep/count"), folder.path().join("link"));
        std::os::unix::fs::symlink(&path, &link).unwrap();
        drop(Held::wait(&path).unwrap());
        fs::write(&path, "0").unwrap();
        let together = Barrier::new(8);
        std::thread::scope(|scope| {
            for path in [&path, &link].into_iter().cycle().take(8) {
                let together = &together;
                scope.spawn(move || {
                    together.wait();
                    for _ in 0..50 {
                        let _held = Held::wait(path).unwrap();
                        let count: u32 = fs::read_to_string(path).unwrap().parse().unwrap();
                        fs::write(path, (count + 1).to_string()).unwrap();
                    }
                });
            }
        });
        assert_eq!(fs::read_to_string(&path).unwrap(), "400");
    }
}
