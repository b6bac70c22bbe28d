//! What the ignore files of a tree leave out.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use cap_std::ambient_authority;
use cap_std::fs::Dir;
use ignore::gitignore::{Gitignore, GitignoreBuilder};

use super::open_regular;

/// Ignore files of one directory, in rising order of precedence.
const FILES: [&str; 3] = [".gitignore", ".ignore", ".delignore"];
/// More than this of an ignore file is not read.
const MAX_BYTES: u64 = 1 << 20;

/// The rules that hold in a directory: its own, over those of the directories above it.
#[derive(Debug, Clone, Default)]
pub(super) struct Rules {
    levels: Vec<Arc<Gitignore>>,
}

impl Rules {
    /// The rules of the repository that `directory` lies in, from above it; none if it lies in no repository.
    pub(super) fn above(directory: &Path) -> Self {
        let mut above: Vec<PathBuf> = Vec::new();
        let mut found = directory.join(".git").exists();
        let mut at = directory;
        while !found && let Some(parent) = at.parent() {
            above.push(parent.to_owned());
            found = parent.join(".git").exists();
            at = parent;
        }
        let mut rules = Self::default();
        if found {
            for path in above.iter().rev() {
                if let Ok(dir) = Dir::open_ambient_dir(path, ambient_authority()) {
                    rules.enter(&dir, path, |_| true);
                }
            }
        }
        rules
    }

    /// Adds the rules of `dir`, which lies at `path`. Only names that may be `there` are tried.
    pub(super) fn enter(&mut self, dir: &Dir, path: &Path, there: impl Fn(&str) -> bool) {
        let exclude = there(".git").then_some(".git/info/exclude");
        let own = FILES.into_iter().filter(|name| there(name));
        let mut files = exclude.into_iter().chain(own).peekable();
        if files.peek().is_none() {
            return;
        }
        let mut builder = GitignoreBuilder::new(path);
        let mut any = false;
        for file in files {
            for line in lines(dir, Path::new(file)) {
                // A line that is no pattern is git's to complain about.
                any |= builder.add_line(None, &line).is_ok();
            }
        }
        if any && let Ok(rules) = builder.build() {
            self.levels.push(Arc::new(rules));
        }
    }

    /// How many directories have rules; for [`Rules::leave`].
    pub(super) fn depth(&self) -> usize {
        self.levels.len()
    }

    /// Drops the rules that were added since there were `depth`.
    pub(super) fn leave(&mut self, depth: usize) {
        self.levels.truncate(depth);
    }

    /// Whether the entry at the absolute `path` is left out.
    pub(super) fn leave_out(&self, path: &Path, is_dir: bool) -> bool {
        for rules in self.levels.iter().rev() {
            let verdict = rules.matched(path, is_dir);
            if !verdict.is_none() {
                return verdict.is_ignore();
            }
        }
        false
    }
}

fn lines(dir: &Dir, file: &Path) -> Vec<String> {
    let Ok((file, _)) = open_regular(dir, file) else { return Vec::new() };
    let mut bytes = Vec::new();
    if file.take(MAX_BYTES).read_to_end(&mut bytes).is_err() {
        return Vec::new();
    }
    String::from_utf8_lossy(&bytes).lines().map(str::to_owned).collect()
}
