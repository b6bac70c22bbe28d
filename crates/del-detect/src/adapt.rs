//! The description of a known dialect, with what a template does otherwise: other thinking, other ends of turns.

use std::ops::Range;

use del_dialects::Dialect;
use del_dialects::description::Frame;
use toml::de::DeTable;

use crate::describe::{self, Reasoning, Sketch};

/// The text of a description that is the known one but for the marks of `sketch`.
pub(crate) fn adapted(known: &Dialect, sketch: &Sketch) -> Option<String> {
    let places = DeTable::parse(known.text()).ok()?.into_inner();
    let mut text = known.text().to_owned();
    let mut changes: Vec<(Range<usize>, String)> = Vec::new();
    let missing: Vec<String> =
        sketch.ends.iter().filter(|end| !known.ends().contains(end)).cloned().collect();
    if !missing.is_empty() {
        let written = places.get("ends");
        let items = written.and_then(|ends| ends.get_ref().as_array()).into_iter().flatten();
        let items = items.filter_map(|end| Some(end.get_ref().as_str()?.to_owned()));
        let ends = describe::list(&items.chain(missing).collect::<Vec<_>>());
        changes.push(match written {
            Some(written) => (written.span(), ends),
            None => (0..0, format!("ends = {ends}\n")),
        });
    }
    let other = sketch.reasoning.as_ref().filter(|reasoning| !reads(known, reasoning));
    if let Some(reasoning) = other.filter(|_| !matches!(known.frame(), Frame::Channels(_))) {
        match places.get("reasoning") {
            Some(written) => {
                let (begin, end) = (written.get_ref().get("begin")?, written.get_ref().get("end")?);
                changes.push((begin.span(), describe::quoted(&reasoning.begin)));
                let begun =
                    if reasoning.prefilled && !is_prefilled(known) { "\nprefilled = true" } else { "" };
                changes.push((end.span(), [describe::one_or_list(&reasoning.end).as_str(), begun].concat()));
            }
            None => text += &["\n", &describe::thinking(reasoning)].concat(),
        }
    }
    changes.sort_by_key(|(span, _)| std::cmp::Reverse(span.start));
    for (span, written) in changes {
        text.replace_range(span, &written);
    }
    Some(text)
}

/// True where the dialect knows these marks of thinking, and that a prompt may end behind the first.
fn reads(known: &Dialect, reasoning: &Reasoning) -> bool {
    let has = |marks: &[String], mark: &str| marks.iter().any(|known| known.trim() == mark.trim());
    known.reasoning().is_some_and(|marks| {
        has(&marks.begin, &reasoning.begin) && reasoning.end.first().is_none_or(|end| has(&marks.end, end))
    }) && (is_prefilled(known) || !reasoning.prefilled)
}

fn is_prefilled(known: &Dialect) -> bool {
    known.reasoning().is_some_and(|marks| marks.prefilled)
}
