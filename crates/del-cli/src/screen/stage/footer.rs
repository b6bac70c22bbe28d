//! The rows below what is said: the last lines of what runs, what is being done, and what is typed meanwhile.

use std::collections::VecDeque;
use std::time::Instant;

use del_tools::{counted, visible};
use unicode_width::UnicodeWidthStr;

use crate::screen::look::Look;
use crate::table::cut;

/// What is being done, and since when.
#[derive(Debug)]
pub(super) struct Doing {
    what: String,
    since: Instant,
    /// It is over then.
    until: Option<Instant>,
    tokens: usize,
    /// Why it may take so long.
    hint: Option<&'static str>,
}

#[derive(Debug)]
pub(super) struct Footer {
    look: Look,
    doing: Option<Doing>,
    /// The last lines of what runs, the last one perhaps not whole.
    lines: VecDeque<String>,
    typed: (String, String),
    waiting: usize,
    news: String,
    frame: usize,
    stop: &'static str,
}

const SIGNS: [&str; 10] = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];
const ASCII_SIGNS: [&str; 4] = ["|", "/", "-", "\\"];
/// Lines of output that are shown.
const LINES: usize = 4;
/// Columns that what is done gets before its facts do.
const LEAST: usize = 24;
/// Characters that are kept of a line.
const LONGEST: usize = 400;

impl Doing {
    pub(super) fn new(what: &str) -> Self {
        Self {
            what: visible(what).replace('\n', " "),
            since: Instant::now(),
            until: None,
            tokens: 0,
            hint: None,
        }
    }

    pub(super) fn until(what: &str, until: Instant) -> Self {
        Self { until: Some(until), ..Self::new(what) }
    }

    pub(super) fn what(&self) -> &str {
        &self.what
    }

    fn facts(&self) -> String {
        let now = Instant::now();
        let time = match self.until {
            // Rounded up: it does not say 0 while it waits.
            Some(until) if until > now => {
                format!(" in {} s", until.duration_since(now).as_millis().div_ceil(1000))
            }
            since => format!(" · {} s", now.duration_since(since.unwrap_or(self.since)).as_secs()),
        };
        if self.tokens > 0 { format!("{time} · {}", counted(self.tokens, "token")) } else { time }
    }
}

impl Footer {
    pub(super) fn new(look: Look) -> Self {
        Self {
            look,
            doing: None,
            lines: VecDeque::new(),
            typed: (String::new(), String::new()),
            waiting: 0,
            news: String::new(),
            frame: 0,
            stop: "Ctrl-C",
        }
    }

    pub(super) fn is_busy(&self) -> bool {
        self.doing.is_some()
    }

    pub(super) fn is_doing(&self, doing: &Doing) -> bool {
        self.doing.as_ref().is_some_and(|now| now.what == doing.what && now.until == doing.until)
    }

    pub(super) fn begin(&mut self, doing: Doing) {
        self.lines.clear();
        self.doing = Some(doing);
    }

    pub(super) fn rest(&mut self) {
        self.lines.clear();
        self.doing = None;
    }

    pub(super) fn turn(&mut self) {
        self.frame += 1;
    }

    pub(super) fn stops_with(&mut self, key: &'static str) {
        self.stop = key;
    }

    pub(super) fn again(&mut self) {
        if let Some(doing) = &mut self.doing {
            doing.since = Instant::now();
        }
    }

    pub(super) fn count(&mut self, tokens: usize) {
        if let Some(doing) = &mut self.doing {
            doing.tokens += tokens;
            doing.hint = None;
        }
    }

    pub(super) fn output(&mut self, text: &str) {
        let mut parts = text.split('\n');
        if let Some(first) = parts.next() {
            match self.lines.back_mut() {
                Some(last) => last.push_str(first),
                None => self.lines.push_back(first.to_owned()),
            }
        }
        for part in parts {
            self.lines.push_back(part.to_owned());
        }
        while self.lines.len() > LINES + 1 {
            self.lines.pop_front();
        }
        for line in &mut self.lines {
            if line.len() > LONGEST * 4 {
                *line = line.chars().rev().take(LONGEST).collect::<Vec<_>>().into_iter().rev().collect();
            }
        }
    }

