//! Servers that are down, refuse, talk nonsense or hang up, and users who have had enough.

use crate::script::{Talk, native_call, request, settings, sse, text_answer, tool_results};
use del_agent::{Effect, Failure, Input, Notice, Settings};
use del_wire::ServerApi;
use serde_json::json;

fn asked() -> Talk {
    let mut talk = Talk::new(settings());
    talk.ask("hi");
    talk
}

fn failure(effect: Effect) -> Failure {
    match effect {
        Effect::Failed(failure) => failure,
        effect => panic!("expected a failure, got {effect:?}"),
    }
}

#[test]
fn a_server_that_is_down_is_tried_five_times() {
    let mut talk = asked();
    for milliseconds in [500, 1000, 2000, 4000] {
        assert_eq!(talk.step(Input::Unreachable("connection refused")), Effect::Wait { milliseconds });
        request(talk.step(Input::Waited));
    }
    let failure = failure(talk.step(Input::Unreachable("connection refused")));
    assert_eq!(
        failure.to_string(),
        "the model server cannot be reached (connection refused; tries: 5). Start it, or give its address"
    );
    assert_eq!(talk.notices()[0].to_string(), "connection refused; try 2 of 5 in 0.5 s");
}

#[test]
fn a_busy_server_says_when() {
    let mut talk = asked();
    assert_eq!(talk.refuse(429, "slow down", Some(3000)), Effect::Wait { milliseconds: 3000 });
    request(talk.step(Input::Waited));
    assert_eq!(
        talk.refuse(503, r#"{"error":{"message":"Loading model"}}"#, Some(0)),
        Effect::Wait { milliseconds: 1000 }
    );
    request(talk.step(Input::Waited));
    let failure = failure(talk.refuse(429, r#"{"error":{"message":"Slow down."}}"#, Some(7_200_000)));
    assert!(matches!(failure, Failure::Refused { status: Some(429), .. }), "{failure:?}");
    assert!(failure.to_string().contains("Slow down; the server asks to wait 2 h"), "{failure}");
}

#[test]
fn a_server_that_is_silent_is_tried_twice_and_one_that_hangs_up_is_not_called_away() {
    let mut talk = asked();
    assert_eq!(talk.step(Input::Silent), Effect::Wait { milliseconds: 500 });
    request(talk.step(Input::Waited));
    assert_eq!(failure(talk.step(Input::Silent)), Failure::Silent { tries: 2 });
    // A thought is none of the answer.
    let mut talk = asked();
    let thought = sse(&[json!({"choices": [{"delta": {"reasoning_content": "well"}}]})]);
    assert_eq!(talk.step(Input::Bytes(thought.as_bytes())), Effect::Continue);
    assert_eq!(talk.step(Input::Silent), Effect::Wait { milliseconds: 500 });
    let mut talk = asked();
    for _ in 0..4 {
        assert!(matches!(talk.step(Input::HungUp("reset")), Effect::Wait { .. }));
        request(talk.step(Input::Waited));
    }
    let failure = failure(talk.step(Input::HungUp("reset")));
    assert!(matches!(failure, Failure::NoAnswer { tries: 5, .. }), "{failure:?}");
    assert!(!failure.to_string().contains("Start it"), "{failure}");
}

#[test]
fn what_another_try_cannot_mend_fails_at_once() {
    for (status, body, advice) in [
        (401, r#"{"error":{"message":"bad key"}}"#, "bad key. Check the key"),
        (
            404,
            r#"{"error":{"message":"model 'x' not found"}}"#,
            "Check the name of the model and the address",
        ),
        (
            400,
            r#"{"error":{"message":"the request exceeds the available context size","n_ctx":10,"n_prompt_tokens":20}}"#,
            "20 tokens are too many for 10",
        ),
        (
            400,
            r#"{"error":{"message":"This model's maximum context length is 10 tokens. However, you sent 20 tokens."}}"#,
            "20 tokens. ",
        ),
        (400, "<html>", "expected an error message in JSON, got `<html>`"),
    ] {
        let failure = failure(asked().refuse(status, body, None)).to_string();
        assert!(failure.contains(advice), "{failure}");
        assert!(!failure.contains('\n'));
    }
}

#[test]
fn an_error_in_the_stream_before_anything_else_is_tried_again() {
    let mut talk = asked();
    let effect = talk.step(Input::Bytes(b"data: {\"error\":{\"code\":503,\"message\":\"overloaded\"}}\n\n"));
    assert_eq!(effect, Effect::Wait { milliseconds: 500 });
    request(talk.step(Input::Waited));
    assert_eq!(talk.answer_with_text(&text_answer(&["ok"])).answer, "ok");
}

#[test]
fn an_error_in_the_middle_keeps_what_was_said() {
    let mut talk = asked();
    assert_eq!(talk.step(Input::Chunk(r#"{"choices":[{"delta":{"content":"half"}}]}"#)), Effect::Continue);
    let failure = failure(talk.step(Input::Chunk(r#"{"error":{"code":500,"message":"out of memory"}}"#)));
    assert_eq!(failure.to_string(), "the model server refused: out of memory");
    let body = talk.ask("go on");
    assert_eq!(body["messages"][2], json!({"role": "assistant", "content": "half"}));
}

#[test]
fn garbage_says_what_was_expected_and_what_came() {
    for (garbage, got) in [
        ("<html>\n<body>", "got `<html>`"),
        ("<html>hello", "got `<html>hello`"),
        ("", "got an empty body"),
        ("data: hello\n\n", "expected JSON, got `hello`"),
        ("{\"hello\": 1}", "got `{\"hello\": 1}`"),
        ("data: {\"choices\": 3}\n\n", "`choices` should be a list, got `3`"),
    ] {
        let mut talk = asked();
        let effect = match talk.step(Input::Bytes(garbage.as_bytes())) {
            Effect::Continue => talk.step(Input::End),
            effect => effect,
        };
        let failure = failure(effect);
        assert!(matches!(failure, Failure::Garbage { .. }), "{failure:?}");
        assert!(failure.to_string().contains(got), "{failure}");
        request(talk.step(Input::Start("again")));
    }
}

#[test]
fn a_server_that_does_not_stream_is_understood() {
    let mut talk = asked();
    let body =
        json!({"choices": [{"message": {"role": "assistant", "content": "hello"}, "finish_reason": "stop"}]});
    assert_eq!(talk.step(Input::Bytes(format!("{body:#}").as_bytes())), Effect::Continue);
    let Effect::Done(done) = talk.step(Input::End) else { panic!("not done") };
    assert_eq!(done.answer, "hello");
}

#[test]
fn a_hang_up_keeps_the_text_and_runs_nothing() {
    let stream = sse(&text_answer(&["one ", "two"]));
    for hang_up in [Input::HungUp("reset by peer"), Input::End] {
        let mut talk = asked();
        let half = stream.find("two").unwrap();
        assert_eq!(talk.step(Input::Bytes(&stream.as_bytes()[..half])), Effect::Continue);
        let failure = failure(talk.step(hang_up));
        assert!(matches!(failure, Failure::HungUp { .. }), "{failure:?}");
        assert_eq!(talk.shown_text(), "one ");
        assert_eq!(talk.ask("go on")["messages"][2], json!({"role": "assistant", "content": "one"}));
    }
}

#[test]
fn a_call_before_a_hang_up_does_not_run() {
    let stream = sse(&native_call("a", "write_file", &["{\"path\":\"/\"}"]));
    let mut talk = asked();
    let half = stream.find("finish_reason").unwrap();
    assert_eq!(talk.step(Input::Bytes(&stream.as_bytes()[..half])), Effect::Continue);
    assert!(matches!(talk.step(Input::HungUp("reset")), Effect::Failed(Failure::HungUp { .. })));
    let body = talk.ask("go on");
    assert_eq!(body["messages"].as_array().unwrap().len(), 2, "{body}");
}

#[test]
fn no_cut_of_a_stream_runs_what_was_not_whole() {
    let mut chunks = native_call("a", "read_file", &["{\"path\":", "\"x\"}"]);
    chunks.insert(0, json!({"choices": [{"delta": {"content": "I look. é"}}]}));
    let stream = sse(&chunks);
    let end = stream.find("finish_reason").unwrap();
    for at in 0..stream.len() {
        let mut talk = asked();
        let before = talk.step(Input::Bytes(&stream.as_bytes()[..at]));
        assert_eq!(before, Effect::Continue, "cut at {at}");
        match talk.step(Input::HungUp("reset")) {
            Effect::Failed(Failure::HungUp { .. }) => {}
            // Not a word was shown.
            Effect::Wait { .. } if talk.shown.is_empty() => {}
            effect => panic!("cut at {at} of {end}: {effect:?}"),
        }
    }
}

#[test]
fn cancelling_leaves_a_conversation_that_can_go_on() {
    let mut talk = asked();
    assert_eq!(talk.step(Input::Cancel), Effect::Failed(Failure::Cancelled));
    talk.ask("again");
    assert_eq!(talk.step(Input::Chunk(r#"{"choices":[{"delta":{"content":"half"}}]}"#)), Effect::Continue);
    assert_eq!(talk.step(Input::Cancel), Effect::Failed(Failure::Cancelled));
    talk.ask("and again");
    let calls = talk.answer_with_calls(&native_call("a", "read_file", &["{}"]));
    assert_eq!(calls.len(), 1);
    assert_eq!(talk.step(Input::Cancel), Effect::Failed(Failure::Cancelled));
    let body = talk.ask("last");
    let messages = body["messages"].as_array().unwrap();
    let contents: Vec<&str> = messages.iter().map(|message| message["content"].as_str().unwrap()).collect();
    assert_eq!(
        contents,
        ["You are Del.", "again", "half", "and again", "", "Error: cancelled by the user.", "last"]
    );
}

#[test]
fn calls_that_have_run_keep_their_results_when_the_rest_is_stopped() {
    let mut talk = asked();
    let mut chunks = native_call("a", "read_file", &["{\"path\":\"1\"}"]);
    chunks.pop();
    chunks.push(json!({"choices": [{"index": 0, "delta": {"tool_calls": [
        {"index": 1, "id": "b", "function": {"name": "read_file", "arguments": "{\"path\":\"2\"}"}}]}}]}));
    chunks.push(json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]}));
    let calls = talk.answer_with_calls(&chunks);
    let first = tool_results(&calls[..1], "forty-two");
    assert_eq!(talk.step(Input::Stopped(first)), Effect::Failed(Failure::Cancelled));
    let told = contents(&talk.ask("go on"));
    assert_eq!(told, ["You are Del.", "hi", "", "forty-two", "Error: cancelled by the user.", "go on"]);
}

#[test]
fn a_connection_that_breaks_before_a_word_is_tried_again() {
    let thought = r#"{"choices":[{"delta":{"reasoning_content":"hm"}}]}"#;
    for hang_up in [Input::HungUp("reset by peer"), Input::End] {
        let mut talk = asked();
        assert_eq!(talk.step(Input::Chunk(thought)), Effect::Continue);
        assert_eq!(talk.step(hang_up), Effect::Wait { milliseconds: 500 });
        request(talk.step(Input::Waited));
        assert_eq!(talk.answer_with_text(&text_answer(&["yes"])).answer, "yes");
    }
}

#[test]
fn a_server_that_loads_its_model_has_a_minute() {
    let mut talk = asked();
    let mut waited = 0;
    while let Effect::Wait { milliseconds } =
        talk.refuse(503, r#"{"error":{"message":"Loading model"}}"#, None)
    {
        waited += milliseconds;
        request(talk.step(Input::Waited));
    }
    assert!((55_000..75_000).contains(&waited), "{waited}");
    assert_eq!(talk.notices()[0].to_string(), "Loading model; try 2 of 12 in 0.5 s");
}

#[test]
fn a_page_in_place_of_an_error_is_told_with_its_status_when_it_is_tried_again() {
    let mut talk = asked();
    assert_eq!(talk.refuse(502, "<html>", None), Effect::Wait { milliseconds: 500 });
    assert!(talk.notices()[0].to_string().contains("got `<html>` (status 502); try 2 of 5"));
}

#[test]
fn what_a_filter_withheld_is_told() {
    let mut talk = asked();
    let chunks = [json!({"choices": [{"delta": {}, "finish_reason": "content_filter"}]})];
    assert_eq!(talk.answer_with_text(&chunks).answer, "");
    assert_eq!(talk.notices(), [Notice::Withheld]);
}

#[test]
fn a_question_that_failed_is_not_sent_again() {
    let too_long = r#"{"error":{"message":"the request exceeds the available context size"}}"#;
    let fails: [&dyn Fn(&mut Talk) -> Effect; 5] = [
        &|talk| talk.refuse(400, "no", None),
        &|talk| {
            // The first time, room is made for it: by a summary, which is too long as well.
            assert!(matches!(talk.refuse(400, too_long, None), Effect::Request(_)));
            talk.refuse(400, too_long, None)
        },
        &|talk| {
            let _ = talk.step(Input::Bytes(b"<html>"));
            talk.step(Input::End)
        },
        &|talk| {
            let _ = talk.step(Input::Chunk(r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"read_file","arguments":"{\"path\":"}}]}}]}"#));
            talk.step(Input::HungUp("reset"))
        },
        &|talk| talk.step(Input::Cancel),
    ];
    for (place, fail) in fails.into_iter().enumerate() {
        let mut talk = asked();
        talk.answer_with_text(&text_answer(&["hello"]));
        talk.ask("an endless text");
        failure(fail(&mut talk));
        assert_eq!(talk.agent.entries().len(), 2, "{place}");
        let contents = contents(&talk.ask("short"));
        assert_eq!(contents, ["You are Del.", "hi", "hello", "short"], "{place}");
    }
}

#[test]
fn what_was_done_before_a_failure_is_kept_and_what_was_too_long_of_it_is_not() {
    let long = "x".repeat(1000);
    for (body, result) in [
        (r#"{"error":{"message":"out of memory"}}"#, long.as_str()),
        (
            r#"{"error":{"message":"the request exceeds the available context size"}}"#,
            "[The tool ran. Its result is left out: it did not fit into your context.]",
        ),
    ] {
        let mut talk = asked();
        let calls = talk.answer_with_calls(&native_call("a", "read_file", &["{}"]));
        talk.give(tool_results(&calls, &long));
        failure(talk.refuse(400, body, None));
        assert_eq!(contents(&talk.ask("go on")), ["You are Del.", "hi", "", result, "go on"]);
    }
}

fn contents(body: &serde_json::Value) -> Vec<String> {
    let text = |message: &serde_json::Value| message["content"].as_str().unwrap_or_default().to_owned();
    body["messages"].as_array().unwrap().iter().map(text).collect()
}

#[test]
fn a_caller_out_of_step_is_told_and_nothing_is_lost() {
    let mut talk = asked();
    let failure = failure(talk.step(Input::Results(Vec::new())));
    assert_eq!(failure.to_string(), "expected an answer or a refusal, got results");
    let calls = talk.answer_with_calls(&native_call("a", "read_file", &["{}"]));
    assert!(matches!(talk.step(Input::Start("x")), Effect::Failed(Failure::OutOfStep { .. })));
    talk.give(tool_results(&calls, "R"));
}

#[test]
fn thinking_over_the_api_is_shown_and_not_kept() {
    let mut talk = asked();
    let mut chunks = text_answer(&["yes"]);
    chunks.insert(1, json!({"choices": [{"delta": {"reasoning_content": "hm"}}]}));
    assert_eq!(talk.answer_with_text(&chunks).answer, "yes");
    assert_eq!(talk.shown, ["reasoning hm", "text yes"]);
    assert!(!talk.ask("more").to_string().contains("hm"));
}

#[test]
fn an_event_without_end_is_given_up() {
    let mut talk = asked();
    let mut effect = talk.step(Input::Bytes(b"data: "));
    let block = vec![b'x'; 1 << 20];
    for _ in 0..20 {
        if effect != Effect::Continue {
            break;
        }
        effect = talk.step(Input::Bytes(&block));
    }
    assert!(failure(effect).to_string().contains("longer than the limit"));
    assert!(!talk.notices().contains(&Notice::Cut));
}

#[test]
fn what_a_server_refuses_of_a_request_is_left_out_of_all_that_follow() {
    let think = json!({"summary": "auto"});
    for (api, name, said) in [
        (
            ServerApi::OpenAi,
            "max_tokens",
            "'max_tokens' is not supported. Use 'max_completion_tokens' instead.",
        ),
        (ServerApi::OpenAi, "stream_options", "Unrecognized request argument supplied: stream_options"),
        (
            ServerApi::Responses,
            "reasoning",
            "Your organization must be verified to generate reasoning summaries.",
        ),
        (ServerApi::Responses, "include", "Encrypted content is not supported with this model."),
    ] {
        let mut asked = Settings { api, max_tokens: Some(9), ..settings() };
        if api == ServerApi::Responses {
            asked.extra.insert("reasoning".to_owned(), think.clone());
        }
        let mut talk = Talk::new(asked.clone());
        let first = talk.ask("hi");
        assert!(first.get(name).is_some(), "{first}");
        let refusal = json!({"error": {"message": said}}).to_string();
        let mut second = request(talk.refuse(400, &refusal, None));
        assert_eq!(second.get(name), None, "{second}");
        // All else is as it was.
        if name == "max_tokens" {
            assert_eq!(second.as_object_mut().unwrap().shift_remove("max_completion_tokens"), Some(json!(9)));
        }
        second[name] = first[name].clone();
        assert_eq!(second, first);
        // It is known from now on, of this model alone, and refused twice it is told.
        assert_eq!(talk.step(Input::Cancel), Effect::Failed(Failure::Cancelled));
        let mut talk = talk.reconfigure(Settings { temperature: Some(0.5), ..asked.clone() });
        assert_eq!(talk.ask("two").get(name), None);
        assert!(matches!(talk.refuse(400, &refusal, None), Effect::Failed(Failure::Refused { .. })));
        let mut talk = talk.reconfigure(Settings { model: "other".into(), ..asked });
        assert!(talk.ask("three").get(name).is_some());
    }
}

#[test]
fn a_conversation_that_is_too_long_is_made_shorter_whatever_else_the_error_names() {
    let mut talk = Talk::new(Settings { max_tokens: Some(9), ..settings() });
    talk.ask("one");
    talk.answer_with_text(&text_answer(&["first"]));
    talk.ask("two");
    let said = "'max_tokens' or 'max_completion_tokens' is too large: 9. This model's maximum context length is 10 tokens.";
    let body = request(talk.refuse(400, &json!({"error": {"message": said}}).to_string(), None));
    assert_eq!(
        (body.get("max_completion_tokens"), body["messages"].as_array().unwrap().len()),
        (None, 2),
        "{body}"
    );
}
