//! How calls are written, read off outputs whose calls are known.
//!
//! The arguments of each call are looked for in every form that a description knows, then the name and the id. What stands
//! between them are the marks; what differs between one call and several is the markup around the group.

mod arguments;
mod fields;
mod frame;
mod literal;
mod obstacle;
mod open;

use del_dialects::Call;

use crate::text;

pub(crate) use arguments::Arguments;
pub(crate) use fields::Fields;
pub(crate) use frame::{Part, Shape};
pub(crate) use obstacle::obstacle;

/// An output whose calls are known.
#[derive(Debug, Clone)]
pub(crate) struct Sample {
    /// The output, without thinking and text before the calls.
    pub(crate) text: String,
    pub(crate) calls: Vec<Call>,
}

/// All ways in which the calls of the samples may be written, the likeliest first.
pub(crate) fn shapes(samples: &[Sample]) -> Vec<Shape> {
    let closed: Option<Vec<Sample>> = samples.iter().map(with_closing_names).collect();
    let samples = closed.as_deref().unwrap_or(samples);
    let known: Vec<&Sample> = samples.iter().filter(|sample| !sample.calls.is_empty()).collect();
    arguments::all(&known).iter().filter_map(|(way, samples)| frame::shape(samples, way)).collect()
}

/// The shapes that most samples have, where they do not all have the same: for each sample, those that fit beside it.
pub(crate) fn shapes_of_most(samples: &[Sample]) -> Vec<Shape> {
    const MOST: usize = 12;
    let samples = &samples[..samples.len().min(MOST)];
    let mut found: Vec<Shape> = Vec::new();
    for seed in samples {
        let mut chosen = vec![seed.clone()];
        for other in samples.iter().filter(|other| !std::ptr::eq(*other, seed)) {
            chosen.push(other.clone());
            let marked = |shape: &Shape| shape.marks() > 0;
            if !shapes(&chosen).iter().any(marked) {
                chosen.pop();
            }
        }
        if chosen.len() < samples.len() {
            found.extend(
                shapes(&chosen).into_iter().filter(|shape| !found.contains(shape)).collect::<Vec<_>>(),
            );
        }
    }
    found
}

/// Stands for the call's name in a mark that closes it, such as `</get_weather>`.
pub(crate) const CLOSING_NAME: &str = "\u{1}name\u{1}";

/// True where a closing mark begins that goes on with a name: `</`, `[end `.
fn closes_by_name(before: &str) -> bool {
    const LONGEST: usize = 24;
    const WORDS: [&str; 4] = ["end", "close", "done", "stop"];
    let Some(at) = before.rfind(|c| text::opens(c) || c == '{') else { return false };
    let mark = &before[at..];
    let closes = mark.contains('/') || {
        let mut words = mark.split(|c: char| !c.is_alphabetic());
        words.any(|word| WORDS.iter().any(|known| word.eq_ignore_ascii_case(known)))
    };
    closes && mark.len() <= LONGEST && !mark.contains(|c| text::closes(c) || matches!(c, '\n' | '"'))
}

/// The sample with a sign for each name in a closing mark; none where a call is not closed so.
fn with_closing_names(sample: &Sample) -> Option<Sample> {
    let mut out = String::new();
    let mut rest = sample.text.as_str();
    for call in &sample.calls {
        let at = rest.match_indices(call.name.as_str()).map(|(at, _)| at).find(|at| {
            let behind = &rest[at + call.name.len()..];
            closes_by_name(&rest[..*at]) && behind.starts_with(|c| text::closes(c) || matches!(c, '|' | '}'))
        })?;
        out.push_str(&rest[..at]);
        out.push_str(CLOSING_NAME);
        rest = &rest[at + call.name.len()..];
    }
    out.push_str(rest);
    Some(Sample { text: out, calls: sample.calls.clone() })
}
