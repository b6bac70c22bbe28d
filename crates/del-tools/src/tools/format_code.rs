//! `format_code`: files as their formatters would write them. The formatters get copies; what they make of them is shown
//! first, and written as everything else is.
//!
//! A formatter runs before anybody is asked only where the sandbox keeps it from writing, and with nothing but copies of
//! what the project says to it. Every other runs with consent.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde_json::json;

use crate::arguments::{Arguments, CHECK, PATH};
use crate::class::Class;
use crate::commit::Change;
use crate::configuration::Copies;
use crate::context::{Context, Loaded};
use crate::control::Control;
use crate::diff::{Difference, difference, first_lines};
use crate::environment;
use crate::executable::{find, is_program};
use crate::job::{Entry, Job, Prepared};
use crate::outcome::{ChangeKind, Code, Failure, FileChange, ToolResult, counted};
use crate::process::Spec;
use crate::program;
use crate::question::{Question, Subject};
use crate::sandbox::{Level, Reach};
use crate::tables::{Formatter, formatters};
use crate::targets::{Targets, kind, local, text_at, upward};
use crate::text::decode;
use crate::workspace::{Access, Obstacle, Place};

/// Seconds for all files together.
const TIMEOUT: u64 = 60;
/// Lines of a formatter's complaint, and of the diff of a result.
const COMPLAINT_LINES: usize = 20;
const DIFF_LINES: usize = 60;

pub(crate) static TOOL: Entry = Entry {
    name: "format_code",
    aliases: &["format", "formatfile", "formatter"],
    class: Class::Write,
    parameters: &[&PATH, &CHECK],
    definition: include_str!("../../schemas/engine/format_code.json"),
    core: None,
    del: true,
    prepare,
};

struct FormatCode {
    shown: String,
    files: Vec<Target>,
    check: bool,
    /// What the formatters made of the files, where that could be found out before asking.
    formatted: Option<Vec<Formatted>>,
    notes: Vec<String>,
}

/// A file and its formatter.
#[derive(Clone)]
struct Target {
    place: Place,
    formatter: &'static Formatter,
    program: PathBuf,
    /// Whether it may run before anybody is asked.
    harmless: bool,
}

/// A file that would change.
struct Formatted {
    place: Place,
    before: Loaded,
    content: Vec<u8>,
    difference: Difference,
}

fn prepare(mut arguments: Arguments, context: &Context) -> Prepared {
    let path = arguments.text(&PATH).unwrap_or_else(|| ".".to_owned());
    let check = arguments.flag(&CHECK).unwrap_or(false);
    let known = |kind: &str| formatters().iter().any(|formatter| formatter.extensions.has(kind));
    let targets = Targets::find(&path, context, known)?;
    let mut files = Vec::new();
    let mut missing: Vec<String> = Vec::new();
    for place in &targets.files {
        match choose(place, context) {
            Some(target) => files.push(target),
            None => missing.push(kind(place.path()).to_owned()),
        }
    }
    missing.sort();
    missing.dedup();
    if files.is_empty() {
        return Err(none(&missing, &targets.place));
    }
    let mut notes: Vec<_> = missing.iter().map(|kind| format!("[{}]", absent(kind))).collect();
    if targets.more {
        notes.push(format!(
            "[only the first {} were looked at; narrow the path]",
            counted(files.len(), "file")
        ));
    }
    let mut job = FormatCode { shown: targets.place.shown, files, check, formatted: None, notes };
    if job.is_harmless() {
        job.formatted = Some(job.format(context, &Control::default())?);
    }
    Ok(Box::new(job))
}

