//! The same before an Anthropic server, which wants its thoughts back with their seals.

use del_agent::ToolsMode;
use del_proxy::ServerApi;
use reqwest::Method;
use serde_json::{Value, json};

use super::{ASKS, CALLS, called, compact};
use crate::model::{Model, Reply, Seen, blocks, is_sound};
use crate::stand::{Stand, assembled, streamed, told, tool, with};

fn thought(seal: &str) -> Value {
    json!({"type": "thinking", "thinking": "Hm.", "signature": seal})
}

fn call(id: &str, name: &str, input: &Value) -> Value {
    json!({"type": "tool_use", "id": id, "name": name, "input": input})
}

fn defined(body: &Value) -> Vec<String> {
    let tools = body["tools"].as_array().into_iter().flatten();
    tools.map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
}

/// Refuses what such a server refuses.
fn checked(answer: impl Fn(&Seen) -> Reply + Send + Sync + 'static) -> Model {
    Model::new(move |seen| match is_sound(&seen.body()) {
        Ok(()) => answer(seen),
        Err(why) => {
            let error = json!({"type": "error", "error": {"type": "invalid_request_error", "message": why}});
            Reply::Whole(400, "", error.to_string())
        }
    })
}

async fn hybrid(model: Model) -> Stand {
    Stand::with(model, |settings| {
        settings.routes[0].tools_mode = ToolsMode::Hybrid;
        settings.routes[0].upstreams[0].api = ServerApi::Anthropic;
    })
    .await
}

/// Asks for the definition, and then calls; each time with a thought of its own.
fn asks() -> Model {
    checked(|seen| {
        if defined(&seen.body()).contains(&"get_weather".to_owned()) {
            return blocks(seen, &[thought("SECOND"), call("t2", "get_weather", &json!({"city": "Paris"}))]);
        }
        let text = json!({"type": "text", "text": "I look for a tool."});
        blocks(seen, &[thought("FIRST"), text, call("t1", "request_tools", &json!({"query": "get_weather"}))])
    })
}

fn chat() -> Value {
    json!({"model": "m", "messages": [{"role": "user", "content": "How is the weather?"}],
        "tools": [tool("get_weather"), tool("get_time")]})
}

#[tokio::test]
async fn a_round_goes_back_with_its_thought() {
    for stream in [false, true] {
        let stand = hybrid(asks()).await;
        let (text, calls, finish) = if stream {
            assembled(&stand.events(&streamed(chat())).await)
        } else {
            told(&stand.ask(&chat()).await)
        };
        assert_eq!((text.trim_end(), compact(calls)), ("I look for a tool.", called()));
        assert_eq!(finish, "tool_calls");
        let seen = stand.model.seen();
        assert_eq!(seen.len(), 2);
        assert_eq!(defined(&seen[0].body()), ["request_tools"]);
        assert_eq!(defined(&seen[1].body()), ["request_tools", "get_weather"]);
        let second = seen[1].body();
        let kinds: Vec<&Value> =
            second["messages"][1]["content"].as_array().unwrap().iter().map(|block| &block["type"]).collect();
        assert_eq!(kinds, ["thinking", "text", "tool_use"], "{stream}");
        assert_eq!(second["messages"][1]["content"][0], thought("FIRST"));
        assert_eq!(second["messages"][1]["content"][2]["input"], json!({"query": "get_weather"}));
        let result = &second["messages"][2]["content"][0];
        assert_eq!((&result["type"], &result["is_error"]), (&json!("tool_result"), &Value::Null));
    }
}

