//! What one API takes or says and another does not: contents of messages, keys, errors, answers.

use del_proxy::ServerApi;
use reqwest::Method;
use serde_json::{Value, json};

use crate::model::{Model, Reply, Then, completion, event};
use crate::stand::{Stand, document, streamed, weather, with};

async fn anthropic() -> Stand {
    let said =
        json!({"type": "message", "content": [{"type": "text", "text": "Yes."}], "stop_reason": "end_turn"});
    at(ServerApi::Anthropic, &said).await
}

async fn at(api: ServerApi, said: &Value) -> Stand {
    Stand::with(Model::saying(Reply::Whole(200, "", said.to_string())), |settings| {
        settings.routes[0].upstreams[0].api = api;
        settings.routes[0].upstreams[0].passes_keys = true;
    })
    .await
}

/// What the server is asked for this conversation.
async fn told(stand: &Stand, messages: Value) -> Value {
    let response = stand.post(&json!({"model": "m", "messages": messages})).send().await.unwrap();
    assert_eq!(response.status(), 200);
    stand.model.last().body()
}

#[tokio::test]
async fn an_anthropic_server_gets_no_text_that_it_refuses() {
    let stand = anthropic().await;
    let text = |text: &str| json!({"type": "text", "text": text});
    let sent = told(
        &stand,
        json!([{"role": "user", "content": [text("Hi."), text(" \n")]}, {"role": "assistant", "content": " "},
            {"role": "user", "content": "Well?"}, {"role": "assistant", "content": "It is \n"}]),
    )
    .await;
    let said = |role: &str, texts: Value| json!({"role": role, "content": texts});
    assert_eq!(
        sent["messages"],
        json!([said("user", json!([text("Hi."), text("Well?")])), said("assistant", json!([text("It is")]))])
    );
    let sent = told(&stand, json!([{"role": "system", "content": "Say yes."}])).await;
    assert_eq!(
        (&sent["messages"], sent.get("system")),
        (&json!([said("user", json!([text("Say yes.")]))]), None)
    );
}

#[tokio::test]
async fn images_and_files_have_types_that_an_anthropic_server_takes() {
    let stand = anthropic().await;
    let image = |url: &str| json!({"type": "image_url", "image_url": {"url": url}});
    let file = |data: &str| json!({"type": "file", "file": {"file_data": data}});
    let parts = json!([
        image("DATA:image/jpg;base64,/9jA"),
        image("data:;base64,iVBORA"),
        file("data:text/csv;charset=utf-8;base64,YSxi"),
        file("data:application/pdf;base64,JVBERi0")
    ]);
    let sent = told(&stand, json!([{"role": "user", "content": parts}])).await;
    let sources =
        sent["messages"][0]["content"].as_array().unwrap().iter().map(|block| block["source"].clone());
    let inline = |kind: &str, data: &str| json!({"type": "base64", "media_type": kind, "data": data});
    assert_eq!(
        sources.collect::<Vec<_>>(),
        [
            inline("image/jpeg", "/9jA"),
            inline("image/png", "iVBORA"),
            json!({"type": "text", "media_type": "text/plain", "data": "a,b"}),
            inline("application/pdf", "JVBERi0")
        ]
    );
    for address in ["iVBORw0KGgo=", "file:///a.png"] {
        let body = json!({"model": "m", "messages": [{"role": "user", "content": [image(address)]}]});
        let response = stand.post(&body).send().await.unwrap();
        assert_eq!(response.status(), 400);
        let said = document(response).await["error"]["message"].to_string();
        assert!(said.contains("messages[0].content[0].image_url") && said.contains(address), "{said}");
    }
}

