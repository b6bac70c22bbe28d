//! Members that are `null`, or an empty text: servers write so what they have nothing for. Nothing else of an answer is lost
//! by it.

use del_proxy::answer::{Stream, translate_between};
use del_wire::anthropic::from_server::Messages;
use del_wire::chat::to_client::Chat;
use del_wire::responses::from_server::Responses;
use del_wire::{FromServer, Ids, ToClient};
use serde_json::{Value, json};

use crate::apis::APIS;
use crate::client::reader;

type Server = (&'static str, fn() -> FromServer);

const SERVERS: [Server; 4] = [
    ("chat", FromServer::chat),
    ("responses", || FromServer::Responses(Responses::default())),
    ("anthropic", || FromServer::Anthropic(Messages::default())),
    ("ollama", || FromServer::Ollama),
];

/// What is said, and where a call goes.
const SAID: [&str; 3] = ["Hm.", "Well.", "Rome"];

fn whole(server: &str) -> Value {
    let arguments = json!({"city": "Rome"});
    let written = arguments.to_string();
    match server {
        "chat" => {
            json!({"id": "x", "object": "chat.completion", "created": 1, "model": "m", "choices": [{"index": 0,
            "message": {"role": "assistant", "content": "Well.", "refusal": "", "reasoning_content": "Hm.", "annotations": [],
                "audio": {}, "function_call": null, "tool_calls": [{"id": "c", "type": "function", "index": 0,
                    "function": {"name": "f", "arguments": written}}]},
            "logprobs": {"content": [], "refusal": []}, "finish_reason": "tool_calls", "stop_reason": 1, "matched_stop": 2}],
            "usage": usage(), "service_tier": "", "system_fingerprint": "", "prompt_logprobs": {}})
        }
        "responses" => {
            json!({"id": "x", "object": "response", "status": "completed", "error": null, "model": "m",
            "incomplete_details": null, "output": [
                {"type": "reasoning", "id": "r", "summary": [{"type": "summary_text", "text": "Hm."}], "content": [],
                    "encrypted_content": "", "status": "completed"},
                {"type": "message", "id": "i", "role": "assistant", "status": "completed", "content": [{"type": "output_text",
                    "text": "Well.", "annotations": [], "logprobs": []}]},
                {"type": "function_call", "id": "o", "call_id": "c", "name": "f", "arguments": written, "status": "completed"}],
            "usage": {"input_tokens": 1, "output_tokens": 2, "input_tokens_details": {"cached_tokens": 0},
                "output_tokens_details": {"reasoning_tokens": 0}}})
        }
        "anthropic" => json!({"id": "x", "type": "message", "role": "assistant", "model": "m", "content": [
                {"type": "thinking", "thinking": "Hm.", "signature": "s"}, {"type": "text", "text": "Well.", "citations": []},
                {"type": "tool_use", "id": "c", "name": "f", "input": arguments}],
            "stop_reason": "tool_use", "stop_sequence": "", "stop_details": {}, "container": {},
            "usage": {"input_tokens": 1, "output_tokens": 2, "cache_read_input_tokens": 0, "cache_creation_input_tokens": 0}}),
        _ => {
            json!({"model": "m", "created_at": "now", "message": {"role": "assistant", "content": "Well.", "thinking": "Hm.",
                "images": [], "tool_name": "", "tool_calls": [{"id": "c", "function": {"index": 0, "name": "f",
                    "arguments": arguments}}]},
            "logprobs": [], "done": true, "done_reason": "stop", "total_duration": 1, "prompt_eval_count": 1, "eval_count": 2})
        }
    }
}

fn usage() -> Value {
    json!({"prompt_tokens": 1, "completion_tokens": 2, "total_tokens": 3, "prompt_tokens_details": {"cached_tokens": 0},
        "completion_tokens_details": {"reasoning_tokens": 0}})
}

/// The same in events; the text of the last one of chats is `[DONE]`.
fn events(server: &str) -> Vec<Value> {
    let written = json!({"city": "Rome"}).to_string();
    match server {
        "chat" => {
            let chunk = |delta: Value, finish: Value| {
                json!({"id": "x", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [{"index": 0,
                    "delta": delta, "logprobs": {"content": []}, "finish_reason": finish, "stop_reason": 1}], "usage": usage()})
            };
            let piece = json!({"index": 0, "id": "c", "type": "function", "function": {"name": "f", "arguments": written}});
            vec![
                chunk(
                    json!({"role": "assistant", "content": "", "refusal": "", "tool_calls": []}),
                    Value::Null,
                ),
                chunk(json!({"reasoning_content": "Hm.", "content": ""}), Value::Null),
                chunk(json!({"content": "Well.", "reasoning_content": ""}), Value::Null),
                chunk(json!({"content": "", "tool_calls": [piece], "function_call": null}), Value::Null),
                chunk(json!({"content": ""}), json!("tool_calls")),
                json!({"id": "x", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [], "usage": usage()}),
            ]
        }
        "responses" => {
            let response = whole(server);
            let done = |place: usize| {
                json!({"type": "response.output_item.done", "sequence_number": 1, "output_index": place,
                    "item": response["output"][place]})
            };
            vec![
                json!({"type": "response.created", "sequence_number": 0, "response": {"id": "x", "model": "m", "usage": null}}),
                done(0),
                json!({"type": "response.output_item.added", "output_index": 1, "item": {"type": "message", "content": []}}),
                json!({"type": "response.output_text.delta", "output_index": 1, "delta": "Well.", "logprobs": []}),
                done(2),
                json!({"type": "response.completed", "response": {"id": "x", "status": "completed", "output": [],
                    "incomplete_details": {}, "usage": response["usage"]}}),
            ]
        }
        "anthropic" => {
            let start = |place: usize, block: Value| json!({"type": "content_block_start", "index": place, "content_block": block});
            let delta = |place: usize, delta: Value| json!({"type": "content_block_delta", "index": place, "delta": delta});
            let stop = |place: usize| json!({"type": "content_block_stop", "index": place});
            vec![
                json!({"type": "message_start", "message": {"id": "x", "type": "message", "role": "assistant", "model": "m",
                    "content": [], "stop_reason": null, "usage": {"input_tokens": 1, "output_tokens": 1}}}),
                start(0, json!({"type": "thinking", "thinking": "", "signature": ""})),
                delta(0, json!({"type": "thinking_delta", "thinking": "Hm."})),
                delta(0, json!({"type": "signature_delta", "signature": "s"})),
                stop(0),
                start(1, json!({"type": "text", "text": ""})),
                delta(1, json!({"type": "text_delta", "text": "Well."})),
                stop(1),
                start(2, json!({"type": "tool_use", "id": "c", "name": "f", "input": {}})),
                delta(2, json!({"type": "input_json_delta", "partial_json": written})),
                stop(2),
                json!({"type": "message_delta", "delta": {"stop_reason": "tool_use", "stop_sequence": ""},
                    "usage": {"output_tokens": 2}}),
                json!({"type": "message_stop"}),
            ]
        }
        _ => {
            let (mut said, mut over) = (whole(server), whole(server));
            said["done"] = json!(false);
            over["message"] = json!({"role": "assistant", "content": ""});
            vec![said, over]
        }
    }
}

/// The places of all members, in objects inside of lists as well.
fn places(value: &Value, at: &str, into: &mut Vec<String>) {
    let members: Vec<(String, &Value)> = match value {
        Value::Object(members) => members.iter().map(|(name, member)| (name.clone(), member)).collect(),
        Value::Array(list) => {
            list.iter().enumerate().map(|(place, item)| (place.to_string(), item)).collect()
        }
        _ => Vec::new(),
    };
    for (name, member) in members {
        let at = format!("{at}/{name}");
        places(member, &at, into);
        if value.is_object() {
            into.push(at);
        }
    }
}

/// Answers with one member that is nothing, and which it is. What says of what kind something is, and what belongs together,
/// has to be there.
fn with_nothing(answer: &Value) -> Vec<(String, Value)> {
    let mut all = Vec::new();
    places(answer, "", &mut all);
    let needed = ["/type", "/id", "/call_id", "/index", "/done", "/content_block"];
    let with = |at: &str, nothing: Value| {
        let mut answer = answer.clone();
        *answer.pointer_mut(at).unwrap() = nothing;
        (at.to_owned(), answer)
    };
    let variants = |at: String| {
        let is_text = answer.pointer(&at).unwrap().is_string() || at.ends_with("_reason");
        let empty = is_text.then(|| with(&at, json!("")));
        [Some(with(&at, Value::Null)), empty].into_iter().flatten().collect::<Vec<_>>()
    };
    all.into_iter().filter(|at| !needed.iter().any(|end| at.ends_with(end))).flat_map(variants).collect()
}

fn clients() -> impl Iterator<Item = (&'static str, Box<dyn ToClient>)> {
    let chat: Box<dyn ToClient> = Box::new(Chat::new(1, false));
    APIS.into_iter().map(|(name, client, ..)| (name, client())).chain([("chat", chat)])
}

/// What of such an answer has to reach the client. A call needs its name.
fn left(answer: &Value, at: &str) -> Vec<&'static str> {
    let json = answer.to_string();
    let here = |said: &&&str| json.contains(**said) && (**said != "Rome" || !at.ends_with("/name"));
    SAID.iter().filter(here).copied().collect()
}

