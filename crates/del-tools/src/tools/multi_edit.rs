//! `multi_edit`: several replacements in one or more files, all of them or none.

use std::fmt::Write;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::arguments::{Arguments, DRY_RUN, NEW_STRING, OLD_STRING, OPERATIONS, PATH, REPLACE_ALL};
use crate::class::Class;
use crate::context::Context;
use crate::control::Control;
use crate::diff::Difference;
use crate::edited::{Edited, Wanted};
use crate::job::{Entry, Job, Prepared};
use crate::outcome::{Code, Failure, ToolResult, counted};
use crate::question::{Part, Question, Subject};
use crate::workspace::{Access, Obstacle, Place};

const MAX_OPERATIONS: usize = 100;
/// For finding the texts of all operations.
const BUDGET: Duration = Duration::from_secs(10);

pub(crate) static TOOL: Entry = Entry {
    name: "multi_edit",
    aliases: &["multiedit"],
    class: Class::Write,
    // One replacement may stand without a list around it.
    parameters: &[&OPERATIONS, &PATH, &OLD_STRING, &NEW_STRING, &REPLACE_ALL, &DRY_RUN],
    definition: include_str!("../../schemas/engine/multi_edit.json"),
    core: None,
    del: true,
    prepare,
};

struct MultiEdit {
    operations: Vec<Operation>,
    dry_run: bool,
    /// What the edits come to, as the user is shown it.
    shown: Vec<(Place, Difference)>,
    /// Which of the files are new.
    new: Vec<bool>,
    notes: Vec<String>,
}

struct Operation {
    place: Place,
    wanted: Wanted,
}

/// What the operations make of the files as they are now.
struct Outcome {
    files: Vec<Edited>,
    /// How many edits each of them had.
    edits: Vec<usize>,
    notes: Vec<String>,
}

fn prepare(mut arguments: Arguments, context: &Context) -> Prepared {
    let dry_run = arguments.flag(&DRY_RUN).unwrap_or(false);
    let path = arguments.text(&PATH);
    let (old, new) = (arguments.text(&OLD_STRING), arguments.text(&NEW_STRING));
    let all = arguments.flag(&REPLACE_ALL).unwrap_or(false);
    let items = match (old, new) {
        (Some(old), Some(new)) if arguments.is_absent(&OPERATIONS) => {
            vec![json!({"old_string": old, "new_string": new, "replace_all": all})]
        }
        _ => arguments.need_list(&OPERATIONS)?,
    };
    if items.is_empty() || items.len() > MAX_OPERATIONS {
        let cause = format!("multi_edit takes 1 to {MAX_OPERATIONS} operations, got {}.", items.len());
        return Err(Failure::new(Code::BadType, cause));
    }
    let mut notes = Vec::new();
    let read: Vec<_> =
        items.iter().map(|item| operation(item, path.as_deref(), context, &mut notes)).collect();
    let _writing = context.workspace.lock();
    let (operations, outcome) = evaluate(context, read)?;
    let new = outcome.files.iter().map(|file| file.loaded.is_none()).collect();
    let shown = outcome.files.iter().map(|file| (file.place.clone(), file.difference())).collect();
    notes.extend(outcome.notes);
    notes.dedup();
    Ok(Box::new(MultiEdit { operations, dry_run, shown, new, notes }))
}

fn operation(
    item: &Value,
    path: Option<&str>,
    context: &Context,
    notes: &mut Vec<String>,
) -> Result<Operation, Failure> {
    let declared = json!({"file": {}, "old": {}, "new": {}, "replace_all": {}});
    let parameters = &[&PATH, &OLD_STRING, &NEW_STRING, &REPLACE_ALL];
    let mut arguments = Arguments::read("an operation", &item.to_string(), parameters, &declared)?;
    notes.extend_from_slice(arguments.notes());
    let given = match (arguments.text(&PATH), path) {
        (Some(given), _) => given,
        (None, Some(path)) => path.to_owned(),
        (None, None) => arguments.need_text(&PATH)?,
    };
    let (old, new) = (arguments.need_text(&OLD_STRING)?, arguments.need_text(&NEW_STRING)?);
    let all = arguments.flag(&REPLACE_ALL).unwrap_or(false);
    let place = context.workspace.resolve(&given, Access::Write)?;
    context.may_write(&place)?;
    Ok(Operation { place, wanted: Wanted::new(&old, &new, all) })
}

