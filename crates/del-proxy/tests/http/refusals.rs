//! Answers in which a model does not do as it was asked, and the reasons for which answers end, in the words of each API.

use del_proxy::ServerApi;
use reqwest::Method;
use serde_json::{Value, json};

use crate::model::{Model, Reply, Seen, Then, completion, event};
use crate::stand::Stand;

async fn stand(api: ServerApi, said: fn(&Seen) -> Reply) -> Stand {
    Stand::with(Model::new(said), |settings| settings.routes[0].upstreams[0].api = api).await
}

/// The objects of an answer, streamed or whole.
async fn objects(stand: &Stand, path: &str, stream: bool, more: &Value) -> Vec<Value> {
    let mut body = json!({"model": "m", "stream": stream, "max_tokens": 9, "input": "Do.",
        "messages": [{"role": "user", "content": "Do."}]});
    for (name, value) in more.as_object().unwrap() {
        body[name] = value.clone();
    }
    if path == "/v1/responses" {
        body.as_object_mut().unwrap().shift_remove("messages");
    }
    let response = stand.request(Method::POST, path).body(body.to_string()).send().await.unwrap();
    assert_eq!(response.status(), 200);
    let text = response.text().await.unwrap();
    text.lines().filter_map(|line| serde_json::from_str(line.trim_start_matches("data: ")).ok()).collect()
}

/// All that is said in this member of the events.
fn said(events: &[Value], pointer: &str) -> String {
    events.iter().filter_map(|event| event.pointer(pointer)?.as_str()).collect()
}

fn chat(seen: &Seen) -> Reply {
    if seen.body()["stream"] != true {
        let message = json!({"role": "assistant", "content": null, "refusal": "I will not."});
        return Reply::Whole(200, "", completion(&message, "stop").to_string());
    }
    let words = ["I will", " not."].map(|word| event(&json!({"refusal": word}), None));
    let begin = event(&json!({"role": "assistant", "content": null, "refusal": null}), None);
    let end = event(&json!({}), Some("stop"));
    Reply::Stream(
        vec![[begin, words.concat(), end, "data: [DONE]\n\n".to_owned()].concat().into()],
        Then::End,
    )
}

fn responses(seen: &Seen) -> Reply {
    let part = json!({"type": "refusal", "refusal": "I will not."});
    let item = json!({"id": "msg", "type": "message", "role": "assistant", "content": [part]});
    let whole =
        json!({"id": "resp", "object": "response", "status": "completed", "model": "m", "output": [item]});
    if seen.body()["stream"] != true {
        return Reply::Whole(200, "", whole.to_string());
    }
    let word = |text: &str| json!({"type": "response.refusal.delta", "output_index": 0, "delta": text});
    let end = json!({"type": "response.completed", "response": whole});
    let events = [word("I will"), word(" not."), end].map(|event| format!("data: {event}\n\n"));
    Reply::Stream(vec![events.concat().into()], Then::End)
}

#[tokio::test]
async fn a_refusal_is_one_in_each_api() {
    let tool = json!({"tools": [{"type": "function", "name": "f", "function": {"name": "f"}}]});
    for (api, server) in [(ServerApi::OpenAi, chat as fn(&Seen) -> Reply), (ServerApi::Responses, responses)]
    {
        let stand = stand(api, server).await;
        for more in [&json!({}), &tool] {
            let whole = objects(&stand, "/v1/chat/completions", false, more).await.remove(0);
            let choice = &whole["choices"][0];
            assert_eq!(
                (&choice["message"]["refusal"], &choice["message"]["content"], &choice["finish_reason"]),
                (&json!("I will not."), &Value::Null, &json!("stop")),
                "{api:?}"
            );
            let events = objects(&stand, "/v1/chat/completions", true, more).await;
            assert_eq!(said(&events, "/choices/0/delta/refusal"), "I will not.");
            assert_eq!(said(&events, "/choices/0/delta/content"), "");

            let whole = objects(&stand, "/v1/responses", false, more).await.remove(0);
            let part = json!({"type": "refusal", "refusal": "I will not."});
            assert_eq!(
                (&whole["output"][0]["content"], &whole["status"]),
                (&json!([part]), &json!("completed"))
            );
            let events = objects(&stand, "/v1/responses", true, more).await;
            let kinds: Vec<&str> = events.iter().map(|event| event["type"].as_str().unwrap()).collect();
            assert_eq!(
                kinds[2..],
                [
                    "response.output_item.added",
                    "response.content_part.added",
                    "response.refusal.delta",
                    "response.refusal.delta",
                    "response.refusal.done",
                    "response.content_part.done",
                    "response.output_item.done",
                    "response.completed"
                ]
            );
            assert_eq!(
                (&events[3]["part"]["refusal"], &events[6]["refusal"]),
                (&json!(""), &json!("I will not."))
            );
            assert_eq!(events[9]["response"]["output"][0]["content"], json!([part]));

            let ollama = objects(&stand, "/api/chat", true, &json!({})).await;
            assert_eq!(said(&ollama, "/message/content"), "I will not.");
            assert_eq!(ollama.last().unwrap()["done_reason"], "stop");
        }
        let whole = objects(&stand, "/v1/messages", false, &json!({})).await.remove(0);
        assert_eq!(
            (&whole["content"], &whole["stop_reason"]),
            (&json!([{"type": "text", "text": "I will not."}]), &json!("refusal"))
        );
        let events = objects(&stand, "/v1/messages", true, &json!({})).await;
        assert_eq!(
            (said(&events, "/delta/text"), said(&events, "/delta/stop_reason")),
            ("I will not.".to_owned(), "refusal".to_owned())
        );
    }
}

