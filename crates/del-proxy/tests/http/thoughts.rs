//! Thoughts of a model in the words of clients that want them in a form of their own.

use reqwest::Method;
use serde_json::{Value, json};

use crate::model::{Model, Reply, Then, completion, event, is_sound};
use crate::stand::{Stand, document};

fn thinker() -> Model {
    Model::new(|seen| {
        if seen.body()["stream"] != true {
            let message = json!({"role": "assistant", "content": "Yes.", "reasoning_content": "Hm."});
            return Reply::Whole(200, "", completion(&message, "stop").to_string());
        }
        let deltas = [
            json!({"reasoning_content": "H"}),
            json!({"reasoning_content": "m."}),
            json!({"content": "Yes."}),
        ];
        let said: String = deltas.iter().map(|delta| event(delta, None)).collect();
        let all = said + &event(&json!({}), Some("stop")) + "data: [DONE]\n\n";
        Reply::Stream(vec![all.into_bytes()], Then::End)
    })
}

async fn post(stand: &Stand, path: &str, body: &Value) -> String {
    let sent = stand.request(Method::POST, path).body(body.to_string()).send().await.unwrap();
    assert_eq!(sent.status(), 200);
    sent.text().await.unwrap()
}

fn events(text: &str) -> Vec<Value> {
    let data = text.lines().filter_map(|line| line.strip_prefix("data: "));
    data.map(|data| serde_json::from_str(data).unwrap()).collect()
}

#[tokio::test]
async fn a_summary_that_is_asked_for_is_what_the_model_thought() {
    let stand = Stand::new(thinker()).await;
    let body = json!({"model": "m", "input": "Well?", "reasoning": {"summary": "auto"}});
    let whole: Value = serde_json::from_str(&post(&stand, "/v1/responses", &body).await).unwrap();
    let summary = json!([{"type": "summary_text", "text": "Hm."}]);
    assert_eq!((&whole["output"][0]["summary"], &whole["output"][0]["content"]), (&summary, &json!([])));
    let mut streams = body.clone();
    streams["stream"] = json!(true);
    let told = events(&post(&stand, "/v1/responses", &streams).await);
    let of_thoughts: Vec<&str> = told
        .iter()
        .filter_map(|event| event["type"].as_str())
        .filter(|kind| kind.contains("reasoning"))
        .collect();
    assert_eq!(
        of_thoughts,
        [
            "response.reasoning_summary_part.added",
            "response.reasoning_summary_text.delta",
            "response.reasoning_summary_text.delta",
            "response.reasoning_summary_text.done",
            "response.reasoning_summary_part.done"
        ]
    );
    // It is what the model thought when it comes back.
    let input = json!([{"role": "user", "content": "Well?"}, whole["output"][0], whole["output"][1], {"role": "user", "content": "Go."}]);
    post(&stand, "/v1/responses", &json!({"model": "m", "input": input})).await;
    assert_eq!(stand.model.last().body()["messages"][1]["reasoning_content"], "Hm.");
    // So it is with a seal, where the client leaves thoughts out that have none.
    let sealed = json!({"model": "m", "input": "Well?", "include": ["reasoning.encrypted_content"]});
    let sealed: Value = serde_json::from_str(&post(&stand, "/v1/responses", &sealed).await).unwrap();
    let seal = sealed["output"][0]["encrypted_content"].as_str().unwrap();
    let input = json!([{"role": "user", "content": "Well?"}, sealed["output"][0], sealed["output"][1]]);
    post(&stand, "/v1/responses", &json!({"model": "m", "input": input})).await;
    let seen = stand.model.last().body()["messages"].clone();
    assert!(seen[1]["reasoning_content"] == "Hm." && !seen.to_string().contains(seal), "{seen}");
    // Who asks for none gets the thoughts themselves.
    let plain = post(&stand, "/v1/responses", &json!({"model": "m", "input": "Well?"})).await;
    assert!(plain.contains("reasoning_text") && !plain.contains("summary_text"), "{plain}");
}

#[tokio::test]
async fn a_thought_without_a_seal_gets_one_that_no_server_sees() {
    let stand = Stand::new(thinker()).await;
    let mut body = json!({"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "Hi."}]});
    let whole: Value = serde_json::from_str(&post(&stand, "/v1/messages", &body).await).unwrap();
    let seal = whole["content"][0]["signature"].as_str().unwrap().to_owned();
    assert!(!seal.is_empty());
    body["stream"] = json!(true);
    let told = events(&post(&stand, "/v1/messages", &body).await);
    let seals: Vec<&Value> =
        told.iter().filter(|event| event["delta"]["type"] == "signature_delta").collect();
    assert_eq!((seals.len(), &seals[0]["delta"]["signature"]), (1, &json!(seal)));
    let place = told.iter().position(|event| event == seals[0]).unwrap();
    assert_eq!(told[place + 1]["type"], "content_block_stop");

    let past = json!([{"role": "user", "content": "Hi."}, {"role": "assistant", "content": whole["content"]},
        {"role": "user", "content": "Go."}]);
    body["messages"] = past;
    post(&stand, "/v1/messages", &body).await;
    let seen = stand.model.last().body()["messages"].clone();
    assert!(seen[1]["reasoning_content"] == "Hm." && !seen.to_string().contains(&seal), "{seen}");
    let claude = Model::new(|seen| crate::model::blocks(seen, &[json!({"type": "text", "text": "Yes."})]));
    let stand = Stand::with(claude, |settings| {
        settings.routes[0].upstreams[0].api = del_proxy::ServerApi::Anthropic;
    })
    .await;
    post(&stand, "/v1/messages", &body).await;
    let seen = stand.model.last().body();
    assert!(!seen.to_string().contains(&seal), "{seen}");
    is_sound(&seen).unwrap();
}

#[tokio::test]
async fn a_text_of_a_schema_leaves_room_for_calls_in_the_prompt() {
    let stand = Stand::with(thinker(), |settings| {
        settings.routes[0].tools_mode = del_agent::ToolsMode::Prompt;
    })
    .await;
    let schema = json!({"type": "object", "properties": {"degrees": {"type": "number"}}});
    let format = json!({"type": "json_schema", "json_schema": {"name": "n", "schema": schema}});
    let mut body = crate::stand::with(crate::stand::weather(), json!({"response_format": format}));
    document(stand.post(&body).send().await.unwrap()).await;
    let seen = stand.model.last().body();
    assert_eq!(seen.get("response_format"), None);
    let system = seen["messages"][0]["content"].as_str().unwrap();
    assert!(system.contains("Where you call no tool") && system.contains("degrees"), "{system}");
    // Without a call to make, the server holds the text to it.
    body["tool_choice"] = json!("none");
    document(stand.post(&body).send().await.unwrap()).await;
    assert_eq!(stand.model.last().body()["response_format"], format);
}
