//! What is printed: Markdown.

use std::collections::BTreeMap;
use std::fmt;

use crate::peer::{Mode, Reading};

/// How many cases of each dialect each peer reads as they expect.
pub(crate) struct Table {
    peers: Vec<&'static str>,
    rows: BTreeMap<String, Vec<Score>>,
}

/// Right and all readings, batch first.
#[derive(Clone, Copy, Default)]
struct Score([(usize, usize); 2]);

impl Table {
    /// An empty table with a column for each peer.
    pub(crate) fn new(peers: &[&'static str]) -> Self {
        Self { peers: peers.to_vec(), rows: BTreeMap::new() }
    }

    /// Counts one reading.
    pub(crate) fn add(&mut self, dialect: &str, peer: &str, mode: Mode, right: bool) {
        let row =
            self.rows.entry(dialect.to_owned()).or_insert_with(|| vec![Score::default(); self.peers.len()]);
        if let Some(column) = self.peers.iter().position(|name| *name == peer) {
            let (good, all) = &mut row[column].0[usize::from(mode == Mode::Stream)];
            *good += usize::from(right);
            *all += 1;
        }
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "Cases that are read as they expect: whole, then in pieces, of all.\n")?;
        writeln!(f, "| dialect | {} |", self.peers.join(" | "))?;
        writeln!(f, "| --- |{}", " --- |".repeat(self.peers.len()))?;
        let mut sums = vec![Score::default(); self.peers.len()];
        for (dialect, row) in &self.rows {
            let cells: Vec<String> = row.iter().map(Score::to_string).collect();
            writeln!(f, "| {dialect} | {} |", cells.join(" | "))?;
            for (sum, score) in sums.iter_mut().zip(row) {
                for (sum, score) in sum.0.iter_mut().zip(score.0) {
                    *sum = (sum.0 + score.0, sum.1 + score.1);
                }
            }
        }
        let cells: Vec<String> = sums.iter().map(Score::to_string).collect();
        writeln!(f, "| **all** | {} |", cells.join(" | "))
    }
}

impl fmt::Display for Score {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [(batch, all), (stream, _)] = self.0;
        if all == 0 { Ok(()) } else { write!(f, "{batch}, {stream} of {all}") }
    }
}

/// A reading in one line.
pub(crate) fn told(reading: &Reading) -> String {
    match reading {
        Err(error) => format!("error {:?}", error.to_string()),
        Ok(calls) if calls.is_empty() => "no call".to_owned(),
        Ok(calls) => calls
            .iter()
            .map(|call| format!("`{}({})`", call.name, call.arguments))
            .collect::<Vec<_>>()
            .join(" "),
    }
}

/// Prints a list under a heading, and nothing when it is empty.
pub(crate) fn section(title: &str, lines: impl ExactSizeIterator<Item = String>) {
    if lines.len() > 0 {
        println!("\n## {title} ({})\n", lines.len());
        lines.for_each(|line| println!("{line}"));
    }
}
