//! Answers of servers whose messages are in parts: texts and thoughts with something between them stay apart, for clients
//! whose messages have one text too.

use del_proxy::answer::{Stream, translate_between};
use del_wire::anthropic::from_server as anthropic;
use del_wire::responses::from_server as responses;
use del_wire::{FromServer, Ids};
use serde_json::{Value, json};

use crate::apis::{APIS, Message};
use crate::client::{Assembled, reader, stream_between, whole_between};
use crate::cuts::CHAT;

/// What an answer is made of.
const PARTS: [(&str, &str); 9] = [
    ("thought", "Hm."),
    ("text", "One."),
    ("call", "{\"a\":1}"),
    ("thought", "Later."),
    ("text", "Two."),
    ("text", "<tool_call>\n{\"name\": \"f\", \"arguments\": {\"a\":2}}\n</tool_call>"),
    ("text", "Three, <"),
    ("call", "{\"a\":3}"),
    ("text", "Four."),
];

fn in_stream(events: &[Value]) -> String {
    let events: Vec<String> = events.iter().map(|event| format!("data: {event}\n\n")).collect();
    events.concat()
}

fn of_responses(streamed: bool) -> String {
    let item = |place: usize, (kind, said): (&str, &str)| {
        let mut item = match kind {
            "thought" => json!({"type": "reasoning", "summary": [{"type": "summary_text", "text": said}]}),
            "call" => {
                json!({"type": "function_call", "call_id": format!("c{place}"), "name": "f", "arguments": said})
            }
            _ => {
                json!({"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": said}]})
            }
        };
        item["id"] = json!(format!("i{place}"));
        item
    };
    let output: Vec<Value> = PARTS.into_iter().enumerate().map(|(place, part)| item(place, part)).collect();
    let response = json!({"id": "r", "status": "completed", "model": "m", "output": output});
    if !streamed {
        return response.to_string();
    }
    let mut events = Vec::new();
    for (place, (kind, said)) in PARTS.into_iter().enumerate() {
        let mut add = |name: &str, more: Value| {
            let mut event = json!({"type": format!("response.{name}"), "output_index": place});
            more.as_object().unwrap().iter().for_each(|(name, value)| event[name] = value.clone());
            events.push(event);
        };
        let mut begun = output[place].clone();
        for name in ["summary", "content"] {
            if begun[name].is_array() {
                begun[name] = json!([]);
            }
        }
        add("output_item.added", json!({"item": begun}));
        let name = match kind {
            "thought" => {
                add("reasoning_summary_part.added", json!({"summary_index": 0}));
                "reasoning_summary_text.delta"
            }
            "text" => {
                add("content_part.added", json!({"part": {"type": "output_text", "text": ""}}));
                "output_text.delta"
            }
            _ => "function_call_arguments.delta",
        };
        for sign in said.chars() {
            add(name, json!({"delta": sign}));
        }
        add("output_item.done", json!({"item": output[place]}));
    }
    events.push(json!({"type": "response.completed", "response": response}));
    in_stream(&events)
}

fn of_anthropic(streamed: bool) -> String {
    // Texts that follow each other are one there, in blocks with sources of their own.
    let parts = PARTS.into_iter().filter(|(_, said)| !said.starts_with('<'));
    let parts = parts.enumerate().map(|(place, (kind, said))| match kind {
        "thought" => json!({"type": "thinking", "thinking": said, "signature": format!("s{place}")}),
        "call" => {
            let input: Value = serde_json::from_str(said).unwrap();
            json!({"type": "tool_use", "id": format!("c{place}"), "name": "f", "input": input})
        }
        _ => json!({"type": "text", "text": said}),
    });
    let content: Vec<Value> = parts.collect();
    let mut message =
        json!({"id": "x", "type": "message", "model": "m", "content": content, "stop_reason": "tool_use"});
    if !streamed {
        return message.to_string();
    }
    message["content"] = json!([]);
    let mut events = vec![json!({"type": "message_start", "message": message})];
    for (place, block) in content.iter().enumerate() {
        let mut begun = block.clone();
        let (name, kind) = match block["type"].as_str().unwrap() {
            "thinking" => ("thinking", "thinking_delta"),
            "tool_use" => ("input", "input_json_delta"),
            _ => ("text", "text_delta"),
        };
        begun[name] = if name == "input" { json!({}) } else { json!("") };
        let mut add = |event: &str, name: &str, value: Value| {
            events.push(json!({"type": event, "index": place, name: value}));
        };
        add("content_block_start", "content_block", begun);
        let said = block[name].as_str().map_or_else(|| block[name].to_string(), str::to_owned);
        let member = if name == "input" { "partial_json" } else { name };
        for sign in said.chars() {
            add("content_block_delta", "delta", json!({"type": kind, member: sign}));
        }
        if name == "thinking" {
            let seal = json!({"type": "signature_delta", "signature": block["signature"]});
            add("content_block_delta", "delta", seal);
        }
        events.push(json!({"type": "content_block_stop", "index": place}));
    }
    events.push(json!({"type": "message_delta", "delta": {"stop_reason": "tool_use"}}));
    events.push(json!({"type": "message_stop"}));
    in_stream(&events)
}

