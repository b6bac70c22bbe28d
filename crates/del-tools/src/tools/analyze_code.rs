//! `analyze_code`: how long, how nested and how branched code is.

use std::collections::BTreeMap;

use del_code::{Kind, Language, Lines, Symbol};
use serde_json::json;

use crate::arguments::{Arguments, CODE, LANGUAGE, PATH};
use crate::class::Class;
use crate::code::{self, Reading, Subject};
use crate::context::Context;
use crate::control::Control;
use crate::job::{Entry, Job, Prepared};
use crate::outcome::{Failure, ToolResult, counted, grouped};
use crate::question::Question;
use crate::survey::{Survey, survey};
use crate::table;
use crate::workspace::Place;

/// Rows of the lists of largest and most complex.
const ROWS: usize = 10;
/// Languages of a tree that are listed.
const LANGUAGES: usize = 30;
/// Files that are parsed at most.
const MAX_PARSED: usize = 2000;

pub(crate) static TOOL: Entry = Entry {
    name: "analyze_code",
    aliases: &["codeanalysis", "analyze", "analyse", "analysecode", "codemetrics"],
    class: Class::Read,
    parameters: &[&PATH, &CODE, &LANGUAGE],
    definition: include_str!("../../schemas/engine/analyze_code.json"),
    core: None,
    del: true,
    prepare,
};

struct AnalyzeCode {
    subject: Subject,
}

fn prepare(mut arguments: Arguments, context: &Context) -> Prepared {
    Ok(Box::new(AnalyzeCode { subject: Subject::read(&mut arguments, context)? }))
}

/// What is known of one text.
struct Facts {
    kind: Option<Kind>,
    lines: Lines,
    total: usize,
    /// The length of the longest line, and its number.
    longest: (usize, usize),
    language: Option<&'static Language>,
    reading: Option<Reading>,
}

impl Job for AnalyzeCode {
    fn class(&self) -> Class {
        Class::Read
    }

    fn question(&self, _: &Context) -> Result<Question, Failure> {
        Ok(Question::read(TOOL.name, self.subject.shown()))
    }

    fn run(self: Box<Self>, context: &Context, control: &Control<'_>) -> Result<ToolResult, Failure> {
        match &self.subject {
            Subject::Text { text, language } => {
                Ok(facts("", text, *language, true, &|| false).result("(content)"))
            }
            Subject::Place(place) => {
                let surveyed = survey(context, control, place, &|_| true, &|file| {
                    let language = Language::of_file(file.path, file.text);
                    let parsed = file.number < MAX_PARSED;
                    Some(facts(file.path, file.text, language, parsed, &|| file.is_over()))
                })?;
                Ok(match surveyed.found.as_slice() {
                    [(path, facts)] if surveyed.one => facts.result(path),
                    _ => tree(place, &surveyed),
                })
            }
        }
    }
}

fn facts(
    path: &str,
    text: &str,
    language: Option<&'static Language>,
    parsed: bool,
    is_over: &dyn Fn() -> bool,
) -> Facts {
    let reading = language.filter(|_| parsed).and_then(|language| code::outline(text, language, is_over));
    let kind = code::kind(path, text, language);
    let total = text.lines().count();
    let lengths = text.lines().enumerate().map(|(at, line)| (line.chars().count(), at + 1));
    // Of lines that are equally long, the first.
    let longest = lengths.fold((0, 0), |most, line| if line.0 > most.0 { line } else { most });
    let lines = kind.map_or_else(|| plain(text), |kind| kind.count(text));
    Facts { kind, lines, total, longest, language, reading }
}

/// Lines of a text of which nothing is known.
fn plain(text: &str) -> Lines {
    let blank = text.lines().filter(|line| line.trim().is_empty()).count();
    Lines { code: text.lines().count() - blank, comment: 0, blank }
}

impl Facts {
    fn name(&self) -> &str {
        let by_kind = self.kind.map(Kind::name);
        self.language.map(Language::name).or(by_kind).unwrap_or("unknown language")
    }

    fn functions(&self) -> Vec<&Symbol> {
        let symbols = self.reading.iter().flat_map(|reading| &reading.outline.symbols);
        symbols.filter(|symbol| symbol.cost.is_some()).collect()
    }

    fn result(&self, path: &str) -> ToolResult {
        let Lines { code, comment, blank } = self.lines;
        let (chars, at) = self.longest;
        let mut result = ToolResult::success(format!("{path}: {}", self.name()));
        result.note(&format!(
            "lines: {} total, {} code, {} comment, {} blank",
            grouped(self.total as u64),
            grouped(code as u64),
            grouped(comment as u64),
            grouped(blank as u64)
        ));
        if at > 0 {
            result.note(&format!("longest line: {} (line {at})", counted(chars, "character")));
        }
        if self.kind.is_none() && self.total > 0 {
            result.note("[what is a comment is not known in this language; such lines count as code]");
        }
        let mut data = json!({
            "language": self.name(), "lines": self.total, "code": code, "comment": comment, "blank": blank,
        });
        let Some(reading) = &self.reading else {
            result.note("[no grammar for this language, or it took too long; lines only]");
            return result.with_data(data);
        };
        let functions = self.functions();
        result.note(&functions_line(&functions, reading));
        if !reading.approximate {
            result.note(&format!("deepest nesting: {}", reading.outline.nesting));
            result.note(&format!("imports: {}", reading.outline.imports));
        }
        result.note(&format!("TODO/FIXME: {}", reading.outline.todos));
        if !functions.is_empty() {
            result.note("complexity (1 + branches), the highest first:");
            for symbol in most_complex(functions.clone()) {
                result.note(&format!(
                    "  {}  {}-{}  {}",
                    complexity(symbol),
                    symbol.first,
                    symbol.last,
                    symbol.name
                ));
            }
        }
        if reading.approximate {
            result.note("[no grammar for this language; functions are approximate]");
        }
        if reading.has_errors {
            result.note("[syntax errors in the text; figures are approximate]");
        }
        data["functions"] = json!(functions.len());
        data["complexity"] =
            json!(functions.iter().map(|symbol| complexity(symbol)).max().unwrap_or_default());
        result.with_data(data)
    }
}

