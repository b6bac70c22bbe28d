//! What of a conversation nobody here knows: a server of the client's own API gets it as it came, and no other does.

use del_proxy::ServerApi;
use reqwest::Method;
use serde_json::{Value, json};

use crate::members::sent;
use crate::model::{Model, Reply};
use crate::stand::{Stand, document};

const OTHERS: [ServerApi; 4] =
    [ServerApi::OpenAi, ServerApi::Responses, ServerApi::Anthropic, ServerApi::Ollama];

fn tools() -> Value {
    json!([{"name": "f", "description": "", "input_schema": {"type": "object"}, "own": 1}])
}

fn messages() -> Value {
    let block = |kind: &str, members: Value| {
        let mut block = json!({"type": kind, "own": {"a": [1]}});
        block.as_object_mut().unwrap().extend(members.as_object().unwrap().clone());
        block
    };
    let text = |text: &str| block("text", json!({ "text": text }));
    let call = json!({"id": "t1", "name": "f", "input": {"n": 1.50}, "caller": {"type": "direct"}});
    let result = json!({"tool_use_id": "t1", "content": [
        text("Rain."), {"type": "tool_reference", "tool_name": "f"}]});
    json!([
        {"role": "user", "own": true, "content": [
            text("See."),
            block("image", json!({"source": {"type": "file", "file_id": "file_1"}})),
            block("image", json!({"source": {"type": "url", "url": "https://x/a.png"}})),
            block("document", json!({"source": {"type": "file", "file_id": "file_2"}, "title": "T"})),
            {"type": "container_upload", "file_id": "file_3"}]},
        {"role": "assistant", "own": true, "content": [
            {"type": "thinking", "thinking": "Hm.", "signature": "SEAL"},
            text("I look."),
            {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {"q": "x"}},
            {"type": "web_search_tool_result", "tool_use_id": "s1", "content": [{"type": "web_search_result"}]},
            block("tool_use", call)]},
        {"role": "user", "content": [block("tool_result", result)]},
        {"role": "assistant", "content": [text("Yes.")]},
        {"role": "user", "content": [text("And?")]},
    ])
}

#[tokio::test]
async fn a_message_goes_on_to_an_anthropic_server_with_all_that_it_says() {
    let system = json!([{"type": "text", "text": "Be brief.", "own": 1}]);
    let body =
        json!({"model": "m", "max_tokens": 9, "system": system, "messages": messages(), "tools": tools()});
    let told = sent(ServerApi::Anthropic, "/v1/messages", &body).await;
    for name in ["system", "tools"] {
        assert_eq!(told[name], body[name]);
    }
    for (place, message) in messages().as_array().unwrap().iter().enumerate() {
        assert_eq!(told["messages"][place], *message, "{place}");
    }
    assert_eq!(told["messages"].as_array().unwrap().len(), 5);
}

#[tokio::test]
async fn servers_of_other_apis_are_told_what_they_can_read() {
    let without_files = |mut body: Value| {
        let content = body["messages"][0]["content"].as_array_mut().unwrap();
        content.retain(|block| block["source"]["type"] != "file");
        body
    };
    let body =
        json!({"model": "m", "max_tokens": 9, "messages": messages(), "tools": tools(), "stream": false});
    for api in OTHERS.into_iter().filter(|api| *api != ServerApi::Anthropic) {
        let told = sent(api, "/v1/messages", &without_files(body.clone())).await.to_string();
        assert!(told.contains("Rain.") && told.contains("I look."), "{told}");
        assert!(api == ServerApi::Ollama || told.contains("https://x/a.png"), "{told}");
        for strange in ["own", "anthropic", "container_upload", "tool_reference", "web_search", "caller"] {
            assert!(!told.contains(strange), "{api:?} {strange}: {told}");
        }
        // A question about a file that is not there would be another one.
        let stand = Stand::with(Model::saying(Reply::Silence), |settings| {
            settings.routes[0].upstreams[0].api = api;
        })
        .await;
        let request = stand.request(Method::POST, "/v1/messages").body(body.to_string());
        let response = request.send().await.unwrap();
        assert_eq!(response.status(), 400);
        let message = document(response).await["error"]["message"].as_str().unwrap().to_owned();
        assert!(message.contains("image.source") && message.contains("base64 or a url"), "{message}");
        assert!(stand.model.seen().is_empty());
    }
    // What is nothing but such content is no message.
    let upload = json!([{"role": "user", "content": [{"type": "container_upload", "file_id": "f"}]},
        {"role": "user", "content": "Hi."}]);
    let told =
        sent(ServerApi::OpenAi, "/v1/messages", &json!({"model": "m", "max_tokens": 9, "messages": upload}))
            .await;
    assert_eq!(told["messages"], json!([{"role": "user", "content": "Hi."}]));
}

