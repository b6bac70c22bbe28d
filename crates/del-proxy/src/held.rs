//! What lasts as long as a body.

use std::pin::Pin;
use std::task::{Context, Poll};

use axum::body::{Body, Bytes};
use http_body::{Frame, SizeHint};

/// A body, and what is kept until it is over.
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
