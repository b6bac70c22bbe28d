//! An answer of the model server that has to keep coming.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::Bytes;
use http_body::{Body, Frame, SizeHint};
use tokio::time::{Instant, Sleep};

use crate::inspector::Tap;
use crate::pool::Visit;

/// A body that fails when nothing comes of it for too long.
#[derive(Debug)]
pub(crate) struct Timed {
    body: reqwest::Body,
    /// What came before anybody asked for it.
    first: Option<Frame<Bytes>>,
    timer: Pin<Box<Sleep>>,
    between: Duration,
    visit: Visit,
    /// Keeps what comes, for whoever looks.
    tap: Option<Tap>,
}

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
        Self { body, first: None, timer: Box::pin(tokio::time::sleep(first)), between, visit, tap: None }
    }

    /// The same, kept while it comes.
    pub(crate) fn watched_by(mut self, tap: Option<Tap>) -> Self {
        self.tap = tap;
        self
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

    /// Waits for its first bytes, which then come first.
    pub(crate) async fn begin(&mut self) -> Result<(), Interruption> {
        let frame = std::future::poll_fn(|context| Pin::new(&mut *self).poll_frame(context)).await;
        self.first = frame.transpose()?;
        Ok(())
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
        let came = match Pin::new(&mut this.body).poll_frame(context) {
            Poll::Ready(frame) => {
                let later = Instant::now() + this.between;
                this.timer.as_mut().reset(later);
                frame.map(|frame| frame.map_err(Interruption::Connection))
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
        self.first.is_none() && self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        if self.first.is_some() { SizeHint::default() } else { self.body.size_hint() }
    }
}
