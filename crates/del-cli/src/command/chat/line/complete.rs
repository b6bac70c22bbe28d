//! What may stand where the cursor is: commands behind `/` at the start, words behind some of these, files behind `@`.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use ignore::WalkBuilder;
use reedline::{Completer, CompletionResult, Span, Suggestion};

use crate::command::chat::word::{COMMANDS, Name};
use crate::prompts::Prompt;
use crate::table::cut;

pub(super) struct Words {
    directory: PathBuf,
    /// The files here, once somebody asked for them.
    files: Option<Vec<String>>,
    /// Commands in files.
    prompts: Arc<[Prompt]>,
    behind: Behind,
}

/// Words that may stand behind commands.
pub(in super::super) type Behind = Arc<Mutex<Vec<(Name, Vec<String>)>>>;

/// Files that are offered at most, of those that are looked at.
const OFFERED: usize = 50;
/// Characters of what a command in a file is for.
const ABOUT: usize = 70;
const LOOKED_AT: usize = 20_000;

impl Words {
    pub(super) fn new(directory: &Path, prompts: Arc<[Prompt]>, behind: Behind) -> Self {
        Self { directory: directory.to_owned(), files: None, prompts, behind }
    }

    /// What may stand behind a command, where the line is one with the beginning of a word behind it.
    fn words(&self, line: &str) -> Option<Vec<Suggestion>> {
        let (name, typed) = line.strip_prefix('/')?.split_once(' ')?;
        let command = COMMANDS.iter().find(|command| command.names.contains(&name))?;
        let behind = self.behind.lock().unwrap_or_else(PoisonError::into_inner);
        let (_, words) = behind.iter().find(|(name, _)| *name == command.name)?;
        let mut fit: Vec<(i64, &String)> =
            words.iter().filter_map(|word| Some((fit(typed, word)?, word))).collect();
        // Those that begin so come first: Enter takes them.
        fit.sort_by_key(|(score, word)| std::cmp::Reverse((begins(word, typed), *score)));
        fit.truncate(OFFERED);
        let span = Span::new(line.len() - typed.len(), line.len());
        Some(fit.into_iter().map(|(_, word)| suggestion(word.clone(), None, span)).collect())
    }

    fn files(&mut self, typed: &str, span: Span) -> Vec<Suggestion> {
        if typed.is_empty() || self.files.is_none() {
            self.files = Some(list(&self.directory));
        }
        let files = self.files.as_deref().unwrap_or_default();
        let mut fit: Vec<(i64, &String)> =
            files.iter().filter_map(|file| Some((fit(typed, file)?, file))).collect();
        fit.sort_by(|(a, first), (b, second)| b.cmp(a).then_with(|| first.cmp(second)));
        fit.truncate(OFFERED);
        let named = |file: &String| {
            if file.contains(char::is_whitespace) { format!("@\"{file}\"") } else { format!("@{file}") }
        };
        fit.into_iter().map(|(_, file)| suggestion(named(file), None, span)).collect()
    }
}

impl Completer for Words {
    fn complete(&mut self, line: &str, at: usize) -> CompletionResult {
        let before = &line[..at];
        let suggestions =
            if let Some(word) = before.strip_prefix('/').filter(|word| !word.contains(char::is_whitespace)) {
                let prompts = self.prompts.iter().filter(|prompt| prompt.name.starts_with(word));
                let prompts = prompts.map(|prompt| {
                    let about = cut(&del_tools::visible(&prompt.description.replace('\n', " ")), ABOUT);
                    suggestion(format!("/{}", prompt.name), Some(&about), Span::new(0, at))
                });
                COMMANDS
                    .iter()
                    .filter(|command| command.names.iter().any(|name| name.starts_with(word)))
                    .map(|command| {
                        // What is typed whole is what is meant, also where it begins another name of the same.
                        let whole = command.names.iter().find(|name| **name == word);
                        let begun = || command.names.iter().find(|name| name.starts_with(word));
                        let name = whole.or_else(begun).unwrap_or(&command.names[0]);
                        suggestion(format!("/{name}"), Some(command.about), Span::new(0, at))
                    })
                    .chain(prompts)
                    .collect()
            } else if let Some(words) = self.words(before) {
                words
            } else {
                match begun_file(before) {
                    Some((start, typed)) => self.files(typed, Span::new(start, at)),
                    None => Vec::new(),
                }
            };
        CompletionResult::fresh(suggestions)
    }
}

/// Where the name of a file begins that is typed, and what there is of it: behind `@`, or `@"`, which blanks do not end.
fn begun_file(before: &str) -> Option<(usize, &str)> {
    if let Some(start) = before.rfind("@\"") {
        let typed = &before[start + 2..];
        if !typed.contains('"') && (start == 0 || before[..start].ends_with(char::is_whitespace)) {
            return Some((start, typed));
        }
    }
    let start =
        before.char_indices().rfind(|(_, c)| c.is_whitespace()).map_or(0, |(at, c)| at + c.len_utf8());
    Some((start, before[start..].strip_prefix('@')?))
}

