//! How calls are written, read off outputs whose calls are known.
//!
//! The arguments of each call are looked for in every form that a description knows, then the name and the id. What stands
//! between them are the marks; what differs between one call and several is the markup around the group.

mod arguments;
mod fields;
mod frame;
mod literal;

use del_dialects::Call;

pub(crate) use arguments::Arguments;
pub(crate) use frame::{Part, Shape};

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

/// Stands for the call's name in a mark that closes it, such as `</get_weather>`.
pub(crate) const CLOSING_NAME: &str = "\u{1}name\u{1}";

/// The sample with a sign for each name in a closing mark; none where a call is not closed so.
fn with_closing_names(sample: &Sample) -> Option<Sample> {
    let mut out = String::new();
    let mut rest = sample.text.as_str();
    for call in &sample.calls {
        let at = rest.match_indices(call.name.as_str()).map(|(at, _)| at).find(|at| {
            let behind = &rest[at + call.name.len()..];
            [("</", ">"), ("[/", "]"), ("<|/", "|>"), ("<|end", "|>"), ("{/", "}"), ("«/", "»"), ("⟦/", "⟧")]
                .iter()
                .any(|(open, close)| {
                    let open = rest[..*at].rfind(open).map(|open| &rest[open..*at]);
                    open.is_some_and(|open| !open.contains(['>', ']', ' ', '\n']))
                        && behind.starts_with(close)
                })
        })?;
        out.push_str(&rest[..at]);
        out.push_str(CLOSING_NAME);
        rest = &rest[at + call.name.len()..];
    }
    out.push_str(rest);
    Some(Sample { text: out, calls: sample.calls.clone() })
}
