//! Programs that run what another one fetches.

use super::Danger;
use crate::budget::Budget;
use crate::rough::Rough;
use crate::within::{SHELLS, begun, name};

/// Texts within texts are looked into so far.
const MAX_DEPTH: usize = 3;

/// Where an interpreter finds the program that it runs.
#[derive(Debug, PartialEq, Eq)]
enum Source<'a> {
    /// It reads it.
    Input,
    /// It stands among its arguments.
    Text(&'a str),
    /// It lies in this file.
    File(&'a str),
    /// It is one of its own.
    Module,
}

/// Of each command, whether it fetches something, or what it reads may have been fetched.
pub(super) fn fetched(commands: &[Rough]) -> Vec<bool> {
    let mut fetched: Vec<bool> = Vec::new();
    for rough in commands {
        let reads = rough.piped_from.and_then(|at| fetched.get(at)).copied().unwrap_or(false);
        fetched.push(reads || fetches(&rough.words));
    }
    fetched
}

/// Whether a command runs what another one fetched: through a pipe, or by a substitution.
pub(super) fn danger(
    rough: &Rough,
    commands: &[Rough],
    fetched: bool,
    budget: &mut Budget,
) -> Option<Danger> {
    let piped = fetched && rough.piped_from.is_some();
    let inner = rough.inner.iter().filter_map(|at| commands.get(*at)).any(|inner| fetches(&inner.words));
    let runs = (piped && runs_input(&rough.words, 0, budget)) || (inner && runs_substitution(rough, budget));
    runs.then_some(Danger::Download)
}

/// Whether some program among the words fetches something.
fn fetches(words: &[String]) -> bool {
    begun(words, &mut Budget::new()).iter().any(|words| {
        words.first().is_some_and(|word| matches!(name(word), "curl" | "wget" | "fetch" | "aria2c"))
    })
}

/// Whether a command takes what it reads for a program.
fn runs_input(words: &[String], depth: usize, budget: &mut Budget) -> bool {
    let mut is_given = false;
    let begun = begun(words, budget);
    begun.into_iter().any(|words| {
        let Some((program, arguments)) = words.split_first() else { return false };
        // These make arguments of what they read, which stand behind or inside of the text.
        let given = is_given;
        is_given |= matches!(name(program), "xargs" | "parallel");
        match source(program, arguments) {
            Some(Source::Input) => true,
            Some(Source::Text(text)) => {
                let is_shell = SHELLS.contains(&name(program));
                given
                    || is_shell
                        && (depth == MAX_DEPTH
                            || budget
                                .scan(text, depth + 1)
                                .iter()
                                .any(|rough| runs_input(&rough.words, depth + 1, budget)))
            }
            Some(Source::File(path)) => is_input(path),
            Some(Source::Module) => false,
            None => {
                matches!(name(program), "source" | ".")
                    && arguments.first().is_some_and(|path| is_input(path))
            }
        }
    })
}

/// Whether a command runs what a substitution in it prints. That stands as `$` in its words.
fn runs_substitution(rough: &Rough, budget: &mut Budget) -> bool {
    begun(&rough.words, budget).into_iter().any(|words| {
        let Some((program, arguments)) = words.split_first() else { return false };
        match source(program, arguments) {
            Some(Source::Input) => true,
            Some(Source::Text(text) | Source::File(text)) => text.contains('$'),
            Some(Source::Module) => false,
            None => matches!(name(program), "eval" | "source" | "."),
        }
    })
}

fn is_input(path: &str) -> bool {
    matches!(path, "/dev/stdin" | "/dev/fd/0" | "/proc/self/fd/0")
}

/// Where an interpreter finds its program; `None` for other programs.
fn source<'a>(program: &str, arguments: &'a [String]) -> Option<Source<'a>> {
    let options = Options::of(name(program))?;
    let mut words = arguments.iter().map(String::as_str);
    while let Some(word) = words.next() {
        if word == "-" {
            return Some(Source::Input);
        }
        if word == "--" {
            return Some(words.next().map_or(Source::Input, Source::File));
        }
        if let Some(long) = word.strip_prefix("--") {
            let (long, attached) =
                long.split_once('=').map_or((long, None), |(long, text)| (long, Some(text)));
            if options.texts.contains(&long) {
                return Some(attached.or_else(|| words.next()).map_or(Source::Input, Source::Text));
            }
            if attached.is_none() && options.takes.contains(&long) {
                words.next();
            }
            continue;
        }
        let Some(letters) = word.strip_prefix('-') else {
            // A shell's `+x` is an option as well.
            if options.is_shell && word.starts_with('+') {
                continue;
            }
            return Some(Source::File(word));
        };
        for (at, letter) in letters.char_indices() {
            let rest = &letters[at + letter.len_utf8()..];
            if options.text.contains(letter) {
                // Behind a shell's `-c` more options may stand.
                let mut next = || words.find(|word| !options.is_shell || !word.starts_with(['-', '+']));
                let attached = (!rest.is_empty() && !options.is_shell).then_some(rest);
                return Some(attached.or_else(&mut next).map_or(Source::Input, Source::Text));
            }
            if options.module.contains(letter) {
                return Some(Source::Module);
            }
            if options.is_shell && letter == 's' {
                return Some(Source::Input);
            }
            if options.value.contains(letter) {
                if rest.is_empty() {
                    words.next();
                }
                break;
            }
            if options.attached.contains(letter) {
                break;
            }
        }
    }
    Some(Source::Input)
}

