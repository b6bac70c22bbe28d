//! Tools that run where the proxy does.

mod anthropic;
mod ends;
mod log;
mod theirs;

use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};

use del_agent::ToolsMode;
use del_dialects::{CallResult, ReadCall};
use del_proxy::{Executor, Runner, Settings};
use reqwest::Method;
use serde_json::{Value, json};

use crate::model::{Model, Reply, Seen, Then, completion, event};
use crate::stand::{Stand, assembled, document, streamed, tool, with};

/// Has the tools `look`, which says what it was asked, and `wait`, which ends when it is stopped.
#[derive(Debug)]
struct Desk {
    tools: Vec<Value>,
    log: Arc<Mutex<Vec<ReadCall>>>,
    stopped: Mutex<Sender<&'static str>>,
}

struct Seat {
    log: Arc<Mutex<Vec<ReadCall>>>,
    stopped: Sender<&'static str>,
    stop: (Arc<Sender<()>>, Receiver<()>),
}

impl Executor for Desk {
    fn tools(&self) -> &[Value] {
        &self.tools
    }

    fn begin(&self) -> Result<Box<dyn Runner>, String> {
        let (stop, stops) = channel();
        let (log, stopped) = (Arc::clone(&self.log), self.stopped.lock().unwrap().clone());
        Ok(Box::new(Seat { log, stopped, stop: (Arc::new(stop), stops) }))
    }
}

impl Runner for Seat {
    fn run(&mut self, calls: &[ReadCall], tell: &mut dyn FnMut(String)) -> Vec<CallResult> {
        let mut results = Vec::new();
        for read in calls {
            self.log.lock().unwrap().push(read.clone());
            tell(format!("● {}", read.call.name));
            if read.call.name == "wait" {
                self.stopped.send("waits").unwrap();
                self.stop.1.recv().unwrap();
                self.stopped.send("stopped").unwrap();
            }
            let (id, name) = (read.call.id.clone(), read.call.name.clone());
            results.push(CallResult { id, name, text: format!("saw {}", read.call.arguments), ok: true });
        }
        results
    }

    fn stopper(&self) -> Box<dyn FnOnce() + Send> {
        let stop = Arc::clone(&self.stop.0);
        Box::new(move || {
            let _ = stop.send(());
        })
    }
}

/// What clients are told of a call of `look`: its borders are invisible.
const LOG: &str = "\u{2063}● look\n\u{2064}";

struct Bench {
    stand: Stand,
    log: Arc<Mutex<Vec<ReadCall>>>,
    stopped: Receiver<&'static str>,
}

async fn bench(model: Model, set: impl FnOnce(&mut Settings)) -> Bench {
    let (log, (tell, stopped)) = (Arc::default(), channel());
    let desk =
        Desk { tools: vec![tool("look"), tool("wait")], log: Arc::clone(&log), stopped: Mutex::new(tell) };
    let stand = Stand::with(model, |settings| {
        settings.executor = Some(Arc::new(desk));
        set(settings);
    })
    .await;
    Bench { stand, log, stopped }
}

/// Calls over the API: names and cities.
fn calls(list: &[(&str, &str)]) -> Value {
    let calls = list.iter().enumerate().map(|(index, (name, city))| {
        let function = json!({"name": name, "arguments": json!({"city": city}).to_string()});
        json!({"index": index, "id": format!("{index}"), "type": "function", "function": function})
    });
    calls.collect()
}

/// An answer with text and calls, streamed where the request wants it.
fn answers(seen: &Seen, text: &str, calls: &Value) -> Reply {
    let finish = if calls == &json!([]) { "stop" } else { "tool_calls" };
    let mut message = json!({"role": "assistant", "content": text});
    if finish == "tool_calls" {
        message["tool_calls"] = calls.clone();
    }
    if seen.body()["stream"] != true {
        return Reply::Whole(200, "", completion(&message, finish).to_string());
    }
    let usage = json!({"id": "x", "choices": [], "usage": {"prompt_tokens": 1, "completion_tokens": 2}});
    let all = format!(
        "{}{}data: {usage}\n\ndata: [DONE]\n\n",
        event(&message, None),
        event(&json!({}), Some(finish))
    );
    Reply::Stream(all.as_bytes().chunks(50).map(<[u8]>::to_vec).collect(), Then::End)
}

/// The results that a request carries.
fn results(seen: &Seen) -> usize {
    let body = seen.body();
    body["messages"].as_array().unwrap().iter().filter(|message| message["role"] == "tool").count()
}

