//! What the configuration of a repository says, and what of it would make git run or read something.

use std::path::{Path, PathBuf};

use del_judge::is_harmless_setting;

use super::Act;
use super::repository::{Repository, Trouble};
use crate::outcome::Failure;

/// Files that include each other.
const MAX_FILES: usize = 16;

/// The settings of a repository, from its own files and those that they include.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Settings(Vec<(String, String)>);

impl Settings {
    /// Reads every file of it with `read`, which lists the settings of one file.
    pub(crate) fn read(
        repository: &Repository,
        read: &dyn Fn(&Path) -> Result<String, Failure>,
        failure: &dyn Fn(Trouble) -> Failure,
    ) -> Result<Self, Failure> {
        let mut settings = Self::default();
        let own = [repository.common.join("config"), repository.git.join("config.worktree")];
        let mut pending: Vec<PathBuf> = own.into_iter().filter(|file| file.is_file()).collect();
        let mut files = 0;
        while let Some(file) = pending.pop() {
            files += 1;
            if files > MAX_FILES {
                return Err(failure(Trouble::Broken(file)));
            }
            for (key, value) in parsed(&read(&file)?) {
                if let Some(path) = included(&key, &value, &file) {
                    let there = path.exists();
                    repository.holds("what the repository's configuration includes", &path).or_else(
                        // What is not there is not read, but what may come there has to be inside as well.
                        |trouble| if there { Err(failure(trouble)) } else { Ok(()) },
                    )?;
                    if there && !path.is_file() {
                        return Err(failure(Trouble::Broken(path)));
                    }
                    if there {
                        pending.push(path);
                    }
                }
                settings.0.push((key, value));
            }
        }
        Ok(settings)
    }

    /// The values of a setting.
    pub(crate) fn values(&self, key: &str) -> Vec<&str> {
        self.0.iter().filter(|(own, _)| own == key).map(|(_, value)| value.as_str()).collect()
    }

    /// What has to be set so that nothing of this runs or is read while git looks. The attributes are those in this file.
    pub(crate) fn held_back(&self, attributes: &str) -> Vec<(String, String)> {
        let mut held: Vec<(String, String)> = [
            ("core.attributesFile", attributes),
            ("status.submoduleSummary", "false"),
            ("diff.submodule", "short"),
            ("log.mailmap", "false"),
            ("gc.auto", "0"),
            ("maintenance.auto", "false"),
        ]
        .map(|(key, value)| (key.to_owned(), value.to_owned()))
        .into();
        for (key, _) in &self.0 {
            match parts(key) {
                ("core", _, "excludesfile") | ("diff", _, "orderfile") | ("mailmap", _, "file") => {
                    held.push((key.clone(), "/dev/null".to_owned()));
                }
                ("filter", Some(name), _) => {
                    for (key, value) in
                        [("clean", ""), ("smudge", ""), ("process", ""), ("required", "false")]
                    {
                        held.push((format!("filter.{name}.{key}"), value.to_owned()));
                    }
                }
                _ => {}
            }
        }
        held.sort();
        held.dedup();
        held
    }

    /// Settings of the kinds that git asks when it looks, of which neither is known that they are harmless nor that they
    /// are held back.
    pub(crate) fn unknown(&self) -> Vec<String> {
        const WATCHED: [&str; 9] =
            ["core", "diff", "log", "status", "extensions", "mailmap", "format", "index", "hook"];
        let unknown = self.0.iter().map(|(key, _)| key).filter(|key| {
            let (section, _, name) = parts(key);
            WATCHED.contains(&section) && !is_harmless_setting(section, name) && !is_held(section, name)
        });
        unknown.cloned().collect()
    }

    /// The settings that may make git run something for `act`.
    pub(crate) fn run_by(&self, act: Act) -> impl Iterator<Item = (&str, &str)> {
        let content = matches!(act, Act::Add | Act::Commit | Act::Switch | Act::Pull);
        let network = matches!(act, Act::Push | Act::Pull);
        let runs = move |key: &str, value: &str| match parts(key) {
            ("filter", _, "clean" | "smudge" | "process") => content,
            ("gpg", _, "program" | "defaultkeycommand") => act != Act::Add,
            ("hook", ..) => true,
            ("core", _, "sshcommand" | "gitproxy" | "askpass" | "alternaterefscommand") => network,
            ("credential" | "url" | "http" | "protocol", ..) => network,
            ("remote", _, "uploadpack" | "receivepack" | "vcs" | "proxy" | "promisor") => network,
            ("remote", _, "url" | "pushurl") => network && value.contains("::"),
            ("merge", _, "driver") => act == Act::Pull,
            _ => false,
        };
        self.0
            .iter()
            .map(|(key, value)| (key.as_str(), value.as_str()))
            .filter(move |(key, value)| runs(key, value))
    }
}

