//! The way to the model server: its connections, its pauses, and the APIs that it may speak.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use del_agent::ToolsMode;
use del_proxy::{ServerApi, Upstream};
use reqwest::Client;
use serde_json::{Value, json};

use crate::model::{Model, Reply, Then, completion, event, says};
use crate::stand::{Stand, assembled, client, document, events, streamed, told, tool, weather, with};

const HERMES: &str =
    "<tool_call>\n{\"name\": \"get_weather\", \"arguments\": {\"city\": \"Paris\"}}\n</tool_call>";

fn paris() -> Vec<(String, String)> {
    vec![("get_weather".to_owned(), "{\"city\": \"Paris\"}".to_owned())]
}

/// One answer, packed: as gzip, and as zstd with a block that is not compressed.
fn packed(kind: &str) -> Vec<u8> {
    let body = completion(&json!({"role": "assistant", "content": "packed"}), "stop").to_string();
    let length = u32::try_from(body.len()).unwrap();
    let little = length.to_le_bytes();
    if kind == "gzip" {
        // A stored block, and the checksum of its bytes.
        let mut crc = !0_u32;
        for byte in body.bytes() {
            crc ^= u32::from(byte);
            for _ in 0..8 {
                crc = if crc & 1 == 1 { (crc >> 1) ^ 0xedb8_8320 } else { crc >> 1 };
            }
        }
        let head = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255, 1, little[0], little[1], !little[0], !little[1]];
        [&head, body.as_bytes(), &(!crc).to_le_bytes(), &little].concat()
    } else {
        let block = ((length << 3) | 1).to_le_bytes();
        let head = [0x28, 0xb5, 0x2f, 0xfd, 0xa0, little[0], little[1], little[2], little[3]];
        [&head, &block[..3], body.as_bytes()].concat()
    }
}

#[tokio::test]
async fn packed_answers_are_read() {
    for kind in ["gzip", "zstd"] {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let base = format!("http://{}/v1", listener.local_addr().unwrap());
        std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let _ = stream.read(&mut [0; 4096]);
            let body = packed(kind);
            let length = body.len();
            write!(stream, "HTTP/1.1 200 OK\r\ncontent-encoding: {kind}\r\ncontent-length: {length}\r\n\r\n")
                .unwrap();
            stream.write_all(&body).unwrap();
        });
        let stand = Stand::new(Model::at(base)).await;
        assert_eq!(stand.message(&weather()).await["content"], "packed", "{kind}");
    }
}

/// A server that answers this many requests on each connection, and closes it when the next has come.
fn closing(answers: usize) -> (String, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let base = format!("http://{}/v1", listener.local_addr().unwrap());
    let connections = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&connections);
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            counted.fetch_add(1, Ordering::SeqCst);
            std::thread::spawn(move || {
                for request in 0.. {
                    let mut seen = Vec::new();
                    // A request ends with the last brace of its body.
                    while !seen.ends_with(b"]}") {
                        let mut bytes = [0; 4096];
                        match stream.read(&mut bytes) {
                            Ok(read) if read > 0 => seen.extend_from_slice(&bytes[..read]),
                            _ => return,
                        }
                    }
                    if request == answers {
                        return;
                    }
                    let body =
                        completion(&json!({"role": "assistant", "content": "yes"}), "stop").to_string();
                    write!(stream, "HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{body}", body.len())
                        .unwrap();
                }
            });
        }
    });
    (base, connections)
}

#[tokio::test]
async fn connections_are_kept_and_one_that_died_is_made_anew() {
    for (answers, expected) in [(100, 1), (1, 6)] {
        let (base, connections) = closing(answers);
        let pooled = Client::builder().no_proxy().build().unwrap();
        let stand = Stand::with(Model::at(base.clone()), |settings| {
            settings.upstream = Upstream::new(pooled, base, None).retrying_on(client());
        })
        .await;
        for _ in 0..6 {
            assert_eq!(stand.message(&weather()).await["content"], "yes");
        }
        let made = connections.load(Ordering::SeqCst);
        assert!(if answers == 1 { made >= expected } else { made == expected }, "{made} connections");
    }
}

