//! The clients of each API put the same message together from a stream, however the server's is cut, as they get at once.

use std::collections::BTreeMap;
use std::sync::Arc;

use del_dialects::Dialects;
use del_proxy::answer::{Reader, Stream, translate_between};
use del_wire::anthropic::to_client::Messages;
use del_wire::ollama::to_client::Ollama;
use del_wire::responses::{Echo, to_client::Responses};
use del_wire::{FromServer, Ids, ToClient};
use serde_json::{Value, json};

use crate::cases::{Dice, cases, tools};
use crate::client::{is_object, reader, says};

/// A block of a message: its kind, and what it says. Of a call that is its name and its arguments.
pub(crate) type Block = (String, String);

/// A message, and the reason of its end.
pub(crate) type Message = (Vec<Block>, String);

/// A name, who writes for its clients, and what they read: of a stream, and of what comes at once.
pub(crate) type Api = (&'static str, fn() -> Box<dyn ToClient>, fn(&str) -> Message, fn(&Value) -> Message);

pub(crate) const APIS: [Api; 3] = [
    ("anthropic", || Box::new(Messages::new("msg_1", "m")), anthropic_stream, anthropic_whole),
    (
        "responses",
        || Box::new(Responses::new("resp_1", 1, Echo::default())),
        responses_stream,
        responses_whole,
    ),
    ("ollama", || Box::new(Ollama::new("m", "now", false)), ollama_stream, ollama_whole),
];

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

/// JSON with its members in one order and one spelling.
fn spelled(json: &str) -> String {
    serde_json::from_str::<Value>(json).unwrap().to_string()
}

/// Named events with their data; the name is said twice.
fn events(stream: &str) -> Vec<Value> {
    let events = stream.split_terminator("\n\n").filter(|event| !event.starts_with(':'));
    let read = |event: &str| {
        let (name, data) = event.strip_prefix("event: ").unwrap().split_once("\ndata: ").unwrap();
        let data: Value = serde_json::from_str(data).unwrap();
        assert_eq!(data["type"], name);
        data
    };
    events.map(read).collect()
}

fn anthropic_stream(stream: &str) -> Message {
    let mut blocks: BTreeMap<u64, (Block, bool)> = BTreeMap::new();
    let (mut reason, mut over) = (String::new(), false);
    for event in events(stream) {
        assert!(!over, "nothing comes behind the end");
        let index = event["index"].as_u64().unwrap_or(u64::MAX);
        match event["type"].as_str().unwrap() {
            "message_start" => assert!(blocks.is_empty()),
            "content_block_start" => {
                let block = &event["content_block"];
                assert_eq!(index, blocks.len() as u64);
                assert!(blocks.values().all(|(_, open)| !open), "one block at a time: {event}");
                blocks.insert(index, ((text(&block["type"]) + &text(&block["name"]), String::new()), true));
            }
            "content_block_delta" => {
                let ((_, said), open) = blocks.get_mut(&index).unwrap();
                assert!(*open && !is_object(said), "{event}");
                for name in ["text", "thinking", "partial_json"] {
                    said.push_str(event["delta"][name].as_str().unwrap_or_default());
                }
            }
            "content_block_stop" => assert!(std::mem::take(&mut blocks.get_mut(&index).unwrap().1)),
            "message_delta" => reason = text(&event["delta"]["stop_reason"]),
            "message_stop" => over = true,
            other => panic!("{other}"),
        }
    }
    assert!(over && blocks.values().all(|(_, open)| !open));
    let whole = blocks.into_values().map(|(block, _)| block);
    let whole = whole.filter(|(kind, said)| !kind.starts_with("tool_use") || is_object(said));
    (
        whole
            .map(|(kind, said)| {
                if is_object(&said) && kind.starts_with("tool_use") {
                    (kind, spelled(&said))
                } else {
                    (kind, said)
                }
            })
            .collect(),
        reason,
    )
}

fn anthropic_whole(message: &Value) -> Message {
    let block = |block: &Value| match block["type"].as_str().unwrap() {
        "tool_use" => ("tool_use".to_owned() + &text(&block["name"]), block["input"].to_string()),
        kind => (kind.to_owned(), text(&block[kind])),
    };
    (message["content"].as_array().unwrap().iter().map(block).collect(), text(&message["stop_reason"]))
}

fn responses_stream(stream: &str) -> Message {
    let (mut items, mut deltas, mut last): (BTreeMap<u64, Value>, BTreeMap<u64, String>, _) =
        (BTreeMap::new(), BTreeMap::new(), Value::Null);
    for (place, event) in events(stream).into_iter().enumerate() {
        assert_eq!(event["sequence_number"], place);
        let at = event["output_index"].as_u64().unwrap_or(u64::MAX);
        match event["type"].as_str().unwrap() {
            "response.output_item.added" => {
                assert_eq!((at, items.len()), (deltas.len() as u64, deltas.len()), "one item at a time");
                deltas.insert(at, String::new());
            }
            "response.output_item.done" => {
                let whole = deltas[&at].clone();
                let item = &event["item"];
                let part = part(item);
                let said = [&item["arguments"], &part["text"], &part["refusal"]];
                let said = said.into_iter().find_map(Value::as_str);
                assert_eq!(said, Some(whole.as_str()));
                items.insert(at, item.clone());
            }
            kind if kind.split('.').next_back() == Some("delta") => {
                deltas.get_mut(&at).unwrap().push_str(&text(&event["delta"]));
            }
            _ => {}
        }
        last = event;
    }
    let response = &last["response"];
    assert_eq!(last["type"], format!("response.{}", text(&response["status"])));
    assert_eq!(items.len(), deltas.len(), "every item ends");
    // What a call that broke off left is nobody's to run.
    let broken = |item: &Value| item["type"] == "function_call" && item["status"] == "incomplete";
    let whole: Vec<Value> = items.into_values().filter(|item| !broken(item)).collect();
    assert_eq!(response["output"], json!(whole));
    responses_whole(response)
}

/// The one part of an item's content, or of the summary that it is.
fn part(item: &Value) -> &Value {
    item["content"].get(0).unwrap_or(&item["summary"][0])
}

fn responses_whole(response: &Value) -> Message {
    let block = |item: &Value| match item["type"].as_str().unwrap() {
        "function_call" => ("call ".to_owned() + &text(&item["name"]), text(&item["arguments"])),
        kind => (kind.to_owned(), text(&part(item)["text"])),
    };
    let reason = text(&response["status"]) + &text(&response["incomplete_details"]["reason"]);
    (response["output"].as_array().unwrap().iter().map(block).collect(), reason)
}

fn ollama_stream(stream: &str) -> Message {
    let mut all = json!({"message": {"content": "", "thinking": "", "tool_calls": []}});
    for line in stream.lines() {
        let line: Value = serde_json::from_str(line).unwrap();
        assert_ne!(all["done"], true, "nothing comes behind the end");
        for name in ["content", "thinking"] {
            let more = text(&all["message"][name]) + &text(&line["message"][name]);
            all["message"][name] = json!(more);
        }
        let calls = line["message"]["tool_calls"].as_array().cloned().unwrap_or_default();
        all["message"]["tool_calls"].as_array_mut().unwrap().extend(calls);
        (all["done"], all["done_reason"]) = (line["done"].clone(), line["done_reason"].clone());
    }
    assert_eq!(all["done"], true);
    ollama_whole(&all)
}

fn ollama_whole(line: &Value) -> Message {
    let message = &line["message"];
    let calls = message["tool_calls"].as_array().into_iter().flatten();
    let calls =
        calls.map(|call| (text(&call["function"]["name"]), call["function"]["arguments"].to_string()));
    let said = ["content", "thinking"].map(|name| (name.to_owned(), text(&message[name])));
    (said.into_iter().chain(calls).collect(), text(&line["done_reason"]))
}

#[test]
fn every_dialect_gives_the_same_message_in_each_api() {
    let tools = tools();
    let mut count = 0;
    for dialect in Dialects::builtin().iter() {
        let reader = Reader { dialect: Some(Arc::clone(dialect)), ..reader(&tools) };
        for (name, case) in cases(dialect).into_iter().step_by(2) {
            let message = json!({"role": "assistant", "content": case.text});
            let choice = json!({"index": 0, "message": message, "finish_reason": case.finish()});
            let body = json!({"id": "x", "choices": [choice]}).to_string();
            let mut dice = Dice(case.text.len() as u64);
            for (api, client, of_stream, of_whole) in APIS {
                let whole =
                    translate_between(&reader, Ids::default(), &body, FromServer::chat(), &mut *client());
                let whole = of_whole(&serde_json::from_str(&whole.unwrap().body).unwrap());
                for round in 0..2 {
                    let pieces = if round == 0 { dice.pieces(&case.text) } else { vec![case.text.as_str()] };
                    let bytes = says(pieces.iter().copied(), case.finish());
                    let mut stream =
                        Stream::between(reader.clone(), Ids::default(), FromServer::chat(), client());
                    let mut out = Vec::new();
                    for piece in dice.bytes(bytes.as_bytes()) {
                        stream.push(piece, &mut out);
                    }
                    let got = of_stream(std::str::from_utf8(&out).unwrap());
                    assert_eq!(got, whole, "{api}: {name}: {pieces:?}");
                    count += 1;
                }
            }
        }
    }
    assert!(count > 1500, "only {count} streams were read");
}
