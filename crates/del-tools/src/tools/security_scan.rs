//! `security_scan`: secrets, risky code and dangerous files, by rules.

use std::cell::RefCell;
use std::collections::{BTreeSet, HashSet};
use std::io::Read;

use cap_std::fs::PermissionsExt;
use serde_json::json;

use crate::arguments::{Arguments, MATCH_LIMIT, PATH, SEVERITY};
use crate::class::Class;
use crate::context::Context;
use crate::control::Control;
use crate::job::{Entry, Job, Prepared};
use crate::outcome::{Code, Failure, ToolResult, counted, excerpt};
use crate::question::Question;
use crate::security::{Finding, Findings, RULES, Severity};
use crate::survey::{File, MAX_FILE, Survey, survey};
use crate::text;
use crate::workspace::{Access, Place};

const DEFAULT_SHOWN: u64 = 100;
/// Directories in which ignored environment files are looked for.
const MAX_DIRECTORIES: usize = 2000;
/// Environment files that are looked at though they are ignored.
const ENVIRONMENT: [&str; 5] = [".env", ".env.local", ".env.production", ".env.development", ".env.staging"];

pub(crate) static TOOL: Entry = Entry {
    name: "security_scan",
    aliases: &["scansecurity", "scan", "securityaudit", "secretscan"],
    class: Class::Read,
    parameters: &[&PATH, &SEVERITY, &MATCH_LIMIT],
    definition: include_str!("../../schemas/engine/security_scan.json"),
    core: None,
    del: true,
    prepare,
};

struct SecurityScan {
    place: Place,
    severity: Severity,
    limit: usize,
}

fn prepare(mut arguments: Arguments, context: &Context) -> Prepared {
    let path = arguments.path();
    let severity = match arguments.text(&SEVERITY) {
        Some(word) => severity(&word)?,
        None => Severity::Low,
    };
    let limit = arguments.number(&MATCH_LIMIT).unwrap_or(DEFAULT_SHOWN);
    Ok(Box::new(SecurityScan {
        place: context.existing(&path, Access::Read)?,
        severity,
        limit: usize::try_from(limit).unwrap_or(usize::MAX),
    }))
}

fn severity(word: &str) -> Result<Severity, Failure> {
    match word.trim().to_lowercase().as_str() {
        "low" | "" | "all" | "info" => Ok(Severity::Low),
        "medium" | "moderate" => Ok(Severity::Medium),
        "high" | "critical" => Ok(Severity::High),
        _ => {
            let word = excerpt(word, 40);
            let cause = format!("'severity' must be low, medium or high, got \"{word}\".");
            Err(Failure::new(Code::BadType, cause))
        }
    }
}

impl Job for SecurityScan {
    fn class(&self) -> Class {
        Class::Read
    }

    fn question(&self, _: &Context) -> Result<Question, Failure> {
        Ok(Question::read(TOOL.name, &self.place.shown))
    }

    fn run(self: Box<Self>, context: &Context, control: &Control<'_>) -> Result<ToolResult, Failure> {
        let paths = RefCell::new(Vec::new());
        let see = |path: &str| {
            paths.borrow_mut().push(path.to_owned());
            true
        };
        let surveyed = survey(context, control, &self.place, &see, &|file| Some(look(file)))?;
        let mut paths = paths.into_inner();
        if surveyed.one {
            paths.push(self.place.shown.clone());
        }
        let mut all = Findings::default();
        all.found.extend(paths.iter().filter_map(|path| RULES.name(path)));
        if !surveyed.one {
            self.ignored(&paths, context, &mut all);
        }
        let commands = auditors(&paths);
        Ok(self.result(surveyed, all, &commands, context))
    }
}

fn look(file: &File<'_>) -> Findings {
    let mut findings = RULES.text(file.path, file.text, &|| file.is_over());
    if file.metadata.permissions().mode() & 0o002 != 0 {
        findings.found.push(Finding {
            severity: Severity::Low,
            path: file.path.to_owned(),
            line: 0,
            rule: "world-writable",
            message: "everybody on this machine may write it".to_owned(),
        });
    }
    findings
}

/// The programs that would check what the project depends on.
fn auditors(paths: &[String]) -> BTreeSet<&'static str> {
    let names: HashSet<_> = paths.iter().map(|path| path.rsplit('/').next().unwrap_or(path)).collect();
    let reads = |auditor: &&crate::security::Auditor| names.iter().any(|name| auditor.reads(name));
    RULES.auditors.iter().filter(reads).map(|auditor| auditor.command.as_str()).collect()
}

