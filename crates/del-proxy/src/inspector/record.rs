//! One request, as it is kept: what both sides said, byte by byte, and when.

use std::pin::Pin;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::{Instant, SystemTime};

use axum::body::{Body, Bytes};
use axum::http::{Response, StatusCode};
use del_agent::Mode;
use http_body::{Body as _, Frame, SizeHint};

use super::Shared;
use crate::answer::Reader;
use del_wire::ServerApi;

/// A request and all that came of it.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) id: u64,
    pub(super) path: String,
    pub(super) at: SystemTime,
    begun: Instant,
    key: Option<String>,
    shared: Arc<Shared>,
    kept: Mutex<Kept>,
}

/// What is known of a request when it comes.
#[derive(Debug)]
pub(crate) struct Opened {
    pub(crate) path: String,
    pub(crate) body: Bytes,
    /// The name of the key that was shown.
    pub(crate) key: Option<String>,
}

/// What happened.
#[derive(Debug, Default)]
pub(super) struct Kept {
    pub(super) model: String,
    pub(super) asked: Asked,
    pub(super) turns: Vec<Turn>,
    pub(super) status: Option<u16>,
    pub(super) given: Part,
    /// Milliseconds from the request on.
    pub(super) head: Option<f64>,
    pub(super) first: Option<f64>,
    pub(super) end: Option<f64>,
    /// The client hung up, or was told of an error in the middle.
    pub(super) whole: bool,
    bytes: usize,
    forgotten: bool,
}

/// One request to a model server.
#[derive(Debug)]
pub(super) struct Turn {
    pub(super) mode: Option<Mode>,
    pub(super) api: ServerApi,
    pub(super) reader: Option<Reader>,
    pub(super) sent: Asked,
    pub(super) status: Option<u16>,
    pub(super) answer: Part,
    pub(super) begun: f64,
    pub(super) head: Option<f64>,
    pub(super) first: Option<f64>,
    pub(super) end: Option<f64>,
}

/// The body of a request, as far as it is kept: no copy, where all of it is.
#[derive(Debug, Default)]
pub(super) struct Asked {
    pub(super) bytes: Bytes,
    /// So many bytes there were.
    pub(super) all: usize,
}

/// The body of an answer, as far as it is kept.
#[derive(Debug, Default)]
pub(super) struct Part {
    pub(super) bytes: Vec<u8>,
    /// So many there were.
    pub(super) all: usize,
}

/// Of each text of a request, so much is kept.
const MOST_OF_A_PART: usize = 1 << 20;
/// So many requests to model servers are kept of one of a client.
const MOST_TURNS: usize = 64;

/// Keeps what passes.
#[derive(Debug, Clone)]
pub(crate) struct Tap {
    entry: Arc<Entry>,
    /// The turn whose answer it is; without one, it is the client's.
    turn: Option<usize>,
}

/// A request that has no answer yet. Where it is dropped, nobody waits for one any more.
#[derive(Debug)]
pub(crate) struct Watched {
    tap: Tap,
    answered: bool,
}

/// A body that is kept while it passes.
#[derive(Debug)]
struct Tapped {
    body: Body,
    /// Until it is over.
    tap: Option<Tap>,
}

impl Entry {
    /// One without a number.
    pub(super) fn new(opened: Opened, shared: &Arc<Shared>) -> Self {
        let Opened { path, body, key } = opened;
        let asked = Asked::of(&body);
        let bytes = asked.bytes.len();
        shared.bytes.fetch_add(bytes, Ordering::Relaxed);
        let kept = Kept { asked, bytes, whole: true, ..Kept::default() };
        Self {
            id: 0,
            path,
            at: SystemTime::now(),
            begun: Instant::now(),
            key,
            shared: Arc::clone(shared),
            kept: Mutex::new(kept),
        }
    }

    pub(super) fn is_seen_by(&self, key: Option<&str>) -> bool {
        self.key.as_deref() == key
    }

    pub(super) fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps nothing of it any more, also where it is still under way: how many bytes that were.
    pub(super) fn forget(&self) -> usize {
        std::mem::replace(&mut *self.kept(), Kept { forgotten: true, ..Kept::default() }).bytes
    }

    pub(crate) fn of_model(&self, model: &str) {
        model.clone_into(&mut self.kept().model);
    }

    /// A model server is asked this. `reader` says how its answer is read, where it is.
    pub(crate) fn ask(self: &Arc<Self>, body: &Bytes, api: ServerApi, read: Option<(Mode, Reader)>) -> Tap {
        let begun = self.now();
        let (mode, reader) = read.unzip();
        let turn = self.change(|kept| {
            if kept.turns.len() >= MOST_TURNS {
                return (kept.turns.len(), 0);
            }
            let sent = Asked::of(body);
            let grown = sent.bytes.len();
            let answer = Part::default();
            let (status, head, first, end) = (None, None, None, None);
            kept.turns.push(Turn { mode, api, reader, sent, status, answer, begun, head, first, end });
            (kept.turns.len() - 1, grown)
        });
        Tap { entry: Arc::clone(self), turn: Some(turn) }
    }

