//! Arguments of calls that a server makes itself.

use del_proxy::ServerApi;
use reqwest::Method;
use serde_json::{Value, json};

use super::{anthropic, post, responses};
use crate::model::{Model, Reply, Then, completion, event};
use crate::stand::Stand;

/// A server whose calls have these arguments, in pieces.
fn native(arguments: &'static str) -> Model {
    Model::new(move |seen| {
        let call = |index: Option<u32>, name: Option<&str>, arguments: &str| {
            let function = json!({"name": name, "arguments": arguments});
            json!({"role": "assistant", "content": null, "tool_calls": [
                {"index": index, "id": name.map(|_| "c1"), "type": "function", "function": function}]})
        };
        if seen.body()["stream"] != true {
            let message = call(None, Some("get_weather"), arguments);
            return Reply::Whole(200, "", completion(&message, "tool_calls").to_string());
        }
        let first = event(&call(Some(0), Some("get_weather"), ""), None);
        let pieces = arguments
            .as_bytes()
            .chunks(3)
            .map(|piece| event(&call(Some(0), None, std::str::from_utf8(piece).unwrap()), None));
        let events: String = std::iter::once(first).chain(pieces).collect();
        let all = format!("{events}{}data: [DONE]\n\n", event(&json!({}), Some("tool_calls")));
        Reply::Stream(vec![all.into_bytes()], Then::End)
    })
}

/// The arguments of the call in an answer of any API, streamed or whole.
fn arguments_in(text: &str, path: &str) -> Value {
    let data = text.lines().filter_map(|line| serde_json::from_str(line.trim_start_matches("data: ")).ok());
    let (mut joined, mut object) = (String::new(), Value::Null);
    for event in data.collect::<Vec<Value>>() {
        let found = match path {
            "/v1/chat/completions" => [
                "/choices/0/message/tool_calls/0/function/arguments",
                "/choices/0/delta/tool_calls/0/function/arguments",
            ],
            "/v1/responses" => ["/output/0/arguments", "/arguments"],
            "/v1/messages" => ["/content/0/input", "/delta/partial_json"],
            _ => ["/message/tool_calls/0/function/arguments", "/none"],
        };
        for value in found.iter().filter_map(|pointer| event.pointer(pointer)) {
            match value {
                Value::String(piece) => joined.push_str(piece),
                other => object = other.clone(),
            }
        }
    }
    if joined.is_empty() { object } else { serde_json::from_str(&joined).unwrap_or(json!(joined)) }
}

