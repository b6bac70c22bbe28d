//! Calls, questions, results and plans, in the words of the protocol.

use std::path::Path;

use agent_client_protocol::v1::schema::{
    ContentBlock, ContentChunk, Diff, ImageContent, Plan, PlanEntry, PlanEntryPriority, PlanEntryStatus,
    SessionUpdate, ToolCall, ToolCallContent, ToolCallLocation, ToolCallStatus, ToolCallUpdateFields,
    ToolKind,
};
use del_agent::{Entry, Image};
use del_dialects::{Call, CallResult};
use del_tools::{FileChange, Question, Subject, ToolResult, visible};
use serde_json::Value;

use crate::consent::unsaid;
use crate::table::cut;
use crate::todo::{self, Status};

/// Characters of a title.
const TITLE: usize = 120;
/// Bytes of a result's text that are told; the model saw all of it.
const TEXT: usize = 64 * 1024;
/// Bytes of what a call that runs has written that are told.
const END: usize = 4 * 1024;
/// Bytes of a file whose change is told whole.
const FILE: usize = 512 * 1024;
/// Arguments that name a file.
const PATHS: [&str; 4] = ["file_path", "path", "source", "destination"];

/// What a call is known by.
pub(super) fn id(call: &Call) -> String {
    call.id.clone().unwrap_or_else(|| call.name.clone())
}

/// A call, in a line.
pub(super) fn title(call: &Call) -> String {
    let arguments = arguments(call);
    let about = match arguments["command"].as_str() {
        Some(command) => return cut(&visible(&format!("`{}`", command.replace('\n', " "))), TITLE),
        None => PATHS.iter().chain(&["pattern", "query", "url"]).find_map(|key| arguments[*key].as_str()),
    };
    let about = about.map(|about| format!(" {}", about.replace('\n', " "))).unwrap_or_default();
    cut(&visible(&format!("{}{about}", call.name)), TITLE)
}

/// A call that begins.
pub(super) fn call(call: &Call, directory: &Path) -> ToolCall {
    ToolCall::new(id(call), title(call))
        .name(call.name.clone())
        .kind(kind(&call.name))
        .status(ToolCallStatus::InProgress)
        .locations(locations(call, directory))
        .raw_input(arguments(call))
}

/// What a call is about to do, to be agreed to: the change of a file as the editor shows changes, all else as text in
/// which every character can be seen.
pub(super) fn question(question: &Question, directory: &Path) -> Vec<ToolCallContent> {
    let mut content = Vec::new();
    match &question.subject {
        Subject::Write { diff, .. } | Subject::Rewrite { diff, .. } if visible(diff) == *diff => {
            content.extend(hunks(diff, directory).into_iter().map(ToolCallContent::Diff));
            let cautions: Vec<String> = question
                .cautions
                .iter()
                .chain(&question.remarks)
                .map(|caution| format!("! {caution}"))
                .collect();
            if !cautions.is_empty() {
                content.insert(0, text(&visible(&cautions.join("\n"))));
            }
        }
        _ => content.push(text(&question.whole())),
    }
    content.extend(unsaid(question).map(|reasons| text(&reasons)));
    content
}

/// What became of a call.
pub(super) fn result(result: &ToolResult, directory: &Path) -> ToolCallUpdateFields {
    let mut content: Vec<ToolCallContent> = result
        .changes
        .iter()
        .filter_map(|change| whole(change, directory))
        .map(ToolCallContent::Diff)
        .collect();
    if content.is_empty() {
        content.push(text(&result.text));
    }
    let status = if result.ok { ToolCallStatus::Completed } else { ToolCallStatus::Failed };
    ToolCallUpdateFields::new().status(status).content(content)
}

/// What a call that runs has written so far.
pub(super) fn meanwhile(written: &str) -> ToolCallUpdateFields {
    ToolCallUpdateFields::new().content(vec![text(&visible(written))])
}

/// The end of what was written, in whole lines if there are several.
pub(super) fn end(written: &str) -> &str {
    let Some(more) = written.len().checked_sub(END) else { return written };
    let at = (more..=written.len()).find(|at| written.is_char_boundary(*at)).unwrap_or(more);
    let end = &written[at..];
    end.split_once('\n').map_or(end, |(_, lines)| lines)
}

