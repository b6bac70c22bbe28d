//! An answer of the model server that has to keep coming.

use std::collections::VecDeque;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use axum::body::Bytes;
use http_body::{Body, Frame, SizeHint};
use tokio::time::Instant;

use crate::alarm::Alarm;
use crate::coming::{Cause, Coming};
use crate::inspector::Tap;
use crate::member::Visit;
use crate::pieces::Pieces;

/// A body that fails when nothing comes of it for too long.
#[derive(Debug)]
pub(crate) struct Timed {
    body: Coming,
    /// What came before anybody asked for it, or behind a frame that was given.
    ahead: VecDeque<Came>,
    /// How long the piece that is waited for may take, and since when it is waited for.
    patience: Duration,
    since: Option<Instant>,
    alarm: Alarm,
    between: Duration,
    visit: Visit,
    /// Its failure was counted.
    failed: bool,
    /// Keeps what comes, for whoever looks.
    tap: Option<Tap>,
}

/// A frame, or how the answer ends.
type Came = Option<Result<Frame<Bytes>, Interruption>>;

/// Of what has come at once, so much is given at once.
const MOST_AT_ONCE: usize = 64 << 10;

/// Why an answer ends early.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Interruption {
    /// Nothing came for too long.
    #[error("nothing came for too long")]
    Silence,
    /// The connection is at fault.
    #[error("{}", crate::upstream::reason(&**.0))]
    Connection(Cause),
}

impl Timed {
    /// A body whose first bytes come within `first`, and those that follow within `between` of each other.
    pub(crate) fn new(body: Coming, first: Duration, between: Duration, visit: Visit) -> Self {
        Self {
            body,
            ahead: VecDeque::new(),
            patience: first,
            since: None,
            alarm: Alarm::default(),
            between,
            visit,
            failed: false,
            tap: None,
        }
    }

    /// The same, of which only this comes.
    pub(crate) fn saying(mut self, said: String) -> Self {
        self.ahead = [Some(Ok(Frame::data(said.into()))), None].into();
        self
    }

    /// The same, kept while it comes.
    pub(crate) fn watched_by(mut self, tap: Option<Tap>) -> Self {
        self.tap = tap;
        self
    }

    /// A frame, and what else has come by now: a server that writes an event at a time is read as fast as one that
    /// writes all of them.
    fn with_all_that_came(&mut self, came: Came, context: &mut Context<'_>) -> Came {
        let first = match data(came) {
            Ok(first) => first,
            Err(other) => return other,
        };
        let mut all = Pieces::default();
        all.add(first);
        while all.len() < MOST_AT_ONCE && !self.body.is_end_stream() {
            let Poll::Ready(frame) = Pin::new(&mut self.body).poll_frame(context) else { break };
            match data(frame.map(|frame| frame.map_err(Interruption::Connection))) {
                Ok(more) => all.add(more),
                Err(other) => {
                    self.ahead.push_back(other);
                    break;
                }
            }
        }
        Some(Ok(Frame::data(all.into_bytes())))
    }

    /// Ready when nothing has come for too long.
    fn poll_silence(&mut self, context: &mut Context<'_>) -> Poll<()> {
        let end = *self.since.get_or_insert_with(Instant::now) + self.patience;
        self.alarm.poll_at(end, context)
    }

    fn tell(&self, came: Option<&Result<Frame<Bytes>, Interruption>>) {
        let Some(tap) = &self.tap else { return };
        match came {
            Some(Ok(frame)) => tap.bytes(frame.data_ref().map_or(&[], |bytes| bytes)),
            Some(Err(_)) => tap.end(false),
            None => tap.end(true),
        }
    }

    /// The server that it comes from.
    pub(crate) fn place(&self) -> &str {
        self.visit.place()
    }

    /// Puts back what came first; `over` says that this is all.
    pub(crate) fn put_back(&mut self, came: Bytes, over: bool) {
        if over {
            self.ahead.push_front(None);
        }
        self.ahead.push_front(Some(Ok(Frame::data(came))));
    }

    /// The server is at fault, in whatever it said.
    pub(crate) fn fail(&mut self) {
        if !std::mem::replace(&mut self.failed, true) {
            self.visit.failed();
        }
    }
}

/// The bytes that came, or what else did.
fn data(came: Came) -> Result<Bytes, Came> {
    match came {
        Some(Ok(frame)) => frame.into_data().map_err(|trailers| Some(Ok(trailers))),
        end => Err(end),
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
        let came = match this.ahead.pop_front() {
            Some(came) => came,
            None => match Pin::new(&mut this.body).poll_frame(context) {
                Poll::Ready(frame) => {
                    (this.since, this.patience) = (None, this.between);
                    this.with_all_that_came(
                        frame.map(|frame| frame.map_err(Interruption::Connection)),
                        context,
                    )
                }
                Poll::Pending => {
                    ready!(this.poll_silence(context));
                    Some(Err(Interruption::Silence))
                }
            },
        };
        if matches!(came, Some(Err(_))) {
            this.fail();
        }
        this.tell(came.as_ref());
        Poll::Ready(came)
    }

    fn is_end_stream(&self) -> bool {
        self.ahead.is_empty() && self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        if self.ahead.is_empty() { self.body.size_hint() } else { SizeHint::default() }
    }
}
