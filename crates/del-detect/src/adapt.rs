//! The description of a known dialect, with what a template does otherwise: other thinking, other ends of turns.

use std::ops::Range;

use del_dialects::Dialect;
use del_dialects::description::Frame;
use serde::Deserialize;
use toml::Spanned;

use crate::describe::{self, Reasoning, Sketch};

/// The text of a description that is the known one but for the marks of `sketch`.
pub(crate) fn adapted(known: &Dialect, sketch: &Sketch) -> Option<String> {
    let places: Places = toml::from_str(known.text()).ok()?;
    let mut text = known.text().to_owned();
    let mut changes: Vec<(Range<usize>, String)> = Vec::new();
    let missing: Vec<String> =
        sketch.ends.iter().filter(|end| !known.ends().contains(end)).cloned().collect();
    if !missing.is_empty() {
        let written = places.ends.as_ref().map(|ends| ends.get_ref().as_slice()).unwrap_or_default();
        let ends = describe::list(&[written, &missing].concat());
        changes.push(match &places.ends {
            Some(known) => (known.span(), ends),
            None => (0..0, format!("ends = {ends}\n")),
        });
    }
    let other = sketch.reasoning.as_ref().filter(|reasoning| !reads(known, reasoning));
    if let Some(reasoning) = other.filter(|_| !matches!(known.frame(), Frame::Channels(_))) {
        match &places.reasoning {
            Some(Thinking { begin: Some(begin), end: Some(end) }) => {
                changes.push((begin.span(), describe::quoted(&reasoning.begin)));
                let begun =
                    if reasoning.prefilled && !is_prefilled(known) { "\nprefilled = true" } else { "" };
                changes.push((end.span(), [describe::one_or_list(&reasoning.end).as_str(), begun].concat()));
            }
            Some(_) => return None,
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

/// Where a description says this.
#[derive(Deserialize)]
struct Places {
    ends: Option<Spanned<Vec<String>>>,
    reasoning: Option<Thinking>,
}

#[derive(Deserialize)]
struct Thinking {
    begin: Option<Spanned<toml::Value>>,
    end: Option<Spanned<toml::Value>>,
}
