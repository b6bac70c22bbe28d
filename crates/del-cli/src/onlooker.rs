//! Whoever watches what the model does.

use std::io;

use del_agent::View;
use del_dialects::Call;
use del_tools::ToolResult;
use serde::Deserialize;

/// When a hook is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
pub(crate) enum Event {
    SessionStart,
    UserPromptSubmit,
    PreToolUse,
    PostToolUse,
    Stop,
}

/// What one hook said or failed to say, for whoever watches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Told {
    pub(crate) event: Event,
    pub(crate) command: String,
    pub(crate) text: String,
    pub(crate) failed: bool,
}

/// Takes what a command writes, piece by piece.
pub(crate) type Output = Box<dyn Fn(&str) + Send + Sync>;

/// Whoever watches calls run.
pub(crate) trait Onlooker {
    /// A call begins.
    fn call(&mut self, call: &Call);
    /// Where it goes what this call writes while it runs; nowhere, and the terminal's stage shows it.
    fn output(&self, _call: &Call) -> Option<Output> {
        None
    }
    /// It would change files so, and no question shows that.
    fn change(&mut self, _change: &str) {}
    /// A sub-agent makes a call, for a task that was a call itself.
    fn step(&mut self, _task: &Call, _call: &Call) {}
    /// A hook said something, or failed to.
    fn hook(&mut self, _told: &Told) {}
    /// A call has ended.
    fn result(&mut self, call: &Call, result: &ToolResult);
}

/// Shows what happens.
pub(crate) trait Screen: Onlooker {
    /// Something to show.
    fn view(&mut self, view: View<'_>);
    /// An answer is over; `last` when no calls follow.
    fn turn_over(&mut self, last: bool);
    /// Why nobody can see anything any more, if so.
    fn check(&mut self) -> io::Result<()>;
}
