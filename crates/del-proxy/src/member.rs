//! One model server of a route, and what is under way there.

mod breaker;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use axum::body::Bytes;
use axum::http::{HeaderMap, HeaderValue, Method, Response, StatusCode, header};
use prometheus_client::metrics::counter::Counter;
use tokio::time::Instant;

use self::breaker::Breaker;
use crate::coming::Coming;
use crate::metrics::{Ended, Load, Metrics};
use crate::refusal::Refusal;
use crate::upstream::{Goal, Upstream};

/// A model server.
#[derive(Debug)]
pub(crate) struct Member {
    pub(crate) upstream: Upstream,
    /// Its address, which may be shown.
    pub(crate) place: String,
    /// Where it gives answers of a model.
    answers: Goal,
    /// Requests under way.
    busy: AtomicUsize,
    breaker: Mutex<Breaker>,
    /// Counts most of the requests.
    answered: OnceLock<Counter>,
}

/// A request under way at a member, until it is dropped.
#[derive(Debug)]
pub(crate) struct Visit(Arc<Member>);

/// What a request asks a server for.
#[derive(Debug, Clone)]
pub(crate) enum Question<'a> {
    /// An answer of a model; the query of the address goes along.
    Answer(&'a str),
    /// What lies at a path under its API.
    Path(Method, &'a str),
    /// What lies at a path above it.
    Above(Method, &'a str),
}

/// What goes to a server, but for what it asks.
#[derive(Debug, Clone)]
pub(crate) struct Sent<'a> {
    /// The client's.
    pub(crate) headers: &'a HeaderMap,
    /// The client showed its key to the proxy.
    pub(crate) key_is_ours: bool,
    pub(crate) body: Bytes,
}

/// How long a server may take to say whether it is there.
const LOOK: Duration = Duration::from_secs(3);

impl Member {
    pub(crate) fn new(upstream: Upstream) -> Self {
        Self {
            place: upstream.place(),
            answers: upstream.answers(),
            upstream,
            busy: AtomicUsize::new(0),
            breaker: Mutex::default(),
            answered: OnceLock::new(),
        }
    }

    /// What the server says of its models, for a look at whether it is there.
    pub(crate) async fn look(&self) -> Result<StatusCode, Refusal> {
        let sent = self.upstream.send(Method::GET, "/models", &HeaderMap::new, Bytes::new());
        match tokio::time::timeout(LOOK, sent).await {
            Ok(sent) => sent.map(|response| response.status()),
            Err(_) => Err(Refusal::bad_gateway("the model server does not answer")),
        }
    }

    /// Requests under way.
    pub(crate) fn busy(&self) -> usize {
        self.busy.load(Ordering::Relaxed)
    }

    /// How it is now.
    pub(crate) fn load(&self) -> Load {
        Load { place: self.place.clone(), under_way: self.busy(), is_up: self.breaker().is_closed() }
    }

    pub(crate) fn breaker(&self) -> MutexGuard<'_, Breaker> {
        self.breaker.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A request to it ended so.
    pub(crate) fn count(&self, metrics: &Metrics, ended: Ended) {
        let counter = || metrics.asked(&self.place, ended);
        if ended == Ended::Answered {
            self.answered.get_or_init(counter).inc()
        } else {
            counter().inc()
        };
    }

    pub(crate) fn visit(self: &Arc<Self>) -> Visit {
        self.busy.fetch_add(1, Ordering::Relaxed);
        Visit(Arc::clone(self))
    }

    pub(crate) async fn ask(
        &self,
        question: Question<'_>,
        sent: &Sent<'_>,
    ) -> Result<Response<Coming>, Refusal> {
        let upstream = &self.upstream;
        let forwarded = || upstream.forwarded(sent.headers, sent.key_is_ours);
        let of_json = || {
            let mut headers = forwarded();
            headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
            headers
        };
        let body = sent.body.clone();
        match question {
            Question::Answer(query) => upstream.ask(&self.answers, &of_json, query, body).await,
            Question::Path(method, path) => upstream.send(method, path, &forwarded, body).await,
            Question::Above(method, path) => {
                upstream.send_to(method, format!("{}{path}", upstream.root()), &of_json, body).await
            }
        }
    }
}

impl Visit {
    /// Where the request is.
    pub(crate) fn place(&self) -> &str {
        &self.0.place
    }

    /// The server broke off.
    pub(crate) fn failed(&self) {
        self.0.breaker().failed(Instant::now());
    }
}

impl Drop for Visit {
    fn drop(&mut self) {
        self.0.busy.fetch_sub(1, Ordering::Relaxed);
    }
}
