//! Walking a tree with several threads, in no order.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Instant;

use cap_std::fs::{Dir, ReadDir};

use super::ignored::Rules;
use super::listing::{Listed, list};
use super::walk::{Entry, EntryKind, Flow, Start, Walk, enter};
use super::{Obstacle, Place, Workspace};

/// A few handles are open for each thread and level.
const MAX_THREADS: usize = 4;

impl Workspace {
    /// Shows `visit` what [`Workspace::walk`] shows, but from several threads. A directory still comes before what is
    /// in it.
    pub(crate) fn roam(
        &self,
        place: &Place,
        walk: Walk,
        visit: &(dyn Fn(&Entry<'_>) -> Flow + Sync),
    ) -> Result<Roamed, Obstacle> {
        let Start { dir, entries, rules, absolute, deadline } = self.start(place, walk)?;
        let roamer =
            Roamer { walk, absolute, deadline, visit, queue: Mutex::default(), changed: Condvar::new() };
        let mut top = Turn::new(&roamer);
        top.directory(&dir, entries, Below { path: PathBuf::new(), rules, depth: 1 });
        drop(top);
        thread::scope(|scope| {
            for _ in 1..thread::available_parallelism().map_or(1, usize::from).min(MAX_THREADS) {
                scope.spawn(|| roamer.work());
            }
            roamer.work();
        });
        let ignored = roamer.queue().ignored;
        Ok(Roamed { ignored, late: Instant::now() > deadline })
    }
}

/// How a walk ended.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Roamed {
    /// Ignore files left out something on the way.
    pub(crate) ignored: bool,
    /// Time ran out.
    pub(crate) late: bool,
}

struct Roamer<'a> {
    walk: Walk,
    absolute: PathBuf,
    deadline: Instant,
    visit: &'a (dyn Fn(&Entry<'_>) -> Flow + Sync),
    queue: Mutex<Queue>,
    changed: Condvar,
}

/// The last that came is the first to go, so that few directories wait, and each holds only the one above it open.
#[derive(Default)]
struct Queue {
    pending: Vec<Pending>,
    /// Turns that may still find directories.
    turns: usize,
    stopped: bool,
    /// Whether ignore files left anything out so far.
    ignored: bool,
}

/// A directory that was found and is not yet shown.
struct Pending {
    above: Arc<Dir>,
    name: OsString,
    below: Below,
}

/// Where a directory lies, and what holds there.
struct Below {
    path: PathBuf,
    /// Without its own.
    rules: Rules,
    depth: usize,
}

impl Roamer<'_> {
    fn visit(&self, entry: &Entry<'_>) -> Flow {
        if Instant::now() > self.deadline { Flow::Stop } else { (self.visit)(entry) }
    }

    fn work(&self) {
        while let Some(pending) = self.next() {
            Turn::of(self).show(pending);
        }
    }

    /// The next directory, and with it a turn; none once every directory was shown.
    fn next(&self) -> Option<Pending> {
        let mut queue = self.queue();
        loop {
            if queue.stopped {
                return None;
            }
            if let Some(pending) = queue.pending.pop() {
                queue.turns += 1;
                return Some(pending);
            }
            if queue.turns == 0 {
                return None;
            }
            queue = self.changed.wait(queue).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The work on one directory. However it ends, the other threads learn of it.
struct Turn<'a> {
    roamer: &'a Roamer<'a>,
    found: Vec<Pending>,
    ignored: bool,
    flow: Flow,
}

impl<'a> Turn<'a> {
    fn new(roamer: &'a Roamer<'a>) -> Self {
        roamer.queue().turns += 1;
        Self::of(roamer)
    }

    /// A turn that is counted already.
    fn of(roamer: &'a Roamer<'a>) -> Self {
        Self { roamer, found: Vec::new(), ignored: false, flow: Flow::On }
    }

    fn show(&mut self, pending: Pending) {
        let Pending { above, name, below } = pending;
        let cut = self.roamer.walk.cuts(EntryKind::Directory, below.depth - 1);
        let inner = if cut { None } else { enter(&above, &name) };
        let denied = !cut && inner.is_none();
        let kind = EntryKind::Directory;
        let entry = Entry { dir: &above, name: &name, path: &below.path, kind, denied, cut };
        self.flow = self.roamer.visit(&entry);
        drop(above);
        if let (Flow::On, Some((dir, entries))) = (self.flow, inner) {
            self.directory(&dir, entries, below);
        }
    }

    fn directory(&mut self, dir: &Arc<Dir>, entries: ReadDir, below: Below) {
        let Below { mut path, mut rules, depth } = below;
        let Roamer { walk, absolute, deadline, .. } = self.roamer;
        let listing = list(dir, entries, &absolute.join(&path), *walk, &mut rules, *deadline);
        self.ignored |= listing.ignored;
        for Listed { name, kind } in listing.entries {
            path.push(&name);
            if kind == EntryKind::Directory {
                let below = Below { path: path.clone(), rules: rules.clone(), depth: depth + 1 };
                self.found.push(Pending { above: Arc::clone(dir), name, below });
            } else {
                let entry = Entry { dir, name: &name, path: &path, kind, denied: false, cut: false };
                self.flow = self.roamer.visit(&entry);
            }
            path.pop();
            if self.flow == Flow::Stop {
                return;
            }
        }
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        let mut queue = self.roamer.queue();
        queue.turns -= 1;
        queue.stopped |= self.flow == Flow::Stop;
        queue.ignored |= self.ignored;
        queue.pending.append(&mut self.found);
        drop(queue);
        self.roamer.changed.notify_all();
    }
}
