//! What is counted, in the text that Prometheus reads.

use std::sync::atomic::AtomicU64;
use std::time::Duration;

use axum::http::StatusCode;
use del_wire::Mendings;
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::{Registry, Unit};

/// Counters of everything that went through.
#[derive(Debug)]
pub(crate) struct Metrics {
    registry: Registry,
    requests: Family<Request, Counter>,
    head: Family<Path, Histogram>,
    calls: Family<Written, Counter>,
    pub(crate) changed: Count,
    pub(crate) refused: Count,
    pub(crate) asked_again: Count,
    pub(crate) failures: Count,
    mended: Family<Mended, Counter>,
    executed: Count,
    executed_badly: Count,
    /// Requests that went to another model server.
    pub(crate) retried: Count,
    lost: Count,
    /// By the names of their keys.
    limited: Family<Shown, Counter>,
    asked: Family<Asked, Counter>,
    up: Family<Server, Gauge>,
    under_way: Family<Server, Gauge>,
}

/// How a model server is now.
#[derive(Debug)]
pub(crate) struct Load {
    /// Its address, which may be shown.
    pub(crate) place: String,
    /// Requests at it.
    pub(crate) under_way: usize,
    /// It is not left alone.
    pub(crate) is_up: bool,
}

/// How a request to a model server ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ended {
    /// With an answer.
    Answered,
    /// With an error that another server would have as well.
    Refused,
    /// With the word that there are too many.
    Busy,
    /// Without an answer.
    Failed,
}

impl Ended {
    /// By the status of the answer, where there is one.
    pub(crate) fn of(status: Option<StatusCode>) -> Self {
        match status.map(|status| status.as_u16()) {
            None | Some(502..=504) => Self::Failed,
            Some(429 | 529) => Self::Busy,
            Some(..400) => Self::Answered,
            Some(_) => Self::Refused,
        }
    }

    fn word(self) -> &'static str {
        match self {
            Self::Answered => "answered",
            Self::Refused => "refused",
            Self::Busy => "busy",
            Self::Failed => "failed",
        }
    }
}

type Count = Counter<u64, AtomicU64>;

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Request {
    path: &'static str,
    status: u16,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Path {
    path: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Written {
    dialect: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Mended {
    kind: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Server {
    upstream: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Asked {
    upstream: String,
    ended: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Shown {
    key: String,
}

/// Paths that are counted by name.
const PATHS: [&str; 6] = [
    "/v1/chat/completions",
    "/v1/responses",
    "/v1/messages",
    "/v1/messages/count_tokens",
    "/api/chat",
    "/api/generate",
];

/// A path, where it is counted by name.
pub(crate) fn known_path(path: &str) -> &'static str {
    PATHS.into_iter().find(|known| *known == path).unwrap_or("other")
}

impl Metrics {
    pub(crate) fn new() -> Self {
        const BOUNDS: [f64; 12] = [0.001, 0.005, 0.01, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0, 60.0, 300.0];
        let mut registry = Registry::with_prefix("del");
        let requests = Family::default();
        let head = Family::<Path, _>::new_with_constructor(|| Histogram::new(BOUNDS));
        let calls = Family::default();
        registry.register("requests", "Requests by path and status", requests.clone());
        registry.register_with_unit(
            "answer_begun",
            "Time from a request to the head of its answer",
            Unit::Seconds,
            head.clone(),
        );
        registry.register(
            "calls",
            "Calls that went out, by the dialect of the first of an answer",
            calls.clone(),
        );
        let (asked, up, under_way, limited) =
            (Family::default(), Family::default(), Family::default(), Family::default());
        let mended = Family::default();
        registry.register(
            "history_mended",
            "What was wrong with conversations that clients sent, by kind",
            mended.clone(),
        );
        registry.register("upstream_requests", "Requests by model server, and how they ended", asked.clone());
        registry.register("upstream_up", "1 where a model server is not left alone as it failed", up.clone());
        registry.register("upstream_under_way", "Requests under way by model server", under_way.clone());
        registry.register("limited", "Requests beyond the limits of a key", limited.clone());
        let mut counter = |name: &str, help: &str| {
            let counter = Count::default();
            registry.register(name, help, counter.clone());
            counter
        };
        Self {
            changed: counter("calls_changed", "Calls whose arguments recovery may have changed"),
            refused: counter("calls_refused", "Calls of tools that may not be called, which did not go out"),
            asked_again: counter(
                "asked_again",
                "Requests that were repeated as a demanded call did not come",
            ),
            executed: counter("calls_executed", "Calls of injected tools that ran here, or were denied"),
            executed_badly: counter("calls_failed", "Those of them that failed or were denied"),
            failures: counter("upstream_failures", "Answers of the model server that broke off"),
            lost: counter("telemetry_lost", "Requests that a log or a collector was not told of"),
            retried: counter("upstream_retries", "Requests that went to another model server"),
            registry,
            requests,
            head,
            calls,
            mended,
            limited,
            asked,
            up,
            under_way,
        }
    }

    /// An answer began after this time.
    pub(crate) fn answered(&self, path: &str, status: u16, after: Duration) {
        let path = known_path(path);
        self.requests.get_or_create(&Request { path, status }).inc();
        self.head.get_or_create(&Path { path }).observe(after.as_secs_f64());
    }

    /// Calls went out.
    pub(crate) fn called(&self, dialect: Option<&str>, calls: usize) {
        if let Some(dialect) = dialect.filter(|_| calls > 0) {
            let written = Written { dialect: dialect.to_owned() };
            self.calls.get_or_create(&written).inc_by(u64::try_from(calls).unwrap_or(u64::MAX));
        }
    }

    /// A conversation was mended.
    pub(crate) fn mended(&self, mendings: &Mendings) {
        for (kind, count) in mendings.iter() {
            self.mended.get_or_create(&Mended { kind: kind.name() }).inc_by(count as u64);
        }
    }

    /// So many calls of injected tools have results, and so many of these are errors.
    pub(crate) fn executed(&self, calls: usize, failed: usize) {
        self.executed.inc_by(calls as u64);
        self.executed_badly.inc_by(failed as u64);
    }

    /// What counts the requests to a model server that ended so.
    pub(crate) fn asked(&self, upstream: &str, ended: Ended) -> Counter {
        let asked = Asked { upstream: upstream.to_owned(), ended: ended.word() };
        self.asked.get_or_create(&asked).clone()
    }

    /// A request went beyond the limits of its key.
    pub(crate) fn limited(&self, key: &str) {
        self.limited.get_or_create(&Shown { key: key.to_owned() }).inc();
    }

    /// All of it as text, with how these model servers are now, and how much was lost so far of what others are told.
    pub(crate) fn text(&self, servers: impl Iterator<Item = Load>, lost: u64) -> String {
        self.lost.inc_by(lost.saturating_sub(self.lost.get()));
        self.up.clear();
        self.under_way.clear();
        for Load { place, under_way, is_up } in servers {
            let server = Server { upstream: place };
            let under_way = i64::try_from(under_way).unwrap_or(i64::MAX);
            self.under_way.get_or_create(&server).inc_by(under_way);
            self.up.get_or_create(&server).set(i64::from(is_up));
        }
        let mut text = String::new();
        // A string takes every write.
        let _ = prometheus_client::encoding::text::encode(&mut text, &self.registry);
        text
    }
}