/// Whether a word begins with what was typed.
pub(super) fn begins(word: &str, typed: &str) -> bool {
    word.to_lowercase().starts_with(&typed.to_lowercase())
}

fn suggestion(value: String, about: Option<&str>, span: Span) -> Suggestion {
    Suggestion {
        value,
        description: about.map(str::to_owned),
        span,
        append_whitespace: true,
        ..Suggestion::default()
    }
}

/// The files here that git would list.
fn list(directory: &Path) -> Vec<String> {
    let mut files: Vec<String> = WalkBuilder::new(directory)
        .require_git(false)
        .build()
        .filter_map(Result::ok)
        .filter(|entry| entry.file_type().is_some_and(|kind| kind.is_file()))
        .filter_map(|entry| Some(entry.path().strip_prefix(directory).ok()?.to_str()?.to_owned()))
        .take(LOOKED_AT)
        // A quote would end the quotes around a name with blanks.
        .filter(|path| !path.contains(['"', '\\']) && del_tools::visible(path) == path.as_str())
        .collect();
    files.sort();
    files
}

/// How well a path fits what was typed: its characters have to come in their order. Nothing if they do not.
fn fit(typed: &str, path: &str) -> Option<i64> {
    let name = path.rfind('/').map_or(0, |slash| slash + 1);
    let lower = path.to_lowercase();
    let (mut score, mut at) = (0, 0);
    let mut last = None;
    for c in typed.to_lowercase().chars() {
        let found = at + lower.get(at..)?.find(c)?;
        let begins = found == 0 || !lower.as_bytes()[found - 1].is_ascii_alphanumeric();
        score +=
            1 + i64::from(last == Some(found)) * 4 + i64::from(begins) * 3 + i64::from(found >= name) * 2;
        at = found + c.len_utf8();
        last = Some(at);
    }
    // Of several that fit alike, what is nearer.
    Some(score * 100 - i64::try_from(path.len()).unwrap_or(i64::MAX / 200))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_found_by_parts_of_their_names() {
        let fits = |typed: &str, paths: &[&str]| {
            let mut fits: Vec<(i64, String)> =
                paths.iter().filter_map(|path| Some((fit(typed, path)?, (*path).to_owned()))).collect();
            fits.sort_by(|(a, _), (b, _)| b.cmp(a));
            fits.into_iter().map(|(_, path)| path).collect::<Vec<_>>()
        };
        let paths = ["src/main.rs", "src/domain/range.rs", "README.md", "docs/main.md"];
        assert_eq!(fits("main", &paths)[..2], ["src/main.rs", "docs/main.md"]);
        assert_eq!(fits("srm", &paths), ["src/main.rs", "src/domain/range.rs"]);
        assert_eq!(fits("readme", &paths), ["README.md"]);
        assert!(fits("xyz", &paths).is_empty());
    }

    #[test]
    fn commands_and_files_are_offered_where_they_can_stand() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("src")).unwrap();
        std::fs::write(folder.path().join("src/main.rs"), "").unwrap();
        std::fs::write(folder.path().join(".gitignore"), "target\n").unwrap();
        std::fs::write(folder.path().join("target"), "").unwrap();
        let models = vec!["qwen3:8b".to_owned(), "llama3".to_owned(), "long-anthropic".to_owned()];
        let behind: Behind = Arc::new(Mutex::new(vec![(Name::Model, models)]));
        let mut words = Words::new(folder.path(), Arc::default(), behind);
        let mut offered = |line: &str| -> Vec<String> {
            words.complete(line, line.len()).suggestions().iter().map(|one| one.value.clone()).collect()
        };
        assert_eq!(offered("/und"), ["/undo"]);
        assert_eq!(offered("see @mai"), ["@src/main.rs"]);
        assert_eq!(offered("see @"), ["@src/main.rs"]);
        std::fs::write(folder.path().join("my notes.md"), "").unwrap();
        assert_eq!(offered("see @"), ["@\"my notes.md\"", "@src/main.rs"]);
        assert_eq!(offered("see @\"my no"), ["@\"my notes.md\""]);
        assert!(offered("see @\"my notes.md\" an").is_empty());
        assert_eq!(offered("/model "), ["llama3", "qwen3:8b", "long-anthropic"]);
        assert_eq!(offered("/model l"), ["llama3", "long-anthropic", "qwen3:8b"][..2]);
        assert_eq!(offered("/models q8"), ["qwen3:8b"]);
        assert!(offered("/model nosuch").is_empty() && offered("/undo q").is_empty());
        assert!(offered("a /und").is_empty() && offered("plain").is_empty());
    }
}
