//! A run over files: units of work on every core, their results in order, each output put in place when it is whole.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::UNIX_EPOCH;

use del_parallel::{Feed, ordered};
use del_wire::Seed;
use serde::Serialize;
use serde_json::json;

use crate::error::{BulkError, Failure, Trouble};
use crate::ledger::{Known, Ledger, Lock};
use crate::lines::{self, Block, Blocks};
use crate::parquet_file::{self, Plan, Unit};
use crate::rows::{Rows, Tally};
use crate::source::{Kind, Source, Sources};

/// What is to be done.
#[derive(Debug)]
pub struct Job {
    /// The files.
    pub sources: Sources,
    /// The directory for the outputs, which have the names and formats of their sources.
    pub out: PathBuf,
    /// All that an output depends on beside its source. Where it differs from what it was, outputs are made anew.
    pub settings: String,
    /// How many threads work.
    pub threads: usize,
}

/// What has come of a run, with what earlier runs of the same job had done.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Report {
    /// Outputs that are whole.
    pub files: u64,
    /// Those of them that were so before.
    pub finished_before: u64,
    /// What was found in them.
    #[serde(flatten)]
    pub tally: Tally,
    /// Files without an output.
    pub failed: Vec<Failure>,
}

/// How far a run has come since it was last told.
#[derive(Debug, Clone, Copy, Default)]
pub struct Progress {
    /// Rows that were worked on.
    pub rows: u64,
    /// Rows of them with an error.
    pub rejected: u64,
    /// Bytes of files that were worked on, as far as they are known: of packed lines, when the file is at its end.
    pub bytes: u64,
}

/// So many units are under way for each thread.
const AHEAD: usize = 2;

/// Does the job, and tells `watch` how it gets on. A file that is finished is not done again, nor are the units of one that
/// an earlier run had done. Files that cannot be read are in the report; the others are done.
pub fn run(
    job: &Job,
    rows: &(impl Rows + Sync),
    watch: &mut dyn FnMut(Progress),
) -> Result<Report, BulkError> {
    check(job)?;
    let _lock = Lock::take(&job.out)?;
    thread::scope(|scope| {
        let workers = (0..job.threads.max(1)).map(|_| {
            let mut rows = rows.clone();
            move |task: Task| task.run(&mut rows)
        });
        let (mut feed, mut results) = ordered(scope, workers, job.threads.max(1) * AHEAD);
        scope.spawn(move || {
            for source in &job.sources.files {
                if !feed_file(job, source, rows, &mut feed) {
                    break;
                }
            }
        });
        let failed = job.sources.unread.clone();
        let mut run = Run { report: Report { failed, ..Report::default() }, open: None };
        // When something fails, the results are dropped, and nothing more is fed.
        results.try_for_each(|outcome| run.take(outcome, watch))?;
        Ok(run.report)
    })
}

/// No output may stand in the place of a source.
fn check(job: &Job) -> Result<(), BulkError> {
    for source in &job.sources.files {
        let target = job.out.join(&source.name);
        let same =
            target.canonicalize().ok().zip(source.path.canonicalize().ok()).is_some_and(|(a, b)| a == b);
        if same {
            let path = target.display();
            return Err(BulkError::Arguments(format!(
                "{path} would be written over; name another directory"
            )));
        }
    }
    Ok(())
}

/// A unit of a file, and where what comes of it goes.
struct Task {
    work: Work,
    /// Where the places of the file's rows begin.
    file: u64,
    part: PathBuf,
}

enum Work {
    Group { plan: Arc<Plan>, unit: Unit },
    Lines { block: Block, packed: bool },
}

/// What comes of a file, one after another: a beginning, its units, and an end.
enum Outcome {
    Finished(Tally, u64),
    Begun(PathBuf, Ledger),
    Unit {
        made: Result<(Tally, File), Trouble>,
        bytes: u64,
        part: PathBuf,
    },
    Ended {
        kind: Kind,
        bytes: u64,
    },
    Failed(String),
    /// Not even begun.
    Unread(Failure),
    Stopped(BulkError),
}

impl Task {
    fn run(self, rows: &mut impl Rows) -> Outcome {
        let Self { work, file, part } = self;
        let (made, bytes) = match work {
            Work::Group { plan, unit } => (plan.write(&unit, rows, file, &part), unit.bytes),
            Work::Lines { block, packed } => {
                (block.write(rows, packed, file, &part), if packed { 0 } else { block.size() })
            }
        };
        Outcome::Unit { made, bytes, part }
    }
}

/// Gives out the tasks of a file. False when nobody wants more.
fn feed_file(job: &Job, source: &Source, rows: &impl Rows, feed: &mut Feed<Task, Outcome>) -> bool {
    let (settings, size) = match settings(job, source) {
        Ok(read) => read,
        Err(error) => {
            let failure = Failure { file: source.path.clone(), reason: error.to_string() };
            return feed.pass(Outcome::Unread(failure));
        }
    };
    let ledger = match Ledger::open(&job.out, &source.name, &settings) {
        Ok(Known::Open(ledger)) => ledger,
        Ok(Known::Finished(tally)) => return feed.pass(Outcome::Finished(tally, size)),
        Err(error) => return feed.pass(Outcome::Stopped(error)),
    };
    let (parts, done) = (ledger.parts().to_owned(), ledger.units.len());
    if !feed.pass(Outcome::Begun(source.path.clone(), ledger)) {
        return false;
    }
    let fed = match source.kind {
        Kind::Parquet => feed_groups(source, rows, &parts, done, feed),
        Kind::Lines { packed } => feed_lines(source, packed, &parts, done, feed),
    };
    let end = match fed {
        Ok(false) => return false,
        Ok(true) => {
            let bytes = if source.kind == (Kind::Lines { packed: true }) { size } else { 0 };
            Outcome::Ended { kind: source.kind, bytes }
        }
        Err(reason) => Outcome::Failed(reason),
    };
    feed.pass(end)
}

