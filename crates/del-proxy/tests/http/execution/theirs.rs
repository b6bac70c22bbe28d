//! The client's own tools and calls, beside those that run here.

use del_agent::ToolsMode;
use del_proxy::Settings;
use serde_json::{Value, json};

use super::{answers, bench, calls, looks, question, results};
use crate::model::{Model, Seen};
use crate::stand::{assembled, document, events, streamed, tool, with};

#[tokio::test]
async fn the_clients_own_calls_go_back_to_it_also_beside_ours() {
    let model = Model::new(|seen| match results(seen) {
        0 => answers(seen, "", &calls(&[("look", "Paris"), ("theirs", "Rome")])),
        _ => answers(seen, "Done.", &json!([])),
    });
    let bench = bench(model, |_| {}).await;
    let request = with(question(), json!({"tools": [tool("theirs")]}));
    for stream in [false, true] {
        let asked = with(request.clone(), json!({"stream": stream}));
        let response = bench.stand.post(&asked).send().await.unwrap();
        let call = if stream {
            let text = response.text().await.unwrap();
            let events = events(&text.replace(": x-del-executed: look\n\n", ""));
            let (_, calls, finish) = assembled(&events);
            assert_eq!(calls, [("theirs".to_owned(), r#"{"city":"Rome"}"#.to_owned())]);
            assert_eq!(finish, "tool_calls");
            let first = events.iter().map(|event| &event["choices"][0]["delta"]["tool_calls"][0]);
            let first = first.into_iter().find(|call| call["id"].is_string()).unwrap();
            assert_eq!(first["index"], 0);
            json!({"id": first["id"], "type": "function", "function": {"name": "theirs", "arguments": "{\"city\":\"Rome\"}"}})
        } else {
            let answer = document(response).await;
            let calls = answer["choices"][0]["message"]["tool_calls"].clone();
            assert_eq!(calls.as_array().unwrap().len(), 1);
            calls[0].clone()
        };
        let mut next = request.clone();
        let messages = next["messages"].as_array_mut().unwrap();
        messages.push(json!({"role": "assistant", "content": null, "tool_calls": [call]}));
        messages.push(json!({"role": "tool", "tool_call_id": call["id"], "content": "sunny"}));
        assert_eq!(bench.stand.message(&next).await["content"], "Done.");
        let sent = bench.stand.model.last().body()["messages"].clone();
        let names: Vec<&Value> =
            sent[1]["tool_calls"].as_array().unwrap().iter().map(|call| &call["function"]["name"]).collect();
        assert_eq!(names, ["look", "theirs"]);
        assert_eq!(
            (&sent[2]["content"], &sent[3]["content"]),
            (&json!("saw {\"city\":\"Paris\"}"), &json!("sunny"))
        );
        assert_eq!(sent[3]["tool_call_id"], call["id"]);
    }
    assert_eq!(bench.log.lock().unwrap().len(), 2);
}

#[tokio::test]
async fn what_was_forgotten_leaves_the_conversation_whole() {
    let model = Model::new(|seen| match results(seen) {
        0 => answers(seen, "", &calls(&[("look", "Paris"), ("theirs", "Rome")])),
        _ => answers(seen, "Done.", &json!([])),
    });
    let bench = bench(model, |settings| settings.memory = 0).await;
    let mut request = with(question(), json!({"tools": [tool("theirs")]}));
    let message = bench.stand.message(&request).await;
    let messages = request["messages"].as_array_mut().unwrap();
    messages.push(message.clone());
    messages
        .push(json!({"role": "tool", "tool_call_id": message["tool_calls"][0]["id"], "content": "sunny"}));
    assert_eq!(bench.stand.message(&request).await["content"], "Done.");
    let sent = bench.stand.model.last().body()["messages"].clone();
    assert_eq!(sent.as_array().unwrap().len(), 3);
    assert_eq!(sent[1]["tool_calls"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn a_tool_of_the_clients_wins_over_one_of_the_same_name() {
    let bench = bench(looks(), |_| {}).await;
    let request = with(question(), json!({"tools": [tool("look")]}));
    let response = bench.stand.post(&request).send().await.unwrap();
    assert_eq!(response.headers()["x-del-not-injected"], "look");
    let answer = document(response).await;
    assert_eq!(answer["choices"][0]["message"]["tool_calls"][0]["function"]["name"], "look");
    assert!(bench.log.lock().unwrap().is_empty());
    assert_eq!(bench.stand.model.last().body()["tools"].as_array().unwrap().len(), 2);
}

#[tokio::test]
async fn a_client_that_wants_no_calls_gets_no_tools() {
    let bench = bench(looks(), |_| {}).await;
    bench.stand.ask(&with(question(), json!({"tool_choice": "none"}))).await;
    assert!(bench.stand.model.last().body().get("tools").is_none());
    let two = bench.stand.post(&with(question(), json!({"n": 2}))).send().await.unwrap();
    assert_eq!(two.status(), 400);
}

#[tokio::test]
async fn a_demanded_call_may_be_of_either_kind() {
    let named = |name: &str| json!({"type": "function", "function": {"name": name}});
    let bench = bench(looks(), |_| {}).await;
    let asked = with(question(), json!({"tool_choice": named("look")}));
    assert_eq!(bench.stand.message(&asked).await["content"], "Let me look.\n\nIt rains.");
    assert_eq!(bench.stand.model.last().body()["tool_choice"], "auto");
    // A client with tools of its own wants a call of those.
    let asked = with(question(), json!({"tool_choice": "required", "tools": [tool("theirs")]}));
    let response = bench.stand.post(&asked).send().await.unwrap();
    assert_eq!(response.status(), 422);
    assert_eq!(bench.stand.model.last().body()["tool_choice"], "required");
}

/// Asks for the definition of the tool that runs here, looks, asks for the client's, and calls that.
fn careful() -> Model {
    Model::new(|seen| {
        let body = seen.body();
        let defined = |name: &str| {
            body["tools"].as_array().unwrap().iter().any(|tool| tool["function"]["name"] == name)
        };
        let asks = |name: &str| {
            let function = json!({"name": "request_tools", "arguments": json!({"query": name}).to_string()});
            json!([{"index": 0, "id": "r", "type": "function", "function": function}])
        };
        let saw = body["messages"].to_string().contains("saw ");
        match (defined("look"), saw, defined("get_weather")) {
            (false, ..) => answers(seen, "I need a tool.", &asks("look")),
            (true, false, _) => answers(seen, "Let me look.", &calls(&[("look", "Paris")])),
            (true, true, false) => answers(seen, "One more.", &asks("get_weather")),
            (true, true, true) => answers(seen, "And now yours.", &calls(&[("get_weather", "Rome")])),
        }
    })
}

#[tokio::test]
async fn the_model_asks_for_the_definitions_of_tools_that_run_here_as_of_others() {
    let hybrid = |settings: &mut Settings| settings.routes[0].tools_mode = ToolsMode::Hybrid;
    let asked = with(question(), json!({"tools": [tool("get_weather")]}));
    let text = "I need a tool.\n\nLet me look.\n\nOne more.\n\nAnd now yours.";
    let theirs = vec![("get_weather".to_owned(), "{\"city\":\"Rome\"}".to_owned())];
    for stream in [false, true] {
        let bench = bench(careful(), hybrid).await;
        let told = if stream {
            let response = bench.stand.post(&streamed(asked.clone())).send().await.unwrap();
            let events = response.text().await.unwrap();
            let data = events.lines().filter_map(|line| line.strip_prefix("data: "));
            let data: Vec<Value> = data.map(|data| serde_json::from_str(data).unwrap_or_default()).collect();
            assembled(&data)
        } else {
            crate::stand::told(&bench.stand.ask(&asked).await)
        };
        assert_eq!(told, (text.to_owned(), theirs.clone(), "tool_calls".to_owned()));
        assert_eq!(bench.log.lock().unwrap().len(), 1, "one call ran here");
        let seen = bench.stand.model.seen();
        assert_eq!(seen.len(), 4);
        let tools = |seen: &Seen| seen.body()["tools"].as_array().unwrap().len();
        assert_eq!(seen.iter().map(tools).collect::<Vec<_>>(), [1, 2, 2, 3]);
    }
}
