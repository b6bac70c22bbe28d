//! `edit_file`: some text of a file replaced by other text.

use std::fmt::Write;

use crate::arguments::{Arguments, NEW_STRING, OLD_STRING, PATH, REPLACE_ALL};
use crate::closest::closest;
use crate::commit;
use crate::context::{Context, Loaded};
use crate::diff::{Difference, difference, first_lines};
use crate::edit::{self, Miss};
use crate::endings::{Normalised, lf};
use crate::outcome::{ChangeKind, Code, Failure, FileChange, ToolResult, counted};
use crate::placeholder::placeholder;
use crate::policy::{self, Class};
use crate::question::{Question, Subject};
use crate::registry::{Entry, Job, Prepared};
use crate::text;
use crate::toolbox::Control;
use crate::workspace::{Access, Place};

/// Lines of the diff that the model sees.
const DIFF_LINES: usize = 60;
/// Places of a text that is not unique that are shown.
const PLACES: usize = 5;

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
    old: String,
    new: String,
    all: bool,
}

/// What the edit makes of the file as it is now.
struct Change {
    old: Option<Loaded>,
    content: Vec<u8>,
    difference: Difference,
    occurrences: usize,
    note: Option<&'static str>,
}

fn prepare(mut arguments: Arguments, context: &Context) -> Prepared {
    let path = arguments.need_text(&PATH)?;
    let old = lf(&arguments.need_text(&OLD_STRING)?);
    let new = lf(&arguments.need_text(&NEW_STRING)?);
    let all = arguments.flag(&REPLACE_ALL).unwrap_or(false);
    let place = context.workspace.resolve(&path, Access::Write)?;
    policy::may_write(place.path(), &place.shown)?;
    if !place.exists && !old.is_empty() {
        return Err(context.not_found(&place.shown));
    }
    if old == new {
        return Err(Failure::new(
            Code::NoChange,
            "old_string and new_string are the same; nothing to change.",
        ));
    }
    Ok(Box::new(EditFile { place, old, new, all }))
}

impl Job for EditFile {
    fn class(&self) -> Class {
        Class::Write
    }

    fn question(&self, context: &Context) -> Result<Question, Failure> {
        let change = {
            let _writing = context.workspace.lock();
            self.change(context)?
        };
        let (path, new) = (self.place.shown.clone(), change.old.is_none());
        let subject = Subject::Write { path, new, diff: change.difference.unified };
        let mut question = Question::new(TOOL.name, subject).with_editable(NEW_STRING.name, &self.new);
        question.cautions.extend(policy::caution(self.place.path()).map(str::to_owned));
        question.remarks.extend(change.note.map(str::to_owned));
        Ok(question)
    }

    fn run(self: Box<Self>, context: &Context, control: &Control<'_>) -> Result<ToolResult, Failure> {
        control.check()?;
        let writing = context.workspace.writing([&self.place]);
        let change = self.change(context)?;
        let write = commit::Change::write(&self.place, &change.content, change.old.as_ref());
        let notes = context.commit(&TOOL.name.into(), &[write], &writing)?;
        let mut result = self.result(change);
        notes.into_iter().for_each(|note| result.note(note));
        Ok(result)
    }
}

impl EditFile {
    fn change(&self, context: &Context) -> Result<Change, Failure> {
        if !self.place.exists {
            return Ok(self.created(None));
        }
        let loaded = context.load(&self.place)?;
        context.fresh(&self.place, &loaded.stamp)?;
        if self.old.is_empty() {
            if loaded.bytes.is_empty() {
                return Ok(self.created(Some(loaded)));
            }
            let tool = context.name_of("write_file");
            let cause = format!("old_string is empty; use {tool} to replace the whole file.");
            return Err(Failure::new(Code::NoMatch, cause));
        }
        let decoded = context.editable(&self.place, &loaded)?;
        let before = Normalised::new(&decoded.text);
        let found = edit::find(&before.text, &self.old, &self.new, self.all);
        let found = found.map_err(|miss| self.missed(context, &before.text, miss))?;
        if let Some(line) = placeholder(&self.new, &before.text) {
            let cause = format!("new_string contains a placeholder ('{line}'); send the full text.");
            return Err(Failure::new(Code::Placeholder, cause));
        }
        let after = before.replaced(&found.spans);
        if after == decoded.text {
            return Err(Failure::new(Code::NoChange, format!("{} would stay as it is.", self.place.shown)));
        }
        let bytes = text::encode(&after, decoded.charset, decoded.marked).ok_or_else(|| {
            let charset = decoded.charset.label();
            let cause =
                format!("new_string has characters that {} ({charset}) cannot hold.", self.place.shown);
            Failure::new(Code::NotUtf8, cause)
        })?;
        Ok(Change {
            difference: self.difference(&before.text, &lf(&after)),
            old: Some(loaded),
            content: bytes,
            occurrences: found.spans.len(),
            note: found.note,
        })
    }

