//! A server that dies and comes back under load.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};

use crate::model::{Model, completion, event};
use crate::stand::{Stand, client, route, tool};

/// What the model always says. The end of each piece may be a mark.
const WORDS: [&str; 6] = ["Once ", "upon <", " a [", " time {", " there ", "was."];

/// A server that can be killed with all its connections.
struct Mortal {
    address: SocketAddr,
    lives: Arc<AtomicBool>,
    open: Arc<Mutex<Vec<TcpStream>>>,
}

impl Mortal {
    fn start(address: SocketAddr) -> Self {
        // The one before may still hold the port.
        let listener = loop {
            match TcpListener::bind(address) {
                Ok(listener) => break listener,
                Err(_) => std::thread::sleep(Duration::from_millis(1)),
            }
        };
        let address = listener.local_addr().unwrap();
        let (lives, open) = (Arc::new(AtomicBool::new(true)), Arc::new(Mutex::new(Vec::new())));
        let (alive, known) = (Arc::clone(&lives), Arc::clone(&open));
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                if !alive.load(Ordering::SeqCst) {
                    return;
                }
                let stream = stream.unwrap();
                known.lock().unwrap().push(stream.try_clone().unwrap());
                std::thread::spawn(move || drop(say(stream)));
            }
        });
        Self { address, lives, open }
    }

    fn kill(self) -> SocketAddr {
        self.lives.store(false, Ordering::SeqCst);
        // Wakes it, and it lets go of its port.
        let _ = TcpStream::connect(self.address);
        for stream in self.open.lock().unwrap().drain(..) {
            let _ = stream.shutdown(Shutdown::Both);
        }
        self.address
    }
}

fn say(mut stream: TcpStream) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream.try_clone()?);
    let (mut length, mut line) = (0, String::new());
    while reader.read_line(&mut line)? > 2 {
        if let Some(number) = line.to_lowercase().strip_prefix("content-length: ") {
            length = number.trim().parse().unwrap();
        }
        line.clear();
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    let asked: Value = serde_json::from_slice(&body).unwrap_or_default();
    stream.set_nodelay(true)?;
    if asked["stream"] != true {
        let message = json!({"role": "assistant", "content": WORDS.concat()});
        let body = completion(&message, "stop").to_string();
        write!(stream, "HTTP/1.1 200 OK\r\ncontent-length: {}\r\nconnection: close\r\n\r\n", body.len())?;
        let (half, rest) = body.split_at(body.len() / 2);
        stream.write_all(half.as_bytes())?;
        std::thread::sleep(Duration::from_millis(1));
        return stream.write_all(rest.as_bytes());
    }
    stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\nconnection: close\r\n\r\n")?;
    let deltas = WORDS.iter().map(|word| event(&json!({"content": word}), None));
    for event in deltas.chain([event(&json!({}), Some("stop")), "data: [DONE]\n\n".to_owned()]) {
        write!(stream, "{:x}\r\n{event}\r\n", event.len())?;
        std::thread::sleep(Duration::from_millis(1));
    }
    stream.write_all(b"0\r\n\r\n")
}

/// A way to ask, and what its answers look like.
struct Way {
    path: &'static str,
    body: Value,
    /// Stands in an answer that came to its end, once.
    end: &'static str,
    /// Stands in an error, once, whether it comes at once or in a stream.
    error: &'static str,
    /// The text of one event.
    text: fn(&Value) -> Option<&str>,
}

fn of_chat(event: &Value) -> Option<&str> {
    event["choices"][0]["delta"]["content"].as_str()
}

fn of_whole(event: &Value) -> Option<&str> {
    event["choices"][0]["message"]["content"].as_str()
}

