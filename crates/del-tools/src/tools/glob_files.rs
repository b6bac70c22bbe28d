//! `glob_files`: files by a pattern on their paths, newest first.

use std::cmp::Reverse;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

use globset::GlobMatcher;
use serde_json::json;

use crate::arguments::{Arguments, GLOB, PATH};
use crate::class::Class;
use crate::context::Context;
use crate::control::Control;
use crate::glob;
use crate::job::{Entry, Job, Prepared};
use crate::outcome::{Code, Failure, ToolResult, grouped};
use crate::question::Question;
use crate::text::on_one_line;
use crate::workspace::{Access, EntryKind, Flow, LATE, Order, Place, Roamed, Walk};

const MAX_SHOWN: usize = 200;
/// Entries that are looked at at most.
const MAX_LOOKED_AT: usize = 500_000;

pub(crate) static TOOL: Entry = Entry {
    name: "glob_files",
    aliases: &["glob", "findfiles", "filesearch"],
    class: Class::Read,
    parameters: &[&GLOB, &PATH],
    definition: include_str!("../../schemas/engine/glob_files.json"),
    core: Some(("glob_files", include_str!("../../schemas/core/glob_files.json"))),
    del: false,
    prepare,
};

struct GlobFiles {
    place: Place,
    pattern: String,
    globs: Vec<GlobMatcher>,
}

fn prepare(mut arguments: Arguments, context: &Context) -> Prepared {
    let pattern = arguments.need_text(&GLOB)?;
    let path = arguments.path();
    let bad = |cause: &str| Err(Failure::new(Code::BadPattern, cause.to_owned()));
    let written = pattern.trim().trim_start_matches("./");
    if written.is_empty() {
        return bad("the pattern is empty. Use '**' for every file.");
    }
    if written.split('/').any(|part| part == "..") {
        return bad("'..' cannot stand in a pattern; give the directory as 'path'.");
    }
    let (place, globs) = if written.starts_with('/') {
        rebased(written, &path, context)?
    } else {
        (context.existing(&path, Access::Read)?, both(written, glob::anywhere)?)
    };
    Ok(Box::new(GlobFiles { place, pattern, globs }))
}

/// What the pattern means, and what it means where its brackets are part of a name, as in the routes of web frameworks
/// (`app/[id]/page.tsx`).
fn both(pattern: &str, read: fn(&str) -> Result<GlobMatcher, Failure>) -> Result<Vec<GlobMatcher>, Failure> {
    let mut globs = vec![read(pattern)?];
    if pattern.contains('[') {
        let escape = |c: char| if matches!(c, '[' | ']') { format!("[{c}]") } else { c.to_string() };
        globs.extend(read(&pattern.chars().map(escape).collect::<String>()));
    }
    Ok(globs)
}

/// Where to start and what to match from there, for a pattern with a leading slash: an absolute one starts at the part
/// of it that is no pattern; if that is not inside, the slash may mean the top of the workspace.
fn rebased(pattern: &str, path: &str, context: &Context) -> Result<(Place, Vec<GlobMatcher>), Failure> {
    let mut parts: Vec<_> = pattern.split('/').skip(1).collect();
    let plain = parts.iter().take_while(|part| !part.contains(['*', '?', '[', '{'])).count();
    // The last part is what to match, pattern or not.
    let rest = parts.split_off(plain.min(parts.len() - 1));
    let base = parts.join("/");
    let globs = both(&rest.join("/"), glob::whole)?;
    if base.is_empty() {
        return Ok((context.existing(path, Access::Read)?, globs));
    }
    let place = context.existing(&format!("/{base}"), Access::Read);
    let place = place.or_else(|failure| context.existing(&base, Access::Read).map_err(|_| failure))?;
    Ok((place, globs))
}

impl Job for GlobFiles {
    fn class(&self) -> Class {
        Class::Read
    }

    fn question(&self, _: &Context) -> Result<Question, Failure> {
        Ok(Question::read(TOOL.name, &self.place.shown))
    }

    fn run(self: Box<Self>, context: &Context, control: &Control<'_>) -> Result<ToolResult, Failure> {
        let (mut found, Roamed { ignored: left_out, mut late }) = self.files(context, control, true)?;
        let ignored = found.is_empty() && left_out && !late;
        if ignored {
            let again = self.files(context, control, false)?;
            (found, late) = (again.0, again.1.late);
        }
        if found.is_empty() {
            let pattern = on_one_line(&self.pattern);
            let text = match self.place.shown.as_str() {
                "." => format!("No files match {pattern}."),
                shown => format!("No files match {pattern} under {shown}."),
            };
            let mut result = ToolResult::success(text).with_data(json!({"matches": 0}));
            if late {
                result.note(LATE);
            }
            return Ok(result.shortened(late));
        }
        found.sort();
        let mut text = String::new();
        let mut shown = 0;
        for (_, path) in found.iter().take(MAX_SHOWN) {
            if shown > 0 && text.len() + path.len() + 1 > context.limits.result_bytes {
                break;
            }
            if shown > 0 {
                text.push('\n');
            }
            text.push_str(path);
            shown += 1;
        }
        let mut result = ToolResult::success(text).with_data(json!({"matches": found.len()}));
        if ignored {
            result.note("(matches only in ignored files)");
        }
        if shown < found.len() {
            result.note(&format!("[{shown} of {} matches shown]", grouped(found.len() as u64)));
        }
        if late {
            result.note(LATE);
        }
        Ok(result.shortened(late || shown < found.len()))
    }
}

/// When a file was changed, the newest first, and its path.
type Found = (Reverse<SystemTime>, String);

impl GlobFiles {
    /// The files that match, with when they were changed; and how the walk ended.
    fn files(
        &self,
        context: &Context,
        control: &Control<'_>,
        respect_ignored: bool,
    ) -> Result<(Vec<Found>, Roamed), Failure> {
        let walk = Walk { depth: usize::MAX, respect_ignored, hidden: true, order: Order::Path };
        let prefix = self.place.prefix();
        let found = Mutex::new(Vec::new());
        let looked_at = AtomicUsize::new(0);
        let walked = context.workspace.roam(&self.place, walk, &|entry| {
            let is_file = match entry.kind {
                EntryKind::File => true,
                EntryKind::Link => entry.followed().is_none_or(|target| !target.is_dir()),
                EntryKind::Directory | EntryKind::Special => false,
            };
            if is_file && self.globs.iter().any(|glob| glob.is_match(entry.path)) {
                let modified = entry.metadata().and_then(|m| m.modified().ok());
                let modified = modified.map_or(SystemTime::UNIX_EPOCH, cap_std::time::SystemTime::into_std);
                let file = (Reverse(modified), format!("{prefix}{}", entry.shown()));
                found.lock().unwrap_or_else(PoisonError::into_inner).push(file);
            }
            let enough = looked_at.fetch_add(1, Ordering::Relaxed) + 1 >= MAX_LOOKED_AT;
            if enough || control.check().is_err() { Flow::Stop } else { Flow::On }
        });
        control.check()?;
        let roamed = walked.map_err(|obstacle| context.failure(&obstacle, &self.place))?;
        Ok((found.into_inner().unwrap_or_else(PoisonError::into_inner), roamed))
    }
}
