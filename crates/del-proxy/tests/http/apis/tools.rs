//! Which tools there are and which may be called, as each API says it.

use del_agent::ToolsMode;
use del_proxy::ServerApi;
use serde_json::{Value, json};

use super::{anthropic, ask, hermes, post, schema};
use crate::model::{Model, Reply, Then, completion, event, says};
use crate::stand::{Stand, document, streamed};

#[tokio::test]
async fn choices_of_tools_are_those_of_the_other_api() {
    let stand = Stand::new(hermes()).await;
    for (choice, sent) in [
        (json!({"type": "any", "disable_parallel_tool_use": true}), json!("required")),
        (json!({"type": "auto"}), json!("auto")),
        (json!({"type": "none"}), json!("none")),
        (
            json!({"type": "tool", "name": "get_weather"}),
            json!({"type": "function", "function": {"name": "get_weather"}}),
        ),
    ] {
        let mut body = anthropic(&json!([{"role": "user", "content": "Hi."}]));
        body["tool_choice"] = choice.clone();
        ask(&stand, "/v1/messages", &body).await;
        assert_eq!(stand.model.last().body()["tool_choice"], sent);
        let one = choice.get("disable_parallel_tool_use").is_some();
        assert_eq!(stand.model.last().body()["parallel_tool_calls"] == false, one);
    }
}

#[tokio::test]
async fn hosted_tools_are_left_out_and_named() {
    let stand = Stand::new(hermes()).await;
    let mut body = anthropic(&json!([{"role": "user", "content": "Hi."}]));
    let search = json!({"type": "web_search_20250305", "name": "web_search"});
    body["tools"].as_array_mut().unwrap().push(search.clone());
    let response = post(&stand, "/v1/messages", &body).await;
    assert_eq!(response.headers()["x-del-dropped-tools"], "web_search_20250305");
    assert_eq!(stand.model.last().body()["tools"].as_array().unwrap().len(), 1);
    body["tool_choice"] = json!({"type": "tool", "name": "web_search"});
    assert_eq!(post(&stand, "/v1/messages", &body).await.status(), 400);
    let body =
        json!({"model": "m", "input": "Hi.", "tools": [{"type": "web_search"}], "tool_choice": "required"});
    let response = post(&stand, "/v1/responses", &body).await;
    assert_eq!(response.headers()["x-del-dropped-tools"], "web_search");
    assert!(stand.model.last().body().get("tools").is_none());
    assert!(stand.model.last().body().get("tool_choice").is_none());
}

/// What a server has no place for is named, whatever the two APIs are, also where the request is asked again.
#[tokio::test]
async fn members_that_go_nowhere_are_named() {
    const HEADER: &str = "x-del-dropped-parameters";
    let stand = Stand::new(hermes()).await;
    let said = json!([{"role": "user", "content": "Hi."}]);
    for (path, body, names) in [
        ("/v1/chat/completions", json!({"messages": said, "store": true, "seed": 1, "thinking": {}}), None),
        (
            "/v1/responses",
            json!({"input": "Hi.", "truncation": "auto", "text": {"verbosity": "low"}}),
            Some("text.verbosity,truncation"),
        ),
        (
            "/v1/responses",
            json!({"input": "Hi.", "truncation": "disabled", "store": false, "metadata": {"a": "b"}}),
            None,
        ),
        (
            "/v1/messages",
            json!({"messages": said, "max_tokens": 5, "thinking": {"type": "adaptive"}}),
            Some("thinking"),
        ),
        ("/v1/messages", json!({"messages": said, "max_tokens": 5, "thinking": {"type": "disabled"}}), None),
        ("/api/chat", json!({"messages": said, "think": false}), None),
        ("/v1/messages", json!({"messages": said, "max_tokens": 5, "own": 1}), None),
        (
            "/v1/responses",
            json!({"input": [{"type": "web_search_call", "id": "w"},
                {"role": "user", "content": [{"type": "own"}, {"type": "input_text", "text": "Hi."}]}]}),
            Some("own,web_search_call"),
        ),
        (
            "/v1/messages",
            json!({"max_tokens": 5, "messages": [
                {"role": "user", "content": [{"type": "container_upload"}, {"type": "text", "text": "Hi."}]},
                {"role": "assistant", "content": [{"type": "server_tool_use"}, {"type": "text", "text": "Hm."}]}]}),
            Some("container_upload,server_tool_use"),
        ),
        (
            "/api/chat",
            json!({"messages": said, "stream": false, "keep_alive": "5m", "options": {"num_ctx": 5}}),
            Some("keep_alive,options.num_ctx"),
        ),
        ("/api/chat", json!({"messages": said, "keep_alive": "5m", "think": true}), Some("keep_alive,think")),
    ] {
        let mut body = body.clone();
        body["model"] = json!("m");
        let response = post(&stand, path, &body).await;
        assert_eq!(response.status(), 200);
        let header = response.headers().get(HEADER).map(|value| value.to_str().unwrap().to_owned());
        let sorted = header.map(|names| {
            let mut names: Vec<&str> = names.split(',').collect();
            names.sort_unstable();
            names.join(",")
        });
        assert_eq!(sorted.as_deref(), names, "{body}");
    }
    let stand = Stand::with(hermes(), |settings| {
        settings.routes[0].upstreams[0].api = ServerApi::Ollama;
    })
    .await;
    let response = post(
        &stand,
        "/v1/chat/completions",
        &json!({"model": "m", "messages": said, "logit_bias": {"1": 1}}),
    )
    .await;
    assert_eq!(response.headers()[HEADER], "logit_bias");
    assert!(stand.model.last().body().get("logit_bias").is_none());
    let thinking = json!({"type": "enabled", "budget_tokens": 1024});
    let body = json!({"model": "m", "max_tokens": 5, "messages": said, "thinking": thinking});
    let response = post(&stand, "/v1/messages", &body).await;
    assert_eq!(response.headers()[HEADER], "thinking.budget_tokens");
    for (api, named) in [(ServerApi::Anthropic, None), (ServerApi::Responses, Some("own"))] {
        let stand = Stand::with(hermes(), |settings| settings.routes[0].upstreams[0].api = api).await;
        let body = json!({"model": "m", "max_tokens": 5, "messages": said, "own": 1, "stream": true});
        let response = post(&stand, "/v1/messages", &body).await;
        assert_eq!(response.headers().get(HEADER).map(|names| names.to_str().unwrap()), named, "{api:?}");
    }
}

