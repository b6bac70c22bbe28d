//! A stream to a client that does not fall silent while the model server does.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::http::{HeaderValue, Response, StatusCode, header};
use axum::response::IntoResponse;
use http_body::{Body as _, Frame};
use tokio::time::{Instant, Sleep};

use crate::refusal::Refusal;
use crate::under_way::UnderWay;

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
    /// Knows when a word is wanted before.
    pub(crate) under_way: Option<Arc<UnderWay>>,
}

/// A body that is an answer's once there is one, and says in its pauses that it is still there.
struct Patient {
    coming: Option<Coming>,
    body: Option<Body>,
    timer: Pin<Box<Sleep>>,
    manner: Option<Manner>,
    keep_alive: &'static str,
    after: Duration,
    under_way: Option<Arc<UnderWay>>,
    /// What came last was the end of an event.
    between_events: bool,
}

/// The answer. One that takes long begins before it is known: with status 200, and with what keeps the client waiting.
pub(crate) async fn patiently(mut coming: Coming, manner: Manner) -> Result<Response<Body>, Refusal> {
    let answer = tokio::time::timeout(manner.after, &mut coming).await;
    match answer {
        Ok(Err(refusal)) => Err(refusal),
        Ok(Ok(response)) => {
            let (parts, body) = response.into_parts();
            let mut patient = Patient::new(manner);
            patient.body = Some(body);
            Ok(Response::from_parts(parts, Body::new(patient)))
        }
        Err(_) => {
            let kind = HeaderValue::from_static(manner.content_type);
            let headers =
                [(header::CONTENT_TYPE, kind), (header::CACHE_CONTROL, HeaderValue::from_static("no-cache"))];
            let mut patient = Patient::new(manner);
            patient.coming = Some(coming);
            patient.timer.as_mut().reset(Instant::now());
            Ok((StatusCode::OK, headers, Body::new(patient)).into_response())
        }
    }
}

impl Patient {
    fn new(manner: Manner) -> Self {
        Self {
            coming: None,
            body: None,
            timer: Box::pin(tokio::time::sleep(manner.after)),
            keep_alive: manner.keep_alive,
            after: manner.after,
            under_way: manner.under_way.clone(),
            manner: Some(manner),
            between_events: true,
        }
    }

    /// The next of the answer, or nothing while there is none.
    fn next(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        if let Some(coming) = &mut self.coming {
            let Poll::Ready(answer) = coming.as_mut().poll(context) else { return Poll::Pending };
            self.coming = None;
            let answer = answer.and_then(|response| match response.status() {
                status if status.is_success() => Ok(response),
                status => Err(Refusal::bad_gateway(format!(
                    "the model server answers with status {}",
                    status.as_u16()
                ))),
            });
            match answer {
                Ok(response) => self.body = Some(response.into_body()),
                Err(refusal) => return Poll::Ready(self.fail(&refusal)),
            }
        }
        let Some(body) = &mut self.body else { return Poll::Ready(None) };
        match ready!(Pin::new(body).poll_frame(context)) {
            // Behind half an event nothing can be said.
            Some(Err(error)) if self.between_events => {
                self.body = None;
                Poll::Ready(self.fail(&Refusal::bad_gateway(format!(
                    "the model server broke off in the middle of its answer: {error}"
                ))))
            }
            frame => Poll::Ready(frame),
        }
    }

    /// The last words of a stream that does not come to its end.
    fn fail(&mut self, refusal: &Refusal) -> Option<Result<Frame<Bytes>, axum::Error>> {
        let said = (self.manner.take()?.failure)(refusal);
        Some(Ok(Frame::data(said.into())))
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
            if let Some(Ok(frame)) = &frame
                && let Some(bytes) = frame.data_ref()
            {
                this.between_events = bytes.ends_with(b"\n\n") || bytes.ends_with(b"\r\n\r\n");
            }
            return Poll::Ready(frame);
        }
        let mut is_wanted = this.under_way.as_ref().is_some_and(|under_way| under_way.wants_word());
        while this.timer.as_mut().poll(context).is_ready() || is_wanted {
            is_wanted = false;
            let later = Instant::now() + this.after;
            this.timer.as_mut().reset(later);
            if this.between_events && !this.keep_alive.is_empty() {
                return Poll::Ready(Some(Ok(Frame::data(Bytes::from_static(this.keep_alive.as_bytes())))));
            }
        }
        Poll::Pending
    }
}
