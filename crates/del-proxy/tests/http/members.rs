//! What of a request is told to servers of each API, in the words that they have for it.

use del_proxy::ServerApi;
use reqwest::Method;
use serde_json::{Value, json};

use crate::model::{Model, Reply, completion};
use crate::stand::{Stand, with};

/// What a server of this API is sent for a request.
pub(crate) async fn sent(api: ServerApi, path: &str, body: &Value) -> Value {
    let said = match api {
        ServerApi::Anthropic => json!({"type": "message", "content": [], "stop_reason": "end_turn"}),
        ServerApi::Ollama => json!({"message": {"role": "assistant", "content": "Yes."}, "done": true}),
        ServerApi::Responses => json!({"id": "r", "status": "completed", "output": []}),
        ServerApi::OpenAi => completion(&json!({"role": "assistant", "content": "Yes."}), "stop"),
    };
    let stand = Stand::with(Model::saying(Reply::Whole(200, "", said.to_string())), |settings| {
        settings.routes[0].upstreams[0].api = api;
    })
    .await;
    let response = stand.request(Method::POST, path).body(body.to_string()).send().await.unwrap();
    assert_eq!(response.status(), 200);
    stand.model.last().body()
}

#[tokio::test]
async fn what_only_ollama_has_goes_to_its_servers_alone() {
    let body = json!({"model": "m", "stream": false, "messages": [{"role": "user", "content": "Hi."}],
        "keep_alive": "5m", "think": "low", "own": 1, "options": {"num_ctx": 8192, "seed": 2}});
    let ollama = sent(ServerApi::Ollama, "/api/chat", &body).await;
    assert_eq!(
        (&ollama["keep_alive"], &ollama["think"], &ollama["own"]),
        (&json!("5m"), &json!("low"), &json!(1))
    );
    assert_eq!(ollama["options"], json!({"seed": 2, "num_ctx": 8192}));
    let chat = sent(ServerApi::OpenAi, "/api/chat", &body).await;
    assert_eq!(
        (&chat["seed"], &chat["reasoning_effort"], &chat["own"]),
        (&json!(2), &json!("low"), &json!(1))
    );
    let strange = ["keep_alive", "think", "options", "ollama"].iter().find(|name| chat.get(**name).is_some());
    assert_eq!(strange, None);
}

#[tokio::test]
async fn how_a_message_is_thought_about_goes_to_anthropics_servers_alone() {
    let thinking = json!({"type": "enabled", "budget_tokens": 2048});
    let body = json!({"model": "m", "max_tokens": 4096, "thinking": thinking,
        "messages": [{"role": "user", "content": "Hi."}]});
    assert_eq!(sent(ServerApi::Anthropic, "/v1/messages", &body).await["thinking"], thinking);
    assert!(sent(ServerApi::OpenAi, "/v1/messages", &body).await.get("thinking").is_none());
}

#[tokio::test]
async fn whether_to_think_is_told_in_the_words_of_each_server() {
    let said = json!([{"role": "user", "content": "Hi."}]);
    let of = |members: Value| {
        with(json!({"model": "m", "max_tokens": 4096, "messages": said, "stream": false}), members)
    };
    let messages = |kind: &str| of(json!({"thinking": {"type": kind}}));
    let (chat, anthropic, ollama) = ("/v1/chat/completions", "/v1/messages", "/api/chat");
    for (path, body, effort, think) in [
        (anthropic, messages("disabled"), json!("none"), json!(false)),
        (anthropic, messages("adaptive"), Value::Null, json!(true)),
        (anthropic, of(json!({})), Value::Null, Value::Null),
        (ollama, of(json!({"think": false})), json!("none"), json!(false)),
        (ollama, of(json!({"think": true})), Value::Null, json!(true)),
        (ollama, of(json!({"think": "low"})), json!("low"), json!("low")),
        (chat, of(json!({"reasoning_effort": "none"})), json!("none"), json!(false)),
        (chat, of(json!({"reasoning_effort": "minimal"})), json!("minimal"), json!("low")),
        (chat, of(json!({"reasoning_effort": "xhigh"})), json!("xhigh"), json!("high")),
    ] {
        let told = sent(ServerApi::OpenAi, path, &body).await;
        assert_eq!(
            (told.get("reasoning_effort"), told.get("thinking")),
            (Some(&effort).filter(|it| !it.is_null()), None)
        );
        assert_eq!(sent(ServerApi::Responses, path, &body).await["reasoning"]["effort"], effort, "{body}");
        let told = sent(ServerApi::Ollama, path, &body).await;
        assert_eq!((&told["think"], told.get("thinking")), (&think, None), "{body}");
    }
}