    fn created(&self, old: Option<Loaded>) -> Change {
        let difference = self.difference("", &self.new);
        Change { old, content: self.new.clone().into_bytes(), difference, occurrences: 0, note: None }
    }

    fn difference(&self, old: &str, new: &str) -> Difference {
        let shown = &self.place.shown;
        difference(old, new, &format!("a/{shown}"), &format!("b/{shown}"))
    }

    fn result(&self, change: Change) -> ToolResult {
        let shown = &self.place.shown;
        let Difference { added, removed, unified } = change.difference;
        let text = match change.occurrences {
            0 => format!(
                "Created {shown} ({}, {})",
                counted(added, "line"),
                counted(change.content.len(), "byte")
            ),
            n => format!("Edited {shown}: replaced {} (+{added} -{removed})", counted(n, "occurrence")),
        };
        let mut result = ToolResult::success(text);
        if let Some(note) = change.note {
            result.note(note);
        }
        if change.occurrences > 0 {
            result.note(&first_lines(&unified, DIFF_LINES));
        }
        let kind = if change.old.is_some() { ChangeKind::Modified } else { ChangeKind::Created };
        let before = change.old.map(|old| old.bytes.into());
        result.with_change(FileChange { path: shown.clone(), kind, added, removed, before })
    }

    fn missed(&self, context: &Context, text: &str, miss: Miss) -> Failure {
        match miss {
            Miss::NotUnique { lines, loose } => self.not_unique(text, &lines, loose),
            Miss::NoMatch => Failure::new(Code::NoMatch, self.no_match(context, text)),
        }
    }

    fn not_unique(&self, text: &str, lines: &[usize], loose: bool) -> Failure {
        let numbers: Vec<_> = lines.iter().take(PLACES).map(usize::to_string).collect();
        let more = if lines.len() > PLACES { ", …" } else { "" };
        let (times, place) =
            (lines.len(), format!("{} (lines {}{more})", self.place.shown, numbers.join(", ")));
        let mut cause = if loose {
            format!(
                "old_string is not in {place} exactly; ignoring whitespace it occurs {times} times. Copy the text exactly, with more lines around it."
            )
        } else {
            format!(
                "old_string occurs {times} times in {place}. Add surrounding lines to make it unique or set replace_all=true."
            )
        };
        let all: Vec<_> = text.lines().collect();
        for line in lines.iter().take(PLACES) {
            cause.push_str("\n--");
            for number in line.saturating_sub(1).max(1)..=(line + 1).min(all.len()) {
                let shown: String = all[number - 1].chars().take(200).collect();
                // Writing to a string cannot fail.
                let _ = write!(cause, "\n{number:>6}\t{shown}");
            }
        }
        Failure::new(Code::NotUnique, cause)
    }

    fn no_match(&self, context: &Context, text: &str) -> String {
        let shown = &self.place.shown;
        if !self.new.trim().is_empty() && text.contains(&self.new) {
            return format!("old_string not found in {shown}. The new text is already in the file.");
        }
        let Some(closest) = closest(text, &self.old) else {
            let tool = context.name_of("read_file");
            return format!("old_string not found in {shown}. Use {tool} to see the current text.");
        };
        let lines = if closest.first == closest.last {
            format!("line {}", closest.first)
        } else {
            format!("lines {}-{}", closest.first, closest.last)
        };
        format!(
            "old_string not found in {shown}. Closest match ({} % similar) at {lines}:\n{}\nCopy the text exactly, including indentation.",
            closest.percent, closest.numbered
        )
    }
}
