//! Hybrid mode: names first, definitions when the model asks for them.

use std::sync::Arc;

use del_agent::{Constrain, Effect, Entry, Mode, Notice, Server, Settings, ToolsMode};
use del_dialects::{Dialects, Tool};
use serde_json::{Value, json};

use crate::script::{Talk, call_text, native_call, request, settings, text_answer, tool_results};

fn hybrid() -> Settings {
    let mut settings = settings();
    for number in 0..40 {
        settings.tools.push(Tool { name: format!("other_{number}"), ..settings.tools[0].clone() });
    }
    Settings { tools_mode: ToolsMode::Hybrid, ..settings }
}

fn in_dialect(name: &str) -> Settings {
    let dialect = Arc::clone(Dialects::builtin().get(name).unwrap());
    Settings { dialect: Some(dialect), ..hybrid() }
}

fn names(body: &Value) -> Vec<&str> {
    body["tools"].as_array().unwrap().iter().map(|tool| tool["function"]["name"].as_str().unwrap()).collect()
}

fn said(body: &Value, place: usize) -> &str {
    body["messages"][place]["content"].as_str().unwrap()
}

#[test]
fn natively_a_tool_gets_the_definitions_of_others() {
    let mut talk = Talk::new(hybrid());
    let body = talk.ask("Read a.");
    assert_eq!(names(&body), ["request_tools"]);
    let list = body["tools"][0]["function"]["description"].as_str().unwrap();
    assert!(list.contains("\n- read_file: Reads a file\n") && list.contains("\n- other_39"), "{list}");

    let body = request(talk.answer(&native_call("c1", "request_tools", &["{\"query\":", "\"read_file\"}"])));
    assert_eq!(names(&body), ["request_tools", "read_file"]);
    assert_eq!(talk.notices(), [Notice::Defined { names: vec!["read_file".to_owned()] }]);
    assert_eq!(body["tools"][1]["function"]["parameters"]["required"], json!(["path"]));
    assert_eq!(
        body["messages"][3]["content"],
        "You have the definition of read_file now. Call it, with its own arguments: path (string), limit (integer, optional)."
    );

    let calls = talk.answer_with_calls(&native_call("c2", "read_file", &["{\"path\":\"a\"}"]));
    talk.give(tool_results(&calls, "R"));
    let done = talk.answer_with_text(&text_answer(&["It says R."]));
    assert_eq!((done.answer.as_str(), done.turns), ("It says R.", 3));
    // More at any turn, behind those that are there.
    talk.ask("Write it down.");
    let body = request(talk.answer(&native_call("c3", "request_tools", &["{\"query\":\"write_file\"}"])));
    assert_eq!(names(&body), ["request_tools", "read_file", "write_file"]);
}

#[test]
fn a_named_dialect_means_the_prompt_and_results_in_its_form() {
    let mut talk = Talk::new(in_dialect("amrita-am"));
    let body = talk.ask("Read a.");
    assert_eq!((talk.agent.mode(), body.get("tools")), (Mode::Prompt, None));
    assert_eq!(body["stop"], json!(["</am:tool_call>", "</am:request_tools>"]));
    let system = said(&body, 0);
    assert!(
        system.contains("- read_file: Reads a file") && !system.contains("name=\"read_file\""),
        "{system}"
    );

    let asks = "<am:request_tools>read_file, nothing_such</am:request_tools>";
    let body = request(talk.answer(&text_answer(&[asks])));
    assert!(said(&body, 0).contains("<am:tool name=\"read_file\""), "{}", said(&body, 0));
    assert_eq!(said(&body, 2), asks);
    let told = said(&body, 3);
    assert!(
        told.starts_with("<am:tool_result name=\"request_tools\">You have the definition of read_file"),
        "{told}"
    );
    assert!(told.contains("such as") && told.contains("`nothing_such`"), "{told}");

    // The server stopped at the closing mark.
    let body = request(talk.answer(&text_answer(&["<am:request_tools>nothing_such"])));
    assert!(
        said(&body, 5).starts_with("<am:tool_error name=\"request_tools\">Error: "),
        "{}",
        said(&body, 5)
    );

    let call = "<am:tool_call name=\"read_file\">\n<path>a</path>\n<limit>3</limit>\n</am:tool_call>";
    let calls = talk.answer_with_calls(&text_answer(&[call]));
    assert_eq!(calls[0].arguments, r#"{"path":"a","limit":3}"#);
}

#[test]
fn a_call_without_the_definition_brings_it_and_does_not_run() {
    let mut talk = Talk::new(in_dialect("hermes-json"));
    talk.ask("Read a.");
    let body = request(talk.answer(&text_answer(&[&call_text("read_file", r#"{"file": "a"}"#)])));
    assert!(said(&body, 0).contains(r#""required": ["path"]"#), "{}", said(&body, 0));
    assert!(said(&body, 3).contains("Error: not run"), "{}", said(&body, 3));
    // The definition asked for and the call in one answer: the arguments were guessed as well.
    let both =
        [call_text("request_tools", r#"{"query": "write_file"}"#), call_text("write_file", r#"{"to": "b"}"#)];
    let body = request(talk.answer(&text_answer(&[&both.concat()])));
    assert!(
        said(&body, 5).contains("Error: not run: you had no definition of write_file"),
        "{}",
        said(&body, 5)
    );
    let calls = talk.answer_with_calls(&text_answer(&[&call_text("write_file", r#"{"path": "b"}"#)]));
    assert_eq!(calls[0].name, "write_file");
}

#[test]
fn a_conversation_that_was_kept_has_the_definitions_that_it_used() {
    let mut talk = Talk::new(hybrid());
    talk.ask("Read a.");
    let _ = talk.answer(&native_call("c1", "request_tools", &["{\"query\":\"other_7\"}"]));
    let calls = talk.answer_with_calls(&native_call("c2", "other_7", &["{\"path\":\"a\"}"]));
    talk.give(tool_results(&calls, "R"));
    let entries: Vec<Entry> = talk.agent.entries().to_vec();
    let mut later = Talk::with_entries(hybrid(), entries);
    assert_eq!(names(&later.ask("Again.")), ["request_tools", "other_7"]);
}

#[test]
fn a_grammar_asks_first_and_calls_then() {
    let server = Server { llama_cpp: true, ..Server::default() };
    let context = Some(32_768);
    let mut talk = Talk::new(Settings { server, constrain: Constrain::On, context, ..hybrid() });
    let body = talk.ask("Read a.");
    let grammar = |body: &Value| body["grammar"].as_str().unwrap().to_owned();
    assert!(grammar(&body).contains("request_tools") && !grammar(&body).contains("read_file"), "{body}");
    let body =
        request(talk.answer(&text_answer(&[&call_text("request_tools", r#"{"query": "read_file"}"#)])));
    assert!(grammar(&body).contains("read_file") && body["max_tokens"] == 32_768, "{body}");
    let calls = talk.answer_with_calls(&text_answer(&[&call_text("read_file", r#"{"path": "a"}"#)]));
    // Now there is a result, and the model may answer.
    assert!(talk.give(tool_results(&calls, "R")).get("max_tokens").is_none());
}

#[test]
fn a_server_that_refuses_tools_gets_the_list_in_the_prompt() {
    let mut talk = Talk::new(hybrid());
    talk.ask("Read a.");
    let refused = talk.refuse(400, r#"{"error":{"message":"gemma:2b does not support tools"}}"#, None);
    let Effect::Request(body) = refused else { panic!("{refused:?}") };
    assert!(
        said(&body, 0).contains("request_tools") && !said(&body, 0).contains("required\": [\"path"),
        "{body}"
    );
}
