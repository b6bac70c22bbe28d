//! What commands do.

use std::fs::OpenOptions;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;

use anyhow::Result;
use del_agent::{Entry, Failure};
use del_tools::{Approval, Cancel, Rule, visible};
use serde_json::json;

use super::word::{self, Name};
use super::{Chat, Next, say};
use crate::clipboard;
use crate::command::{sessions, undo};
use crate::config::Config;
use crate::consent::editing::{self, Edited};
use crate::exit;
use crate::instructions::INIT;
use crate::keeping;
use crate::record::Store;
use crate::screen::lines;
use crate::screen::stage;
use crate::screen::transcript::Transcript;
use crate::terminal;

impl Chat {
    pub(super) fn command(&mut self, name: Name, rest: &str) -> Result<Next> {
        match name {
            Name::Exit => return Ok(Next::End),
            Name::Help => say(&word::help(self.session.prompts())),
            Name::Safe => self.set(Approval::Ask),
            Name::Unsafe => self.set(Approval::Yolo),
            Name::Mode => self.mode(rest),
            Name::Permissions => self.permissions(rest),
            Name::Status => {
                self.session.count_now();
                self.tell_status();
            }
            Name::Context => {
                self.session.count_now();
                self.tell_context();
            }
            Name::Compact => self.compact(rest)?,
            Name::Clear => {
                self.session.clear();
                say("the conversation begins anew");
            }
            Name::Model => self.model(rest)?,
            Name::Dialect => self.dialect(rest),
            Name::System => self.system(rest)?,
            Name::Tools => self.tools()?,
            Name::Mcp => self.servers()?,
            Name::Hooks => self.hooks(),
            Name::Jobs => self.jobs(rest),
            Name::Plan => self.plan(),
            Name::Show => self.show(rest),
            Name::Thinking => match self.thought.as_str() {
                "" => say("the model has not thought, or not aloud"),
                thought => say(&self.paint.dim(visible(thought))),
            },
            Name::Diff => self.diff(),
            Name::Undo => self.undo(rest),
            Name::Redo => self.redo(),
            Name::Sessions => self.sessions(),
            Name::Resume if rest.is_empty() => self.pick_session()?,
            Name::Resume => self.resume(rest)?,
            Name::Export => self.export(rest),
            Name::Fork => self.fork(),
            Name::Rename => self.rename(rest),
            Name::Editor => return self.editor(rest),
            Name::Bug => self.tell_bug(),
            Name::Copy => self.copy(),
            Name::Init => {
                self.ask(INIT)?;
                self.session.remember()?;
            }
            Name::Debug => {
                self.shown.debug = !self.shown.debug;
                let state = if self.shown.debug { "is shown" } else { "is no longer shown" };
                say(&format!("the model's raw text {state}"));
            }
        }
        Ok(Next::Go)
    }

    fn set(&mut self, approval: Approval) {
        self.session.hands.gate.set_approval(approval);
        self.say_mode();
    }

    fn mode(&mut self, mode: &str) {
        match mode {
            "" => self.say_mode(),
            "ask" | "safe" => self.set(Approval::Ask),
            "auto-edit" => self.set(Approval::AutoEdit),
            "plan" => self.set(Approval::Plan),
            "yolo" | "unsafe" => self.set(Approval::Yolo),
            other => self.fail(&format!("expected ask, auto-edit, plan or yolo; got {other}")),
        }
    }

    /// Lists what was allowed, takes one back, or adds a rule.
    fn permissions(&mut self, rest: &str) {
        let gate = &mut self.session.hands.gate;
        match rest.parse::<usize>() {
            _ if rest.is_empty() => {}
            Ok(number) => match gate.permissions().get(number.wrapping_sub(1)).cloned() {
                Some(permission) => {
                    gate.take_back(&permission);
                    say(&format!("taken back: {}", visible(&permission.to_string())));
                }
                None => self.fail(&format!("expected a number of the list below, got {number}")),
            },
            Err(_) => match Rule::parse(rest) {
                Ok(rule) => {
                    say(&format!("allowed for this session: {}", visible(&rule.meaning())));
                    gate.allow(rule);
                }
                Err(error) => self.fail(&error.to_string()),
            },
        }
        let permissions = self.session.hands.gate.permissions();
        if permissions.is_empty() {
            say("nothing is allowed beyond what the mode says");
        }
        for (place, permission) in permissions.iter().enumerate() {
            say(&format!("{:>3}  {}", place + 1, visible(&permission.to_string())));
        }
    }

