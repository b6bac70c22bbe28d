//! `lint_code`: what the linters of a project find, in one form.

use std::collections::HashMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::json;

use crate::arguments::{Arguments, FIX, PATH};
use crate::class::Class;
use crate::commit::Change;
use crate::context::{Context, Loaded};
use crate::control::Control;
use crate::diff::{difference, first_lines};
use crate::environment;
use crate::executable::find;
use crate::findings::{self, Finding, Severity};
use crate::job::{Entry, Job, Prepared};
use crate::outcome::{ChangeKind, Code, Failure, FileChange, ToolResult, counted};
use crate::process::Spec;
use crate::program::{self, Finished};
use crate::question::{Question, Subject};
use crate::sandbox::Reach;
use crate::tables::{Linter, linters};
use crate::targets::{Targets, kind, local, upward};
use crate::text::decode;
use crate::workspace::{Access, Place};

/// Seconds for each linter.
const TIMEOUT: u64 = 120;
/// Findings that are shown.
const SHOWN: usize = 100;
/// Files that a linter is given by name.
const MAX_NAMED: usize = 200;
/// Lines of what a linter says that found nothing and failed.
const COMPLAINT_LINES: usize = 20;
/// Bytes of files that are kept while linters repair.
const MAX_KEPT: usize = 64 << 20;

pub(crate) static TOOL: Entry = Entry {
    name: "lint_code",
    aliases: &["lint", "linter"],
    class: Class::Execute,
    parameters: &[&PATH, &FIX],
    definition: include_str!("../../schemas/engine/lint_code.json"),
    core: None,
    del: true,
    prepare,
};

struct LintCode {
    targets: Targets,
    runs: Vec<Run>,
    fix: bool,
    notes: Vec<String>,
}

/// One run of a linter.
struct Run {
    linter: &'static Linter,
    program: PathBuf,
    arguments: Vec<String>,
    directory: PathBuf,
}

/// What all linters said.
#[derive(Default)]
struct Report {
    findings: Vec<Finding>,
    titles: Vec<&'static str>,
    complaints: Vec<String>,
    remarks: Vec<String>,
}

fn prepare(mut arguments: Arguments, context: &Context) -> Prepared {
    let path = arguments.text(&PATH).unwrap_or_else(|| ".".to_owned());
    let fix = arguments.flag(&FIX).unwrap_or(false);
    let known = |kind: &str| linters().iter().any(|linter| linter.extensions.has(kind));
    let targets = Targets::find(&path, context, known)?;
    let mut kinds: Vec<&str> = targets.files.iter().map(|file| kind(file.path())).collect();
    kinds.sort_unstable();
    kinds.dedup();
    let fitting = |linter: &&Linter| kinds.iter().any(|kind| linter.extensions.has(kind));
    let mut runs: Vec<Run> = Vec::new();
    for linter in linters().iter().filter(fitting) {
        if runs.iter().all(|run| run.linter.group != linter.group) {
            runs.extend(run(linter, &targets, fix, context));
        }
    }
    let served = |kind: &&&str| runs.iter().any(|run| run.linter.extensions.has(kind));
    let notes: Vec<_> = kinds.iter().filter(|kind| !served(kind)).map(|kind| absent(kind)).collect();
    if runs.is_empty() {
        let cause = match notes.as_slice() {
            [] => format!("{} holds no file that a linter is known for.", targets.place.shown),
            notes => format!("{}.", notes.join("; ")),
        };
        let code = if kinds.is_empty() { Code::NotFound } else { Code::ToolMissing };
        return Err(Failure::new(code, cause));
    }
    Ok(Box::new(LintCode { targets, runs, fix, notes }))
}

/// How `linter` would be run, if it and what it needs are there.
fn run(linter: &'static Linter, targets: &Targets, fix: bool, context: &Context) -> Option<Run> {
    let around = targets.directory(context);
    let program = find(&linter.program, &local(&linter.local, &around, context))?;
    if let Some(needed) = &linter.needs {
        find(needed, &[])?;
    }
    let directory = match &linter.project {
        Some(file) => upward(&around, context).find(|place| place.join(file).is_file())?.to_owned(),
        None => context.workspace.root().to_owned(),
    };
    let path = context.workspace.absolute(&targets.place);
    let mut arguments = Vec::new();
    for word in linter.fix.as_ref().filter(|_| fix).unwrap_or(&linter.arguments) {
        match word.as_str() {
            "{path}" => arguments.push(path.to_string_lossy().into_owned()),
            "{files}" => {
                let own = targets.files.iter().filter(|file| linter.extensions.has(kind(file.path())));
                let named = own.take(MAX_NAMED).map(|file| context.workspace.absolute(file));
                arguments.extend(named.map(|file| file.to_string_lossy().into_owned()));
            }
            word => arguments.push(word.to_owned()),
        }
    }
    Some(Run { linter, program, arguments, directory })
}

