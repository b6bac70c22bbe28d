//! Markdown as a model streams it.
//!
//! What is written is final: no row is written twice, so nothing flickers, a pipe and a screen reader get the same as a
//! terminal, and what is written costs little more than what came. A word waits for its end, a span for its closing
//! mark, a line of code and a table for theirs; all else goes out at once. That is why this reads Markdown itself: the
//! parsers there are want a whole text, and would have to be asked, and all be drawn, anew for every token.

mod code;
mod flow;
mod head;
mod inline;
mod table;

use code::Colours;
use flow::{Flow, Style};
use head::{Head, Whole, below, head, in_words};
use inline::Inline;
use table::Table;

/// Lays Markdown out in rows, as it comes. The text has to be safe to show.
#[derive(Debug)]
pub(crate) struct Markdown {
    flow: Flow,
    inline: Inline,
    state: State,
    /// A line, or its beginning, that is not written yet.
    line: String,
    table: Table,
    /// Empty lines came, and something follows.
    gap: bool,
    /// Something was written.
    begun: bool,
}

#[derive(Debug)]
enum State {
    /// What kind of line begins is not known yet.
    Start,
    /// In a line of text.
    Text,
    /// Lines that are taken whole.
    Line(Whole),
    /// Between fences.
    Code { fence: char, length: usize, colours: Colours },
}

impl Markdown {
    /// Rows of at most `width` columns.
    pub(crate) fn new(width: usize, colour: bool) -> Self {
        Self {
            flow: Flow::new(width, colour),
            inline: Inline::default(),
            state: State::Start,
            line: String::new(),
            table: Table::default(),
            gap: false,
            begun: false,
        }
    }

    /// The same for somebody who hears it.
    pub(crate) fn spoken(mut self, spoken: bool) -> Self {
        self.table.spoken = spoken;
        self
    }

    /// Rows have so many columns from now on, also the one that is being written.
    pub(crate) fn resize(&mut self, width: usize) {
        self.flow.resize(width);
    }

    /// Tables may have so many columns, where that is more.
    pub(crate) fn give_tables(&mut self, columns: usize) {
        self.table.room = columns;
    }

    /// What can be written now that this came.
    pub(crate) fn push(&mut self, text: &str) -> String {
        text.chars().for_each(|c| self.character(c));
        self.flow.take()
    }

    /// The rest. What follows begins anew.
    pub(crate) fn finish(&mut self) -> String {
        if matches!(self.state, State::Start) && !self.line.is_empty() {
            self.text_line();
        }
        match self.state {
            State::Text => self.end_text(),
            State::Line(whole) => self.whole(whole),
            State::Code { .. } if !self.line.is_empty() => self.code_line(),
            State::Start | State::Code { .. } => {}
        }
        self.state = State::Start;
        self.table.write(&mut self.flow);
        (self.gap, self.begun) = (false, false);
        self.line.clear();
        self.flow.take()
    }

    /// Whether a block waits for its end, which may take a while.
    pub(crate) fn holds_table(&self) -> bool {
        !self.table.is_empty()
    }

    fn character(&mut self, c: char) {
        match &self.state {
            State::Text if c == '\n' => {
                self.end_text();
                self.state = State::Start;
            }
            State::Text => self.inline.push(c, &mut self.flow),
            State::Line(whole) if c == '\n' => {
                let whole = *whole;
                self.state = State::Start;
                self.whole(whole);
            }
            State::Code { .. } if c == '\n' => self.code_line(),
            State::Line(_) | State::Code { .. } => self.line.push(c),
            State::Start => {
                self.line.push(c);
                self.start();
            }
        }
    }

    /// Finds out what the line is that has begun.
    fn start(&mut self) {
        match head(&self.line, self.flow.is_coloured()) {
            Head::Unknown => {}
            Head::Blank => {
                self.table.write(&mut self.flow);
                self.line.clear();
                self.gap = self.begun;
            }
            Head::Whole(whole) => {
                if whole != Whole::Row {
                    self.table.write(&mut self.flow);
                }
                self.state = State::Line(whole);
                if self.line.ends_with('\n') {
                    self.line.pop();
                    self.state = State::Start;
                    self.whole(whole);
                }
            }
            Head::Text { taken, mark, dim, style } => {
                self.begin_block();
                let spoken = self.table.spoken;
                let mark = if spoken { in_words(&mark) } else { mark };
                let indent = below(&mark, spoken);
                self.flow.begin(&mark, if dim { Style::DIM } else { Style::PLAIN }, indent);
                self.inline.begin(style);
                self.state = State::Text;
                let line = std::mem::take(&mut self.line);
                line[taken..].chars().for_each(|c| self.character(c));
            }
        }
    }