/// The model's plan, as the tool writes it.
pub(super) fn plan(text: &str) -> Plan {
    let entries = todo::steps(text).map(|(status, step)| {
        let status = match status {
            Status::Pending => PlanEntryStatus::Pending,
            Status::InProgress => PlanEntryStatus::InProgress,
            Status::Done => PlanEntryStatus::Completed,
        };
        PlanEntry::new(step, PlanEntryPriority::Medium, status)
    });
    Plan::new(entries.collect())
}

/// A conversation that was kept.
pub(super) fn entries(entries: &[Entry], directory: &Path) -> Vec<SessionUpdate> {
    let mut updates = Vec::new();
    let chunk = |text: &str| ContentChunk::new(text.into());
    for entry in entries {
        match entry {
            Entry::User { text, images } | Entry::Added { text, images } => {
                if !text.is_empty() {
                    updates.push(SessionUpdate::UserMessageChunk(chunk(text)));
                }
                let image = |image: &Image| {
                    let image = ImageContent::new(image.data.clone(), image.media_type.clone());
                    SessionUpdate::UserMessageChunk(ContentChunk::new(ContentBlock::Image(image)))
                };
                updates.extend(images.iter().map(image));
            }
            Entry::Ran { command, .. } => {
                updates.push(SessionUpdate::UserMessageChunk(chunk(&format!("!{command}"))));
            }
            Entry::Assistant { text, calls, .. } => {
                if !text.is_empty() {
                    updates.push(SessionUpdate::AgentMessageChunk(chunk(text)));
                }
                let calls = calls.iter().filter(|call| call.name != todo::NAME);
                updates.extend(calls.map(|call| SessionUpdate::ToolCall(past(call, entries, directory))));
            }
            Entry::Results { results } => {
                let plans = results.iter().filter(|result| result.name == todo::NAME && result.ok);
                updates.extend(plans.map(|result| SessionUpdate::Plan(plan(&result.text))));
            }
            Entry::Summary { .. } | Entry::Note { .. } => {}
        }
    }
    updates
}

/// A call that is over.
fn past(given: &Call, entries: &[Entry], directory: &Path) -> ToolCall {
    let results = entries.iter().filter_map(|entry| match entry {
        Entry::Results { results } => Some(results),
        _ => None,
    });
    let result: Option<&CallResult> = results.flatten().find(|result| result.id == given.id);
    let ok = result.is_some_and(|result| result.ok);
    let content = result.map(|result| text(&result.text)).into_iter().collect();
    let status = if ok { ToolCallStatus::Completed } else { ToolCallStatus::Failed };
    call(given, directory).status(status).content(content)
}

fn arguments(call: &Call) -> Value {
    serde_json::from_str(&call.arguments).unwrap_or_default()
}

fn kind(tool: &str) -> ToolKind {
    let has = |words: &[&str]| words.iter().any(|word| tool.contains(word));
    match tool {
        _ if tool.starts_with("mcp__") => ToolKind::Other,
        _ if has(&["delete", "remove"]) => ToolKind::Delete,
        _ if has(&["move", "rename"]) => ToolKind::Move,
        _ if has(&["write", "edit", "format"]) => ToolKind::Edit,
        _ if has(&["web", "fetch"]) => ToolKind::Fetch,
        _ if has(&["run", "command", "test", "lint", "git"]) => ToolKind::Execute,
        _ if has(&["glob", "search", "list", "find", "grep"]) => ToolKind::Search,
        _ if has(&["read", "analyze", "extract", "context", "scan"]) => ToolKind::Read,
        _ => ToolKind::Other,
    }
}

/// The files that a call names.
fn locations(call: &Call, directory: &Path) -> Vec<ToolCallLocation> {
    let arguments = arguments(call);
    let line = ["offset", "start_line", "line"].iter().find_map(|key| arguments[*key].as_u64());
    let line = line.and_then(|line| u32::try_from(line).ok());
    let paths = PATHS.iter().filter_map(|key| arguments[*key].as_str());
    paths.map(|path| ToolCallLocation::new(directory.join(path)).line(line)).collect()
}

