//! Finding the files that hold a match: several threads look, one hears of the files in their order.

use std::fs::File;
use std::io::{self, Read};
use std::mem;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::Scope;
use std::time::Instant;

use del_parallel::{Feed, Results, ordered, threads};
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
    feed: Feed<Vec<Kept>, Sifted>,
    results: Results<Vec<Kept>, Sifted>,
    filling: Vec<Kept>,
    deadline: Instant,
    tell: &'a mut dyn FnMut(Verdict) -> Flow,
    stop: Stop,
}

/// What is in the files of a batch; none where that was not known in time.
type Sifted = Option<Vec<Verdict>>;

/// Set when nobody wants to hear more, and once it is dropped: nobody waits for what is still under way.
struct Stop(Arc<AtomicBool>);

impl<'a> Sieve<'a> {
    /// A sieve whose threads end with it. `tell` says whether to go on.
    pub(crate) fn new<'scope>(
        scope: &'scope Scope<'scope, '_>,
        sought: Sought<'scope>,
        tell: &'a mut dyn FnMut(Verdict) -> Flow,
    ) -> Self {
        let threads = threads(MAX_THREADS);
        let stop = Stop(Arc::new(AtomicBool::new(false)));
        let workers = (0..threads).map(|_| sifter(sought, Arc::clone(&stop.0)));
        let (feed, results) = ordered(scope, workers, threads * WAITING);
        Self { feed, results, filling: Vec::new(), deadline: sought.deadline, tell, stop }
    }

    /// Takes the next file. It may be told of later.
    pub(crate) fn add(&mut self, file: Kept) -> Flow {
        self.filling.push(file);
        if self.filling.len() == BATCH {
            self.send();
            while let Some(sifted) = self.results.ready() {
                self.told(sifted);
            }
        }
        self.stop.flow()
    }

    /// Tells of every file that was taken.
    pub(crate) fn finish(mut self) {
        if !self.filling.is_empty() {
            self.send();
        }
        self.feed.end();
        while self.stop.flow() == Flow::On
            && let Some(sifted) = self.results.by(self.deadline)
        {
            self.told(sifted);
        }
    }

    fn send(&mut self) {
        while self.stop.flow() == Flow::On && !self.feed.has_room() {
            let sifted = self.results.by(self.deadline).flatten();
            self.told(sifted);
        }
        let files = mem::take(&mut self.filling);
        if self.stop.flow() == Flow::On {
            self.feed.give(files);
        }
    }

    fn told(&mut self, sifted: Sifted) {
        let Some(verdicts) = sifted else { return self.stop.set() };
        for verdict in verdicts {
            if self.stop.flow() == Flow::On && (self.tell)(verdict) == Flow::Stop {
                self.stop.set();
            }
        }
    }
}

impl Stop {
    fn set(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    fn flow(&self) -> Flow {
        if self.0.load(Ordering::Relaxed) { Flow::Stop } else { Flow::On }
    }
}

impl Drop for Stop {
    fn drop(&mut self) {
        self.set();
    }
}

/// The work of a thread.
fn sifter(sought: Sought<'_>, stopped: Arc<AtomicBool>) -> impl FnMut(Vec<Kept>) -> Sifted {
    // A clone has its own scratch space, which threads would otherwise wait for.
    let matcher = sought.matcher.clone();
    let mut searcher = SearcherBuilder::new()
        .line_number(false)
        .heap_limit(Some(sought.max_line))
        .binary_detection(BinaryDetection::quit(0))
        .build();
    move |files| {
        let sought = Sought { matcher: &matcher, ..sought };
        let is_over = || stopped.load(Ordering::Relaxed) || Instant::now() > sought.deadline;
        let look = |file| {
            let verdict = look(sought, &mut searcher, file, &is_over);
            (!is_over()).then_some(verdict)
        };
        files.into_iter().map(look).collect()
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
