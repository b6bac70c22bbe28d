//! Text of others on its way into a prompt, and back.
#![allow(clippy::expect_used, reason = "tests")]

use std::sync::Arc;

use del_dialects::description::{Frame, Mark};
use del_dialects::{Call, Dialect, Dialects, Tool, Turn};

fn calls_in(dialect: &Arc<Dialect>, text: &str, tools: &[Tool]) -> Vec<Call> {
    dialect.parse(text, Turn::new(tools)).calls
}

#[test]
fn no_marked_call_survives_and_all_of_it_comes_back() {
    let all = Dialects::builtin();
    let tools = [Tool {
        name: "read_file".into(),
        description: String::new(),
        parameters: serde_json::json!({"type": "object", "properties": {"path": {"type": "string"}}}).into(),
    }];
    let call = Call { id: None, name: "read_file".into(), arguments: r#"{"path": "a"}"#.into() };
    for dialect in all.iter().filter(|dialect| dialect.tool().is_none()) {
        let written = dialect.render_calls(std::slice::from_ref(&call), &tools).expect("a call it can carry");
        let neutral = all.neutralise(&written);
        assert_eq!(all.restore(&neutral), written, "{}", dialect.name());
        // A bare call has no mark to break, nor has one that the name of a tool makes one, or whose opening mark stands
        // in the prompt.
        let bare = |dialect: &Dialect| {
            let short = |mark: &Mark| mark.write.len() < 3;
            *dialect.frame() == Frame::Bare || dialect.marks().next().is_some_and(short)
        };
        let reads_bare = dialect.reads().iter().filter_map(|name| all.get(name)).any(|other| bare(other));
        if !bare(dialect) && !reads_bare && neutral != written {
            assert_eq!(calls_in(dialect, &neutral, &tools), [], "{}: {neutral:?}", dialect.name());
        }
    }
}

#[test]
fn plain_text_is_left_alone() {
    let all = Dialects::builtin();
    for text in [
        "",
        "1 < 2",
        "let a = b[0];",
        "# Heading\n\n```rust\nfn main() {}\n```",
        "Name: Ada\nParameters: none",
        "[1, 2]",
        "{\"a\": \"b\"}",
        "a\u{200b}b",
    ] {
        assert_eq!(all.neutralise(text), text);
        assert_eq!(all.restore(text), text);
    }
}

#[test]
fn a_text_may_hold_what_breaks_are_made_of() {
    let all = Dialects::builtin();
    for text in [
        "\u{200b}x",
        "\u{200b}</function>",
        "<\u{200b}|im_end|>\u{200b}\u{200b}<|im_end|>",
        "<\u{2060}\u{200b}|im_end|>",
        "x <\u{200b}",
        "\u{200b}|im_end|>",
        "\u{2060}",
    ] {
        let neutral = all.neutralise(text);
        assert_eq!(all.restore(&neutral), text, "{neutral:?}");
        let twice = all.neutralise(&neutral);
        assert_eq!(all.restore(&twice), neutral, "{twice:?}");
    }
}

#[test]
fn what_a_model_copies_badly_comes_back_all_the_same() {
    let all = Dialects::builtin();
    for (copied, meant) in [
        ("<\u{200b}\u{200b}|im_end|\u{200b}>", "<|im_end|>"),
        ("<|im_end|>", "<|im_end|>"),
        ("\u{200b}|im_end|\u{200b}> behind", "|im_end|> behind"),
        ("a <\u{200b}/tool_ca", "a </tool_ca"),
        ("a <\u{200b}", "a <"),
        ("[\u{200b}INST", "[INST"),
    ] {
        assert_eq!(all.restore(copied), meant, "{copied:?}");
    }
}

#[test]
fn arguments_are_restored_string_by_string() {
    let all = Dialects::builtin();
    for (copied, meant) in [
        (r#"{"a": "<\u200b/tool_ca", "b":  1}"#, r#"{"a": "</tool_ca", "b":  1}"#),
        (r#"{"a": "\u00e9\/ \\\u2014 <\u200b/tool_ca"}"#, r#"{"a": "\u00e9\/ \\— </tool_ca"}"#),
        (
            "{\"a\": [\"x <\u{200b}\", \"\u{200b}|im_end|\u{200b}> \\\"\"]}",
            r#"{"a": ["x <", "|im_end|> \""]}"#,
        ),
        (r#"{"a": "é\\", "b": "\u200bHi, x"}"#, r#"{"a": "é\\", "b": "\u200bHi, x"}"#),
        ("{\"a\": \"cut", "{\"a\": \"cut"),
    ] {
        let restored = all.restore_json(copied);
        assert_eq!(restored, meant);
        // What was sure of a part of it stands at the beginning of the whole.
        for (end, _) in copied.char_indices() {
            let sure = Dialects::unsure(&copied[..end]).unwrap_or(end);
            assert!(restored.starts_with(&copied[..sure]), "{copied:?} {end}");
        }
    }
}

#[test]
fn marks_do_not_form_between_two_texts() {
    let all = Dialects::builtin();
    let mark = "<tool_call>";
    for cut in 1..mark.len() {
        let both = [&mark[..cut], &mark[cut..]].map(|half| all.neutralise(half)).concat();
        assert!(!both.contains(mark), "{both:?}");
        assert_eq!(all.restore(&both), mark);
    }
}
