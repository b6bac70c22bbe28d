//! Where programs are looked for: never in a place that a project could have filled.

use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::{env, fs};

/// Directories of the system, in their order.
const SYSTEM: [&str; 7] = [
    "/usr/local/bin",
    "/usr/bin",
    "/bin",
    "/usr/sbin",
    "/sbin",
    "/opt/homebrew/bin",
    "/run/current-system/sw/bin",
];

/// The directories in which programs are looked for, fixed when it is made.
///
/// They are those of the system, and behind them those of `PATH` that are absolute and that nobody but the user and the
/// system can write. A directory inside of the working directory never counts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Search {
    directories: Vec<PathBuf>,
    /// The whole of `PATH`, to tell what is nowhere from what is not trusted.
    everywhere: Vec<PathBuf>,
}

/// Where a program was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Found {
    At(PathBuf),
    Nowhere,
    /// Only where it is not trusted.
    Elsewhere(PathBuf),
}

impl Default for Search {
    fn default() -> Self {
        let path = env::var_os("PATH").unwrap_or_default();
        let everywhere: Vec<PathBuf> = env::split_paths(&path).collect();
        let own = rustix::process::geteuid().as_raw();
        let system = SYSTEM.into_iter().map(PathBuf::from).filter(|path| path.is_dir());
        let users = everywhere.iter().filter(|path| is_guarded(path, own)).cloned();
        let mut directories = Vec::new();
        for directory in system.chain(users) {
            if !directories.contains(&directory) {
                directories.push(directory);
            }
        }
        Self { directories, everywhere }
    }
}

impl Search {
    /// The program called `name`, for a command that works in `root`.
    pub(crate) fn find(&self, name: &str, root: &Path) -> Found {
        let here = |directory: &PathBuf| {
            let path = directory.join(name);
            let metadata = fs::metadata(&path).ok()?;
            (metadata.is_file() && metadata.permissions().mode() & 0o111 != 0).then_some(path)
        };
        if let Some(path) = self.trusted(root).find_map(here) {
            return Found::At(path);
        }
        match self.everywhere.iter().find_map(here) {
            Some(path) => Found::Elsewhere(path),
            None => Found::Nowhere,
        }
    }

    /// The program called `name`, if it lies where only the user and the system can put programs.
    pub fn trusted_program(&self, name: &str, root: &Path) -> Option<PathBuf> {
        match self.find(name, root) {
            Found::At(path) => Some(path),
            Found::Nowhere | Found::Elsewhere(_) => None,
        }
    }

    /// The directories for the `PATH` of programs that are run.
    pub(crate) fn path(&self, root: &Path) -> String {
        let directories: Vec<_> = self.trusted(root).filter_map(|path| path.to_str()).collect();
        directories.join(":")
    }

    fn trusted(&self, root: &Path) -> impl Iterator<Item = &PathBuf> {
        self.directories.iter().filter(move |directory| {
            let lies_inside = fs::canonicalize(directory).is_ok_and(|real| real.starts_with(root));
            !lies_inside || SYSTEM.iter().any(|system| Path::new(system) == directory.as_path())
        })
    }
}

/// Whether only the user and the system can put programs there.
fn is_guarded(directory: &Path, own: u32) -> bool {
    directory.is_absolute()
        && fs::metadata(directory).is_ok_and(|metadata| {
            metadata.is_dir()
                && metadata.mode() & 0o022 == 0
                && (metadata.uid() == own || metadata.uid() == 0)
        })
}
