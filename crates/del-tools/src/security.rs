//! What may be dangerous in a text: secrets, risky code, files with telling names. The rules are data.

mod value;

use std::cell::OnceCell;
use std::sync::LazyLock;

use del_code::{Language, Matter, Source, parse};
use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use regex::bytes::{Regex, RegexBuilder, RegexSet, RegexSetBuilder};
use serde::Deserialize;
use value::{entropy, is_placeholder, is_plain, masked};

static WRITTEN: &str = include_str!("../security/rules.toml");

/// The rules that are built in. A test holds that they are valid and find what they say.
pub(crate) static RULES: LazyLock<Rules> =
    LazyLock::new(|| Rules::new(toml::from_str(WRITTEN).unwrap_or_default()));

/// Findings of one file.
const MAX_FOUND: usize = 200;
/// Bytes of a line that are shown of nothing: a longer line is generated, and only its start is looked at.
const MAX_LINE: usize = 20_000;
/// Bytes behind a pattern that are looked at.
const MAX_BEHIND: usize = 400;
/// What lets a line pass, or the line below it: `del:allow`, or `del:allow(rule, rule)`.
const ALLOW: &str = "del:allow";

/// How bad it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Severity {
    Low,
    Medium,
    High,
}

impl Severity {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Low => "LOW",
            Self::Medium => "MEDIUM",
            Self::High => "HIGH",
        }
    }

    /// One level more.
    fn higher(self) -> Self {
        match self {
            Self::Low => Self::Medium,
            Self::Medium | Self::High => Self::High,
        }
    }

    /// One level less, but never nothing.
    pub(crate) fn lower(self) -> Self {
        match self {
            Self::High => Self::Medium,
            Self::Medium | Self::Low => Self::Low,
        }
    }
}

/// Something that was found.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Finding {
    pub(crate) severity: Severity,
    pub(crate) path: String,
    /// From 1; 0 for the file as a whole.
    pub(crate) line: usize,
    pub(crate) rule: &'static str,
    pub(crate) message: String,
}

/// What one text holds.
#[derive(Debug, Default)]
pub(crate) struct Findings {
    pub(crate) found: Vec<Finding>,
    /// Those that a comment allows.
    pub(crate) allowed: usize,
}

/// The file of rules as it is written.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    secret: Vec<Rule>,
    code: Vec<Rule>,
    file: Vec<Rule>,
    auditor: Vec<Auditor>,
}

/// One rule.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Rule {
    id: String,
    severity: Severity,
    message: String,
    /// For lines.
    #[serde(default)]
    pattern: String,
    /// Globs for the names of files.
    #[serde(default)]
    files: String,
    /// Languages, by the names of their files; all when left out.
    #[serde(default)]
    languages: String,
    /// Bits for each character that the secret has at least.
    #[serde(default)]
    entropy: f64,
    /// For what comes behind the pattern.
    #[serde(default)]
    follows: String,
    /// For lines on which the pattern means something else.
    #[serde(default)]
    unless: String,
    /// For lines on which it counts one level more.
    #[serde(default)]
    sure: String,
    /// A value without a mixture of letters and digits counts one level less.
    #[serde(default)]
    graded: bool,
    /// It may begin inside a string.
    #[serde(default)]
    inside: bool,
    /// It is told once for a file, with how often it is there.
    #[serde(default)]
    counted: bool,
    #[cfg_attr(not(test), expect(dead_code, reason = "for the test of the rules"))]
    positive: Vec<String>,
    #[cfg_attr(not(test), expect(dead_code, reason = "for the test of the rules"))]
    negative: Vec<String>,
}

/// A program that checks dependencies.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Auditor {
    files: String,
    pub(crate) command: String,
}

impl Auditor {
    /// Whether it reads the file of this name.
    pub(crate) fn reads(&self, name: &str) -> bool {
        self.files.split(' ').any(|file| file == name)
    }
}

/// Rules that are ready to be tried.
#[derive(Debug)]
pub(crate) struct Rules {
    lines: Vec<Line>,
    /// The patterns of `lines`, for whole texts: what it does not find, no line holds.
    any: RegexSet,
    files: Vec<(Rule, GlobSet)>,
    pub(crate) auditors: Vec<Auditor>,
}

