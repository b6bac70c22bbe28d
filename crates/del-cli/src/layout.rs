//! Text laid out for a terminal: lines that fit, and what they are known by.

mod diff;

use unicode_width::UnicodeWidthChar;

use crate::colour::Paint;
use crate::wrap;
use diff::Line;

/// What begins a line that goes on from the one above: nothing that is asked about can look like a line of its own.
const GOES_ON: &str = "  ↪ ";
/// What begins a line that is quoted.
pub(crate) const QUOTED: &str = "│ ";
const TAB: usize = 8;

/// The lines of a question on a terminal of this width, in their colours; those of a diff behind their numbers.
pub(crate) fn lines(text: &str, columns: usize, paint: Paint) -> Vec<String> {
    let lines = diff::lines(text);
    let widest = lines.iter().map(|line| if let Line::Changed(number, _) = line { *number } else { 0 });
    let digits = widest.max().unwrap_or(0).to_string().len();
    let mut out = Vec::new();
    for (place, line) in lines.into_iter().enumerate() {
        match line {
            Line::Other(line) if place == 0 => {
                out.extend(words_of(line, columns).into_iter().map(|row| paint.bold(row)));
            }
            Line::Other(line) if line.starts_with("! ") => {
                out.extend(sentence(line, columns).into_iter().map(|row| paint.yellow(row)));
            }
            Line::Other(line) => out.extend(words_of(line, columns)),
            Line::File(name) => out.extend(rows(&name, columns).into_iter().map(|row| paint.bold(row))),
            Line::Gap => out.push(paint.dim(format!("{:>digits$} …", ""))),
            Line::Note(line) => out.push(paint.dim(format!("{:>digits$} {line}", ""))),
            Line::Changed(number, line) => {
                let mut number = number.to_string();
                for row in rows(line, columns.saturating_sub(digits + 1)) {
                    let row = match line.as_bytes().first() {
                        Some(b'+') => paint.green(row),
                        Some(b'-') => paint.red(row),
                        _ => row,
                    };
                    out.push(format!(
                        "{} {row}",
                        paint.dim(format!("{:>digits$}", std::mem::take(&mut number)))
                    ));
                }
            }
        }
    }
    out
}

/// The lines of what somebody else wrote and is to be agreed to: broken between words, each row as far to the right as
/// its line, behind a mark where it goes on.
pub(super) fn told(text: &str, columns: usize, paint: Paint) -> Vec<String> {
    let mut out = Vec::new();
    for (place, line) in text.split('\n').enumerate() {
        let inside = line.trim_start_matches(' ');
        let inside = inside.strip_prefix(QUOTED).unwrap_or(inside);
        let lead = &line[..line.len() - inside.len()];
        let mark = format!("{lead}↪ ");
        let words = wrap::rows(inside, columns.max(20).saturating_sub(wrap::width(&mark)).max(10), 0);
        for (row, words) in words.lines().chain(words.is_empty().then_some("")).enumerate() {
            let begin = if row == 0 { lead } else { &mark };
            let rows = rows_behind(&format!("{begin}{words}"), columns, &mark);
            out.extend(rows.into_iter().map(|row| if place == 0 { paint.bold(row) } else { row }));
        }
    }
    out
}

/// Phrases beside each other, in rows that are not wider than the terminal.
pub(super) fn words(phrases: &[&str], columns: usize) -> Vec<String> {
    let mut rows: Vec<String> = Vec::new();
    for phrase in phrases {
        match rows.last_mut() {
            Some(row) if row.len() + 2 + phrase.len() <= columns => {
                row.push_str("  ");
                row.push_str(phrase);
            }
            _ => rows.push((*phrase).to_owned()),
        }
    }
    rows
}

/// Words as the rows that they take. Only a word that is longer than a row is cut.
fn sentence(line: &str, columns: usize) -> Vec<String> {
    let words = wrap::rows(line, columns.max(20) - GOES_ON.chars().count(), 0);
    let marked = words.lines().enumerate().map(|(place, row)| match place {
        0 => row.to_owned(),
        _ => GOES_ON.to_owned() + row,
    });
    marked.flat_map(|row| rows(&row, columns)).collect()
}

/// One line as the rows that it takes.
fn rows(line: &str, columns: usize) -> Vec<String> {
    rows_behind(line, columns, GOES_ON)
}

