//! Whole conversations with scripted servers: what the agent asks for, runs, shows and says.

use crate::script::{
    Talk, call_text, native_call, prompt_mode, request, settings, text_answer, tool_results,
};
use del_agent::{Effect, Entry, Failure, Mode, Notice, Server, Settings, ToolsMode};
use del_dialects::{Call, Tool};
use serde_json::json;

#[test]
fn native_mode_runs_a_call_and_answers() {
    let mut talk = Talk::new(settings());
    let body = talk.ask("When does the bakery open?");
    assert_eq!(
        body["messages"],
        json!([
            {"role": "system", "content": "You are Del."},
            {"role": "user", "content": "When does the bakery open?"},
        ])
    );
    assert_eq!(body["tools"][0]["function"]["name"], "read_file");
    assert_eq!((&body["tool_choice"], &body["stream"]), (&json!("auto"), &json!(true)));

    let calls = talk.answer_with_calls(&native_call("c1", "read_file", &["{\"path\":", "\"README.md\"}"]));
    assert_eq!(calls.len(), 1);
    assert_eq!(
        (calls[0].id.as_deref(), calls[0].arguments.as_str()),
        (Some("c1"), r#"{"path":"README.md"}"#)
    );
    assert_eq!(
        talk.shown_calls(),
        ["start 0 read_file openai-native", "args 0 {\"path\":", "args 0 \"README.md\"}", "end 0"]
    );

    let body = talk.give(tool_results(&calls, "opens at 7"));
    assert_eq!(
        body["messages"].as_array().unwrap()[2..],
        [
            json!({"role": "assistant", "content": "", "tool_calls": [{"id": "c1", "type": "function",
                "function": {"name": "read_file", "arguments": "{\"path\":\"README.md\"}"}}]}),
            json!({"role": "tool", "tool_call_id": "c1", "name": "read_file", "content": "opens at 7"}),
        ]
    );

    let done = talk.answer_with_text(&text_answer(&["It opens", " at 7.\n"]));
    assert_eq!((done.answer.as_str(), done.turns, done.cut), ("It opens at 7.", 2, false));
    assert_eq!((done.usage.prompt, done.usage.completion), (20, 6));
    assert_eq!(talk.shown_text(), "It opens at 7.\n");
}

#[test]
fn a_conversation_goes_on_after_the_answer() {
    let mut talk = Talk::new(settings());
    talk.ask("one");
    talk.answer_with_text(&text_answer(&["first"]));
    let body = talk.ask("two");
    assert_eq!(
        body["messages"].as_array().unwrap()[1..],
        [
            json!({"role": "user", "content": "one"}),
            json!({"role": "assistant", "content": "first"}),
            json!({"role": "user", "content": "two"}),
        ]
    );
    let done = talk.answer_with_text(&text_answer(&["second"]));
    assert_eq!((done.turns, done.usage.prompt, talk.agent.usage().prompt), (1, 10, 20));
}

#[test]
fn prompt_mode_writes_and_reads_the_dialect() {
    let mut talk = Talk::new(prompt_mode());
    let body = talk.ask("Read it.");
    assert!(body.get("tools").is_none() && body.get("tool_choice").is_none());
    let system = body["messages"][0]["content"].as_str().unwrap();
    assert!(system.starts_with("You are Del.\n\n") && system.contains("read_file"), "{system}");

    let text = format!("<think>hm</think>I look.\n{}", call_text("read_file", "{\"path\": \"a\"}"));
    let calls = talk.answer_with_calls(&text_answer(&[&text[..30], &text[30..]]));
    assert_eq!(calls[0].name, "read_file");
    assert!(calls[0].id.as_deref().unwrap().starts_with("call_"));

    let body = talk.give(tool_results(&calls, "RESULT"));
    let messages = body["messages"].as_array().unwrap();
    assert_eq!(messages.len(), 4);
    assert_eq!(messages[2]["role"], "assistant");
    let told = messages[2]["content"].as_str().unwrap();
    assert!(told.starts_with("I look.\n<tool_call>") && told.contains(r#"{"path": "a"}"#), "{told}");
    assert!(messages[2].get("tool_calls").is_none());
    let result = messages[3]["content"].as_str().unwrap();
    assert!(result.contains("<tool_response>") && result.contains("RESULT"), "{result}");
    assert_eq!(talk.answer_with_text(&text_answer(&["done"])).answer, "done");
}

#[test]
fn history_is_canonical_and_without_thinking() {
    let mut talk = Talk::new(prompt_mode());
    talk.ask("Read it.");
    let sloppy =
        "<think>secret</think><tool_call>{\"name\":\"read_file\",\"arguments\":{\"path\":\"a\"}}</tool_call>";
    let calls = talk.answer_with_calls(&text_answer(&[sloppy]));
    let body = talk.give(tool_results(&calls, "R"));
    let told = body["messages"][2]["content"].as_str().unwrap();
    assert!(!told.contains("secret") && !told.contains("<tool_call>{"), "{told}");
    assert!(told.contains("<tool_call>\n{"), "{told}");
}

#[test]
fn text_that_leaks_in_native_mode_is_a_native_call_in_history() {
    let mut talk = Talk::new(settings());
    talk.ask("Read it.");
    let calls = talk.answer_with_calls(&text_answer(&["ok ", &call_text("read_file", "{\"path\": \"a\"}")]));
    let body = talk.give(tool_results(&calls, "R"));
    let assistant = &body["messages"][2];
    assert_eq!(
        (&assistant["content"], &assistant["tool_calls"][0]["id"]),
        (&json!("ok"), &json!(calls[0].id))
    );
    assert_eq!(body["messages"][3]["tool_call_id"], json!(calls[0].id));
    assert_eq!(talk.agent.mode(), Mode::Native);
}

#[test]
fn a_call_that_comes_both_ways_runs_once() {
    let mut talk = Talk::new(settings());
    talk.ask("Read it.");
    let mut chunks = text_answer(&[&call_text("read_file", "{\"path\": \"a\"}")]);
    chunks.pop();
    chunks.extend(native_call("c9", "read_file", &["{\"path\":\"a\"}"]));
    let calls = talk.answer_with_calls(&chunks);
    assert_eq!(calls.len(), 1);
    assert!(calls[0].id.is_some());
}

#[test]
fn auto_mode_goes_to_the_prompt_and_remembers() {
    let mut talk = Talk::new(settings());
    assert!(talk.ask("Read it.").get("tools").is_some());
    let body = talk.refuse(400, r#"{"error":{"message":"gemma:2b does not support tools"}}"#, None);
    let Effect::Request(body) = body else { panic!("{body:?}") };
    assert!(body.get("tools").is_none());
    assert!(body["messages"][0]["content"].as_str().unwrap().contains("read_file"));
    assert_eq!(talk.notices().len(), 1);
    assert!(matches!(&talk.notices()[0], Notice::PromptMode { reason } if reason.contains("gemma:2b")));

    let calls = talk.answer_with_calls(&text_answer(&[&call_text("read_file", "{}")]));
    assert!(talk.give(tool_results(&calls, "R")).get("tools").is_none());
    talk.answer_with_text(&text_answer(&["done"]));
    assert!(talk.ask("more").get("tools").is_none());
}

#[test]
fn a_server_known_to_take_no_tools_is_not_asked() {
    let server = Server { llama_cpp: true, takes_tools: Some(false), ..Server::default() };
    let mut talk = Talk::new(Settings { server, ..settings() });
    assert!(talk.ask("Read it.").get("tools").is_none());
    assert!(matches!(&talk.notices()[0], Notice::PromptMode { .. }));
}

#[test]
fn native_mode_on_request_stays_native() {
    let mut talk = Talk::new(Settings { tools_mode: ToolsMode::Native, ..settings() });
    talk.ask("Read it.");
    let effect = talk.refuse(400, r#"{"error":"m does not support tools"}"#, None);
    let Effect::Failed(failure @ Failure::Refused { .. }) = effect else { panic!("{effect:?}") };
    assert_eq!(
        failure.to_string(),
        "the model server refused (status 400): m does not support tools. Put the tools into the prompt instead"
    );
}

#[test]
fn an_empty_answer_is_never_null() {
    let mut talk = Talk::new(prompt_mode());
    talk.ask("one");
    let done = talk.answer_with_text(&[
        json!({"choices": [{"delta": {"role": "assistant", "content": null}, "finish_reason": "stop"}]}),
    ]);
    assert_eq!(done.answer, "");
    assert_eq!(talk.notices(), [Notice::Empty]);
    let before = talk.agent.revision();
    for next in ["two", "three"] {
        let body = talk.ask(next);
        let asked = [json!({"role": "user", "content": next})];
        assert_eq!(body["messages"].as_array().unwrap()[1..], asked, "what is unanswered does not pile up");
        let nothing = json!({"choices": [{"delta": {"content": " "}, "finish_reason": "stop"}]});
        assert_eq!(talk.answer_with_text(&[nothing]).answer, "");
        assert!(talk.agent.drop_unanswered());
    }
    assert_eq!((talk.agent.entries().len(), talk.agent.revision() - before), (0, 3));
}

#[test]
fn results_come_back_in_the_order_of_the_calls() {
    let mut talk = Talk::new(settings());
    talk.ask("Read both.");
    let mut chunks = native_call("a", "read_file", &["{\"path\":\"1\"}"]);
    chunks.pop();
    chunks.push(json!({"choices": [{"delta": {"tool_calls": [
        {"index": 1, "id": "b", "function": {"name": "read_file", "arguments": {"path": "2"}}}]},
        "finish_reason": "tool_calls"}]}));
    let calls = talk.answer_with_calls(&chunks);
    assert_eq!(calls.len(), 2);
    let mut results = tool_results(&calls, "R");
    results.reverse();
    results.remove(0);
    let body = talk.give(results);
    let messages = body["messages"].as_array().unwrap();
    assert_eq!((&messages[3]["tool_call_id"], &messages[3]["content"]), (&json!("a"), &json!("R")));
    assert_eq!(
        (&messages[4]["tool_call_id"], &messages[4]["content"]),
        (&json!("b"), &json!("Error: the tool gave no result."))
    );
}

#[test]
fn a_kept_conversation_is_taken_up() {
    let mut talk = Talk::new(settings());
    talk.ask("Read it.");
    talk.answer_with_calls(&native_call("a", "read_file", &["{}"]));
    let kept = serde_json::to_string(talk.agent.entries()).unwrap();
    let entries: Vec<Entry> = serde_json::from_str(&kept).unwrap();
    let mut talk = Talk::with_entries(settings(), entries);
    let body = talk.ask("go on");
    let roles: Vec<&str> = body["messages"]
        .as_array()
        .unwrap()
        .iter()
        .map(|message| message["role"].as_str().unwrap())
        .collect();
    assert_eq!(roles, ["system", "user", "assistant", "tool", "user"]);
    let Effect::Run(calls) = talk.answer(&native_call("a", "read_file", &["{\"path\":\"z\"}"])) else {
        panic!()
    };
    assert_ne!(calls[0].call.id.as_deref(), Some("a"), "an id of the conversation came twice");
}

#[test]
fn settings_may_change_between_questions() {
    let mut talk = Talk::new(settings());
    talk.ask("one");
    request(talk.refuse(400, r#"{"error":"m does not support tools"}"#, None));
    talk.answer_with_text(&text_answer(&["first"]));
    let mut talk = talk.reconfigure(Settings { temperature: Some(0.5), ..settings() });
    let body = talk.ask("two");
    assert_eq!((&body["temperature"], body.get("tools")), (&json!(0.5), None));
    let mut talk = talk.reconfigure(Settings { model: "other".into(), ..settings() });
    assert!(talk.ask("three").get("tools").is_some());
}

#[test]
fn without_tools_it_is_a_plain_chat() {
    for mode in [ToolsMode::Native, ToolsMode::Prompt] {
        let mut talk = Talk::new(Settings { tools: Vec::new(), tools_mode: mode, ..settings() });
        let body = talk.ask("hi");
        assert_eq!(body["messages"][0]["content"], "You are Del.");
        assert!(body.get("tools").is_none() && body.get("tool_choice").is_none());
    }
}

#[test]
fn a_dialect_that_does_not_exist_is_an_error() {
    let error = Talk::try_new(Settings { fallback: "nope".into(), ..settings() }).unwrap_err();
    assert_eq!(error.to_string(), "expected the name of a dialect to write calls in, got `nope`");
}

#[test]
fn a_call_of_a_tool_nobody_has_goes_to_the_caller() {
    let mut talk = Talk::new(settings());
    talk.ask("hi");
    let calls: Vec<Call> = talk.answer_with_calls(&native_call("a", "no_such_tool", &["{}"]));
    assert_eq!(calls[0].name, "no_such_tool");
}

#[test]
fn a_tool_that_is_offered_in_the_middle_of_a_question_can_be_called_at_once() {
    for settings in [settings(), prompt_mode()] {
        let mut talk = Talk::new(settings);
        let before = talk.ask("Read it.").to_string();
        let calls = talk.answer_with_calls(&native_call("a", "read_file", &["{\"path\":\"1\"}"]));
        let tool = Tool {
            name: "follow".into(),
            description: "Follows.".into(),
            parameters: json!({"type": "object"}).into(),
        };
        talk.agent.offer(tool);
        let after = talk.give(tool_results(&calls, "R")).to_string();
        assert!(!before.contains("follow") && after.contains("follow"), "{after}");
        let calls = talk.answer_with_calls(&text_answer(&[
            "<tool_call>{\"name\": \"follow\", \"arguments\": {}}</tool_call>",
        ]));
        assert_eq!(calls[0].name, "follow");
    }
}