/// A request to each API.
fn asked() -> [(&'static str, Value); 4] {
    let messages = json!([{"role": "user", "content": "Hi."}]);
    let tools = json!([crate::stand::tool("get_weather")]);
    [
        ("/v1/chat/completions", crate::stand::weather()),
        ("/v1/messages", anthropic(&messages)),
        ("/v1/responses", responses(&json!("Hi."))),
        ("/api/chat", json!({"model": "m", "tools": tools, "messages": messages})),
    ]
}

#[tokio::test]
async fn broken_arguments_of_native_calls_are_mended_and_guesses_are_told_in_each_api() {
    for (broken, mended, guessed) in [
        ("{'city': 'Paris'}", json!({"city": "Paris"}), false),
        (r#"{"city": "Paris""#, json!({"city": "Paris"}), false),
        (r#"{"city": "Paris", "now": True}"#, json!({"city": "Paris", "now": true}), true),
    ] {
        let stand = Stand::new(native(broken)).await;
        for (path, body) in asked() {
            for stream in [false, true] {
                let mut body = body.clone();
                body["stream"] = json!(stream);
                let response = post(&stand, path, &body).await;
                let header = response.headers().contains_key("x-del-changed-arguments");
                let text = response.text().await.unwrap();
                let told = header || text.contains(": x-del-changed-arguments");
                assert_eq!(arguments_in(&text, path), mended, "{path} {stream} {broken}: {text}");
                // Lines of JSON have no comments.
                assert_eq!(told, guessed && !(stream && path == "/api/chat"), "{path} {stream}: {text}");
            }
        }
    }
    let stand = Stand::new(native(r#"{"city": }"#)).await;
    let (_, calls, finish) = crate::stand::told(&stand.ask(&crate::stand::weather()).await);
    assert_eq!((calls, finish.as_str()), (Vec::new(), "length"));
}

#[tokio::test]
async fn numbers_keep_all_their_digits_in_each_api() {
    let written = r#"{"id": 12345678901234567890123, "rate": 1.50}"#;
    let stand = Stand::new(native(written)).await;
    for (path, body) in asked() {
        // In a stream, a number may be cut; only lines of JSON have it whole.
        for stream in [false, true].into_iter().take(if path == "/api/chat" { 2 } else { 1 }) {
            let mut body = body.clone();
            body["stream"] = json!(stream);
            let text = post(&stand, path, &body).await.text().await.unwrap().replace('\\', "");
            assert!(text.contains(written), "{path}: {text}");
        }
    }
}

/// A conversation with one call whose arguments are these, as a client of each API sends it.
fn past(arguments: &str) -> [(&'static str, String); 4] {
    let user = json!({"role": "user", "content": "Hi."});
    let text = |name: &str| json!({"id": "c1", "type": "function", "function": {"name": name, "arguments": arguments}});
    let object = json!({"function": {"name": "get_weather", "arguments": "@"}});
    let block = json!({"type": "tool_use", "id": "c1", "name": "get_weather", "input": "@"});
    let result = json!({"type": "tool_result", "tool_use_id": "c1", "content": "rain"});
    let tool = json!({"role": "tool", "tool_call_id": "c1", "content": "rain"});
    let chat = json!([user, {"role": "assistant", "content": "", "tool_calls": [text("get_weather")]}, tool]);
    let ollama = json!([user, {"role": "assistant", "content": "", "tool_calls": [object]}, tool]);
    let item =
        json!({"type": "function_call", "call_id": "c1", "name": "get_weather", "arguments": arguments});
    let output = json!({"type": "function_call_output", "call_id": "c1", "output": "rain"});
    let messages =
        json!([user, {"role": "assistant", "content": [block]}, {"role": "user", "content": [result]}]);
    let tools = json!([crate::stand::tool("get_weather")]);
    [
        ("/v1/chat/completions", json!({"model": "m", "tools": tools, "messages": chat})),
        ("/v1/messages", anthropic(&messages)),
        ("/v1/responses", responses(&json!([user, item, output]))),
        ("/api/chat", json!({"model": "m", "stream": false, "tools": tools, "messages": ollama})),
    ]
    .map(|(path, body)| (path, body.to_string().replace("\"@\"", arguments)))
}

#[tokio::test]
async fn past_arguments_keep_their_spelling_on_the_way_to_each_server() {
    let written = r#"{"id": 12345678901234567890123, "rate": 1.50, "far": [1e400, -0.0], "t": "\u00e9"}"#;
    for api in [ServerApi::OpenAi, ServerApi::Responses, ServerApi::Anthropic, ServerApi::Ollama] {
        let stand = Stand::with(Model::saying(Reply::Whole(200, "", "{}".to_owned())), |settings| {
            settings.routes[0].upstreams[0].api = api;
        });
        let stand = stand.await;
        for (path, body) in past(written) {
            let answer = stand.request(Method::POST, path).body(body).send().await.unwrap();
            assert!(!answer.headers().contains_key("x-del-mended-history"), "{path}: {answer:?}");
            let sent = String::from_utf8(stand.model.last().bytes).unwrap();
            let is_text = matches!(api, ServerApi::OpenAi | ServerApi::Responses);
            let expected = if is_text { json!(written).to_string() } else { written.to_owned() };
            assert!(sent.contains(&expected), "{path} to {}: {sent}", api.name());
        }
    }
}
