//! `edit_file`: some text of a file replaced by other text.

use crate::arguments::{Arguments, NEW_STRING, OLD_STRING, PATH, REPLACE_ALL};
use crate::class::Class;
use crate::context::Context;
use crate::control::Control;
use crate::diff::{Difference, first_lines};
use crate::edited::{Applied, Edited, Wanted};
use crate::job::{Entry, Job, Prepared};
use crate::outcome::{Failure, ToolResult, counted};
use crate::question::{Question, Subject};
use crate::workspace::{Access, Obstacle, Place};

/// Lines of the diff that the model sees.
const DIFF_LINES: usize = 60;

pub(crate) static TOOL: Entry = Entry {
    name: "edit_file",
    aliases: &["edit", "replace", "strreplace"],
    class: Class::Write,
    parameters: &[&PATH, &OLD_STRING, &NEW_STRING, &REPLACE_ALL],
    definition: include_str!("../../schemas/engine/edit_file.json"),
    core: Some(("edit_file", include_str!("../../schemas/core/edit_file.json"))),
    del: false,
    prepare,
};

struct EditFile {
    place: Place,
    wanted: Wanted,
    /// The change as the user is shown it.
    shown: Difference,
    is_new: bool,
    note: Option<&'static str>,
}

fn prepare(mut arguments: Arguments, context: &Context) -> Prepared {
    let path = arguments.need_text(&PATH)?;
    let (old, new) = (arguments.need_text(&OLD_STRING)?, arguments.need_text(&NEW_STRING)?);
    let all = arguments.flag(&REPLACE_ALL).unwrap_or(false);
    let place = context.workspace.resolve(&path, Access::Write)?;
    context.may_write(&place)?;
    if !place.exists && !old.is_empty() {
        return Err(context.nothing_to_edit(&place.shown));
    }
    let wanted = Wanted::new(&old, &new, all);
    let _writing = context.workspace.lock();
    let (edited, applied) = edit(context, &place, &wanted)?;
    let (shown, is_new) = (edited.difference(), edited.loaded.is_none());
    Ok(Box::new(EditFile { place, wanted, shown, is_new, note: applied.note }))
}

fn edit(context: &Context, place: &Place, wanted: &Wanted) -> Result<(Edited, Applied), Failure> {
    let mut edited = Edited::load(context, place)?;
    let applied = edited.apply(context, wanted)?;
    Ok((edited, applied))
}

impl Job for EditFile {
    fn class(&self) -> Class {
        Class::Write
    }

    fn question(&self, context: &Context) -> Result<Question, Failure> {
        let (path, diff) = (self.place.shown.clone(), self.shown.unified.clone());
        let subject = Subject::Write { path, new: self.is_new, diff };
        let mut question =
            Question::new(TOOL.name, subject).with_editable(NEW_STRING.name, self.wanted.new_text());
        question.cautions.extend(context.caution(&self.place).map(str::to_owned));
        question.remarks.extend(self.note.map(str::to_owned));
        Ok(question)
    }

    fn run(self: Box<Self>, context: &Context, control: &Control<'_>) -> Result<ToolResult, Failure> {
        control.check()?;
        let writing = context.workspace.writing([&self.place]);
        let (edited, applied) = edit(context, &self.place, &self.wanted)?;
        let difference = edited.difference();
        if !difference.says_the_same(&self.shown) {
            // The file changed meanwhile, and the edit would no longer do what was shown.
            return Err(context.failure(&Obstacle::Changed, &self.place));
        }
        let notes = context.commit(&TOOL.name.into(), &[edited.write()], &writing)?;
        let mut result = ToolResult::success(said(&edited, applied, &difference));
        if let Some(note) = applied.note {
            result.note(note);
        }
        if applied.occurrences > 0 {
            result.note(&first_lines(&difference.unified, DIFF_LINES));
        }
        for note in notes {
            result.note(note);
        }
        Ok(result.with_change(edited.change(&difference)))
    }
}

fn said(edited: &Edited, applied: Applied, difference: &Difference) -> String {
    let (shown, Difference { added, removed, .. }) = (&edited.place.shown, difference);
    match applied.occurrences {
        0 => {
            let bytes = counted(edited.content.len(), "byte");
            format!("Created {shown} ({}, {bytes})", counted(*added, "line"))
        }
        n => format!("Edited {shown}: replaced {} (+{added} -{removed})", counted(n, "occurrence")),
    }
}