fn absent(kind: &str) -> String {
    let programs: Vec<_> = linters()
        .iter()
        .filter(|linter| linter.extensions.has(kind))
        .map(|linter| linter.program.as_str())
        .collect();
    match programs.as_slice() {
        [] => format!("no linter is known for .{kind}"),
        programs => format!("no linter found for .{kind} (looked for {})", programs.join(", ")),
    }
}

impl Job for LintCode {
    fn class(&self) -> Class {
        Class::Execute
    }

    fn question(&self, context: &Context) -> Result<Question, Failure> {
        let command = |run: &Run| {
            let program = run.program.to_string_lossy().into_owned();
            std::iter::once(program).chain(run.arguments.iter().cloned()).collect()
        };
        let subject = Subject::Program {
            commands: self.runs.iter().map(command).collect(),
            input: None,
            directory: self
                .runs
                .first()
                .map_or_else(|| context.workspace.root().into(), |run| run.directory.clone()),
            timeout: TIMEOUT,
            about: vec![self.targets.place.shown.clone()],
        };
        let mut question = Question::new(TOOL.name, subject);
        question
            .remarks
            .push("linters run what the project's configuration and build scripts say".to_owned());
        if self.fix {
            question.remarks.push("they change the files that they can repair".to_owned());
        }
        Ok(question)
    }

    fn run(self: Box<Self>, context: &Context, control: &Control<'_>) -> Result<ToolResult, Failure> {
        self.check_configuration(context)?;
        let before = if self.fix { Some(self.keep(context)?) } else { None };
        let mut report = Report::default();
        for run in &self.runs {
            let environment = environment::users(&run.directory);
            let spec = Spec {
                program: run.program.clone(),
                arguments: run.arguments.iter().map(OsString::from).collect(),
                directory: run.directory.clone(),
                environment,
                input: Vec::new(),
                timeout: Duration::from_secs(TIMEOUT),
                reach: Reach::Write,
            };
            let (finished, _) = program::watch(&spec, context, control)?;
            self.take(run, &finished, context, &mut report);
        }
        let mut result = self.result(report);
        if let Some(before) = before {
            adopt(before, context, &mut result)?;
        }
        Ok(result)
    }
}

impl LintCode {
    /// Refuses where a linter would read configuration from elsewhere, and show it in its complaints.
    fn check_configuration(&self, context: &Context) -> Result<(), Failure> {
        let files = self.targets.files.iter().map(|file| context.workspace.absolute(file));
        let mut directories: Vec<_> = files.filter_map(|path| path.parent().map(Path::to_owned)).collect();
        directories.extend(self.runs.iter().map(|run| run.directory.clone()));
        directories.sort();
        directories.dedup();
        for configuration in self.runs.iter().filter_map(|run| run.linter.configuration.as_ref()) {
            for directory in &directories {
                configuration.check(directory, context)?;
            }
        }
        Ok(())
    }

    /// Reads what a linter wrote; findings elsewhere than at the path are left out.
    fn take(&self, run: &Run, finished: &Finished, context: &Context, report: &mut Report) {
        let output = [finished.out(), finished.err()].join("\n");
        let at = self.targets.place.shown.as_str();
        let wanted = |finding: &Finding| {
            at == "." || finding.path == at || finding.path.starts_with(&format!("{at}/"))
        };
        let root = context.workspace.root();
        let found = findings::read(run.linter, &output);
        let any = !found.is_empty();
        report.findings.extend(found.into_iter().map(|one| one.rooted(&run.directory, root)).filter(wanted));
        report.titles.push(&run.linter.title);
        if finished.timed_out {
            report
                .complaints
                .push(format!("{} took longer than {TIMEOUT} s and was ended.", run.linter.title));
        } else if finished.code != 0 && !any {
            let said = match &run.linter.configuration {
                Some(configuration) => configuration.complaint(output.clone(), context),
                None => output.clone(),
            };
            let said = first_lines(said.trim(), COMPLAINT_LINES);
            report
                .complaints
                .push(format!("{} failed (exit code {}):\n{said}", run.linter.title, finished.code));
            report.remarks.extend(context.sandbox.remark(&output));
        }
    }