/// A rule for lines.
#[derive(Debug)]
struct Line {
    rule: Rule,
    regex: Regex,
    follows: Option<Regex>,
    unless: Option<Regex>,
    sure: Option<Regex>,
    files: GlobSet,
    languages: Vec<&'static Language>,
    secret: bool,
}

impl Rules {
    fn new(written: Written) -> Self {
        let secrets = written.secret.into_iter().map(|rule| (rule, true));
        let both = secrets.chain(written.code.into_iter().map(|rule| (rule, false)));
        let lines: Vec<_> = both
            .filter_map(|(rule, secret)| {
                let regex = compiled(&rule.pattern)?;
                let (follows, unless, sure) =
                    (compiled(&rule.follows), compiled(&rule.unless), compiled(&rule.sure));
                let languages = rule.languages.split_whitespace().filter_map(Language::named).collect();
                Some(Line {
                    regex,
                    follows,
                    unless,
                    sure,
                    files: names(&rule.files),
                    languages,
                    secret,
                    rule,
                })
            })
            .collect();
        let patterns = lines.iter().map(|line| line.rule.pattern.as_str());
        let any = RegexSetBuilder::new(patterns).unicode(false).multi_line(true).build().unwrap_or_default();
        let files = written.file.into_iter().map(|rule| (names(&rule.files).clone(), rule));
        Self {
            lines,
            any,
            files: files.map(|(globs, rule)| (rule, globs)).collect(),
            auditors: written.auditor,
        }
    }

    /// What the name of a file says.
    pub(crate) fn name(&'static self, path: &str) -> Option<Finding> {
        let (rule, _) = self.files.iter().find(|(_, globs)| globs.is_match(file_name(path)))?;
        Some(finding(rule, path, 0, rule.message.clone()))
    }

    /// What a text holds. Now and then `is_over` is asked whether to give up.
    pub(crate) fn text(&'static self, path: &str, text: &str, is_over: &dyn Fn() -> bool) -> Findings {
        let mut findings = Findings::default();
        let language = Language::of_file(path, text);
        let likely: Vec<_> = self.any.matches(text.as_bytes()).iter().map(|at| &self.lines[at]).collect();
        let likely: Vec<_> = likely.into_iter().filter(|line| line.is_for(path, language)).collect();
        if likely.is_empty() {
            return findings;
        }
        let reading = Reading { text, language, source: OnceCell::new(), is_over };
        for line in likely {
            line.search(path, &reading, &mut findings);
        }
        findings.found.sort_by_key(|finding| finding.line);
        findings.found.truncate(MAX_FOUND);
        findings
    }
}

impl Line {
    fn is_for(&self, path: &str, language: Option<&'static Language>) -> bool {
        let named = self.rule.files.is_empty() || self.files.is_match(file_name(path));
        let spoken = match language {
            // Risky code is only looked for in code.
            None => self.secret,
            Some(language) => self.languages.is_empty() || self.languages.contains(&language),
        };
        named && spoken
    }

    fn search(&'static self, path: &str, reading: &Reading<'_>, findings: &mut Findings) {
        let (mut at, mut before, mut times, mut first) = (0, "", 0, 0);
        for (number, line) in reading.text.split_inclusive('\n').enumerate() {
            let (start, above) = (at, before);
            (at, before) = (at + line.len(), line);
            let line = &line[..boundary(line, MAX_LINE)];
            let Some(captures) = self.regex.captures(line.trim_end_matches(['\n', '\r']).as_bytes()) else {
                continue;
            };
            let Some(whole) = captures.get(0) else { continue };
            let behind = &reading.text.as_bytes()[start + whole.end()..];
            let behind = &behind[..behind.len().min(MAX_BEHIND)];
            let fits =
                |regex: &Option<Regex>| regex.as_ref().is_some_and(|regex| regex.is_match(line.as_bytes()));
            if self.follows.as_ref().is_some_and(|follows| !follows.is_match(behind)) || fits(&self.unless) {
                continue;
            }
            let value = captures.name("value").map(|value| String::from_utf8_lossy(value.as_bytes()));
            let value = value.as_deref();
            if value.is_some_and(|value| entropy(value) < self.rule.entropy || is_placeholder(value)) {
                continue;
            }
            let indent = whole.as_bytes().len() - whole.as_bytes().trim_ascii_start().len();
            if !self.secret && !reading.is_code(start + whole.start() + indent, self.rule.inside) {
                continue;
            }
            if allows(line, &self.rule.id) || (allows(above, &self.rule.id) && is_remark(above)) {
                findings.allowed += 1;
                continue;
            }
            if self.rule.counted {
                times += self.regex.find_iter(line.as_bytes()).count();
                first = if first == 0 { number + 1 } else { first };
                continue;
            }
            let message = match value {
                Some(value) => format!("{} ({})", self.rule.message, masked(value)),
                None => self.rule.message.clone(),
            };
            let mut found = finding(&self.rule, path, number + 1, message);
            if fits(&self.sure) {
                found.severity = found.severity.higher();
            }
            if self.rule.graded && value.is_some_and(is_plain) {
                found.severity = found.severity.lower();
            }
            if self.secret && reading.is_prose(path, start, line) {
                found.severity = found.severity.lower();
            }
            findings.found.push(found);
            if findings.found.len() > MAX_FOUND {
                return;
            }
        }
        if times > 0 {
            findings.found.push(finding(&self.rule, path, first, format!("{times} {}", self.rule.message)));
        }
    }
}

