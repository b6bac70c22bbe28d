//! What may have been meant by a name that is not there.

use std::path::Path;

use similar::get_close_matches;

use crate::workspace::{Access, EntryKind, Flow, Order, Walk, Workspace};

/// Entries looked at for a file of that name elsewhere.
const MAX_LOOKED_AT: usize = 20_000;
const SUGGESTIONS: usize = 3;
/// Bytes of a name that a file may have.
const MAX_NAME: usize = 255;

/// The word among `known` that `word` resembles.
pub(crate) fn word<'a>(word: &str, known: &[&'a str]) -> Option<&'a str> {
    get_close_matches(word, known, 1, 0.5).into_iter().next()
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
    let mut close: Vec<_> = get_close_matches(name, &borrowed, SUGGESTIONS, 0.6);
    let stem = name.split('.').next().unwrap_or(name);
    let contains = |other: &str| {
        let contained = other.contains(name) || (other.len() > 2 && name.contains(other));
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
