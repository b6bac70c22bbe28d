//! What happens, for a person: the answer on standard output, everything else on standard error.

mod text;
mod thought;

use std::io;

use del_agent::{Mode, Notice, View};
use del_dialects::{Call, FaultKind};
use del_tools::{ToolResult, visible};
use text::{Flow, Guard, Harmless, Safe};
use thought::Thought;

use crate::onlooker::{Onlooker, Screen, Told};
use crate::screen::lines;
use crate::screen::look::{self, Look};
use crate::screen::markdown::Markdown;
use crate::screen::near::Tried;
use crate::screen::stage::{self, Stage};
use crate::todo;
use crate::wrap;

/// What to show.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Shown {
    /// Text goes to standard output as it comes. Else whoever asked prints the answer.
    pub(crate) live: bool,
    /// That is no terminal: text goes there as it is, and what could act on one behind it is written out.
    pub(crate) piped: bool,
    /// The model's raw text, and what was read in it.
    pub(crate) debug: bool,
    /// The model's thinking.
    pub(crate) reasoning: bool,
    /// Text as the model wrote it, and not laid out.
    pub(crate) raw: bool,
    /// What is folded or cut can be asked for.
    pub(crate) unfolds: bool,
}

/// What a model does that has lost its way, or was asked to: whoever watches decides.
const REPEATS: &str = "writing the same again and again";

/// Shows one question's work.
pub(crate) struct Transcript {
    pub(crate) shown: Shown,
    look: Look,
    stage: &'static Stage,
    /// Lays the answer out, where somebody watches it.
    markdown: Option<Markdown>,
    /// For `debug`.
    tried: Tried,
    /// What the model wrote in this turn; for `debug`.
    raw: String,
    /// The end of that came apart from the text.
    apart: bool,
    /// What stands on the line of the cursor.
    open: Open,
    flow: Flow,
    guard: Guard,
    /// Text of this turn that has not been shown.
    text: String,
    /// What was read in this turn; for `debug`.
    read: Vec<String>,
    /// The dialects of its calls.
    matched: Vec<String>,
    /// Something stands above that an answer keeps a distance from.
    above: bool,
    thought: Thought,
    /// The model writes the same again and again.
    repeats: bool,
    failed: Option<io::Error>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Open {
    Nothing,
    Text,
    Reasoning,
    Folded,
    Raw { apart: bool },
}

impl Transcript {
    /// Answers are read in the dialects of `tried`.
    pub(crate) fn new(shown: Shown, look: Look, tried: Tried) -> Self {
        let laid_out = shown.live && !shown.raw && crate::terminal::stdout_width().is_some();
        Self {
            shown,
            look,
            stage: stage::open(look),
            markdown: laid_out
                .then(|| Markdown::new(look::columns(), look.paint.is_on()).spoken(look.spoken)),
            tried,
            raw: String::new(),
            apart: false,
            open: Open::Nothing,
            flow: Flow::default(),
            guard: match shown {
                Shown { piped: false, .. } => Guard::Screen(Safe::default()),
                Shown { raw: true, .. } => Guard::AsItIs,
                _ => Guard::Pipe(Harmless::default()),
            },
            text: String::new(),
            read: Vec::new(),
            matched: Vec::new(),
            above: false,
            thought: Thought::default(),
            repeats: false,
            failed: None,
        }
    }

    /// What the model thought, where it was folded.
    pub(crate) fn into_thought(self) -> String {
        self.thought.text
    }

    fn text(&mut self, piece: &str) {
        if !self.shown.live || self.shown.debug {
            self.stage.doing(if self.repeats { REPEATS } else { "writing" });
            self.text.push_str(piece);
            return;
        }
        let first = self.open != Open::Text;
        self.begin(Open::Text);
        let text = self.flow.take(piece);
        if text.is_empty() {
            return;
        }
        if first && self.above && self.markdown.is_some() && !self.look.plain {
            self.out("\n");
        }
        self.lay_out(&text);
    }

    fn lay_out(&mut self, text: &str) {
        let text = self.guard.take(text);
        match &mut self.markdown {
            Some(markdown) => {
                markdown.resize(look::columns());
                markdown.give_tables(look::all_columns());
                let rows = markdown.push(&text);
                // Whoever hears what is done need not hear of each table.
                let table = markdown.holds_table() && !self.look.plain;
                self.stage.doing(match table {
                    _ if self.repeats => REPEATS,
                    true => "writing a table",
                    false => "writing",
                });
                self.out(&rows);
            }
            None => {
                if self.shown.piped {
                    self.stage.doing(if self.repeats { REPEATS } else { "writing" });
                }
                self.out(&text);
            }
        }
    }

    fn end_text(&mut self) {
        let held = self.guard.end();
        let rest = match &mut self.markdown {
            Some(markdown) => markdown.push(&held) + &markdown.finish(),
            None => held + "\n",
        };
        self.out(&rest);
    }

    fn raw(&mut self, piece: &str, apart: bool) {
        let kind = Open::Raw { apart };
        let first = self.open != kind;
        if std::mem::replace(&mut self.apart, apart) != apart && !self.raw.is_empty() {
            self.raw.push('\n');
        }
        self.raw.push_str(piece);
        self.begin(kind);
        let signs = self.look.signs();
        let bar = format!("{} ", if apart { signs.thought } else { signs.raw });
        let bar = self.look.paint.dim(bar);
        let text = visible(piece).replace('\n', &format!("\n{bar}"));
        self.stage.aside(&if first { format!("{bar}{text}") } else { text });
    }

