//! What is known of the terminal.

use std::io::IsTerminal;

use rustix::termios::tcgetwinsize;

/// Columns of the terminal that standard output goes to, if it goes to one.
pub(crate) fn stdout_width() -> Option<usize> {
    let out = std::io::stdout();
    if !out.is_terminal() {
        return None;
    }
    let size = tcgetwinsize(out).ok()?;
    (size.ws_col > 0).then_some(usize::from(size.ws_col))
}
