//! What a repository may make git do. Hooks, filters, external diffs, monitors and included files all come from its
//! configuration, so a repository counts as harmless only when its configuration holds nothing but keys known to be.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// A larger configuration is not read.
const MAX_CONFIGURATION: u64 = 256 * 1024;

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
        if ["HEAD", "objects", "refs"].iter().all(|name| place.join(name).exists()) {
            return Err(Untrusted::Bare);
        }
    }
    Ok(())
}

fn inspect(top: &Path, git: &Path) -> Result<(), Untrusted> {
    let own = rustix::process::geteuid().as_raw();
    for path in [top, git] {
        if fs::metadata(path).map_or(true, |metadata| metadata.uid() != own) {
            return Err(Untrusted::Owner);
        }
    }
    let links = ["config", "objects", "refs", "HEAD", "index", "info", "packed-refs"];
    if links.iter().any(|name| fs::symlink_metadata(git.join(name)).is_ok_and(|found| found.is_symlink()))
        || git.join("commondir").exists()
    {
        return Err(Untrusted::Elsewhere);
    }
    if ["alternates", "http-alternates"].iter().any(|name| git.join("objects/info").join(name).exists()) {
        return Err(Untrusted::Borrows);
    }
    let config: PathBuf = git.join("config");
    match fs::metadata(&config) {
        Ok(metadata) if metadata.is_file() && metadata.len() <= MAX_CONFIGURATION => {}
        Ok(_) => return Err(Untrusted::Unreadable),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        Err(_) => return Err(Untrusted::Unreadable),
    }
    settings(&fs::read_to_string(&config).map_err(|_| Untrusted::Unreadable)?)
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
            let Some(header) = header.strip_suffix(']') else { return Err(Untrusted::Unreadable) };
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
        ] {
            let harmless = settings(text);
            assert!(harmless.is_err() || text.contains("bare # ="), "{text}: {harmless:?}");
        }
    }
}
