//! `del`: the assistant, interactive.

mod line;
mod word;

use std::io::{IsTerminal, Write};
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::Result;
use del_agent::{Entry, Failure};
use del_dialects::Call;
use del_tools::{Approval, Cancel, Control, Progress, Selection, visible};
use rustyline::error::ReadlineError;
use serde_json::json;
use word::Word;

use crate::arguments::{Assistant, Common};
use crate::colour::Paint;
use crate::command::{sessions, undo};
use crate::exit::{self, Exit};
use crate::record::Store;
use crate::screen::lines;
use crate::screen::look::Look;
use crate::screen::stage::{self, Stage};
use crate::screen::transcript::{Shown, Transcript};
use crate::session::Session;
use crate::terminal;
use crate::wrap;

const MAX_TURNS: u32 = 50;

/// A conversation at the terminal.
struct Chat {
    session: Session,
    shown: Shown,
    look: Look,
    stage: &'static Stage,
    paint: Paint,
}

/// Whether the conversation goes on.
enum Next {
    Go,
    End,
}

pub(crate) fn run(options: &Assistant, common: &Common) -> Result<Exit> {
    let look = Look::find(common.color);
    let stage = stage::open(look);
    let session = Session::open(&options.session, common, MAX_TURNS)?;
    let terminal = std::io::stdout().is_terminal();
    let reasoning = !options.session.hide_reasoning;
    let debug = options.session.debug;
    let shown = Shown { live: true, debug, reasoning, raw: options.raw, unfolds: terminal };
    let mut chat = Chat { session, shown, look, stage, paint: look.paint };
    let mut editor = line::editor(terminal)?;
    chat.greet();
    chat.recall();
    let mut interrupted = false;
    loop {
        match editor.readline("> ") {
            Ok(line) => {
                interrupted = false;
                if !line.trim().is_empty() {
                    editor.remember(&line);
                }
                if let Next::End = chat.take(&line)? {
                    return Ok(chat.part(Exit::Done));
                }
            }
            Err(ReadlineError::Interrupted) if interrupted => return Ok(chat.part(Exit::Interrupted)),
            Err(ReadlineError::Interrupted) => {
                interrupted = true;
                say("Ctrl-C again, Ctrl-D or `exit` ends");
            }
            Err(ReadlineError::Eof) => return Ok(chat.part(Exit::Done)),
            Err(error) => return Err(error.into()),
        }
    }
}

impl Chat {
    fn greet(&self) {
        let model = match self.session.settings.model.as_str() {
            "" => "the server's model",
            name => name,
        };
        let head = self.paint.bold(format!("Del {}", env!("CARGO_PKG_VERSION")));
        say(&format!("{head} with {} at {}", visible(model), visible(&self.session.server.base)));
        say(&format!("in {}", visible(&self.session.hands.toolbox.directory().display().to_string())));
        self.say_mode();
        let starting = self.session.hands.starting_servers();
        if !starting.is_empty() {
            let names = visible(&starting.join(", ")).into_owned();
            say(&self.paint.dim(format!("MCP servers start in the background: {names}")));
        }
        say(&self.paint.dim("`help` says what else there is; `exit` ends"));
    }

    /// Where a conversation stands that goes on: its last question and what was answered.
    fn recall(&self) {
        let entries = self.session.entries();
        let Some(last) = entries.iter().rposition(|entry| matches!(entry, Entry::User { .. })) else {
            return;
        };
        say(&self.paint.dim(format!("goes on after {} steps; the last question:", entries.len())));
        for entry in &entries[last..] {
            match entry {
                Entry::User { text } => say(&format!("> {}", visible(text))),
                Entry::Assistant { text, .. } if !text.is_empty() => say(&visible(text)),
                _ => {}
            }
        }
    }

    /// Says how the conversation can go on another time.
    fn part(&self, exit: Exit) -> Exit {
        if self.session.record.is_kept() && std::io::stderr().is_terminal() {
            say(&self.paint.dim("`del -c` goes on with this conversation"));
        }
        exit
    }

