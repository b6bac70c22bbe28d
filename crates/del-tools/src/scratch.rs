//! Private directories for what is of use only while the program runs.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use tempfile::TempDir;

/// A private directory, which is removed with this.
#[derive(Debug)]
pub struct Scratch {
    directory: TempDir,
}

/// Those that are there.
static LIVE: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

impl Scratch {
    /// A new one, whose name begins so. Fails where the system's directory for such cannot be written to.
    pub fn new(prefix: &str) -> io::Result<Self> {
        let directory = tempfile::Builder::new().prefix(prefix).tempdir()?;
        LIVE.lock().unwrap_or_else(PoisonError::into_inner).push(directory.path().to_owned());
        Ok(Self { directory })
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
        let _ = std::fs::remove_dir_all(path);
    }
}
