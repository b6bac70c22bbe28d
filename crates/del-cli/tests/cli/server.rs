//! A model server that gives the answers of a script, in the place of one on another machine.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex, MutexGuard};

use rustix::net::{AddressFamily, SocketFlags, SocketType, bind, getsockname, listen, socket_with};
use serde_json::{Value, json};

/// One answer to a request for a completion.
#[derive(Debug, Clone)]
pub(crate) enum Reply {
    /// A status with a body.
    Status(u16, String),
    /// A status with a header and a body.
    Header(u16, &'static str, String),
    /// A stream of these chunks, ended as streams end.
    Stream(Vec<Value>),
    /// A stream of these chunks, and then the connection is cut.
    HangUp(Vec<Value>),
    /// These bytes in place of a stream.
    Bytes(String),
    /// A stream of these chunks that then goes on without a word.
    Silence(Vec<Value>),
}

/// A server on a port of its own.
#[derive(Debug)]
pub(crate) struct Server {
    address: String,
    seen: Arc<Mutex<Vec<Seen>>>,
    /// Taken for each completion.
    gate: Arc<Mutex<()>>,
}

/// A server that is not there yet: a port that is bound refuses, and nobody else gets it meanwhile.
#[derive(Debug)]
pub(crate) struct Away {
    socket: OwnedFd,
    pub(crate) address: SocketAddr,
}

/// A request that came.
#[derive(Debug, Clone)]
pub(crate) struct Seen {
    pub(crate) path: String,
    pub(crate) authorization: Option<String>,
    /// Anthropic's header for a key.
    pub(crate) key: Option<String>,
    pub(crate) body: Value,
}

/// What the server says besides completions.
#[derive(Debug, Clone)]
pub(crate) struct About {
    pub(crate) models: (u16, String),
    pub(crate) props: Option<Value>,
    /// Paths and what is there.
    pub(crate) others: Vec<(&'static str, String)>,
    /// What is at this path never ends.
    pub(crate) endless: Option<&'static str>,
    /// At this path not a word is said.
    pub(crate) mute: Option<&'static str>,
    /// Requests with tools are refused.
    pub(crate) refuses_tools: bool,
}

impl Away {
    pub(crate) fn new() -> Self {
        let socket =
            socket_with(AddressFamily::INET, SocketType::STREAM, SocketFlags::CLOEXEC, None).unwrap();
        bind(&socket, &SocketAddr::from((Ipv4Addr::LOCALHOST, 0))).unwrap();
        let address = getsockname(&socket).unwrap().try_into().unwrap();
        Self { socket, address }
    }

    pub(crate) fn comes(self) -> TcpListener {
        listen(&self.socket, 16).unwrap();
        self.socket.into()
    }
}

impl Default for About {
    fn default() -> Self {
        let models = json!({"object": "list", "data": [{"id": "scripted", "object": "model"}]});
        let models = (200, models.to_string());
        Self { models, props: None, others: Vec::new(), endless: None, mute: None, refuses_tools: false }
    }
}

impl Server {
    /// A server that gives these answers, one after the other, and the last one again and again.
    pub(crate) fn new(script: Vec<Reply>) -> Self {
        Self::about(About::default(), script)
    }

    pub(crate) fn about(about: About, script: Vec<Reply>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}/v1", listener.local_addr().unwrap());
        let seen = Arc::new(Mutex::new(Vec::new()));
        let log = Arc::clone(&seen);
        let gate = Arc::new(Mutex::new(()));
        let held = Arc::clone(&gate);
        std::thread::spawn(move || {
            let mut script = script.into_iter().peekable();
            for stream in listener.incoming() {
                answer(stream.unwrap(), &about, &mut script, &log, &held);
            }
        });
        Self { address, seen, gate }
    }

    pub(crate) fn url(&self) -> &str {
        &self.address
    }

    /// No completion is given before this is dropped: what is shown meanwhile can be looked at.
    pub(crate) fn hold(&self) -> MutexGuard<'_, ()> {
        self.gate.lock().unwrap()
    }

    /// The requests for completions.
    pub(crate) fn completions(&self) -> Vec<Seen> {
        let seen = self.seen.lock().unwrap();
        seen.iter().filter(|seen| completes(&seen.path)).cloned().collect()
    }

    /// The requests for a path.
    pub(crate) fn requests(&self, path: &str) -> Vec<Seen> {
        let seen = self.seen.lock().unwrap();
        seen.iter().filter(|seen| seen.path.ends_with(path)).cloned().collect()
    }
}

type Script = std::iter::Peekable<std::vec::IntoIter<Reply>>;

fn answer(
    mut stream: TcpStream,
    about: &About,
    script: &mut Script,
    log: &Mutex<Vec<Seen>>,
    gate: &Mutex<()>,
) {
    let seen = read(&stream);
    let path = seen.path.clone();
    let refused = about.refuses_tools && seen.body.get("tools").is_some();
    log.lock().unwrap().push(seen);
    // The other side may be gone: that is what some tests are about.
    let _ = match path.as_str() {
        path if about.others.iter().any(|(known, _)| *known == path) => {
            let told = about.others.iter().find(|(known, _)| *known == path).map(|(_, told)| told.as_str());
            respond(&mut stream, 200, "", told.unwrap_or_default())
        }
        path if path.ends_with("/models") => respond(&mut stream, about.models.0, "", &about.models.1),
        path if about.mute == Some(path) => {
            stay(stream);
            Ok(())
        }
        path if about.endless == Some(path) => flood(&mut stream),
        "/props" => match &about.props {
            Some(props) => respond(&mut stream, 200, "", &props.to_string()),
            None => respond(&mut stream, 404, "", "{}"),
        },
        _ if refused => {
            let error = json!({"error": {"message": "scripted does not support tools"}});
            respond(&mut stream, 400, "", &error.to_string())
        }
        path if completes(path) => {
            drop(gate.lock().unwrap());
            let last = script.len() == 1;
            let reply = if last { script.peek().cloned() } else { script.next() };
            reply.map_or(Ok(()), |reply| complete(stream, &reply))
        }
        _ => respond(&mut stream, 404, "", "{\"error\": {\"message\": \"no such path\"}}"),
    };
}

