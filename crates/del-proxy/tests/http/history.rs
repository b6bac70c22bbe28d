//! What is mended of the conversation that a client sends.

use del_agent::ToolsMode;
use del_dialects::Dialects;
use del_proxy::{ServerApi, Settings};
use serde_json::{Value, json};

use crate::model::{Model, Reply, completion, says};
use crate::stand::{Stand, document, tool, weather, with};

const LEAKED: &str =
    "<tool_call>\n{\"name\": \"get_weather\", \"arguments\": {\"city\": \"Paris\"}}\n</tool_call>";

fn talker() -> Model {
    Model::new(|seen| says(seen, "Sunny.", 4))
}

/// The API of `path`, with a call in a past text.
fn leaking(path: &str) -> Value {
    let schema = json!({"type": "object", "properties": {"city": {"type": "string"}}});
    let said = json!([{"role": "user", "content": "Weather?"}, {"role": "assistant", "content": LEAKED},
        {"role": "user", "content": "Well?"}]);
    match path {
        "/v1/responses" => json!({"model": "m", "input": said,
            "tools": [{"type": "function", "name": "get_weather", "parameters": schema}]}),
        "/v1/messages" => json!({"model": "m", "max_tokens": 10, "messages": said,
            "tools": [{"name": "get_weather", "input_schema": schema}]}),
        _ => json!({"model": "m", "messages": said, "stream": false, "tools": [tool("get_weather")]}),
    }
}

async fn post(stand: &Stand, path: &str, body: &Value) -> reqwest::Response {
    stand.request(reqwest::Method::POST, path).body(body.to_string()).send().await.unwrap()
}

#[tokio::test]
async fn markup_in_a_past_text_is_a_call_for_the_model_in_every_api() {
    let stand = Stand::with(talker(), |settings| settings.metrics = true).await;
    for path in ["/v1/chat/completions", "/v1/responses", "/v1/messages", "/api/chat"] {
        let response = post(&stand, path, &leaking(path)).await;
        assert_eq!(response.status(), 200, "{path}");
        assert_eq!(response.headers()["x-del-mended-history"], "leaked_call=1,no_result=1", "{path}");
        let sent = stand.model.last().body()["messages"].clone();
        assert_eq!(sent[1]["content"], "", "{path}");
        let called = &sent[1]["tool_calls"][0];
        assert_eq!(called["function"], json!({"name": "get_weather", "arguments": "{\"city\": \"Paris\"}"}));
        assert_eq!(
            sent[2],
            json!({"role": "tool", "tool_call_id": called["id"],
                "content": "Error: There is no result of this call; it may not have run."}),
            "{path}"
        );
        assert_eq!(sent[3], json!({"role": "user", "content": "Well?"}), "{path}");
    }
    let counted = stand.get("/metrics").await.text().await.unwrap();
    assert!(counted.contains("del_history_mended_total{kind=\"leaked_call\"} 4"), "{counted}");
}

