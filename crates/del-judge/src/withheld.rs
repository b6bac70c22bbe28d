//! Paths that the user does not want to be read, whatever is in them.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

/// Says of a path whether it is withheld.
#[derive(Clone)]
pub struct Withheld(Arc<dyn Fn(&Path) -> bool + Send + Sync>);

impl Withheld {
    /// Those of which `is` says so. It gets paths in the working directory from there on, and others whole.
    pub fn new(is: impl Fn(&Path) -> bool + Send + Sync + 'static) -> Self {
        Self(Arc::new(is))
    }

    pub(crate) fn holds(&self, path: &Path) -> bool {
        (self.0)(path)
    }
}

impl fmt::Debug for Withheld {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Withheld")
    }
}

impl PartialEq for Withheld {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for Withheld {}

/// Whether a command of git shows what files hold or held, as far as its words say.
pub(crate) fn is_shown_by_git(arguments: &[String]) -> bool {
    const NAMES: [&str; 26] = [
        "status",
        "branch",
        "tag",
        "remote",
        "rev-parse",
        "ls-files",
        "ls-tree",
        "describe",
        "rev-list",
        "merge-base",
        "symbolic-ref",
        "show-ref",
        "for-each-ref",
        "count-objects",
        "check-ignore",
        "check-attr",
        "name-rev",
        "version",
        "worktree",
        "config",
        "shortlog",
        "cherry",
        "show-branch",
        "clean",
        "--version",
        "--help",
    ];
    const LOG: [&str; 12] = [
        "--oneline",
        "--graph",
        "--all",
        "--decorate",
        "--stat",
        "--name-only",
        "--name-status",
        "--no-merges",
        "--merges",
        "--first-parent",
        "--reverse",
        "--branches",
    ];
    const LOG_VALUES: [&str; 9] = [
        "--format=",
        "--pretty=",
        "--since=",
        "--until=",
        "--author=",
        "--grep=",
        "--date=",
        "--after=",
        "--before=",
    ];
    let mut words = arguments.iter().map(String::as_str);
    let command = loop {
        match words.next() {
            Some("-c") => drop(words.next()),
            Some(word) if word.starts_with('-') && !NAMES.contains(&word) => {}
            command => break command,
        }
    };
    let plain = |word: &str| {
        let number = |word: &str| !word.is_empty() && word.bytes().all(|b| b.is_ascii_digit());
        !word.starts_with('-')
            || LOG.contains(&word)
            || LOG_VALUES.iter().any(|value| word.starts_with(value))
            || matches!(word, "-n" | "--")
            || word.strip_prefix("-n").or(word.strip_prefix('-')).is_some_and(number)
    };
    match command {
        Some("status") => {
            words.any(|word| word == "--verbose" || (word.starts_with('-') && word.contains('v')))
        }
        Some("log" | "reflog") => !words.all(plain),
        Some("stash") => words.next() != Some("list") || !words.all(plain),
        Some(command) => !NAMES.contains(&command),
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_of_git_that_show_content_are_known() {
        let shows =
            |command: &str| is_shown_by_git(&command.split(' ').map(str::to_owned).collect::<Vec<_>>());
        for command in [
            "diff",
            "show HEAD",
            "log -p",
            "log -U3",
            "log --oneline -p",
            "log -Sx",
            "log -L1,2:a",
            "grep x",
            "blame a",
            "stash show",
            "stash list -p",
            "cat-file -p HEAD:a",
            "diff-tree HEAD",
            "whatchanged",
            "--no-pager diff",
            "-c color.ui=never show",
            "status -v",
            "status -sv",
            "reflog -p",
            "status --verbose",
        ] {
            assert!(shows(command), "{command}");
        }
        for command in [
            "status",
            "status -sb",
            "log --oneline -5",
            "log -n 3 --format=%h",
            "log --stat main",
            "branch -a",
            "ls-files",
            "stash list",
            "-c color.ui=never status",
            "--version",
            "rev-parse HEAD",
        ] {
            assert!(!shows(command), "{command}");
        }
    }
}
