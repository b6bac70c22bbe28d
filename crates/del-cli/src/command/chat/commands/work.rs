//! What commands say of the tools' work, and how it is taken back.

use anyhow::Result;
use del_agent::Entry;
use del_dialects::Call;
use del_tools::{Cancel, counted, visible};
use serde_json::json;

use crate::command::chat::{Chat, help, say};
use crate::command::undo::{self, Front, why};
use crate::prompts::Kind;
use crate::screen::lines;
use crate::table::cut;
use crate::terminal;

/// Lines of a difference that are shown at once, as in a question.
const SHOWN: usize = 200;

impl Chat {
    pub(super) fn tools(&mut self) -> Result<()> {
        self.session.take_in_servers(&at_once())?;
        for definition in self.session.hands.toolbox.definitions() {
            let class = json!(definition.class);
            say(&format!("{:<16} {}", definition.name, class.as_str().unwrap_or_default()));
        }
        let hands = &self.session.hands;
        for tool in hands.tools().iter().skip(hands.toolbox.tools().len()) {
            say(&format!("{:<16} of the conversation", tool.name));
        }
        if hands.tools().is_empty() {
            say("the model has no tools");
        }
        self.servers();
        Ok(())
    }

    /// Lists the MCP servers, or starts one anew.
    pub(super) fn mcp(&mut self, name: &str) -> Result<()> {
        self.session.take_in_servers(&at_once())?;
        if !name.is_empty() && !self.session.restart_server(name)? {
            say(&format!("there is no MCP server '{}' that has started or failed", visible(name)));
        }
        if self.session.hands.servers().is_empty() && self.session.hands.starting_servers().is_empty() {
            say("there are no MCP servers; `del mcp add` adds one");
        }
        self.servers();
        Ok(())
    }

    fn servers(&self) {
        for state in self.session.hands.servers() {
            let count = match &state.outcome {
                Ok(_) if self.session.hands.server_has_ended(&state.name) => {
                    format!("it has ended; `/mcp {}` starts it anew", visible(&state.name))
                }
                Ok(_) => counted(state.tools.len(), "tool"),
                Err(why) => visible(why).into_owned(),
            };
            say(&format!("MCP server {}: {count}", visible(&state.name)));
            state.tools.iter().for_each(|tool| say(&format!("  {}", tool.name)));
        }
        for name in self.session.hands.starting_servers() {
            say(&format!("MCP server {}: still starts", visible(name)));
        }
    }

    pub(in super::super) fn hooks(&self) {
        let hooks = &self.session.hands.hooks.all;
        if hooks.is_empty() {
            return say("there are no hooks; docs/hooks.md says what they can do");
        }
        for hook in hooks {
            let whose = if hook.of_project { " (the project's)" } else { "" };
            say(&format!("{}{whose}", visible(&hook.to_string())));
        }
    }

    /// Lists the commands and skills that stand in files, and where; those that nobody has agreed to as well.
    pub(in super::super) fn skills(&self) {
        let prompts = self.session.prompts();
        for prompt in prompts.iter() {
            let head = help::head(&prompt.name, &help::one_line(&prompt.hint));
            let about = help::one_line(&prompt.description);
            say(format!("{}  {about}", self.paint.bold(head)).trim_end());
            let kind = match prompt.kind {
                Kind::Command => "command",
                Kind::Skill => "skill, which the model reads when it needs it",
            };
            let shadowed =
                if help::is_own(&prompt.name) { "; Del's own command counts before it" } else { "" };
            let place = visible(&prompt.path.display().to_string()).into_owned();
            say(&self.paint.dim(format!("    {place} ({kind}{shadowed})")));
        }
        let project = self.session.project();
        let left_out = project.names(|part| part.prompt().is_some() && !part.is_trusted());
        if !left_out.is_empty() {
            let names = visible(&left_out.join(", ")).into_owned();
            say(&format!("left out, as you have not agreed to it (`del trust` shows it and asks): {names}"));
        } else if prompts.is_empty() {
            say("there are none; docs/commands.md says where they may stand, as .del/commands/NAME.md");
        }
    }

