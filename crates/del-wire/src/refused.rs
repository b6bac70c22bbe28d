//! What a model refused with in an earlier answer. Only chats and responses tell it apart from text; a model of another
//! server, or one that is asked in its prompt, reads it as what was said.

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

/// The same in each of these messages that is of the model.
pub(crate) fn tell_all(messages: &mut [Value]) {
    let own = messages.iter_mut().filter(|message| message["role"] == "assistant");
    own.filter_map(Value::as_object_mut).for_each(tell);
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::tell_all;

    #[test]
    fn a_refusal_is_what_was_said() {
        let part = json!({"type": "refusal", "refusal": "No."});
        for (given, told) in [
            (json!({"content": null, "refusal": "No."}), json!("No.")),
            (json!({"content": "Hm.", "refusal": "No."}), json!("Hm.\n\nNo.")),
            (json!({"content": "Hm.", "refusal": null}), json!("Hm.")),
            (json!({"content": [part]}), json!([{"type": "text", "text": "No."}])),
        ] {
            let mut given = given;
            given["role"] = json!("assistant");
            let mut messages = [given.clone(), json!({"role": "user", "content": "Do.", "refusal": "x"})];
            tell_all(&mut messages);
            assert_eq!(messages[0], json!({"role": "assistant", "content": told}), "{given}");
            assert_eq!(messages[1]["refusal"], "x");
        }
    }
}
