//! Where a text has something from: clients are told in the words of their API, streamed or not, as far as that has any.

use del_proxy::answer::{Stream, translate_between};
use del_wire::anthropic::from_server as anthropic;
use del_wire::anthropic::to_client::Messages;
use del_wire::chat::to_client::Chat;
use del_wire::ollama::to_client::Ollama;
use del_wire::responses::from_server as responses;
use del_wire::responses::{Echo, to_client::Responses};
use del_wire::{FromServer, Ids, ToClient};
use serde_json::{Value, json};

use crate::client::reader;

/// Characters of the text that are cited: those of `cited`.
const TEXT: &str = "Dé jà: cited. Then.";
const SPAN: [u64; 2] = [7, 13];
const SERVERS: [&str; 3] = ["chat", "responses", "anthropic"];
const CLIENTS: [&str; 4] = ["chat", "responses", "anthropic", "ollama"];

fn from(server: &str) -> FromServer {
    match server {
        "chat" => FromServer::chat(),
        "responses" => FromServer::Responses(responses::Responses::default()),
        _ => FromServer::Anthropic(anthropic::Messages::default()),
    }
}

fn to(client: &str) -> Box<dyn ToClient> {
    match client {
        "chat" => Box::new(Chat::new(1, false)),
        "responses" => Box::new(Responses::new("resp_1", 1, Echo::default())),
        "anthropic" => Box::new(Messages::new("msg_1", "m")),
        _ => Box::new(Ollama::new("m", "now", false)),
    }
}

/// A citation of an address, and one that only this API has.
fn cited(server: &str) -> [Value; 2] {
    let [start, end] = SPAN;
    match server {
        "chat" => [
            json!({"type": "url_citation", "url_citation": {"start_index": start, "end_index": end, "url": "https://a", "title": "A", "content": "own"}}),
            json!({"type": "own_citation", "own": 1}),
        ],
        "responses" => [
            json!({"type": "url_citation", "start_index": start, "end_index": end, "url": "https://a", "title": "A"}),
            json!({"type": "file_citation", "file_id": "f", "filename": "n", "index": 3}),
        ],
        _ => [
            json!({"type": "web_search_result_location", "url": "https://a", "title": "A", "cited_text": "quote", "encrypted_index": "x"}),
            json!({"type": "char_location", "cited_text": "q", "document_index": 0, "document_title": null, "start_char_index": 1, "end_char_index": 2}),
        ],
    }
}

fn whole(server: &str) -> Value {
    let cited = cited(server);
    match server {
        "chat" => {
            json!({"id": "x", "object": "chat.completion", "created": 1, "model": "m", "choices": [{"index": 0,
            "message": {"role": "assistant", "content": TEXT, "annotations": cited}, "finish_reason": "stop"}]})
        }
        "responses" => {
            json!({"id": "x", "object": "response", "status": "completed", "model": "m", "output": [
            {"type": "message", "id": "i", "role": "assistant", "content": [{"type": "output_text", "text": TEXT, "annotations": cited}]}]})
        }
        _ => {
            json!({"id": "x", "type": "message", "role": "assistant", "model": "m", "stop_reason": "end_turn", "content": [
            {"type": "text", "text": "Dé jà: "}, {"type": "text", "text": "cited.", "citations": cited},
            {"type": "text", "text": " Then."}]})
        }
    }
}

