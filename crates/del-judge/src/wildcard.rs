//! Wildcards, expanded as the shell expands them: before anything runs, so that every argument is known.

use std::cell::Cell;
use std::fs;

use crate::ground::{Forbidden, Found, Ground};
use crate::mark::Mark;
use crate::syntax::{Piece, Word};

/// More names than this are not looked through for one word.
const MAX_ENTRIES: usize = 20_000;
/// Nor more than this for all words.
const MAX_ALL: usize = 100_000;
/// More words than this do not come of one.
const MAX_NAMES: usize = 2_000;

/// Why a word is not expanded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Unexpanded {
    #[error("a wildcard behind `..`, `/` or a dot may match what lies elsewhere")]
    Place,
    #[error("matches a name that begins with `-` and would be an option")]
    Option,
    #[error("matches a name that is not plain text")]
    Name,
    #[error("matches too many names")]
    Many,
    #[error("{0}")]
    Forbidden(#[from] Forbidden),
}

/// The words that a word becomes: itself when it has no wildcard or nothing matches, else the names in their order. The
/// names that were looked through are added to `seen`, of which there is an end.
pub(crate) fn expand(word: &Word, ground: &Ground, seen: &Cell<usize>) -> Result<Vec<String>, Unexpanded> {
    if let Some(text) = word.literal() {
        return Ok(vec![text.to_owned()]);
    }
    let mut parts = parts(word);
    for part in &mut parts {
        // Several stars are one.
        part.dedup_by(|piece, before| *piece == Piece::Any && *before == Piece::Any);
    }
    let (start, begun) = absolute(&parts);
    let mut found = vec![start];
    let mut entries = 0;
    let left = MAX_ALL.saturating_sub(seen.get());
    for (place, part) in parts.iter().enumerate().skip(begun) {
        let last = place + 1 == parts.len();
        let mut next = Vec::new();
        for prefix in &found {
            step(prefix, part, last, ground, &mut next, &mut entries)?;
            if next.len() > MAX_NAMES || entries > left {
                return Err(Unexpanded::Many);
            }
        }
        found = next;
    }
    seen.set(seen.get() + entries);
    if found.is_empty() {
        return Ok(vec![word.unmatched()]);
    }
    if found.iter().any(|name| name.starts_with('-')) {
        return Err(Unexpanded::Option);
    }
    found.sort();
    Ok(found)
}

/// Where an absolute path goes by plain names, and how many of its parts that is: it has to lie inside only from there on.
fn absolute(parts: &[Vec<Piece>]) -> (String, usize) {
    if !parts.first().is_some_and(Vec::is_empty) {
        return (String::new(), 0);
    }
    let mut start = "/".to_owned();
    let mut begun = 1;
    for part in &parts[1..parts.len() - 1] {
        let [Piece::Text(name)] = part.as_slice() else { break };
        if name == ".." {
            break;
        }
        start = format!("{start}{name}/");
        begun += 1;
    }
    (start, begun)
}

/// Goes one component further from `prefix`, which is empty or ends with a slash.
fn step(
    prefix: &str,
    part: &[Piece],
    last: bool,
    ground: &Ground,
    next: &mut Vec<String>,
    entries: &mut usize,
) -> Result<(), Unexpanded> {
    let end = if last { "" } else { "/" };
    match part {
        // `a//b`, or a slash at the end: only directories.
        [] if prefix.is_empty() => Err(Unexpanded::Place),
        [] => {
            next.push(format!("{prefix}{end}"));
            Ok(())
        }
        [Piece::Text(name)] if name == ".." => Err(Unexpanded::Place),
        [Piece::Text(name)] => {
            let path = format!("{prefix}{name}");
            let found = ground.look(&path)?;
            if found == Found::Directory || (last && found == Found::File) {
                next.push(format!("{path}{end}"));
            }
            Ok(())
        }
        _ => {
            let dotted = matches!(part.first(), Some(Piece::Text(text)) if text.starts_with('.'));
            let directory = if prefix.is_empty() { "." } else { prefix };
            if ground.look(directory)? != Found::Directory {
                return Ok(());
            }
            let Ok(listing) = fs::read_dir(ground.directory().join(directory)) else {
                return Err(Forbidden::Unknown.into());
            };
            for entry in listing {
                *entries += 1;
                if *entries > MAX_ENTRIES {
                    return Err(Unexpanded::Many);
                }
                let Ok(entry) = entry else { return Err(Forbidden::Unknown.into()) };
                let name = entry.file_name();
                // Of names with a dot before them only those that are asked for; `.` and `..` never are.
                if name.as_encoded_bytes().starts_with(b".") && !dotted {
                    continue;
                }
                let Some(name) = name.to_str() else { return Err(Unexpanded::Name) };
                if !matches(part, name) {
                    continue;
                }
                // What stands for values in words stands in no name.
                if Mark::within(name).is_some() {
                    return Err(Unexpanded::Name);
                }
                if !last && entry.file_type().is_ok_and(|kind| !kind.is_dir() && !kind.is_symlink()) {
                    continue;
                }
                let path = format!("{prefix}{name}");
                if last || ground.look(&path)? == Found::Directory {
                    next.push(format!("{path}{end}"));
                }
            }
            Ok(())
        }
    }
}

