//! Text that the user changes: a line in place, or anything in their own editor.

use std::fs::File;
use std::io;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use del_tools::{Scratch, visible};
use rustyline::config::{Behavior, Config};
use rustyline::error::ReadlineError;
use rustyline::history::MemHistory;
use rustyline::{
    Cmd, ConditionalEventHandler, Editor, Event, EventContext, EventHandler, KeyCode, KeyEvent, Modifiers,
    RepeatCount, Result as LineResult,
};

/// What came of it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Edited {
    /// Another text.
    Text(String),
    /// The same text, or none.
    Nothing,
    /// The user does not want to change it after all.
    Left,
    /// The user wants to stop.
    Stopped,
}

/// The longest text that is taken back.
const LONGEST: u64 = 32 << 20;

/// Editors that a system has where the user names none, the easiest to leave first.
const USUAL: [&str; 3] = ["editor", "nano", "vi"];

/// Milliseconds in which what follows Esc was sent by one key.
const ONE_KEY: u16 = 30;

/// Esc was pressed: the line is left.
struct Leave(Arc<AtomicBool>);

impl ConditionalEventHandler for Leave {
    fn handle(&self, _: &Event, _: RepeatCount, _: bool, _: &EventContext<'_>) -> Option<Cmd> {
        self.0.store(true, Ordering::Relaxed);
        Some(Cmd::Interrupt)
    }
}

/// Whether a text can be changed as one line: all of it can be seen.
pub(super) fn is_line(text: &str) -> bool {
    !text.contains('\n') && visible(text) == text
}

/// Lets the user change one line in place. Fails where it has characters that cannot be seen.
pub(super) fn line(prompt: &str, text: &str) -> io::Result<Edited> {
    if !is_line(text) {
        return Err(io::Error::other(
            "it has more than one line, or characters that cannot be seen; set VISUAL or EDITOR",
        ));
    }
    let left = Arc::new(AtomicBool::new(false));
    let edit = || -> LineResult<String> {
        let config = Config::builder()
            .behavior(Behavior::PreferTerm)
            .auto_add_history(false)
            .keyseq_timeout(Some(ONE_KEY))
            .build();
        let mut editor: Editor<(), MemHistory> = Editor::with_history(config, MemHistory::new())?;
        let leave = Leave(Arc::clone(&left));
        editor.bind_sequence(
            KeyEvent(KeyCode::Esc, Modifiers::NONE),
            EventHandler::Conditional(Box::new(leave)),
        );
        editor.readline_with_initial(prompt, (text, ""))
    };
    match edit() {
        Ok(new) if new.trim().is_empty() || new == text => Ok(Edited::Nothing),
        Ok(new) => Ok(Edited::Text(new)),
        Err(ReadlineError::Interrupted) if left.load(Ordering::Relaxed) => Ok(Edited::Left),
        Err(ReadlineError::Interrupted | ReadlineError::Eof) => Ok(Edited::Stopped),
        Err(error) => Err(io::Error::other(error.to_string())),
    }
}

/// The editor that the user names.
pub(super) fn named() -> Option<Vec<String>> {
    let named = ["VISUAL", "EDITOR"].into_iter().filter_map(|name| std::env::var(name).ok());
    named.filter_map(|words| shlex::split(&words)).find(|words| !words.is_empty())
}

/// The editor that the user names, or else one that is there.
pub(crate) fn editor() -> Option<Vec<String>> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let is_there = |name: &str| std::env::split_paths(&path).any(|folder| folder.join(name).is_file());
    named().or_else(|| USUAL.into_iter().find(|name| is_there(name)).map(|name| vec![name.to_owned()]))
}

/// Lets the user change a text in their editor, which has the terminal meanwhile.
pub(crate) fn text(tty: &File, editor: &[String], name: &str, text: &str) -> io::Result<Edited> {
    let (program, options) = editor.split_first().ok_or_else(|| io::Error::other("no editor is named"))?;
    let folder = Scratch::new("edit")?;
    let path = folder.path().join(name);
    std::fs::write(&path, text)?;
    let status = Command::new(program)
        .args(options)
        .arg(&path)
        .stdin(Stdio::from(tty.try_clone()?))
        .stdout(Stdio::from(tty.try_clone()?))
        .stderr(Stdio::from(tty.try_clone()?))
        .status()
        .map_err(|error| io::Error::new(error.kind(), format!("cannot start {program}: {error}")))?;
    if !status.success() {
        return Err(io::Error::other(format!("{program} failed ({status})")));
    }
    let new = read(&path)?;
    Ok(if new == text { Edited::Nothing } else { Edited::Text(new) })
}

fn read(path: &Path) -> io::Result<String> {
    if std::fs::metadata(path)?.len() > LONGEST {
        return Err(io::Error::other("the text is longer than 32 MiB"));
    }
    String::from_utf8(std::fs::read(path)?).map_err(|_| io::Error::other("the text is not UTF-8"))
}
