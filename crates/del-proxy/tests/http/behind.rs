//! What stands behind a call and goes back to its server with it: members of the call that are not known here, seals on
//! thoughts, and thoughts in the server's own words.

use del_agent::ToolsMode;
use del_proxy::{ServerApi, Settings};
use reqwest::Method;
use serde_json::{Value, json};

use crate::model::{Model, Reply, Seen, Then, completion, event};
use crate::stand::{Stand, document, events, streamed, tool, weather, with};

/// The call of a server that wants the seal of its thought back with it.
fn sealed_call() -> Value {
    json!({"index": 0, "id": "c1", "type": "function",
        "function": {"name": "get_weather", "arguments": r#"{"city":"Paris"}"#},
        "extra_content": {"google": {"thought_signature": "seal"}}})
}

fn details() -> Value {
    json!([{"type": "reasoning.encrypted", "index": 0, "data": "d"}])
}

/// Calls, until a result is there.
fn chat(seen: &Seen) -> Reply {
    let body = seen.body();
    let answered = body["messages"].as_array().unwrap().iter().any(|message| message["role"] == "tool");
    let message = if answered {
        json!({"role": "assistant", "content": "Warm."})
    } else {
        json!({"role": "assistant", "content": null, "reasoning_details": details(), "tool_calls": [sealed_call()]})
    };
    let finish = if answered { "stop" } else { "tool_calls" };
    if body["stream"] != true {
        return Reply::Whole(200, "", completion(&message, finish).to_string());
    }
    let all = [event(&message, None), event(&json!({}), Some(finish)), "data: [DONE]\n\n".to_owned()];
    Reply::Stream(vec![all.concat().into_bytes()], Then::End)
}

async fn at(api: ServerApi, server: fn(&Seen) -> Reply) -> Stand {
    Stand::with(Model::new(server), |settings: &mut Settings| settings.routes[0].upstreams[0].api = api).await
}

async fn post(stand: &Stand, path: &str, body: &Value) -> Value {
    let response = stand.request(Method::POST, path).body(body.to_string()).send().await.unwrap();
    assert_eq!(response.status(), 200);
    document(response).await
}

#[tokio::test]
async fn members_of_a_call_that_nobody_knows_stay() {
    let stand = at(ServerApi::OpenAi, chat).await;
    let whole = stand.message(&weather()).await;
    assert_eq!(whole["tool_calls"][0]["extra_content"], sealed_call()["extra_content"]);
    assert_eq!(whole["reasoning_details"], details());
    let all = stand.events(&streamed(weather())).await;
    let begins = all.iter().filter_map(|event| event.pointer("/choices/0/delta/tool_calls/0"));
    let first = begins.into_iter().next().unwrap();
    assert_eq!((&first["id"], &first["extra_content"]), (&json!("c1"), &sealed_call()["extra_content"]));
    let told = all.iter().filter_map(|event| event.pointer("/choices/0/delta/reasoning_details"));
    assert_eq!(told.collect::<Vec<_>>(), [&details()]);
}

#[tokio::test]
async fn members_that_come_later_are_told_later() {
    let all = [
        json!({"tool_calls": [{"index": 0, "id": "c1", "function": {"name": "get_weather", "arguments": "{\"city\":"}}]}),
        json!({"tool_calls": [{"index": 0, "function": {"arguments": "\"Paris\"}"}, "own": 1}]}),
        json!({"tool_calls": [{"index": 1, "id": "c2", "function": {"name": "get_weather", "arguments": "{\"city\":\"Rome\"}"}, "own": 2}]}),
    ];
    let all = all.map(|delta| event(&delta, None)).concat() + &event(&json!({}), Some("tool_calls"));
    let stand = Stand::new(Model::saying(Reply::Stream(vec![all.into_bytes()], Then::End))).await;
    let told = stand.events(&streamed(weather())).await;
    let calls = told.iter().filter_map(|event| event.pointer("/choices/0/delta/tool_calls/0"));
    let own: Vec<_> = calls
        .filter(|call| call.get("own").is_some())
        .map(|call| json!([call["index"], call["own"]]))
        .collect();
    assert_eq!(json!(own), json!([[0, 1], [1, 2]]));
}

/// What a client of each API sends once it has a result; `call` is its id, `said` the answer that it got.
fn next(path: &str, said: &Value) -> Value {
    let user = json!({"role": "user", "content": "Weather?"});
    let function = |arguments: Value| json!({"name": "get_weather", "arguments": arguments});
    let schema = json!({"type": "object", "properties": {"city": {"type": "string"}}});
    let (text, city) = (r#"{"city":"Paris"}"#, json!({"city": "Paris"}));
    match path {
        "/v1/messages" => {
            let calls =
                said["content"].as_array().unwrap().iter().filter(|block| block["type"] == "tool_use");
            let call = calls.into_iter().next().unwrap();
            let result = json!({"type": "tool_result", "tool_use_id": call["id"], "content": "12"});
            json!({"model": "m", "max_tokens": 99, "tools": [{"name": "get_weather", "input_schema": schema}],
                "messages": [user, {"role": "assistant", "content": [call]}, {"role": "user", "content": [result]}]})
        }
        "/v1/responses" => {
            let items = said["output"].as_array().unwrap().iter();
            let call = items.clone().find(|item| item["type"] == "function_call").unwrap();
            let result = json!({"type": "function_call_output", "call_id": call["call_id"], "output": "12"});
            json!({"model": "m", "input": [user, call, result], "store": false,
                "tools": [{"type": "function", "name": "get_weather", "parameters": schema}]})
        }
        "/api/chat" => {
            let call = &said["message"]["tool_calls"][0];
            let call = json!({"id": call["id"], "function": function(city)});
            json!({"model": "m", "stream": false, "tools": [tool("get_weather")], "messages": [user,
                {"role": "assistant", "content": "", "tool_calls": [call]}, {"role": "tool", "content": "12"}]})
        }
        _ => {
            let id = &said["choices"][0]["message"]["tool_calls"][0]["id"];
            let call = json!({"id": id, "type": "function", "function": function(json!(text))});
            with(
                weather(),
                json!({"messages": [user, {"role": "assistant", "content": null, "tool_calls": [call]},
                {"role": "tool", "tool_call_id": id, "content": "12"}]}),
            )
        }
    }
}

/// The same before there was a call.
fn first(path: &str) -> Value {
    let said = json!({"content": [{"type": "tool_use"}], "output": [{"type": "function_call"}]});
    let mut body = next(path, &said);
    let said = if path == "/v1/responses" { "input" } else { "messages" };
    body[said].as_array_mut().unwrap().truncate(1);
    body
}

/// The last document of an answer, whole or streamed, that has a call in it.
async fn called(stand: &Stand, path: &str, stream: bool) -> Value {
    let body = with(first(path), json!({"stream": stream}));
    if !stream {
        return post(stand, path, &body).await;
    }
    let response = stand.request(Method::POST, path).body(body.to_string()).send().await.unwrap();
    let text = response.text().await.unwrap();
    let datas = text
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line.strip_prefix("data: ").unwrap_or(line)).ok());
    let mut found = datas.filter_map(|data| match path {
        "/v1/messages" if data["content_block"]["type"] == "tool_use" => Some(
            json!({"content": [with(data["content_block"].clone(), json!({"input": {"city": "Paris"}}))]}),
        ),
        "/v1/responses" if data["type"] == "response.completed" => Some(data["response"].clone()),
        "/api/chat" if data["message"]["tool_calls"].is_array() => Some(data),
        "/v1/chat/completions" if data.pointer("/choices/0/delta/tool_calls/0/id").is_some() => {
            Some(json!({"choices": [{"message": data["choices"][0]["delta"]}]}))
        }
        _ => None,
    });
    found.next().unwrap()
}

