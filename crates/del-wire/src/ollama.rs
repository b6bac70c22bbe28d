//! Ollama's own chat, and its completion of one prompt. What its servers say, [`crate::chunk`] reads.

pub mod from_client;
pub mod to_client;
pub(crate) mod to_server;

/// What only servers of this API can do with a request, as a member of it on its way.
pub(crate) const OWN: &str = "ollama";

/// Where the arguments of calls stand in a request.
pub(crate) const ARGUMENTS: [&str; 4] = ["messages", "tool_calls", "function", "arguments"];
