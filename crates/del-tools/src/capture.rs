//! The output of a command: what a terminal would show, its beginning and its end, and all of it in a file.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

use crate::outcome::{counted, sized};
use crate::workspace::Workspace;

/// More than this of one command's output is not kept, not even in a file.
const MAX_FILE: u64 = 64 << 20;
/// A line longer than this is passed on before it ends.
const MAX_LINE: usize = 64 * 1024;
/// Ends whatever a terminal is in the middle of.
const CANCEL: u8 = 0x18;

/// Turns what a program writes to a terminal into the text that a person would be left with: escapes gone, and of a
/// line that was written over only the last state.
#[derive(Default)]
pub(crate) struct Cleaner {
    parser: vte::Parser,
    screen: Screen,
    /// Whether the parser may be in the middle of something.
    busy: bool,
}

#[derive(Default)]
struct Screen {
    done: String,
    line: String,
    /// The line is written from its start again.
    rewound: bool,
}

impl Cleaner {
    /// Takes bytes as they come and returns the text that is final.
    pub(crate) fn push(&mut self, bytes: &[u8]) -> String {
        let plain = |byte: &u8| matches!(byte, b' '..=b'~' | b'\n' | b'\t');
        if !self.busy
            && !self.screen.rewound
            && bytes.iter().all(plain)
            && let Ok(text) = std::str::from_utf8(bytes)
        {
            self.screen.plain(text);
        } else {
            self.escaped(bytes);
        }
        std::mem::take(&mut self.screen.done)
    }

    /// Takes bytes with escapes or broken characters among them. The end of a line ends these, too: in the bytes of an
    /// image, say, a title may begin that never ends, and what comes behind the image must not be lost with it.
    fn escaped(&mut self, bytes: &[u8]) {
        for line in bytes.split_inclusive(|byte| *byte == b'\n') {
            let text = line.strip_suffix(b"\n");
            let rest = text.unwrap_or(line);
            self.parser.advance(&mut self.screen, rest);
            self.busy |= rest.iter().any(|byte| *byte == 0x1b || *byte >= 0x80);
            if text.is_some() {
                self.parser.advance(&mut self.screen, &[CANCEL, b'\n']);
                self.busy = false;
            }
        }
    }

    /// What is left at the end.
    pub(crate) fn finish(&mut self) -> String {
        self.parser.advance(&mut self.screen, &[CANCEL]);
        self.screen.commit();
        std::mem::take(&mut self.screen.done)
    }
}

impl Screen {
    fn plain(&mut self, text: &str) {
        match text.rfind('\n') {
            Some(at) => {
                self.commit();
                self.done.push_str(&text[..=at]);
                self.line.push_str(&text[at + 1..]);
            }
            None => self.line.push_str(text),
        }
        self.bound();
    }

    fn commit(&mut self) {
        self.done.push_str(&self.line);
        self.line.clear();
        self.rewound = false;
    }

    fn bound(&mut self) {
        if self.line.len() > MAX_LINE {
            self.commit();
        }
    }
}

impl vte::Perform for Screen {
    fn print(&mut self, c: char) {
        if c.is_control() {
            return;
        }
        if std::mem::take(&mut self.rewound) {
            self.line.clear();
        }
        self.line.push(c);
        self.bound();
    }

    fn execute(&mut self, byte: u8) {
        match byte {
            b'\n' => {
                self.commit();
                self.done.push('\n');
            }
            b'\t' => self.print_tab(),
            b'\r' => self.rewound = true,
            8 => drop(self.line.pop()),
            _ => {}
        }
    }
}

impl Screen {
    fn print_tab(&mut self) {
        if std::mem::take(&mut self.rewound) {
            self.line.clear();
        }
        self.line.push('\t');
    }
}

/// The beginning and the end of a text of any length.
#[derive(Debug, Default)]
pub(crate) struct Window {
    /// Bytes kept at each end.
    keep: usize,
    head: String,
    tail: String,
    bytes: u64,
    lines: u64,
}

impl Window {
    /// A window that can show `chars` characters.
    pub(crate) fn new(chars: usize) -> Self {
        Self { keep: chars * 4, ..Self::default() }
    }

