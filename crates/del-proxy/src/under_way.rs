//! How far the request is that is under way on a connection, of which there is one at a time.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::BoxError;
use axum::body::{Body, Bytes};
use axum::http::{Request, Version, header};
use http_body::{Frame, SizeHint};
use tokio::time::Instant;

use crate::alarm::Alarm;

/// What the connection, those who read it, and those who answer know of a request.
#[derive(Debug)]
pub(crate) struct UnderWay {
    /// A request has come, and its answer has not gone out.
    begun: AtomicBool,
    /// More of the request has to come.
    coming: AtomicBool,
    /// Nothing of the answer has gone out, and the client reads past interim ones.
    takes_interim: AtomicBool,
    /// A stream should say something, so that it shows whether anybody is there.
    wants_word: AtomicBool,
    /// What was seen of the head that is read next.
    head: AtomicU8,
    /// The length of the body whose head was read last.
    body: AtomicU64,
    /// The rest of a request is not waited for any more.
    stops: AtomicBool,
    /// Rings when the rest of a body is late.
    alarm: Mutex<Alarm>,
}

/// Nobody has seen the head: it was sent before the answer to the request before it.
const UNSEEN: u8 = 0;
const WITHOUT_LENGTH: u8 = 1;
const WITH_LENGTH: u8 = 2;

/// No head was read.
const NO_BODY: u64 = u64::MAX;
/// The body comes in chunks, of which the last has not been read.
const IN_CHUNKS: u64 = u64::MAX - 1;
/// The last chunk was read.
const LAST_CHUNK: u64 = u64::MAX - 2;

/// Why nobody can say for sure where a request ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unsure {
    /// It names a length, and comes in chunks.
    BothLengths,
    /// It comes in chunks, and its head was sent ahead: whether that names a length was not seen.
    SentAhead,
    /// It comes in chunks of something else than its body, or says twice how it comes.
    Coded,
}

/// Why the rest of a body is not waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum CutShort {
    /// It is late.
    #[error("expected the body of the request within {} seconds", PATIENCE.as_secs())]
    Late,
    /// The server stops.
    #[error("the proxy stops before the request has come whole")]
    Stops,
}

/// How long a client may take to send its body.
const PATIENCE: Duration = Duration::from_secs(60);

/// A request is under way as long as this is there.
#[derive(Debug)]
pub(crate) struct Begun(Arc<UnderWay>);

impl Default for UnderWay {
    fn default() -> Self {
        Self {
            begun: AtomicBool::new(false),
            coming: AtomicBool::new(false),
            takes_interim: AtomicBool::new(false),
            wants_word: AtomicBool::new(false),
            head: AtomicU8::new(UNSEEN),
            body: AtomicU64::new(NO_BODY),
            stops: AtomicBool::new(false),
            alarm: Mutex::default(),
        }
    }
}

impl UnderWay {
    /// The whole head of a request was seen on the connection. It is the next that is read.
    pub(crate) fn sees_head(&self, with_length: bool) {
        self.head.store(if with_length { WITH_LENGTH } else { WITHOUT_LENGTH }, Ordering::Relaxed);
        self.body.store(NO_BODY, Ordering::Relaxed);
    }

    /// The head of a request was read.
    pub(crate) fn begin<B: http_body::Body>(
        self: &Arc<Self>,
        request: &Request<B>,
    ) -> (Begun, Option<Unsure>) {
        self.takes_interim.store(request.version() >= Version::HTTP_11, Ordering::Relaxed);
        self.begun.store(true, Ordering::Relaxed);
        let in_chunks = request.headers().contains_key(header::TRANSFER_ENCODING);
        let length = if in_chunks { IN_CHUNKS } else { request.body().size_hint().exact().unwrap_or(0) };
        self.body.store(length, Ordering::Relaxed);
        let coded = || {
            let mut codings = request.headers().get_all(header::TRANSFER_ENCODING).iter();
            codings.next().is_some_and(|first| !first.as_bytes().eq_ignore_ascii_case(b"chunked"))
                || codings.next().is_some()
        };
        let unsure = match self.head.swap(UNSEEN, Ordering::Relaxed) {
            _ if !in_chunks => None,
            WITHOUT_LENGTH if coded() => Some(Unsure::Coded),
            WITHOUT_LENGTH => None,
            WITH_LENGTH => Some(Unsure::BothLengths),
            _ => Some(Unsure::SentAhead),
        };
        (Begun(Arc::clone(self)), unsure)
    }

