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

/// Some gateways stream whatever they are asked for.
#[tokio::test]
async fn a_stream_that_nobody_asked_for_is_put_together() {
    let event = |data: Value| format!("data: {data}\n\n");
    let chat = [
        json!({"id": "x", "model": "s", "choices": [{"index": 0, "delta": {"role": "assistant", "content": "Hm. <tool_call>\n{\"name\": "}}]}),
        json!({"choices": [{"index": 0, "delta": {"content": "\"get_weather\", \"arguments\": {\"city\": \"Paris\"}}\n</tool_call>"}}]}),
        json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}),
        json!({"choices": [], "usage": {"prompt_tokens": 3, "completion_tokens": 4}}),
    ];
    let native = json!([{"index": 0, "id": "c", "type": "function", "function": {"name": "get_weather", "arguments": ""}}]);
    let ollama = json!({"role": "assistant", "content": "", "tool_calls": [{"function": {"name": "get_weather", "arguments": {"city": "Paris"}}}]});
    let message = [
        json!({"type": "message_start", "message": {"id": "x", "role": "assistant", "content": [], "usage": {"input_tokens": 3, "output_tokens": 1}}}),
        json!({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}),
        json!({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Hm."}}),
        json!({"type": "content_block_stop", "index": 0}),
        json!({"type": "content_block_start", "index": 1, "content_block": {"type": "tool_use", "id": "c", "name": "get_weather", "input": {}}}),
        json!({"type": "content_block_delta", "index": 1, "delta": {"type": "input_json_delta", "partial_json": "{\"city\":\"Paris\"}"}}),
        json!({"type": "content_block_stop", "index": 1}),
        json!({"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 4}}),
        json!({"type": "message_stop"}),
    ];
    let in_pieces = [
        json!({"choices": [{"index": 0, "delta": {"content": "Hm.", "tool_calls": native}}]}),
        json!({"choices": [{"index": 0, "delta": {"tool_calls": [{"index": 0, "function": {"arguments": "{\"city\":\"Paris\"}"}}]}}]}),
        json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}], "usage": {"prompt_tokens": 3, "completion_tokens": 4}}),
    ];
    let lines = [
        json!({"message": {"role": "assistant", "content": "Hm."}, "done": false}),
        json!({"message": ollama, "done": true, "done_reason": "stop", "prompt_eval_count": 3, "eval_count": 4}),
    ];
    let all = |events: &[Value]| events.iter().cloned().map(event).collect::<String>();
    for (api, said) in [
        (ServerApi::OpenAi, all(&chat) + "data: [DONE]\n\n"),
        (ServerApi::OpenAi, all(&in_pieces)),
        (ServerApi::Anthropic, all(&message)),
        (ServerApi::Ollama, lines.map(|line| format!("{line}\n")).concat()),
    ] {
        let whole = said.clone();
        let model = Model::saying(Reply::Stream(vec![said.into_bytes()], Then::End));
        let stand = Stand::with(model, |settings| settings.routes[0].upstreams[0].api = api).await;
        let answer = stand.ask(&weather()).await;
        let message = &answer["choices"][0]["message"];
        assert_eq!(message["content"].as_str().map(str::trim), Some("Hm."), "{api:?}: {answer}");
        let call = &message["tool_calls"][0]["function"];
        let arguments: Value = serde_json::from_str(call["arguments"].as_str().unwrap()).unwrap();
        assert_eq!((&call["name"], arguments), (&json!("get_weather"), json!({"city": "Paris"})));
        assert_eq!(answer["choices"][0]["finish_reason"], "tool_calls");
        assert_eq!(answer["usage"]["completion_tokens"], 4);
        // One that breaks off is no answer.
        let half = whole.as_bytes()[..whole.len() / 2].to_vec();
        let model = Model::saying(Reply::Stream(vec![half], Then::End));
        let stand = Stand::with(model, |settings| settings.routes[0].upstreams[0].api = api).await;
        assert_eq!(stand.post(&weather()).send().await.unwrap().status(), 502, "{api:?}");
    }
}
