//! Hooks: commands of the user's that are told what happens, and may object. They speak as Claude Code's do: JSON on standard
//! input, an exit code, and JSON on standard output.

mod answer;
mod read;

use std::ffi::OsStr;
use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use del_tools::{Approval, Cancel, Own, Spelt, visible};
use regex::Regex;
use serde_json::{Value, json};

pub(crate) use answer::{Decision, Reply};
pub(crate) use read::{in_toml, lines};

use crate::onlooker::{Event, Onlooker, Told};
use crate::screen::stage;
use crate::table::cut;

/// A command that is told of an event.
#[derive(Debug, Clone)]
pub(crate) struct Hook {
    pub(crate) event: Event,
    /// The tools that it is told of; all where there is none.
    matcher: Option<Regex>,
    pub(crate) command: String,
    timeout: Duration,
    /// It is a project's: it can only object.
    pub(crate) of_project: bool,
}

/// The hooks of a conversation, and what they are told of it.
#[derive(Debug, Default)]
pub(crate) struct Hooks {
    pub(crate) all: Vec<Hook>,
    pub(crate) session: String,
    /// Where the conversation is kept.
    pub(crate) transcript: Option<PathBuf>,
    pub(crate) directory: PathBuf,
    pub(crate) project: PathBuf,
}

/// What all hooks of an event together say.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Said {
    /// The strictest.
    pub(crate) decision: Decision,
    /// What the model is to know.
    pub(crate) context: Vec<String>,
    /// The arguments that the call is to have.
    pub(crate) input: Option<Value>,
    /// Nothing more is to be done, for this reason.
    pub(crate) stop: Option<String>,
}

/// Characters of a command that are shown where it is named.
const SHOWN: usize = 32;

/// What Claude Code's hooks know tools by.
const ELSEWHERE: [(&str, &str); 11] = [
    ("run_command", "Bash"),
    ("read_file", "Read"),
    ("write_file", "Write"),
    ("edit_file", "Edit"),
    ("multi_edit", "MultiEdit"),
    ("glob_files", "Glob"),
    ("search_code", "Grep"),
    ("list_dir", "LS"),
    ("web_search", "WebSearch"),
    ("plan", "TodoWrite"),
    ("task", "Task"),
];

/// The name that Del has for a tool of Claude Code; any other name is itself.
pub(crate) fn own_name(name: &str) -> &str {
    ELSEWHERE.iter().find(|(_, elsewhere)| *elsewhere == name).map_or(name, |(own, _)| own)
}

impl Event {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::SessionStart => "SessionStart",
            Self::UserPromptSubmit => "UserPromptSubmit",
            Self::PreToolUse => "PreToolUse",
            Self::PostToolUse => "PostToolUse",
            Self::Stop => "Stop",
        }
    }

    /// Whether it is about a call.
    fn is_of_a_call(self) -> bool {
        matches!(self, Self::PreToolUse | Self::PostToolUse)
    }
}

impl Hook {
    /// Whether it is told of calls of this tool.
    fn is_for(&self, tool: &str) -> bool {
        let Some(matcher) = &self.matcher else { return true };
        let elsewhere = ELSEWHERE.iter().filter(|(own, _)| *own == tool).map(|(_, name)| *name);
        std::iter::once(tool).chain(elsewhere).any(|name| matcher.is_match(name))
    }
}

impl fmt::Display for Hook {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.event.name())?;
        if let Some(matcher) = self.matcher.as_ref().filter(|_| self.event.is_of_a_call()) {
            let shown = matcher.as_str().trim_start_matches("^(?:").trim_end_matches(")$");
            write!(f, " {shown}")?;
        }
        write!(f, ": {}", self.command.replace('\n', "\u{2424}"))
    }
}

impl Hooks {
    /// Whether any is told of this event.
    pub(crate) fn has(&self, event: Event) -> bool {
        self.all.iter().any(|hook| hook.event == event)
    }

    /// Whether any is told of a call of one of these tools.
    pub(crate) fn watch(&self, calls: &[Spelt]) -> bool {
        self.all
            .iter()
            .any(|hook| hook.event.is_of_a_call() && calls.iter().any(|call| hook.is_for(&call.tool)))
    }

