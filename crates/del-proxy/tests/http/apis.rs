//! The APIs beside chat completions, over real sockets: what the server is asked, and what clients get.

mod anthropic;
mod arguments;
mod ollama;
mod responses;
mod tools;

use reqwest::{Method, Response};
use serde_json::{Value, json};

use crate::model::{Model, Reply, Then, completion, event, says};
use crate::stand::{Stand, document};

const HERMES: &str =
    "Well.\n<tool_call>\n{\"name\": \"get_weather\", \"arguments\": {\"city\": \"Paris\"}}\n</tool_call>";
const SCHEMA: &str =
    r#"{"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}"#;

fn schema() -> Value {
    serde_json::from_str(SCHEMA).unwrap()
}

fn hermes() -> Model {
    Model::new(|seen| says(seen, HERMES, 4))
}

async fn post(stand: &Stand, path: &str, body: &Value) -> Response {
    stand.request(Method::POST, path).body(body.to_string()).send().await.unwrap()
}

async fn ask(stand: &Stand, path: &str, body: &Value) -> Value {
    let response = post(stand, path, body).await;
    assert_eq!(response.status(), 200);
    document(response).await
}

fn anthropic(messages: &Value) -> Value {
    json!({"model": "m", "max_tokens": 100, "messages": messages, "system": [{"type": "text", "text": "Be brief."}],
        "stop_sequences": ["x"], "top_k": 3, "own": 1,
        "tools": [{"name": "get_weather", "description": "W.", "input_schema": schema()}]})
}

fn responses(input: &Value) -> Value {
    let tool =
        json!({"type": "function", "name": "get_weather", "description": "W.", "parameters": schema()});
    json!({"model": "m", "instructions": "Be brief.", "input": input, "tools": [tool], "max_output_tokens": 9,
        "reasoning": {"effort": "low"}, "text": {"format": {"type": "json_object"}}, "seed": 1})
}

#[tokio::test]
async fn errors_have_the_shape_of_the_api_that_was_called() {
    let model = Model::saying(Reply::Whole(
        429,
        "retry-after: 7\r\n",
        r#"{"error": {"message": "slow down"}}"#.into(),
    ));
    let stand = Stand::new(model).await;
    let user = json!([{"role": "user", "content": "Hi."}]);
    let response = post(&stand, "/v1/messages", &anthropic(&user)).await;
    assert_eq!((response.status().as_u16(), response.headers()["retry-after"].to_str().unwrap()), (429, "7"));
    assert_eq!(response.headers()["request-id"], response.headers()["x-request-id"]);
    let error = json!({"type": "error", "error": {"type": "rate_limit_error", "message": "slow down"}});
    assert_eq!(document(response).await, error);
    let response = post(&stand, "/api/chat", &json!({"model": "m", "messages": user})).await;
    assert_eq!((response.status().as_u16(), document(response).await), (429, json!({"error": "slow down"})));
    let response = post(&stand, "/v1/responses", &json!({"model": "m", "input": user})).await;
    assert_eq!(document(response).await["error"]["message"], "slow down");
    for (path, pointer) in [
        ("/v1/messages/nothing", "/error/type"),
        ("/api/nothing", "/error"),
        ("/v1/nothing", "/error/message"),
    ] {
        let response = stand.get(path).await;
        assert_eq!(response.status(), 404);
        assert!(document(response).await.pointer(pointer).unwrap().is_string(), "{path}");
    }
    let nothing = post(&stand, "/v1/messages", &json!({"model": "m"})).await;
    assert_eq!((nothing.status().as_u16(), &document(nothing).await["type"]), (400, &json!("error")));
}

#[tokio::test]
async fn a_stream_that_breaks_off_says_so_in_each_api() {
    for (path, body, last) in [
        ("/v1/messages", anthropic(&json!([{"role": "user", "content": "Hi."}])), "event: error\ndata: "),
        ("/v1/responses", responses(&json!("Hi.")), "event: response.failed\ndata: "),
        ("/api/chat", json!({"model": "m", "messages": [{"role": "user", "content": "Hi."}]}), "\n"),
    ] {
        let begun = event(&json!({"content": "Let me"}), None).into_bytes();
        let stand = Stand::new(Model::saying(Reply::Stream(vec![begun], Then::Cut))).await;
        let mut body = body;
        body["stream"] = json!(true);
        let text = post(&stand, path, &body).await.text().await.unwrap();
        assert!(text.contains("Let me"), "{text}");
        let end = text.trim_end().rsplit_once(last).unwrap().1;
        assert!(end.contains("broke off") && serde_json::from_str::<Value>(end).is_ok(), "{end}");
    }
}

