//! `del`: the assistant, interactive.

mod commands;
mod files;
mod help;
mod line;
mod recall;
mod said;
mod status;
mod waiting;
mod word;

use std::collections::VecDeque;
use std::io::IsTerminal;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use anyhow::Result;
use del_agent::Failure;
use del_tools::{Approval, visible};
use line::{Lines, Read};
use said::{collected, say};
use word::Word;

use crate::assistant::Assistant;
use crate::colour::Paint;
use crate::common::Common;
use crate::exit::{self, Exit};
use crate::interrupt::{self, ARMED};
use crate::project::{self, Part};
use crate::prompts::{self, Prompt};
use crate::screen::bell;
use crate::screen::look::Look;
use crate::screen::pastes::Pastes;
use crate::screen::stage::{self, Stage};
use crate::screen::transcript::{Shown, Transcript};
use crate::session::{self, Session};
use crate::terminal;

const MAX_TURNS: u32 = 50;

/// A conversation at the terminal.
struct Chat {
    session: Session,
    shown: Shown,
    look: Look,
    stage: &'static Stage,
    paint: Paint,
    /// Somebody sits at a terminal.
    terminal: bool,
    /// What the model thought last.
    thought: String,
    /// When it began, in milliseconds since 1970.
    since: u64,
    /// Questions that were typed while the model worked, and what of one was.
    ahead: VecDeque<String>,
    begun: String,
    /// What of them the model was given while it worked.
    given: Vec<String>,
    /// What waited when something was stopped or failed: each stands in the line in its turn.
    held: VecDeque<String>,
    /// The question was stopped before anything came of it.
    withdrawn: bool,
    /// What was done last was stopped, or has failed: nothing that waits is done by itself.
    halted: bool,
    /// How a run ends at which nobody sits: as its last question did.
    ended: Exit,
    /// What was pasted into them.
    pastes: Pastes,
    /// Files that go along with the next question.
    files: Vec<PathBuf>,
    /// What was taken back, or brought back, last, as a difference.
    undone: String,
}

/// Whether the conversation goes on.
enum Next {
    Go,
    End,
}

pub(crate) fn run(options: &Assistant, common: &Common) -> Result<Exit> {
    options.bell.hang();
    let look = Look::find(common.color);
    let stage = stage::open(look);
    let mut session = Session::open(&options.session, common, MAX_TURNS)?;
    session.let_plan()?;
    let terminal = std::io::stdout().is_terminal();
    let typed = terminal && std::io::stdin().is_terminal() && std::io::stderr().is_terminal();
    let shown = Shown {
        live: true,
        piped: false,
        debug: options.session.debug,
        reasoning: !options.session.hide_reasoning,
        raw: options.raw,
        unfolds: typed,
    };
    let _keys = if typed && !look.plain { terminal::Keys::begin() } else { None };
    let mut chat = Chat {
        session,
        shown,
        look,
        stage,
        paint: look.paint,
        terminal: typed && !look.plain,
        thought: String::new(),
        since: now(),
        ahead: options.question().map(str::to_owned).into_iter().collect(),
        begun: String::new(),
        given: Vec::new(),
        held: VecDeque::new(),
        withdrawn: false,
        halted: false,
        ended: Exit::Done,
        pastes: Pastes::default(),
        files: options.file.clone(),
        undone: String::new(),
    };
    if chat.terminal {
        stage.stops_with("Esc");
    }
    let directory = chat.session.hands.toolbox.directory();
    let mut lines = Lines::open(typed, look, directory, chat.session.prompts(), &chat.pastes);
    chat.greet();
    chat.recall();
    chat.talk(&mut lines)
}

