//! A model server that says what a test wants.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use tokio::net::TcpSocket;

/// A request that came.
#[derive(Debug, Clone)]
pub(crate) struct Seen {
    pub(crate) path: String,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) bytes: Vec<u8>,
}

/// What the server says.
#[derive(Debug, Clone)]
pub(crate) enum Reply {
    /// Status, further header lines and body.
    Whole(u16, &'static str, String),
    /// A stream in these pieces, and how it goes on.
    Stream(Vec<Vec<u8>>, Then),
    /// Not a word.
    Silence,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Then {
    /// The stream ends.
    End,
    /// The connection is cut.
    Cut,
    /// Nothing more comes.
    Silence,
}

/// A server on a port of its own.
#[derive(Debug)]
pub(crate) struct Model {
    pub(crate) base: String,
    seen: Arc<Mutex<Vec<Seen>>>,
    /// Says something when the other side closes a connection that waits for more.
    pub(crate) closed: Receiver<()>,
    /// The port of a server that is away.
    _held: Option<TcpSocket>,
}

type Script = dyn Fn(&Seen) -> Reply + Send + Sync;

impl Seen {
    pub(crate) fn body(&self) -> Value {
        serde_json::from_slice(&self.bytes).unwrap_or_default()
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

impl Model {
    pub(crate) fn new(script: impl Fn(&Seen) -> Reply + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let base = format!("http://{}/v1", listener.local_addr().unwrap());
        let seen = Arc::new(Mutex::new(Vec::new()));
        let (tell, closed) = channel();
        let (log, script) = (Arc::clone(&seen), Arc::new(script));
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let (log, script, tell) = (Arc::clone(&log), Arc::clone(&script), tell.clone());
                std::thread::spawn(move || answer(stream.unwrap(), script.as_ref(), &log, &tell));
            }
        });
        Self { base, seen, closed, _held: None }
    }

    /// A server that a test made itself.
    pub(crate) fn at(base: String) -> Self {
        Self { base, seen: Arc::default(), closed: channel().1, _held: None }
    }

    /// A server that is not there: a port that is bound refuses, and nobody else gets it meanwhile.
    pub(crate) fn away() -> Self {
        let held = TcpSocket::new_v4().unwrap();
        held.bind("127.0.0.1:0".parse().unwrap()).unwrap();
        let base = format!("http://{}/v1", held.local_addr().unwrap());
        Self { _held: Some(held), ..Self::at(base) }
    }

    /// A server that always says this.
    pub(crate) fn saying(reply: Reply) -> Self {
        Self::new(move |_| reply.clone())
    }

    pub(crate) fn seen(&self) -> Vec<Seen> {
        self.seen.lock().unwrap().clone()
    }

    pub(crate) fn last(&self) -> Seen {
        self.seen().pop().unwrap()
    }
}

fn answer(mut stream: TcpStream, script: &Script, log: &Mutex<Vec<Seen>>, closed: &Sender<()>) {
    let seen = read(&stream);
    log.lock().unwrap().push(seen.clone());
    // The other side may be gone: that is what some tests are about.
    let _ = match script(&seen) {
        Reply::Whole(status, headers, body) => write!(
            stream,
            "HTTP/1.1 {status} X\r\ncontent-type: application/json\r\ncontent-length: {}\r\n{headers}\r\n{body}",
            body.len()
        ),
        Reply::Stream(pieces, then) => pieces_of(&mut stream, &pieces, then, closed),
        Reply::Silence => wait(&mut stream, closed),
    };
}

fn pieces_of(
    stream: &mut TcpStream,
    pieces: &[Vec<u8>],
    then: Then,
    closed: &Sender<()>,
) -> std::io::Result<()> {
    stream.set_nodelay(true)?;
    stream.write_all(
        b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n",
    )?;
    for piece in pieces.iter().filter(|piece| !piece.is_empty()) {
        write!(stream, "{:x}\r\n", piece.len())?;
        stream.write_all(piece)?;
        stream.write_all(b"\r\n")?;
        stream.flush()?;
    }
    match then {
        Then::End => stream.write_all(b"0\r\n\r\n"),
        Then::Cut => Ok(()),
        Then::Silence => wait(stream, closed),
    }
}

fn wait(stream: &mut TcpStream, closed: &Sender<()>) -> std::io::Result<()> {
    let read = stream.read(&mut [0]);
    let _ = closed.send(());
    read.map(|_| ())
}

fn read(stream: &TcpStream) -> Seen {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line).unwrap();
    let path = line.split(' ').nth(1).unwrap_or_default().to_owned();
    let mut headers = Vec::new();
    loop {
        line.clear();
        reader.read_line(&mut line).unwrap();
        let Some((name, value)) = line.trim().split_once(": ") else { break };
        headers.push((name.to_lowercase(), value.to_owned()));
    }
    let length = headers.iter().find(|(name, _)| name == "content-length");
    let mut bytes = vec![0; length.map_or(0, |(_, value)| value.parse().unwrap())];
    reader.read_exact(&mut bytes).unwrap();
    Seen { path, headers, bytes }
}

