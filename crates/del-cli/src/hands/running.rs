//! Running calls: asking first where the gate says so, in their order, and with somebody watching.

use del_dialects::{Call, ReadCall};
use del_tools::{
    Cancel, Class, Code, Control, Failure, Level, Plan, Progress, ToolResult, Toolbox, Verdict, counted,
};

use super::{Hands, jobs};
use crate::consent::Asked;
use crate::onlooker::{Onlooker, Output};
use crate::prompts;
use crate::screen::stage;
use crate::status::Status;
use crate::todo;

/// Watches nothing.
struct Nobody;

impl Onlooker for Nobody {
    fn call(&mut self, _: &Call) {}
    fn result(&mut self, _: &Call, _: &ToolResult) {}
}

/// Reading calls that run at the same time.
const PARALLEL: usize = 8;

impl Hands {
    /// Runs calls in their order; those that only read run at the same time as their neighbours that only read. The
    /// results come in the order of the calls, also those of calls that were not run.
    pub(crate) fn run(
        &mut self,
        calls: &[ReadCall],
        cancel: &Cancel,
        asked: &mut Asked,
        watch: &mut dyn Onlooker,
    ) -> Vec<ToolResult> {
        let mut results = Vec::with_capacity(calls.len());
        while results.len() < calls.len() {
            self.settle_mode();
            let rest = &calls[results.len()..];
            let batch = self.reading(rest);
            if batch.is_empty() {
                let call = &rest[0].call;
                watch.call(call);
                let result = self.run_watched(&rest[0], cancel, asked, watch);
                self.remember(&result);
                watch.result(call, &result);
                results.push(result);
                continue;
            }
            for (ReadCall { call, .. }, result) in rest.iter().zip(self.run_together(rest, batch, cancel)) {
                watch.call(call);
                watch.result(call, &result);
                results.push(result);
            }
        }
        self.hear_jobs();
        // A sub-agent is told nothing of the jobs of whoever sent it.
        if self.task.is_none()
            && let Some(last) = results.last_mut()
        {
            for told in self.take_over() {
                last.note(&told);
            }
        }
        results
    }

    /// Runs one call that nobody watches.
    pub(crate) fn run_one(&mut self, call: &ReadCall, cancel: &Cancel, asked: &mut Asked) -> ToolResult {
        self.run_watched(call, cancel, asked, &mut Nobody)
    }

    /// Runs one call, asking first where the gate says so, or where its arguments were guessed.
    fn run_watched(
        &mut self,
        ReadCall { call, guess }: &ReadCall,
        cancel: &Cancel,
        asked: &mut Asked,
        watch: &mut dyn Onlooker,
    ) -> ToolResult {
        if cancel.is_cancelled() {
            return super::cancelled();
        }
        if self.planning && self.task.is_none() && call.name == todo::NAME {
            return self.plan.take(call);
        }
        if let Some(jobs) = self.toolbox.jobs().filter(|_| call.name == jobs::NAME) {
            return Self::follow(jobs, call, cancel);
        }
        if call.name == prompts::SKILL && !self.skills.is_empty() {
            return self.read_skill(call);
        }
        if let Err(failure) = self.narrow(call) {
            return failure.into();
        }
        let planned = self.gate.plan(&self.toolbox, &call.name, &call.arguments);
        let (mut plan, told) = match planned.and_then(|plan| self.heed(plan, call, cancel, watch)) {
            Ok(heeded) => heeded,
            Err(failure) => return self.naming_all(failure).into(),
        };
        if let Some(kind) = guess {
            plan.doubt(kind.message());
        }
        if let Some(task) = &self.task {
            plan.remark(&format!("a sub-agent wants this, for: {task}"));
        }
        self.announce(&plan);
        if plan.class() == Class::Write && !(asked.sees() && self.gate.verdict(&plan) == Verdict::Ask) {
            watch.change(&plan.question().text());
        }
        self.note_unasked(&plan, asked);
        match self.gate.settle(&self.toolbox, plan, asked.consent()) {
            Ok(plan) => {
                stage::current().inspect(|stage| stage.again());
                let mut result = watched(&self.toolbox, plan, &call.name, cancel, watch.output(call));
                for note in &told {
                    result.note(note);
                }
                self.report(call, &mut result, cancel, watch);
                result
            }
            Err(failure) => failure.into(),
        }
    }