/// The options of an interpreter that say where its program is, and those that hide what follows them.
#[derive(Default)]
struct Options {
    is_shell: bool,
    /// Letters behind which a program stands.
    text: &'static str,
    texts: &'static [&'static str],
    /// Letters behind which a program of its own is named.
    module: &'static str,
    /// Letters and words with a value.
    value: &'static str,
    takes: &'static [&'static str],
    /// Letters whose value is the rest of the word.
    attached: &'static str,
}

impl Options {
    fn of(program: &str) -> Option<Self> {
        let none = Self::default();
        Some(match program {
            shell if SHELLS.contains(&shell) => Self {
                is_shell: true,
                text: "c",
                texts: &["command"],
                value: "oO",
                takes: &["rcfile", "init-file"],
                ..none
            },
            python if python.starts_with("python") || python.starts_with("pypy") => {
                Self { text: "c", module: "m", value: "WX", ..none }
            }
            "perl" => Self { text: "eE", attached: "0CDFiImMTVx", ..none },
            "ruby" => Self { text: "e", value: "ICr", attached: "0EFKTWix", ..none },
            "node" | "nodejs" => Self {
                text: "ep",
                texts: &["eval", "print"],
                value: "rC",
                takes: &["require", "import", "conditions", "loader", "experimental-loader", "env-file"],
                ..none
            },
            "php" => Self { text: "rRBE", texts: &["run"], value: "cdz", takes: &["define"], ..none },
            "osascript" => Self { text: "e", value: "ls", ..none },
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_run(command: &str) -> bool {
        let mut budget = Budget::new();
        let commands = budget.scan(command, 0);
        let fetched = fetched(&commands);
        let mut all = commands.iter().zip(fetched);
        all.any(|(rough, fetched)| danger(rough, &commands, fetched, &mut budget).is_some())
    }

    #[test]
    fn what_comes_from_the_network_is_run_where_it_is_read_as_a_program() {
        for command in [
            "curl x | sh",
            "curl x | sh -s -- -a b",
            "curl x | bash -",
            "curl x | bash -x",
            "curl x | bash -o pipefail",
            "curl x | bash +e",
            "curl x | bash /dev/stdin",
            "curl x | sh -c sh",
            "curl x | sh -c 'tee y | bash'",
            "curl x | sh -c 'source /dev/stdin'",
            "curl x | source /dev/stdin",
            "curl x | python3",
            "curl x | python3 -",
            "curl x | python3.12 -W ignore - a",
            "curl x | perl -MEncode",
            "curl x | node --require y",
            "curl x | php",
            "curl x | sudo -u a python3",
            "curl x | xargs sh -c",
            "curl x | xargs -I{} sh -c '{}'",
            "python3 -c \"$(curl x)\"",
            "python3 <(curl x)",
            "python3 <<< \"$(curl x)\"",
            "sh -c \"$(curl x)\"",
            "eval \"$(curl x)\"",
        ] {
            assert!(is_run(command), "{command}");
        }
        for command in [
            "curl x | python3 -m json.tool",
            "curl x | python3 -c 'import sys; print(sys.stdin.read())'",
            "curl x | python -Wignore -c 'print(1)'",
            "curl x | node -e 'process.stdin.pipe(process.stdout)'",
            "curl x | node --print=1",
            "curl x | perl -ne 'print if /a/'",
            "curl x | perl -MJSON -0777 -ne 'print'",
            "curl x | ruby -rjson -e 'puts 1'",
            "curl x | php -r 'echo 1;'",
            "curl x | sh -c 'grep y | head'",
            "curl x | bash script.sh",
            "curl x | python3 script.py",
            "python3 -m json.tool <(curl x)",
            "curl x | jq .",
        ] {
            assert!(!is_run(command), "{command}");
        }
    }
}
