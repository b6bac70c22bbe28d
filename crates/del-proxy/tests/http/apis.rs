//! The APIs beside chat completions, over real sockets: what the server is asked, and what clients get.

use del_agent::ToolsMode;
use del_proxy::ServerApi;
use reqwest::{Method, Response};
use serde_json::{Value, json};

use crate::model::{Model, Reply, Then, completion, event, says};
use crate::stand::{Stand, document};

const HERMES: &str =
    "Well.\n<tool_call>\n{\"name\": \"get_weather\", \"arguments\": {\"city\": \"Paris\"}}\n</tool_call>";
const SCHEMA: &str =
    r#"{"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}"#;

fn schema() -> Value {
    serde_json::from_str(SCHEMA).unwrap()
}

fn hermes() -> Model {
    Model::new(|seen| says(seen, HERMES, 4))
}

async fn post(stand: &Stand, path: &str, body: &Value) -> Response {
    stand.request(Method::POST, path).body(body.to_string()).send().await.unwrap()
}

async fn ask(stand: &Stand, path: &str, body: &Value) -> Value {
    let response = post(stand, path, body).await;
    assert_eq!(response.status(), 200);
    document(response).await
}

fn anthropic(messages: &Value) -> Value {
    json!({"model": "m", "max_tokens": 100, "messages": messages, "system": [{"type": "text", "text": "Be brief."}],
        "stop_sequences": ["x"], "top_k": 3, "own": 1,
        "tools": [{"name": "get_weather", "description": "W.", "input_schema": schema()}]})
}

