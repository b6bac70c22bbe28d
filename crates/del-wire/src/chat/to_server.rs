//! A request for a server of chat completions.

use std::borrow::Cow;

use serde::ser::{Serialize, SerializeMap as _, Serializer};
use serde_json::{Map, Value};

use crate::{failed, ollama, responses, think};

/// What only other APIs have, beside and in messages.
pub(crate) const OTHERS: [&str; 3] = ["thinking", ollama::OWN, responses::OWN];
const EFFORT: &str = "reasoning_effort";
const SEALED: &str = "thinking_blocks";

/// The body, without what only other APIs have.
pub(crate) fn write(mut body: Map<String, Value>) -> Value {
    if let Some(Value::Array(messages)) = body.get_mut("messages") {
        messages.iter_mut().filter_map(Value::as_object_mut).for_each(make_plain);
    }
    let effort = think::effort(&body);
    for name in OTHERS {
        body.shift_remove(name);
    }
    if let Some(effort) = effort {
        body.insert(EFFORT.to_owned(), effort);
    }
    Value::Object(body)
}

/// The same as JSON, of a body that is needed afterwards.
pub(crate) fn text(body: &Map<String, Value>) -> String {
    // Maps of JSON can always be written as such.
    serde_json::to_string(&Body(body)).unwrap_or_default()
}

fn make_plain(message: &mut Map<String, Value>) {
    message.shift_remove(SEALED);
    failed::tell(message);
}

struct Body<'a>(&'a Map<String, Value>);

impl Serialize for Body<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut body = serializer.serialize_map(None)?;
        let effort = think::effort(self.0);
        for (name, value) in self.0.iter().filter(|(name, _)| !OTHERS.contains(&name.as_str())) {
            match value {
                Value::Null if name == EFFORT && effort.is_some() => body.serialize_entry(name, &effort)?,
                Value::Array(messages) if name == "messages" => {
                    let plain = messages.iter().map(plain_message).collect::<Vec<_>>();
                    body.serialize_entry(name, &plain)?;
                }
                value => body.serialize_entry(name, value)?,
            }
        }
        if let Some(effort) = effort.filter(|_| !self.0.contains_key(EFFORT)) {
            body.serialize_entry(EFFORT, &effort)?;
        }
        body.end()
    }
}

/// Hardly any message has something of another API.
fn plain_message(message: &Value) -> Cow<'_, Value> {
    match message {
        Value::Object(members) if members.contains_key(SEALED) || members.contains_key(failed::MEMBER) => {
            let mut plain = members.clone();
            make_plain(&mut plain);
            Cow::Owned(Value::Object(plain))
        }
        message => Cow::Borrowed(message),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{text, write};

    #[test]
    fn the_text_is_that_of_the_body() {
        for more in [
            json!({"thinking": {"type": "disabled"}}),
            json!({"thinking": {"type": "disabled"}, "reasoning_effort": null}),
            json!({"ollama": {"think": false}, "reasoning_effort": "low"}),
        ] {
            let body = more.as_object().unwrap();
            assert_eq!(text(body), write(body.clone()).to_string());
        }
        let body = json!({"model": "m", "thinking": {}, "ollama": {"think": true}, "messages": [
            {"role": "user", "content": "Hi."},
            {"role": "assistant", "content": "", "thinking_blocks": [1], "tool_calls": [{"id": "a"}]},
            {"role": "tool", "tool_call_id": "a", "content": "no", "is_error": true},
            {"role": "tool", "tool_call_id": "b", "content": [{"type": "text", "text": "yes"}], "is_error": false},
            7]});
        let body = body.as_object().unwrap();
        assert_eq!(text(body), write(body.clone()).to_string());
        assert!(text(body).contains("Error: no") && !text(body).contains("think"));
    }
}
