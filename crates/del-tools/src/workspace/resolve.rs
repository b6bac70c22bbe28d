//! Which place a path means.

use std::ffi::{OsStr, OsString};
use std::path::{Component, Path, PathBuf};
use std::{fs, io};

use super::{Access, Obstacle, Place, Workspace, without_home};
use crate::outcome::{Code, Failure};
use crate::text::on_one_line;

/// As many links as the kernel follows.
const MAX_LINKS: usize = 40;

impl Workspace {
    /// The place that `given` means, which may be relative, absolute, quoted, `~/…` or `file://…`.
    /// A file that is not there is a place too, if the directories up to it are inside.
    pub(crate) fn resolve(&self, given: &str, access: Access) -> Result<Place, Failure> {
        let path = cleaned(given)?;
        let place = self.resolve_path(&path, access).map_err(|obstacle| match obstacle {
            Obstacle::Missing => Failure::new(Code::NotFound, format!("file not found: {}.", named(given))),
            Obstacle::Dangling => {
                let cause = format!("file not found: {} is a link that leads nowhere.", named(given));
                Failure::new(Code::NotFound, cause)
            }
            Obstacle::NotDirectory => {
                let cause = format!("a part of {} is a file, not a directory.", named(given));
                Failure::new(Code::NotDir, cause)
            }
            Obstacle::Loop => Failure::new(Code::NotFound, format!("{} is a loop of links.", named(given))),
            Obstacle::Outside => self.outside(given),
            other => Failure::new(Code::System, format!("cannot look at {}: {other}.", named(given))),
        })?;
        if access == Access::Write && path.as_os_str().as_encoded_bytes().ends_with(b"/") {
            return Err(Failure::new(
                Code::IsDir,
                format!("{} names a directory, not a file.", named(given)),
            ));
        }
        Ok(place)
    }

    /// The refusal of a path outside.
    pub(crate) fn outside(&self, given: &str) -> Failure {
        let allowed: Vec<_> = self.allowed().collect();
        let cause = format!(
            "{} is outside the workspace {}. Allowed: {}.",
            named(given),
            allowed[0],
            allowed.join(", ")
        );
        Failure::new(Code::Outside, cause)
    }

    /// The place that `given` means without following it if it is a link itself: to remove or rename it.
    pub(crate) fn resolve_entry(&self, given: &str) -> Result<Place, Failure> {
        self.entry_at(&cleaned(given)?).map_err(|obstacle| match obstacle {
            Obstacle::Outside => self.outside(given),
            Obstacle::Directory => {
                let cause = format!("{} is no name of something in a directory.", named(given));
                Failure::new(Code::BadType, cause)
            }
            other => Failure::new(Code::NotFound, format!("cannot look at {}: {other}.", named(given))),
        })
    }

    /// The place at `path`, which is not followed if it is a link itself.
    pub(crate) fn entry_at(&self, path: &Path) -> Result<Place, Obstacle> {
        let (parent, name) = path.parent().zip(path.file_name()).ok_or(Obstacle::Directory)?;
        let parent = if parent.as_os_str().is_empty() { Path::new(".") } else { parent };
        self.entry(&self.resolve_path(parent, Access::Write)?, name)
    }

    /// The place called `name` in the directory `parent`, without following it if it is a link.
    pub(crate) fn entry(&self, parent: &Place, name: &OsStr) -> Result<Place, Obstacle> {
        let path = if parent.path == Path::new(".") { PathBuf::from(name) } else { parent.path.join(name) };
        let absolute = self.root_at(parent.root).path.join(&path);
        if self.guarded.as_ref().is_some_and(|guarded| absolute.starts_with(guarded)) {
            return Err(Obstacle::Outside);
        }
        let exists = parent.exists && self.dir(parent).symlink_metadata(&path).is_ok();
        Ok(Place { root: parent.root, shown: self.shown(parent.root, &path), path, exists })
    }

    pub(crate) fn resolve_path(&self, path: &Path, access: Access) -> Result<Place, Obstacle> {
        let Real { path, exists, trouble } = real(self.root(), path)?;
        let guarded = self.guarded.as_ref().is_some_and(|guarded| path.starts_with(guarded));
        if guarded && access == Access::Write {
            return Err(Obstacle::Outside);
        }
        let inside = self
            .all_roots()
            .enumerate()
            .filter(|(_, root)| root.access >= access)
            .find_map(|(index, root)| path.strip_prefix(&root.path).ok().map(|rest| (index, rest)));
        let (root, rest) = inside.ok_or(Obstacle::Outside)?;
        if let Some(obstacle) = trouble {
            return Err(obstacle);
        }
        let rest = if rest.as_os_str().is_empty() { Path::new(".") } else { rest };
        Ok(Place { root, path: rest.to_owned(), shown: self.shown(root, rest), exists })
    }

