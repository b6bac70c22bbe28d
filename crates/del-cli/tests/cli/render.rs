//! `del render`.

use serde_json::json;

use crate::del::{del, directory, plain, run, text};

#[test]
fn a_conversation_is_written_in_the_dialect_and_its_calls_read_back() {
    let messages = json!([
        {"role": "user", "content": "Weather?"},
        {"role": "assistant", "content": "Let me see.", "tool_calls": [
            {"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{\"city\": \"Paris\"}"}}]},
        {"role": "tool", "tool_call_id": "c1", "content": [{"type": "text", "text": "sunny"}]},
    ]);
    let tools = json!([{"name": "f", "description": "Weather.", "input_schema":
        {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}}]);
    let files = directory(&[("m.json", &messages.to_string()), ("t.json", &tools.to_string())]);
    let path = |name: &str| text(&files.path().join(name));
    let (messages, tools) = (path("m.json"), path("t.json"));
    let render = |dialect: &str, part: &str| {
        plain(&["render", "--dialect", dialect, "--tools", &tools, "--messages", &messages, "--part", part])
    };
    for dialect in ["hermes", "qwen3_coder", "mistral", "llama3_json", "pythonic", "deepseek_v3"] {
        let calls = render(dialect, "calls");
        assert_eq!(calls.code, 0, "{calls:#?}");
        let read = run(&mut del(&["parse", "--dialect", dialect, "--tools", &tools]), &calls.out).json();
        let function = &read["tool_calls"][0]["function"];
        assert_eq!(function["name"], "f", "{dialect}: {calls:#?}");
        let arguments: serde_json::Value =
            serde_json::from_str(function["arguments"].as_str().unwrap()).unwrap();
        assert_eq!(arguments, json!({"city": "Paris"}), "{dialect}");
        assert!(render(dialect, "results").out.contains("sunny"), "{dialect}");
        assert!(render(dialect, "definitions").out.contains("Weather."), "{dialect}");
    }
    let all = plain(&["render", "--dialect", "hermes", "--tools", &tools, "--messages", &messages, "--json"]);
    let roles: Vec<String> = all.json().as_array().unwrap().iter().map(|m| m["role"].to_string()).collect();
    assert_eq!(roles, ["\"system\"", "\"user\"", "\"assistant\"", "\"user\""], "{all:#?}");
}

#[test]
fn what_cannot_be_written_is_said() {
    let call = json!([{"role": "assistant", "content": "", "tool_calls": [
        {"type": "function", "function": {"name": "f", "arguments": "[1]"}}]}]);
    let files = directory(&[("t.json", "[]"), ("bad.json", &call.to_string()), ("no.json", "3")]);
    let path = |name: &str| text(&files.path().join(name));
    let render = |messages: &str| {
        plain(&["render", "--dialect", "hermes", "--tools", &path("t.json"), "--messages", &path(messages)])
    };
    render("bad.json").fails(42, "messages[0]");
    render("no.json").fails(42, "expected a list of messages");
    render("none.json").fails(42, "cannot read");
    plain(&["render", "--dialect", "hermes"]).fails(2, "--tools");
}

#[test]
fn a_conversation_that_is_none_is_told() {
    let tools = "[{\"name\": \"f\"}]";
    for (messages, said) in [
        ("nonsense", "expected JSON, got `nonsense` (expected "),
        ("{\"messages\": 7}", "expected a list of messages, or an object with `messages`, got `7`"),
        (
            "[{\"role\": \"user\", \"content\": 5}]",
            "messages[0]: `content` should be a string or a list, got `5`",
        ),
        (
            "[{\"role\": \"tool\", \"content\": {\"type\": \"text\", \"text\": \"a\"}}]",
            "messages[0]: `content` should be a string or a list, got `{",
        ),
    ] {
        let files = directory(&[("tools.json", tools), ("messages.json", messages)]);
        let path = |name: &str| text(&files.path().join(name));
        let render = ["render", "--dialect", "hermes", "--tools", &path("tools.json"), "--messages"];
        plain(&[&render[..], &[&path("messages.json")]].concat()).fails(42, said);
    }
}
