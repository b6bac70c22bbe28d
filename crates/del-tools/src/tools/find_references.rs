//! `find_references`: where a name is defined and used, comments and strings left out.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use del_code::{Label, Language, parse, words};
use serde_json::json;

use crate::arguments::{Arguments, INCLUDE_DEFINITION, MATCH_LIMIT, PATH, SYMBOL};
use crate::class::Class;
use crate::code;
use crate::context::Context;
use crate::control::Control;
use crate::hits::excerpt;
use crate::job::{Entry, Job, Prepared};
use crate::outcome::{Code, Failure, ToolResult, counted, grouped};
use crate::question::Question;
use crate::suggest;
use crate::survey::{File, survey};
use crate::text::on_one_line;
use crate::workspace::{Access, Place};

const DEFAULT_SHOWN: u64 = 100;
/// Characters of a symbol.
const MAX_SYMBOL: usize = 200;
/// Bytes of a line that are looked at on each side.
const MAX_LINE: usize = 2000;
/// No text takes longer to parse.
const PATIENCE: Duration = Duration::from_secs(2);
/// What may stand between the parts of a qualified name, in any language.
const JOINTS: [&str; 5] = ["::", "->", ".", "#", "\\"];

pub(crate) static TOOL: Entry = Entry {
    name: "find_references",
    aliases: &["references", "findusages", "usages", "findreference", "findsymbol"],
    class: Class::Read,
    parameters: &[&SYMBOL, &PATH, &INCLUDE_DEFINITION, &MATCH_LIMIT],
    definition: include_str!("../../schemas/engine/find_references.json"),
    core: None,
    del: true,
    prepare,
};

struct FindReferences {
    symbol: Wanted,
    place: Place,
    include_definition: bool,
    limit: usize,
}

/// A name, and what it has to be in to come first.
struct Wanted {
    written: String,
    name: String,
    qualifier: Option<String>,
}

fn prepare(mut arguments: Arguments, context: &Context) -> Prepared {
    let symbol = Wanted::read(&arguments.need_text(&SYMBOL)?)?;
    let path = arguments.path();
    let limit = arguments.number(&MATCH_LIMIT).unwrap_or(DEFAULT_SHOWN);
    Ok(Box::new(FindReferences {
        symbol,
        place: context.existing(&path, Access::Read)?,
        include_definition: arguments.flag(&INCLUDE_DEFINITION).unwrap_or(true),
        limit: usize::try_from(limit).unwrap_or(usize::MAX),
    }))
}

impl Wanted {
    fn read(given: &str) -> Result<Self, Failure> {
        let bad = |cause: &str| Err(Failure::new(Code::BadType, cause.to_owned()));
        // Models add what a call has: `push()`.
        let written = given.trim().trim_matches('`');
        let written = written.split_once('(').map_or(written, |(name, _)| name).trim_end_matches('!');
        if written.is_empty() {
            return bad("the symbol is empty. Send a name, such as Parser::push.");
        }
        if written.chars().count() > MAX_SYMBOL || written.contains(['\n', '\r', '\0']) {
            return bad("the symbol is no name. Send one name, such as Parser::push.");
        }
        let joint = JOINTS.iter().filter_map(|joint| Some((written.rfind(joint)?, joint.len()))).max();
        let (qualifier, name) = match joint {
            Some((at, length)) if at > 0 && at + length < written.len() => {
                (Some(&written[..at]), &written[at + length..])
            }
            _ => (None, written),
        };
        let last = |path: &str| {
            let at = JOINTS.iter().filter_map(|joint| Some(path.rfind(joint)? + joint.len())).max();
            path[at.unwrap_or(0)..].to_owned()
        };
        Ok(Self { written: written.to_owned(), name: name.to_owned(), qualifier: qualifier.map(last) })
    }

    /// Whether the text before an occurrence, or the definition that it is, names the qualifier.
    fn is_qualified(&self, before: &str, symbol: Option<&str>) -> bool {
        let Some(qualifier) = &self.qualifier else { return false };
        let stands = |text: &str| {
            JOINTS
                .iter()
                .any(|joint| text.strip_suffix(joint).is_some_and(|rest| rest.ends_with(qualifier.as_str())))
        };
        let defined = symbol.and_then(|symbol| symbol.strip_suffix(self.name.as_str()));
        stands(before) || defined.is_some_and(stands)
    }
}

