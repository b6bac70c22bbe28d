//! Whether the model is to think before it answers, in the words of each API.

use serde_json::{Map, Value, json};

/// How much, as chat completions say it (`reasoning_effort`), of which other APIs say no more than that it is nothing.
pub(crate) fn effort(body: &Map<String, Value>) -> Option<Value> {
    let given = body.get("reasoning_effort").filter(|effort| !effort.is_null());
    given.cloned().or_else(|| (wanted(body) == Some(false)).then(|| json!("none")))
}

/// Whether it is, as Ollama's API says it (`think`): that takes three words of all that there are for how much.
pub(crate) fn think(body: &Map<String, Value>) -> Option<Value> {
    match effort(body).as_ref().and_then(Value::as_str) {
        None => wanted(body).map(Value::Bool),
        Some("none") => Some(json!(false)),
        Some("minimal") => Some(json!("low")),
        Some("xhigh" | "max") => Some(json!("high")),
        Some(word) => Some(json!(word)),
    }
}

/// Whether it is, as Anthropic's API says it.
pub(crate) fn wanted(body: &Map<String, Value>) -> Option<bool> {
    Some(body.get("thinking")?["type"].as_str()? != "disabled")
}