    /// The line is text, whatever it begins with.
    fn text_line(&mut self) {
        self.begin_block();
        let line = std::mem::take(&mut self.line);
        self.flow.begin("", Style::PLAIN, String::new());
        self.inline.begin(Style::PLAIN);
        self.state = State::Text;
        line.chars().for_each(|c| self.inline.push(c, &mut self.flow));
    }

    fn begin_block(&mut self) {
        self.table.write(&mut self.flow);
        if std::mem::take(&mut self.gap) {
            self.flow.end_row();
        }
        self.begun = true;
    }

    fn end_text(&mut self) {
        self.inline.end(&mut self.flow);
        self.flow.end_row();
    }

    /// A line that was taken whole is there.
    fn whole(&mut self, whole: Whole) {
        let line = std::mem::take(&mut self.line);
        let line = line.trim_end();
        match whole {
            Whole::Row => {
                if self.table.is_empty() {
                    self.begin_block();
                }
                self.table.push(line);
            }
            // Nobody wants to hear forty lines.
            Whole::Rule if self.table.spoken => self.begin_block(),
            Whole::Rule => {
                self.begin_block();
                let width = self.flow.width().min(40);
                self.flow.begin(&"─".repeat(width), Style::DIM, String::new());
                self.flow.end_row();
            }
            Whole::Fence => {
                self.begin_block();
                let inner = line.trim_start();
                let fence = inner.chars().next().unwrap_or('`');
                let length = inner.chars().take_while(|c| *c == fence).count();
                let colours = Colours::new(inner.trim_start_matches(fence).trim());
                self.dim_line(line);
                self.state = State::Code { fence, length, colours };
            }
        }
    }

    fn code_line(&mut self) {
        let line = std::mem::take(&mut self.line);
        let State::Code { fence, length, colours } = &mut self.state else { return };
        let end = line.trim();
        if end.len() >= *length && end.chars().all(|c| c == *fence) {
            self.state = State::Start;
            return self.dim_line(&line);
        }
        let coloured = if self.flow.is_coloured() { colours.line(&line) } else { line };
        self.flow.line(&coloured);
    }

