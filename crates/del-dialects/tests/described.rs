//! What a description may say and no built-in one does.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

mod reading;

use std::sync::Arc;

use del_dialects::{Dialect, End, FaultKind, Message};
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
        let missing = |fault: &del_dialects::collect::Report| fault.kind == FaultKind::MissingCloser;
        assert!(message.faults.iter().all(missing), "{rest:?}: {:?}", message.faults);
    }
}

/// Calls that a line ends, with the name in the object.
const LINES: &str = r#"
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
    let dialect = described(LINES);
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
