//! Text laid out for a terminal: lines that fit, and what they are known by.

use unicode_width::UnicodeWidthChar;

use crate::colour::Paint;

/// What begins a line that goes on from the one above: nothing that is asked about can look like a line of its own.
const GOES_ON: &str = "  ↪ ";
const TAB: usize = 8;

/// The lines of a question on a terminal of this width, in their colours.
pub(crate) fn lines(text: &str, columns: usize, paint: Paint) -> Vec<String> {
    let mut out = Vec::new();
    for (place, line) in text.split('\n').enumerate() {
        for row in rows(line, columns) {
            out.push(match line.as_bytes().first() {
                _ if place == 0 => paint.bold(row),
                Some(b'+') => paint.green(row),
                Some(b'-') => paint.red(row),
                Some(b'@') => paint.cyan(row),
                Some(b'!') => paint.yellow(row),
                _ => row,
            });
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

/// One line as the rows that it takes.
fn rows(line: &str, columns: usize) -> Vec<String> {
    let columns = columns.max(20);
    let mut rows = Vec::new();
    let (mut row, mut used) = (String::new(), 0);
    for c in line.chars() {
        let wide = if c == '\t' { TAB - used % TAB } else { c.width().unwrap_or(0) };
        if used + wide > columns {
            rows.push(std::mem::replace(&mut row, GOES_ON.to_owned()));
            used = GOES_ON.chars().count();
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
        assert_eq!(plain("a\tb", 80), ["a       b"]);
        assert_eq!(plain("", 80), [""]);
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
