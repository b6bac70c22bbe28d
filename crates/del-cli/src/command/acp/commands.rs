//! Commands that an editor offers behind `/`.

use agent_client_protocol::v1::schema::{
    AvailableCommand, AvailableCommandInput, AvailableCommandsUpdate, StopReason, UnstructuredCommandInput,
};
use anyhow::Result;

use super::worker::{Worker, stop_reason};
use crate::colour::Paint;
use crate::command::undo::{self, Front};
use crate::instructions::INIT;
use crate::prompts::Prompt;
use crate::session::thousands;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Name {
    Init,
    Compact,
    Context,
    Diff,
    Undo,
    Redo,
    Dialect,
}

/// Name, what stands behind it, and what it does.
const COMMANDS: [(Name, &str, &str, &str); 7] = [
    (Name::Init, "init", "", "look at the project and write AGENTS.md"),
    (Name::Compact, "compact", "what to keep", "sum the conversation up, to make room"),
    (Name::Context, "context", "", "how full the model's context is"),
    (Name::Diff, "diff", "", "what this session changed in files"),
    (Name::Undo, "undo", "how many changes", "take back the last change of files"),
    (Name::Redo, "redo", "", "bring back what was taken back last"),
    (Name::Dialect, "dialect", "a dialect, or auto", "the dialect of calls, or take another"),
];

/// A command, and what stands behind it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Command<'a> {
    name: Name,
    rest: &'a str,
}

/// The commands, and those in files, for the editor's list.
pub(super) fn available(prompts: &[Prompt]) -> AvailableCommandsUpdate {
    let input = |hint: &str| {
        let input = || AvailableCommandInput::Unstructured(UnstructuredCommandInput::new(hint));
        (!hint.is_empty()).then(input)
    };
    let command = |(_, name, behind, about): &(Name, &'static str, &str, &str)| {
        AvailableCommand::new(*name, *about).input(input(behind))
    };
    let in_file = |prompt: &Prompt| {
        let hint = if prompt.hint.is_empty() { "what it is about" } else { prompt.hint.as_str() };
        AvailableCommand::new(prompt.name.clone(), prompt.description.clone()).input(input(hint))
    };
    AvailableCommandsUpdate::new(COMMANDS.iter().map(command).chain(prompts.iter().map(in_file)).collect())
}

/// The command that a question is, if it is one.
pub(super) fn read(question: &str) -> Option<Command<'_>> {
    let line = question.trim().strip_prefix('/')?;
    let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let (name, ..) = COMMANDS.iter().find(|(_, name, ..)| *name == word)?;
    Some(Command { name: *name, rest: rest.trim() })
}

/// What is said to a command that there is none of; nothing where a question merely begins with a path.
pub(super) fn unknown(question: &str, prompts: &[Prompt]) -> Option<String> {
    let word = question.trim().strip_prefix('/')?.split_whitespace().next()?;
    if word.contains('/') || !word.starts_with(|c: char| c.is_ascii_alphabetic()) {
        return None;
    }
    let names =
        COMMANDS.iter().map(|(_, name, ..)| *name).chain(prompts.iter().map(|prompt| prompt.name.as_str()));
    let names: Vec<String> = names.map(|name| format!("`/{name}`")).collect();
    Some(format!("There is no command `/{word}` here; there are {}.", names.join(", ")))
}

impl Worker {
    pub(super) fn command(&mut self, Command { name, rest }: Command<'_>) -> Result<StopReason> {
        let plain = Paint::plain();
        let text = match name {
            Name::Init => {
                let outcome = self.ask(INIT);
                self.session.remember()?;
                return outcome;
            }
            Name::Compact => match self.session.compact(rest, &mut self.editor.clone())? {
                Ok(true) => format!(
                    "The conversation is summed up; the context takes about {} tokens now.",
                    self.session.context().used
                ),
                Ok(false) => "There is nothing to sum up yet.".to_owned(),
                Err(failure) => return stop_reason(Err(failure)),
            },
            Name::Context => {
                let context = self.session.context();
                format!("The context has {} tokens: {}.", thousands(context.used), context.short())
            }
            Name::Diff => match self.session.hands.changes().concat() {
                none if none.is_empty() => "Nothing was changed in this session.".to_owned(),
                diff => fenced(&diff),
            },
            Name::Undo => match undo::by_words(&self.session.hands.toolbox, rest) {
                Ok(done) => fenced(&done.text(plain)),
                Err(error) => undo::why(&error, Front::Editor),
            },
            Name::Redo => match undo::brought_back(&self.session.hands.toolbox) {
                None => "Nothing was taken back.".to_owned(),
                Some(Ok(done)) => fenced(&done.text(plain)),
                Some(Err(error)) => undo::why(&error, Front::Editor),
            },
            Name::Dialect => {
                if !rest.is_empty() {
                    self.session.take_dialect(rest)?;
                }
                format!("Calls are written in {}.", self.session.dialect())
            }
        };
        self.editor.say(&text);
        Ok(StopReason::EndTurn)
    }
}

fn fenced(diff: &str) -> String {
    format!("````diff\n{}\n````", diff.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_that_begins_with_a_slash_may_be_a_command() {
        assert_eq!(read("/undo 2"), Some(Command { name: Name::Undo, rest: "2" }));
        assert_eq!(read("/compact the plan\n"), Some(Command { name: Name::Compact, rest: "the plan" }));
        assert_eq!(read("/etc/hosts is what?"), None);
        assert_eq!(read("undo"), None);
        assert!(unknown("/nosuch thing", &[]).is_some_and(|told| told.contains("`/undo`")));
        assert_eq!(unknown("/etc/hosts is what?", &[]), None);
        assert_eq!(unknown("what is /nosuch", &[]), None);
    }
}