    /// Lists the commands in the background, shows what one wrote, or ends one.
    pub(super) fn jobs(&mut self, rest: &str) {
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
                say(&cut(&visible(&state.to_string()), terminal::width()));
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
                state.remark.iter().for_each(|remark| say(&self.paint.yellow(visible(remark))));
            }
            None => self.fail(&format!("expected the number of a job, or `end` and one; got {rest}")),
        }
    }

    pub(super) fn plan(&self) {
        match self.session.hands.plan.text() {
            Some(plan) => say(&visible(plan)),
            None => say("the model has made no plan"),
        }
    }

    /// All of a result, as the model sees it.
    pub(super) fn show(&self, which: &str) {
        let (mut results, mut made): (Vec<(Option<&Call>, &str)>, &[Call]) = (Vec::new(), &[]);
        for entry in self.session.entries() {
            match entry {
                Entry::Assistant { calls, .. } => made = calls,
                Entry::Results { results: new } => results.extend(
                    new.iter()
                        .map(|result| (made.iter().find(|call| call.id == result.id), result.text.as_str())),
                ),
                _ => {}
            }
        }
        let back = if which.is_empty() { Ok(1) } else { which.parse::<usize>() };
        match back.ok().and_then(|back| results.len().checked_sub(back)).and_then(|place| results.get(place))
        {
            Some((call, text)) => {
                if let Some(call) = call {
                    say(&lines::whole_call(self.look, call));
                }
                self.stage.line(&visible(text));
            }
            None if results.is_empty() => say("no tool was called yet"),
            None => say(&format!("expected a number from 1, which is the last result, to {}", results.len())),
        }
    }

    /// What the session changed: of much the beginning, unless all of it is wanted.
    pub(super) fn diff(&mut self, which: &str) {
        if !matches!(which, "" | "all") {
            return self.fail(&format!("expected `/diff` or `/diff all`, got {}", visible(which)));
        }
        let changes = self.session.hands.changes();
        if changes.is_empty() {
            return say("nothing was changed in this session");
        }
        let mut room = if which == "all" { usize::MAX } else { SHOWN };
        let mut left_out = 0;
        for change in changes {
            let change = visible(&change);
            let many = change.lines().count();
            let shown: Vec<&str> = change.lines().take(room).collect();
            if !shown.is_empty() {
                self.stage.line(&lines::whole_change(self.look, &shown.join("\n")));
            }
            room = room.saturating_sub(many);
            left_out += many - shown.len();
        }
        if left_out > 0 {
            say(&self.paint.dim(format!("… {} · `/diff all` shows them", counted(left_out, "more line"))));
        }
    }

    /// Takes changes of files back. The model is not told: a file that it knows otherwise counts as changed since.
    pub(super) fn undo(&mut self, words: &str) {
        if words == "show" {
            return match self.undone.as_str() {
                "" => say("nothing was taken back"),
                diff => self.stage.line(&lines::whole_change(self.look, &visible(diff))),
            };
        }
        let undone = &mut self.undone;
        let mut told = |done: undo::Done| {
            done.diff().clone_into(undone);
            done.told(self.paint, SHOWN, "`/undo show` shows them")
        };
        let toolbox = &self.session.hands.toolbox;
        let text = match words {
            "list" => undo::listed(toolbox, self.paint, Some(terminal::width())),
            "all" => undo::since(toolbox, self.since)
                .and_then(|all| undo::taken_back(toolbox, &all, false))
                .map(&mut told),
            _ => undo::by_words(toolbox, words).map(&mut told),
        };
        match text {
            Ok(text) => say(text.trim_end()),
            Err(error) => self.fail(&why(&error, Front::Terminal)),
        }
    }

    /// Takes back what was taken back last.
    pub(super) fn redo(&mut self) {
        match undo::brought_back(&self.session.hands.toolbox) {
            None => say("nothing was taken back"),
            Some(Ok(done)) => {
                done.diff().clone_into(&mut self.undone);
                say(done.told(self.paint, SHOWN, "`/undo show` shows them").trim_end());
            }
            Some(Err(error)) => self.fail(&why(&error, Front::Terminal)),
        }
    }
}

/// Waits for nothing.
fn at_once() -> Cancel {
    let cancel = Cancel::new();
    cancel.cancel();
    cancel
}