    fn result(&self, mut report: Report) -> ToolResult {
        report.findings.sort();
        report.findings.dedup();
        let count = |severity| report.findings.iter().filter(|one| one.severity == severity).count();
        let (errors, warnings) = (count(Severity::Error), count(Severity::Warning));
        let notes = report.findings.len() - errors - warnings;
        let titles = report.titles.join(", ");
        let mut lines: Vec<_> = report.findings.iter().take(SHOWN).map(Finding::shown).collect();
        let failed = report.complaints.len() == self.runs.len();
        if report.findings.is_empty() && !failed {
            lines.push(format!("No problems found ({titles})."));
        } else if !report.findings.is_empty() {
            let mut counts = vec![counted(errors, "error"), counted(warnings, "warning")];
            if notes > 0 {
                counts.push(counted(notes, "note"));
            }
            let cut = if report.findings.len() > SHOWN { format!("; {SHOWN} shown") } else { String::new() };
            lines.push(format!("[{} from {titles}{cut}]", counts.join(", ")));
        }
        let complaints = report.complaints.join("\n");
        let mut result = if failed {
            let data = json!({"code": Code::Failed.as_str()});
            ToolResult { ok: false, ..ToolResult::success(format!("Error: {complaints}")).with_data(data) }
        } else {
            lines.extend(report.complaints.iter().cloned());
            let data =
                json!({"errors": errors, "warnings": warnings, "notes": notes, "linters": report.titles});
            ToolResult::success(lines.join("\n")).with_data(data)
        };
        report.remarks.dedup();
        let more = self
            .targets
            .more
            .then(|| "[there are more files than were looked at; narrow the path]".to_owned());
        let absent = self.notes.iter().map(|note| format!("[{note}]"));
        report.remarks.into_iter().chain(absent).chain(more).for_each(|note| result.note(&note));
        result.shortened(report.findings.len() > SHOWN)
    }

    /// The files as they are before linters repair them.
    fn keep(&self, context: &Context) -> Result<HashMap<String, (Place, Loaded)>, Failure> {
        let mut kept = HashMap::new();
        let mut bytes = 0;
        for file in &self.targets.files {
            let path = context.workspace.absolute(file);
            let place = context.workspace.resolve(&path.to_string_lossy(), Access::Write)?;
            let loaded = context.load(&place)?;
            bytes += loaded.bytes.len();
            if bytes > MAX_KEPT {
                let cause =
                    "the files at this path are too many to keep while linters repair them; narrow the path.";
                return Err(Failure::new(Code::TooLarge, cause));
            }
            kept.insert(place.shown.clone(), (place, loaded));
        }
        Ok(kept)
    }
}

/// Makes what linters did to files the tool's own doing: what was there is put back, and then changed as by every tool,
/// so that it can be undone.
fn adopt(
    before: HashMap<String, (Place, Loaded)>,
    context: &Context,
    result: &mut ToolResult,
) -> Result<(), Failure> {
    let writing = context.workspace.writing(before.values().map(|(place, _)| place));
    let mut changed = Vec::new();
    for (place, old) in before.into_values() {
        // A file that a linter took away is not put back: no linter here does.
        let Ok(now) = context.load(&place) else { continue };
        if now.bytes == old.bytes {
            continue;
        }
        let back = context.workspace.stage(&place, &old.bytes, Some(&now.stamp), None);
        back.and_then(crate::workspace::Staged::publish)
            .map_err(|obstacle| context.failure(&obstacle, &place))?;
        changed.push((context.load(&place)?, place, now));
    }
    changed.sort_by(|(_, a, _), (_, b, _)| a.shown.cmp(&b.shown));
    let changes: Vec<_> =
        changed.iter().map(|(old, place, new)| Change::write(place, &new.bytes, Some(old))).collect();
    if changes.is_empty() {
        return Ok(());
    }
    context.commit(&TOOL.name.into(), &changes, &writing)?;
    let mut named = Vec::new();
    for (old, place, new) in &changed {
        let shown = &place.shown;
        let (from, to) = (format!("a/{shown}"), format!("b/{shown}"));
        let diff = difference(&decode(&old.bytes).text, &decode(&new.bytes).text, &from, &to);
        named.push(format!("{shown} (+{} -{})", diff.added, diff.removed));
        result.changes.push(FileChange {
            path: shown.clone(),
            kind: ChangeKind::Modified,
            added: diff.added,
            removed: diff.removed,
            before: Some(old.bytes.clone().into()),
        });
    }
    result.note(&format!("Repaired {}: {}", counted(named.len(), "file"), named.join(", ")));
    Ok(())
}
