//! Reading what the user asks: editing over several rows, history, popups, pastes; plain lines where there is no terminal
//! to do that on.

mod complete;
mod history;
mod keys;
mod popup;

use std::borrow::Cow;
use std::io::{self, BufRead, Write};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use anyhow::Result;
use complete::{Behind, Words};
use del_tools::{Scratch, visible};
use history::History;
use keys::Keys;
use popup::{Popup, Shared};
use reedline::{
    Color, EditCommand, HistoryItem, Prompt, PromptEditMode, PromptHistorySearch, Reedline, ReedlineMenu,
    Signal, SimpleMatchHighlighter, ValidationResult, Validator,
};

use super::word::Name;
use crate::consent::editing;
use crate::interrupt::Interrupt;
use crate::prompts;
use crate::screen::bell;
use crate::screen::look::Look;
use crate::screen::pastes::Pastes;
use crate::terminal::{comes_within, suspend};

/// Reads questions and remembers them.
pub(super) struct Lines {
    reader: Reader,
    history: Option<History>,
}

enum Reader {
    /// A terminal on which rows can be drawn anew.
    Drawn(Box<Drawn>),
    /// Lines as they come; where somebody types them, behind a prompt.
    Plain { prompt: bool },
}

struct Drawn {
    editor: Reedline,
    pastes: Pastes,
    kitty: bool,
    /// How often Shift-Tab was pressed since the line began. It does not end the line: what is typed behind it in one go
    /// would be lost.
    presses: Arc<AtomicUsize>,
    /// A key was pressed since then that is not Ctrl-C.
    touched: Arc<AtomicBool>,
    /// Words behind commands.
    behind: Behind,
    /// Where the user's editor finds the text.
    _folder: Option<Scratch>,
}

/// What was read.
pub(super) enum Read {
    Line(String),
    /// Ctrl-C, where nothing was typed; `at_once` where no other key was pressed before it.
    Interrupted {
        at_once: bool,
    },
    /// Ctrl-D, or the end of the input.
    End,
}

/// The status above the line; it is gone once the line is sent.
#[derive(Default)]
struct Above {
    /// As it is now, and as it is after each Shift-Tab, in a circle that leaves the first out.
    statuses: Vec<String>,
    presses: Arc<AtomicUsize>,
}

/// A line that ends so goes on in the next.
struct GoesOn;

impl Lines {
    /// A reader for questions in `directory`, with those of earlier conversations. Without a terminal it reads plain lines.
    pub(super) fn open(
        terminal: bool,
        look: Look,
        directory: &Path,
        prompts: &Arc<[prompts::Prompt]>,
        pastes: &Pastes,
    ) -> Self {
        let history = if terminal { History::find(directory) } else { None };
        let reader = if terminal && !look.plain {
            Reader::Drawn(Box::new(Drawn::new(look, directory, prompts, pastes.clone(), history.as_ref())))
        } else {
            Reader::Plain { prompt: terminal }
        };
        Self { reader, history }
    }

    /// Reads one, below a status, beginning with what was `typed` before. The first of the statuses is that of now, the
    /// others are those after each press of Shift-Tab, in a circle. What was read, and how often that was pressed.
    pub(super) fn read(
        &mut self,
        statuses: Vec<String>,
        typed: &str,
        interrupt: &Interrupt,
    ) -> Result<(Read, usize)> {
        match &mut self.reader {
            Reader::Drawn(drawn) => drawn.read(statuses, typed),
            Reader::Plain { prompt } => {
                interrupt.spare(*prompt);
                let read = plain(*prompt, statuses.first().map_or("", String::as_str));
                interrupt.spare(false);
                Ok((read?, 0))
            }
        }
    }

    /// Offers these words behind commands from now on.
    pub(super) fn offer(&self, words: Vec<(Name, Vec<String>)>) {
        if let Reader::Drawn(drawn) = &self.reader {
            *drawn.behind.lock().unwrap_or_else(PoisonError::into_inner) = words;
        }
    }

    /// Lets the arrow up bring this back.
    pub(super) fn recall(&mut self, text: &str) {
        if let Reader::Drawn(drawn) = &mut self.reader {
            drawn.recall(text);
        }
    }

    /// Keeps a line for later conversations, as far as the disk allows.
    pub(super) fn remember(&mut self, line: &str) {
        if let Some(history) = &mut self.history {
            history.add(line);
        }
    }
}

impl Drawn {
    fn new(
        look: Look,
        directory: &Path,
        prompts: &Arc<[prompts::Prompt]>,
        pastes: Pastes,
        history: Option<&History>,
    ) -> Self {
        let (shared, behind) = (Arc::new(Shared::default()), Behind::default());
        let (presses, touched) = (Arc::default(), Arc::default());
        let keys = Keys::new(pastes.clone(), Arc::clone(&shared), Arc::clone(&presses), Arc::clone(&touched));
        let mut editor = Reedline::create()
            .use_bracketed_paste(true)
            .with_ansi_colors(look.paint.is_on())
            // In the terminal's own colour: others may be that of its ground.
            .with_highlighter(Box::new(SimpleMatchHighlighter::default()))
            .with_validator(Box::new(GoesOn))
            .with_completer(Box::new(Words::new(directory, Arc::clone(prompts), Arc::clone(&behind))))
            .with_menu(ReedlineMenu::EngineCompleter(Box::new(Popup::new(look, shared))))
            .with_edit_mode(Box::new(keys))
            .with_transient_prompt(Box::new(Above::default()))
            .with_poll_interval(bell::PACE)
            .with_idle_callback(Box::new(bell::ring));
        if let Some(lines) = history.and_then(|history| history.lines(&pastes)) {
            editor = editor.with_history(lines);
        }
        let mut folder = None;
        if let (Some(words), Ok(place)) = (editing::editor(), Scratch::new("edit")) {
            let path = place.path().join("question.md");
            let mut command = std::process::Command::new(&words[0]);
            command.args(&words[1..]).arg(&path);
            editor = editor.with_buffer_editor(command, path);
            folder = Some(place);
        }
        Self { editor, pastes, kitty: speaks_kitty(), presses, touched, behind, _folder: folder }
    }