    /// The same, where a tool is unknown with those as well that are not the toolbox's.
    fn naming_all(&self, mut failure: Failure) -> Failure {
        if failure.code == Code::UnknownTool && self.task.is_none() {
            for tool in self.offered.iter().skip(self.toolbox.tools().len()) {
                failure.cause.push_str(", ");
                failure.cause.push_str(&tool.name);
            }
        }
        failure
    }

    /// Says how far commands are confined, before the first one, and that changes cannot be undone if so.
    fn announce(&mut self, plan: &Plan) {
        if plan.class() == Class::Write
            && let Some(trouble) = self.lasting.take()
        {
            crate::say(format!("changes cannot be undone: {trouble}"));
        }
        if plan.class() == Class::Execute
            && let Some(confined) = self.confined()
        {
            crate::remark(confined);
        }
    }

    /// How far commands are confined, unless the user knows.
    pub(crate) fn confined(&mut self) -> Option<String> {
        let sandbox = self.toolbox.sandbox();
        let news = !std::mem::replace(&mut self.announced, true) && sandbox.level() != Level::Off;
        news.then(|| sandbox.to_string())
    }

    /// The plans of the calls at the front that only read and may run.
    fn reading(&self, calls: &[ReadCall]) -> Vec<Plan> {
        calls
            .iter()
            .take(PARALLEL)
            .map_while(|ReadCall { call, .. }| {
                if self.narrow(call).is_err() {
                    return None;
                }
                if !self.hooks.all.is_empty()
                    && self.hooks.watch(&self.toolbox.spelt_out(&call.name, &call.arguments))
                {
                    return None;
                }
                let plan = self.gate.plan(&self.toolbox, &call.name, &call.arguments).ok()?;
                (plan.class() == Class::Read && self.gate.verdict(&plan) == Verdict::Run).then_some(plan)
            })
            .collect()
    }

    /// Runs the plans of the first calls at the same time.
    fn run_together(&self, calls: &[ReadCall], plans: Vec<Plan>, cancel: &Cancel) -> Vec<ToolResult> {
        let status = Status::new();
        std::thread::scope(|scope| {
            let run = |(plan, ReadCall { call, .. }): (Plan, &ReadCall)| {
                let (toolbox, control) = (&self.toolbox, control(&status, &call.name, cancel, None));
                scope.spawn(move || toolbox.run(plan, &control))
            };
            let threads: Vec<_> = plans.into_iter().zip(calls).map(run).collect();
            threads.into_iter().map(|thread| thread.join().unwrap_or_else(|_| broken())).collect()
        })
    }
}

/// Runs a call of `tool` that may run, and shows meanwhile how far it is.
fn watched(toolbox: &Toolbox, plan: Plan, tool: &str, cancel: &Cancel, output: Option<Output>) -> ToolResult {
    let status = Status::new();
    toolbox.run(plan, &control(&status, tool, cancel, output))
}

/// A control that shows how far a call is; to `output` goes what it writes.
fn control<'a>(status: &'a Status, tool: &str, cancel: &Cancel, output: Option<Output>) -> Control<'a> {
    let tool = tool.to_owned();
    Control::new(cancel.clone()).with_progress(move |progress| match progress {
        Progress::Files(count) => match stage::current() {
            Some(stage) => stage.progress(&counted(count, "file")),
            None => status.show(&format!("{tool}: {}", counted(count, "file"))),
        },
        Progress::Output(text) => {
            if let Some(output) = &output {
                output(text);
            } else if let Some(stage) = stage::current() {
                stage.output(text);
            } else if let Some(line) = text.lines().rev().find(|line| !line.trim().is_empty()) {
                status.show(&format!("{tool}: {line}"));
            }
        }
        _ => {}
    })
}

fn broken() -> ToolResult {
    Failure::new(Code::System, "the tool broke down; this is a fault of Del.").into()
}