    /// True when the request that was last has come whole, and nothing behind it, where `read` bytes came behind its head,
    /// and the last of them end with an empty line or not.
    pub(crate) fn ended_with(&self, read: u64, empty_line: bool) -> bool {
        match self.body.load(Ordering::Relaxed) {
            NO_BODY | IN_CHUNKS => false,
            LAST_CHUNK => empty_line,
            length => length == read,
        }
    }

    pub(crate) fn is_idle(&self) -> bool {
        !self.begun.load(Ordering::Relaxed)
    }

    /// The rest of a request is not waited for, from the next look on.
    pub(crate) fn stop(&self) {
        self.stops.store(true, Ordering::Relaxed);
    }

    /// Ready when the rest of a body is not waited for any more, which began to be read at `since`.
    fn poll_cut(&self, since: Instant, context: &mut Context<'_>) -> Poll<CutShort> {
        if self.stops.load(Ordering::Relaxed) {
            return Poll::Ready(CutShort::Stops);
        }
        let mut alarm = self.alarm.lock().unwrap_or_else(PoisonError::into_inner);
        alarm.poll_at(since + PATIENCE, context).map(|()| CutShort::Late)
    }

    /// True, once, when a stream should say something.
    pub(crate) fn wants_word(&self) -> bool {
        self.wants_word.load(Ordering::Relaxed) && self.wants_word.swap(false, Ordering::Relaxed)
    }

    /// A stream should say something.
    pub(crate) fn ask_for_word(&self) {
        self.wants_word.store(true, Ordering::Relaxed);
    }

    /// True when something may go out before the answer.
    pub(crate) fn takes_interim(&self) -> bool {
        self.takes_interim.load(Ordering::Relaxed)
    }

    /// The answer begins, or something that goes before it.
    pub(crate) fn writes(&self) {
        if self.owes_answer() {
            self.takes_interim.store(false, Ordering::Relaxed);
        }
    }

    /// True when nothing more of the client is needed but that it takes its answer.
    pub(crate) fn owes_answer(&self) -> bool {
        !self.is_idle() && !self.coming.load(Ordering::Relaxed)
    }
}

impl Drop for Begun {
    fn drop(&mut self) {
        self.0.begun.store(false, Ordering::Relaxed);
    }
}

/// The body of a request. Until it is over, or nobody wants it any more, more of the request has to come.
#[derive(Debug)]
pub(crate) struct Arriving<B> {
    body: B,
    /// Since when more of it is waited for.
    since: Option<Instant>,
    under_way: Arc<UnderWay>,
}

impl<B> Arriving<B>
where
    B: http_body::Body<Data = Bytes> + Send + Unpin + 'static,
    B::Error: Into<BoxError>,
{
    /// The body of the request that has begun.
    pub(crate) fn of(under_way: &Arc<UnderWay>, body: B) -> Body {
        if body.is_end_stream() {
            return Body::new(body);
        }
        under_way.coming.store(true, Ordering::Relaxed);
        Body::new(Self { body, since: None, under_way: Arc::clone(under_way) })
    }
}

impl<B> http_body::Body for Arriving<B>
where
    B: http_body::Body + Unpin,
    B::Error: Into<BoxError>,
{
    type Data = B::Data;
    type Error = BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<B::Data>, BoxError>>> {
        let Poll::Ready(frame) = Pin::new(&mut self.body).poll_frame(context) else {
            let since = *self.since.get_or_insert_with(Instant::now);
            let cut = self.under_way.poll_cut(since, context);
            return cut.map(|why| Some(Err(why.into())));
        };
        if frame.is_none() {
            let last = |body| (body == IN_CHUNKS).then_some(LAST_CHUNK);
            let _ = self.under_way.body.fetch_update(Ordering::Relaxed, Ordering::Relaxed, last);
        }
        Poll::Ready(frame.map(|frame| frame.map_err(Into::into)))
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

impl<B> Drop for Arriving<B> {
    fn drop(&mut self) {
        self.under_way.coming.store(false, Ordering::Relaxed);
    }
}
