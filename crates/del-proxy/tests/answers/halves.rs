//! Signs that a server cuts in two: half of a surrogate pair at the end of an event, and half at the beginning of the next.

use del_proxy::answer::Stream;
use del_wire::chat::to_client::Chat;
use del_wire::{FromServer, Ids, ToClient};
use serde_json::{Value, json};

use crate::apis::APIS;
use crate::client::reader;

/// A thought, a text and the arguments of a call as events of a server, each in two pieces.
type Said = fn([&str; 2], [&str; 2], [&str; 2]) -> Vec<Value>;

const SERVERS: [(fn() -> FromServer, Said); 4] = [
    (FromServer::chat, chat),
    (|| FromServer::Responses(Default::default()), responses),
    (|| FromServer::Anthropic(Default::default()), anthropic),
    (|| FromServer::Ollama, ollama),
];

fn chat(thought: [&str; 2], text: [&str; 2], arguments: [&str; 2]) -> Vec<Value> {
    let call = json!({"tool_calls": [{"index": 0, "id": "c", "function": {"name": "f", "arguments": ""}}]});
    let deltas = thought.map(|more| json!({"reasoning_content": more})).into_iter();
    let deltas = deltas.chain(text.map(|more| json!({"content": more}))).chain([call]);
    let more = |more| json!({"tool_calls": [{"function": {"arguments": more}, "index": 0}]});
    let deltas = deltas.chain(arguments.map(more)).map(|delta| (delta, Value::Null));
    let deltas = deltas.chain([(json!({}), json!("tool_calls"))]);
    let chunk = |(delta, reason)| json!({"choices": [{"index": 0, "delta": delta, "finish_reason": reason}]});
    deltas.map(chunk).collect()
}

fn responses(thought: [&str; 2], text: [&str; 2], arguments: [&str; 2]) -> Vec<Value> {
    let delta = |kind: &str, place: u8, more: &str| json!({"type": format!("response.{kind}.delta"), "delta": more, "output_index": place});
    let call = json!({"type": "function_call", "call_id": "c", "name": "f", "arguments": ""});
    let call = json!({"type": "response.output_item.added", "output_index": 2, "item": call});
    let events = thought.map(|more| delta("reasoning_text", 0, more)).into_iter();
    let events = events.chain(text.map(|more| delta("output_text", 1, more))).chain([call]);
    let events = events.chain(arguments.map(|more| delta("function_call_arguments", 2, more)));
    let end = json!({"type": "response.completed", "response": {"status": "completed", "output": []}});
    events.chain([end]).collect()
}

fn anthropic(thought: [&str; 2], text: [&str; 2], arguments: [&str; 2]) -> Vec<Value> {
    let start = |index: u8, block: Value| json!({"type": "content_block_start", "index": index, "content_block": block});
    let delta = |index: u8, kind: &str, name: &str, more: &str| json!({"type": "content_block_delta", "delta": {name: more, "type": kind}, "index": index});
    let mut events = vec![json!({"type": "message_start", "message": {"id": "m", "model": "c"}})];
    events.push(start(0, json!({"type": "thinking", "thinking": ""})));
    events.extend(thought.map(|more| delta(0, "thinking_delta", "thinking", more)));
    events.push(start(1, json!({"type": "text", "text": ""})));
    events.extend(text.map(|more| delta(1, "text_delta", "text", more)));
    events.push(start(2, json!({"type": "tool_use", "id": "c", "name": "f", "input": {}})));
    events.extend(arguments.map(|more| delta(2, "input_json_delta", "partial_json", more)));
    events.push(json!({"type": "message_delta", "delta": {"stop_reason": "tool_use"}}));
    events.push(json!({"type": "message_stop"}));
    events
}

fn ollama(thought: [&str; 2], text: [&str; 2], arguments: [&str; 2]) -> Vec<Value> {
    let arguments: Value = serde_json::from_str(&arguments.concat()).unwrap();
    let call = json!({"tool_calls": [{"function": {"name": "f", "arguments": arguments}}], "content": ""});
    let messages = thought.map(|more| json!({"thinking": more, "content": ""})).into_iter();
    let messages = messages.chain(text.map(|more| json!({"content": more}))).chain([call]);
    let lines = messages.map(|message| json!({"message": message, "done": false}));
    lines.chain([json!({"message": {"content": ""}, "done": true, "done_reason": "stop"})]).collect()
}

/// What a client gets of these events, in which two signs stand for the two halves of another.
fn told(server: FromServer, client: Box<dyn ToClient>, events: &[Value]) -> String {
    let mut stream = Stream::between(reader(&[]), Ids::default(), server, client);
    let mut out = Vec::new();
    for event in events {
        let event = event.to_string().replace('◐', "\\ud83d").replace('◑', "\\ude00");
        stream.push(format!("data: {event}\n\n").as_bytes(), &mut out);
    }
    stream.end(None, &mut out);
    String::from_utf8(out).unwrap()
}

#[test]
fn a_sign_in_two_events_is_one_between_all_apis() {
    let whole = [["a◐◑b", "c"], ["W◐◑ell", " then"], ["{\"a\":\"◐◑", "x\"}"]];
    let cut = [["a◐", "◑bc"], ["W◐", "◑ell then"], ["{\"a\":\"◐", "◑x\"}"]];
    for (server, events) in SERVERS {
        let [whole, cut] = [whole, cut].map(|[thought, text, arguments]| events(thought, text, arguments));
        for (name, client, of_stream, _) in APIS {
            let message = of_stream(&told(server(), client(), &cut));
            assert_eq!(message, of_stream(&told(server(), client(), &whole)), "{name}");
            let mut said: Vec<&str> = message.0.iter().map(|(_, said)| said.as_str()).collect();
            said.sort_unstable();
            assert_eq!(said, ["W😀ell then", "a😀bc", "{\"a\":\"😀x\"}"], "{name}");
        }
        let chat = || Box::new(Chat::new(0, false));
        let [whole, cut] = [whole, cut].map(|events| {
            let received = crate::client::Received::read(told(server(), chat(), &events).as_bytes());
            received.choices[&0].clone()
        });
        assert_eq!(cut, whole);
        assert_eq!((cut.reasoning.as_str(), cut.content.as_str()), ("a😀bc", "W😀ell then"));
        assert_eq!(cut.calls[0].2, "{\"a\":\"😀x\"}");
    }
}

#[test]
fn half_a_sign_that_nothing_follows_is_one_sign_that_nobody_knows() {
    let events = chat(["a◐", "b"], ["◑Well◐", ".◐c"], ["{\"a\":\"◐", "\"}"]);
    let told = told(FromServer::chat(), Box::new(Chat::new(0, false)), &events);
    let received = crate::client::Received::read(told.as_bytes()).choices[&0].clone();
    assert_eq!(
        (received.reasoning.as_str(), received.content.as_str()),
        ("a\u{fffd}b", "\u{fffd}Well\u{fffd}.\u{fffd}c")
    );
    assert_eq!(received.calls[0].2, "{\"a\":\"\u{fffd}\"}");
}
