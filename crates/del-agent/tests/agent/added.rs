//! What the user says while calls run.

use del_agent::{Effect, Entry, Failure, Image, Input, Notice, Settings};
use del_wire::ServerApi;
use serde_json::{Value, json};

use crate::script::{Talk, native_call, prompt_mode, request, settings, text_answer, tool_results};

const ARGUMENTS: &str = r#"{"path":"a"}"#;

/// A conversation in which the user says more while two calls run.
fn steered(settings: Settings) -> (Talk, Value) {
    let mut talk = Talk::new(settings);
    talk.ask("Read it.");
    let calls = talk.answer_with_calls(&native_call("c1", "read_file", &[ARGUMENTS]));
    talk.agent.add("Only the head.".to_owned(), Vec::new());
    talk.agent.add("And be quick.".to_owned(), Vec::new());
    let body = talk.give(tool_results(&calls, "long"));
    (talk, body)
}

#[test]
fn it_goes_to_the_model_behind_their_results_and_the_question_goes_on() {
    let (mut talk, body) = steered(settings());
    assert_eq!(
        body["messages"].as_array().unwrap()[3..],
        [
            json!({"role": "tool", "tool_call_id": "c1", "name": "read_file", "content": "long"}),
            json!({"role": "user", "content": "Only the head.\n\nAnd be quick."}),
        ]
    );
    let done = talk.answer_with_text(&text_answer(&["The head."]));
    assert_eq!((done.answer.as_str(), done.turns), ("The head.", 2));
    let body = talk.ask("Thanks.");
    assert_eq!(body["messages"][4]["content"], "Only the head.\n\nAnd be quick.", "it stays where it was");
}

#[test]
fn results_come_first_in_every_api() {
    let entries = steered(settings()).0.agent.entries().to_vec();
    let sent = |api| {
        let mut talk = Talk::with_entries(Settings { api, ..settings() }, entries.clone());
        let said = talk.step(Input::GoOn("Go on."));
        request(said)
    };
    let added = "Only the head.\n\nAnd be quick.\n\nGo on.";
    let body = sent(ServerApi::OpenAi);
    let last = body["messages"].as_array().unwrap()[3..].to_vec();
    assert_eq!((&last[0]["role"], &last[1]["role"]), (&json!("tool"), &json!("user")));
    assert_eq!((last.len(), &last[1]["content"]), (2, &json!(added)));

    let body = sent(ServerApi::Anthropic);
    let last = body["messages"].as_array().unwrap().last().unwrap().clone();
    let kinds: Vec<&Value> = last["content"].as_array().unwrap().iter().map(|part| &part["type"]).collect();
    assert_eq!((&last["role"], kinds), (&json!("user"), vec![&json!("tool_result"), &json!("text")]));
    assert_eq!(last["content"][1]["text"], added);
    assert_eq!(body["messages"].as_array().unwrap().len(), 3, "{body:#}");

    let body = sent(ServerApi::Responses);
    let last = body["input"].as_array().unwrap().iter().rev().take(2).collect::<Vec<_>>();
    assert_eq!((&last[1]["type"], &last[0]["role"]), (&json!("function_call_output"), &json!("user")));
    assert!(last[0]["content"].to_string().contains("And be quick."), "{body:#}");

    let body = sent(ServerApi::Ollama);
    let last = body["messages"].as_array().unwrap()[3..].to_vec();
    assert_eq!((&last[0]["role"], &last[1]["role"]), (&json!("tool"), &json!("user")));
    assert_eq!((last.len(), &last[1]["content"]), (2, &json!(added)));
}

#[test]
fn in_the_prompt_it_stands_behind_the_results_and_cannot_pass_for_the_models_words() {
    let mut talk = Talk::new(prompt_mode());
    talk.ask("Read it.");
    let calls = talk.answer_with_calls(&text_answer(&[&crate::script::call_text("read_file", ARGUMENTS)]));
    talk.agent.add("No <tool_call> please.".to_owned(), vec![Image::new("image/png", "AAAA".to_owned())]);
    talk.agent.add("Or a </tool_call>.".to_owned(), Vec::new());
    let body = talk.give(tool_results(&calls, "long"));
    let last = body["messages"].as_array().unwrap().last().unwrap().clone();
    let told = last.to_string();
    let (result, said) = (told.find("long").unwrap(), told.find("please.").unwrap());
    assert!(last["role"] == "user" && result < said && told.contains("data:image/png;base64,AAAA"), "{told}");
    assert!(!told.contains("<tool_call>") && !told.contains("</tool_call>"), "{told}");
}

#[test]
fn it_stays_in_the_conversation_when_the_user_stops_or_the_server_fails() {
    let mut talk = Talk::new(settings());
    talk.ask("Read it.");
    let calls = talk.answer_with_calls(&native_call("c1", "read_file", &[ARGUMENTS]));
    talk.agent.add("Only the head.".to_owned(), Vec::new());
    let stopped = talk.step(Input::Stopped(tool_results(&calls, "long")));
    assert_eq!(stopped, Effect::Failed(Failure::Cancelled));
    assert!(matches!(talk.agent.entries(), [.., Entry::Results { .. }, Entry::Added { .. }]));

    let (mut talk, _) = steered(settings());
    assert!(matches!(talk.step(Input::Astray("no")), Effect::Failed(Failure::Unreachable { .. })));
    let body = talk.ask("And now?");
    let last = body["messages"].as_array().unwrap().last().unwrap().clone();
    assert_eq!(last["content"], "Only the head.\n\nAnd be quick.\n\nAnd now?");
}

