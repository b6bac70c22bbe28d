//! What clients of Anthropic's API say that only its servers read: where the prompt is to be kept, and images in results.

use del_agent::ToolsMode;
use del_proxy::ServerApi;
use reqwest::Method;
use serde_json::{Value, json};

use crate::model::{Model, Reply, completion};
use crate::stand::Stand;

/// What a server of this API is asked for a request to `path`.
async fn sent(api: ServerApi, path: &str, mode: ToolsMode, body: &Value) -> Value {
    let said = match api {
        ServerApi::Anthropic => json!({"type": "message", "content": [], "stop_reason": "end_turn"}),
        ServerApi::Ollama => json!({"message": {"role": "assistant", "content": "Yes."}, "done": true}),
        ServerApi::Responses => json!({"output": []}),
        ServerApi::OpenAi => completion(&json!({"role": "assistant", "content": "Yes."}), "stop"),
    };
    let stand = Stand::with(Model::saying(Reply::Whole(200, "", said.to_string())), |settings| {
        settings.routes[0].upstreams[0].api = api;
        settings.routes[0].tools_mode = mode;
    })
    .await;
    let response = stand.request(Method::POST, path).body(body.to_string()).send().await.unwrap();
    assert_eq!(response.status(), 200);
    stand.model.last().body()
}

fn mark() -> Value {
    json!({"type": "ephemeral", "ttl": "1h"})
}

fn marked(mut block: Value) -> Value {
    block["cache_control"] = mark();
    block
}

fn without(value: &Value) -> Value {
    match value {
        Value::Array(list) => list.iter().map(without).collect(),
        Value::Object(members) => {
            let kept = members.iter().filter(|(name, _)| *name != "cache_control");
            Value::Object(kept.map(|(name, value)| (name.clone(), without(value))).collect())
        }
        other => other.clone(),
    }
}

