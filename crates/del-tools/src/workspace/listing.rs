//! What is in a directory, less what is not to be shown.

use std::cmp::Ordering;
use std::ffi::OsString;
use std::path::Path;
use std::time::Instant;

use cap_std::fs::{Dir, DirEntry, ReadDir};

use super::ignored::Rules;
use super::walk::{EntryKind, Order, Walk};
use super::withheld::Withheld;

/// An entry of a directory.
pub(super) struct Listed {
    pub(super) name: OsString,
    pub(super) kind: EntryKind,
}

impl Listed {
    fn new(entry: &DirEntry) -> Option<Self> {
        let kind = entry.file_type().ok()?;
        let kind = match () {
            () if kind.is_dir() => EntryKind::Directory,
            () if kind.is_symlink() => EntryKind::Link,
            () if kind.is_file() => EntryKind::File,
            () => EntryKind::Special,
        };
        Some(Self { name: entry.file_name(), kind })
    }

    /// Which of two entries of one directory comes first.
    pub(super) fn compare(&self, other: &Self, order: Order) -> Ordering {
        match order {
            Order::Path => self.in_paths().cmp(other.in_paths()),
            Order::DirectoriesFirst => {
                let files_last = |entry: &Self| entry.kind != EntryKind::Directory;
                let without_case = self.lowercase().cmp(other.lowercase());
                files_last(self).cmp(&files_last(other)).then(without_case).then(self.name.cmp(&other.name))
            }
        }
    }

    /// The name as it stands in the paths of what is below.
    fn in_paths(&self) -> impl Iterator<Item = u8> {
        let slash = (self.kind == EntryKind::Directory).then_some(b'/');
        self.name.as_encoded_bytes().iter().copied().chain(slash)
    }

    fn lowercase(&self) -> impl Iterator<Item = u8> {
        self.name.as_encoded_bytes().iter().map(u8::to_ascii_lowercase)
    }
}

/// What is shown of a directory.
pub(super) struct Listing {
    /// In no order.
    pub(super) entries: Vec<Listed>,
    /// Whether ignore files left anything out.
    pub(super) ignored: bool,
}

/// The `entries` of `dir`, which lies at the absolute path `at`, as many as there is time for. Its own rules are added to
/// `rules`.
pub(super) fn list(
    dir: &Dir,
    entries: ReadDir,
    at: &Path,
    walk: Walk,
    rules: &mut Rules,
    withheld: &Withheld,
    deadline: Instant,
) -> Listing {
    // An entry that vanishes while we look is not there.
    let in_time = entries.take_while(|_| Instant::now() <= deadline);
    let mut listed: Vec<_> =
        in_time.filter_map(|entry| entry.ok().and_then(|entry| Listed::new(&entry))).collect();
    if walk.respect_ignored {
        rules.enter(dir, at, |name| listed.iter().any(|entry| entry.name == name));
    }
    let mut path = at.to_owned();
    let mut ignored = false;
    listed.retain(|Listed { name, kind }| {
        let hidden = name.as_encoded_bytes().starts_with(b".") && !walk.hidden;
        if hidden || name == ".git" {
            return false;
        }
        let rules = Some(&*rules).filter(|rules| rules.depth() > 0);
        if rules.is_some() && Instant::now() > deadline {
            return false;
        }
        path.push(name);
        let is_withheld = withheld.leaves_out(&path);
        let left_out =
            !is_withheld && rules.is_some_and(|rules| rules.leave_out(&path, *kind == EntryKind::Directory));
        path.pop();
        ignored |= left_out;
        !is_withheld && !left_out
    });
    Listing { entries: listed, ignored }
}
