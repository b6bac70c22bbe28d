//! An answer of the model server that has to keep coming.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::Bytes;
use http_body::{Body, Frame, SizeHint};
use tokio::time::{Instant, Sleep};

use crate::inspector::Tap;
use crate::pool::Visit;

/// A body that fails when nothing comes of it for too long. What comes at one time is one piece.
#[derive(Debug)]
pub(crate) struct Timed {
    body: reqwest::Body,
    /// What came before anybody asked for it.
    first: Option<Frame<Bytes>>,
    joined: Joined,
    timer: Pin<Box<Sleep>>,
    between: Duration,
    visit: Visit,
    /// Keeps what comes, for whoever looks.
    tap: Option<Tap>,
}

/// Pieces that came at one time.
#[derive(Debug, Default)]
struct Joined {
    first: Option<Bytes>,
    /// That one and those behind it, where there are any.
    all: Vec<u8>,
    /// Whoever reads the connection was given the time to bring more.
    waited: bool,
    /// What follows and is no piece.
    then: Option<Came>,
}

/// What came of a body.
type Came = Option<Result<Frame<Bytes>, Interruption>>;

/// So many bytes are a piece at most.
const LARGEST_PIECE: usize = 64 << 10;

/// Why an answer ends early.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Interruption {
    /// Nothing came for too long.
    #[error("nothing came for too long")]
    Silence,
    /// The connection is at fault.
    #[error("{}", crate::upstream::reason(.0))]
    Connection(reqwest::Error),
}

impl Timed {
    /// A body whose first bytes come within `first`, and those that follow within `between` of each other.
    pub(crate) fn new(body: reqwest::Body, first: Duration, between: Duration, visit: Visit) -> Self {
        let (timer, joined) = (Box::pin(tokio::time::sleep(first)), Joined::default());
        Self { body, first: None, joined, timer, between, visit, tap: None }
    }

    /// The same, kept while it comes.
    pub(crate) fn watched_by(mut self, tap: Option<Tap>) -> Self {
        self.tap = tap;
        self
    }

    /// The next piece. Servers write each event for itself, and their connections are read piece by piece; to hand them on
    /// so would cost a write each.
    fn next(&mut self, context: &mut Context<'_>) -> Poll<Came> {
        if let Some(then) = self.joined.then.take() {
            return Poll::Ready(then);
        }
        while self.joined.len() < LARGEST_PIECE {
            match Pin::new(&mut self.body).poll_frame(context) {
                Poll::Ready(Some(Ok(frame))) if frame.is_data() => {
                    self.joined.add(frame.into_data().unwrap_or_default());
                }
                Poll::Ready(came) => {
                    let came = came.map(|came| came.map_err(Interruption::Connection));
                    let Some(piece) = self.joined.take() else { return Poll::Ready(came) };
                    self.joined.then = Some(came);
                    return Poll::Ready(Some(Ok(piece)));
                }
                Poll::Pending if self.joined.len() == 0 => return Poll::Pending,
                Poll::Pending if self.joined.waited => break,
                Poll::Pending => {
                    self.joined.waited = true;
                    context.waker().wake_by_ref();
                    return Poll::Pending;
                }
            }
        }
        Poll::Ready(self.joined.take().map(Ok))
    }

    fn tell(&self, came: Option<&Result<Frame<Bytes>, Interruption>>) {
        let Some(tap) = &self.tap else { return };
        match came {
            Some(Ok(frame)) => tap.bytes(frame.data_ref().map_or(&[], |bytes| bytes)),
            Some(Err(_)) => tap.end(false),
            None => tap.end(true),
        }
    }

    /// Nothing waits that came already.
    fn is_fresh(&self) -> bool {
        self.first.is_none() && self.joined.first.is_none() && self.joined.then.is_none()
    }

    /// The server that it comes from.
    pub(crate) fn place(&self) -> &str {
        self.visit.place()
    }

    /// Waits for its first bytes, which then come first.
    pub(crate) async fn begin(&mut self) -> Result<(), Interruption> {
        let frame = std::future::poll_fn(|context| Pin::new(&mut *self).poll_frame(context)).await;
        self.first = frame.transpose()?;
        Ok(())
    }
}

impl Joined {
    fn len(&self) -> usize {
        self.first.as_ref().map_or(0, Bytes::len).max(self.all.len())
    }

    fn add(&mut self, bytes: Bytes) {
        self.waited = false;
        match &self.first {
            None => self.first = Some(bytes),
            Some(first) => {
                if self.all.is_empty() {
                    self.all.extend_from_slice(first);
                }
                self.all.extend_from_slice(&bytes);
            }
        }
    }

    fn take(&mut self) -> Option<Frame<Bytes>> {
        self.waited = false;
        let first = self.first.take()?;
        let all = std::mem::take(&mut self.all);
        Some(Frame::data(if all.is_empty() { first } else { all.into() }))
    }
}

impl Body for Timed {
    type Data = Bytes;
    type Error = Interruption;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Interruption>>> {
        let this = &mut *self;
        if let Some(first) = this.first.take() {
            let came = Some(Ok(first));
            this.tell(came.as_ref());
            return Poll::Ready(came);
        }
        let came = match this.next(context) {
            Poll::Ready(came) => {
                let later = Instant::now() + this.between;
                this.timer.as_mut().reset(later);
                came
            }
            Poll::Pending if this.timer.as_mut().poll(context).is_ready() => Some(Err(Interruption::Silence)),
            Poll::Pending => return Poll::Pending,
        };
        if matches!(came, Some(Err(_))) {
            this.visit.failed();
        }
        this.tell(came.as_ref());
        Poll::Ready(came)
    }

    fn is_end_stream(&self) -> bool {
        self.is_fresh() && self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        if self.is_fresh() { self.body.size_hint() } else { SizeHint::default() }
    }
}
