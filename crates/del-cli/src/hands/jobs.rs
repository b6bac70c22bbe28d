//! Commands in the background: the tool by which the model follows them, and who is told when one ends.

use std::time::Duration;

use del_dialects::{Call, Tool};
use del_tools::{Cancel, Code, Failure, JobState, Jobs, ToolResult};
use serde::Deserialize;
use serde_json::json;

use super::Hands;
use crate::screen::stage;

/// What the tool is called.
pub(crate) const NAME: &str = "job";
/// The tool that starts jobs, and says how.
const STARTS: &str = "run_command";
/// Seconds that are waited at most.
const LONGEST_WAIT: u64 = 600;

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Arguments {
    id: Option<u32>,
    wait: u64,
    end: bool,
}

fn tool() -> Tool {
    Tool {
        name: NAME.into(),
        description: "Shows what a command in the background wrote since you last looked, waits for its end, or ends it.".into(),
        parameters: json!({
            "type": "object",
            "properties": {
                "id": {"type": "integer", "description": "the job's number; all jobs if left out"},
                "wait": {"type": "integer", "description": "seconds to wait for its end, at most 600"},
                "end": {"type": "boolean", "description": "ends it"}
            }
        })
        .into(),
    }
}

impl Hands {
    /// Lets commands run in the background, where there are commands.
    pub(crate) fn let_jobs(&mut self) {
        if self.toolbox.class(STARTS).is_some() {
            self.toolbox.let_jobs();
            self.offer();
        }
    }

    /// The tool that follows jobs, once there are any: before, a small model would take it for the one that runs commands.
    pub(crate) fn job_tool(&self) -> Option<Tool> {
        self.toolbox.jobs().filter(|jobs| !jobs.states().is_empty()).map(|_| tool())
    }

    /// The same, if it is not offered yet; from now on it is.
    pub(crate) fn offer_jobs(&mut self) -> Option<Tool> {
        let tool = self.job_tool().filter(|_| self.offered.iter().all(|offered| offered.name != NAME))?;
        self.offered.push(tool.clone());
        Some(tool)
    }

    /// Does what the model wants of a job.
    pub(super) fn follow(jobs: &Jobs, call: &Call, cancel: &Cancel) -> ToolResult {
        let Arguments { id, wait, end } = match serde_json::from_str(&call.arguments) {
            Ok(arguments) => arguments,
            Err(error) => {
                let cause = format!("expected {{\"id\", \"wait\", \"end\"}}: {error}.");
                return Failure::new(Code::BadType, cause).into();
            }
        };
        let states = jobs.states();
        let only = id.or_else(|| (states.len() == 1).then(|| states[0].id));
        let Some(id) = only else {
            let lines: Vec<String> = states.iter().map(ToString::to_string).collect();
            let none = "there are no jobs; those of an earlier session ended with it";
            return ToolResult::success(if lines.is_empty() { none.to_owned() } else { lines.join("\n") });
        };
        if end {
            jobs.end(id);
        } else if wait > 0 {
            let _busy = stage::current().map(|stage| stage.busy(&format!("waiting for job {id}")));
            jobs.wait(id, Duration::from_secs(wait.min(LONGEST_WAIT)), cancel);
        }
        if cancel.is_cancelled() {
            return super::cancelled();
        }
        let (Some(state), Some(output)) = (jobs.get(id), jobs.read(id)) else {
            let cause = format!("there is no job {id}; those of an earlier session ended with it.");
            return Failure::new(Code::NotFound, cause).into();
        };
        let output = if output.trim().is_empty() { "(no new output)" } else { output.trim_end() };
        let mut result = ToolResult::success(format!("{state}\n\n{output}"));
        state.remark.iter().for_each(|remark| result.note(remark));
        result
    }

    /// Tells the user of jobs that have ended; the model is told with what it is told next.
    pub(crate) fn hear_jobs(&mut self) {
        for state in self.toolbox.jobs().map(Jobs::take_ended).unwrap_or_default() {
            crate::say(&state);
            state.remark.iter().for_each(crate::say);
            self.over.push(state);
        }
    }

    /// What the model has not been told yet of jobs that have ended.
    pub(crate) fn take_over(&mut self) -> Vec<String> {
        let told = |state: JobState| {
            let remark = state.remark.as_ref().map(|remark| format!("\n{remark}")).unwrap_or_default();
            format!("[{state}; its output: {}]{remark}", state.file.display())
        };
        std::mem::take(&mut self.over).into_iter().map(told).collect()
    }

    /// Ends what still runs in the background, and says so.
    pub(crate) fn end_jobs(&self) {
        for state in self.toolbox.jobs().map(Jobs::end_all).unwrap_or_default() {
            crate::say(format!("ended with the session: job {}, {}", state.id, state.command));
        }
    }
}
