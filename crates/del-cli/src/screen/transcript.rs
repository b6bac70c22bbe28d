//! What happens, for a person: the answer on standard output, everything else on standard error.

use std::io::{self, Write};

use del_agent::{Mode, View};
use del_dialects::{Call, FaultKind};
use del_tools::{ToolResult, visible};

use crate::colour::Paint;
use crate::hands::Onlooker;
use crate::screen::lines;
use crate::screen::near::Tried;
use crate::session::Screen;
use crate::wrap;

/// What to show.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Shown {
    /// Somebody watches standard output: text goes there as it comes. Else whoever asked prints the answer.
    pub(crate) live: bool,
    /// The model's raw text, and what was read in it.
    pub(crate) debug: bool,
    /// The model's thinking.
    pub(crate) reasoning: bool,
}

/// Shows one question's work.
pub(crate) struct Transcript {
    pub(crate) shown: Shown,
    paint: Paint,
    /// For `debug`.
    tried: Tried,
    /// What the model wrote in this turn; for `debug`.
    raw: String,
    /// What stands on the line of the cursor.
    open: Open,
    flow: Flow,
    /// Text of this turn that has not been shown.
    text: String,
    /// What was read in this turn; for `debug`.
    read: Vec<String>,
    /// The dialects of its calls.
    matched: Vec<String>,
    failed: Option<io::Error>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Open {
    Nothing,
    Text,
    Reasoning,
    Raw,
}

/// Text without the white space around it, as it comes.
#[derive(Debug, Default)]
struct Flow {
    started: bool,
    held: String,
}

impl Flow {
    /// What of `piece` is certain to be inside.
    fn take(&mut self, piece: &str) -> String {
        let piece = if self.started { piece } else { piece.trim_start() };
        let inside = piece.trim_end();
        let mut out = String::new();
        if !inside.is_empty() {
            self.started = true;
            out = std::mem::take(&mut self.held) + inside;
        }
        if self.started {
            self.held.push_str(&piece[inside.len()..]);
        }
        out
    }
}

impl Transcript {
    /// Answers are read in the dialects of `tried`.
    pub(crate) fn new(shown: Shown, paint: Paint, tried: Tried) -> Self {
        Self {
            shown,
            paint,
            tried,
            raw: String::new(),
            open: Open::Nothing,
            flow: Flow::default(),
            text: String::new(),
            read: Vec::new(),
            matched: Vec::new(),
            failed: None,
        }
    }

    fn text(&mut self, piece: &str) {
        if !self.shown.live || self.shown.debug {
            self.text.push_str(piece);
            return;
        }
        self.begin(Open::Text);
        let text = self.flow.take(piece);
        self.out(&visible(&text));
    }

    fn reasoning(&mut self, piece: &str) {
        if !self.shown.reasoning || self.shown.debug {
            return;
        }
        self.begin(Open::Reasoning);
        let started = self.flow.started;
        let text = self.flow.take(piece);
        if text.is_empty() {
            return;
        }
        let mark = if started { "" } else { "✻ " };
        let text = self.paint.dim(format!("{mark}{}", visible(&text)));
        err(&text);
    }

    fn raw(&mut self, piece: &str) {
        self.raw.push_str(piece);
        let first = self.open != Open::Raw;
        self.begin(Open::Raw);
        let bar = self.paint.dim("│ ");
        let text = visible(piece).replace('\n', &format!("\n{bar}"));
        err(&if first { format!("{bar}{text}") } else { text });
    }

    /// Makes the line of the cursor one of `kind`.
    fn begin(&mut self, kind: Open) {
        if self.open != kind {
            self.close();
            self.open = kind;
            self.flow = Flow::default();
        }
    }

    fn close(&mut self) {
        match self.open {
            Open::Text if self.flow.started => self.out("\n"),
            Open::Reasoning if self.flow.started => err("\n"),
            Open::Raw => err("\n"),
            _ => {}
        }
        self.open = Open::Nothing;
    }

