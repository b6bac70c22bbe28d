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
    let known: Vec<&Sample> = samples.iter().filter(|sample| !sample.calls.is_empty()).collect();
    arguments::all(&known).iter().filter_map(|(way, samples)| frame::shape(samples, way)).collect()
}
