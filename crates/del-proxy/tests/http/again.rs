//! Calls that cannot be read, and calls of no tool of the request's: the model is asked again.

use reqwest::Method;
use serde_json::{Value, json};

use crate::model::{Model, Reply, Seen, Then, completion, event, says};
use crate::stand::{Stand, assembled, streamed, told, weather, with};

const BROKEN: &str = "<tool_call>\n{\"name\": \"get_weather\", \"arguments\": %%%% junk\n</tool_call>";
const UNKNOWN: &str = "<tool_call>\n{\"name\": \"get_rain\", \"arguments\": {\"x\": 1}}\n</tool_call>";
const RIGHT: &str =
    "<tool_call>\n{\"name\": \"get_weather\", \"arguments\": {\"city\": \"Paris\"}}\n</tool_call>";

/// How often the model was told of a call that did not count.
fn corrections(seen: &Seen) -> usize {
    let messages = seen.body()["messages"].as_array().unwrap().clone();
    let told = |message: &&Value| {
        let said = message["content"].as_str().unwrap_or_default();
        said.contains("did not run") || said.contains("There is no tool `get_rain`")
    };
    messages.iter().filter(told).count()
}

/// A model that says something wrong so often, and calls rightly then.
fn wrong(times: usize, said: &'static str) -> Model {
    Model::new(move |seen| says(seen, if corrections(seen) < times { said } else { RIGHT }, 4))
}