    /// A path beneath a root as people and models read it.
    pub(super) fn shown(&self, root: usize, path: &Path) -> String {
        match root {
            0 => on_one_line(&path.to_string_lossy()),
            _ if path == Path::new(".") => without_home(&self.root_at(root).path),
            _ => without_home(&self.root_at(root).path.join(path)),
        }
    }
}

struct Real {
    path: PathBuf,
    exists: bool,
    /// What was in the way. It counts only for a path that turns out to lie inside: nothing is told of the outside.
    trouble: Option<Obstacle>,
}

/// `path` from `base`, with every link replaced by what it leads to. What follows the deepest directory that is there
/// is appended, and must not climb.
fn real(base: &Path, path: &Path) -> Result<Real, Obstacle> {
    let mut at = base.to_owned();
    let mut pending: Vec<(OsString, bool)> = Vec::new();
    let mut links = 0;
    let mut exists = true;
    let mut trouble = None;
    enter(path, false, &mut at, &mut pending);
    while let Some((name, from_link)) = pending.pop() {
        if name == ".." {
            if !exists {
                // There is nothing to climb out of; where it would lead still says whether it is outside.
                trouble.get_or_insert(Obstacle::Missing);
            }
            at.pop();
            continue;
        }
        let next = at.join(&name);
        if !exists {
            at = next;
            continue;
        }
        match fs::symlink_metadata(&next) {
            Ok(found) if found.is_symlink() => {
                links += 1;
                if links > MAX_LINKS {
                    return Err(Obstacle::Loop);
                }
                enter(&fs::read_link(&next)?, true, &mut at, &mut pending);
                continue;
            }
            Ok(found) if !found.is_dir() && !pending.is_empty() => trouble = Some(Obstacle::NotDirectory),
            Ok(_) => {}
            Err(error) => {
                exists = false;
                if error.kind() != io::ErrorKind::NotFound {
                    trouble = Some(error.into());
                } else if from_link {
                    trouble = Some(Obstacle::Dangling);
                }
            }
        }
        exists &= !matches!(trouble, Some(Obstacle::NotDirectory));
        at = next;
    }
    Ok(Real { path: at, exists, trouble })
}

/// Puts the components of `path` before what is pending; an absolute one starts anew.
fn enter(path: &Path, from_link: bool, at: &mut PathBuf, pending: &mut Vec<(OsString, bool)>) {
    let mut names = Vec::new();
    for component in path.components() {
        match component {
            Component::Prefix(_) | Component::RootDir => *at = PathBuf::from("/"),
            Component::CurDir => {}
            Component::ParentDir => names.push((OsString::from(".."), from_link)),
            Component::Normal(name) => names.push((name.to_owned(), from_link)),
        }
    }
    pending.extend(names.into_iter().rev());
}

/// What models wrap around paths, taken off; what is no path, refused.
fn cleaned(given: &str) -> Result<PathBuf, Failure> {
    let bad = |cause: String| Err(Failure::new(Code::BadType, cause));
    let text = given.strip_suffix('\n').unwrap_or(given);
    let text = unquoted(text);
    let text = text.strip_prefix("file://localhost").or_else(|| text.strip_prefix("file://")).unwrap_or(text);
    if text.trim().is_empty() {
        return bad("the path is empty. Use '.' for the working directory.".to_owned());
    }
    if text.contains('\0') {
        return bad(format!("the path {} contains a NUL character.", named(text)));
    }
    if is_url(text) {
        return bad(format!("{} is a URL, not a path in the workspace.", named(text)));
    }
    if let Some(rest) = text.strip_prefix('~')
        && (rest.is_empty() || rest.starts_with('/'))
        && let Some(home) = std::env::home_dir()
    {
        return Ok(home.join(rest.trim_start_matches('/')));
    }
    Ok(PathBuf::from(text))
}

/// A path as a message shows it: on one line, and not longer than helps.
fn named(given: &str) -> String {
    match given.char_indices().nth(300) {
        Some((cut, _)) => on_one_line(&given[..cut]) + "…",
        None => on_one_line(given),
    }
}

fn unquoted(text: &str) -> &str {
    ['"', '\'', '`']
        .into_iter()
        .find_map(|quote| text.strip_prefix(quote)?.strip_suffix(quote))
        .filter(|inner| !inner.is_empty())
        .unwrap_or(text)
}

fn is_url(text: &str) -> bool {
    text.split_once("://").is_some_and(|(scheme, _)| {
        scheme.starts_with(|c: char| c.is_ascii_alphabetic())
            && scheme.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.'))
    })
}
