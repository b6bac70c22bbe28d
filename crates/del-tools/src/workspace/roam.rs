//! Walking a tree with several threads, in no order.

use std::ffi::OsString;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use cap_std::fs::{Dir, ReadDir};
use del_parallel::{spread, threads};

use super::ignored::Rules;
use super::listing::{Listed, list};
use super::walk::{Entry, EntryKind, Flow, Start, Walk, enter};
use super::withheld::Withheld;
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
        let (withheld, ignored) = (&self.withheld, AtomicBool::new(false));
        let roamer = Roamer { walk, absolute, withheld, deadline, visit, ignored };
        let mut found = Vec::new();
        let top = Below { path: PathBuf::new(), rules, depth: 1 };
        if roamer.directory(&dir, entries, top, &mut found) == Flow::On {
            // The last that came is the first to go, so that few directories wait, and each holds only the one above
            // it open.
            spread(threads(MAX_THREADS), found, |pending, found| match roamer.show(pending, found) {
                Flow::On => ControlFlow::Continue(()),
                Flow::Stop => ControlFlow::Break(()),
            });
        }
        let ignored = roamer.ignored.into_inner();
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
    withheld: &'a Withheld,
    deadline: Instant,
    visit: &'a (dyn Fn(&Entry<'_>) -> Flow + Sync),
    /// Whether ignore files left anything out so far.
    ignored: AtomicBool,
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

    fn show(&self, pending: Pending, found: &mut Vec<Pending>) -> Flow {
        let Pending { above, name, below } = pending;
        let cut = self.walk.cuts(EntryKind::Directory, below.depth - 1);
        let inner = if cut { None } else { enter(&above, &name) };
        let denied = !cut && inner.is_none();
        let kind = EntryKind::Directory;
        let entry = Entry { dir: &above, name: &name, path: &below.path, kind, denied, cut };
        let flow = self.visit(&entry);
        drop(above);
        match inner {
            Some((dir, entries)) if flow == Flow::On => self.directory(&dir, entries, below, found),
            _ => flow,
        }
    }

    fn directory(&self, dir: &Arc<Dir>, entries: ReadDir, below: Below, found: &mut Vec<Pending>) -> Flow {
        let Below { mut path, mut rules, depth } = below;
        let listing = list(
            dir,
            entries,
            &self.absolute.join(&path),
            self.walk,
            &mut rules,
            self.withheld,
            self.deadline,
        );
        if listing.ignored {
            self.ignored.store(true, Ordering::Relaxed);
        }
        for Listed { name, kind } in listing.entries {
            path.push(&name);
            let flow = if kind == EntryKind::Directory {
                let below = Below { path: path.clone(), rules: rules.clone(), depth: depth + 1 };
                found.push(Pending { above: Arc::clone(dir), name, below });
                Flow::On
            } else {
                self.visit(&Entry { dir, name: &name, path: &path, kind, denied: false, cut: false })
            };
            path.pop();
            if flow == Flow::Stop {
                return flow;
            }
        }
        Flow::On
    }
}