fn functions_line(functions: &[&Symbol], reading: &Reading) -> String {
    if reading.approximate {
        return format!("functions and types: {}", reading.outline.symbols.len());
    }
    // Of functions that are equally long, the first.
    let longer = |a: &'_ &Symbol, b: &'_ &Symbol| a.lines().cmp(&b.lines()).then(b.first.cmp(&a.first));
    match functions.iter().copied().max_by(longer) {
        Some(symbol) => format!(
            "functions: {}; longest {} ({}, line {})",
            functions.len(),
            symbol.name,
            counted(symbol.lines(), "line"),
            symbol.first
        ),
        None => "functions: 0".to_owned(),
    }
}

fn complexity(symbol: &Symbol) -> usize {
    symbol.cost.map_or(0, |cost| cost.complexity)
}

fn most_complex(mut functions: Vec<&Symbol>) -> Vec<&Symbol> {
    functions.sort_by_key(|symbol| std::cmp::Reverse(complexity(symbol)));
    functions.truncate(ROWS);
    functions
}

/// The figures of a language in a tree.
#[derive(Default)]
struct Sum {
    files: usize,
    total: usize,
    lines: Lines,
}

fn tree(place: &Place, surveyed: &Survey<Facts>) -> ToolResult {
    let mut languages: BTreeMap<&str, Sum> = BTreeMap::new();
    let (mut total, mut uncounted) = (0, 0);
    for (_, facts) in &surveyed.found {
        if facts.kind.is_none() && facts.language.is_none() {
            uncounted += 1;
            continue;
        }
        let sum = languages.entry(facts.name()).or_default();
        sum.files += 1;
        sum.total += facts.total;
        sum.lines.code += facts.lines.code;
        sum.lines.comment += facts.lines.comment;
        sum.lines.blank += facts.lines.blank;
        total += facts.total;
    }
    let counted_files = surveyed.found.len() - uncounted;
    let mut result = ToolResult::success(format!(
        "{}: {}, {}",
        place.shown,
        counted(counted_files, "source file"),
        counted(total, "line")
    ));
    if counted_files > 0 {
        let mut rows: Vec<_> = languages.into_iter().collect();
        rows.sort_by_key(|(_, sum)| std::cmp::Reverse(sum.lines.code));
        result.note(&languages_table(&rows));
        largest(&mut result, surveyed);
        complex(&mut result, surveyed);
    }
    if uncounted > 0 {
        result.note(&format!("[{} in no known language not counted]", counted(uncounted, "file")));
    }
    if surveyed.sources > MAX_PARSED {
        result.note(&format!("[only the first {} parsed for functions]", counted(MAX_PARSED, "source file")));
    }
    for note in surveyed.notes() {
        result.note(&note);
    }
    let data = json!({"files": counted_files, "lines": total});
    result.with_data(data).shortened(surveyed.is_cut())
}

fn languages_table(rows: &[(&str, Sum)]) -> String {
    let head = ["language", "files", "lines", "code", "comment", "blank"].map(str::to_owned);
    let mut cells = vec![head.to_vec()];
    for (name, Sum { files, total, lines }) in rows.iter().take(LANGUAGES) {
        let figures = [*files, *total, lines.code, lines.comment, lines.blank].map(|n| grouped(n as u64));
        cells.push(std::iter::once((*name).to_owned()).chain(figures).collect());
    }
    let mut text = table::aligned(&cells);
    if rows.len() > LANGUAGES {
        text = format!("{text}\n[{} more]", counted(rows.len() - LANGUAGES, "language"));
    }
    text
}

fn largest(result: &mut ToolResult, surveyed: &Survey<Facts>) {
    let known = |facts: &Facts| facts.kind.is_some() || facts.language.is_some();
    let mut files: Vec<_> = surveyed.found.iter().filter(|(_, facts)| known(facts)).collect();
    files.sort_by_key(|(_, facts)| std::cmp::Reverse(facts.total));
    result.note("largest files, by lines:");
    for (path, facts) in files.iter().take(ROWS) {
        result.note(&format!("  {}  {path}", grouped(facts.total as u64)));
    }
}

fn complex(result: &mut ToolResult, surveyed: &Survey<Facts>) {
    let all = surveyed.found.iter();
    let mut functions: Vec<_> = all
        .flat_map(|(path, facts)| facts.functions().into_iter().map(move |symbol| (path, symbol)))
        .collect();
    if functions.is_empty() {
        return;
    }
    result.note(&format!("functions: {}; most complex (1 + branches):", grouped(functions.len() as u64)));
    functions.sort_by_key(|(_, symbol)| std::cmp::Reverse(complexity(symbol)));
    for (path, symbol) in functions.iter().take(ROWS) {
        result.note(&format!(
            "  {}  {path}:{}-{}  {}",
            complexity(symbol),
            symbol.first,
            symbol.last,
            symbol.name
        ));
    }
}
