//! What a repository may make git do. Hooks, filters, external diffs, monitors and included files all come from its
//! configuration, so a repository counts as harmless only when its configuration holds nothing but keys known to be.

use std::fs::{self, DirEntry, FileType};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::ground::Ground;
use crate::secret;

/// A larger configuration is not read.
const MAX_CONFIGURATION: u64 = 256 * 1024;
/// Entries of the repository and of the tree that are looked at for what would mislead git.
const MAX_LOOKED_AT: usize = 20_000;
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
    #[error("`.git` is a link or leads elsewhere")]
    Elsewhere,
    #[error("the directory looks like a repository without a working tree")]
    Bare,
    #[error("the repository borrows objects from another one")]
    Borrows,
    #[error("`{}` is a pipe, a device or a link, which git does not make there", .0.display())]
    Special(PathBuf),
    #[error("`{}` may have git show the lines of files that usually hold secrets", .0.display())]
    Reveals(PathBuf),
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
    let configurations = directory.ancestors().map(|place| place.join(".git/config"));
    let mut texts = configurations.filter_map(|config| fs::read_to_string(config).ok());
    if texts.any(|text| text.lines().any(|line| password(line).is_some())) {
        Err(Untrusted::Address)
    } else {
        Ok(())
    }
}

/// Whether git, started in `directory`, would find a repository that makes it do something, or none at all.
pub(crate) fn check(directory: &Path) -> Result<(), Untrusted> {
    for place in directory.ancestors() {
        let git = place.join(".git");
        if let Ok(found) = fs::symlink_metadata(&git) {
            if !found.is_dir() {
                return Err(Untrusted::Elsewhere);
            }
            // What only looks like a repository, git passes by, and goes on above it.
            inspect(place, &git)?;
        }
        let has = |name: &str| fs::symlink_metadata(place.join(name)).is_ok();
        if has("HEAD") && (has("commondir") || (has("objects") && has("refs"))) {
            return Err(Untrusted::Bare);
        }
    }
    Ok(())
}

fn inspect(top: &Path, git: &Path) -> Result<(), Untrusted> {
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
    let own = rustix::process::geteuid().as_raw();
    for path in [top, git] {
        if fs::metadata(path).map_or(true, |metadata| metadata.uid() != own) {
            return Err(Untrusted::Owner);
        }
    }
    let found = |name: &str| fs::symlink_metadata(git.join(name));
    if PARTS.iter().any(|name| found(name).is_ok_and(|found| found.is_symlink()))
        || found("commondir").is_ok()
    {
        return Err(Untrusted::Elsewhere);
    }
    if ["alternates", "http-alternates"].iter().any(|name| git.join("objects/info").join(name).exists()) {
        return Err(Untrusted::Borrows);
    }
    if let Some(path) = what_misleads(git, top, MAX_LOOKED_AT) {
        return Err(Untrusted::Special(path));
    }
    if let Some(path) = what_reveals(git, top, MAX_LOOKED_AT) {
        return Err(Untrusted::Reveals(path));
    }
    let config = git.join("config");
    match fs::metadata(&config) {
        Ok(metadata) if metadata.is_file() && metadata.len() <= MAX_CONFIGURATION => {}
        Ok(_) => return Err(Untrusted::Unreadable),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        Err(_) => return Err(Untrusted::Unreadable),
    }
    settings(&fs::read_to_string(&config).map_err(|_| Untrusted::Unreadable)?)
}

/// What git would open in what it keeps, or in the tree above it, and wait for, or be led away by: pipes, sockets, devices,
/// and links among objects and branches. Of each of them so many entries are looked at.
pub fn what_misleads(git: &Path, top: &Path, entries: usize) -> Option<PathBuf> {
    let leads = |kind: FileType| kind.is_symlink() || is_special(kind);
    let parts = ["objects", "refs"];
    parts
        .iter()
        .find_map(|part| found(&git.join(part), entries, |kind, _, _| leads(kind)))
        .or_else(|| found(git, entries, |kind, _, _| is_special(kind)))
        .or_else(|| found(top, entries, |kind, name, _| is_special(kind) && READ_ANYWAY.contains(&name)))
}