/// A file that was changed, then and now.
fn whole(change: &FileChange, directory: &Path) -> Option<Diff> {
    let path = directory.join(&change.path);
    let before = change.before.as_deref().map(|bytes| String::from_utf8_lossy(bytes).into_owned());
    let now = if path.exists() { std::fs::read_to_string(&path).ok()? } else { String::new() };
    let fits = now.len() <= FILE && before.as_ref().is_none_or(|before| before.len() <= FILE);
    fits.then(|| Diff::new(path, now).old_text(before))
}

/// A unified diff as pairs of texts, one for each hunk.
fn hunks(diff: &str, directory: &Path) -> Vec<Diff> {
    let mut hunks = Vec::new();
    let (mut path, mut is_new) = (None, false);
    let mut open: Option<(String, String)> = None;
    let end =
        |open: &mut Option<(String, String)>, path: Option<&str>, is_new: bool, hunks: &mut Vec<Diff>| {
            if let (Some((old, new)), Some(path)) = (open.take(), path) {
                hunks.push(Diff::new(directory.join(path), new).old_text((!is_new).then_some(old)));
            }
        };
    let mut lines = diff.split_inclusive('\n').peekable();
    while let Some(line) = lines.next() {
        // A hunk's own lines may look like a head: only a pair of heads is one.
        let heads = line.starts_with("--- ") && lines.peek().is_some_and(|next| next.starts_with("+++ "));
        if heads {
            end(&mut open, path, is_new, &mut hunks);
            is_new = line.trim_end() == "--- /dev/null";
            path = lines
                .next()
                .map(|next| next[4..].trim_end())
                .map(|name| name.strip_prefix("b/").unwrap_or(name));
        } else if line.starts_with("@@ ") {
            end(&mut open, path, is_new, &mut hunks);
            open = Some(Default::default());
        } else if let Some((old, new)) = &mut open {
            let (sign, rest) = line.split_at(usize::from(line.len() > 1));
            match sign {
                "-" => old.push_str(rest),
                "+" => new.push_str(rest),
                "\\" => {}
                _ => {
                    old.push_str(rest);
                    new.push_str(rest);
                }
            }
        }
    }
    end(&mut open, path, is_new, &mut hunks);
    hunks
}

/// Text that editors would read as Markdown, as it stands.
fn text(text: &str) -> ToolCallContent {
    let mut end = TEXT.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let more = if end < text.len() { "\n… (cut here; the model saw more)" } else { "" };
    let text = &text[..end];
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    let block = ContentBlock::from(format!("{fence}\n{}\n{fence}{more}", text.trim_end_matches('\n')));
    ToolCallContent::from(block)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_diff_is_told_hunk_by_hunk() {
        let diff = "--- a/x.txt\n+++ b/x.txt\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n@@ -9,1 +9,2 @@\n-- a\n++ b\n+c\n\
                    --- /dev/null\n+++ b/new.txt\n@@ -0,0 +1 @@\n+first\n";
        let hunks = hunks(diff, Path::new("/work"));
        let told: Vec<_> = hunks
            .iter()
            .map(|diff| (diff.path.to_str().unwrap(), diff.old_text.as_deref(), diff.new_text.as_str()))
            .collect();
        let expected = [
            ("/work/x.txt", Some("one\ntwo\nthree\n"), "one\n2\nthree\n"),
            ("/work/x.txt", Some("- a\n"), "+ b\nc\n"),
            ("/work/new.txt", None, "first\n"),
        ];
        assert_eq!(told, expected);
    }

    #[test]
    fn text_cannot_leave_its_fence() {
        let ToolCallContent::Content(content) = text("a\n```\n# b") else { panic!("expected text") };
        let ContentBlock::Text(block) = content.content else { panic!("expected text") };
        assert_eq!(block.text, "````\na\n```\n# b\n````");
    }

    #[test]
    fn a_call_is_known_by_what_it_is_about() {
        let call = |name: &str, arguments: &str| Call {
            id: Some("c1".to_owned()),
            name: name.to_owned(),
            arguments: arguments.to_owned(),
        };
        assert_eq!(title(&call("run_command", r#"{"command": "ls -l\npwd"}"#)), "`ls -l pwd`");
        let read = call("read_file", r#"{"file_path": "a.txt", "offset": 3}"#);
        assert_eq!(title(&read), "read_file a.txt");
        let locations = locations(&read, Path::new("/work"));
        assert_eq!((locations[0].path.to_str(), locations[0].line), (Some("/work/a.txt"), Some(3)));
    }
}
