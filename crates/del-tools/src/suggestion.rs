//! Rules that would let a call run from now on, for the user to take, to change, or to leave.

use del_judge::{Judgement, Verdict, members};

use crate::policy::Gate;
use crate::question::{Question, Subject};

/// Programs that run what their arguments say: a rule for their start would be a rule for everything.
const RUNNERS: [&str; 34] = [
    "ash", "awk", "bash", "bunx", "chroot", "dash", "deno", "doas", "docker", "env", "eval", "exec", "fish",
    "gawk", "ksh", "lua", "mawk", "nice", "node", "nohup", "npx", "parallel", "perl", "php", "podman",
    "python", "python3", "ruby", "sh", "ssh", "sudo", "timeout", "xargs", "zsh",
];
/// Programs whose first argument says what they do.
const COMMANDERS: [&str; 22] = [
    "apt", "bun", "bundle", "cargo", "composer", "dotnet", "gh", "git", "go", "gradle", "just", "make",
    "mix", "mvn", "npm", "pip", "pnpm", "poetry", "rake", "task", "uv", "yarn",
];
/// Modules of Python that say by themselves what is run.
const MODULES: [&str; 14] = [
    "black",
    "build",
    "compileall",
    "doctest",
    "flake8",
    "isort",
    "json.tool",
    "mypy",
    "nox",
    "pylint",
    "pytest",
    "ruff",
    "tox",
    "unittest",
];
/// Subcommands whose operand says what runs.
const LAUNCHERS: [&str; 3] = ["run", "exec", "x"];

impl Question {
    /// Rules that together would let this call run, and others like it. Empty where no rule can.
    pub fn rules(&self) -> Vec<String> {
        let rules = self.likely();
        if Gate::allows_by(&rules, self) { rules } else { Vec::new() }
    }

    fn likely(&self) -> Vec<String> {
        match &self.subject {
            Subject::Command { command, judgement, .. } if judgement.verdict != Verdict::Refuse => {
                let rules = commands(&self.tool, command, judgement);
                // What names files that run or hold secrets is meant as it stands, or not at all.
                if judgement.delicate.is_empty() || Gate::allows_by(&rules, self) {
                    rules
                } else {
                    vec![format!("{}({command})", self.tool)]
                }
            }
            Subject::Write { path, .. } if self.cautions.is_empty() => {
                let place = match path.rsplit_once('/') {
                    Some((folder, _)) if !folder.is_empty() => format!("{}/**", globset::escape(folder)),
                    _ => globset::escape(path),
                };
                vec![format!("{}({place})", self.tool)]
            }
            Subject::Write { path, .. } => vec![format!("{}({})", self.tool, globset::escape(path))],
            Subject::Foreign { .. } | Subject::Network { .. } => vec![self.tool.clone()],
            // What it is done to changes from call to call.
            Subject::Program { about, .. } if self.tool == "git_operation" => {
                let operation = about.first().and_then(|about| about.split_whitespace().next());
                operation.map(|operation| format!("{}({operation})", self.tool)).into_iter().collect()
            }
            Subject::Program { about, .. } => about
                .first()
                .map(|path| format!("{}({})", self.tool, globset::escape(path)))
                .into_iter()
                .collect(),
            _ => Vec::new(),
        }
    }
}

/// A rule for each of the commands that is not safe by itself.
fn commands(tool: &str, command: &str, judgement: &Judgement) -> Vec<String> {
    let members = members(command);
    let mut rules = Vec::new();
    for (place, member) in members.members.iter().enumerate() {
        if judgement.harmless.get(place).copied().unwrap_or(false) {
            continue;
        }
        let delicate = judgement.delicate.iter().any(|file| member.says(&file.word));
        let rule = if delicate { quoted(&member.words) } else { start(&member.inner().words) };
        let Some(rule) = rule.filter(|_| member.plain) else { return Vec::new() };
        let rule = format!("{tool}({rule})");
        if !rules.contains(&rule) {
            rules.push(rule);
        }
    }
    rules
}

