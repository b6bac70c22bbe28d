//! What lasts as long as an answer.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use axum::body::{Body, Bytes};
use http_body::{Frame, SizeHint};

/// A connection has requests under way as long as something else holds a copy of this.
#[derive(Debug, Clone, Default)]
pub(crate) struct Busy(Arc<()>);

impl Busy {
    /// True when no request is under way: this one and the service of the connection are all that hold it.
    pub(crate) fn is_idle(&self) -> bool {
        Arc::strong_count(&self.0) <= 2
    }
}

/// The body of an answer, and what is kept until it has gone out.
#[derive(Debug)]
pub(crate) struct Held<T> {
    body: Body,
    _kept: T,
}

impl<T> Held<T> {
    pub(crate) fn new(body: Body, kept: T) -> Self {
        Self { body, _kept: kept }
    }
}

impl<T: Unpin> http_body::Body for Held<T> {
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
