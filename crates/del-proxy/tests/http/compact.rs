//! Conversations that clients of Responses want shorter.

use del_proxy::ServerApi;
use reqwest::{Method, Response, StatusCode};
use serde_json::{Value, json};

use crate::model::{Model, Reply, Then, completion, says};
use crate::stand::{Stand, document, with};

const PATH: &str = "/v1/responses/compact";

fn conversation() -> Value {
    let long = "long ".repeat(1000);
    json!({"model": "m", "instructions": "Be brief.", "input": [
        {"role": "user", "content": [{"type": "input_text", "text": "Which files are there?"}]},
        {"type": "function_call", "call_id": "c1", "name": "list_dir", "arguments": "{\"path\": \"Z-path\"}"},
        {"type": "function_call_output", "call_id": "c1", "output": format!("Z-result <tool_call> {long}")},
        {"role": "assistant", "content": [{"type": "output_text", "text": "Z-said"}]},
        {"role": "user", "content": "And now?"}]})
}

async fn post(stand: &Stand, path: &str, body: &Value) -> Response {
    stand.request(Method::POST, path).body(body.to_string()).send().await.unwrap()
}

fn texts(items: &Value) -> Vec<&str> {
    items.as_array().unwrap().iter().filter_map(|item| item["content"][0]["text"].as_str()).collect()
}

#[tokio::test]
async fn a_model_sums_up_and_goes_on_with_what_it_said() {
    let summed = "<think>Hm.</think>\nThe summary.";
    let stand = Stand::new(Model::new(move |seen| says(seen, summed, 5))).await;
    let response = post(&stand, PATH, &conversation()).await;
    assert_eq!(response.status(), StatusCode::OK);
    let told = document(response).await;
    assert_eq!((&told["object"], &told["usage"]["total_tokens"]), (&json!("response.compaction"), &json!(3)));
    assert!(told["id"].as_str().unwrap().starts_with("resp_") && told["created_at"].is_u64(), "{told}");
    assert_eq!(texts(&told["output"]), ["Which files are there?", "And now?"]);
    let item = &told["output"][2];
    assert_eq!((&item["type"], told["output"].as_array().unwrap().len()), (&json!("compaction"), 3));
    let sent = stand.model.last().body();
    let question = sent["messages"][1]["content"].as_str().unwrap();
    for mark in ["Which files", "Z-path", "Z-result", "Z-said", "And now?", "[...]"] {
        assert!(question.contains(mark), "{mark}: {question}");
    }
    // Nothing in it can be taken for markup, and nobody goes on with it.
    assert!(!question.contains("<tool_call>") && question.len() < 4000, "{question}");
    assert_eq!((&sent["tools"], &sent["tool_choice"]), (&Value::Null, &Value::Null));

    let mut input = told["output"].as_array().unwrap().clone();
    input.push(json!({"role": "user", "content": "Go on."}));
    let body = json!({"model": "m", "input": input});
    assert_eq!(post(&stand, "/v1/responses", &body).await.status(), StatusCode::OK);
    let messages = stand.model.last().body()["messages"].clone();
    assert_eq!(messages[0]["content"], "Which files are there?");
    let summary = messages[2]["content"].as_str().unwrap();
    assert!(
        summary.contains("The summary.") && !summary.contains("Hm.") && !summary.contains("del."),
        "{summary}"
    );
    assert_eq!(messages[3]["content"], "Go on.");

    // The summary of a conversation with a summary has that in it, and what the user never said is not kept as said.
    let told = document(post(&stand, PATH, &body).await).await;
    assert_eq!(texts(&told["output"]), ["Which files are there?", "And now?", "Go on."]);
    assert!(stand.model.last().body()["messages"][1]["content"].as_str().unwrap().contains("The summary."));
}