#[tokio::test]
async fn a_server_that_dies_with_each_request_is_asked_twice_and_no_more() {
    let (base, connections) = closing(0);
    let stand = Stand::with(Model::at(base.clone()), |settings| {
        settings.upstream = Upstream::new(client(), base, None).retrying_on(client());
    })
    .await;
    let response = stand.post(&weather()).send().await.unwrap();
    assert_eq!((response.status().as_u16(), connections.load(Ordering::SeqCst)), (502, 2));
}

#[tokio::test]
async fn silence_has_its_limits() {
    let begun = Reply::Stream(vec![event(&json!({"content": "a"}), None).into_bytes()], Then::Silence);
    let soon = Duration::from_millis(50);
    for (reply, streams) in [(Reply::Silence, false), (Reply::Silence, true), (begun, true)] {
        let stand = Stand::with(Model::saying(reply.clone()), |settings| {
            settings.upstream.first_byte = soon;
            settings.upstream.between_bytes = soon;
        })
        .await;
        let body = if streams { streamed(weather()) } else { weather() };
        let response = stand.post(&body).send().await.unwrap();
        if matches!(reply, Reply::Silence) {
            assert_eq!(response.status(), 504);
            assert!(document(response).await["error"]["message"].as_str().unwrap().contains("in time"));
            continue;
        }
        let events = events(&response.text().await.unwrap());
        // What was held comes before the error.
        assert_eq!(assembled(&events).0, "a");
        assert!(
            events.last().unwrap()["error"]["message"].as_str().unwrap().contains("too long"),
            "{events:?}"
        );
    }
}

#[tokio::test]
async fn a_silent_server_does_not_silence_the_proxy() {
    let begun = Reply::Stream(vec![event(&json!({"content": "a"}), None).into_bytes()], Then::Silence);
    for reply in [Reply::Silence, begun] {
        for (path, sign) in [("/v1/chat/completions", ": keep-alive\n\n"), ("/v1/messages", "event: ping\n")]
        {
            let stand = Stand::with(Model::saying(reply.clone()), |settings| {
                settings.keep_alive = Duration::from_millis(5);
            })
            .await;
            let body = json!({"model": "m", "max_tokens": 5, "stream": true, "messages": [{"role": "user", "content": "Hi."}],
                "tools": [tool("get_weather")]});
            let mut body = body;
            if path == "/v1/messages" {
                body["tools"] = json!([{"name": "get_weather", "input_schema": {"type": "object"}}]);
            }
            let request = stand.request(reqwest::Method::POST, path).body(body.to_string());
            let mut response = request.send().await.unwrap();
            assert_eq!(response.headers()["content-type"], "text/event-stream");
            let mut text = String::new();
            while text.matches(sign).count() < 2 {
                text.push_str(std::str::from_utf8(&response.chunk().await.unwrap().unwrap()).unwrap());
            }
        }
    }
}

