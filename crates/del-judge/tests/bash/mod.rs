//! Bash's own reading of a command: the words that each of its programs would get. No program is run.
#![allow(dead_code, unreachable_pub, reason = "each test uses a part of it")]

use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use del_judge::{Action, Body, Ground, Judge, Link, Plan, Stage, Verdict, members};

/// Instead of a program its words are printed, in quotes and on one line: those of programs that are not found, and those
/// of builtins.
const SHOW: &str = r#"
show() { builtin printf -v shown '%q ' "$@"; builtin printf '%s\n' "$shown" >&9; }
command_not_found_handle() { show "$@"; }
for name in $(compgen -b); do
    case $name in
    builtin | eval | exit | set | . | : | [) ;;
    *) eval "function $name { show $name \"\$@\"; }" ;;
    esac
done
function [ { show '[' "$@"; }
PATH=/nonexistent
"#;

/// Whether bash finds nothing wrong with the text.
pub fn accepts(text: &str) -> bool {
    let mut bash = Command::new("bash");
    // A text may look like an option.
    bash.args(["--norc", "-n", "-c", "--", text]).stderr(Stdio::null());
    bash.status().unwrap().success()
}

/// The commands that bash would run, sorted, as `printf '%q '` prints their words.
pub fn shown(text: &str, directory: &Path, options: &[&str]) -> Vec<String> {
    let seen = tempfile::NamedTempFile::new().unwrap();
    let script = format!("exec 9>>'{}'\n{SHOW}\n{text}\n", seen.path().display());
    let mut bash = Command::new("bash");
    bash.args(["--norc", "--noprofile"]).args(options).args(["-c", &script]).current_dir(directory);
    bash.env_clear().env("LC_ALL", "C.UTF-8").env("PATH", "/usr/bin:/bin");
    bash.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    bash.status().unwrap();
    let mut lines: Vec<String> =
        fs::read_to_string(seen.path()).unwrap().lines().map(str::to_owned).collect();
    lines.sort();
    lines
}

/// The same words as `printf '%q '` of bash prints them.
pub fn quoted(commands: &[Vec<String>]) -> Vec<String> {
    let mut script = String::new();
    for words in commands {
        let words: Vec<String> =
            words.iter().map(|word| format!("'{}'", word.replace('\'', r"'\''"))).collect();
        let words = words.join(" ");
        writeln!(script, "builtin printf -v shown '%q ' {words}; builtin printf '%s\\n' \"$shown\"").unwrap();
    }
    let mut bash = Command::new("bash");
    bash.args(["--norc", "--noprofile", "-c", &script]).env_clear().env("LC_ALL", "C.UTF-8");
    let output = bash.output().unwrap();
    let mut lines: Vec<String> =
        String::from_utf8(output.stdout).unwrap().lines().map(str::to_owned).collect();
    lines.sort();
    lines
}

/// The words of all programs of a plan, in their order. `None` where not all of them would run, or not yet all are known.
pub fn run(plan: &Plan) -> Option<Vec<Vec<String>>> {
    let mut all = Vec::new();
    for step in &plan.steps {
        let Action::Run(stages) = &step.action else { return None };
        if step.link == Link::Or || step.negated {
            return None;
        }
        for stage in stages {
            match stage {
                Stage::Process(process) => {
                    let mut words = vec![process.name.clone()];
                    words.extend(process.arguments.iter().cloned());
                    all.push(words);
                }
                Stage::Group(group) => match &group.body {
                    Body::Steps(plan) if group.input.is_none() => all.extend(run(plan)?),
                    _ => return None,
                },
            }
        }
    }
    Some(all)
}

/// Panics when a safe text of simple words means something else to bash than to the plan.
fn hold_plan(text: &str, directory: &Path) {
    let plain = ["echo", "cat", "wc", "test", "for", "{", "(", "[", "ls"];
    let judgement = Judge::default().judge(text, &Ground::new(directory));
    if judgement.verdict != Verdict::Safe || !plain.iter().any(|word| text.trim_start().starts_with(word)) {
        return;
    }
    assert!(accepts(text), "bash does not accept {text:?}");
    let Some(own) = judgement.plan.as_ref().and_then(run) else { return };
    let skipped = [
        "$(", "$PWD", "`", "find", "xargs", "timeout", "exit", "set ", "time ", "$HOME", "$PATH", "$SHELL",
        "$USER", "$LOGNAME", "${", "<", "git", "[[",
    ];
    // `:` runs as `true`, and does not show itself.
    let hidden = text.contains(':') && own.iter().any(|words| words == &["true"]);
    if hidden
        || own.iter().any(|words| words.iter().any(|word| word == "--no-dereference"))
        || skipped.iter().any(|name| text.contains(name))
    {
        return;
    }
    let mut own = quoted(&own);
    own.sort();
    assert_eq!(own, shown(text, directory, &[]), "{text:?}");
}

/// Panics when a text that is understood exactly means something else to bash. A text is only held to what bash accepts
/// where not all of its commands would show themselves: behind `||`, with files to read or write, and by paths and signs
/// such as `.`.
pub fn hold(text: &str, directory: &Path) {
    let reading = members(text);
    if !reading.exact {
        hold_plan(text, directory);
        return;
    }
    assert!(accepts(text), "bash does not accept {text:?}");
    if is_composed(text) {
        hold_plan(text, directory);
    }
    let variables = ["${", "$HOME", "$LOGNAME", "$PATH", "$PWD", "$SHELL", "$USER"];
    let writes = text.replace(">/dev/null", "").replace("2>&1", "").contains('>');
    if text.contains("||") || text.contains('<') || writes || variables.iter().any(|name| text.contains(name))
    {
        return;
    }
    let own: Vec<Vec<String>> = reading.members.into_iter().map(|member| member.words).collect();
    // Behind `%` stands a job, and these change the shell itself.
    let found = |program: &String| {
        !program.contains('/')
            && !program.starts_with('%')
            && !["builtin", "eval", "set", "exit", ":"].contains(&program.as_str())
            && program.contains(char::is_alphanumeric)
    };
    if !own.iter().all(|words| words.first().is_some_and(found)) {
        return;
    }
    let (own, shown) = (quoted(&own), shown(text, directory, &["-f"]));
    if is_composed(text) {
        // Not all of it runs, or some of it more than once, but nothing else does.
        assert!(shown.iter().all(|words| own.contains(words)), "{text:?}: {own:?} {shown:?}");
        return;
    }
    assert_eq!(own, shown, "{text:?}");
}

/// Whether commands stand in others.
fn is_composed(text: &str) -> bool {
    let keyword =
        |word: &str| matches!(word, "if" | "for" | "while" | "!" | "[[" | "{") || word.starts_with('(');
    text.split(|c: char| c.is_whitespace() || matches!(c, ';' | '|' | '&')).any(keyword)
}
