//! `run_command`: a shell command, its exit code and its output.

use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::ExitStatus;
use std::sync::PoisonError;
use std::time::Duration;

use del_judge::{Ground, Judgement, Verdict};
use serde_json::{Value, json};

use crate::arguments::{Arguments, BACKGROUND, COMMAND, TIMEOUT, TIMEOUT_MS, WORKING_DIRECTORY};
use crate::class::Class;
use crate::context::Context;
use crate::control::Control;
use crate::environment;
use crate::job::{Entry, Job, Prepared};
use crate::outcome::{Code, Failure, ToolResult};
use crate::output::Output;
use crate::pipeline::{self, Means};
use crate::process::{self, Ended, How, Spec, Stream};
use crate::question::{Loan, Question, Subject};
use crate::sandbox::{Level, Reach};
use crate::shell;
use crate::workspace::{Access, Obstacle};

const DEFAULT_TIMEOUT: u64 = 120;
/// For what runs without a question.
const SILENT_TIMEOUT: u64 = 30;
const MAX_TIMEOUT: u64 = 600;
/// Nothing runs in the background for longer, in seconds.
const LONGEST_JOB: u64 = 24 * 60 * 60;
/// Reasons for a question that it shows.
const SHOWN_REASONS: usize = 4;

pub(crate) static TOOL: Entry = Entry {
    name: "run_command",
    aliases: &["bash", "shell", "executecommand", "exec", "runshellcommand", "runterminalcmd", "executebash"],
    class: Class::Execute,
    parameters: &[&COMMAND, &WORKING_DIRECTORY, &TIMEOUT, &TIMEOUT_MS, &BACKGROUND],
    definition: include_str!("../../schemas/engine/run_command.json"),
    core: Some(("run_command", include_str!("../../schemas/core/run_command.json"))),
    del: true,
    prepare,
};

/// What its definition says besides where commands may run in the background.
pub(crate) const IN_BACKGROUND: &str =
    " One that ends with `&` runs in the background, for servers and long builds; you are told when it ends.";

struct RunCommand {
    command: String,
    directory: PathBuf,
    shell: PathBuf,
    timeout: u64,
    /// It goes on while the model does something else.
    background: bool,
    /// How far it reaches where it is run by the shell.
    reach: Reach,
    ground: Ground,
    judgement: Judgement,
}

fn prepare(mut arguments: Arguments, context: &Context) -> Prepared {
    let command = arguments.need_text(&COMMAND)?;
    let directory = arguments.text(&WORKING_DIRECTORY).filter(|directory| !directory.trim().is_empty());
    let milliseconds = arguments.number(&TIMEOUT_MS).map(|ms| ms.div_ceil(1000).clamp(1, MAX_TIMEOUT));
    let timeout = arguments.number(&TIMEOUT).or(milliseconds);
    let (command, background) = in_background(command, arguments.flag(&BACKGROUND) == Some(true), context);
    if command.trim().is_empty() {
        return Err(Failure::new(Code::BadType, "the command is empty."));
    }
    if command.contains('\0') {
        return Err(Failure::new(Code::BadType, "the command contains a NUL character."));
    }
    if let Some(reason) = shell::interactive(&command) {
        return Err(Failure::new(Code::Interactive, reason));
    }
    let place = context.existing(directory.as_deref().unwrap_or("."), Access::Read)?;
    if !context.workspace.metadata(&place).is_ok_and(|metadata| metadata.is_dir()) {
        return Err(context.failure(&Obstacle::NotDirectory, &place));
    }
    let directory = context.workspace.absolute(&place);
    let ground = context.ground();
    let ground = ground.at(&directory).unwrap_or_else(|| Ground::new(&directory));
    let mut judgement = context.judge.judge(&command, &ground);
    if background && judgement.verdict == Verdict::Safe {
        // What runs without a question has to end soon, and without a shell.
        judgement.verdict = Verdict::Ask;
        judgement.reasons = vec!["it goes on in the background".to_owned()];
        judgement.plan = None;
    }
    let usual = match () {
        () if background => LONGEST_JOB,
        () if judgement.plan.is_some() => SILENT_TIMEOUT,
        () => DEFAULT_TIMEOUT,
    };
    let timeout = timeout.unwrap_or(usual);
    Ok(Box::new(RunCommand {
        command,
        directory,
        shell: shell::shell(),
        timeout,
        background,
        reach: Reach::Write,
        ground,
        judgement,
    }))
}

/// The command itself, and whether it is to run in the background.
fn in_background(command: String, wanted: bool, context: &Context) -> (String, bool) {
    if context.jobs.is_none() {
        return (command, false);
    }
    match shell::in_background(&command) {
        Some(itself) => (itself.to_owned(), true),
        None => (command, wanted),
    }
}

impl Job for RunCommand {
    fn class(&self) -> Class {
        Class::Execute
    }

    fn question(&self, context: &Context) -> Result<Question, Failure> {
        let subject = Subject::Command {
            command: self.command.clone(),
            shell: self.shell.clone(),
            directory: self.directory.clone(),
            timeout: self.timeout,
            judgement: self.judgement.clone(),
        };
        let editable = if self.background { format!("{} &", self.command) } else { self.command.clone() };
        let mut question = Question::new(TOOL.name, subject).with_editable(COMMAND.name, &editable);
        if self.background {
            let note = "it runs in the background, until it ends or the session does".to_owned();
            question.remarks.push(note);
        }
        if context.sandbox.level() == Level::None {
            question.cautions.push("this system cannot confine the command".to_owned());
        }
        let said = |what: &str| self.judgement.reasons.iter().any(|reason| reason.ends_with(what));
        for file in &self.judgement.delicate {
            let caution = format!("`{}` {}", file.word, file.what);
            if !said(&caution) {
                question.cautions.push(caution);
            }
        }
        if self.judgement.plan.is_none() {
            question.loan = context.sandbox.loan().map_or(Loan::None, Loan::Possible);
        }
        if self.judgement.verdict == Verdict::Ask {
            let reasons = self.judgement.reasons.iter().take(SHOWN_REASONS);
            question.remarks.extend(reasons.map(|reason| format!("asks because of this: {reason}")));
        }
        Ok(question)
    }

