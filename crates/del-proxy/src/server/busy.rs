//! Whether a connection has a request under way.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use axum::body::{Body, Bytes};
use http_body::{Frame, SizeHint};

/// A connection has requests under way as long as something else holds a copy of this.
#[derive(Debug, Clone, Default)]
pub(super) struct Busy(Arc<()>);

impl Busy {
    /// True when no request is under way: this one and the service of the connection are all that hold it.
    pub(super) fn is_idle(&self) -> bool {
        Arc::strong_count(&self.0) <= 2
    }

    /// The request is under way until its answer has gone out.
    pub(super) fn until_end_of(self, body: Body) -> Answer {
        Answer { body, _busy: self }
    }
}

/// The body of an answer.
#[derive(Debug)]
pub(super) struct Answer {
    body: Body,
    _busy: Busy,
}

impl http_body::Body for Answer {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
