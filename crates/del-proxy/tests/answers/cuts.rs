//! However a server's stream is cut, the SDK of each API puts the same message together, by its own rules: as Python's
//! `openai` adds deltas up, and as `anthropic`, the Responses of `openai` and `ollama` read theirs.

use std::sync::Arc;

use del_dialects::Dialects;
use del_proxy::answer::{Reader, Stream, translate_between};
use del_wire::anthropic::from_server::Messages;
use del_wire::chat::to_client::Chat;
use del_wire::{FromServer, Ids, ToClient};
use serde_json::{Map, Value, json};

use crate::apis::{APIS, Api, Message};
use crate::cases::{Case, cases, tools};
use crate::client::{is_object, reader, says};

pub(crate) const CHAT: Api = ("chat", || Box::new(Chat::new(1, false)), chat_stream, chat_whole);

fn apis() -> impl Iterator<Item = Api> {
    std::iter::once(CHAT).chain(APIS)
}

/// Adds a delta up, member by member: texts grow, numbers add up, lists go by `index`; but `index` and `type` stay.
fn accumulate(all: &mut Map<String, Value>, delta: &Map<String, Value>) {
    for (name, more) in delta {
        match (all.get_mut(name), more) {
            (None | Some(Value::Null), _) => {
                all.insert(name.clone(), more.clone());
            }
            (_, Value::Null) => {}
            _ if matches!(name.as_str(), "index" | "type") => {
                all.insert(name.clone(), more.clone());
            }
            (Some(Value::String(text)), Value::String(more)) => text.push_str(more),
            (Some(Value::Object(inner)), Value::Object(more)) => accumulate(inner, more),
            (Some(Value::Array(list)), Value::Array(more)) => {
                for item in more {
                    let place = usize::try_from(item["index"].as_u64().unwrap()).unwrap();
                    match list.get_mut(place) {
                        Some(known) => accumulate(known.as_object_mut().unwrap(), item.as_object().unwrap()),
                        None => list.push(item.clone()),
                    }
                }
            }
            (known, more) => panic!("{name}: {known:?} and {more}"),
        }
    }
}

fn chat_stream(stream: &str) -> Message {
    let (mut message, mut finish) = (Map::new(), Value::Null);
    for event in stream.split_terminator("\n\n").filter(|event| !event.starts_with(':')) {
        let Ok(chunk) = serde_json::from_str::<Value>(event.strip_prefix("data: ").unwrap()) else {
            continue;
        };
        for choice in chunk["choices"].as_array().unwrap() {
            let mut delta = choice["delta"].as_object().unwrap().clone();
            // A list that is new is not gone through by the rules.
            if let Some(calls) = delta.remove("tool_calls") {
                let known = message.entry("tool_calls").or_insert_with(|| json!([])).take();
                let mut both = Map::from_iter([("tool_calls".to_owned(), known)]);
                accumulate(&mut both, &Map::from_iter([("tool_calls".to_owned(), calls)]));
                message.extend(both);
            }
            accumulate(&mut message, &delta);
            if !choice["finish_reason"].is_null() {
                finish = choice["finish_reason"].clone();
            }
        }
    }
    chat_whole(&json!({"choices": [{"message": message, "finish_reason": finish}]}))
}

fn chat_whole(completion: &Value) -> Message {
    let choice = &completion["choices"][0];
    let message = &choice["message"];
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let mut blocks: Vec<_> =
        ["role", "content", "reasoning_content"].map(|name| (name.to_owned(), text(&message[name]))).into();
    for call in message["tool_calls"].as_array().into_iter().flatten() {
        let function = &call["function"];
        // Nobody runs what is no object.
        if is_object(&text(&function["arguments"])) {
            let kind = format!("{} {}", text(&call["type"]), text(&function["name"]));
            blocks.push((kind, text(&function["arguments"])));
        }
    }
    (blocks, text(&choice["finish_reason"]))
}

fn streamed<'b>(
    reader: &Reader,
    server: FromServer,
    client: Box<dyn ToClient>,
    pieces: impl IntoIterator<Item = &'b [u8]>,
) -> String {
    let mut stream = Stream::between(reader.clone(), Ids::default(), server, client);
    let mut out = Vec::new();
    for piece in pieces {
        stream.push(piece, &mut out);
    }
    if !stream.is_over() {
        stream.end(None, &mut out);
    }
    String::from_utf8(out).unwrap()
}

