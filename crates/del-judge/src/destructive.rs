//! What is refused: commands that destroy what cannot be brought back, however they are wrapped.
//!
//! This is a list of known ways, not a boundary. Whatever is not on it still asks.

mod download;
mod find;
mod git;
mod target;

use std::path::Path;

use crate::budget::Budget;
use crate::ground::Ground;
use crate::startup::is_startup;
use crate::within::{begun, name, texts};
use target::{Here, Place, is_device};

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

/// The first danger in a command, if it holds one that is known. Whether all of the command was looked at, the budget
/// knows afterwards.
pub(crate) fn find(command: &str, ground: &Ground, budget: &mut Budget) -> Option<Danger> {
    find_within(command, &Here::on(ground), 0, budget)
}

fn find_within(command: &str, here: &Here, depth: usize, budget: &mut Budget) -> Option<Danger> {
    if is_bomb(command) {
        return Some(Danger::Bomb);
    }
    let commands = budget.scan(command, depth);
    let fetched = download::fetched(&commands);
    // Where commands run, and how many subshells deep that holds.
    let mut places = vec![(0, here.clone())];
    for (at, rough) in commands.iter().enumerate() {
        while places.len() > 1 && places.last().is_some_and(|(depth, _)| *depth > rough.depth) {
            places.pop();
        }
        if let [_, .., (_, here)] = places.as_mut_slice()
            && !rough.follows
        {
            here.doubt();
        }
        let here = &places.last()?.1;
        if let Some(danger) = rough.outputs.iter().find_map(|path| written(path, here)) {
            return Some(danger);
        }
        for words in begun(&rough.words, budget) {
            if let Some(danger) = simple(words, here) {
                return Some(danger);
            }
        }
        if let Some(danger) = download::danger(rough, &commands, fetched[at], budget) {
            return Some(danger);
        }
        for text in texts(rough, &commands, budget) {
            if let Some(danger) = find_within(&text, here, depth + 1, budget) {
                return Some(danger);
            }
        }
        if let Some([program, words @ ..]) = begun(&rough.words, budget).first()
            && matches!(program.as_str(), "cd" | "pushd")
        {
            let to = words.iter().find(|word| *word == "-" || !word.starts_with('-'));
            let there = here.enter(to.map(String::as_str));
            places.push((rough.depth, there));
        }
    }
    None
}

/// The danger of writing to a path.
fn written(path: &str, here: &Here) -> Option<Danger> {
    match path {
        _ if is_device(path) => Some(Danger::Device),
        _ if is_startup(Path::new(path)) && !here.is_kept_aside(path) => Some(Danger::Startup),
        _ => None,
    }
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
        "chmod" | "chown" | "chgrp"
            if recursive && operands().any(|word| here.place(word) == Place::Outside) =>
        {
            Some(Danger::Mode)
        }
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
            written.into_iter().find_map(|path| self::written(path, here))
        }
        "sed" if flag(words, 'i') || words.iter().any(|word| word.starts_with("--in-place")) => operands()
            .any(|path| is_startup(Path::new(path)) && !here.is_kept_aside(path))
            .then_some(Danger::Startup),
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

/// `f(){ f|f& };f` under any name.
fn is_bomb(command: &str) -> bool {
    let tight: String = command.chars().filter(|c| !c.is_whitespace()).take(4096).collect();
    let Some((before, body)) = tight.split_once("(){") else { return false };
    let name = before.rsplit([';', '&', '|', '}']).next().unwrap_or_default();
    let name = name.strip_prefix("function").unwrap_or(name);
    !name.is_empty() && body.split('}').next().is_some_and(|body| body.contains(&format!("{name}|{name}")))
}