#[tokio::test]
async fn a_refusal_of_before_is_told_to_servers_of_each_api() {
    let past = json!({"messages": [
        {"role": "user", "content": "Do."},
        {"role": "assistant", "content": null, "refusal": "I will not."},
        {"role": "user", "content": "Do!"},
        {"role": "assistant", "content": [{"type": "refusal", "refusal": "No."}]},
        {"role": "user", "content": "Why?"}]});
    for api in [ServerApi::OpenAi, ServerApi::Responses, ServerApi::Anthropic, ServerApi::Ollama] {
        let stand = stand(api, |_| Reply::Whole(200, "", "{}".to_owned())).await;
        let mut body = past.clone();
        body["model"] = json!("m");
        stand.post(&body).send().await.unwrap();
        let sent = stand.model.last().body();
        match api {
            ServerApi::OpenAi => assert_eq!(sent["messages"], past["messages"]),
            ServerApi::Responses => assert_eq!(
                (&sent["input"][1]["content"], &sent["input"][3]["content"]),
                (&json!("I will not."), &json!("No."))
            ),
            ServerApi::Anthropic => assert_eq!(
                (&sent["messages"][1]["content"][0]["text"], &sent["messages"][3]["content"][0]["text"]),
                (&json!("I will not."), &json!("No."))
            ),
            ServerApi::Ollama => assert_eq!(
                (&sent["messages"][1]["content"], &sent["messages"][3]["content"]),
                (&json!("I will not."), &json!("No."))
            ),
        }
    }
    // A response that is gone on with has it as text: few servers read anything else.
    let stand = stand(ServerApi::OpenAi, chat).await;
    let first = objects(&stand, "/v1/responses", false, &json!({})).await.remove(0);
    objects(&stand, "/v1/responses", false, &json!({"previous_response_id": first["id"]})).await;
    assert_eq!(
        stand.model.last().body()["messages"][1],
        json!({"role": "assistant", "content": "I will not."})
    );
}

/// An Anthropic server that withholds the rest.
fn withheld(seen: &Seen) -> Reply {
    let ended = json!({"stop_reason": "refusal", "stop_sequence": null,
        "stop_details": {"type": "refusal", "category": "bio", "explanation": "It could do harm."}});
    anthropic(seen, &ended)
}

fn at_its_stop(seen: &Seen) -> Reply {
    anthropic(seen, &json!({"stop_reason": "stop_sequence", "stop_sequence": "END"}))
}

fn out_of_room(seen: &Seen) -> Reply {
    anthropic(seen, &json!({"stop_reason": "model_context_window_exceeded", "stop_sequence": null}))
}

fn anthropic(seen: &Seen, ended: &Value) -> Reply {
    let usage = json!({"input_tokens": 3, "cache_creation_input_tokens": 20, "cache_read_input_tokens": 4,
        "output_tokens": 5, "output_tokens_details": {"thinking_tokens": 2}});
    let redacted = json!({"type": "redacted_thinking", "data": "opaque"});
    if seen.body()["stream"] != true {
        let mut body = json!({"id": "msg", "type": "message", "role": "assistant", "model": "c", "usage": usage,
            "content": [redacted, {"type": "text", "text": "Well"}]});
        body.as_object_mut().unwrap().extend(ended.as_object().unwrap().clone());
        return Reply::Whole(200, "", body.to_string());
    }
    let events = [
        json!({"type": "message_start", "message": {"id": "msg", "model": "c", "usage": usage}}),
        json!({"type": "content_block_start", "index": 0, "content_block": redacted}),
        json!({"type": "content_block_stop", "index": 0}),
        json!({"type": "content_block_start", "index": 1, "content_block": {"type": "text", "text": ""}}),
        json!({"type": "content_block_delta", "index": 1, "delta": {"type": "text_delta", "text": "Well"}}),
        json!({"type": "content_block_stop", "index": 1}),
        json!({"type": "message_delta", "delta": ended, "usage": usage}),
        json!({"type": "message_stop"}),
    ];
    let events = events.map(|event| format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap()));
    Reply::Stream(vec![events.concat().into()], Then::End)
}

