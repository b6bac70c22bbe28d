//! The output of a program, as a result shows it.

use std::path::PathBuf;

use crate::capture::{Cleaner, Spill, Window, elsewhere};
use crate::context::Context;
use crate::control::{Control, Progress};
use crate::process::Stream;

/// What a program writes.
pub(crate) struct Output<'a> {
    stdout: (Cleaner, Window),
    stderr: (Cleaner, Window),
    spill: Spill<'a>,
}

/// What of it fits.
pub(crate) struct Shown {
    pub(crate) text: String,
    /// Whether something is left out.
    pub(crate) cut: bool,
    /// Where all of it lies, if something is left out.
    pub(crate) file: Option<PathBuf>,
}

impl<'a> Output<'a> {
    pub(crate) fn new(context: &'a Context) -> Self {
        let chars = context.limits.command_chars;
        Self {
            stdout: (Cleaner::default(), Window::new(chars)),
            stderr: (Cleaner::default(), Window::new(chars)),
            spill: Spill::new(&context.workspace, chars),
        }
    }

    /// Takes what a program writes, as it comes, and reports it.
    pub(crate) fn take(&mut self, stream: Stream, bytes: &[u8], control: &Control<'_>) {
        let (cleaner, window) = match stream {
            Stream::Stdout => &mut self.stdout,
            Stream::Stderr => &mut self.stderr,
        };
        let text = cleaner.push(bytes);
        if !text.is_empty() {
            window.push(&text);
            self.spill.push(&text);
            control.report(Progress::Output(&text));
        }
    }

    /// Reports what stands on lines that the program has not ended.
    pub(crate) fn finish(&mut self, control: &Control<'_>) {
        for (cleaner, window) in [&mut self.stdout, &mut self.stderr] {
            let rest = cleaner.finish();
            if !rest.is_empty() {
                window.push(&rest);
                self.spill.push(&rest);
                control.report(Progress::Output(&rest));
            }
        }
    }

    /// The output as a result shows it; `named` says before each stream which it is.
    pub(crate) fn show(mut self, context: &Context, named: bool) -> Shown {
        for (cleaner, window) in [&mut self.stdout, &mut self.stderr] {
            let rest = cleaner.finish();
            window.push(&rest);
            self.spill.push(&rest);
        }
        let chars = context.limits.command_chars;
        let (out, err) = (self.stdout.1.chars(), self.stderr.1.chars());
        let cut = out.saturating_add(err) > chars;
        // Errors get a third at least, and whatever the output leaves.
        let for_err = if cut { err.min((chars / 3).max(chars.saturating_sub(out))) } else { chars };
        let for_out = if cut { chars - for_err } else { chars };
        let file = self.spill.finish().filter(|_| cut);
        let rest = file.as_ref().map_or_else(String::new, |(path, complete)| {
            elsewhere(path, *complete, context.name_of("read_file"), context.name_of("search_code"))
        });
        let mut blocks = Vec::new();
        for (name, window, chars) in
            [("STDOUT", &self.stdout.1, for_out), ("STDERR", &self.stderr.1, for_err)]
        {
            if !window.is_empty() {
                let text = window.show(chars, &rest);
                blocks.push(if named { format!("{name}:\n{text}") } else { text });
            }
        }
        let text = if blocks.is_empty() {
            "(no output)".to_owned()
        } else {
            blocks.join(if named { "\n\n" } else { "\n" })
        };
        Shown { text, cut, file: file.map(|(path, _)| path) }
    }
}