    fn compact(&mut self, focus: &str) -> Result<()> {
        let mut screen = Transcript::new(self.shown, self.look, self.session.tried());
        self.stage.doing("summing the conversation up");
        let outcome = self.listening(|chat| chat.session.compact(focus, &mut screen))?;
        self.stage.rest();
        match outcome {
            Ok(true) => {
                let context = self.session.context();
                say(&format!(
                    "the conversation is summed up; the context takes about {} tokens now",
                    context.used
                ));
            }
            Ok(false) => say("there is nothing to sum up yet"),
            Err(Failure::Cancelled) => say(&self.paint.yellow("cancelled")),
            Err(failure) => self.fail(&exit::line(&failure.into())),
        }
        Ok(())
    }

    /// Lists the models, or takes one by its name or its number in the list.
    fn model(&mut self, name: &str) -> Result<()> {
        let models = &self.session.server.models;
        let numbered = name.parse().ok().and_then(|number: usize| models.get(number.wrapping_sub(1)));
        let known = models.iter().any(|model| model == name);
        let name = match numbered {
            Some(model) if !known => model.clone(),
            _ => name.to_owned(),
        };
        if let Some(profile) = name.strip_prefix('@') {
            if let Err(error) = self.session.take_profile(profile) {
                self.fail(&exit::line(&error));
                return Ok(());
            }
            let (model, server) = (&self.session.settings.model, &self.session.server);
            let from = format!("{} at {} ({})", visible(model), visible(&server.base), server.api.name());
            say(&format!("the model is {from} from now on; its dialect is {}", self.session.dialect()));
            return Ok(());
        }
        if !name.is_empty() {
            return self.take_model(&name);
        }
        if self.terminal && self.session.server.models.len() > 1 {
            let models = self.session.server.models.clone();
            return match keeping::pick(&models)? {
                Some(place) => self.take_model(&models[place]),
                None => Ok(()),
            };
        }
        let current = &self.session.settings.model;
        say(&format!("the model is {}; `/model NAME`, or its number, takes another", visible(current)));
        for (place, model) in self.session.server.models.iter().enumerate() {
            let mark = if model == current { "*" } else { " " };
            say(&format!("{mark} {:>2}  {}", place + 1, visible(model)));
        }
        for profile in Config::load()?.profiles() {
            say(&format!("      @{}", visible(profile)));
        }
        Ok(())
    }

    fn take_model(&mut self, name: &str) -> Result<()> {
        self.session.take_model(name)?;
        let dialect = self.session.dialect();
        say(&format!("the model is {} from now on; its dialect is {dialect}", visible(name)));
        Ok(())
    }

    fn dialect(&mut self, name: &str) {
        if !name.is_empty()
            && let Err(error) = self.session.take_dialect(name)
        {
            return self.fail(&error.to_string());
        }
        let read = match &self.session.settings.dialect {
            Some(_) => "and read in it alone",
            None => "and read in all",
        };
        say(&format!("calls are written in {}, {read}", self.session.dialect()));
    }

    fn system(&mut self, text: &str) -> Result<()> {
        match text {
            "" => say(&self.paint.dim(visible(&self.session.settings.system))),
            "-" => {
                self.session.add_instructions("")?;
                say("the instructions are as they were at the start");
            }
            text => {
                self.session.add_instructions(text)?;
                say("added to the instructions; `/system -` takes it back");
            }
        }
        Ok(())
    }

