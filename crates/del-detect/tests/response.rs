//! A checkpoint's response template becomes a description that reads and writes.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

use std::sync::{Arc, LazyLock};

use del_detect::response;
use del_dialects::{Call, Collect, Dialect, Dialects, End, Message, Tool, Turn};
use serde_json::{Value, json};

static TOOLS: LazyLock<Arc<[Tool]>> = LazyLock::new(|| {
    let tools: Vec<Tool> = serde_json::from_str(include_str!("../src/probe/tools.json")).unwrap();
    tools.into()
});

fn read<'p>(dialect: &Arc<Dialect>, pieces: impl IntoIterator<Item = &'p str>) -> Message {
    let mut parser = dialect.parser(Turn::new(Arc::clone(&TOOLS)));
    let mut collect = Collect::new();
    for piece in pieces {
        parser.push(piece, &mut collect);
    }
    parser.finish(End::End, &mut collect);
    collect.into_message()
}

fn loaded(template: &Value) -> Arc<Dialect> {
    let text = response::describe("Example", &template.to_string()).expect("a description");
    let dialect = Dialect::from_toml("example", &text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    Arc::new(dialect)
}

/// Expects these calls, text and thinking, whole and a character at a time, and that the calls can be written.
fn expect(template: &Value, text: &str, calls: &[(&str, &str)], content: &str, reasoning: &str) {
    let dialect = loaded(template);
    let call = |&(name, arguments): &(&str, &str)| Call {
        id: None,
        name: name.to_owned(),
        arguments: arguments.to_owned(),
    };
    let calls: Vec<_> = calls.iter().map(call).collect();
    let characters = text.split_inclusive(|_| true).collect();
    for pieces in [vec![text], characters] {
        let message = read(&dialect, pieces);
        assert_eq!(message.calls, calls, "{text:?}");
        assert_eq!((message.content.trim(), message.reasoning.trim()), (content, reasoning), "{text:?}");
    }
    let written = dialect.render_calls(&calls, &TOOLS).expect("calls that can be written");
    assert_eq!(read(&dialect, [written.as_str()]).calls, calls, "{written:?}");
}

/// Header and tags, as Beam's checkpoints have them.
fn tagged() -> Value {
    json!({
        "start_anchor_pattern": r"<\|start\|>assistant",
        "fields": {
            "thinking": {"open": "<|channel|>analysis<|message|>", "close": "<|end|><|start|>assistant"},
            "content": {"open": "<|channel|>final<|message|>", "close": ["<|return|>", "<|end|>", "<|call|>"]},
            "tool_calls": {
                "open_pattern": r" to=(?P<name>[^\s<]+)<\|channel\|>analysis <\|constrain\|>xml<\|message\|>",
                "close": ["<|end|><|start|>assistant", "<|call|>"],
                "repeats": true,
                "content": "xml-inline",
                "content_args": {
                    "tag_pattern": r#"<rfl:parameter name="(?P<key>[^"]+)">\n(?P<value>.*?)\n(?:</rfl:parameter>|(?=<rfl:parameter name="))"#,
                },
                "transform": {"type": "function", "function": {"name": "{name}", "arguments": "{content}"}},
            },
        },
    })
}

/// Bare keys and mirrored quotes, as Gemma 4's checkpoints have them.
fn mirrored() -> Value {
    json!({
        "defaults": {"role": "assistant"},
        "start_anchor": ["<|turn>model\n"],
        "fields": {
            "thinking": {"open": "<|channel>thought\n", "close": "<channel|>", "content": "text"},
            "content": {"close": ["<turn|>", "<eos>"], "content": "text"},
            "tool_calls": {
                "open_pattern": r"<\|tool_call>call:(?P<name>\w+)",
                "close": "<tool_call|>",
                "content": "json",
                "content_args": {"unquoted_keys": true, "string_delims": [["<|\"|>", "<|\"|>"]]},
                "repeats": true,
                "transform": {"type": "function", "function": {"name": "{name}", "arguments": "{content}"}},
            },
        },
    })
}

#[test]
fn headers_and_tags() {
    expect(
        &tagged(),
        concat!(
            "<|channel|>analysis<|message|>I should look.<|end|><|start|>assistant to=get_weather<|channel|>analysis ",
            "<|constrain|>xml<|message|><rfl:parameter name=\"city\">\nParis\n</rfl:parameter>",
            "<rfl:parameter name=\"days\">\n3\n</rfl:parameter><|call|>",
        ),
        &[("get_weather", r#"{"city":"Paris","days":3}"#)],
        "",
        "I should look.",
    );
    expect(&tagged(), "<|channel|>final<|message|>Sunny.<|return|>", &[], "Sunny.", "");
}

#[test]
fn mirrored_quotes() {
    expect(
        &mirrored(),
        "<|channel>thought\nHm.<channel|>Let me see.<|tool_call>call:get_weather{city:<|\"|>Pa\"ris<|\"|>,days:3}<tool_call|><turn|>",
        &[("get_weather", r#"{"city":"Pa\"ris","days":3}"#)],
        "Let me see.",
        "Hm.",
    );
}

#[test]
fn calls_as_objects() {
    let template = |each: bool| {
        json!({"fields": {"tool_calls": {
            "open": "<calls>", "close": "</calls>", "content": "json", "transform_each": each,
            "transform": {"type": "function", "function": {"name": "{content.tool}", "arguments": "{content.input}"}},
        }}})
    };
    let one = r#"{"tool": "list_dir", "input": {"path": "."}}"#;
    let expected = ("list_dir", r#"{"path": "."}"#);
    expect(&template(false), &format!("<calls>{one}</calls>"), &[expected], "", "");
    expect(&template(true), &format!("<calls>[{one}, {one}]</calls>"), &[expected, expected], "", "");
}

#[test]
fn what_a_description_cannot_say_is_refused_by_name() {
    let with = |key: &str, value: Value| {
        let mut template = tagged();
        template["fields"]["tool_calls"][key] = value;
        response::describe("Example", &template.to_string()).unwrap_err().to_string()
    };
    for (key, value, place) in [
        ("open_pattern", json!("<call>.*(?P<name>x)"), "tool_calls.open_pattern"),
        ("open_pattern", json!("<call (?P<color>x)>"), "tool_calls.open_pattern"),
        ("content", json!("kv-lines"), "tool_calls.content"),
        ("close", json!(3), "tool_calls.close"),
        ("content_args", json!({"tag_pattern": "(?P<key>a)+x"}), "tool_calls.content_args"),
    ] {
        let error = with(key, value);
        assert!(error.starts_with(&format!("{place}: expected ")), "{error}");
    }
    for (text, start) in [
        ("{", "template: "),
        ("[]", "fields: "),
        (r#"{"version": 2, "fields": {}}"#, "version: expected 1, got 2"),
        (r#"{"fields": {"citations": {}, "tool_calls": {}}}"#, "citations: "),
        (r#"{"fields": {"content": {"close": "x"}}}"#, "fields: expected a field tool_calls"),
    ] {
        let error = response::describe("Example", text).unwrap_err().to_string();
        assert!(error.starts_with(start), "{error}");
    }
}

/// The template of a description.
fn written(toml: &str) -> Result<Value, String> {
    let dialect = Dialect::from_toml("example", toml).unwrap_or_else(|error| panic!("{error}\n{toml}"));
    response::template(&dialect, None).map_err(|error| error.to_string())
}

fn description(call: &str) -> String {
    format!("title = \"Example\"\nfamily = \"example\"\nsource = \"a test\"\n{call}")
}

#[test]
fn a_description_becomes_a_template() {
    let made = written(&description(
        "ends = [\"<|end|>\"]\n[call]\npieces = [{ mark = \"<call:\" }, { head = \"{name}\" }, { mark = \">\" }, \
         { args = \"raw\", key = \"code\" }, { mark = \"</call>\" }]\n",
    ));
    let open =
        r#"(?:(?<=(?:</call>|\]|\}))\s*|)<call:\s*(?P<name>[^\s"'<>{}()\[\]]+)\s*>\s*(?=.*?\s*</call>)"#;
    let expected = json!({
        "start_anchor_pattern": r"(?=<think>\s*\Z)|(?<!<think>\s*)\Z",
        "defaults": {"role": "assistant"},
        "fields": {
            "reasoning_content": {"open_pattern": r"\s*<think>\s*", "close_pattern": r"\s*</think>\s*", "content": "text"},
            "content": {
                "content": "text", "content_args": {"strip": false}, "repeats": true, "join": "",
                "close_pattern": r"\s*<\|end\|>",
            },
            "tool_calls": {
                "open_pattern": open, "close_pattern": r"\s*</call>", "content": "text", "content_args": {"strip": false},
                "transform": {"type": "function", "function": {"name": "{name}", "arguments": {"code": "{content}"}}},
                "repeats": true,
            },
        },
    });
    assert_eq!(made, Ok(expected));
}

#[test]
fn what_a_template_cannot_say_is_told() {
    for (call, reason) in [
        (
            "[call]\nnone = [\"nothing\"]\npieces = [{ mark = \"<f>\" }, { args = \"call\", form = '{\"name\": \"{name}\", \"arguments\": {args}}' }]",
            "a call of a certain name is none",
        ),
        (
            "[call]\npieces = [{ mark = \"<f>\" }, { args = \"call\", form = '{\"{name}\": {args}}' }]",
            "the tool's name is a key",
        ),
        (
            "[call]\npieces = [{ mark = \"<f>\" }, { args = \"call\", form = '{\"the name\": \"{name}\", \"arguments\": {args}}' }]",
            "the keys of a call are no words",
        ),
        (
            "[call]\npieces = [{ mark = \"<\" }, { head = \"{name}\" }, { mark = \">\" }, { args = \"object\" }]",
            "only the name of a declared tool tells a call from text",
        ),
    ] {
        let expected =
            format!("expected a dialect that a response template can say, got one in which {reason}");
        assert_eq!(written(&description(call)), Err(expected));
    }
}

#[test]
fn most_dialects_have_a_template() {
    let made = Dialects::builtin().iter().filter(|dialect| response::template(dialect, None).is_ok()).count();
    assert!(made >= 75, "{made}");
}
