//! Working trees whose `.git` is a file: linked ones, submodules, and those that keep it elsewhere in themselves. What the
//! file says is believed where the place that it leads to says the same: nobody who only writes in the working directory
//! can make another repository of the user point back here.

use std::fs;
use std::path::{Path, PathBuf};

use super::{Untrusted, settings};

/// What these small files hold at most.
const MOST: u64 = 4096;

/// What git keeps for a working tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Kept {
    /// Of this working tree.
    pub(super) git: PathBuf,
    /// Of all working trees of the repository.
    pub(super) common: PathBuf,
}

/// Where `.git` in `top` leads, which is a file.
pub(super) fn follow(top: &Path) -> Result<Kept, Untrusted> {
    let top = fs::canonicalize(top).map_err(|_| Untrusted::Elsewhere)?;
    let said = small(&top.join(".git")).ok_or(Untrusted::Elsewhere)?;
    let path = said.strip_prefix("gitdir: ").ok_or(Untrusted::Elsewhere)?;
    let git = real(&top, path).ok_or(Untrusted::Elsewhere)?;
    let kept = linked(&top, &git).or_else(|| {
        let own = fs::symlink_metadata(git.join("commondir")).is_err();
        let led_here = git.starts_with(&top) || is_worktree_of(&git, &top);
        (own && led_here).then(|| Kept { git: git.clone(), common: git.clone() })
    });
    let kept = kept.ok_or(Untrusted::Elsewhere)?;
    let is_one = ["objects", "refs"].iter().all(|name| kept.common.join(name).is_dir());
    if is_one && kept.git.join("HEAD").is_file() { Ok(kept) } else { Err(Untrusted::Elsewhere) }
}

/// A linked working tree: `worktrees/NAME` of a repository, which names this `.git`.
fn linked(top: &Path, git: &Path) -> Option<Kept> {
    let trees = git.parent().filter(|trees| trees.ends_with("worktrees"))?;
    let common = trees.parent()?;
    let says = real(git, &small(&git.join("commondir"))?)?;
    let back = small(&git.join("gitdir"))?;
    let back = git.join(back);
    let here = back.file_name()? == ".git" && fs::canonicalize(back.parent()?).is_ok_and(|back| back == top);
    (says == common && here).then(|| Kept { git: git.to_owned(), common: common.to_owned() })
}

/// Whether the configuration in `git` names `top` as its working tree, and no other.
fn is_worktree_of(git: &Path, top: &Path) -> bool {
    let text = fs::read_to_string(git.join("config")).unwrap_or_default();
    let mut trees = settings::worktrees(&text).peekable();
    trees.peek().is_some() && trees.all(|tree| is_tree(git, tree, top))
}

/// Whether a setting that names a working tree means `top`.
pub(super) fn is_tree(git: &Path, tree: &str, top: &Path) -> bool {
    let plain = !tree.is_empty() && !tree.contains(['"', '\\', '#', ';', '~']);
    plain && real(git, tree).is_some_and(|tree| fs::canonicalize(top).is_ok_and(|top| tree == top))
}

/// The directory that a path means, read from `from` on.
fn real(from: &Path, path: &str) -> Option<PathBuf> {
    fs::canonicalize(from.join(path)).ok().filter(|path| path.is_dir())
}

/// The text of a small file, without the newline at its end.
fn small(path: &Path) -> Option<String> {
    let metadata = fs::symlink_metadata(path).ok()?;
    if !metadata.is_file() || metadata.len() > MOST {
        return None;
    }
    let text = fs::read_to_string(path).ok()?;
    let text = text.trim_end_matches(['\n', '\r']);
    (!text.is_empty() && !text.contains('\n')).then(|| text.to_owned())
}
