//! A streamed answer on its way through.

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use axum::body::Bytes;
use http_body::{Body, Frame};

use crate::answer::Stream;
use crate::upstream::reason;

/// The body of an answer, made of the server's while that comes in. Dropping it, as happens when the client hangs up,
/// ends the request to the server.
#[derive(Debug)]
pub(super) struct Streamed {
    /// Nothing once it has ended.
    body: Option<reqwest::Body>,
    stream: Stream,
}

impl Streamed {
    pub(super) fn new(body: reqwest::Body, stream: Stream) -> Self {
        Self { body: Some(body), stream }
    }
}

impl Body for Streamed {
    type Data = Bytes;
    type Error = std::convert::Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        let this = &mut *self;
        loop {
            let Some(body) = &mut this.body else { return Poll::Ready(None) };
            let mut out = Vec::new();
            match ready!(Pin::new(body).poll_frame(context)) {
                Some(Ok(frame)) => {
                    if let Some(bytes) = frame.data_ref() {
                        this.stream.push(bytes, &mut out);
                    }
                }
                Some(Err(error)) => this.stream.end(Some(&reason(&error)), &mut out),
                None => this.stream.end(None, &mut out),
            }
            if this.stream.is_over() {
                this.body = None;
            }
            if !out.is_empty() {
                return Poll::Ready(Some(Ok(Frame::data(out.into()))));
            }
        }
    }
}