fn choose(place: &Place, context: &Context) -> Option<Target> {
    let path = context.workspace.absolute(place);
    let directory = path.parent()?;
    let confined = matches!(context.sandbox.level(), Level::Partial | Level::Full);
    let mut fitting = formatters().iter().filter(|formatter| formatter.extensions.has(kind(&path)));
    fitting.find_map(|formatter| {
        let own = local(&formatter.local, directory, context);
        let own = own.iter().map(|folder| folder.join(&formatter.program)).find(|path| is_program(path));
        let trusted = || {
            context.judge.search().trusted_program(&formatter.program, &context.ground(), formatter.nowhere)
        };
        let (program, harmless) = match own {
            Some(program) => (program, false),
            None => match trusted() {
                Some(program) => (program, formatter.harmless && confined),
                None => (find(&formatter.program, &[])?, false),
            },
        };
        Some(Target { place: place.clone(), formatter, program, harmless })
    })
}

fn none(missing: &[String], place: &Place) -> Failure {
    let cause = match missing {
        [] => format!("{} holds no file that a formatter is known for.", place.shown),
        missing => format!("{}.", missing.iter().map(|kind| absent(kind)).collect::<Vec<_>>().join("; ")),
    };
    Failure::new(if missing.is_empty() { Code::NotFound } else { Code::ToolMissing }, cause)
}

fn absent(kind: &str) -> String {
    let fitting = formatters().iter().filter(|formatter| formatter.extensions.has(kind));
    let programs: Vec<_> = fitting.map(|formatter| formatter.program.as_str()).collect();
    match programs.as_slice() {
        [] => format!("no formatter is known for .{kind}"),
        programs => format!("no formatter found for .{kind} (looked for {})", programs.join(", ")),
    }
}

impl FormatCode {
    fn is_harmless(&self) -> bool {
        self.files.iter().all(|target| target.harmless)
    }

    /// Runs the formatters over copies of the files.
    fn format(&self, context: &Context, control: &Control<'_>) -> Result<Vec<Formatted>, Failure> {
        let deadline = Instant::now() + Duration::from_secs(TIMEOUT);
        let copies = Copies::new(context)?;
        let mut formatted = Vec::new();
        for target in &self.files {
            let left = deadline.saturating_duration_since(Instant::now());
            formatted.extend(target.format(&copies, context, control, left)?);
        }
        Ok(formatted)
    }

    fn titles(&self) -> String {
        let mut titles: Vec<_> = self.files.iter().map(|target| target.formatter.title.as_str()).collect();
        titles.sort_unstable();
        titles.dedup();
        titles.join(", ")
    }

    fn result(&self, formatted: &[Formatted]) -> ToolResult {
        let all = counted(self.files.len(), "file");
        let named: Vec<_> = formatted
            .iter()
            .map(|one| {
                let Difference { added, removed, .. } = &one.difference;
                format!("{} (+{added} -{removed})", one.place.shown)
            })
            .collect();
        let text = match (formatted.len(), self.check) {
            (0, _) => format!("Nothing to format: {all} checked with {}.", self.titles()),
            (_, true) => format!("would reformat: {}", named.join(", ")),
            (some, false) => {
                format!("Formatted {some} of {all} with {}: {}", self.titles(), named.join(", "))
            }
        };
        let mut result = ToolResult::success(text);
        if !formatted.is_empty() {
            result.note(&first_lines(&diff(formatted), DIFF_LINES));
        }
        self.notes.iter().for_each(|note| result.note(note));
        let paths: Vec<_> = formatted.iter().map(|one| one.place.shown.as_str()).collect();
        result.with_data(json!({"checked": self.files.len(), "changed": paths}))
    }
}

fn diff(formatted: &[Formatted]) -> String {
    formatted.iter().map(|one| one.difference.unified.as_str()).collect()
}

impl Job for FormatCode {
    fn class(&self) -> Class {
        match &self.formatted {
            None => Class::Execute,
            Some(formatted) if self.check || formatted.is_empty() => Class::Read,
            Some(_) => Class::Write,
        }
    }