/// A text that is parsed once somebody has to know.
struct Reading<'a> {
    text: &'a str,
    language: Option<&'static Language>,
    source: OnceCell<Option<Source<'a>>>,
    is_over: &'a dyn Fn() -> bool,
}

impl Reading<'_> {
    /// Whether the line at the byte `start` tells of something: in a comment, in a text of several lines, in a document.
    fn is_prose(&self, path: &str, start: usize, line: &str) -> bool {
        let document = [".md", ".rst", ".txt", ".adoc"].iter().any(|end| path.to_lowercase().ends_with(end));
        let indent = line.len() - line.trim_start().len();
        document || (self.language.is_some() && !self.is_code(start + indent, false))
    }

    fn is_code(&self, at: usize, inside: bool) -> bool {
        let (text, language, is_over) = (self.text, self.language, self.is_over);
        let source = self.source.get_or_init(|| parse(text, language?, is_over).ok());
        match source.as_ref().map(|source| source.matter(at)) {
            Some(Matter::Comment) => false,
            Some(Matter::Text) => inside,
            Some(Matter::Code) | None => true,
        }
    }
}

fn compiled(written: &str) -> Option<Regex> {
    if written.is_empty() { None } else { RegexBuilder::new(written).unicode(false).build().ok() }
}

fn finding(rule: &'static Rule, path: &str, line: usize, message: String) -> Finding {
    let severity = if is_trial(path) { rule.severity.lower() } else { rule.severity };
    Finding { severity, path: path.to_owned(), line, rule: &rule.id, message }
}

/// Whether a path is of tests, fixtures or examples.
fn is_trial(path: &str) -> bool {
    let lower = path.to_lowercase();
    let words = lower.split(|c: char| !c.is_ascii_alphanumeric());
    let trial = [
        "test",
        "tests",
        "testing",
        "testdata",
        "spec",
        "specs",
        "fixture",
        "fixtures",
        "example",
        "examples",
        "sample",
        "samples",
        "mock",
        "mocks",
        "template",
        "templates",
        "doc",
        "docs",
        "demo",
        "demos",
        "tutorial",
        "tutorials",
    ];
    words.into_iter().any(|word| trial.contains(&word))
}

fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

fn names(written: &str) -> GlobSet {
    let mut globs = GlobSetBuilder::new();
    for glob in written.split_whitespace().filter_map(|glob| GlobBuilder::new(glob).build().ok()) {
        globs.add(glob);
    }
    globs.build().unwrap_or_default()
}

fn allows(line: &str, rule: &str) -> bool {
    let Some((_, rest)) = line.split_once(ALLOW) else { return false };
    match rest.strip_prefix('(').and_then(|list| list.split_once(')')) {
        Some((list, _)) => list.split(',').any(|named| named.trim() == rule),
        None => true,
    }
}

/// A line with nothing but a comment on it.
fn is_remark(line: &str) -> bool {
    ["//", "#", "--", "/*", "*", ";", "<!--"].iter().any(|mark| line.trim_start().starts_with(mark))
}

fn boundary(text: &str, at: usize) -> usize {
    (0..=at.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0)
}

#[cfg(test)]
#[path = "security_tests.rs"]
mod tests;