#[tokio::test]
async fn a_message_of_anthropics_api_becomes_a_completion_and_back() {
    let stand = Stand::new(hermes()).await;
    let image =
        json!({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"}});
    let messages = json!([
        {"role": "user", "content": [{"type": "text", "text": "See."}, image]},
        {"role": "assistant", "content": [
            {"type": "thinking", "thinking": "Hm.", "signature": ""}, {"type": "text", "text": "Yes."},
            {"type": "tool_use", "id": "t1", "name": "get_weather", "input": {"city": "Rome"}}]},
        {"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": "t1", "is_error": true, "content": [{"type": "text", "text": "no such city"}, image]},
            {"type": "text", "text": "And Paris?"}]},
    ]);
    let answer = ask(&stand, "/v1/messages", &anthropic(&messages)).await;
    assert_eq!((&answer["stop_reason"], &answer["type"]), (&json!("tool_use"), &json!("message")));
    assert_eq!(answer["content"][0], json!({"type": "text", "text": "Well."}));
    assert_eq!(answer["content"][1]["input"], json!({"city": "Paris"}));
    assert_eq!(answer["usage"]["output_tokens"], 2);
    let sent = stand.model.last().body();
    let url = json!({"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}});
    assert_eq!(
        sent["messages"],
        json!([
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": [{"type": "text", "text": "See."}, url]},
            {"role": "assistant", "content": "Yes.", "reasoning_content": "Hm.", "tool_calls": [{"id": "t1",
                "type": "function", "function": {"name": "get_weather", "arguments": "{\"city\":\"Rome\"}"}}]},
            {"role": "tool", "tool_call_id": "t1", "content": "Error: no such city"},
            {"role": "user", "content": [url, {"type": "text", "text": "And Paris?"}]},
        ])
    );
    assert_eq!((&sent["stop"], &sent["top_k"], &sent["own"]), (&json!(["x"]), &json!(3), &json!(1)));
    assert_eq!(sent["tools"][0]["function"]["parameters"], schema());
    assert!(sent.get("system").is_none() && sent.get("stop_sequences").is_none());
}

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

fn responses(input: &Value) -> Value {
    let tool =
        json!({"type": "function", "name": "get_weather", "description": "W.", "parameters": schema()});
    json!({"model": "m", "instructions": "Be brief.", "input": input, "tools": [tool], "max_output_tokens": 9,
        "reasoning": {"effort": "low"}, "text": {"format": {"type": "json_object"}}, "seed": 1})
}

#[tokio::test]
async fn a_response_goes_on_with_an_earlier_one() {
    let stand = Stand::new(hermes()).await;
    for stream in [false, true] {
        let mut body = responses(&json!("Weather in Paris?"));
        body["stream"] = json!(stream);
        let first = if stream {
            let text = post(&stand, "/v1/responses", &body).await.text().await.unwrap();
            let last = text.trim_end().rsplit("data: ").next().unwrap();
            serde_json::from_str::<Value>(last).unwrap()["response"].clone()
        } else {
            ask(&stand, "/v1/responses", &body).await
        };
        assert_eq!((&first["status"], &first["instructions"]), (&json!("completed"), &json!("Be brief.")));
        let call = &first["output"][1];
        let output = json!([{"type": "function_call_output", "call_id": call["call_id"], "output": "sunny"}]);
        let mut next = responses(&output);
        next["previous_response_id"] = first["id"].clone();
        next["instructions"] = json!("Be long.");
        let second = ask(&stand, "/v1/responses", &next).await;
        assert_eq!(second["previous_response_id"], first["id"]);
        let sent = stand.model.last().body();
        let function = json!({"name": "get_weather", "arguments": "{\"city\": \"Paris\"}"});
        let calls = json!([{"id": call["call_id"], "type": "function", "function": function}]);
        assert_eq!(
            sent["messages"],
            json!([
                {"role": "system", "content": "Be long."},
                {"role": "user", "content": "Weather in Paris?"},
                {"role": "assistant", "content": "Well.", "tool_calls": calls},
                {"role": "tool", "tool_call_id": call["call_id"], "content": "sunny"},
            ])
        );
        assert_eq!((&sent["max_tokens"], &sent["reasoning_effort"]), (&json!(9), &json!("low")));
        assert_eq!((&sent["response_format"]["type"], &sent["seed"]), (&json!("json_object"), &json!(1)));
    }
}

#[tokio::test]
async fn items_of_an_earlier_response_are_known_by_their_ids() {
    let stand = Stand::new(hermes()).await;
    for stream in [false, true] {
        let mut body = responses(&json!("Weather in Paris?"));
        body["stream"] = json!(stream);
        let answer = post(&stand, "/v1/responses", &body).await.text().await.unwrap();
        let last = answer.trim_end().rsplit("data: ").next().unwrap();
        let last: Value = serde_json::from_str(last).unwrap();
        let response = last.get("response").unwrap_or(&last);
        let mut input = vec![json!({"role": "user", "content": "Weather in Paris?"})];
        let items = response["output"].as_array().unwrap();
        input.extend(items.iter().map(|item| json!({"type": "item_reference", "id": item["id"]})));
        let id = &items[1]["call_id"];
        input.push(json!({"type": "function_call_output", "call_id": id, "output": "sunny"}));
        ask(&stand, "/v1/responses", &responses(&json!(input))).await;
        let function = json!({"name": "get_weather", "arguments": "{\"city\": \"Paris\"}"});
        assert_eq!(
            stand.model.last().body()["messages"][2],
            json!({"role": "assistant", "content": "Well.",
                "tool_calls": [{"id": id, "type": "function", "function": function}]})
        );
    }
    let unknown = responses(&json!([{"type": "item_reference", "id": "msg_1_0"}]));
    let refused = post(&stand, "/v1/responses", &unknown).await;
    assert_eq!(refused.status(), 400);
    let error = document(refused).await["error"]["message"].as_str().unwrap().to_owned();
    assert!(error.contains("the id of one that is kept here") && error.contains("msg_1_0"), "{error}");
}

/// A server whose calls have these arguments, in pieces.
fn native(arguments: &'static str) -> Model {
    Model::new(move |seen| {
        let call = |index: Option<u32>, name: Option<&str>, arguments: &str| {
            let function = json!({"name": name, "arguments": arguments});
            json!({"role": "assistant", "content": null, "tool_calls": [
                {"index": index, "id": name.map(|_| "c1"), "type": "function", "function": function}]})
        };
        if seen.body()["stream"] != true {
            let message = call(None, Some("get_weather"), arguments);
            return Reply::Whole(200, "", completion(&message, "tool_calls").to_string());
        }
        let first = event(&call(Some(0), Some("get_weather"), ""), None);
        let pieces = arguments
            .as_bytes()
            .chunks(3)
            .map(|piece| event(&call(Some(0), None, std::str::from_utf8(piece).unwrap()), None));
        let events: String = std::iter::once(first).chain(pieces).collect();
        let all = format!("{events}{}data: [DONE]\n\n", event(&json!({}), Some("tool_calls")));
        Reply::Stream(vec![all.into_bytes()], Then::End)
    })
}

/// The arguments of the call in an answer of any API, streamed or whole.
fn arguments_in(text: &str, path: &str) -> Value {
    let data = text.lines().filter_map(|line| serde_json::from_str(line.trim_start_matches("data: ")).ok());
    let (mut joined, mut object) = (String::new(), Value::Null);
    for event in data.collect::<Vec<Value>>() {
        let found = match path {
            "/v1/chat/completions" => [
                "/choices/0/message/tool_calls/0/function/arguments",
                "/choices/0/delta/tool_calls/0/function/arguments",
            ],
            "/v1/responses" => ["/output/0/arguments", "/arguments"],
            "/v1/messages" => ["/content/0/input", "/delta/partial_json"],
            _ => ["/message/tool_calls/0/function/arguments", "/none"],
        };
        for value in found.iter().filter_map(|pointer| event.pointer(pointer)) {
            match value {
                Value::String(piece) => joined.push_str(piece),
                other => object = other.clone(),
            }
        }
    }
    if joined.is_empty() { object } else { serde_json::from_str(&joined).unwrap_or(json!(joined)) }
}

#[tokio::test]
async fn broken_arguments_of_native_calls_are_mended_and_guesses_are_told_in_each_api() {
    for (broken, mended, guessed) in [
        ("{'city': 'Paris'}", json!({"city": "Paris"}), false),
        (r#"{"city": "Paris""#, json!({"city": "Paris"}), false),
        (r#"{"city": "Paris", "now": True}"#, json!({"city": "Paris", "now": true}), true),
    ] {
        let stand = Stand::new(native(broken)).await;
        for (path, body) in [
            ("/v1/chat/completions", crate::stand::weather()),
            ("/v1/messages", anthropic(&json!([{"role": "user", "content": "Hi."}]))),
            ("/v1/responses", responses(&json!("Hi."))),
            (
                "/api/chat",
                json!({"model": "m", "tools": [crate::stand::tool("get_weather")],
                "messages": [{"role": "user", "content": "Hi."}]}),
            ),
        ] {
            for stream in [false, true] {
                let mut body = body.clone();
                body["stream"] = json!(stream);
                let response = post(&stand, path, &body).await;
                let header = response.headers().contains_key("x-del-changed-arguments");
                let text = response.text().await.unwrap();
                let told = header || text.contains(": x-del-changed-arguments");
                assert_eq!(arguments_in(&text, path), mended, "{path} {stream} {broken}: {text}");
                // Lines of JSON have no comments.
                assert_eq!(told, guessed && !(stream && path == "/api/chat"), "{path} {stream}: {text}");
            }
        }
    }
    let stand = Stand::new(native(r#"{"city": }"#)).await;
    let (_, calls, finish) = crate::stand::told(&stand.ask(&crate::stand::weather()).await);
    assert_eq!((calls, finish.as_str()), (Vec::new(), "length"));
}

#[tokio::test]
async fn nothing_is_kept_where_the_memory_is_off_or_the_client_says_so() {
    for (memory, store) in [(0, true), (1 << 20, false)] {
        let stand = Stand::with(hermes(), |settings| settings.memory = memory).await;
        let mut body = responses(&json!("Hi."));
        body["store"] = json!(store);
        let first = ask(&stand, "/v1/responses", &body).await;
        body["previous_response_id"] = first["id"].clone();
        let response = post(&stand, "/v1/responses", &body).await;
        assert_eq!(response.status(), 400);
        let error = document(response).await["error"]["message"].as_str().unwrap().to_owned();
        assert!(error.starts_with("expected the id of an earlier response, got `resp_"), "{error}");
    }
}

#[tokio::test]
async fn items_of_a_response_become_messages() {
    let stand = Stand::new(hermes()).await;
    let input = json!([
        {"role": "developer", "content": "Be kind."},
        {"role": "user", "content": [{"type": "input_text", "text": "See."}, {"type": "input_image", "image_url": "data:x", "detail": "low"}]},
        {"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": "Hm."}]},
        {"type": "function_call", "call_id": "c1", "name": "get_weather", "arguments": "{}"},
        {"type": "custom_tool_call", "call_id": "c2", "name": "patch", "input": "*** Begin"},
        {"type": "function_call_output", "call_id": "c1", "output": [{"type": "input_text", "text": "rain"}]},
        {"type": "custom_tool_call_output", "call_id": "c2", "output": "done"},
        {"type": "web_search_call", "id": "ws"},
    ]);
    ask(&stand, "/v1/responses", &responses(&input)).await;
    let call = |id: &str, name: &str, arguments: &str| json!({"id": id, "type": "function", "function": {"name": name, "arguments": arguments}});
    assert_eq!(
        stand.model.last().body()["messages"],
        json!([
            {"role": "system", "content": "Be brief.\n\nBe kind."},
            {"role": "user", "content": [{"type": "text", "text": "See."}, {"type": "image_url", "image_url": {"url": "data:x", "detail": "low"}}]},
            {"role": "assistant", "content": "", "reasoning_content": "Hm.", "tool_calls": [
                call("c1", "get_weather", "{}"), call("c2", "patch", "{\"input\":\"*** Begin\"}")]},
            {"role": "tool", "tool_call_id": "c1", "content": "rain"},
            {"role": "tool", "tool_call_id": "c2", "content": "done"},
        ])
    );
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
        let body = json!({"model": "m", "messages": [{"role": "user", "content": "Do."}],
            "tools": [{"type": "custom", "custom": {"name": "patch"}}]});
        let call = &stand.message(&body).await["tool_calls"][0];
        assert_eq!(
            (&call["type"], &call["custom"]["input"]),
            (&json!("custom"), &json!("*** Begin\n*** End"))
        );
    }
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
async fn ollamas_clients_are_answered_in_lines() {
    let stand = Stand::new(hermes()).await;
    let tools = json!([crate::stand::tool("get_weather")]);
    let body = json!({"model": "m", "tools": tools, "options": {"num_predict": 5, "seed": 2}, "format": "json", "messages": [
        {"role": "user", "content": "See.", "images": ["/9jAAA"]},
        {"role": "assistant", "content": "", "tool_calls": [{"function": {"name": "get_weather", "arguments": {"city": "Rome"}}}]},
        {"role": "tool", "tool_name": "get_weather", "content": "rain"}]});
    let text = post(&stand, "/api/chat", &body).await.text().await.unwrap();
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let call = lines.iter().find_map(|line| line["message"]["tool_calls"].get(0)).unwrap();
    assert_eq!(call["function"]["arguments"], json!({"city": "Paris"}));
    assert_eq!(
        (&lines.last().unwrap()["done"], &lines.last().unwrap()["done_reason"]),
        (&json!(true), &json!("stop"))
    );
    let sent = stand.model.last().body();
    assert_eq!((&sent["max_tokens"], &sent["seed"], &sent["stream"]), (&json!(5), &json!(2), &json!(true)));
    assert_eq!(sent["response_format"]["type"], "json_object");
    assert_eq!(sent["messages"][0]["content"][1]["image_url"]["url"], "data:image/jpeg;base64,/9jAAA");
    assert_eq!(sent["messages"][1]["tool_calls"][0]["id"], sent["messages"][2]["tool_call_id"]);
    let body = json!({"model": "m", "prompt": "Hi.", "system": "Be brief.", "stream": false});
    let answer = ask(&stand, "/api/generate", &body).await;
    assert_eq!((&answer["response"], &answer["done"]), (&json!(HERMES), &json!(true)));
    assert!(document(stand.get("/api/version").await).await["version"].is_string());
}

#[tokio::test]
async fn errors_have_the_shape_of_the_api_that_was_called() {
    let model = Model::saying(Reply::Whole(
        429,
        "retry-after: 7\r\n",
        r#"{"error": {"message": "slow down"}}"#.into(),
    ));
    let stand = Stand::new(model).await;
    let user = json!([{"role": "user", "content": "Hi."}]);
    let response = post(&stand, "/v1/messages", &anthropic(&user)).await;
    assert_eq!((response.status().as_u16(), response.headers()["retry-after"].to_str().unwrap()), (429, "7"));
    assert_eq!(response.headers()["request-id"], response.headers()["x-request-id"]);
    let error = json!({"type": "error", "error": {"type": "rate_limit_error", "message": "slow down"}});
    assert_eq!(document(response).await, error);
    let response = post(&stand, "/api/chat", &json!({"model": "m", "messages": user})).await;
    assert_eq!((response.status().as_u16(), document(response).await), (429, json!({"error": "slow down"})));
    let response = post(&stand, "/v1/responses", &json!({"model": "m", "input": user})).await;
    assert_eq!(document(response).await["error"]["message"], "slow down");
    for (path, pointer) in [
        ("/v1/messages/nothing", "/error/type"),
        ("/api/nothing", "/error"),
        ("/v1/nothing", "/error/message"),
    ] {
        let response = stand.get(path).await;
        assert_eq!(response.status(), 404);
        assert!(document(response).await.pointer(pointer).unwrap().is_string(), "{path}");
    }
    let nothing = post(&stand, "/v1/messages", &json!({"model": "m"})).await;
    assert_eq!((nothing.status().as_u16(), &document(nothing).await["type"]), (400, &json!("error")));
}

#[tokio::test]
async fn a_stream_that_breaks_off_says_so_in_each_api() {
    for (path, body, last) in [
        ("/v1/messages", anthropic(&json!([{"role": "user", "content": "Hi."}])), "event: error\ndata: "),
        ("/v1/responses", responses(&json!("Hi.")), "event: response.failed\ndata: "),
        ("/api/chat", json!({"model": "m", "messages": [{"role": "user", "content": "Hi."}]}), "\n"),
    ] {
        let begun = event(&json!({"content": "Let me"}), None).into_bytes();
        let stand = Stand::new(Model::saying(Reply::Stream(vec![begun], Then::Cut))).await;
        let mut body = body;
        body["stream"] = json!(true);
        let text = post(&stand, path, &body).await.text().await.unwrap();
        assert!(text.contains("Let me"), "{text}");
        let end = text.trim_end().rsplit_once(last).unwrap().1;
        assert!(end.contains("broke off") && serde_json::from_str::<Value>(end).is_ok(), "{end}");
    }
}

#[tokio::test]
async fn thinking_and_usage_have_their_places() {
    let message = json!({"role": "assistant", "content": "Yes.", "reasoning_content": "Hm."});
    let mut said = completion(&message, "length");
    said["usage"] = json!({"prompt_tokens": 9, "completion_tokens": 5, "prompt_tokens_details": {"cached_tokens": 4},
        "completion_tokens_details": {"reasoning_tokens": 2}});
    let stand = Stand::new(Model::saying(Reply::Whole(200, "", said.to_string()))).await;
    let answer = ask(&stand, "/v1/messages", &anthropic(&json!([{"role": "user", "content": "Hi."}]))).await;
    assert_eq!(answer["content"][0], json!({"type": "thinking", "thinking": "Hm.", "signature": ""}));
    assert_eq!((&answer["stop_reason"], &answer["usage"]["input_tokens"]), (&json!("max_tokens"), &json!(5)));
    assert_eq!(answer["usage"]["cache_read_input_tokens"], 4);
    let answer = ask(&stand, "/v1/responses", &responses(&json!("Hi."))).await;
    assert_eq!(answer["output"][0]["content"][0]["text"], "Hm.");
    assert_eq!(
        (&answer["status"], &answer["incomplete_details"]["reason"]),
        (&json!("incomplete"), &json!("max_output_tokens"))
    );
    assert_eq!(answer["usage"]["output_tokens_details"]["reasoning_tokens"], 2);
}

#[tokio::test]
async fn ollamas_clients_load_a_model_without_a_word() {
    let stand = Stand::new(hermes()).await;
    for (path, body) in [
        ("/api/generate", json!({"model": "m", "keep_alive": 0})),
        ("/api/generate", json!({"model": "m", "prompt": "", "system": "Be brief.", "stream": false})),
        ("/api/chat", json!({"model": "m", "messages": []})),
    ] {
        let line = ask(&stand, path, &body).await;
        assert_eq!(
            (&line["done"], &line["done_reason"], &line["model"]),
            (&json!(true), &json!("load"), &json!("m"))
        );
    }
    assert!(stand.model.seen().is_empty());
    // Where the server has models to load, it is told so.
    let said = json!({"model": "m", "message": {"role": "assistant", "content": ""}, "done": true, "done_reason": "load"});
    let stand = Stand::with(Model::saying(Reply::Whole(200, "", said.to_string())), |settings| {
        settings.routes[0].upstreams[0].api = ServerApi::Ollama;
    })
    .await;
    let line = ask(&stand, "/api/generate", &json!({"model": "m", "keep_alive": 0, "stream": false})).await;
    assert_eq!((&line["response"], &line["done_reason"]), (&json!(""), &json!("load")));
    let sent = stand.model.last().body();
    assert_eq!((&sent["messages"], &sent["keep_alive"]), (&json!([]), &json!(0)));
}

#[tokio::test]
async fn what_is_given_by_an_address_goes_on_and_what_is_by_an_id_is_refused() {
    let stand = Stand::new(hermes()).await;
    let responses = |part: Value| json!({"model": "m", "input": [{"role": "user", "content": [part]}]});
    let anthropic = |block: Value| json!({"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": [block]}]});
    for (path, body, sent) in [
        (
            "/v1/responses",
            responses(json!({"type": "input_file", "filename": "a.pdf", "file_url": "https://a/a.pdf"})),
            json!({"type": "file", "file": {"filename": "a.pdf", "file_data": "https://a/a.pdf"}}),
        ),
        (
            "/v1/responses",
            responses(json!({"type": "input_audio", "input_audio": {"data": "AA", "format": "wav"}})),
            json!({"type": "input_audio", "input_audio": {"data": "AA", "format": "wav"}}),
        ),
        (
            "/v1/messages",
            anthropic(json!({"type": "image", "source": {"type": "url", "url": "https://a/a.png"}})),
            json!({"type": "image_url", "image_url": {"url": "https://a/a.png"}}),
        ),
    ] {
        assert_eq!(post(&stand, path, &body).await.status(), 200);
        assert_eq!(stand.model.last().body()["messages"][0]["content"], json!([sent]));
    }
    let found = json!({"type": "search_result", "source": "https://a", "title": "A", "content": [{"type": "text", "text": "It rains."}]});
    assert_eq!(post(&stand, "/v1/messages", &anthropic(found)).await.status(), 200);
    assert_eq!(stand.model.last().body()["messages"][0]["content"], "A\nhttps://a\nIt rains.");
    let asked = stand.model.seen().len();
    for (path, body) in [
        ("/v1/responses", responses(json!({"type": "input_image", "file_id": "file_1"}))),
        ("/v1/responses", responses(json!({"type": "input_file", "file_id": "file_1"}))),
        (
            "/v1/messages",
            anthropic(json!({"type": "image", "source": {"type": "file", "file_id": "file_1"}})),
        ),
    ] {
        let response = post(&stand, path, &body).await;
        assert_eq!(response.status(), 400);
        assert!(response.text().await.unwrap().contains("file_1"));
    }
    assert_eq!(stand.model.seen().len(), asked);
}
