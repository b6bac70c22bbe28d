//! What a request says that other servers than Anthropic's do not take: images in results, where the beginning of the
//! prompt is to be kept (`cache_control`), members of its API alone, of tools too, and documents in full. It goes along
//! until it is known which server is asked.

use serde_json::{Map, Value, json};

use crate::{own, responses};

/// The member that has a mark on its way. Clients of chats may have one of the API's own name, which is theirs.
pub(crate) const MARK: &str = "anthropic_cache_control";
const NAME: &str = "cache_control";

/// Members of a request, of a tool, of a call or of a result that only these servers know, as a member of it on its way; of a
/// content part, such members or the block that it was; of an answer, its blocks in the order in which the client had them.
pub(crate) const OWN: &str = own::ANTHROPIC;

/// Members of a message beside its content.
pub(super) const OF_MESSAGE: &str = "anthropic_message";

/// True for a part that goes along with something that a text does not say.
pub(super) fn is_marked(part: &Value) -> bool {
    [MARK, OWN].iter().any(|name| part.get(*name).is_some())
}

/// Has the mark of a block go along with what the block becomes.
pub(super) fn mark(block: &Value, onto: &mut Value) {
    if let Some(mark) = block.get(NAME).filter(|mark| mark.is_object()) {
        onto[MARK] = mark.clone();
    }
}

/// The same on the way to the server. There a client of chats is heard as well.
pub(super) fn unmark(from: &Value, onto: &mut Value) {
    let mark = [MARK, NAME].iter().find_map(|name| from.get(name).filter(|mark| mark.is_object()));
    if let Some(mark) = mark {
        onto[NAME] = mark.clone();
    }
}

/// Takes this out of a request for a chat completion that goes to a server of another API. Servers of responses read images
/// in results, and members of tools that others do not know: there, both stay.
pub fn make(body: &mut Map<String, Value>, responses: bool) {
    for name in [MARK, OWN] {
        body.shift_remove(name);
    }
    for tool in body.get_mut("tools").and_then(Value::as_array_mut).into_iter().flatten() {
        forget(tool, responses);
    }
    let Some(Value::Array(messages)) = body.get_mut("messages") else { return };
    let mut plain: Vec<Value> = Vec::with_capacity(messages.len());
    let mut moved = Vec::new();
    for mut message in std::mem::take(messages) {
        if !responses && own::whole(&message, responses::OWN).is_some() {
            continue;
        }
        let read = if responses { own::RESPONSES } else { "" };
        forget(&mut message, responses);
        for call in message.get_mut("tool_calls").and_then(Value::as_array_mut).into_iter().flatten() {
            forget(call, responses);
        }
        let role = message["role"].as_str().unwrap_or_default().to_owned();
        if role != "tool" && !moved.is_empty() {
            let moved = std::mem::take(&mut moved);
            match message.get_mut("content") {
                Some(content) if role == "user" => put_before(moved, content),
                _ => plain.push(json!({"role": "user", "content": moved})),
            }
        }
        if let Some(Value::Array(parts)) = message.get_mut("content") {
            let some = !parts.is_empty();
            parts.retain(|part| own::nothing_else(part).is_none_or(|(of, _)| of == read));
            if some && parts.is_empty() && role == "user" {
                continue;
            }
            for part in parts.iter_mut() {
                forget(part, responses);
            }
            if role == "tool" && !responses {
                moved.extend(parts.extract_if(.., |part| part["type"] != "text"));
            }
            let more = parts.iter().any(|part| part.get(responses::OWN).is_some());
            if let Some(text) = joined(parts, &role).filter(|_| !more) {
                message["content"] = json!(text);
            }
        }
        if let Some(message) = match plain.last_mut() {
            Some(last) if !responses => go_on(last, message),
            _ => Some(message),
        } {
            plain.push(message);
        }
    }
    if !moved.is_empty() {
        plain.push(json!({"role": "user", "content": moved}));
    }
    *messages = plain;
}

