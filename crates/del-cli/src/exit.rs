//! How a run ends: exit codes that scripts rely on, and problems that know theirs.

use std::io;
use std::process::ExitCode;

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Exit {
    Done = 0,
    Failed = 1,
    Usage = 2,
    Authentication = 41,
    BadInput = 42,
    Sandbox = 44,
    Configuration = 52,
    TurnLimit = 53,
    ToolFailed = 54,
    Untrusted = 55,
    /// Told to end by a signal, as 130 is for Ctrl-C.
    HungUp = 129,
    Interrupted = 130,
    Terminated = 143,
}

/// Why a run cannot go on, with what to do about it, and the exit code that says so.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub(crate) struct Problem {
    exit: Exit,
    message: String,
}

impl Exit {
    /// An error that ends the run this way.
    pub(crate) fn because(self, message: impl Into<String>) -> anyhow::Error {
        Problem { exit: self, message: message.into() }.into()
    }

    /// The way in which `error` ends the run.
    pub(crate) fn of(error: &anyhow::Error) -> Self {
        if is_broken_pipe(error) {
            return Self::Done;
        }
        error.downcast_ref::<Problem>().map_or(Self::Failed, |problem| problem.exit)
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}

/// What went wrong, on one line in which nothing can act on the terminal: parts of it come from servers and files.
pub(crate) fn line(error: &anyhow::Error) -> String {
    let text = without_numbers(&format!("{error:#}"));
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    del_tools::visible(&lines.join(" ")).into_owned()
}

/// A text with what the system says of errors as part of a sentence: without numbers, which say nothing to people, and
/// without a capital.
fn without_numbers(text: &str) -> String {
    const NUMBER: &str = " (os error ";
    let mut parts = text.split(NUMBER);
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| match part.split_once(')') {
        Some((number, rest)) if number.bytes().all(|byte| byte.is_ascii_digit()) => uncapped(&text) + rest,
        _ => text + NUMBER + part,
    })
}

/// A text whose last words, behind a colon or a bracket, have no capital.
fn uncapped(text: &str) -> String {
    let start = text.rfind(": ").map_or(0, |at| at + 2).max(text.rfind('(').map_or(0, |at| at + 1));
    let (before, words) = text.split_at(start);
    before.to_owned() + &del_tools::uncapped(words)
}

/// True when whoever read the output wanted no more of it, which is no error.
pub(crate) fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        cause.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_of_the_system_have_no_numbers() {
        let said =
            without_numbers("cannot open a: No such file (os error 2), nor b (os error 13); (os error x)");
        assert_eq!(said, "cannot open a: no such file, nor b; (os error x)");
        assert_eq!(without_numbers("No space left on device (os error 28)"), "no space left on device");
        assert_eq!(
            without_numbers("no server (Connection refused (os error 111))"),
            "no server (connection refused)"
        );
        assert_eq!(without_numbers("/A: (os error 1)"), "/A:");
    }
}
