//! Requests as spans of OpenTelemetry, in its JSON: names are those of its conventions for HTTP and generative models, and
//! `del.` for what these do not know.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use axum::http::Uri;
use serde_json::{Value, json};

use crate::account::{Record, mode};
use del_wire::ServerApi;

pub(super) const OPERATION: &str = "gen_ai.operation.name";
pub(super) const PROVIDER: &str = "gen_ai.provider.name";
pub(super) const REQUEST_MODEL: &str = "gen_ai.request.model";
pub(super) const TOKEN_TYPE: &str = "gen_ai.token.type";
pub(super) const SERVER_ADDRESS: &str = "server.address";
pub(super) const SERVER_PORT: &str = "server.port";
pub(super) const ERROR_TYPE: &str = "error.type";
pub(super) const METHOD: &str = "http.request.method";
pub(super) const STATUS: &str = "http.response.status_code";
pub(super) const ROUTE: &str = "http.route";
/// What is asked of a model here.
pub(super) const CHAT: &str = "chat";
const FINISH_REASONS: &str = "gen_ai.response.finish_reasons";
const INPUT_TOKENS: &str = "gen_ai.usage.input_tokens";
const OUTPUT_TOKENS: &str = "gen_ai.usage.output_tokens";
const PATH: &str = "url.path";
const REQUEST_SIZE: &str = "http.request.body.size";
const RESPONSE_SIZE: &str = "http.response.body.size";

/// The kinds of spans.
const SERVER: u8 = 2;
const CLIENT: u8 = 3;
/// The status of a span that failed.
const FAILED: u8 = 2;

/// Who measures.
pub(super) fn scope() -> Value {
    json!({"name": env!("CARGO_PKG_NAME"), "version": env!("CARGO_PKG_VERSION")})
}

/// The request of the client, and in it what the model was asked, where it was.
pub(super) fn spans(record: &Record) -> Vec<Value> {
    let begun = record.at.unwrap_or(UNIX_EPOCH);
    let end = begun + record.duration;
    let trace = &record.trace;
    let mut server = json!({
        "traceId": trace.id, "spanId": trace.span, "name": format!("{} {}", record.method, record.path),
        "kind": SERVER, "startTimeUnixNano": nanoseconds(begun), "endTimeUnixNano": nanoseconds(end),
        "attributes": attributes(of_request(record)),
    });
    if let Some(parent) = &trace.parent {
        server["parentSpanId"] = json!(parent);
    }
    let failure = failure(record);
    if record.status >= 500 {
        server["status"] = json!({"code": FAILED});
    }
    let mut spans = vec![server];
    if let Some(after) = record.asked_after {
        let model = record.model.as_deref().unwrap_or_default();
        let mut asking = json!({
            "traceId": trace.id, "spanId": trace.asking, "parentSpanId": trace.span,
            "name": format!("{CHAT} {model}").trim_end(), "kind": CLIENT,
            "startTimeUnixNano": nanoseconds(begun + after), "endTimeUnixNano": nanoseconds(end),
            "attributes": attributes(of_model(record)),
        });
        if failure.is_some() {
            asking["status"] = json!({"code": FAILED});
        }
        spans.push(asking);
    }
    spans
}

/// Why a request has no whole answer.
pub(super) fn failure(record: &Record) -> Option<String> {
    match record.error {
        Some(error) => Some(error.to_owned()),
        None if record.status >= 400 => Some(record.status.to_string()),
        None if !record.whole => Some("broken_off".to_owned()),
        None => None,
    }
}

/// The program and the place of a model server.
pub(super) fn server(record: &Record) -> Vec<(&'static str, Value)> {
    let mut all = Vec::new();
    if let Some(api) = record.server_api {
        all.push((PROVIDER, text(provider(api))));
    }
    let place: Option<Uri> = record.upstream.as_deref().and_then(|place| place.parse().ok());
    if let Some(host) = place.as_ref().and_then(Uri::host) {
        all.push((SERVER_ADDRESS, text(host)));
    }
    if let Some(port) = place.as_ref().and_then(Uri::port_u16) {
        all.push((SERVER_PORT, number(port.into())));
    }
    all
}

fn provider(api: ServerApi) -> &'static str {
    match api {
        ServerApi::OpenAi | ServerApi::Responses => "openai",
        ServerApi::Anthropic => "anthropic",
        ServerApi::Ollama => "ollama",
    }
}

fn of_request(record: &Record) -> Vec<(&'static str, Value)> {
    let mut all = vec![
        (METHOD, text(&record.method)),
        (PATH, text(&record.path)),
        (STATUS, number(record.status.into())),
        (REQUEST_SIZE, number(record.bytes_in)),
        (RESPONSE_SIZE, number(record.bytes_out)),
        ("del.request.id", text(&record.id)),
        ("del.answer.whole", json!({"boolValue": record.whole})),
    ];
    all.extend(record.key.as_deref().map(|key| ("del.key", text(key))));
    all.extend(failure(record).filter(|_| record.status >= 500).map(|error| (ERROR_TYPE, text(&error))));
    all
}

fn of_model(record: &Record) -> Vec<(&'static str, Value)> {
    let summary = &record.summary;
    let mut all = vec![(OPERATION, text(CHAT))];
    all.extend(server(record));
    all.extend(record.model.as_deref().map(|model| (REQUEST_MODEL, text(model))));
    if let Some(usage) = summary.usage {
        all.extend([(INPUT_TOKENS, number(usage.prompt)), (OUTPUT_TOKENS, number(usage.completion))]);
    }
    let reason = summary.reason.as_deref();
    all.extend(reason.map(|reason| (FINISH_REASONS, json!({"arrayValue": {"values": [text(reason)]}}))));
    all.extend(failure(record).map(|error| (ERROR_TYPE, text(&error))));
    all.extend(record.mode.map(|known| ("del.tools.mode", text(mode(known)))));
    all.extend(record.route.as_deref().map(|route| ("del.route", text(route))));
    all.extend(summary.dialect.as_deref().map(|dialect| ("del.dialect", text(dialect))));
    all.extend([
        ("del.upstream.requests", number(record.requests.into())),
        ("del.calls", number(summary.calls as u64)),
        ("del.calls.changed", number(summary.changed as u64)),
        ("del.calls.refused", number(summary.refused as u64)),
        ("del.calls.executed", number(record.executed.len() as u64)),
    ]);
    for (name, kinds) in [
        ("del.faults", summary.faults.iter().map(|(kind, count)| (*kind, *count)).collect::<Vec<_>>()),
        ("del.history.mended", record.mended.iter().map(|(kind, count)| (kind.name(), count)).collect()),
    ] {
        if !kinds.is_empty() {
            let values: Vec<Value> =
                kinds.iter().map(|(kind, count)| text(&format!("{kind}={count}"))).collect();
            all.push((name, json!({"arrayValue": {"values": values}})));
        }
    }
    all
}

pub(super) fn attributes<'a>(all: impl IntoIterator<Item = (&'a str, Value)>) -> Value {
    all.into_iter().map(|(key, value)| json!({"key": key, "value": value})).collect()
}

pub(super) fn text(value: &str) -> Value {
    json!({"stringValue": value})
}

/// Numbers of 64 bits are text in this JSON.
pub(super) fn number(value: u64) -> Value {
    json!({"intValue": value.to_string()})
}

pub(super) fn nanoseconds(time: SystemTime) -> String {
    time.duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO).as_nanos().to_string()
}
