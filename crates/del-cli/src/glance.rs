//! What lies in the directory, as models are told at the start: small ones take paths from examples otherwise.

use std::path::Path;

use del_dialects::Dialects;
use del_tools::visible;
use ignore::WalkBuilder;

/// Names that are told, and characters of all of them.
const NAMES: usize = 40;
const ROOM: usize = 1_200;
/// Entries of one directory that are looked at.
const LOOKED_AT: usize = 400;
/// How deep it is looked.
const LEVELS: usize = 3;

/// The files in `directory` between commas, and of its directories what is in them, as long as there is room for all of it;
/// else their names. Hidden files and those that git would ignore are left out. Empty where there is nothing.
pub(crate) fn names(directory: &Path) -> String {
    let mut names = entries(directory, "");
    let mut count = names.len();
    for _ in 1..LEVELS {
        let mut opened = Vec::new();
        for name in names {
            let inner =
                if name.ends_with('/') && count < NAMES { entries(directory, &name) } else { Vec::new() };
            if inner.is_empty() || count + inner.len() > NAMES {
                opened.push(name);
            } else {
                count += inner.len();
                opened.extend(inner);
            }
        }
        names = opened;
    }
    let mut left = ROOM;
    let fits = |name: &&String| {
        let room = left.checked_sub(name.chars().count() + 2);
        left = room.unwrap_or(0);
        room.is_some()
    };
    let shown: Vec<&str> = names.iter().take(NAMES).take_while(fits).map(String::as_str).collect();
    let more = if shown.len() < names.len() { ", …" } else { "" };
    Dialects::builtin().neutralise(&(shown.join(", ") + more)).into_owned()
}

/// What lies in the directory `path` below `directory`, by whole paths; behind those of directories stands a slash. A name
/// with a comma or with what cannot be seen is none to tell.
fn entries(directory: &Path, path: &str) -> Vec<String> {
    let mut entries: Vec<String> = WalkBuilder::new(directory.join(path))
        .max_depth(Some(1))
        .require_git(false)
        .build()
        .filter_map(Result::ok)
        .filter(|entry| entry.depth() == 1)
        .take(LOOKED_AT)
        .filter_map(|entry| {
            let slash = if entry.file_type()?.is_dir() { "/" } else { "" };
            Some(format!("{path}{}{slash}", entry.file_name().to_str()?))
        })
        .filter(|name| !name.contains(',') && visible(name) == name.as_str())
        .collect();
    entries.sort();
    entries
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn small_directories_are_told_whole_and_large_ones_by_name() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(names(folder.path()), "");
        for name in [
            "a.txt",
            "src/b.rs",
            "src/deep/c.rs",
            "src/deep/er/d.rs",
            "made/x",
            ".hidden",
            "bad\u{1b}[1m",
            "x<tool_call>",
        ] {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        }
        fs::write(folder.path().join(".gitignore"), "made\n").unwrap();
        fs::create_dir(folder.path().join("none")).unwrap();
        let told = names(folder.path());
        assert!(told.starts_with("a.txt, none/, src/b.rs, src/deep/c.rs, src/deep/er/, x<"), "{told}");
        assert!(!told.contains("<tool_call>"), "{told}");
        fs::create_dir(folder.path().join("many")).unwrap();
        for n in 0..60 {
            fs::write(folder.path().join(format!("many/{n}")), "").unwrap();
        }
        assert!(
            names(folder.path()).starts_with("a.txt, many/, none/, src/b.rs"),
            "{}",
            names(folder.path())
        );
    }

    #[test]
    fn what_has_no_room_is_not_told() {
        let folder = tempfile::tempdir().unwrap();
        for n in 100..200 {
            fs::write(folder.path().join(format!("{n}-{}", "long".repeat(20))), "").unwrap();
        }
        let told = names(folder.path());
        assert!(
            told.starts_with("100-long") && told.ends_with("long, …") && told.len() <= ROOM + 5,
            "{told}"
        );
        assert!(told.split(", ").count() < NAMES, "{told}");
    }
}
