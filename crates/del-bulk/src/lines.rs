//! Files of JSON lines, plain or zstd: blocks of whole lines in, the same number of lines out.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};

use crate::error::Trouble;
use crate::rows::{Rows, Tally};

/// Whole lines that follow one another.
#[derive(Debug)]
pub(crate) struct Block {
    bytes: Vec<u8>,
    /// The number of the first line, from 1.
    first: u64,
}

/// The lines of a file, in blocks whose borders depend on what it holds alone.
pub(crate) struct Blocks {
    reader: Box<dyn BufRead>,
    first: u64,
}

/// A block is so long, in bytes, and then up to the end of its last line.
const BLOCK: u64 = 4 << 20;
/// The longest line, in bytes.
const MAX_LINE: u64 = 256 << 20;
/// How hard zstd tries; its own default.
const LEVEL: i32 = 3;

impl Blocks {
    pub(crate) fn open(path: &Path, packed: bool) -> io::Result<Self> {
        let file = File::open(path)?;
        let reader: Box<dyn BufRead> = if packed {
            Box::new(BufReader::new(zstd::stream::read::Decoder::new(file)?))
        } else {
            Box::new(BufReader::new(file))
        };
        Ok(Self { reader, first: 1 })
    }

    /// The next block; none at the end of the file.
    pub(crate) fn next(&mut self) -> io::Result<Option<Block>> {
        let mut bytes = Vec::new();
        self.reader.by_ref().take(BLOCK).read_to_end(&mut bytes)?;
        if bytes.is_empty() {
            return Ok(None);
        }
        if bytes.last() != Some(&b'\n') {
            self.reader.by_ref().take(MAX_LINE).read_until(b'\n', &mut bytes)?;
        }
        let first = self.first;
        self.first += bytes.iter().filter(|byte| **byte == b'\n').count() as u64;
        if bytes.len() as u64 >= MAX_LINE && bytes.last() != Some(&b'\n') {
            let line = self.first;
            return Err(io::Error::other(format!(
                "line {line}: expected at most {MAX_LINE} bytes, got more"
            )));
        }
        Ok(Some(Block { bytes, first }))
    }
}

impl Block {
    pub(crate) fn size(&self) -> u64 {
        self.bytes.len() as u64
    }

    /// Works on the lines, and writes what comes of them into a file, which may not be on the disk yet. Empty lines stay;
    /// they are no rows. The places of the lines follow one another from `file` on.
    pub(crate) fn write(
        &self,
        rows: &mut impl Rows,
        packed: bool,
        file: u64,
        to: &Path,
    ) -> Result<(Tally, File), Trouble> {
        let mut tally = Tally::default();
        let mut out = Vec::with_capacity(self.bytes.len() * 2);
        let whole = self.bytes.strip_suffix(b"\n").unwrap_or(&self.bytes);
        for (line, place) in whole.split(|byte| *byte == b'\n').zip(file + self.first..) {
            let record = line.strip_suffix(b"\r").unwrap_or(line);
            if !record.is_empty() {
                tally.rows += 1;
                if let Err(error) = rows.line(record, place, &mut tally, &mut out) {
                    tally.reject(&error);
                    error.write_with(record, &mut out);
                }
            }
            out.push(b'\n');
        }
        let mut file = File::create(to)?;
        if packed {
            zstd::stream::copy_encode(out.as_slice(), &mut file, LEVEL)?;
        } else {
            file.write_all(&out)?;
        }
        Ok((tally, file))
    }
}

/// All parts, one behind another. Frames of zstd make one file as lines do.
pub(crate) fn join(parts: &[PathBuf], to: &Path) -> io::Result<()> {
    let mut whole = File::create(to)?;
    for part in parts {
        io::copy(&mut File::open(part)?, &mut whole)?;
    }
    whole.sync_data()
}
