//! What a log and a collector of OpenTelemetry are told of requests.

use std::io::Write;
use std::sync::{Arc, Mutex};

use del_proxy::{Collector, CollectorConfig, Lines, Observer, Settings, Style};
use serde_json::{Value, json};

use crate::model::{Model, Reply, Seen, Then, says};
use crate::stand::{Stand, client, streamed, weather, with};

/// Without its closing mark, which is a fault.
const UNCLOSED: &str = "<tool_call>\n{\"name\": \"get_weather\", \"arguments\": {\"city\": \"Paris\"}}\n";
const PARENT: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

/// A place to write into.
#[derive(Debug, Clone, Default)]
struct Page(Arc<Mutex<Vec<u8>>>);

impl Write for Page {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl Page {
    fn lines(&self) -> Vec<Value> {
        let text = String::from_utf8(self.0.lock().unwrap().clone()).unwrap();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}

fn caller() -> Model {
    Model::new(|seen| says(seen, UNCLOSED, 4))
}

fn observed(observer: impl Observer + 'static) -> impl FnOnce(&mut Settings) {
    move |settings| {
        settings.metrics = true;
        settings.observers = vec![Arc::new(observer)];
    }
}

/// Ends a proxy, after which all that it tells has been told.
async fn end(mut stand: Stand) {
    stand.stop();
    stand.ended().await;
}

#[tokio::test]
async fn a_line_of_the_log_says_what_became_of_a_request_and_nothing_that_was_said() {
    let page = Page::default();
    let stand = Stand::with(caller(), observed(Lines::new(Style::Json, page.clone()))).await;
    let upstream = stand.model.base.clone();
    for body in [weather(), streamed(weather())] {
        let request =
            stand.post(&body).header("x-request-id", "mine").header("authorization", "Bearer hidden");
        request.send().await.unwrap().text().await.unwrap();
    }
    stand.get("/v1/nothing?key=hidden").await.text().await.unwrap();
    stand.get("/health").await.text().await.unwrap();
    end(stand).await;
    let lines = page.lines();
    assert_eq!(lines.len(), 3, "{lines:?}");
    for (line, streams) in lines.iter().zip([false, true]) {
        for (name, expected) in [
            ("id", json!("mine")),
            ("status", json!(200)),
            ("method", json!("POST")),
            ("path", json!("/v1/chat/completions")),
            ("model", json!("m")),
            ("requests", json!(1)),
            ("mode", json!("native")),
            ("stream", json!(streams)),
            ("dialect", json!("hermes-json")),
            ("calls", json!(1)),
            ("finish", json!("tool_calls")),
            ("faults", json!({"missing_closer": 1})),
            (
                "bytes_in",
                json!(
                    with(weather(), if streams { json!({"stream": true}) } else { json!({}) })
                        .to_string()
                        .len()
                ),
            ),
            ("whole", json!(true)),
        ] {
            assert_eq!(line[name], expected, "{name} of {line}");
        }
        assert!(upstream.starts_with(line["upstream"].as_str().unwrap()), "{line}");
        assert!(
            line["duration_ms"].as_f64() >= line["head_ms"].as_f64()
                && line["bytes_out"].as_u64() > Some(100)
        );
        let said = line.to_string();
        assert!(!said.contains("Paris") && !said.contains("hidden"), "{said}");
    }
    assert_eq!((&lines[2]["status"], &lines[2]["error"]), (&json!(404), &json!("invalid_request_error")));
    assert!(!lines[2].to_string().contains("hidden"));
}

#[tokio::test]
async fn contents_are_told_to_whoever_asks_for_them() {
    let page = Page::default();
    let set = observed(Lines::new(Style::Json, page.clone()));
    let stand = Stand::with(caller(), |settings| {
        set(settings);
        settings.tells_content = true;
    });
    let stand = stand.await;
    stand.ask(&weather()).await;
    end(stand).await;
    let line = &page.lines()[0];
    assert_eq!(line["request"], weather().to_string());
    assert!(line["answer"].as_str().unwrap().contains("get_weather"));
}

#[tokio::test]
async fn an_answer_that_broke_off_is_told_as_such() {
    let page = Page::default();
    let cut = Model::saying(Reply::Stream(
        vec![b"data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"a\"}}]}\n\n".to_vec()],
        Then::Cut,
    ));
    let stand = Stand::with(cut, observed(Lines::new(Style::Json, page.clone()))).await;
    stand.post(&streamed(weather())).send().await.unwrap().text().await.unwrap();
    end(stand).await;
    assert_eq!(page.lines()[0]["error"], "upstream_broke_off");
}

/// A collector that takes everything.
fn collector() -> Model {
    Model::saying(Reply::Whole(200, "", "{}".to_owned()))
}

fn exporter(collector: &Model, more: &[(&str, &str)]) -> Collector {
    let base = collector.base.trim_end_matches("/v1").to_owned();
    let config = CollectorConfig::of(&|name| match name {
        "OTEL_EXPORTER_OTLP_ENDPOINT" => Some(base.clone()),
        "OTEL_EXPORTER_OTLP_HEADERS" => Some("x-tenant=a%20b".to_owned()),
        _ => more.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned()),
    });
    Collector::start(config.unwrap().unwrap(), client())
}

/// What came to a path, flattened: `under` names the lists inside.
fn came(seen: &[Seen], path: &str, under: [&str; 3]) -> Vec<Value> {
    let mut found = Vec::new();
    for seen in seen.iter().filter(|seen| seen.path == path) {
        assert_eq!(
            (seen.header("content-type"), seen.header("x-tenant")),
            (Some("application/json"), Some("a b"))
        );
        for outer in seen.body()[under[0]].as_array().unwrap() {
            assert_eq!(attribute(&outer["resource"], "service.name"), json!({"stringValue": "del"}));
            for scope in outer[under[1]].as_array().unwrap() {
                assert_eq!(scope["scope"]["name"], "del-proxy");
                found.extend(scope[under[2]].as_array().unwrap().iter().cloned());
            }
        }
    }
    found
}

fn attribute(of: &Value, name: &str) -> Value {
    let all = of["attributes"].as_array().unwrap();
    all.iter().find(|known| known["key"] == name).map(|known| known["value"].clone()).unwrap_or_default()
}

#[tokio::test]
async fn a_collector_gets_spans_of_the_clients_trace() {
    let collector = collector();
    let stand = Stand::with(caller(), observed(exporter(&collector, &[]))).await;
    let request = stand.post(&streamed(with(weather(), json!({"stream_options": {"include_usage": true}}))));
    request.header("traceparent", PARENT).send().await.unwrap().text().await.unwrap();
    let passed_on = stand.model.last().header("traceparent").unwrap().to_owned();
    // Whoever began this trace does not want to see it.
    let unwanted = PARENT.replace("-01", "-00");
    stand.post(&weather()).header("traceparent", unwanted).send().await.unwrap().text().await.unwrap();
    end(stand).await;
    let spans = came(&collector.seen(), "/v1/traces", ["resourceSpans", "scopeSpans", "spans"]);
    assert_eq!(spans.len(), 2, "{spans:?}");
    let (server, asking) = (&spans[0], &spans[1]);
    let trace = "0af7651916cd43dd8448eb211c80319c";
    assert_eq!((&server["traceId"], &asking["traceId"]), (&json!(trace), &json!(trace)));
    assert_eq!(
        (&server["parentSpanId"], &asking["parentSpanId"]),
        (&json!("b7ad6b7169203331"), &server["spanId"])
    );
    assert_eq!((&server["name"], &server["kind"]), (&json!("POST /v1/chat/completions"), &json!(2)));
    assert_eq!((&asking["name"], &asking["kind"]), (&json!("chat m"), &json!(3)));
    assert_eq!(passed_on, format!("00-{trace}-{}-01", asking["spanId"].as_str().unwrap()));
    let time = |span: &Value, name: &str| span[name].as_str().unwrap().parse::<u128>().unwrap();
    assert!(time(server, "startTimeUnixNano") <= time(asking, "startTimeUnixNano"));
    assert!(time(asking, "startTimeUnixNano") <= time(asking, "endTimeUnixNano"));
    for (name, value) in [
        ("gen_ai.operation.name", json!({"stringValue": "chat"})),
        ("gen_ai.provider.name", json!({"stringValue": "openai"})),
        ("gen_ai.request.model", json!({"stringValue": "m"})),
        (
            "gen_ai.response.finish_reasons",
            json!({"arrayValue": {"values": [{"stringValue": "tool_calls"}]}}),
        ),
        ("server.address", json!({"stringValue": "127.0.0.1"})),
        ("del.dialect", json!({"stringValue": "hermes-json"})),
        ("del.calls", json!({"intValue": "1"})),
        ("del.faults", json!({"arrayValue": {"values": [{"stringValue": "missing_closer=1"}]}})),
        ("error.type", Value::Null),
    ] {
        assert_eq!(attribute(asking, name), value, "{name}");
    }
    assert_eq!(attribute(server, "http.response.status_code"), json!({"intValue": "200"}));
}

#[tokio::test]
async fn a_collector_gets_what_is_counted() {
    let collector = collector();
    let stand = Stand::with(caller(), observed(exporter(&collector, &[]))).await;
    for body in [weather(), weather(), streamed(weather())] {
        stand.post(&body).send().await.unwrap().text().await.unwrap();
    }
    end(stand).await;
    let metrics = came(&collector.seen(), "/v1/metrics", ["resourceMetrics", "scopeMetrics", "metrics"]);
    let named = |name: &str| metrics.iter().find(|metric| metric["name"] == name).unwrap();
    let durations = &named("gen_ai.client.operation.duration")["histogram"];
    assert_eq!(durations["aggregationTemporality"], 2);
    let point = &durations["dataPoints"][0];
    assert_eq!(point["count"], "3");
    assert_eq!(attribute(point, "gen_ai.request.model"), json!({"stringValue": "m"}));
    let (bounds, buckets) =
        (point["explicitBounds"].as_array().unwrap(), point["bucketCounts"].as_array().unwrap());
    assert_eq!(buckets.len(), bounds.len() + 1);
    let all: u64 = buckets.iter().map(|count| count.as_str().unwrap().parse::<u64>().unwrap()).sum();
    assert_eq!(all, 3);
    // The server says of whole answers alone what they cost: 1 token in, 2 out.
    let tokens = &named("gen_ai.client.token.usage")["histogram"]["dataPoints"];
    let of_kind = |kind: &str| {
        let points = tokens.as_array().unwrap();
        points
            .iter()
            .find(|point| attribute(point, "gen_ai.token.type") == json!({"stringValue": kind}))
            .unwrap()["sum"]
            .clone()
    };
    assert_eq!((of_kind("input"), of_kind("output")), (json!(2.0), json!(4.0)));
    assert_eq!(named("gen_ai.server.time_to_first_token")["histogram"]["dataPoints"][0]["count"], "1");
    let calls = &named("del.calls")["sum"]["dataPoints"][0];
    assert_eq!(
        (&calls["asInt"], attribute(calls, "del.dialect")),
        (&json!("3"), json!({"stringValue": "hermes-json"}))
    );
    assert_eq!(named("del.faults")["sum"]["dataPoints"][0]["asInt"], "3");
    assert_eq!(named("http.server.request.duration")["histogram"]["dataPoints"][0]["count"], "3");
}

#[tokio::test]
async fn a_collector_that_says_nothing_delays_no_request_and_what_is_lost_is_counted() {
    let silent = Model::saying(Reply::Silence);
    let variables = [
        ("OTEL_BSP_MAX_QUEUE_SIZE", "1"),
        ("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", "1"),
        ("OTEL_EXPORTER_OTLP_TIMEOUT", "100000"),
    ];
    let stand = Stand::with(caller(), observed(exporter(&silent, &variables))).await;
    for _ in 0..20 {
        stand.ask(&weather()).await;
    }
    let counted = stand.get("/metrics").await.text().await.unwrap();
    let lost = counted.lines().find_map(|line| line.strip_prefix("del_telemetry_lost_total ")).unwrap();
    assert!(lost.parse::<u64>().unwrap() >= 15, "{lost}");
}

#[tokio::test]
async fn a_short_stream_that_fails_in_the_middle_and_a_count_are_told() {
    let page = Page::default();
    let pieces = [
        "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"a\"}}]}\n\n",
        "data: {\"error\":{\"message\":\"slot died\"}}\n\n",
    ];
    let fails = Model::saying(Reply::Stream(vec![pieces.concat().into_bytes()], Then::End));
    let stand = Stand::with(fails, observed(Lines::new(Style::Json, page.clone()))).await;
    stand.post(&streamed(weather())).send().await.unwrap().text().await.unwrap();
    let count = json!({"model": "counted", "messages": [{"role": "user", "content": "Hi."}]}).to_string();
    let sent = stand.request(reqwest::Method::POST, "/v1/messages/count_tokens").body(count.clone());
    sent.send().await.unwrap().text().await.unwrap();
    end(stand).await;
    let lines = page.lines();
    assert_eq!((&lines[0]["status"], &lines[0]["error"]), (&json!(200), &json!("upstream_broke_off")));
    assert_eq!((&lines[1]["model"], &lines[1]["bytes_in"]), (&json!("counted"), &json!(count.len())));
}