#[tokio::test]
async fn less_is_summed_up_where_the_model_cannot_read_as_much() {
    let stand = Stand::new(Model::new(|seen| {
        let length = seen.body()["messages"][1]["content"].as_str().unwrap().len();
        if length > 1500 {
            let error = json!({"error": {"message": "the request exceeds the available context size", "type": "exceed_context_size_error", "code": 400}});
            return Reply::Whole(400, "", error.to_string());
        }
        says(seen, "Short.", 4)
    }));
    let stand = stand.await;
    let response = post(&stand, PATH, &conversation()).await;
    assert_eq!(response.status(), StatusCode::OK, "{}", response.text().await.unwrap());
    assert!(stand.model.seen().len() > 1);
    let too_long = with(conversation(), json!({"input": "much ".repeat(1000)}));
    let response = post(&stand, PATH, &too_long).await;
    assert_eq!(response.status(), StatusCode::BAD_REQUEST);
    assert!(response.text().await.unwrap().contains("context size"));
}

#[tokio::test]
async fn a_server_of_responses_does_it_itself_and_gets_its_item_back() {
    let sealed = json!({"id": "cmp_1", "type": "compaction", "encrypted_content": "gAAAA"});
    let said =
        json!({"id": "resp_1", "object": "response.compaction", "output": [sealed], "status": "completed"});
    let model = Model::saying(Reply::Whole(200, "", said.to_string()));
    let stand =
        Stand::with(model, |settings| settings.routes[0].upstreams[0].api = ServerApi::Responses).await;
    assert_eq!(document(post(&stand, PATH, &conversation()).await).await, said);
    assert_eq!(stand.model.last().path, "/v1/responses/compact");
    assert_eq!(stand.model.last().body(), conversation());
    let body = json!({"model": "m", "input": [{"role": "user", "content": "Hi."}, sealed, {"role": "user", "content": "Go on."}]});
    assert_eq!(post(&stand, "/v1/responses", &body).await.status(), StatusCode::OK);
    assert_eq!(stand.model.last().body()["input"][1], sealed);

    for api in [ServerApi::OpenAi, ServerApi::Anthropic, ServerApi::Ollama] {
        let said = match api {
            ServerApi::Anthropic => json!({"type": "message", "content": [], "stop_reason": "end_turn"}),
            ServerApi::Ollama => json!({"message": {"role": "assistant", "content": "Yes."}, "done": true}),
            _ => completion(&json!({"role": "assistant", "content": "Yes."}), "stop"),
        };
        let model = Model::saying(Reply::Whole(200, "", said.to_string()));
        let stand = Stand::with(model, |settings| settings.routes[0].upstreams[0].api = api).await;
        let response = post(&stand, "/v1/responses", &body).await;
        assert_eq!(response.headers()["x-del-dropped-parameters"], "compaction", "{api:?}");
        assert!(!stand.model.last().body().to_string().contains("gAAAA"));
    }
}

#[tokio::test]
async fn nothing_to_sum_up_and_no_summary_are_errors() {
    let stand = Stand::new(Model::new(|seen| says(seen, "<think>Only thought.</think>", 9))).await;
    let empty = with(conversation(), json!({"input": []}));
    for (body, status, said) in [
        (empty, StatusCode::BAD_REQUEST, "an empty one"),
        (with(conversation(), json!({"input": 1})), StatusCode::BAD_REQUEST, "input"),
        (conversation(), StatusCode::BAD_GATEWAY, "expected a summary"),
    ] {
        let response = post(&stand, PATH, &body).await;
        assert_eq!(response.status(), status);
        let error = document(response).await;
        assert!(error["error"]["message"].as_str().unwrap().contains(said), "{error}");
    }
}