    fn dim_line(&mut self, line: &str) {
        self.flow.begin(line, Style::DIM, String::new());
        self.flow.end_row();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "# Title\n\nSome **bold** words with `code in it` and a [link](https://x.y) that go on for a while.\n\
        \n\n- one\n- two with more words than fit into a row of this width, surely\n  - inner\n- [x] done\n- [ ] [to do]\n- [xy] none\n1. first\n2) second\n\n\
        ```rust\nlet x = 1; // a comment\n\n    indented\n```\n\n| Name | Count |\n|:-----|------:|\n| `a` | 1 |\n| long name here | 22 |\n\n\
        > quoted text\n\n---\nend 日本語 👍";

    fn whole(text: &str, width: usize, colour: bool) -> String {
        let mut markdown = Markdown::new(width, colour);
        markdown.push(text) + &markdown.finish()
    }

    #[test]
    fn a_table_takes_the_room_that_there_is_and_text_behind_it_does_not() {
        let cell = "value of a column";
        let row = format!("| {} |\n", [cell; 4].join(" | "));
        let text = format!("{row}|---|---|---|---|\n{row}\n{}\n", "word ".repeat(20));
        let mut markdown = Markdown::new(40, false);
        markdown.give_tables(100);
        let rows = markdown.push(&text) + &markdown.finish();
        assert!(rows.starts_with(&[cell; 4].join(" │ ")), "{rows}");
        let behind = rows.split("\n\n").nth(1).unwrap();
        assert!(behind.lines().all(|row| row.chars().count() <= 40), "{rows}");
    }

    #[test]
    fn how_it_is_cut_cannot_show() {
        for (width, colour) in [(40, true), (40, false), (100, true)] {
            let expected = whole(TEXT, width, colour);
            for size in 1..40 {
                let mut markdown = Markdown::new(width, colour);
                let chars: Vec<char> = TEXT.chars().collect();
                let mut out: String = chars
                    .chunks(size)
                    .map(|piece| markdown.push(&piece.iter().collect::<String>()))
                    .collect();
                out.push_str(&markdown.finish());
                assert_eq!(out, expected, "{size}");
            }
        }
    }

    #[test]
    fn blocks_are_laid_out() {
        let shown = whole(TEXT, 40, false);
        let expected = "# Title\n\nSome **bold** words with `code in it`\nand a [link](https://x.y) that go on for\na while.\n\n\
            • one\n• two with more words than fit into a\n  row of this width, surely\n  • inner\n☑ done\n☐ [to do]\n• [xy] none\n1. first\n2) second\n\n\
            ```rust\nlet x = 1; // a comment\n\n    indented\n```\n\n\
            Name           │ Count\n───────────────┼──────\n`a`            │     1\nlong name here │    22\n\n\
            │ quoted text\n\n────────────────────────────────────────\nend 日本語 👍\n";
        assert_eq!(shown, expected);
    }

    #[test]
    fn what_follows_the_end_begins_anew_wherever_that_came() {
        let end = [
            "text",
            "```",
            "```rust",
            "```\ncode",
            "- item",
            "| a | b |\n|---|---|",
            "---",
            "> quote",
            "> - item in a quote",
            "> > quote",
            "**a",
        ];
        for end in end {
            let mut markdown = Markdown::new(40, true);
            markdown.push(end);
            markdown.finish();
            assert_eq!(markdown.push("**b**") + &markdown.finish(), whole("**b**", 40, true), "{end}");
        }
    }

    #[test]
    fn what_stands_in_a_quote_is_laid_out_in_it() {
        let text = "> one\n> > two and more words than fit\n> - three and more words than fit\n>\n> 1. four\n> ```\n> x = 1\n";
        let expected = "│ one\n│ │ two and more\n│ │ words than fit\n│ • three and more\n│   words than fit\n│ \n│ 1. four\n│ ```\n│ x = 1\n";
        for size in 1..20 {
            let mut markdown = Markdown::new(18, false);
            let chars: Vec<char> = text.chars().collect();
            let mut out: String =
                chars.chunks(size).map(|piece| markdown.push(&piece.iter().collect::<String>())).collect();
            out.push_str(&markdown.finish());
            assert_eq!(out, expected, "{size}");
        }
    }

    #[test]
    fn a_table_with_more_columns_than_fit_is_told_as_it_is_heard() {
        let row = |cell: &str| format!("|{}\n", format!(" {cell} |").repeat(6));
        let table = row("a long name") + &row("---") + &row("a value");
        let shown = whole(&table, 40, false);
        assert!(shown.starts_with("Table: a long name, a long name"), "{shown}");
        assert!(shown.contains("a long name: a value; a long name:"), "{shown}");
        assert!(shown.lines().all(|line| line.len() <= 40), "{shown}");
        assert!(whole(&table, 60, false).contains('│'));
    }

    #[test]
    fn a_table_that_is_heard_names_its_columns_in_each_row() {
        let mut markdown = Markdown::new(40, false).spoken(true);
        let shown = markdown.push("| Name | Count |\n|---|--:|\n| `a` | 1 |\n| b | |\n") + &markdown.finish();
        assert_eq!(shown, "Table: Name, Count\nName: `a`; Count: 1\nName: b\n");
    }

    #[test]
    fn signs_that_are_heard_are_words() {
        let mut markdown = Markdown::new(24, false).spoken(true);
        let text = "> quoted text in two rows\n\n---\n- [x] one\n- [ ] two\n- three\n";
        let shown = markdown.push(text) + &markdown.finish();
        assert_eq!(shown, "quote: quoted text in\n       two rows\n\ndone: one\nto do: two\n• three\n");
    }

    #[test]
    fn a_table_that_is_too_wide_wraps_its_cells() {
        let table = "| a | b |\n|---|---|\n| short | many words that do not fit into one row |\n";
        let shown = whole(table, 30, false);
        assert!(shown.lines().all(|row| unicode_width::UnicodeWidthStr::width(row) <= 30), "{shown}");
        assert!(shown.contains("short │ many words that do not\n      │ fit into one row"), "{shown}");
    }

    #[test]
    fn what_only_looks_like_markdown_is_text() {
        for text in [
            "#hashtag\n",
            "-5 degrees\n",
            "1.5 times\n",
            "2026 was\n",
            "**bold** start\n",
            "`code` start\n",
            "| a pipe\n",
            "--flag x\n",
        ] {
            assert_eq!(whole(text, 60, false), text);
        }
    }

    #[test]
    fn what_is_written_costs_little_more_than_what_came() {
        let text = TEXT.repeat(50);
        let mut markdown = Markdown::new(80, true);
        let mut written = 0;
        for (place, c) in text.char_indices() {
            let more = markdown.push(&text[place..place + c.len_utf8()]);
            // A span or a table that ends brings what was held.
            written += more.len();
        }
        written += markdown.finish().len();
        assert!(written < text.len() * 3, "{written} for {}", text.len());
    }
}
