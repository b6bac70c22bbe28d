//! What may have been meant by a name that is not there.

use std::path::Path;

use similar::get_close_matches;

use crate::workspace::{Access, EntryKind, Flow, Order, Walk, Workspace};

/// Entries looked at for a file of that name elsewhere.
const MAX_LOOKED_AT: usize = 20_000;
const SUGGESTIONS: usize = 3;
/// Bytes of a name that a file may have.
const MAX_NAME: usize = 255;

/// Up to so many words among `known` for which `word` may be a misspelling, the nearest first: both begin with the same
/// character, and three quarters are the same.
pub(crate) fn near<'a>(word: &str, known: &[&'a str], count: usize) -> Vec<&'a str> {
    let first = |word: &str| word.chars().next().map(|c| c.to_ascii_lowercase());
    let alike: Vec<&str> = known.iter().copied().filter(|other| first(other) == first(word)).collect();
    get_close_matches(word, &alike, count, 0.75)
}

/// Up to three files that `shown` may have meant: in the same directory first, then by name in the whole tree.
pub(crate) fn files(workspace: &Workspace, shown: &str) -> Vec<String> {
    let path = Path::new(shown);
    let Some(name) = path.file_name().map(|name| name.to_string_lossy().to_lowercase()) else {
        return Vec::new();
    };
    if name.len() > MAX_NAME {
        return Vec::new();
    }
    let parent = path.parent().and_then(Path::to_str).filter(|parent| !parent.is_empty()).unwrap_or(".");
    let mut found = siblings(workspace, parent, &name);
    if found.len() < SUGGESTIONS {
        for file in namesakes(workspace, &name) {
            if !found.contains(&file) {
                found.push(file);
            }
        }
    }
    found.truncate(SUGGESTIONS);
    found
}

fn siblings(workspace: &Workspace, parent: &str, name: &str) -> Vec<String> {
    let Ok(place) = workspace.resolve(parent, Access::Read) else { return Vec::new() };
    let walk = Walk { depth: 1, respect_ignored: false, hidden: true, order: Order::Path };
    let mut names = Vec::new();
    let _ = workspace.walk(&place, walk, &mut |entry| {
        names.push(entry.shown());
        if names.len() == MAX_LOOKED_AT { Flow::Stop } else { Flow::On }
    });
    let lower: Vec<_> = names.iter().map(|name| name.to_lowercase()).collect();
    let borrowed: Vec<_> = lower.iter().map(String::as_str).collect();
    let mut close = near(name, &borrowed, SUGGESTIONS);
    let stem = name.split('.').next().unwrap_or(name);
    let contains = |other: &str| {
        let (short, long) = if other.len() < name.len() { (other, name) } else { (name, other) };
        let contained = short.len() * 2 >= long.len() && long.contains(short);
        contained || (stem.len() > 2 && other.split('.').next() == Some(stem))
    };
    close.extend(borrowed.iter().filter(|other| contains(other)));
    let mut found: Vec<String> = Vec::new();
    for near in close {
        let Some(at) = borrowed.iter().position(|other| *other == near) else { continue };
        let file = if parent == "." { names[at].clone() } else { format!("{parent}/{}", names[at]) };
        if !found.contains(&file) {
            found.push(file);
        }
    }
    found
}

fn namesakes(workspace: &Workspace, name: &str) -> Vec<String> {
    let Ok(root) = workspace.resolve(".", Access::Read) else { return Vec::new() };
    let walk = Walk { depth: usize::MAX, respect_ignored: true, hidden: true, order: Order::Path };
    let (mut found, mut looked_at) = (Vec::new(), 0);
    let _ = workspace.walk(&root, walk, &mut |entry| {
        looked_at += 1;
        let same = entry.path.file_name().is_some_and(|own| own.to_string_lossy().to_lowercase() == name);
        if same && entry.kind != EntryKind::Directory {
            found.push(entry.shown());
        }
        if looked_at == MAX_LOOKED_AT || found.len() == SUGGESTIONS { Flow::Stop } else { Flow::On }
    });
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_near_was_meant() {
        let tools = ["read_file", "write_file", "edit_file", "list_directory", "grep_search", "web_search"];
        for (word, meant) in [
            ("grep_serch", Some("grep_search")),
            ("Read_fil", Some("read_file")),
            ("list_direct", Some("list_directory")),
            ("wirte_file", Some("write_file")),
            ("delete_file", None),
            ("create_directory", None),
            ("research", None),
            ("", None),
        ] {
            assert_eq!(near(&word.to_lowercase(), &tools, 1).first().copied(), meant, "{word}");
        }
    }
}
