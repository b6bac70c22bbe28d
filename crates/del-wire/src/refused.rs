//! What a model refused with in an earlier answer. Only chats and responses tell it apart from text; a model of another
//! server, or one that is asked in its prompt, reads it as what was said.

use std::borrow::Cow;

use serde_json::{Map, Value, json};

/// The member of a message, and the type of a part of one.
pub(crate) const MEMBER: &str = "refusal";

/// Says as text what the member says, and parts of that type.
pub(crate) fn tell(message: &mut Map<String, Value>) {
    if let Some(Value::Array(parts)) = message.get_mut("content") {
        for part in parts.iter_mut().filter(|part| part["type"] == MEMBER) {
            *part = json!({"type": "text", "text": part[MEMBER]});
        }
    }
    let Some(Value::String(refusal)) = message.shift_remove(MEMBER) else { return };
    match message.get_mut("content") {
        Some(Value::Array(parts)) if !parts.is_empty() => {
            parts.push(json!({"type": "text", "text": refusal}));
        }
        Some(Value::String(text)) if !text.is_empty() => {
            text.push_str("\n\n");
            text.push_str(&refusal);
        }
        _ => {
            message.insert("content".to_owned(), json!(refusal));
        }
    }
}

/// A request in which each message of the model says it as text.
pub(crate) fn told(body: &Map<String, Value>) -> Cow<'_, Map<String, Value>> {
    let messages = body.get("messages").and_then(Value::as_array);
    if !messages.into_iter().flatten().any(refuses) {
        return Cow::Borrowed(body);
    }
    let mut body = body.clone();
    let messages = body.get_mut("messages").and_then(Value::as_array_mut).into_iter().flatten();
    let own = messages.filter(|message| message["role"] == "assistant");
    own.filter_map(Value::as_object_mut).for_each(tell);
    Cow::Owned(body)
}

/// True where a message is of the model and has something to tell as text.
fn refuses(message: &Value) -> bool {
    let mut parts = message["content"].as_array().into_iter().flatten();
    message["role"] == "assistant"
        && (message.get(MEMBER).is_some() || parts.any(|part| part["type"] == MEMBER))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::told;

    #[test]
    fn a_refusal_is_what_was_said() {
        let part = json!({"type": "refusal", "refusal": "No."});
        for (given, expected) in [
            (json!({"content": null, "refusal": "No."}), json!("No.")),
            (json!({"content": "Hm.", "refusal": "No."}), json!("Hm.\n\nNo.")),
            (json!({"content": "Hm.", "refusal": null}), json!("Hm.")),
            (json!({"content": [part]}), json!([{"type": "text", "text": "No."}])),
        ] {
            let mut given = given;
            given["role"] = json!("assistant");
            let user = json!({"role": "user", "content": "Do.", "refusal": "x"});
            let body = json!({"messages": [given, user]});
            let messages = told(body.as_object().unwrap())["messages"].clone();
            assert_eq!(messages, json!([{"role": "assistant", "content": expected}, user]));
        }
    }
}