    fn lend_network(&mut self) {
        self.reach = Reach::Far;
    }

    fn run(self: Box<Self>, context: &Context, control: &Control<'_>) -> Result<ToolResult, Failure> {
        control.check()?;
        if let Some(jobs) = context.jobs.as_ref().filter(|_| self.background) {
            return jobs.start(&self.command, &self.spec(), &context.workspace, &context.sandbox);
        }
        let mut output = Output::new(context);
        let take = &mut |stream, bytes: &[u8]| output.take(stream, bytes, control);
        let ended = match &self.judgement.plan {
            Some(plan) => self.run_plan(plan, context, control, take),
            None => self.run_in_shell(context, control, take),
        }?;
        output.finish(control);
        Ok(self.result(context, output, ended))
    }
}

impl RunCommand {
    /// Runs a safe command without a shell. It is judged again: a link or a file may have been put in its way.
    fn run_plan(
        &self,
        plan: &del_judge::Plan,
        context: &Context,
        control: &Control<'_>,
        take: &mut dyn FnMut(Stream, &[u8]),
    ) -> Result<Ended, Failure> {
        if context.judge.judge(&self.command, &self.ground).plan.as_ref() != Some(plan) {
            let cause = "what this command would read has changed since it was looked at; call it again.";
            return Err(Failure::new(Code::Stale, cause));
        }
        let Context { judge, sandbox, workspace, .. } = context;
        let means = Means { judge, sandbox, workspace };
        pipeline::run(plan, Duration::from_secs(self.timeout), means, control, take)
            .map_err(|error| Failure::new(Code::System, format!("cannot run the command: {error}.")))
    }

    fn run_in_shell(
        &self,
        context: &Context,
        control: &Control<'_>,
        take: &mut dyn FnMut(Stream, &[u8]),
    ) -> Result<Ended, Failure> {
        process::run(&self.spec(), &context.sandbox, control, take).map_err(|error| {
            let cause = shell::not_started(&self.shell, &error);
            Failure::new(Code::System, cause)
        })
    }

    fn spec(&self) -> Spec {
        Spec {
            program: self.shell.clone(),
            arguments: vec!["-c".into(), self.command.clone().into()],
            directory: self.directory.clone(),
            environment: environment::users(&self.directory),
            input: Vec::new(),
            timeout: Duration::from_secs(self.timeout),
            reach: self.reach,
        }
    }

    fn result(&self, context: &Context, output: Output<'_>, ended: Ended) -> ToolResult {
        let shown = output.show(context, true);
        let seconds = ended.took.as_secs_f64();
        let mut failed = false;
        let mut result = match ended.how {
            How::Exited(status) => {
                failed = !status.success();
                let head = headline(status, seconds);
                ToolResult::success(format!("{head}\n\n{}", shown.text)).with_data(facts(status, seconds))
            }
            How::Cancelled => {
                let text = format!("Error: cancelled by the user. Partial output:\n\n{}", shown.text);
                let data = json!({"code": Code::Cancelled.as_str(), "seconds": seconds});
                ToolResult { ok: false, ..ToolResult::success(text).with_data(data) }
            }
            How::TimedOut => {
                failed = true;
                let text = format!(
                    "Error: command timed out after {} s and was killed (process group). Partial output:\n\n{}\n\nUse a larger timeout (max {MAX_TIMEOUT}) or run it in the background.",
                    self.timeout, shown.text
                );
                let data = json!({"code": Code::Timeout.as_str(), "seconds": seconds});
                ToolResult { ok: false, ..ToolResult::success(text).with_data(data) }
            }
        };
        result.full_output = shown.file;
        result.truncated = shown.cut;
        if !ended.background.is_empty() {
            let pids: Vec<_> = ended.background.iter().map(|process| process.pid.to_string()).collect();
            result.note(&format!("[background processes still running: {}]", pids.join(", ")));
            result.add("background", json!(pids));
            context.background.lock().unwrap_or_else(PoisonError::into_inner).extend(ended.background);
        }
        let fences = context.sandbox.fences_of_command(self.reach).filter(|_| failed);
        if let Some(remark) = fences.and_then(|fences| fences.remark(&shown.text)) {
            result.note(&remark);
            result.add("sandbox", remark.into());
        }
        if shell::only_changes_directory(&self.command) {
            result.note("Note: the working directory does not persist; pass working_directory.");
            result.add("directory", json!("unchanged"));
        }
        result
    }
}

fn headline(status: ExitStatus, seconds: f64) -> String {
    match (status.code(), status.signal()) {
        (Some(0), _) => format!("Success (exit code 0, {seconds:.1} s)"),
        (Some(code), _) => format!("Failed (exit code {code}, {seconds:.1} s)"),
        (None, Some(signal)) => format!("Killed (signal {signal})"),
        (None, None) => format!("Ended ({status})"),
    }
}

fn facts(status: ExitStatus, seconds: f64) -> Value {
    json!({"exit_code": status.code(), "signal": status.signal(), "seconds": (seconds * 1000.0).round() / 1000.0})
}
