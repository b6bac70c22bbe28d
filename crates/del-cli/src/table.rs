//! Rows in columns, for a person.

use unicode_width::UnicodeWidthStr;

use crate::colour::Paint;
use crate::wrap;

/// A table with a heading over each column.
#[derive(Debug)]
pub(crate) struct Table {
    rows: Vec<Vec<String>>,
}

/// The least of a column that tells anything.
const LEAST: usize = 4;

impl Table {
    pub(crate) fn new(headings: &[&str]) -> Self {
        Self { rows: vec![headings.iter().map(|heading| (*heading).to_owned()).collect()] }
    }

    pub(crate) fn row(&mut self, cells: Vec<String>) {
        self.rows.push(cells);
    }

    /// The table as text, each row on its line, cut at `width` columns, if there is a limit. A column of which nothing
    /// could be read is left out.
    pub(crate) fn text(&self, paint: Paint, width: Option<usize>) -> String {
        let widths = self.widths();
        let starts =
            widths.iter().scan(0, |start, column| Some(std::mem::replace(start, *start + column + 2)));
        let shown =
            starts.take_while(|start| width.is_none_or(|width| start + LEAST <= width)).count().max(1);
        let mut text = String::new();
        for (place, row) in self.rows.iter().enumerate() {
            let mut line = String::new();
            for (column, cell) in row.iter().take(shown).enumerate() {
                line.push_str(cell);
                if column + 1 < row.len() {
                    line.push_str(&" ".repeat(widths[column] - cell.width() + 2));
                }
            }
            let line = width.map_or_else(|| line.clone(), |width| cut(&line, width));
            let line = line.trim_end();
            text.push_str(&if place == 0 { paint.bold(line) } else { line.to_owned() });
            text.push('\n');
        }
        text
    }

    /// The same, but what the last column has no room for goes on below, in that column.
    pub(crate) fn wrapped(&self, paint: Paint, width: Option<usize>) -> String {
        let text = self.text(paint, None);
        let Some(width) = width else { return text };
        let last = self.widths().iter().rev().skip(1).map(|before| before + 2).sum();
        text.lines().map(|line| wrap::rows(line, width, last) + "\n").collect()
    }

    fn widths(&self) -> Vec<usize> {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let width = |column: usize| {
            self.rows.iter().filter_map(|row| Some(row.get(column)?.width())).max().unwrap_or(0)
        };
        (0..columns).map(width).collect()
    }
}

/// `text` in at most `width` columns; what was cut is an ellipsis.
pub(crate) fn cut(text: &str, width: usize) -> String {
    if text.width() <= width {
        return text.to_owned();
    }
    let mut out = String::new();
    let mut used = 0;
    for c in text.chars() {
        let wide = unicode_width::UnicodeWidthChar::width(c).unwrap_or(0);
        if used + wide + 1 > width {
            break;
        }
        used += wide;
        out.push(c);
    }
    out.push('…');
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::colour::When;

    #[test]
    fn columns_stand_under_each_other_also_with_wide_characters() {
        let mut table = Table::new(&["name", "title"]);
        table.row(vec!["漢字".into(), "x".into()]);
        table.row(vec!["abcde".into(), "yyyyyyyyyyyy".into()]);
        let text = table.text(Paint::for_terminal(When::Never, false), Some(12));
        assert_eq!(text, "name   title\n漢字   x\nabcde  yyyy…\n");
        let text = table.text(Paint::for_terminal(When::Never, false), Some(10));
        assert_eq!(text, "name\n漢字\nabcde\n");
        table.row(vec!["z".into(), "some words that go on".into()]);
        let text = table.wrapped(Paint::for_terminal(When::Never, false), Some(30));
        let rows = "z      some words that go on\n";
        assert!(text.ends_with(rows), "{text}");
        let text = table.wrapped(Paint::for_terminal(When::Never, false), Some(27));
        assert!(text.ends_with("z      some words that go\n       on\n"), "{text}");
    }
}