    /// Shows text that waits; the last is the answer, which whoever asked prints where nobody watches.
    fn flush(&mut self, last: bool) {
        let text = std::mem::take(&mut self.text);
        let text = text.trim();
        if text.is_empty() {
            return;
        }
        if self.shown.live {
            self.lay_out(text);
            self.end_text();
            self.stage.rest();
        } else if !last {
            self.line(&visible(text));
        }
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
        match std::mem::replace(&mut self.open, Open::Nothing) {
            Open::Text if self.flow.started => {
                self.end_text();
                self.above = true;
            }
            Open::Reasoning if self.flow.started => self.stage.aside("\n"),
            Open::Folded => self.folded(),
            Open::Raw { .. } => self.stage.aside("\n"),
            _ => {}
        }
    }

    fn line(&mut self, line: &str) {
        self.close();
        self.stage.line(line);
    }

    fn out(&mut self, text: &str) {
        if self.failed.is_none() && !text.is_empty() {
            let told = if self.shown.piped { self.stage.piped(text) } else { self.stage.answer(text) };
            self.failed = told.err();
        }
    }

    fn note(&mut self, text: &str) {
        let line = self.look.paint.yellow(format!("! {}", visible(text)));
        self.line(&wrap::for_stderr(&line, |_| "! ".len()));
        self.above = true;
    }

    fn debug(&mut self, text: &str) {
        let line = self.look.paint.dim(format!("debug: {}", visible(text)));
        self.line(&wrap::for_stderr(&line, |_| "debug: ".len()));
    }

    fn turn(&mut self, turn: u32, mode: Mode, dialect: Option<&str>, constrained: bool) {
        self.stage.doing("reading the prompt");
        if !self.shown.debug {
            return;
        }
        let tools = match (mode, dialect) {
            (Mode::Native, _) => "tools go over the API".to_owned(),
            (Mode::Prompt, dialect) => {
                format!("tools in the prompt, in {}", dialect.unwrap_or("no dialect"))
            }
        };
        let grammar = if constrained { ", calls constrained by a grammar" } else { "" };
        self.debug(&format!("turn {turn}: {tools}{grammar}; the model writes:"));
    }
}

impl Onlooker for Transcript {
    fn call(&mut self, call: &Call) {
        if self.shown.live && self.markdown.is_some() && self.above {
            self.stage.line("");
        }
        let line = lines::call(self.look, call);
        self.line(&line);
        self.stage.doing(&lines::doing(call));
        self.above = true;
    }

    fn change(&mut self, change: &str) {
        let text = lines::change(self.look, change, self.shown.unfolds);
        self.line(&text);
    }

    fn step(&mut self, _: &Call, call: &Call) {
        self.stage.output(&format!("{}\n", lines::folded(call)));
    }

    fn hook(&mut self, told: &Told) {
        self.line(&lines::hook(self.look, told));
        self.above = true;
    }

    fn result(&mut self, call: &Call, result: &ToolResult) {
        self.stage.rest();
        if call.name == todo::NAME && result.ok && self.shown.unfolds {
            return self.line(&lines::plan(self.look, &result.text));
        }
        let text = lines::result(self.look, result, self.shown.unfolds);
        self.line(&text);
    }
}

impl Screen for Transcript {
    fn view(&mut self, view: View<'_>) {
        match view {
            View::Turn { turn, mode, dialect, constrained } => {
                self.flush(false);
                self.turn(turn, mode, dialect, constrained);
            }
            View::Raw { text, apart } => {
                self.stage.count(1);
                if self.shown.debug {
                    self.raw(text, apart);
                }
            }
            View::Compacting => self.stage.doing("summing the conversation up"),
            View::Text(text) => self.text(text),
            View::Reasoning(text) => self.reasoning(text),
            View::CallStart { name, dialect, span, .. } => {
                // The model's raw text goes on.
                if !matches!(self.open, Open::Raw { .. }) {
                    self.close();
                }
                self.stage.doing(&format!("writing a call of {name}"));
                self.read.push(format!("{dialect} matched at byte {}: a call of {name}", span.start));
                self.matched.push(dialect.to_owned());
            }
            View::Args { .. } => self.stage.count(1),
            View::Repeating(repeats) => {
                self.repeats = repeats;
                self.stage.doing(if repeats { REPEATS } else { "writing" });
            }
            View::Fault { fault, span } => {
                let text = format!("bytes {} to {}: {}", span.start, span.end, fault.kind.message());
                self.read.push(text);
                if fault.kind == FaultKind::InventedResult && !self.shown.debug {
                    self.note(fault.kind.message());
                }
            }
            View::Notice(notice) => {
                self.note(&notice.to_string());
                if let Notice::Retry { next, tries, milliseconds, .. } = notice {
                    self.stage.waiting(&format!("try {next} of {tries}"), *milliseconds);
                }
            }
            _ => {}
        }
    }

    fn turn_over(&mut self, last: bool) {
        self.close();
        self.stage.rest();
        self.repeats = false;
        let (read, matched) = (std::mem::take(&mut self.read), std::mem::take(&mut self.matched));
        let raw = std::mem::take(&mut self.raw);
        if self.shown.debug {
            for line in &read {
                self.debug(line);
            }
            if let Some(near) = self.tried.line(&raw, &matched).filter(|_| !raw.is_empty()) {
                self.debug(&near);
            }
        }
        self.flush(last);
    }

    fn check(&mut self) -> io::Result<()> {
        self.failed.take().map_or(Ok(()), Err)
    }
}