/// The same, each row with whole words, as far as they are not as long as half of one. No character is left out.
fn words_of(line: &str, columns: usize) -> Vec<String> {
    let columns = columns.max(20);
    let (mut out, mut rest, mut mark) = (Vec::new(), line, "");
    loop {
        let row = rows_behind(&format!("{mark}{rest}"), columns, GOES_ON).swap_remove(0);
        // Tabs became spaces, which stand in no word.
        let tabs = rest.contains('\t');
        let shown = &row[mark.len()..];
        if tabs || shown.len() >= rest.len() {
            out.extend(rows_behind(&format!("{mark}{rest}"), columns, GOES_ON));
            return out;
        }
        let next = rest[shown.len()..].starts_with(' ');
        let word = shown.rfind(' ').map(|space| space + 1).filter(|_| !next);
        let fits = |at: &usize| wrap::width(&shown[*at..]) <= columns / 2 && !shown[..*at].trim().is_empty();
        let end = word.filter(fits).unwrap_or(shown.len());
        out.push(format!("{mark}{}", &shown[..end]));
        rest = &rest[end..];
        mark = GOES_ON;
    }
}

/// The same, with what begins the rows that go on.
fn rows_behind(line: &str, columns: usize, mark: &str) -> Vec<String> {
    let columns = columns.max(20);
    let mut rows = Vec::new();
    let (mut row, mut used) = (String::new(), 0);
    for c in line.chars() {
        let wide = if c == '\t' { TAB - used % TAB } else { c.width().unwrap_or(0) };
        if used + wide > columns {
            rows.push(std::mem::replace(&mut row, mark.to_owned()));
            used = wrap::width(mark);
        }
        if c == '\t' {
            row.extend(std::iter::repeat_n(' ', wide));
        } else {
            row.push(c);
        }
        used += wide;
    }
    rows.push(row);
    rows
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::colour::When;

    fn plain(text: &str, columns: usize) -> Vec<String> {
        lines(text, columns, Paint::for_terminal(When::Never, false))
    }

    #[test]
    fn lines_that_are_too_long_go_on_behind_a_mark() {
        assert_eq!(
            plain("short\n  $ 0123456789abcdefghijklmnopqrstuvwxyz", 20),
            ["short", "  $ 0123456789abcdef", "  ↪ ghijklmnopqrstuv", "  ↪ wxyz"]
        );
        assert_eq!(plain("日本語日本語日本語日本語", 20), ["日本語日本語日本語日", "  ↪ 本語"]);
        let command = "  $ cargo test --workspace --locked -- --nocapture";
        let rows = plain(&format!("x\n{command}"), 30);
        assert_eq!(rows[1..], ["  $ cargo test --workspace ", "  ↪ --locked -- --nocapture"]);
        assert_eq!(plain("a\tb", 80), ["a       b"]);
        assert_eq!(plain("x\n! asks because of something", 20), ["x", "! asks because", "  ↪ of something"]);
        let long = format!("x\n! see {}", "y".repeat(30));
        assert_eq!(plain(&long, 20), ["x", "! see", "  ↪ yyyyyyyyyyyyyyyy", "  ↪ yyyyyyyyyyyyyy"]);
        assert_eq!(plain("", 80), [""]);
    }

    #[test]
    fn lines_of_a_diff_stand_behind_their_numbers() {
        let text = "edit_file: change a\n--- a/a\n+++ b/a\n@@ -8,3 +8,3 @@\n one\n-two\n+2 and more words\n ten\n! look";
        assert_eq!(
            plain(text, 20),
            ["edit_file: change a", " 8  one", " 9 -two", " 9 +2 and more words", "10  ten", "! look"]
        );
        assert_eq!(
            plain(&text.replace("and more", "and many more"), 24)[3..5],
            [" 9 +2 and many more word", "     ↪ s"]
        );
    }

    #[test]
    fn what_is_told_is_broken_between_words_and_stays_in_its_column() {
        let told = |text: &str| told(text, 24, Paint::for_terminal(When::Never, false));
        assert_eq!(
            told("here\n    words = one two three four five\n    │ quoted text goes on here\n    │ "),
            [
                "here",
                "    words = one two",
                "    ↪ three four five",
                "    │ quoted text goes",
                "    │ ↪ on here",
                "    │ ",
            ]
        );
        assert_eq!(
            told(&format!("here\n  {}", "x".repeat(40))),
            ["here".to_owned(), format!("  {}", "x".repeat(22)), format!("  ↪ {}", "x".repeat(18))]
        );
        let hidden = format!("here\n  $ ls{}rm", " ".repeat(60));
        let rows = told(&hidden);
        assert!(rows[2..].iter().all(|row| row.starts_with("  ↪ ")), "{rows:?}");
        assert!(rows[rows.len() - 1].ends_with("rm"), "{rows:?}");
    }

    #[test]
    fn phrases_are_not_broken() {
        assert_eq!(words(&["[y]es", "[n]o", "[a]lways"], 12), ["[y]es  [n]o", "[a]lways"]);
        assert_eq!(words(&["[y]es"], 2), ["[y]es"]);
    }

    #[test]
    fn nothing_that_is_asked_about_begins_a_row_of_its_own() {
        let command = format!("  $ ls{}! this is safe", " ".repeat(34));
        assert_eq!(plain(&command, 40)[1], "  ↪ ! this is safe");
    }
}
