//! Programs that run the rest of their words, and change nothing of it but when, how long or in which order it runs.

use crate::planner::process::is_harmless;
use crate::syntax::{Assignment, Word};

/// One such program, at the beginning of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Prefix {
    /// It is run, and gets the program behind it.
    Run,
    /// Running the program behind it by itself comes to the same.
    Nothing,
    /// The words between stand for variables that are set.
    Sets,
}

/// What words begin with, and where the command behind it begins. Words that are not known yet are left out of `words`.
pub(crate) fn prefix(words: &[&str]) -> Option<(Prefix, usize)> {
    let (name, rest) = words.split_first()?;
    let (kind, length) = match *name {
        "timeout" => {
            let options = options(
                rest,
                &["--preserve-status", "--foreground", "-v", "--verbose"],
                &[("-k", "--kill-after", is_time), ("-s", "--signal", is_signal)],
            )?;
            (Prefix::Run, options + rest.get(options).filter(|time| is_time(time)).map(|_| 1)?)
        }
        "nice" => (Prefix::Run, niceness(rest)?),
        "stdbuf" => {
            let values: [Valued; 3] =
                [("-i", "--input", is_size), ("-o", "--output", is_size), ("-e", "--error", is_size)];
            (Prefix::Nothing, options(rest, &[], &values).filter(|options| *options > 0)?)
        }
        "ionice" => {
            let values: [Valued; 2] = [("-c", "--class", is_number), ("-n", "--classdata", is_number)];
            (Prefix::Nothing, options(rest, &["-t", "--ignore"], &values)?)
        }
        // Nobody hangs up, and what would go to a terminal goes where the output of all commands goes.
        "command" | "nohup" => (Prefix::Nothing, 0),
        "env" => {
            let set = rest.iter().take_while(|word| set(word).is_some()).count();
            (Prefix::Sets, Some(set).filter(|set| *set > 0)?)
        }
        _ => return None,
    };
    let at = 1 + length;
    words.get(at).filter(|word| !word.starts_with('-') && !word.contains('=')).map(|_| (kind, at))
}

/// How many words at the beginning run the rest and change nothing of it.
pub(crate) fn prefixes(words: &[&str]) -> usize {
    let mut at = 0;
    while let Some((kind, length)) = prefix(&words[at..]) {
        let plain = |word: &&str| set(word).is_some_and(|set| is_harmless(&set));
        if kind == Prefix::Sets && !words[at + 1..at + length].iter().all(plain) {
            break;
        }
        at += length;
    }
    at
}

/// What a word sets that `env` takes for a variable.
pub(crate) fn set(word: &str) -> Option<Assignment> {
    let (name, value) = word.split_once('=')?;
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let named = name.starts_with(|c: char| plain(c) && !c.is_ascii_digit()) && name.chars().all(plain);
    named.then(|| Assignment { name: name.to_owned(), value: Word::of(value) })
}

/// An option with a value: its short form, its long one, and what the value is.
type Valued = (&'static str, &'static str, fn(&str) -> bool);

/// How many words are options, each of them known.
fn options(words: &[&str], flags: &[&str], values: &[Valued]) -> Option<usize> {
    let mut at = 0;
    while let Some(word) = words.get(at).filter(|word| word.starts_with('-')) {
        if flags.contains(word) {
            at += 1;
            continue;
        }
        let (value, length) = values.iter().find_map(|(short, long, is_value)| {
            let attached = match word.strip_prefix(long) {
                Some(rest) => rest.strip_prefix('='),
                None => word.strip_prefix(short).filter(|value| !value.is_empty() && !word.starts_with("--")),
            };
            let apart = || (word == short || word == long).then(|| words.get(at + 1).copied()).flatten();
            let (value, length) = attached.map(|value| (value, 1)).or_else(|| Some((apart()?, 2)))?;
            Some((is_value(value), length))
        })?;
        if !value {
            return None;
        }
        at += length;
    }
    Some(at)
}

/// `-n 5`, `--adjustment=5` and the old form `-5`.
fn niceness(words: &[&str]) -> Option<usize> {
    let old = words.first().and_then(|word| word.strip_prefix('-')).is_some_and(is_number);
    if old { Some(1) } else { options(words, &[], &[("-n", "--adjustment", is_niceness)]) }
}

fn is_niceness(word: &str) -> bool {
    is_number(word.strip_prefix(['-', '+']).unwrap_or(word))
}

fn is_number(word: &str) -> bool {
    !word.is_empty() && word.bytes().all(|b| b.is_ascii_digit())
}

fn is_time(word: &str) -> bool {
    let digits = word.strip_suffix(['s', 'm', 'h', 'd']).unwrap_or(word);
    !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit() || b == b'.')
}

fn is_signal(word: &str) -> bool {
    !word.is_empty() && word.bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit())
}

/// `L`, `0` or a number of bytes.
fn is_size(word: &str) -> bool {
    let digits = word.strip_suffix(['K', 'M']).unwrap_or(word);
    word == "L" || is_number(digits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_only_runs_the_rest_is_known_with_its_options() {
        for (command, expected) in [
            ("timeout 5 ls", Some((Prefix::Run, 2))),
            ("timeout -k 5 --foreground 1.5m ls -l", Some((Prefix::Run, 5))),
            ("timeout -s KILL --kill-after=3 5 ls", Some((Prefix::Run, 5))),
            ("timeout -k3 5 ls", Some((Prefix::Run, 3))),
            ("nice ls", Some((Prefix::Run, 1))),
            ("nice -n -5 ls", Some((Prefix::Run, 3))),
            ("nice -10 ls", Some((Prefix::Run, 2))),
            ("nice --adjustment=5 ls", Some((Prefix::Run, 2))),
            ("stdbuf -oL -e 0 grep x", Some((Prefix::Nothing, 4))),
            ("ionice -c 3 ls", Some((Prefix::Nothing, 3))),
            ("command ls", Some((Prefix::Nothing, 1))),
            ("nohup ls -l", Some((Prefix::Nothing, 1))),
            ("env A=b C= ls", Some((Prefix::Sets, 3))),
            // The rest begins where it cannot be told from these.
            ("timeout ls", None),
            ("timeout -x 5 ls", None),
            ("timeout 5", None),
            ("timeout 5 -s KILL ls", None),
            ("nice -n x ls", None),
            ("nice -n", None),
            ("stdbuf ls", None),
            ("stdbuf -o ls", None),
            ("ionice -p 5", None),
            ("command -v ls", None),
            ("command -p ls", None),
            ("env ls", None),
            ("env -i A=b ls", None),
            ("env A=b", None),
            ("env -Sx=y ls", None),
            ("env -u=y ls", None),
            ("env A=b -u x ls", None),
            ("nice A=b ls", None),
            ("nohup --help", None),
            ("nohup", None),
            ("ls", None),
        ] {
            let words: Vec<&str> = command.split(' ').collect();
            assert_eq!(prefix(&words), expected, "{command}");
        }
        for (command, expected) in [
            ("timeout 5 nice env NO_COLOR=1 stdbuf -oL cargo test", 7),
            ("nice env PATH=. cargo test", 1),
            ("cargo test", 0),
        ] {
            let words: Vec<&str> = command.split(' ').collect();
            assert_eq!(prefixes(&words), expected, "{command}");
        }
    }
}
