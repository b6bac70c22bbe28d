//! What a repository may make git do. Hooks, filters, external diffs, monitors and included files all come from its
//! configuration, so a repository counts as harmless only when its configuration holds nothing but keys known to be.

mod attributes;
mod index;
mod linked;
mod settings;

use std::fs::{self, DirEntry, FileType};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::ground::Ground;
use crate::tree::{self, TooLarge};

use linked::Kept;

pub use attributes::what_reveals;
pub use settings::is_harmless;

const CONFIGURATIONS: [&str; 2] = ["config", "config.worktree"];
/// A larger configuration is not read.
const MAX_CONFIGURATION: u64 = 256 * 1024;
/// Files of a tree that git reads whatever it was asked.
const READ_ANYWAY: [&str; 5] = [".git", ".gitignore", ".gitattributes", ".gitmodules", ".mailmap"];

/// Why git might do more than look.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Untrusted {
    #[error("the repository's configuration sets `{0}`, which may make git run something")]
    Setting(String),
    #[error("the repository's configuration cannot be read to its end")]
    Unreadable,
    #[error("the repository belongs to another user")]
    Owner,
    #[error("`.git` is a link or leads elsewhere, to what does not lead back here")]
    Elsewhere,
    #[error("the directory looks like a repository without a working tree")]
    Bare,
    #[error("the repository borrows objects from another one")]
    Borrows,
    #[error("`{}` is a pipe, a device or a link, which git does not make there", .0.display())]
    Special(PathBuf),
    #[error("`{}` may have git show the lines of files that usually hold secrets", .0.display())]
    Reveals(PathBuf),
    #[error("the tree has more than {max} entries, and what lies in `{}` was not looked at", .0.display(), max = tree::MOST)]
    Large(PathBuf),
    #[error("the repository's configuration holds an address with a password or a token in it")]
    Address,
}

/// An address without the password or the token that it may hold.
pub fn without_password(address: &str) -> String {
    match password(address) {
        Some((from, to)) => format!("{}***{}", &address[..from], &address[to..]),
        None => address.to_owned(),
    }
}

/// Where in a text the first address with a password or a token in it names the user, from and to.
fn password(text: &str) -> Option<(usize, usize)> {
    // No name of a user is as long as a token.
    const NAME: usize = 20;
    text.match_indices("://").find_map(|(at, sign)| {
        let from = at + sign.len();
        let authority = text[from..].split(['/', '?', '#', ' ', '\t', '"']).next().unwrap_or_default();
        let (user, _) = authority.rsplit_once('@')?;
        let with_password = user.split_once(':').is_some_and(|(_, password)| !password.is_empty());
        (with_password || user.len() >= NAME).then_some((from, from + user.len()))
    })
}

/// Whether the configuration of a repository that `directory` lies in holds such an address.
pub(crate) fn check_addresses(directory: &Path) -> Result<(), Untrusted> {
    let mut texts = directory.ancestors().filter_map(|place| {
        let git = kept_at(place).ok()??;
        Some(CONFIGURATIONS.map(|name| fs::read_to_string(git.common.join(name)).unwrap_or_default()))
    });
    if texts.any(|texts| texts.iter().flat_map(|text| text.lines()).any(|line| password(line).is_some())) {
        Err(Untrusted::Address)
    } else {
        Ok(())
    }
}

/// Whether git, started in `directory`, would find a repository that makes it do something, or none at all.
pub(crate) fn check(directory: &Path) -> Result<(), Untrusted> {
    for place in directory.ancestors() {
        if let Some(kept) = kept_at(place)? {
            inspect(place, &kept)?;
            if kept.git != place.join(".git") {
                // It was followed, and git looks no further.
                return Ok(());
            }
            // What only looks like a repository, git passes by, and goes on above it.
        }
        let has = |name: &str| fs::symlink_metadata(place.join(name)).is_ok();
        if has("HEAD") && (has("commondir") || (has("objects") && has("refs"))) {
            return Err(Untrusted::Bare);
        }
    }
    Ok(())
}

/// What git keeps for a working tree at `top`, if anything.
fn kept_at(top: &Path) -> Result<Option<Kept>, Untrusted> {
    let git = top.join(".git");
    match fs::symlink_metadata(&git) {
        Err(_) => Ok(None),
        Ok(found) if found.is_dir() => Ok(Some(Kept { common: git.clone(), git })),
        Ok(found) if found.is_file() => linked::follow(top).map(Some),
        Ok(_) => Err(Untrusted::Elsewhere),
    }
}

/// Where git keeps what belongs to the working tree at `top`, where `.git` is a file that leads there.
pub fn what_is_linked(top: &Path) -> Option<PathBuf> {
    let kept = kept_at(top).ok()??;
    (kept.git != top.join(".git")).then_some(kept.common)
}

