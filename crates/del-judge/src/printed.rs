//! What is known of the output of commands before they run, by what they are known to print.

use crate::mark::Mark;
use crate::secret;
use crate::syntax::{Command, Pipeline, Script, Simple, Substitution, Word};

/// So many words are tried where any number may come.
pub(crate) const MOST: usize = 3;

impl Mark {
    /// What is known of the output of commands.
    pub(crate) fn of_script(script: &Script) -> Self {
        match script.pipelines.as_slice() {
            [pipeline] if !pipeline.negated => Self::of_commands(&pipeline.commands),
            _ => Self::Text,
        }
    }

    /// What may stand for the output of commands, one after the other: of a path there may be several, of which a program
    /// that takes one does something else with the second and the third.
    pub(crate) fn samples(self, script: &Script) -> Vec<String> {
        let one = self.character().to_string();
        let last = script.pipelines.last().and_then(|pipeline| pipeline.commands.last());
        let words = match last {
            Some(Command::Simple(simple)) => words(simple).unwrap_or_default(),
            _ => Vec::new(),
        };
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let single =
            matches!(words.as_slice(), ["head" | "tail", "-1" | "-n1"] | ["head" | "tail", "-n", "1"]);
        let most = if self == Self::Path && !single { MOST } else { 1 };
        (1..=most).map(|n| vec![one.as_str(); n].join(" ")).collect()
    }

    /// What is known of the output of a part of a pipeline: what its first program prints, if the others pass lines on.
    pub(crate) fn of_commands(commands: &[Command]) -> Self {
        let mut simple = commands.iter().map(|command| match command {
            Command::Simple(simple) => words(simple),
            Command::Compound(..) => None,
        });
        let Some(Some(first)) = simple.next() else { return Self::Text };
        let Some(mark) = printed(&first) else { return Self::Text };
        if mark == Self::Path && first.iter().any(|word| is_wanted(word)) {
            return Self::Text;
        }
        if simple.all(|words| words.is_some_and(|words| passes_on(&words))) { mark } else { Self::Text }
    }
}

impl Pipeline {
    /// The pipeline as it may become, as far as that is known before its substitutions are worked out.
    pub(crate) fn marked(&self) -> impl Iterator<Item = Self> {
        let samples = |substitution: Substitution<'_>| match substitution {
            Substitution { is_file: true, .. } => vec![String::new()],
            Substitution { script, .. } => Mark::of_script(script).samples(script),
        };
        let samples: Vec<_> = self.outputs().into_iter().map(samples).collect();
        let most = samples.iter().map(Vec::len).max().unwrap_or(1);
        (0..most).map(move |n| {
            let marks = samples.iter().map(|values| values.get(n).or(values.last()).cloned());
            self.with_outputs(marks, Some(&Mark::Text.character().to_string()))
        })
    }
}

/// The first command in a substitution that is none of those whose output people put into words.
pub(crate) fn unanswered(script: &Script) -> Option<String> {
    const ANSWERS: [&str; 44] = [
        "[",
        "awk",
        "basename",
        "cat",
        "command",
        "cut",
        "date",
        "dirname",
        "du",
        "echo",
        "expr",
        "false",
        "fd",
        "file",
        "find",
        "git",
        "grep",
        "head",
        "jq",
        "ls",
        "md5sum",
        "nl",
        "nproc",
        "printf",
        "pwd",
        "readlink",
        "realpath",
        "rev",
        "rg",
        "sed",
        "seq",
        "sha256sum",
        "sort",
        "stat",
        "tac",
        "tail",
        "test",
        "tr",
        "true",
        "uniq",
        "wc",
        "which",
        "xargs",
        "yq",
    ];
    for command in script.pipelines.iter().flat_map(|pipeline| &pipeline.commands) {
        let Command::Simple(simple) = command else { return Some("(".to_owned()) };
        let words: Vec<_> = simple.words.iter().map(Word::unmatched).collect();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let known = match words.as_slice() {
            ["uname", "-s" | "-m" | "-r"] | [_, "--version"] => true,
            [name, ..] => ANSWERS.contains(name),
            [] => false,
        };
        if !known {
            return Some(words.first().map_or_else(String::new, |name| (*name).to_owned()));
        }
    }
    None
}

/// The words of a command, with wildcards as they stand and values left out.
fn words(simple: &Simple) -> Option<Vec<String>> {
    simple.assignments.is_empty().then(|| simple.words.iter().map(Word::unmatched).collect())
}

/// Whether a pattern of names is made for secrets, or finds them because it says little else.
fn is_wanted(word: &str) -> bool {
    let bare = word.trim_matches(|c| matches!(c, '*' | '.' | '^' | '$' | '/' | '?'));
    secret::is_meant(word)
        || matches!(bare, "env" | "rsa" | "id" | "id_" | "pem" | "key" | "npmrc" | "netrc")
        || word == ".*"
}

fn has_no_option_but(words: &[&str], known: &[&str]) -> bool {
    let mut before = words.iter().take_while(|word| **word != "--");
    before.all(|word| !word.starts_with('-') || known.contains(word))
}

