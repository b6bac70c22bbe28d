//! Matches of a search, written as they are found.

use std::io;
use std::time::Instant;

use grep_matcher::Matcher;
use grep_regex::RegexMatcher;
use grep_searcher::{Searcher, Sink, SinkContext, SinkContextKind, SinkMatch};

/// Characters of a line that are shown.
const MAX_LINE_CHARS: usize = 500;

/// How matches are shown.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Style {
    /// Lines around a match; with any, matches come in blocks under their file.
    pub(crate) context: usize,
    pub(crate) limit: usize,
    /// Bytes of text.
    pub(crate) room: usize,
}

/// The matches so far.
#[derive(Debug)]
pub(crate) struct Hits {
    style: Style,
    deadline: Instant,
    found: Found,
}

/// What was found.
#[derive(Debug, Default)]
pub(crate) struct Found {
    pub(crate) text: String,
    pub(crate) matches: usize,
    pub(crate) files: usize,
    /// Whether there is more than `text` shows.
    pub(crate) more: bool,
}

/// Takes the matches of one file.
pub(crate) struct InFile<'a> {
    hits: &'a mut Hits,
    path: &'a str,
    matcher: &'a RegexMatcher,
    /// Whether the file's name stands above its block.
    headed: bool,
    /// Whether the file is counted.
    counted: bool,
    /// Whether lines were left out since the last one.
    gap: bool,
}

impl Hits {
    pub(crate) fn new(style: Style, deadline: Instant) -> Self {
        Self { style, deadline, found: Found::default() }
    }

    /// The sink for the file at `path`.
    pub(crate) fn in_file<'a>(&'a mut self, path: &'a str, matcher: &'a RegexMatcher) -> InFile<'a> {
        InFile { hits: self, path, matcher, headed: false, counted: false, gap: false }
    }

    /// Whether nothing more is wanted.
    pub(crate) fn is_full(&self) -> bool {
        self.found.more
    }

    /// Whether the time is over.
    pub(crate) fn is_late(&self) -> bool {
        Instant::now() > self.deadline
    }

    /// A file and how many matches are in it, on the line `shown`.
    pub(crate) fn file(&mut self, shown: &str, matches: usize) {
        if self.found.files >= self.style.limit {
            self.found.more = true;
        } else if self.push(shown) {
            self.found.files += 1;
            self.found.matches += matches;
        }
    }

    pub(crate) fn finish(self) -> Found {
        self.found
    }

    fn push(&mut self, line: &str) -> bool {
        if self.found.text.len() + line.len() + 1 > self.style.room && !self.found.text.is_empty() {
            self.found.more = true;
            return false;
        }
        if !self.found.text.is_empty() {
            self.found.text.push('\n');
        }
        self.found.text.push_str(line);
        true
    }
}

impl InFile<'_> {
    /// Writes a line of a block, with the file's name above the first.
    fn block(&mut self, line: &str) -> bool {
        if !self.headed {
            self.headed = true;
            let blank = if self.hits.found.text.is_empty() { "" } else { "\n" };
            if !self.hits.push(&format!("{blank}{}:", self.path)) {
                return false;
            }
        } else if self.gap && !self.hits.push("--") {
            return false;
        }
        self.gap = false;
        self.hits.push(line)
    }

    /// Whether the limit is reached; if so there is more than is shown.
    fn is_over(&mut self) -> bool {
        let over = self.hits.found.matches >= self.hits.style.limit;
        self.hits.found.more |= over;
        over
    }

    fn around(&self, line: &[u8]) -> String {
        let line = String::from_utf8_lossy(line);
        let line = line.trim_end_matches(['\n', '\r']);
        if line.len() <= MAX_LINE_CHARS {
            return line.to_owned();
        }
        let hit = self.matcher.find(line.as_bytes()).ok().flatten().map_or(0, |m| m.start());
        excerpt(line, hit)
    }
}

/// 500 characters of `line` around the byte `hit`.
pub(crate) fn excerpt(line: &str, hit: usize) -> String {
    let total = line.chars().count();
    if total <= MAX_LINE_CHARS {
        return line.to_owned();
    }
    let before = line.char_indices().take_while(|(at, _)| *at < hit).count();
    let first = before.saturating_sub(MAX_LINE_CHARS / 4).min(total - MAX_LINE_CHARS);
    let shown: String = line.chars().skip(first).take(MAX_LINE_CHARS).collect();
    let start = if first > 0 { "…" } else { "" };
    let end = if first + MAX_LINE_CHARS < total { "…" } else { "" };
    format!("{start}{shown}{end}")
}

impl Sink for InFile<'_> {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, found: &SinkMatch<'_>) -> io::Result<bool> {
        if self.is_over() {
            return Ok(false);
        }
        let number = found.line_number().unwrap_or_default();
        let line = self.around(found.bytes());
        let shown = if self.hits.style.context == 0 {
            self.hits.push(&format!("{}:{number}: {line}", self.path))
        } else {
            self.block(&format!("> {number}: {line}"))
        };
        if !shown {
            return Ok(false);
        }
        self.hits.found.matches += 1;
        self.hits.found.files += usize::from(!self.counted);
        self.counted = true;
        Ok(!self.hits.is_late())
    }

    fn context(&mut self, _: &Searcher, near: &SinkContext<'_>) -> io::Result<bool> {
        // Lines before a match come only when a match follows.
        if *near.kind() == SinkContextKind::Before && self.is_over() {
            return Ok(false);
        }
        let number = near.line_number().unwrap_or_default();
        let line = self.around(near.bytes());
        Ok(self.block(&format!("  {number}: {line}")))
    }

    fn context_break(&mut self, _: &Searcher) -> io::Result<bool> {
        self.gap = true;
        Ok(true)
    }
}

/// Counts the lines that match.
#[derive(Debug, Default)]
pub(crate) struct Counter(pub(crate) usize);

impl Sink for Counter {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, _: &SinkMatch<'_>) -> io::Result<bool> {
        self.0 += 1;
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_line_is_cut_around_the_hit() {
        let line = format!("{}NEEDLE{}", "ä".repeat(1000), "b".repeat(1000));
        let shown = excerpt(&line, line.find("NEEDLE").unwrap());
        assert!(shown.contains("NEEDLE") && shown.starts_with('…') && shown.ends_with('…'));
        assert_eq!(shown.chars().count(), MAX_LINE_CHARS + 2);
        assert_eq!(excerpt("short", 0), "short");
    }
}
