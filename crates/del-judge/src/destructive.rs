//! What is refused: commands that destroy what cannot be brought back, however they are wrapped.
//!
//! This is a list of known ways, not a boundary. Whatever is not on it still asks.

mod download;
mod find;
mod git;
mod target;

use std::path::Path;

use crate::ground::Ground;
use crate::rough::{Rough, scan};
use crate::startup::is_startup;
use crate::syntax::assigned;
use target::{Here, is_device};

/// Commands that are texts within commands are looked into so far.
const MAX_DEPTH: usize = 5;
/// Texts that are looked into in all.
const MAX_TEXTS: usize = 32;
/// Words that are tried as the beginning of a command.
const MAX_TRIED: usize = 256;

/// Why a command is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Danger {
    #[error("removes a whole directory tree that is the working directory, the home directory, or outside")]
    Remove,
    #[error("erases a disk or a file beyond recovery")]
    Erase,
    #[error("writes to a disk device")]
    Device,
    #[error("starts copies of itself without end")]
    Bomb,
    #[error("changes the owner or mode of files far beyond the working directory")]
    Mode,
    #[error("runs what comes from the network")]
    Download,
    #[error("rewrites or deletes what others have in a remote repository")]
    Push,
    #[error("throws away changes that git has not stored")]
    Discard,
    #[error("acts with the rights of another user")]
    Rights,
    #[error("ends the system or all of its processes")]
    End,
    #[error("erases the history of commands")]
    History,
    #[error("changes what every shell of the user runs when it starts")]
    Startup,
}

/// The first danger in a command, if it holds one that is known.
pub(crate) fn find(command: &str, ground: &Ground) -> Option<Danger> {
    let mut left = MAX_TEXTS;
    find_within(command, &Here::on(ground), 0, &mut left)
}

fn find_within(command: &str, here: &Here, depth: usize, left: &mut usize) -> Option<Danger> {
    if depth > MAX_DEPTH || *left == 0 {
        return None;
    }
    *left -= 1;
    if is_bomb(command) {
        return Some(Danger::Bomb);
    }
    let commands = scan(command);
    // Where commands run, and how many subshells deep that holds.
    let mut places = vec![(0, here.clone())];
    commands.iter().find_map(|rough| {
        while places.len() > 1 && places.last().is_some_and(|(depth, _)| *depth > rough.depth) {
            places.pop();
        }
        if let [_, .., (_, here)] = places.as_mut_slice()
            && !rough.follows
        {
            here.doubt();
        }
        let here = &places.last()?.1;
        let found = rough.outputs.iter().find_map(|path| written(path));
        let found = found.or_else(|| begun(&rough.words).find_map(|words| simple(words, here)));
        let found = found.or_else(|| download::danger(rough, &commands)).or_else(|| {
            texts(rough, &commands).into_iter().find_map(|text| find_within(&text, here, depth + 1, left))
        });
        if let Some([program, words @ ..]) = begun(&rough.words).next()
            && matches!(program.as_str(), "cd" | "pushd")
        {
            let to = words.iter().find(|word| *word == "-" || !word.starts_with('-'));
            let there = here.enter(to.map(String::as_str));
            places.push((rough.depth, there));
        }
        found
    })
}

/// The danger of writing to a path.
fn written(path: &str) -> Option<Danger> {
    match path {
        _ if is_device(path) => Some(Danger::Device),
        _ if is_startup(Path::new(path)) => Some(Danger::Startup),
        _ => None,
    }
}

/// The words from which on a command may begin: behind assignments, keywords and programs that run others.
pub(crate) fn begun(words: &[String]) -> impl Iterator<Item = &[String]> {
    const KEYWORDS: [&str; 12] =
        ["{", "}", "!", "if", "then", "elif", "else", "while", "until", "do", "time", "coproc"];
    let skipped =
        words.iter().take_while(|word| KEYWORDS.contains(&word.as_str()) || is_assignment(word)).count();
    let words = &words[skipped..];
    let (mut wrapped, mut executes) = (false, true);
    words.iter().take(MAX_TRIED).enumerate().filter_map(move |(at, word)| {
        let begins = wrapped || executes;
        wrapped |= begins && wraps(word);
        executes = matches!(word.as_str(), "-exec" | "-execdir" | "-ok" | "-okdir");
        begins.then(|| &words[at..])
    })
}