    fn question(&self, context: &Context) -> Result<Question, Failure> {
        let writes = self.formatted.as_ref().filter(|formatted| !self.check && !formatted.is_empty());
        let subject = match (&self.formatted, writes) {
            (_, Some(formatted)) => Subject::Rewrite {
                paths: formatted.iter().map(|one| one.place.shown.clone()).collect(),
                diff: diff(formatted),
            },
            (Some(_), None) => Subject::Read { path: self.shown.clone() },
            (None, _) => {
                let command = |target: &Target| {
                    target.command(&context.workspace.absolute(&target.place), Vec::new(), context)
                };
                let mut commands: Vec<_> = self.files.iter().map(command).collect();
                commands.dedup();
                Subject::Program {
                    commands,
                    input: None,
                    directory: context.workspace.root().to_owned(),
                    timeout: TIMEOUT,
                    about: vec![self.shown.clone()],
                }
            }
        };
        let mut question = Question::new(TOOL.name, subject);
        for one in self.formatted.iter().flatten().filter(|_| !self.check) {
            question.cautions.extend(context.caution(&one.place).map(str::to_owned));
        }
        if self.formatted.is_none() && !self.check {
            question.remarks.push("what these programs make of the files is written into them".to_owned());
        }
        Ok(question)
    }

    fn run(self: Box<Self>, context: &Context, control: &Control<'_>) -> Result<ToolResult, Failure> {
        control.check()?;
        let formatted = match self.formatted {
            Some(_) => Vec::new(),
            None => self.format(context, control)?,
        };
        let formatted = self.formatted.as_deref().unwrap_or(&formatted);
        if self.check || formatted.is_empty() {
            return Ok(self.result(formatted));
        }
        for one in formatted {
            context.may_write(&one.place)?;
        }
        let writing = context.workspace.writing(formatted.iter().map(|one| &one.place));
        for one in formatted {
            if !one.before.stamp.holds(&context.load(&one.place)?.stamp) {
                return Err(context.failure(&Obstacle::Changed, &one.place));
            }
        }
        let changes: Vec<_> =
            formatted.iter().map(|one| Change::write(&one.place, &one.content, Some(&one.before))).collect();
        let notes = context.commit(&TOOL.name.into(), &changes, &writing)?;
        let mut result = self.result(formatted);
        for one in formatted {
            result.changes.push(FileChange {
                path: one.place.shown.clone(),
                kind: ChangeKind::Modified,
                added: one.difference.added,
                removed: one.difference.removed,
                before: Some(one.before.bytes.clone().into()),
            });
        }
        for note in notes {
            result.note(note);
        }
        Ok(result)
    }
}

impl Target {
    /// What the formatter makes of the file, if that is something else.
    fn format(
        &self,
        copies: &Copies,
        context: &Context,
        control: &Control<'_>,
        left: Duration,
    ) -> Result<Option<Formatted>, Failure> {
        let title = self.formatter.title.as_str();
        let shown = &self.place.shown;
        let place = context
            .workspace
            .resolve(&context.workspace.absolute(&self.place).to_string_lossy(), Access::Write)?;
        let before = context.load(&place)?;
        if before.bytes.is_empty() {
            return Ok(None);
        }
        context.editable(&place, &before)?;
        let spec = self.spec(&place, before.bytes.clone(), left, copies, context)?;
        let finished = program::finish(&spec, context, control)?;
        if finished.timed_out {
            let cause =
                format!("formatting took longer than {TIMEOUT} s; nothing was changed. Narrow the path.");
            return Err(Failure::new(Code::Timeout, cause));
        }
        if !self.formatter.done.contains(&finished.code) || finished.cut || finished.stdout.is_empty() {
            let said = [finished.err(), finished.out()].concat();
            let said = match &self.formatter.configuration {
                Some(configuration) if !self.formatter.harmless => configuration.complaint(said, context),
                _ => copies.named(&said),
            };
            let said = first_lines(said.trim_start(), COMPLAINT_LINES);
            let remark =
                context.sandbox.remark(&said).map(|remark| format!("\n{remark}")).unwrap_or_default();
            let cause = format!(
                "{title} could not format {shown} (exit code {}); nothing was changed.\n{said}{remark}",
                finished.code
            );
            return Err(Failure::new(Code::Failed, cause));
        }
        let content = with_ends_of(&before.bytes, finished.stdout);
        if content == before.bytes {
            return Ok(None);
        }
        let (old, new) = (decode(&before.bytes).text, decode(&content).text);
        let difference = difference(&old, &new, &format!("a/{shown}"), &format!("b/{shown}"));
        Ok(Some(Formatted { place, before, content, difference }))
    }

