//! Traces and metrics to a collector of OpenTelemetry, as JSON over HTTP.
//!
//! The JSON is written here, as it is a few objects, and the client for HTTP is there already: `opentelemetry-otlp` brings
//! fifteen crates, and a second way for all that is counted.

mod config;
mod encode;
mod series;

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use axum::http::HeaderMap;
use reqwest::{Client, StatusCode};
use serde_json::{Value, json};
use tokio::sync::mpsc::{Receiver, Sender, channel};
use tokio::time::{MissedTickBehavior, interval};

pub use self::config::Config;
use self::series::Series;
use crate::account::{Observer, Record};

/// Tells a collector of requests, on a task of its own.
#[derive(Debug)]
pub struct Collector {
    /// Nothing once it is closed.
    queue: Mutex<Option<Sender<Arc<Record>>>>,
    sent: Mutex<std::sync::mpsc::Receiver<()>>,
    lost: Arc<AtomicU64>,
    traces: bool,
}

/// What is on its way to the collector.
struct Export {
    config: Config,
    client: Client,
    lost: Arc<AtomicU64>,
    began: SystemTime,
    series: Series,
    spans: Vec<Value>,
    /// Requests whose spans these are.
    held: u64,
}

/// What waits at the end has so long to get out.
const FLUSH: Duration = Duration::from_secs(5);
/// A collector that is busy or away is asked so often.
const TRIES: u32 = 3;
/// Before the second time this passes, and twice as much before each one after it.
const PAUSE: Duration = Duration::from_millis(500);

impl Collector {
    /// Begins, on the runtime that this is called in. `client` is what asks the collector.
    pub fn start(config: Config, client: Client) -> Self {
        let (queue, records) = channel(config.room);
        let (done, sent) = std::sync::mpsc::sync_channel(1);
        let lost = Arc::new(AtomicU64::new(0));
        let traces = config.traces.is_some();
        let export = Export {
            config,
            client,
            lost: Arc::clone(&lost),
            began: SystemTime::now(),
            series: Series::default(),
            spans: Vec::new(),
            held: 0,
        };
        tokio::spawn(async move {
            export.run(records).await;
            let _ = done.send(());
        });
        Self { queue: Mutex::new(Some(queue)), sent: Mutex::new(sent), lost, traces }
    }
}

impl Observer for Collector {
    fn tell(&self, record: &Arc<Record>) {
        let queue = self.queue.lock().unwrap_or_else(PoisonError::into_inner);
        if queue.as_ref().is_none_or(|queue| queue.try_send(Arc::clone(record)).is_err()) {
            self.lost.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn lost(&self) -> u64 {
        self.lost.load(Ordering::Relaxed)
    }

    fn traces(&self) -> bool {
        self.traces
    }

    fn close(&self) {
        drop(self.queue.lock().unwrap_or_else(PoisonError::into_inner).take());
        let _ = self.sent.lock().unwrap_or_else(PoisonError::into_inner).recv_timeout(FLUSH);
    }
}

impl Export {
    async fn run(mut self, mut records: Receiver<Arc<Record>>) {
        let mut batches = interval(self.config.batch_every);
        let mut measures = interval(self.config.metrics_every);
        for timer in [&mut batches, &mut measures] {
            timer.set_missed_tick_behavior(MissedTickBehavior::Delay);
            timer.reset();
        }
        loop {
            tokio::select! {
                record = records.recv() => match record {
                    Some(record) => {
                        self.take(&record);
                        if self.spans.len() >= self.config.batch {
                            self.send_spans().await;
                        }
                    }
                    None => break,
                },
                _ = batches.tick() => self.send_spans().await,
                _ = measures.tick() => self.send_metrics().await,
            }
        }
        self.send_spans().await;
        self.send_metrics().await;
    }

    fn take(&mut self, record: &Record) {
        self.series.add(record);
        if self.config.traces.is_some() && record.trace.sampled {
            self.spans.extend(encode::spans(record));
            self.held += 1;
        }
    }

    async fn send_spans(&mut self) {
        let spans = std::mem::take(&mut self.spans);
        let held = std::mem::take(&mut self.held);
        let Some(to) = self.config.traces.as_ref().filter(|_| !spans.is_empty()) else { return };
        let body = json!({"resourceSpans": [{"resource": self.config.resource(),
            "scopeSpans": [{"scope": encode::scope(), "spans": spans}]}]});
        if !self.send(&to.url, &to.headers, &body).await {
            self.lost.fetch_add(held, Ordering::Relaxed);
        }
    }

    async fn send_metrics(&self) {
        let Some(to) = &self.config.metrics else { return };
        let lost = self.lost.load(Ordering::Relaxed);
        let metrics = self.series.metrics(self.began, SystemTime::now(), lost);
        let body = json!({"resourceMetrics": [{"resource": self.config.resource(),
            "scopeMetrics": [{"scope": encode::scope(), "metrics": metrics}]}]});
        // What is counted goes on, so the next time tells what this one did not.
        self.send(&to.url, &to.headers, &body).await;
    }

    /// True when the collector has taken it.
    async fn send(&self, url: &str, headers: &HeaderMap, body: &Value) -> bool {
        let body = body.to_string();
        let mut pause = PAUSE;
        for tried in 1..=TRIES {
            let request = self.client.post(url).headers(headers.clone()).body(body.clone());
            let request = request.header("content-type", "application/json").timeout(self.config.timeout);
            match request.send().await.map(|response| response.status()) {
                Ok(status) if status.is_success() => return true,
                // No other time would change that.
                Ok(status) if !is_passing(status) => return false,
                _ if tried == TRIES => {}
                _ => tokio::time::sleep(pause).await,
            }
            pause *= 2;
        }
        false
    }
}

/// The errors after which a collector may be asked again.
fn is_passing(status: StatusCode) -> bool {
    matches!(status.as_u16(), 429 | 502..=504)
}
