//! Messages as lines on standard input and output. A line that is no message is answered here, as JSON-RPC has it.

use std::io::{self, BufRead, Read};
use std::sync::Arc;

use rmcp::model::{ErrorCode, RequestId};
use rmcp::service::{RoleServer, RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use serde_json::{Value, json};
use tokio::io::{AsyncWriteExt, Stdout};
use tokio::sync::{Mutex, mpsc};
use tokio::task::JoinHandle;

/// Bytes of a line at most.
const LONGEST: usize = 16 << 20;

/// What came from a host.
type Message = RxJsonRpcMessage<RoleServer>;

/// The transport of a server on standard input and output.
pub(crate) struct Lines {
    input: mpsc::Receiver<Line>,
    output: Arc<Mutex<Stdout>>,
    /// The answer to a line that was no message. Nothing more is read until it is out.
    answering: Option<JoinHandle<io::Result<()>>>,
    /// Whether a request came. Nothing else means anything before.
    begun: bool,
}

enum Line {
    Whole(Vec<u8>),
    TooLong,
}

/// Why a line is no message.
#[derive(Debug, PartialEq)]
struct Wrong {
    id: Value,
    code: ErrorCode,
    message: String,
}

impl Lines {
    /// Standard input is read by a thread of its own: a read that never returns keeps nothing from ending.
    pub(crate) fn standard() -> io::Result<Self> {
        let (send, input) = mpsc::channel(4);
        std::thread::Builder::new().name("input".to_owned()).spawn(move || {
            let mut input = io::stdin().lock();
            while let Ok(Some(line)) = next(&mut input) {
                if send.blocking_send(line).is_err() {
                    return;
                }
            }
        })?;
        Ok(Self { input, output: Arc::new(Mutex::new(tokio::io::stdout())), answering: None, begun: false })
    }

    /// Writes a line whole, whoever stops waiting for it.
    fn write(&self, mut line: Vec<u8>) -> JoinHandle<io::Result<()>> {
        line.push(b'\n');
        let output = Arc::clone(&self.output);
        tokio::spawn(async move {
            let mut output = output.lock().await;
            output.write_all(&line).await?;
            output.flush().await
        })
    }
}

impl Transport<RoleServer> for Lines {
    type Error = io::Error;

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let writing = serde_json::to_vec(&item).map(|line| self.write(line));
        async move { writing?.await? }
    }

    async fn receive(&mut self) -> Option<Message> {
        loop {
            if let Some(answering) = &mut self.answering {
                let written = answering.await;
                self.answering = None;
                written.ok()?.ok()?;
            }
            let read = match self.input.recv().await? {
                Line::Whole(line) => read(&line),
                Line::TooLong => Err(Wrong::request(Value::Null, "a line of at most 16 MiB", "a longer one")),
            };
            match read {
                Ok(Some(message)) => {
                    self.begun |= matches!(message, Message::Request(_));
                    if self.begun {
                        return Some(message);
                    }
                }
                Ok(None) => {}
                Err(wrong) => self.answering = Some(self.write(wrong.answer())),
            }
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        // Who waits for it in turn has what was written before it behind him.
        self.output.lock().await.flush().await
    }
}

/// The next line, or that there was one; `None` at the end.
fn next(input: &mut impl BufRead) -> io::Result<Option<Line>> {
    let mut line = Vec::new();
    input.by_ref().take(LONGEST as u64 + 1).read_until(b'\n', &mut line)?;
    if line.is_empty() {
        return Ok(None);
    }
    if line.len() > LONGEST && !line.ends_with(b"\n") {
        input.skip_until(b'\n')?;
        return Ok(Some(Line::TooLong));
    }
    Ok(Some(Line::Whole(line)))
}

/// The message in a line; `None` where there is none that anybody waits for.
fn read(line: &[u8]) -> Result<Option<Message>, Wrong> {
    let line = line.strip_prefix("\u{feff}".as_bytes()).unwrap_or(line).trim_ascii_end();
    if line.is_empty() {
        return Ok(None);
    }
    let mut value: Value = serde_json::from_slice(line).map_err(|error| Wrong {
        id: Value::Null,
        code: ErrorCode::PARSE_ERROR,
        message: format!("Parse error: expected a line of JSON, got one that is none: {error}"),
    })?;
    let object = "one object for each message";
    let Some(members) = value.as_object_mut() else {
        return Err(Wrong::request(Value::Null, object, &kind(&value)));
    };
    let (id, method) = (members.get("id").cloned(), members.get("method").cloned());
    let known = id.clone().filter(|id| serde_json::from_value::<RequestId>(id.clone()).is_ok());
    let answers = method.is_none() && (members.contains_key("result") || members.contains_key("error"));
    // The id of an answer is one of ours: the host may have a request of its own under it.
    let named = known.clone().filter(|_| !answers).unwrap_or_default();
    let wrong = |expected, got: &str| Wrong::request(named.clone(), expected, got);
    if members.get("jsonrpc").and_then(Value::as_str) != Some("2.0") {
        return Err(wrong("\"jsonrpc\": \"2.0\"", &members.get("jsonrpc").map_or("none".to_owned(), kind)));
    }
    match &method {
        Some(Value::String(_)) => {}
        Some(other) => return Err(wrong("a text as method", &kind(other))),
        None if answers => {}
        None => return Err(wrong("a method", "none")),
    }
    if let (Some(_), Some(id), None) = (&method, &id, &known) {
        return Err(wrong("a text or a whole number as id", &kind(id)));
    }
    match members.get("params") {
        Some(Value::Null) => drop(members.remove("params")),
        None | Some(Value::Object(_)) => {}
        Some(_) if known.is_none() => return Ok(None),
        Some(other) => {
            let message = format!("Invalid params: expected an object, got {}", kind(other));
            let id = known.unwrap_or_default();
            return Err(Wrong { id, code: ErrorCode::INVALID_PARAMS, message });
        }
    }
    match serde_json::from_value(value) {
        Ok(message) => Ok(Some(message)),
        // What nobody waits for needs no answer.
        Err(_) if method.is_some() && id.is_none() => Ok(None),
        Err(error) => Err(wrong("a message", &format!("one that cannot be read: {error}"))),
    }
}

fn kind(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(_) => "a truth value".to_owned(),
        Value::Number(number) => format!("the number {number}"),
        Value::String(text) => format!("{:?}", text.chars().take(20).collect::<String>()),
        Value::Array(_) => "an array".to_owned(),
        Value::Object(_) => "an object".to_owned(),
    }
}

impl Wrong {
    fn request(id: Value, expected: &str, got: &str) -> Self {
        let message = format!("Invalid request: expected {expected}, got {got}");
        Self { id, code: ErrorCode::INVALID_REQUEST, message }
    }

    /// The answer as a line. `id` is there also where it is null, which the types of the protocol leave out.
    fn answer(self) -> Vec<u8> {
        let error = json!({"code": self.code.0, "message": self.message});
        json!({"jsonrpc": "2.0", "id": self.id, "error": error}).to_string().into_bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_that_is_too_long_is_skipped() {
        let text = [vec![b'x'; LONGEST + 7], b"\nnext\n".to_vec(), b"last".to_vec()].concat();
        let mut input = io::BufReader::new(&text[..]);
        let mut lines = Vec::new();
        while let Some(line) = next(&mut input).unwrap() {
            lines.push(match line {
                Line::Whole(line) => String::from_utf8(line).unwrap(),
                Line::TooLong => "too long".to_owned(),
            });
        }
        assert_eq!(lines, ["too long", "next\n", "last"]);
    }
}