    fn take(&mut self, line: &str) -> Result<Next> {
        match Word::read(line) {
            Word::Nothing => {}
            Word::Exit => return Ok(Next::End),
            Word::Help => say(word::HELP),
            Word::Safe => self.set(Approval::Ask),
            Word::Unsafe => self.set(Approval::Yolo),
            Word::Debug => {
                self.shown.debug = !self.shown.debug;
                let state = if self.shown.debug { "is shown" } else { "is no longer shown" };
                say(&format!("the model's raw text {state}"));
            }
            Word::Tools => self.tools()?,
            Word::Clear => {
                self.session.clear();
                say("the conversation begins anew");
            }
            Word::Model(None) => self.models(),
            Word::Model(Some(name)) => {
                self.session.take_model(name)?;
                say(&format!("the model is {} from now on", visible(name)));
            }
            Word::Sessions(None) => self.sessions(),
            Word::Sessions(Some(id)) => self.resume(id)?,
            Word::Undo(words) => self.undo(words),
            Word::Shell(command) => self.shell(command),
            Word::Unknown(word) => {
                say(&format!("there is no command {}; `help` lists them", visible(word)));
            }
            Word::Question(text) => {
                let question = self.with_files(text);
                self.ask(&question)?;
            }
        }
        Ok(Next::Go)
    }

    fn ask(&mut self, question: &str) -> Result<()> {
        if !self.session.gather()? {
            say(&self.paint.yellow("cancelled"));
            return Ok(());
        }
        let mut screen = Transcript::new(self.shown, self.look, self.session.tried());
        let before = self.session.entries().len();
        match self.session.ask(question, &mut screen)? {
            Ok(_) => {}
            Err(Failure::Cancelled) => say(&self.paint.yellow("cancelled")),
            Err(failure) => {
                say(&format!("{} {}", self.paint.red("error:"), exit::line(&failure.into())));
                say(&self.paint.dim(if self.session.entries().len() > before {
                    "what came before that is kept: the conversation goes on from there"
                } else {
                    "the conversation goes on without this question"
                }));
            }
        }
        if let Some(trouble) = self.session.record.trouble() {
            say(&self.paint.yellow(format!("! this conversation is not kept: {}", visible(&trouble))));
        }
        Ok(())
    }

    fn set(&mut self, approval: Approval) {
        self.session.hands.gate.set_approval(approval);
        self.say_mode();
    }

    fn say_mode(&self) {
        say(&match self.session.hands.gate.approval() {
            Approval::Ask => "safe mode: asks before it writes or runs anything".to_owned(),
            Approval::AutoEdit => "edits files here without asking; asks before it runs anything".to_owned(),
            Approval::Plan => "plan mode: only reads".to_owned(),
            Approval::Yolo => self.paint.red("unsafe mode: writes and runs without asking"),
        });
    }

    fn tools(&mut self) -> Result<()> {
        let at_once = Cancel::new();
        at_once.cancel();
        self.session.take_in_servers(&at_once)?;
        for definition in self.session.hands.toolbox.definitions() {
            let class = json!(definition.class);
            say(&format!("{:<16} {}", definition.name, class.as_str().unwrap_or_default()));
        }
        for state in self.session.hands.servers() {
            let count = match &state.outcome {
                Ok(_) => format!("{} tools", state.tools.len()),
                Err(why) => visible(why).into_owned(),
            };
            say(&format!("MCP server {}: {count}", visible(&state.name)));
            state.tools.iter().for_each(|tool| say(&format!("  {}", tool.name)));
        }
        for name in self.session.hands.starting_servers() {
            say(&format!("MCP server {}: still starts", visible(name)));
        }
        Ok(())
    }

    fn models(&self) {
        let current = &self.session.settings.model;
        say(&format!("the model is {}; `/model NAME` takes another", visible(current)));
        for model in &self.session.server.models {
            say(&format!("  {}", visible(model)));
        }
    }

