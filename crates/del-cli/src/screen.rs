//! What is shown while Del works.

pub(crate) mod lines;
