//! `del convert --jsonl`: a record a line in, the same record in another dialect out.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use anyhow::Result;
use del_parallel::threads;
use del_tools::counted;
use del_wire::convert::Converter;
use del_wire::records::RecordError;
use serde_json::json;

use crate::blocks::{self, Block};
use crate::exit::Exit;
use crate::input::{Input, plain};
use crate::progress::bar;
use crate::say;
use crate::terminal::show_lines;

/// So many bad records are told of one by one.
const TOLD: u64 = 20;

/// What became of a block.
#[derive(Default)]
struct Done {
    /// The lines of its records, and of the errors unless those are put aside.
    lines: Vec<u8>,
    /// Bytes that were read.
    read: u64,
    records: u64,
    calls: u64,
    mended: u64,
    bad: Vec<Bad>,
}

struct Bad {
    line: u64,
    reason: String,
    record: Vec<u8>,
}

pub(super) fn run(
    converter: &Converter,
    input: Input,
    rejects: Option<&Path>,
    most: Option<u16>,
    json: bool,
) -> Result<Exit> {
    if let Some(path) = rejects {
        input.check_kept(path)?;
    }
    let mut rejects = rejects.map(Rejects::create).transpose()?;
    let aside = rejects.is_some();
    let threads = most.map_or_else(|| threads(usize::MAX), usize::from);
    let workers = (0..threads).map(|_| {
        let mut converter = converter.clone();
        move |block: Block| convert(&mut converter, &block, aside)
    });
    let progress = bar(input.size());
    let mut out = std::io::stdout().lock();
    let mut total = Done::default();
    let mut told = 0;
    let through = blocks::run(input, workers.collect(), |done: Done| {
        show_lines(&done.lines, &mut out)?;
        for bad in done.bad {
            told += 1;
            if told <= TOLD {
                progress.suspend(|| say(format!("line {}: {}", bad.line, bad.reason)));
            }
            if let Some(rejects) = &mut rejects {
                rejects.write(&bad.record)?;
            }
        }
        total.records += done.records;
        total.calls += done.calls;
        total.mended += done.mended;
        progress.inc(done.read);
        progress.set_message(format!("{}, {told} bad", counted(total.records, "record")));
        Ok(())
    });
    progress.finish_and_clear();
    through?;
    let aside = rejects.map(Rejects::finish).transpose()?;
    let Done { records, calls, mended, .. } = total;
    if json {
        let report = json!({"records": records, "calls": calls, "mended": mended, "bad": told});
        writeln!(std::io::stderr().lock(), "{report}")?;
        return Ok(if told == 0 || aside.is_some() { Exit::Done } else { Exit::BadInput });
    }
    say(format!(
        "{} rewritten, {} in them, {} mended, {told} bad",
        counted(records, "record"),
        counted(calls, "call"),
        counted(mended, "record")
    ));
    match aside {
        _ if told == 0 => Ok(Exit::Done),
        Some(path) => {
            say(format!("the bad records are in {path}"));
            Ok(Exit::Done)
        }
        None => {
            say("each bad record has an error line in its place; --rejects puts them aside");
            Ok(Exit::BadInput)
        }
    }
}

fn convert(converter: &mut Converter, block: &Block, aside: bool) -> Done {
    let mut done = Done { read: block.size(), ..Done::default() };
    if let Some((line, reason)) = block.too_long() {
        done.fail(&RecordError::invalid(reason), line, &[], aside);
    }
    for (number, line) in block.lines() {
        let record = line.strip_suffix(b"\r").unwrap_or(line);
        // An empty line holds nothing that could be lost.
        if record.is_empty() {
            done.lines.push(b'\n');
            continue;
        }
        match converter.record(record, number) {
            Ok(converted) => {
                done.lines.extend_from_slice(converted.text.as_bytes());
                done.lines.push(b'\n');
                done.records += 1;
                done.calls += converted.calls;
                done.mended += u64::from(!converted.faults.is_empty());
            }
            Err(error) => done.fail(&error, number, record, aside),
        }
    }
    done
}

impl Done {
    fn fail(&mut self, error: &RecordError, line: u64, record: &[u8], aside: bool) {
        if !aside {
            error.write(&mut self.lines);
            self.lines.push(b'\n');
        }
        let record = if aside { record.to_vec() } else { Vec::new() };
        self.bad.push(Bad { line, reason: error.to_string(), record });
    }
}

/// Where records go that cannot be rewritten.
struct Rejects {
    path: String,
    file: BufWriter<File>,
}

impl Rejects {
    fn create(path: &Path) -> Result<Self> {
        let file = File::create(path).map_err(|error| {
            Exit::Failed.because(format!("cannot write {}: {}", path.display(), plain(&error)))
        })?;
        Ok(Self { path: path.display().to_string(), file: BufWriter::new(file) })
    }

    fn write(&mut self, record: &[u8]) -> Result<()> {
        self.file.write_all(record)?;
        Ok(self.file.write_all(b"\n")?)
    }

    fn finish(mut self) -> Result<String> {
        self.file.flush()?;
        Ok(self.path)
    }
}
