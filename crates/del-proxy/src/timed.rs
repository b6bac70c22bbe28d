//! An answer of the model server that has to keep coming.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::Bytes;
use http_body::{Body, Frame, SizeHint};
use tokio::time::{Instant, Sleep};

/// A body that fails when nothing comes of it for too long.
#[derive(Debug)]
pub(crate) struct Timed {
    body: reqwest::Body,
    timer: Pin<Box<Sleep>>,
    between: Duration,
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
    pub(crate) fn new(body: reqwest::Body, first: Duration, between: Duration) -> Self {
        Self { body, timer: Box::pin(tokio::time::sleep(first)), between }
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
        match Pin::new(&mut this.body).poll_frame(context) {
            Poll::Ready(frame) => {
                let later = Instant::now() + this.between;
                this.timer.as_mut().reset(later);
                Poll::Ready(frame.map(|frame| frame.map_err(Interruption::Connection)))
            }
            Poll::Pending => {
                let silent = this.timer.as_mut().poll(context).is_ready();
                if silent { Poll::Ready(Some(Err(Interruption::Silence))) } else { Poll::Pending }
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