/// Settings that our options and environment win over, and settings of which it is known that they only change how
/// things look.
fn is_held(section: &str, name: &str) -> bool {
    let names: &[&str] = match section {
        "core" => &[
            "fsmonitor",
            "hookspath",
            "pager",
            "editor",
            "sshcommand",
            "gitproxy",
            "askpass",
            "attributesfile",
            "excludesfile",
            "worktree",
            "alternaterefscommand",
            "sharedrepository",
            "sparsecheckout",
            "sparsecheckoutcone",
            "commitgraph",
            "multipackindex",
            "splitindex",
            "preloadindex",
            "trustctime",
            "checkstat",
            "bigfilethreshold",
            "whitespace",
            "commentchar",
            "longpaths",
            "protecthfs",
            "protectntfs",
            "fscache",
            "loosecompression",
            "packedgitwindowsize",
            "packedgitlimit",
            "warnambiguousrefs",
        ],
        // The programs of drivers are left out by an option each.
        "diff" | "log" | "status" => return true,
        "mailmap" => &["file", "blob"],
        "extensions" => &["worktreeconfig", "partialclone", "refstorage", "relativeworktrees", "noop"],
        "format" => &["pretty", "signoff", "attach", "thread"],
        "index" => {
            &["version", "threads", "recordendofindexentries", "recordoffsettable", "sparse", "skiphash"]
        }
        _ => &[],
    };
    names.contains(&name)
}

/// The section, what stands between, and the name.
fn parts(key: &str) -> (&str, Option<&str>, &str) {
    let (section, rest) = key.split_once('.').unwrap_or((key, ""));
    match rest.rsplit_once('.') {
        Some((between, name)) => (section, Some(between), name),
        None => (section, None, rest),
    }
}

/// The file that a setting includes.
fn included(key: &str, value: &str, from: &Path) -> Option<PathBuf> {
    let (section, _, name) = parts(key);
    if !matches!(section, "include" | "includeif") || name != "path" {
        return None;
    }
    if let Some(rest) = value.strip_prefix("~/") {
        return Some(std::env::home_dir().unwrap_or_default().join(rest));
    }
    Some(from.parent().unwrap_or(from).join(value))
}

/// A list of settings as git writes it: the key, a newline and the value, with NUL behind each.
fn parsed(list: &str) -> impl Iterator<Item = (String, String)> {
    list.split_terminator('\0').map(|entry| {
        let (key, value) = entry.split_once('\n').unwrap_or((entry, "true"));
        (key.to_owned(), value.to_owned())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(list: &[(&str, &str)]) -> Settings {
        Settings(list.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect())
    }

    #[test]
    fn filters_are_held_back_by_their_names() {
        let held = settings(&[("filter.a.b=c.clean", "x")]).held_back("/dev/null");
        assert!(held.contains(&("filter.a.b=c.process".to_owned(), String::new())), "{held:?}");
        assert!(held.contains(&("filter.a.b=c.required".to_owned(), "false".to_owned())), "{held:?}");
    }

    #[test]
    fn what_is_new_to_us_is_doubtful_where_git_looks() {
        let unknown = |key: &str| settings(&[(key, "x")]).unknown();
        for key in ["core.newthing", "extensions.newthing", "hook.x.command", "format.newthing"] {
            assert_eq!(unknown(key), [key.to_owned()]);
        }
        for key in
            ["core.bare", "core.fsmonitor", "core.hookspath", "alias.status", "lfs.url", "filter.x.clean"]
        {
            assert!(unknown(key).is_empty(), "{key}");
        }
    }

    #[test]
    fn programs_are_named_for_what_runs_them() {
        let settings = settings(&[
            ("filter.lfs.clean", "git-lfs clean"),
            ("core.sshcommand", "evil"),
            ("gpg.program", "gpg2"),
            ("user.name", "x"),
        ]);
        let keys = |act| settings.run_by(act).map(|(key, _)| key).collect::<Vec<_>>();
        assert_eq!(keys(Act::Add), ["filter.lfs.clean"]);
        assert_eq!(keys(Act::Commit), ["filter.lfs.clean", "gpg.program"]);
        assert_eq!(keys(Act::Push), ["core.sshcommand", "gpg.program"]);
    }

    #[test]
    fn lists_are_read_with_their_odd_values() {
        let list = "core.bare\nfalse\0filter.a\nb.clean\0alias.x\n!a\nb\0";
        let read: Vec<_> = parsed(list).collect();
        assert_eq!(read[0], ("core.bare".to_owned(), "false".to_owned()));
        assert_eq!(read[2], ("alias.x".to_owned(), "!a\nb".to_owned()));
    }
}
