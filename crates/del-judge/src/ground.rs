//! Where a command runs, and which paths it may look at from there.

use std::ffi::OsString;
use std::fs;
use std::path::{Component, Path, PathBuf};

use crate::secret;
use crate::tree::{self, TooLarge};
use crate::withheld::Withheld;

/// As many links as the kernel follows.
const MAX_LINKS: usize = 40;

/// What the system tells everybody about itself.
const FACTS: [&str; 5] =
    ["/etc/os-release", "/proc/cpuinfo", "/proc/loadavg", "/proc/meminfo", "/proc/version"];

/// Whether a file outside of every working directory may be read: it is empty, or the system tells it everybody.
pub fn is_public(path: &Path) -> bool {
    path == Path::new("/dev/null") || FACTS.iter().any(|fact| path == Path::new(fact))
}

/// The directories that a command may look into, and where in them the command stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ground {
    /// The working directory, and behind it those that are allowed besides.
    roots: Vec<Root>,
    /// Where the command stands, at or below one of them.
    directory: PathBuf,
    /// What nobody may look at.
    withheld: Option<Withheld>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Root {
    /// Without links.
    path: PathBuf,
    /// As it was given, which may be another spelling.
    given: PathBuf,
}

impl Root {
    fn new(path: &Path) -> Self {
        let given = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        Self { path: fs::canonicalize(&given).unwrap_or_else(|_| given.clone()), given }
    }
}

/// Why a path may not be looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Forbidden {
    #[error("lies outside of the working directory")]
    Outside,
    #[error("leads through a link that goes nowhere")]
    Broken,
    #[error("goes through what is no directory")]
    NotDirectory,
    #[error("goes through a link, which the shell reads in another way")]
    Linked,
    #[error("is neither a file nor a directory, and reading it may never end")]
    Special,
    #[error("usually holds secrets")]
    Secret,
    #[error("holds files that usually hold secrets")]
    Holds,
    #[error("has more than {max} entries, and the rest was not looked at for secrets", max = tree::MOST)]
    Large,
    #[error("may not be read, as a rule says")]
    Withheld,
    #[error("holds files that may not be read, as a rule says")]
    HoldsWithheld,
    #[error("cannot be looked at")]
    Unknown,
}

/// What a path turned out to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Found {
    Nothing,
    File,
    Directory,
}

impl Ground {
    /// The working directory. It need not be there: then nothing is in it.
    pub fn new(root: &Path) -> Self {
        let root = Root::new(root);
        Self { directory: root.path.clone(), roots: vec![root], withheld: None }
    }

    /// The same where the command may not look at what is withheld.
    #[must_use]
    pub fn without(self, withheld: Withheld) -> Self {
        Self { withheld: Some(withheld), ..self }
    }

    /// Whether anything is withheld.
    pub(crate) fn withholds(&self) -> bool {
        self.withheld.is_some()
    }

    fn is_withheld(&self, path: &Path) -> bool {
        let own = || path.strip_prefix(&self.roots[0].path).unwrap_or(path);
        self.withheld.as_ref().is_some_and(|withheld| withheld.holds(own()))
    }

    /// The same with directories that the command may look into besides.
    #[must_use]
    pub fn and(mut self, more: &[PathBuf]) -> Self {
        self.roots.extend(more.iter().map(|path| Root::new(path)));
        self
    }

    /// The same working directory with the command in `directory`; `None` when that is not a directory inside.
    #[must_use]
    pub fn at(&self, directory: &Path) -> Option<Self> {
        let directory = fs::canonicalize(directory).ok().filter(|directory| directory.is_dir())?;
        self.holds(&directory).then(|| Self { directory, ..self.clone() })
    }

    /// The directories that the command may look into, the working directory first.
    pub(crate) fn roots(&self) -> impl Iterator<Item = &Path> {
        self.roots.iter().map(|root| root.path.as_path())
    }

