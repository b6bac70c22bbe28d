//! Where a byte of an answer stands for JavaScript, which counts units of UTF-16.

use del_dialects::Span;

/// The text so far, as runs of characters that are equally long.
#[derive(Debug, Clone, Default)]
pub(crate) struct Offsets {
    runs: Vec<Run>,
    bytes: u64,
    units: u64,
}

#[derive(Debug, Clone)]
struct Run {
    /// Where it begins, in bytes and in units.
    byte: u64,
    unit: u64,
    /// The bytes of each of its characters.
    width: u64,
}

/// Only characters of four bytes have two units.
fn units(width: u64) -> u64 {
    if width == 4 { 2 } else { 1 }
}

impl Offsets {
    /// The next piece of the text.
    pub(crate) fn push(&mut self, text: &str) {
        let mut rest = text;
        while let Some(first) = rest.chars().next() {
            let width = first.len_utf8();
            let end = match width {
                1 => rest.bytes().position(|byte| !byte.is_ascii()),
                _ => rest.char_indices().find(|(_, c)| c.len_utf8() != width).map(|(at, _)| at),
            };
            let (run, behind) = rest.split_at(end.unwrap_or(rest.len()));
            self.add(width as u64, run.len() as u64);
            rest = behind;
        }
    }

    fn add(&mut self, width: u64, bytes: u64) {
        if self.runs.last().is_none_or(|run| run.width != width) {
            self.runs.push(Run { byte: self.bytes, unit: self.units, width });
        }
        self.bytes += bytes;
        self.units += bytes / width * units(width);
    }

    /// The place of a byte that begins a character, or ends the text.
    pub(crate) fn unit(&self, byte: u64) -> u64 {
        let behind = self.runs.partition_point(|run| run.byte <= byte);
        let Some(run) = behind.checked_sub(1).and_then(|at| self.runs.get(at)) else { return 0 };
        run.unit + (byte - run.byte) / run.width * units(run.width)
    }

    pub(crate) fn span(&self, span: &Span) -> Span {
        self.unit(span.start)..self.unit(span.end)
    }
}