/// As Codex asks: by an item at the end of a request for a response.
#[tokio::test]
async fn an_item_asks_for_it_in_place_of_an_answer() {
    let stand = Stand::new(Model::new(|seen| says(seen, "The summary.", 5))).await;
    let mut body = with(
        conversation(),
        json!({"tools": [{"type": "function", "name": "list_dir", "parameters": {}}], "store": false}),
    );
    body["input"].as_array_mut().unwrap().push(json!({"type": "compaction_trigger"}));
    for stream in [false, true] {
        body["stream"] = json!(stream);
        let response = post(&stand, "/v1/responses", &body).await;
        assert_eq!(
            (response.status(), response.headers().get("x-del-dropped-parameters")),
            (StatusCode::OK, None)
        );
        let text = response.text().await.unwrap();
        let data = text.lines().filter_map(|line| line.strip_prefix("data: "));
        let events: Vec<Value> = data.map(|event| serde_json::from_str(event).unwrap()).collect();
        if stream {
            let done: Vec<&Value> =
                events.iter().filter(|event| event["type"] == "response.output_item.done").collect();
            assert_eq!((done.len(), &done[0]["item"]["type"]), (1, &json!("compaction")), "{text}");
        }
        let whole = events
            .last()
            .map_or_else(|| serde_json::from_str(&text).unwrap(), |last| last["response"].clone());
        assert_eq!((&whole["status"], &whole["usage"]["total_tokens"]), (&json!("completed"), &json!(3)));
        let item = &whole["output"][0];
        assert_eq!(whole["output"].as_array().unwrap().len(), 1, "{whole}");
        let sent = stand.model.last().body();
        let question = sent["messages"][1]["content"].as_str().unwrap();
        assert!(question.contains("Z-path") && !question.contains("Be brief."), "{question}");
        assert_eq!((&sent["tools"], &sent["stream"]), (&Value::Null, &Value::Null));
        let next = json!({"model": "m", "input": [item, {"role": "user", "content": "Go on."}]});
        assert_eq!(post(&stand, "/v1/responses", &next).await.status(), StatusCode::OK);
        assert!(
            stand.model.last().body()["messages"][0]["content"].as_str().unwrap().contains("The summary.")
        );
    }
}

#[tokio::test]
async fn what_a_server_of_responses_makes_of_it_reaches_the_client() {
    let item = json!({"id": "cmp_1", "type": "compaction", "encrypted_content": "gAAAA"});
    let whole = json!({"id": "resp_1", "status": "completed", "output": [item]});
    let trigger = json!({"type": "compaction_trigger"});
    for stream in [false, true] {
        let events = [
            json!({"type": "response.output_item.done", "output_index": 0, "item": item}),
            json!({"type": "response.completed", "response": whole}),
        ];
        let events = events.map(|event| format!("data: {event}\n\n")).concat();
        let reply = if stream {
            Reply::Stream(vec![events.into_bytes()], Then::End)
        } else {
            Reply::Whole(200, "", whole.to_string())
        };
        let stand = Stand::with(Model::saying(reply), |settings| {
            settings.routes[0].upstreams[0].api = ServerApi::Responses;
        });
        let stand = stand.await;
        let body =
            json!({"model": "m", "stream": stream, "input": [{"role": "user", "content": "Hi."}, trigger]});
        let text = post(&stand, "/v1/responses", &body).await.text().await.unwrap();
        assert_eq!(stand.model.last().body()["input"][1], trigger);
        let last = text
            .lines()
            .rev()
            .find_map(|line| serde_json::from_str::<Value>(line.trim_start_matches("data: ")).ok());
        let last = last.unwrap();
        let output = &last.get("response").unwrap_or(&last)["output"];
        assert_eq!(
            (output[0]["encrypted_content"].as_str(), output.as_array().unwrap().len()),
            (Some("gAAAA"), 1)
        );
        assert_eq!(text.matches("response.output_item.done").count(), if stream { 2 } else { 0 }, "{text}");
    }
}

#[tokio::test]
async fn who_asks_for_a_web_socket_is_told_to_go_on_without() {
    let stand = Stand::new(Model::new(|seen| says(seen, "Yes.", 4))).await;
    let request = stand.request(Method::GET, "/v1/responses").header("upgrade", "websocket");
    let response = request.header("connection", "upgrade").send().await.unwrap();
    assert_eq!(response.status(), StatusCode::UPGRADE_REQUIRED);
    assert!(document(response).await["error"]["message"].as_str().unwrap().contains("WebSocket"));
    assert_eq!(stand.get("/v1/responses").await.status(), StatusCode::METHOD_NOT_ALLOWED);
}