#[tokio::test]
async fn clients_of_other_apis_need_not_know_of_them() {
    for path in ["/v1/messages", "/v1/responses", "/api/chat"] {
        for stream in [false, true] {
            let stand = at(ServerApi::OpenAi, chat).await;
            let said = called(&stand, path, stream).await;
            post(&stand, path, &next(path, &said)).await;
            let past = &stand.model.last().body()["messages"][1];
            assert_eq!(
                past["tool_calls"][0]["extra_content"],
                sealed_call()["extra_content"],
                "{path} {past}"
            );
            assert_eq!(past["reasoning_details"], details(), "{path}");
        }
    }
}

/// What an Anthropic server thinks before it calls.
fn thoughts() -> Value {
    json!([{"type": "thinking", "thinking": "Hm.", "signature": "s"}, {"type": "redacted_thinking", "data": "d"}])
}

fn messages(seen: &Seen) -> Reply {
    let mut content = thoughts();
    content
        .as_array_mut()
        .unwrap()
        .push(json!({"type": "tool_use", "id": "c1", "name": "get_weather", "input": {"city": "Paris"}}));
    let whole =
        json!({"type": "message", "role": "assistant", "content": content, "stop_reason": "tool_use"});
    if seen.body()["stream"] != true {
        return Reply::Whole(200, "", whole.to_string());
    }
    let mut out =
        format!("data: {}\n\n", json!({"type": "message_start", "message": {"id": "m", "content": []}}));
    for (index, block) in content.as_array().unwrap().iter().enumerate() {
        let mut all = vec![json!({"type": "content_block_start", "index": index, "content_block": block})];
        all.push(json!({"type": "content_block_stop", "index": index}));
        out.extend(all.iter().map(|event| format!("data: {event}\n\n")));
    }
    let end = json!({"type": "message_delta", "delta": {"stop_reason": "tool_use"}});
    out.extend([end, json!({"type": "message_stop"})].map(|event| format!("data: {event}\n\n")));
    Reply::Stream(vec![out.into_bytes()], Then::End)
}

