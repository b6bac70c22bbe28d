//! Heads of requests, as bytes on a connection.

use std::net::SocketAddr;
use std::time::Duration;

use serde_json::Value;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::model::{Model, says};
use crate::stand::Stand;

const BODY: &str = r#"{"model": "m", "messages": [{"role": "user", "content": "Well?"}], "max_tokens": 9}"#;

async fn stand() -> Stand {
    Stand::new(Model::new(|seen| says(seen, "hi", 1))).await
}

/// A connection, and what is sent on it.
struct Line {
    stream: TcpStream,
    address: SocketAddr,
}

impl Line {
    async fn to(stand: &Stand) -> Self {
        Self { stream: TcpStream::connect(stand.address).await.unwrap(), address: stand.address }
    }

    /// A request with these lines in its head and this behind it.
    fn request(&self, first: &str, lines: &str, behind: &str) -> String {
        format!("{first} HTTP/1.1\r\nHost: {}\r\n{lines}\r\n{behind}", self.address)
    }

    async fn send(&mut self, text: &str) {
        self.stream.write_all(text.as_bytes()).await.unwrap();
    }

    /// The next answer: status, head and body.
    async fn answer(&mut self) -> (u16, String, String) {
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            head.push(self.stream.read_u8().await.unwrap());
        }
        let head = String::from_utf8(head).unwrap().to_ascii_lowercase();
        let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")).unwrap();
        let mut body = vec![0; length.parse().unwrap()];
        self.stream.read_exact(&mut body).await.unwrap();
        (head[9..12].parse().unwrap(), head, String::from_utf8(body).unwrap())
    }

    /// True when nothing more comes.
    async fn is_closed(&mut self) -> bool {
        let end = tokio::time::timeout(Duration::from_secs(20), self.stream.read_u8()).await;
        end.unwrap().is_err()
    }
}

fn in_chunks(body: &str) -> String {
    let (first, second) = body.split_at(body.len() / 2);
    format!("{:x}\r\n{first}\r\n{:x};a=b\r\n{second}\r\n0\r\n\r\n", first.len(), second.len())
}

/// What an error says, in the shape of the API that has this path.
fn said<'a>(path: &str, error: &'a Value) -> &'a str {
    let message = if path.starts_with("/api/") { &error["error"] } else { &error["error"]["message"] };
    assert_eq!(error["type"] == "error", path == "/v1/messages", "{path}: {error}");
    message.as_str().unwrap_or_default()
}

const PATHS: [&str; 4] = ["/v1/chat/completions", "/v1/responses", "/v1/messages", "/api/chat"];

#[tokio::test]
async fn a_request_with_two_lengths_is_refused() {
    let stand = stand().await;
    for path in PATHS {
        for lines in [
            "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n",
            "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n",
            "transfer-encoding: Chunked\r\nA: b\r\ncontent-LENGTH:5\r\ncontent-length:5\r\n",
        ] {
            let mut line = Line::to(&stand).await;
            line.send(&line.request(&format!("POST {path}"), lines, &in_chunks(BODY))).await;
            let (status, head, body) = line.answer().await;
            let error = serde_json::from_str(&body).unwrap();
            assert_eq!(status, 400, "{path}: {body}");
            assert!(said(path, &error).contains("got both"), "{path}: {body}");
            assert!(head.contains("\r\nconnection: close\r\n"), "{head}");
            assert!(line.is_closed().await, "{path}");
        }
    }
    assert!(stand.model.seen().is_empty());
}

#[tokio::test]
async fn chunks_of_something_else_than_the_body_are_refused() {
    let stand = stand().await;
    for (lines, status) in [
        ("Transfer-Encoding: CHUNKED\r\n", 200),
        ("Transfer-Encoding: gzip, chunked\r\n", 501),
        ("Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n", 501),
        ("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n", 501),
    ] {
        let mut line = Line::to(&stand).await;
        line.send(&line.request("POST /v1/chat/completions", lines, &in_chunks(BODY))).await;
        let (got, _, body) = line.answer().await;
        assert_eq!(got, status, "{lines}: {body}");
        assert_eq!(body.contains("got more than that"), status == 501, "{body}");
    }
    assert_eq!(stand.model.seen().len(), 1);
}

