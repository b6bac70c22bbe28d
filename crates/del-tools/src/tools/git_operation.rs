//! `git_operation`: the eight things that models do with git, by the git binary and without a shell.

mod steps;
mod withheld;

use std::time::Duration;

use serde_json::json;

use crate::arguments::{Arguments, BRANCH, COMMITS, FILES, MESSAGE, OPERATION, STAGED};
use crate::class::Class;
use crate::context::Context;
use crate::control::Control;
use crate::environment;
use crate::git::{Act, Git};
use crate::job::{Entry, Job, Prepared};
use crate::outcome::{Code, Failure, ToolResult};
use crate::process::Spec;
use crate::program::{self, written};
use crate::question::{Question, Subject};
use crate::text::on_one_line;
use steps::{Step, nothing_staged};

const TIMEOUT: u64 = 60;
/// For what goes over a network.
const FAR_TIMEOUT: u64 = 120;
const COMMITS_SHOWN: u64 = 20;

pub(crate) static TOOL: Entry = Entry {
    name: "git_operation",
    aliases: &["git", "gitstatus", "gitcommand"],
    class: Class::Execute,
    parameters: &[&OPERATION, &FILES, &MESSAGE, &BRANCH, &COMMITS, &STAGED],
    definition: include_str!("../../schemas/engine/git_operation.json"),
    core: None,
    del: true,
    prepare,
};

/// The operations, as an error lists them.
const OPERATIONS: &str = "status, add, commit, push, pull, diff, log, branch";

struct GitOperation {
    git: Git,
    /// What it changes; nothing when it only looks.
    act: Option<Act>,
    steps: Vec<Step>,
    /// Reasons to ask, and programs that the repository makes git run.
    cautions: Vec<String>,
    remarks: Vec<String>,
    about: Vec<String>,
}

/// What a call asks for.
struct Wish {
    files: Option<Vec<String>>,
    message: Option<String>,
    branch: Option<String>,
    limit: u64,
    staged: bool,
}

fn prepare(mut arguments: Arguments, context: &Context) -> Prepared {
    let operation = operation(&mut arguments)?;
    let operation = operation.as_str();
    let wish = Wish {
        files: arguments.words(&FILES).filter(|files| !files.is_empty()),
        message: arguments.text(&MESSAGE),
        branch: arguments.text(&BRANCH).map(|branch| branch.trim().to_owned()).filter(|b| !b.is_empty()),
        limit: arguments.number(&COMMITS).unwrap_or(COMMITS_SHOWN),
        staged: arguments.flag(&STAGED).unwrap_or(false),
    };
    let act = act(operation, wish.branch.is_some())?;
    let git = Git::open(context)?;
    let mut job = GitOperation {
        cautions: git.doubts(),
        remarks: Vec::new(),
        about: Vec::new(),
        steps: Vec::new(),
        act,
        git,
    };
    job.steps = match operation {
        "status" => vec![job.status(context)],
        "diff" => vec![job.diff(&wish, context)?],
        "log" => vec![job.log(&wish, context)?],
        "branch" => vec![job.branch(wish.branch.as_deref(), context)?],
        "add" => vec![job.add(wish.files, context)?],
        "commit" => job.commit(wish, context)?,
        "push" => vec![job.push(wish.branch, context)?],
        _ => vec![job.pull(wish.branch.as_deref(), context)?],
    };
    if let Some(act) = job.act {
        job.cautions.extend(job.git.runs(act, context)?);
    }
    Ok(Box::new(job))
}

/// What a call with these arguments does at least.
pub(crate) fn least(arguments: &mut Arguments) -> Class {
    let branch = arguments.text(&BRANCH).is_some_and(|branch| !branch.trim().is_empty());
    match operation(arguments).and_then(|operation| act(&operation, branch)) {
        Ok(Some(_)) => Class::Execute,
        Ok(None) | Err(_) => Class::Read,
    }
}

fn operation(arguments: &mut Arguments) -> Result<String, Failure> {
    if arguments.is_called("git_status") {
        return Ok("status".to_owned());
    }
    let operation = arguments.need_text(&OPERATION)?.trim().to_lowercase();
    Ok(operation.strip_prefix("git ").unwrap_or(&operation).to_owned())
}

/// What an operation changes; nothing when it only looks.
fn act(operation: &str, branch: bool) -> Result<Option<Act>, Failure> {
    Ok(match operation {
        "status" | "diff" | "log" => None,
        "branch" => branch.then_some(Act::Switch),
        "add" => Some(Act::Add),
        "commit" => Some(Act::Commit),
        "push" => Some(Act::Push),
        "pull" => Some(Act::Pull),
        other => return Err(unknown(other)),
    })
}

fn unknown(operation: &str) -> Failure {
    let hint = match operation {
        "checkout" | "switch" => " Use branch to switch.",
        "show" => " Use log or diff.",
        _ => "",
    };
    let operation: String = on_one_line(operation).chars().take(40).collect();
    Failure::new(
        Code::BadType,
        format!("unknown operation '{operation}'.{hint} 'operation' must be one of: {OPERATIONS}."),
    )
}

