//! A body that is written by a future: dropping the one ends the other.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

use axum::body::Bytes;
use http_body::{Body, Frame};
use tokio::sync::mpsc::Receiver;

type Driver = Pin<Box<dyn Future<Output = ()> + Send>>;

/// What a future sends.
pub(super) struct Driven {
    /// Nothing once it has ended.
    driver: Option<Driver>,
    coming: Receiver<Bytes>,
    /// What came first, where somebody waited for it.
    first: Option<Bytes>,
}

impl Driven {
    /// The driver holds the other end of `coming`.
    pub(super) fn new(driver: Driver, coming: Receiver<Bytes>) -> Self {
        Self { driver: Some(driver), coming, first: None }
    }

    /// Waits until there is something to go out, or the future has ended.
    pub(super) async fn begin(&mut self) {
        let Ok(frame) =
            std::future::poll_fn(|context| Pin::new(&mut *self).poll_frame(context)).await.transpose();
        self.first = frame.and_then(|frame| frame.into_data().ok());
    }
}

impl Body for Driven {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let frame = |bytes| Poll::Ready(Some(Ok(Frame::data(bytes))));
        if let Some(bytes) = self.first.take() {
            return frame(bytes);
        }
        if let Ok(bytes) = self.coming.try_recv() {
            return frame(bytes);
        }
        if let Some(driver) = &mut self.driver
            && driver.as_mut().poll(context).is_ready()
        {
            self.driver = None;
        }
        match self.coming.poll_recv(context) {
            Poll::Ready(Some(bytes)) => frame(bytes),
            Poll::Ready(None) => Poll::Ready(None),
            Poll::Pending => Poll::Pending,
        }
    }
}