/// The references in one file.
#[derive(Default)]
struct InFile {
    references: Vec<Reference>,
    skipped: usize,
}

struct Reference {
    label: Label,
    /// The definition of a function or a type, which says more than that of a variable.
    symbol: bool,
    qualified: bool,
    line: usize,
    column: usize,
    text: String,
}

impl Job for FindReferences {
    fn class(&self) -> Class {
        Class::Read
    }

    fn question(&self, _: &Context) -> Result<Question, Failure> {
        Ok(Question::read(TOOL.name, &self.place.shown))
    }

    fn run(self: Box<Self>, context: &Context, control: &Control<'_>) -> Result<ToolResult, Failure> {
        let surveyed = survey(context, control, &self.place, &|_| true, &|file| self.file(file))?;
        let skipped = surveyed.found.iter().map(|(_, file)| file.skipped).sum();
        let notes = surveyed.notes();
        let (read, cut) = (surveyed.read, surveyed.is_cut());
        let mut found: Vec<_> = surveyed
            .found
            .into_iter()
            .flat_map(|(path, file)| file.references.into_iter().map(move |found| (path.clone(), found)))
            .filter(|(_, found)| self.include_definition || found.label != Label::Def)
            .collect();
        let rank = |found: &Reference| {
            let use_of_it = matches!(found.label, Label::Call | Label::Import | Label::Type);
            (found.label == Label::Text, !found.qualified, !found.symbol, !use_of_it)
        };
        found.sort_by_cached_key(|(path, found)| (rank(found), path.clone(), found.line, found.column));
        let mut result = if found.is_empty() {
            self.nothing(read, skipped, context, control)?
        } else {
            self.listed(&found, skipped, context)
        };
        for note in notes {
            result.note(&note);
        }
        Ok(result.shortened(cut))
    }
}

impl FindReferences {
    fn file(&self, file: &File<'_>) -> Option<InFile> {
        let name = &self.symbol.name;
        words(file.text, name).next()?;
        let mut lines = Lines::new(file.text);
        let mut reference = |at: usize, label: Label, symbol: Option<&str>| {
            let (line, start) = lines.line(at);
            let qualified = self.symbol.is_qualified(&file.text[start..at], symbol);
            Reference {
                label,
                symbol: symbol.is_some(),
                qualified,
                line,
                column: lines.column(start, at),
                text: lines.shown(start, at),
            }
        };
        let deadline = Instant::now() + PATIENCE;
        let language = Language::of_file(file.path, file.text);
        let source = language.and_then(|language| {
            parse(file.text, language, &|| file.is_over() || Instant::now() > deadline).ok()
        });
        let Some(source) = source else {
            let plain = words(file.text, name).take(1000).map(|at| reference(at, Label::Text, None));
            return Some(InFile { references: plain.collect(), skipped: 0 });
        };
        let occurrences = source.occurrences(name);
        let found = occurrences.found.iter();
        let references =
            found.map(|found| reference(found.at, found.label, found.symbol.as_deref())).collect();
        Some(InFile { references, skipped: occurrences.skipped })
    }

    fn listed(&self, found: &[(String, Reference)], skipped: usize, context: &Context) -> ToolResult {
        let (mut text, mut shown) = (String::new(), 0);
        for (path, Reference { label, line, column, text: code, .. }) in found.iter().take(self.limit) {
            let entry = format!("{path}:{line}:{column} [{}] {code}", label.as_str());
            if shown > 0 && text.len() + entry.len() + 1 > context.limits.result_bytes {
                break;
            }
            if shown > 0 {
                text.push('\n');
            }
            text.push_str(&entry);
            shown += 1;
        }
        let mut result = ToolResult::success(text);
        let files: HashSet<_> = found.iter().map(|(path, _)| path).collect();
        let total = counted(found.len(), "reference");
        let files_counted = counted(files.len(), "file");
        let more =
            if shown < found.len() { format!("first {} of ", grouped(shown as u64)) } else { String::new() };
        result.note(&format!(
            "[{more}{total} in {files_counted}; {} in comments/strings skipped; by name, not by type]",
            grouped(skipped as u64)
        ));
        let definitions = found.iter().filter(|(_, found)| found.label == Label::Def).count();
        let data = json!({
            "references": found.len(), "definitions": definitions, "files": files.len(), "skipped": skipped,
        });
        result.with_data(data).shortened(shown < found.len())
    }