/// The file of attributes that counts for more than those of [`git_attributes`](crate::git_attributes), and has git show
/// what these leave out.
pub fn what_reveals(git: &Path, top: &Path, entries: usize) -> Option<PathBuf> {
    let own = git.join("info/attributes");
    if reveals(&own) {
        return Some(own);
    }
    found(top, entries, |_, name, entry| name == ".gitattributes" && reveals(&entry.path()))
}

/// Whether attributes show as text what may hold secrets. What cannot be read shows nothing to git either, and of links
/// git makes no use.
fn reveals(path: &Path) -> bool {
    let Ok(metadata) = fs::symlink_metadata(path) else { return false };
    if !metadata.is_file() {
        return false;
    }
    let text = if metadata.len() > MAX_CONFIGURATION { None } else { fs::read(path).ok() };
    let Some(text) = text else { return true };
    String::from_utf8_lossy(&text).lines().any(|line| {
        let line = line.trim().trim_start_matches('\u{feff}');
        // A pattern in quotes may hold blanks and escapes.
        let (pattern, attributes) = match line.strip_prefix('"') {
            Some(quoted) => quoted.split_once("\" ").unwrap_or((quoted, "")),
            None => line.split_once([' ', '\t']).unwrap_or((line, "")),
        };
        let shows = |word: &str| word == "diff" || word == "!diff" || word.starts_with("diff=");
        let covers = pattern.starts_with("[attr]") || pattern.contains('\\') || secret::is_covered(pattern);
        !line.starts_with('#') && attributes.split_whitespace().any(shows) && covers
    })
}

/// What a program would open that leaves out what git leaves out, and wait for, or be led away by: it obeys what it finds
/// there, and shows the lines that it does not understand.
pub(crate) fn misleading_ignores(ground: &Ground) -> Option<PathBuf> {
    const NAMES: [&str; 4] = [".gitignore", ".ignore", ".rgignore", ".fdignore"];
    const EXCLUDE: &str = ".git/info/exclude";
    let directory = ground.directory();
    let names = || NAMES.into_iter().chain([EXCLUDE]);
    let misleads = |path: &PathBuf| {
        let special = fs::metadata(path).is_ok_and(|found| is_special(found.file_type()));
        // What lies above the working directory nobody but the user has put there.
        let inside = path.starts_with(ground.root());
        special || (inside && path.exists() && path.to_str().is_none_or(|path| ground.leads_away(path)))
    };
    let above = || directory.ancestors().flat_map(|place| names().map(|name| place.join(name)));
    above().find(misleads).or_else(|| {
        found(directory, MAX_LOOKED_AT, |kind, name, entry| match name {
            ".git" => misleads(&entry.path().join("info/exclude")),
            _ => !kind.is_file() && NAMES.contains(&name) && misleads(&entry.path()),
        })
    })
}

fn is_special(kind: FileType) -> bool {
    !kind.is_file() && !kind.is_dir() && !kind.is_symlink()
}

/// An entry below `directory` that is like this.
fn found(
    directory: &Path,
    entries: usize,
    like: impl Fn(FileType, &str, &DirEntry) -> bool,
) -> Option<PathBuf> {
    let mut pending = vec![directory.to_owned()];
    let mut left = entries;
    while let Some(directory) = pending.pop() {
        let Ok(listing) = fs::read_dir(&directory) else { continue };
        for entry in listing.flatten() {
            let Ok(kind) = entry.file_type() else { continue };
            left = left.checked_sub(1)?;
            let name = entry.file_name();
            if name.to_str().is_some_and(|name| like(kind, name, &entry)) {
                return Some(entry.path());
            }
            if kind.is_dir() && name != ".git" {
                pending.push(entry.path());
            }
        }
    }
    None
}

/// Reads a configuration: plain sections, and plain keys on lines of their own. All that is not plain counts as unknown.
fn settings(text: &str) -> Result<(), Untrusted> {
    let mut section = String::new();
    for line in text.lines() {
        let line = line.trim();
        if line.is_empty() || line.starts_with(['#', ';']) {
            continue;
        }
        // A value may go on in the next line.
        if line.ends_with('\\') {
            return Err(Untrusted::Unreadable);
        }
        if let Some(header) = line.strip_prefix('[') {
            // Behind the bracket a setting may stand on the same line.
            let Some(header) = header.strip_suffix(']').filter(|header| !header.contains(']')) else {
                return Err(Untrusted::Unreadable);
            };
            let name = header.split([' ', '\t', '"', '.']).next().unwrap_or_default();
            section = name.to_ascii_lowercase();
            continue;
        }
        let key = line.split(['=', ' ', '\t']).next().unwrap_or_default().to_ascii_lowercase();
        if !is_harmless(&section, &key) {
            return Err(Untrusted::Setting(format!("{section}.{key}")));
        }
    }
    Ok(())
}