    /// Where the command stands.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// Whether a path without links lies in one of the directories.
    pub(crate) fn holds(&self, path: &Path) -> bool {
        self.roots().any(|root| path.starts_with(root))
    }

    /// What lies below the directory that a path lies in, and that directory.
    fn within<'p>(&'p self, path: &'p Path) -> (&'p Path, &'p Path) {
        let inner =
            self.roots().filter(|root| path.starts_with(root)).max_by_key(|root| root.as_os_str().len());
        inner.and_then(|root| Some((path.strip_prefix(root).ok()?, root))).unwrap_or((path, path))
    }

    /// Whether a path is one of these by the names on it: also by those above the directory that it lies in, unless all that
    /// is there would be one.
    fn is(&self, path: &Path, named: fn(&Path) -> bool) -> bool {
        let (inside, root) = self.within(path);
        named(inside) || (!named(root) && named(path))
    }

    /// Whether `path` may be looked at, and what is there now.
    pub(crate) fn look(&self, path: &str) -> Result<Found, Forbidden> {
        if is_public(Path::new(path)) {
            return Ok(Found::File);
        }
        let walk = self.walk(Path::new(path))?;
        // In these, files are windows to the system.
        let windows = ["/proc", "/sys", "/dev"];
        if windows
            .iter()
            .any(|window| walk.at.starts_with(window) && self.roots().all(|root| !root.starts_with(window)))
        {
            return Err(Forbidden::Special);
        }
        if self.is(&walk.at, secret::is_secret) || secret::is_secret(Path::new(path)) {
            return Err(Forbidden::Secret);
        }
        if self.is_withheld(&walk.at) {
            return Err(Forbidden::Withheld);
        }
        Ok(walk.found)
    }

    /// Whether `path` may be looked at by what leaves out secrets by the names of files and directories on its way.
    pub(crate) fn look_into(&self, path: &str) -> Result<(), Forbidden> {
        let is_in_folder = |at: &Path| self.is(at, secret::is_in_folder);
        if self.look(path)? != Found::File && is_in_folder(&self.walk(Path::new(path))?.at) {
            return Err(Forbidden::Holds);
        }
        self.look_for_places(path)
    }

    /// Whether no place of secrets lies below `path`, which the patterns of what looks through trees do not name.
    pub(crate) fn look_for_places(&self, path: &str) -> Result<(), Forbidden> {
        // Patterns leave these out with all that lies in them.
        let entered = |name: &str| !secret::is_in_folder(Path::new(name));
        self.look_below(path, entered, secret::is_place_itself)
    }

    fn look_below(
        &self,
        path: &str,
        entered: impl Fn(&str) -> bool,
        is_secret: fn(&Path) -> bool,
    ) -> Result<(), Forbidden> {
        let walk = self.walk(Path::new(path))?;
        if walk.found != Found::Directory {
            return Ok(());
        }
        let not_meant = |path: &Path| self.is_withheld(path) || self.is(path, is_secret);
        match tree::find(&walk.at, tree::MOST, entered, |_, _, entry| not_meant(&entry.path())) {
            Ok(None) => Ok(()),
            Ok(Some(path)) if self.is_withheld(&path) => Err(Forbidden::HoldsWithheld),
            Ok(Some(_)) => Err(Forbidden::Holds),
            Err(TooLarge(_)) => Err(Forbidden::Large),
        }
    }

    /// Whether `path`, by its links, leads out of the working directory or to what usually holds secrets.
    pub(crate) fn leads_away(&self, path: &str) -> bool {
        match self.walk(Path::new(path)) {
            Ok(walk) => {
                walk.links > 0 && (self.is(&walk.at, secret::is_secret) || self.is_withheld(&walk.at))
            }
            Err(_) => true,
        }
    }

    /// Where `path` leads in the working directory, if something is there.
    pub(crate) fn follow(&self, path: &Path) -> Option<PathBuf> {
        let walk = self.walk(path).ok().filter(|walk| walk.found != Found::Nothing)?;
        Some(self.within(&walk.at).0.to_owned())
    }

    /// Whether `path` and all that lies below it may be looked at. Links are not followed.
    pub(crate) fn look_through(&self, path: &str) -> Result<(), Forbidden> {
        self.look(path)?;
        self.look_below(path, |_| true, secret::is_secret)
    }

    /// Where `cd PATH` leads: a directory that is there, reached without links.
    pub(crate) fn enter(&self, path: &str) -> Result<Self, Forbidden> {
        let walk = self.walk(Path::new(path))?;
        if walk.found != Found::Directory {
            return Err(Forbidden::NotDirectory);
        }
        if walk.links > 0 {
            return Err(Forbidden::Linked);
        }
        if self.is(&walk.at, secret::is_in_folder) || self.is(&walk.at, secret::is_place) {
            return Err(Forbidden::Holds);
        }
        Ok(Self { directory: walk.at, ..self.clone() })
    }

    /// Where a path begins, and the rest of it.
    fn start<'a>(&self, path: &'a Path) -> Result<(PathBuf, &'a Path), Forbidden> {
        if !path.is_absolute() {
            return Ok((self.directory.clone(), path));
        }
        let rests = self.roots.iter().flat_map(|root| {
            [&root.path, &root.given].map(|spelt| Some((root.path.clone(), path.strip_prefix(spelt).ok()?)))
        });
        // Of directories within each other, the inner one.
        rests.flatten().min_by_key(|(_, rest)| rest.as_os_str().len()).ok_or(Forbidden::Outside)
    }

    /// Follows `path` component by component and link by link. It never leaves the directories that may be
    /// looked into, not even to come back.
    fn walk(&self, path: &Path) -> Result<Walk, Forbidden> {
        let (at, rest) = self.start(path)?;
        let mut pending = Vec::new();
        stack(rest, &mut pending);
        let mut walk = Walk { at, found: Found::Directory, links: 0 };
        while let Some(name) = pending.pop() {
            if name == ".." {
                if walk.found != Found::Directory {
                    return Err(Forbidden::NotDirectory);
                }
                walk.at.pop();
                if !self.holds(&walk.at) {
                    return Err(Forbidden::Outside);
                }
                continue;
            }
            let next = walk.at.join(&name);
            if walk.found != Found::Directory {
                walk.at = next;
                continue;
            }
            match fs::symlink_metadata(&next) {
                Ok(found) if found.is_symlink() => {
                    walk.links += 1;
                    if walk.links > MAX_LINKS {
                        return Err(Forbidden::Broken);
                    }
                    let target = fs::read_link(&next).map_err(|_| Forbidden::Unknown)?;
                    let rest = if target.is_absolute() {
                        let (start, rest) = self.start(&target)?;
                        walk.at = start;
                        rest
                    } else {
                        &target
                    };
                    stack(rest, &mut pending);
                    continue;
                }
                Ok(found) if found.is_dir() => {}
                Ok(found) if found.is_file() => walk.found = Found::File,
                Ok(_) => return Err(Forbidden::Special),
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                    if walk.links > 0 {
                        return Err(Forbidden::Broken);
                    }
                    walk.found = Found::Nothing;
                }
                Err(_) => return Err(Forbidden::Unknown),
            }
            walk.at = next;
        }
        Ok(walk)
    }
}

/// How far a path was followed.
struct Walk {
    at: PathBuf,
    found: Found,
    links: usize,
}

/// Puts the components of a path on the stack, the first on top.
fn stack(path: &Path, pending: &mut Vec<OsString>) {
    let names: Vec<OsString> = path
        .components()
        .filter_map(|component| match component {
            Component::ParentDir => Some("..".into()),
            Component::Normal(name) => Some(name.to_owned()),
            Component::CurDir | Component::RootDir | Component::Prefix(_) => None,
        })
        .collect();
    pending.extend(names.into_iter().rev());
}
