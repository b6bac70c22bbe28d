//! Commands within commands: what programs run that others name, and the texts that they hand to shells.

use crate::budget::Budget;
use crate::rough::Rough;
use crate::syntax::assigned;

/// Words that are tried as the beginning of a command.
const MAX_TRIED: usize = 256;

pub(crate) const SHELLS: [&str; 8] = ["sh", "bash", "dash", "zsh", "ksh", "fish", "ash", "su"];

/// The words from which on a command may begin: behind assignments, keywords and programs that run others.
pub(crate) fn begun<'w>(words: &'w [String], budget: &mut Budget) -> Vec<&'w [String]> {
    const KEYWORDS: [&str; 11] =
        ["{", "}", "!", "if", "then", "elif", "else", "while", "until", "do", "coproc"];
    let skipped =
        words.iter().take_while(|word| KEYWORDS.contains(&word.as_str()) || is_assignment(word)).count();
    let words = &words[skipped..];
    let (mut wrapped, mut executes) = (false, true);
    let mut begun = Vec::new();
    for (at, word) in words.iter().enumerate() {
        let begins = wrapped || executes;
        wrapped |= begins && wraps(word);
        executes = matches!(word.as_str(), "-exec" | "-execdir" | "-ok" | "-okdir");
        if !begins {
            continue;
        }
        if begun.len() == MAX_TRIED || !budget.spend(words.len() - at) {
            budget.cut();
            break;
        }
        begun.push(&words[at..]);
    }
    begun
}