impl Job for GitOperation {
    fn class(&self) -> Class {
        if self.act.is_none() && self.cautions.is_empty() { Class::Read } else { Class::Execute }
    }

    fn question(&self, context: &Context) -> Result<Question, Failure> {
        let command = |step: &Step| {
            let git = std::iter::once("git".to_owned());
            git.chain(step.arguments.iter().cloned()).collect()
        };
        let mut about = self.about.clone();
        if about.is_empty() {
            about.extend(self.steps.iter().filter_map(|step| step.arguments.first().cloned()));
        }
        let subject = Subject::Program {
            commands: self.steps.iter().map(command).collect(),
            input: self.steps.last().and_then(|step| step.input.clone()),
            directory: context.workspace.root().to_owned(),
            timeout: self.timeout(),
            about,
        };
        let mut question = Question::new(TOOL.name, subject);
        question.cautions.clone_from(&self.cautions);
        question.remarks.clone_from(&self.remarks);
        Ok(question)
    }

    fn run(self: Box<Self>, context: &Context, control: &Control<'_>) -> Result<ToolResult, Failure> {
        self.is_as_shown(context)?;
        let mut texts = Vec::new();
        let mut result = ToolResult::success("");
        for step in &self.steps {
            if self.act == Some(Act::Commit) && step.input.is_some() && self.steps.len() > 1 {
                let staged = self.git.ask(&["diff", "--cached", "--quiet", "--no-ext-diff"], context)?;
                if staged.code == 0 && !self.git.is_merging() {
                    return Err(nothing_staged());
                }
            }
            let timeout = Duration::from_secs(self.timeout());
            let mut spec = match self.act {
                None => self.looking(step, timeout, context, control)?,
                Some(act) => {
                    let network = matches!(act, Act::Push | Act::Pull);
                    literally(step, self.git.writing(&step.arguments, timeout, network))
                }
            };
            spec.input = step.input.clone().unwrap_or_default().into_bytes();
            let (finished, shown) = program::watch(&spec, context, control)?;
            let mut output = shown.text;
            if self.act.is_none() && step.arguments[0] == "status" && output.lines().count() <= 1 {
                output.push_str("\n(clean)");
            }
            texts.push(format!("$ git {}\n{output}", written(&step.arguments)));
            result.truncated |= shown.cut;
            result.full_output = shown.file.or(result.full_output);
            if finished.timed_out || finished.code != 0 {
                let how = if finished.timed_out {
                    format!("took longer than {} s and was ended", self.timeout())
                } else {
                    format!("failed (exit code {})", finished.code)
                };
                let code = if finished.timed_out { Code::Timeout } else { Code::Failed };
                result.ok = false;
                result.text = format!("Error: git {} {how}.\n{}", step.arguments[0], texts.join("\n"));
                result.data = Some(json!({"code": code.as_str(), "exit_code": finished.code}));
                let said = [finished.out(), finished.err()].concat();
                let hints = [explanation(&said).map(str::to_owned), context.sandbox.remark(&said)];
                hints.iter().flatten().for_each(|hint| result.note(hint));
                return Ok(result);
            }
        }
        result.text = texts.join("\n");
        Ok(result.with_data(json!({"exit_code": 0})))
    }
}

impl GitOperation {
    /// Refuses when the repository would now make git do something else than what was shown.
    fn is_as_shown(&self, context: &Context) -> Result<(), Failure> {
        let git = Git::open(context)?;
        let mut now = git.doubts();
        if let Some(act) = self.act {
            now.extend(git.runs(act, context)?);
        }
        if now.iter().all(|caution| self.cautions.contains(caution)) {
            return Ok(());
        }
        let cause =
            "the repository's configuration or hooks have changed since you were asked; call this again.";
        Err(Failure::new(Code::Stale, cause))
    }
}

/// The same run of git, in which the files of a step are what they say.
fn literally(step: &Step, mut spec: Spec) -> Spec {
    if step.is_literal() {
        environment::set(&mut spec.environment, "GIT_LITERAL_PATHSPECS", "1".as_ref());
    }
    spec
}

/// What some of git's messages ask for.
fn explanation(said: &str) -> Option<&'static str> {
    let says = |text: &str| said.contains(text);
    match () {
        () if says("Not possible to fast-forward") || says("divergent branches") => Some(
            "The branch and its remote have both moved on: merge or rebase with run_command, or ask the user.",
        ),
        () if says("[rejected]") => {
            Some("The remote has commits that are not here: pull first. Nothing is forced.")
        }
        () if says("could not read Username")
            || says("Authentication failed")
            || says("Permission denied (publickey") =>
        {
            Some("The remote wants credentials that are not set up here; ask the user to push or pull.")
        }
        () if says("Please tell me who you are") || says("empty ident name") => {
            Some("Ask the user to set user.name and user.email.")
        }
        () => None,
    }
}
