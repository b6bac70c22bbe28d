//! Answers that fail before their first word: nobody has heard of them, so they are no answers.

use std::time::Duration;

use del_proxy::{ServerApi, Settings};
use reqwest::Method;
use serde_json::{Value, json};

use crate::model::{Model, Reply, Seen, Then, event};
use crate::stand::{Stand, assembled, document, events, route, streamed, tool, until, weather, with};

const APIS: [ServerApi; 4] =
    [ServerApi::OpenAi, ServerApi::Anthropic, ServerApi::Responses, ServerApi::Ollama];

/// What a server of this API says before the first word of a stream.
fn silent(api: ServerApi) -> Vec<u8> {
    let of_type = |event: &Value| format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap());
    match api {
        ServerApi::OpenAi => {
            let filter = json!({"id": "x", "choices": [], "prompt_filter_results": []});
            let role = event(&json!({"role": "assistant", "content": "", "refusal": null}), None);
            format!("data: {filter}\n\n{role}")
        }
        ServerApi::Anthropic => [
            json!({"type": "message_start", "message": {"id": "m", "model": "c", "usage": {"input_tokens": 1}}}),
            json!({"type": "ping"}),
            json!({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}),
        ]
        .map(|event| of_type(&event))
        .concat(),
        ServerApi::Responses => {
            // The request is in it, twice, and that may be long.
            let response = json!({"id": "r", "model": "m", "status": "in_progress", "output": [],
                "instructions": "Be brief. ".repeat(9000)});
            ["response.created", "response.in_progress"]
                .map(|kind| of_type(&json!({"type": kind, "response": response})))
                .concat()
        }
        ServerApi::Ollama => {
            let line = json!({"model": "m", "message": {"role": "assistant", "content": ""}, "done": false});
            format!("{line}\n")
        }
    }
    .into_bytes()
}

