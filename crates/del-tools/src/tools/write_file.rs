//! `write_file`: a whole file, created or replaced.

use std::path::Path;

use serde_json::{Value, json};

use crate::arguments::{Arguments, CONTENT, PATH};
use crate::class::Class;
use crate::commit::Change;
use crate::context::{Context, Loaded};
use crate::control::Control;
use crate::diff::{Difference, difference};
use crate::endings::crlf;
use crate::job::{Entry, Job, Prepared};
use crate::outcome::{ChangeKind, Code, Failure, FileChange, ToolResult, counted};
use crate::placeholder::placeholder;
use crate::question::{Question, Subject};
use crate::text::{self, decode};
use crate::workspace::{Access, Obstacle, Place};

pub(crate) static TOOL: Entry = Entry {
    name: "write_file",
    aliases: &["write", "createfile"],
    class: Class::Write,
    parameters: &[&PATH, &CONTENT],
    definition: include_str!("../../schemas/engine/write_file.json"),
    core: Some(("write_file", include_str!("../../schemas/core/write_file.json"))),
    del: true,
    prepare,
};

struct WriteFile {
    place: Place,
    content: String,
    /// The file as it was when the question was made: what the user agreed to replace.
    old: Option<Loaded>,
    difference: Difference,
    was_seen: bool,
    /// The file has this content already, and is none that asks to be touched: nothing is done to it.
    unchanged: bool,
    notes: Vec<&'static str>,
}

fn prepare(mut arguments: Arguments, context: &Context) -> Prepared {
    let path = arguments.need_text(&PATH)?;
    let sent = arguments.need_content(&CONTENT)?;
    let place = context.workspace.resolve(&path, Access::Write)?;
    context.may_write(&place)?;
    let (mut text, mut notes) = written(sent, &place, arguments.spelling(&CONTENT))?;
    let old = {
        let _writing = context.workspace.lock();
        let old = existing(context, &place)?;
        old.as_ref().map_or(Ok(()), |old| context.fresh(&place, &old.stamp))?;
        old
    };
    let old_text = old.as_ref().map(|old| decode(&old.bytes).text).unwrap_or_default();
    if let Some(line) = placeholder(&text, &old_text) {
        let cause = format!("content contains a placeholder ('{line}'); send the full text.");
        return Err(Failure::new(Code::Placeholder, cause));
    }
    let was_seen = old.is_none() || context.has_seen(&place);
    let difference = changed(&place.shown, old.as_ref(), &text);
    if !place.exists && !text.contains('\r') && text.contains('\n') && context.workspace.wants_crlf(&place) {
        text = crlf(&text);
        notes.push("[lines end in CRLF, as the project says]");
    }
    let same = old.as_ref().is_some_and(|old| old.bytes == text.as_bytes());
    let unchanged = same && context.caution(&place).is_none();
    Ok(Box::new(WriteFile { place, content: text, old, difference, was_seen, unchanged, notes }))
}

/// The content to write: JSON that was not sent as text becomes text, a fence around the whole of it goes.
fn written(content: Value, place: &Place, key: &str) -> Result<(String, Vec<&'static str>), Failure> {
    let extension = Path::new(&place.shown).extension().and_then(|e| e.to_str()).unwrap_or_default();
    let mut notes = Vec::new();
    let content = match content {
        Value::String(text) => text,
        json if extension.eq_ignore_ascii_case("json") => {
            notes.push("[content was JSON, not a string; written indented]");
            format!("{json:#}\n")
        }
        json => {
            let kind = if json.is_array() { "an array" } else { "an object" };
            return Err(Failure::new(Code::BadType, format!("'{key}' must be a string, got {kind}.")));
        }
    };
    let markdown = ["md", "markdown", "mdx"].iter().any(|own| extension.eq_ignore_ascii_case(own));
    let content = match unfenced(&content).filter(|_| !markdown) {
        Some(inner) => {
            notes.push("[the code fence around the content was left out]");
            inner.to_owned()
        }
        None => content,
    };
    Ok((content, notes))
}