    pub(super) fn progress(&mut self, text: &str) {
        self.lines.clear();
        self.lines.push_back(text.to_owned());
    }

    pub(super) fn typed(&mut self, (before, behind): (&str, &str), waiting: usize) {
        self.typed = (before.to_owned(), behind.to_owned());
        self.waiting = waiting;
    }

    pub(super) fn news(&mut self, text: &str) {
        text.clone_into(&mut self.news);
    }

    pub(super) fn hint(&mut self, why: &'static str) {
        if let Some(doing) = &mut self.doing {
            doing.hint = Some(why);
        }
    }

    /// For whoever is told in lines.
    pub(super) fn still(&self) -> String {
        self.doing.as_ref().map_or_else(String::new, |doing| format!("still {}{}", doing.what, doing.facts()))
    }

    /// The rows, none wider than `width`.
    pub(super) fn rows(&self, width: usize) -> Vec<String> {
        let Some(doing) = &self.doing else { return Vec::new() };
        let paint = self.look.paint;
        let lines: Vec<&String> = self.lines.iter().filter(|line| !line.trim().is_empty()).collect();
        let shown = &lines[lines.len().saturating_sub(LINES)..];
        let mut rows: Vec<String> = shown
            .iter()
            .map(|line| paint.dim(cut(&format!("  │ {}", visible(&line.replace('\t', "  "))), width)))
            .collect();
        let sign = if self.look.unicode {
            SIGNS[self.frame % SIGNS.len()]
        } else {
            ASCII_SIGNS[self.frame % ASCII_SIGNS.len()]
        };
        let room = width.saturating_sub(2);
        let facts = doing.facts();
        let choices = [format!("{facts} · {} stops", self.stop), facts, String::new()];
        let least = doing.what.width().min(LEAST);
        let facts = choices.into_iter().find(|facts| facts.width() + least <= room).unwrap_or_default();
        let text = format!("{}{}", cut(&doing.what, room - facts.width()), paint.dim(facts));
        rows.push(format!("{sign} {text}"));
        if let Some(hint) = doing.hint {
            rows.push(paint.dim(cut(&format!("  {hint}"), width)));
        }
        if !self.news.is_empty() {
            rows.push(paint.dim(cut(&format!("  {}", self.news), width)));
        }
        rows.extend(self.line(width));
        rows
    }

    /// What is typed, and how much waits.
    fn line(&self, width: usize) -> Option<String> {
        let (before, behind) = &self.typed;
        if before.is_empty() && behind.is_empty() && self.waiting == 0 {
            return None;
        }
        let waiting = match self.waiting {
            0 => String::new(),
            1 => "1 question waits".to_owned(),
            more => format!("{more} questions wait"),
        };
        let room = width.saturating_sub(waiting.width() + 6);
        let shown = |text: &str| visible(&text.replace('\n', "⏎")).into_owned();
        // The terminal's own cursor stands elsewhere.
        let cursor = match self.look.unicode {
            _ if behind.is_empty() => "",
            true => "▏",
            false => "|",
        };
        let behind = beginning(&shown(behind), room / 2).to_owned();
        let before = shown(before);
        // The end of a long line is what is being typed.
        let before = end(&before, room.saturating_sub(behind.width() + cursor.width()));
        Some(format!("> {before}{cursor}{behind}  {}", self.look.paint.dim(waiting)))
    }
}

/// As much of the end of a text as is not wider than `width`.
fn end(text: &str, width: usize) -> &str {
    let starts = text.char_indices().rev().map(|(start, _)| start);
    starts.map(|start| &text[start..]).take_while(|rest| rest.width() <= width).last().unwrap_or_default()
}

