//! A log of requests, a line each.

use std::io::Write;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use del_wire::time::rfc3339;
use serde_json::{Map, Value, json};

use super::{Observer, Record};

/// What a line looks like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    /// A JSON object.
    Json,
    /// Words and `name=value`, for people.
    Text,
}

/// Writes lines, on a thread of its own: whoever reads them slowly delays no request.
#[derive(Debug)]
pub struct Lines {
    /// Nothing once it is closed.
    queue: Mutex<Option<SyncSender<Arc<Record>>>>,
    written: Mutex<Receiver<()>>,
    lost: AtomicU64,
}

/// So many lines may wait.
const ROOM: usize = 4096;
/// Lines that wait have so long to get out at the end.
const FLUSH: Duration = Duration::from_secs(2);

impl Lines {
    /// Writes into `out`, as long as that takes lines.
    pub fn new(style: Style, mut out: impl Write + Send + 'static) -> Self {
        let (queue, records) = sync_channel::<Arc<Record>>(ROOM);
        let (done, written) = sync_channel(1);
        std::thread::spawn(move || {
            for record in records {
                let line = match style {
                    Style::Json => Value::Object(members(&record)).to_string(),
                    Style::Text => words(&record),
                };
                if writeln!(out, "{line}").and_then(|()| out.flush()).is_err() {
                    break;
                }
            }
            let _ = done.send(());
        });
        Self { queue: Mutex::new(Some(queue)), written: Mutex::new(written), lost: AtomicU64::new(0) }
    }
}

impl Observer for Lines {
    fn tell(&self, record: &Arc<Record>) {
        let queue = self.queue.lock().unwrap_or_else(PoisonError::into_inner);
        if queue.as_ref().is_none_or(|queue| queue.try_send(Arc::clone(record)).is_err()) {
            self.lost.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn lost(&self) -> u64 {
        self.lost.load(Ordering::Relaxed)
    }

    fn close(&self) {
        drop(self.queue.lock().unwrap_or_else(PoisonError::into_inner).take());
        let _ = self.written.lock().unwrap_or_else(PoisonError::into_inner).recv_timeout(FLUSH);
    }
}

/// What there is to say, by name; what is not known is left out.
fn members(record: &Record) -> Map<String, Value> {
    let mut members = Map::new();
    let mut add = |name: &str, value: Value| {
        let empty = match &value {
            Value::Null => true,
            Value::Object(inner) => inner.is_empty(),
            Value::Array(inner) => inner.is_empty(),
            _ => false,
        };
        if !empty {
            members.insert(name.to_owned(), value);
        }
    };
    let milliseconds = |time: Duration| json!((time.as_secs_f64() * 1e6).round() / 1e3);
    let summary = &record.summary;
    add("time", json!(record.at.map(time)));
    add("id", json!(record.id));
    add("status", json!(record.status));
    add("method", json!(record.method));
    add("path", json!(record.path));
    add("error", json!(record.error));
    add("key", json!(record.key));
    add("model", json!(record.model));
    add("route", json!(record.route));
    add("upstream", json!(record.upstream));
    if record.requests > 0 {
        add("requests", json!(record.requests));
        add("mode", json!(record.mode.map(super::mode)));
        add("stream", json!(record.streams));
        add("dialect", json!(summary.dialect));
        add("calls", json!(summary.calls));
        add("changed", json!(summary.changed));
        add("refused", json!(summary.refused));
        add("finish", json!(summary.reason));
    }
    add("executed", json!(record.executed));
    add("faults", json!(summary.faults));
    add("mended", record.mended.iter().map(|(kind, count)| (kind.name().to_owned(), json!(count))).collect());
    if let Some(usage) = summary.usage {
        add("input_tokens", json!(usage.prompt));
        add("output_tokens", json!(usage.completion));
    }
    add("head_ms", record.head.map_or(Value::Null, milliseconds));
    add("first_ms", record.first.map_or(Value::Null, milliseconds));
    add("duration_ms", milliseconds(record.duration));
    add("bytes_in", json!(record.bytes_in));
    add("bytes_out", json!(record.bytes_out));
    add("whole", json!(record.whole));
    add("trace_id", json!(record.trace.id));
    if let Some([asked, answered]) = &record.content {
        add("request", json!(asked));
        add("answer", json!(answered));
    }
    members
}

/// The same for people.
fn words(record: &Record) -> String {
    let mut line = String::new();
    for (name, value) in members(record) {
        let value = match value {
            Value::String(text) if is_word(&text) => text,
            other => other.to_string(),
        };
        let named = !matches!(name.as_str(), "time" | "status" | "method" | "path");
        if !line.is_empty() {
            line.push(' ');
        }
        if named {
            line.push_str(&name);
            line.push('=');
        }
        line.push_str(&value);
    }
    line
}

fn is_word(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_graphic() && !matches!(byte, b'"' | b'='))
}

fn time(at: SystemTime) -> String {
    let since = at.duration_since(UNIX_EPOCH).unwrap_or_default();
    let seconds = rfc3339(since.as_secs());
    format!("{}.{:03}Z", seconds.trim_end_matches('Z'), since.subsec_millis())
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, UNIX_EPOCH};

    use super::{members, words};
    use crate::account::Record;

    fn record() -> Record {
        Record {
            id: "req_1".into(),
            at: Some(UNIX_EPOCH + Duration::from_millis(1_709_251_199_007)),
            method: "POST".into(),
            path: "/v1/messages".into(),
            status: 200,
            model: Some("a model".into()),
            duration: Duration::from_micros(1_234_567),
            ..Record::default()
        }
    }

    #[test]
    fn a_line_holds_what_is_known() {
        let expected = r#"{"time":"2024-02-29T23:59:59.007Z","id":"req_1","status":200,"method":"POST","path":"/v1/messages","model":"a model","duration_ms":1234.567,"bytes_in":0,"bytes_out":0,"whole":false,"trace_id":""}"#;
        assert_eq!(serde_json::Value::Object(members(&record())).to_string(), expected);
    }

    #[test]
    fn what_others_say_cannot_break_a_line() {
        let record = Record { model: Some("m\nstatus=500 x".into()), ..record() };
        let line = words(&record);
        assert!(
            line.starts_with(
                "2024-02-29T23:59:59.007Z id=req_1 200 POST /v1/messages model=\"m\\nstatus=500 x\""
            ),
            "{line}"
        );
    }
}
