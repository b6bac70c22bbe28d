//! What clients are told of calls that run here comes back with the conversation, and is no thought of the model's.

use reqwest::Method;
use serde_json::{Value, json};

use super::{answers, bench, calls, looks, question, results};
use crate::model::{Model, Reply, completion};
use crate::stand::{Stand, document, with};

async fn post(stand: &Stand, path: &str, body: &Value) -> Value {
    document(stand.request(Method::POST, path).body(body.to_string()).send().await.unwrap()).await
}

/// The conversation with more in it.
fn longer(mut body: Value, list: &str, more: Vec<Value>) -> Value {
    body[list].as_array_mut().unwrap().extend(more);
    body
}

#[tokio::test]
async fn the_model_is_not_told_that_it_thought_what_clients_were_told() {
    let bench = bench(looks(), |_| {}).await;
    let stand = &bench.stand;
    let again = |list: Vec<Value>| [list, vec![json!({"role": "user", "content": "Sure?"})]].concat();

    let chat = post(stand, "/v1/chat/completions", &question()).await;
    let next = longer(question(), "messages", again(vec![chat["choices"][0]["message"].clone()]));
    let messages = with(question(), json!({"max_tokens": 9}));
    let message = post(stand, "/v1/messages", &messages).await;
    let said = json!({"role": "assistant", "content": message["content"]});
    let next_message = longer(messages, "messages", again(vec![said]));
    let asked = json!({"model": "m", "input": [{"role": "user", "content": "Weather?"}]});
    let response = post(stand, "/v1/responses", &asked).await;
    let next_response = longer(asked, "input", again(response["output"].as_array().unwrap().clone()));
    let ollama = with(question(), json!({"stream": false}));
    let told = post(stand, "/api/chat", &ollama).await;
    let next_ollama = longer(ollama, "messages", again(vec![told["message"].clone()]));
    for (path, body) in [
        ("/v1/chat/completions", next),
        ("/v1/messages", next_message),
        ("/v1/responses", next_response),
        ("/api/chat", next_ollama),
    ] {
        assert!(body.to_string().contains("● look"), "{path} tells the client: {body}");
        post(stand, path, &body).await;
        // The model looks once for each request, so that its first one tells what came.
        let seen = stand.model.seen();
        let first = seen.iter().rev().find(|seen| results(seen) == 0).unwrap().body();
        assert!(!first.to_string().contains("● look"), "{path}: {first}");
        let past = first["messages"].as_array().unwrap().iter().find(|past| past["role"] == "assistant");
        let past = past.unwrap();
        assert!(past["content"].to_string().contains("It rains."), "{path}: {past}");
        assert!(past.get("reasoning_content").is_none(), "{path}: {past}");
    }
}

#[tokio::test]
async fn what_the_model_thought_itself_stays() {
    let model = Model::new(|seen| match results(seen) {
        0 => {
            let message = json!({"role": "assistant", "content": null, "reasoning_content": "Hm.",
                "tool_calls": calls(&[("look", "Paris")])});
            Reply::Whole(200, "", completion(&message, "tool_calls").to_string())
        }
        _ => answers(seen, "It rains.", &json!([])),
    });
    let bench = bench(model, |_| {}).await;
    let message = bench.stand.message(&question()).await;
    assert!(message["reasoning_content"].as_str().unwrap().contains("● look"), "{message}");
    let user = json!({"role": "user", "content": "Sure?"});
    bench.stand.message(&longer(question(), "messages", vec![message, user])).await;
    let seen = bench.stand.model.seen();
    let first = seen.iter().rev().find(|seen| results(seen) == 0).unwrap().body();
    assert_eq!(first["messages"][1]["reasoning_content"], "Hm.");
}
