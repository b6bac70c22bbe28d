//! `batch_operations`: several calls in one, and what no other tool does: delete, move, copy, make a directory.

mod arrange;
mod member;
mod report;

use member::{Member, Shown};

use crate::arguments::{Arguments, OPERATIONS, STOP_ON_ERROR};
use crate::class::Class;
use crate::context::Context;
use crate::control::Control;
use crate::job::{Entry, Job, Prepared};
use crate::outcome::{Code, Failure, ToolResult};
use crate::outline::Outline;
use crate::question::{Question, Subject};
use crate::spelt::Spelt;

const MAX_OPERATIONS: usize = 25;
/// Operations that only read and run at the same time.
const PARALLEL: usize = 8;

pub(crate) static TOOL: Entry = Entry {
    name: "batch_operations",
    aliases: &["batch"],
    class: Class::Network,
    parameters: &[&OPERATIONS, &STOP_ON_ERROR],
    definition: include_str!("../../schemas/engine/batch_operations.json"),
    core: None,
    del: true,
    prepare,
};

struct Batch {
    members: Vec<Member>,
    /// What the user is shown of each.
    shown: Vec<Shown>,
    stop_on_error: bool,
}

/// What became of an operation.
enum Ended {
    Result(ToolResult),
    Skipped,
}

fn prepare(mut arguments: Arguments, context: &Context) -> Prepared {
    let stop_on_error = arguments.flag(&STOP_ON_ERROR).unwrap_or(true);
    let items = arguments.need_list(&OPERATIONS)?;
    if items.is_empty() || items.len() > MAX_OPERATIONS {
        let cause = format!("batch_operations takes 1 to {MAX_OPERATIONS} operations, got {}.", items.len());
        return Err(Failure::new(Code::BadType, cause));
    }
    let read = |(place, item)| {
        Member::read(item, context).map_err(|failure| {
            Failure::new(failure.code, format!("operation {}: {} Nothing was run.", place + 1, failure.cause))
        })
    };
    let members = items.iter().enumerate().map(read).collect::<Result<Vec<_>, _>>()?;
    let mut shown: Vec<Shown> = Vec::new();
    for member in &members {
        let next = member.show(context, &shown);
        shown.push(next);
    }
    Ok(Box::new(Batch { members, shown, stop_on_error }))
}

/// What the arguments say of the batch and of each operation in it.
pub(crate) fn outlines(mut arguments: Arguments, context: &Context) -> Vec<Outline> {
    let items = arguments.need_list(&OPERATIONS).unwrap_or_default();
    let members = items.iter().take(MAX_OPERATIONS).filter_map(|item| Member::read(item, context).ok());
    let whole = Outline { tool: TOOL.name, least: Class::Read, paths: Vec::new(), shows: false };
    std::iter::once(whole).chain(members.filter_map(|member| member.outline(context))).collect()
}

/// The operations as others are told of them.
pub(crate) fn spelt_out(mut arguments: Arguments, context: &Context) -> Vec<Spelt> {
    let items = arguments.need_list(&OPERATIONS).unwrap_or_default();
    let members = items.iter().take(MAX_OPERATIONS).filter_map(|item| Member::read(item, context).ok());
    members.filter_map(|member| member.spelt()).collect()
}

impl Job for Batch {
    fn class(&self) -> Class {
        self.shown.iter().map(|shown| shown.part.class).max().unwrap_or(Class::Read)
    }

    fn question(&self, _: &Context) -> Result<Question, Failure> {
        let parts = self.shown.iter().map(|shown| shown.part.clone()).collect();
        Ok(Question::new(TOOL.name, Subject::Several { parts }))
    }

    fn run(self: Box<Self>, context: &Context, control: &Control<'_>) -> Result<ToolResult, Failure> {
        let mut ended: Vec<Ended> = Vec::new();
        while ended.len() < self.members.len() {
            control.check()?;
            let failed = ended.iter().any(|one| matches!(one, Ended::Result(result) if !result.ok));
            if failed && self.stop_on_error {
                ended.push(Ended::Skipped);
                continue;
            }
            let together = self.reading_from(ended.len()).max(1);
            let next = ended.len()..ended.len() + together;
            let run = |at: usize| self.members[at].run(&self.shown[at], context, control);
            let results: Vec<_> = if together == 1 {
                next.map(run).collect()
            } else {
                std::thread::scope(|scope| {
                    let threads: Vec<_> = next.map(|at| scope.spawn(move || run(at))).collect();
                    threads
                        .into_iter()
                        .map(|thread| thread.join().unwrap_or_else(|_| Err(broken())))
                        .collect()
                })
            };
            for result in results {
                match result {
                    Err(failure) if failure.code == Code::Cancelled => return Err(failure),
                    other => ended.push(Ended::Result(other.unwrap_or_else(ToolResult::from))),
                }
            }
        }
        let labels =
            self.members.iter().zip(&self.shown).map(|(member, shown)| member.label(shown)).collect();
        Ok(report::report(labels, ended, context.limits.result_bytes))
    }
}

impl Batch {
    /// How many operations from here on only read.
    fn reading_from(&self, start: usize) -> usize {
        let reading = |shown: &&Shown| shown.part.class == Class::Read;
        self.shown[start..].iter().take(PARALLEL).take_while(reading).count()
    }
}

fn broken() -> Failure {
    Failure::new(Code::System, "the tool broke down; this is a fault of Del.")
}
