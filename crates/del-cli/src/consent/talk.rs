//! What is written to the terminal while a question stands, and the lines that are typed there.

use std::io::{self, Write};

use del_tools::visible;

use super::Terminal;
use super::tty::{self, Asking};
use crate::screen::look;
use crate::{layout, terminal, wrap};

impl Terminal {
    /// Shows what is asked about.
    pub(super) fn show(&self, text: &str) -> io::Result<()> {
        let lines = layout::lines(text, terminal::size(&self.tty).0, self.paint);
        self.say(&format!("\n{}", lines.join("\n")))
    }

    /// Reads a line that is typed after the prompt is seen; `None` when the user wants to stop.
    pub(super) fn prompt(&self, prompt: &str) -> io::Result<Option<String>> {
        let _asking = Asking::begin(&self.tty)?;
        self.write(&format!("{} ", self.paint.bold(prompt)))?;
        self.line()
    }

    /// The line that is typed. What follows stands on a row of its own, also where Esc ended it.
    pub(super) fn line(&self) -> io::Result<Option<String>> {
        let line = tty::read_line(&self.tty)?;
        if line.as_ref().is_some_and(|line| line.ends_with('\u{1b}')) {
            self.say("")?;
        }
        Ok(line)
    }

    pub(super) fn write(&self, text: &str) -> io::Result<()> {
        let mut tty = &self.tty;
        if look::is_unicode() {
            tty.write_all(text.as_bytes())?;
        } else {
            tty.write_all(look::spelt_in_ascii(text).as_bytes())?;
        }
        tty.flush()
    }

    pub(super) fn say(&self, line: &str) -> io::Result<()> {
        self.write(&format!("{line}\n"))
    }

    pub(super) fn warn(&self, why: &str) -> io::Result<()> {
        let text = visible(&format!("! {why}")).into_owned();
        for row in wrap::rows(&text, terminal::size(&self.tty).0, "! ".len()).lines() {
            self.say(&self.paint.yellow(row))?;
        }
        Ok(())
    }

    /// Ends more than this call.
    pub(super) fn stop(&self) -> io::Result<()> {
        self.cancel.cancel();
        self.say("")
    }
}
