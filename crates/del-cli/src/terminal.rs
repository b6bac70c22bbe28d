//! What is known of the terminal.

use std::io::IsTerminal;
use std::os::fd::AsFd;

use rustix::termios::tcgetwinsize;

/// Columns where there is no terminal to ask.
const COLUMNS: usize = 120;

/// Columns of the terminal that standard output goes to, if it goes to one.
pub(crate) fn stdout_width() -> Option<usize> {
    columns(&std::io::stdout())
}

/// Columns for what goes to standard error.
pub(crate) fn width() -> usize {
    columns(&std::io::stderr()).unwrap_or(COLUMNS)
}

fn columns<S: IsTerminal + AsFd>(stream: &S) -> Option<usize> {
    if !stream.is_terminal() {
        return None;
    }
    let size = tcgetwinsize(stream).ok()?;
    (size.ws_col > 0).then_some(usize::from(size.ws_col))
}
