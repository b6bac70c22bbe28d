//! What is told of a request once it is over: to a log, to a collector of traces and metrics. Never what was said in it,
//! unless somebody asked for that.

mod lines;
mod trace;

use std::fmt::Debug;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::{Duration, Instant, SystemTime};

use axum::body::{Body, Bytes};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, Response};
use del_agent::Mode;
use del_wire::Mendings;
use http_body::{Body as _, Frame, SizeHint};

pub use self::lines::{Lines, Style};
pub use self::trace::Trace;
use crate::answer::Summary;
use del_wire::ServerApi;

/// One who is told of requests.
pub trait Observer: Debug + Send + Sync {
    /// A request is over. Does not block: what there is no room for is lost, and counted.
    fn tell(&self, record: &Arc<Record>);

    /// How many records were lost.
    fn lost(&self) -> u64;

    /// True when model servers are told of the span that this proxy is in a trace.
    fn traces(&self) -> bool {
        false
    }

    /// Takes nothing more, and blocks until what it took is out, a few seconds at most.
    fn close(&self);
}

/// What is known of a request that is over.
#[derive(Debug, Clone, Default)]
pub struct Record {
    /// Its id, which the client has as well.
    pub id: String,
    /// When it came.
    pub at: Option<SystemTime>,
    /// What was asked for.
    pub method: String,
    /// The path, without a query.
    pub path: String,
    /// The name of the key that was shown.
    pub key: Option<String>,
    /// The status of the answer; 499 where the client was gone before there was one.
    pub status: u16,
    /// The kind of error, where the proxy refused.
    pub error: Option<&'static str>,
    /// The model that was asked for.
    pub model: Option<String>,
    /// The models of the route.
    pub route: Option<String>,
    /// The model server that was asked last.
    pub upstream: Option<String>,
    /// The API that it speaks.
    pub server_api: Option<ServerApi>,
    /// Requests to model servers.
    pub requests: u32,
    /// From the request to the first of these.
    pub asked_after: Option<Duration>,
    /// How the model was told of its tools.
    pub mode: Option<Mode>,
    /// Whether the answer was to be streamed.
    pub streams: bool,
    /// What was in the answers, all together.
    pub summary: Summary,
    /// What was wrong with the conversation.
    pub mended: Mendings,
    /// The tools that ran here.
    pub executed: Vec<String>,
    /// From the request to the head of the answer.
    pub head: Option<Duration>,
    /// To its first bytes.
    pub first: Option<Duration>,
    /// To its end.
    pub duration: Duration,
    /// Bytes of the request's body.
    pub bytes_in: u64,
    /// Bytes of the answer's body.
    pub bytes_out: u64,
    /// The answer has gone out to its end.
    pub whole: bool,
    /// The beginnings of both bodies, where they are wanted.
    pub content: Option<[String; 2]>,
    /// The place in a trace.
    pub trace: Trace,
}

/// Whoever is told, and of what.
#[derive(Debug, Default)]
pub(crate) struct Observers {
    list: Vec<Arc<dyn Observer>>,
    content: bool,
}

/// A request under way. When nobody holds it any more, it is over.
#[derive(Debug)]
pub(crate) struct Account {
    observers: Arc<Observers>,
    begun: Instant,
    record: Mutex<Record>,
}

/// A body that is counted while it goes out.
#[derive(Debug)]
struct Counted {
    body: Body,
    account: Arc<Account>,
}

/// So much of each body is told where contents are.
const MOST_CONTENT: usize = 64 << 10;
/// What nginx says of a client that is gone.
const CLIENT_GONE: u16 = 499;

impl Observers {
    pub(crate) fn new(list: Vec<Arc<dyn Observer>>, content: bool) -> Arc<Self> {
        Arc::new(Self { list, content })
    }

