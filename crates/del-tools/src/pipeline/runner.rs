//! Working off a plan.

use std::io::{self, Write};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::ExitStatus;
use std::thread;
use std::time::{Duration, Instant};

use del_judge::{Action, Body, Gather, Group, Late, Link, Plan, Printed, Process, Stage, Step, Unsettled};
use tempfile::NamedTempFile;

use super::streams::{Sink, Source, Streams};
use crate::limits::Limits;

use super::{Crew, Means, TICK, gather};

/// Works off plans.
#[derive(Clone, Copy)]
pub(super) struct Runner<'a> {
    pub(super) crew: &'a Crew,
    pub(super) means: Means<'a>,
    /// How many programs run at the same time as each of its own.
    pub(super) beside: u64,
}

/// How steps go on when one fails.
#[derive(Clone, Copy, Default)]
struct Mode {
    /// It ends them all.
    ends: bool,
    /// A pipeline fails when any of its stages does.
    whole: bool,
}

/// A stage that was begun.
enum Begun<'scope> {
    Ended(ExitStatus),
    Program(usize),
    Group(thread::ScopedJoinHandle<'scope, io::Result<ExitStatus>>),
}

impl Runner<'_> {
    /// Works off a plan behind a command that ended with `status`.
    pub(super) fn plan(self, plan: &Plan, streams: &Streams, status: ExitStatus) -> io::Result<ExitStatus> {
        self.steps(plan, streams, status, Mode::default())
    }

    fn steps(
        self,
        plan: &Plan,
        streams: &Streams,
        mut status: ExitStatus,
        mut mode: Mode,
    ) -> io::Result<ExitStatus> {
        for (place, step) in plan.steps.iter().enumerate() {
            let due = match step.link {
                Link::Always => true,
                Link::And => status.success(),
                Link::Or => !status.success(),
            };
            if !due {
                continue;
            }
            match &step.action {
                Action::Enter(directory) if directory.is_dir() => status = ExitStatus::default(),
                Action::Enter(directory) => {
                    let message = format!("{} is no longer there", directory.display());
                    return Err(io::Error::new(io::ErrorKind::NotFound, message));
                }
                Action::Strict { ends, whole } => {
                    mode = Mode { ends: mode.ends || *ends, whole: mode.whole || *whole };
                    status = ExitStatus::default();
                }
                Action::Exit(code) => return Ok(code.map_or(status, exited)),
                Action::Run(stages) => status = self.step(step, stages, streams, status, mode)?,
            }
            let follows = plan.steps.get(place + 1).is_some_and(|next| next.link != Link::Always);
            if mode.ends && !status.success() && !follows && !step.negated {
                return Ok(status);
            }
        }
        Ok(status)
    }

    fn step(
        self,
        step: &Step,
        stages: &[Stage],
        streams: &Streams,
        status: ExitStatus,
        mode: Mode,
    ) -> io::Result<ExitStatus> {
        let started = Instant::now();
        let status = self.pipeline(stages, streams, status, mode)?;
        if step.timed {
            streams.say(&format!("\nreal\t{:.3}s", started.elapsed().as_secs_f64()));
        }
        Ok(if step.negated { exited(u8::from(status.success())) } else { status })
    }

    fn pipeline(
        self,
        stages: &[Stage],
        streams: &Streams,
        status: ExitStatus,
        mode: Mode,
    ) -> io::Result<ExitStatus> {
        let beside = u64::try_from(stages.len()).unwrap_or(u64::MAX).saturating_mul(self.beside + 1);
        let one = Self { beside: beside.saturating_sub(1), ..self };
        thread::scope(|scope| {
            let mut begun = Vec::new();
            let mut before: Option<Source> = None;
            for (place, stage) in stages.iter().enumerate() {
                let (next, out) = if place + 1 < stages.len() {
                    let (next, out) = io::pipe()?;
                    (Some(Source::Pipe(next)), Sink::Pipe(out))
                } else {
                    (None, streams.out.again()?)
                };
                let input = match before.take() {
                    Some(before) => before,
                    None => streams.input.again()?,
                };
                let own = Streams { input, out, err: streams.err.again()? };
                begun.push(match stage {
                    Stage::Process(process) => one.start(process, own)?,
                    Stage::Group(group) if stages.len() == 1 => {
                        Begun::Ended(one.group(group, own, status, mode)?)
                    }
                    Stage::Group(group) => {
                        Begun::Group(scope.spawn(move || one.group(group, own, status, mode)))
                    }
                });
                before = next;
            }
            drop(before);
            let mut ended = Vec::new();
            for stage in begun {
                ended.push(self.wait(stage)?);
            }
            let last = ended.last().copied().unwrap_or_default();
            let failed = ended.into_iter().rfind(|status| !status.success());
            Ok(if mode.whole { failed.unwrap_or(last) } else { last })
        })
    }

    fn wait(self, begun: Begun<'_>) -> io::Result<ExitStatus> {
        match begun {
            Begun::Ended(status) => Ok(status),
            Begun::Group(group) => {
                group.join().unwrap_or_else(|_| Err(io::Error::other("a group broke down")))
            }
            Begun::Program(number) => {
                // Most programs end at once; those that do not are looked at less and less often.
                let mut patience = Duration::from_micros(200);
                loop {
                    if let Some(status) = self.crew.look(number)? {
                        return Ok(status);
                    }
                    thread::sleep(patience);
                    patience = (patience * 2).min(TICK);
                }
            }
        }
    }

    /// Starts one program.
    fn start<'scope>(self, process: &Process, streams: Streams) -> io::Result<Begun<'scope>> {
        let Some(program) = &process.program else {
            streams.say(&format!("{}: command not found", process.name));
            return Ok(Begun::Ended(exited(127)));
        };
        let messages = streams.err.again()?;
        let streams = match streams.redirected(process.input.as_ref(), &process.outputs, self.means.workspace)
        {
            Ok(streams) => streams,
            Err(error) => {
                let streams = Streams { input: Source::Nothing, out: Sink::Nowhere, err: messages };
                streams.say(&format!("{}: {error}", process.name));
                return Ok(Begun::Ended(exited(1)));
            }
        };
        let reach = self.means.sandbox.reach_of(started_by(process).unwrap_or(program), &process.directory);
        let limits = Limits::silent(self.beside);
        let mut command = self.means.sandbox.command(program, reach, limits);
        let mut arguments = process.arguments.clone();
        let mut files = Vec::new();
        for made in &process.made {
            let file = file_of(&made.text, self.means.sandbox.scratch())?;
            arguments[made.argument] = file.path().to_string_lossy().into_owned();
            files.push(file);
        }
        command.args(arguments).current_dir(&process.directory).env_clear();
        command.envs(process.environment.iter().map(|(name, value)| (name, value)));
        if let Some(attributes) = self.means.sandbox.attributes() {
            command.env("GIT_CONFIG_COUNT", "1").env("GIT_CONFIG_KEY_0", "core.attributesFile");
            command.env("GIT_CONFIG_VALUE_0", attributes);
        }
        command.stdin(streams.input.stdio()).stdout(streams.out.stdio()).stderr(streams.err.stdio());
        self.crew.add(files, || self.means.sandbox.spawn(command, reach, limits)).map(Begun::Program)
    }

    fn group(
        self,
        group: &Group,
        streams: Streams,
        status: ExitStatus,
        mode: Mode,
    ) -> io::Result<ExitStatus> {
        let messages = Streams { input: Source::Nothing, out: Sink::Nowhere, err: streams.err.again()? };
        let streams = match streams.redirected(group.input.as_ref(), &group.outputs, self.means.workspace) {
            Ok(streams) => streams,
            Err(error) => {
                messages.say(&error.to_string());
                return Ok(exited(1));
            }
        };
        match &group.body {
            Body::Steps(plan) => self.steps(plan, &streams, status, mode),
            Body::Choice { arms, otherwise } => {
                for (condition, then) in arms {
                    let asked = Mode { ends: false, ..mode };
                    if self.steps(condition, &streams, status, asked)?.success() {
                        return self.steps(then, &streams, status, mode);
                    }
                }
                self.steps(otherwise, &streams, ExitStatus::default(), mode)
            }
            Body::Late(late) => self.late(late, streams, status, mode),
        }
    }

    /// Gathers what a command waits for, and runs what the judge makes of it.
    fn late(self, late: &Late, streams: Streams, status: ExitStatus, mode: Mode) -> io::Result<ExitStatus> {
        match &late.gather {
            Gather::Outputs(printed) => {
                let mut values = Vec::new();
                let mut last = status;
                for Printed { plan, whole } in printed {
                    let (text, ended) = self.output(plan, &streams, last)?;
                    if *whole {
                        values.push(text);
                        continue;
                    }
                    values.push(text.replace('\0', "").trim_end_matches('\n').to_owned());
                    last = ended;
                }
                self.settled(late.settle(self.means.judge, &values, code(status)), &streams, last, mode)
            }
            Gather::Lines { raw, separators, fields } => {
                let text = gather::text(streams.input.again()?, self.crew)?;
                let streams = Streams { input: Source::Nothing, ..streams };
                let mut status = ExitStatus::default();
                for line in gather::lines(&text) {
                    if !raw && line.contains('\\') {
                        streams.say("read: a backslash in a line, which only `read -r` takes as it is");
                        return Ok(exited(1));
                    }
                    let values = gather::fields(line, separators, *fields);
                    let plan = late.settle(self.means.judge, &values, code(status));
                    status = self.settled(plan, &streams, status, mode)?;
                }
                Ok(status)
            }
            Gather::Words { end, at_once, none, failed } => {
                let text = gather::text(streams.input.again()?, self.crew)?;
                let words = gather::words(&text, *end)?;
                let streams = Streams { input: Source::Nothing, ..streams };
                let mut all = true;
                if words.is_empty() && *none {
                    all = self.words(late, &[], &streams, mode)?;
                }
                for words in words.chunks(*at_once) {
                    all &= self.words(late, words, &streams, mode)?;
                }
                Ok(if all { ExitStatus::default() } else { exited(*failed) })
            }
        }
    }

    /// Runs a command for words, without those that it may not have. Whether all went well.
    fn words(self, late: &Late, words: &[String], streams: &Streams, mode: Mode) -> io::Result<bool> {
        let judge = self.means.judge;
        let mut all = true;
        let mut plan = late.settle(judge, words, 0);
        if plan.is_err() && words.len() > 1 {
            let mut fitting = Vec::new();
            for word in words {
                if self.crew.is_stopped() {
                    return Err(io::ErrorKind::Interrupted.into());
                }
                match late.settle(judge, std::slice::from_ref(word), 0) {
                    Ok(_) => fitting.push(word.clone()),
                    Err(error) => {
                        all = false;
                        streams.say(&format!("`{word}` was left out; {error}"));
                    }
                }
            }
            if fitting.is_empty() {
                return Ok(false);
            }
            plan = late.settle(judge, &fitting, 0);
        }
        let status = self.settled(plan, streams, ExitStatus::default(), mode)?;
        Ok(all && status.success())
    }

    fn settled(
        self,
        plan: Result<Plan, Unsettled>,
        streams: &Streams,
        status: ExitStatus,
        mode: Mode,
    ) -> io::Result<ExitStatus> {
        // What is left out starts nothing that would notice.
        if self.crew.is_stopped() {
            return Err(io::ErrorKind::Interrupted.into());
        }
        match plan {
            Ok(plan) => self.steps(&plan, streams, status, mode),
            Err(error) => {
                streams.say(&error.to_string());
                Ok(exited(126))
            }
        }
    }

    /// What a plan prints, and how it ends.
    fn output(self, plan: &Plan, streams: &Streams, status: ExitStatus) -> io::Result<(String, ExitStatus)> {
        let (reader, out) = io::pipe()?;
        let inner = Streams { input: Source::Nothing, out: Sink::Pipe(out), err: streams.err.again()? };
        let (text, ended) = thread::scope(|scope| {
            let worker = scope.spawn(move || self.plan(plan, &inner, status));
            let text = gather::text(Source::Pipe(reader), self.crew);
            (text, worker.join().unwrap_or_else(|_| Err(io::Error::other("a group broke down"))))
        });
        Ok((text?, ended?))
    }
}

/// A file with this text where commands that only look find it.
fn file_of(text: &str, scratch: Option<&Path>) -> io::Result<NamedTempFile> {
    let mut file = match scratch {
        Some(scratch) => NamedTempFile::new_in(scratch)?,
        None => NamedTempFile::new()?,
    };
    file.write_all(text.as_bytes())?;
    Ok(file)
}

/// The program that another one starts.
fn started_by(process: &Process) -> Option<&Path> {
    let wraps = matches!(process.name.as_str(), "timeout" | "nice");
    process.arguments.iter().filter(|_| wraps).map(Path::new).find(|path| path.is_absolute())
}

fn exited(code: u8) -> ExitStatus {
    ExitStatus::from_raw(i32::from(code) << 8)
}

/// The status as the shell shows it.
fn code(status: ExitStatus) -> u8 {
    let signal = || status.signal().map(|signal| signal.saturating_add(128));
    status.code().or_else(signal).and_then(|code| u8::try_from(code).ok()).unwrap_or(u8::MAX)
}
