//! Calls that run here for a model of an Anthropic server, which wants its thoughts back with their seals.

use del_agent::ToolsMode;
use del_proxy::{ServerApi, Settings};
use reqwest::Method;
use serde_json::{Value, json};

use super::{Bench, bench, question};
use crate::model::{Model, Reply, Seen, blocks, is_sound};
use crate::stand::{assembled, document, events, streamed, tool, with};

fn thought(seal: &str) -> Value {
    json!({"type": "thinking", "thinking": "Hm.", "signature": seal})
}

fn call(id: &str, name: &str, city: &str) -> Value {
    json!({"type": "tool_use", "id": id, "name": name, "input": {"city": city}})
}

fn says(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

/// How many results a request carries.
fn results(seen: &Seen) -> usize {
    seen.body()["messages"].to_string().matches("\"tool_result\"").count()
}

/// A server that refuses what Anthropic's does, in front of it a proxy with tools.
async fn before(
    answer: impl Fn(&Seen) -> Reply + Send + Sync + 'static,
    set: impl FnOnce(&mut Settings),
) -> Bench {
    let model = Model::new(move |seen| match is_sound(&seen.body()) {
        Ok(()) => answer(seen),
        Err(why) => {
            let error = json!({"type": "error", "error": {"type": "invalid_request_error", "message": why}});
            Reply::Whole(400, "", error.to_string())
        }
    });
    bench(model, |settings| {
        settings.routes[0].upstreams[0].api = ServerApi::Anthropic;
        set(settings);
    })
    .await
}

fn looks(seen: &Seen) -> Reply {
    match results(seen) {
        0 => blocks(seen, &[thought("FIRST"), says("Let me look."), call("t1", "look", "Paris")]),
        _ => blocks(seen, &[thought("SECOND"), says("It rains.")]),
    }
}

#[tokio::test]
async fn the_model_goes_on_with_its_thought_its_call_and_the_result() {
    for stream in [false, true] {
        let bench = before(looks, |_| {}).await;
        let asked = with(question(), json!({"stream": stream}));
        let response = bench.stand.post(&asked).send().await.unwrap();
        assert_eq!(response.status(), 200);
        let text = if stream {
            let said = response.text().await.unwrap();
            assembled(&events(&said.replace(": x-del-executed: look\n\n", ""))).0
        } else {
            assert_eq!(response.headers()["x-del-executed"], "look");
            let answer = document(response).await;
            assert_eq!(answer["usage"]["completion_tokens"], 4);
            answer["choices"][0]["message"]["content"].as_str().unwrap().to_owned()
        };
        assert_eq!(text, "Let me look.\n\nIt rains.");
        let sent = bench.stand.model.last().body();
        let names: Vec<&Value> = sent["tools"].as_array().unwrap().iter().map(|tool| &tool["name"]).collect();
        assert_eq!(names, ["look", "wait"]);
        let content = sent["messages"][1]["content"].as_array().unwrap();
        assert_eq!(content[..2], [thought("FIRST"), says("Let me look.")]);
        assert_eq!((&content[2]["name"], &content[2]["input"]), (&json!("look"), &json!({"city": "Paris"})));
        let result = &sent["messages"][2]["content"][0];
        assert_eq!(result["content"], json!([says("saw {\"city\":\"Paris\"}")]));
    }
}

#[tokio::test]
async fn a_client_of_every_api_gets_one_answer() {
    let user = json!([{"role": "user", "content": "Weather?"}]);
    for (path, body) in [
        ("/v1/messages", json!({"model": "m", "max_tokens": 99, "messages": user})),
        ("/v1/responses", json!({"model": "m", "input": "Weather?"})),
        ("/api/chat", json!({"model": "m", "messages": user})),
    ] {
        for stream in [false, true] {
            let bench = before(looks, |_| {}).await;
            let body = with(body.clone(), json!({"stream": stream}));
            let request = bench.stand.request(Method::POST, path).body(body.to_string());
            let response = request.send().await.unwrap();
            let status = response.status().as_u16();
            let text = response.text().await.unwrap();
            assert_eq!(status, 200, "{path}: {text}");
            assert!(text.contains("rains."), "{path}: {text}");
            // Nobody but this proxy can answer its call.
            assert!(!text.contains("\"tool_use\"") && !text.contains("function_call"), "{path}: {text}");
            assert_eq!(bench.log.lock().unwrap().len(), 1);
        }
    }
}

/// The client's next request has to be whole for the server: with the thought, both calls and both results.
#[tokio::test]
async fn what_ran_beside_the_clients_call_is_in_its_next_request() {
    let answer = |seen: &Seen| match results(seen) {
        0 => blocks(seen, &[thought("FIRST"), call("t1", "look", "Paris"), call("t2", "theirs", "Rome")]),
        _ => blocks(seen, &[says("Done.")]),
    };
    let schema = json!({"type": "object", "properties": {"city": {"type": "string"}}});
    for stream in [false, true] {
        let bench = before(answer, |_| {}).await;
        let thinking = json!({"type": "enabled", "budget_tokens": 1024});
        let mut body = json!({"model": "m", "max_tokens": 2048, "stream": stream, "thinking": thinking,
            "messages": [{"role": "user", "content": "Weather?"}],
            "tools": [{"name": "theirs", "input_schema": schema}]});
        let post = async |body: &Value| {
            let request = bench.stand.request(Method::POST, "/v1/messages").body(body.to_string());
            let response = request.send().await.unwrap();
            let status = response.status().as_u16();
            let text = response.text().await.unwrap();
            assert_eq!(status, 200, "{text}");
            text
        };
        let said = post(&body).await;
        let content = if stream { of_stream(&said) } else { content(&said) };
        let theirs = content.iter().find(|block| block["type"] == "tool_use").unwrap().clone();
        assert_eq!(theirs["name"], "theirs");
        let messages = body["messages"].as_array_mut().unwrap();
        messages.push(json!({"role": "assistant", "content": content}));
        messages.push(json!({"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": theirs["id"], "content": "sunny"}]}));
        assert!(post(&body).await.contains("Done."));
        let sent = bench.stand.model.last().body();
        let of = |place: usize, name: &str| -> Vec<Value> {
            let blocks = sent["messages"][place]["content"].as_array().unwrap();
            blocks.iter().map(|block| block[name].clone()).collect()
        };
        assert_eq!(of(1, "type"), ["thinking", "tool_use", "tool_use"], "{sent}");
        assert_eq!(of(1, "name")[1..], ["look", "theirs"]);
        assert_eq!(of(2, "content"), [json!([says("saw {\"city\":\"Paris\"}")]), json!([says("sunny")])]);
        assert_eq!(bench.log.lock().unwrap().len(), 1);
    }
}