fn is_assignment(word: &str) -> bool {
    assigned(word)
        .is_some_and(|name| !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_'))
}

/// Whether a program runs what stands behind it.
fn wraps(word: &str) -> bool {
    const WRAPPERS: [&str; 53] = [
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
        "taskset",
        "chrt",
        "setpriv",
        "watch",
        "linux32",
        "linux64",
        "i386",
        "x86_64",
        "prlimit",
        "choom",
        "numactl",
        "runuser",
        "pkexec",
        "run0",
        "systemd-run",
        "start-stop-daemon",
        "dbus-run-session",
        "ssh-agent",
        "fakeroot",
        "faketime",
        "bwrap",
        "firejail",
        "unbuffer",
        "rlwrap",
        "xvfb-run",
        "valgrind",
        "hyperfine",
    ];
    let name = name(word);
    let links = ["ld-linux", "ld-musl", "ld.so"];
    WRAPPERS.contains(&name) || links.iter().any(|start| name.starts_with(start))
}

/// A program's name without the directory that it is called in.
pub(crate) fn name(word: &str) -> &str {
    word.rsplit('/').next().unwrap_or(word)
}

/// Texts that a command hands to a shell, or evaluates itself.
pub(crate) fn texts(rough: &Rough, commands: &[Rough], budget: &mut Budget) -> Vec<String> {
    let mut texts = Vec::new();
    let (mut is_fed, mut is_joined, mut is_handed) = (false, false, false);
    for words in begun(&rough.words, budget) {
        let Some((program, words)) = words.split_first() else { continue };
        let program = name(program);
        if is_pattern(program) && (words.len() > 1 || rough.words[0].contains('/')) {
            // Nobody knows which program that is.
            budget.cut();
        }
        match program {
            shell if SHELLS.contains(&shell) => {
                texts.extend(script(words));
                // What is behind reads the same.
                if !std::mem::replace(&mut is_fed, true) {
                    texts.extend(fed(rough, commands));
                }
            }
            "source" | "." if words.first().is_some_and(|path| path.starts_with("/dev/")) => {
                texts.extend(fed(rough, commands));
            }
            "script" | "flock" => texts.extend(script(words)),
            "env" => texts.extend(split(words)),
            // What stands behind is in the text of the first.
            "xargs" if !std::mem::replace(&mut is_fed, true) => {
                let given = fed(rough, commands);
                texts.extend(given.map(|more| format!("{program} {} {more}", words.join(" "))));
            }
            "eval" | "parallel" if !std::mem::replace(&mut is_joined, true) => texts.push(words.join(" ")),
            "watch" | "hyperfine" => texts.extend(words.iter().filter(|word| word.contains(' ')).cloned()),
            "alias" => {
                texts.extend(words.iter().filter_map(|word| Some(word.split_once('=')?.1.to_owned())));
            }
            "trap" => texts.extend(words.first().cloned()),
            "hash" => texts.extend(behind(words, "-p")),
            "compgen" | "complete" | "mapfile" | "readarray" => texts.extend(behind(words, "-C")),
            "git" => texts.extend(settings(words)),
            "test" | "[" | "[[" | "printf" | "let" | "declare" | "typeset" | "local" | "export"
            | "readonly" | "read" | "unset" => {
                // What stands in the brackets of a name is worked out once more.
                let worked_out = |word: &&String| word.contains('[') && word.contains(['`', '$']);
                texts.extend(words.iter().filter(worked_out).cloned());
            }
            "awk" | "gawk" | "mawk" | "nawk" if !std::mem::replace(&mut is_handed, true) => {
                texts.extend(words.iter().flat_map(|word| run_by_awk(word)));
            }
            // What stands behind is among the words of the first.
            _ if takes_commands(program) && !std::mem::replace(&mut is_handed, true) => {
                texts.extend(handed(program, words));
            }
            _ => {}
        }
    }
    texts
}

/// Options whose values programs hand to a shell.
const HANDED: [(&str, &[&str]); 11] = [
    ("tar", &["--to-command", "--checkpoint-action=exec", "--use-compress-program", "-I", "--rsh-command"]),
    ("rsync", &["--rsh", "-e"]),
    ("sort", &["--compress-program"]),
    ("rg", &["--pre", "--hostname-bin"]),
    ("man", &["--pager", "-P"]),
    ("make", &["--eval"]),
    ("ssh", &["-oProxyCommand", "ProxyCommand", "-oLocalCommand", "LocalCommand"]),
    ("vim", &["-c", "--cmd", "+"]),
    ("nvim", &["-c", "--cmd", "+"]),
    ("vi", &["-c", "+"]),
    ("ex", &["-c", "+"]),
];

fn takes_commands(program: &str) -> bool {
    HANDED.iter().any(|(own, _)| *own == program)
}

/// What stands behind such options, in the same word or the next, without the sign by which it is one for the shell.
fn handed(program: &str, words: &[String]) -> Vec<String> {
    let options = HANDED.iter().filter(|(own, _)| *own == program).flat_map(|(_, options)| *options);
    let values = options.flat_map(|option| {
        words.iter().enumerate().filter_map(move |(at, word)| {
            let attached = word.strip_prefix(option)?.trim_start_matches('=');
            let value = if attached.is_empty() { words.get(at + 1)? } else { attached };
            Some(value.trim_start_matches([':', '!']).to_owned())
        })
    });
    values.collect()
}

/// The strings of a program of awk that may run some of them.
fn run_by_awk(program: &str) -> Vec<String> {
    if !["system", "|"].iter().any(|sign| program.contains(sign)) {
        return Vec::new();
    }
    program.split('"').skip(1).step_by(2).map(str::to_owned).collect()
}

/// Whether a program's name is a pattern.
fn is_pattern(program: &str) -> bool {
    !matches!(program, "[" | "[[") && program.contains(['*', '?', '['])
}

/// The word behind an option, or what is attached to it.
fn behind(words: &[String], option: &str) -> Option<String> {
    let at = words.iter().position(|word| word.starts_with(option))?;
    let attached = words[at].strip_prefix(option).filter(|rest| !rest.is_empty());
    attached.map(str::to_owned).or_else(|| words.get(at + 1).cloned())
}

/// Commands that git takes from settings among its words.
fn settings(words: &[String]) -> impl Iterator<Item = String> {
    let value = |pair: &[String]| {
        let [option, setting] = pair else { return None };
        let (_, value) = setting.split_once('=').filter(|_| option == "-c")?;
        Some(value.strip_prefix('!').unwrap_or(value).to_owned())
    };
    words.windows(2).filter_map(value).collect::<Vec<_>>().into_iter()
}

/// What a command reads, as far as it is known: texts that it is fed, and what is printed into its pipe.
fn fed<'c>(rough: &'c Rough, commands: &'c [Rough]) -> impl Iterator<Item = String> + 'c {
    let printed = |before: &Rough| match before.words.split_first() {
        Some((printer, text)) if name(printer) == "echo" => vec![text.join(" ")],
        // The first may be a form for the others, or all there is.
        Some((printer, text)) if name(printer) == "printf" => {
            vec![text.join(" "), text.get(1..).unwrap_or_default().join(" ")]
        }
        _ => Vec::new(),
    };
    let before = rough.piped_from.and_then(|at| commands.get(at)).map(printed).unwrap_or_default();
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ground::Ground;
    use crate::judge::{Judge, Verdict};
    use crate::members::members;

    /// How many bytes the texts of all commands in a text have.
    fn size(command: &str) -> usize {
        let mut budget = Budget::new();
        let commands = budget.scan(command, 0);
        let texts = commands.iter().flat_map(|rough| texts(rough, &commands, &mut budget));
        texts.map(|text| text.len()).sum()
    }

    #[test]
    fn texts_do_not_grow_with_the_square_of_a_command() {
        for command in [
            format!("echo x | {}", "xargs ".repeat(2_500)),
            format!("echo '{}' | {}", "a ".repeat(5_000), "xargs ".repeat(250)),
            format!("eval {}", "xargs ".repeat(2_500)),
            format!("parallel {}", "parallel ".repeat(2_500)),
            format!("echo '{}' | nice {}", "a ".repeat(5_000), "sh ".repeat(250)),
            format!("nice {}'{}'", "awk ".repeat(250), "|\"a\"".repeat(1_000)),
            format!("nice {}", "tar -I ".repeat(1_000)),
        ] {
            assert!(size(&command) <= 2 * command.len(), "{}", &command[..20]);
            assert!(members(&command).hidden.len() < 1_000);
        }
    }

    #[test]
    fn what_is_not_looked_at_is_not_understood() {
        let ground = Ground::new(std::path::Path::new("/nonexistent"));
        for command in [
            format!("{}sh -c 'rm -rf /x'", "sh -c true; ".repeat(300)),
            format!("true {}; rm -rf /x", "x".repeat(200_000)),
            format!("{}rm -rf /x{}", "$(".repeat(10), ")".repeat(10)),
            format!("{}rm -rf /x", "eval ".repeat(10)),
            format!("xargs {}rm -rf /x", "x ".repeat(300)),
            "/bin/r? -rf /x".to_owned(),
        ] {
            let judgement = Judge::default().judge(&command, &ground);
            let refused = judgement.verdict == Verdict::Refuse;
            assert!(refused || !(judgement.whole || members(&command).whole), "{}", &command[..12]);
            assert!(refused || judgement.verdict == Verdict::Ask);
        }
        for command in
            ["make && sudo ls", "for x in *; do rm $x; done", "[ -f x ] && case x in *.c) ls;; esac"]
        {
            assert!(members(command).whole, "{command}");
        }
    }

    #[test]
    fn commands_are_found_wherever_others_run_them() {
        for command in [
            "watch -n1 -g touch X",
            "watch -n 1 'touch X'",
            "taskset -c 1 touch X",
            "chrt -f 1 touch X",
            "setpriv --reuid 1 touch X",
            "prlimit --nproc=9 touch X",
            "linux64 touch X",
            "choom -n 0 touch X",
            "systemd-run --user --wait touch X",
            "start-stop-daemon --start --exec /usr/bin/touch -- X",
            "time -p touch X",
            "if time -p A=b touch X; then ls; fi",
            "hyperfine 'touch X'",
            "awk 'BEGIN { system(\"touch X\") }'",
            "nice gawk '{ print $1 | \"touch X\" }' a",
            "tar xf a.tar --to-command='touch X'",
            "tar cf a b --checkpoint=1 --checkpoint-action=exec='touch X'",
            "tar -I 'touch X' -cf a b",
            "vim -es -c q -c '!touch X'",
            "ex '+!touch X' a",
            "ssh -o ProxyCommand='touch X' a",
            "make --eval='x:;touch X' x",
            "rsync -e 'touch X' a b:c",
            "sort --compress-program 'touch X' a",
            "/lib64/ld-linux-x86-64.so.2 /usr/bin/touch X",
            "hash -p /usr/bin/touch x; x X",
            "compgen -C 'touch X'",
            "mapfile -C 'touch X' a",
            "git -c alias.x='!touch X' x",
            "git -c core.pager='touch X' log",
            "source /dev/stdin <<< 'touch X'",
            "printf '%s %s' touch X | sh",
            "printf 'touch X' | sh",
            "test -v 'a[$(touch X)]'",
            "printf -v 'a[$(touch X)]' x",
            "let 'a[$(touch X)]'",
            "declare 'a[$(touch X)]=1'",
            "read 'a[`touch X`]'",
            "unset 'a[$(touch X)]'",
        ] {
            let found = members(command);
            assert!(found.any(&["touch".to_owned()], false), "{command}: {found:?}");
        }
        let push = ["git".to_owned(), "push".to_owned()];
        for command in [
            "ls | xargs -I% git %",
            "ls | xargs -i git {}",
            "ls | xargs -I X git -C a X",
            "parallel git {} ::: push",
        ] {
            assert!(members(command).any(&push, false), "{command}");
        }
        for command in [
            "ls | xargs -I% git add %",
            "xargs git log",
            "watch git log",
            "awk '{ print \"git push\" }' a > b",
            "tar cf a -C git push",
        ] {
            assert!(!members(command).any(&push, false), "{command}");
        }
    }
}