/// Does every operation in memory. If any fails, all that fail are reported.
fn evaluate(
    context: &Context,
    operations: Vec<Result<Operation, Failure>>,
) -> Result<(Vec<Operation>, Outcome), Failure> {
    let (total, mut failures, mut done) = (operations.len(), Vec::new(), Vec::new());
    let mut outcome = Outcome { files: Vec::new(), edits: Vec::new(), notes: Vec::new() };
    let deadline = Instant::now() + BUDGET;
    for (place, operation) in operations.into_iter().enumerate() {
        if Instant::now() > deadline {
            let cause = format!(
                "finding the texts of {place} operations took longer than {} s; nothing was changed. Send fewer at once.",
                BUDGET.as_secs()
            );
            return Err(Failure::new(Code::Timeout, cause));
        }
        match operation.and_then(|operation| outcome.apply(context, &operation).map(|()| operation)) {
            Ok(operation) => done.push(operation),
            Err(failure) => failures.push((place + 1, failure)),
        }
    }
    let Some((_, first)) = failures.first() else { return Ok((done, outcome)) };
    let code = first.code;
    let mut cause = match total {
        1 => String::new(),
        _ => format!("{} of {total} operations failed; nothing was changed.", failures.len()),
    };
    for (number, failure) in failures {
        let separator = if cause.is_empty() { "" } else { "\n" };
        let number = if total == 1 { String::new() } else { format!("{number}. ") };
        // Writing to a string cannot fail.
        let _ = write!(cause, "{separator}{number}{}", failure.cause);
    }
    Err(Failure::new(code, cause))
}

impl Outcome {
    fn apply(&mut self, context: &Context, operation: &Operation) -> Result<(), Failure> {
        let known = self.files.iter().position(|file| file.place == operation.place);
        let Some(at) = known else {
            let mut edited = Edited::load(context, &operation.place)?;
            // A file that nothing can be done with is not among those that are written.
            let applied = edited.apply(context, &operation.wanted)?;
            self.files.push(edited);
            self.edits.push(1);
            self.notes.extend(applied.note.map(str::to_owned));
            return Ok(());
        };
        let applied = self.files[at].apply(context, &operation.wanted)?;
        self.edits[at] += 1;
        self.notes.extend(applied.note.map(str::to_owned));
        Ok(())
    }
}

impl Job for MultiEdit {
    fn class(&self) -> Class {
        if self.dry_run { Class::Read } else { Class::Write }
    }

    fn question(&self, context: &Context) -> Result<Question, Failure> {
        let part = |((place, difference), new): (&(Place, Difference), &bool)| {
            let (path, diff) = (place.shown.clone(), difference.unified.clone());
            let subject =
                if self.dry_run { Subject::Read { path } } else { Subject::Write { path, new: *new, diff } };
            let mut question = Question::new(TOOL.name, subject);
            question.cautions.extend(context.caution(place).map(str::to_owned));
            Part { class: self.class(), question }
        };
        let parts = self.shown.iter().zip(&self.new).map(part).collect();
        let mut question = Question::new(TOOL.name, Subject::Several { parts });
        question.remarks.extend(self.notes.iter().filter(|note| !note.starts_with('[')).cloned());
        Ok(question)
    }

    fn run(self: Box<Self>, context: &Context, control: &Control<'_>) -> Result<ToolResult, Failure> {
        control.check()?;
        let writing = context.workspace.writing(self.shown.iter().map(|(place, _)| place));
        let Self { operations, dry_run, shown, notes, .. } = *self;
        let (_, outcome) = evaluate(context, operations.into_iter().map(Ok).collect())?;
        let differences: Vec<_> = outcome.files.iter().map(Edited::difference).collect();
        for (now, (place, shown)) in differences.iter().zip(&shown) {
            if !now.says_the_same(shown) {
                return Err(context.failure(&Obstacle::Changed, place));
            }
        }
        if dry_run {
            let diffs: String = differences.iter().map(|difference| difference.unified.as_str()).collect();
            return Ok(ToolResult::success(format!(
                "Nothing was changed. This is what would be:\n{}",
                diffs.trim_end()
            )));
        }
        let changes: Vec<_> = outcome.files.iter().map(Edited::write).collect();
        let more = context.commit(&TOOL.name.into(), &changes, &writing)?;
        let mut lines = Vec::new();
        for ((file, edits), difference) in outcome.files.iter().zip(&outcome.edits).zip(&differences) {
            let created = if file.loaded.is_none() { "created, " } else { "" };
            let Difference { added, removed, .. } = difference;
            lines.push(format!(
                "{}: {created}{}, +{added} -{removed}",
                file.place.shown,
                counted(*edits, "edit")
            ));
        }
        let mut result = ToolResult::success(lines.join("\n"));
        for note in notes.iter().map(String::as_str).chain(more) {
            result.note(note);
        }
        result.changes = outcome
            .files
            .into_iter()
            .zip(&differences)
            .map(|(file, difference)| file.change(difference))
            .collect();
        Ok(result)
    }
}
