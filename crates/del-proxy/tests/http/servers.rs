//! Servers that speak Anthropic's API, or Ollama's own.

use std::collections::BTreeSet;

use del_agent::ToolsMode;
use del_proxy::ServerApi;
use reqwest::Method;
use serde_json::{Value, json};

use crate::model::{Model, Reply, Then};
use crate::stand::{Stand, assembled, document, streamed, told, weather, with};

const HERMES: &str =
    "<tool_call>\n{\"name\": \"get_weather\", \"arguments\": {\"city\": \"Paris\"}}\n</tool_call>";

fn paris() -> Vec<(String, String)> {
    vec![("get_weather".to_owned(), "{\"city\": \"Paris\"}".to_owned())]
}

/// What an Anthropic server says: a thought with its seal, text and a call.
fn anthropic(seen: &crate::model::Seen) -> Reply {
    let call = json!({"type": "tool_use", "id": "t1", "name": "get_weather", "input": {"city": "Paris"}});
    let blocks = json!([{"type": "thinking", "thinking": "Hm.", "signature": "seal"}, {"type": "text", "text": "Well."}, call]);
    let usage = json!({"input_tokens": 3, "cache_read_input_tokens": 4, "output_tokens": 5});
    if seen.body()["stream"] != true {
        let body = json!({"id": "msg", "type": "message", "role": "assistant", "model": "c", "content": blocks,
            "stop_reason": "tool_use", "usage": usage});
        return Reply::Whole(200, "", body.to_string());
    }
    let start = |index: u8, block: Value| json!({"type": "content_block_start", "index": index, "content_block": block});
    let delta =
        |index: u8, delta: Value| json!({"type": "content_block_delta", "index": index, "delta": delta});
    let events = [
        json!({"type": "message_start", "message": {"id": "msg", "model": "c", "usage": usage}}),
        start(0, json!({"type": "thinking", "thinking": ""})),
        delta(0, json!({"type": "thinking_delta", "thinking": "Hm."})),
        delta(0, json!({"type": "signature_delta", "signature": "seal"})),
        json!({"type": "content_block_stop", "index": 0}),
        json!({"type": "ping"}),
        start(1, json!({"type": "text", "text": ""})),
        delta(1, json!({"type": "text_delta", "text": "Well."})),
        start(2, json!({"type": "tool_use", "id": "t1", "name": "get_weather", "input": {}})),
        delta(2, json!({"type": "input_json_delta", "partial_json": "{\"city\": "})),
        delta(2, json!({"type": "input_json_delta", "partial_json": "\"Paris\"}"})),
        json!({"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 5}}),
        json!({"type": "message_stop"}),
    ];
    let events = events.map(|event| format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap()));
    Reply::Stream(events.map(String::into_bytes).to_vec(), Then::End)
}

#[tokio::test]
async fn a_server_may_speak_anthropics_api() {
    let stand = Stand::with(Model::new(anthropic), |settings| {
        settings.routes[0].upstreams[0].api = ServerApi::Anthropic;
    })
    .await;
    let answer = stand.ask(&with(weather(), json!({"tool_choice": "required", "stop": "x", "own": 1}))).await;
    assert_eq!(
        told(&answer),
        (
            "Well.".to_owned(),
            vec![("get_weather".to_owned(), "{\"city\": \"Paris\"}".replace(' ', ""))],
            "tool_calls".to_owned()
        )
    );
    assert_eq!(
        (&answer["object"], &answer["usage"]["prompt_tokens"]),
        (&json!("chat.completion"), &json!(7))
    );
    assert_eq!(answer["choices"][0]["message"]["reasoning_content"], "Hm.");
    let seen = stand.model.last();
    assert_eq!((seen.path.as_str(), seen.header("anthropic-version")), ("/v1/messages", Some("2023-06-01")));
    let sent = seen.body();
    assert_eq!((&sent["tool_choice"]["type"], &sent["stop_sequences"]), (&json!("any"), &json!(["x"])));
    assert!(
        sent.get("own").is_none()
            && sent["max_tokens"].is_u64()
            && sent["tools"][0]["input_schema"].is_object()
    );
    let events = stand.events(&streamed(weather())).await;
    assert_eq!(assembled(&events).1, paris());
    assert!(events.iter().all(|event| event.is_null() || event["object"] == "chat.completion.chunk"));

    // The seal of a thought comes back with it.
    let body = json!({"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "Weather?"}],
        "tools": [{"name": "get_weather", "input_schema": {"type": "object"}}]});
    let ask = |body: Value| stand.request(Method::POST, "/v1/messages").body(body.to_string()).send();
    let message = document(ask(body.clone()).await.unwrap()).await;
    assert_eq!(message["content"][0], json!({"type": "thinking", "thinking": "Hm.", "signature": "seal"}));
    let text = ask(streamed(body.clone())).await.unwrap().text().await.unwrap();
    assert!(text.contains("signature_delta") && text.contains("\"stop_reason\":\"tool_use\""), "{text}");
    let result =
        json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": "rain"}]});
    let next = json!([{"role": "user", "content": "Weather?"}, {"role": "assistant", "content": message["content"]}, result]);
    ask(with(body, json!({"messages": next}))).await.unwrap();
    let sent = stand.model.last().body();
    assert_eq!(sent["messages"][1]["content"], message["content"]);
    assert_eq!(sent["messages"][2]["content"][0]["tool_use_id"], "t1");
}

#[tokio::test]
async fn a_server_may_speak_ollamas_api() {
    let model = Model::new(|seen| {
        let call = json!({"function": {"name": "get_weather", "arguments": {"city": "Paris"}}});
        let line = |message: Value, done: bool| json!({"model": "m", "message": message, "done": done, "done_reason": if done { json!("stop") } else { Value::Null }, "prompt_eval_count": 3, "eval_count": 4});
        if seen.body()["stream"] != true {
            return Reply::Whole(
                200,
                "",
                line(json!({"role": "assistant", "content": "", "tool_calls": [call]}), true).to_string(),
            );
        }
        let lines = [
            line(json!({"content": "We"}), false),
            line(json!({"content": "ll."}), false),
            line(json!({"content": "", "tool_calls": [call]}), false),
            line(json!({"content": ""}), true),
        ];
        Reply::Stream(lines.map(|line| format!("{line}\n").into_bytes()).to_vec(), Then::End)
    });
    let stand = Stand::with(model, |settings| settings.routes[0].upstreams[0].api = ServerApi::Ollama).await;
    let spelled = vec![("get_weather".to_owned(), "{\"city\":\"Paris\"}".to_owned())];
    let image = json!({"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}});
    let body = with(
        weather(),
        json!({"max_tokens": 7, "response_format": {"type": "json_object"}, "messages": [
        {"role": "user", "content": [{"type": "text", "text": "See."}, image]},
        {"role": "assistant", "content": "", "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "get_weather", "arguments": "{\"city\":\"Rome\"}"}}]},
        {"role": "tool", "tool_call_id": "c1", "content": "rain"}]}),
    );
    let answer = stand.ask(&body).await;
    assert_eq!((told(&answer).1, &answer["usage"]["completion_tokens"]), (spelled.clone(), &json!(4)));
    let seen = stand.model.last();
    let sent = seen.body();
    assert_eq!(seen.path, "/api/chat");
    assert_eq!(
        (&sent["stream"], &sent["options"]["num_predict"], &sent["format"]),
        (&json!(false), &json!(7), &json!("json"))
    );
    assert_eq!(sent["messages"][0], json!({"role": "user", "content": "See.", "images": ["AAAA"]}));
    assert_eq!(sent["messages"][1]["tool_calls"][0]["function"]["arguments"], json!({"city": "Rome"}));
    assert_eq!(sent["messages"][2], json!({"role": "tool", "content": "rain", "tool_name": "get_weather"}));
    let (text, calls, finish) = assembled(&stand.events(&streamed(weather())).await);
    assert_eq!((text.as_str(), calls, finish.as_str()), ("Well.", spelled, "tool_calls"));
}

/// Its own API lies at the root, and that of OpenAI under `/v1`.
#[tokio::test]
async fn an_ollama_server_may_be_given_by_either_address() {
    for path in ["", "/v1"] {
        let model = Model::new(|seen| match seen.path.as_str() {
            "/api/chat" => {
                Reply::Whole(200, "", json!({"message": {"content": "Yes."}, "done": true}).to_string())
            }
            "/v1/models" => Reply::Whole(200, "", json!({"data": [{"id": "m"}]}).to_string()),
            _ => Reply::Whole(404, "", String::new()),
        });
        let address = model.base.trim_end_matches("/v1").to_owned() + path;
        let stand = Stand::with(model, |settings| {
            let mut upstream = crate::stand::upstream(&address);
            upstream.api = ServerApi::Ollama;
            settings.routes[0].upstreams[0] = upstream;
        })
        .await;
        assert_eq!(told(&stand.ask(&weather()).await).0, "Yes.");
        assert_eq!(document(stand.get("/v1/models").await).await["data"][0]["id"], "m", "{path}");
        assert_eq!(document(stand.get("/health").await).await["upstream"]["status"], "ok", "{path}");
    }
}

/// Its clients divide tokens by these.
#[tokio::test]
async fn ollamas_clients_see_how_long_it_took() {
    let times = ["total_duration", "load_duration", "prompt_eval_duration", "eval_duration"];
    let model = Model::new(move |seen| {
        let mut last =
            json!({"message": {"role": "assistant", "content": "Hi."}, "done": true, "done_reason": "stop"});
        for (place, name) in times.iter().enumerate() {
            last[*name] = json!(place + 7);
        }
        if seen.body()["stream"] == false {
            return Reply::Whole(200, "", last.to_string());
        }
        let first = json!({"message": {"role": "assistant", "content": "Oh. "}, "done": false});
        Reply::Stream([first, last].map(|line| format!("{line}\n").into_bytes()).to_vec(), Then::End)
    });
    let stand = Stand::with(model, |settings| settings.routes[0].upstreams[0].api = ServerApi::Ollama).await;
    for stream in [false, true] {
        let body = json!({"model": "m", "stream": stream, "messages": [{"role": "user", "content": "Hi."}]});
        let answer = stand.request(Method::POST, "/api/chat").body(body.to_string()).send().await.unwrap();
        let text = answer.text().await.unwrap();
        let last: Value = serde_json::from_str(text.lines().last().unwrap()).unwrap();
        assert_eq!(times.map(|name| last[name].as_u64()), [Some(7), Some(8), Some(9), Some(10)], "{text}");
    }
}

#[tokio::test]
async fn the_prompt_goes_to_servers_of_every_api() {
    for (api, said) in [
        (
            ServerApi::Anthropic,
            json!({"type": "message", "content": [{"type": "text", "text": HERMES}], "stop_reason": "end_turn"}),
        ),
        (ServerApi::Ollama, json!({"message": {"role": "assistant", "content": HERMES}, "done": true})),
    ] {
        let stand = Stand::with(Model::saying(Reply::Whole(200, "", said.to_string())), |settings| {
            settings.routes[0].upstreams[0].api = api;
            settings.routes[0].tools_mode = ToolsMode::Prompt;
        })
        .await;
        assert_eq!(told(&stand.ask(&weather()).await).1, paris());
        let sent = stand.model.last().body();
        assert!(sent.get("tools").is_none() && sent.to_string().contains("get_weather"), "{sent}");
    }
}

#[tokio::test]
async fn a_call_that_anthropics_limit_cut_is_none() {
    for input in [json!({}), json!({"city": "Par"})] {
        let model = Model::new(move |_| {
            let content = json!([{"type": "text", "text": "Well."},
                {"type": "tool_use", "id": "t1", "name": "get_weather", "input": input}]);
            let body = json!({"id": "msg", "type": "message", "role": "assistant", "model": "c", "content": content,
                "stop_reason": "max_tokens", "usage": {"input_tokens": 3, "output_tokens": 5}});
            Reply::Whole(200, "", body.to_string())
        });
        let stand =
            Stand::with(model, |settings| settings.routes[0].upstreams[0].api = ServerApi::Anthropic).await;
        let answer = stand.ask(&weather()).await;
        assert_eq!(told(&answer), ("Well.".to_owned(), Vec::new(), "length".to_owned()));
    }
}

#[tokio::test]
async fn blocks_of_anthropics_streams_follow_one_another() {
    let model = Model::new(|_| {
        let call = |function: Value| json!({"tool_calls": [{"index": 0, "id": "c1", "function": function}]});
        let deltas = [
            call(json!({"name": "get_weather", "arguments": "{\"city\""})),
            call(json!({"arguments": ": \"Paris\"}"})),
            json!({"content": "I asked."}),
        ];
        let mut pieces: Vec<Vec<u8>> =
            deltas.iter().map(|delta| crate::model::event(delta, None).into_bytes()).collect();
        pieces.push(crate::model::event(&json!({}), Some("tool_calls")).into_bytes());
        pieces.push(b"data: [DONE]\n\n".to_vec());
        Reply::Stream(pieces, Then::End)
    });
    let stand = Stand::new(model).await;
    let body = json!({"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "Weather?"}],
        "stream": true, "tools": [{"name": "get_weather", "input_schema": {"type": "object"}}]});
    let sent = stand.request(Method::POST, "/v1/messages").body(body.to_string()).send();
    let text = sent.await.unwrap().text().await.unwrap();
    let kinds: Vec<&str> = text
        .lines()
        .filter_map(|line| line.strip_prefix("event: content_block_"))
        .filter(|kind| *kind != "delta")
        .collect();
    assert_eq!(kinds, ["start", "stop", "start", "stop"], "{text}");
}

#[tokio::test]
async fn each_answer_to_a_chat_has_an_id_of_its_own() {
    let line =
        |done: bool| json!({"model": "m", "message": {"role": "assistant", "content": "Hi."}, "done": done});
    let model = Model::new(move |seen| {
        if seen.body()["stream"] == true {
            let lines = format!("{}\n{}\n", line(false), line(true));
            return Reply::Stream(vec![lines.into_bytes()], Then::End);
        }
        Reply::Whole(200, "", line(true).to_string())
    });
    let stand = Stand::with(model, |settings| settings.routes[0].upstreams[0].api = ServerApi::Ollama).await;
    let mut ids = BTreeSet::new();
    for _ in 0..2 {
        ids.insert(stand.ask(&weather()).await["id"].to_string());
        let events = stand.events(&with(weather(), json!({"stream": true}))).await;
        let of_stream: BTreeSet<String> =
            events.iter().filter_map(|event| event.get("id")).map(Value::to_string).collect();
        assert_eq!(of_stream.len(), 1);
        ids.extend(of_stream);
    }
    assert_eq!(ids.len(), 4);
    assert!(ids.iter().all(|id| id.starts_with("\"chatcmpl-")), "{ids:?}");
}
