//! What is counted, in the text that Prometheus reads.

use std::sync::atomic::AtomicU64;
use std::time::Duration;

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
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
    executed: Count,
    executed_badly: Count,
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

/// Paths that are counted by name.
const PATHS: [&str; 6] = [
    "/v1/chat/completions",
    "/v1/responses",
    "/v1/messages",
    "/v1/messages/count_tokens",
    "/api/chat",
    "/api/generate",
];

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
            registry,
            requests,
            head,
            calls,
        }
    }

    /// An answer began after this time.
    pub(crate) fn answered(&self, path: &str, status: u16, after: Duration) {
        let path = PATHS.into_iter().find(|known| *known == path).unwrap_or("other");
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

    /// So many calls of injected tools have results, and so many of these are errors.
    pub(crate) fn executed(&self, calls: usize, failed: usize) {
        self.executed.inc_by(calls as u64);
        self.executed_badly.inc_by(failed as u64);
    }

    /// All of it as text.
    pub(crate) fn text(&self) -> String {
        let mut text = String::new();
        // A string takes every write.
        let _ = prometheus_client::encoding::text::encode(&mut text, &self.registry);
        text
    }
}