    fn nothing(
        &self,
        read: usize,
        skipped: usize,
        context: &Context,
        control: &Control<'_>,
    ) -> Result<ToolResult, Failure> {
        let symbol = on_one_line(&self.symbol.written);
        let read = counted(read, "file");
        let mut text = format!("No references to {symbol} in {} ({read} searched).", self.place.shown);
        if skipped > 0 {
            text = format!("{text} {skipped} in comments/strings skipped.");
        }
        let near = self.near(context, control)?;
        if !near.is_empty() {
            text = format!("{text} Did you mean: {}?", near.join(", "));
        }
        Ok(ToolResult::success(text).with_data(json!({"references": 0, "skipped": skipped})))
    }

    /// Symbols with names like the one that was not found.
    fn near(&self, context: &Context, control: &Control<'_>) -> Result<Vec<String>, Failure> {
        let surveyed = survey(context, control, &self.place, &|_| true, &|file| {
            let language = Language::of_file(file.path, file.text)?;
            let reading = code::outline(file.text, language, &|| file.is_over())?;
            let last = |name: &str| {
                let at = JOINTS.iter().filter_map(|joint| Some(name.rfind(joint)? + joint.len())).max();
                name[at.unwrap_or(0)..].to_owned()
            };
            Some(reading.outline.symbols.iter().map(|symbol| last(&symbol.name)).collect::<HashSet<_>>())
        })?;
        let names: HashSet<_> = surveyed.found.into_iter().flat_map(|(_, names)| names).collect();
        let mut names: Vec<_> =
            names.iter().map(String::as_str).filter(|name| *name != self.symbol.name).collect();
        names.sort_unstable();
        let near = suggest::near(self.symbol.name.as_str(), &names, 3);
        Ok(near.into_iter().map(str::to_owned).collect())
    }
}

/// The lines of a text, by their bytes. What is asked of a place costs no more on a line of a megabyte.
struct Lines<'a> {
    text: &'a str,
    starts: Vec<usize>,
    /// The line, the place and the column that were asked for last.
    last: (usize, usize, usize),
}

impl<'a> Lines<'a> {
    fn new(text: &'a str) -> Self {
        let starts = std::iter::once(0).chain(memchr::memchr_iter(b'\n', text.as_bytes()).map(|at| at + 1));
        Self { text, starts: starts.collect(), last: (0, 0, 1) }
    }

    /// The number and the start of the line that `at` lies in.
    fn line(&self, at: usize) -> (usize, usize) {
        let number = self.starts.partition_point(|start| *start <= at);
        (number, self.starts[number - 1])
    }

    /// The column of `at` in the line that begins at `start`, from 1. Places are asked for in their order.
    fn column(&mut self, start: usize, at: usize) -> usize {
        let (line, from, column) = self.last;
        let (from, column) = if line == start && from <= at { (from, column) } else { (start, 1) };
        let column = column + self.text[from..at].chars().count();
        self.last = (start, at, column);
        column
    }

    /// What is shown of the line.
    fn shown(&self, start: usize, at: usize) -> String {
        let text = self.text;
        let first = boundary(text, at.saturating_sub(MAX_LINE)).max(start);
        let last = boundary(text, at + MAX_LINE);
        let line = &text[first..last];
        let line =
            line.split_once('\n').filter(|(head, _)| head.len() >= at - first).map_or(line, |(head, _)| head);
        excerpt(line, at - first).trim().to_owned()
    }
}

/// The last boundary of a character up to `at`.
fn boundary(text: &str, at: usize) -> usize {
    (0..=at.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0)
}