fn content(said: &str) -> Vec<Value> {
    let said: Value = serde_json::from_str(said).unwrap();
    said["content"].as_array().unwrap().clone()
}

/// The blocks of a stream, as a client puts them together.
fn of_stream(said: &str) -> Vec<Value> {
    let (mut blocks, mut input): (Vec<Value>, String) = (Vec::new(), String::new());
    for event in said.lines().filter_map(|line| line.strip_prefix("data: ")) {
        let event: Value = serde_json::from_str(event).unwrap();
        let add = |block: &mut Value, name: &str| {
            let more =
                [&block[name], &event["delta"][name]].map(|text| text.as_str().unwrap_or_default()).concat();
            block[name] = json!(more);
        };
        match (event["type"].as_str().unwrap(), event["delta"]["type"].as_str()) {
            ("content_block_start", _) => blocks.push(event["content_block"].clone()),
            (_, Some("text_delta")) => add(blocks.last_mut().unwrap(), "text"),
            (_, Some("thinking_delta")) => add(blocks.last_mut().unwrap(), "thinking"),
            (_, Some("signature_delta")) => add(blocks.last_mut().unwrap(), "signature"),
            (_, Some("input_json_delta")) => {
                input.push_str(event["delta"]["partial_json"].as_str().unwrap());
            }
            ("content_block_stop", _) if !input.is_empty() => {
                blocks.last_mut().unwrap()["input"] =
                    serde_json::from_str(&std::mem::take(&mut input)).unwrap();
            }
            _ => {}
        }
    }
    blocks
}

/// Asks for the definition of the tool that runs here, looks, asks for the client's, and calls that.
fn careful(seen: &Seen) -> Reply {
    let body = seen.body();
    let defined = |name: &str| body["tools"].as_array().unwrap().iter().any(|tool| tool["name"] == name);
    let asks = |id: &str, name: &str| json!({"type": "tool_use", "id": id, "name": "request_tools", "input": {"query": name}});
    let saw = body["messages"].to_string().contains("saw ");
    match (defined("look"), saw, defined("get_weather")) {
        (false, ..) => blocks(seen, &[thought("A"), says("I need a tool."), asks("t1", "look")]),
        (true, false, _) => blocks(seen, &[thought("B"), says("Let me look."), call("t1", "look", "Paris")]),
        (true, true, false) => blocks(seen, &[thought("C"), says("One more."), asks("t1", "get_weather")]),
        (true, true, true) => {
            blocks(seen, &[thought("D"), says("And now yours."), call("t1", "get_weather", "Rome")])
        }
    }
}

#[tokio::test]
async fn definitions_are_asked_for_between_the_calls() {
    let asked = with(question(), json!({"tools": [tool("get_weather")], "thinking": {"type": "adaptive"}}));
    for stream in [false, true] {
        let bench = before(careful, |settings| settings.routes[0].tools_mode = ToolsMode::Hybrid).await;
        let told = if stream {
            let said = bench.stand.post(&streamed(asked.clone())).send().await.unwrap().text().await.unwrap();
            assembled(&events(&said.replace(": x-del-executed: look\n\n", "")))
        } else {
            crate::stand::told(&bench.stand.ask(&asked).await)
        };
        let (text, calls, finish) = told;
        assert_eq!(text, "I need a tool.\n\nLet me look.\n\nOne more.\n\nAnd now yours.");
        assert_eq!((calls.len(), calls[0].0.as_str(), finish.as_str()), (1, "get_weather", "tool_calls"));
        assert_eq!(bench.log.lock().unwrap().len(), 1);
        let seals: Vec<Value> = bench.stand.model.last().body()["messages"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|message| message["role"] == "assistant")
            .map(|message| message["content"][0]["signature"].clone())
            .collect();
        assert_eq!(seals, ["A", "B", "C"]);
    }
}
