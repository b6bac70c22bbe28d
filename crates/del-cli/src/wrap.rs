//! Long lines in rows that fit the terminal, broken between words.

use unicode_width::UnicodeWidthChar;

use crate::terminal;

/// A text for standard error: each line in rows that fit, where it is a terminal; those that go on stand as far to the
/// right as `indent` says.
pub(crate) fn for_stderr(text: &str, indent: impl Fn(&str) -> usize) -> String {
    let Some(columns) = terminal::stderr_width() else { return text.to_owned() };
    let rows: Vec<String> = text.split('\n').map(|line| rows(line, columns, indent(line))).collect();
    rows.join("\n")
}

/// Where the explanation of a line in two columns begins; 0 where there is but one.
pub(crate) fn second_column(line: &str) -> usize {
    let first = line.trim_start();
    let Some(gap) = first.find("  ") else { return 0 };
    let rest = first[gap..].trim_start();
    width(&line[..line.len() - rest.len()])
}

/// One line in rows of so many columns. A word that is longer than a row is left to the terminal.
pub(crate) fn rows(line: &str, columns: usize, indent: usize) -> String {
    let indent = if indent + 20 > columns { 0 } else { indent };
    let mut out = String::new();
    let mut used = 0;
    for word in line.split_inclusive(' ') {
        let wide = width(word.trim_end_matches(' '));
        if used > indent && used + wide > columns {
            out.truncate(out.trim_end_matches(' ').len());
            out.push('\n');
            out.extend(std::iter::repeat_n(' ', indent));
            used = indent;
        }
        out.push_str(word);
        used += width(word);
    }
    out
}

/// Columns of a text; colours have none.
pub(crate) fn width(text: &str) -> usize {
    let mut columns = 0;
    let mut rest = text.chars();
    while let Some(c) = rest.next() {
        if c == '\u{1b}' {
            // Only colours are written, and they end so.
            let _ = rest.by_ref().find(|c| *c == 'm');
        } else {
            columns += c.width().unwrap_or(0);
        }
    }
    columns
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_break_between_words_and_only_there() {
        assert_eq!(rows("one two three four five six", 20, 0), "one two three four\nfive six");
        assert_eq!(rows("del: one two three four five six", 30, 5), "del: one two three four five\n     six");
        let path = "/a".repeat(30);
        assert_eq!(rows(&format!("see {path} there"), 30, 2), format!("see\n  {path}\n  there"));
        assert_eq!(
            rows("\u{1b}[31mone\u{1b}[0m two three four", 20, 0),
            "\u{1b}[31mone\u{1b}[0m two three four"
        );
        assert_eq!(rows("日本語 日本語 日本語 日本語", 19, 0), "日本語 日本語\n日本語 日本語");
        assert_eq!(rows("short", 20, 0), "short");
    }

    #[test]
    fn explanations_stay_in_their_column() {
        let line = "help      says what else there is to say";
        assert_eq!(second_column(line), 10);
        assert_eq!(rows(line, 30, 10), "help      says what else there\n          is to say");
        assert_eq!((second_column("plain words"), second_column("  indented")), (0, 0));
        assert_eq!(second_column("  1  a rule, and what it covers"), 5);
    }
}
