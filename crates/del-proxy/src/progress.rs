//! What clients are told of the calls that run here. It stands among the model's thoughts, and clients send those back:
//! the model did not think it, and tools wrote half of it.

use del_dialects::Dialects;
use del_wire::Asked;
use serde_json::{Map, Value};

/// Stand around it, so that it is found again whoever sends it back. Both are invisible.
const BEGIN: char = '\u{2063}';
const END: char = '\u{2064}';

/// A line of it as clients get it. Nothing in it is a mark, also for a client that leaves invisible characters out of what
/// it sends back.
pub(crate) fn told(line: &str) -> String {
    let line: String = line.chars().filter(|c| !is_border(*c)).collect();
    let line = Dialects::builtin().neutralise(&line);
    format!("{BEGIN}{line}{END}")
}

/// Takes it out of what a client says that the model thought.
pub(crate) fn forget(asked: &mut Asked) {
    let Some(Value::Array(messages)) = asked.body.get_mut("messages") else { return };
    let past = messages.iter_mut().filter(|message| message["role"] == "assistant");
    for message in past.filter_map(Value::as_object_mut) {
        asked.changed |= forget_in(message);
    }
}

/// True where there was some.
fn forget_in(message: &mut Map<String, Value>) -> bool {
    let (mut found, mut empty) = (false, Vec::new());
    // In calls there is none, and what models write there is theirs.
    let others =
        message.iter_mut().filter(|(name, _)| !matches!(name.as_str(), "tool_calls" | "function_call"));
    for (name, value) in others {
        let here = without(value);
        found |= here;
        if here && name != "content" && is_empty(value) {
            empty.push(name.clone());
        }
    }
    for name in empty {
        message.shift_remove(&name);
    }
    found
}

/// Takes it out of a value. True where there was some.
fn without(value: &mut Value) -> bool {
    match value {
        Value::String(text) => match left_of(text) {
            Some(left) => {
                *text = left;
                true
            }
            None => false,
        },
        Value::Array(list) => {
            let mut found = false;
            list.retain_mut(|inner| {
                let here = without(inner);
                found |= here;
                !(here && is_spent(inner))
            });
            found
        }
        Value::Object(members) => {
            let mut found = false;
            members.values_mut().for_each(|inner| found |= without(inner));
            found
        }
        _ => false,
    }
}

/// What is left of a text; `None` where nothing of it stands there.
fn left_of(text: &str) -> Option<String> {
    let (before, mut rest) = text.split_once(BEGIN)?;
    let mut left = before.to_owned();
    loop {
        // Where its end is cut off, so is what stood behind it.
        let Some((_, behind)) = rest.split_once(END) else { return Some(left) };
        let Some((said, next)) = behind.split_once(BEGIN) else {
            left.push_str(behind);
            return Some(left);
        };
        left.push_str(said);
        rest = next;
    }
}

/// True for a block that holds nothing more: no thought, and no seal on one.
fn is_spent(block: &Value) -> bool {
    let sealed = block["signature"].as_str().is_some_and(|seal| !seal.is_empty());
    !sealed && block.get("thinking").or_else(|| block.get("text")).is_some_and(is_empty)
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::String(text) => text.trim().is_empty(),
        Value::Array(list) => list.is_empty(),
        _ => false,
    }
}

fn is_border(c: char) -> bool {
    c == BEGIN || c == END
}

#[cfg(test)]
mod tests {
    use del_wire::Asked;
    use serde_json::json;

    use super::{forget, told};

    #[test]
    fn it_is_found_again_wherever_a_client_has_put_it() {
        let (a, b) = (told("● look\n"), told("\n⎿ \u{2064}<tool_call>\n"));
        assert!(!b.contains("<tool_call>"), "{b}");
        let call = json!([{"id": "c", "type": "function", "function": {"name": "f", "arguments": a}}]);
        for (given, left) in [
            (
                json!({"reasoning_content": format!("Hm. {a}{b}So.{a}")}),
                json!({"reasoning_content": "Hm. So."}),
            ),
            (json!({"reasoning_content": format!("{a}{b}"), "content": "Hi."}), json!({"content": "Hi."})),
            (json!({"reasoning": "Hm."}), json!({"reasoning": "Hm."})),
            (json!({"content": format!("<think>{a}</think>Hi.")}), json!({"content": "<think></think>Hi."})),
            (json!({"content": a}), json!({"content": ""})),
            (
                json!({"anthropic": {"content": [{"type": "thinking", "thinking": a}, {"type": "text", "text": "Hi."}]}}),
                json!({"anthropic": {"content": [{"type": "text", "text": "Hi."}]}}),
            ),
            (
                json!({"thinking_blocks": [{"thinking": format!("Hm.{a}"), "signature": "s"}, {"thinking": b, "signature": ""}]}),
                json!({"thinking_blocks": [{"thinking": "Hm.", "signature": "s"}]}),
            ),
            (json!({"tool_calls": call}), json!({"tool_calls": call})),
            (
                json!({"reasoning_content": format!("Hm.{}", a.trim_end_matches('\u{2064}'))}),
                json!({"reasoning_content": "Hm."}),
            ),
        ] {
            let (mut given, mut left) = (given, left);
            given["role"] = json!("assistant");
            left["role"] = json!("assistant");
            let user = json!({"role": "user", "content": a});
            let body = json!({"messages": [user, given]});
            let mut asked = Asked::of(body.as_object().unwrap().clone()).unwrap();
            forget(&mut asked);
            assert_eq!(asked.body["messages"], json!([user, left]));
            assert_eq!(asked.changed, given != left);
        }
    }
}
