//! A tree of paths, a few levels deep.

use std::collections::BTreeMap;

/// Entries that are shown.
const MAX_SHOWN: usize = 200;

#[derive(Default)]
struct Directory<'a> {
    directories: BTreeMap<&'a str, Directory<'a>>,
    files: Vec<&'a str>,
    /// Files in it and below.
    total: usize,
}

/// The directories and files of `paths` down to `depth`, a line each, and how many lines were left out.
pub(crate) fn lines<'a>(paths: impl Iterator<Item = &'a str>, depth: usize) -> (Vec<String>, usize) {
    let mut root = Directory::default();
    for path in paths {
        let mut at = &mut root;
        at.total += 1;
        let mut parts = path.split('/').peekable();
        while let Some(part) = parts.next() {
            if parts.peek().is_none() {
                at.files.push(part);
                break;
            }
            at = at.directories.entry(part).or_default();
            at.total += 1;
        }
    }
    let mut shown = Vec::new();
    list(&root, 1, depth, &mut shown);
    let more = shown.len().saturating_sub(MAX_SHOWN);
    shown.truncate(MAX_SHOWN);
    (shown, more)
}

/// `depth` is at most ten, and so is the recursion.
fn list(directory: &Directory<'_>, level: usize, depth: usize, shown: &mut Vec<String>) {
    let indent = "  ".repeat(level);
    for (name, inner) in &directory.directories {
        if level < depth {
            shown.push(format!("{indent}{name}/"));
            list(inner, level + 1, depth, shown);
        } else {
            let files = crate::outcome::counted(inner.total, "file");
            shown.push(format!("{indent}{name}/ ({files})"));
        }
    }
    shown.extend(directory.files.iter().map(|name| format!("{indent}{name}")));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_lies_deeper_is_counted() {
        let paths = ["a/b/c/x.rs", "a/b/y.rs", "a/z.rs", "main.rs"];
        let (shown, more) = lines(paths.into_iter(), 2);
        assert_eq!(shown, ["  a/", "    b/ (2 files)", "    z.rs", "  main.rs"]);
        assert_eq!(more, 0);
    }
}
