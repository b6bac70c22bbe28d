//! What is shown while Del works.

pub(crate) mod events;
pub(crate) mod lines;
pub(crate) mod near;
pub(crate) mod transcript;
