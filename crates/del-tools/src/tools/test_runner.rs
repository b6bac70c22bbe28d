//! `test_runner`: the tests of a project, by the runner that it uses.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::{Value, json};

use crate::arguments::{Arguments, FILTER, PATH, TIMEOUT, TIMEOUT_MS};
use crate::capture::Cleaner;
use crate::class::Class;
use crate::context::Context;
use crate::control::Control;
use crate::environment;
use crate::executable::{find, is_program};
use crate::glob;
use crate::job::{Entry, Job, Prepared};
use crate::outcome::{Code, Failure, ToolResult};
use crate::output::Shown;
use crate::process::Spec;
use crate::program::{self, Finished, written};
use crate::question::{Question, Subject};
use crate::sandbox::Reach;
use crate::summary::{Failing, Outcome};
use crate::tables::{Runner, Sign, runners, summaries};
use crate::targets::{Targets, local, text_at, upward};
use crate::text::on_one_line;
use crate::workspace::Access;

const DEFAULT_TIMEOUT: u64 = 300;
const MAX_TIMEOUT: u64 = 600;
/// Characters of the end of an output of which the rest is told.
const TAIL: usize = 1500;

pub(crate) static TOOL: Entry = Entry {
    name: "test_runner",
    aliases: &["runtests", "test", "tests"],
    class: Class::Execute,
    parameters: &[&PATH, &FILTER, &TIMEOUT, &TIMEOUT_MS],
    definition: include_str!("../../schemas/engine/test_runner.json"),
    core: None,
    del: true,
    prepare,
};

struct TestRunner {
    shown: String,
    title: String,
    runner: &'static Runner,
    program: PathBuf,
    arguments: Vec<String>,
    directory: PathBuf,
    timeout: u64,
    /// Runners that the project has as well.
    others: Vec<&'static str>,
}

fn prepare(mut arguments: Arguments, context: &Context) -> Prepared {
    let path = arguments.text(&PATH).unwrap_or_else(|| ".".to_owned());
    let filter = arguments.text(&FILTER).filter(|filter| !filter.trim().is_empty());
    let milliseconds = arguments.number(&TIMEOUT_MS).map(|ms| ms.div_ceil(1000).clamp(1, MAX_TIMEOUT));
    let timeout = arguments.number(&TIMEOUT).or(milliseconds).unwrap_or(DEFAULT_TIMEOUT);
    if let Some(filter) = filter.as_deref().filter(|filter| filter.starts_with('-') || filter.contains('\0'))
    {
        let cause =
            format!("'filter' is a part of a test's name, not an option; got '{}'.", on_one_line(filter));
        return Err(Failure::new(Code::BadType, cause));
    }
    let place = context.existing(&path, Access::Read)?;
    let is_directory = context.workspace.metadata(&place).is_ok_and(|metadata| metadata.is_dir());
    let targets = Targets { place, is_directory, files: Vec::new(), more: false };
    let start = targets.directory(context);
    let mut missing = Vec::new();
    for directory in upward(&start, context) {
        let mut found = Vec::new();
        for runner in runners()
            .iter()
            .filter(|runner| runner.detect.iter().any(|sign| sign.stands_in(directory, context)))
        {
            match locate(runner, directory, context) {
                Ok(located) => found.push((runner, located)),
                Err(absent) => missing.push((runner.title.as_str(), absent)),
            }
        }
        let mut found = found.into_iter();
        let Some((runner, Located { title, program, arguments })) = found.next() else { continue };
        let mut job = TestRunner {
            shown: targets.place.shown,
            title,
            runner,
            program,
            arguments,
            directory: directory.to_owned(),
            timeout,
            others: found
                .map(|(other, _)| other.title.as_str())
                .filter(|other| *other != "unittest")
                .collect(),
        };
        if let Some(filter) = filter {
            job.narrow(&filter)?;
        }
        return Ok(Box::new(job));
    }
    Err(none(&missing))
}

fn none(missing: &[(&str, String)]) -> Failure {
    if let [(title, absent), ..] = missing {
        let cause = format!("the project uses {title}, but {absent} is not installed.");
        return Failure::new(Code::ToolMissing, cause);
    }
    let mut looked: Vec<_> = runners().iter().map(|runner| runner.title.as_str()).collect();
    looked.dedup();
    let cause = format!(
        "no test runner found (looked for {}). Run the tests with run_command if you know how.",
        looked.join(", ")
    );
    Failure::new(Code::NotFound, cause)
}

