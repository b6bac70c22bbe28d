//! The terminal while a question stands.

use std::fs::File;
use std::io::{self, Read};
use std::time::Duration;

use rustix::termios::{
    InputModes, LocalModes, OptionalActions, QueueSelector, SpecialCodeIndex, Termios, tcflush, tcgetattr,
    tcsetattr,
};

use crate::screen::bell;
use crate::terminal::comes_within;

/// A terminal in the mode for questions; dropping it puts the old mode back.
#[derive(Debug)]
pub(super) struct Asking<'a> {
    tty: &'a File,
    before: Termios,
}

/// What was pressed.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Pressed {
    /// Ctrl-C or Ctrl-D, or the terminal is gone.
    Stop,
    /// Esc, alone.
    Escape,
    /// Enter, alone.
    Enter,
    /// Ctrl-Z.
    Suspend,
    /// One character.
    Key(char),
    /// A line at once, as from a paste, or from a program that answers.
    Line(String),
    /// Anything else.
    Unclear,
}

const CTRL_C: u8 = 3;
const CTRL_D: u8 = 4;
const CTRL_Z: u8 = 26;
const ESC: u8 = 27;
/// What follows Esc sooner was sent by one key.
const ONE_KEY: Duration = Duration::from_millis(30);
/// Whoever types a word where one key does has stopped after this.
pub(super) const WORD: Duration = Duration::from_millis(200);
/// Whoever was typing something else has seen the question after this.
pub(super) const ELSEWHERE: Duration = Duration::from_millis(800);
const LONGEST_LINE: usize = 4096;

impl<'a> Asking<'a> {
    /// Each key is an answer, and is not shown. What was pressed before is dropped.
    pub(super) fn for_a_key(tty: &'a File) -> io::Result<Self> {
        let before = tcgetattr(tty)?;
        let mut mode = before.clone();
        mode.local_modes -= LocalModes::ICANON | LocalModes::ECHO | LocalModes::ISIG;
        mode.input_modes |= InputModes::ICRNL;
        mode.special_codes[SpecialCodeIndex::VMIN] = 1;
        mode.special_codes[SpecialCodeIndex::VTIME] = 0;
        tcsetattr(tty, OptionalActions::Flush, &mode)?;
        Ok(Self { tty, before })
    }

    /// The line goes on with what a key began.
    pub(super) fn go_on(tty: &'a File) -> io::Result<Self> {
        let before = tcgetattr(tty)?;
        tcsetattr(tty, OptionalActions::Now, &for_lines(&before))?;
        Ok(Self { tty, before })
    }

    /// Lines are edited by the terminal itself; Ctrl-C ends the line instead of the program. What was typed before is
    /// dropped: an answer is given to a question that was seen.
    pub(super) fn begin(tty: &'a File) -> io::Result<Self> {
        let before = tcgetattr(tty)?;
        tcsetattr(tty, OptionalActions::Flush, &for_lines(&before))?;
        Ok(Self { tty, before })
    }
}

/// Lines are edited by the terminal, and Ctrl-C or Esc ends one.
fn for_lines(before: &Termios) -> Termios {
    let mut mode = before.clone();
    mode.local_modes |= LocalModes::ICANON | LocalModes::ECHO | LocalModes::ECHOE | LocalModes::ECHOK;
    mode.local_modes -= LocalModes::ISIG;
    mode.input_modes |= InputModes::ICRNL;
    mode.special_codes[SpecialCodeIndex::VEOF] = CTRL_D;
    mode.special_codes[SpecialCodeIndex::VEOL] = CTRL_C;
    mode.special_codes[SpecialCodeIndex::VEOL2] = ESC;
    mode
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

/// Waits until nothing is typed any more for so long, and drops what was.
pub(super) fn settle(tty: &File, silence: Duration) -> io::Result<()> {
    while comes_within(tty, silence) {
        drain(tty)?;
    }
    Ok(())
}

/// What is pressed next. The user is called when that takes long.
pub(super) fn pressed(mut tty: &File) -> io::Result<Pressed> {
    bell::listen(&tty);
    let mut bytes = [0; LONGEST_LINE];
    let count = loop {
        match tty.read(&mut bytes) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            other => break other?,
        }
    };
    Ok(match &bytes[..count] {
        [] => Pressed::Stop,
        bytes if bytes.contains(&CTRL_C) || bytes.contains(&CTRL_D) => Pressed::Stop,
        [CTRL_Z] => Pressed::Suspend,
        [ESC] if !comes_within(tty, ONE_KEY) => Pressed::Escape,
        [ESC, ..] => {
            drain(tty)?;
            Pressed::Unclear
        }
        bytes => read(&String::from_utf8_lossy(bytes)),
    })
}

fn read(text: &str) -> Pressed {
    let mut chars = text.chars();
    match (chars.next(), chars.next(), text.split_once('\n')) {
        (Some('\n'), None, _) => Pressed::Enter,
        (Some('\n'), ..) => Pressed::Unclear,
        (Some(key), None, _) => Pressed::Key(key),
        (_, _, Some((line, _))) => Pressed::Line(line.to_owned()),
        _ => Pressed::Unclear,
    }
}

/// A line without its end, or with Esc as its end; `None` after Ctrl-C, Ctrl-D, or when the terminal is gone.
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
            ESC if is_alone(tty)? => {
                line.push(ESC);
                return Ok(Some(String::from_utf8_lossy(&line).into_owned()));
            }
            // Other keys that begin so mean nothing here.
            ESC => {}
            other if line.len() < LONGEST_LINE => line.push(other),
            _ => {}
        }
    }
}

/// Whether the Esc that was read was the key of that name. What follows one by which another key begins is dropped.
fn is_alone(tty: &File) -> io::Result<bool> {
    let before = tcgetattr(tty)?;
    let mut mode = before.clone();
    // What is no whole line can be read then.
    mode.local_modes -= LocalModes::ICANON;
    tcsetattr(tty, OptionalActions::Now, &mode)?;
    let alone = !comes_within(tty, ONE_KEY);
    if !alone {
        drain(tty)?;
    }
    tcsetattr(tty, OptionalActions::Now, &before)?;
    Ok(alone)
}
