//! What is counted of requests, as OpenTelemetry's metrics.

use std::collections::BTreeMap;
use std::time::SystemTime;

use serde_json::{Value, json};

use super::encode::{
    CHAT, ERROR_TYPE, METHOD, OPERATION, REQUEST_MODEL, ROUTE, STATUS, TOKEN_TYPE, attributes, failure,
    nanoseconds, number, server, text,
};
use crate::account::Record;
use crate::metrics::known_path;

/// A metric.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Metric {
    name: &'static str,
    unit: &'static str,
    description: &'static str,
}

const fn metric(name: &'static str, unit: &'static str, description: &'static str) -> Metric {
    Metric { name, unit, description }
}

const REQUESTS: Metric = metric("http.server.request.duration", "s", "Duration of HTTP server requests.");
const OPERATIONS: Metric = metric("gen_ai.client.operation.duration", "s", "GenAI operation duration.");
const TOKENS: Metric =
    metric("gen_ai.client.token.usage", "{token}", "Number of input and output tokens used.");
const FIRST_TOKEN: Metric = metric(
    "gen_ai.server.time_to_first_token",
    "s",
    "Time to generate first token for successful responses.",
);
const CALLS: Metric = metric("del.calls", "{call}", "Calls that went out, by dialect.");
const CHANGED: Metric =
    metric("del.calls.changed", "{call}", "Calls whose arguments recovery may have changed.");
const REFUSED: Metric = metric("del.calls.refused", "{call}", "Calls of tools that may not be called.");
const FAULTS: Metric = metric("del.faults", "{fault}", "Faults in what models wrote, by kind.");
const MENDED: Metric =
    metric("del.history.mended", "{fault}", "What was wrong with conversations that clients sent, by kind.");
const LOST: Metric = metric("del.telemetry.lost", "{request}", "Requests of which nothing could be told.");

/// The bounds that the conventions name.
const SECONDS: [f64; 14] =
    [0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92];
const COUNTS: [f64; 14] = [
    1.0,
    4.0,
    16.0,
    64.0,
    256.0,
    1024.0,
    4096.0,
    16384.0,
    65536.0,
    262_144.0,
    1_048_576.0,
    4_194_304.0,
    16_777_216.0,
    67_108_864.0,
];
/// Attributes hold what clients say: beyond so many, a model's name is not told.
const MOST: usize = 2_000;
const OTHER_MODEL: &str = "_OTHER";

/// Attributes, as the JSON that they are told in.
type Attributes = String;

/// Everything since the beginning.
#[derive(Debug, Default)]
pub(super) struct Series {
    sums: BTreeMap<(Metric, Attributes), u64>,
    histograms: BTreeMap<(Metric, Attributes), Histogram>,
}

#[derive(Debug, Default)]
struct Histogram {
    count: u64,
    sum: f64,
    buckets: [u64; SECONDS.len() + 1],
}

