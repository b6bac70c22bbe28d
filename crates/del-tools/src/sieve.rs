//! Finding the files that hold a match: several threads look, one hears of the files in their order.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read};
use std::mem;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, Scope};
use std::time::Instant;

use grep_regex::RegexMatcher;
use grep_searcher::{BinaryDetection, Searcher, SearcherBuilder, Sink, SinkMatch};

use crate::workspace::{Flow, Kept};

/// Files that go to a thread at once.
const BATCH: usize = 32;
/// Batches that are under way for each thread. Each file of them may hold a directory open.
const WAITING: usize = 2;
const MAX_THREADS: usize = 4;

/// What was found in a file.
pub(crate) enum Verdict {
    /// It cannot be opened.
    Unreadable,
    TooLarge,
    NoMatch,
    Match(Kept),
}

/// Looks for a pattern in files.
#[derive(Clone, Copy)]
pub(crate) struct Sought<'a> {
    pub(crate) matcher: &'a RegexMatcher,
    /// Larger files are not looked into.
    pub(crate) max_file: u64,
    /// Nor are files with longer lines.
    pub(crate) max_line: usize,
    /// After this nothing more is said.
    pub(crate) deadline: Instant,
}

/// Takes files in an order, and tells in the same order what is in them.
pub(crate) struct Sieve<'a> {
    batches: SyncSender<Batch>,
    verdicts: Receiver<Sifted>,
    filling: Vec<Kept>,
    /// Batches that were handed out.
    sent: usize,
    /// Batches that were told of.
    told: usize,
    /// Batches that were done before their turn.
    early: BTreeMap<usize, Vec<Verdict>>,
    most: usize,
    deadline: Instant,
    tell: &'a mut dyn FnMut(Verdict) -> Flow,
    stopped: Arc<AtomicBool>,
}

struct Batch {
    number: usize,
    files: Vec<Kept>,
}

struct Sifted {
    number: usize,
    verdicts: Vec<Verdict>,
}

impl<'a> Sieve<'a> {
    /// A sieve whose threads end with it. `tell` says whether to go on.
    pub(crate) fn new<'scope>(
        scope: &'scope Scope<'scope, '_>,
        sought: Sought<'scope>,
        tell: &'a mut dyn FnMut(Verdict) -> Flow,
    ) -> Self {
        let threads = thread::available_parallelism().map_or(1, usize::from).min(MAX_THREADS);
        let most = threads * WAITING;
        let (batches, receiver) = sync_channel(most);
        let (sender, verdicts) = channel();
        let receiver = Arc::new(Mutex::new(receiver));
        let stopped = Arc::new(AtomicBool::new(false));
        for _ in 0..threads {
            let (receiver, sender, stopped) = (Arc::clone(&receiver), sender.clone(), Arc::clone(&stopped));
            scope.spawn(move || sift(sought, &receiver, &sender, &stopped));
        }
        Self {
            batches,
            verdicts,
            filling: Vec::new(),
            sent: 0,
            told: 0,
            early: BTreeMap::new(),
            most,
            deadline: sought.deadline,
            tell,
            stopped,
        }
    }

    /// Takes the next file. It may be told of later.
    pub(crate) fn add(&mut self, file: Kept) -> Flow {
        self.filling.push(file);
        if self.filling.len() < BATCH {
            return self.flow();
        }
        self.send();
        while let Ok(sifted) = self.verdicts.try_recv() {
            self.told(sifted);
        }
        self.wait_until(self.most - 1);
        self.flow()
    }

    /// Tells of every file that was taken.
    pub(crate) fn finish(mut self) {
        self.send();
        self.wait_until(0);
    }

    fn send(&mut self) {
        let files = mem::take(&mut self.filling);
        if !files.is_empty() && self.batches.send(Batch { number: self.sent, files }).is_ok() {
            self.sent += 1;
        }
    }

    /// Waits until at most `left` batches are under way, or nobody wants to hear more.
    fn wait_until(&mut self, left: usize) {
        while self.flow() == Flow::On && self.sent - self.told > left {
            let time = self.deadline.saturating_duration_since(Instant::now());
            match self.verdicts.recv_timeout(time) {
                Ok(sifted) => self.told(sifted),
                Err(_) => self.stop(),
            }
        }
    }

    /// Tells of a batch if it is its turn, and of those that waited for it.
    fn told(&mut self, sifted: Sifted) {
        self.early.insert(sifted.number, sifted.verdicts);
        while let Some(verdicts) = self.early.remove(&self.told) {
            self.told += 1;
            for verdict in verdicts {
                if self.flow() == Flow::On && (self.tell)(verdict) == Flow::Stop {
                    self.stop();
                }
            }
        }
    }

    fn stop(&self) {
        self.stopped.store(true, Ordering::Relaxed);
    }

    fn flow(&self) -> Flow {
        if self.stopped.load(Ordering::Relaxed) { Flow::Stop } else { Flow::On }
    }
}

/// Nobody waits for what is still under way.
impl Drop for Sieve<'_> {
    fn drop(&mut self) {
        self.stop();
    }
}

/// The work of a thread, until there are no more batches.
fn sift(
    sought: Sought<'_>,
    batches: &Mutex<Receiver<Batch>>,
    verdicts: &Sender<Sifted>,
    stopped: &AtomicBool,
) {
    // A clone has its own scratch space, which threads would otherwise wait for.
    let matcher = sought.matcher.clone();
    let sought = Sought { matcher: &matcher, ..sought };
    let mut searcher = SearcherBuilder::new()
        .line_number(false)
        .heap_limit(Some(sought.max_line))
        .binary_detection(BinaryDetection::quit(0))
        .build();
    loop {
        let next = batches.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok(Batch { number, files }) = next else { return };
        let mut found = Vec::with_capacity(files.len());
        for file in files {
            // What is not finished in time is not told of at all.
            let is_over = || stopped.load(Ordering::Relaxed) || Instant::now() > sought.deadline;
            found.push(look(sought, &mut searcher, file, &is_over));
            if is_over() {
                return;
            }
        }
        if verdicts.send(Sifted { number, verdicts: found }).is_err() {
            return;
        }
    }
}

fn look(sought: Sought<'_>, searcher: &mut Searcher, file: Kept, is_over: &dyn Fn() -> bool) -> Verdict {
    let Ok((opened, metadata)) = file.open() else { return Verdict::Unreadable };
    if metadata.len() > sought.max_file {
        return Verdict::TooLarge;
    }
    let mut first = First(false);
    let searched = searcher.search_reader(sought.matcher, InTime { file: &opened, is_over }, &mut first);
    match searched {
        _ if first.0 => Verdict::Match(file),
        Ok(()) => Verdict::NoMatch,
        Err(_) => Verdict::TooLarge,
    }
}

/// A file that is read until time is over.
pub(crate) struct InTime<'a> {
    pub(crate) file: &'a File,
    pub(crate) is_over: &'a dyn Fn() -> bool,
}

impl Read for InTime<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if (self.is_over)() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        self.file.read(buffer)
    }
}

/// Whether there is a match; the first is enough.
struct First(bool);

impl Sink for First {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, _: &SinkMatch<'_>) -> io::Result<bool> {
        self.0 = true;
        Ok(false)
    }
}