/// What the client of each API has of an answer that comes at once.
fn at_once(reader: &Reader, text: &str, finish: &str) -> Vec<(Api, Message)> {
    let message = json!({"role": "assistant", "content": text});
    let choice = json!({"index": 0, "message": message, "finish_reason": finish});
    let body = json!({"id": "x", "object": "chat.completion", "choices": [choice]}).to_string();
    let read = |api: Api| {
        let (_, client, _, of_whole) = api;
        let answer =
            translate_between(reader, Ids::default(), &body, FromServer::default(), &mut *client()).unwrap();
        (api, of_whole(&serde_json::from_str(&answer.body).unwrap()))
    };
    apis().map(read).collect()
}

/// Where a text can be cut.
fn places(text: &str) -> impl Iterator<Item = usize> {
    text.char_indices().map(|(at, _)| at).skip(1)
}

fn every_cut(reader: &Reader, name: &str, case: &Case) -> usize {
    let all = at_once(reader, &case.text, case.finish());
    let mut count = 0;
    for at in places(&case.text) {
        let (begin, end) = case.text.split_at(at);
        let bytes = says([begin, end], case.finish());
        for ((api, client, of_stream, _), whole) in &all {
            let out = streamed(reader, FromServer::default(), client(), [bytes.as_bytes()]);
            assert_eq!(of_stream(&out), *whole, "{api}: {name} cut behind {begin:?}");
            count += 1;
        }
    }
    count
}

#[test]
fn every_dialect_gives_the_same_message_in_each_api_wherever_the_text_is_cut() {
    let tools = tools();
    let dialects: Vec<_> = Dialects::builtin().iter().collect();
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let of_some = |dialects: &[&Arc<del_dialects::Dialect>]| -> usize {
        dialects
            .iter()
            .map(|dialect| {
                let reader = Reader { dialect: Some(Arc::clone(dialect)), ..reader(&tools) };
                let canonical = cases(dialect).into_iter().filter(|(_, case)| case.canonical);
                let counts: Vec<usize> =
                    canonical.map(|(name, case)| every_cut(&reader, &name, &case)).collect();
                assert!(!counts.is_empty(), "{} has a canonical case", dialect.name());
                counts.iter().sum::<usize>()
            })
            .sum()
    };
    let count: usize = std::thread::scope(|scope| {
        let parts = dialects.chunks(dialects.len().div_ceil(threads));
        let at_work: Vec<_> = parts.map(|part| scope.spawn(|| of_some(part))).collect();
        at_work.into_iter().map(|thread| thread.join().unwrap()).sum()
    });
    assert!(count > 20_000, "only {count} streams were read");
}

const HERMES: &str = "Let me look.\n<tool_call>\n{\"name\": \"get_weather\", \"arguments\": {\"city\": \"Zürich\"}}\n</tool_call>";

/// The same answer as a stream of each server's API, in pieces of some characters.
fn of_servers() -> [(fn() -> FromServer, String); 3] {
    let letters: Vec<char> = HERMES.chars().collect();
    let pieces: Vec<String> = letters.chunks(5).map(|piece| piece.iter().collect()).collect();
    let named = |event: Value| format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap());
    let mut anthropic = named(
        json!({"type": "message_start", "message": {"id": "x", "model": "m", "content": [], "usage": {}}}),
    );
    anthropic += &named(
        json!({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}),
    );
    for piece in &pieces {
        let delta = json!({"type": "text_delta", "text": piece});
        anthropic += &named(json!({"type": "content_block_delta", "index": 0, "delta": delta}));
    }
    anthropic += &named(json!({"type": "content_block_stop", "index": 0}));
    anthropic += &named(
        json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 3}}),
    );
    anthropic += &named(json!({"type": "message_stop"}));
    let line = |content: &str, done: bool| {
        let mut line =
            json!({"model": "m", "message": {"role": "assistant", "content": content}, "done": done});
        if done {
            line["done_reason"] = json!("stop");
        }
        format!("{line}\n")
    };
    let mut ollama: String = pieces.iter().map(|piece| line(piece, false)).collect();
    ollama += &line("", true);
    [
        (|| FromServer::default(), says(pieces.iter().map(String::as_str), "stop")),
        (|| FromServer::Anthropic(Messages::default()), anthropic),
        (|| FromServer::Ollama, ollama),
    ]
}

#[test]
fn each_servers_stream_gives_the_same_message_wherever_its_bytes_are_cut() {
    let dialect = Dialects::builtin().get("hermes-json").cloned();
    let reader = Reader { dialect, ..reader(&tools()) };
    let all = at_once(&reader, HERMES, "stop");
    for (server, bytes) in of_servers() {
        for at in 1..bytes.len() {
            let (begin, end) = bytes.as_bytes().split_at(at);
            for ((api, client, of_stream, _), whole) in &all {
                let out = streamed(&reader, server(), client(), [begin, end]);
                assert_eq!(of_stream(&out), *whole, "{:?} to {api}, cut at {at}", server());
            }
        }
    }
}