/// The same of its beginning.
fn beginning(text: &str, width: usize) -> &str {
    let ends = text.char_indices().map(|(start, c)| start + c.len_utf8());
    ends.map(|end| &text[..end]).take_while(|begun| begun.width() <= width).last().unwrap_or_default()
}

/// The sign that a row begins with, if nothing else of it differs from what is on the screen.
pub(super) fn turned<'r>(before: &str, row: &'r str) -> Option<&'r str> {
    let (sign, rest) = row.split_once(' ')?;
    let (other, same) = before.split_once(' ')?;
    (rest == same && sign.width() == 1 && other.width() == 1).then_some(sign)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::colour::{Paint, When};

    fn footer() -> Footer {
        let paint = Paint::for_terminal(When::Never, false);
        Footer::new(Look { paint, unicode: true, plain: false, spoken: false })
    }

    #[test]
    fn rows_say_what_is_done_and_fit() {
        let mut footer = footer();
        assert!(footer.rows(80).is_empty());
        footer.begin(Doing::new("running `cargo test`"));
        footer.output("one\ntwo\nthree\nfour\nfi");
        footer.output("ve\n");
        footer.count(12);
        footer.typed(("next question", ""), 1);
        let rows = footer.rows(80);
        assert_eq!(rows[..4], ["  │ two", "  │ three", "  │ four", "  │ five"]);
        assert_eq!(rows[4], "⠋ running `cargo test` · 0 s · 12 tokens · Ctrl-C stops");
        assert_eq!(rows[5], "> next question  1 question waits");
        footer.output(&"long\u{1b}[2J ".repeat(200));
        for width in [20, 40, 59] {
            let rows = footer.rows(width);
            assert!(rows.iter().all(|row| row.width() <= width && !row.contains('\u{1b}')), "{rows:#?}");
        }
    }

    #[test]
    fn the_line_shows_where_the_cursor_stands_and_what_is_around_it() {
        let mut footer = footer();
        footer.begin(Doing::new("thinking"));
        let mut row = |before: &str, behind: &str, width| {
            footer.typed((before, behind), 1);
            footer.rows(width).pop().unwrap()
        };
        assert_eq!(row("next ", "question", 80), "> next ▏question  1 question waits");
        assert_eq!(row("", "two\nrows", 80), "> ▏two⏎rows  1 question waits");
        assert_eq!(row("0123456789", "", 28), "> 456789  1 question waits");
        assert_eq!(row("0123456789", "漢字漢字", 29), "> 6789▏漢  1 question waits");
        assert_eq!(row(&"x".repeat(100_000), "", 28), "> xxxxxx  1 question waits");
    }

    #[test]
    fn a_wait_counts_down_and_says_never_zero_before_it_is_over() {
        let mut footer = footer();
        footer.begin(Doing::until("try 2 of 5", Instant::now() + std::time::Duration::from_secs(4000)));
        assert!(footer.rows(80)[0].starts_with("⠋ try 2 of 5 in 4000 s"), "{:?}", footer.rows(80));
        let passed = Instant::now().checked_sub(std::time::Duration::from_secs(70)).unwrap();
        footer.begin(Doing::until("try 3 of 5", passed));
        assert!(footer.rows(80)[0].starts_with("⠋ try 3 of 5 · 7"), "{:?}", footer.rows(80));
    }

    #[test]
    fn a_hint_and_news_have_rows_of_their_own_and_a_token_takes_the_hint_away() {
        let mut footer = footer();
        footer.begin(Doing::new("reading the prompt"));
        footer.hint("silent");
        footer.news("mode from the next call on: plan");
        assert_eq!(footer.rows(80)[1..], ["  silent", "  mode from the next call on: plan"]);
        footer.count(1);
        footer.news("");
        assert_eq!(footer.rows(80).len(), 1);
    }

    #[test]
    fn a_sign_that_turned_is_all_that_is_written() {
        assert_eq!(turned("⠋ thinking · 1 s", "⠙ thinking · 1 s"), Some("⠙"));
        assert_eq!(turned("⠋ thinking · 1 s", "⠙ thinking · 2 s"), None);
    }
}
