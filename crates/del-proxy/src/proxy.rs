//! What requests share, and what is the same for all of them.

mod behind;
mod driven;
mod exchange;
mod injected;
mod runs;
mod streamed;
mod summary;
mod turns;

use std::error::Error;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::{Arc, PoisonError, RwLock};

use axum::body::{Body, Bytes, to_bytes};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Request, Response, StatusCode, header};
use http_body::Body as _;
use tokio::sync::watch;
use tokio::task::JoinSet;

pub(crate) use self::exchange::DROPPED;
use self::exchange::Exchange;
pub(crate) use self::summary::shortened;
use crate::account::{Account, Observers};
use crate::api::Api;
use crate::gate::Gate;
use crate::inspector::{Inspector, Opened};
use crate::keys::{Holder, Keys};
use crate::member::{Question, Sent};
use crate::memory::Memory;
use crate::metrics::Metrics;
use crate::packed;
use crate::pieces::Pieces;
use crate::pool::Turn;
use crate::refusal::Refusal;
use crate::request::KnownTools;
use crate::route::{Route, Routes};
use crate::settings::{Settings, SettingsError};
use crate::surrogates::without_halves;
use crate::timed::Timed;
use crate::under_way::{CutShort, UnderWay};
use crate::upstream::{reason, that_go_on};

/// Everything that requests share.
#[derive(Debug)]
pub struct Proxy {
    /// What holds until other settings come. A request keeps to those that it began with.
    setup: RwLock<Arc<Setup>>,
    address: SocketAddr,
    pub(crate) metrics: Metrics,
    pub(crate) observers: Arc<Observers>,
    pub(crate) memory: Memory,
    pub(crate) inspector: Option<Arc<Inspector>>,
    /// Clients send the same tools with each request.
    pub(crate) tools: KnownTools,
    /// True once the server stops.
    stops: watch::Sender<bool>,
}

/// The settings at work.
#[derive(Debug)]
pub(crate) struct Setup {
    /// Without the routes and the keys.
    pub(crate) settings: Settings,
    pub(crate) routes: Routes,
    pub(crate) gate: Gate,
    /// They end with it.
    _watches: JoinSet<()>,
}

impl Proxy {
    /// A proxy that is going to listen at this address. It needs a runtime where a route has several model servers, to
    /// look at them.
    ///
    /// # Errors
    /// When the settings do not go together.
    pub fn new(settings: Settings, address: SocketAddr) -> Result<Arc<Self>, SettingsError> {
        let memory = Memory::new(settings.memory);
        let inspector = settings.inspector.is_some().then(Inspector::new);
        let observers = Observers::new(settings.observers.clone(), settings.tells_content);
        let setup = RwLock::new(Arc::new(Setup::new(settings, address)?));
        let (tools, stops) = (KnownTools::default(), watch::Sender::new(false));
        let metrics = Metrics::new();
        Ok(Arc::new(Self { setup, address, metrics, observers, memory, inspector, tools, stops }))
    }

    /// From now on, requests are answered with these settings. Those under way keep to theirs.
    ///
    /// # Errors
    /// When the settings do not go together. Then nothing changes.
    pub fn reload(&self, settings: Settings) -> Result<(), SettingsError> {
        let setup = Arc::new(Setup::new(settings, self.address)?);
        *self.setup.write().unwrap_or_else(PoisonError::into_inner) = setup;
        Ok(())
    }

