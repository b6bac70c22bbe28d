//! The commands, a file each.

pub(crate) mod completions;
pub(crate) mod dialects;
pub(crate) mod exec;
pub(crate) mod parse;
pub(crate) mod render;
pub(crate) mod tools;
