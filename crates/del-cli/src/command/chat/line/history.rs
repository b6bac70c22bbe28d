//! Questions of earlier conversations: those of this directory first, then the others.

use std::collections::HashSet;
use std::fs::{DirBuilder, OpenOptions};
use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use reedline::{FileBackedHistory, History as _, HistoryItem};

use crate::folders;
use crate::record::Store;
use crate::screen::pastes::Pastes;

/// Where they are kept: all in one file, and those of a directory in one of its own as well.
pub(super) struct History {
    all: PathBuf,
    here: PathBuf,
}

const REMEMBERED: usize = 1000;
/// Bytes of a line that is kept.
const LONGEST: usize = 64 << 10;

impl History {
    pub(super) fn find(directory: &Path) -> Option<Self> {
        let folder = folders::state()?;
        let here = folder.join("histories");
        DirBuilder::new().recursive(true).mode(0o700).create(&here).ok()?;
        Some(Self { all: folder.join("history"), here: here.join(Store::name_of(directory)) })
    }

    /// The lines, the nearest last; long ones as words, as when they were pasted.
    pub(super) fn lines(&self, pastes: &Pastes) -> Option<Box<FileBackedHistory>> {
        let here = read(&self.here);
        let nearer: HashSet<&String> = here.iter().collect();
        let mut lines = read(&self.all);
        lines.retain(|line| !nearer.contains(line));
        lines.extend(here);
        let mut history = FileBackedHistory::new(REMEMBERED).ok()?;
        for line in &lines[lines.len().saturating_sub(REMEMBERED)..] {
            history.save(HistoryItem::from_command_line(pastes.fold(line))).ok()?;
        }
        Some(Box::new(history))
    }

    /// Keeps a line, unless it is so long that reading it would hold up each start.
    pub(super) fn add(&mut self, line: &str) {
        if line.len() > LONGEST {
            return;
        }
        for path in [&self.all, &self.here] {
            let file = OpenOptions::new().append(true).create(true).mode(0o600).open(path);
            // The next conversation has to do without it.
            let _ = file.and_then(|mut file| writeln!(file, "{}", written(line)));
        }
    }
}

/// On one line.
fn written(line: &str) -> String {
    line.replace('\\', "\\\\").replace('\n', "\\n")
}

fn read(path: &Path) -> Vec<String> {
    let text =
        std::fs::read(path).map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default();
    // An earlier version began its file so.
    text.lines().filter(|line| *line != "#V2" && !line.is_empty()).map(unwritten).collect()
}

fn unwritten(line: &str) -> String {
    let mut out = String::with_capacity(line.len());
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        match (c, chars.clone().next()) {
            ('\\', Some('n')) => {
                chars.next();
                out.push('\n');
            }
            ('\\', Some('\\')) => {
                chars.next();
                out.push('\\');
            }
            _ => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_read_as_they_were_written() {
        for line in ["plain", "two\nlines", "a \\n b", "\\\\", "ends \\"] {
            assert_eq!(unwritten(&written(line)), line);
        }
    }
}