    pub(crate) fn setup(&self) -> Arc<Setup> {
        Arc::clone(&self.setup.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Nothing new begins.
    pub(crate) fn stop(&self) {
        self.stops.send_replace(true);
    }

    /// True once it stops.
    pub(crate) fn stopping(&self) -> watch::Receiver<bool> {
        self.stops.subscribe()
    }

    /// Answers a request for an answer of a model.
    pub(crate) async fn answer(
        self: Arc<Self>,
        setup: Arc<Setup>,
        api: Api,
        request: Request<Body>,
        under_way: Option<Arc<UnderWay>>,
    ) -> Result<Response<Body>, Refusal> {
        let (parts, body) = request.into_parts();
        let bytes = setup.read(&parts, body).await?;
        if let Some(account) = Account::of(&parts) {
            account.asks(&bytes);
        }
        let Some(inspector) = self.inspector.clone() else {
            return Exchange::new(self, setup, api, parts, bytes)?.on(under_way).run().await;
        };
        let key = parts.extensions.get::<Arc<Holder>>().map(|holder| holder.name.clone());
        let path = parts.uri.path().to_owned();
        let watched = inspector.open(Opened { path, body: bytes.clone(), key });
        let answer = match Exchange::new(self, setup, api, parts, bytes) {
            Ok(exchange) => exchange.on(under_way).watched_by(watched.entry()).run().await,
            Err(refusal) => Err(refusal),
        };
        match answer {
            Ok(response) => Ok(watched.answers(response)),
            Err(refusal) => {
                watched.refuses(refusal.status(), &refusal.to_string());
                Err(refusal)
            }
        }
    }

    /// Passes a request on to a route and its answer back, both as they are.
    pub(crate) async fn pass(
        &self,
        setup: &Setup,
        route: &Route,
        parts: &Parts,
        path: &str,
        body: Bytes,
    ) -> Result<Response<Body>, Refusal> {
        let mut turn = route.pool.turn(&self.metrics);
        let path = format!("{path}{}", query(parts));
        let question = Question::Path(parts.method.clone(), &path);
        Ok(self.passed(setup, &mut turn, parts, question, body).await?.map(Body::new))
    }

    /// The same, before it goes back.
    async fn passed(
        &self,
        setup: &Setup,
        turn: &mut Turn<'_>,
        parts: &Parts,
        question: Question<'_>,
        body: Bytes,
    ) -> Result<Response<Timed>, Refusal> {
        let sent = setup.sent(&parts.headers, body);
        let response = turn.ask(question, &sent).await?;
        if let Some(account) = Account::of(parts) {
            account.note(|record| record.upstream = Some(response.body().place().to_owned()));
        }
        let (mut parts, body) = response.into_parts();
        parts.headers = that_go_on(parts.headers);
        Ok(Response::from_parts(parts, body))
    }
}

impl Setup {
    fn new(mut settings: Settings, address: SocketAddr) -> Result<Self, SettingsError> {
        let routes = Routes::new(std::mem::take(&mut settings.routes), settings.dialects)?;
        let keys = Keys::new(std::mem::take(&mut settings.keys));
        if !address.ip().is_loopback() && keys.is_empty() {
            return Err(SettingsError::NoKey { address });
        }
        let mut watches = JoinSet::new();
        for route in routes.iter().filter(|route| route.pool.members().len() > 1) {
            watches.spawn(Arc::clone(&route.pool).watch(settings.health_interval));
        }
        let gate = Gate::new(address, keys).open_to(std::mem::take(&mut settings.origins));
        Ok(Self { settings, routes, gate, _watches: watches })
    }

    /// The body of a request, unpacked where it is packed.
    pub(crate) async fn read(&self, parts: &Parts, body: Body) -> Result<Bytes, Refusal> {
        let (headers, limit) = (&parts.headers, self.settings.max_body);
        let too_large = || {
            Refusal::new(
                StatusCode::PAYLOAD_TOO_LARGE,
                "invalid_request_error",
                format!("expected a body of at most {limit} bytes, got more"),
            )
            .hint("start the proxy with a larger --max-body")
        };
        let length =
            headers.get(header::CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse().ok());
        if length.is_some_and(|length: u64| length > limit as u64) {
            return Err(too_large());
        }
        let packed = packed::kind(headers)?;
        let body = match packed {
            Some(kind) => packed::unpacked(kind, body).await?,
            None => body,
        };
        match to_bytes(body, limit).await {
            Ok(bytes) => Ok(without_halves(bytes)),
            Err(error) if is_limit(&error) => Err(too_large()),
            Err(error) => Err(match cut_short(&error) {
                Some(late @ CutShort::Late) => {
                    Refusal::new(StatusCode::REQUEST_TIMEOUT, "invalid_request_error", late.to_string())
                }
                Some(stops @ CutShort::Stops) => Refusal::unavailable(stops.to_string()),
                None => Refusal::bad_request(match packed {
                    Some(kind) => format!(
                        "expected a body that is packed as {kind}, got one that is not ({})",
                        reason(&error)
                    ),
                    None => "the body of the request broke off".to_owned(),
                }),
            }),
        }
    }

    /// What goes to a model server with this body, for a client with these headers.
    pub(crate) fn sent<'a>(&self, headers: &'a HeaderMap, body: Bytes) -> Sent<'a> {
        Sent { headers, key_is_ours: self.gate.wants_key(), body }
    }
}