fn paris() -> Vec<(String, String)> {
    vec![("get_weather".to_owned(), r#"{"city": "Paris"}"#.to_owned())]
}

#[tokio::test]
async fn the_model_is_asked_again_and_the_client_sees_nothing_of_it() {
    for said in [BROKEN, UNKNOWN] {
        for times in [1, 2] {
            let stand = Stand::new(wrong(times, said)).await;
            assert_eq!(told(&stand.ask(&weather()).await), (String::new(), paris(), "tool_calls".to_owned()));
            assert_eq!(stand.model.seen().len(), times + 1);
            let events = stand.events(&streamed(weather())).await;
            assert_eq!(assembled(&events), (String::new(), paris(), "tool_calls".to_owned()));
            assert_eq!(stand.model.seen().len(), 2 * (times + 1));
        }
    }
}

#[tokio::test]
async fn text_that_went_out_stays_and_what_the_model_says_then_is_a_paragraph() {
    let model = Model::new(|seen| match corrections(seen) {
        0 => says(seen, "I will look.\n<tool_call>\n{\"name\": \"get_weather\", %%\n</tool_call>", 4),
        _ => says(
            seen,
            "Once more.\n<tool_call>\n{\"name\": \"get_weather\", \"arguments\": {\"city\": \"Paris\"}}\n</tool_call>",
            4,
        ),
    });
    let stand = Stand::new(model).await;
    let (text, calls, finish) = assembled(&stand.events(&streamed(weather())).await);
    assert_eq!((text.trim_end(), calls, &*finish), ("I will look.\n\nOnce more.", paris(), "tool_calls"));
    let again = stand.model.last().body();
    assert_eq!(again["messages"][1], json!({"role": "assistant", "content": "I will look."}));
    // Of an answer that comes at once, nothing went out.
    let (text, calls, _) = told(&stand.ask(&weather()).await);
    assert_eq!((text.trim_end(), calls), ("Once more.", paris()));
}

#[tokio::test]
async fn a_model_that_does_no_better_is_asked_three_times_and_the_answer_says_why() {
    for (said, reason) in [(BROKEN, "call of `get_weather` could not be read"), (UNKNOWN, "`get_rain`")] {
        let stand = Stand::new(wrong(9, said)).await;
        let (text, calls, finish) = told(&stand.ask(&weather()).await);
        assert!(text.contains(reason) && calls.is_empty() && finish == "stop", "{text} {finish}");
        assert_eq!(stand.model.seen().len(), 3);
        let events = stand.post(&streamed(weather())).send().await.unwrap().text().await.unwrap();
        let data = events.lines().filter_map(|line| line.strip_prefix("data: "));
        let events: Vec<Value> = data.map(|data| serde_json::from_str(data).unwrap_or_default()).collect();
        let (text, calls, finish) = assembled(&events);
        assert!(text.contains(reason) && calls.is_empty() && finish == "stop", "{text} {finish}");
        assert_eq!(stand.model.seen().len(), 6);
        for (path, reason) in [("/v1/messages", "end_turn"), ("/v1/responses", "completed")] {
            let schema = json!({"type": "object"});
            let body = json!({"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "Hi."}],
                "input": "Hi.", "stream": true,
                "tools": [{"type": "function", "name": "get_weather", "parameters": schema}]});
            let mut body = body;
            if path == "/v1/messages" {
                body["tools"] = json!([{"name": "get_weather", "input_schema": schema}]);
            }
            let sent = stand.request(Method::POST, path).body(body.to_string()).send().await.unwrap();
            let text = sent.text().await.unwrap();
            assert!(
                text.contains(reason) && !text.contains("max_") | text.contains("max_output_tokens\":null"),
                "{text}"
            );
        }
    }
}

#[tokio::test]
async fn a_demand_says_what_was_wrong() {
    let stand = Stand::new(wrong(1, BROKEN)).await;
    let body = with(weather(), json!({"tool_choice": "required"}));
    for body in [body.clone(), streamed(body)] {
        stand.post(&body).send().await.unwrap().text().await.unwrap();
        let again = stand.model.last().body()["messages"][2]["content"].as_str().unwrap().to_owned();
        assert!(again.contains("did not run") && again.ends_with("say nothing else."), "{again}");
    }
}

#[tokio::test]
async fn a_limit_of_tokens_and_half_a_call_are_told_as_such() {
    let cut = Model::new(|seen| {
        let said = &RIGHT[..55];
        if seen.body()["stream"] != true {
            let message = json!({"role": "assistant", "content": said});
            return Reply::Whole(200, "", completion(&message, "length").to_string());
        }
        let all = event(&json!({"content": said}), None) + &event(&json!({}), Some("length"));
        Reply::Stream(vec![(all + "data: [DONE]\n\n").into_bytes()], Then::End)
    });
    let stand = Stand::new(cut).await;
    assert_eq!(told(&stand.ask(&weather()).await).2, "length");
    assert_eq!(assembled(&stand.events(&streamed(weather())).await).2, "length");
    assert_eq!(stand.model.seen().len(), 2, "asking again would bring no more");
    // What has gone out of a call cannot be taken back, and must not run.
    let half = format!("{}, %% ", &RIGHT[..RIGHT.len() - 16]);
    let stand = Stand::new(Model::new(move |seen| says(seen, &half, 4))).await;
    let (_, calls, finish) = assembled(&stand.events(&streamed(weather())).await);
    assert!(serde_json::from_str::<Value>(&calls[0].1).is_err(), "{calls:?}");
    assert_eq!((finish.as_str(), stand.model.seen().len()), ("length", 1));
}

/// Kimi K2 numbers its calls anew in each answer.
#[tokio::test]
async fn ids_that_stand_in_the_conversation_get_the_next_number() {
    let call = "<|tool_calls_section_begin|><|tool_call_begin|>functions.get_weather:0<|tool_call_argument_begin|>{\"city\": \"Paris\"}<|tool_call_end|><|tool_calls_section_end|>";
    for mode in [del_agent::ToolsMode::Native, del_agent::ToolsMode::Prompt] {
        let stand = Stand::with(Model::new(move |seen| says(seen, call, 4)), |settings| {
            settings.routes[0].tools_mode = mode;
        })
        .await;
        let mut body = with(weather(), json!({"model": "kimi-k2"}));
        for number in 0..3 {
            let message = stand.message(&body).await;
            let id = message["tool_calls"][0]["id"].clone();
            assert_eq!(id, format!("functions.get_weather:{number}"));
            let messages = body["messages"].as_array_mut().unwrap();
            messages.push(message);
            messages.push(json!({"role": "tool", "tool_call_id": id, "content": "12"}));
        }
        let seen = stand.model.last().body()["messages"].to_string();
        assert!(seen.contains("functions.get_weather:1") && !seen.contains("weather:2"), "{seen}");
    }
}

#[tokio::test]
async fn clients_of_anthropic_get_ids_that_their_api_allows_and_the_model_sees_its_own() {
    let call = json!({"index": 0, "id": "functions.f:0", "function": {"name": "f", "arguments": "{}"}});
    let message = json!({"role": "assistant", "content": null, "tool_calls": [call]});
    let reply = completion(&message, "tool_calls").to_string();
    let stand = Stand::new(Model::saying(Reply::Whole(200, "", reply))).await;
    let mut body = json!({"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "Hi."}],
        "tools": [{"name": "f", "input_schema": {"type": "object"}}]});
    for number in 0..2 {
        let sent = stand.request(Method::POST, "/v1/messages").body(body.to_string()).send().await.unwrap();
        let answer = crate::stand::document(sent).await;
        let id = answer["content"][0]["id"].as_str().unwrap().to_owned();
        assert!(id.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte)), "{id}");
        let result = json!({"type": "tool_result", "tool_use_id": id, "content": "12"});
        let messages = body["messages"].as_array_mut().unwrap();
        messages.push(json!({"role": "assistant", "content": answer["content"]}));
        messages.push(json!({"role": "user", "content": [result]}));
        let sent = stand.request(Method::POST, "/v1/messages").body(body.to_string()).send().await.unwrap();
        sent.text().await.unwrap();
        let seen = stand.model.last().body()["messages"].clone();
        let own = format!("functions.f:{number}");
        let at = 1 + 2 * number;
        assert_eq!(
            (&seen[at]["tool_calls"][0]["id"], &seen[at + 1]["tool_call_id"]),
            (&json!(own), &json!(own))
        );
    }
}
