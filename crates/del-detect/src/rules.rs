//! What the text of a template tells, without running it.

use std::sync::Arc;

use del_dialects::description::{Detect, Need};
use del_dialects::{Dialect, Dialects};

/// A dialect whose rule holds for a text.
#[derive(Debug, Clone)]
pub(crate) struct Hit {
    pub(crate) dialect: Arc<Dialect>,
    /// What was found.
    pub(crate) marks: Vec<String>,
    /// The rule is the dialect's own, and not only that its marks are there.
    pub(crate) stated: bool,
    /// It was found in what the template writes, not in its own text.
    pub(crate) told: bool,
}

impl Hit {
    /// How much of the text the rule asked for: the more, the surer.
    fn weight(&self) -> usize {
        self.marks.iter().map(|mark| mark.chars().count()).sum()
    }
}

/// The dialects whose rules hold for a text, the most specific first.
pub(crate) fn hits(text: &str, dialects: &Dialects) -> Vec<Hit> {
    let mut hits: Vec<Hit> = dialects.iter().filter_map(|dialect| hit(text, dialect)).collect();
    // Stable: among equals the order of `auto` stays.
    hits.sort_by_key(|hit| std::cmp::Reverse(hit.weight()));
    hits
}

/// The dialect whose marks stand in what a template tells the model of its tools.
pub(crate) fn told(text: &str, dialects: &Dialects) -> Option<Hit> {
    let hits = dialects.iter().filter_map(|dialect| {
        let rule = by_marks(dialect)?;
        let open = dialect.definition_forms().open.trim();
        let marks = if rule.all.iter().all(|mark| text.contains(mark.as_str())) {
            rule.all
        } else if open.len() > UNMISTAKABLE && text.contains(open) {
            vec![open.to_owned()]
        } else {
            return None;
        };
        Some(Hit { dialect: Arc::clone(dialect), marks, stated: false, told: true })
    });
    // Of equals the first, in the order of `auto`.
    hits.min_by_key(|hit| std::cmp::Reverse(hit.weight()))
}

/// An opening mark of definitions that is this long is a dialect's own.
const UNMISTAKABLE: usize = 10;

fn hit(text: &str, dialect: &Arc<Dialect>) -> Option<Hit> {
    let rule = dialect.detect().cloned().or_else(|| by_marks(dialect))?;
    let found = |mark: &&String| text.contains(mark.as_str());
    let any: Vec<String> =
        rule.any.iter().filter(found).max_by_key(|mark| mark.len()).cloned().into_iter().collect();
    let holds = rule.all.iter().all(|mark| found(&mark))
        && (rule.any.is_empty() || !any.is_empty())
        && !rule.none.iter().any(|mark| found(&mark));
    let marks = rule.all.into_iter().chain(any).collect();
    holds.then(|| Hit {
        dialect: Arc::clone(dialect),
        marks,
        stated: dialect.detect().is_some(),
        told: false,
    })
}

/// Where a description has no rule: all marks that have to be there, if they can be told from text.
fn by_marks(dialect: &Dialect) -> Option<Detect> {
    const LONG: usize = 5;
    let all: Vec<String> = dialect
        .marks()
        .filter(|mark| mark.need == Need::Must)
        .filter_map(|mark| mark.read.first())
        .filter(|mark| mark.len() >= LONG && !mark.chars().all(char::is_alphanumeric))
        .cloned()
        .collect();
    let mut marks = Detect::default();
    marks.all = all;
    Some(marks).filter(|marks| !marks.all.is_empty())
}
