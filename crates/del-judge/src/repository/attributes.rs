//! Attributes that have git show the lines of files that usually hold secrets.

use std::fs::{self, DirEntry};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::{MAX_CONFIGURATION, found, index};
use crate::secret;

const NAME: &str = ".gitattributes";
/// A larger index is not read.
const MAX_INDEX: u64 = 64 * 1024 * 1024;

/// The file of attributes that counts for more than those of [`git_attributes`](crate::git_attributes), and has git show
/// what these leave out: in the tree, in the index that lies in `git`, or in `common`, which holds what all trees of the
/// repository share. So many entries of the tree are looked at; where there are more, it is where that ended.
pub fn what_reveals(git: &Path, common: &Path, top: &Path, entries: usize) -> Option<PathBuf> {
    besides(git, common, top)
        .or_else(|| found(top, entries, |_, name, entry| reveal(name, entry)).unwrap_or_else(Some))
}

/// The same for attributes that are no files of the tree.
pub(super) fn besides(git: &Path, common: &Path, top: &Path) -> Option<PathBuf> {
    let own = common.join("info/attributes");
    if reveals(&own) {
        return Some(own);
    }
    staged(git, top)
}

/// Whether an entry of the tree has git show such lines.
pub(super) fn reveal(name: &str, entry: &DirEntry) -> bool {
    name == NAME && reveals(&entry.path())
}

/// Attributes that stand in the index alone: git reads them there, and nobody knows what they say.
fn staged(git: &Path, top: &Path) -> Option<PathBuf> {
    let shared = fs::read_dir(git).into_iter().flatten().flatten().map(|entry| entry.path());
    let is_shared =
        |path: &PathBuf| path.file_name().is_some_and(|name| name.as_bytes().starts_with(b"sharedindex."));
    for path in shared.filter(is_shared).chain([git.join("index")]) {
        let Ok(metadata) = fs::metadata(&path) else { continue };
        if metadata.len() > MAX_INDEX {
            return Some(path);
        }
        // What cannot be read says nothing to git either.
        let Ok(content) = fs::read(&path) else { continue };
        if content.is_empty() {
            continue;
        }
        let Some(names) = index::names(&content) else { return Some(path) };
        let own = |name: &Vec<u8>| {
            let path = Path::new(std::ffi::OsStr::from_bytes(name));
            (path.file_name()? == NAME).then(|| top.join(path))
        };
        let missing = |path: &PathBuf| !fs::symlink_metadata(path).is_ok_and(|found| found.is_file());
        if let Some(path) = names.iter().filter_map(own).find(missing) {
            return Some(path);
        }
    }
    None
}

/// Whether attributes show as text what may hold secrets. What cannot be read shows nothing to git either; where a link
/// stands, some versions of git follow it, and others read something else.
fn reveals(path: &Path) -> bool {
    let Ok(metadata) = fs::symlink_metadata(path) else { return false };
    if !metadata.is_file() {
        return true;
    }
    let text = if metadata.len() > MAX_CONFIGURATION { None } else { fs::read(path).ok() };
    let Some(text) = text else { return true };
    String::from_utf8_lossy(&text).split('\n').any(shows)
}

/// Whether a line of attributes shows such files.
fn shows(line: &str) -> bool {
    const BLANKS: [char; 3] = [' ', '\t', '\r'];
    let line = line.trim_start_matches('\u{feff}').trim_start_matches(BLANKS);
    if line.starts_with('#') {
        return false;
    }
    // A pattern in quotes may hold blanks and escapes.
    let quoted = line.strip_prefix('"').and_then(|rest| rest.split_once('"'));
    let (pattern, attributes) = match quoted {
        Some(parts) => parts,
        None => line.split_once(BLANKS).unwrap_or((line, "")),
    };
    let shows = |word: &str| word == "diff" || word == "!diff" || word.starts_with("diff=");
    attributes.split(BLANKS).any(shows)
        && (pattern.starts_with("[attr]") || pattern.contains('\\') || secret::is_covered(pattern))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_show_secrets_are_known_as_git_reads_them() {
        for line in [
            "* diff",
            "*.pem\rdiff",
            "\r*.pem diff",
            "  *.pem\t-text diff",
            "\".env\" diff",
            "\".env\"diff",
            "\"a b.pem\" diff=x",
            "\".env diff",
            "prod.* diff",
            "id_rsa* diff",
            "*rsa diff",
            ".en[/v]v diff",
            "[.]env diff",
            "*.production !diff",
            "ssh_host_* diff",
            "**/config diff",
            ".s?h/x diff",
            "[attr]shown diff",
            "\\.env diff",
        ] {
            assert!(shows(line), "{line:?}");
        }
        for line in [
            "* text=auto",
            "*.rs diff=rust",
            "*.php diff=php",
            "*.pem -diff",
            "# * diff",
            "Cargo.lock diff",
            "docs/*.md diff=markdown",
            "*.py diff=python",
            "*.c diff=cpp",
            "src/**/*.h diff=cpp",
            "",
        ] {
            assert!(!shows(line), "{line:?}");
        }
    }
}
