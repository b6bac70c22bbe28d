//! Asking for consent on the terminal.

use std::fs::File;
use std::io::{self, Read, Write};

use del_tools::{Answer, Cancel, Consent, Question};
use rustix::termios::{
    InputModes, LocalModes, OptionalActions, SpecialCodeIndex, Termios, tcgetattr, tcsetattr,
};

use crate::colour::{Paint, When};
use crate::terminal;

/// Asks the person at the terminal, whatever standard input and output are.
#[derive(Debug)]
pub(crate) struct Terminal {
    tty: File,
    paint: Paint,
    cancel: Cancel,
}

/// Whoever says yes or no.
#[derive(Debug)]
pub(crate) enum Asked {
    /// Nobody: what needs asking is denied.
    Nobody,
    /// Consent was given beforehand.
    Yes(Yes),
    Terminal(Terminal),
}

/// Consent given beforehand.
#[derive(Debug)]
pub(crate) struct Yes;

/// A terminal in the mode for questions; dropping it puts the old mode back.
#[derive(Debug)]
struct Asking<'a> {
    tty: &'a File,
    before: Termios,
}

const CTRL_C: u8 = 3;
const LONGEST_LINE: usize = 4096;

impl Asked {
    /// The option's yes, or else the person at the terminal.
    pub(crate) fn find(yes: bool, when: When, cancel: &Cancel) -> Self {
        if yes { Self::Yes(Yes) } else { Terminal::open(when, cancel).map_or(Self::Nobody, Self::Terminal) }
    }

    /// For one question.
    pub(crate) fn consent(&mut self) -> Option<&mut dyn Consent> {
        match self {
            Self::Nobody => None,
            Self::Yes(yes) => Some(yes),
            Self::Terminal(terminal) => Some(terminal),
        }
    }
}

impl Consent for Yes {
    fn ask(&mut self, _: &Question) -> Answer {
        Answer::Yes
    }
}

impl Terminal {
    fn open(when: When, cancel: &Cancel) -> Option<Self> {
        let paint = Paint::for_terminal(when, true);
        Some(Self { tty: terminal::open()?, paint, cancel: cancel.clone() })
    }

    fn question(&mut self, question: &Question) -> io::Result<Answer> {
        // The old input is dropped with the change of mode: an answer is given to a question that was seen.
        let asking = Asking::begin(&self.tty)?;
        let mut tty = &self.tty;
        writeln!(tty, "\n{}", self.coloured(question))?;
        for _ in 0..5 {
            write!(
                tty,
                "{} ",
                self.paint.bold("Do this? y = yes, n = no, always = yes for this call from now on:")
            )?;
            tty.flush()?;
            let Some(line) = read_line(tty)? else {
                self.cancel.cancel();
                writeln!(tty)?;
                return Ok(Answer::No { reason: None });
            };
            if let Some(answer) = understand(&line) {
                return Ok(answer);
            }
        }
        drop(asking);
        Ok(Answer::No { reason: None })
    }

    /// The question, with the lines of a diff in their colours.
    fn coloured(&self, question: &Question) -> String {
        let text = question.text();
        let paint = self.paint;
        let lines = text.lines().enumerate().map(|(place, line)| match line.as_bytes().first() {
            _ if place == 0 => paint.bold(line),
            Some(b'+') => paint.green(line),
            Some(b'-') => paint.red(line),
            Some(b'@') => paint.cyan(line),
            Some(b'!') => paint.yellow(line),
            _ => line.to_owned(),
        });
        lines.collect::<Vec<_>>().join("\n")
    }
}

impl Consent for Terminal {
    fn ask(&mut self, question: &Question) -> Answer {
        self.question(question)
            .unwrap_or_else(|_| Answer::No { reason: Some("the terminal cannot be read".to_owned()) })
    }
}

impl<'a> Asking<'a> {
    /// Lines are edited by the terminal itself; Ctrl-C ends the line instead of the program.
    fn begin(tty: &'a File) -> io::Result<Self> {
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

/// A line without its end; `None` after Ctrl-C, Ctrl-D, or when the terminal is gone.
fn read_line(mut tty: &File) -> io::Result<Option<String>> {
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

/// What an answer means; `None` when it is not clear, and then it is no yes.
fn understand(line: &str) -> Option<Answer> {
    let line = line.trim();
    let (word, rest) = line.split_once(|c: char| c.is_whitespace() || c == ',').unwrap_or((line, ""));
    match word.to_lowercase().as_str() {
        "y" | "yes" if rest.is_empty() => Some(Answer::Yes),
        "a" | "always" if rest.is_empty() => Some(Answer::Always),
        "n" | "no" => {
            let reason = rest.trim();
            Some(Answer::No { reason: (!reason.is_empty()).then(|| reason.to_owned()) })
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_clear_yes_is_one() {
        for yes in ["y", " Y ", "yes"] {
            assert_eq!(understand(yes), Some(Answer::Yes), "{yes}");
        }
        assert_eq!(understand("always"), Some(Answer::Always));
        for unclear in ["", "yy", "yes but", "ok", "\u{1b}[Ay", "y\0"] {
            assert_eq!(understand(unclear), None, "{unclear:?}");
        }
        assert_eq!(understand("no"), Some(Answer::No { reason: None }));
        let reason = Some("use cargo".to_owned());
        assert_eq!(understand("n, use cargo"), Some(Answer::No { reason }));
    }
}
