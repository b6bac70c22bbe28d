//! A model server that answers by a script, at next to no cost.

use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

use super::Result;

/// Events of a stream: the role, words, the end.
const EVENTS: usize = 63;
/// Words of one that comes a word a second.
const SLOW_WORDS: usize = 20;
/// Words of one that is timed.
const PACED_WORDS: usize = 16;
/// The time between two of these.
const PACE: Duration = Duration::from_millis(2);

/// Prose, word by word.
const PROSE: &str = "The weather in Paris will be mild tomorrow, with some sun in the morning and a few clouds later on. \
                     Take a light jacket with you, and comfortable shoes if you want to walk along the river. In the \
                     evening it may rain a little, so that an umbrella would not hurt. Have a good time";

/// Answers that are always the same.
struct Script {
    whole: Vec<u8>,
    stream: Vec<u8>,
}

pub(crate) async fn serve(listener: TcpListener) -> Result<()> {
    let script = Arc::new(Script::new());
    loop {
        let (stream, _) = listener.accept().await?;
        stream.set_nodelay(true)?;
        let script = Arc::clone(&script);
        tokio::spawn(async move {
            // Who hangs up ends it.
            let _ = answer(stream, &script).await;
        });
    }
}

async fn answer(mut stream: TcpStream, script: &Script) -> Result<()> {
    let mut bytes = Vec::with_capacity(16 << 10);
    loop {
        bytes.clear();
        let body = loop {
            if stream.read_buf(&mut bytes).await? == 0 {
                return Ok(());
            }
            if let Some(body) = whole_request(&bytes) {
                break body;
            }
        };
        let body = &bytes[body..];
        match model(body) {
            "slow" => slowly(&mut stream).await?,
            "paced" => paced(&mut stream).await?,
            "cut" => {
                stream.write_all(&script.stream[..script.stream.len() / 2]).await?;
                return Ok(());
            }
            "garbage" => stream.write_all(&plain(200, "this is no answer")).await?,
            "error" => stream.write_all(&plain(500, r#"{"error":{"message":"out of memory"}}"#)).await?,
            "away" => return Ok(()),
            _ if contains(body, b"\"stream\":true") => stream.write_all(&script.stream).await?,
            _ => stream.write_all(&script.whole).await?,
        }
    }
}

/// Where the body begins, once it is whole.
fn whole_request(bytes: &[u8]) -> Option<usize> {
    let head = bytes.windows(4).position(|four| four == b"\r\n\r\n")? + 4;
    let text = str::from_utf8(&bytes[..head]).ok()?;
    let length = text.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse::<usize>().ok())?
    });
    (bytes.len() >= head + length.unwrap_or(0)).then_some(head)
}

fn model(body: &[u8]) -> &str {
    let key = b"\"model\":\"";
    let at = body.windows(key.len()).position(|window| window == key).map_or(body.len(), |at| at + key.len());
    let name = body[at..].split(|byte| *byte == b'"').next().unwrap_or_default();
    str::from_utf8(name).unwrap_or_default()
}

fn contains(bytes: &[u8], wanted: &[u8]) -> bool {
    bytes.windows(wanted.len()).any(|window| window == wanted)
}

/// Now, in nanoseconds; all processes have one clock.
pub(crate) fn now() -> u128 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos()
}

/// A stream whose events say when they were written.
async fn paced(stream: &mut TcpStream) -> Result<()> {
    let came = now();
    stream
        .write_all(&[HEAD, &event(&delta(&json!({"role": "assistant", "content": ""}), came))].concat())
        .await?;
    for word in words().take(PACED_WORDS) {
        tokio::time::sleep(PACE).await;
        let mut chunk = delta(&json!({"content": word}), came);
        chunk["written"] = json!(now().to_string());
        stream.write_all(&event(&chunk)).await?;
    }
    stream.write_all(&ending()).await?;
    Ok(())
}

/// A stream of a word a second.
async fn slowly(stream: &mut TcpStream) -> Result<()> {
    stream
        .write_all(&[HEAD, &event(&delta(&json!({"role": "assistant", "content": ""}), 0))].concat())
        .await?;
    for word in words().take(SLOW_WORDS) {
        stream.write_all(&event(&delta(&json!({"content": word}), 0))).await?;
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
    stream.write_all(&ending()).await?;
    Ok(())
}

const HEAD: &[u8] =
    b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncache-control: no-cache\r\ntransfer-encoding: chunked\r\n\r\n";

impl Script {
    fn new() -> Self {
        let mut stream = HEAD.to_vec();
        stream.extend(event(&delta(&json!({"role": "assistant", "content": ""}), 0)));
        for word in words().cycle().take(EVENTS - 2) {
            stream.extend(event(&delta(&json!({"content": word}), 0)));
        }
        stream.extend(ending());
        let message = json!({"role": "assistant", "content": PROSE});
        let whole = json!({"id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": "plain",
            "choices": [{"index": 0, "message": message, "logprobs": null, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": 20, "completion_tokens": 61, "total_tokens": 81}});
        Self { whole: plain(200, &whole.to_string()), stream }
    }
}

/// As models have them: the space belongs to the word behind it.
fn words() -> impl Iterator<Item = String> + Clone {
    PROSE.split(' ').map(|word| format!(" {word}"))
}

fn delta(delta: &Value, came: u128) -> Value {
    let mut chunk = json!({"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "plain",
        "system_fingerprint": "fp_44709d6fcb",
        "choices": [{"index": 0, "delta": delta, "logprobs": null, "finish_reason": null}]});
    if came > 0 {
        chunk["came"] = json!(came.to_string());
    }
    chunk
}

fn ending() -> Vec<u8> {
    let mut chunk = delta(&json!({}), 0);
    chunk["choices"][0]["finish_reason"] = json!("stop");
    [event(&chunk), event_of("[DONE]"), b"0\r\n\r\n".to_vec()].concat()
}

fn event(chunk: &Value) -> Vec<u8> {
    event_of(&chunk.to_string())
}

/// An event, in a chunk of HTTP.
fn event_of(data: &str) -> Vec<u8> {
    let event = format!("data: {data}\n\n");
    format!("{:x}\r\n{event}\r\n", event.len()).into()
}

fn plain(status: u16, body: &str) -> Vec<u8> {
    let length = body.len();
    format!(
        "HTTP/1.1 {status} said\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n{body}"
    )
    .into()
}