fn ways() -> Vec<Way> {
    let chat = |streams: bool| json!({"model": "m", "stream": streams, "tools": [tool("f")], "messages": [{"role": "user", "content": "Tell."}]});
    let claude = |streams: bool| {
        json!({"model": "m", "stream": streams, "max_tokens": 9, "messages": [{"role": "user", "content": "Tell."}],
            "tools": [{"name": "f", "input_schema": {"type": "object"}}]})
    };
    let responses = json!({"model": "m", "stream": true, "input": "Tell.", "tools": [{"type": "function", "name": "f", "parameters": {"type": "object"}}]});
    vec![
        Way {
            path: "/v1/chat/completions",
            body: chat(true),
            end: "[DONE]",
            error: "\"error\":",
            text: of_chat,
        },
        Way {
            path: "/v1/chat/completions",
            body: chat(false),
            end: "\"finish_reason\"",
            error: "\"error\":",
            text: of_whole,
        },
        Way {
            path: "/v1/messages",
            body: claude(true),
            end: "\"message_stop\"",
            error: "\"type\":\"error\"",
            text: |event| event["delta"]["text"].as_str(),
        },
        Way {
            path: "/v1/messages",
            body: claude(false),
            end: "\"stop_reason\"",
            error: "\"type\":\"error\"",
            text: |event| event["content"][0]["text"].as_str(),
        },
        Way {
            path: "/v1/responses",
            body: responses,
            end: "\"type\":\"response.completed\"",
            error: "\"error\":{",
            text: |event| event["delta"].as_str(),
        },
        Way {
            path: "/api/chat",
            body: chat(true),
            end: "\"done\":true",
            error: "\"error\":",
            text: |event| event["message"]["content"].as_str(),
        },
    ]
}

impl Way {
    /// Whether an answer is whole; anything but that or one clear error stops the test.
    fn is_whole(&self, status: u16, said: &str) -> bool {
        let count = |what: &str| said.matches(what).count();
        let documents = said.lines().filter_map(|line| {
            let line = line.strip_prefix("data: ").unwrap_or(line);
            serde_json::from_str::<Value>(line).ok()
        });
        let documents: Vec<Value> = documents.collect();
        let text: String = documents.iter().filter_map(self.text).collect();
        let whole = WORDS.concat();
        if count(self.end) == 1 && status == 200 {
            assert_eq!(text, whole, "{}: {said}", self.path);
            return true;
        }
        assert!(whole.starts_with(&text), "{}: {said}", self.path);
        let failed = documents.iter().filter(|document| document.to_string().contains(self.error)).count();
        assert!(failed == 1 && matches!(status, 200 | 502), "{} {status}: {said}", self.path);
        let last = documents.last().unwrap().to_string();
        assert!(last.contains(self.error), "{}: {said}", self.path);
        false
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_is_killed_again_and_again_leaves_whole_answers_or_one_clear_error() {
    const DEATHS: usize = 100;
    let mut server = Mortal::start("127.0.0.1:0".parse().unwrap());
    let model = Model::at(format!("http://{}/v1", server.address));
    let stand =
        Stand::with(Model::at(model.base.clone()), |settings| settings.routes = vec![route(&[&model])]).await;
    let (root, client) = (format!("http://{}", stand.address), client());
    let (over, whole) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
    let clients: Vec<_> = ways()
        .into_iter()
        .map(|way| {
            let (over, whole) = (Arc::clone(&over), Arc::clone(&whole));
            let (url, client) = (format!("{root}{}", way.path), client.clone());
            tokio::spawn(async move {
                while !over.load(Ordering::SeqCst) {
                    let request = client.post(&url).body(way.body.to_string());
                    let response = request.send().await.unwrap();
                    let status = response.status().as_u16();
                    let said = response.text().await.unwrap();
                    whole.fetch_add(usize::from(way.is_whole(status, &said)), Ordering::SeqCst);
                }
            })
        })
        .collect();
    for _ in 0..DEATHS {
        let before = whole.load(Ordering::SeqCst);
        // It dies in the middle of something, after at least one whole answer.
        while whole.load(Ordering::SeqCst) == before
            && !clients.iter().any(tokio::task::JoinHandle::is_finished)
        {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        let address = server.kill();
        tokio::time::sleep(Duration::from_millis(2)).await;
        server = tokio::task::spawn_blocking(move || Mortal::start(address)).await.unwrap();
    }
    over.store(true, Ordering::SeqCst);
    for client in clients {
        client.await.unwrap();
    }
}