    fn line(&mut self, line: &str) {
        self.close();
        err(&format!("{line}\n"));
    }

    fn out(&mut self, text: &str) {
        if self.failed.is_none() && !text.is_empty() {
            let mut out = io::stdout().lock();
            self.failed = out.write_all(text.as_bytes()).and_then(|()| out.flush()).err();
        }
    }

    fn note(&mut self, text: &str) {
        let line = self.paint.yellow(format!("! {}", visible(text)));
        self.line(&wrap::for_stderr(&line, |_| "! ".len()));
    }

    fn debug(&mut self, text: &str) {
        let line = self.paint.dim(format!("debug: {}", visible(text)));
        self.line(&wrap::for_stderr(&line, |_| "debug: ".len()));
    }
}

impl Onlooker for Transcript {
    fn call(&mut self, call: &Call) {
        let line = lines::call(self.paint, call);
        self.line(&line);
    }

    fn result(&mut self, _: &Call, result: &ToolResult) {
        let text = lines::result(self.paint, result);
        self.line(&text);
    }
}

impl Screen for Transcript {
    fn view(&mut self, view: View<'_>) {
        match view {
            View::Turn { turn, mode, dialect, constrained } if self.shown.debug => {
                let tools = match (mode, dialect) {
                    (Mode::Native, _) => "tools go over the API".to_owned(),
                    (Mode::Prompt, dialect) => {
                        format!("tools in the prompt, in {}", dialect.unwrap_or("no dialect"))
                    }
                };
                let grammar = if constrained { ", calls constrained by a grammar" } else { "" };
                self.debug(&format!("turn {turn}: {tools}{grammar}; the model writes:"));
            }
            View::Raw(text) if self.shown.debug => self.raw(text),
            View::Text(text) => self.text(text),
            View::Reasoning(text) => self.reasoning(text),
            View::CallStart { name, dialect, span, .. } => {
                self.read.push(format!("{dialect} matched at byte {}: a call of {name}", span.start));
                self.matched.push(dialect.to_owned());
            }
            View::Fault { fault, span } => {
                let text = format!("bytes {} to {}: {}", span.start, span.end, fault.kind.message());
                self.read.push(text);
                if fault.kind == FaultKind::InventedResult && !self.shown.debug {
                    self.note(fault.kind.message());
                }
            }
            View::Notice(notice) => self.note(&notice.to_string()),
            _ => {}
        }
    }

    fn turn_over(&mut self, last: bool) {
        self.close();
        let (read, matched) = (std::mem::take(&mut self.read), std::mem::take(&mut self.matched));
        let raw = std::mem::take(&mut self.raw);
        if self.shown.debug {
            for line in &read {
                self.debug(line);
            }
            if !raw.is_empty() {
                self.debug(&self.tried.line(&raw, &matched));
            }
        }
        let text = std::mem::take(&mut self.text);
        let text = text.trim();
        if text.is_empty() {
            return;
        }
        if self.shown.live {
            self.out(&format!("{}\n", visible(text)));
        } else if !last {
            self.line(&visible(text));
        }
    }

    fn check(&mut self) -> io::Result<()> {
        self.failed.take().map_or(Ok(()), Err)
    }
}

/// Writes to standard error; it is lost without a fuss when nobody reads it.
fn err(text: &str) {
    let mut stderr = io::stderr().lock();
    let _ = stderr.write_all(text.as_bytes()).and_then(|()| stderr.flush());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn white_space_around_a_text_is_left_out_however_it_is_cut() {
        let text = "\n\n  a b\n\nc \n\n";
        for size in 1..text.len() {
            let mut flow = Flow::default();
            let pieces: Vec<char> = text.chars().collect();
            let shown: String =
                pieces.chunks(size).map(|piece| flow.take(&piece.iter().collect::<String>())).collect();
            assert_eq!(shown, "a b\n\nc");
        }
    }
}