/// Looks once, and then answers.
fn looks() -> Model {
    Model::new(|seen| match results(seen) {
        0 => answers(seen, "Let me look.", &calls(&[("look", "Paris")])),
        _ => answers(seen, "It rains.", &json!([])),
    })
}

fn question() -> Value {
    json!({"model": "m", "messages": [{"role": "user", "content": "Weather?"}]})
}

#[tokio::test]
async fn calls_run_here_and_the_model_goes_on() {
    let bench = bench(looks(), |_| {}).await;
    let response = bench.stand.post(&question()).send().await.unwrap();
    assert_eq!(response.headers()["x-del-executed"], "look");
    let answer = document(response).await;
    let message = &answer["choices"][0]["message"];
    assert_eq!(message["content"], "Let me look.\n\nIt rains.");
    assert_eq!(message["reasoning_content"], LOG);
    assert!(message.get("tool_calls").is_none());
    assert_eq!(answer["choices"][0]["finish_reason"], "stop");
    assert_eq!(answer["usage"]["completion_tokens"], 4);
    let sent = bench.stand.model.last().body();
    assert_eq!(sent["tools"], json!([tool("look"), tool("wait")]));
    let messages = sent["messages"].as_array().unwrap();
    assert_eq!(messages[1]["tool_calls"][0]["function"]["name"], "look");
    assert_eq!(messages[1]["tool_calls"][0]["id"], messages[2]["tool_call_id"]);
    assert_eq!(messages[2]["content"], "saw {\"city\":\"Paris\"}");
}

/// A server may refuse its own call without what it had beside it.
#[tokio::test]
async fn the_model_gets_its_call_back_with_all_that_was_in_it() {
    for stream in [false, true] {
        let model = Model::new(|seen| {
            if results(seen) > 0 {
                return answers(seen, "It rains.", &json!([]));
            }
            let mut calls = calls(&[("look", "Paris")]);
            calls[0]["extra_content"] = json!({"seal": 1});
            let details = json!([{"type": "reasoning.text", "index": 0, "text": "Hm."}]);
            let message = json!({"role": "assistant", "content": null, "reasoning_content": "Hm.",
                "reasoning_details": details, "tool_calls": calls});
            if seen.body()["stream"] != true {
                return Reply::Whole(200, "", completion(&message, "tool_calls").to_string());
            }
            let all = [event(&message, None), event(&json!({}), Some("tool_calls"))].concat();
            Reply::Stream(vec![all.into_bytes()], Then::End)
        });
        let bench = bench(model, |_| {}).await;
        let body = with(question(), json!({"stream": stream}));
        bench.stand.post(&body).send().await.unwrap().text().await.unwrap();
        let past = &bench.stand.model.last().body()["messages"][1];
        assert_eq!(past["tool_calls"][0]["extra_content"]["seal"], 1, "{stream} {past}");
        assert_eq!(
            (&past["reasoning_content"], &past["reasoning_details"][0]["text"]),
            (&json!("Hm."), &json!("Hm."))
        );
    }
}