/// A word in the stream of such a server.
fn word(api: ServerApi, text: &str) -> Vec<u8> {
    let line = |event: Value| format!("data: {event}\n\n");
    match api {
        ServerApi::OpenAi => event(&json!({"content": text}), None),
        ServerApi::Anthropic => line(
            json!({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": text}}),
        ),
        ServerApi::Responses => {
            line(json!({"type": "response.output_text.delta", "output_index": 0, "delta": text}))
        }
        ServerApi::Ollama => {
            let line =
                json!({"model": "m", "message": {"role": "assistant", "content": text}, "done": false});
            format!("{line}\n")
        }
    }
    .into_bytes()
}

/// How such a stream ends well.
fn end(api: ServerApi) -> Vec<u8> {
    let line = |event: Value| format!("data: {event}\n\n");
    match api {
        ServerApi::OpenAi => event(&json!({}), Some("stop")) + "data: [DONE]\n\n",
        ServerApi::Anthropic => {
            line(json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"}}))
                + &line(json!({"type": "message_stop"}))
        }
        ServerApi::Responses => {
            line(json!({"type": "response.completed", "response": {"status": "completed"}}))
        }
        ServerApi::Ollama => {
            let end = json!({"model": "m", "message": {"content": ""}, "done": true, "done_reason": "stop"});
            format!("{end}\n")
        }
    }
    .into_bytes()
}

/// How a server of this API says that it gives up.
fn error(api: ServerApi, message: &str, code: u16) -> Vec<u8> {
    let kind = match code {
        429 => "rate_limit_error",
        400 => "invalid_request_error",
        _ => "overloaded_error",
    };
    let said = json!({"message": message, "type": kind});
    match api {
        ServerApi::OpenAi => format!("data: {}\n\n", json!({"error": {"message": message, "code": code}})),
        ServerApi::Anthropic => {
            format!("event: error\ndata: {}\n\n", json!({"type": "error", "error": said}))
        }
        ServerApi::Responses => {
            let response = json!({"status": "failed", "error": said});
            format!("data: {}\n\n", json!({"type": "response.failed", "response": response}))
        }
        ServerApi::Ollama => format!("{}\n", json!({"error": said})),
    }
    .into_bytes()
}

fn saying(pieces: Vec<Vec<u8>>, then: Then) -> Model {
    Model::saying(Reply::Stream(pieces, then))
}

fn working(api: ServerApi) -> Model {
    saying(vec![silent(api), word(api, "works"), end(api)], Then::End)
}

async fn stand(api: ServerApi, models: &[&Model]) -> Stand {
    set(api, models, |settings| settings.metrics = true).await
}

async fn set(api: ServerApi, models: &[&Model], set: impl FnOnce(&mut Settings)) -> Stand {
    Stand::with(Model::at(models[0].base.clone()), |settings| {
        settings.routes = vec![route(models)];
        settings.routes[0].upstreams.iter_mut().for_each(|upstream| upstream.api = api);
        set(settings);
    })
    .await
}

/// A request for a stream, and where a client of each API sends it.
fn clients() -> [(&'static str, Value); 4] {
    let user = json!([{"role": "user", "content": "Hi."}]);
    [
        ("/v1/chat/completions", streamed(weather())),
        ("/v1/messages", json!({"model": "m", "max_tokens": 9, "stream": true, "messages": user})),
        ("/v1/responses", json!({"model": "m", "stream": true, "input": "Hi."})),
        ("/api/chat", json!({"model": "m", "messages": user})),
    ]
}

#[tokio::test]
async fn another_server_is_asked_and_the_failure_counts() {
    for api in APIS {
        let said = |end: Vec<u8>| vec![silent(api), end];
        for (pieces, then) in [
            (said(error(api, "overloaded", 529)), Then::End),
            (said(error(api, "slow down", 429)), Then::End),
            (said(Vec::new()), Then::Cut),
            (said(Vec::new()), Then::End),
            (vec![], Then::End),
            (vec![b"<html>".to_vec()], Then::End),
        ] {
            let case = format!(
                "{api:?} {:?} {then:?}",
                String::from_utf8_lossy(pieces.last().map_or(b"", |last| last))
            );
            let (fails, works) = (saying(pieces, then), working(api));
            let stand = stand(api, &[&fails, &works]).await;
            for body in [weather(), json!({"model": "m", "messages": []})] {
                let told = stand.events(&streamed(body)).await;
                assert_eq!(assembled(&told).0, "works", "{case}");
            }
            let text = stand.get("/metrics").await.text().await.unwrap();
            assert!(text.contains("del_upstream_retries_total 1"), "{case}: {text}");
            assert!(text.contains("ended=\"answered\"} 2"), "{case}: {text}");
        }
    }
}

#[tokio::test]
async fn a_server_that_only_begins_is_left_alone() {
    for api in APIS {
        let (fails, works) = (saying(vec![silent(api)], Then::Cut), working(api));
        let stand = stand(api, &[&fails, &works]).await;
        for _ in 0..8 {
            assert_eq!(assembled(&stand.events(&streamed(weather())).await).0, "works");
        }
        let text = stand.get("/metrics").await.text().await.unwrap();
        assert!(text.contains(&format!("del_upstream_up{{upstream=\"{}\"}} 0", fails.base)), "{text}");
    }
}

#[tokio::test]
async fn where_no_other_server_is_left_it_is_an_error_with_a_status() {
    let broken = "broke off before the first word of its answer: ";
    for api in APIS {
        for (last, then, status, says) in [
            (error(api, "slow down", 429), Then::End, 429, "slow down"),
            (error(api, "no such thing", 400), Then::End, 400, "no such thing"),
            (Vec::new(), Then::Cut, 502, broken),
            (Vec::new(), Then::End, 502, "broke off before the first word of its answer: it ended"),
            (Vec::new(), Then::Silence, 504, "did not answer in time: nothing came for too long"),
        ] {
            let stand = set(api, &[&saying(vec![silent(api), last], then)], |settings| {
                settings.routes[0].upstreams[0].between_bytes = Duration::from_millis(200);
            })
            .await;
            for (path, body) in clients() {
                let response = stand.request(Method::POST, path).body(body.to_string()).send().await.unwrap();
                assert_eq!(response.status(), status, "{api:?} {path} {then:?}");
                let error = document(response).await;
                let message = match path {
                    "/api/chat" => &error["error"],
                    "/v1/messages" => {
                        assert_eq!(error["type"], "error", "{error}");
                        &error["error"]["message"]
                    }
                    _ => &error["error"]["message"],
                };
                assert!(
                    message.as_str().is_some_and(|message| message.contains(says)),
                    "{api:?} {path}: {error}"
                );
            }
        }
    }
}

#[tokio::test]
async fn a_refusal_of_tools_behind_a_beginning_means_the_prompt() {
    for api in APIS {
        let call =
            "<tool_call>\n{\"name\": \"get_weather\", \"arguments\": {\"city\": \"Paris\"}}\n</tool_call>";
        let model = Model::new(move |seen: &Seen| {
            let last = match seen.body().get("tools") {
                Some(_) => [error(api, "gemma:2b does not support tools", 400)].concat(),
                None => [word(api, call), end(api)].concat(),
            };
            Reply::Stream(vec![silent(api), last], Then::End)
        });
        let stand = stand(api, &[&model]).await;
        let told = assembled(&stand.events(&streamed(weather())).await);
        assert_eq!(told.1, [("get_weather".to_owned(), "{\"city\": \"Paris\"}".to_owned())], "{api:?}");
        assert_eq!(model.seen().len(), 2);
    }
}

#[tokio::test]
async fn a_word_goes_out_when_it_comes_and_an_error_behind_it_is_an_event() {
    for api in APIS {
        for (path, body) in clients() {
            let stand = stand(api, &[&saying(vec![silent(api), word(api, "Once")], Then::Silence)]).await;
            let request = stand.request(Method::POST, path).body(body.to_string());
            let mut response = request.send().await.unwrap();
            until(&mut response, |text| text.contains("Once")).await;
            let last = error(api, "overloaded", 529);
            let stand =
                self::stand(api, &[&saying(vec![silent(api), word(api, "Once"), last], Then::End)]).await;
            let response = stand.request(Method::POST, path).body(body.to_string()).send().await.unwrap();
            assert_eq!(response.status(), 200, "{api:?} {path}");
            let text = response.text().await.unwrap();
            assert!(text.contains("Once") && text.contains("overloaded"), "{api:?} {path}: {text}");
        }
    }
}

#[tokio::test]
async fn a_client_that_waits_for_the_first_word_is_kept_waiting() {
    for api in APIS {
        for (path, body) in clients() {
            let sign = match path {
                "/api/chat" => continue,
                "/v1/messages" => "event: ping\n",
                _ => ": keep-alive\n\n",
            };
            let model = saying(vec![silent(api)], Then::Silence);
            let stand = set(api, &[&model], |settings| settings.keep_alive = Duration::from_millis(5)).await;
            let request = stand.request(Method::POST, path).body(body.to_string());
            let mut response = request.send().await.unwrap();
            assert_eq!(response.headers()["content-type"], "text/event-stream");
            until(&mut response, |text| text.matches(sign).count() >= 2).await;
        }
    }
}

#[tokio::test]
async fn how_far_a_server_is_with_the_prompt_is_told_meanwhile() {
    let progress = json!({"id": "x", "object": "chat.completion.chunk", "prompt_progress": {"total": 9, "processed": 3},
        "choices": [{"index": 0, "delta": {"role": "assistant", "content": null}, "finish_reason": null}]});
    let said = format!("data: {progress}\n\n").into_bytes();
    let stand = stand(ServerApi::OpenAi, &[&saying(vec![said], Then::Silence)]).await;
    for body in [weather(), json!({"model": "m", "messages": []})] {
        let mut response = stand.post(&streamed(body)).send().await.unwrap();
        let chunk = response.chunk().await.unwrap().unwrap();
        assert!(String::from_utf8_lossy(&chunk).contains("\"processed\":3"), "{chunk:?}");
    }
}

#[tokio::test]
async fn what_comes_before_the_first_word_stays_where_it_was() {
    let api = ServerApi::OpenAi;
    let all = [b": waits\n\n".to_vec(), silent(api), word(api, "Once"), end(api)];
    let stand = stand(api, &[&saying(all.to_vec(), Then::End)]).await;
    let plain = json!({"model": "m", "messages": [{"role": "user", "content": "Hi."}]});
    let text = stand.post(&streamed(plain)).send().await.unwrap().text().await.unwrap();
    assert_eq!(text.as_bytes(), all.concat());
    // What is read here has no comments of the server's.
    let with_tool = with(weather(), json!({"tools": [tool("f")]}));
    let text = stand.post(&streamed(with_tool)).send().await.unwrap().text().await.unwrap();
    assert_eq!(events(&text)[1]["choices"][0]["delta"]["role"], "assistant");
}
