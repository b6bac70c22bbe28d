//! How likely tokens were, from servers of each API to clients of each.

use del_proxy::ServerApi;
use reqwest::Method;
use serde_json::{Value, json};

use crate::model::{Model, Reply, Seen, Then};
use crate::stand::Stand;

fn token(text: &str) -> Value {
    json!({"token": text, "logprob": -0.5, "bytes": text.as_bytes(), "top_logprobs": [
        {"token": "x", "logprob": -2.0, "bytes": [120]}]})
}

/// A server of chat completions that says two words, the second of which might begin a call.
fn chat(seen: &Seen) -> Reply {
    let likely = |list: Value| json!({"content": list, "refusal": null});
    if seen.body()["stream"] != true {
        let choice = json!({"index": 0, "message": {"role": "assistant", "content": "Well <tool box"},
            "logprobs": likely(json!([token("Well"), token(" <tool"), token(" box")])), "finish_reason": "stop"});
        return Reply::Whole(200, "", json!({"id": "x", "model": "m", "choices": [choice]}).to_string());
    }
    let event = |delta: Value, logprobs: Value, reason: Value| {
        let choice = json!({"index": 0, "delta": delta, "logprobs": logprobs, "finish_reason": reason});
        format!("data: {}\n\n", json!({"id": "x", "model": "m", "choices": [choice]}))
    };
    let word = |text: &str| event(json!({"content": text}), likely(json!([token(text)])), Value::Null);
    let end = event(json!({}), Value::Null, json!("stop"));
    Reply::Stream(
        vec![
            [word("Well"), word(" <tool"), word(" box"), end, "data: [DONE]\n\n".to_owned()].concat().into(),
        ],
        Then::End,
    )
}

/// The same of a server of responses.
fn responses(seen: &Seen) -> Reply {
    let list = json!([token("Well"), token(" <tool"), token(" box")]);
    let part = json!({"type": "output_text", "text": "Well <tool box", "annotations": [], "logprobs": list});
    let item = json!({"id": "msg", "type": "message", "role": "assistant", "content": [part]});
    let whole =
        json!({"id": "resp", "object": "response", "status": "completed", "model": "m", "output": [item]});
    if seen.body()["stream"] != true {
        return Reply::Whole(200, "", whole.to_string());
    }
    let word = |text: &str| json!({"type": "response.output_text.delta", "output_index": 0, "delta": text, "logprobs": [token(text)]});
    let end = json!({"type": "response.completed", "response": whole});
    let events = [word("Well"), word(" <tool"), word(" box"), end].map(|event| format!("data: {event}\n\n"));
    Reply::Stream(vec![events.concat().into()], Then::End)
}

/// The same of Ollama, which leaves out what was not asked for.
fn ollama(seen: &Seen) -> Reply {
    let line = |text: &str, logprobs: Value, done: bool| json!({"model": "m", "message": {"role": "assistant", "content": text}, "done": done, "logprobs": logprobs});
    let bare = |text: &str| json!({"token": text, "logprob": -0.5});
    if seen.body()["stream"] != true {
        return Reply::Whole(
            200,
            "",
            line("Well <tool box", json!([bare("Well"), bare(" <tool"), bare(" box")]), true).to_string(),
        );
    }
    let lines = [
        line("Well", json!([bare("Well")]), false),
        line(" <tool", json!([bare(" <tool")]), false),
        line(" box", json!([bare(" box")]), false),
        line("", Value::Null, true),
    ];
    Reply::Stream(vec![lines.map(|line| format!("{line}\n")).concat().into()], Then::End)
}

async fn stand(api: ServerApi) -> Stand {
    let said = match api {
        ServerApi::Responses => responses,
        ServerApi::Ollama => ollama,
        _ => chat,
    };
    Stand::with(Model::new(said), |settings| settings.routes[0].upstreams[0].api = api).await
}

/// The objects of an answer, streamed or whole.
async fn objects(stand: &Stand, path: &str, body: &Value) -> Vec<Value> {
    let response = stand.request(Method::POST, path).body(body.to_string()).send().await.unwrap();
    assert_eq!(response.status(), 200);
    let text = response.text().await.unwrap();
    text.lines().filter_map(|line| serde_json::from_str(line.trim_start_matches("data: ")).ok()).collect()
}