#[tokio::test]
async fn a_client_of_its_own_api_goes_on_after_its_call() {
    let own = json!({"name": "get_weather", "description": "Does it.",
        "input_schema": {"type": "object", "properties": {"city": {"type": "string"}}}, "own": 1});
    for stream in [false, true] {
        let stand = hybrid(checked(|seen| {
            let body = seen.body();
            let has = defined(&body).contains(&"get_weather".to_owned());
            if body["messages"].to_string().contains("sunny") {
                return blocks(seen, &[json!({"type": "text", "text": "Sunny."})]);
            }
            if has {
                return blocks(
                    seen,
                    &[thought("SECOND"), call("t2", "get_weather", &json!({"city": "Paris"}))],
                );
            }
            blocks(seen, &[thought("FIRST"), call("t1", "request_tools", &json!({"query": "get_weather"}))])
        }))
        .await;
        let thinking = json!({"type": "enabled", "budget_tokens": 1024});
        let mut body = json!({"model": "m", "max_tokens": 2048, "stream": stream, "thinking": thinking,
            "messages": [{"role": "user", "content": "How is the weather?"}], "tools": [own]});
        let ask = async |body: &Value| {
            let request = stand.request(Method::POST, "/v1/messages").body(body.to_string());
            let response = request.send().await.unwrap();
            let status = response.status().as_u16();
            let text = response.text().await.unwrap();
            assert_eq!(status, 200, "{text}");
            assert!(!text.contains("request_tools"), "{text}");
            // What a stream has said of a thought cannot be taken back.
            assert!(stream || !text.contains("FIRST"), "{text}");
            text
        };
        let said = ask(&body).await;
        assert!(said.contains("SECOND") && said.contains("t2"), "{said}");
        // The definition is as the client wrote it.
        assert_eq!(stand.model.last().body()["tools"][1]["own"], 1);
        let content = json!([thought("SECOND"), call("t2", "get_weather", &json!({"city": "Paris"}))]);
        let messages = body["messages"].as_array_mut().unwrap();
        messages.push(json!({"role": "assistant", "content": content}));
        messages.push(json!({"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": "t2", "content": "sunny"}]}));
        let said = ask(&body).await;
        assert!(said.contains("Sunny."), "{said}");
        // What the conversation used is defined, and nobody remembers the round.
        let last = stand.model.last().body();
        assert_eq!((defined(&last).len(), last["messages"].as_array().unwrap().len()), (2, 3));
    }
}

#[tokio::test]
async fn clients_of_the_other_apis_see_nothing_of_it() {
    let content = json!([{"role": "user", "content": "How is the weather?"}]);
    let schema = json!({"type": "object", "properties": {"city": {"type": "string"}}});
    for (path, body) in [
        (
            "/v1/responses",
            json!({"model": "m", "input": "How is the weather?",
                "tools": [{"type": "function", "name": "get_weather", "parameters": schema}]}),
        ),
        ("/api/chat", json!({"model": "m", "messages": content, "tools": [tool("get_weather")]})),
    ] {
        for stream in [false, true] {
            let stand = hybrid(asks()).await;
            let body = with(body.clone(), json!({"stream": stream}));
            let answer = stand.request(Method::POST, path).body(body.to_string()).send().await.unwrap();
            assert_eq!(answer.status(), 200);
            let text = answer.text().await.unwrap();
            assert!(text.contains("Paris") && !text.contains("request_tools"), "{path}: {text}");
            assert_eq!(stand.model.seen().len(), 2, "{path}");
        }
    }
}

#[tokio::test]
async fn a_call_without_the_definition_is_told_as_an_error() {
    let stand = hybrid(checked(|seen| {
        let known = defined(&seen.body()).contains(&"get_weather".to_owned());
        let input = if known { json!({"city": "Paris"}) } else { json!({"town": "Paris"}) };
        blocks(seen, &[call("t1", "get_weather", &input)])
    }))
    .await;
    for answer in [told(&stand.ask(&chat()).await), assembled(&stand.events(&streamed(chat())).await)] {
        assert_eq!(compact(answer.1), called());
    }
    let last = stand.model.last().body();
    let result = &last["messages"][2]["content"][0];
    assert_eq!(result["is_error"], true, "{result}");
    let said = result["content"][0]["text"].as_str().unwrap();
    assert!(said.starts_with("Error: not run"), "{said}");
}

#[tokio::test]
async fn a_server_that_refuses_tools_is_asked_in_the_prompt() {
    let stand = hybrid(checked(|seen| {
        let body = seen.body();
        if body["tools"].is_array() {
            let error = json!({"type": "error", "error": {"type": "invalid_request_error",
                "message": "this model does not support tools"}});
            return Reply::Whole(400, "", error.to_string());
        }
        let said = if body.to_string().contains("city") { CALLS } else { ASKS };
        blocks(seen, &[json!({"type": "text", "text": said})])
    }))
    .await;
    for answer in [told(&stand.ask(&chat()).await), assembled(&stand.events(&streamed(chat())).await)] {
        assert_eq!((answer.0.as_str(), compact(answer.1)), ("", called()));
    }
    // Natively once, and twice for each answer.
    assert_eq!(stand.model.seen().len(), 5);
}
