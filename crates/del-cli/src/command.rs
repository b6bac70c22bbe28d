//! The commands, a file each.

pub(crate) mod acp;
#[cfg(feature = "bulk")]
pub(crate) mod bulk;
pub(crate) mod chat;
pub(crate) mod completions;
pub(crate) mod config;
pub(crate) mod convert;
pub(crate) mod detect;
pub(crate) mod dialects;
pub(crate) mod doctor;
pub(crate) mod exec;
pub(crate) mod grammar;
pub(crate) mod man;
pub(crate) mod mcp;
pub(crate) mod models;
pub(crate) mod parse;
pub(crate) mod policy;
pub(crate) mod render;
pub(crate) mod serve;
pub(crate) mod sessions;
pub(crate) mod task;
pub(crate) mod tools;
pub(crate) mod trust;
pub(crate) mod undo;