/// A runner that is there.
struct Located {
    title: String,
    program: PathBuf,
    arguments: Vec<String>,
}

/// Where the runner lies; else the name of what is not there.
fn locate(runner: &Runner, directory: &Path, context: &Context) -> Result<Located, String> {
    if let Some(needed) = &runner.needs {
        find(needed, &[]).ok_or_else(|| needed.clone())?;
    }
    let near = local(&runner.local, directory, context);
    let instead = runner
        .instead
        .iter()
        .find(|instead| upward(directory, context).any(|place| place.join(&instead.file).is_file()));
    let (title, name, arguments) = match instead {
        Some(instead) => (&instead.title, &instead.program, &instead.arguments),
        None => (&runner.title, &runner.program, &runner.arguments),
    };
    let program = match &runner.beside {
        Some(beside) => {
            let beside = find(beside, &near).ok_or_else(|| beside.clone())?;
            let sibling = beside.with_file_name(name);
            if is_program(&sibling) { Some(sibling) } else { find(name, &[]) }
        }
        None if name.starts_with("./") => Some(directory.join(name)).filter(|path| is_program(path)),
        None => find(name, &near),
    };
    let program = program.ok_or_else(|| name.clone())?;
    Ok(Located { title: title.clone(), program, arguments: arguments.clone() })
}

impl Sign {
    fn stands_in(&self, directory: &Path, context: &Context) -> bool {
        if self.file.contains('*') {
            let (folder, name) = self.file.rsplit_once('/').unwrap_or((".", &self.file));
            let Ok(glob) = glob::whole(name) else { return false };
            let entries = std::fs::read_dir(directory.join(folder)).into_iter().flatten().flatten();
            return entries.into_iter().any(|entry| glob.is_match(entry.file_name()));
        }
        let path = directory.join(&self.file);
        if !path.is_file() {
            return false;
        }
        if self.line.is_none() && self.script.is_none() {
            return true;
        }
        let Some(text) = text_at(&path, context) else { return false };
        let line =
            self.line.as_ref().is_none_or(|start| text.lines().any(|line| line.starts_with(start.as_str())));
        let script = self.script.as_ref().is_none_or(|name| {
            let json: Value = serde_json::from_str(&text).unwrap_or_default();
            // What package managers write where there are no tests.
            json["scripts"][name].as_str().is_some_and(|script| !script.contains("no test specified"))
        });
        line && script
    }
}

impl TestRunner {
    /// Adds what the runner takes for a part of a test's name.
    fn narrow(&mut self, filter: &str) -> Result<(), Failure> {
        let is_path = filter.contains("::") || filter.contains('/');
        let template = self.runner.node.as_ref().filter(|_| is_path).or(self.runner.filter.as_ref());
        let Some(template) = template else {
            let cause = format!("{} has no filter; leave 'filter' out or use run_command.", self.title);
            return Err(Failure::new(Code::BadType, cause));
        };
        self.arguments.extend(template.iter().map(|word| word.replace("{filter}", filter)));
        Ok(())
    }

    fn words(&self) -> Vec<String> {
        let program = self.program.to_string_lossy().into_owned();
        std::iter::once(program).chain(self.arguments.iter().cloned()).collect()
    }

    /// What the output says, in one of the forms that the runner writes.
    fn outcome(&self, output: &str) -> Option<Outcome> {
        let own = |name: &str| {
            self.runner.summaries.is_empty() || self.runner.summaries.iter().any(|own| own == name)
        };
        let order = |name: &str| self.runner.summaries.iter().position(|own| own == name);
        let mut fitting: Vec<_> = summaries().iter().filter(|(name, _)| own(name)).collect();
        fitting.sort_by_key(|(name, _)| order(name));
        fitting.into_iter().find_map(|(_, summary)| summary.read(output))
    }
}

impl Job for TestRunner {
    fn class(&self) -> Class {
        Class::Execute
    }

    fn question(&self, _: &Context) -> Result<Question, Failure> {
        let subject = Subject::Program {
            commands: vec![self.words()],
            input: None,
            directory: self.directory.clone(),
            timeout: self.timeout,
            about: vec![self.shown.clone()],
        };
        Ok(Question::new(TOOL.name, subject))
    }

