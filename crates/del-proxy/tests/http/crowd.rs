//! More clients than there may be at once.

use reqwest::{Method, Response};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::model::{Model, Reply, Then, event};
use crate::stand::{Stand, document, streamed, weather};

/// A proxy that takes two clients, both of which listen to a stream.
async fn crowded() -> (Stand, [Response; 2]) {
    let begun = vec![event(&json!({"content": "Let me"}), None).into_bytes()];
    let model = Model::saying(Reply::Stream(begun, Then::Silence));
    let stand = Stand::with(model, |settings| settings.max_connections = 2).await;
    let mut both = Vec::new();
    for _ in 0..2 {
        let mut response = stand.post(&streamed(weather())).send().await.unwrap();
        assert!(response.chunk().await.unwrap().is_some());
        both.push(response);
    }
    (stand, both.try_into().unwrap())
}

#[tokio::test]
async fn more_clients_are_told_in_the_shape_of_their_api_until_one_has_gone() {
    let (stand, [first, _second]) = crowded().await;
    let large = "x".repeat(3 << 20);
    for (path, kind) in [
        ("/v1/chat/completions", "/error/type"),
        ("/v1/responses", "/error/type"),
        ("/v1/messages", "/error/type"),
        ("/api/chat", ""),
    ] {
        for said in ["Hi.", &large] {
            let body = json!({"model": "m", "messages": [{"role": "user", "content": said}]});
            let response = stand.request(Method::POST, path).body(body.to_string()).send().await.unwrap();
            assert_eq!(response.status(), 503);
            assert_eq!(
                (&response.headers()["retry-after"], &response.headers()["connection"]),
                (&"1".parse().unwrap(), &"close".parse().unwrap())
            );
            let told = document(response).await;
            assert!(told.to_string().contains("too many connections are open"), "{told}");
            assert!(kind.is_empty() || told.pointer(kind) == Some(&Value::from("api_error")), "{told}");
        }
    }
    assert_eq!(stand.get("/health").await.status(), 200);
    drop(first);
    while stand.post(&json!({"model": "m"})).send().await.unwrap().status() == 503 {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn who_comes_when_nobody_more_can_be_told_waits() {
    let (stand, [first, second]) = crowded().await;
    let mut silent = Vec::new();
    for _ in 0..64 {
        silent.push(TcpStream::connect(stand.address).await.unwrap());
    }
    let mut late = TcpStream::connect(stand.address).await.unwrap();
    let head = format!("GET /health HTTP/1.1\r\nhost: {}\r\n\r\n", stand.address);
    late.write_all(head.as_bytes()).await.unwrap();
    let mut answer = [0; 12];
    let read = tokio::time::timeout(std::time::Duration::from_millis(300), late.read_exact(&mut answer));
    assert!(read.await.is_err(), "there is no place");
    drop((first, second));
    late.read_exact(&mut answer).await.unwrap();
    assert_eq!(&answer, b"HTTP/1.1 200");
}