fn items() -> Value {
    json!([
        {"role": "system", "content": [{"type": "input_text", "text": "Be kind.", "own": 1}]},
        {"role": "user", "own": 1, "content": [
            {"type": "input_text", "text": "See.", "own": {"a": 1}},
            {"type": "input_image", "image_url": "https://x/a.png", "detail": "low", "own": 1},
            {"type": "input_image", "file_id": "file_1", "detail": "high"},
            {"type": "input_file", "file_id": "file_2"},
            {"type": "input_video", "video_url": "https://x/a.mp4"}]},
        {"type": "reasoning", "summary": [{"type": "summary_text", "text": "Hm."}], "encrypted_content": "SEAL"},
        {"type": "web_search_call", "id": "ws_1", "status": "completed", "action": {"type": "search"}},
        {"role": "assistant", "phase": "commentary", "content": [{"type": "output_text", "text": "I look.", "own": 1}]},
        {"type": "function_call", "call_id": "c1", "name": "f", "arguments": "{\"n\": 1.50}", "own": 1},
        {"type": "function_call_output", "call_id": "c1", "output": [{"type": "input_text", "text": "Rain.", "own": 1}],
            "own": 1},
        {"role": "assistant", "content": "Yes.", "phase": "final_answer"},
        {"type": "computer_call", "id": "cu_1", "call_id": "c2", "action": {"type": "click"}},
        {"role": "user", "content": "And?"},
    ])
}

#[tokio::test]
async fn items_go_on_to_a_server_of_responses_with_all_that_they_say() {
    let body = json!({"model": "m", "input": items(),
        "tools": [{"type": "function", "name": "f", "parameters": {"type": "object"}, "strict": false, "own": 1}]});
    let told = sent(ServerApi::Responses, "/v1/responses", &body).await;
    assert_eq!(told["tools"], body["tools"]);
    // Instructions in parts stay an item, and what is unknown of an item stays with it.
    let all = items();
    let (all, got) = (all.as_array().unwrap(), told["input"].as_array().unwrap());
    for (place, item) in all.iter().enumerate() {
        assert_eq!(got[place], *item, "{place}");
    }
    assert_eq!(got.len(), all.len());
}

#[tokio::test]
async fn ids_of_answers_that_were_made_here_mean_nothing_to_the_server() {
    let input = json!([
        {"type": "message", "id": "msg_1", "status": "completed", "role": "assistant",
            "content": [{"type": "output_text", "text": "Yes.", "annotations": [], "logprobs": []}]},
        {"type": "function_call", "id": "fc_1", "status": "completed", "call_id": "c1", "name": "f", "arguments": "{}"},
        {"type": "function_call_output", "id": "fco_1", "call_id": "c1", "output": "Rain."},
    ]);
    let told = sent(ServerApi::Responses, "/v1/responses", &json!({"model": "m", "input": input})).await;
    assert_eq!(
        told["input"],
        json!([
            {"role": "assistant", "content": "Yes."},
            {"type": "function_call", "call_id": "c1", "name": "f", "arguments": "{}"},
            {"type": "function_call_output", "call_id": "c1", "output": "Rain."},
        ])
    );
}

#[tokio::test]
async fn servers_of_other_apis_are_told_of_items_what_they_can_read() {
    let mut input = items();
    let content = input[1]["content"].as_array_mut().unwrap();
    content.retain(|part| part.get("file_id").is_none());
    let body = |input: &Value| json!({"model": "m", "input": input, "tools": [{"type": "function", "name": "f", "own": 1}]});
    for api in OTHERS.into_iter().filter(|api| *api != ServerApi::Responses) {
        let told = sent(api, "/v1/responses", &body(&input)).await;
        let said = told["messages"].to_string() + &told["system"].to_string();
        assert!(said.contains("Rain.") && said.contains("I look.") && said.contains("Be kind."), "{said}");
        for strange in ["own", "\"responses\"", "video", "web_search", "computer", "phase"] {
            assert!(!said.contains(strange), "{api:?} {strange}: {said}");
        }
        let stand = Stand::with(Model::saying(Reply::Silence), |settings| {
            settings.routes[0].upstreams[0].api = api;
        })
        .await;
        let request = stand.request(Method::POST, "/v1/responses").body(body(&items()).to_string());
        let response = request.send().await.unwrap();
        assert_eq!(response.status(), 400);
        let message = document(response).await["error"]["message"].as_str().unwrap().to_owned();
        assert!(message.contains("not by an id") && message.contains("file_1"), "{message}");
        assert!(stand.model.seen().is_empty());
    }
}