/// The text of an answer of at most so many bytes.
pub(crate) async fn text(body: Timed, limit: usize) -> Result<String, Refusal> {
    Ok(String::from_utf8(bytes(body, limit).await?.into())
        .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned()))
}

/// The same as it came.
async fn bytes(mut body: Timed, limit: usize) -> Result<Bytes, Refusal> {
    let mut pieces = Pieces::default();
    while let Some(frame) = std::future::poll_fn(|context| Pin::new(&mut body).poll_frame(context)).await {
        let place = body.place();
        let Ok(frame) = frame else {
            return Err(Refusal::bad_gateway(format!(
                "the model server at {place} broke off in the middle of its answer"
            )));
        };
        let more = frame.into_data().unwrap_or_default();
        if pieces.len() + more.len() > limit {
            return Err(Refusal::bad_gateway(format!(
                "expected an answer of at most {limit} bytes from the model server at {place}, got more"
            )));
        }
        pieces.add(more);
    }
    Ok(pieces.into_bytes())
}

/// Of an address, with its question mark.
fn query(parts: &Parts) -> String {
    parts.uri.query().map_or_else(String::new, |query| format!("?{query}"))
}

/// Adds a header, where its value may stand in one.
fn insert(headers: &mut HeaderMap, name: &'static str, value: &str) {
    if let Ok(value) = HeaderValue::from_str(value) {
        headers.insert(HeaderName::from_static(name), value);
    }
}

fn is_limit(error: &axum::Error) -> bool {
    causes(error).any(|cause| cause.to_string() == "length limit exceeded")
}

fn cut_short(error: &axum::Error) -> Option<CutShort> {
    causes(error).find_map(|cause| cause.downcast_ref().copied())
}

fn causes(error: &axum::Error) -> impl Iterator<Item = &(dyn Error + 'static)> {
    let first: &(dyn Error + 'static) = error;
    std::iter::successors(Some(first), |cause: &&(dyn Error + 'static)| (*cause).source())
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;
    use std::task::{Context, Poll};

    use http_body::Frame;

    use super::*;
    use crate::under_way::Arriving;

    /// The beginning of a body whose rest does not come.
    struct Half(Option<Bytes>);

    impl http_body::Body for Half {
        type Data = Bytes;
        type Error = Infallible;

        fn poll_frame(
            mut self: Pin<&mut Self>,
            _: &mut Context<'_>,
        ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
            self.0.take().map_or(Poll::Pending, |bytes| Poll::Ready(Some(Ok(Frame::data(bytes)))))
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_body_that_does_not_come_whole_is_cut_short() {
        for (packed, stops) in [(false, false), (false, true), (true, false), (true, true)] {
            let under_way = Arc::<UnderWay>::default();
            if stops {
                under_way.stop();
            }
            let begun = tokio::time::Instant::now();
            let body = Arriving::of(&under_way, Half(Some(Bytes::from_static(b"\x1f\x8b\x08"))));
            let body = if packed { packed::unpacked("gzip", body).await.unwrap() } else { body };
            let error = to_bytes(body, 1024).await.unwrap_err();
            let (why, after) = if stops { (CutShort::Stops, 0) } else { (CutShort::Late, 60) };
            assert_eq!((cut_short(&error), begun.elapsed().as_secs()), (Some(why), after), "{packed}");
        }
    }
}
