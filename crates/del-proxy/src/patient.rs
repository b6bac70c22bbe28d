//! A stream to a client that does not fall silent while the model server does.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::http::{HeaderValue, Response, StatusCode, header};
use axum::response::IntoResponse;
use http_body::{Body as _, Frame};
use tokio::time::{Instant, Sleep};

use crate::refusal::Refusal;

/// The answer while there is none.
type Coming = Pin<Box<dyn Future<Output = Result<Response<Body>, Refusal>> + Send>>;

/// Writes why there will be no answer.
type Failure = Box<dyn FnOnce(&Refusal) -> Vec<u8> + Send>;

/// How a silent stream is kept alive, and how it tells that there will be no answer.
pub(crate) struct Manner {
    pub(crate) content_type: &'static str,
    pub(crate) keep_alive: &'static str,
    pub(crate) failure: Failure,
    /// After this long without a word.
    pub(crate) after: Duration,
}

/// A body that is an answer's once there is one, and says in its pauses that it is still there.
struct Patient {
    coming: Option<Coming>,
    body: Option<Body>,
    timer: Pin<Box<Sleep>>,
    manner: Option<Manner>,
    keep_alive: &'static str,
    after: Duration,
}

/// The answer. One that takes long begins before it is known: with status 200, and with what keeps the client waiting.
pub(crate) async fn patiently(mut coming: Coming, manner: Manner) -> Result<Response<Body>, Refusal> {
    let answer = tokio::time::timeout(manner.after, &mut coming).await;
    let (keep_alive, after) = (manner.keep_alive, manner.after);
    let timer = Box::pin(tokio::time::sleep(after));
    match answer {
        Ok(Err(refusal)) => Err(refusal),
        Ok(Ok(response)) => {
            let (parts, body) = response.into_parts();
            let body = Patient { coming: None, body: Some(body), timer, manner: None, keep_alive, after };
            Ok(Response::from_parts(parts, Body::new(body)))
        }
        Err(_) => {
            let kind = HeaderValue::from_static(manner.content_type);
            let no_store = HeaderValue::from_static("no-cache");
            let timer = Box::pin(tokio::time::sleep(Duration::ZERO));
            let body =
                Patient { coming: Some(coming), body: None, timer, manner: Some(manner), keep_alive, after };
            let headers = [(header::CONTENT_TYPE, kind), (header::CACHE_CONTROL, no_store)];
            Ok((StatusCode::OK, headers, Body::new(body)).into_response())
        }
    }
}

impl Patient {
    /// The next of the answer, or nothing while there is none.
    fn next(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        if let Some(coming) = &mut self.coming {
            let Poll::Ready(answer) = coming.as_mut().poll(context) else { return Poll::Pending };
            self.coming = None;
            match answer {
                Ok(response) => self.body = Some(response.into_body()),
                Err(refusal) => {
                    let Some(manner) = self.manner.take() else { return Poll::Ready(None) };
                    let said = (manner.failure)(&refusal);
                    return Poll::Ready(Some(Ok(Frame::data(said.into()))));
                }
            }
        }
        match &mut self.body {
            Some(body) => Pin::new(body).poll_frame(context),
            None => Poll::Ready(None),
        }
    }
}

impl http_body::Body for Patient {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let this = &mut *self;
        if let Poll::Ready(frame) = this.next(context) {
            let later = Instant::now() + this.after;
            this.timer.as_mut().reset(later);
            return Poll::Ready(frame);
        }
        while this.timer.as_mut().poll(context).is_ready() {
            let later = Instant::now() + this.after;
            this.timer.as_mut().reset(later);
            if !this.keep_alive.is_empty() {
                return Poll::Ready(Some(Ok(Frame::data(Bytes::from_static(this.keep_alive.as_bytes())))));
            }
        }
        Poll::Pending
    }
}
