//! What is known of a run in the directory for its outputs, below `.del`: of each output that is finished its size and
//! what was found, of one that is not its parts and a journal of them. So a run that was killed goes on where it was.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::error::{BulkError, Trouble};
use crate::rows::Tally;

/// The directory of what is kept.
const KEPT: &str = ".del";

/// An output that is not finished.
#[derive(Debug)]
pub(crate) struct Ledger {
    /// Where the output goes.
    target: PathBuf,
    /// What is said of it when it is finished.
    record: PathBuf,
    /// The directory of its parts.
    parts: PathBuf,
    job: String,
    /// The parts that are there, in order.
    pub(crate) units: Vec<UnitDone>,
    journal: File,
}

/// What is known of an output before the run.
#[derive(Debug)]
pub(crate) enum Known {
    /// It is there, by the same job.
    Finished(Tally),
    /// It is not, or not as it was left.
    Open(Ledger),
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct UnitDone {
    size: u64,
    tally: Tally,
}

#[derive(Debug, Serialize, Deserialize)]
struct Finished {
    job: String,
    size: u64,
    tally: Tally,
}

/// Nobody else may work in a directory while this lives.
#[derive(Debug)]
pub(crate) struct Lock {
    _file: File,
}

impl Lock {
    pub(crate) fn take(out: &Path) -> Result<Self, BulkError> {
        let kept = out.join(KEPT);
        let path = kept.join("lock");
        let failed = |error| BulkError::Write { path: path.clone(), error };
        fs::create_dir_all(&kept).map_err(failed)?;
        let file = OpenOptions::new().create(true).append(true).open(&path).map_err(failed)?;
        match rustix::fs::flock(&file, rustix::fs::FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => Ok(Self { _file: file }),
            Err(rustix::io::Errno::WOULDBLOCK) => {
                Err(BulkError::Arguments(format!("another run is at work in {}", out.display())))
            }
            Err(error) => Err(failed(error.into())),
        }
    }
}

impl Ledger {
    /// What is known of the output `name`. `job` says all that it depends on; where that has changed, it is made anew.
    pub(crate) fn open(out: &Path, name: &Path, job: &str) -> Result<Known, BulkError> {
        let with = |end: &str| {
            let mut path = out.join(KEPT).join(name).into_os_string();
            path.push(end);
            PathBuf::from(path)
        };
        let (target, record, parts) = (out.join(name), with(".json"), with(".parts"));
        let failed = |error| BulkError::Write { path: parts.clone(), error };
        let finished: Option<Finished> =
            read_if_there(&record).map_err(failed)?.and_then(|text| serde_json::from_str(&text).ok());
        let size = fs::metadata(&target).ok().map(|about| about.len());
        match finished {
            Some(finished) if finished.job == job && size == Some(finished.size) => {
                remove(&parts).map_err(failed)?;
                return Ok(Known::Finished(finished.tally));
            }
            None if size.is_some() => {
                let path = target.display();
                let message = format!(
                    "{path} is there already, and no run has made it; remove it, or name another directory"
                );
                return Err(BulkError::Arguments(message));
            }
            _ => {}
        }
        let units = journaled(&parts, job).map_err(failed)?;
        if units.is_empty() {
            remove(&parts).map_err(failed)?;
        }
        fs::create_dir_all(&parts).map_err(failed)?;
        let journal = begin(&parts.join(JOURNAL), job, &units).map_err(failed)?;
        Ok(Known::Open(Self { target, record, parts, job: job.to_owned(), units, journal }))
    }

    /// The directory of its parts.
    pub(crate) fn parts(&self) -> &Path {
        &self.parts
    }

    /// The part of the unit `number` in the directory of parts.
    pub(crate) fn part(parts: &Path, number: usize) -> PathBuf {
        parts.join(format!("{number:08}"))
    }