    /// Tells the hooks of an event that is about no call.
    pub(crate) fn tell(
        &self,
        event: Event,
        more: &Value,
        approval: Approval,
        cancel: &Cancel,
        watch: &mut dyn Onlooker,
    ) -> Said {
        let mut said = Said::default();
        for hook in self.all.iter().filter(|hook| hook.event == event) {
            said.take(self.ask(hook, more, false, approval, cancel, watch), hook);
        }
        said
    }

    /// Tells the hooks of a call, and of those that it holds. `response` where it was run.
    pub(crate) fn tell_of_call(
        &self,
        calls: &[Spelt],
        response: Option<&Value>,
        approval: Approval,
        cancel: &Cancel,
        watch: &mut dyn Onlooker,
    ) -> Said {
        let event = if response.is_some() { Event::PostToolUse } else { Event::PreToolUse };
        let several = calls.len() > 1;
        let mut said = Said::default();
        for call in calls {
            let mut more = json!({"tool_name": call.tool, "tool_input": call.arguments});
            if let Some(response) = response {
                more["tool_response"] = response.clone();
            }
            for hook in self.all.iter().filter(|hook| hook.event == event && hook.is_for(&call.tool)) {
                said.take(self.ask(hook, &more, several, approval, cancel, watch), hook);
                if matches!(said.decision, Decision::Deny(_)) && response.is_none() {
                    return said;
                }
            }
        }
        if several {
            // It would be the input of one of several.
            said.input = None;
        }
        said
    }

    /// Runs one hook, and shows what comes of it.
    fn ask(
        &self,
        hook: &Hook,
        more: &Value,
        several: bool,
        approval: Approval,
        cancel: &Cancel,
        watch: &mut dyn Onlooker,
    ) -> Reply {
        let name = cut(&visible(&hook.command.replace('\n', " ")), SHOWN);
        let busy = stage::current().map(|stage| stage.busy(&format!("running the hook {name}")));
        let left = Own {
            command: &hook.command,
            directory: &self.directory,
            input: &self.input(hook.event, more, approval).to_string(),
            variables: &[
                ("CLAUDE_PROJECT_DIR", self.project.as_os_str()),
                ("DEL_PROJECT_DIR", self.project.as_os_str()),
                ("DEL_HOOK", OsStr::new(hook.event.name())),
            ],
            timeout: hook.timeout,
        }
        .run(cancel);
        drop(busy);
        let reply = answer::read(hook, left, several, cancel.is_cancelled());
        if !reply.shown.is_empty() {
            let (text, failed) = (reply.shown.join("; "), reply.failed);
            watch.hook(&Told { event: hook.event, command: name, text, failed });
        }
        reply
    }

    fn input(&self, event: Event, more: &Value, approval: Approval) -> Value {
        let mode = match approval {
            Approval::Ask => "default",
            Approval::AutoEdit => "acceptEdits",
            Approval::Plan => "plan",
            Approval::Yolo => "bypassPermissions",
        };
        let transcript = self.transcript.as_deref().unwrap_or(Path::new(""));
        let mut input = json!({
            "session_id": self.session, "transcript_path": transcript, "cwd": self.directory,
            "permission_mode": mode, "hook_event_name": event.name(),
        });
        if let (Some(input), Some(more)) = (input.as_object_mut(), more.as_object()) {
            input.extend(more.clone());
        }
        input
    }
}

impl Said {
    /// Takes what one hook says besides what others said.
    fn take(&mut self, reply: Reply, hook: &Hook) {
        // Somebody else wrote it: it may object, and no more.
        let decision = match reply.decision {
            Decision::Allow if hook.of_project => Decision::None,
            decision => decision,
        };
        if decision.weight() > self.decision.weight() {
            self.decision = decision;
        }
        self.context.extend(reply.context);
        self.input = reply.input.filter(|_| !hook.of_project).or(self.input.take());
        self.stop = self.stop.take().or(reply.stop);
    }
}