impl SecurityScan {
    /// Looks at environment files that git ignores: they hold the secrets that should not be in the others.
    fn ignored(&self, paths: &[String], context: &Context, all: &mut Findings) {
        let seen: HashSet<_> = paths.iter().collect();
        let own = if self.place.shown == "." { "" } else { &self.place.shown };
        let parent =
            |path: &String| path.rsplit_once('/').map_or(String::new(), |(parent, _)| parent.to_owned());
        let mut directories: BTreeSet<_> = paths.iter().map(parent).collect();
        directories.insert(own.to_owned());
        for directory in directories.iter().take(MAX_DIRECTORIES) {
            for name in ENVIRONMENT {
                let path = if directory.is_empty() { name.to_owned() } else { format!("{directory}/{name}") };
                if seen.contains(&path) {
                    continue;
                }
                let Some(text) = content(&path, context) else { continue };
                let mut findings = RULES.text(&path, &text, &|| false);
                for finding in &mut findings.found {
                    finding.message.push_str(", untracked");
                    finding.severity = finding.severity.lower();
                }
                all.found.append(&mut findings.found);
                all.allowed += findings.allowed;
            }
        }
    }

    fn result(
        &self,
        surveyed: Survey<Findings>,
        mut all: Findings,
        commands: &BTreeSet<&str>,
        context: &Context,
    ) -> ToolResult {
        let (notes, cut, read) = (surveyed.notes(), surveyed.is_cut(), surveyed.read);
        for (_, findings) in surveyed.found {
            all.found.extend(findings.found);
            all.allowed += findings.allowed;
        }
        all.found.retain(|finding| finding.severity >= self.severity);
        all.found.sort_by(|a, b| {
            b.severity
                .cmp(&a.severity)
                .then_with(|| (&a.path, a.line, a.rule).cmp(&(&b.path, b.line, b.rule)))
        });
        let (mut text, mut shown) = (String::new(), 0);
        for finding in all.found.iter().take(self.limit) {
            let line = line(finding);
            if text.len() + line.len() + 1 > context.limits.result_bytes {
                break;
            }
            if shown > 0 {
                text.push('\n');
            }
            text.push_str(&line);
            shown += 1;
        }
        if shown == 0 {
            text = format!("No findings in {} ({} scanned).", self.place.shown, counted(read, "file"));
        }
        let mut result = ToolResult::success(text);
        let of = |severity| all.found.iter().filter(|finding| finding.severity == severity).count();
        let (high, medium, low) = (of(Severity::High), of(Severity::Medium), of(Severity::Low));
        let mut summary =
            format!("{high} high, {medium} medium, {low} low in {} scanned", counted(read, "file"));
        if shown < all.found.len() {
            summary = format!("{summary}; {shown} shown");
        }
        if all.allowed > 0 {
            summary = format!("{summary}; {} allowed by del:allow", all.allowed);
        }
        result.note(&format!("[{summary}]"));
        if !commands.is_empty() {
            let commands: Vec<_> = commands.iter().copied().collect();
            result.note(&format!("[dependencies are not checked; run: {}]", commands.join(", ")));
        }
        for note in notes {
            result.note(&note);
        }
        result.note("Heuristic scan; absence of findings is not proof.");
        let data = json!({"high": high, "medium": medium, "low": low, "files": read, "allowed": all.allowed});
        result.with_data(data).shortened(cut || shown < all.found.len())
    }
}

fn line(finding: &Finding) -> String {
    let Finding { severity, path, line, rule, message } = finding;
    let place = if *line == 0 { path.clone() } else { format!("{path}:{line}") };
    format!("{:<6}  {place}  {rule}  {message}", severity.as_str())
}

fn content(path: &str, context: &Context) -> Option<String> {
    let place = context.workspace.resolve(path, Access::Read).ok().filter(|place| place.exists)?;
    let (file, _) = context.workspace.open_file(&place).ok()?;
    let mut bytes = Vec::new();
    file.take(MAX_FILE).read_to_end(&mut bytes).ok()?;
    (!text::is_binary(&bytes[..bytes.len().min(text::SNIFFED)])).then(|| text::decode(&bytes).text)
}
