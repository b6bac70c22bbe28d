//! A server of the protocol over HTTP, in the place of one on another machine.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

/// A server on a port of its own. It answers each request on a connection of its own.
pub(super) struct Remote {
    address: SocketAddr,
    seen: Arc<Mutex<Vec<Request>>>,
}

/// A request that came.
#[derive(Debug, Clone)]
pub(super) struct Request {
    /// `GET`, `POST` or `DELETE`.
    pub(super) verb: String,
    /// Names in lower case.
    headers: Vec<(String, String)>,
    pub(super) body: Value,
}

/// What a server is called by.
pub(super) const SESSION: &str = "mcp-session-id";

impl Remote {
    /// A server that answers as `how` says; what that leaves is answered as it should be.
    pub(super) fn new(how: impl Fn(&Request, &mut TcpStream) -> Option<()> + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let seen = Arc::new(Mutex::new(Vec::new()));
        let (log, how) = (Arc::clone(&seen), Arc::new(how));
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let (log, how) = (Arc::clone(&log), Arc::clone(&how));
                std::thread::spawn(move || {
                    let mut stream = stream.unwrap();
                    // A connection that brought nothing asks nothing.
                    let Some(request) = Request::read(&stream) else { return };
                    log.lock().unwrap().push(request.clone());
                    how(&request, &mut stream).unwrap_or_else(|| request.answer(&mut stream));
                });
            }
        });
        Self { address, seen }
    }

    /// A server that does all as it should.
    pub(super) fn honest() -> Self {
        Self::new(|_, _| None)
    }

    pub(super) fn url(&self) -> String {
        format!("http://{}/mcp", self.address)
    }

    /// The requests so far.
    pub(super) fn seen(&self) -> Vec<Request> {
        self.seen.lock().unwrap().clone()
    }

    /// The methods that were asked for so far.
    pub(super) fn methods(&self) -> Vec<String> {
        self.seen().iter().map(|request| request.method().to_owned()).collect()
    }
}

impl Request {
    fn read(stream: &TcpStream) -> Option<Self> {
        let mut reader = BufReader::new(stream);
        let mut line = String::new();
        reader.read_line(&mut line).ok().filter(|count| *count > 0)?;
        let verb = line.split(' ').next()?.to_owned();
        let mut headers = Vec::new();
        loop {
            line.clear();
            reader.read_line(&mut line).ok()?;
            let Some((name, value)) = line.trim().split_once(": ") else { break };
            headers.push((name.to_lowercase(), value.to_owned()));
        }
        let mut request = Self { verb, headers, body: Value::Null };
        let mut body = vec![0; request.header("content-length").unwrap_or("0").parse().ok()?];
        reader.read_exact(&mut body).ok()?;
        request.body = serde_json::from_slice(&body).unwrap_or_default();
        Some(request)
    }

    pub(super) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    pub(super) fn method(&self) -> &str {
        self.body["method"].as_str().unwrap_or_default()
    }

    pub(super) fn is_call(&self) -> bool {
        self.method() == "tools/call"
    }

    /// Answers as a server should.
    fn answer(&self, stream: &mut TcpStream) {
        let tool = json!({"name": "echo", "description": "Says it", "inputSchema": {"type": "object"}});
        match self.method() {
            "initialize" => {
                let result = json!({
                    "protocolVersion": self.body["params"]["protocolVersion"],
                    "capabilities": {"tools": {}}, "serverInfo": {"name": "far", "version": "1"},
                });
                respond(stream, "200 OK", &format!("{SESSION}: s-1\r\n"), &self.reply(&result));
            }
            "tools/list" => send(stream, &[self.reply(&json!({"tools": [tool]}))]),
            "tools/call" => self.say(stream, &self.body["params"]["arguments"].to_string()),
            _ if self.verb == "POST" => respond(stream, "202 Accepted", "", ""),
            _ if self.verb == "DELETE" => respond(stream, "200 OK", "", ""),
            _ => respond(stream, "405 Method Not Allowed", "", ""),
        }
    }

    /// Answers a call with this text.
    pub(super) fn say(&self, stream: &mut TcpStream, text: &str) {
        let result = json!({"content": [{"type": "text", "text": text}]});
        respond(stream, "200 OK", "", &self.reply(&result));
    }

    /// The message that answers the request.
    pub(super) fn reply(&self, result: &Value) -> String {
        json!({"jsonrpc": "2.0", "id": self.body["id"], "result": result}).to_string()
    }
}

/// Answers with a stream of these messages.
pub(super) fn send(stream: &mut TcpStream, messages: &[String]) {
    let events: Vec<String> =
        messages.iter().map(|text| format!("event: message\ndata: {text}\n\n")).collect();
    begin(stream, "text/event-stream");
    // The other side may have had enough.
    let _ = stream.write_all(events.concat().as_bytes());
}

/// One more message of a stream.
pub(super) fn event(stream: &mut TcpStream, message: &Value) {
    let _ = stream.write_all(format!("event: message\ndata: {message}\n\n").as_bytes());
}

/// Answers with a document.
pub(super) fn respond(stream: &mut TcpStream, status: &str, headers: &str, body: &str) {
    let length = body.len();
    let head = format!(
        "HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n{headers}connection: close\r\n\r\n"
    );
    let _ = stream.write_all((head + body).as_bytes());
}

/// Begins an answer that ends with its connection.
pub(super) fn begin(stream: &mut TcpStream, kind: &str) {
    let head = format!("HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\nconnection: close\r\n\r\n");
    let _ = stream.write_all(head.as_bytes());
}

/// Writes a piece again and again until the other side has had enough. How many bytes went out; at most a gigabyte.
pub(super) fn flood(stream: &mut TcpStream, piece: &str) -> u64 {
    let mut sent = 0;
    while sent < 1 << 30 && stream.write_all(piece.as_bytes()).is_ok() {
        sent += piece.len() as u64;
    }
    sent
}

/// Says nothing more until the other side leaves.
pub(super) fn wait(stream: &mut TcpStream) {
    let _ = stream.read(&mut [0]);
}