#[tokio::test]
async fn an_error_after_the_first_sign_of_life_is_an_event() {
    let (go, wait) = std::sync::mpsc::channel::<()>();
    let wait = std::sync::Mutex::new(wait);
    let model = Model::new(move |_| {
        wait.lock().unwrap().recv().unwrap();
        Reply::Whole(429, "", r#"{"error": {"message": "slow down"}}"#.into())
    });
    let stand = Stand::with(model, |settings| settings.keep_alive = Duration::from_millis(5)).await;
    let mut response = stand.post(&streamed(weather())).send().await.unwrap();
    assert_eq!(response.status(), 200);
    response.chunk().await.unwrap();
    go.send(()).unwrap();
    let text = response.text().await.unwrap();
    assert!(text.contains("slow down") && !text.contains("[DONE]"), "{text}");
}

#[tokio::test]
async fn an_error_event_and_a_bad_chunk_lose_no_text() {
    for bad in ["data: {\"error\":{\"message\":\"out of memory\"}}\n\n", "data: {\"hello\":1}\n\n"] {
        let begun = event(&json!({"content": "a"}), None);
        let pieces = vec![begun.into_bytes(), bad.as_bytes().to_vec()];
        let stand = Stand::new(Model::saying(Reply::Stream(pieces, Then::End))).await;
        let events = stand.events(&streamed(weather())).await;
        assert_eq!(assembled(&events).0, "a");
        assert!(events.last().unwrap()["error"]["message"].is_string());
    }
}

/// What an Anthropic server says: a thought with its seal, text and a call.
fn anthropic(seen: &crate::model::Seen) -> Reply {
    let call = json!({"type": "tool_use", "id": "t1", "name": "get_weather", "input": {"city": "Paris"}});
    let blocks = json!([{"type": "thinking", "thinking": "Hm.", "signature": "seal"}, {"type": "text", "text": "Well."}, call]);
    let usage = json!({"input_tokens": 3, "cache_read_input_tokens": 4, "output_tokens": 5});
    if seen.body()["stream"] != true {
        let body = json!({"id": "msg", "type": "message", "role": "assistant", "model": "c", "content": blocks,
            "stop_reason": "tool_use", "usage": usage});
        return Reply::Whole(200, "", body.to_string());
    }
    let start = |index: u8, block: Value| json!({"type": "content_block_start", "index": index, "content_block": block});
    let delta =
        |index: u8, delta: Value| json!({"type": "content_block_delta", "index": index, "delta": delta});
    let events = [
        json!({"type": "message_start", "message": {"id": "msg", "model": "c", "usage": usage}}),
        start(0, json!({"type": "thinking", "thinking": ""})),
        delta(0, json!({"type": "thinking_delta", "thinking": "Hm."})),
        delta(0, json!({"type": "signature_delta", "signature": "seal"})),
        json!({"type": "content_block_stop", "index": 0}),
        json!({"type": "ping"}),
        start(1, json!({"type": "text", "text": ""})),
        delta(1, json!({"type": "text_delta", "text": "Well."})),
        start(2, json!({"type": "tool_use", "id": "t1", "name": "get_weather", "input": {}})),
        delta(2, json!({"type": "input_json_delta", "partial_json": "{\"city\": "})),
        delta(2, json!({"type": "input_json_delta", "partial_json": "\"Paris\"}"})),
        json!({"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 5}}),
        json!({"type": "message_stop"}),
    ];
    let events = events.map(|event| format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap()));
    Reply::Stream(events.map(String::into_bytes).to_vec(), Then::End)
}

#[tokio::test]
async fn a_server_may_speak_anthropics_api() {
    let stand =
        Stand::with(Model::new(anthropic), |settings| settings.upstream.api = ServerApi::Anthropic).await;
    let answer = stand.ask(&with(weather(), json!({"tool_choice": "required", "stop": "x", "own": 1}))).await;
    assert_eq!(
        told(&answer),
        (
            "Well.".to_owned(),
            vec![("get_weather".to_owned(), "{\"city\": \"Paris\"}".replace(' ', ""))],
            "tool_calls".to_owned()
        )
    );
    assert_eq!(
        (&answer["object"], &answer["usage"]["prompt_tokens"]),
        (&json!("chat.completion"), &json!(7))
    );
    assert_eq!(answer["choices"][0]["message"]["reasoning_content"], "Hm.");
    let seen = stand.model.last();
    assert_eq!((seen.path.as_str(), seen.header("anthropic-version")), ("/v1/messages", Some("2023-06-01")));
    let sent = seen.body();
    assert_eq!((&sent["tool_choice"]["type"], &sent["stop_sequences"]), (&json!("any"), &json!(["x"])));
    assert!(
        sent.get("own").is_none()
            && sent["max_tokens"].is_u64()
            && sent["tools"][0]["input_schema"].is_object()
    );
    let events = stand.events(&streamed(weather())).await;
    assert_eq!(assembled(&events).1, paris());
    assert!(events.iter().all(|event| event.is_null() || event["object"] == "chat.completion.chunk"));

    // The seal of a thought comes back with it.
    let body = json!({"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "Weather?"}],
        "tools": [{"name": "get_weather", "input_schema": {"type": "object"}}]});
    let ask =
        |body: Value| stand.request(reqwest::Method::POST, "/v1/messages").body(body.to_string()).send();
    let message = document(ask(body.clone()).await.unwrap()).await;
    assert_eq!(message["content"][0], json!({"type": "thinking", "thinking": "Hm.", "signature": "seal"}));
    let text = ask(streamed(body.clone())).await.unwrap().text().await.unwrap();
    assert!(text.contains("signature_delta") && text.contains("\"stop_reason\":\"tool_use\""), "{text}");
    let result =
        json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": "rain"}]});
    let next = json!([{"role": "user", "content": "Weather?"}, {"role": "assistant", "content": message["content"]}, result]);
    ask(with(body, json!({"messages": next}))).await.unwrap();
    let sent = stand.model.last().body();
    assert_eq!(sent["messages"][1]["content"], message["content"]);
    assert_eq!(sent["messages"][2]["content"][0]["tool_use_id"], "t1");
}

#[tokio::test]
async fn a_server_may_speak_ollamas_api() {
    let model = Model::new(|seen| {
        let call = json!({"function": {"name": "get_weather", "arguments": {"city": "Paris"}}});
        let line = |message: Value, done: bool| json!({"model": "m", "message": message, "done": done, "done_reason": if done { json!("stop") } else { Value::Null }, "prompt_eval_count": 3, "eval_count": 4});
        if seen.body()["stream"] != true {
            return Reply::Whole(
                200,
                "",
                line(json!({"role": "assistant", "content": "", "tool_calls": [call]}), true).to_string(),
            );
        }
        let lines = [
            line(json!({"content": "We"}), false),
            line(json!({"content": "ll."}), false),
            line(json!({"content": "", "tool_calls": [call]}), false),
            line(json!({"content": ""}), true),
        ];
        Reply::Stream(lines.map(|line| format!("{line}\n").into_bytes()).to_vec(), Then::End)
    });
    let stand = Stand::with(model, |settings| settings.upstream.api = ServerApi::Ollama).await;
    let spelled = vec![("get_weather".to_owned(), "{\"city\":\"Paris\"}".to_owned())];
    let image = json!({"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}});
    let body = with(
        weather(),
        json!({"max_tokens": 7, "response_format": {"type": "json_object"}, "messages": [
        {"role": "user", "content": [{"type": "text", "text": "See."}, image]},
        {"role": "assistant", "content": "", "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "get_weather", "arguments": "{\"city\":\"Rome\"}"}}]},
        {"role": "tool", "tool_call_id": "c1", "content": "rain"}]}),
    );
    let answer = stand.ask(&body).await;
    assert_eq!((told(&answer).1, &answer["usage"]["completion_tokens"]), (spelled.clone(), &json!(4)));
    let seen = stand.model.last();
    let sent = seen.body();
    assert_eq!(seen.path, "/api/chat");
    assert_eq!(
        (&sent["stream"], &sent["options"]["num_predict"], &sent["format"]),
        (&json!(false), &json!(7), &json!("json"))
    );
    assert_eq!(sent["messages"][0], json!({"role": "user", "content": "See.", "images": ["AAAA"]}));
    assert_eq!(sent["messages"][1]["tool_calls"][0]["function"]["arguments"], json!({"city": "Rome"}));
    assert_eq!(sent["messages"][2], json!({"role": "tool", "content": "rain", "tool_name": "get_weather"}));
    let (text, calls, finish) = assembled(&stand.events(&streamed(weather())).await);
    assert_eq!((text.as_str(), calls, finish.as_str()), ("Well.", spelled, "tool_calls"));
}

#[tokio::test]
async fn the_prompt_goes_to_servers_of_every_api() {
    for (api, said) in [
        (
            ServerApi::Anthropic,
            json!({"type": "message", "content": [{"type": "text", "text": HERMES}], "stop_reason": "end_turn"}),
        ),
        (ServerApi::Ollama, json!({"message": {"role": "assistant", "content": HERMES}, "done": true})),
    ] {
        let stand = Stand::with(Model::saying(Reply::Whole(200, "", said.to_string())), |settings| {
            settings.upstream.api = api;
            settings.tools_mode = ToolsMode::Prompt;
        })
        .await;
        assert_eq!(told(&stand.ask(&weather()).await).1, paris());
        let sent = stand.model.last().body();
        assert!(sent.get("tools").is_none() && sent.to_string().contains("get_weather"), "{sent}");
    }
}

#[tokio::test]
async fn a_demanded_call_is_asked_for_again() {
    for (mode, streams) in [(ToolsMode::Native, false), (ToolsMode::Native, true), (ToolsMode::Prompt, true)]
    {
        // It calls once it was told so in words.
        let model = Model::new(|seen| {
            let told = seen.body()["messages"].to_string().contains("and say nothing else");
            says(seen, if told { HERMES } else { "Let me think." }, 3)
        });
        let stand = Stand::with(model, |settings| settings.tools_mode = mode).await;
        let body = with(weather(), json!({"tool_choice": "required"}));
        let got = if streams {
            assembled(&stand.events(&streamed(body)).await)
        } else {
            told(&stand.ask(&body).await)
        };
        assert_eq!(got, (String::new(), paris(), "tool_calls".to_owned()));
        assert_eq!(stand.model.seen().len(), 2);
        let talks = Stand::with(Model::new(|seen| says(seen, "Let me think.", 3)), |settings| {
            settings.tools_mode = mode;
        })
        .await;
        let body = with(weather(), json!({"tool_choice": "required", "stream": streams}));
        let response = talks.post(&body).send().await.unwrap();
        assert_eq!((response.status().as_u16(), talks.model.seen().len()), (422, 3));
        let error = document(response).await["error"]["message"].as_str().unwrap().to_owned();
        assert_eq!(error, "the model made no call that `tool_choice` allows, in 3 tries");
    }
}

#[tokio::test]
async fn a_call_that_may_not_be_made_does_not_go_out() {
    let native = |name: &str| {
        let call = json!([{"index": 0, "id": "c", "type": "function", "function": {"name": name, "arguments": "{\"a\":1}"}}]);
        let (whole, delta) =
            (json!({"role": "assistant", "content": null, "tool_calls": call}), json!({"tool_calls": call}));
        Model::new(move |seen| {
            if seen.body()["stream"] == true {
                let all = event(&delta, None) + &event(&json!({}), Some("tool_calls")) + "data: [DONE]\n\n";
                return Reply::Stream(vec![all.into_bytes()], Then::End);
            }
            Reply::Whole(200, "", completion(&whole, "tool_calls").to_string())
        })
    };
    let stand = Stand::new(native("rm")).await;
    let response = stand.post(&weather()).send().await.unwrap();
    assert_eq!(response.headers()["x-del-refused-calls"], "rm");
    let (text, calls, finish) = told(&document(response).await);
    assert!(calls.is_empty() && finish == "stop" && text.contains("`rm`"), "{text} {finish}");
    let text = stand.post(&streamed(weather())).send().await.unwrap().text().await.unwrap();
    assert!(text.contains(": x-del-refused-calls: rm\n\n") && !text.contains("tool_calls\":"), "{text}");
    // The one that is named goes out, another does not.
    let named = |name: &str| {
        let choice = json!({"type": "function", "function": {"name": name}});
        with(weather(), json!({"tools": [tool("get_weather"), tool("get_time")], "tool_choice": choice}))
    };
    let stand = Stand::new(native("get_time")).await;
    assert_eq!(told(&stand.ask(&named("get_time")).await).1.len(), 1);
    assert_eq!(stand.post(&named("get_weather")).send().await.unwrap().status(), 422);
}
