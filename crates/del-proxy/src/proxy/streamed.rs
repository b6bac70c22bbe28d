//! A streamed answer on its way through.

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use axum::body::Bytes;
use del_wire::FromServer;
use http_body::{Body, Frame};

use crate::answer::{Asking, Reader, Stream};
use crate::refusal::Refusal;
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
    /// How to go on where the answer asks for something.
    further: Option<Further>,
    /// What it goes on with, on its way.
    coming: Option<Coming>,
}

/// Asks the server once more: with what it was asked for, so that the answer can go on.
pub(super) type Further = Box<dyn FnOnce(Asking) -> Coming + Send>;
/// The server's next answer.
pub(super) type Coming = Pin<Box<dyn Future<Output = Result<Next, Refusal>> + Send>>;

/// The next answer of the server, how it is read, and how to go on from that one.
pub(super) struct Next {
    pub(super) body: Timed,
    pub(super) reader: Reader,
    pub(super) server: FromServer,
    pub(super) further: Further,
}

impl Streamed {
    pub(super) fn new(body: Timed, stream: Stream, afterwards: Afterwards) -> Self {
        Self {
            body: Some(body),
            stream,
            out: Vec::new(),
            afterwards: Some(afterwards),
            further: None,
            coming: None,
        }
    }

    /// What to do where the answer asks for something.
    pub(super) fn further(&mut self, further: Further) {
        self.further = Some(further);
        if self.body.is_none() {
            self.settle();
        }
    }

    /// Takes what the answer asks for, where nothing of it went out.
    pub(super) fn take_asking(&mut self) -> Option<Asking> {
        self.stream.take_asking()
    }

    /// Reads on until something of a call is ready to go out in each of so many choices, or the answer is over. What comes
    /// is held so long.
    pub(super) async fn until_call(&mut self, choices: u64) {
        while !self.stream.has_calls(choices) && self.body.is_some() {
            std::future::poll_fn(|context| self.poll(context)).await;
        }
    }

    /// Reads on until something is ready to go out, or the answer is over.
    pub(super) async fn until_word(&mut self) {
        while !self.has_word() && self.body.is_some() {
            std::future::poll_fn(|context| self.poll(context)).await;
        }
    }

    /// True when something is ready to go out.
    pub(super) fn has_word(&self) -> bool {
        !self.out.is_empty()
    }

    /// True when the answer has come to its end, which is no limit of tokens, and a choice of it holds no call.
    pub(super) fn lacks_call(&self) -> bool {
        self.stream.lacks_call()
    }

    pub(super) fn stream(&self) -> &Stream {
        &self.stream
    }

    /// Takes the next of the server's answer.
    fn poll(&mut self, context: &mut Context<'_>) -> Poll<()> {
        if let Some(coming) = &mut self.coming {
            let next = ready!(coming.as_mut().poll(context));
            self.coming = None;
            match next {
                Ok(Next { body, reader, server, further }) => {
                    self.stream.go_on(reader, server);
                    (self.body, self.further) = (Some(body), Some(further));
                }
                Err(refusal) => {
                    self.stream.give_up(&refusal.to_string(), &mut self.out);
                    self.end();
                }
            }
            return Poll::Ready(());
        }
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
            self.settle();
        }
        Poll::Ready(())
    }

    /// The server's answer is over: another one comes where it asks for something, as soon as it is known how to go on.
    fn settle(&mut self) {
        if !self.stream.asks() {
            return self.end();
        }
        if let Some(further) = self.further.take() {
            self.coming = self.stream.take_asking().map(further);
        }
    }

    /// Nothing more comes.
    fn end(&mut self) {
        if let Some(afterwards) = self.afterwards.take() {
            afterwards(&self.stream);
        }
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
            if self.body.is_none() && self.coming.is_none() {
                return Poll::Ready(None);
            }
            ready!(self.poll(context));
        }
    }
}
