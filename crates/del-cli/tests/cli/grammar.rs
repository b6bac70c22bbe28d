//! `del grammar`.

use serde_json::json;

use crate::del::{directory, plain, text};

#[test]
fn each_format_is_written() {
    let tools = json!([
        {"name": "f", "parameters": {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}},
        {"name": "g", "parameters": {"type": "object", "properties": {"s": {"type": "string", "pattern": "(?=x)"}}}},
    ]);
    let files = directory(&[("t.json", &tools.to_string())]);
    let tools = text(&files.path().join("t.json"));
    let grammar = |more: &[&str]| {
        plain(&[&["grammar", "--dialect", "hermes-json", "--tools", &tools][..], more].concat())
    };
    let gbnf = grammar(&["--choice", "f"]);
    assert_eq!(gbnf.code, 0, "{gbnf:#?}");
    assert!(gbnf.out.starts_with("root ::= \"<tool_call>\\n\""), "{gbnf:#?}");
    assert!(gbnf.err.is_empty(), "{gbnf:#?}");
    let lark = grammar(&["--format", "lark"]);
    assert!(lark.out.starts_with("start: "), "{lark:#?}");
    assert_eq!(lark.err, "del: g: the grammar does not hold s to \"pattern\"\n");
    let tag = grammar(&["--format", "structural-tag"]).json();
    assert_eq!(tag["type"], "structural_tag");
    let regex = grammar(&["--format", "regex", "--choice", "required", "--no-parallel"]);
    assert!(regex.out.starts_with("<tool_call>\\n"), "{regex:#?}");
    let thinking = grammar(&["--choice", "required", "--thinking"]);
    assert!(thinking.out.contains("</think>"), "{thinking:#?}");
    let all = grammar(&["--json"]);
    assert!(all.err.is_empty(), "{all:#?}");
    let all = all.json();
    assert_eq!(all["format"], "gbnf");
    assert_eq!(all["triggers"], json!(["<tool_call>"]));
    assert_eq!(all["warnings"][0]["keyword"], "pattern");
    assert!(all["grammar"].as_str().unwrap().contains("root ::="));
}

#[test]
fn what_has_no_grammar_is_said() {
    let free = json!([{"name": "f", "parameters": {"properties": {"a": {}}}}]);
    let files = directory(&[("free.json", &free.to_string()), ("none.json", "[]"), ("bad.json", "{")]);
    let grammar = |file: &str, more: &[&str]| {
        let tools = text(&files.path().join(file));
        plain(&[&["grammar", "--dialect", "hermes-json", "--tools", &tools][..], more].concat())
    };
    grammar("free.json", &["--format", "regex"]).fails(42, "the rule \"value\" inside itself");
    grammar("free.json", &["--choice", "g"]).fails(2, "expected auto, required or a name");
    grammar("free.json", &["--format", "bnf"]).fails(2, "possible values");
    grammar("none.json", &[]).fails(42, "expected at least one tool");
    grammar("bad.json", &[]).fails(42, "bad.json");
    grammar("gone.json", &[]).fails(42, "cannot read");
    plain(&["grammar", "--dialect", "hermes-json"]).fails(2, "--tools");
    let tools = text(&files.path().join("free.json"));
    plain(&["grammar", "--dialect", "none", "--tools", &tools]).fails(2, "expected the name of a dialect");
}