/// Whether answers are given at this path, in some API.
fn completes(path: &str) -> bool {
    ["/chat/completions", "/responses", "/messages", "/api/chat"].iter().any(|known| path.ends_with(known))
}

fn read(stream: &TcpStream) -> Seen {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line).unwrap();
    let path = line.split(' ').nth(1).unwrap_or_default().to_owned();
    let (mut length, mut authorization, mut key) = (0, None, None);
    loop {
        line.clear();
        reader.read_line(&mut line).unwrap();
        let Some((name, value)) = line.trim().split_once(": ") else { break };
        match name.to_lowercase().as_str() {
            "content-length" => length = value.parse().unwrap(),
            "x-api-key" => key = Some(value.to_owned()),
            "authorization" => authorization = Some(value.to_owned()),
            _ => {}
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).unwrap();
    Seen { path, authorization, key, body: serde_json::from_slice(&body).unwrap_or_default() }
}

fn respond(stream: &mut TcpStream, status: u16, header: &str, body: &str) -> std::io::Result<()> {
    let length = body.len();
    write!(
        stream,
        "HTTP/1.1 {status} X\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n{header}connection: close\r\n\r\n{body}"
    )
}

/// Writes until the other side has had enough.
fn flood(stream: &mut TcpStream) -> std::io::Result<()> {
    begin(stream)?;
    let text = " ".repeat(1 << 16);
    loop {
        piece(stream, &text)?;
    }
}

fn complete(mut stream: TcpStream, reply: &Reply) -> std::io::Result<()> {
    match reply {
        Reply::Status(status, body) => respond(&mut stream, *status, "", body),
        Reply::Header(status, header, body) => respond(&mut stream, *status, header, body),
        Reply::Stream(chunks) => {
            begin(&mut stream)?;
            send(&mut stream, chunks)?;
            piece(&mut stream, "data: [DONE]\n\n")?;
            stream.write_all(b"0\r\n\r\n")?;
            stay(stream);
            Ok(())
        }
        Reply::HangUp(chunks) => {
            begin(&mut stream)?;
            send(&mut stream, chunks)
        }
        Reply::Silence(chunks) => {
            begin(&mut stream)?;
            send(&mut stream, chunks)?;
            stay(stream);
            Ok(())
        }
        Reply::Bytes(bytes) => {
            begin(&mut stream)?;
            piece(&mut stream, bytes)?;
            stream.write_all(b"0\r\n\r\n")
        }
    }
}

/// Keeps the connection until the other side closes it or says something more.
fn stay(mut stream: TcpStream) {
    std::thread::spawn(move || stream.read(&mut [0]));
}

fn begin(stream: &mut TcpStream) -> std::io::Result<()> {
    stream.write_all(
        // Not a word about the end of the connection, which yet takes no second request: llama.cpp does the same.
        b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n",
    )
}

/// The chunks as events, cut in the middle of the bytes: a network cuts anywhere.
fn send(stream: &mut TcpStream, chunks: &[Value]) -> std::io::Result<()> {
    let events: Vec<String> = chunks.iter().map(|chunk| format!("data: {chunk}\n\n")).collect();
    for bytes in events.concat().as_bytes().chunks(50) {
        write!(stream, "{:x}\r\n", bytes.len())?;
        stream.write_all(bytes)?;
        stream.write_all(b"\r\n")?;
    }
    stream.flush()
}

fn piece(stream: &mut TcpStream, text: &str) -> std::io::Result<()> {
    write!(stream, "{:x}\r\n{text}\r\n", text.len())
}

/// A text as a model streams it, word by word, with the usage at the end.
pub(crate) fn says(text: &str) -> Reply {
    Reply::Stream(words(text).into_iter().chain(end("stop")).collect())
}

/// The chunks of a text, without the end.
pub(crate) fn words(text: &str) -> Vec<Value> {
    let delta = |content: &str| json!({"choices": [{"index": 0, "delta": {"content": content}}]});
    text.split_inclusive(' ').map(delta).collect()
}

/// Thinking over the API, word by word, and then a text.
pub(crate) fn thinks(thought: &str, text: &str) -> Reply {
    let delta = |thought: &str| json!({"choices": [{"index": 0, "delta": {"reasoning_content": thought}}]});
    let chunks = thought.split_inclusive(' ').map(delta).chain(words(text)).chain(end("stop"));
    Reply::Stream(chunks.collect())
}

/// A call over the API.
pub(crate) fn calls(id: &str, name: &str, arguments: &Value) -> Reply {
    let chunk = |call: Value| json!({"choices": [{"index": 0, "delta": {"tool_calls": [call]}}]});
    let arguments = arguments.to_string();
    let (first, second) = arguments.split_at(arguments.len() / 2);
    let mut chunks = vec![
        chunk(json!({"index": 0, "id": id, "type": "function", "function": {"name": name, "arguments": ""}})),
        chunk(json!({"index": 0, "function": {"arguments": first}})),
        chunk(json!({"index": 0, "function": {"arguments": second}})),
    ];
    chunks.extend(end("tool_calls"));
    Reply::Stream(chunks)
}

fn end(reason: &str) -> [Value; 2] {
    [
        json!({"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]}),
        json!({"choices": [], "usage": {"prompt_tokens": 100, "completion_tokens": 7}}),
    ]
}