/// An answer that is this text, streamed or not as the request wants it.
pub(crate) fn says(seen: &Seen, text: &str, size: usize) -> Reply {
    if seen.body()["stream"] != true {
        let message = json!({"role": "assistant", "content": text});
        return Reply::Whole(200, "", completion(&message, "stop").to_string());
    }
    let mut places: Vec<usize> = text.char_indices().map(|(at, _)| at).step_by(size).collect();
    places.push(text.len());
    let deltas = places.windows(2).map(|pair| json!({"content": text[pair[0]..pair[1]]}));
    let events: String = deltas.map(|delta| event(&delta, None)).collect();
    let all = format!("{events}{}data: [DONE]\n\n", event(&json!({}), Some("stop")));
    Reply::Stream(all.as_bytes().chunks(61).map(<[u8]>::to_vec).collect(), Then::End)
}

pub(crate) fn completion(message: &Value, finish: &str) -> Value {
    json!({"id": "x", "object": "chat.completion", "created": 1, "model": "served",
        "choices": [{"index": 0, "message": message, "finish_reason": finish}],
        "usage": {"prompt_tokens": 1, "completion_tokens": 2, "total_tokens": 3}})
}

pub(crate) fn event(delta: &Value, finish: Option<&str>) -> String {
    let choice = json!({"index": 0, "delta": delta, "finish_reason": finish});
    format!("data: {}\n\n", json!({"id": "x", "object": "chat.completion.chunk", "choices": [choice]}))
}

/// An answer of an Anthropic server in these blocks, streamed or not as the request wants it.
pub(crate) fn blocks(seen: &Seen, blocks: &[Value]) -> Reply {
    let calls = blocks.iter().any(|block| block["type"] == "tool_use");
    let reason = if calls { "tool_use" } else { "end_turn" };
    let usage = json!({"input_tokens": 1, "output_tokens": 2});
    let message = |content: &[Value]| {
        json!({"id": "msg", "type": "message", "role": "assistant", "model": "served", "content": content,
            "stop_reason": null, "usage": usage})
    };
    if seen.body()["stream"] != true {
        let mut whole = message(blocks);
        whole["stop_reason"] = json!(reason);
        return Reply::Whole(200, "", whole.to_string());
    }
    let mut events = vec![json!({"type": "message_start", "message": message(&[])})];
    for (index, block) in blocks.iter().enumerate() {
        let mut start = block.clone();
        let deltas = match block["type"].as_str().unwrap() {
            "text" => vec![("text", json!(""), json!({"type": "text_delta", "text": block["text"]}))],
            "thinking" => vec![
                ("thinking", json!(""), json!({"type": "thinking_delta", "thinking": block["thinking"]})),
                ("signature", json!(""), json!({"type": "signature_delta", "signature": block["signature"]})),
            ],
            _ => {
                let arguments = block["input"].to_string();
                vec![("input", json!({}), json!({"type": "input_json_delta", "partial_json": arguments}))]
            }
        };
        for (name, empty, _) in &deltas {
            start[*name] = empty.clone();
        }
        events.push(json!({"type": "content_block_start", "index": index, "content_block": start}));
        let deltas = deltas.into_iter().map(|(_, _, delta)| delta);
        events.extend(
            deltas.map(|delta| json!({"type": "content_block_delta", "index": index, "delta": delta})),
        );
        events.push(json!({"type": "content_block_stop", "index": index}));
    }
    events.push(
        json!({"type": "message_delta", "delta": {"stop_reason": reason}, "usage": {"output_tokens": 2}}),
    );
    events.push(json!({"type": "message_stop"}));
    let told = |event: &Value| format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap());
    let all: String = events.iter().map(told).collect();
    Reply::Stream(all.as_bytes().chunks(61).map(<[u8]>::to_vec).collect(), Then::End)
}

/// What an Anthropic server refuses in a conversation: roles that do not take turns, calls without results right behind them,
/// results of no call, thoughts whose seal is another or that lack it, white space alone, and calls of tools that are not there.
pub(crate) fn is_sound(body: &Value) -> Result<(), String> {
    let messages = body["messages"].as_array().ok_or("no messages")?;
    let content = |message: &Value| match &message["content"] {
        Value::Array(blocks) => blocks.clone(),
        text => vec![json!({"type": "text", "text": text})],
    };
    let mut open: Vec<Value> = Vec::new();
    for (place, message) in messages.iter().enumerate() {
        let role = if place % 2 == 0 { "user" } else { "assistant" };
        if message["role"] != role {
            return Err(format!("messages[{place}] is not of the {role}"));
        }
        let blocks = content(message);
        let of = |kind: &str, name: &str| -> Vec<Value> {
            let found = blocks.iter().filter(|block| block["type"] == kind);
            found.map(|block| block[name].clone()).collect()
        };
        let results = of("tool_result", "tool_use_id");
        if results != open || (results.len()..blocks.len()).any(|at| blocks[at]["type"] == "tool_result") {
            return Err(format!("messages[{place}]: {results:?} are not the results of {open:?}"));
        }
        open = of("tool_use", "id");
        if of("text", "text").iter().any(|text| text.as_str().is_none_or(|text| text.trim().is_empty())) {
            return Err(format!("messages[{place}] has an empty text"));
        }
        if of("thinking", "signature").iter().any(|seal| seal.as_str().is_none_or(str::is_empty)) {
            return Err(format!("messages[{place}] has a thought without a seal"));
        }
        let thinks = blocks.iter().position(|block| block["type"] == "thinking");
        if body["thinking"].is_object() && !open.is_empty() && thinks != Some(0) {
            return Err(format!("messages[{place}] does not begin with a thought"));
        }
    }
    if open.is_empty() { Ok(()) } else { Err("the last call has no result".to_owned()) }
}
