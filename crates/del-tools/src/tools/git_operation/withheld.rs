//! What a rule denies to be read, left out of what git shows.

use std::time::Duration;

use super::steps::{Step, words};
use super::{GitOperation, literally};
use crate::context::Context;
use crate::control::Control;
use crate::outcome::{Code, Failure};
use crate::process::Spec;
use crate::program;

impl GitOperation {
    /// How git is run to look at something, without the files that nobody may read.
    pub(super) fn looking(
        &self,
        step: &Step,
        timeout: Duration,
        context: &Context,
        control: &Control<'_>,
    ) -> Result<Spec, Failure> {
        let plain = literally(step, self.git.reading(&step.arguments, timeout));
        // Of the operations that only look, the others show names.
        if step.arguments[0] != "diff" || context.workspace.withheld().is_empty() {
            return Ok(plain);
        }
        let left_out = self.left_out(step, timeout, context, control)?;
        if left_out.is_empty() {
            return Ok(plain);
        }
        let end = step.arguments.iter().position(|word| word == "--").unwrap_or(step.arguments.len());
        let (look, files) = step.arguments.split_at(end);
        let sign = if step.is_literal() { ":(literal)" } else { "" };
        let files = files.iter().skip(1).map(|file| format!("{sign}{file}"));
        let left_out = left_out.iter().map(|name| format!(":(top,exclude,literal){name}"));
        let arguments: Vec<String> =
            look.iter().cloned().chain(["--".to_owned()]).chain(files).chain(left_out).collect();
        Ok(self.git.reading(&arguments, timeout))
    }

    /// The files that a difference is about and that nobody may read, from the top of the working tree on.
    fn left_out(
        &self,
        step: &Step,
        timeout: Duration,
        context: &Context,
        control: &Control<'_>,
    ) -> Result<Vec<String>, Failure> {
        let mut arguments = step.arguments.clone();
        // A file that was renamed stands there under both of its names.
        arguments.splice(1..1, words(&["--name-only", "-z", "--no-renames", "--no-relative"]));
        let spec = literally(step, self.git.reading(&arguments, timeout));
        let finished = program::finish(&spec, context, control)?;
        let failed = |cause: String| Failure::new(Code::Failed, cause);
        if finished.code != 0 || finished.cut {
            return Err(failed(format!("git diff failed: {}", finished.err().trim())));
        }
        let names = String::from_utf8(finished.stdout).map_err(|_| {
            failed(
                "git diff is about files whose names are no text, and a rule denies some to be read."
                    .to_owned(),
            )
        })?;
        let top = self.git.top();
        let withheld = |name: &&str| context.workspace.leaves_out(&top.join(name));
        Ok(names.split_terminator('\0').filter(withheld).map(str::to_owned).collect())
    }
}