    fn read(&mut self, statuses: Vec<String>, typed: &str) -> Result<(Read, usize)> {
        if !typed.is_empty() {
            self.editor.run_edit_commands(&[EditCommand::InsertString(typed.to_owned())]);
        }
        self.presses.store(0, Ordering::Relaxed);
        self.touched.store(false, Ordering::Relaxed);
        let above = Above { statuses, presses: Arc::clone(&self.presses) };
        let signal = loop {
            match self.signal(&above)? {
                Signal::HostCommand(command) if command == keys::STOP => suspend(),
                Signal::HostCommand(_) if self.take_away() => {}
                Signal::HostCommand(_) => {
                    put("\n");
                    break Signal::CtrlC;
                }
                signal => break signal,
            }
        };
        let read = match signal {
            Signal::Success(line) => Read::Line(self.pastes.unfold(&line.replace("\\\n", "\n"))),
            Signal::CtrlC => Read::Interrupted { at_once: !self.touched.load(Ordering::Relaxed) },
            _ => Read::End,
        };
        Ok((read, self.presses.load(Ordering::Relaxed)))
    }

    /// Takes away what was typed, which Up brings back. Whether there was anything.
    fn take_away(&mut self) -> bool {
        let text = self.editor.current_buffer_contents().to_owned();
        if !text.trim().is_empty() {
            self.recall(&text);
        }
        self.editor.run_edit_commands(&[EditCommand::Clear]);
        !text.is_empty()
    }

    fn recall(&mut self, text: &str) {
        // Without a history there is nothing to bring it back.
        let _ = self.editor.history_mut().save(HistoryItem::from_command_line(text));
    }

    /// What ends the editing of the line, for good or for now.
    fn signal(&mut self, above: &Above) -> io::Result<Signal> {
        if self.kitty {
            put("\u{1b}[>1u");
        }
        let signal = self.editor.read_line(above);
        if self.kitty {
            put("\u{1b}[<u");
        }
        signal
    }
}

/// A line from standard input.
fn plain(prompt: bool, status: &str) -> Result<Read> {
    let mut whole = String::new();
    loop {
        // What was typed while the model worked stands somewhere in its answer.
        let waits = prompt && comes_within(&io::stdin(), Duration::ZERO);
        if prompt {
            if whole.is_empty() && !status.is_empty() {
                put(&format!("{status}\n"));
            }
            put("> ");
        }
        let mut line = Vec::new();
        if io::stdin().lock().read_until(b'\n', &mut line)? == 0 && whole.is_empty() {
            return Ok(Read::End);
        }
        let line = String::from_utf8_lossy(&line);
        let line = line.trim_end_matches(['\n', '\r']);
        if waits {
            put(&format!("{}\n", visible(line)));
        }
        match line.strip_suffix('\\') {
            Some(begun) => whole.extend([begun, "\n"]),
            None => return Ok(Read::Line(whole + line)),
        }
    }
}

fn put(text: &str) {
    let mut stderr = io::stderr().lock();
    let _ = stderr.write_all(text.as_bytes()).and_then(|()| stderr.flush());
}

/// Whether the terminal is one that tells Shift-Enter from Enter when asked to. Others are not asked: a question that
/// nobody answers costs seconds.
fn speaks_kitty() -> bool {
    let has = |name: &str, known: &[&str]| {
        std::env::var(name).is_ok_and(|value| known.iter().any(|known| value.contains(known)))
    };
    has("TERM", &["kitty", "ghostty", "foot", "alacritty", "wezterm", "rio"])
        || has("TERM_PROGRAM", &["WezTerm", "ghostty", "iTerm", "rio"])
}

impl Prompt for Above {
    fn render_prompt_left(&self) -> Cow<'_, str> {
        let place = match (self.presses.load(Ordering::Relaxed), self.statuses.len()) {
            (pressed, 2..) if pressed > 0 => 1 + (pressed - 1) % (self.statuses.len() - 1),
            _ => 0,
        };
        match self.statuses.get(place).filter(|status| !status.is_empty()) {
            Some(status) => Cow::Owned(format!("{status}\n")),
            None => Cow::Borrowed(""),
        }
    }

    fn render_prompt_right(&self) -> Cow<'_, str> {
        Cow::Borrowed("")
    }

    fn render_prompt_indicator(&self, _: PromptEditMode) -> Cow<'_, str> {
        Cow::Borrowed("> ")
    }

    fn render_prompt_multiline_indicator(&self) -> Cow<'_, str> {
        Cow::Borrowed("  ")
    }

    fn render_prompt_history_search_indicator(&self, search: PromptHistorySearch) -> Cow<'_, str> {
        Cow::Owned(format!("search for `{}`: ", search.term))
    }

    fn get_prompt_color(&self) -> Color {
        Color::Default
    }

    fn get_indicator_color(&self) -> Color {
        Color::Default
    }

    fn get_prompt_multiline_color(&self) -> Color {
        Color::Default
    }
}

impl Validator for GoesOn {
    fn validate(&self, line: &str) -> ValidationResult {
        if line.ends_with('\\') { ValidationResult::Incomplete } else { ValidationResult::Complete }
    }
}