    /// How the formatter is run over a file of this content.
    fn spec(
        &self,
        place: &Place,
        content: Vec<u8>,
        timeout: Duration,
        copies: &Copies,
        context: &Context,
    ) -> Result<Spec, Failure> {
        let path = context.workspace.absolute(place);
        let directory = path.parent().unwrap_or(&path);
        let apart = self.formatter.harmless;
        let settings = match &self.formatter.configuration {
            None => Vec::new(),
            Some(configuration) if apart => copies.take(configuration, directory, context)?,
            Some(configuration) => configuration.words(directory, context)?,
        };
        let named = if apart { copies.path(&path) } else { path.clone() };
        let mut words = self.command(&named, settings, context);
        let arguments = words.split_off(1).into_iter().map(OsString::from).collect();
        let directory = if self.formatter.nowhere { Path::new("/") } else { directory }.to_owned();
        let root = context.workspace.root();
        Ok(Spec {
            program: self.program.clone(),
            arguments,
            environment: environment::users(&directory),
            directory,
            input: content,
            timeout: timeout.max(Duration::from_millis(1)),
            reach: if apart { context.sandbox.reach_of(&self.program, root) } else { Reach::Write },
        })
    }

    /// The command for the file at `path`, with what the formatter is told of its configuration.
    fn command(&self, path: &Path, settings: Vec<String>, context: &Context) -> Vec<String> {
        let actual = context.workspace.absolute(&self.place);
        let fill = |word: &String| match word.as_str() {
            "{edition}" => edition(actual.parent().unwrap_or(&actual), context),
            word => word.replace("{path}", &path.to_string_lossy()),
        };
        let mut words = vec![self.program.to_string_lossy().into_owned()];
        // What stands for the input comes last.
        let (inputs, options): (Vec<_>, Vec<_>) =
            self.formatter.arguments.iter().partition(|word| *word == "-");
        words.extend(options.into_iter().map(fill));
        words.extend(settings);
        words.extend(inputs.into_iter().cloned());
        words
    }
}

/// What a formatter wrote, with the line ends of the file that it was given: on a copy that comes over a pipe some lose them.
fn with_ends_of(before: &[u8], content: Vec<u8>) -> Vec<u8> {
    let returns = |bytes: &[u8]| bytes.windows(2).filter(|pair| pair == b"\r\n").count();
    let all = before.iter().filter(|byte| **byte == b'\n').count();
    if all == 0 || returns(before) < all || returns(&content) > 0 {
        return content;
    }
    let mut out = Vec::with_capacity(content.len() + all);
    for byte in content {
        if byte == b'\n' {
            out.push(b'\r');
        }
        out.push(byte);
    }
    out
}

/// The edition that the nearest Cargo.toml says.
fn edition(directory: &Path, context: &Context) -> String {
    let read = |place: &Path| text_at(&place.join("Cargo.toml"), context);
    let manifests: Vec<String> = upward(directory, context).filter_map(read).collect();
    let line = |text: &str| {
        let line = text.lines().map(str::trim).find(|line| line.starts_with("edition"))?;
        let year: String = line.chars().filter(char::is_ascii_digit).collect();
        ["2015", "2018", "2021", "2024"].contains(&year.as_str()).then_some(year)
    };
    manifests.iter().find_map(|text| line(text)).unwrap_or_else(|| "2021".to_owned())
}
