//! What is known of the terminal, and what may be written to it.

use std::borrow::Cow;
use std::fs::{File, OpenOptions};
use std::io::{self, IsTerminal, Write};
use std::os::fd::AsFd;
use std::time::Duration;

use del_tools::visible;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Signal, getpgrp, kill_current_process_group};
use rustix::termios::{
    InputModes, LocalModes, OptionalActions, SpecialCodeIndex, Termios, tcgetattr, tcgetpgrp, tcgetwinsize,
    tcsetattr,
};

/// The modes of the terminal at some time.
#[derive(Debug)]
pub(crate) struct Modes {
    tty: File,
    modes: Termios,
}

/// Columns where there is no terminal to ask.
const COLUMNS: usize = 120;
const ROWS: usize = 24;

/// Columns of the terminal that standard output goes to, if it goes to one.
pub(crate) fn stdout_width() -> Option<usize> {
    columns(&io::stdout())
}

/// Columns of the terminal that standard error goes to, if it goes to one.
pub(crate) fn stderr_width() -> Option<usize> {
    columns(&io::stderr())
}

/// Columns for what goes to standard error.
pub(crate) fn width() -> usize {
    stderr_width().unwrap_or(COLUMNS)
}

/// Data for standard output: as it is, but on a terminal nothing in it can act.
pub(crate) fn shown(data: &str) -> Cow<'_, str> {
    if io::stdout().is_terminal() { visible(data) } else { Cow::Borrowed(data) }
}

/// Text for a pipe, behind which there may be a terminal: control characters are written out, and so are those that turn
/// the order of others. All else stays, line ends too.
pub(crate) fn harmless(text: &str) -> Cow<'_, str> {
    let acts = |c: char| {
        let turns = matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
        turns || c.is_control() && !matches!(c, '\n' | '\t')
    };
    if !text.contains(acts) {
        return Cow::Borrowed(text);
    }
    let mut harmless = String::with_capacity(text.len() + 16);
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        let ends_line = c == '\r' && rest.peek() == Some(&'\n');
        if acts(c) && !ends_line { harmless.push_str(&visible(&c.to_string())) } else { harmless.push(c) }
    }
    Cow::Owned(harmless)
}

/// Writes whole lines of data, as [`shown`].
pub(crate) fn show_lines(lines: &[u8], out: &mut (impl Write + IsTerminal)) -> io::Result<()> {
    if out.is_terminal() {
        out.write_all(visible(&String::from_utf8_lossy(lines)).as_bytes())?;
    } else {
        out.write_all(lines)?;
    }
    out.flush()
}

/// Columns and rows of a terminal.
pub(crate) fn size(tty: &File) -> (usize, usize) {
    let size = tcgetwinsize(tty).ok().filter(|size| size.ws_col > 0 && size.ws_row > 0);
    size.map_or((COLUMNS, ROWS), |size| (usize::from(size.ws_col), usize::from(size.ws_row)))
}

/// The terminal of this process, if there is somebody at it: not without one, and not in the background.
pub(crate) fn open() -> Option<File> {
    let tty = OpenOptions::new().read(true).write(true).open("/dev/tty").ok()?;
    let in_front = tcgetpgrp(&tty).ok()? == getpgrp();
    in_front.then_some(tty)
}

/// The terminal gives keys as they are pressed, and shows none; dropping it puts the old modes back. Between two
/// questions as well: what is typed then is read by whoever asks next, and Enter is still Enter.
#[derive(Debug)]
pub(crate) struct Keys {
    _before: Restored,
}

#[derive(Debug)]
struct Restored(Modes);

/// The character that turns a special key off.
const DISABLED: u8 = 0;

impl Keys {
    pub(crate) fn begin() -> Option<Self> {
        let before = Modes::now()?;
        before.for_keys()?;
        Some(Self { _before: Restored(before) })
    }

    /// The same once more, after the shell has had the terminal in between.
    pub(crate) fn again() -> Option<()> {
        Modes::now()?.for_keys()
    }
}

impl Drop for Restored {
    fn drop(&mut self) {
        self.0.put_back();
    }
}

impl Modes {
    /// The modes now.
    pub(crate) fn now() -> Option<Self> {
        let tty = open()?;
        let modes = tcgetattr(&tty).ok()?;
        Some(Self { tty, modes })
    }

    fn for_keys(&self) -> Option<()> {
        let mut modes = self.modes.clone();
        modes.local_modes -= LocalModes::ICANON | LocalModes::ECHO;
        modes.input_modes -= InputModes::ICRNL;
        modes.special_codes[SpecialCodeIndex::VMIN] = 1;
        modes.special_codes[SpecialCodeIndex::VTIME] = 0;
        // Ctrl-Z comes as a key: what is drawn has to be taken away before the program stops.
        modes.special_codes[SpecialCodeIndex::VSUSP] = DISABLED;
        tcsetattr(&self.tty, OptionalActions::Now, &modes).ok()
    }

    /// Makes them the modes again, unless somebody else has the terminal now.
    pub(crate) fn put_back(&self) {
        if tcgetpgrp(&self.tty).is_ok_and(|front| front == getpgrp()) {
            // Nothing can be done about a terminal that is gone.
            let _ = tcsetattr(&self.tty, OptionalActions::Now, &self.modes);
        }
    }
}

/// Stops the program, as Ctrl-Z does while it works, until the shell lets it go on.
pub(crate) fn suspend() {
    // Where no shell looks after it, nothing is stopped.
    let _ = kill_current_process_group(Signal::TSTP);
}

fn columns<S: IsTerminal + AsFd>(stream: &S) -> Option<usize> {
    if !stream.is_terminal() {
        return None;
    }
    let size = tcgetwinsize(stream).ok()?;
    (size.ws_col > 0).then_some(usize::from(size.ws_col))
}

/// Whether there is something to read, or the end, within this time.
pub(crate) fn comes_within(input: &impl AsFd, time: Duration) -> bool {
    let time = Timespec::try_from(time).ok();
    poll(&mut [PollFd::new(input, PollFlags::IN)], time.as_ref()).is_ok_and(|count| count > 0)
}

#[cfg(test)]
mod tests {
    use super::harmless;

    #[test]
    fn nothing_acts_behind_a_pipe() {
        for text in ["a\tb\r\nc\n", "שלום é"] {
            assert_eq!(harmless(text), text);
        }
        for text in ["safe\rother", "\u{1b}[2J", "\u{202e}abc\u{202c}", "a\r"] {
            let shown = harmless(text);
            assert!(!shown.contains(['\r', '\u{1b}', '\u{202e}', '\u{202c}']), "{shown:?}");
        }
    }
}
