//! The commands, a file each.

pub(crate) mod completions;
pub(crate) mod dialects;
pub(crate) mod parse;