#[test]
fn nothing_in_an_answer_that_comes_at_once_takes_nothing_else_along() {
    let mut lost = Vec::new();
    for (server, reads) in SERVERS {
        for (at, answer) in with_nothing(&whole(server)) {
            for (api, mut client) in clients() {
                let json = answer.to_string();
                match translate_between(&reader(&[]), Ids::default(), &json, reads(), &mut *client) {
                    Ok(told) => lost.extend(
                        left(&answer, &at)
                            .into_iter()
                            .filter(|said| !told.body.contains(said))
                            .map(|said| format!("{server} to {api}: {at}: {said}")),
                    ),
                    Err(error) => lost.push(format!("{server} to {api}: {at}: {error}")),
                }
            }
        }
    }
    assert!(lost.is_empty(), "{lost:#?}");
}

#[test]
fn nothing_in_a_stream_takes_nothing_else_along() {
    let mut lost = Vec::new();
    for (server, reads) in SERVERS {
        let events = events(server);
        for place in 0..events.len() {
            for (at, event) in with_nothing(&events[place]) {
                let mut sent = events.clone();
                sent[place] = event;
                for (api, client) in clients() {
                    let mut stream = Stream::between(reader(&[]), Ids::default(), reads(), client);
                    let mut out = Vec::new();
                    for event in &sent {
                        let begin = if server == "ollama" { "" } else { "data: " };
                        stream.push(format!("{begin}{event}\n\n").as_bytes(), &mut out);
                    }
                    if server == "chat" {
                        stream.push(b"data: [DONE]\n\n", &mut out);
                    }
                    stream.end(None, &mut out);
                    let told = String::from_utf8(out).unwrap();
                    if !stream.is_whole() {
                        lost.push(format!("{server} to {api}: {place}{at}: {told}"));
                    }
                    let missing = left(&json!(sent), &at).into_iter().filter(|said| !told.contains(said));
                    lost.extend(missing.map(|said| format!("{server} to {api}: {place}{at}: {said}")));
                }
            }
        }
    }
    assert!(lost.is_empty(), "{lost:#?}");
}