fn feed_groups(
    source: &Source,
    rows: &impl Rows,
    parts: &Path,
    done: usize,
    feed: &mut Feed<Task, Outcome>,
) -> Result<bool, String> {
    let (plan, file) = (Arc::new(Plan::of(&source.path, rows)?), places(source));
    let left = plan.units.iter().enumerate().skip(done);
    let task = |(number, unit): (usize, &Unit)| {
        let work = Work::Group { plan: Arc::clone(&plan), unit: unit.clone() };
        Task { work, file, part: Ledger::part(parts, number) }
    };
    Ok(left.map(task).all(|task| feed.give(task)))
}

fn feed_lines(
    source: &Source,
    packed: bool,
    parts: &Path,
    done: usize,
    feed: &mut Feed<Task, Outcome>,
) -> Result<bool, String> {
    let unreadable = |error: io::Error| error.to_string();
    let mut blocks = Blocks::open(&source.path, packed).map_err(unreadable)?;
    let (mut number, file) = (0, places(source));
    while let Some(block) = blocks.next().map_err(unreadable)? {
        let work = Work::Lines { block, packed };
        let task = || Task { work, file, part: Ledger::part(parts, number) };
        if number >= done && !feed.give(task()) {
            return Ok(false);
        }
        number += 1;
    }
    Ok(true)
}

/// Where the places of a file's rows begin: in files of other names elsewhere. No file has as many rows as may follow.
fn places(source: &Source) -> u64 {
    Seed::of(source.name.as_os_str().as_encoded_bytes()).number() >> 1
}

/// All that the output of a file depends on, and the file's size.
fn settings(job: &Job, source: &Source) -> io::Result<(String, u64)> {
    let about = source.path.metadata()?;
    let changed = about.modified()?.duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
    let path = source.path.canonicalize()?;
    let all = json!({
        "version": env!("CARGO_PKG_VERSION"),
        "settings": job.settings,
        "path": path.to_string_lossy(),
        "size": about.len(),
        "changed": changed.to_string(),
    });
    Ok((all.to_string(), about.len()))
}

/// A run, as seen from where its results come out.
struct Run {
    report: Report,
    /// The file whose units come now; none once it has failed.
    open: Option<(PathBuf, Ledger)>,
}

impl Run {
    fn take(&mut self, outcome: Outcome, watch: &mut dyn FnMut(Progress)) -> Result<(), BulkError> {
        match outcome {
            Outcome::Unit { made: Ok((tally, file)), bytes, part } => {
                watch(Progress { rows: tally.rows, rejected: tally.rejected(), bytes });
                let Some((_, ledger)) = &mut self.open else { return Ok(()) };
                // Here, as the workers have better to do than to wait for the disk.
                let noted = file.sync_data().and_then(|()| ledger.note(tally));
                noted.map_err(|error| BulkError::Write { path: part, error })
            }
            Outcome::Unit { made: Err(Trouble::Source(reason)), .. } => self.fail(reason),
            Outcome::Unit { made: Err(Trouble::Target(error)), part, .. } => {
                Err(BulkError::Write { path: part, error })
            }
            Outcome::Finished(tally, bytes) => {
                watch(Progress { rows: tally.rows, rejected: tally.rejected(), bytes });
                self.report.finished_before += 1;
                self.finished(&tally);
                Ok(())
            }
            Outcome::Begun(file, ledger) => {
                self.open = Some((file, ledger));
                Ok(())
            }
            Outcome::Ended { kind, bytes } => {
                watch(Progress { bytes, ..Progress::default() });
                self.end(kind)
            }
            Outcome::Failed(reason) => self.fail(reason),
            Outcome::Unread(failure) => {
                self.report.failed.push(failure);
                Ok(())
            }
            Outcome::Stopped(error) => Err(error),
        }
    }

    fn end(&mut self, kind: Kind) -> Result<(), BulkError> {
        let Some((_, ledger)) = self.open.take() else { return Ok(()) };
        let tally = ledger.finish(|parts, whole| match kind {
            Kind::Parquet => parquet_file::join(parts, whole),
            Kind::Lines { .. } => Ok(lines::join(parts, whole)?),
        })?;
        self.finished(&tally);
        Ok(())
    }

    fn finished(&mut self, tally: &Tally) {
        self.report.files += 1;
        self.report.tally.add(tally);
    }

    /// The file whose units come now has no output. What is done of it is kept.
    fn fail(&mut self, reason: String) -> Result<(), BulkError> {
        let Some((file, ledger)) = self.open.take() else { return Ok(()) };
        self.report.failed.push(Failure { file, reason });
        ledger.leave()
    }
}
