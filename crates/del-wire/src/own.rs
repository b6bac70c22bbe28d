//! What of a message only servers of the client's own API know: members and kinds of content that nobody here reads. On its way
//! through a chat it lies in a member that is named after the API, and servers of others are not told.

use serde_json::{Map, Value, json};

/// The members for each API. Those of a request and of its tools lie in them as well.
pub(crate) const ANTHROPIC: &str = "anthropic";
pub(crate) const RESPONSES: &str = "responses";
pub(crate) const OLLAMA: &str = "ollama";

/// A part of a content that is nothing in a chat.
pub(crate) fn part(own: &str, block: &Value) -> Value {
    json!({"type": own, own: block})
}

/// All that a message or a part was in its API, where that goes along whole rather than member by member.
pub(crate) fn whole<'v>(value: &'v Value, own: &str) -> Option<&'v Value> {
    value.get(own).filter(|block| block["type"].is_string())
}

/// What a part was that is nothing in a chat, and the member of its API.
pub(crate) fn nothing_else(part: &Value) -> Option<(&'static str, &Value)> {
    let kind = part["type"].as_str()?;
    let own = [ANTHROPIC, RESPONSES, OLLAMA].into_iter().find(|own| *own == kind)?;
    Some((own, part.get(own)?))
}

/// Has the members of `from` that are not `read` go along.
pub(crate) fn keep_rest(from: &Value, read: &[&str], own: &str, onto: &mut Value) {
    let rest = rest(from, read);
    if !rest.is_empty() {
        onto[own] = Value::Object(rest);
    }
}

/// The members that are not `read` and say something.
pub(crate) fn rest(from: &Value, read: &[&str]) -> Map<String, Value> {
    let members = from.as_object().into_iter().flatten();
    let rest = members.filter(|(name, value)| !read.contains(&name.as_str()) && !value.is_null());
    rest.map(|(name, value)| (name.clone(), value.clone())).collect()
}

/// Puts such members into what the server gets.
pub(crate) fn put_rest(from: &Value, own: &str, onto: &mut Value) {
    if let (Some(Value::Object(rest)), Some(members)) = (from.get(own), onto.as_object_mut()) {
        members.extend(rest.clone());
    }
}