#[tokio::test]
async fn thinking_and_usage_have_their_places() {
    let message = json!({"role": "assistant", "content": "Yes.", "reasoning_content": "Hm."});
    let mut said = completion(&message, "length");
    said["usage"] = json!({"prompt_tokens": 9, "completion_tokens": 5, "prompt_tokens_details": {"cached_tokens": 4},
        "completion_tokens_details": {"reasoning_tokens": 2}});
    let stand = Stand::new(Model::saying(Reply::Whole(200, "", said.to_string()))).await;
    let answer = ask(&stand, "/v1/messages", &anthropic(&json!([{"role": "user", "content": "Hi."}]))).await;
    assert_eq!(answer["content"][0], json!({"type": "thinking", "thinking": "Hm.", "signature": "unsealed"}));
    assert_eq!((&answer["stop_reason"], &answer["usage"]["input_tokens"]), (&json!("max_tokens"), &json!(5)));
    assert_eq!(answer["usage"]["cache_read_input_tokens"], 4);
    let answer = ask(&stand, "/v1/responses", &responses(&json!("Hi."))).await;
    assert_eq!(answer["output"][0]["content"][0]["text"], "Hm.");
    assert_eq!(
        (&answer["status"], &answer["incomplete_details"]["reason"]),
        (&json!("incomplete"), &json!("max_output_tokens"))
    );
    assert_eq!(answer["usage"]["output_tokens_details"]["reasoning_tokens"], 2);
}

#[tokio::test]
async fn what_is_given_by_an_address_goes_on_and_what_is_by_an_id_is_refused() {
    let stand = Stand::new(hermes()).await;
    let responses = |part: Value| json!({"model": "m", "input": [{"role": "user", "content": [part]}]});
    let anthropic = |block: Value| json!({"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": [block]}]});
    for (path, body, sent) in [
        (
            "/v1/responses",
            responses(json!({"type": "input_file", "filename": "a.pdf", "file_url": "https://a/a.pdf"})),
            json!({"type": "file", "file": {"filename": "a.pdf", "file_data": "https://a/a.pdf"}}),
        ),
        (
            "/v1/responses",
            responses(json!({"type": "input_audio", "input_audio": {"data": "AA", "format": "wav"}})),
            json!({"type": "input_audio", "input_audio": {"data": "AA", "format": "wav"}}),
        ),
        (
            "/v1/messages",
            anthropic(json!({"type": "image", "source": {"type": "url", "url": "https://a/a.png"}})),
            json!({"type": "image_url", "image_url": {"url": "https://a/a.png"}}),
        ),
    ] {
        assert_eq!(post(&stand, path, &body).await.status(), 200);
        assert_eq!(stand.model.last().body()["messages"][0]["content"], json!([sent]));
    }
    let found = json!({"type": "search_result", "source": "https://a", "title": "A", "content": [{"type": "text", "text": "It rains."}]});
    assert_eq!(post(&stand, "/v1/messages", &anthropic(found)).await.status(), 200);
    assert_eq!(stand.model.last().body()["messages"][0]["content"], "A\nhttps://a\nIt rains.");
    let asked = stand.model.seen().len();
    for (path, body) in [
        ("/v1/responses", responses(json!({"type": "input_image", "file_id": "file_1"}))),
        ("/v1/responses", responses(json!({"type": "input_file", "file_id": "file_1"}))),
        (
            "/v1/messages",
            anthropic(json!({"type": "image", "source": {"type": "file", "file_id": "file_1"}})),
        ),
    ] {
        let response = post(&stand, path, &body).await;
        assert_eq!(response.status(), 400);
        assert!(response.text().await.unwrap().contains("file_1"));
    }
    assert_eq!(stand.model.seen().len(), asked);
}
