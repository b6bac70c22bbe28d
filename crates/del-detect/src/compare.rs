//! Which known dialects read what a template writes, and write it the same.

use std::sync::Arc;

use del_dialects::{Call, Collect, Dialect, Dialects, End, FaultKind, Message, Tool, Turn as Reading};
use serde_json::Value as Json;

use crate::probe::{Findings, Turn};
use crate::{describe, text};

/// How well one dialect fits what a template writes.
#[derive(Debug, Clone)]
pub(crate) struct Fit {
    pub(crate) dialect: Arc<Dialect>,
    /// Of how many turns.
    pub(crate) turns: usize,
    /// Turns whose calls it reads.
    pub(crate) read: usize,
    /// Turns that it reads without a fault, with nothing left over.
    pub(crate) clean: usize,
    /// Of those without calls, and with text behind them, so many.
    pub(crate) beside: usize,
    /// All of those.
    pub(crate) besides: usize,
    /// What it misses.
    pub(crate) missed: Vec<String>,
    /// Turns that it writes to the byte.
    pub(crate) written: usize,
    /// Other marks that it shares with the template: of thinking, results and definitions.
    pub(crate) shared: usize,
}

impl Fit {
    /// Reads everything cleanly.
    pub(crate) fn is_whole(&self) -> bool {
        self.turns > 0 && self.clean == self.turns && self.beside == self.besides
    }

    /// Reads and writes everything the same.
    pub(crate) fn is_exact(&self) -> bool {
        self.is_whole() && self.written == self.turns
    }

    /// Better fits are greater.
    pub(crate) fn key(&self) -> (usize, usize, usize, usize) {
        (self.clean + self.beside, self.read, self.written, self.shared)
    }
}

/// All dialects that read the calls of some turn, the best first.
pub(crate) fn fits(findings: &Findings, dialects: &Dialects, tools: &[Tool]) -> Vec<Fit> {
    let mut fits: Vec<Fit> = dialects
        .iter()
        .map(|dialect| {
            let mut fit = fit(dialect, findings, tools);
            fit.shared += 2 * usize::from(fit.read > 0 && ends_so(dialect, findings, dialects));
            fit
        })
        .filter(|fit| fit.read > 0)
        .collect();
    // Stable: among equals the order of `auto` stays.
    fits.sort_by_key(|fit| std::cmp::Reverse(fit.key()));
    fits
}

/// How well one dialect fits.
pub(crate) fn fit(dialect: &Arc<Dialect>, findings: &Findings, tools: &[Tool]) -> Fit {
    let mut fit = Fit {
        dialect: Arc::clone(dialect),
        turns: findings.turns.len(),
        read: 0,
        clean: 0,
        beside: 0,
        besides: findings.beside.len(),
        missed: Vec::new(),
        written: 0,
        shared: 0,
    };
    for turn in &findings.turns {
        let message = read_turn(dialect, turn, tools);
        let same = same_calls(&message.calls, &turn.calls);
        let clean = same && is_clean(&message, turn);
        if !clean {
            fit.missed.push(turn.about.clone());
        }
        if !same {
            continue;
        }
        fit.read += 1;
        fit.clean += usize::from(clean);
        let written = dialect.render_calls(&turn.calls, tools).unwrap_or_default();
        fit.written += usize::from(!written.is_empty() && ends_alike(&turn.text, &written));
    }
    if fit.read > 0 {
        fit.shared = shared(dialect, findings);
        for turn in &findings.beside {
            let message = read_turn(dialect, turn, tools);
            if same_calls(&message.calls, &turn.calls) && is_clean(&message, turn) {
                fit.beside += 1;
            } else {
                fit.missed.push(turn.about.clone());
            }
        }
    }
    fit
}

/// A turn, read in one dialect.
pub(crate) fn read_turn(dialect: &Arc<Dialect>, turn: &Turn, tools: &[Tool]) -> Message {
    let message = read(dialect, &turn.text, tools);
    // What is the sign to stop may stand at the end of a turn. A description that was made of the turns has to know it.
    if !is_clean(&message, turn)
        && dialect.name() != describe::NAME
        && let Some(shorter) = text::without_last_mark(&turn.text)
    {
        let other = read(dialect, shorter, tools);
        if same_calls(&other.calls, &turn.calls) && is_clean(&other, turn) {
            return other;
        }
    }
    message
}

/// One answer, read in one dialect.
pub(crate) fn read(dialect: &Arc<Dialect>, text: &str, tools: &[Tool]) -> Message {
    let mut parser = dialect.parser(Reading::new(tools));
    let mut collect = Collect::new();
    parser.push(text, &mut collect);
    parser.finish(End::End, &mut collect);
    collect.into_message()
}

/// True when nothing of the turn was lost, and nothing else was found in it.
pub(crate) fn is_clean(message: &Message, turn: &Turn) -> bool {
    let said = turn.said.as_deref().unwrap_or_default().trim();
    let thought = turn.thought.as_deref().unwrap_or_default().trim();
    // In some templates a closing mark is missing behind the last call, or arguments are JSON in a string.
    let forgiven = |fault: &del_dialects::Report| {
        matches!(fault.kind, FaultKind::MissingCloser | FaultKind::DoubleEncoded)
    };
    message.faults.iter().all(forgiven)
        && message.content.trim() == said
        && message.reasoning.trim() == thought
}

/// True when both lists hold the same calls.
pub(crate) fn same_calls(a: &[Call], b: &[Call]) -> bool {
    let json = |call: &Call| serde_json::from_str::<Json>(&call.arguments).ok();
    a.len() == b.len()
        && a.iter().zip(b).all(|(a, b)| a.name == b.name && json(a).is_some() && json(a) == json(b))
}

/// True when a text ends with what was written, white space at its ends aside.
fn ends_alike(text: &str, written: &str) -> bool {
    let written = written.trim();
    text.trim_end().ends_with(written)
        || text::without_last_mark(text).is_some_and(|text| text.trim_end().ends_with(written))
}

fn shared(dialect: &Dialect, findings: &Findings) -> usize {
    let thinking = findings.reasoning.as_ref().is_some_and(|thinking| {
        let begins = |marks: &[String], mark: &str| marks.iter().any(|known| known.trim() == mark.trim());
        dialect
            .reasoning()
            .is_some_and(|known| begins(&known.begin, &thinking.begin) && begins(&known.end, &thinking.end))
    });
    let results = findings.results.as_ref().is_some_and(|shown| {
        let mut parts = dialect.results().each.split("{text}");
        let before = parts.next().unwrap_or_default().trim();
        let behind = parts.next().unwrap_or_default().trim();
        !before.is_empty()
            && !before.contains('{')
            && shown.before.trim_end().ends_with(before)
            && shown.behind.trim_start().starts_with(behind)
    });
    let open = dialect.definition_forms().open.trim();
    let definitions = !open.is_empty() && findings.definitions.contains(open);
    usize::from(thinking) + 2 * usize::from(results) + usize::from(definitions)
}

/// True when a turn of the model's ends with a token of this dialect that few others know.
fn ends_so(dialect: &Dialect, findings: &Findings, dialects: &Dialects) -> bool {
    const FEW: usize = 3;
    let known_to = |end: &String| dialects.iter().filter(|other| other.ends().contains(end)).count();
    dialect.ends().iter().any(|end| findings.end.contains(end.as_str()) && known_to(end) <= FEW)
}