fn events(server: &str) -> Vec<Value> {
    let citations = cited(server);
    match server {
        "chat" => {
            let chunk = |delta: Value, finish: Value| {
                json!({"id": "x", "object": "chat.completion.chunk", "created": 1, "model": "m",
                "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]})
            };
            vec![
                chunk(json!({"role": "assistant", "content": "Dé jà: "}), Value::Null),
                chunk(json!({"content": "cited.", "annotations": citations}), Value::Null),
                chunk(json!({"content": " Then."}), Value::Null),
                chunk(json!({}), json!("stop")),
            ]
        }
        "responses" => {
            let event = |name: &str, more: Value| {
                let mut event = json!({"type": format!("response.{name}"), "output_index": 0});
                more.as_object().unwrap().iter().for_each(|(name, value)| event[name] = value.clone());
                event
            };
            let item = whole(server)["output"][0].clone();
            let added = |place: usize| {
                event(
                    "output_text.annotation.added",
                    json!({"annotation_index": place, "annotation": citations[place]}),
                )
            };
            vec![
                event("output_item.added", json!({"item": {"type": "message", "id": "i", "content": []}})),
                event("content_part.added", json!({"part": {"type": "output_text", "text": ""}})),
                event("output_text.delta", json!({"delta": "Dé jà: cited."})),
                added(0),
                added(1),
                event("output_text.delta", json!({"delta": " Then."})),
                event("output_item.done", json!({"item": item})),
                event("completed", json!({"response": {"status": "completed", "output": [item]}})),
            ]
        }
        _ => {
            let start = |place: usize| json!({"type": "content_block_start", "index": place, "content_block": {"type": "text", "text": ""}});
            let delta = |place: usize, delta: Value| json!({"type": "content_block_delta", "index": place, "delta": delta});
            let text = |place: usize, text: &str| delta(place, json!({"type": "text_delta", "text": text}));
            let cites = |cited: &Value| delta(1, json!({"type": "citations_delta", "citation": cited}));
            let stop = |place: usize| json!({"type": "content_block_stop", "index": place});
            let end = json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"}});
            vec![
                json!({"type": "message_start", "message": {"id": "x", "model": "m"}}),
                start(0),
                text(0, "Dé jà: "),
                stop(0),
                start(1),
                text(1, "cit"),
                cites(&citations[0]),
                text(1, "ed."),
                cites(&citations[1]),
                stop(1),
                start(2),
                text(2, " Then."),
                stop(2),
                end,
                json!({"type": "message_stop"}),
            ]
        }
    }
}

/// What a client hears of the citations of this server; nothing is what its API has no place for.
fn heard(server: &str, client: &str) -> Vec<Value> {
    if server == client {
        return cited(server).into();
    }
    let [start, end] = SPAN;
    let inner = json!({"start_index": start, "end_index": end, "url": "https://a", "title": "A"});
    match client {
        "chat" => vec![json!({"type": "url_citation", "url_citation": inner})],
        "responses" => {
            vec![
                json!({"type": "url_citation", "start_index": start, "end_index": end, "url": "https://a", "title": "A"}),
            ]
        }
        "anthropic" => vec![
            json!({"type": "web_search_result_location", "url": "https://a", "title": "A", "cited_text": "", "encrypted_index": ""}),
        ],
        _ => Vec::new(),
    }
}

fn list(value: &Value) -> Vec<Value> {
    value.as_array().cloned().unwrap_or_default()
}

/// The text of a whole answer, and its citations.
fn read_whole(client: &str, body: &Value) -> (String, Vec<Value>) {
    let (text, cited) = match client {
        "chat" => (&body["choices"][0]["message"]["content"], &body["choices"][0]["message"]["annotations"]),
        "responses" => {
            (&body["output"][0]["content"][0]["text"], &body["output"][0]["content"][0]["annotations"])
        }
        "anthropic" => (&body["content"][0]["text"], &body["content"][0]["citations"]),
        _ => (&body["message"]["content"], &Value::Null),
    };
    (text.as_str().unwrap().to_owned(), list(cited))
}

/// The same of a stream, and what its comments say.
fn read_stream(client: &str, stream: &str) -> (String, Vec<Value>, String) {
    let (mut text, mut cited) = (String::new(), Vec::new());
    let data = stream.lines().map(|line| line.strip_prefix("data: ").unwrap_or(line));
    for event in data.filter_map(|line| serde_json::from_str::<Value>(line).ok()) {
        let (more, new) = match client {
            "chat" => {
                (&event["choices"][0]["delta"]["content"], list(&event["choices"][0]["delta"]["annotations"]))
            }
            "responses" if event["type"] == "response.output_text.delta" => (&event["delta"], Vec::new()),
            "responses" => (&Value::Null, event.get("annotation").cloned().into_iter().collect()),
            "anthropic" => {
                let delta = &event["delta"];
                (&delta["text"], delta.get("citation").cloned().into_iter().collect())
            }
            _ => (&event["message"]["content"], Vec::new()),
        };
        text.push_str(more.as_str().unwrap_or_default());
        cited.extend(new);
    }
    (text, cited, stream.lines().filter(|line| line.starts_with(": x-del-")).collect())
}

#[test]
fn every_client_hears_what_its_api_has_a_place_for() {
    for server in SERVERS {
        for client in CLIENTS {
            let expected = heard(server, client);
            let left_out: Vec<String> = cited(server)[expected.len()..]
                .iter()
                .map(|citation| citation["type"].as_str().unwrap().to_owned())
                .collect();
            let mut writer = to(client);
            let answer = translate_between(
                &reader(&[]),
                Ids::new(1),
                &whole(server).to_string(),
                from(server),
                writer.as_mut(),
            );
            let answer = answer.unwrap();
            let body = serde_json::from_str(&answer.body).unwrap();
            assert_eq!(
                read_whole(client, &body),
                (TEXT.to_owned(), expected.clone()),
                "{server} to {client}"
            );
            let mut sorted = left_out.clone();
            sorted.sort();
            assert_eq!(Vec::from_iter(answer.left_out), sorted, "{server} to {client}");

            let bytes =
                events(server).iter().map(|event| format!("data: {event}\n\n")).collect::<Vec<_>>().concat();
            let bytes = if server == "chat" { bytes + "data: [DONE]\n\n" } else { bytes };
            for size in [1, 7, 64, bytes.len()] {
                let mut stream = Stream::between(reader(&[]), Ids::new(1), from(server), to(client));
                let mut out = Vec::new();
                bytes.as_bytes().chunks(size).for_each(|piece| stream.push(piece, &mut out));
                stream.end(None, &mut out);
                let (text, cited, remarks) = read_stream(client, &String::from_utf8(out).unwrap());
                assert_eq!((text.as_str(), &cited), (TEXT, &expected), "{server} to {client} by {size}");
                let told = !remarks.is_empty();
                assert_eq!(
                    told,
                    !left_out.is_empty() && client != "ollama",
                    "{server} to {client}: {remarks}"
                );
            }
        }
    }
}

/// The last response of a stream has the citations as well, and places in the text of an item count from its beginning.
#[test]
fn places_count_from_the_beginning_of_an_item() {
    let content = |text: &str, annotations: Value| json!([{"type": "output_text", "text": text, "annotations": annotations}]);
    let place = |start: u64, end: u64| json!([{"type": "url_citation", "start_index": start, "end_index": end, "url": "https://b", "title": "B"}]);
    let thought =
        json!({"type": "reasoning", "id": "r", "summary": [{"type": "summary_text", "text": "Hm."}]});
    let message = |text: &str, annotations: Value| json!({"type": "message", "role": "assistant", "content": content(text, annotations)});
    let output = json!([message("Éins.", place(0, 5)), thought, message("Two.", place(1, 3))]);
    let body = json!({"id": "x", "status": "completed", "model": "m", "output": output}).to_string();
    let read = |client: &str| {
        let answer =
            translate_between(&reader(&[]), Ids::new(1), &body, from("responses"), to(client).as_mut());
        serde_json::from_str::<Value>(&answer.unwrap().body).unwrap()
    };
    let told = read("responses");
    for (at, item) in [(0, 0), (2, 2)] {
        assert_eq!(
            told["output"][at]["content"][0]["annotations"],
            output[item]["content"][0]["annotations"]
        );
    }
    let chat = read("chat")["choices"][0]["message"].clone();
    assert_eq!(chat["content"], "Éins.\n\nTwo.");
    assert_eq!(chat["annotations"][1]["url_citation"]["start_index"], 8);
    let mut stream = Stream::between(reader(&[]), Ids::new(1), from("responses"), to("responses"));
    let mut out = Vec::new();
    stream.push(format!("data: {body}\n\n").as_bytes(), &mut out);
    stream.end(None, &mut out);
    let out = String::from_utf8(out).unwrap();
    let last =
        out.lines().rfind(|line| line.contains("response.completed") && line.starts_with("data: ")).unwrap();
    let last: Value = serde_json::from_str(&last["data: ".len()..]).unwrap();
    assert_eq!(last["response"]["output"][2]["content"][0]["annotations"], place(1, 3));
}