impl Series {
    pub(super) fn add(&mut self, record: &Record) {
        let mut of_request = vec![
            (METHOD, text(&record.method)),
            (ROUTE, text(known_path(&record.path))),
            (STATUS, number(record.status.into())),
        ];
        of_request
            .extend(failure(record).filter(|_| record.status >= 500).map(|error| (ERROR_TYPE, text(&error))));
        self.measure(REQUESTS, of_request, record.duration.as_secs_f64());
        for (kind, count) in record.mended.iter() {
            self.count(MENDED, vec![("del.history.kind", text(kind.name()))], count);
        }
        let Some(asked) = record.asked_after else { return };
        let summary = &record.summary;
        let known = self.histograms.len() + self.sums.len() < MOST;
        let model = record.model.as_deref().filter(|_| known).unwrap_or(OTHER_MODEL);
        let mut of_model = vec![(OPERATION, text(CHAT)), (REQUEST_MODEL, text(model))];
        of_model.extend(server(record));
        if let Some(usage) = summary.usage {
            for (kind, tokens) in [("input", usage.prompt), ("output", usage.completion)] {
                let attributes = of_model.iter().cloned().chain([(TOKEN_TYPE, text(kind))]).collect();
                #[expect(clippy::cast_precision_loss, reason = "nobody has so many tokens")]
                self.measure(TOKENS, attributes, tokens as f64);
            }
        }
        if let Some(first) = record.first.filter(|_| record.streams && record.status < 400) {
            self.measure(FIRST_TOKEN, of_model.clone(), first.saturating_sub(asked).as_secs_f64());
        }
        of_model.extend(failure(record).map(|error| (ERROR_TYPE, text(&error))));
        self.measure(OPERATIONS, of_model, record.duration.saturating_sub(asked).as_secs_f64());
        let dialect = summary.dialect.as_deref().unwrap_or_default();
        self.count(CALLS, vec![("del.dialect", text(dialect))], summary.calls);
        self.count(CHANGED, Vec::new(), summary.changed);
        self.count(REFUSED, Vec::new(), summary.refused);
        for (kind, count) in &summary.faults {
            self.count(FAULTS, vec![("del.fault.kind", text(kind))], *count);
        }
    }

    fn count(&mut self, metric: Metric, all: Vec<(&'static str, Value)>, more: usize) {
        if more > 0 {
            *self.sums.entry((metric, attributes(all).to_string())).or_default() += more as u64;
        }
    }

    fn measure(&mut self, metric: Metric, all: Vec<(&'static str, Value)>, value: f64) {
        let histogram = self.histograms.entry((metric, attributes(all).to_string())).or_default();
        histogram.count += 1;
        histogram.sum += value;
        // A bound belongs to what is below it.
        let place = bounds(metric).iter().position(|bound| value <= *bound).unwrap_or(SECONDS.len());
        histogram.buckets[place] += 1;
    }

    /// All of it, as it is `now`.
    pub(super) fn metrics(&self, began: SystemTime, now: SystemTime, lost: u64) -> Vec<Value> {
        const CUMULATIVE: u8 = 2;
        let point = |given: &Attributes| {
            let given: Value = serde_json::from_str(given).unwrap_or_default();
            json!({"attributes": given, "startTimeUnixNano": nanoseconds(began), "timeUnixNano": nanoseconds(now)})
        };
        let mut sums: BTreeMap<Metric, Vec<Value>> = BTreeMap::new();
        for ((metric, given), value) in &self.sums {
            let mut point = point(given);
            point["asInt"] = json!(value.to_string());
            sums.entry(*metric).or_default().push(point);
        }
        let mut point_lost = point(&"[]".to_owned());
        point_lost["asInt"] = json!(lost.to_string());
        sums.insert(LOST, vec![point_lost]);
        let mut histograms: BTreeMap<Metric, Vec<Value>> = BTreeMap::new();
        for ((metric, given), histogram) in &self.histograms {
            let mut point = point(given);
            let buckets: Vec<String> = histogram.buckets.iter().map(u64::to_string).collect();
            point["count"] = json!(histogram.count.to_string());
            point["sum"] = json!(histogram.sum);
            point["bucketCounts"] = json!(buckets);
            point["explicitBounds"] = json!(bounds(*metric));
            histograms.entry(*metric).or_default().push(point);
        }
        let told = |metric: Metric| json!({"name": metric.name, "unit": metric.unit, "description": metric.description});
        let sums = sums.into_iter().map(|(metric, points)| {
            let mut told = told(metric);
            told["sum"] =
                json!({"aggregationTemporality": CUMULATIVE, "isMonotonic": true, "dataPoints": points});
            told
        });
        let histograms = histograms.into_iter().map(|(metric, points)| {
            let mut told = told(metric);
            told["histogram"] = json!({"aggregationTemporality": CUMULATIVE, "dataPoints": points});
            told
        });
        sums.chain(histograms).collect()
    }
}

fn bounds(metric: Metric) -> &'static [f64] {
    if metric == TOKENS { &COUNTS } else { &SECONDS }
}