#[tokio::test]
async fn where_to_stop_is_a_list_for_servers_that_take_nothing_else() {
    let said = json!([{"role": "user", "content": "Hi."}]);
    for stop in [json!("END"), json!(["END"])] {
        let body = json!({"model": "m", "messages": said, "stop": stop});
        let list = json!(["END"]);
        assert_eq!(sent(ServerApi::Ollama, "/v1/chat/completions", &body).await["options"]["stop"], list);
        assert_eq!(sent(ServerApi::Anthropic, "/v1/chat/completions", &body).await["stop_sequences"], list);
        assert_eq!(sent(ServerApi::OpenAi, "/v1/chat/completions", &body).await["stop"], stop);
    }
}

/// Some servers refuse schemas that are to be kept strictly.
#[tokio::test]
async fn nobody_is_asked_to_keep_a_schema_strictly_unless_the_client_asks() {
    let (said, schema) = (json!([{"role": "user", "content": "Hi."}]), json!({"type": "object"}));
    let format = json!({"type": "json_schema", "schema": schema});
    let named =
        |strict: Value| with(json!({"type": "json_schema", "name": "answer", "schema": schema}), strict);
    for (path, body, strict) in [
        ("/api/chat", json!({"messages": said, "format": schema, "stream": false}), Value::Null),
        ("/v1/messages", json!({"messages": said, "max_tokens": 9, "output_format": format}), Value::Null),
        (
            "/v1/messages",
            json!({"messages": said, "max_tokens": 9, "output_config": {"format": format}}),
            Value::Null,
        ),
        ("/v1/responses", json!({"input": "Hi.", "text": {"format": named(json!({}))}}), Value::Null),
        (
            "/v1/responses",
            json!({"input": "Hi.", "text": {"format": named(json!({"strict": true}))}}),
            json!(true),
        ),
    ] {
        let body = with(body, json!({"model": "m"}));
        let told = &sent(ServerApi::OpenAi, path, &body).await["response_format"]["json_schema"];
        assert_eq!((&told["strict"], &told["schema"]), (&strict, &schema), "{path}");
    }
}

#[tokio::test]
async fn what_nobody_knows_goes_on_to_a_server_of_the_same_api_and_to_chats() {
    let (said, own) =
        (json!([{"role": "user", "content": "Hi."}]), json!({"own": {"a": [1]}, "own_too": true}));
    for (api, path, body) in [
        (ServerApi::OpenAi, "/v1/chat/completions", json!({"messages": said})),
        (ServerApi::Anthropic, "/v1/messages", json!({"messages": said, "max_tokens": 9})),
        (ServerApi::Responses, "/v1/responses", json!({"input": "Hi."})),
        (ServerApi::Ollama, "/api/chat", json!({"messages": said, "stream": false})),
    ] {
        let body = with(with(body, own.clone()), json!({"model": "m"}));
        for server in [ServerApi::OpenAi, ServerApi::Responses, ServerApi::Anthropic, ServerApi::Ollama] {
            let told = sent(server, path, &body).await;
            // Ollama's servers pass over what they do not know.
            let goes_on = server == api || matches!(server, ServerApi::OpenAi | ServerApi::Ollama);
            let expected = if goes_on { own.clone() } else { json!({"own": null, "own_too": null}) };
            assert_eq!(
                json!({"own": told["own"], "own_too": told["own_too"]}),
                expected,
                "{path} {server:?}"
            );
        }
    }
}