#[test]
fn it_is_left_out_when_the_server_refuses_it_and_the_conversation_goes_on() {
    let (mut talk, _) = steered(settings());
    let before = talk.agent.revision();
    assert!(matches!(talk.refuse(400, "no", None), Effect::Failed(Failure::Refused { .. })));
    assert!(talk.agent.revision() > before && matches!(talk.agent.entries(), [.., Entry::Results { .. }]));
    assert_eq!(talk.notices(), [Notice::Unsaid { count: 2 }]);
    let body = talk.ask("And now?");
    assert_eq!(body["messages"].as_array().unwrap().last().unwrap()["content"], "And now?");

    // What was kept when the user stopped goes out with the next question.
    let mut talk = Talk::new(settings());
    talk.ask("Read it.");
    let calls = talk.answer_with_calls(&native_call("c1", "read_file", &[ARGUMENTS]));
    talk.agent.add("See this.".to_owned(), vec![Image::new("image/png", "AAAA".to_owned())]);
    let stopped = talk.step(Input::Stopped(tool_results(&calls, "long")));
    assert_eq!(stopped, Effect::Failed(Failure::Cancelled));
    talk.ask("And now?");
    assert!(matches!(talk.refuse(400, "takes no images", None), Effect::Failed(Failure::Images { .. })));
    assert!(matches!(talk.agent.entries(), [.., Entry::Results { .. }]), "{:#?}", talk.agent.entries());
}

#[test]
fn a_server_that_takes_no_user_behind_results_gets_it_in_the_last_of_them() {
    let (mut talk, _) = steered(settings());
    let words =
        r#"{"message":"Unexpected role 'user' after role 'tool'","type":"invalid_request_message_order"}"#;
    let said = talk.refuse(400, words, None);
    let body = request(said);
    let told = "long\n\n<user-message>\nOnly the head.\n\nAnd be quick.\n</user-message>";
    assert_eq!(body["messages"].as_array().unwrap()[3]["content"], told);
    talk.answer_with_text(&text_answer(&["The head."]));
    // It stays so for what follows.
    let body = talk.ask("Thanks.");
    assert_eq!(
        (&body["messages"][3]["content"], &body["messages"][5]["content"]),
        (&json!(told), &json!("Thanks."))
    );
    assert!(talk.notices().is_empty());
}

#[test]
fn a_summary_keeps_it_word_for_word_with_the_question() {
    let (mut talk, _) = steered(settings());
    talk.answer_with_text(&text_answer(&["The head."]));
    request(talk.step(Input::Compact("")));
    talk.answer_with_text(&text_answer(&["What was read is long."]));
    let entries = talk.agent.entries();
    assert!(matches!(entries, [Entry::Summary { .. }, .., Entry::Assistant { .. }]), "{entries:#?}");
    let added = |text: &str| Entry::Added { text: text.to_owned(), images: Vec::new() };
    assert_eq!(entries[1..4], [Entry::user("Read it."), added("Only the head."), added("And be quick.")]);
    assert_eq!(entries.len(), 5, "{entries:#?}");
}

#[test]
fn a_command_of_the_users_is_told_with_the_next_question_and_stays_when_that_fails() {
    let told = |body: &Value| body["messages"].as_array().unwrap().last().unwrap()["content"].clone();
    let ran = "[The user ran a command]\n$ make\n\nFailed";
    let mut talk = Talk::new(settings());
    talk.agent.ran("make".to_owned(), "Failed".to_owned());
    assert_eq!(told(&talk.ask("Why?")), format!("{ran}\n\nWhy?"));
    assert!(matches!(talk.refuse(400, "no", None), Effect::Failed(Failure::Refused { .. })));
    assert_eq!(told(&talk.ask("And now?")), format!("{ran}\n\nAnd now?"));
    talk.answer_with_text(&text_answer(&["No rule."]));
    assert_eq!(told(&talk.ask("Thanks.")), "Thanks.");
}

#[test]
fn what_old_commands_gave_is_left_out_as_old_results_are() {
    let mut talk = Talk::new(Settings { context: Some(2000), ..settings() });
    for number in 0..5 {
        talk.agent.ran(format!("job {number}"), "x".repeat(1200));
    }
    let body = talk.ask("Well?").to_string();
    assert_eq!((body.matches("left out to make room").count(), body.matches("$ job").count()), (2, 5));
}

#[test]
fn the_same_call_may_be_made_again_for_it() {
    let mut talk = Talk::new(settings());
    talk.ask("Read it.");
    for round in 0..4 {
        let id = format!("c{round}");
        let calls = talk.answer_with_calls(&native_call(&id, "read_file", &[ARGUMENTS]));
        if round == 1 {
            talk.agent.add("It has changed, look again.".to_owned(), Vec::new());
        }
        talk.give(tool_results(&calls, "long"));
    }
    assert!(matches!(talk.answer(&native_call("c4", "read_file", &[ARGUMENTS])), Effect::Request(_)));
}
