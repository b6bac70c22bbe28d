//! What commands do.

mod conversations;
mod models;
mod work;

use anyhow::Result;
use del_agent::{Entry, Failure};
use del_tools::{Approval, Rule, visible};

use super::word::Name;
use super::{Chat, Next, help, say, status};
use crate::clipboard;
use crate::consent::editing::{self, Edited};
use crate::exit;
use crate::instructions::INIT;
use crate::screen::stage;
use crate::screen::transcript::Transcript;
use crate::terminal;

impl Chat {
    pub(super) fn command(&mut self, name: Name, rest: &str) -> Result<Next> {
        match name {
            Name::Exit => return Ok(Next::End),
            Name::Help => match help::text(rest, self.session.prompts(), self.look.plain) {
                Ok(text) => say(&text),
                Err(why) => self.fail(&why),
            },
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
            Name::Mcp => self.mcp(rest)?,
            Name::Hooks => self.hooks(),
            Name::Skills => self.skills(),
            Name::Jobs => self.jobs(rest),
            Name::Plan => self.plan(),
            Name::Show => self.show(rest),
            Name::Thinking if !rest.is_empty() => self.think(rest),
            Name::Thinking => match self.thought.as_str() {
                "" => say("the model has not thought, or not aloud"),
                thought => say(&self.paint.dim(visible(thought))),
            },
            Name::Diff => self.diff(rest),
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

    pub(super) fn next_mode(&mut self) {
        let gate = &mut self.session.hands.gate;
        gate.set_approval(status::next(gate.approval()));
    }

    pub(super) fn mode(&mut self, mode: &str) {
        match mode {
            "" => {
                self.say_mode();
                say("`/mode MODE` takes another: ask, auto-edit, plan, yolo");
            }
            "ask" | "safe" => self.set(Approval::Ask),
            "auto-edit" => self.set(Approval::AutoEdit),
            "plan" => self.set(Approval::Plan),
            "yolo" | "unsafe" => self.set(Approval::Yolo),
            other => self.fail(&format!("expected ask, auto-edit, plan or yolo; got {other}")),
        }
    }

    /// Lists what was allowed, takes one back, or adds a rule.
    pub(super) fn permissions(&mut self, rest: &str) {
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
            Err(Failure::Cancelled) => {
                say(&self.paint.yellow("cancelled"));
                self.halted = true;
            }
            Err(failure) => self.fail(&exit::line(&failure.into())),
        }
        self.ring();
        Ok(())
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

    fn copy(&mut self) {
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