#[tokio::test]
async fn a_conversation_that_is_right_goes_on_as_it_came() {
    let stand = Stand::new(talker()).await;
    let call =
        json!({"id": "c", "type": "function", "function": {"name": "get_weather", "arguments": "{ }"}});
    let said = json!([{"role": "user", "content": "Weather?"}, {"role": "assistant", "content": null, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c", "content": "sunny", "is_error": true}]);
    let spelled = format!(" {:#}", with(weather(), json!({"messages": said})));
    let request = stand.request(reqwest::Method::POST, "/v1/chat/completions").body(spelled.clone());
    let response = request.send().await.unwrap();
    assert!(!response.headers().contains_key("x-del-mended-history"));
    assert_eq!(stand.model.last().bytes, spelled.into_bytes());
}

/// Like a chat template that reads arguments, and pairs calls with results.
fn strict() -> Model {
    Model::new(|seen| {
        let body = seen.body();
        let mut open = Vec::new();
        for message in body["messages"].as_array().unwrap() {
            let refuse = |why: &str| Reply::Whole(500, "", json!({"error": {"message": why}}).to_string());
            let result = message["role"] == "tool";
            if result && !open.contains(&message["tool_call_id"]) || !result && !open.is_empty() {
                return refuse("a call without a result");
            }
            open.retain(|id| *id != message["tool_call_id"]);
            for call in message["tool_calls"].as_array().into_iter().flatten() {
                open.push(call["id"].clone());
                let arguments = call["function"]["arguments"].as_str().unwrap_or_default();
                if !serde_json::from_str::<Value>(arguments).is_ok_and(|arguments| arguments.is_object()) {
                    return refuse("arguments are no object");
                }
            }
        }
        Reply::Whole(
            200,
            "",
            completion(&json!({"role": "assistant", "content": "Sunny."}), "stop").to_string(),
        )
    })
}

#[tokio::test]
async fn a_strict_server_takes_what_was_broken() {
    let stand = Stand::new(strict()).await;
    let call = |id: &str, arguments: Value| json!({"id": id, "type": "function", "function": {"name": "get_weather", "arguments": arguments}});
    let says = |calls: Value| json!({"role": "assistant", "content": "", "tool_calls": calls});
    let gave = |id: &str| json!({"role": "tool", "tool_call_id": id, "content": "sunny"});
    let user = json!({"role": "user", "content": "Well?"});
    for (messages, mended) in [
        (json!([user, says(json!([call("a", json!("{'city': 'Paris'}"))])), gave("a")]), "arguments=1"),
        (json!([user, says(json!([call("a", json!("{\"city\": \"Par"))])), gave("a")]), "broken_arguments=1"),
        (json!([user, says(json!([call("a", json!({"city": "Paris"}))])), gave("a")]), "arguments=1"),
        (json!([user, says(json!([call("a", json!("{}"))])), user]), "no_result=1"),
        (json!([user, says(json!([call("a", json!("{}"))])), user, gave("a")]), "moved_result=1"),
        (json!([user, gave("a"), user]), "no_call=1"),
        (
            json!([user, says(json!([call("", json!("{}"))])), json!({"role": "tool", "content": "x"})]),
            "no_id=2",
        ),
    ] {
        for body in
            [with(weather(), json!({"messages": messages})), json!({"model": "m", "messages": messages})]
        {
            let response = stand.post(&body).send().await.unwrap();
            assert_eq!(response.status(), 200, "{messages}");
            assert_eq!(response.headers()["x-del-mended-history"], mended);
        }
    }
}

/// Results that failed, beside one that did not, in the shape of Anthropic's API.
fn failing() -> Value {
    let schema = json!({"type": "object", "properties": {"city": {"type": "string"}}});
    let call = |id: &str| json!({"type": "tool_use", "id": id, "name": "get_weather", "input": {"city": id}});
    json!({"model": "m", "max_tokens": 10, "tools": [{"name": "get_weather", "input_schema": schema}], "messages": [
        {"role": "user", "content": "Weather?"},
        {"role": "assistant", "content": [call("Oz"), call("Rome")]},
        {"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": "Oz", "is_error": true, "content": "no such city"},
            {"type": "tool_result", "tool_use_id": "Rome", "content": "sunny"}]}]})
}

async fn asked_with(set: impl FnOnce(&mut Settings), model: Model) -> Value {
    let stand = Stand::with(model, set).await;
    let response = post(&stand, "/v1/messages", &failing()).await;
    assert_eq!(response.status(), 200);
    document(response).await;
    stand.model.last().body()["messages"].clone()
}

#[tokio::test]
async fn a_model_in_the_prompt_sees_that_a_call_failed() {
    for (dialect, mode, failed, fine) in [
        (
            "amrita-am",
            ToolsMode::Prompt,
            "<am:tool_error name=\"get_weather\">no such city</am:tool_error>",
            "sunny",
        ),
        (
            "amrita-am",
            ToolsMode::Hybrid,
            "<am:tool_error name=\"get_weather\">no such city</am:tool_error>",
            "sunny",
        ),
        ("hermes-json", ToolsMode::Prompt, "<tool_response>\nError: no such city", "<tool_response>\nsunny"),
    ] {
        let set = |settings: &mut Settings| {
            settings.routes[0].tools_mode = mode;
            settings.routes[0].dialect = Dialects::builtin().get(dialect).cloned();
        };
        let messages = asked_with(set, talker()).await;
        let told = messages.as_array().unwrap().last().unwrap()["content"].as_str().unwrap().to_owned();
        assert!(told.contains(failed) && told.contains(fine), "{dialect} {told}");
    }
}

#[tokio::test]
async fn a_failed_result_is_told_in_the_shape_of_the_server() {
    let messages = asked_with(|_| {}, talker()).await;
    let content = |place: usize| {
        (messages[place]["content"].as_str().unwrap().to_owned(), messages[place].get("is_error"))
    };
    assert_eq!(content(2), ("Error: no such city".to_owned(), None));
    assert_eq!(content(3), ("sunny".to_owned(), None));
    let said = json!({"type": "message", "role": "assistant", "content": [{"type": "text", "text": "Fine."}],
        "stop_reason": "end_turn", "usage": {"input_tokens": 1, "output_tokens": 1}});
    let anthropic = Model::saying(Reply::Whole(200, "", said.to_string()));
    let messages =
        asked_with(|settings| settings.routes[0].upstreams[0].api = ServerApi::Anthropic, anthropic).await;
    assert_eq!(messages[2]["content"][0]["is_error"], true);
    assert_eq!(messages[2]["content"][1].get("is_error"), None);
}
