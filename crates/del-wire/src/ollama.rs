//! Ollama's own chat, and its completion of one prompt. What its servers say, [`crate::chunk`] reads.

pub mod from_client;
pub mod to_client;
pub(crate) mod to_server;

use serde_json::{Map, Value};

use crate::own;

/// What only servers of this API can do with a request, as a member of it on its way.
pub(crate) const OWN: &str = own::OLLAMA;

/// Where the arguments of calls stand in a request.
pub(crate) const ARGUMENTS: [&str; 4] = ["messages", "tool_calls", "function", "arguments"];

/// True where a request, as one for a chat completion, has the model leave the memory behind it.
pub fn unloads(body: &Map<String, Value>) -> bool {
    match body.get(OWN).and_then(|own| own.get("keep_alive")) {
        Some(Value::Number(seconds)) => seconds.as_f64() == Some(0.0),
        Some(Value::String(time)) => time.contains('0') && !time.contains(|sign| matches!(sign, '1'..='9')),
        _ => false,
    }
}
