//! Reading a line: editing, history, completion, and lines that go on.

use std::path::PathBuf;

use anyhow::Result;
use rustyline::completion::{Completer, FilenameCompleter, Pair};
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::history::FileHistory;
use rustyline::validate::{ValidationContext, ValidationResult, Validator};
use rustyline::{Config, Context, Editor, Helper, Result as LineResult};

use super::word::WORDS;
use crate::folders;

/// Reads lines and remembers them.
pub(super) struct Lines {
    editor: Editor<Reader, FileHistory>,
    history: Option<PathBuf>,
    prompt: bool,
}

struct Reader {
    files: FilenameCompleter,
}

const REMEMBERED: usize = 1000;

/// An editor with the lines of earlier conversations; without a terminal it reads plain lines.
pub(super) fn editor(terminal: bool) -> Result<Lines> {
    let config = Config::builder().max_history_size(REMEMBERED)?.auto_add_history(false).build();
    let mut editor = Editor::with_config(config)?;
    editor.set_helper(Some(Reader { files: FilenameCompleter::new() }));
    let history = if terminal { history() } else { None };
    if let Some(history) = &history {
        // The first conversation has no history.
        let _ = editor.load_history(history);
    }
    Ok(Lines { editor, history, prompt: terminal })
}

impl Lines {
    pub(super) fn readline(&mut self, prompt: &str) -> LineResult<String> {
        let line = self.editor.readline(if self.prompt { prompt } else { "" })?;
        Ok(line.replace("\\\n", "\n"))
    }

    /// Keeps a line for later conversations, as far as the disk allows.
    pub(super) fn remember(&mut self, line: &str) {
        let added = self.editor.add_history_entry(line).unwrap_or(false);
        if let Some(history) = self.history.as_ref().filter(|_| added) {
            let _ = self.editor.append_history(history);
        }
    }
}

impl Helper for Reader {}

impl Highlighter for Reader {}

impl Hinter for Reader {
    type Hint = String;
}

impl Validator for Reader {
    fn validate(&self, context: &mut ValidationContext<'_>) -> LineResult<ValidationResult> {
        let goes_on = context.input().ends_with('\\');
        Ok(if goes_on { ValidationResult::Incomplete } else { ValidationResult::Valid(None) })
    }
}

impl Completer for Reader {
    type Candidate = Pair;

    /// Commands after a slash at the start, paths after `@`.
    fn complete(&self, line: &str, at: usize, context: &Context<'_>) -> LineResult<(usize, Vec<Pair>)> {
        let before = &line[..at];
        if let Some(word) = before.strip_prefix('/').filter(|word| !word.contains(' ')) {
            let fits = WORDS.into_iter().filter(|known| known.starts_with(word));
            let pairs =
                fits.map(|known| Pair { display: format!("/{known}"), replacement: format!("/{known}") });
            return Ok((0, pairs.collect()));
        }
        let word = before.rfind(char::is_whitespace).map_or(0, |space| space + 1);
        if before[word..].starts_with('@') {
            let (start, pairs) = self.files.complete(&before[word + 1..], at - word - 1, context)?;
            return Ok((word + 1 + start, pairs));
        }
        Ok((at, Vec::new()))
    }
}

/// Where lines are kept, its folder made.
fn history() -> Option<PathBuf> {
    let folder = folders::state()?;
    std::fs::create_dir_all(&folder).ok()?;
    Some(folder.join("history"))
}
