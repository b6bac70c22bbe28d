//! `del parse --out` and `del convert --out`: whole files of Parquet or JSON lines.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::Result;
use clap::Args;
use del_bulk::{BulkError, Job, Progress, Report, Rows, Source, sources};
use del_parallel::threads;
use del_tools::counted;
use sha2::{Digest, Sha256};

use crate::catalog::Catalog;
use crate::exit::Exit;
use crate::progress::bar;
use crate::say;

/// Where files go, and which of their columns are meant.
#[derive(Debug, Args)]
pub(crate) struct Files {
    /// Work on files and directories of Parquet or JSON lines, and write those of the same names to DIR; a run that was
    /// killed, started again, goes on where it was
    #[arg(long, value_name = "DIR", group = "many")]
    pub(crate) out: Option<PathBuf>,
    /// The column of the texts [default: `text`; to convert, `messages` where there is one]
    #[arg(long, value_name = "NAME", requires = "out")]
    pub(crate) column: Option<String>,
}

/// Does the work, and reports it. `settings` are all that it depends on beside the files.
pub(crate) fn run(
    files: &[PathBuf],
    out: &Path,
    rows: &(impl Rows + Sync),
    settings: &[String],
    most: Option<u16>,
    json: bool,
) -> Result<Exit> {
    let sources = sources(files, out).map_err(|error| problem(&error))?;
    let size = sources.files.iter().filter_map(|Source { path, .. }| Some(path.metadata().ok()?.len())).sum();
    let threads = most.map_or_else(|| threads(usize::MAX), usize::from);
    let job = Job { sources, out: out.to_owned(), settings: digest(settings), threads };
    let progress = bar(Some(size));
    let mut done = Progress::default();
    let report = del_bulk::run(&job, rows, &mut |step| {
        done.rows += step.rows;
        done.rejected += step.rejected;
        progress.inc(step.bytes);
        progress.set_message(format!("{}, {} bad", counted(done.rows, "row"), done.rejected));
    });
    progress.finish_and_clear();
    let report = report.map_err(|error| problem(&error))?;
    if json {
        writeln!(std::io::stdout().lock(), "{}", serde_json::to_string(&report)?)?;
    }
    tell(&report);
    Ok(if report.tally.rejected() > 0 || !report.failed.is_empty() { Exit::BadInput } else { Exit::Done })
}

fn problem(error: &BulkError) -> anyhow::Error {
    let exit = match error {
        BulkError::Arguments(_) => Exit::Usage,
        BulkError::Write { .. } => Exit::Failed,
    };
    exit.because(error.to_string())
}

fn digest(settings: &[String]) -> String {
    let mut digest = Sha256::new();
    for setting in settings {
        digest.update(setting.len().to_le_bytes());
        digest.update(setting);
    }
    hex::encode(digest.finalize())
}

/// What the dialects of this run are.
pub(crate) fn descriptions(catalog: Catalog) -> String {
    let named = catalog.all().iter().map(|dialect| format!("{} {}", dialect.name(), dialect.text()));
    named.collect::<Vec<_>>().join("\n")
}

fn tell(report: &Report) {
    let Report { files, finished_before, tally, failed } = report;
    let counts = |counts: &BTreeMap<String, u64>| {
        counts.iter().map(|(kind, count)| format!("{count} {kind}")).collect::<Vec<_>>().join(", ")
    };
    let before =
        if *finished_before > 0 { format!(", {finished_before} of them before") } else { String::new() };
    say(format!(
        "{}{before}: {}, {}",
        counted(*files, "file"),
        counted(tally.rows, "row"),
        counted(tally.calls, "call")
    ));
    if !tally.faults.is_empty() {
        say(format!("faults: {}", counts(&tally.faults)));
    }
    if tally.rejected() > 0 {
        say(format!("an `error` stands in {}: {}", counted(tally.rejected(), "row"), counts(&tally.rejects)));
    }
    for failure in failed {
        say(format!("{} has no output: {}", failure.file.display(), failure.reason));
    }
}