impl Chat {
    /// Takes line after line until the user has had enough.
    fn talk(&mut self, lines: &mut Lines) -> Result<Exit> {
        let mut interrupted: Option<Instant> = None;
        loop {
            let read = match self.ahead.pop_front() {
                Some(question) => {
                    self.space();
                    said::echo(self.paint, &question);
                    lines.recall(&question);
                    Read::Line(self.pastes.unfold(&question))
                }
                None => {
                    self.session.hands.hear_jobs();
                    self.space();
                    lines.offer(self.words_behind());
                    self.next_held();
                    let (read, presses) = lines.read(
                        self.statuses(),
                        &std::mem::take(&mut self.begun),
                        &self.session.interrupt,
                    )?;
                    bell::touched();
                    (0..presses).for_each(|_| self.next_mode());
                    read
                }
            };
            self.stage.follow();
            match read {
                Read::Line(line) => {
                    interrupted = None;
                    if !line.trim().is_empty() {
                        lines.remember(&line);
                    }
                    if let Next::End = self.take(&line)? {
                        return Ok(self.part(self.done()));
                    }
                    if let Some(code) = self.session.interrupt.told_to_end() {
                        return Ok(self.part(code));
                    }
                    for given in self.given.drain(..) {
                        lines.recall(&given);
                        lines.remember(&self.pastes.unfold(&given));
                    }
                    self.put_back(&line);
                }
                Read::Interrupted { at_once: true } if interrupted.is_some_and(|at| at.elapsed() < ARMED) => {
                    return Ok(self.part(Exit::Interrupted));
                }
                Read::Interrupted { .. } => {
                    interrupted = Some(Instant::now());
                    self.drop_held(lines);
                    say(interrupt::ENDS);
                }
                Read::End => return Ok(self.part(self.done())),
            }
        }
    }

    fn greet(&mut self) {
        let model = match self.session.settings.model.as_str() {
            "" => "the server's model",
            name => name,
        };
        let head = self.paint.bold(format!("Del {}", env!("CARGO_PKG_VERSION")));
        say(&format!("{head} with {} at {}", visible(model), visible(&self.session.server.base)));
        say(&format!("in {}", visible(&self.session.hands.toolbox.directory().display().to_string())));
        if let Some(files) = self.session.memory.named() {
            say(&self.paint.dim(format!("follows {}", visible(&files))));
        }
        let trusted = self.session.project().names(Part::is_trusted);
        if !trusted.is_empty() {
            say(&self.paint.dim(format!("trusts {}", visible(&project::few(&trusted)))));
        }
        self.say_mode();
        let allowed: Vec<String> =
            self.session.hands.gate.permissions().iter().map(ToString::to_string).collect();
        if !allowed.is_empty() {
            let names = visible(&project::few(&allowed)).into_owned();
            say(&self.paint.dim(format!("but for what you allowed (`/permissions` lists it): {names}")));
        }
        if let Some(confined) = self.session.hands.confined() {
            say(&self.paint.dim(visible(&confined)));
        }
        let starting = self.session.hands.starting_servers();
        if !starting.is_empty() {
            let names = visible(&starting.join(", ")).into_owned();
            say(&self.paint.dim(format!("MCP servers start in the background: {names}")));
        }
        say(&self.paint.dim("`help` says what else there is; `exit` ends"));
    }

    /// How a conversation ends that the user, or the input, ends: a script has to hear of a question that failed.
    fn done(&self) -> Exit {
        if std::io::stdin().is_terminal() { Exit::Done } else { self.ended }
    }

    /// Says how the conversation can go on another time.
    fn part(&self, exit: Exit) -> Exit {
        self.session.hands.end_jobs();
        if self.session.record.is_kept() && std::io::stderr().is_terminal() {
            say(&self.paint.dim("`del -c` goes on with this conversation"));
        }
        exit
    }

