//! `git_operation`: the eight things that models do with git, by the git binary and without a shell.

use std::path::Path;
use std::time::Duration;

use serde_json::json;

use crate::arguments::{Arguments, BRANCH, COMMITS, FILES, MESSAGE, OPERATION, STAGED};
use crate::context::Context;
use crate::environment;
use crate::git::{Act, Git};
use crate::outcome::{Code, Failure, ToolResult};
use crate::policy::{self, Class};
use crate::program::{self, written};
use crate::question::{Question, Subject};
use crate::registry::{Entry, Job, Prepared};
use crate::toolbox::Control;
use crate::workspace::{Access, on_one_line};

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

/// One run of git.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Step {
    arguments: Vec<String>,
    input: Option<String>,
}

impl Step {
    /// Whether the files are names, and none of them a pattern.
    fn is_literal(&self) -> bool {
        let files = self.arguments.iter().skip_while(|word| *word != "--").skip(1);
        !files.into_iter().any(|file| is_wild(file))
    }
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
    let operation = if arguments.is_called("git_status") {
        "status".to_owned()
    } else {
        arguments.need_text(&OPERATION)?.trim().to_lowercase()
    };
    let operation = operation.strip_prefix("git ").unwrap_or(&operation);
    let wish = Wish {
        files: arguments.words(&FILES).filter(|files| !files.is_empty()),
        message: arguments.text(&MESSAGE),
        branch: arguments.text(&BRANCH).map(|branch| branch.trim().to_owned()).filter(|b| !b.is_empty()),
        limit: arguments.number(&COMMITS).unwrap_or(COMMITS_SHOWN),
        staged: arguments.flag(&STAGED).unwrap_or(false),
    };
    let act = match operation {
        "status" | "diff" | "log" => None,
        "branch" => wish.branch.is_some().then_some(Act::Switch),
        "add" => Some(Act::Add),
        "commit" => Some(Act::Commit),
        "push" => Some(Act::Push),
        "pull" => Some(Act::Pull),
        other => return Err(unknown(other)),
    };
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
        "status" => {
            vec![step(&["status", "--short", "--branch", "--ignore-submodules=all"], job.here(context))]
        }
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

impl GitOperation {
    /// Limits what is shown to the working directory when that lies inside of the working tree.
    fn here(&self, context: &Context) -> Vec<String> {
        if self.git.top() == context.workspace.root() {
            Vec::new()
        } else {
            vec!["--".to_owned(), ".".to_owned()]
        }
    }

    fn diff(&mut self, wish: &Wish, context: &Context) -> Result<Step, Failure> {
        let mut arguments =
            words(&["diff", "--no-ext-diff", "--no-textconv", "--no-color", "--ignore-submodules=all"]);
        if wish.staged {
            arguments.push("--staged".to_owned());
        }
        self.look(arguments, wish, context)
    }

    fn log(&mut self, wish: &Wish, context: &Context) -> Result<Step, Failure> {
        let number = wish.limit.to_string();
        let arguments =
            words(&["log", "--oneline", "--decorate", "--no-color", "--no-show-signature", "-n", &number]);
        self.look(arguments, wish, context)
    }

    /// Adds the revision and the files to a command that looks.
    fn look(&self, mut arguments: Vec<String>, wish: &Wish, context: &Context) -> Result<Step, Failure> {
        if let Some(revision) = &wish.branch {
            plain(revision, "a branch or revision")?;
            arguments.extend(["--end-of-options".to_owned(), revision.clone()]);
        }
        match &wish.files {
            Some(files) => {
                arguments.push("--".to_owned());
                arguments.extend(inside(files.clone(), context)?);
                Ok(Step { arguments, input: None })
            }
            None => {
                arguments.extend(self.here(context));
                Ok(Step { arguments, input: None })
            }
        }
    }

    fn branch(&mut self, name: Option<&str>, context: &Context) -> Result<Step, Failure> {
        let Some(name) = name else {
            return Ok(step(&["branch", "--list", "--no-color", "--no-column"], Vec::new()));
        };
        self.about.push(format!("branch {name}"));
        self.named(name, context)?;
        let known = |namespace: &str| {
            let reference = format!("refs/{namespace}/{name}");
            Ok(self.git.ask(&["rev-parse", "--verify", "--quiet", &reference], context)?.code == 0)
        };
        Ok(if known("heads")? || known("remotes/origin")? {
            step(&["switch", "--no-progress", name], Vec::new())
        } else {
            step(&["switch", "--no-progress", "-c", name], Vec::new())
        })
    }

