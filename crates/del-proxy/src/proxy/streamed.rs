//! A streamed answer on its way through.

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use axum::body::Bytes;
use http_body::{Body, Frame};

use crate::answer::Stream;
use crate::timed::Timed;

/// What is done with the stream once it is over.
pub(super) type Afterwards = Box<dyn FnOnce(&Stream) + Send>;

/// The body of an answer, made of the server's while that comes in. Dropping it, as happens when the client hangs up,
/// ends the request to the server.
pub(super) struct Streamed {
    /// Nothing once it has ended.
    body: Option<Timed>,
    stream: Stream,
    /// What waits to go out.
    out: Vec<u8>,
    afterwards: Option<Afterwards>,
}

impl Streamed {
    pub(super) fn new(body: Timed, stream: Stream, afterwards: Afterwards) -> Self {
        Self { body: Some(body), stream, out: Vec::new(), afterwards: Some(afterwards) }
    }

    /// Reads on until something of a call is ready to go out, or the answer is over. What comes is held so long.
    pub(super) async fn until_call(&mut self) {
        while !self.stream.has_call() && self.body.is_some() {
            std::future::poll_fn(|context| self.poll(context)).await;
        }
    }

    /// True when the answer has come to its end and holds no call.
    pub(super) fn lacks_call(&self) -> bool {
        self.stream.is_whole() && !self.stream.has_call()
    }

    pub(super) fn stream(&self) -> &Stream {
        &self.stream
    }

    /// Takes the next of the server's answer.
    fn poll(&mut self, context: &mut Context<'_>) -> Poll<()> {
        let Some(body) = &mut self.body else { return Poll::Ready(()) };
        match ready!(Pin::new(body).poll_frame(context)) {
            Some(Ok(frame)) => {
                if let Some(bytes) = frame.data_ref() {
                    self.stream.push(bytes, &mut self.out);
                }
            }
            Some(Err(error)) => self.stream.end(Some(&error.to_string()), &mut self.out),
            None => self.stream.end(None, &mut self.out),
        }
        if self.stream.is_over() {
            self.body = None;
            if let Some(afterwards) = self.afterwards.take() {
                afterwards(&self.stream);
            }
        }
        Poll::Ready(())
    }
}

impl Body for Streamed {
    type Data = Bytes;
    type Error = std::convert::Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        loop {
            if !self.out.is_empty() {
                let out = std::mem::take(&mut self.out);
                return Poll::Ready(Some(Ok(Frame::data(out.into()))));
            }
            if self.body.is_none() {
                return Poll::Ready(None);
            }
            ready!(self.poll(context));
        }
    }
}
