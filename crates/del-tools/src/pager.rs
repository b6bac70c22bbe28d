//! Some lines of a text of any length, numbered, in bounded memory.

use std::io::{self, BufRead};

use crate::outcome::grouped;

/// Characters of a line that are shown.
const MAX_LINE_CHARS: usize = 2000;
/// Bytes that are looked through for the lines wanted.
const MAX_READ: u64 = 1 << 30;
/// Bytes that are counted for the number of lines.
const MAX_COUNTED: u64 = 64 << 20;

/// Which lines are wanted.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Range {
    /// Counted from 1.
    pub(crate) first: u64,
    pub(crate) lines: u64,
    /// Of the text that comes out.
    pub(crate) bytes: usize,
}

/// Lines, each with its number before it.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Page {
    /// `%6d` and a tab before each line; no newline at the end.
    pub(crate) text: String,
    /// The last line shown, or 0 when there was none.
    pub(crate) last: u64,
    /// Lines in the text.
    pub(crate) total: u64,
    /// Whether there are more lines than `total`.
    pub(crate) more: bool,
    /// Whether a line was cut.
    pub(crate) cut: bool,
    /// Whether bytes were no UTF-8.
    pub(crate) lossy: bool,
}

/// Reads the lines in `range` from `text` and counts the others, up to a bound.
pub(crate) fn page(text: &mut dyn BufRead, range: Range) -> io::Result<Page> {
    let mut page = Page::default();
    let mut lines = Lines { text, read: 0 };
    while page.total + 1 < range.first {
        if !lines.skip()? {
            return Ok(page);
        }
        page.total += 1;
    }
    let mut line = Line::default();
    while page.total < range.first.saturating_add(range.lines).saturating_sub(1) {
        if !lines.next(&mut line)? {
            return Ok(page);
        }
        let shown = line.numbered(page.total + 1);
        if !page.text.is_empty() && page.text.len() + shown.len() >= range.bytes {
            page.total += 1;
            break;
        }
        if !page.text.is_empty() {
            page.text.push('\n');
        }
        page.text.push_str(&shown);
        page.total += 1;
        page.last = page.total;
        page.cut |= line.is_cut();
        page.lossy |= line.lossy;
    }
    let (rest, more) = lines.count(MAX_COUNTED)?;
    page.total += rest;
    page.more = more;
    Ok(page)
}

struct Lines<'a> {
    text: &'a mut dyn BufRead,
    read: u64,
}

#[derive(Default)]
struct Line {
    kept: Vec<u8>,
    chars: u64,
    lossy: bool,
}

impl Lines<'_> {
    /// Reads a line into `line`; false at the end.
    fn next(&mut self, line: &mut Line) -> io::Result<bool> {
        line.kept.clear();
        (line.chars, line.lossy) = (0, false);
        self.piece(&mut |piece| line.take(piece))
    }

    /// Passes a line over; false at the end.
    fn skip(&mut self) -> io::Result<bool> {
        self.piece(&mut |_| ())
    }

    /// Counts the lines that are left, at most in `budget` bytes; true when there is more.
    fn count(&mut self, budget: u64) -> io::Result<(u64, bool)> {
        let (mut lines, mut within) = (0, false);
        let end = self.read + budget;
        loop {
            let buffer = self.text.fill_buf()?;
            let Some(last) = buffer.last() else { return Ok((lines + u64::from(within), false)) };
            if self.read >= end {
                return Ok((lines, true));
            }
            within = *last != b'\n';
            lines += memchr::memchr_iter(b'\n', buffer).count() as u64;
            let used = buffer.len();
            self.text.consume(used);
            self.read += used as u64;
        }
    }

    fn piece(&mut self, take: &mut dyn FnMut(&[u8])) -> io::Result<bool> {
        let mut any = false;
        loop {
            let buffer = match self.text.fill_buf() {
                Ok(buffer) => buffer,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            if buffer.is_empty() || self.read >= MAX_READ {
                return Ok(any);
            }
            any = true;
            let newline = memchr::memchr(b'\n', buffer);
            take(&buffer[..newline.unwrap_or(buffer.len())]);
            let used = newline.map_or(buffer.len(), |at| at + 1);
            self.text.consume(used);
            self.read += used as u64;
            if newline.is_some() {
                return Ok(true);
            }
        }
    }
}

impl Line {
    fn take(&mut self, piece: &[u8]) {
        self.chars += piece.iter().filter(|byte| (**byte & 0xc0) != 0x80).count() as u64;
        let room = (MAX_LINE_CHARS * 4 + 4).saturating_sub(self.kept.len());
        self.kept.extend_from_slice(&piece[..piece.len().min(room)]);
    }

    fn is_cut(&self) -> bool {
        self.chars > MAX_LINE_CHARS as u64
    }

    fn numbered(&mut self, number: u64) -> String {
        let text = String::from_utf8_lossy(&self.kept);
        if self.is_cut() {
            let end = text.char_indices().nth(MAX_LINE_CHARS).map_or(text.len(), |(at, _)| at);
            self.lossy = text[..end].contains(char::REPLACEMENT_CHARACTER);
            return format!("{number:>6}\t{}… [line truncated, {} chars]", &text[..end], grouped(self.chars));
        }
        self.lossy = matches!(text, std::borrow::Cow::Owned(_));
        format!("{number:>6}\t{}", text.strip_suffix('\r').unwrap_or(&text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str, first: u64, lines: u64) -> Page {
        page(&mut text.as_bytes(), Range { first, lines, bytes: 1000 }).unwrap()
    }

    #[test]
    fn lines_are_numbered_and_counted() {
        let page = lines("a\r\nb\nc", 1, 2);
        assert_eq!((page.text.as_str(), page.last, page.total), ("     1\ta\n     2\tb", 2, 3));
        let page = lines("a\nb\nc\n", 3, 5);
        assert_eq!((page.text.as_str(), page.last, page.total), ("     3\tc", 3, 3));
        let page = lines("a\n", 5, 5);
        assert_eq!((page.last, page.total), (0, 1));
        assert_eq!(lines("", 1, 1), Page::default());
        assert_eq!(lines("\n\n", 1, 9).text, "     1\t\n     2\t");
    }

    #[test]
    fn the_byte_limit_keeps_whole_lines() {
        let text = "0123456789\n".repeat(100);
        let page = lines(&text, 1, 2000);
        assert!(page.text.len() < 1000);
        assert_eq!(page.text.lines().count() as u64, page.last);
        assert_eq!(page.total, 100);
    }

    #[test]
    fn a_long_line_is_cut_and_measured() {
        let page = lines(&"ä".repeat(53_201), 1, 1);
        assert!(page.text.ends_with("… [line truncated, 53,201 chars]"));
        assert_eq!(page.text.matches('ä').count(), 2000);
        assert!(page.cut && !page.lossy);
    }

    #[test]
    fn broken_bytes_are_shown_and_said() {
        let page = page(&mut b"a\xffb\n".as_slice(), Range { first: 1, lines: 1, bytes: 1000 }).unwrap();
        assert_eq!((page.text.as_str(), page.lossy), ("     1\ta\u{fffd}b", true));
    }
}
