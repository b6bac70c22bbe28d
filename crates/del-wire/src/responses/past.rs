//! Responses that are over.

use serde_json::{Value, json};

use super::to_server;

/// The items of a conversation that the response with this id went on with, each with an id of its own.
pub fn items(messages: &[Value], response: &str) -> Vec<Value> {
    let mut items = Vec::with_capacity(messages.len());
    for message in messages {
        to_server::add(message, &mut items);
    }
    let of = response.trim_start_matches("resp_");
    for (place, item) in items.iter_mut().enumerate() {
        let kind = match item["type"].as_str() {
            Some("function_call") => "fc",
            Some("function_call_output") => "fco",
            Some("reasoning") => "rs",
            _ => "msg",
        };
        if let Some(text) = item.get("content").and_then(Value::as_str) {
            let said = item["role"] == "assistant";
            item["content"] = if said {
                json!([{"type": "output_text", "text": text, "annotations": []}])
            } else {
                json!([{"type": "input_text", "text": text}])
            };
        }
        let Some(members) = item.as_object_mut() else { continue };
        members.insert("id".to_owned(), json!(format!("{kind}_{of}_in{place}")));
        members.entry("type").or_insert_with(|| json!("message"));
        members.entry("status").or_insert_with(|| json!("completed"));
    }
    items
}

/// The id of the response that an item with this one is of.
pub fn response_of(item: &str) -> Option<String> {
    let (_, rest) = item.split_once('_')?;
    let (response, _) = rest.rsplit_once('_')?;
    Some(format!("resp_{response}"))
}