    /// A request begins, unless nobody wants to know.
    pub(crate) fn open(self: &Arc<Self>, parts: &mut Parts, id: &HeaderValue) -> Option<Arc<Account>> {
        if self.list.is_empty() {
            return None;
        }
        let trace = Trace::of(&parts.headers);
        if self.list.iter().any(|observer| observer.traces()) {
            trace.pass_on(&mut parts.headers);
        }
        let record = Record {
            id: String::from_utf8_lossy(id.as_bytes()).into_owned(),
            at: Some(SystemTime::now()),
            method: parts.method.to_string(),
            path: parts.uri.path().to_owned(),
            status: CLIENT_GONE,
            content: self.content.then(Default::default),
            trace,
            ..Record::default()
        };
        let account = Arc::new(Account {
            observers: Arc::clone(self),
            begun: Instant::now(),
            record: Mutex::new(record),
        });
        parts.extensions.insert(Arc::clone(&account));
        Some(account)
    }

    pub(crate) fn lost(&self) -> u64 {
        self.list.iter().map(|observer| observer.lost()).sum()
    }

    pub(crate) fn close(&self) {
        self.list.iter().for_each(|observer| observer.close());
    }
}

impl Account {
    /// That of a request, where somebody wants to know of it.
    pub(crate) fn of(parts: &Parts) -> Option<&Arc<Self>> {
        parts.extensions.get()
    }

    /// Notes something.
    pub(crate) fn note(&self, note: impl FnOnce(&mut Record)) {
        note(&mut self.record.lock().unwrap_or_else(PoisonError::into_inner));
    }

    /// The request has come whole.
    pub(crate) fn asks(&self, body: &Bytes) {
        self.note(|record| {
            record.bytes_in = body.len() as u64;
            if let Some([asked, _]) = &mut record.content {
                add(asked, body);
            }
        });
    }

    /// A model server is going to be asked.
    pub(crate) fn sends(&self, mode: Mode, api: ServerApi) {
        let now = self.begun.elapsed();
        self.note(|record| {
            record.requests += 1;
            record.asked_after.get_or_insert(now);
            (record.mode, record.server_api) = (Some(mode), Some(api));
        });
    }

    /// The answer, counted while it goes out.
    pub(crate) fn answers(
        self: Arc<Self>,
        response: Response<Body>,
        error: Option<&'static str>,
    ) -> Response<Body> {
        let now = self.begun.elapsed();
        self.note(|record| {
            (record.status, record.head) = (response.status().as_u16(), Some(now));
            // A short stream may have broken off before its head goes out.
            record.error = error.or(record.error);
            record.whole = response.body().is_end_stream();
        });
        response.map(|body| Body::new(Counted { body, account: self }))
    }
}

impl Drop for Account {
    fn drop(&mut self) {
        let mut record = std::mem::take(self.record.get_mut().unwrap_or_else(PoisonError::into_inner));
        record.duration = self.begun.elapsed();
        let record = Arc::new(record);
        self.observers.list.iter().for_each(|observer| observer.tell(&record));
    }
}

impl http_body::Body for Counted {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let frame = std::task::ready!(Pin::new(&mut self.body).poll_frame(context));
        let over = matches!(frame, None | Some(Ok(_))) && self.body.is_end_stream() || frame.is_none();
        let now = self.account.begun.elapsed();
        self.account.note(|record| {
            record.whole |= over;
            let Some(bytes) = frame.as_ref().and_then(|frame| frame.as_ref().ok()?.data_ref()) else {
                return;
            };
            record.first.get_or_insert(now);
            record.bytes_out += bytes.len() as u64;
            if let Some([_, answered]) = &mut record.content {
                add(answered, bytes);
            }
        });
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// The name of a mode.
pub(crate) fn mode(mode: Mode) -> &'static str {
    match mode {
        Mode::Native => "native",
        Mode::Prompt => "prompt",
    }
}

/// Adds what there is room for.
fn add(text: &mut String, bytes: &[u8]) {
    let room = MOST_CONTENT.saturating_sub(text.len()).min(bytes.len());
    text.push_str(&String::from_utf8_lossy(&bytes[..room]));
}

fn text_of<'h>(headers: &'h HeaderMap, name: &str) -> Option<&'h str> {
    headers.get(name)?.to_str().ok()
}
