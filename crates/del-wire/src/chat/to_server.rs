//! A request for a server of chat completions.

use serde_json::{Map, Value};

use crate::failed;
use crate::ollama;

/// The body, without what only other APIs have.
pub fn write(mut body: Map<String, Value>) -> Value {
    if let Some(Value::Array(messages)) = body.get_mut("messages") {
        for message in messages.iter_mut().filter_map(Value::as_object_mut) {
            message.shift_remove("thinking_blocks");
            failed::tell(message);
        }
    }
    for name in ["thinking", ollama::OWN] {
        body.shift_remove(name);
    }
    Value::Object(body)
}
