//! Reading many files at once: every text under a place, each by one of several threads.

use std::io::Read;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use cap_std::fs::Metadata;
use del_code::Language;
use del_parallel::{Feed, Results, ordered, threads};

use crate::context::Context;
use crate::control::{Control, Progress};
use crate::outcome::{Code, Failure, counted};
use crate::text;
use crate::workspace::{Entry, EntryKind, Flow, Obstacle, Order, Place, Walk};

/// After this a survey ends with what it has.
pub(crate) const BUDGET: Duration = Duration::from_secs(10);
/// Larger files are not read.
pub(crate) const MAX_FILE: u64 = 1 << 20;
/// Files that are read at most.
const MAX_FILES: usize = 20_000;
/// Files that wait for a thread.
const WAITING: usize = 64;
const MAX_THREADS: usize = 8;
/// Between two reports of progress.
const REPORTED: usize = 100;

/// A file as a survey shows it.
pub(crate) struct File<'a> {
    /// The path for people and models.
    pub(crate) path: &'a str,
    pub(crate) text: &'a str,
    pub(crate) metadata: &'a Metadata,
    /// Which of the files in a known language it is, in the order of their paths.
    pub(crate) number: usize,
    watch: &'a Watch,
}

/// What a survey found.
#[derive(Debug)]
pub(crate) struct Survey<T> {
    /// In the order of the paths.
    pub(crate) found: Vec<(String, T)>,
    /// Files that were read.
    pub(crate) read: usize,
    /// Files whose names tell a language.
    pub(crate) sources: usize,
    /// Files that are too large to read.
    pub(crate) too_large: usize,
    /// Whether the place is one file.
    pub(crate) one: bool,
    over: Option<Over>,
}

/// Why not every file was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Over {
    Time,
    Files,
}

/// When to stop.
struct Watch {
    deadline: Instant,
    stopped: AtomicBool,
}

impl Watch {
    fn is_over(&self) -> bool {
        self.stopped.load(Ordering::Relaxed) || Instant::now() > self.deadline
    }
}

impl File<'_> {
    /// Whether to give up on this file.
    pub(crate) fn is_over(&self) -> bool {
        self.watch.is_over()
    }
}

impl<T> Survey<T> {
    /// What the model should know of files that were left out; a line each.
    pub(crate) fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        if self.too_large > 0 {
            notes.push(format!("[{} over 1 MiB not read]", counted(self.too_large, "file")));
        }
        match self.over {
            Some(Over::Time) => {
                notes.push("[stopped after 10 s; not every file was read. Narrow path.]".to_owned());
            }
            Some(Over::Files) => {
                notes.push(format!("[only the first {} read. Narrow path.]", counted(MAX_FILES, "file")));
            }
            None => {}
        }
        notes
    }

    /// Whether files were left out.
    pub(crate) fn is_cut(&self) -> bool {
        self.over.is_some() || self.too_large > 0
    }
}

