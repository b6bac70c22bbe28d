//! What a run of tests came to, read from what the runner wrote.

use serde::Deserialize;

use crate::template::Template;

/// How a runner sums up.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Summary {
    /// Whose form it is, for people.
    #[serde(rename = "title")]
    _title: String,
    /// Counts of several lines add up; otherwise the last one counts.
    #[serde(default)]
    add: bool,
    #[serde(default)]
    counts: Option<Counts>,
    #[serde(default)]
    tally: Option<Tally>,
    failures: Failures,
}

/// Numbers beside words.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Counts {
    /// How the lines begin, decoration left out.
    lines: Vec<String>,
    /// What they hold.
    with: String,
    /// The number stands behind the word.
    behind: bool,
    passed: Vec<String>,
    failed: Vec<String>,
    skipped: Vec<String>,
    /// Lines that say how many there were.
    total: Vec<Template>,
}

/// A line for each test, by how it begins.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Tally {
    passed: Vec<String>,
    failed: Vec<String>,
    skipped: Vec<String>,
}

/// Where the failing tests stand.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Failures {
    /// Lines that name a failing test; left out, every beginning does.
    #[serde(default)]
    names: Vec<Template>,
    /// Beginnings count behind such a line.
    #[serde(default)]
    after: Option<Template>,
    /// The first line of what a test wrote.
    begin: Vec<Template>,
    /// A line that ends it.
    #[serde(default)]
    end: Vec<Template>,
}

/// What became of the tests.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Outcome {
    pub(crate) passed: u64,
    pub(crate) failed: u64,
    pub(crate) skipped: u64,
    pub(crate) failures: Vec<Failing>,
}

/// A test that failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Failing {
    pub(crate) name: String,
    /// What it wrote, at most 40 lines.
    pub(crate) lines: Vec<String>,
}

/// Lines of a failing test that are kept.
const KEPT_LINES: usize = 40;
/// Failing tests that are kept.
const KEPT_TESTS: usize = 200;
/// What decorates lines.
const DECORATION: [char; 6] = ['=', '#', 'ℹ', ' ', '\t', '-'];

impl Summary {
    /// What `output` says, if it sums up in this form.
    pub(crate) fn read(&self, output: &str) -> Option<Outcome> {
        let mut outcome = match (&self.counts, &self.tally) {
            (Some(counts), _) => counts.read(output, self.add)?,
            (None, Some(tally)) => tally.read(output)?,
            (None, None) => return None,
        };
        outcome.failures = self.failures.read(output);
        Some(outcome)
    }
}

impl Counts {
    fn read(&self, output: &str, add: bool) -> Option<Outcome> {
        let mut found: [Vec<(&str, u64)>; 3] = Default::default();
        let mut total = None;
        let mut failed = None;
        for line in output.lines() {
            if let Some(read) = self.total.iter().find_map(|template| template.read(line.trim())) {
                total = read.number("total").or(total);
                failed = read.number("failed").or(failed);
            }
            let line = line.trim_start_matches(DECORATION);
            let begins =
                self.lines.is_empty() || self.lines.iter().any(|start| line.starts_with(start.as_str()));
            if !begins || !line.contains(&self.with) {
                continue;
            }
            for (found, words) in found.iter_mut().zip([&self.passed, &self.failed, &self.skipped]) {
                for (word, count) in beside(line, words, self.behind) {
                    let before = if add {
                        found.iter().find(|(own, _)| *own == word).map_or(0, |(_, n)| *n)
                    } else {
                        0
                    };
                    found.retain(|(own, _)| *own != word);
                    found.push((word, before + count));
                }
            }
        }
        let sum =
            |counts: &[(&str, u64)]| (!counts.is_empty()).then(|| counts.iter().map(|(_, n)| n).sum::<u64>());
        let [passed, counted, skipped] = found.map(|counts| sum(&counts));
        let failed = failed.or(counted);
        passed.or(failed).or(skipped).or(total)?;
        let (failed, skipped) = (failed.unwrap_or(0), skipped.unwrap_or(0));
        let rest = total.map_or(0, |total: u64| total.saturating_sub(failed + skipped));
        Some(Outcome { passed: passed.unwrap_or(rest), failed, skipped, failures: Vec::new() })
    }
}

/// The numbers beside any of `words`, each with its word.
fn beside<'w>(line: &str, words: &'w [String], behind: bool) -> Vec<(&'w str, u64)> {
    let tokens: Vec<_> =
        line.split(|c: char| !c.is_alphanumeric()).filter(|token| !token.is_empty()).collect();
    let number = |at: Option<usize>| at.and_then(|at| tokens.get(at)?.parse::<u64>().ok());
    let mut found = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        let word = words.iter().find(|word| word == token);
        let count = number(if behind { Some(at + 1) } else { at.checked_sub(1) });
        found.extend(word.map(String::as_str).zip(count));
    }
    found
}

impl Tally {
    fn read(&self, output: &str) -> Option<Outcome> {
        let count = |starts: &[String]| {
            let begins =
                |line: &&str| starts.iter().any(|start| line.trim_start().starts_with(start.as_str()));
            output.lines().filter(begins).count() as u64
        };
        let (passed, failed, skipped) = (count(&self.passed), count(&self.failed), count(&self.skipped));
        (passed + failed + skipped > 0).then_some(Outcome { passed, failed, skipped, failures: Vec::new() })
    }
}

impl Failures {
    fn read(&self, output: &str) -> Vec<Failing> {
        let named: Vec<String> = output
            .lines()
            .filter_map(|line| self.names.iter().find_map(|name| name.read(line)))
            .filter_map(|read| read.get("name").map(|name| name.trim().to_owned()))
            .collect();
        let mut blocks: Vec<Failing> = Vec::new();
        let mut open = false;
        let mut counts = self.after.is_none();
        for line in output.lines() {
            if let Some(after) = &self.after
                && after.read(line.trim()).is_some()
            {
                counts = true;
            }
            let begun = self.begin.iter().find_map(|begin| begin.read(line)).filter(|_| counts);
            if let Some(read) = begun {
                open = blocks.len() < KEPT_TESTS;
                if open {
                    let name = read.get("name").unwrap_or(line).trim().to_owned();
                    blocks.push(Failing { name, lines: Vec::new() });
                }
                continue;
            }
            if self.end.iter().any(|end| end.read(line).is_some()) {
                open = false;
            }
            if let Some(block) = blocks.last_mut().filter(|block| open && block.lines.len() < KEPT_LINES) {
                block.lines.push(line.to_owned());
            }
        }
        for block in &mut blocks {
            trim(&mut block.lines);
        }
        if self.names.is_empty() {
            // A runner that tells of a failure twice tells more the first time.
            let mut seen = std::collections::HashSet::new();
            blocks.retain(|block| seen.insert(block.name.clone()));
            return blocks;
        }
        let mut failing: Vec<Failing> = Vec::new();
        for name in named.into_iter().take(KEPT_TESTS) {
            if !failing.iter().any(|known| known.name == name) {
                let lines = blocks.iter().find(|block| block.name == name).map(|block| block.lines.clone());
                failing.push(Failing { name, lines: lines.unwrap_or_default() });
            }
        }
        failing
    }
}

/// Drops empty lines at both ends.
fn trim(lines: &mut Vec<String>) {
    while lines.last().is_some_and(|line| line.trim().is_empty()) {
        lines.pop();
    }
    let empty = lines.iter().take_while(|line| line.trim().is_empty()).count();
    lines.drain(..empty);
}

#[cfg(test)]
#[path = "summary_tests.rs"]
mod tests;
