//! All dialects together: markers that several of them share, several dialects in one answer, and what stays text.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

mod reading;

use std::sync::Arc;

use del_dialects::{Dialect, Dialects, End, FaultKind, Message, Tool, Turn};
use reading::{call, chunks, of_any_tool, read, sample, sample_calls, turn};

/// Reads with all dialects, in several ways that have to agree.
fn auto(text: &str) -> Message {
    let whole = read(Dialects::builtin().parser(turn()), [text], End::End);
    for chars in [1, 3, 7] {
        assert_eq!(
            read(Dialects::builtin().parser(turn()), chunks(text, chars), End::End),
            whole,
            "{text:?}"
        );
    }
    whole.0
}

/// Expects these calls in this dialect and nothing else.
fn expect(text: &str, dialect: &str, calls: &[(&str, &str)]) {
    let message = auto(text);
    let calls: Vec<_> = calls.iter().map(|(name, arguments)| call(name, arguments)).collect();
    let got: Vec<_> = message.calls.iter().map(|known| call(&known.name, &known.arguments)).collect();
    assert_eq!((got, message.content.trim()), (calls, ""), "{text:?}");
    assert_eq!(message.dialect.as_deref(), Some(dialect), "{text:?}");
}

const PARIS: (&str, &str) = ("get_weather", r#"{"city": "Paris"}"#);
const TYPED: (&str, &str) = ("get_weather", r#"{"city":"Paris"}"#);

#[test]
fn what_follows_a_shared_tag_decides() {
    let json = r#"{"name": "get_weather", "arguments": {"city": "Paris"}}"#;
    expect(&format!("<tool_call>\n{json}\n</tool_call>"), "hermes-json", &[PARIS]);
    expect(&format!("<tool_call>[{json}]</tool_call>"), "hermes-json", &[PARIS]);
    let fields = "<function=get_weather>\n<parameter=city>\nParis\n</parameter>\n</function>";
    expect(&format!("<tool_call>\n{fields}\n</tool_call>"), "qwen3-coder", &[TYPED]);
    expect(&fields.replace('\n', ""), "openhands", &[TYPED]);
    expect(r#"<function=get_weather>{"city": "Paris"}</function>"#, "llama-function", &[PARIS]);
    expect(&format!("<tool_calls>[{json}]</tool_calls>"), "jamba", &[PARIS]);
    let invoke = "<invoke name=\"get_weather\">\n<parameter name=\"city\">Paris</parameter>\n</invoke>";
    expect(&format!("<tool_calls>\n{invoke}\n</tool_calls>"), "openai-xml", &[TYPED]);
    expect(&format!("<function_calls>\n{invoke}\n</function_calls>"), "openai-xml", &[TYPED]);
    expect(invoke, "openai-xml", &[TYPED]);
    expect(&format!("[TOOL_CALLS] [{json}]"), "mistral-json", &[PARIS]);
    expect(&format!("[TOOL_CALLS][{json}]"), "mistral-json", &[PARIS]);
    expect(r#"[TOOL_CALLS]get_weather[ARGS]{"city": "Paris"}"#, "mistral-args", &[PARIS]);
    expect(r#"[TOOL_CALLS]get_weather{"city": "Paris"}"#, "mistral-args", &[PARIS]);
}

#[test]
fn words_behind_a_mark_are_no_name_where_tools_are_declared() {
    let object = r#"{"name": "get_weather", "arguments": {"city": "Paris"}}"#;
    let fields = "<function=get_weather>\n<parameter=city>\nParis\n</parameter>\n</function>";
    for (call, expected) in [(object, PARIS), (fields, TYPED)] {
        let message = auto(&format!("<tool_call>\nLet me call it.\n{call}\n</tool_call>"));
        let got: Vec<_> = message.calls.iter().map(|call| (&*call.name, &*call.arguments)).collect();
        assert_eq!((got, message.content.trim()), (vec![expected], "Let me call it."));
    }
}

#[test]
fn one_name_is_told_from_a_type() {
    let begin = "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>";
    let end = "<｜tool▁call▁end｜><｜tool▁calls▁end｜>";
    let fenced =
        format!("{begin}function<｜tool▁sep｜>get_weather\n```json\n{{\"city\": \"Paris\"}}\n```{end}");
    expect(&fenced, "deepseek-v3", &[PARIS]);
    expect(
        &format!("{begin}get_weather<｜tool▁sep｜>{{\"city\": \"Paris\"}}{end}"),
        "deepseek-v31",
        &[PARIS],
    );
    // Del's own document spells the tokens with ASCII bars.
    expect(&fenced.replace('｜', "|"), "del-chinese", &[PARIS]);
    expect(
        "<|tool▁call▁begin|>function<|tool▁sep|>list_dir {\"path\": \".\"}",
        "del-chinese",
        &[("list_dir", r#"{"path": "."}"#)],
    );
}

#[test]
fn a_bracket_is_told_by_what_it_holds() {
    expect(r#"[{"name": "get_weather", "parameters": {"city": "Paris"}}]"#, "openai-json", &[PARIS]);
    expect("[get_weather(city='Paris')]", "pythonic", &[TYPED]);
    for text in [
        "[1, 2, 3]",
        "[a link](http://x)",
        "[get_weather] is a tool.",
        "[{\"a\": 1}]",
        "{\"a\": [1]}",
        "[x(1)]",
    ] {
        let message = auto(text);
        assert_eq!((message.content.as_str(), message.calls.len(), message.faults.len()), (text, 0, 0));
    }
}

#[test]
fn bare_objects_are_calls_of_declared_tools() {
    let paris = r#"{"name": "get_weather", "arguments": {"city": "Paris"}}"#;
    for text in [
        paris.to_owned(),
        format!("```json\n{paris}\n```"),
        format!("```\n{paris}\n```"),
        format!("<think>\nHm.\n</think>\n\n{paris}"),
        format!("Let me look.\n{paris}"),
        paris.replace("arguments", "parameters"),
    ] {
        let message = auto(&text);
        let got: Vec<_> =
            message.calls.iter().map(|call| (call.name.as_str(), call.arguments.as_str())).collect();
        assert_eq!(got, [PARIS], "{text}");
        assert!(!message.content.contains(['{', '`']), "{text}: {:?}", message.content);
    }
    for text in [
        r#"{"name": "Alice", "age": 30}"#,
        "Use this:\n```json\n{\"name\": \"get_weather\", \"arguments\": {\"city\": \"x\"}}\n```\nto call it.",
        r#"The object {"name": "get_weather", "arguments": {}} is a call."#,
    ] {
        let message = auto(text);
        assert_eq!((message.content.as_str(), message.calls.len()), (text, 0));
    }
}

#[test]
fn an_answer_may_mix_dialects() {
    mixed("\nAnd:\n", |_, _| true);
}

#[test]
fn calls_of_two_dialects_may_follow_each_other() {
    mixed("\n", |first, second| {
        // Right behind a call a bare one may be data, and what V3 writes first is a name in V3.1.
        let text = sample(second);
        let opener = text.find(['>', '=']).map_or("", |at| &text[..=at]);
        // What opens calls of both is that of the first.
        text.starts_with('<')
            && !sample(first).contains(opener)
            && (first.name(), second.name()) != ("deepseek-v31", "deepseek-v3")
    });
}

/// Expects the calls of every two dialects, and between them this text.
fn mixed(joint: &str, counts: impl Fn(&Arc<Dialect>, &Arc<Dialect>) -> bool) {
    for first in of_any_tool() {
        for second in of_any_tool().filter(|second| counts(first, second)) {
            let text = format!("{}{joint}{}", sample(first), sample(second));
            let message = auto(&text);
            let got: Vec<_> = message.calls.iter().map(|known| call(&known.name, &known.arguments)).collect();
            let expected: Vec<_> = sample_calls().into_iter().chain(sample_calls()).collect();
            let value = |json: &str| serde_json::from_str::<serde_json::Value>(json).unwrap();
            let alike = got.len() == 4
                && got
                    .iter()
                    .zip(&expected)
                    .all(|(a, b)| a.name == b.name && value(&a.arguments) == value(&b.arguments));
            assert!(alike, "{} then {}: {got:?} and {:?}", first.name(), second.name(), message.content);
            assert_eq!(message.content.trim(), joint.trim(), "{} then {}", first.name(), second.name());
        }
    }
}

#[test]
fn invented_results_are_never_shown() {
    for block in [
        "<｜tool▁outputs▁begin｜><｜tool▁output▁begin｜>SECRET<｜tool▁output▁end｜><｜tool▁outputs▁end｜>",
        "<|tool▁outputs▁begin|>\nSECRET\n<|tool▁outputs▁end|>",
        "<tool_response>\nSECRET\n</tool_response>",
        "<am:tool_result name=\"x\">SECRET</am:tool_result>",
        "<am:tool_error name=\"x\">SECRET</am:tool_error>",
        "[TOOL_RESULTS]SECRET[/TOOL_RESULTS]",
        "<function_results>\n<result>SECRET</result>\n</function_results>",
        "<tool_results>\nSECRET\n</tool_results>",
    ] {
        for dialect in of_any_tool() {
            let message = auto(&format!("{}\n{block}\nIt is so.", sample(dialect)));
            assert!(!message.content.contains("SECRET"), "{} {block}: {:?}", dialect.name(), message.content);
            let kinds: Vec<_> = message.faults.iter().map(|fault| fault.kind).collect();
            assert!(kinds.contains(&FaultKind::InventedResult), "{} {block}: {kinds:?}", dialect.name());
            assert!(
                message.content.ends_with("It is so."),
                "{} {block}: {:?}",
                dialect.name(),
                message.content
            );
            assert_eq!(message.calls.len(), 2, "{} {block}", dialect.name());
        }
    }
}

#[test]
fn every_alias_names_a_dialect() {
    let all = Dialects::builtin();
    for dialect in all.iter() {
        for (engine, names) in dialect.aliases() {
            for name in names {
                let exact = all.get(&format!("{engine}:{name}")).unwrap_or_else(|| panic!("{engine}:{name}"));
                assert_eq!(exact.name(), dialect.name(), "{engine}:{name}");
                assert!(all.get(name).is_some(), "{name}");
            }
        }
    }
    for (name, dialect) in [
        ("vllm:mistral", "mistral-json"),
        ("ollama:ministral", "mistral-args"),
        ("HERMES", "hermes-json"),
        ("qwen3_coder", "qwen3-coder"),
        ("vllm:openai", "harmony"),
        ("dynamo:default", "nemotron-toolcall"),
        ("smg:deepseek31", "deepseek-v31"),
        ("sglang:gpt-oss", "harmony"),
        ("pythonic", "pythonic"),
    ] {
        let known = all.get(name).map(|dialect| dialect.name());
        // A dialect that is not built in yet has no alias either.
        if all.get(dialect).is_some() {
            assert_eq!(known, Some(dialect), "{name}");
        }
    }
}

#[test]
fn tags_of_plain_words_are_the_users() {
    for text in
        ["The XML is <response>hi</response>, yes.", "Use <results>z</results> or <answer>42</answer>."]
    {
        let message = auto(text);
        assert_eq!((message.content.as_str(), message.faults.len()), (text, 0), "{text:?}");
    }
}

#[test]
fn a_wrapper_of_another_dialect_costs_no_call() {
    let call = "<tool_call>\n{\"name\": \"list_dir\", \"arguments\": {}}\n</tool_call>";
    for open in ["<tool_calls>", "<|assistant|>"] {
        let message = auto(&format!("{open}\n{call}"));
        assert_eq!((message.calls.len(), message.content.trim()), (1, ""), "{open}");
    }
}

#[test]
fn a_tool_without_parameters_is_called_whatever_its_text_says() {
    let parameters = serde_json::json!({"type": "object", "properties": {}});
    let tool = Tool { name: "get_time".into(), description: String::new(), parameters: parameters.into() };
    let turn = Turn::new(Arc::from([tool]));
    let read = |said: &str, end| {
        let text = format!("Action: get_time\nAction Input: {said}");
        read(Dialects::builtin().get("react").unwrap().parser(turn.clone()), chunks(&text, 3), end).0
    };
    for (said, fault) in [
        ("None", FaultKind::Repaired),
        ("\"\"", FaultKind::Repaired),
        ("N/A\n", FaultKind::Repaired),
        ("in Paris", FaultKind::GuessedValue),
    ] {
        let message = read(said, End::End);
        let faults: Vec<_> = message.faults.iter().map(|fault| fault.kind).collect();
        assert_eq!((&message.calls, faults), (&vec![call("get_time", "{}")], vec![fault]), "{said:?}");
    }
    assert!(read("in Par", End::Cut).calls.is_empty());
}

#[test]
fn half_a_name_decides_nothing() {
    let message = auto(":[ </tool_call>\nx");
    assert_eq!(message.content, ":[ \nx");
}

#[test]
fn a_first_word_that_begins_as_a_name_is_text_however_it_is_cut() {
    for text in ["prrh#", "pro#", "project_context#", "get_", "wr"] {
        for end in [End::End, End::Cut] {
            let parser = || Dialects::builtin().parser(turn());
            let [whole, cut] = [vec![text], chunks(text, 1)].map(|pieces| read(parser(), pieces, end).0);
            assert_eq!(whole, cut, "{text:?} {end:?}");
        }
    }
}