    fn tools(&mut self) -> Result<()> {
        self.session.take_in_servers(&at_once())?;
        for definition in self.session.hands.toolbox.definitions() {
            let class = json!(definition.class);
            say(&format!("{:<16} {}", definition.name, class.as_str().unwrap_or_default()));
        }
        self.servers()
    }

    fn servers(&mut self) -> Result<()> {
        self.session.take_in_servers(&at_once())?;
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

    fn hooks(&self) {
        let hooks = &self.session.hands.hooks.all;
        if hooks.is_empty() {
            return say("there are no hooks; docs/hooks.md says what they can do");
        }
        for hook in hooks {
            let whose = if hook.of_project { " (the project's)" } else { "" };
            say(&format!("{}{whose}", visible(&hook.to_string())));
        }
    }

    /// Lists the commands in the background, shows what one wrote, or ends one.
    fn jobs(&mut self, rest: &str) {
        let Some(jobs) = self.session.hands.toolbox.jobs() else {
            return say("no command can run in the background here");
        };
        let (end, number) = match rest.strip_prefix("end") {
            Some(number) => (true, number.trim()),
            None => (false, rest),
        };
        if number.is_empty() && !end {
            let states = jobs.states();
            if states.is_empty() {
                say("nothing runs in the background; `!command &` does");
            }
            for state in states {
                say(&visible(&state.to_string()));
                if !state.last.is_empty() {
                    say(&self.paint.dim(format!("       {}", visible(&state.last))));
                }
            }
            return;
        }
        match number.parse().ok().and_then(|id| Some((id, jobs.get(id)?))) {
            Some((id, _)) if end => {
                if !jobs.end(id) {
                    say(&format!("job {id} is over already"));
                }
                self.session.hands.hear_jobs();
            }
            Some((id, state)) => {
                let output = jobs.read_all(id).unwrap_or_default();
                if !output.is_empty() {
                    self.stage.line(visible(&output).trim_end());
                }
                say(&self.paint.dim(visible(&state.to_string())));
            }
            None => self.fail(&format!("expected the number of a job, or `end` and one; got {rest}")),
        }
    }

    fn plan(&self) {
        match self.session.hands.plan.text() {
            Some(plan) => say(&visible(plan)),
            None => say("the model has made no plan"),
        }
    }

    /// All of a result, as the model sees it.
    fn show(&self, which: &str) {
        let results: Vec<&str> = self
            .session
            .entries()
            .iter()
            .filter_map(|entry| match entry {
                Entry::Results { results } => Some(results),
                _ => None,
            })
            .flatten()
            .map(|result| result.text.as_str())
            .collect();
        let back = if which.is_empty() { Ok(1) } else { which.parse::<usize>() };
        match back.ok().and_then(|back| results.len().checked_sub(back)).and_then(|place| results.get(place))
        {
            Some(text) => self.stage.line(&visible(text)),
            None => say(&format!("there are {} results; `/show 1` shows the last", results.len())),
        }
    }

    fn diff(&self) {
        let changes = self.session.hands.changes();
        if changes.is_empty() {
            return say("nothing was changed in this session");
        }
        for change in changes {
            self.stage.line(&lines::whole_change(self.look, &visible(&change)));
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

    /// Lists the conversations that were kept here, and goes on with the one that is picked.
    fn pick_session(&mut self) -> Result<()> {
        let directory = self.session.hands.toolbox.directory();
        let mut found = Store::find().map(|store| store.list(Some(directory))).unwrap_or_default();
        found.retain(|summary| summary.head.id != self.session.record.id());
        if !self.terminal || found.is_empty() {
            self.sessions();
            return Ok(());
        }
        found.truncate(PICKED);
        let rows: Vec<String> = found.iter().map(keeping::row).collect();
        match keeping::pick(&rows)? {
            Some(place) => self.resume(&found[place].head.id),
            None => Ok(()),
        }
    }

    fn fork(&mut self) {
        if self.session.entries().is_empty() {
            return say("there is nothing to go on from yet");
        }
        let before = self.session.record.id()[..8].to_owned();
        self.session.fork();
        let now = &self.session.record.id()[..8];
        say(&format!(
            "this goes on as the conversation {now}; {before} stays as it is, `/resume {before}` goes back"
        ));
    }

    fn rename(&self, title: &str) {
        if title.is_empty() {
            return self.fail("expected a title behind /rename");
        }
        match self.session.record.rename(title) {
            Ok(()) => say(&format!("the conversation is called {} from now on", visible(title))),
            Err(error) => self.fail(&crate::input::plain(&error)),
        }
    }

    /// Asks what the user writes in an editor.
    fn editor(&mut self, text: &str) -> Result<Next> {
        let Some((editor, tty)) = editing::editor().zip(terminal::open()) else {
            self.fail("expected an editor in VISUAL or EDITOR, and a terminal");
            return Ok(Next::Go);
        };
        let held = stage::hold();
        let edited = editing::text(&tty, &editor, "question.md", text);
        drop(held);
        match edited {
            Ok(Edited::Text(question)) if !question.trim().is_empty() => {
                say(&format!("> {}", visible(question.trim_end())));
                return self.take(question.trim_end());
            }
            Ok(_) => say("nothing was written"),
            Err(error) => self.fail(&crate::input::plain(&error)),
        }
        Ok(Next::Go)
    }

    fn resume(&mut self, id: &str) -> Result<()> {
        let Some(store) = Store::find() else { return Ok(()) };
        match store.take_up(id) {
            Ok((kept, record)) => {
                self.session.take_up(kept, record)?;
                self.recall();
            }
            Err(trouble) => self.fail(&trouble.to_string()),
        }
        Ok(())
    }

    /// Takes changes of files back. The model is not told: a file that it knows otherwise counts as changed since.
    fn undo(&self, words: &str) {
        let toolbox = &self.session.hands.toolbox;
        let text = match words {
            "list" => undo::listed(toolbox, self.paint, Some(terminal::width())),
            "all" => undo::since(toolbox, self.since)
                .and_then(|all| undo::taken_back(toolbox, &all, false))
                .map(|done| done.text(self.paint)),
            _ => undo::by_words(toolbox, words).map(|done| done.text(self.paint)),
        };
        match text {
            Ok(text) => say(text.trim_end()),
            Err(error) => self.fail(&error.to_string()),
        }
    }

    /// Takes back what was taken back last.
    fn redo(&self) {
        match undo::brought_back(&self.session.hands.toolbox) {
            None => say("nothing was taken back"),
            Some(Ok(done)) => say(done.text(self.paint).trim_end()),
            Some(Err(error)) => self.fail(&error.to_string()),
        }
    }

    /// Writes the conversation to a file that is not there yet.
    fn export(&self, path: &str) {
        let record = &self.session.record;
        let kept = Store::find().filter(|_| record.is_kept()).and_then(|store| store.get(record.id()).ok());
        let Some(kept) = kept else {
            return self.fail("the conversation is not kept, or nothing was asked yet");
        };
        let name = if path.is_empty() { format!("del-{}.md", &record.id()[..8]) } else { path.to_owned() };
        let path = self.session.hands.toolbox.directory().join(&name);
        let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path);
        match file.and_then(|mut file| file.write_all(sessions::markdown(&kept).as_bytes())) {
            Ok(()) => say(&format!("the conversation is in {}", visible(&path.display().to_string()))),
            Err(error) => self.fail(&format!("{}: {}", path.display(), crate::input::plain(&error))),
        }
    }

    fn copy(&self) {
        let answer = self.session.entries().iter().rev().find_map(|entry| match entry {
            Entry::Assistant { text, .. } if !text.is_empty() => Some(text),
            _ => None,
        });
        let Some(answer) = answer else { return say("there is no answer yet") };
        match clipboard::copy(answer, self.terminal) {
            Ok(how) => say(&format!("the last answer is copied ({how})")),
            Err(why) => self.fail(&why),
        }
    }
}

/// Conversations that one is picked from.
const PICKED: usize = 20;

/// Waits for nothing.
fn at_once() -> Cancel {
    let cancel = Cancel::new();
    cancel.cancel();
    cancel
}