/// Adds what a model went on with to what it said, as its turn is one message in a chat; gives back what is anything else.
fn go_on(last: &mut Value, mut message: Value) -> Option<Value> {
    let goes_on = [&*last, &message].into_iter().all(|message| {
        message["role"] == "assistant" && matches!(message["content"], Value::String(_) | Value::Null)
    });
    if !goes_on {
        return Some(message);
    }
    for (name, between) in [("content", "\n\n"), ("reasoning_content", "\n")] {
        let more = message[name].take();
        match (last[name].as_str().unwrap_or_default(), more.as_str().unwrap_or_default()) {
            (_, "") => {}
            ("", _) => last[name] = more,
            (said, more) => last[name] = json!([said, between, more].concat()),
        }
    }
    for name in ["thinking_blocks", "reasoning_details", "tool_calls"] {
        if let Value::Array(more) = message[name].take() {
            match last.get_mut(name) {
                Some(Value::Array(list)) => list.extend(more),
                _ => last[name] = Value::Array(more),
            }
        }
    }
    None
}

/// Takes out what goes along for servers of other APIs.
fn forget(marked: &mut Value, responses: bool) {
    let Some(members) = marked.as_object_mut() else { return };
    for name in [MARK, OWN, OF_MESSAGE] {
        members.shift_remove(name);
    }
    if !responses {
        members.shift_remove(responses::OWN);
    }
}

/// Parts that stand before what a user says.
fn put_before(mut parts: Vec<Value>, content: &mut Value) {
    match content.take() {
        Value::Array(more) => parts.extend(more),
        Value::String(text) if !text.is_empty() => parts.push(json!({"type": "text", "text": text})),
        _ => {}
    }
    *content = Value::Array(parts);
}

/// The text that parts are, where they are nothing else; what users say in several stays so.
pub(super) fn joined(parts: &[Value], role: &str) -> Option<String> {
    let texts: Option<Vec<&str>> =
        parts.iter().map(|part| part["text"].as_str().filter(|_| part["type"] == "text")).collect();
    let texts = texts.filter(|texts| role != "user" || texts.len() == 1)?;
    Some(texts.join(if role == "tool" { "\n" } else { "\n\n" }))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{MARK, OWN, make};

    #[test]
    fn nothing_is_left_that_others_do_not_take() {
        let text = |text: &str| json!({"type": "text", "text": text, MARK: {"type": "ephemeral"}, OWN: {"type": "document"}});
        let image = |url: &str| json!({"type": "image_url", "image_url": {"url": url}});
        let result = |parts: Value| json!({"role": "tool", "tool_call_id": "a", "content": parts, MARK: {}});
        let body = json!({MARK: {}, OWN: {}, "tools": [{"type": "function", MARK: {}, OWN: {}, "responses": {}}], "messages": [
            {"role": "system", "content": [text("a"), text("b")]},
            {"role": "user", "content": [text("One.")]},
            {"role": "assistant", "content": [text("c")], "tool_calls": [{"id": "a", MARK: {}}]},
            result(json!([text("d"), image("1"), text("e")])),
            result(json!([image("2")])),
            {"role": "user", "content": "Well?"},
            result(json!([image("3")])),
        ]});
        let mut body = body.as_object().unwrap().clone();
        make(&mut body, false);
        let result = |text: &str| json!({"role": "tool", "tool_call_id": "a", "content": text});
        assert_eq!(
            Value::Object(body),
            json!({"tools": [{"type": "function"}], "messages": [
                {"role": "system", "content": "a\n\nb"},
                {"role": "user", "content": "One."},
                {"role": "assistant", "content": "c", "tool_calls": [{"id": "a"}]},
                result("d\ne"),
                result(""),
                {"role": "user", "content": [image("1"), image("2"), {"type": "text", "text": "Well?"}]},
                result(""),
                {"role": "user", "content": [image("3")]},
            ]})
        );
    }
}
