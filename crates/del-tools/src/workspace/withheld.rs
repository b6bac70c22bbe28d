//! What a rule of the user's denies to be read: searches and listings leave it out wherever they begin.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use globset::GlobMatcher;

use super::Workspace;

/// Paths that no tool shows the content of.
#[derive(Debug, Default)]
pub(crate) struct Withheld {
    /// The working directory, from which on rules name paths.
    root: PathBuf,
    globs: Vec<GlobMatcher>,
    left_out: AtomicUsize,
}

impl Withheld {
    pub(super) fn holds(&self, path: &Path) -> bool {
        let shown = path.strip_prefix(&self.root).unwrap_or(path);
        self.globs.iter().any(|glob| glob.is_match(shown))
    }

    /// Whether something is left out at this path, which is counted.
    pub(super) fn leaves_out(&self, path: &Path) -> bool {
        let holds = !self.globs.is_empty() && self.holds(path);
        self.left_out.fetch_add(usize::from(holds), Ordering::Relaxed);
        holds
    }
}

impl Workspace {
    /// Shows nothing of the paths that fit one of these from now on.
    pub(crate) fn withhold(&mut self, globs: Vec<GlobMatcher>) {
        self.withheld = Withheld { root: self.root().to_owned(), globs, left_out: AtomicUsize::default() };
    }

    /// The patterns of what is withheld.
    pub(crate) fn withheld(&self) -> &[GlobMatcher] {
        &self.withheld.globs
    }

    /// Whether what lies at this absolute path is not to be shown, which is counted.
    pub(crate) fn leaves_out(&self, path: &Path) -> bool {
        self.withheld.leaves_out(path)
    }

    /// How many entries were left out so far because they are withheld.
    pub(crate) fn left_out(&self) -> usize {
        self.withheld.left_out.load(Ordering::Relaxed)
    }
}
