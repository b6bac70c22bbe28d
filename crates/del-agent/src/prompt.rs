//! What the agent says to the model in words of its own.

use std::fmt::Write as _;

use del_dialects::{FaultKind, Report};

/// The result of a call for which the caller brought none.
pub(crate) const NO_RESULT: &str = "Error: the tool gave no result.";
/// The result of a call that the user stopped.
pub(crate) const CANCELLED: &str = "Error: cancelled by the user.";
/// The result of a call in an answer that was stopped.
pub(crate) const NOT_RUN: &str = "Error: not run, for the same call was made too often.";

/// What stands in place of results with which the conversation was too long for the model.
pub(crate) const TOO_LONG: &str = "[The tool ran. Its result is left out: it did not fit into your context.]";

/// The result of a call that is the same again.
pub(crate) fn repeated(times: u32) -> String {
    format!(
        "Error: not run. You made this very call {times} times in a row, and its result will not change. \
         Use the result that you have, call something else, or answer the user."
    )
}

/// Tells the model which of its calls did not count, and why.
pub(crate) fn broken_calls(broken: &[Report], cut: bool) -> String {
    let mut out = String::new();
    for report in broken {
        let name = report.call.as_ref().map(|call| call.name.trim()).filter(|name| !name.is_empty());
        let what = name.map_or_else(|| "A call".to_owned(), |name| format!("Your call of {name}"));
        let why = if cut && report.kind == FaultKind::UnclosedCall {
            "your answer was cut off at its longest length"
        } else {
            report.kind.message()
        };
        let _ = writeln!(out, "{what} did not run: {why}.");
    }
    out.push_str(if cut { "Write the whole call again, shorter." } else { "Write the whole call again." });
    out
}
