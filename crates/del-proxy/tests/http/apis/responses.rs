//! Responses: what they go on with, and what their items are.

use del_proxy::ServerApi;
use serde_json::{Value, json};

use super::{ask, hermes, post, responses};
use crate::model::{Model, Reply, Then};
use crate::stand::{Stand, document};

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
        let error = &document(response).await["error"];
        let message = error["message"].as_str().unwrap();
        assert!(message.starts_with("expected the id of an earlier response, got `resp_"), "{error}");
        assert_eq!(error["code"], "previous_response_not_found");
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
async fn summaries_of_thoughts_stay_summaries() {
    let thought =
        json!({"id": "rs_1", "type": "reasoning", "summary": [{"type": "summary_text", "text": "Hm."}]});
    let said = json!({"id": "msg_1", "type": "message", "role": "assistant", "status": "completed",
        "content": [{"type": "output_text", "text": "Yes.", "annotations": []}]});
    let whole = json!({"id": "resp_1", "model": "m", "status": "completed", "output": [thought, said]});
    let events = [
        json!({"type": "response.output_item.added", "output_index": 0, "item": {"id": "rs_1", "type": "reasoning", "summary": []}}),
        json!({"type": "response.reasoning_summary_text.delta", "item_id": "rs_1", "output_index": 0, "summary_index": 0, "delta": "Hm."}),
        json!({"type": "response.output_item.done", "output_index": 0, "item": thought}),
        json!({"type": "response.output_item.done", "output_index": 1, "item": said}),
        json!({"type": "response.completed", "response": whole}),
    ];
    let stream: Vec<String> = events.iter().map(|event| format!("data: {event}\n\n")).collect();
    let model = Model::new(move |seen| {
        if seen.body()["stream"] == true {
            Reply::Stream(vec![stream.concat().into_bytes()], Then::End)
        } else {
            Reply::Whole(200, "", whole.to_string())
        }
    });
    let stand =
        Stand::with(model, |settings| settings.routes[0].upstreams[0].api = ServerApi::Responses).await;
    let part = json!({"type": "summary_text", "text": "Hm."});
    let answer = ask(&stand, "/v1/responses", &responses(&json!("Hi."))).await;
    assert_eq!(
        (&answer["output"][0]["summary"], &answer["output"][0]["content"]),
        (&json!([part]), &json!([]))
    );
    let mut body = responses(&json!("Hi."));
    body["stream"] = json!(true);
    let text = post(&stand, "/v1/responses", &body).await.text().await.unwrap();
    let events: Vec<Value> =
        text.lines().filter_map(|line| serde_json::from_str(line.strip_prefix("data: ")?).ok()).collect();
    let of_thought: Vec<&str> = events
        .iter()
        .filter(|event| event["output_index"] == 0)
        .filter_map(|event| event["type"].as_str()?.strip_prefix("response."))
        .collect();
    assert_eq!(
        of_thought,
        [
            "output_item.added",
            "reasoning_summary_part.added",
            "reasoning_summary_text.delta",
            "reasoning_summary_text.done",
            "reasoning_summary_part.done",
            "output_item.done"
        ]
    );
    assert!(events.iter().all(|event| event["output_index"] != 0 || event.get("content_index").is_none()));
    assert_eq!(events.last().unwrap()["response"]["output"][0]["summary"], json!([part]));
    let answer =
        ask(&stand, "/v1/messages", &super::anthropic(&json!([{"role": "user", "content": "Hi."}]))).await;
    assert_eq!(answer["content"][0]["thinking"], "Hm.");
}
