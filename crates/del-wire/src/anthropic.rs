//! Anthropic's messages.

pub mod from_client;
pub mod from_server;
pub mod plain;
pub mod to_client;
pub(crate) mod to_server;

/// Where the arguments of calls stand in a request.
pub(crate) const ARGUMENTS: [&str; 3] = ["messages", "content", "input"];