fn request() -> Value {
    let text = |text: &str| json!({"type": "text", "text": text});
    let image =
        json!({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"}});
    let call = |id: &str| json!({"type": "tool_use", "id": id, "name": "f", "input": {}});
    let result = |id: &str, said: Value| json!({"type": "tool_result", "tool_use_id": id, "content": said});
    json!({"model": "m", "max_tokens": 9,
    "system": [text("You are Del."), marked(text("Be brief."))],
    "tools": [{"name": "f", "description": "F.", "input_schema": {"type": "object"}},
        marked(json!({"name": "g", "description": "G.", "input_schema": {"type": "object"}}))],
    "tool_choice": {"type": "auto"},
    "messages": [
        {"role": "user", "content": [marked(text("One."))]},
        {"role": "assistant", "content": [text("Two."), marked(text("Three.")), call("a"), marked(call("b"))]},
        {"role": "user", "content": [
            result("a", json!([text("Four."), image])), marked(result("b", json!([text("Five.")]))),
            marked(image.clone())]},
    ]})
}

#[tokio::test]
async fn marks_go_to_anthropics_servers_untouched() {
    let mut body = request();
    body["cache_control"] = mark();
    let sent = sent(ServerApi::Anthropic, "/v1/messages", ToolsMode::Native, &body).await;
    let mut expected = body.clone();
    // The API takes a text for a block, and has no word on what was not asked.
    expected["messages"][2]["content"][1]["content"] = json!([{"type": "text", "text": "Five."}]);
    for name in ["system", "messages", "tools", "tool_choice", "cache_control", "max_tokens"] {
        assert_eq!(sent[name], expected[name], "{name}");
    }
}

#[tokio::test]
async fn marks_change_nothing_of_what_other_servers_are_asked() {
    for api in [ServerApi::OpenAi, ServerApi::Responses, ServerApi::Ollama] {
        for mode in [ToolsMode::Native, ToolsMode::Prompt, ToolsMode::Hybrid] {
            let mut with_marks = request();
            with_marks["cache_control"] = mark();
            let told = sent(api, "/v1/messages", mode, &with_marks).await;
            assert_eq!(
                told,
                sent(api, "/v1/messages", mode, &without(&with_marks)).await,
                "{api:?} {mode:?}"
            );
            assert!(!told.to_string().contains("cache_control"), "{told}");
        }
    }
}

#[tokio::test]
async fn clients_of_chats_may_mark_what_they_say_as_well() {
    let text = |text: &str| marked(json!({"type": "text", "text": text}));
    let body = json!({"model": "m", "messages": [{"role": "system", "content": [text("Be brief.")]}, {"role": "user", "content": [text("Hi.")]}]});
    let anthropic = sent(ServerApi::Anthropic, "/v1/chat/completions", ToolsMode::Native, &body).await;
    assert_eq!(
        (&anthropic["system"], &anthropic["messages"][0]["content"]),
        (&json!([text("Be brief.")]), &json!([text("Hi.")]))
    );
    // A server of chats may know it.
    let chat = sent(ServerApi::OpenAi, "/v1/chat/completions", ToolsMode::Native, &body).await;
    assert_eq!(chat["messages"], body["messages"]);
}

#[tokio::test]
async fn images_in_results_stay_there_where_the_server_reads_them() {
    let url = json!({"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}});
    let responses = json!({"model": "m", "input": [
        {"role": "user", "content": "See."},
        {"type": "function_call", "call_id": "a", "name": "f", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "a", "output": [
            {"type": "input_text", "text": "Four."}, {"type": "input_image", "image_url": "data:image/png;base64,AAAA"}]},
    ]});
    for (path, body) in [("/v1/messages", request()), ("/v1/responses", responses)] {
        let anthropic = sent(ServerApi::Anthropic, path, ToolsMode::Native, &body).await;
        let content = &anthropic["messages"][2]["content"][0]["content"];
        assert_eq!(
            (&content[0]["text"], &content[1]["source"]["data"]),
            (&json!("Four."), &json!("AAAA")),
            "{anthropic}"
        );
        let other = sent(ServerApi::Responses, path, ToolsMode::Native, &body).await;
        let outputs = other["input"].as_array().unwrap().iter();
        let output = outputs
            .filter(|item| item["type"] == "function_call_output")
            .map(|item| &item["output"])
            .next()
            .unwrap();
        assert_eq!(
            (&output[0]["text"], &output[1]["type"]),
            (&json!("Four."), &json!("input_image")),
            "{other}"
        );
        let chat = sent(ServerApi::OpenAi, path, ToolsMode::Native, &body).await;
        let messages = chat["messages"].as_array().unwrap();
        let result = messages.iter().find(|message| message["role"] == "tool").unwrap();
        assert_eq!((&result["content"], &messages.last().unwrap()["content"][0]), (&json!("Four."), &url));
    }
}

#[tokio::test]
async fn what_only_anthropic_has_goes_to_its_servers_alone() {
    let schema = json!({"type": "object", "properties": {}});
    let format = json!({"type": "json_schema", "schema": schema});
    let own = json!({"service_tier": "auto", "metadata": {"user_id": "u"}, "context_management": {"edits": []},
        "output_config": {"effort": "low", "format": format}});
    let mut body = request();
    for (name, value) in own.as_object().unwrap() {
        body[name] = value.clone();
    }
    let anthropic = sent(ServerApi::Anthropic, "/v1/messages", ToolsMode::Native, &body).await;
    for (name, value) in own.as_object().unwrap() {
        assert_eq!(&anthropic[name], value, "{name}");
    }
    let chat = sent(ServerApi::OpenAi, "/v1/messages", ToolsMode::Native, &body).await;
    assert_eq!((&chat["user"], &chat["response_format"]["json_schema"]["schema"]), (&json!("u"), &schema));
    let strange = ["anthropic", "service_tier", "metadata", "context_management", "output_config"];
    assert_eq!(strange.iter().find(|name| chat.get(**name).is_some()), None, "{chat}");
}

#[tokio::test]
async fn an_anthropic_server_is_asked_for_what_it_takes() {
    let schema = json!({"type": "object", "properties": {}});
    let body = json!({"model": "m", "messages": [{"role": "user", "content": "Hi."}], "temperature": 1.5,
        "stop": ["\n", "END"], "response_format": {"type": "json_schema", "json_schema": {"name": "a", "schema": schema}}});
    let anthropic = sent(ServerApi::Anthropic, "/v1/chat/completions", ToolsMode::Native, &body).await;
    assert_eq!((&anthropic["temperature"], &anthropic["stop_sequences"]), (&json!(1.0), &json!(["END"])));
    assert_eq!(anthropic["output_config"], json!({"format": {"type": "json_schema", "schema": schema}}));
}
