//! Something that a model wrote: in which dialect its calls are.

use std::sync::Arc;

use del_dialects::description::Frame;
use del_dialects::{Collect, Dialect, Dialects, End, Start, Turn};

use crate::compare::{read, same_calls};
use crate::report::{Basis, Report, Thinking, counted};

/// Reads an answer in whichever dialect it is.
pub(crate) fn report(text: &str, dialects: &Dialects) -> Report {
    let mut parser = dialects.parser(Turn::default().starting(Start::Unknown));
    let mut collect = Collect::new();
    parser.push(text, &mut collect);
    parser.finish(End::End, &mut collect);
    let message = collect.into_message();
    let mut report = Report { source: Basis::Text, ..Report::default() };
    if !message.reasoning.is_empty() {
        report.evidence.push(format!("{} of thinking", counted(message.reasoning.len(), "byte")));
        report.reasoning = marks_of_thinking(text, message.dialect.as_deref(), dialects);
    }
    let Some(dialect) = message.dialect.as_deref().and_then(|name| dialects.get(name)) else {
        report.confidence = 0.5;
        report.evidence.push("no call in any known dialect".to_owned());
        if message.faults.iter().any(|fault| fault.call.is_some()) {
            report.warnings.push("a call begins and cannot be read; del parse says why".to_owned());
        }
        return report;
    };
    report.tool_calls = true;
    for (evidence, call) in message.evidence.iter().zip(&message.calls).take(MAX_EVIDENCE) {
        let at = |offset: u64| usize::try_from(offset).unwrap_or(usize::MAX).min(text.len());
        let markup = text.get(at(evidence.span.start)..at(evidence.span.end)).unwrap_or_default();
        report
            .evidence
            .push(format!("{markup:?} opens the call of {} at byte {}", call.name, evidence.span.start));
    }
    let whole = |dialect: &Arc<Dialect>| {
        let other = read(dialect, text, &[]);
        same_calls(&other.calls, &message.calls) && other.faults.is_empty()
    };
    let others: Vec<&str> = dialects
        .iter()
        .filter(|other| other.name() != dialect.name() && whole(other))
        .map(|other| other.name())
        .collect();
    let faults = message.faults.len();
    report.confidence = match (dialect.frame(), others.len(), faults) {
        (Frame::Bare, _, _) => 0.6,
        (_, 0, 0) => 0.95,
        (_, 0, _) => 0.8,
        _ => 0.7,
    };
    if !others.is_empty() {
        report.evidence.push(format!("{} read it the same", others.join(", ")));
    }
    if faults > 0 {
        report.warnings.push(format!("{} in the answer; del parse shows what", counted(faults, "fault")));
    }
    report.dialect = Some(dialect.name().to_owned());
    report
}

const MAX_EVIDENCE: usize = 8;

fn marks_of_thinking(text: &str, dialect: Option<&str>, dialects: &Dialects) -> Option<Thinking> {
    let named = dialect.and_then(|name| dialects.get(name));
    let all = named.into_iter().chain(dialects.iter());
    let mut marks = all.filter_map(|dialect| dialect.reasoning());
    marks.find_map(|marks| {
        let found = |list: &[String]| list.iter().find(|mark| text.contains(mark.trim())).cloned();
        let end = found(&marks.end)?;
        let begin = found(&marks.begin);
        let prefilled = begin.is_none();
        Some(Thinking {
            begin: begin.or_else(|| marks.begin.first().cloned())?,
            end,
            prefilled,
            ..Thinking::default()
        })
    })
}