    /// Notes that the next part is there.
    pub(crate) fn note(&mut self, tally: Tally) -> io::Result<()> {
        let size = fs::metadata(Self::part(&self.parts, self.units.len()))?.len();
        let unit = UnitDone { size, tally };
        self.journal.write_all(&line(&unit)?)?;
        self.units.push(unit);
        Ok(())
    }

    /// What was found in all parts.
    pub(crate) fn tally(&self) -> Tally {
        let mut all = Tally::default();
        self.units.iter().for_each(|unit| all.add(&unit.tally));
        all
    }

    /// The output is not made in this run. What is there of it is kept for another.
    pub(crate) fn leave(self) -> Result<(), BulkError> {
        if self.units.is_empty() {
            remove(&self.parts).map_err(|error| BulkError::Write { path: self.parts, error })?;
        }
        Ok(())
    }

    /// Makes the output of the parts, and gives it its name.
    pub(crate) fn finish(
        self,
        join: impl FnOnce(&[PathBuf], &Path) -> Result<(), Trouble>,
    ) -> Result<Tally, BulkError> {
        let path = self.target.clone();
        self.put(join).map_err(|trouble| match trouble {
            Trouble::Target(error) => BulkError::Write { path, error },
            Trouble::Source(reason) => BulkError::Write { path, error: io::Error::other(reason) },
        })
    }

    fn put(self, join: impl FnOnce(&[PathBuf], &Path) -> Result<(), Trouble>) -> Result<Tally, Trouble> {
        let tally = self.tally();
        let parts: Vec<PathBuf> =
            (0..self.units.len()).map(|number| Self::part(&self.parts, number)).collect();
        let whole = self.parts.join("whole");
        join(&parts, &whole)?;
        let finished = Finished { job: self.job, size: fs::metadata(&whole)?.len(), tally };
        let fresh = self.parts.join("record");
        fs::write(&fresh, line(&finished)?)?;
        fs::rename(&fresh, &self.record)?;
        if let Some(directory) = self.target.parent() {
            fs::create_dir_all(directory)?;
        }
        fs::rename(&whole, &self.target)?;
        fs::remove_dir_all(&self.parts)?;
        Ok(finished.tally)
    }
}

const JOURNAL: &str = "journal";

/// The parts that the journal of the same job tells of, and that are there as it says.
fn journaled(parts: &Path, job: &str) -> io::Result<Vec<UnitDone>> {
    let text = read_if_there(&parts.join(JOURNAL))?.unwrap_or_default();
    let mut lines = text.lines();
    if lines.next().and_then(|line| serde_json::from_str::<String>(line).ok()).as_deref() != Some(job) {
        return Ok(Vec::new());
    }
    let noted = lines.map_while(|line| serde_json::from_str::<UnitDone>(line).ok()).enumerate();
    let there =
        |number, size| fs::metadata(Ledger::part(parts, number)).is_ok_and(|about| about.len() == size);
    Ok(noted.take_while(|(number, unit)| there(*number, unit.size)).map(|(_, unit)| unit).collect())
}

/// A journal that tells of these units.
fn begin(path: &Path, job: &str, units: &[UnitDone]) -> io::Result<File> {
    let mut text = line(&job)?;
    for unit in units {
        text.extend(line(unit)?);
    }
    let fresh = path.with_extension("fresh");
    fs::write(&fresh, text)?;
    fs::rename(&fresh, path)?;
    OpenOptions::new().append(true).open(path)
}

fn line(value: &impl Serialize) -> io::Result<Vec<u8>> {
    let mut line = serde_json::to_vec(value)?;
    line.push(b'\n');
    Ok(line)
}

fn read_if_there(path: &Path) -> io::Result<Option<String>> {
    match fs::read(path) {
        Ok(bytes) => Ok(Some(String::from_utf8_lossy(&bytes).into_owned())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

fn remove(directory: &Path) -> io::Result<()> {
    match fs::remove_dir_all(directory) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}
