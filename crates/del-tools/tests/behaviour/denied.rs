//! What a denying rule means holds for all that a call reaches, also below the paths that it names.

use del_tools::{Approval, Gate, Rule, Verdict};
use serde_json::{Value, json};

use crate::desk::Desk;

fn is_denied(desk: &Desk, rule: &str, operations: &Value) -> bool {
    let mut gate = Gate::new(Approval::Yolo);
    gate.deny(Rule::parse(rule).unwrap());
    let arguments = json!({ "operations": operations }).to_string();
    let passed = gate.plan(&desk.toolbox, "batch_operations", &arguments);
    !passed.is_ok_and(|plan| gate.verdict(&plan) == Verdict::Run)
}

fn delete(path: &str) -> Value {
    json!({"tool": "delete", "arguments": {"path": path, "recursive": true}})
}

fn put(tool: &str, from: &str, to: &str) -> Value {
    json!({"tool": tool, "arguments": {"path": from, "to": to}})
}

fn write(path: &str) -> Value {
    json!({"tool": "write_file", "arguments": {"path": path, "content": "x"}})
}

fn desk() -> Desk {
    let desk = Desk::keeping();
    for file in ["sec/a", "sec/deep/b", "src/c", "a/deep/.env", "plain/d"] {
        desk.put(file, "x\n");
    }
    desk
}

#[test]
fn a_rule_about_a_path_holds_where_a_directory_above_it_is_moved_or_removed() {
    let desk = desk();
    for (rule, operations) in [
        ("write_file(sec/**)", json!([delete("sec")])),
        ("write_file(sec/**)", json!([put("move", "sec", "sec2")])),
        ("write_file(sec/deep/b)", json!([put("move", "sec", "sec2")])),
        ("write_file(**/.env)", json!([delete("a")])),
        ("write_file(new/*)", json!([put("move", "src", "new")])),
        ("write_file(new/*)", json!([put("copy", "src", "new")])),
        ("batch_operations(sec/**)", json!([delete("sec")])),
        ("read_file(sec/**)", json!([put("copy", "sec", "sec2")])),
        ("read_file(sec/**)", json!([put("move", "sec", "sec2")])),
        ("read_file(sec/a)", json!([put("copy", "sec/a", "b")])),
    ] {
        assert!(is_denied(&desk, rule, &operations), "{rule} {operations}");
    }
    for (rule, operations) in [
        ("write_file(sec/**)", json!([delete("plain")])),
        ("write_file(sec/**)", json!([put("copy", "sec", "sec2")])),
        ("write_file(sec/deep/*)", json!([delete("sec/a")])),
        ("read_file(sec/**)", json!([delete("sec")])),
        ("write_file(*.txt)", json!([put("move", "src", "new")])),
    ] {
        assert!(!is_denied(&desk, rule, &operations), "{rule} {operations}");
    }
}

/// Operations before it may put into a directory what its turn moves on.
#[test]
fn a_rule_about_a_path_holds_for_what_comes_there_in_the_batch() {
    let desk = desk();
    for operations in [
        json!([write("plain/x"), put("move", "plain", "sec2")]),
        json!([write("new/x"), put("move", "new", "sec2")]),
        json!([write("new/x"), put("copy", "new", "other"), put("move", "other", "sec2")]),
        json!([write("new/x"), put("move", "new", "other/"), put("move", "other", "sec2")]),
        json!([write("sec2"), delete("sec2"), write("plain/x"), put("move", "plain", "sec2")]),
    ] {
        assert!(is_denied(&desk, "write_file(sec2/**/x)", &operations), "{operations}");
        assert!(!is_denied(&desk, "write_file(sec2/**/y)", &operations), "{operations}");
    }
}