    fn run(self: Box<Self>, context: &Context, control: &Control<'_>) -> Result<ToolResult, Failure> {
        let mut environment = environment::users(&self.directory);
        environment::set(&mut environment, "CI", "1".as_ref());
        let spec = Spec {
            program: self.program.clone(),
            arguments: self.arguments.iter().map(OsString::from).collect(),
            directory: self.directory.clone(),
            environment,
            input: Vec::new(),
            timeout: Duration::from_secs(self.timeout),
            reach: Reach::Write,
        };
        let (finished, shown) = program::watch(&spec, context, control)?;
        Ok(self.result(&finished, shown, context))
    }
}

impl TestRunner {
    fn result(&self, finished: &Finished, shown: Shown, context: &Context) -> ToolResult {
        let output = cleaned(finished);
        let outcome = self.outcome(&output);
        let seconds = finished.took.as_secs_f64();
        let mut parts = Vec::new();
        let mut data = json!({"runner": self.title, "exit_code": finished.code, "seconds": (seconds * 10.0).round() / 10.0});
        if finished.timed_out {
            data["code"] = Code::Timeout.as_str().into();
            parts.push(format!(
                "Error: the tests took longer than {} s and were ended. Use a larger timeout (max {MAX_TIMEOUT}) or a filter.",
                self.timeout
            ));
        }
        match &outcome {
            Some(outcome) => {
                let Outcome { passed, failed, skipped, .. } = outcome;
                parts.push(format!(
                    "Tests: {passed} passed, {failed} failed, {skipped} skipped ({}, {seconds:.1} s)",
                    self.title
                ));
                data["passed"] = (*passed).into();
                data["failed"] = (*failed).into();
                data["skipped"] = (*skipped).into();
                data["failures"] = outcome.failures.iter().map(|one| one.name.clone()).collect();
            }
            None => parts.push(format!(
                "Tests: no summary was found ({}, exit code {}, {seconds:.1} s)",
                self.title, finished.code
            )),
        }
        parts.push(format!("$ {}", written(&self.words())));
        let told = outcome.as_ref().map(|outcome| told(&outcome.failures, context.limits.command_chars / 2));
        let failures = told.filter(|told| !told.is_empty());
        // What failed is told above; without it, the output has to tell.
        let known = outcome.is_some() && (finished.code == 0 || failures.is_some());
        let room = if known { TAIL } else { context.limits.command_chars / 2 };
        let tail = last_lines(&shown.text, room);
        let cut = tail.len() < shown.text.len() || shown.cut;
        parts.extend(failures);
        parts.push(format!("{}:\n{tail}", if cut { "End of the output" } else { "Output" }));
        let mut result = ToolResult::success(parts.join("\n\n")).with_data(data).shortened(cut);
        result.ok = !finished.timed_out;
        result.full_output = shown.file;
        if finished.code != 0
            && let Some(remark) = context.sandbox.remark(&output)
        {
            result.note(&remark);
        }
        if !self.others.is_empty() {
            result.note(&format!("[the project also has: {}]", self.others.join(", ")));
        }
        result
    }
}

/// The failing tests with what they wrote, in at most `room` characters.
fn told(failures: &[Failing], room: usize) -> String {
    let mut text = String::new();
    for failing in failures {
        let mut block = format!("FAILED {}", failing.name);
        for line in &failing.lines {
            block.push('\n');
            block.push_str(line);
        }
        if text.len() + block.len() > room {
            let rest: Vec<_> = failures.iter().map(|failing| failing.name.as_str()).collect();
            let names = rest.join("\n").chars().take(room).collect::<String>();
            text.push_str("All that failed:\n");
            text.push_str(&names);
            break;
        }
        text.push_str(&block);
        text.push_str("\n\n");
    }
    text.trim_end().to_owned()
}

/// What was written, without escapes.
fn cleaned(finished: &Finished) -> String {
    let mut text = String::new();
    for bytes in [&finished.stdout, &finished.stderr] {
        let mut cleaner = Cleaner::default();
        text.push_str(&cleaner.push(bytes));
        text.push_str(&cleaner.finish());
        text.push('\n');
    }
    text
}

/// The end of a text, in whole lines and at most `chars` characters.
fn last_lines(text: &str, chars: usize) -> &str {
    let start = text.char_indices().rev().nth(chars.saturating_sub(1)).map_or(0, |(at, _)| at);
    let text = &text[start..];
    match text.find('\n') {
        Some(at) if start > 0 => &text[at + 1..],
        _ => text,
    }
}
