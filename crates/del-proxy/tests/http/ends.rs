//! How requests end before their time.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::model::{Model, Reply, Then, event, says};
use crate::stand::{Stand, assembled, events, streamed, until, weather};

/// Long enough for any machine; nothing waits that long when all is well.
const PATIENCE: Duration = Duration::from_secs(60);

fn begun(then: Then) -> Model {
    Model::saying(Reply::Stream(vec![event(&json!({"content": "Let me"}), None).into_bytes()], then))
}

#[tokio::test]
async fn a_client_that_hangs_up_in_a_stream_ends_the_request_to_the_server() {
    let stand = Stand::new(begun(Then::Silence)).await;
    let mut response = stand.post(&streamed(weather())).send().await.unwrap();
    assert!(response.chunk().await.unwrap().is_some());
    drop(response);
    closed(stand).await;
}

#[tokio::test]
async fn a_client_that_hangs_up_before_an_answer_ends_the_request_to_the_server() {
    for body in [weather(), json!({"messages": []})] {
        let stand = Stand::new(Model::saying(Reply::Silence)).await;
        let asked = tokio::spawn(stand.post(&body).send());
        while stand.model.seen().is_empty() {
            tokio::task::yield_now().await;
        }
        asked.abort();
        let _ = asked.await;
        closed(stand).await;
    }
}

#[tokio::test]
async fn a_client_that_has_hung_up_after_its_half_ends_the_request_to_the_server() {
    for (body, model) in [
        (weather(), Model::saying(Reply::Silence)),
        (json!({"messages": []}), Model::saying(Reply::Silence)),
        (streamed(weather()), begun(Then::Silence)),
    ] {
        let stand = Stand::new(model).await;
        let mut stream = half_closed(&stand, "HTTP/1.1", &body).await;
        while stand.model.seen().is_empty() {
            tokio::task::yield_now().await;
        }
        let mut byte = [0];
        stream.read_exact(&mut byte).await.unwrap();
        drop(stream);
        closed(stand).await;
    }
}

#[tokio::test]
async fn a_client_that_closes_its_half_gets_its_answer() {
    for (version, body) in [
        ("HTTP/1.1", weather()),
        ("HTTP/1.1", streamed(weather())),
        ("HTTP/1.0", weather()),
        ("HTTP/1.0", streamed(json!({"messages": []}))),
    ] {
        let is_stream = body["stream"] == true;
        let model = Model::new(move |seen| {
            std::thread::sleep(Duration::from_millis(1500));
            if is_stream { says(seen, "late", 2) } else { says(seen, "late", 1) }
        });
        let stand = Stand::new(model).await;
        let mut answer = String::new();
        half_closed(&stand, version, &body).await.read_to_string(&mut answer).await.unwrap();
        let interim = "HTTP/1.1 100 Continue\r\n\r\n";
        assert_eq!(answer.contains(interim), version == "HTTP/1.1", "{answer}");
        let answer = answer.replace(interim, "");
        assert!(answer.starts_with(&format!("{version} 200 OK\r\n")), "{answer}");
        assert!(answer.contains("te\""), "{answer}");
        assert!(!is_stream || answer.contains("data: [DONE]\n\n"), "{answer}");
    }
}

/// A connection on which a request has come whole, and nothing will follow.
async fn half_closed(stand: &Stand, version: &str, body: &Value) -> TcpStream {
    let body = body.to_string();
    let request = format!(
        "POST /v1/chat/completions {version}\r\nhost: {}\r\ncontent-length: {}\r\n\r\n{body}",
        stand.address,
        body.len()
    );
    let mut stream = TcpStream::connect(stand.address).await.unwrap();
    stream.write_all(request.as_bytes()).await.unwrap();
    stream.shutdown().await.unwrap();
    stream
}

/// Waits until the server sees its connection closed.
async fn closed(stand: Stand) {
    let closed = stand.model.closed;
    tokio::task::spawn_blocking(move || closed.recv_timeout(PATIENCE).unwrap()).await.unwrap();
}

#[tokio::test]
async fn text_goes_out_before_the_answer_is_over() {
    let stand = Stand::new(begun(Then::Silence)).await;
    let mut response = stand.post(&streamed(weather())).send().await.unwrap();
    until(&mut response, |text| text.contains("Let me")).await;
}

#[tokio::test]
async fn an_answer_that_breaks_off_ends_with_an_error() {
    for then in [Then::Cut, Then::End] {
        let stand = Stand::new(begun(then)).await;
        let events = stand.events(&streamed(weather())).await;
        let error = events.last().unwrap()["error"]["message"].as_str().unwrap();
        assert!(error.starts_with("the model server broke off"), "{error}");
        assert_eq!(assembled(&events), ("Let me".to_owned(), Vec::new(), String::new()));
    }
}

#[tokio::test]
async fn answers_under_way_go_out_before_the_end() {
    let (go, wait) = std::sync::mpsc::channel::<()>();
    let wait = std::sync::Mutex::new(wait);
    let model = Model::new(move |_| {
        wait.lock().unwrap().recv().unwrap();
        let all = format!(
            "{}{}data: [DONE]\n\n",
            event(&json!({"content": "late"}), None),
            event(&json!({}), Some("stop"))
        );
        Reply::Stream(vec![all.into_bytes()], Then::End)
    });
    let mut stand = Stand::new(model).await;
    let asked = tokio::spawn(stand.post(&streamed(weather())).send());
    while stand.model.seen().is_empty() {
        tokio::task::yield_now().await;
    }
    stand.stop();
    while TcpStream::connect(stand.address).await.is_ok() {
        tokio::task::yield_now().await;
    }
    go.send(()).unwrap();
    let text = asked.await.unwrap().unwrap().text().await.unwrap();
    assert_eq!(assembled(&events(&text)).0, "late");
    tokio::time::timeout(PATIENCE, stand.ended()).await.unwrap();
}

#[tokio::test]
async fn requests_that_have_not_come_whole_do_not_keep_the_proxy() {
    for half in [
        "POST /v1/chat/completions HTTP/1.1\r\nho",
        "POST /v1/chat/completions HTTP/1.1\r\nhost: HOST\r\ncontent-length: 99\r\n\r\n{",
        "",
    ] {
        let mut stand = Stand::new(begun(Then::Silence)).await;
        let mut stream = TcpStream::connect(stand.address).await.unwrap();
        let half = half.replace("HOST", &stand.address.to_string());
        stream.write_all(half.as_bytes()).await.unwrap();
        // Its connection was taken once another one that came later is answered.
        assert_eq!(stand.get("/nothing").await.status(), 404);
        stand.stop();
        tokio::time::timeout(PATIENCE / 4, stand.ended()).await.unwrap();
        drop(stream);
    }
}
