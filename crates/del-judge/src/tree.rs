//! Whole trees, looked through up to a bound.

use std::fs::{self, DirEntry, FileType};
use std::path::{Path, PathBuf};

/// Entries that are looked at. In half a second there is an answer about so many that the system has looked at lately.
pub(crate) const MOST: usize = if cfg!(test) { 1_000 } else { 500_000 };

/// Where a tree was left that holds more entries than are looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TooLarge(pub(crate) PathBuf);

/// An entry below `directory` that is like this, links not followed and what is not `entered` left out. What cannot be
/// read, the programs that look through it cannot read either.
pub(crate) fn find(
    directory: &Path,
    most: usize,
    entered: impl Fn(&str) -> bool,
    like: impl Fn(FileType, &str, &DirEntry) -> bool,
) -> Result<Option<PathBuf>, TooLarge> {
    let mut pending = vec![directory.to_owned()];
    let mut left = most;
    while let Some(directory) = pending.pop() {
        let Ok(listing) = fs::read_dir(&directory) else { continue };
        for entry in listing.flatten() {
            let Ok(kind) = entry.file_type() else { continue };
            left = left.checked_sub(1).ok_or_else(|| TooLarge(directory.clone()))?;
            let name = entry.file_name();
            let name = name.to_string_lossy();
            if like(kind, &name, &entry) {
                return Ok(Some(entry.path()));
            }
            if kind.is_dir() && entered(&name) {
                pending.push(entry.path());
            }
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ground::Ground;
    use crate::judge::{Judge, Judgement, Verdict};

    fn judged(command: &str, top: &Path) -> Judgement {
        Judge::default().judge(command, &Ground::new(top))
    }

    #[test]
    fn what_was_not_looked_at_asks_and_says_so() {
        let desk = tempfile::tempdir().unwrap();
        let top = desk.path();
        for folder in ["a", "b", ".git/objects", ".git/refs"] {
            fs::create_dir_all(top.join(folder)).unwrap();
        }
        fs::write(top.join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
        fs::write(top.join("a/x"), "x\n").unwrap();
        for n in 0..=MOST {
            fs::write(top.join(format!("b/{n}")), "").unwrap();
        }
        for command in ["grep -r x .", "grep -rn x b", "rg x", "fd x", "diff -r a b", "git status"] {
            let Judgement { verdict, reasons, .. } = judged(command, top);
            assert_eq!(verdict, Verdict::Ask, "{command}");
            assert!(reasons.iter().any(|reason| reason.contains("entries")), "{command}: {reasons:?}");
        }
        for command in ["grep -r x a", "ls b", "grep x a/x", "cat b/1", "find . -name x"] {
            assert_eq!(judged(command, top).verdict, Verdict::Safe, "{command}");
        }
    }

    #[test]
    fn secrets_are_looked_for_wherever_a_search_goes() {
        for place in ["node_modules/a/.config/hub", "target/home/.local/state/del/x", ".github/gh/hosts.yml"]
        {
            let desk = tempfile::tempdir().unwrap();
            let path = desk.path().join(place);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "x\n").unwrap();
            for command in ["grep -r x .", "rg x"] {
                assert_eq!(judged(command, desk.path()).verdict, Verdict::Ask, "{place}: {command}");
            }
        }
        // What is left out with all that lies in it is not looked into.
        let desk = tempfile::tempdir().unwrap();
        fs::create_dir_all(desk.path().join(".git/.config/hub")).unwrap();
        assert_eq!(judged("grep -r x .", desk.path()).verdict, Verdict::Safe);
    }

    #[test]
    fn a_bound_counts_every_entry() {
        let desk = tempfile::tempdir().unwrap();
        fs::create_dir(desk.path().join("a")).unwrap();
        fs::write(desk.path().join("a/b"), "").unwrap();
        let find = |most, name: &str| find(desk.path(), most, |_| true, |_, found, _| found == name);
        assert_eq!(find(2, "none"), Ok(None));
        assert_eq!(find(1, "none"), Err(TooLarge(desk.path().join("a"))));
        assert_eq!(find(2, "b"), Ok(Some(desk.path().join("a/b"))));
    }
}
