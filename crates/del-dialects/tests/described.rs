//! What a description may say and no built-in one does.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

mod reading;

use std::sync::Arc;

use del_dialects::{Call, Dialect, End, FaultKind, Message};
use reading::{call, chunks, read, turn};

/// The name of a call once more in the mark that closes it.
const CLOSING_NAME: &str = r#"
title = "Example"
source = "a test"

[block]
open = [{ mark = "<use>\n" }]
close = [{ mark = "\n</use>", need = "soft" }]

[call]
pieces = [
  { mark = "<" },
  { head = "{name}" },
  { mark = ">" },
  { args = "object" },
  { mark = "</", head = "{name}", need = "soft" },
  { mark = ">", need = "soft" },
]
between = "\n"
"#;

/// Thinking that nothing but a call ends.
const ENDLESS_THINKING: &str = r#"
title = "Example"
source = "a test"

[reasoning]
begin = "Thought: "
end = []
until_call = true

[call]
pieces = [
  { mark = "Action: ", line_start = true },
  { head = "{name}" },
  { mark = "\nAction Input: " },
  { args = "object" },
]
between = "\n"
lead = "\n"
"#;

/// A word between calls, which names may begin with.
const WORDED: &str = r#"
title = "Example"
source = "a test"

[block]
open = [{ mark = "]", need = "must" }]

[call]
pieces = [{ head = "{name}" }, { args = "object" }]
between = "p"
"#;

/// Each argument on a line of its own.
const FIELD_LINES: &str = r#"
title = "Example"
source = "a test"

[call]
pieces = [
  { mark = "<use " },
  { head = "{name}" },
  { mark = ">\n" },
  { args = "lines", form = "- {key}: {value}\n" },
  { mark = "</use>", need = "soft" },
]
between = "\n"
"#;

/// The same in JSON, where the line feed comes first.
const JSON_LINES: &str = r#"
title = "Example"
source = "a test"

[call]
pieces = [
  { mark = "<use " },
  { head = "{name}" },
  { mark = ">" },
  { args = "lines", form = "\n  {key} = {value}", values = "json" },
  { mark = "</use>", need = "soft" },
]
"#;

/// Fields that nothing closes.
const UNCLOSED: &str = r#"
title = "Example"
source = "a test"

[call]
pieces = [
  { mark = "<|use|>" },
  { head = "{name}" },
  { args = "fields", form = "<|key|>{key}<|value|>{value}" },
  { mark = "<|used|>", need = "soft" },
]
"#;

/// A call inside another one, which prints what it gives.
const PRINTED: &str = r#"
title = "Example"
source = "a test"

[block]
open = [{ mark = "```py\n", need = "soft" }]
close = [{ mark = "\n```", need = "soft" }]

[call]
pieces = [
  { mark = "print(", line_start = true },
  { head = "{name}" },
  { args = "object", loose = { open = "(", close = ")", pair = "=", quotes = ["\""], quoted_keys = true } },
  { mark = ")", need = "soft" },
]
between = "\n"
"#;

/// A name at the start of a line, and no mark before it.
const NAMED_LINE: &str = r#"
title = "Example"
source = "a test"
frame = "bare"

[call]
pieces = [{ head = "{name}" }, { mark = ": " }, { args = "object" }]
between = "\n"
lead = "\n"
"#;

/// Arguments as attributes of a tag.
const ATTRIBUTES: &str = r#"
title = "Example"
source = "a test"

[call]
pieces = [
  { mark = "<use tool=\"" },
  { head = "{name}" },
  { mark = "\"" },
  { args = "fields", form = " {key}=\"{value}\"", xml = true },
  { mark = "/>" },
]
between = "\n"
"#;

fn described(toml: &str) -> Arc<Dialect> {
    Arc::new(Dialect::from_toml("example", toml).unwrap_or_else(|error| panic!("{error}")))
}

/// What an answer means, which does not depend on how it is cut.
fn meaning(dialect: &Arc<Dialect>, text: &str) -> Message {
    let (whole, _) = read(dialect.parser(turn()), [text], End::End);
    let (pieces, _) = read(dialect.parser(turn()), chunks(text, 1), End::End);
    assert_eq!(whole.calls, pieces.calls, "{text:?}");
    assert_eq!((&whole.content, &whole.reasoning), (&pieces.content, &pieces.reasoning), "{text:?}");
    whole
}

