//! What git knows, as far as it can be asked without running anything of the repository's.

use std::time::Duration;

use crate::context::Context;
use crate::control::Control;
use crate::pipeline::{self, Means};
use crate::process::{How, Stream};

const TIMEOUT: Duration = Duration::from_secs(5);
/// Bytes of what git says.
const MAX_SAID: usize = 1 << 20;
/// Characters of the subject of a commit.
const MAX_SUBJECT: usize = 100;

/// The state of a repository.
#[derive(Debug, Default)]
pub(crate) struct Repository {
    pub(crate) branch: String,
    /// Files that differ from the last commit, and files that it does not know.
    pub(crate) changed: usize,
    /// The last commits: number and subject.
    pub(crate) commits: Vec<String>,
}

/// The repository that the working directory lies in. `None` where there is none, or where git could not be asked.
pub(crate) fn read(context: &Context, control: &Control<'_>) -> Option<Repository> {
    let status = ask("git status --porcelain --branch", context, control)?;
    let mut lines = status.lines();
    let head = lines.next()?.strip_prefix("## ")?;
    let head = head.strip_prefix("No commits yet on ").unwrap_or(head);
    let branch = head.split("...").next().unwrap_or(head).to_owned();
    let log = ask("git log -n 3 --format='%h %s'", context, control).unwrap_or_default();
    let commits = log.lines().map(|line| line.chars().take(MAX_SUBJECT).collect());
    Some(Repository { branch, changed: lines.count(), commits: commits.collect() })
}

/// Runs a command that the judge calls safe, and gives what it says if it ends well.
fn ask(command: &str, context: &Context, control: &Control<'_>) -> Option<String> {
    let judgement = context.judge.judge(command, &context.ground());
    let plan = judgement.plan?;
    let mut said = Vec::new();
    let take = &mut |stream, bytes: &[u8]| {
        if matches!(stream, Stream::Stdout) && said.len() + bytes.len() <= MAX_SAID {
            said.extend_from_slice(bytes);
        }
    };
    let Context { judge, sandbox, workspace, .. } = context;
    let means = Means { judge, sandbox, workspace };
    let ended = pipeline::run(&plan, TIMEOUT, means, control, take).ok()?;
    let well = matches!(ended.how, How::Exited(status) if status.success());
    well.then(|| String::from_utf8_lossy(&said).into_owned())
}