    fn add(&mut self, files: Option<Vec<String>>, context: &Context) -> Result<Step, Failure> {
        let Some(files) = files else {
            let cause = "add needs 'files' (use \".\" for all).";
            return Err(Failure::new(Code::MissingArg, cause));
        };
        let files = inside(files, context)?;
        self.about.push(format!("add {}", files.join(" ")));
        self.warn_of_secrets(files.iter().map(String::as_str));
        let mut arguments = words(&["add", "--"]);
        arguments.extend(files);
        Ok(Step { arguments, input: None })
    }

    fn commit(&mut self, wish: Wish, context: &Context) -> Result<Vec<Step>, Failure> {
        let message = wish.message.filter(|message| !message.trim().is_empty()).ok_or_else(|| {
            Failure::new(Code::MissingArg, "commit needs 'message' (string): what was changed, and why.")
        })?;
        self.about.push("commit".to_owned());
        let mut steps = Vec::new();
        match wish.files {
            Some(files) => steps.push(self.add(Some(files), context)?),
            None => {
                let staged =
                    self.git.ask(&["diff", "--cached", "--name-only", "--no-ext-diff", "-z"], context)?;
                let staged = staged.out();
                if staged.is_empty() && !self.git.is_merging() {
                    return Err(nothing_staged());
                }
                self.warn_of_secrets(staged.split_terminator('\0'));
            }
        }
        steps.push(Step { arguments: words(&["commit", "-F", "-"]), input: Some(message) });
        Ok(steps)
    }

    fn push(&mut self, branch: Option<String>, context: &Context) -> Result<Step, Failure> {
        let current = self.current(context)?;
        let name = branch.or_else(|| current.clone());
        self.about.push(name.as_ref().map_or("push".to_owned(), |name| format!("push {name}")));
        let name = name.ok_or_else(|| {
            Failure::new(Code::MissingArg, "no branch is checked out; push needs 'branch'.")
        })?;
        self.named(&name, context)?;
        let remote = self.git.setting(&format!("branch.{name}.remote")).map(str::to_owned);
        let tracked = remote.is_some();
        let remote = self.reach(&remote.unwrap_or_else(|| "origin".to_owned()), context)?;
        let mut arguments = words(&["push", "--no-progress", "--no-recurse-submodules"]);
        if !tracked {
            arguments.push("-u".to_owned());
        }
        arguments.extend(["--end-of-options".to_owned(), remote, format!("refs/heads/{name}")]);
        Ok(Step { arguments, input: None })
    }

    fn pull(&mut self, branch: Option<&str>, context: &Context) -> Result<Step, Failure> {
        self.about.push(branch.map_or("pull".to_owned(), |name| format!("pull {name}")));
        let current = self.current(context)?;
        let remote = current.and_then(|current| self.git.setting(&format!("branch.{current}.remote")));
        let remote = remote.map(str::to_owned);
        let arguments =
            words(&["pull", "--ff-only", "--no-rebase", "--no-progress", "--no-recurse-submodules"]);
        let Some(name) = branch else {
            self.reach(remote.as_deref().unwrap_or("origin"), context)?;
            return Ok(Step { arguments, input: None });
        };
        self.named(name, context)?;
        let remote = self.reach(remote.as_deref().unwrap_or("origin"), context)?;
        let reference = format!("refs/heads/{name}");
        Ok(Step { arguments: [arguments, vec!["--".to_owned(), remote, reference]].concat(), input: None })
    }

    /// Checks that the remote can be reached at all, and says where it lies.
    fn reach(&mut self, remote: &str, context: &Context) -> Result<String, Failure> {
        plain(remote, "a remote")?;
        let addresses: Vec<_> = self.git.addresses(remote).into_iter().map(str::to_owned).collect();
        let [first, ..] = addresses.as_slice() else {
            let cause = format!("the repository has no remote '{}'.", on_one_line(remote));
            return Err(Failure::new(Code::NotFound, cause));
        };
        if is_far(first) && !context.sandbox.network() {
            let cause = format!(
                "{remote} lies at {}, and commands have no network. Ask the user to start del with --allow-network.",
                on_one_line(first)
            );
            return Err(Failure::new(Code::Network, cause));
        }
        self.remarks.extend(addresses.iter().map(|address| format!("{remote} lies at {address}")));
        Ok(remote.to_owned())
    }