fn is_assignment(word: &str) -> bool {
    assigned(word)
        .is_some_and(|name| !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_'))
}

/// Whether a program runs what stands behind it.
fn wraps(word: &str) -> bool {
    const WRAPPERS: [&str; 26] = [
        "sudo",
        "doas",
        "env",
        "nohup",
        "nice",
        "ionice",
        "timeout",
        "command",
        "builtin",
        "exec",
        "time",
        "busybox",
        "setsid",
        "stdbuf",
        "xargs",
        "parallel",
        "chroot",
        "unshare",
        "nsenter",
        "flock",
        "strace",
        "ltrace",
        "script",
        "toybox",
        "caffeinate",
        "setarch",
    ];
    WRAPPERS.contains(&name(word))
}

/// A program's name without the directory that it is called in.
pub(crate) fn name(word: &str) -> &str {
    word.rsplit('/').next().unwrap_or(word)
}

fn simple(words: &[String], here: &Here) -> Option<Danger> {
    let (program, words) = words.split_first()?;
    let has = |flags: &[&str]| words.iter().any(|word| flags.contains(&word.as_str()));
    let operands = || words.iter().filter(|word| !word.starts_with('-'));
    let out = || operands().any(|word| here.is_lost(word));
    // The beginning of a long option is read as the whole.
    let long = |word: &String| word.len() > 2 && "--recursive".starts_with(word.as_str());
    let recursive = flag(words, 'r') || flag(words, 'R') || words.iter().any(long);
    match name(program) {
        "sudo" | "su" | "doas" | "pkexec" | "runuser" => Some(Danger::Rights),
        "rm" if recursive && out() => Some(Danger::Remove),
        "find" if has(&["-delete"]) || (has(&["-exec", "-execdir"]) && has(&["rm", "/bin/rm"])) => {
            find::removes_all(words, here).then_some(Danger::Remove)
        }
        "chmod" | "chown" | "chgrp" if recursive && out() => Some(Danger::Mode),
        "shred" | "wipefs" | "mkswap" | "mke2fs" | "mkfs" => Some(Danger::Erase),
        other if other.starts_with("mkfs.") => Some(Danger::Erase),
        "fdisk" | "sfdisk" | "parted" | "gdisk"
            if words.iter().any(|word| is_device(word)) && !has(&["-l"]) =>
        {
            Some(Danger::Erase)
        }
        "dd" => {
            words.iter().filter_map(|word| word.strip_prefix("of=")).any(is_device).then_some(Danger::Device)
        }
        "tee" | "cp" | "mv" | "ln" | "install" => {
            let last = operands().next_back();
            let written: Vec<&String> =
                if name(program) == "tee" { operands().collect() } else { last.into_iter().collect() };
            written.into_iter().find_map(|path| self::written(path))
        }
        "sed" if flag(words, 'i') || words.iter().any(|word| word.starts_with("--in-place")) => {
            operands().any(|path| is_startup(Path::new(path))).then_some(Danger::Startup)
        }
        "git" => git::danger(words),
        "shutdown" | "reboot" | "halt" | "poweroff" => Some(Danger::End),
        "init" | "telinit" if has(&["0", "6"]) => Some(Danger::End),
        "systemctl" if has(&["reboot", "poweroff", "halt", "kexec"]) => Some(Danger::End),
        "kill" => {
            let signals = words.iter().filter(|word| word.as_str() == "-1").count();
            let alone = words.len() == 1 || words.last().is_some_and(|word| word == "-1");
            (signals > 0 && alone).then_some(Danger::End)
        }
        "history" if flag(words, 'c') => Some(Danger::History),
        _ => None,
    }
}

/// Whether a cluster of short options holds this one.
fn flag(words: &[String], letter: char) -> bool {
    words
        .iter()
        .take_while(|word| *word != "--")
        .any(|word| word.starts_with('-') && !word.starts_with("--") && word.contains(letter))
}

const SHELLS: [&str; 8] = ["sh", "bash", "dash", "zsh", "ksh", "fish", "ash", "su"];

/// Texts that a command hands to a shell.
pub(crate) fn texts(rough: &Rough, commands: &[Rough]) -> Vec<String> {
    let mut texts = Vec::new();
    for words in begun(&rough.words) {
        let Some((program, words)) = words.split_first() else { continue };
        match name(program) {
            shell if SHELLS.contains(&shell) => {
                texts.extend(script(words));
                texts.extend(fed(rough, commands));
            }
            "script" | "flock" => texts.extend(script(words)),
            "env" => texts.extend(split(words)),
            "xargs" => {
                let given = fed(rough, commands);
                texts.extend(given.map(|more| format!("{} {} {more}", program, words.join(" "))));
            }
            "eval" | "watch" | "parallel" => texts.push(words.join(" ")),
            "alias" => {
                texts.extend(words.iter().filter_map(|word| Some(word.split_once('=')?.1.to_owned())));
            }
            "trap" => texts.extend(words.first().cloned()),
            _ => {}
        }
    }
    texts
}

/// What a command reads, as far as it is known: texts that it is fed, and what is printed into its pipe.
fn fed<'c>(rough: &'c Rough, commands: &'c [Rough]) -> impl Iterator<Item = String> + 'c {
    let before = rough.piped_from.and_then(|at| commands.get(at)).and_then(|before| {
        let (printer, text) = before.words.split_first()?;
        matches!(name(printer), "echo" | "printf").then(|| text.join(" "))
    });
    rough.fed.iter().cloned().chain(before)
}

/// The command that stands behind `-c` or its long form, whatever other options stand between.
fn script(words: &[String]) -> Option<String> {
    let is_long = |word: &str| word == "--command";
    let short = |word: &str| word.starts_with('-') && !word.starts_with("--") && word.contains('c');
    let at = words.iter().position(|word| is_long(word) || word.starts_with("--command=") || short(word))?;
    match words[at].strip_prefix("--command=") {
        Some(command) => Some(command.to_owned()),
        None => words[at + 1..].iter().find(|word| !word.starts_with(['-', '+'])).cloned(),
    }
}

/// The words that `env` divides itself, with those behind them.
fn split(words: &[String]) -> Option<String> {
    words.iter().enumerate().find_map(|(at, word)| {
        let long = word.strip_prefix("--split-string").map(|rest| rest.trim_start_matches('='));
        let short = || word.strip_prefix('-').filter(|rest| !rest.starts_with('-'))?.split_once('S');
        let text = long.or_else(|| short().map(|(_, text)| text))?;
        Some(format!("{text} {}", words[at + 1..].join(" ")))
    })
}

/// `f(){ f|f& };f` under any name.
fn is_bomb(command: &str) -> bool {
    let tight: String = command.chars().filter(|c| !c.is_whitespace()).take(4096).collect();
    let Some((before, body)) = tight.split_once("(){") else { return false };
    let name = before.rsplit([';', '&', '|', '}']).next().unwrap_or_default();
    let name = name.strip_prefix("function").unwrap_or(name);
    !name.is_empty() && body.split('}').next().is_some_and(|body| body.contains(&format!("{name}|{name}")))
}
