//! The terminal while a question stands.

use std::fs::File;
use std::io::{self, Read};

use rustix::termios::{
    InputModes, LocalModes, OptionalActions, QueueSelector, SpecialCodeIndex, Termios, tcflush, tcgetattr,
    tcsetattr,
};

/// A terminal in the mode for questions; dropping it puts the old mode back.
#[derive(Debug)]
pub(super) struct Asking<'a> {
    tty: &'a File,
    before: Termios,
}

const CTRL_C: u8 = 3;
const LONGEST_LINE: usize = 4096;

impl<'a> Asking<'a> {
    /// Lines are edited by the terminal itself; Ctrl-C ends the line instead of the program. What was typed before is
    /// dropped: an answer is given to a question that was seen.
    pub(super) fn begin(tty: &'a File) -> io::Result<Self> {
        let before = tcgetattr(tty)?;
        let mut mode = before.clone();
        mode.local_modes |= LocalModes::ICANON | LocalModes::ECHO | LocalModes::ECHOE | LocalModes::ECHOK;
        mode.local_modes -= LocalModes::ISIG;
        mode.input_modes |= InputModes::ICRNL;
        mode.special_codes[SpecialCodeIndex::VEOL] = CTRL_C;
        tcsetattr(tty, OptionalActions::Flush, &mode)?;
        Ok(Self { tty, before })
    }
}

impl Drop for Asking<'_> {
    fn drop(&mut self) {
        // Nothing can be done about a terminal that is gone.
        let _ = tcsetattr(self.tty, OptionalActions::Now, &self.before);
    }
}

/// Drops what was typed before.
pub(super) fn drain(tty: &File) -> io::Result<()> {
    Ok(tcflush(tty, QueueSelector::IFlush)?)
}

/// A line without its end; `None` after Ctrl-C, Ctrl-D, or when the terminal is gone.
pub(super) fn read_line(mut tty: &File) -> io::Result<Option<String>> {
    let mut line = Vec::new();
    let mut byte = [0];
    loop {
        match tty.read(&mut byte) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
            Ok(0) => return Ok(None),
            Ok(_) => {}
        }
        match byte[0] {
            b'\n' => return Ok(Some(String::from_utf8_lossy(&line).into_owned())),
            CTRL_C => return Ok(None),
            other if line.len() < LONGEST_LINE => line.push(other),
            _ => {}
        }
    }
}
