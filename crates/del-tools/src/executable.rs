//! Programs on disk.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::{env, fs};

/// The program called `name`: in one of the directories `near`, else where the user's `PATH` says.
pub(crate) fn find(name: &str, near: &[PathBuf]) -> Option<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    let users: Vec<_> = env::split_paths(&path).filter(|directory| directory.is_absolute()).collect();
    near.iter().chain(&users).map(|directory| directory.join(name)).find(|path| is_program(path))
}

/// Whether `path` can be started.
pub(crate) fn is_program(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|metadata| metadata.is_file() && metadata.permissions().mode() & 0o111 != 0)
}