#[tokio::test]
async fn seals_go_back_to_an_anthropic_server_with_the_call() {
    for path in ["/v1/chat/completions", "/api/chat", "/v1/responses"] {
        for stream in [false, true] {
            let stand = at(ServerApi::Anthropic, messages).await;
            let said = called(&stand, path, stream).await;
            post(&stand, path, &next(path, &said)).await;
            let past = stand.model.last().body()["messages"][1]["content"].clone();
            assert_eq!(past.as_array().unwrap()[..2], thoughts().as_array().unwrap()[..], "{path} {stream}");
            // Another client's call of the same id is another call.
            let stand = at(ServerApi::Anthropic, messages).await;
            post(&stand, path, &next(path, &said)).await;
            assert_eq!(stand.model.last().body()["messages"][1]["content"][0]["type"], "tool_use");
        }
    }
}

#[tokio::test]
async fn a_client_of_chats_gets_seals_itself() {
    let stand = Stand::with(Model::new(messages), |settings| {
        settings.routes[0].upstreams[0].api = ServerApi::Anthropic;
        settings.memory = 0;
    })
    .await;
    let mut said = stand.message(&weather()).await;
    assert_eq!(said["thinking_blocks"], thoughts());
    said["content"] = json!("");
    let result = json!({"role": "tool", "tool_call_id": "c1", "content": "12"});
    let body = with(weather(), json!({"messages": [{"role": "user", "content": "Weather?"}, said, result]}));
    stand.message(&body).await;
    let past = stand.model.last().body()["messages"][1]["content"].clone();
    assert_eq!(past.as_array().unwrap()[..2], thoughts().as_array().unwrap()[..]);
    let response = stand.post(&streamed(weather())).send().await.unwrap();
    let all = events(&response.text().await.unwrap());
    let told = all.iter().filter_map(|event| event.pointer("/choices/0/delta/thinking_blocks/0").cloned());
    assert_eq!(told.collect::<Value>(), thoughts());
}

/// Asks for a definition first, and thinks before it does.
fn asking(seen: &Seen) -> Reply {
    let mut call = sealed_call();
    if !seen.body().to_string().contains("city") {
        call["function"] = json!({"name": "request_tools", "arguments": r#"{"query":"get_weather"}"#});
    }
    let message = json!({"role": "assistant", "content": null, "reasoning_content": "Hm.",
        "reasoning_details": details(), "tool_calls": [call]});
    if seen.body()["stream"] != true {
        return Reply::Whole(200, "", completion(&message, "tool_calls").to_string());
    }
    let all = [event(&message, None), event(&json!({}), Some("tool_calls")), "data: [DONE]\n\n".to_owned()];
    Reply::Stream(vec![all.concat().into_bytes()], Then::End)
}

#[tokio::test]
async fn a_round_for_a_definition_has_what_the_model_thought() {
    for stream in [false, true] {
        let stand =
            Stand::with(Model::new(asking), |settings| settings.routes[0].tools_mode = ToolsMode::Hybrid)
                .await;
        let user = json!([{"role": "user", "content": "How is the weather?"}]);
        let body = with(weather(), json!({"messages": user, "stream": stream}));
        stand.post(&body).send().await.unwrap().text().await.unwrap();
        let past = &stand.model.last().body()["messages"][1];
        assert_eq!(
            json!([
                past["reasoning_content"],
                past["reasoning_details"],
                past["tool_calls"][0]["extra_content"]
            ]),
            json!(["Hm.", details(), sealed_call()["extra_content"]]),
            "{stream} {past}"
        );
    }
}
