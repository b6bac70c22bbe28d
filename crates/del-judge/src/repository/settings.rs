//! What the configuration of a repository says.

use super::Untrusted;

/// Reads a configuration: plain sections, and plain keys on lines of their own. All that is not plain counts as unknown. Of
/// working trees that it names, each has to be one that `is_tree` knows.
pub(super) fn check(text: &str, is_tree: impl Fn(&str) -> bool) -> Result<(), Untrusted> {
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
        let names_tree = || section == "core" && worktree(line).is_some_and(&is_tree);
        if !is_harmless(&section, &key) && !names_tree() {
            return Err(Untrusted::Setting(format!("{section}.{key}")));
        }
    }
    Ok(())
}

/// The working trees that a configuration may name.
pub(super) fn worktrees(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter_map(|line| worktree(line.trim()))
}

fn worktree(line: &str) -> Option<&str> {
    let (key, value) = line.split_once('=')?;
    key.trim_end().eq_ignore_ascii_case("worktree").then(|| value.trim())
}

/// Whether a setting, by its section and key in lower case, makes git neither run something nor look elsewhere: it says how
/// things look, it counts only where git writes or talks to others, or what safe commands are given wins over it.
pub fn is_harmless(section: &str, key: &str) -> bool {
    let keys: &[&str] = match section {
        // Nothing is sent, hooks and monitors are left out by options, and no editor is started.
        "core" => &[
            "abbrev",
            "askpass",
            "autocrlf",
            "bare",
            "bigfilethreshold",
            "checkstat",
            "commentchar",
            "commentstring",
            "commitgraph",
            "compression",
            "createobject",
            "editor",
            "eol",
            "filemode",
            "fscache",
            "fsmonitor",
            "fsync",
            "gitproxy",
            "hidedotfiles",
            "hookspath",
            "ignorecase",
            "ignorestat",
            "logallrefupdates",
            "longpaths",
            "loosecompression",
            "multipackindex",
            "packedgitlimit",
            "packedgitwindowsize",
            "precomposeunicode",
            "preloadindex",
            "protecthfs",
            "protectntfs",
            "quotepath",
            "repositoryformatversion",
            "safecrlf",
            "sharedrepository",
            "sparsecheckout",
            "sparsecheckoutcone",
            "splitindex",
            "sshcommand",
            "symlinks",
            "trustctime",
            "untrackedcache",
            "warnambiguousrefs",
            "whitespace",
        ],
        "remote" => &[
            "url",
            "pushurl",
            "fetch",
            "push",
            "tagopt",
            "prune",
            "prunetags",
            "mirror",
            "skipfetchall",
            "gh-resolved",
            "promisor",
            "partialclonefilter",
            "followremotehead",
        ],
        "branch" => &[
            "remote",
            "merge",
            "rebase",
            "pushremote",
            "description",
            "sort",
            "vscode-merge-base",
            "gh-merge-base",
            "github-pr-owner-number",
            "autosetuprebase",
            "autosetupmerge",
        ],
        "user" => &["name", "email", "signingkey", "useconfigonly"],
        "pull" => &["rebase", "ff"],
        "push" => &["default", "autosetupremote", "followtags", "recursesubmodules", "useforceifincludes"],
        "init" => &["defaultbranch"],
        "submodule" => &["active", "url", "branch", "ignore", "recurse"],
        "commit" => &["gpgsign", "verbose", "template", "cleanup", "status"],
        "tag" => &["gpgsign", "sort"],
        "gpg" => &["format"],
        "rebase" => &["autostash", "autosquash", "updaterefs", "stat", "missingcommitscheck"],
        "fetch" => &["prune", "prunetags", "parallel", "writecommitgraph", "recursesubmodules"],
        "gc" => &["auto", "autodetach", "pruneexpire", "reflogexpire", "reflogexpireunreachable"],
        "pack" => &["threads", "window", "depth", "windowmemory", "usesparse"],
        "merge" => &["ff", "conflictstyle", "renames", "renamelimit", "tool", "stat"],
        "rerere" => &["enabled", "autoupdate"],
        "maintenance" => &["auto", "strategy"],
        "extensions" => &[
            "objectformat",
            "worktreeconfig",
            "partialclone",
            "relativeworktrees",
            "noop",
            "preciousobjects",
        ],
        "feature" => &["manyfiles", "experimental"],
        "index" => &["version", "threads", "sparse", "skiphash"],
        "log" => &["abbrevcommit", "date", "decorate", "diffmerges", "follow", "graphcolors", "showroot"],
        "diff" => &[
            "algorithm",
            "colormoved",
            "colormovedws",
            "context",
            "dstprefix",
            "funcname",
            "guitool",
            "indentheuristic",
            "interhunkcontext",
            "mnemonicprefix",
            "noprefix",
            "relative",
            "renamelimit",
            "renames",
            "srcprefix",
            "statgraphwidth",
            "statnamewidth",
            "suppressblankempty",
            "tool",
            "wordregex",
            "wserrorhighlight",
            "xfuncname",
        ],
        "status" => &[
            "aheadbehind",
            "branch",
            "displaycommentprefix",
            "relativepaths",
            "renamelimit",
            "renames",
            "short",
            "showstash",
            "showuntrackedfiles",
        ],
        "blame" => &["blankboundary", "coloring", "date", "showemail", "showroot"],
        "grep" => &["linenumber", "column", "patterntype", "extendedregexp", "fullname", "threads"],
        "i18n" => &["commitencoding", "logoutputencoding"],
        "protocol" => &["version"],
        "versionsort" => &["suffix"],
        // No command of these is run.
        "difftool" | "mergetool" | "sendemail" | "checkout" | "stash" => return true,
        // Nothing is sent. What an address holds is looked at where it is shown.
        "credential" | "http" | "url" => return true,
        // Git itself does not know it; its program runs where a filter names it.
        "lfs" => return true,
        // What git can do itself has no other meaning. One command is about to lose it.
        "alias" => return !matches!(key, "whatchanged" | "command"),
        "advice" | "color" => return true,
        "gui" => &["wmstate", "geometry", "encoding"],
        _ => &[],
    };
    keys.contains(&key)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str) -> Result<(), Untrusted> {
        super::check(text, |tree| tree == "../here")
    }

    const PLAIN: &str = "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n[remote \"origin\"]\n\turl = x\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n[branch \"main\"]\n\tremote = origin\n";

    #[test]
    fn a_plain_configuration_is_harmless() {
        assert_eq!(check(PLAIN), Ok(()));
        assert_eq!(check(""), Ok(()));
        assert_eq!(check("# x\n; y\n[core]\nbare=false\n"), Ok(()));
    }

    #[test]
    fn what_only_changes_how_things_look_or_is_overridden_is_harmless() {
        for text in [
            "[core]\nhooksPath = .husky/_",
            "[core]\n\tfsmonitor = true",
            "[core]\nlongpaths = true\npreloadIndex = true\nsharedRepository = group\ncommentChar = ;\neditor = vi",
            "[core]\nsparseCheckout = true\nsparseCheckoutCone = true\n[extensions]\nworktreeConfig = true",
            "[extensions]\npartialClone = origin\n[remote \"origin\"]\npromisor = true\npartialclonefilter = blob:none",
            "[user]\nsigningkey = x\n[gpg]\nformat = ssh",
            "[log]\ndate = iso\n[diff]\nalgorithm = histogram\nnoprefix = true\nrenames = copies",
            "[status]\nshowUntrackedFiles = all\n[commit]\nverbose = true\n[push]\nrecurseSubmodules = check",
            "[core]\nworktree = ../here",
            "[core]\n\tWorkTree=../here",
            "[credential]\nhelper = store\n[lfs \"https://host/a.git/info/lfs\"]\naccess = basic",
            "[alias]\nst = status\nco = !id",
            "[difftool]\nprompt = false\n[i18n]\ncommitEncoding = utf-8",
            "[http \"https://github.com/\"]\nextraheader = AUTHORIZATION: basic x",
            "[url \"git@host:\"]\ninsteadOf = https://host/",
        ] {
            assert_eq!(check(text), Ok(()), "{text}");
        }
    }

    #[test]
    fn whatever_may_run_something_is_not() {
        for text in [
            "[core]\npager = ./x",
            "[core]\n\tpager=./x",
            "[core] pager = ./x",
            "[core]fsmonitor=./x",
            "[CORE]\nPager = ./x",
            "[core]\nworktree = x",
            "[core]\nworktree = ../here\nworktree = x",
            "[x]\nworktree = ../here",
            "[core]\nworktree = ../here # x",
            "[core]\npager = x",
            "[core]\nworktree = /etc",
            "[core]\nbare = false \\\nfsmonitor = x",
            "[filter \"x\"]\nclean = ./x",
            "[filter.x]\nclean = ./x",
            "[diff]\nexternal = x",
            "[diff \"x\"]\ntextconv = x",
            "[include]\npath = x",
            "[includeIf \"gitdir:x\"]\npath = x",
            "[alias]\nwhatchanged = !id",
            "[alias \"status\"]\ncommand = !id",
            "[attr]\ntree = x",
            "[diff]\norderFile = x",
            "[diff]\nsubmodule = diff",
            "[status]\nsubmoduleSummary = true",
            "[blame]\nignoreRevsFile = x",
            "[core]\nexcludesFile = x",
            "[core]\nattributesFile = x",
            "[format]\npretty = %G?",
            "[remote \"x\"]\nvcs = x",
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
            let harmless = check(text);
            assert!(harmless.is_err() || text.contains("bare # ="), "{text}: {harmless:?}");
        }
    }
}