/// What a program prints, line by line, where that is known.
fn printed(words: &[String]) -> Option<Mark> {
    let (program, words) = words.split_first()?;
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let has = |names: &[&str]| words.iter().any(|word| names.contains(word));
    let options = |known: &[&str]| has_no_option_but(&words, known);
    let cluster = |letters: &str| {
        words.iter().all(|word| {
            !word.starts_with('-')
                || word.starts_with("--in")
                || word.starts_with("--ex")
                || word[1..].chars().all(|c| letters.contains(c))
        })
    };
    let letter = |letter: char| {
        words.iter().any(|word| word.starts_with('-') && !word.starts_with("--") && word.contains(letter))
    };
    let paths = match program.as_str() {
        "find" => !has(&["-printf", "-ls", "-exec", "-execdir"]),
        "fd" | "fdfind" => true,
        "ls" => options(&["-1", "-a", "-A", "-t", "-r", "-S", "-d", "-1t", "-tr", "-1tr"]),
        "rg" => {
            let lists = has(&["--files", "-l", "--files-with-matches", "--files-without-match"]);
            lists
                && options(&[
                    "--files",
                    "-l",
                    "--files-with-matches",
                    "--files-without-match",
                    "--hidden",
                    "-g",
                    "-t",
                    "-i",
                    "-w",
                    "-F",
                    "-0",
                    "--null",
                    "-e",
                    "-tpy",
                    "-trust",
                    "-uu",
                ])
        }
        "grep" | "egrep" | "fgrep" => (letter('l') || letter('L')) && cluster("rlLinwEFsIZ"),
        "git" => return git(&words),
        _ => false,
    };
    paths.then_some(Mark::Path)
}

fn git(words: &[&str]) -> Option<Mark> {
    let (command, words) = words.split_first()?;
    let options = |known: &[&str]| has_no_option_but(words, known);
    let has = |name: &str| words.contains(&name);
    match *command {
        "ls-files" => options(&[
            "-m",
            "-o",
            "-c",
            "-d",
            "-z",
            "--modified",
            "--others",
            "--cached",
            "--deleted",
            "--exclude-standard",
        ])
        .then_some(Mark::Path),
        "diff" => (has("--name-only")
            && options(&[
                "--name-only",
                "--cached",
                "--staged",
                "-z",
                "--diff-filter=ACM",
                "--diff-filter=ACMR",
                "--diff-filter=d",
                "--diff-filter=M",
            ]))
        .then_some(Mark::Path),
        "grep" => ((has("-l") || has("--name-only") || has("--files-with-matches"))
            && options(&["-l", "--name-only", "--files-with-matches", "-i", "-w", "-F", "-E", "-z"]))
        .then_some(Mark::Path),
        "ls-tree" => (has("--name-only") && options(&["--name-only", "-r", "-z"])).then_some(Mark::Path),
        "rev-parse" => {
            options(&["--short", "--verify", "-q", "--quiet", "--abbrev-ref", "--symbolic-full-name"])
                .then_some(Mark::Revision)
        }
        "log" => is_list_of_ids(words).then_some(Mark::Revision),
        "merge-base" | "describe" => Some(Mark::Revision),
        "rev-list" => options(&[
            "-1",
            "-n",
            "--max-count",
            "--all",
            "--tags",
            "--reverse",
            "--max-count=1",
            "--no-merges",
        ])
        .then_some(Mark::Revision),
        "branch" => (words == ["--show-current"]).then_some(Mark::Revision),
        "symbolic-ref" => Some(Mark::Revision),
        "tag" => options(&[
            "-l",
            "--list",
            "--sort=-creatordate",
            "--sort=-v:refname",
            "--sort=v:refname",
            "--merged",
        ])
        .then_some(Mark::Revision),
        _ => None,
    }
}

/// Whether words of `git log` have it print ids and nothing else.
fn is_list_of_ids(words: &[&str]) -> bool {
    const FORMATS: [&str; 8] = [
        "--format=%H",
        "--format=%h",
        "--format=format:%H",
        "--format=format:%h",
        "--pretty=%H",
        "--pretty=%h",
        "--pretty=format:%H",
        "--pretty=format:%h",
    ];
    let chooses = |word: &str| {
        let number = word.strip_prefix("-n").or(word.strip_prefix('-'));
        FORMATS.contains(&word)
            || ["--all", "--no-merges", "--merges", "--reverse", "--first-parent"].contains(&word)
            || ["--since=", "--until=", "--after=", "--before=", "--author=", "--grep="]
                .iter()
                .any(|start| word.starts_with(start))
            || number.is_some_and(|number| number.bytes().all(|b| b.is_ascii_digit()))
    };
    let mut options = words.iter().take_while(|word| **word != "--").filter(|word| word.starts_with('-'));
    words.iter().any(|word| FORMATS.contains(word)) && options.all(|word| chooses(word))
}

/// Whether a program prints some of the lines that it reads, and no others.
fn passes_on(words: &[String]) -> bool {
    let Some((program, words)) = words.split_first() else { return false };
    let plain = |word: &String, letters: &str| {
        word.strip_prefix('-')
            .is_some_and(|rest| rest.chars().all(|c| c.is_ascii_digit() || letters.contains(c)))
            || word.bytes().all(|b| b.is_ascii_digit())
    };
    match program.as_str() {
        "head" | "tail" => words.iter().all(|word| plain(word, "nz+") || word.starts_with('+')),
        "sort" => words.iter().all(|word| plain(word, "urVnz")),
        "uniq" | "tac" | "cat" => words.is_empty(),
        "grep" | "egrep" => {
            let (options, patterns): (Vec<_>, Vec<_>) = words.iter().partition(|word| word.starts_with('-'));
            options.iter().all(|word| plain(word, "vEFiwxz"))
                && patterns.len() == 1
                && !patterns.iter().any(|word| is_wanted(word))
        }
        _ => false,
    }
}