/// The program and its subcommand, with any arguments behind them; a program that runs anything only as it stands.
fn start(words: &[String]) -> Option<String> {
    let program = words.first()?;
    let name = program.rsplit('/').next().unwrap_or(program);
    if name.starts_with("python")
        && let [_, option, module, ..] = words
        && option == "-m"
        && MODULES.contains(&module.as_str())
    {
        return Some(format!("{}:*", quoted(&words[..3])?));
    }
    if RUNNERS.contains(&name) || name.starts_with("python") {
        return quoted(words);
    }
    let plain = |word: &&String| {
        word.starts_with(|c: char| c.is_ascii_lowercase())
            && word
                .chars()
                .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '-' | '_' | ':'))
    };
    let commands = COMMANDERS.contains(&name) && words.get(1).as_ref().is_some_and(plain);
    let mut taken = 1 + usize::from(commands);
    if taken == 2 && LAUNCHERS.contains(&words[1].as_str()) && words.get(2).as_ref().is_some_and(plain) {
        taken = 3;
    }
    Some(format!("{}:*", quoted(&words[..taken])?))
}

fn quoted(words: &[String]) -> Option<String> {
    shlex::try_join(words.iter().map(String::as_str)).ok()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use del_judge::{Ground, Judge};

    use super::*;

    fn judgement(command: &str) -> Judgement {
        Judge::default().judge(command, &Ground::new(Path::new("/nonexistent")))
    }

    #[test]
    fn a_start_is_the_program_and_its_subcommand_but_never_a_program_that_runs_anything() {
        let rule = |command: &str| commands("run_command", command, &judgement(command));
        for (command, rules) in [
            ("cargo test --workspace", vec!["run_command(cargo test:*)"]),
            ("npm run build -- -x", vec!["run_command(npm run build:*)"]),
            ("make", vec!["run_command(make:*)"]),
            ("./configure --prefix=/x", vec!["run_command(./configure:*)"]),
            ("touch a.txt", vec!["run_command(touch:*)"]),
            ("touch a", vec!["run_command(touch:*)"]),
            ("cargo test && git commit -m x", vec!["run_command(cargo test:*)", "run_command(git commit:*)"]),
            ("cargo test; cargo test -q", vec!["run_command(cargo test:*)"]),
            ("bash -c 'rm x'", vec!["run_command(bash -c 'rm x')"]),
            ("python3.12 x.py", vec!["run_command(python3.12 x.py)"]),
            ("timeout 60 cargo test -q", vec!["run_command(cargo test:*)"]),
            ("RUST_BACKTRACE=1 cargo test", vec!["run_command(cargo test:*)"]),
            ("if cargo test; then make x; fi", vec!["run_command(cargo test:*)", "run_command(make x:*)"]),
            ("timeout -s KILL 60 make", vec!["run_command(make:*)"]),
            ("timeout -x 60 make", vec!["run_command(timeout -x 60 make)"]),
            ("python3 -m pytest -q", vec!["run_command(python3 -m pytest:*)"]),
            ("python3 -m timeit x", vec!["run_command(python3 -m timeit x)"]),
            ("A=b make", vec![]),
            ("echo $(x)", vec![]),
        ] {
            assert_eq!(rule(command), rules, "{command}");
        }
        let harmless = Judgement { harmless: vec![true, false], ..judgement("cat a | cargo fmt") };
        assert_eq!(commands("run_command", "cat a | cargo fmt", &harmless), ["run_command(cargo fmt:*)"]);
    }

    #[test]
    fn a_rule_that_is_offered_lets_the_call_run() {
        for (command, rules) in [
            ("cp a.txt .envrc", vec!["run_command(cp a.txt .envrc)"]),
            ("cat .env", vec!["run_command(cat .env)"]),
            ("cargo test && cat .env", vec!["run_command(cargo test:*)", "run_command(cat .env)"]),
            ("echo x > .envrc", vec!["run_command(echo x > .envrc)"]),
            ("sh -c 'cat .env'", vec!["run_command(sh -c 'cat .env')"]),
            ("cp a.txt b.txt", vec!["run_command(cp:*)"]),
            ("A=b make", vec![]),
        ] {
            let subject = Subject::Command {
                command: command.to_owned(),
                shell: "sh".into(),
                directory: "/nonexistent".into(),
                timeout: 1,
                judgement: judgement(command),
            };
            assert_eq!(Question::new("run_command", subject).rules(), rules, "{command}");
        }
    }
}
