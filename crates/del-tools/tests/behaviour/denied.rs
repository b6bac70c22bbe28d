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
    ] {
        let mut gate = Gate::new(Approval::Yolo);
        gate.deny(Rule::parse("read_file(sec/**)").unwrap());
        assert!(gate.plan(&desk.toolbox, tool, &arguments.to_string()).is_err(), "{tool}");
    }
}
