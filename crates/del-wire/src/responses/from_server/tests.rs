use serde_json::{Value, json};

use super::Responses;
use crate::chunk::{Chunk, Finish};
use crate::heard::Heard;

/// All text, and the arguments of all calls, of a stream of these events.
fn heard(events: &[Value]) -> (String, String, Option<Finish>) {
    let mut reader = Responses::default();
    let mut told = (String::new(), String::new(), None);
    for event in events {
        let Heard::Chunk(chunk, _) = reader.event(&event.to_string()).unwrap() else { continue };
        for delta in &chunk.choices {
            told.0 += delta.content.as_deref().unwrap_or_default();
            let arguments = delta.calls.iter().filter_map(|call| call.arguments.as_deref());
            told.1 += &arguments.collect::<String>();
            told.2 = delta.finish.or(told.2);
        }
    }
    told
}

#[test]
fn what_is_said_late_is_said_once() {
    let message =
        json!({"type": "message", "id": "m", "content": [{"type": "output_text", "text": "Well."}]});
    let call =
        json!({"type": "function_call", "id": "f", "call_id": "c", "name": "f", "arguments": "{\"a\":1}"});
    let with = |item: &Value, name: &str, value: Value| {
        let mut item = item.clone();
        item[name] = value;
        item
    };
    let item = |kind: &str, place: u32, item: Value| json!({"type": format!("response.output_item.{kind}"), "output_index": place, "item": item});
    let added = [
        item("added", 0, with(&message, "content", json!([]))),
        item("added", 1, with(&call, "arguments", json!(""))),
    ];
    let text = |kind: &str, name: &str| json!({"type": format!("response.output_text.{kind}"), "output_index": 0, name: "Well."});
    let arguments = |kind: &str, name: &str| json!({"type": format!("response.function_call_arguments.{kind}"), "output_index": 1, name: "{\"a\":1}"});
    let deltas = [text("delta", "delta"), arguments("delta", "delta")];
    let dones = [text("done", "text"), arguments("done", "arguments")];
    let whole = [item("done", 0, message.clone()), item("done", 1, call.clone())];
    let ends = |output: Value| json!({"type": "response.completed", "response": {"status": "completed", "output": output}});
    let (all, none) = (ends(json!([message, call])), ends(json!([])));
    let groups: [&[Value]; 4] = [&added, &deltas, &dones, &whole];
    // Whatever a server leaves out, as long as the answer is in something of the rest.
    for left_out in 0..16_u32 {
        let events = groups
            .iter()
            .enumerate()
            .filter(|(place, _)| left_out & (1 << place) == 0)
            .flat_map(|(_, group)| group.iter());
        for end in [&all, &none] {
            let says_nothing = left_out & 0b1110 == 0b1110 || left_out & 0b1001 == 0b1001;
            if end == &none && says_nothing {
                continue;
            }
            let events: Vec<Value> = events.clone().chain([end]).cloned().collect();
            let expected = ("Well.".to_owned(), "{\"a\":1}".to_owned(), Some(Finish::ToolCalls));
            assert_eq!(heard(&events), expected, "{left_out:04b} {end}");
        }
    }
}

#[test]
fn each_message_is_a_paragraph_of_its_own() {
    let message = |text: &str| json!({"type": "message", "content": [{"type": "output_text", "text": text}]});
    let call = json!({"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"});
    let output =
        json!([message("One."), message(""), message("Two."), message("Three."), call, message("Four.")]);
    let body = json!({"status": "completed", "output": output}).to_string();
    let whole = Responses::default().whole(&body).unwrap();
    let text: String = whole.choices.into_iter().filter_map(|delta| delta.content).collect();
    assert_eq!(text, "One.\n\nTwo.\n\nThree.\n\nFour.");

    let piece = |place: u32, delta: &str| json!({"type": "response.output_text.delta", "output_index": place, "delta": delta});
    let added = |place: u32| json!({"type": "response.output_item.added", "output_index": place, "item": {"type": "message", "content": []}});
    let end = json!({"type": "response.completed", "response": {"status": "completed", "output": []}});
    for places in [[0, 2, 3], [0, 0, 0]] {
        let mut events = Vec::new();
        for (place, text) in places.into_iter().zip(["One.", "Two.", "Three."]) {
            events.push(added(place));
            events.extend([&text[..1], "", &text[1..]].map(|text| piece(place, text)));
        }
        events.push(end.clone());
        assert_eq!(heard(&events).0, "One.\n\nTwo.\n\nThree.", "{places:?}");
    }
}

#[test]
fn an_answer_that_was_given_up_is_an_error() {
    for status in ["failed", "cancelled"] {
        let response = json!({"status": status, "output": [], "error": null});
        let whole: Chunk = Responses::default().whole(&response.to_string()).unwrap();
        let event = json!({"type": format!("response.{status}"), "response": response}).to_string();
        let Heard::Chunk(last, _) = Responses::default().event(&event).unwrap() else { panic!("{status}") };
        for chunk in [whole, last.into_owned()] {
            let expected = format!("expected an answer, got a response that is {status}");
            assert_eq!(chunk.error.unwrap().message, expected);
        }
    }
}