/// The word cut at its slashes.
fn parts(word: &Word) -> Vec<Vec<Piece>> {
    let mut parts = vec![Vec::new()];
    for piece in &word.pieces {
        let Piece::Text(text) = piece else {
            if let Some(part) = parts.last_mut() {
                part.push(piece.clone());
            }
            continue;
        };
        for (place, text) in text.split('/').enumerate() {
            if place > 0 {
                parts.push(Vec::new());
            }
            if let Some(part) = parts.last_mut().filter(|_| !text.is_empty()) {
                part.push(Piece::Text(text.to_owned()));
            }
        }
    }
    parts
}

/// Whether a name fits a pattern without two stars in a row. The time is bounded by the square of the name's length.
fn matches(pattern: &[Piece], name: &str) -> bool {
    let name: Vec<char> = name.chars().collect();
    // Of two pieces at least one takes a character.
    if pattern.len() > 2 * name.len() + 1 {
        return false;
    }
    // Where in the name the pattern so far may end.
    let mut ends = vec![false; name.len() + 1];
    ends[0] = true;
    for piece in pattern {
        let mut next = vec![false; name.len() + 1];
        match piece {
            Piece::Any => {
                if let Some(first) = ends.iter().position(|end| *end) {
                    next[first..].fill(true);
                }
            }
            Piece::Variable { .. }
            | Piece::Choice(_)
            | Piece::Output { .. }
            | Piece::File(_)
            | Piece::Sum(_)
            | Piece::Value(_) => {}
            Piece::Set { others, ranges } => {
                for at in 0..name.len() {
                    let within = ranges.iter().any(|(first, last)| (*first..=*last).contains(&name[at]));
                    next[at + 1] = ends[at] && within != *others;
                }
            }
            Piece::One => {
                next[1..].copy_from_slice(&ends[..name.len()]);
            }
            Piece::Text(text) => {
                let text: Vec<char> = text.chars().collect();
                for at in 0..=name.len() {
                    if ends[at] && name[at..].starts_with(&text) {
                        next[at + text.len()] = true;
                    }
                }
            }
        }
        ends = next;
    }
    ends[name.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &str) -> Piece {
        Piece::Text(text.to_owned())
    }

    #[test]
    fn names_fit_patterns_to_their_ends() {
        let (any, one) = (Piece::Any, Piece::One);
        for (pattern, name) in [
            (vec![any.clone()], "a.rs"),
            (vec![text("a"), any.clone(), text(".rs")], "a.rs"),
            (vec![any.clone(), one.clone(), any.clone(), one.clone(), any.clone()], "ab"),
            (vec![any.clone(), text("b"), any.clone()], "abc"),
        ] {
            assert!(matches(&pattern, name), "{pattern:?} {name}");
        }
        for (pattern, name) in [
            (vec![text("a"), any.clone()], "ba"),
            (vec![any.clone(), one.clone(), any.clone(), one.clone(), any.clone(), one], "ab"),
            (vec![any, text("b")], "abc"),
        ] {
            assert!(!matches(&pattern, name), "{pattern:?} {name}");
        }
    }

    #[test]
    fn a_pattern_of_any_length_is_held_against_many_names() {
        let directory = tempfile::tempdir().unwrap();
        for n in 0..500 {
            fs::write(directory.path().join(format!("a{n}")), "").unwrap();
        }
        let ground = Ground::new(directory.path());
        for pattern in ["*a".repeat(8_000), "*".repeat(16_000), format!("a{}b", "?*".repeat(5_000))] {
            let command = format!("ls {pattern}");
            assert!(!crate::Judge::default().judge(&command, &ground).reasons.is_empty());
        }
    }
}
