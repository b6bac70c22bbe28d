//! How far something is: one line on standard error, written anew again and again, and gone when it is over.

use std::io::{IsTerminal, Write};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use del_tools::visible;

use crate::table::cut;
use crate::terminal;

/// The line. Where nobody watches, there is none.
#[derive(Debug)]
pub(crate) struct Status {
    watched: bool,
    line: Mutex<Line>,
}

#[derive(Debug, Default)]
struct Line {
    stands: bool,
    written: Option<Instant>,
}

/// Between two texts; what comes sooner is left out.
const PACE: Duration = Duration::from_millis(100);
/// Back to the start of the line, and nothing behind it.
const CLEAR: &str = "\r\u{1b}[K";

impl Status {
    /// A line that is written on a terminal that can write a line anew.
    pub(crate) fn new() -> Self {
        let watched =
            std::io::stderr().is_terminal() && std::env::var_os("TERM").is_none_or(|term| term != "dumb");
        Self { watched, line: Mutex::default() }
    }

    /// Whether anybody can see it.
    pub(crate) fn is_watched(&self) -> bool {
        self.watched
    }

    /// Shows this text, but not too often.
    pub(crate) fn show(&self, text: &str) {
        if !self.watched {
            return;
        }
        let mut line = self.line.lock().unwrap_or_else(PoisonError::into_inner);
        if line.written.is_some_and(|written| written.elapsed() < PACE) {
            return;
        }
        // The last column stays free: a line that fills it would go on in the next one.
        let text = cut(&visible(text), terminal::width().saturating_sub(1));
        write(&format!("{CLEAR}{text}"));
        *line = Line { stands: true, written: Some(Instant::now()) };
    }

    /// Takes the line away.
    pub(crate) fn clear(&self) {
        let mut line = self.line.lock().unwrap_or_else(PoisonError::into_inner);
        if std::mem::take(&mut *line).stands {
            write(CLEAR);
        }
    }
}

impl Drop for Status {
    fn drop(&mut self) {
        self.clear();
    }
}

/// Writes to standard error; it is lost without a fuss when nobody reads it.
fn write(text: &str) {
    let mut stderr = std::io::stderr().lock();
    let _ = stderr.write_all(text.as_bytes()).and_then(|()| stderr.flush());
}