    pub(crate) fn push(&mut self, text: &str) {
        self.bytes += text.len() as u64;
        self.lines += newlines(text);
        let mut split = self.keep.saturating_sub(self.head.len()).min(text.len());
        if !self.tail.is_empty() {
            split = 0;
        }
        while !text.is_char_boundary(split) {
            split -= 1;
        }
        self.head.push_str(&text[..split]);
        self.tail.push_str(&text[split..]);
        if self.tail.len() > 2 * self.keep {
            let mut cut = self.tail.len() - self.keep;
            while !self.tail.is_char_boundary(cut) {
                cut += 1;
            }
            self.tail.drain(..cut);
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.bytes == 0
    }

    /// How many characters it would take to show everything; more than `chars` when not everything is kept.
    pub(crate) fn chars(&self) -> usize {
        if self.is_whole() { self.head.chars().count() + self.tail.chars().count() } else { usize::MAX }
    }

    fn is_whole(&self) -> bool {
        self.bytes == (self.head.len() + self.tail.len()) as u64
    }

    /// At most `chars` characters: all, or a third from the beginning and the rest from the end, in whole lines where
    /// there are lines. `rest` says where the rest is.
    pub(crate) fn show(&self, chars: usize, rest: &str) -> String {
        if self.chars() <= chars {
            return format!("{}{}", self.head, self.tail).trim_end_matches('\n').to_owned();
        }
        let (all, head, tail);
        (head, tail) = if self.is_whole() {
            all = format!("{}{}", self.head, self.tail);
            (all.as_str(), all.as_str())
        } else {
            (self.head.as_str(), self.tail.as_str())
        };
        let head = first_chars(head, chars / 3);
        let tail = last_chars(tail, chars - chars / 3);
        let omitted = self.bytes - (head.len() + tail.len()) as u64;
        let lines = self.lines.saturating_sub(newlines(head) + newlines(tail));
        let tail = tail.trim_end_matches('\n');
        let line_end = if head.ends_with('\n') || head.is_empty() { "" } else { "\n" };
        format!(
            "{head}{line_end}... [{}, {} omitted{rest}] ...\n{tail}",
            counted(lines, "line"),
            counted(omitted, "byte")
        )
    }
}

fn newlines(text: &str) -> u64 {
    memchr::memchr_iter(b'\n', text.as_bytes()).count() as u64
}

fn first_chars(text: &str, chars: usize) -> &str {
    let end = text.char_indices().nth(chars).map_or(text.len(), |(at, _)| at);
    let text = &text[..end];
    match text.rfind('\n') {
        Some(at) if at > end / 2 => &text[..=at],
        _ => text,
    }
}

fn last_chars(text: &str, chars: usize) -> &str {
    let start = text.char_indices().rev().nth(chars.saturating_sub(1)).map_or(0, |(at, _)| at);
    let text = &text[start..];
    match text.find('\n') {
        Some(at) if at < text.len() / 2 => &text[at + 1..],
        _ => text,
    }
}

/// All of a text in a file, once it is too long to show.
#[derive(Debug)]
pub(crate) struct Spill<'a> {
    workspace: Option<&'a Workspace>,
    above: usize,
    pending: String,
    file: Option<(File, PathBuf)>,
    written: u64,
}

impl<'a> Spill<'a> {
    /// Writes to a file on the workspace's shelf what is longer than `above` bytes.
    pub(crate) fn new(workspace: &'a Workspace, above: usize) -> Self {
        Self { workspace: Some(workspace), above, pending: String::new(), file: None, written: 0 }
    }

    pub(crate) fn push(&mut self, text: &str) {
        let Some(workspace) = self.workspace else { return };
        self.pending.push_str(text);
        if self.file.is_none() && self.pending.len() > self.above {
            let mut builder = tempfile::Builder::new();
            builder.prefix("output-").suffix(".txt");
            self.file = workspace.shelf().and_then(|shelf| builder.tempfile_in(shelf).ok()?.keep().ok());
            self.workspace = self.file.as_ref().map(|_| workspace);
        }
        if let Some((file, _)) = &mut self.file {
            let room = usize::try_from(MAX_FILE - self.written).unwrap_or(usize::MAX).min(self.pending.len());
            // A full disk costs the rest of the file, not the result.
            if file.write_all(&self.pending.as_bytes()[..room]).is_ok() {
                self.written += room as u64;
            }
            self.pending.clear();
        }
    }

    /// The file, and whether it holds everything.
    pub(crate) fn finish(self) -> Option<(PathBuf, bool)> {
        let complete = self.written < MAX_FILE;
        self.file.map(|(_, path)| (path, complete))
    }
}

/// What to say of where the rest of a text is.
pub(crate) fn elsewhere(path: &Path, complete: bool, read: &str, search: &str) -> String {
    let what = if complete { "full output".to_owned() } else { format!("first {}", sized(MAX_FILE)) };
    format!("; {what}: {} — use {read} with offset/limit or {search}", path.display())
}

#[cfg(test)]
#[path = "capture_tests.rs"]
mod tests;
