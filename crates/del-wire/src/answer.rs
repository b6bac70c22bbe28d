//! A message as `del parse` prints it: an assistant message of the API, and what the API has no word for.

use del_dialects::{Call, Message, Part, Report};
use serde::Serialize;

use crate::ids::Ids;

/// An assistant message, ready to be written.
#[derive(Debug, Serialize)]
pub struct Answer<'m> {
    dialect: Option<&'m str>,
    role: &'static str,
    content: Option<&'m str>,
    reasoning: Option<&'m str>,
    tool_calls: Vec<ToolCall<'m>>,
    events: Vec<Event<'m>>,
    faults: Vec<Fault<'m>>,
    evidence: Vec<Evidence<'m>>,
}

#[derive(Debug, Serialize)]
struct ToolCall<'m> {
    id: String,
    r#type: &'static str,
    function: Function<'m>,
}

#[derive(Debug, Serialize)]
struct Function<'m> {
    name: &'m str,
    arguments: &'m str,
}

#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Event<'m> {
    Text { text: &'m str },
    Reasoning { text: &'m str },
    ToolCall { index: usize },
}

#[derive(Debug, Serialize)]
struct Fault<'m> {
    kind: &'static str,
    start: u64,
    end: u64,
    message: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    changes_arguments: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    index: Option<usize>,
    /// What there was of a call that does not count.
    #[serde(flatten)]
    call: Option<Function<'m>>,
}

#[derive(Debug, Serialize)]
struct Evidence<'m> {
    index: usize,
    dialect: &'m str,
    start: u64,
    end: u64,
}

/// The message with its events and faults. Ids that the model wrote are kept, as long as they differ.
///
/// `content` and `reasoning` are exact, or null when only white space is left.
pub fn answer<'m>(message: &'m Message, ids: &mut Ids) -> Answer<'m> {
    let tool_call = |call: &'m Call| ToolCall {
        id: ids.keep_or_mint(call.id.as_deref()),
        r#type: "function",
        function: function(call),
    };
    let evidence = message.evidence.iter().enumerate();
    Answer {
        dialect: message.dialect.as_deref(),
        role: "assistant",
        content: visible(&message.content),
        reasoning: visible(&message.reasoning),
        tool_calls: message.calls.iter().map(tool_call).collect(),
        events: message.parts.iter().map(event).collect(),
        faults: message.faults.iter().map(fault).collect(),
        evidence: evidence
            .map(|(index, known)| Evidence {
                index,
                dialect: &known.dialect,
                start: known.span.start,
                end: known.span.end,
            })
            .collect(),
    }
}

fn visible(text: &str) -> Option<&str> {
    (!text.trim().is_empty()).then_some(text)
}

fn function(call: &Call) -> Function<'_> {
    Function { name: &call.name, arguments: &call.arguments }
}

fn event(part: &Part) -> Event<'_> {
    match part {
        Part::Text(text) => Event::Text { text },
        Part::Reasoning(text) => Event::Reasoning { text },
        Part::Call(index) => Event::ToolCall { index: *index },
    }
}

fn fault(report: &Report) -> Fault<'_> {
    Fault {
        kind: report.kind.as_str(),
        start: report.span.start,
        end: report.span.end,
        message: report.kind.message(),
        changes_arguments: report.kind.changes_arguments().then_some(true),
        index: report.place,
        call: report.call.as_ref().map(function),
    }
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
        let value = serde_json::to_value(answer(&message, &mut Ids::default())).unwrap();
        let tool_call =
            |id: &str| json!({"id": id, "type": "function", "function": {"name": "f", "arguments": "{}"}});
        assert_eq!(
            value,
            json!({
                "dialect": "hermes-json",
                "role": "assistant",
                "content": " a ",
                "reasoning": "r",
                "tool_calls": [tool_call("7"), tool_call("8"), tool_call(&expected_ids.mint())],
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
        let value = serde_json::to_value(answer(&message, &mut Ids::default())).unwrap();
        assert!(value["content"].is_null() && value["reasoning"].is_null() && value["dialect"].is_null());
        assert_eq!(value["tool_calls"], json!([]));
    }
}