fn inspect(top: &Path, kept: &Kept) -> Result<(), Untrusted> {
    const PARTS: [&str; 14] = [
        "config",
        "objects",
        "objects/info",
        "objects/pack",
        "refs",
        "refs/heads",
        "refs/remotes",
        "refs/tags",
        "HEAD",
        "index",
        "info",
        "info/exclude",
        "packed-refs",
        "logs",
    ];
    let Kept { git, common } = kept;
    let own = rustix::process::geteuid().as_raw();
    for path in [top, git, common] {
        if fs::metadata(path).map_or(true, |metadata| metadata.uid() != own) {
            return Err(Untrusted::Owner);
        }
    }
    let is_link = |name: &str| {
        [git, common]
            .iter()
            .any(|place| fs::symlink_metadata(place.join(name)).is_ok_and(|part| part.is_symlink()))
    };
    if PARTS.iter().any(|name| is_link(name)) || fs::symlink_metadata(common.join("commondir")).is_ok() {
        return Err(Untrusted::Elsewhere);
    }
    if ["alternates", "http-alternates"].iter().any(|name| common.join("objects/info").join(name).exists()) {
        return Err(Untrusted::Borrows);
    }
    // What it keeps of one working tree lies in what it keeps of all.
    if let Some(path) = leads_away(common, tree::MOST).map_err(Untrusted::Large)? {
        return Err(Untrusted::Special(path));
    }
    let asks =
        |kind, name: &str, entry: &DirEntry| is_waited_for(kind, name) || attributes::reveal(name, entry);
    if let Some(path) = found(top, tree::MOST, asks).map_err(Untrusted::Large)? {
        let waits = fs::symlink_metadata(&path).is_ok_and(|found| is_special(found.file_type()));
        return Err(if waits { Untrusted::Special(path) } else { Untrusted::Reveals(path) });
    }
    if let Some(path) = attributes::besides(git, common, top) {
        return Err(Untrusted::Reveals(path));
    }
    // The second counts where the first says so.
    let of_tree = (git != common).then(|| git.join("config.worktree"));
    let configurations = CONFIGURATIONS.iter().map(|name| common.join(name)).chain(of_tree);
    for config in configurations {
        match fs::metadata(&config) {
            Ok(metadata) if metadata.is_file() && metadata.len() <= MAX_CONFIGURATION => {}
            Ok(_) => return Err(Untrusted::Unreadable),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => continue,
            Err(_) => return Err(Untrusted::Unreadable),
        }
        let text = fs::read_to_string(&config).map_err(|_| Untrusted::Unreadable)?;
        settings::check(&text, |tree| git == common && linked::is_tree(git, tree, top))?;
    }
    Ok(())
}

/// What git would open in what it keeps, or in the tree above it, and wait for, or be led away by: pipes, sockets, devices,
/// and links in what it keeps. Of each of them so many entries are looked at, and what it keeps may not hold more.
pub fn what_misleads(git: &Path, top: &Path, entries: usize) -> Option<PathBuf> {
    leads_away(git, entries)
        .unwrap_or_else(Some)
        .or_else(|| found(top, entries, |kind, name, _| is_waited_for(kind, name)).unwrap_or_default())
}

/// A pipe, a device or a link in what git keeps: it reads many files there, and shows the lines of some that it does not
/// understand. Hooks are left out, since none of them runs.
fn leads_away(git: &Path, entries: usize) -> Result<Option<PathBuf>, PathBuf> {
    const HOOKS: &str = "hooks";
    let within_hooks = |path: &Path| {
        path.strip_prefix(git).is_ok_and(|path| path.parent().is_some_and(|folder| folder.ends_with(HOOKS)))
    };
    found(git, entries, |kind, name, entry| {
        is_special(kind) || (kind.is_symlink() && name != HOOKS && !within_hooks(&entry.path()))
    })
}

/// Whether git reads a file of this name whatever it was asked, and would wait for it.
fn is_waited_for(kind: FileType, name: &str) -> bool {
    is_special(kind) && READ_ANYWAY.contains(&name)
}

/// What a program would open that leaves out what git leaves out, and wait for, or be led away by: it obeys what it finds
/// there, and shows the lines that it does not understand.
pub(crate) fn misleading_ignores(ground: &Ground) -> Result<Option<PathBuf>, TooLarge> {
    const NAMES: [&str; 4] = [".gitignore", ".ignore", ".rgignore", ".fdignore"];
    const EXCLUDE: &str = ".git/info/exclude";
    let directory = ground.directory();
    let names = || NAMES.into_iter().chain([EXCLUDE]);
    let misleads = |path: &PathBuf| {
        let special = fs::metadata(path).is_ok_and(|found| is_special(found.file_type()));
        // What lies above the working directory nobody but the user has put there.
        let inside = ground.holds(path);
        special || (inside && path.exists() && path.to_str().is_none_or(|path| ground.leads_away(path)))
    };
    let above = || directory.ancestors().flat_map(|place| names().map(|name| place.join(name)));
    if let Some(path) = above().find(misleads) {
        return Ok(Some(path));
    }
    let enters = |name: &str| name != ".git";
    tree::find(directory, tree::MOST, enters, |kind, name, entry| match name {
        ".git" => misleads(&entry.path().join("info/exclude")),
        _ => !kind.is_file() && NAMES.contains(&name) && misleads(&entry.path()),
    })
}

fn is_special(kind: FileType) -> bool {
    !kind.is_file() && !kind.is_dir() && !kind.is_symlink()
}

/// An entry of a tree that is like this, what repositories keep left out. Where there are more than so many, it fails with
/// where it was then.
fn found(
    directory: &Path,
    most: usize,
    like: impl Fn(FileType, &str, &DirEntry) -> bool,
) -> Result<Option<PathBuf>, PathBuf> {
    tree::find(directory, most, |name| name != ".git", like).map_err(|TooLarge(place)| place)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_in_addresses_are_known() {
        for (address, shown) in [
            ("https://user:word@host/a.git", "https://***@host/a.git"),
            ("\turl = https://ghp_0123456789abcdef0123@github.com/a/b", "\turl = https://***@github.com/a/b"),
            ("ssh://git:word@host:22/a", "ssh://***@host:22/a"),
            ("https://user:p@ss@host/a", "https://***@host/a"),
            ("https://user@host/a", "https://user@host/a"),
            ("ssh://git@host/a", "ssh://git@host/a"),
            ("git@github.com:a/b.git", "git@github.com:a/b.git"),
            ("https://host/a@b:c", "https://host/a@b:c"),
            ("../a", "../a"),
        ] {
            assert_eq!(without_password(address), shown);
        }
    }
}
