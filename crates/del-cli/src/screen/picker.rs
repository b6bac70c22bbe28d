//! One of several rows, which the arrows choose or a part of it that is typed.

use std::io::{self, Write};

use crossterm::event::{self, Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use crossterm::terminal::{disable_raw_mode, enable_raw_mode};
use del_tools::visible;

use crate::screen::look::{self, Look};
use crate::screen::stage;
use crate::table::cut;
use crate::terminal;
use crate::wrap;

/// What is there to pick from, and how far somebody has come with it.
struct Picker<'a> {
    rows: &'a [String],
    look: Look,
    typed: String,
    /// The rows that fit what was typed.
    fit: Vec<usize>,
    /// The place among them that Enter takes.
    marked: usize,
    /// The first of them that is seen.
    top: usize,
}

/// What a key comes to.
#[derive(Debug, PartialEq, Eq)]
enum Step {
    Stay,
    Take(usize),
    Leave,
}

/// Keys come one by one until this is dropped.
struct Raw;

/// Rows that are seen at once.
const SEEN: usize = 10;

/// Has the person at the terminal pick one of these rows, `now` being marked first; nothing when they want none.
pub(crate) fn pick(rows: &[String], now: usize, look: Look) -> io::Result<Option<usize>> {
    let _held = stage::hold();
    let _raw = Raw::begin()?;
    let mut picker = Picker::new(rows, now, look);
    let mut drawn = Vec::new();
    let picked = loop {
        let columns = terminal::width();
        let shown = picker.draw(columns);
        put(&format!("{}{}", above(&drawn, columns), shown.join("\r\n")))?;
        drawn = shown;
        match event::read()? {
            Event::Key(key) if key.kind != KeyEventKind::Release => match picker.key(key) {
                Step::Stay => {}
                Step::Take(row) => break Some(row),
                Step::Leave => break None,
            },
            Event::Paste(text) => picker.narrow(|typed| typed.push_str(&visible(&text))),
            _ => {}
        }
    };
    put(&above(&drawn, terminal::width()))?;
    Ok(picked)
}

/// From the end of the rows that were drawn to the beginning of the first, and nothing behind that. A terminal that has
/// become narrower shows them in more rows than they were.
fn above(drawn: &[String], columns: usize) -> String {
    let rows: usize = drawn.iter().map(|row| wrap::width(row).div_ceil(columns.max(1)).max(1)).sum();
    match rows {
        0 => String::new(),
        1 => "\r\u{1b}[J".to_owned(),
        _ => format!("\r\u{1b}[{}A\u{1b}[J", rows - 1),
    }
}

fn put(text: &str) -> io::Result<()> {
    let ascii;
    let text = if look::is_unicode() {
        text
    } else {
        ascii = look::in_ascii(text);
        &ascii
    };
    let mut stderr = io::stderr().lock();
    stderr.write_all(text.as_bytes())?;
    stderr.flush()
}

impl Raw {
    fn begin() -> io::Result<Self> {
        enable_raw_mode()?;
        Ok(Self)
    }
}

impl Drop for Raw {
    fn drop(&mut self) {
        // Nothing can be done about a terminal that is gone.
        let _ = disable_raw_mode();
    }
}

impl<'a> Picker<'a> {
    fn new(rows: &'a [String], now: usize, look: Look) -> Self {
        let fit = (0..rows.len()).collect();
        Self { rows, look, typed: String::new(), fit, marked: now.min(rows.len().saturating_sub(1)), top: 0 }
    }

    fn key(&mut self, key: KeyEvent) -> Step {
        let control = key.modifiers.contains(KeyModifiers::CONTROL);
        let last = self.fit.len().saturating_sub(1);
        match key.code {
            KeyCode::Esc => return Step::Leave,
            KeyCode::Char('c' | 'd') if control => return Step::Leave,
            KeyCode::Enter => return self.fit.get(self.marked).map_or(Step::Stay, |row| Step::Take(*row)),
            KeyCode::Up | KeyCode::BackTab => self.marked = self.marked.checked_sub(1).unwrap_or(last),
            KeyCode::Char('p') if control => self.marked = self.marked.checked_sub(1).unwrap_or(last),
            KeyCode::Down | KeyCode::Tab => {
                self.marked = if self.marked < last { self.marked + 1 } else { 0 }
            }
            KeyCode::Char('n') if control => {
                self.marked = if self.marked < last { self.marked + 1 } else { 0 }
            }
            KeyCode::PageUp => self.marked = self.marked.saturating_sub(SEEN),
            KeyCode::PageDown => self.marked = (self.marked + SEEN).min(last),
            KeyCode::Home => self.marked = 0,
            KeyCode::End => self.marked = last,
            KeyCode::Backspace => self.narrow(|typed| _ = typed.pop()),
            KeyCode::Char('u') if control => self.narrow(String::clear),
            KeyCode::Char(c) if !control => self.narrow(|typed| typed.push(c)),
            _ => {}
        }
        Step::Stay
    }

