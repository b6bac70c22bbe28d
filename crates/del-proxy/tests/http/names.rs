//! Tools whose names the server's API refuses: it is told others, and the client hears its own.

use del_proxy::{RouteSettings, ServerApi};
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

use crate::model::{Model, Reply, Then, completion};
use crate::stand::{Stand, with};

/// Two that would be one where dots are replaced, a long one, and one of other letters.
fn names() -> [String; 5] {
    ["ns.tool".to_owned(), "ns_tool".to_owned(), "long".repeat(20), "long".repeat(16), "天気".to_owned()]
}

/// What a server says that calls a tool by this name.
fn call(api: ServerApi, name: &str) -> Value {
    match api {
        ServerApi::Responses => json!({"status": "completed", "output": [
            {"type": "function_call", "call_id": "c2", "name": name, "arguments": "{\"a\":1}"}]}),
        ServerApi::Anthropic => json!({"type": "message", "stop_reason": "tool_use", "content": [
            {"type": "tool_use", "id": "c2", "name": name, "input": {"a": 1}}]}),
        ServerApi::Ollama => json!({"message": {"role": "assistant", "content": "", "tool_calls": [
            {"function": {"name": name, "arguments": {"a": 1}}}]}, "done": true}),
        ServerApi::OpenAi => completion(
            &json!({"role": "assistant", "content": null, "tool_calls": [
            {"id": "c2", "type": "function", "function": {"name": name, "arguments": "{\"a\":1}"}}]}),
            "tool_calls",
        ),
    }
}