    fn take(&mut self, line: &str) -> Result<Next> {
        let word = Word::read(line);
        if !matches!(word, Word::Command(..)) {
            let prompts = Arc::clone(self.session.prompts());
            if let Some((prompt, rest)) = prompts::named(&prompts, line) {
                return self.ask_what(prompt, rest).map(|()| Next::Go);
            }
        }
        match word {
            Word::Nothing => {}
            Word::Command(name, rest) => return self.command(name, rest),
            Word::Shell("") => self.fail("expected a command behind `!`"),
            Word::Shell(command) => self.shell(command),
            Word::Unknown(word) => say(&help::unknown(word)),
            Word::Unfit(command) => say(&help::unfit(command)),
            Word::Question(text) => {
                self.ask_with_files(text)?;
            }
        }
        Ok(Next::Go)
    }

    /// Asks what a command of the user's or the project's says.
    fn ask_what(&mut self, prompt: &Prompt, rest: &str) -> Result<()> {
        say(&self.paint.dim(format!("as {} says", visible(&prompt.path.display().to_string()))));
        let text = match prompt.filled(rest) {
            Ok(text) => text,
            Err(error) => {
                self.fail(&error.to_string());
                return Ok(());
            }
        };
        self.session.hands.let_only_those_of(prompt);
        let asked = self.ask_with_files(&text);
        self.session.hands.only = None;
        asked
    }

    /// Asks, and attaches the files that the question names; without one of them it is not asked.
    fn ask_with_files(&mut self, text: &str) -> Result<()> {
        let files = std::mem::take(&mut self.files);
        if let Some((question, images)) =
            files::with_files(text, &files, &self.session.hands.toolbox, self.look)
        {
            match self.session.attach(images) {
                Ok(()) => return self.ask(&question),
                Err(error) => self.fail(&exit::line(&error)),
            }
        }
        self.halted = true;
        Ok(())
    }

    fn ask(&mut self, question: &str) -> Result<()> {
        if !self.listening(|chat| chat.session.gather())? {
            say(&self.paint.yellow("cancelled"));
            (self.halted, self.withdrawn) = (true, true);
            return Ok(());
        }
        self.space();
        let mut screen = Transcript::new(self.shown, self.look, self.session.tried());
        let before = self.session.entries().len();
        let outcome = self.listening(|chat| {
            chat.session.hear(chat.meanwhile());
            chat.session.ask(question, &mut screen)
        })?;
        let thought = screen.into_thought();
        if !thought.is_empty() {
            self.thought = thought;
        }
        self.ended = match &outcome {
            Ok(_) if self.session.is_unanswered() => Exit::Failed,
            Ok(_) => Exit::Done,
            Err(failure) => session::exit(failure),
        };
        self.halted = self.ended != Exit::Done;
        self.ring();
        match outcome {
            Ok(_) if self.session.is_unanswered() => self.say_dropped(),
            Ok(_) => {}
            Err(Failure::Cancelled) => {
                say(&self.paint.yellow("cancelled"));
                if self.session.entries().len() <= before {
                    self.withdrawn = true;
                    self.say_dropped();
                }
            }
            Err(failure) => {
                self.fail(&exit::line(&failure.into()));
                if self.session.entries().len() > before {
                    let kept = "what came before that is kept: the conversation goes on from there";
                    say(&self.paint.dim(kept));
                } else {
                    self.say_dropped();
                }
            }
        }
        Ok(())
    }

    fn say_dropped(&self) {
        say(&self.paint.dim("the conversation goes on without this question"));
    }

    /// An empty row between what is asked and what comes of it, for the eye.
    fn space(&self) {
        if self.terminal {
            self.stage.space();
        }
    }

    fn say_mode(&self) {
        say(&match self.session.hands.gate.approval() {
            Approval::Ask => "safe mode: asks before it writes or runs anything".to_owned(),
            Approval::AutoEdit => "edits files here without asking; asks before it runs anything".to_owned(),
            Approval::Plan => "plan mode: only reads".to_owned(),
            Approval::Yolo => self.paint.red("unsafe mode: writes and runs without asking"),
        });
    }

    fn fail(&mut self, why: &str) {
        self.halted = true;
        said::fail(self.paint, why);
    }
}

/// In milliseconds since 1970.
fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}