#[tokio::test]
async fn what_a_server_withholds_is_told_beside_the_answer() {
    let stand = stand(ServerApi::Anthropic, withheld).await;
    let whole = objects(&stand, "/v1/messages", false, &json!({})).await.remove(0);
    let details = json!({"type": "refusal", "category": null, "explanation": "It could do harm."});
    assert_eq!((&whole["stop_reason"], &whole["stop_details"]), (&json!("refusal"), &details));
    let content = json!([{"type": "redacted_thinking", "data": "opaque"}, {"type": "text", "text": "Well"}]);
    assert_eq!(whole["content"], content);
    let events = objects(&stand, "/v1/messages", true, &json!({})).await;
    assert_eq!(events[1]["content_block"], content[0]);
    let end = &events[events.len() - 2];
    assert_eq!((&end["delta"]["stop_reason"], &end["delta"]["stop_details"]), (&json!("refusal"), &details));
    assert_eq!(said(&events, "/delta/text"), "Well");

    let choice = &objects(&stand, "/v1/chat/completions", false, &json!({})).await.remove(0)["choices"][0];
    assert_eq!(
        (&choice["message"]["refusal"], &choice["finish_reason"]),
        (&json!("It could do harm."), &json!("content_filter"))
    );
    let whole = objects(&stand, "/v1/responses", false, &json!({})).await.remove(0);
    assert_eq!(
        (&whole["status"], &whole["incomplete_details"]["reason"]),
        (&json!("incomplete"), &json!("content_filter"))
    );
    let states: Vec<_> = whole["output"].as_array().unwrap().iter().map(|item| &item["status"]).collect();
    assert_eq!(states, ["completed", "incomplete"]);
}

#[tokio::test]
async fn what_was_kept_of_the_prompt_is_counted() {
    let stand = stand(ServerApi::Anthropic, withheld).await;
    let whole = objects(&stand, "/v1/messages", false, &json!({})).await.remove(0);
    let counts = json!({"input_tokens": 3, "cache_creation_input_tokens": 20, "cache_read_input_tokens": 4, "output_tokens": 5});
    assert_eq!(whole["usage"], counts);
    let events = objects(&stand, "/v1/messages", true, &json!({})).await;
    assert_eq!(events[0]["message"]["usage"]["cache_creation_input_tokens"], 20);
    let whole = objects(&stand, "/v1/chat/completions", false, &json!({})).await.remove(0);
    let usage = &whole["usage"];
    assert_eq!(
        (&usage["prompt_tokens"], &usage["completion_tokens_details"]["reasoning_tokens"]),
        (&json!(27), &json!(2))
    );
}

#[tokio::test]
async fn what_a_stream_cost_is_told_to_those_who_ask_in_a_chunk_of_its_own() {
    let stand = stand(ServerApi::Anthropic, at_its_stop).await;
    for tools in [json!({}), json!({"tools": [{"type": "function", "function": {"name": "f"}}]})] {
        let events = objects(&stand, "/v1/chat/completions", true, &tools).await;
        assert!(events.iter().all(|event| event.get("usage").is_none()), "{events:?}");
        let mut more = tools.clone();
        more["stream_options"] = json!({"include_usage": true});
        let events = objects(&stand, "/v1/chat/completions", true, &more).await;
        let (last, others) = events.split_last().unwrap();
        assert_eq!((&last["choices"], &last["usage"]["total_tokens"]), (&json!([]), &json!(32)));
        assert!(others.iter().all(|event| event.get("usage").is_none()), "{others:?}");
    }
}

#[tokio::test]
async fn a_stop_is_told_where_the_client_named_it() {
    let vllm = |seen: &Seen| {
        let end = json!({"index": 0, "finish_reason": "stop", "stop_reason": "END"});
        let with = |name: &str, value: Value| {
            let mut choice = end.clone();
            choice[name] = value;
            json!({"id": "x", "model": "m", "choices": [choice]})
        };
        if seen.body()["stream"] != true {
            let message = json!({"role": "assistant", "content": "Well"});
            return Reply::Whole(200, "", with("message", message).to_string());
        }
        let word = event(&json!({"content": "Well"}), None);
        let end = format!("data: {}\n\ndata: [DONE]\n\n", with("delta", json!({})));
        Reply::Stream(vec![[word, end].concat().into()], Then::End)
    };
    for (api, server) in
        [(ServerApi::Anthropic, at_its_stop as fn(&Seen) -> Reply), (ServerApi::OpenAi, vllm)]
    {
        let stand = stand(api, server).await;
        for stream in [false, true] {
            let named = objects(&stand, "/v1/messages", stream, &json!({"stop_sequences": ["END"]})).await;
            let at = if stream { "/delta" } else { "" };
            let told = |name: &str| said(&named, &format!("{at}/{name}"));
            assert_eq!(
                (told("stop_reason"), told("stop_sequence")),
                ("stop_sequence".to_owned(), "END".to_owned())
            );
            // Del has models stop at texts of its own.
            let unnamed = objects(&stand, "/v1/messages", stream, &json!({})).await;
            assert_eq!(said(&unnamed, &format!("{at}/stop_reason")), "end_turn");
        }
        let choice = &objects(&stand, "/v1/chat/completions", false, &json!({"stop": "END"})).await.remove(0)
            ["choices"][0];
        assert_eq!(choice["finish_reason"], "stop");
    }
    let stand = stand(ServerApi::Anthropic, out_of_room).await;
    let choice = &objects(&stand, "/v1/chat/completions", false, &json!({})).await.remove(0)["choices"][0];
    assert_eq!(choice["finish_reason"], "length");
}