    /// Milliseconds since the request came.
    fn now(&self) -> f64 {
        self.begun.elapsed().as_secs_f64() * 1e3
    }

    /// Notes something, unless it is forgotten. `change` says how many bytes more are kept.
    fn change<T: Default>(&self, change: impl FnOnce(&mut Kept) -> (T, usize)) -> T {
        let mut kept = self.kept();
        if kept.forgotten {
            return T::default();
        }
        let (value, grown) = change(&mut kept);
        kept.bytes += grown;
        drop(kept);
        self.shared.grew(grown);
        self.shared.news.happened();
        value
    }
}

impl Asked {
    fn of(body: &Bytes) -> Self {
        let bytes = if body.len() > MOST_OF_A_PART {
            Bytes::copy_from_slice(&body[..MOST_OF_A_PART])
        } else {
            body.clone()
        };
        Self { bytes, all: body.len() }
    }
}

impl Part {
    /// How many bytes more are kept.
    fn add(&mut self, more: &[u8]) -> usize {
        self.all += more.len();
        let room = MOST_OF_A_PART.saturating_sub(self.bytes.len()).min(more.len());
        self.bytes.extend_from_slice(&more[..room]);
        room
    }
}

impl Watched {
    pub(super) fn new(entry: Arc<Entry>) -> Self {
        Self { tap: Tap { entry, turn: None }, answered: false }
    }

    pub(crate) fn entry(&self) -> Arc<Entry> {
        Arc::clone(&self.tap.entry)
    }

    /// The answer, kept while it goes out.
    pub(crate) fn answers(mut self, response: Response<Body>) -> Response<Body> {
        self.answered = true;
        self.tap.head(response.status());
        let tap = self.tap.clone();
        response.map(|body| Body::new(Tapped::new(body, tap)))
    }

    /// There is none, for this reason.
    pub(crate) fn refuses(mut self, status: StatusCode, reason: &str) {
        self.answered = true;
        self.tap.head(status);
        self.tap.bytes(reason.as_bytes());
        self.tap.end(true);
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        if !self.answered {
            self.tap.end(false);
        }
    }
}

impl Tapped {
    fn new(body: Body, tap: Tap) -> Self {
        Self { body, tap: Some(tap) }
    }

    fn end(&mut self, whole: bool) {
        if let Some(tap) = self.tap.take() {
            tap.end(whole);
        }
    }
}

impl Tap {
    /// The answer has begun.
    pub(crate) fn head(&self, status: StatusCode) {
        let (now, status) = (self.entry.now(), Some(status.as_u16()));
        self.entry.change(|kept| {
            let at = match self.turn {
                Some(turn) => kept.turns.get_mut(turn).map(|turn| (&mut turn.status, &mut turn.head)),
                None => Some((&mut kept.status, &mut kept.head)),
            };
            if let Some((known, head)) = at {
                (*known, *head) = (status, Some(now));
            }
            ((), 0)
        });
    }

    /// More of it passes.
    pub(crate) fn bytes(&self, bytes: &[u8]) {
        let now = self.entry.now();
        self.entry.change(|kept| {
            let at = match self.turn {
                Some(turn) => kept.turns.get_mut(turn).map(|turn| (&mut turn.first, &mut turn.answer)),
                None => Some((&mut kept.first, &mut kept.given)),
            };
            let grown = at.map_or(0, |(first, part)| {
                first.get_or_insert(now);
                part.add(bytes)
            });
            ((), grown)
        });
    }

    /// It is over; what is not `whole` was broken off.
    pub(crate) fn end(&self, whole: bool) {
        let now = self.entry.now();
        self.entry.change(|kept| {
            let end = match self.turn {
                Some(turn) => kept.turns.get_mut(turn).map(|turn| &mut turn.end),
                None => {
                    if kept.end.is_none() {
                        kept.whole = whole;
                    }
                    Some(&mut kept.end)
                }
            };
            if let Some(end) = end {
                end.get_or_insert(now);
            }
            ((), 0)
        });
    }
}

impl http_body::Body for Tapped {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let frame = std::task::ready!(Pin::new(&mut self.body).poll_frame(context));
        match &frame {
            Some(Ok(frame)) => {
                if let (Some(tap), Some(bytes)) = (&self.tap, frame.data_ref()) {
                    tap.bytes(bytes);
                }
            }
            Some(Err(_)) => self.end(false),
            None => self.end(true),
        }
        if self.body.is_end_stream() {
            self.end(true);
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

impl Drop for Tapped {
    /// One that is not wanted any more has not gone out whole.
    fn drop(&mut self) {
        let empty = self.body.is_end_stream();
        self.end(empty);
    }
}