/// Shows `look` every text file at or under `place` whose path is `wanted`, and keeps what it says, if anything.
/// Ignored files are left out. A place that is one file has to be text.
pub(crate) fn survey<T: Send>(
    context: &Context,
    control: &Control<'_>,
    place: &Place,
    wanted: &dyn Fn(&str) -> bool,
    look: &(dyn Fn(&File<'_>) -> Option<T> + Sync),
) -> Result<Survey<T>, Failure> {
    let watch = Watch { deadline: Instant::now() + BUDGET, stopped: AtomicBool::new(false) };
    let watch = &watch;
    let is_dir = context.workspace.metadata(place).is_ok_and(|metadata| metadata.is_dir());
    if !is_dir {
        return one(context, place, watch, look);
    }
    let (walked, hunt) = thread::scope(|scope| {
        let threads = threads(MAX_THREADS);
        let workers = (0..threads).map(|_| |job| read(job, watch, look));
        let (feed, results) = ordered(scope, workers, threads + WAITING);
        let mut hunt = Hunt {
            feed,
            results,
            watch,
            found: Vec::new(),
            read: 0,
            sent: 0,
            sources: 0,
            too_large: 0,
            over: None,
        };
        let walked = hunt.tree(context, control, place, wanted);
        hunt.feed.end();
        while let Some(seen) = hunt.results.next() {
            hunt.take(seen);
        }
        (walked, hunt)
    });
    control.check()?;
    walked.map_err(|obstacle| context.failure(&obstacle, place))?;
    let Hunt { found, read, sources, too_large, mut over, .. } = hunt;
    if watch.is_over() {
        over = Some(Over::Time);
    }
    Ok(Survey { found, read, sources, too_large, one: false, over })
}

/// A file that waits to be read.
struct Job {
    /// Which source file it is.
    source: usize,
    path: String,
    file: std::fs::File,
    metadata: Metadata,
}

/// What became of a file: none where it was not read, and what is said of it.
type Seen<T> = Option<Option<(String, T)>>;

/// Walks, hands out what is to be read, and hears what is in it.
struct Hunt<'a, T> {
    feed: Feed<Job, Seen<T>>,
    results: Results<Job, Seen<T>>,
    watch: &'a Watch,
    found: Vec<(String, T)>,
    read: usize,
    sent: usize,
    sources: usize,
    too_large: usize,
    over: Option<Over>,
}

impl<T> Hunt<'_, T> {
    fn tree(
        &mut self,
        context: &Context,
        control: &Control<'_>,
        place: &Place,
        wanted: &dyn Fn(&str) -> bool,
    ) -> Result<bool, Obstacle> {
        let walk = Walk { depth: usize::MAX, respect_ignored: true, hidden: true, order: Order::Path };
        let prefix = place.prefix();
        let walked = context.workspace.walk(place, walk, &mut |entry| {
            if entry.kind == EntryKind::File {
                let path = format!("{prefix}{}", entry.shown());
                if wanted(&path) {
                    self.send(entry, path, control);
                }
            }
            let over = self.over.is_some() || self.watch.is_over() || control.check().is_err();
            if over { Flow::Stop } else { Flow::On }
        });
        if control.check().is_err() {
            self.watch.stopped.store(true, Ordering::Relaxed);
        }
        walked
    }

    fn send(&mut self, entry: &Entry<'_>, path: String, control: &Control<'_>) {
        // A file that cannot be opened is passed over, as a search does.
        let Ok((file, metadata)) = entry.open() else { return };
        if metadata.len() > MAX_FILE {
            self.too_large += 1;
            return;
        }
        if self.sent == MAX_FILES {
            self.over = Some(Over::Files);
            return;
        }
        let is_source = Language::of_file(&path, "").is_some();
        let job = Job { source: self.sources, path, file, metadata };
        self.sent += 1;
        self.sources += usize::from(is_source);
        while !self.feed.has_room()
            && let Some(seen) = self.results.next()
        {
            self.take(seen);
        }
        self.feed.give(job);
        if self.sent.is_multiple_of(REPORTED) {
            control.report(Progress::Files(self.sent));
        }
    }

    fn take(&mut self, seen: Seen<T>) {
        self.read += usize::from(seen.is_some());
        self.found.extend(seen.flatten());
    }
}

fn read<T>(job: Job, watch: &Watch, look: &(dyn Fn(&File<'_>) -> Option<T> + Sync)) -> Seen<T> {
    let Job { source, path, file, metadata } = job;
    if watch.is_over() {
        return None;
    }
    let text = content(file)?;
    let said = look(&File { path: &path, text: &text, metadata: &metadata, number: source, watch });
    Some(said.map(|said| (path, said)))
}

/// The text of a file, unless it is none.
fn content(file: std::fs::File) -> Option<String> {
    let mut bytes = Vec::new();
    file.take(MAX_FILE).read_to_end(&mut bytes).ok()?;
    if text::is_binary(&bytes[..bytes.len().min(text::SNIFFED)]) {
        return None;
    }
    Some(text::decode(&bytes).text)
}

fn one<T>(
    context: &Context,
    place: &Place,
    watch: &Watch,
    look: &(dyn Fn(&File<'_>) -> Option<T> + Sync),
) -> Result<Survey<T>, Failure> {
    let (file, metadata) =
        context.workspace.open_file(place).map_err(|obstacle| context.failure(&obstacle, place))?;
    if metadata.len() > MAX_FILE {
        let size = crate::outcome::sized(metadata.len());
        let cause = format!("{} has {size}; at most 1 MiB is read. Use search_code.", place.shown);
        return Err(Failure::new(Code::TooLarge, cause));
    }
    let mut bytes = Vec::new();
    file.take(MAX_FILE).read_to_end(&mut bytes).map_err(|e| context.failure(&e.into(), place))?;
    let start = &bytes[..bytes.len().min(text::SNIFFED)];
    if text::is_binary(start) {
        let kind = text::binary_kind(start, metadata.len());
        return Err(Failure::new(Code::Binary, format!("{} is {kind}.", place.shown)));
    }
    let text = text::decode(&bytes).text;
    let said = look(&File { path: &place.shown, text: &text, metadata: &metadata, number: 0, watch });
    let over = if watch.is_over() { Some(Over::Time) } else { None };
    let found = said.map(|said| (place.shown.clone(), said)).into_iter().collect();
    Ok(Survey { found, read: 1, sources: 1, too_large: 0, one: true, over })
}
