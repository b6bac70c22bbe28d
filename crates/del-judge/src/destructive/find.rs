//! What `find` removes.

use super::target::{Here, Place};

/// Words that choose nothing among the files below a directory.
const NEUTRAL: [&str; 14] = [
    "-type",
    "-depth",
    "-d",
    "-xdev",
    "-mount",
    "-maxdepth",
    "-mindepth",
    "-print",
    "-print0",
    "-delete",
    "-o",
    "-or",
    "-a",
    "-and",
];

/// Whether it removes files outside, or all that there are: what is chosen by name, size or time inside is one's own.
pub(super) fn removes_all(words: &[String], here: &Here) -> bool {
    let options = words.iter().take_while(|word| matches!(word.as_str(), "-H" | "-L" | "-P")).count();
    let words = &words[options..];
    let starts = words.iter().take_while(|word| !word.starts_with(['-', '(', '!'])).count();
    let (starts, tests) = words.split_at(starts);
    let acts = |word: &&String| matches!(word.as_str(), "-exec" | "-execdir");
    let chosen = tests
        .iter()
        .take_while(|word| !acts(word))
        .any(|word| word.starts_with('-') && !NEUTRAL.contains(&word.as_str()));
    let start = [".".to_owned()];
    let starts = if starts.is_empty() { &start } else { starts };
    starts.iter().any(|word| match here.place(word) {
        Place::Inside => false,
        Place::Whole => !chosen,
        Place::Outside => true,
    })
}
