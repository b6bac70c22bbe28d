//! Tables: read whole, for only then it is known how wide their columns are.

use unicode_width::UnicodeWidthStr;

use super::flow::{Flow, Style};
use super::inline;

/// The rows of a table as they are written: `| a | b |`.
#[derive(Debug, Default)]
pub(super) struct Table {
    lines: Vec<String>,
    /// Columns that it may have, where that is more than text has: rows of a table are not read from end to end.
    pub(super) room: usize,
    /// Rows are heard, one after the other, and not seen beside each other.
    pub(super) spoken: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Side {
    Left,
    Middle,
    Right,
}

/// A column is not made narrower than this.
const NARROWEST: usize = 6;
/// Columns between two.
const BORDER: usize = 3;

impl Table {
    pub(super) fn push(&mut self, line: &str) {
        self.lines.push(line.to_owned());
    }

    pub(super) fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    /// Writes it. Lines that only look like a table stay as they are.
    pub(super) fn write(&mut self, flow: &mut Flow) {
        let lines = std::mem::take(&mut self.lines);
        if lines.is_empty() {
            return;
        }
        let width = flow.width();
        flow.resize(width.max(self.room));
        match lines.get(1).and_then(|line| sides(line)) {
            Some(_) if self.spoken => speak(&lines, flow),
            Some(sides) if write(&lines, &sides, flow) => {}
            // As whoever hears it has it: a row that breaks anywhere can be read by nobody.
            Some(_) => speak(&lines, flow),
            None => {
                for line in &lines {
                    inline::line(line, Style::PLAIN, flow);
                    flow.end_row();
                }
            }
        }
        flow.resize(width);
    }
}

/// Each row as a sentence that names the columns.
fn speak(lines: &[String], flow: &mut Flow) {
    let names = cells(&lines[0]);
    let mut say = |text: &str| {
        inline::line(text, Style::PLAIN, flow);
        flow.end_row();
    };
    say(&format!("Table: {}", names.join(", ")));
    for line in &lines[2..] {
        let row = cells(line);
        let named = row.iter().enumerate().filter(|(_, cell)| !cell.is_empty()).map(|(place, cell)| {
            match names.get(place) {
                Some(name) => format!("{name}: {cell}"),
                None => cell.clone(),
            }
        });
        say(&named.collect::<Vec<_>>().join("; "));
    }
}

/// Writes it with its columns side by side, unless there are more than fit: then nothing is written.
fn write(lines: &[String], sides: &[Side], flow: &mut Flow) -> bool {
    let mut rows: Vec<Vec<String>> = vec![cells(&lines[0])];
    rows.extend(lines[2..].iter().map(|line| cells(line)));
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    for row in &mut rows {
        row.resize(columns, String::new());
    }
    let widths = widths(&rows, columns, flow);
    if widths.iter().sum::<usize>() + columns.saturating_sub(1) * BORDER > flow.width() {
        return false;
    }
    for (place, row) in rows.iter().enumerate() {
        let base = if place == 0 { Style::BOLD } else { Style::PLAIN };
        let wrapped: Vec<Vec<String>> = row
            .iter()
            .zip(&widths)
            .map(|(cell, width)| wrapped(cell, *width, base, flow.is_coloured()))
            .collect();
        for part in 0..wrapped.iter().map(Vec::len).max().unwrap_or(0) {
            let line: Vec<String> = wrapped
                .iter()
                .zip(&widths)
                .enumerate()
                .map(|(column, (cell, width))| {
                    let side = sides.get(column).copied().unwrap_or(Side::Left);
                    aligned(cell.get(part).map_or("", String::as_str), *width, side)
                })
                .collect();
            flow.line(line.join(" │ ").trim_end());
        }
        if place == 0 {
            let rule: Vec<String> = widths.iter().map(|width| "─".repeat(*width)).collect();
            flow.line(&rule.join("─┼─"));
        }
    }
    true
}

/// How wide each column may be, so that all of them fit.
fn widths(rows: &[Vec<String>], columns: usize, flow: &Flow) -> Vec<usize> {
    let natural = |column: usize| {
        let cells =
            rows.iter().map(|row| wrapped(&row[column], usize::MAX / 2, Style::PLAIN, flow.is_coloured()));
        cells.flatten().map(|line| wide(&line)).max().unwrap_or(0).max(1)
    };
    let mut widths: Vec<usize> = (0..columns).map(natural).collect();
    let room = flow.width().saturating_sub(columns.saturating_sub(1) * BORDER);
    while widths.iter().sum::<usize>() > room {
        let Some(widest) = widths.iter_mut().max_by_key(|width| **width).filter(|width| **width > NARROWEST)
        else {
            break;
        };
        *widest -= 1;
    }
    widths
}

/// The cells of a row; `\|` is no border, nor is one in code.
fn cells(line: &str) -> Vec<String> {
    let line = line.trim();
    let line = line.strip_prefix('|').unwrap_or(line);
    let (mut cells, mut cell, mut escaped, mut in_code) = (Vec::new(), String::new(), false, false);
    for c in line.chars() {
        match c {
            '|' if escaped => {
                cell.pop();
                cell.push('|');
            }
            '|' if !in_code => cells.push(std::mem::take(&mut cell).trim().to_owned()),
            _ => cell.push(c),
        }
        in_code ^= c == '`';
        escaped = c == '\\' && !escaped;
    }
    if !cell.trim().is_empty() {
        cells.push(cell.trim().to_owned());
    }
    cells
}

/// How columns are aligned, if this is the line below a heading.
fn sides(line: &str) -> Option<Vec<Side>> {
    let cells = cells(line);
    let side = |cell: &String| {
        let inner = cell.trim_start_matches(':').trim_end_matches(':');
        (!inner.is_empty() && inner.chars().all(|c| c == '-')).then(|| {
            match (cell.starts_with(':'), cell.ends_with(':')) {
                (true, true) => Side::Middle,
                (false, true) => Side::Right,
                _ => Side::Left,
            }
        })
    };
    if cells.is_empty() { None } else { cells.iter().map(side).collect() }
}

/// A cell in rows of its own.
fn wrapped(cell: &str, width: usize, base: Style, coloured: bool) -> Vec<String> {
    let mut flow = Flow::new(width, coloured);
    inline::line(cell, base, &mut flow);
    flow.end_row();
    flow.take().lines().map(str::to_owned).collect()
}

fn aligned(text: &str, width: usize, side: Side) -> String {
    let room = width.saturating_sub(wide(text));
    let before = match side {
        Side::Left => 0,
        Side::Middle => room / 2,
        Side::Right => room,
    };
    format!("{}{text}{}", " ".repeat(before), " ".repeat(room - before))
}

/// Columns of a text; its colours have none.
fn wide(text: &str) -> usize {
    let mut plain = String::new();
    for (place, part) in text.split('\u{1b}').enumerate() {
        plain.push_str(if place == 0 { part } else { part.split_once('m').map_or("", |(_, rest)| rest) });
    }
    plain.width()
}
