//! A message as `del parse` prints it: an assistant message of the API, and what the API has no word for.

use del_dialects::{Evidence, Message, Part, Report};
use serde_json::{Value, json};

use crate::ids::Ids;
use crate::native::call_json;

/// The message with its events and faults. Ids that the model wrote are kept, as long as they differ.
///
/// `content` and `reasoning` are exact, or null when only white space is left.
pub fn answer(message: &Message, ids: &mut Ids) -> Value {
    let calls: Vec<Value> =
        message.calls.iter().map(|call| call_json(&ids.keep_or_mint(call.id.as_deref()), call)).collect();
    json!({
        "dialect": message.dialect,
        "role": "assistant",
        "content": visible(&message.content),
        "reasoning": visible(&message.reasoning),
        "tool_calls": calls,
        "events": message.parts.iter().map(part).collect::<Vec<_>>(),
        "faults": message.faults.iter().map(fault).collect::<Vec<_>>(),
        "evidence": message.evidence.iter().enumerate().map(evidence).collect::<Vec<_>>(),
    })
}

fn visible(text: &str) -> Option<&str> {
    (!text.trim().is_empty()).then_some(text)
}

fn part(part: &Part) -> Value {
    match part {
        Part::Text(text) => json!({"type": "text", "text": text}),
        Part::Reasoning(text) => json!({"type": "reasoning", "text": text}),
        Part::Call(index) => json!({"type": "tool_call", "index": index}),
    }
}

fn evidence((call, evidence): (usize, &Evidence)) -> Value {
    json!({
        "index": call,
        "dialect": evidence.dialect,
        "start": evidence.span.start,
        "end": evidence.span.end,
    })
}

fn fault(report: &Report) -> Value {
    let mut fault = json!({
        "kind": report.kind.as_str(),
        "start": report.span.start,
        "end": report.span.end,
        "message": report.kind.message(),
    });
    if report.kind.changes_arguments() {
        fault["changes_arguments"] = json!(true);
    }
    if let Some(place) = report.place {
        fault["index"] = json!(place);
    }
    if let Some(call) = &report.call {
        fault["name"] = json!(call.name);
        fault["arguments"] = json!(call.arguments);
    }
    fault
}

#[cfg(test)]
mod tests {
    use del_dialects::{Call, Evidence, FaultKind, Message, Part, Report};
    use serde_json::json;

    use super::answer;
    use crate::ids::Ids;

    fn call(id: Option<&str>, arguments: &str) -> Call {
        Call { id: id.map(str::to_owned), name: "f".into(), arguments: arguments.into() }
    }

    #[test]
    fn everything_has_its_place() {
        let message = Message {
            dialect: Some("hermes-json".into()),
            content: " a ".into(),
            reasoning: "r".into(),
            calls: vec![call(Some("7"), "{}"), call(Some("7"), "{}"), call(None, "{}")],
            parts: vec![Part::Reasoning("r".into()), Part::Text(" a ".into()), Part::Call(0)],
            faults: vec![
                Report {
                    kind: FaultKind::UnclosedCall,
                    span: 10..52,
                    call: Some(call(None, "{\"a")),
                    place: None,
                },
                Report { kind: FaultKind::GuessedBorder, span: 60..60, call: None, place: Some(1) },
            ],
            evidence: vec![Evidence { dialect: "hermes-json".into(), span: 3..9 }],
        };
        let mut expected_ids = Ids::default();
        let value = answer(&message, &mut Ids::default());
        let tool_call =
            |id: &str| json!({"id": id, "type": "function", "function": {"name": "f", "arguments": "{}"}});
        assert_eq!(
            value,
            json!({
                "dialect": "hermes-json",
                "role": "assistant",
                "content": " a ",
                "reasoning": "r",
                "tool_calls": [tool_call("7"), tool_call(&expected_ids.mint()), tool_call(&expected_ids.mint())],
                "events": [
                    {"type": "reasoning", "text": "r"},
                    {"type": "text", "text": " a "},
                    {"type": "tool_call", "index": 0},
                ],
                "faults": [{
                    "kind": "unclosed_call", "start": 10, "end": 52,
                    "message": FaultKind::UnclosedCall.message(), "name": "f", "arguments": "{\"a",
                }, {
                    "kind": "guessed_border", "start": 60, "end": 60,
                    "message": FaultKind::GuessedBorder.message(), "changes_arguments": true, "index": 1,
                }],
                "evidence": [{"index": 0, "dialect": "hermes-json", "start": 3, "end": 9}],
            })
        );
        let keys: Vec<&String> = value.as_object().unwrap().keys().collect();
        assert_eq!(
            keys,
            ["dialect", "role", "content", "reasoning", "tool_calls", "events", "faults", "evidence"]
        );
    }

    #[test]
    fn white_space_alone_is_no_content() {
        let message = Message { content: " \n".into(), ..Message::default() };
        let value = answer(&message, &mut Ids::default());
        assert!(value["content"].is_null() && value["reasoning"].is_null() && value["dialect"].is_null());
        assert_eq!(value["tool_calls"], json!([]));
    }
}