    /// Keeps the rows that what is typed fits: all of its words stand in them, or it is the number of one.
    fn narrow(&mut self, change: impl FnOnce(&mut String)) {
        change(&mut self.typed);
        let words = self.typed.to_lowercase();
        let fits = |row: &usize| {
            let text = self.rows[*row].to_lowercase();
            words.split_whitespace().all(|word| text.contains(word))
        };
        let number = self.typed.trim().parse().ok().and_then(|number: usize| number.checked_sub(1));
        let numbered = number.filter(|row| *row < self.rows.len());
        // The number first; a name may have it in it as well.
        self.fit = numbered.into_iter().collect();
        self.fit.extend((0..self.rows.len()).filter(|row| Some(*row) != numbered && fits(row)));
        self.marked = 0;
    }

    /// The rows on a terminal of so many columns.
    fn draw(&mut self, columns: usize) -> Vec<String> {
        let paint = self.look.paint;
        let room = columns.saturating_sub(1).max(20);
        if self.marked < self.top {
            self.top = self.marked;
        } else if self.marked >= self.top + SEEN {
            self.top = self.marked + 1 - SEEN;
        }
        self.top = self.top.min(self.fit.len().saturating_sub(SEEN));
        let digits = self.rows.len().to_string().len();
        let mut drawn = vec![paint.bold(cut(&format!("Which one? {}", visible(&self.typed)), room))];
        for (place, row) in self.fit.iter().enumerate().skip(self.top).take(SEEN) {
            let marked = place == self.marked;
            let sign = if marked { "❯" } else { " " };
            let line = cut(&format!("{sign} {:>digits$}  {}", row + 1, visible(&self.rows[*row])), room);
            drawn.push(if marked { paint.cyan(line) } else { line });
        }
        let left = self.fit.len().saturating_sub(SEEN);
        let hint = match (self.fit.is_empty(), left) {
            (true, _) => "  nothing fits; Backspace takes it back, Esc leaves".to_owned(),
            (_, 0) => "  ↑ ↓ choose · Enter takes · typing narrows · Esc leaves".to_owned(),
            (_, left) => format!("  {left} more · ↑ ↓ choose · Enter takes · typing narrows · Esc leaves"),
        };
        drawn.push(paint.dim(cut(&hint, room)));
        drawn
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::colour::{Paint, When};

    fn plain() -> Look {
        let paint = Paint::for_terminal(When::Never, false);
        Look { paint, unicode: true, plain: false, spoken: false }
    }

    fn press(picker: &mut Picker<'_>, code: KeyCode) -> Step {
        picker.key(KeyEvent::new(code, KeyModifiers::NONE))
    }

    #[test]
    fn arrows_choose_and_typing_narrows() {
        let rows = ["qwen3:8b", "llama3.2:3b", "qwen3-coder:30b", "gemma3\u{1b}[2J"].map(str::to_owned);
        let mut picker = Picker::new(&rows, 1, plain());
        assert_eq!(picker.draw(80)[2], "❯ 2  llama3.2:3b");
        assert!(!picker.draw(80).concat().contains('\u{1b}'));
        press(&mut picker, KeyCode::Up);
        press(&mut picker, KeyCode::Up);
        assert_eq!(press(&mut picker, KeyCode::Enter), Step::Take(3));
        for c in "coder".chars() {
            press(&mut picker, KeyCode::Char(c));
        }
        assert_eq!(picker.draw(80)[..2], ["Which one? coder", "❯ 3  qwen3-coder:30b"]);
        assert_eq!(press(&mut picker, KeyCode::Enter), Step::Take(2));
        press(&mut picker, KeyCode::Char('x'));
        assert!(picker.draw(80)[1].starts_with("  nothing fits"), "{:?}", picker.draw(80));
        assert_eq!(press(&mut picker, KeyCode::Enter), Step::Stay);
        picker.key(KeyEvent::new(KeyCode::Char('u'), KeyModifiers::CONTROL));
        press(&mut picker, KeyCode::Char('3'));
        assert_eq!(press(&mut picker, KeyCode::Enter), Step::Take(2));
        assert_eq!(picker.fit, [2, 0, 1, 3]);
        assert_eq!(press(&mut picker, KeyCode::Esc), Step::Leave);
        assert_eq!(picker.key(KeyEvent::new(KeyCode::Char('c'), KeyModifiers::CONTROL)), Step::Leave);
    }

    #[test]
    fn rows_that_the_terminal_broke_are_taken_back_whole() {
        let drawn = ["\u{1b}[1mWhich one?\u{1b}[0m".to_owned(), "x".repeat(30)];
        assert_eq!(above(&drawn, 80), "\r\u{1b}[1A\u{1b}[J");
        assert_eq!(above(&drawn, 20), "\r\u{1b}[2A\u{1b}[J");
        assert_eq!(above(&[], 20), "");
    }

    #[test]
    fn of_many_rows_those_around_the_mark_are_seen_and_none_is_too_wide() {
        let rows: Vec<String> = (1..=40).map(|n| format!("日本語のモデル {n} with a long name")).collect();
        let mut picker = Picker::new(&rows, 0, plain());
        for _ in 0..14 {
            press(&mut picker, KeyCode::Down);
        }
        let drawn = picker.draw(24);
        assert_eq!(drawn.len(), SEEN + 2);
        assert!(drawn[SEEN].starts_with("❯ 15"), "{drawn:#?}");
        for row in &drawn {
            assert!(unicode_width::UnicodeWidthStr::width(row.as_str()) < 24, "{row}");
        }
        press(&mut picker, KeyCode::End);
        press(&mut picker, KeyCode::Down);
        assert!(picker.draw(80)[1].starts_with("❯  1"));
    }
}
