//! Calls that are held to a grammar.

use del_agent::{Constrain, Effect, Notice, Server, Settings};
use serde_json::json;

use crate::script::{Talk, call_text, prompt_mode, settings, text_answer, tool_results};

#[test]
fn constrained_calls_until_a_result_is_there() {
    let server = Server { llama_cpp: true, ..Server::default() };
    let context = Some(32_768);
    let mut talk = Talk::new(Settings { server, constrain: Constrain::On, context, ..settings() });
    let body = talk.ask("When does it open?");
    let grammar = body["grammar"].as_str().unwrap();
    assert!(grammar.contains("root ::=") && grammar.contains("<tool_call>") && grammar.contains("read_file"));
    // No call that fits into the context is cut.
    assert_eq!(body["max_tokens"], 32_768);
    assert!(body.get("tools").is_none());
    let system = body["messages"][0]["content"].as_str().unwrap();
    assert!(system.contains("\"name\": \"read_file\", \"description\": \"Reads a file. "), "{system}");

    let calls = talk.answer_with_calls(&text_answer(&[&call_text("read_file", "{\"path\": \"a\"}")]));
    let body = talk.give(tool_results(&calls, "at 7"));
    // From here on plain words are fine, and so is another call.
    assert_ne!(body["grammar"], json!(grammar));
    assert!(body["grammar"].as_str().unwrap().contains("<tool_call>") && body.get("tools").is_none());
    assert!(body.get("max_tokens").is_none());
    let last = body["messages"].as_array().unwrap().last().unwrap();
    let last = last["content"].as_str().unwrap();
    assert!(last.ends_with("Use the text above to answer in plain words: When does it open?"), "{last}");
    talk.answer_with_text(&text_answer(&["7"]));
    assert!(talk.ask("And on Sunday?").get("grammar").is_some());
}

#[test]
fn a_call_that_begins_is_constrained_and_plain_words_are_not() {
    let server = Server { llama_cpp: true, ..Server::default() };
    let mut talk = Talk::new(Settings { server, ..prompt_mode() });
    let body = talk.ask("hi");
    let grammar = body["grammar"].as_str().unwrap();
    assert!(grammar.contains("<tool_call>") && body.get("max_tokens").is_none(), "{grammar}");
    // A server that refuses it is asked without, and nobody is told: nobody asked for it.
    let effect = talk.refuse(400, r#"{"error":{"message":"failed to parse grammar"}}"#, None);
    let Effect::Request(body) = effect else { panic!("{effect:?}") };
    assert!(body.get("grammar").is_none() && talk.notices().is_empty());
    // Elsewhere there is none.
    for settings in [
        prompt_mode(),
        Settings { server, ..settings() },
        Settings { server, constrain: Constrain::Off, ..prompt_mode() },
    ] {
        assert!(Talk::new(settings).ask("hi").get("grammar").is_none());
    }
}

#[test]
fn constraint_elsewhere_is_noticed_and_left_out() {
    let mut talk = Talk::new(Settings { constrain: Constrain::On, ..prompt_mode() });
    assert!(talk.ask("hi").get("grammar").is_none());
    assert!(matches!(&talk.notices()[0], Notice::Unconstrained { .. }));

    let server = Server { llama_cpp: true, ..Server::default() };
    let mut talk = Talk::new(Settings { server, constrain: Constrain::On, ..settings() });
    talk.ask("hi");
    let effect = talk.refuse(
        400,
        r#"{"error":{"message":"Failed to initialize samplers: failed to parse grammar"}}"#,
        None,
    );
    let Effect::Request(body) = effect else { panic!("{effect:?}") };
    assert!(body.get("grammar").is_none());
}