#[test]
fn a_name_in_a_closing_mark_is_markup() {
    let dialect = described(CLOSING_NAME);
    let calls =
        [call("get_weather", r#"{"city": "Paris </get_weather>"}"#), call("list_dir", r#"{"path": "."}"#)];
    let text = "<use>\n<get_weather>{\"city\": \"Paris </get_weather>\"}</get_weather>\n\
                <list_dir>{\"path\": \".\"}</list_dir>\n</use>";
    assert_eq!(dialect.render_calls(&calls, &turn().tools).unwrap(), text);
    let message = meaning(&dialect, &format!("I look.\n{text}\nDone."));
    assert_eq!(message.calls, calls);
    assert_eq!(message.content.split_whitespace().collect::<Vec<_>>(), ["I", "look.", "Done."]);
    assert_eq!(message.faults, []);
}

#[test]
fn a_closing_mark_with_its_name_may_be_missing() {
    let dialect = described(CLOSING_NAME);
    let calls = [call("list_dir", r#"{"path": "."}"#)];
    for rest in ["", "\n</use>", "</list_dir>", "</list_dir>\n</use>"] {
        let message = meaning(&dialect, &format!("<use>\n<list_dir>{{\"path\": \".\"}}{rest}"));
        assert_eq!(message.calls, calls, "{rest:?}");
        assert_eq!(message.content.trim(), "", "{rest:?}");
        let missing = |fault: &del_dialects::Report| fault.kind == FaultKind::MissingCloser;
        assert!(message.faults.iter().all(missing), "{rest:?}: {:?}", message.faults);
    }
}

/// Calls with the name in the object.
const OBJECTS: &str = r#"
title = "Example"
source = "a test"

[call]
pieces = [
  { mark = "<call>", line_start = true },
  { args = "call", form = '{"name": "{name}", "arguments": {args}}' },
  { mark = "</call>", need = "stop" },
]
between = "\n"
"#;

#[test]
fn no_call_begins_without_a_name() {
    let dialect = described(OBJECTS);
    for text in
        ["<call>\n", "<call>", "<call> \n\n", "<call></call>", "<call>{\"name\": \"\"}", "<call>{}</call>\n"]
    {
        let message = meaning(&dialect, text);
        assert_eq!((message.calls.len(), message.content.trim()), (0, ""), "{text:?}");
        assert!(!message.faults.is_empty(), "{text:?}");
    }
}

#[test]
fn a_call_ends_thinking_that_no_mark_ends() {
    let dialect = described(ENDLESS_THINKING);
    let calls = [call("list_dir", r#"{"path": "."}"#)];
    let message = meaning(
        &dialect,
        "Thought: I look.\nAction: none yet.\nAction: list_dir\nAction Input: {\"path\": \".\"}",
    );
    assert_eq!(message.calls, calls);
    assert_eq!(message.reasoning.trim(), "I look.\nAction: none yet.");
    let message = meaning(&dialect, "Thought: There is nothing to do.");
    assert_eq!((message.calls.len(), message.reasoning.trim()), (0, "There is nothing to do."));
}

#[test]
fn arguments_on_lines_are_read_and_written() {
    let calls = [
        call("get_weather", r#"{"city": "Paris: </use> as \"data\"", "days": 3}"#),
        call("project_context", "{}"),
        call("add_item", r#"{"item": {"a": 1}, "tags": ["u", "v"], "ok": true}"#),
    ];
    let dialect = described(FIELD_LINES);
    let text = "<use get_weather>\n- city: Paris: </use> as \"data\"\n- days: 3\n</use>\n\
                <use project_context>\n</use>\n\
                <use add_item>\n- item: {\"a\": 1}\n- tags: [\"u\", \"v\"]\n- ok: true\n</use>";
    assert_eq!(dialect.render_calls(&calls, &turn().tools).unwrap(), text);
    let message = meaning(&dialect, &format!("I look.\n{text}\nDone."));
    assert_eq!(values(&message), values_of(&calls));
    assert_eq!(message.content.split_whitespace().collect::<Vec<_>>(), ["I", "look.", "Done."]);
    assert_eq!(message.faults, []);

    let dialect = described(JSON_LINES);
    let text = "<use get_weather>\n  city = \"Paris: </use> as \\\"data\\\"\"\n  days = 3</use>";
    let text = text.replace("</use> as", "as");
    let meant = [call("get_weather", r#"{"city": "Paris: as \"data\"", "days": 3}"#)];
    assert_eq!(dialect.render_calls(&meant, &turn().tools).unwrap(), text);
    assert_eq!(values(&meaning(&dialect, &text)), values_of(&meant));
}

#[test]
fn lines_without_a_key_go_on_with_the_value() {
    let text = "<use write_file>\n- path: a.md\n- content: one\n\n  two: three\n- four\n\n</use>";
    let message = meaning(&described(FIELD_LINES), text);
    let content = r#"{"path": "a.md", "content": "one\n\n  two: three\n- four\n"}"#;
    assert_eq!(values(&message), values_of(&[call("write_file", content)]));
    // What is no line of a key, before any value, is no call.
    let message = meaning(&described(FIELD_LINES), "<use write_file>\nNo key here.\n</use>");
    assert_eq!(message.calls, []);
    // An object in their place is meant.
    let message = meaning(&described(FIELD_LINES), "<use list_dir>\n{\"path\": \".\"}\n</use>");
    assert_eq!(values(&message), values_of(&[call("list_dir", r#"{"path": "."}"#)]));
}

#[test]
fn arguments_as_attributes_are_read_and_written() {
    let calls = [
        call("get_weather", r#"{"city": "Rome\" days=\"2\"/> <use tool='x'/> & it's > ", "days": 3}"#),
        call("project_context", "{}"),
        call("add_item", r#"{"item": {"a": "b' c='d"}, "tags": ["u", "v/>"], "ok": true}"#),
    ];
    let dialect = described(ATTRIBUTES);
    let text = "<use tool=\"get_weather\" city=\"Rome&quot; days=&quot;2&quot;/&gt; &lt;use tool='x'/&gt; &amp; it's &gt; \" \
                days=\"3\"/>\n<use tool=\"project_context\"/>\n\
                <use tool=\"add_item\" item=\"{\"a\": \"b' c='d\"}\" tags=\"[\"u\", \"v/>\"]\" ok=\"true\"/>";
    assert_eq!(dialect.render_calls(&calls, &turn().tools).unwrap(), text);
    let single =
        "<use tool=\"add_item\" item='{\"a\": \"b\\' c=\\'d\"}' ok='true' />".replace("\\'", "&#39;");
    let message = meaning(&dialect, &format!("I look.\n{text}\n{single}\nDone."));
    let other = call("add_item", r#"{"item": {"a": "b' c='d"}, "ok": true}"#);
    let all: Vec<Call> = calls.into_iter().chain([other]).collect();
    assert_eq!(values(&message), values_of(&all));
    assert_eq!(message.content.split_whitespace().collect::<Vec<_>>(), ["I", "look.", "Done."]);
    assert_eq!(message.faults, []);
}

#[test]
fn a_value_that_nothing_closes_ends_where_the_next_field_opens() {
    let calls =
        [call("get_weather", r#"{"city": "Paris", "days": 3}"#), call("list_dir", r#"{"path": "a b"}"#)];
    let text = "<|use|>get_weather<|key|>city<|value|>Paris<|key|>days<|value|>3<|used|>\
                <|use|>list_dir<|key|>path<|value|>a b<|used|>";
    let dialect = described(UNCLOSED);
    assert_eq!(dialect.render_calls(&calls, &turn().tools).unwrap(), text);
    let message = meaning(&dialect, &format!("{text}And so on."));
    assert_eq!((values(&message), message.content.as_str()), (values_of(&calls), "And so on."));
    assert_eq!(message.faults, []);
}

#[test]
fn a_call_may_stand_in_the_parentheses_of_another() {
    let calls = [call("list_dir", r#"{"path": "it's (here)"}"#), call("get_weather", r#"{"city": "Paris"}"#)];
    let text = "```py\nprint(list_dir(path=\"it's (here)\"))\nprint(get_weather(city=\"Paris\"))\n```";
    let dialect = described(PRINTED);
    assert_eq!(dialect.render_calls(&calls, &turn().tools).unwrap(), text);
    let message = meaning(&dialect, text);
    assert_eq!((values(&message), message.faults.as_slice()), (values_of(&calls), [].as_slice()));
}

#[test]
fn a_declared_name_may_begin_any_line() {
    let dialect = described(NAMED_LINE);
    let text = "I look.\nget_weather: {\"city\": \"Paris\"}\nlist_dir: {\"path\": \".\"}";
    let calls = [call("get_weather", r#"{"city": "Paris"}"#), call("list_dir", r#"{"path": "."}"#)];
    let message = meaning(&dialect, text);
    assert_eq!((values(&message), message.content.as_str()), (values_of(&calls), "I look."));
    assert_eq!(message.faults, []);
    for prose in [
        "See Note: {\"a\": 1} is data.",
        "See\nget_weather: it works.",
        "As get_weather: {\"city\": \"P\"} shows.",
    ] {
        let message = meaning(&dialect, prose);
        assert_eq!((message.calls.as_slice(), message.content.as_str()), ([].as_slice(), prose));
    }
}

fn values(message: &Message) -> Vec<(String, serde_json::Value)> {
    values_of(&message.calls)
}

fn values_of(calls: &[Call]) -> Vec<(String, serde_json::Value)> {
    let value = |call: &Call| (call.name.clone(), serde_json::from_str(&call.arguments).unwrap());
    calls.iter().map(value).collect()
}

#[test]
fn what_separates_calls_takes_nothing_of_a_name() {
    let dialect = described(WORDED);
    let calls = ["get_weather", "project_context"].map(|name| call(name, "{}"));
    for calls in [&calls[..], &calls[1..]] {
        if let Ok(text) = dialect.render_calls(calls, &turn().tools) {
            let names = meaning(&dialect, &text).calls.into_iter().map(|call| call.name);
            assert!(names.eq(calls.iter().map(|call| call.name.clone())), "{text}");
        }
    }
}