#[tokio::test]
async fn an_anthropic_server_has_room_for_a_thought_and_sees_the_key_of_a_chats_client() {
    let stand = anthropic().await;
    let body = json!({"model": "m", "thinking": {"type": "enabled", "budget_tokens": 20000},
        "messages": [{"role": "user", "content": "Hi."}]});
    for (key, shown) in [("sk-ant-api03-k", Some("sk-ant-api03-k")), ("sk-ant-oat01-k", None)] {
        let response =
            stand.post(&body).header("authorization", format!("Bearer {key}")).send().await.unwrap();
        assert_eq!(response.status(), 200);
        let seen = stand.model.last();
        assert_eq!((seen.header("x-api-key"), seen.header("authorization").is_some()), (shown, true));
        assert!(seen.body()["max_tokens"].as_u64().unwrap() > 20000);
    }
}

#[tokio::test]
async fn calls_of_functions_of_old_are_calls_where_no_functions_are_declared() {
    let sent = told(
        &anthropic().await,
        json!([{"role": "user", "content": "Hi."},
            {"role": "assistant", "content": null, "function_call": {"name": "f", "arguments": "{}"}},
            {"role": "function", "name": "f", "content": "12"}]),
    )
    .await;
    assert_eq!(sent["messages"][1]["content"][0]["type"], "tool_use");
    assert_eq!(sent["messages"][2]["content"][0]["tool_use_id"], sent["messages"][1]["content"][0]["id"]);
}

#[tokio::test]
async fn a_response_that_failed_is_the_error_of_a_chat() {
    let error = json!({"code": "server_error", "message": "It broke."});
    let said = json!({"id": "r", "object": "response", "status": "failed", "output": [], "error": error});
    let stand = at(ServerApi::Responses, &said).await;
    let response = stand.post(&weather()).send().await.unwrap();
    assert!(response.status().is_server_error());
    let expected = json!({"error": {"message": "It broke.", "type": "server_error", "param": null, "code": "server_error"}});
    assert_eq!(document(response).await, expected);
}

#[tokio::test]
async fn every_whole_chat_has_an_id() {
    let mut said = completion(&json!({"role": "assistant", "content": "Yes."}), "stop");
    said.as_object_mut().unwrap().shift_remove("id");
    let stand = at(ServerApi::OpenAi, &said).await;
    assert!(stand.ask(&weather()).await["id"].as_str().unwrap().starts_with("chatcmpl-"));
}

#[tokio::test]
async fn texts_in_parts_are_texts_and_pings_are_nothing() {
    let thinking = json!({"type": "thinking", "thinking": [{"type": "text", "text": "Hm."}]});
    let deltas = [json!({"content": [thinking]}), json!({"content": [{"type": "text", "text": "Yes."}]})];
    let all = deltas.iter().map(|delta| event(delta, None) + "event: ping\ndata: {\"type\": \"ping\"}\n\n");
    let all = all.collect::<String>() + &event(&json!({}), Some("stop"));
    let stand = Stand::new(Model::saying(Reply::Stream(vec![all.into_bytes()], Then::End))).await;
    let told = stand.events(&streamed(weather())).await;
    let said = |name: &str| -> String {
        let deltas = told.iter().map(|event| &event["choices"][0]["delta"]);
        deltas.filter_map(|delta| Some(delta.get(name)?.as_str().unwrap_or("").to_owned())).collect()
    };
    assert_eq!((said("reasoning_content").as_str(), said("content").as_str()), ("Hm.", "Yes."));
    assert!(!told.iter().any(|event| event["type"] == "ping"));
}

#[tokio::test]
async fn errors_made_here_have_codes() {
    let stand = Stand::with(Model::away(), |settings| {
        settings.routes[0].models = vec!["known".to_owned()];
        settings.keys = vec![del_proxy::ClientKey::new("a", "key")];
    })
    .await;
    for (key, code) in [("key", "model_not_found"), ("other", "invalid_api_key")] {
        let body = with(weather(), json!({"model": "unknown"}));
        let request = stand.request(Method::POST, "/v1/chat/completions").bearer_auth(key);
        let response = request.body(body.to_string()).send().await.unwrap();
        assert_eq!(document(response).await["error"]["code"], code);
    }
}
