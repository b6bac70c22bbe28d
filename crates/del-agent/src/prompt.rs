//! What the agent says to the model in words of its own.

use std::fmt::Write as _;

use del_dialects::{Dialects, FaultKind, Report, Tool};

/// The result of a call for which the caller brought none.
pub(crate) const NO_RESULT: &str = "Error: the tool gave no result.";
/// The result of a call that the user stopped.
pub(crate) const CANCELLED: &str = "Error: cancelled by the user.";
/// The result of a call of a conversation that was kept, where none was.
pub(crate) const LOST: &str = "Error: the session ended in the middle of this call. How much of it was done is not known: look before you call it again.";
/// The result of a call in an answer that was stopped.
pub(crate) const NOT_RUN: &str = "Error: not run, for the same call was made too often.";

/// What stands in place of results with which the conversation was too long for the model.
pub(crate) const TOO_LONG: &str = "[The tool ran. Its result is left out: it did not fit into your context.]";

/// What stands in place of old results, when room is needed.
pub(crate) const LEFT_OUT: &str =
    "[This result is left out to make room. Call the tool again if you need it.]";
/// The tool whose results are the model's plan.
pub(crate) const PLAN: &str = "plan";
const SUMMARY: &str = "[A summary of the conversation so far]";
/// Who sums up.
pub const SUMMER: &str = "You sum up conversations between a user and an assistant that works with tools.";

/// Asks for a summary of a conversation.
pub fn sum_up(conversation: &str, focus: &str) -> String {
    let focus = if focus.is_empty() { String::new() } else { format!(" Above all, keep: {focus}.") };
    format!(
        "Sum up the conversation below, for an assistant that goes on with it and sees nothing else of it. Name what the \
         user wants, what was decided and why, which files were read or changed and what matters in them, what failed, \
         and what is left to do. Keep names, paths, commands and numbers exact. Write the summary alone.{focus}\n\n\
         <conversation>\n{conversation}</conversation>"
    )
}

/// What the model is told in place of what was summed up.
pub fn summary(text: &str, plan: Option<&str>) -> String {
    let plan = plan.map(|plan| format!("\n\nYour plan, as it was:\n{plan}")).unwrap_or_default();
    format!("{SUMMARY}\n{text}{plan}")
}

/// Tells the model of a command that the user ran.
pub(crate) fn ran(command: &str, output: &str) -> String {
    format!("[The user ran a command]\n$ {command}\n\n{output}")
}

/// True for what [`summary`] gives.
pub fn is_summary(text: &str) -> bool {
    text.starts_with(SUMMARY)
}

/// The result of a call that is the same again.
pub fn repeated(times: u32) -> String {
    format!(
        "Error: not run. You made this very call {times} times in a row, and its result will not change. \
         Use the result that you have, call something else, or answer the user."
    )
}

/// Tells the model which of its calls did not count, and why: what came, and the form that `skeleton` has for a tool.
pub fn broken_calls(broken: &[Report], cut: bool, skeleton: impl Fn(&str) -> Option<String>) -> String {
    let mut out = String::new();
    for report in broken {
        let call = report.call.as_ref().filter(|call| !call.name.trim().is_empty());
        let name = call.map_or("", |call| call.name.trim());
        let what = if name.is_empty() { "A call".to_owned() } else { format!("Your call of {name}") };
        let too_long = cut && report.kind == FaultKind::UnclosedCall;
        let why =
            if too_long { "your answer was cut off at its longest length" } else { report.kind.message() };
        let _ = write!(out, "{what} did not run: {why}.");
        if let Some(form) = skeleton(name).filter(|_| !too_long) {
            let got = call.map(|call| call.arguments.trim()).filter(|got| !got.is_empty()).map(start);
            if let Some(got) = got {
                let _ = write!(out, " Got the arguments {}.", Dialects::builtin().neutralise(&got));
            }
            let _ = write!(out, " Expected this form, with your values:\n{form}");
        }
        out.push('\n');
    }
    out.push_str(if cut { "Write the whole call again, shorter." } else { "Write the whole call again." });
    out
}

/// Tells the model that it called a tool that is not there, and which are.
pub(crate) fn no_such_tool(name: &str, tools: &[Tool]) -> String {
    let tools: Vec<&str> = tools.iter().map(|tool| tool.name.as_str()).collect();
    let name = Dialects::builtin().neutralise(name);
    format!(
        "Nothing ran: there is no tool {name}. Answer with a call of one of these and nothing else: {}.",
        tools.join(", ")
    )
}

/// As much of a text as shows what is wrong with it.
fn start(text: &str) -> String {
    const LONGEST: usize = 200;
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