/// The data of the events of a stream.
fn data(stream: &str) -> Vec<Value> {
    let lines =
        stream.lines().filter_map(|line| line.strip_prefix("data: ")).filter(|data| *data != "[DONE]");
    lines.map(|data| serde_json::from_str(data).unwrap()).collect()
}

#[tokio::test]
async fn a_custom_tool_takes_a_text_in_every_api_that_has_them() {
    let text = "<tool_call>\n{\"name\": \"patch\", \"arguments\": {\"input\": \"*** Begin\\n*** End\"}}\n</tool_call>";
    for mode in [ToolsMode::Native, ToolsMode::Prompt] {
        let model = Model::new(move |seen| says(seen, text, 5));
        let stand = Stand::with(model, |settings| settings.routes[0].tools_mode = mode).await;
        let tool = json!({"type": "custom", "name": "patch", "description": "Patches.",
            "format": {"type": "grammar", "syntax": "lark", "definition": "start: X"}});
        let body = json!({"model": "m", "input": "Do.", "tools": [tool], "tool_choice": {"type": "custom", "name": "patch"}});
        let item = &ask(&stand, "/v1/responses", &body).await["output"][0];
        assert_eq!(
            (&item["type"], &item["input"]),
            (&json!("custom_tool_call"), &json!("*** Begin\n*** End"))
        );
        if mode == ToolsMode::Native {
            let function = &stand.model.last().body()["tools"][0]["function"];
            assert!(function["description"].as_str().unwrap().contains("start: X"), "{function}");
            assert_eq!(function["parameters"]["required"], json!(["input"]));
        }
        let mut body = body;
        body["stream"] = json!(true);
        let text = post(&stand, "/v1/responses", &body).await.text().await.unwrap();
        assert!(
            text.contains("response.custom_tool_call_input.done") && text.contains("response.completed"),
            "{text}"
        );
        let deltas: Vec<String> = data(&text)
            .iter()
            .filter(|event| event["type"] == "response.custom_tool_call_input.delta")
            .map(|event| event["delta"].as_str().unwrap().to_owned())
            .collect();
        assert_eq!(deltas.concat(), "*** Begin\n*** End");
        assert!(deltas.len() > 2, "it comes as it is written: {deltas:?}");
        let body = json!({"model": "m", "messages": [{"role": "user", "content": "Do."}],
            "tools": [{"type": "custom", "custom": {"name": "patch"}}]});
        let call = &stand.message(&body).await["tool_calls"][0];
        assert_eq!(
            (&call["type"], &call["custom"]["input"]),
            (&json!("custom"), &json!("*** Begin\n*** End"))
        );
        let text = stand.post(&streamed(body)).send().await.unwrap().text().await.unwrap();
        let calls: Vec<Value> = data(&text)
            .iter()
            .map(|event| event["choices"][0]["delta"]["tool_calls"][0].clone())
            .filter(|call| !call.is_null())
            .collect();
        assert_eq!((&calls[0]["type"], &calls[0]["custom"]["name"]), (&json!("custom"), &json!("patch")));
        let input: String = calls.iter().map(|call| call["custom"]["input"].as_str().unwrap()).collect();
        assert_eq!(input, "*** Begin\n*** End");
        assert!(calls.len() > 3 && calls.iter().all(|call| call["index"] == 0), "{calls:?}");
    }
}