fn tokens(list: impl Iterator<Item = Value>) -> Vec<String> {
    list.map(|token| {
        assert!(
            token["bytes"].is_array() && token["logprob"] == -0.5 && token["top_logprobs"].is_array(),
            "{token}"
        );
        token["token"].as_str().unwrap().to_owned()
    })
    .collect()
}

fn list(value: &Value) -> impl Iterator<Item = Value> {
    value.as_array().cloned().unwrap_or_default().into_iter()
}

const TOOL: &str = r#"{"type": "function", "name": "f", "function": {"name": "f"}}"#;

#[tokio::test]
async fn responses_say_it_where_the_client_wants_it() {
    for api in [ServerApi::OpenAi, ServerApi::Responses, ServerApi::Ollama] {
        let stand = stand(api).await;
        let tool: Value = serde_json::from_str(TOOL).unwrap();
        let include = json!(["message.output_text.logprobs"]);
        let body =
            json!({"model": "m", "input": "Hi.", "tools": [tool], "include": include, "top_logprobs": 1});
        let whole = objects(&stand, "/v1/responses", &body).await.remove(0);
        let part = &whole["output"][0]["content"][0];
        assert_eq!(
            (&part["text"], tokens(list(&part["logprobs"]))),
            (&json!("Well <tool box"), vec!["Well".to_owned(), " <tool".to_owned(), " box".to_owned()])
        );
        assert_eq!(whole["top_logprobs"], 1);
        let sent = stand.model.last().body();
        let asks = match api {
            ServerApi::Responses => sent["include"].as_array().unwrap().contains(&include[0]),
            _ => sent["logprobs"] == true,
        };
        assert!(asks && sent["top_logprobs"] == 1, "{sent}");

        let mut streamed = body.clone();
        streamed["stream"] = json!(true);
        let events = objects(&stand, "/v1/responses", &streamed).await;
        let of = |kind: &str| {
            events.iter().filter(move |event| event["type"] == kind).cloned().collect::<Vec<_>>()
        };
        let deltas = of("response.output_text.delta");
        assert_eq!(
            tokens(deltas.iter().flat_map(|delta| list(&delta["logprobs"]))),
            ["Well", " <tool", " box"]
        );
        let done = of("response.output_text.done").remove(0);
        assert_eq!(tokens(list(&done["logprobs"])), ["Well", " <tool", " box"]);
        let last = of("response.completed").remove(0);
        assert_eq!(last["response"]["output"][0]["content"][0]["logprobs"], done["logprobs"]);

        let unasked = json!({"model": "m", "input": "Hi.", "tools": [tool]});
        let whole = objects(&stand, "/v1/responses", &unasked).await.remove(0);
        assert_eq!(whole["output"][0]["content"][0]["logprobs"], json!([]));
        assert!(stand.model.last().body().get("logprobs").is_none());
    }
}

#[tokio::test]
async fn chats_say_it_whatever_the_server_speaks() {
    for api in [ServerApi::OpenAi, ServerApi::Responses, ServerApi::Ollama] {
        let stand = stand(api).await;
        let tool: Value = serde_json::from_str(TOOL).unwrap();
        let body = json!({"model": "m", "messages": [{"role": "user", "content": "Hi."}], "tools": [tool],
            "logprobs": true, "top_logprobs": 1});
        let whole = objects(&stand, "/v1/chat/completions", &body).await.remove(0);
        assert_eq!(tokens(list(&whole["choices"][0]["logprobs"]["content"])), ["Well", " <tool", " box"]);
        let mut streamed = body.clone();
        streamed["stream"] = json!(true);
        let events = objects(&stand, "/v1/chat/completions", &streamed).await;
        let told = events.iter().flat_map(|event| list(&event["choices"][0]["logprobs"]["content"]));
        assert_eq!(tokens(told), ["Well", " <tool", " box"], "{api:?}");
    }
}

#[tokio::test]
async fn so_does_ollama() {
    for api in [ServerApi::OpenAi, ServerApi::Responses, ServerApi::Ollama] {
        let stand = stand(api).await;
        for stream in [false, true] {
            let body = json!({"model": "m", "stream": stream, "messages": [{"role": "user", "content": "Hi."}],
                "logprobs": true, "top_logprobs": 1});
            let lines = objects(&stand, "/api/chat", &body).await;
            assert_eq!(
                tokens(lines.iter().flat_map(|line| list(&line["logprobs"]))),
                ["Well", " <tool", " box"]
            );
        }
    }
}