#[tokio::test]
async fn each_api_streams_what_it_says_at_once() {
    let bench = bench(looks(), |_| {}).await;
    let text = |list: &Value, kind: &str, member: &str| -> String {
        let parts = list.as_array().unwrap().iter().filter(|part| part["type"] == kind);
        parts.map(|part| part[member].as_str().unwrap()).collect()
    };
    let whole = "Let me look.\n\nIt rains.";
    let post = async |path: &str, body: Value| {
        let response = bench.stand.request(Method::POST, path).body(body.to_string()).send().await.unwrap();
        response.text().await.unwrap()
    };
    let data = |stream: &str| -> Vec<Value> {
        let lines = stream.lines().filter_map(|line| line.strip_prefix("data: "));
        lines.map(|data| serde_json::from_str(data).unwrap_or_default()).collect()
    };

    let stream = post("/v1/chat/completions", streamed(question())).await;
    assert!(stream.ends_with(": x-del-executed: look\n\ndata: [DONE]\n\n"), "{stream}");
    let told = assembled(&data(&stream));
    assert_eq!(told, (whole.to_owned(), Vec::new(), "stop".to_owned()));
    assert!(!stream.contains("usage") && stream.contains("● look"), "{stream}");
    let counting = with(streamed(question()), json!({"stream_options": {"include_usage": true}}));
    let stream = post("/v1/chat/completions", counting).await;
    assert_eq!(data(&stream).iter().rev().nth(1).unwrap()["usage"]["completion_tokens"], 4, "{stream}");

    let message = json!({"model": "m", "max_tokens": 9, "messages": question()["messages"]});
    let answer: Value = serde_json::from_str(&post("/v1/messages", message.clone()).await).unwrap();
    assert_eq!(
        (text(&answer["content"], "text", "text").as_str(), &answer["stop_reason"]),
        (whole, &json!("end_turn"))
    );
    assert_eq!(answer["usage"]["output_tokens"], 4);
    let events = data(&post("/v1/messages", streamed(message)).await);
    let deltas: Value = events.iter().map(|event| event["delta"].clone()).collect();
    assert_eq!(text(&deltas, "text_delta", "text"), whole);
    assert_eq!(text(&deltas, "thinking_delta", "thinking"), LOG);

    let asked = json!({"model": "m", "input": "Weather?"});
    let answer: Value = serde_json::from_str(&post("/v1/responses", asked.clone()).await).unwrap();
    let said: Value = answer["output"]
        .as_array()
        .unwrap()
        .iter()
        .flat_map(|item| item["content"].as_array().unwrap().clone())
        .collect();
    assert_eq!(text(&said, "output_text", "text"), whole);
    let events = data(&post("/v1/responses", streamed(asked)).await);
    let last = events.last().unwrap();
    assert_eq!(
        (&last["type"], &last["response"]["usage"]["output_tokens"]),
        (&json!("response.completed"), &json!(4))
    );

    let asked = with(question(), json!({"stream": false}));
    let answer: Value = serde_json::from_str(&post("/api/chat", asked).await).unwrap();
    assert_eq!((&answer["message"]["content"], &answer["message"]["thinking"]), (&json!(whole), &json!(LOG)));
    let stream = post("/api/chat", question()).await;
    let lines: Vec<Value> = stream.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let said: String = lines.iter().filter_map(|line| line["message"]["content"].as_str()).collect();
    assert_eq!((said.as_str(), &lines.last().unwrap()["done"]), (whole, &json!(true)));
}

#[tokio::test]
async fn a_response_that_goes_on_knows_what_ran() {
    let bench = bench(looks(), |_| {}).await;
    let post = async |body: Value| {
        let sent = bench.stand.request(Method::POST, "/v1/responses").body(body.to_string()).send();
        document(sent.await.unwrap()).await
    };
    let first = post(json!({"model": "m", "input": "Weather?"})).await;
    post(json!({"model": "m", "input": "Sure?", "previous_response_id": first["id"]})).await;
    let sent = bench.stand.model.last().body()["messages"].clone();
    let roles: Vec<&str> =
        sent.as_array().unwrap().iter().map(|message| message["role"].as_str().unwrap()).collect();
    assert_eq!(roles, ["user", "assistant", "tool", "assistant", "user"]);
}

#[tokio::test]
async fn leaked_calls_run_and_a_guess_is_told_to_whoever_runs_them() {
    for mode in [ToolsMode::Native, ToolsMode::Prompt] {
        let model = Model::new(|seen| {
            let text = seen.body()["messages"].to_string();
            if text.contains("saw") {
                return answers(seen, "Done.", &json!([]));
            }
            // A comma is missing.
            let call = "<tool_call>\n{\"name\": \"look\", \"arguments\": {\"city\": \"Paris\" \"day\": 1}}\n</tool_call>";
            answers(seen, call, &json!([]))
        });
        let bench = bench(model, |settings| settings.routes[0].tools_mode = mode).await;
        assert_eq!(bench.stand.message(&question()).await["content"], "Done.");
        let log = bench.log.lock().unwrap();
        assert_eq!(log.len(), 1);
        assert!(log[0].guess.is_some_and(del_dialects::FaultKind::changes_arguments), "{log:?}");
    }
}

#[tokio::test]
async fn the_model_is_told_of_calls_that_do_not_count() {
    for wrong in ["<tool_call>\n{\"name\": \"look\", \"arguments\": [}\n</tool_call>", "unknown"] {
        let model = Model::new(move |seen| {
            let messages = seen.body()["messages"].clone();
            match (messages.as_array().unwrap().len(), wrong) {
                (1, "unknown") => answers(seen, "", &calls(&[("nosuch", "Paris")])),
                (1, _) => answers(seen, wrong, &json!([])),
                _ => answers(seen, "I see.", &json!([])),
            }
        });
        let bench = bench(model, |_| {}).await;
        assert_eq!(bench.stand.message(&question()).await["content"], "I see.");
        let said = bench.stand.model.last().body()["messages"][2].clone();
        let said = said["content"].as_str().unwrap();
        assert!(said.contains("did not run") || said.contains("There is no tool `nosuch`"), "{said}");
    }
}