#[tokio::test]
async fn a_custom_call_that_is_cut_is_no_call() {
    let model = Model::new(|seen| {
        let begin = json!([{"index": 0, "id": "c", "type": "function", "function": {"name": "patch", "arguments": "{\"input\": \"*** Be"}}]);
        let message = json!({"role": "assistant", "content": null, "tool_calls": begin});
        if seen.body()["stream"] != true {
            return Reply::Whole(200, "", completion(&message, "length").to_string());
        }
        let all = event(&message, None) + &event(&json!({}), Some("length")) + "data: [DONE]\n\n";
        Reply::Stream(vec![all.into_bytes()], Then::End)
    });
    let stand = Stand::new(model).await;
    let mut body = json!({"model": "m", "input": "Do.", "tools": [{"type": "custom", "name": "patch"}]});
    let whole = ask(&stand, "/v1/responses", &body).await;
    assert_eq!((&whole["status"], &whole["output"]), (&json!("incomplete"), &json!([])));
    body["stream"] = json!(true);
    let text = post(&stand, "/v1/responses", &body).await.text().await.unwrap();
    assert!(!text.contains("custom_tool_call_input.done"), "{text}");
    let events = data(&text);
    let ended = events.iter().find(|event| event["type"] == "response.output_item.done").unwrap();
    assert_eq!(ended["item"]["status"], "incomplete");
    let last = &events.last().unwrap()["response"];
    assert_eq!((&last["status"], &last["output"]), (&json!("incomplete"), &json!([])));
}

#[tokio::test]
async fn functions_of_old_and_allowed_tools() {
    let stand = Stand::new(hermes()).await;
    let function = json!({"name": "get_weather", "parameters": schema()});
    let body = json!({"model": "m", "functions": [function], "function_call": {"name": "get_weather"}, "messages": [
        {"role": "user", "content": "Hi."},
        {"role": "assistant", "content": null, "function_call": {"name": "get_weather", "arguments": "{}"}},
        {"role": "function", "name": "get_weather", "content": "rain"}]});
    let answer = stand.ask(&body).await;
    let choice = &answer["choices"][0];
    assert_eq!(choice["finish_reason"], "function_call");
    assert_eq!(choice["message"]["function_call"]["name"], "get_weather");
    let sent = stand.model.last().body();
    assert_eq!(sent["tools"][0]["function"]["name"], "get_weather");
    assert_eq!(sent["messages"][1]["tool_calls"][0]["id"], sent["messages"][2]["tool_call_id"]);
    let mut streamed = body.clone();
    streamed["stream"] = json!(true);
    let events = stand.events(&streamed).await;
    let arguments: String = events
        .iter()
        .filter_map(|event| event["choices"][0]["delta"]["function_call"]["arguments"].as_str())
        .collect();
    assert_eq!(arguments, "{\"city\": \"Paris\"}");

    let tools = ["get_weather", "get_time"].map(crate::stand::tool);
    let allowed = json!({"mode": "auto", "tools": [{"type": "function", "function": {"name": "get_time"}}]});
    let body = json!({"model": "m", "messages": [{"role": "user", "content": "Hi."}], "tools": tools,
        "tool_choice": {"type": "allowed_tools", "allowed_tools": allowed}});
    let response = stand.post(&body).send().await.unwrap();
    assert_eq!(response.headers()["x-del-refused-calls"], "get_weather");
    let message = document(response).await["choices"][0]["message"].clone();
    assert!(message.get("tool_calls").is_none(), "{message}");
    let sent = stand.model.last().body();
    assert_eq!((&sent["tool_choice"], sent["tools"].as_array().unwrap().len()), (&json!("auto"), 1));
}

#[tokio::test]
async fn no_functions_of_old_leave_the_tools_what_they_are() {
    let stand = Stand::new(hermes()).await;
    let choice = json!({"type": "function", "function": {"name": "get_weather"}});
    let body = crate::stand::with(crate::stand::weather(), json!({"functions": null, "tool_choice": choice}));
    let choice = &stand.ask(&body).await["choices"][0];
    assert_eq!(choice["message"]["tool_calls"][0]["function"]["name"], "get_weather");
    assert_eq!(choice["finish_reason"], "tool_calls");
    assert_eq!(stand.model.last().body()["tools"].as_array().unwrap().len(), 1);
}