#[test]
fn what_may_not_be_read_is_not_searched_by_name_either() {
    let desk = desk();
    for (tool, arguments) in [
        ("read_file", json!({"path": "sec/a"})),
        ("search_code", json!({"pattern": "x", "path": "sec/a"})),
        ("extract_functions", json!({"path": "sec/a"})),
        // What fails to fit shows what would have.
        ("edit_file", json!({"path": "sec/a", "old_string": "y", "new_string": "z"})),
        ("edit_file", json!({"path": "src/../sec/a", "old_string": "y", "new_string": "z"})),
        ("multi_edit", json!({"operations": [{"file": "sec/a", "old": "y", "new": "z"}]})),
        (
            "batch_operations",
            json!({"operations": [
                {"tool": "edit_file", "arguments": {"path": "sec/a", "old_string": "y", "new_string": "z"}}
            ]}),
        ),
        ("format_code", json!({"path": "sec/a"})),
        ("lint_code", json!({"path": "sec/a"})),
    ] {
        let mut gate = Gate::new(Approval::Yolo);
        gate.deny(Rule::parse("read_file(sec/**)").unwrap());
        let failure = gate.plan(&desk.toolbox, tool, &arguments.to_string()).unwrap_err();
        assert!(failure.to_string().contains("the rule"), "{tool}: {failure}");
    }
}

/// A desk where reading is denied by rules, and the gate with them.
fn withholding(rules: &[&str]) -> (Desk, Gate) {
    let mut desk = desk();
    let mut gate = Gate::new(Approval::Ask);
    for rule in rules {
        gate.deny(Rule::parse(rule).unwrap());
    }
    desk.put("sec/a.rs", "fn hidden() {}\n");
    desk.put("src/b.rs", "fn shown() { hidden() }\n");
    desk.toolbox.withhold(&gate);
    (desk, gate)
}

#[test]
fn what_may_not_be_read_is_left_out_of_searches_and_listings_that_begin_above_it() {
    for rule in ["read_file(sec/**)", "*(sec/**)", "read_file(**/a*)"] {
        let (desk, _) = withholding(&[rule]);
        for (tool, arguments) in [
            ("search_code", json!({"pattern": "hidden"})),
            ("search_code", json!({"pattern": "hidden", "path": "sec/.."})),
            ("glob_files", json!({"pattern": "**/*.rs"})),
            ("glob_files", json!({"pattern": "sec/*"})),
            ("list_dir", json!({"path": ".", "recursive": true, "depth": 5})),
            ("list_dir", json!({"path": "sec"})),
            ("find_references", json!({"symbol": "hidden"})),
        ] {
            let text = desk.call(tool, &arguments).text;
            assert!(
                !text.contains("a.rs") && !text.contains("fn hidden"),
                "{rule}: {tool} {arguments}: {text}"
            );
            assert!(text.contains("[what a rule denies to be read is left out]"), "{rule}: {tool}: {text}");
        }
        let text = desk.ok("search_code", &json!({"pattern": "hidden"}));
        assert!(text.contains("src/b.rs"), "{text}");
        let text = desk.ok("glob_files", &json!({"pattern": "*", "path": "src"}));
        assert!(text.contains("src/b.rs") && !text.contains("left out"), "{text}");
    }
    // A rule about another tool is about that one.
    let (desk, _) = withholding(&["write_file(sec/**)"]);
    assert!(desk.ok("search_code", &json!({"pattern": "hidden"})).contains("sec/a.rs"));
}

#[test]
fn commands_that_would_look_at_what_may_not_be_read_ask() {
    let (desk, gate) = withholding(&["read_file(sec/**)", "read_file(**/.env)"]);
    let verdict = |desk: &Desk, command: &str| {
        gate.verdict(&desk.toolbox.plan("run_command", &json!({"command": command}).to_string()).unwrap())
    };
    for command in [
        "cat sec/a",
        "cat */a",
        "cat < sec/a",
        "cd sec && cat a",
        "grep -r x .",
        "rg x",
        "diff -r . src",
        "head src/../sec/a",
        "cat $(ls sec/a)",
        "git show HEAD:sec/a",
        "git diff",
        "git log -p",
    ] {
        assert_eq!(verdict(&desk, command), Verdict::Ask, "{command}");
    }
    for command in
        ["cat src/c", "grep -r x src", "ls sec", "find . -name a", "git status", "git log --oneline"]
    {
        assert_eq!(verdict(&desk, command), Verdict::Run, "{command}");
    }
    // What comes of a search is looked at when it is there.
    let text = desk.call("run_command", &json!({"command": "find . -type f | sort | xargs cat"})).text;
    assert!(text.contains("fn shown") && !text.contains("fn hidden"), "{text}");
    // What usually holds secrets is kept from commands anyway.
    let (desk, _) = withholding(&["read_file(**/.env)"]);
    assert_eq!(verdict(&desk, "git diff"), Verdict::Run);
    assert_eq!(verdict(&desk, "grep -r x ."), Verdict::Run);
}
