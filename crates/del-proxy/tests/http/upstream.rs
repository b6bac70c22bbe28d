//! The way to the model server: its connections and its pauses.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use del_proxy::Upstream;
use serde_json::json;

use crate::model::{Model, Reply, Then, completion, event};
use crate::stand::{
    Stand, assembled, builder, client, document, events, streamed, tool, until, upstream, weather,
};

/// One answer, packed: as gzip, and as zstd with a block that is not compressed.
fn packed(kind: &str) -> Vec<u8> {
    let body = completion(&json!({"role": "assistant", "content": "packed"}), "stop").to_string();
    let length = u32::try_from(body.len()).unwrap();
    let little = length.to_le_bytes();
    if kind == "zstd" {
        let block = ((length << 3) | 1).to_le_bytes();
        let head = [0x28, 0xb5, 0x2f, 0xfd, 0xa0, little[0], little[1], little[2], little[3]];
        [&head, &block[..3], body.as_bytes()].concat()
    } else {
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
    }
}

#[tokio::test]
async fn packed_answers_are_read() {
    // On a connection of the server's own, and by way of the client for everything that is not plain.
    let ways = ["gzip", "GZIP", "x-gzip", "zstd"].map(|kind| [(kind, true), (kind, false)]);
    for (kind, direct) in ways.into_iter().flatten() {
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
        let stand = Stand::with(Model::at(base.clone()), |settings| {
            if !direct {
                settings.routes[0].upstreams[0] = Upstream::new(client(), base, None);
            }
        })
        .await;
        assert_eq!(stand.message(&weather()).await["content"], "packed", "{kind} {direct}");
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
    for (answers, expected, direct) in [(100, 1, true), (100, 1, false), (1, 6, true), (1, 6, false)] {
        let (base, connections) = closing(answers);
        let pooled = builder().build().unwrap();
        let stand = Stand::with(Model::at(base.clone()), |settings| {
            let through = Upstream::new(pooled, base.clone(), None).retrying_on(client());
            settings.routes[0].upstreams[0] = if direct { upstream(&base) } else { through };
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
        settings.routes[0].upstreams[0] = Upstream::new(client(), base, None).retrying_on(client());
    })
    .await;
    let response = stand.post(&weather()).send().await.unwrap();
    assert_eq!((response.status().as_u16(), connections.load(Ordering::SeqCst)), (502, 2));
    // One that answered before is asked again on a new connection; one that never did had a new one.
    let (base, connections) = closing(1);
    let stand = Stand::new(Model::at(base)).await;
    for _ in 0..2 {
        assert_eq!(stand.message(&weather()).await["content"], "yes");
    }
    assert_eq!(connections.load(Ordering::SeqCst), 2);
}

#[tokio::test]
async fn silence_has_its_limits() {
    let begun = Reply::Stream(vec![event(&json!({"content": "a"}), None).into_bytes()], Then::Silence);
    let soon = Duration::from_millis(50);
    for (reply, streams) in [(Reply::Silence, false), (Reply::Silence, true), (begun, true)] {
        let stand = Stand::with(Model::saying(reply.clone()), |settings| {
            settings.routes[0].upstreams[0].first_byte = soon;
            settings.routes[0].upstreams[0].between_bytes = soon;
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
            until(&mut response, |text| text.matches(sign).count() >= 2).await;
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

/// Takes connections one after another, reads a request on each, and hands it on.
fn taking(answer: impl Fn(usize, &mut std::net::TcpStream) + Send + 'static) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let base = format!("http://{}/v1", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for (number, stream) in listener.incoming().enumerate() {
            let mut stream = stream.unwrap();
            stream.set_nodelay(true).unwrap();
            let _ = stream.read(&mut [0; 8192]);
            answer(number, &mut stream);
        }
    });
    base
}

#[tokio::test]
async fn an_answer_may_come_a_byte_at_a_time_and_end_with_its_connection() {
    let body = completion(&json!({"role": "assistant", "content": "slow"}), "stop").to_string();
    let length = body.len();
    let (front, back) = body.split_at(length / 2);
    let answers = [
        format!("HTTP/1.1 200 OK\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}"),
        format!("HTTP/1.1 200 OK\r\n\r\n{body}"),
        format!(
            "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\nconnection: close\r\n\r\n{:x};a=b\r\n{front}\r\n{:X}\r\n{back}\r\n0\r\nafter: all\r\n\r\n",
            front.len(),
            back.len()
        ),
    ];
    let count = answers.len();
    let base = taking(move |number, stream| {
        for byte in answers[number].bytes() {
            stream.write_all(&[byte]).unwrap();
            stream.flush().unwrap();
        }
    });
    let stand = Stand::new(Model::at(base)).await;
    for _ in 0..count {
        assert_eq!(stand.message(&weather()).await["content"], "slow");
    }
}

#[tokio::test]
async fn a_redirection_is_followed() {
    let body = completion(&json!({"role": "assistant", "content": "there"}), "stop").to_string();
    let there = taking(move |_, stream| {
        write!(stream, "HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{body}", body.len()).unwrap();
    });
    let here = taking(move |_, stream| {
        let head = "content-length: 0\r\nconnection: close";
        write!(
            stream,
            "HTTP/1.1 307 Temporary Redirect\r\nlocation: {there}/chat/completions\r\n{head}\r\n\r\n"
        )
        .unwrap();
    });
    let stand = Stand::new(Model::at(here)).await;
    assert_eq!(stand.message(&weather()).await["content"], "there");
}

#[tokio::test]
async fn events_that_come_together_go_out_together() {
    let text = |word: &str| event(&json!({"content": word}), None);
    let burst: String = (0..50).map(|_| text("a ")).collect();
    let stream = [burst, event(&json!({}), Some("stop")), "data: [DONE]\n\n".to_owned()].concat();
    // A chunk of HTTP for each event, all in one write.
    let chunk = |one: &str| format!("{:x}\r\n{one}\r\n", one.len());
    let chunks = stream.split_inclusive("\n\n").map(chunk).collect::<Vec<_>>().concat();
    let base = taking(move |_, stream| {
        let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";
        stream.write_all(format!("{head}{chunks}0\r\n\r\n").as_bytes()).unwrap();
    });
    let stand = Stand::new(Model::at(base)).await;
    let mut response = stand.post(&streamed(weather())).send().await.unwrap();
    let (mut pieces, mut all) = (0, String::new());
    while let Some(piece) = response.chunk().await.unwrap() {
        pieces += 1;
        all.push_str(std::str::from_utf8(&piece).unwrap());
    }
    assert_eq!(assembled(&events(&all)).0.trim(), "a ".repeat(50).trim());
    // The network may cut them anywhere, but nobody else did.
    assert!(pieces < 10, "{pieces} pieces");
}