type Server = (fn() -> FromServer, fn(bool) -> String, &'static str, &'static [&'static str]);

/// Of each server, what clients with one text have of it, and the texts and thoughts of the others.
const SERVERS: [Server; 2] = [
    (
        || FromServer::Responses(responses::Responses::default()),
        of_responses,
        "One.\n\nTwo.\n\nThree, <\n\nFour.",
        &["Hm.", "One.", "Later.", "Two.\n\nThree, <", "Four."],
    ),
    (
        || FromServer::Anthropic(anthropic::Messages::default()),
        of_anthropic,
        "One.\n\nTwo.Three, <\n\nFour.",
        &["Hm.", "One.", "Later.", "Two.Three, <", "Four."],
    ),
];

#[test]
fn what_stands_in_parts_of_its_own_is_apart_for_every_client() {
    for (server, said, text, apart) in SERVERS {
        let whole = whole_between(&reader(&[]), server(), &said(false));
        let streamed = said(true);
        assert_eq!((whole.content.as_str(), whole.reasoning.as_str()), (text, "Hm.\n\nLater."));
        for size in [1, 50, streamed.len()] {
            let pieces = streamed.as_bytes().chunks(size);
            let Assembled { content, reasoning, calls, .. } = stream_between(&reader(&[]), server(), pieces);
            assert_eq!((content, reasoning), (whole.content.clone(), whole.reasoning.clone()));
            assert_eq!(calls.len(), whole.calls.len());
        }
        for (api, client, of_stream, of_whole) in APIS {
            let body =
                translate_between(&reader(&[]), Ids::default(), &said(false), server(), &mut *client());
            let body = of_whole(&serde_json::from_str(&body.unwrap().body).unwrap());
            for size in [1, 50, streamed.len()] {
                let mut stream = Stream::between(reader(&[]), Ids::default(), server(), client());
                let mut out = Vec::new();
                streamed.as_bytes().chunks(size).for_each(|piece| stream.push(piece, &mut out));
                stream.end(None, &mut out);
                assert_eq!(of_stream(std::str::from_utf8(&out).unwrap()), body, "{api}");
            }
            let calls = |kind: &str| kind == "f" || kind.starts_with("call") || kind.starts_with("tool_use");
            let (blocks, _): Message = body;
            let texts = blocks.iter().filter(|(kind, said)| !calls(kind) && !said.is_empty());
            let texts: Vec<&str> = texts.map(|(_, said)| said.as_str()).collect();
            if api == "ollama" {
                assert_eq!(texts, [text, "Hm.\n\nLater."]);
            } else {
                assert_eq!(texts, apart, "{api}");
            }
        }
    }
}

/// Right behind each other, they are paragraphs of one text where that is how a client has it.
#[test]
fn messages_right_behind_each_other_are_paragraphs() {
    let message = |text: &str| json!({"type": "message", "content": [{"type": "output_text", "text": text}]});
    let body = json!({"status": "completed", "output": [message("One."), message(""), message("Two.")]});
    for (api, client, _, of_whole) in APIS {
        let server = FromServer::Responses(responses::Responses::default());
        let told = translate_between(&reader(&[]), Ids::default(), &body.to_string(), server, &mut *client());
        let (blocks, _) = of_whole(&serde_json::from_str(&told.unwrap().body).unwrap());
        assert_eq!(blocks[0].1, "One.\n\nTwo.", "{api}");
    }
}

/// What a server's own tools did has no place in another API.
#[test]
fn what_is_left_out_of_an_answer_is_named() {
    let text = "Found.";
    let block = json!({"type": "mcp_tool_use", "id": "t", "name": "f", "input": {}});
    let anthropic_whole = json!({"type": "message", "content": [block, {"type": "text", "text": text}], "stop_reason": "end_turn"});
    let item = json!({"type": "web_search_call", "id": "w", "status": "completed"});
    let message = json!({"type": "message", "content": [{"type": "output_text", "text": text}]});
    let responses_whole = json!({"status": "completed", "output": [item, message]});
    let of_anthropic = [
        json!({"type": "message_start", "message": {"id": "x"}}),
        json!({"type": "content_block_start", "index": 0, "content_block": block}),
        json!({"type": "content_block_delta", "index": 0, "delta": {"type": "input_json_delta", "partial_json": "{\"a\": 1}"}}),
        json!({"type": "content_block_stop", "index": 0}),
        json!({"type": "content_block_start", "index": 1, "content_block": {"type": "text", "text": text}}),
        json!({"type": "content_block_stop", "index": 1}),
        json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"}}),
        json!({"type": "message_stop"}),
    ];
    let of_responses = [
        json!({"type": "response.output_item.added", "output_index": 0, "item": item}),
        json!({"type": "response.output_item.done", "output_index": 0, "item": item}),
        json!({"type": "response.output_item.done", "output_index": 1, "item": message}),
        json!({"type": "response.completed", "response": responses_whole}),
    ];
    let said = [
        (responses_whole, &of_responses[..], "web_search_call"),
        (anthropic_whole, &of_anthropic, "mcp_tool_use"),
    ];
    for ((server, ..), (whole, events, kind)) in SERVERS.into_iter().zip(said) {
        for (api, client, _, _) in APIS {
            let answer =
                translate_between(&reader(&[]), Ids::default(), &whole.to_string(), server(), &mut *client());
            assert_eq!(Vec::from_iter(answer.unwrap().left_out), [kind], "{api}");
            let mut stream = Stream::between(reader(&[]), Ids::default(), server(), client());
            let mut out = Vec::new();
            stream.push(in_stream(events).as_bytes(), &mut out);
            stream.end(None, &mut out);
            let out = String::from_utf8(out).unwrap();
            let told = out.matches(&format!(": x-del-dropped-content: {kind}\n")).count();
            // Streams of Ollama's API have no comments.
            assert_eq!((told, out.contains(text)), (usize::from(api != "ollama"), true), "{out}");
            assert!(!out.contains("max_tokens") && !out.contains("incomplete\"") && !out.contains("length"));
        }
    }
}

/// What a model makes beside text stays in a chat, and is named where the client's API has no place for it.
#[test]
fn pictures_and_sounds_of_a_chat_are_named_where_they_are_left_out() {
    let picture = json!({"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}});
    let sound = json!({"id": "a", "data": "AA==", "transcript": "Done."});
    let leaked = json!("<tool_call>\n{\"name\": \"f\", \"arguments\": {}}\n</tool_call>");
    let parts = json!([{"type": "text", "text": "Done."}, picture]);
    for (content, more, kind) in [
        (json!("Done."), json!({"images": [picture]}), "images"),
        (leaked.clone(), json!({"images": [picture]}), "images"),
        (json!("Done."), json!({"audio": sound}), "audio"),
        (leaked, json!({"audio": sound}), "audio"),
        (parts, json!({}), "image_url"),
    ] {
        let mut message = json!({"role": "assistant", "content": content});
        more.as_object().unwrap().iter().for_each(|(name, value)| message[name] = value.clone());
        let choice = |name: &str, reason: &str| json!([{"index": 0, name: message, "finish_reason": reason}]);
        let whole = json!({"choices": choice("message", "stop")}).to_string();
        let chunk = json!({"choices": choice("delta", "stop")});
        let chat = (kind != "image_url").then_some(CHAT);
        for (api, client, _, _) in APIS.into_iter().chain(chat) {
            let stays = api == "chat";
            let (server, ids) = (FromServer::chat(), Ids::default());
            let answer = translate_between(&reader(&[]), ids, &whole, server, &mut *client()).unwrap();
            assert_eq!(answer.left_out.contains(kind), !stays, "{api} {kind}");
            assert_eq!(answer.body.contains("AA=="), stays, "{api} {kind}");
            let mut stream = Stream::between(reader(&[]), Ids::default(), FromServer::chat(), client());
            let mut out = Vec::new();
            stream.push(in_stream(std::slice::from_ref(&chunk)).as_bytes(), &mut out);
            stream.end(None, &mut out);
            let out = String::from_utf8(out).unwrap();
            let told = out.contains(&format!(": x-del-dropped-content: {kind}\n"));
            assert_eq!((told, out.contains("AA==")), (!stays && api != "ollama", stays), "{out}");
        }
    }
}
