//! Words in rows. What is written is never written again: a word goes out when it is whole and its row is known.

use std::fmt::Write;

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// How characters look; several at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Style(u8);

impl Style {
    pub(super) const PLAIN: Self = Self(0);
    pub(super) const BOLD: Self = Self(1);
    pub(super) const ITALIC: Self = Self(2);
    pub(super) const STRUCK: Self = Self(4);
    pub(super) const CODE: Self = Self(8);
    pub(super) const DIM: Self = Self(16);
    pub(super) const UNDERLINED: Self = Self(32);

    const CODES: [(Self, &'static str); 6] = [
        (Self::BOLD, "1"),
        (Self::DIM, "2"),
        (Self::ITALIC, "3"),
        (Self::UNDERLINED, "4"),
        (Self::STRUCK, "9"),
        (Self::CODE, "36"),
    ];

    pub(super) const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    pub(super) const fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// The escape that makes text look so, whatever it looked like before.
    fn escape(self) -> String {
        let mut escape = "\u{1b}[0".to_owned();
        for (_, code) in Self::CODES.into_iter().filter(|(style, _)| self.has(*style)) {
            // Writing to a string cannot fail.
            let _ = write!(escape, ";{code}");
        }
        escape.push('m');
        escape
    }
}

/// Fills rows with words.
#[derive(Debug)]
pub(super) struct Flow {
    width: usize,
    colour: bool,
    /// What begins the rows after the first, and how it looks.
    indent: String,
    indented: Style,
    /// Columns that are used in the row, and how many of them before its first word.
    column: usize,
    start: usize,
    /// Spaces before the next word, if it fits.
    gap: usize,
    word: Vec<(char, Style)>,
    /// How what was written last looks.
    written: Style,
    out: String,
}

impl Flow {
    pub(super) fn new(width: usize, colour: bool) -> Self {
        Self {
            width,
            colour,
            indent: String::new(),
            indented: Style::PLAIN,
            column: 0,
            start: 0,
            gap: 0,
            word: Vec::new(),
            written: Style::PLAIN,
            out: String::new(),
        }
    }

    pub(super) fn is_coloured(&self) -> bool {
        self.colour
    }

    pub(super) fn width(&self) -> usize {
        self.width
    }

    /// Rows are so wide from now on.
    pub(super) fn resize(&mut self, width: usize) {
        self.width = width;
    }

    /// Begins a row with this, and the rows that it goes on in with `indent`, in the same style.
    pub(super) fn begin(&mut self, head: &str, style: Style, indent: String) {
        self.style(style);
        self.out.push_str(head);
        self.style(Style::PLAIN);
        self.column = head.width();
        self.start = self.column;
        self.indent = indent;
        self.indented = style;
    }

    pub(super) fn push(&mut self, c: char, style: Style) {
        if c == ' ' || c == '\t' {
            self.end_word();
            self.gap += 1;
            return;
        }
        // Where words are not told apart by spaces, a row may end anywhere but before a closing sign.
        let apart = is_ideograph(c) || self.word.last().is_some_and(|(last, _)| is_ideograph(*last));
        if apart && !closes(c) {
            self.end_word();
        }
        self.word.push((c, style));
    }

    pub(super) fn text(&mut self, text: &str, style: Style) {
        text.chars().for_each(|c| self.push(c, style));
    }

    /// A line as it is, and the row is over.
    pub(super) fn line(&mut self, line: &str) {
        self.out.push_str(line);
        self.end_row();
    }

    /// Ends the row, if one was begun or not.
    pub(super) fn end_row(&mut self) {
        self.end_word();
        self.style(Style::PLAIN);
        self.out.push('\n');
        (self.column, self.start, self.gap) = (0, 0, 0);
        self.indent.clear();
    }

    /// What there is to write.
    pub(super) fn take(&mut self) -> String {
        std::mem::take(&mut self.out)
    }

    pub(super) fn end_word(&mut self) {
        if self.word.is_empty() {
            return;
        }
        let word = std::mem::take(&mut self.word);
        let wide = word.iter().map(|(c, _)| *c).collect::<String>().width();
        if self.column + self.gap + wide > self.width && self.column > self.start {
            self.go_on();
        } else {
            let space = word.first().map_or(Style::PLAIN, |(_, style)| *style);
            // A line under words is under the space between them as well.
            if self.written != space {
                self.style(Style::PLAIN);
            }
            self.out.extend(std::iter::repeat_n(' ', self.gap));
            self.column += self.gap;
        }
        self.gap = 0;
        if self.column + wide > self.width {
            return word.into_iter().for_each(|(c, style)| self.letter(c, style));
        }
        for (c, style) in word {
            self.style(style);
            self.out.push(c);
        }
        // Characters that join are less wide than they are one by one.
        self.column += wide;
    }

    /// A character of a word that is longer than a row, and goes on in the next.
    fn letter(&mut self, c: char, style: Style) {
        let wide = c.width().unwrap_or(0);
        if self.column + wide > self.width {
            self.go_on();
        }
        self.style(style);
        self.out.push(c);
        self.column += wide;
    }

    /// Goes on in the next row.
    fn go_on(&mut self) {
        self.style(Style::PLAIN);
        self.out.push('\n');
        if !self.indent.is_empty() {
            self.style(self.indented);
            self.out.push_str(&self.indent);
            self.style(Style::PLAIN);
        }
        self.column = self.indent.width();
        self.start = self.column;
    }

    fn style(&mut self, style: Style) {
        if self.written != style {
            self.written = style;
            if self.colour {
                self.out.push_str(&if style == Style::PLAIN {
                    "\u{1b}[0m".to_owned()
                } else {
                    style.escape()
                });
            }
        }
    }
}

/// Written without spaces between words.
fn is_ideograph(c: char) -> bool {
    matches!(c, '\u{2e80}'..='\u{a4cf}' | '\u{f900}'..='\u{faff}' | '\u{ff00}'..='\u{ff60}' | '\u{20000}'..='\u{3fffd}')
}

/// Never begins a row.
fn closes(c: char) -> bool {
    matches!(
        c,
        '。' | '、'
            | '，'
            | '．'
            | '）'
            | '」'
            | '』'
            | '】'
            | '》'
            | '！'
            | '？'
            | '：'
            | '；'
            | 'ー'
            | '々'
    ) || c.is_ascii_punctuation()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(text: &str, width: usize) -> String {
        let mut flow = Flow::new(width, false);
        flow.begin("", Style::PLAIN, "  ".to_owned());
        flow.text(text, Style::PLAIN);
        flow.end_row();
        flow.take()
    }

    #[test]
    fn words_are_not_broken_unless_they_are_longer_than_a_row() {
        assert_eq!(rows("one two three four", 9), "one two\n  three\n  four\n");
        assert_eq!(rows("see /a/very/long/path here", 10), "see\n  /a/very/\n  long/pat\n  h here\n");
    }

    #[test]
    fn wide_characters_and_emoji_are_measured() {
        assert_eq!(rows("日本語日本語。", 8), "日本語日\n  本語。\n");
        // What closes stays with what it closes.
        assert_eq!(rows("日本語。", 6), "日本\n  語。\n");
        assert_eq!(rows("👩‍💻 ok", 5), "👩‍💻 ok\n");
        assert_eq!(rows("👍 👍 👍", 6), "👍 👍\n  👍\n");
    }
}
