//! The program on a real terminal.

use std::io::{Read, Write};
use std::process::Child;
use std::time::Duration;

use pty_process::blocking::{Command, Pty, open};
use rustix::process::{Pid, Signal, kill_process};
use rustix::termios::{InputModes, LocalModes, OptionalActions, tcgetattr, tcsetattr};
use tempfile::TempDir;

use crate::del::SETTINGS;

/// The program at a terminal, with somebody at it.
pub(crate) struct Terminal {
    pty: Pty,
    child: Child,
    seen: String,
    /// A directory of its own, which goes after the program.
    place: Option<TempDir>,
}

impl Terminal {
    pub(crate) fn start(directory: &TempDir, arguments: &[&str]) -> Self {
        Self::with(directory, arguments, 200, &[])
    }

    /// A terminal of this many columns, and with these variables.
    pub(crate) fn with(
        directory: &TempDir,
        arguments: &[&str],
        columns: u16,
        variables: &[(&str, &str)],
    ) -> Self {
        let command = Command::new(env!("CARGO_BIN_EXE_del")).args(arguments);
        Self::with_command(command, directory, columns, variables)
    }

    /// The program, with a pipe behind its standard output that ends at the same terminal.
    pub(crate) fn piped(directory: &TempDir, arguments: &[&str]) -> Self {
        let command = Command::new("/bin/sh")
            .args(["-c", "\"$0\" \"$@\" | cat", env!("CARGO_BIN_EXE_del")])
            .args(arguments);
        Self::with_command(command, directory, 80, &[("NO_COLOR", "1")])
    }

    fn with_command(command: Command, directory: &TempDir, columns: u16, variables: &[(&str, &str)]) -> Self {
        let (pty, pts) = open().unwrap();
        pty.resize(pty_process::Size::new(40, columns)).unwrap();
        let mut command = command.current_dir(directory.path());
        for name in SETTINGS {
            command = command.env_remove(name);
        }
        command = command.env("HOME", directory.path()).env("TERM", "xterm");
        for (name, value) in variables {
            command = command.env(name, value);
        }
        let child = command.spawn(pts).unwrap();
        Self { pty, child, seen: String::new(), place: None }
    }

    /// The same, at a terminal that has this directory for itself.
    pub(crate) fn within(
        directory: TempDir,
        arguments: &[&str],
        columns: u16,
        variables: &[(&str, &str)],
    ) -> Self {
        let mut terminal = Self::with(&directory, arguments, columns, variables);
        terminal.place = Some(directory);
        terminal
    }

    /// Kills the program, which can do nothing about it.
    pub(crate) fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Tells the program to end.
    pub(crate) fn terminate(&self) {
        kill_process(Pid::from_child(&self.child), Signal::TERM).unwrap();
    }

    /// Closes the window, and waits for the program to end.
    pub(crate) fn hang_up(mut self) {
        self.pty = open().unwrap().0;
        self.child.wait().unwrap();
    }

    /// Stops the program and lets it go on, as a shell does, which has the terminal meanwhile.
    pub(crate) fn suspend(&mut self) {
        let program = Pid::from_child(&self.child);
        kill_process(program, Signal::STOP).unwrap();
        let mut modes = tcgetattr(&self.pty).unwrap();
        modes.local_modes |= LocalModes::ICANON | LocalModes::ECHO;
        modes.input_modes |= InputModes::ICRNL;
        tcsetattr(&self.pty, OptionalActions::Now, &modes).unwrap();
        kill_process(program, Signal::CONT).unwrap();
    }

    /// Reads until this is on the screen, and forgets what was there before it.
    pub(crate) fn until(&mut self, text: &str) -> String {
        let mut bytes = [0; 4096];
        loop {
            if let Some(before) = self.take(text) {
                return before;
            }
            match self.pty.read(&mut bytes) {
                Ok(0) | Err(_) => panic!("expected {text:?}, got the end after {:?}", self.seen),
                Ok(count) => self.see(&bytes[..count]),
            }
        }
    }

    /// What is on the screen up to this, if it is there: as it was written, or without signs of life that were drawn
    /// below it meanwhile and are gone.
    fn take(&mut self, text: &str) -> Option<String> {
        let mut seen = self.seen.clone();
        loop {
            if let Some(at) = seen.find(text) {
                self.seen = seen.split_off(at + text.len());
                return Some(settled(seen));
            }
            seen = without_first_drawing(&seen)?;
        }
    }

    /// Takes what was written, and says where the cursor is when asked to, as terminals do.
    fn see(&mut self, bytes: &[u8]) {
        let text = String::from_utf8_lossy(bytes);
        for _ in text.matches("\u{1b}[6n") {
            self.write("\u{1b}[1;1R");
        }
        self.seen.push_str(&text);
    }

    pub(crate) fn write(&mut self, text: &str) {
        self.pty.write_all(text.as_bytes()).unwrap();
    }

    /// Reads to the end; what was on the screen, and the exit code.
    pub(crate) fn end(mut self) -> (String, i32) {
        let mut bytes = [0; 4096];
        while let Ok(count @ 1..) = self.pty.read(&mut bytes) {
            self.see(&bytes[..count]);
        }
        (std::mem::take(&mut self.seen), self.child.wait().unwrap().code().unwrap_or(-1))
    }
}

/// A program that still ran would write into the test's directory once that is removed.
impl Drop for Terminal {
    fn drop(&mut self) {
        self.stop();
        drop(self.place.take());
    }
}

impl Terminal {
    fn stop(&mut self) {
        if !matches!(self.child.try_wait(), Ok(None)) {
            return;
        }
        let _ = kill_process(Pid::from_child(&self.child), Signal::TERM);
        // What it does has three seconds to end in order.
        for _ in 0..400 {
            std::thread::sleep(Duration::from_millis(10));
            if !matches!(self.child.try_wait(), Ok(None)) {
                return;
            }
        }
        let _ = self.child.kill().and_then(|()| self.child.wait());
    }
}

/// What was written without the signs of life below it.
pub(crate) fn settled(mut seen: String) -> String {
    while let Some(less) = without_first_drawing(&seen) {
        seen = less;
    }
    seen
}

/// Without the first rows that were drawn below the cursor, which then went back up: as many as it says.
fn without_first_drawing(seen: &str) -> Option<String> {
    for (at, _) in seen.match_indices("\u{1b}[") {
        let back = &seen[at + 2..];
        let digits = back.find(|c: char| !c.is_ascii_digit())?;
        let Some(behind) = back[digits..].strip_prefix("A\r") else { continue };
        let rows: usize = back[..digits].parse().ok()?;
        let start = seen[..at].rmatch_indices("\r\n").nth(rows.checked_sub(1)?)?.0;
        let column = behind.strip_prefix("\u{1b}[").and_then(|column| column.split_once('C'));
        let column = column.filter(|(column, _)| column.parse::<usize>().is_ok());
        return Some(format!("{}{}", &seen[..start], column.map_or(behind, |(_, behind)| behind)));
    }
    let erased = seen.find("\u{1b}[J")?;
    Some(format!("{}{}", &seen[..erased], &seen[erased + 3..]))
}

/// What a question says, in one piece where rows of the terminal broke it.
pub(crate) fn unbroken(question: &str) -> String {
    question.replace("\r\n  ↪ ", "")
}