/// The same as a stream.
fn streamed(api: ServerApi, name: &str) -> Vec<u8> {
    let event = |event: Value| format!("data: {event}\n\n");
    let said = match api {
        ServerApi::Responses => event(json!({"type": "response.completed", "response": call(api, name)})),
        ServerApi::Anthropic => [
            json!({"type": "content_block_start", "index": 0, "content_block": {"type": "tool_use", "id": "c2", "name": name, "input": {}}}),
            json!({"type": "content_block_delta", "index": 0, "delta": {"type": "input_json_delta", "partial_json": "{\"a\":1}"}}),
            json!({"type": "message_delta", "delta": {"stop_reason": "tool_use"}}),
            json!({"type": "message_stop"}),
        ]
        .map(event)
        .concat(),
        ServerApi::Ollama => format!("{}\n", call(api, name)),
        ServerApi::OpenAi => {
            let function = json!({"name": name, "arguments": "{\"a\":1}"});
            let delta = json!({"tool_calls": [{"index": 0, "id": "c2", "type": "function", "function": function}]});
            let chunk = |delta: Value, finish: Value| event(json!({"id": "x", "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}));
            chunk(delta, Value::Null) + &chunk(json!({}), json!("tool_calls")) + "data: [DONE]\n\n"
        }
    };
    said.into_bytes()
}

/// Every name of a tool in a request, in its order, wherever the API has them.
fn told(body: &Value) -> Vec<String> {
    let tools = body["tools"].as_array().unwrap().iter();
    let name = |tool: &Value| {
        tool.pointer("/function/name").or(tool.get("name")).unwrap().as_str().unwrap().to_owned()
    };
    tools.map(name).collect()
}

/// A request of a client, whose conversation has a call of a tool.
fn asked(path: &str, used: &str, stream: bool) -> Value {
    let schema = json!({"type": "object", "properties": {"a": {"type": "integer"}}});
    let body = match path {
        "/v1/messages" => {
            let tool = |name: &String| json!({"name": name, "input_schema": schema});
            json!({"max_tokens": 9, "tools": names().iter().map(tool).collect::<Value>(), "tool_choice": {"type": "tool", "name": used},
                "messages": [{"role": "user", "content": "Do."},
                {"role": "assistant", "content": [{"type": "tool_use", "id": "c1", "name": used, "input": {}}]},
                {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c1", "content": "Done."}]}]})
        }
        "/v1/responses" => {
            let tool = |name: &String| json!({"type": "function", "name": name, "parameters": schema});
            json!({"tools": names().iter().map(tool).collect::<Value>(), "tool_choice": {"type": "function", "name": used},
                "input": [{"role": "user", "content": "Do."},
                {"type": "function_call", "call_id": "c1", "name": used, "arguments": "{}"},
                {"type": "function_call_output", "call_id": "c1", "output": "Done."}]})
        }
        _ => {
            let tool =
                |name: &String| json!({"type": "function", "function": {"name": name, "parameters": schema}});
            let function =
                json!({"name": used, "arguments": if path == "/api/chat" { json!({}) } else { json!("{}") }});
            let mut body = json!({"tools": names().iter().map(tool).collect::<Value>(), "messages": [{"role": "user", "content": "Do."},
                {"role": "assistant", "content": "", "tool_calls": [{"id": "c1", "type": "function", "function": function}]},
                {"role": "tool", "tool_call_id": "c1", "name": used, "content": "Done."}]});
            if path != "/api/chat" {
                body["tool_choice"] = json!({"type": "function", "function": {"name": used}});
            }
            body
        }
    };
    with(body, json!({"model": "m", "stream": stream}))
}

/// A server that calls the tool at this place of those that it is told of.
fn calls(api: ServerApi, at: usize, stream: bool) -> Model {
    Model::new(move |seen| {
        let name = told(&seen.body())[at].clone();
        if stream {
            Reply::Stream(vec![streamed(api, &name)], Then::End)
        } else {
            Reply::Whole(200, "", call(api, &name).to_string())
        }
    })
}

#[tokio::test]
async fn every_tool_has_a_name_that_the_server_takes_and_the_client_hears_its_own() {
    let fits = |name: &String| {
        (1..=64).contains(&name.len())
            && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte))
    };
    for api in [ServerApi::OpenAi, ServerApi::Responses, ServerApi::Anthropic, ServerApi::Ollama] {
        for path in ["/v1/chat/completions", "/v1/responses", "/v1/messages", "/api/chat"] {
            for (at, used) in names().iter().enumerate() {
                for stream in [false, true] {
                    let model = calls(api, at, stream);
                    let stand =
                        Stand::with(model, |settings| settings.routes[0].upstreams[0].api = api).await;
                    let body = asked(path, used, stream);
                    let response =
                        stand.request(Method::POST, path).body(body.to_string()).send().await.unwrap();
                    let (status, answer) = (response.status(), response.text().await.unwrap());
                    let about = format!("{path} to {api:?}, {used}, {stream}: {answer}");
                    assert_eq!(status, StatusCode::OK, "{about}");
                    let sent = stand.model.last().body();
                    let mut told = told(&sent);
                    let as_given = told == names();
                    let same = api == ServerApi::Ollama
                        || api == ServerApi::OpenAi && path == "/v1/chat/completions";
                    assert_eq!(as_given, same, "{told:?}");
                    assert!(same || told.iter().all(fits), "{told:?}");
                    // The call of the conversation, and the choice, go by the same name.
                    let rest = with(sent.clone(), json!({"tools": null})).to_string();
                    assert!(rest.contains(&json!(told[at]).to_string()), "{rest}");
                    assert!(same || used == &told[at] || !rest.contains(&json!(used).to_string()), "{rest}");
                    told.sort();
                    told.dedup();
                    assert_eq!(told.len(), names().len(), "{told:?}");
                    assert!(answer.contains(&json!(used).to_string()), "{about}");
                }
            }
        }
    }
}

#[tokio::test]
async fn a_prompt_has_the_client_s_names() {
    let text = "<tool_call>\n{\"name\": \"ns.tool\", \"arguments\": {\"a\": 1}}\n</tool_call>";
    let said = completion(&json!({"role": "assistant", "content": text}), "stop").to_string();
    let stand = Stand::with(Model::saying(Reply::Whole(200, "", said)), |settings| {
        let route = settings.routes.remove(0);
        let mode = del_agent::ToolsMode::Prompt;
        settings.routes.push(RouteSettings { tools_mode: mode, ..route });
    });
    let stand = stand.await;
    let body = with(asked("/v1/messages", "ns.tool", false), json!({"tool_choice": {"type": "auto"}}));
    let response = stand.request(Method::POST, "/v1/messages").body(body.to_string()).send().await.unwrap();
    let answer: Value = serde_json::from_str(&response.text().await.unwrap()).unwrap();
    assert_eq!(
        (&answer["content"][0]["name"], &answer["stop_reason"]),
        (&json!("ns.tool"), &json!("tool_use")),
        "{answer}"
    );
    assert!(stand.model.last().body().to_string().contains("ns.tool"));
}

/// As Codex has the tools of MCP servers.
#[tokio::test]
async fn tools_in_a_namespace_are_called_by_their_own_names() {
    let tool = |kind: &str, name: &str| json!({"type": kind, "name": name, "defer_loading": true, "parameters": {"type": "object", "properties": {"a": {"type": "integer"}}}});
    let tools = json!([tool("function", "look"), {"type": "namespace", "name": "mcp__files", "description": "Files.",
        "tools": [tool("function", "look"), tool("function", "write"), tool("custom", "patch")]}]);
    let called = json!([{"role": "user", "content": "Do."},
        {"type": "function_call", "call_id": "c1", "name": "look", "namespace": "mcp__files", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "c1", "output": "Done."}]);
    for api in [ServerApi::OpenAi, ServerApi::Responses, ServerApi::Anthropic, ServerApi::Ollama] {
        for (at, (space, name)) in
            [("", "look"), ("mcp__files", "look"), ("mcp__files", "write"), ("mcp__files", "patch")]
                .into_iter()
                .enumerate()
        {
            for stream in [false, true] {
                let model = calls(api, at, stream);
                let stand = Stand::with(model, |settings| settings.routes[0].upstreams[0].api = api).await;
                let choice = json!({"type": "function", "name": name, "namespace": space});
                let body = json!({"model": "m", "stream": stream, "tools": tools, "input": called, "tool_choice": choice});
                let response =
                    stand.request(Method::POST, "/v1/responses").body(body.to_string()).send().await.unwrap();
                assert_eq!(response.headers().get("x-del-dropped-tools"), None);
                let text = response.text().await.unwrap();
                let sent = stand.model.last().body();
                assert_eq!(
                    told(&sent),
                    ["look", "mcp__files__look", "mcp__files__write", "mcp__files__patch"]
                );
                let rest = with(sent, json!({"tools": null})).to_string();
                assert!(rest.contains("\"mcp__files__look\"") && !rest.contains("defer_loading"), "{rest}");
                let last = text
                    .lines()
                    .rev()
                    .find_map(|line| serde_json::from_str::<Value>(line.trim_start_matches("data: ")).ok());
                let last = last.unwrap();
                let item = &last.get("response").unwrap_or(&last)["output"][0];
                assert_eq!(item["name"], name, "{api:?} {stream}: {text}");
                assert_eq!(item["namespace"].as_str().unwrap_or_default(), space, "{text}");
                let kind = if name == "patch" { "custom_tool_call" } else { "function_call" };
                assert_eq!(item["type"], kind);
            }
        }
    }
}