    /// The branch that is checked out.
    fn current(&self, context: &Context) -> Result<Option<String>, Failure> {
        let finished = self.git.ask(&["symbolic-ref", "--quiet", "--short", "HEAD"], context)?;
        Ok((finished.code == 0).then(|| finished.out().trim_end().to_owned()))
    }

    /// Refuses what is no name of a branch.
    fn named(&self, name: &str, context: &Context) -> Result<(), Failure> {
        plain(name, "a branch")?;
        let finished = self.git.ask(&["check-ref-format", &format!("refs/heads/{name}")], context)?;
        if finished.code == 0 { Ok(()) } else { Err(no_branch(name)) }
    }

    fn warn_of_secrets<'a>(&mut self, files: impl Iterator<Item = &'a str>) {
        let found = files.filter_map(|file| {
            let reason = policy::caution(Path::new(file))?;
            reason.contains("secrets").then(|| format!("{}: {reason}", on_one_line(file)))
        });
        self.cautions.extend(found);
    }

    fn timeout(&self) -> u64 {
        if matches!(self.act, Some(Act::Push | Act::Pull)) { FAR_TIMEOUT } else { TIMEOUT }
    }
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
                None => self.git.reading(&step.arguments, timeout),
                Some(act) => self.git.writing(&step.arguments, timeout, matches!(act, Act::Push | Act::Pull)),
            };
            if step.is_literal() {
                environment::set(&mut spec.environment, "GIT_LITERAL_PATHSPECS", "1".as_ref());
            }
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

fn nothing_staged() -> Failure {
    Failure::new(Code::NoChange, "nothing staged; run add first.")
}

fn no_branch(name: &str) -> Failure {
    let name: String = on_one_line(name).chars().take(100).collect();
    Failure::new(Code::BadType, format!("'{name}' is not a name for a branch."))
}

/// Refuses what git would take for an option, and what cannot be shown on a line.
fn plain(word: &str, what: &str) -> Result<(), Failure> {
    if word.starts_with('-') || word.chars().any(char::is_control) {
        let word: String = on_one_line(word).chars().take(100).collect();
        return Err(Failure::new(Code::BadType, format!("'{word}' is not {what}.")));
    }
    Ok(())
}

/// The files, relative to the working directory, if they all lie in it.
fn inside(files: Vec<String>, context: &Context) -> Result<Vec<String>, Failure> {
    let whole = files.join(" ");
    let exists = |file: &str| context.workspace.resolve(file, Access::Read).is_ok_and(|place| place.exists);
    let files = if files.len() > 1 && exists(&whole) { vec![whole] } else { files };
    let wild = files.iter().any(|file| is_wild(file));
    files
        .into_iter()
        .map(|file| {
            if wild && file.starts_with(':') {
                return Err(Failure::new(Code::BadType, format!("'{}' is not a file.", on_one_line(&file))));
            }
            // The parent says where it lies: git looks at a link, and not at what it leads to.
            let path = Path::new(&file);
            let (parent, name) = match (path.parent(), path.file_name()) {
                (Some(parent), Some(name)) if !parent.as_os_str().is_empty() => (parent, Some(name)),
                (Some(_), Some(name)) if file == name.to_string_lossy() => return Ok(file),
                _ => (path, None),
            };
            let place = context.workspace.resolve(&parent.to_string_lossy(), Access::Read)?;
            let absolute = context.workspace.absolute(&place);
            let Ok(inner) = absolute.strip_prefix(context.workspace.root()) else {
                return Err(context.workspace.outside(&file));
            };
            let inner = name.map_or(inner.to_owned(), |name| inner.join(name));
            let inner = inner.to_string_lossy().into_owned();
            Ok(if inner.is_empty() { ".".to_owned() } else { inner })
        })
        .collect()
}

fn is_wild(file: &str) -> bool {
    file.contains(['*', '?', '['])
}

/// Whether an address lies behind a network.
fn is_far(address: &str) -> bool {
    let scheme = address.split_once("://").map(|(scheme, _)| scheme);
    let colon = address.find(':').is_some_and(|at| !address[..at].contains('/'));
    scheme.map_or(colon, |scheme| scheme != "file")
}

fn step(arguments: &[&str], more: Vec<String>) -> Step {
    Step { arguments: words(arguments).into_iter().chain(more).collect(), input: None }
}

fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}