    fn sessions(&self) {
        let directory = self.session.hands.toolbox.directory();
        let found = Store::find().map(|store| store.list(Some(directory))).unwrap_or_default();
        if found.is_empty() {
            return say("no conversations were kept here");
        }
        say(sessions::table(&found, false).text(self.paint, Some(terminal::width())).trim_end());
    }

    fn resume(&mut self, id: &str) -> Result<()> {
        let Some(store) = Store::find() else { return Ok(()) };
        match store.take_up(id) {
            Ok((kept, record)) => {
                self.session.take_up(kept, record)?;
                self.recall();
            }
            Err(trouble) => {
                say(&format!("{} {}", self.paint.red("error:"), visible(&trouble.to_string())));
            }
        }
        Ok(())
    }

    /// Takes changes of files back. The model is not told: a file that it knows otherwise counts as changed since.
    fn undo(&self, words: &str) {
        let toolbox = &self.session.hands.toolbox;
        let text = match words {
            "list" => undo::listed(toolbox, self.paint, Some(terminal::width())),
            _ => {
                let selection = match words.parse() {
                    // An id has eight digits; nobody counts so far.
                    Ok(steps) if (1..1000).contains(&steps) => Selection::Last(steps),
                    _ if words.is_empty() => Selection::Last(1),
                    _ => Selection::Id(words.to_owned()),
                };
                undo::taken_back(toolbox, &selection, false).map(|done| done.text(self.paint))
            }
        };
        match text {
            Ok(text) => say(text.trim_end()),
            Err(error) => say(&format!("{} {}", self.paint.red("error:"), visible(&error.to_string()))),
        }
    }

    /// A command of the user's own: it is not asked about, and the model does not see it. Its output is shown as it comes.
    fn shell(&mut self, command: &str) {
        let arguments = json!({"command": command}).to_string();
        let cancel = self.session.interrupt.begin();
        let toolbox = &self.session.hands.toolbox;
        let at_start = AtomicBool::new(true);
        let control = Control::new(cancel).with_progress(|progress| {
            if let Progress::Output(text) = progress {
                let mut stderr = std::io::stderr().lock();
                let _ = stderr.write_all(visible(text).as_bytes()).and_then(|()| stderr.flush());
                at_start.store(text.ends_with('\n'), Ordering::Relaxed);
            }
        });
        let result = match toolbox.plan("run_command", &arguments) {
            Ok(plan) => toolbox.run(plan, &control),
            Err(failure) => failure.into(),
        };
        drop(control);
        self.session.interrupt.rest();
        if !at_start.load(Ordering::Relaxed) {
            say("");
        }
        let data = result.data.unwrap_or_default();
        match data["exit_code"].as_i64() {
            Some(0) => {}
            Some(code) => say(&self.paint.dim(format!("exit code {code}"))),
            // It did not end by itself, or did not begin; what it wrote stands there already.
            None => say(&self.paint.yellow(visible(result.text.lines().next().unwrap_or_default()))),
        }
    }

    /// The question with the files that it names as `@path`.
    fn with_files(&self, text: &str) -> String {
        let toolbox = &self.session.hands.toolbox;
        let mut question = text.to_owned();
        for path in text.split_whitespace().filter_map(|word| word.strip_prefix('@')) {
            let path = path.trim_end_matches([',', '.', ';', ':', '?', '!', ')']);
            if path.is_empty() {
                continue;
            }
            let arguments = json!({"file_path": path}).to_string();
            let call = Call { id: None, name: "read_file".to_owned(), arguments };
            let result = match toolbox.plan(&call.name, &call.arguments) {
                Ok(plan) => toolbox.run(plan, &Control::default()),
                Err(failure) => failure.into(),
            };
            say(&lines::call(self.look, &call));
            say(&lines::result(self.look, &result, false));
            if result.ok {
                question = format!("{question}\n\nThe file {path}:\n{}", result.text);
            }
        }
        question
    }
}

fn say(text: &str) {
    let text = wrap::for_stderr(text, wrap::second_column);
    match stage::current() {
        Some(stage) => stage.line(&text),
        None => drop(writeln!(std::io::stderr(), "{text}")),
    }
}
