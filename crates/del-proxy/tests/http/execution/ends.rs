//! How a series of turns ends when it does not come to an answer.

use std::time::Duration;

use serde_json::json;

use super::{Bench, answers, bench, calls, question, results};
use crate::model::{Model, Reply, Then, completion, event};
use crate::stand::{document, streamed, with};

#[tokio::test]
async fn turns_are_limited_and_so_is_the_same_call_again() {
    for (most, why) in [(2, "`look` was not run"), (9, "5 times in a row")] {
        for stream in [false, true] {
            let model = Model::new(|seen| answers(seen, "", &calls(&[("look", "Paris")])));
            let bench = bench(model, |settings| settings.max_turns = most).await;
            let asked = with(question(), json!({"stream": stream}));
            let text = bench.stand.post(&asked).send().await.unwrap().text().await.unwrap();
            assert!(text.contains("[Stopped after") && text.contains(why), "{text}");
            assert!(text.contains("\"finish_reason\":\"length\""), "{text}");
            assert_eq!(bench.log.lock().unwrap().len(), if most == 2 { 1 } else { 2 });
        }
    }
}

#[tokio::test]
async fn a_demanded_call_that_a_limit_cuts_ends_it() {
    for stream in [false, true] {
        let model = Model::new(|seen| {
            let message = json!({"role": "assistant", "content": "Let me think."});
            if seen.body()["stream"] != true {
                return Reply::Whole(200, "", completion(&message, "length").to_string());
            }
            let all = event(&message, None) + &event(&json!({}), Some("length")) + "data: [DONE]\n\n";
            Reply::Stream(vec![all.into_bytes()], Then::End)
        });
        let bench = bench(model, |_| {}).await;
        let asked = with(question(), json!({"stream": stream, "tool_choice": "required"}));
        let text = bench.stand.post(&asked).send().await.unwrap().text().await.unwrap();
        assert!(text.contains("Let me think.") && text.contains("\"finish_reason\":\"length\""), "{text}");
        assert_eq!(bench.stand.model.seen().len(), 1);
    }
}

#[tokio::test]
async fn a_server_that_fails_later_is_told_in_the_shape_of_the_api() {
    let model = || {
        Model::new(|seen| match results(seen) {
            0 => answers(seen, "Let me look.", &calls(&[("look", "Paris")])),
            _ => Reply::Whole(500, "", json!({"error": {"message": "out of memory"}}).to_string()),
        })
    };
    let bench = bench(model(), |_| {}).await;
    let response = bench.stand.post(&question()).send().await.unwrap();
    assert_eq!(response.status(), 500);
    assert!(response.text().await.unwrap().contains("out of memory"));
    let text = bench.stand.post(&streamed(question())).send().await.unwrap().text().await.unwrap();
    assert!(
        text.contains("Let me look.") && text.contains("\"error\"") && !text.contains("[DONE]"),
        "{text}"
    );
}

#[tokio::test]
async fn what_is_refused_before_anything_went_out_has_its_status() {
    let refusal = json!({"error": {"message": "slow down", "code": 429}});
    let role = event(&json!({"role": "assistant", "content": ""}), None);
    for said in [format!("data: {refusal}\n\n"), format!("{role}data: {refusal}\n\n")] {
        let model = Model::saying(Reply::Stream(vec![said.into_bytes()], Then::End));
        let bench = bench(model, |_| {}).await;
        let response = bench.stand.post(&streamed(question())).send().await.unwrap();
        assert_eq!(response.status(), 429);
        assert_eq!(document(response).await["error"]["message"], "slow down");
    }
}

#[tokio::test]
async fn hanging_up_ends_what_runs() {
    for stream in [false, true] {
        let model = Model::new(|seen| answers(seen, "", &calls(&[("wait", "Paris")])));
        let bench = bench(model, |_| {}).await;
        let sent = bench.stand.post(&with(question(), json!({"stream": stream}))).send();
        let asked = tokio::spawn(async move {
            let response = sent.await.unwrap();
            response.text().await
        });
        let Bench { stopped, .. } = bench;
        let stopped = tokio::task::spawn_blocking(move || {
            assert_eq!(stopped.recv_timeout(Duration::from_secs(60)), Ok("waits"));
            stopped
        });
        let stopped = stopped.await.unwrap();
        asked.abort();
        let word = tokio::task::spawn_blocking(move || stopped.recv_timeout(Duration::from_secs(60)));
        assert_eq!(word.await.unwrap(), Ok("stopped"), "stream: {stream}");
    }
}

#[tokio::test]
async fn a_call_that_does_not_count_leaves_no_message_without_text_and_calls() {
    let function = |name: &str, arguments: &str| json!([{"index": 0, "id": "c", "type": "function", "function": {"name": name, "arguments": arguments}}]);
    for (tried, finish) in [
        (function("nobody", "{}"), "tool_calls"),
        (function("look", "{{{{[["), "tool_calls"),
        (function("look", "{\"city\": \"Pa"), "length"),
    ] {
        for stream in [false, true] {
            let said = tried.clone();
            let model = Model::new(move |seen| {
                if seen.body()["messages"].as_array().unwrap().len() > 1 {
                    return answers(seen, "It rains.", &json!([]));
                }
                let message = json!({"role": "assistant", "content": null, "tool_calls": said});
                if !stream {
                    return Reply::Whole(200, "", completion(&message, finish).to_string());
                }
                let all = event(&message, None) + &event(&json!({}), Some(finish)) + "data: [DONE]\n\n";
                Reply::Stream(vec![all.into_bytes()], Then::End)
            });
            let bench = bench(model, |_| {}).await;
            let asked = with(question(), json!({"stream": stream}));
            let text = bench.stand.post(&asked).send().await.unwrap().text().await.unwrap();
            assert!(text.contains("It rains."), "{text}");
            let sent = bench.stand.model.last().body()["messages"].clone();
            assert_eq!(sent[1], json!({"role": "assistant", "content": ""}), "{tried} {stream}");
            assert_eq!(sent[2]["role"], "user");
        }
    }
}

#[tokio::test]
async fn an_answer_of_nothing_but_unknown_tools_says_so() {
    for stream in [false, true] {
        let bench = bench(Model::new(|seen| answers(seen, "", &calls(&[("nobody", "Paris")]))), |_| {}).await;
        let asked = with(question(), json!({"stream": stream}));
        let text = bench.stand.post(&asked).send().await.unwrap().text().await.unwrap();
        assert!(text.contains("The model called `nobody`, which is none of the tools"), "{text}");
        assert_eq!(text.matches("none of the tools").count(), 1, "{text}");
    }
}
