//! An event as a line of JSON, for `--events`.

use del_dialects::{Event, Span};
use serde_json::{Value, json};

/// The event as one object: `type` (`text`, `reasoning`, `tool_call_start`, `arguments`, `tool_call_end`, `fault`),
/// what belongs to it, and the bytes of the answer from `start` to `end`. Calls are numbered by `index`.
pub fn event(event: &Event<'_>, span: &Span) -> Value {
    let mut value = match event {
        Event::Text(text) => json!({"type": "text", "text": text}),
        Event::Reasoning(text) => json!({"type": "reasoning", "text": text}),
        Event::CallStart { call, name, id, dialect } => {
            json!({"type": "tool_call_start", "index": call, "name": name, "id": id, "dialect": dialect})
        }
        Event::Args { call, json } => json!({"type": "arguments", "index": call, "json": json}),
        Event::CallEnd { call, id } => json!({"type": "tool_call_end", "index": call, "id": id}),
        Event::Fault(fault) => json!({
            "type": "fault", "index": fault.call,
            "kind": fault.kind.as_str(), "message": fault.kind.message(),
        }),
    };
    if let Event::Fault(fault) = event
        && fault.kind.changes_arguments()
    {
        value["changes_arguments"] = json!(true);
    }
    value["start"] = json!(span.start);
    value["end"] = json!(span.end);
    value
}

#[cfg(test)]
mod tests {
    use del_dialects::{Event, Fault, FaultKind};
    use serde_json::json;

    use super::event;

    #[test]
    fn one_object_for_each() {
        let start = Event::CallStart { call: 0, name: "f", id: None, dialect: "jamba" };
        assert_eq!(
            event(&start, &(3..9)),
            json!({"type": "tool_call_start", "index": 0, "name": "f", "id": null, "dialect": "jamba", "start": 3, "end": 9})
        );
        assert_eq!(
            event(&Event::Args { call: 0, json: "{\"" }, &(9..11)),
            json!({"type": "arguments", "index": 0, "json": "{\"", "start": 9, "end": 11})
        );
        let fault = Event::Fault(Fault { kind: FaultKind::OrphanMark, call: None });
        assert_eq!(event(&fault, &(1..2))["kind"], "orphan_mark");
        assert!(event(&fault, &(1..2)).get("changes_arguments").is_none());
        let guess = Event::Fault(Fault { kind: FaultKind::GuessedValue, call: Some(0) });
        assert_eq!(event(&guess, &(1..2))["changes_arguments"], true);
        assert_eq!(
            event(&Event::Text("x"), &(1..2)).to_string(),
            r#"{"type":"text","text":"x","start":1,"end":2}"#
        );
        assert_eq!(event(&Event::Reasoning("x"), &(1..2))["type"], "reasoning");
        let end = event(&Event::CallEnd { call: 4, id: Some("x") }, &(1..2));
        assert_eq!((&end["index"], &end["id"]), (&json!(4), &json!("x")));
    }
}