/// What is in the fence, if the whole of `content` is one.
fn unfenced(content: &str) -> Option<&str> {
    let text = content.trim_matches(['\n', '\r', ' ']);
    let (info, body) = text.strip_prefix("```")?.split_once('\n')?;
    let body = body.strip_suffix("```")?;
    let whole = !info.contains('`') && !body.contains("```") && (body.is_empty() || body.ends_with('\n'));
    whole.then_some(body)
}

fn existing(context: &Context, place: &Place) -> Result<Option<Loaded>, Failure> {
    if !place.exists {
        return Ok(None);
    }
    context.load(place).map(Some)
}

impl Job for WriteFile {
    fn class(&self) -> Class {
        if self.unchanged { Class::Read } else { Class::Write }
    }

    fn question(&self, context: &Context) -> Result<Question, Failure> {
        let (path, diff) = (self.place.shown.clone(), self.difference.unified.clone());
        let subject = Subject::Write { path, new: self.old.is_none(), diff };
        let mut question = Question::new(TOOL.name, subject).with_editable(CONTENT.name, &self.content);
        question.cautions.extend(context.caution(&self.place).map(str::to_owned));
        if !self.was_seen {
            question.remarks.push("the model has not read this file".to_owned());
        }
        Ok(question)
    }

    fn run(self: Box<Self>, context: &Context, control: &Control<'_>) -> Result<ToolResult, Failure> {
        control.check()?;
        let writing = context.workspace.writing([&self.place]);
        let now = existing(context, &self.place)?;
        let same = match (&self.old, &now) {
            (Some(before), Some(now)) => before.stamp.holds(&now.stamp),
            (None, None) => true,
            _ => false,
        };
        if !same {
            return Err(context.failure(&Obstacle::Changed, &self.place));
        }
        if now.as_ref().is_some_and(|now| now.bytes == self.content.as_bytes()) {
            context.remember_written(&self.place, self.content.as_bytes());
            let text = format!("No change: {} already has this content.", self.place.shown);
            return Ok(ToolResult::success(text).with_data(json!({"code": "no_change"})));
        }
        let write = Change::write(&self.place, self.content.as_bytes(), now.as_ref());
        let more = context.commit(&TOOL.name.into(), &[write], &writing)?;
        let notes = self.notes.clone();
        let mut result = self.result();
        for note in notes.into_iter().chain(more) {
            result.note(note);
        }
        Ok(result)
    }
}

impl WriteFile {
    fn result(self) -> ToolResult {
        let difference = &self.difference;
        let shown = &self.place.shown;
        let lines = counted(self.content.lines().count(), "line");
        let bytes = counted(self.content.len(), "byte");
        let (kind, text) = if self.old.is_some() {
            let changed = format!("+{} -{}", difference.added, difference.removed);
            (ChangeKind::Modified, format!("Overwrote {shown} ({lines}, {bytes}; {changed})"))
        } else {
            (ChangeKind::Created, format!("Created {shown} ({lines}, {bytes})"))
        };
        let mut result = ToolResult::success(text).with_change(FileChange {
            path: shown.clone(),
            kind,
            added: difference.added,
            removed: difference.removed,
            before: self.old.map(|old| old.bytes.into()),
        });
        if self.content.starts_with("#!") && kind == ChangeKind::Created {
            result.note("[the file is not executable; run chmod +x to make it so]");
        }
        result
    }
}

fn changed(shown: &str, old: Option<&Loaded>, new: &str) -> Difference {
    match old {
        None => difference("", new, "/dev/null", &format!("b/{shown}")),
        Some(old) if text::is_binary(&old.bytes) => {
            let kind = text::binary_kind(&old.bytes, old.bytes.len() as u64);
            let unified = format!("{shown} is {kind}; it would become text\n");
            Difference { added: new.lines().count(), removed: 0, unified }
        }
        Some(old) => {
            let old = decode(&old.bytes).text;
            difference(&old, new, &format!("a/{shown}"), &format!("b/{shown}"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_fence_around_everything_goes() {
        assert_eq!(unfenced("```rust\nfn a() {}\n```"), Some("fn a() {}\n"));
        assert_eq!(unfenced("\n```\na\n```\n"), Some("a\n"));
        for content in ["a\n```\nb\n```", "```\na\n```\nb\n```\nc\n```", "```a```", "plain", "```\nopen"] {
            assert_eq!(unfenced(content), None, "{content}");
        }
    }
}