/// Whether a setting, by its section and key in lower case, makes git neither run something nor look elsewhere.
pub fn is_harmless(section: &str, key: &str) -> bool {
    let keys: &[&str] = match section {
        "core" => &[
            "repositoryformatversion",
            "filemode",
            "bare",
            "logallrefupdates",
            "ignorecase",
            "precomposeunicode",
            "symlinks",
            "autocrlf",
            "eol",
            "safecrlf",
            "quotepath",
            "abbrev",
            "untrackedcache",
            "compression",
        ],
        "remote" => &["url", "pushurl", "fetch", "push", "tagopt", "prune", "gh-resolved"],
        "branch" => &[
            "remote",
            "merge",
            "rebase",
            "pushremote",
            "description",
            "vscode-merge-base",
            "gh-merge-base",
            "github-pr-owner-number",
            "autosetuprebase",
        ],
        "user" => &["name", "email"],
        "pull" => &["rebase", "ff"],
        "push" => &["default", "autosetupremote", "followtags"],
        "init" => &["defaultbranch"],
        "submodule" => &["active", "url"],
        "commit" | "tag" => &["gpgsign"],
        "rebase" => &["autostash", "autosquash"],
        "fetch" => &["prune", "parallel"],
        "gc" => &["auto"],
        "merge" => &["ff", "conflictstyle"],
        "rerere" => &["enabled"],
        "maintenance" => &["auto", "strategy"],
        "extensions" => &["objectformat"],
        "advice" => return true,
        "color" => return true,
        "gui" => &["wmstate", "geometry"],
        "lfs" => &["repositoryformatversion"],
        _ => &[],
    };
    keys.contains(&key)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAIN: &str = "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n[remote \"origin\"]\n\turl = x\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n[branch \"main\"]\n\tremote = origin\n";

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

    #[test]
    fn a_plain_configuration_is_harmless() {
        assert_eq!(settings(PLAIN), Ok(()));
        assert_eq!(settings(""), Ok(()));
        assert_eq!(settings("# x\n; y\n[core]\nbare=false\n"), Ok(()));
    }

    #[test]
    fn whatever_may_run_something_is_not() {
        for text in [
            "[core]\nfsmonitor = ./x",
            "[core]\n\tfsmonitor=./x",
            "[core] fsmonitor = ./x",
            "[core]fsmonitor=./x",
            "[CORE]\nFsMonitor = ./x",
            "[core]\nhooksPath = x",
            "[core]\npager = x",
            "[core]\nworktree = /etc",
            "[core]\nbare = false \\\nfsmonitor = x",
            "[filter \"x\"]\nclean = ./x",
            "[filter.x]\nclean = ./x",
            "[diff]\nexternal = x",
            "[diff \"x\"]\ntextconv = x",
            "[include]\npath = x",
            "[includeIf \"gitdir:x\"]\npath = x",
            "[alias]\nstatus = !id",
            "[extensions]\npartialClone = origin",
            "[remote \"x\"]\npromisor = true",
            "[remote \"x\"]\nuploadpack = x",
            "[gpg]\nprogram = x",
            "[log]\nshowSignature = true",
            "[submodule \"x\"]\nupdate = !id",
            "fsmonitor = x",
            "[core\nfsmonitor = x",
            "[core]\nbare # = x",
            "[pager]\nlog = x",
            "[core]fsmonitor=./x]",
            "[filter \"x\"]clean=./x]",
            "[filter \"x\"] clean = x # ]",
            "[core] ; ]\nfsmonitor = x",
        ] {
            let harmless = settings(text);
            assert!(harmless.is_err() || text.contains("bare # ="), "{text}: {harmless:?}");
        }
    }
}