#[tokio::test]
async fn two_lengths_are_seen_behind_other_requests_and_in_any_pieces() {
    let stand = stand().await;
    let path = "POST /v1/chat/completions";
    let mut line = Line::to(&stand).await;
    let chunks = line.request(path, "Transfer-Encoding: chunked\r\n", &in_chunks(BODY));
    let length = line.request(path, &format!("Content-Length: {}\r\n", BODY.len()), BODY);
    let plain = line.request("GET /health", "", "");
    for earlier in [&chunks, &length, &plain, &chunks, &chunks, &length] {
        line.send(earlier).await;
        assert_eq!(line.answer().await.0, 200, "{earlier}");
    }
    let seen = stand.model.seen().len();
    let both = line.request(path, "Content-Length: 3\r\nTransfer-Encoding: chunked\r\n", &in_chunks(BODY));
    for piece in both.as_bytes().chunks(7) {
        // It may have been refused before all of it was sent.
        let _ = line.stream.write_all(piece).await;
        tokio::task::yield_now().await;
    }
    let (status, _, body) = line.answer().await;
    assert!(status == 400 && body.contains("got both"), "{body}");
    assert_eq!(stand.model.seen().len(), seen);
}

#[tokio::test]
async fn what_is_sent_ahead_hides_no_second_length() {
    let stand = stand().await;
    let line = Line::to(&stand).await;
    let path = "POST /v1/chat/completions";
    let both = line.request(path, "Content-Length: 3\r\nTransfer-Encoding: chunked\r\n", &in_chunks(BODY));
    let plain = line.request("GET /health", "", "");
    for before in [
        plain.clone(),
        line.request("POST /v1/chat/completions", &format!("Content-Length: {}\r\n", BODY.len()), BODY),
    ] {
        for cut in [0, 10, 40, 90, both.len()] {
            let mut line = Line::to(&stand).await;
            line.send(&format!("{before}{}", &both[..cut])).await;
            assert_eq!(line.answer().await.0, 200);
            line.send(&both[cut..]).await;
            let (status, _, body) = line.answer().await;
            assert!(status == 400 && body.contains("expected Content-Length"), "{cut}: {body}");
            assert!(line.is_closed().await);
        }
    }
    // Others may be sent ahead.
    let mut line = Line::to(&stand).await;
    let length = line.request(path, &format!("Content-Length: {}\r\n", BODY.len()), BODY);
    line.send(&format!("{plain}{length}{plain}{length}")).await;
    for _ in 0..4 {
        assert_eq!(line.answer().await.0, 200);
    }
}

#[tokio::test]
async fn a_head_that_cannot_be_read_is_refused_with_words() {
    let stand = stand().await;
    let long = "A: b\r\n".repeat(150);
    for path in PATHS {
        for (lines, status, words) in [
            ("A b: c\r\n", 400, "in HTTP/1.1"),
            ("Content-Length: 5\r\nContent-Length: 6\r\n", 400, "in HTTP/1.1"),
            ("Content-Length: -5\r\n", 400, "in HTTP/1.1"),
            ("Transfer-Encoding: gzip\r\n", 400, "in HTTP/1.1"),
            (long.as_str(), 431, "64 KiB"),
        ] {
            let mut line = Line::to(&stand).await;
            // What comes behind it is no reason not to get the answer.
            line.send(&line.request(&format!("POST {path}"), lines, &"a".repeat(100_000))).await;
            let (got, head, body) = line.answer().await;
            let error = serde_json::from_str(&body).unwrap();
            assert_eq!(got, status, "{path}: {lines}");
            assert!(said(path, &error).contains(words), "{path}: {body}");
            assert!(
                head.contains("content-type: application/json") && head.contains("x-request-id: req_"),
                "{head}"
            );
            assert!(line.is_closed().await);
        }
    }
    let mut line = Line::to(&stand).await;
    line.send("\x16\x03\x01 no HTTP\r\n\r\n").await;
    let (status, _, body) = line.answer().await;
    assert!(status == 400 && body.contains("in HTTP/1.1"), "{body}");
    // Behind an answer as well.
    let mut line = Line::to(&stand).await;
    line.send(&line.request("GET /health", "", "")).await;
    assert_eq!(line.answer().await.0, 200);
    line.send(&line.request("GET /api/tags", "A b: c\r\n", "")).await;
    let (status, _, body) = line.answer().await;
    assert_eq!((status, serde_json::from_str::<Value>(&body).unwrap()["error"].is_string()), (400, true));
}
