//! What formatters run with, and when: nothing for a call that is denied, and nothing that leads out.

use std::os::unix::fs::symlink;

use del_tools::{Approval, Class, Code, Gate, Rule, Verdict};
use serde_json::{Value, json};

use crate::desk::Desk;

const UGLY: &str = "fn main( ) {let x=1;println!(\"{x}\");}\n";

fn gates() -> Vec<(Gate, &'static str)> {
    let mut denying = Gate::new(Approval::Yolo);
    denying.deny(Rule::parse("format_code").unwrap());
    let mut denying_paths = Gate::new(Approval::Yolo);
    denying_paths.deny(Rule::parse("format_code(*)").unwrap());
    let mut denying_files = Gate::new(Approval::Ask);
    denying_files.deny(Rule::parse("format_code(a.rs)").unwrap());
    vec![
        (denying, "deny"),
        (denying_paths, "deny paths"),
        (denying_files, "deny files"),
        (Gate::new(Approval::Plan), "plan"),
    ]
}

/// What the model is told of a call that the gate denies before it is planned.
fn denied(gate: &Gate, desk: &Desk, tool: &str, arguments: &Value) -> String {
    let failure = gate.plan(&desk.toolbox, tool, &arguments.to_string()).unwrap_err();
    assert_eq!(failure.code, Code::Denied, "{tool} {arguments}: {failure}");
    failure.to_string()
}

#[test]
fn nothing_runs_for_a_call_that_is_denied() {
    let desk = Desk::new().confined();
    // A formatter that ran would complain of it.
    desk.put("a.rs", "fn main( {\n");
    for (gate, name) in gates() {
        for arguments in [json!({"path": "a.rs"}), json!({"path": "a.rs", "check": true})] {
            let said = denied(&gate, &desk, "format_code", &arguments);
            assert!(!said.contains("rustfmt"), "{name}: {said}");
            let batch = json!({"operations": [{"tool": "format_code", "arguments": arguments}]});
            let said = denied(&gate, &desk, "batch_operations", &batch);
            assert!(!said.contains("rustfmt"), "{name}: {said}");
        }
    }
    // git would say that there is no repository.
    let plan = Gate::new(Approval::Plan);
    for operation in ["add", "commit", "push", "pull"] {
        denied(&plan, &desk, "git_operation", &json!({"operation": operation, "message": "m", "files": "."}));
    }
}

#[test]
fn a_denied_edit_shows_nothing_of_the_file() {
    let desk = Desk::new();
    desk.put("keys/a.txt", "the word is hunter2\n");
    let mut gate = Gate::new(Approval::Yolo);
    gate.deny(Rule::parse("edit_file(keys/**)").unwrap());
    gate.deny(Rule::parse("multi_edit(keys/**)").unwrap());
    let (old, new) = ("the word is hunter3", "x");
    let edit = json!({"path": "keys/a.txt", "old_string": old, "new_string": new});
    let several = json!({"operations": [{"file": "keys/a.txt", "old": old, "new": new}]});
    for (tool, arguments) in [("edit_file", &edit), ("multi_edit", &several)] {
        assert!(desk.fails(tool, arguments, "no_match").contains("hunter2"), "the closest line is shown");
        let said = denied(&gate, &desk, tool, arguments);
        assert!(!said.contains("hunter2"), "{said}");
        let batch = json!({"operations": [{"tool": tool, "arguments": arguments}]});
        assert!(!denied(&gate, &desk, "batch_operations", &batch).contains("hunter2"));
    }
}

#[test]
fn configuration_that_leads_out_is_not_read() {
    let desk = Desk::new().confined();
    desk.put("src/a.rs", UGLY);
    for link in ["rustfmt.toml", ".rustfmt.toml", "src/rustfmt.toml"] {
        let link = desk.path(link);
        symlink(desk.outside().join("secret.txt"), &link).unwrap();
        let said = desk.fails("format_code", &json!({"check": true}), "outside");
        assert!(said.contains("rustfmt.toml") && !said.contains("secret\n"), "{said}");
        std::fs::remove_file(link).unwrap();
    }
    assert!(desk.ok("format_code", &json!({"check": true})).starts_with("would reformat: src/a.rs"));
}

#[test]
fn a_linter_reads_no_configuration_from_elsewhere() {
    let desk = Desk::new();
    desk.put("a.py", "x = 1\n");
    let program = desk.path(".venv/bin/ruff");
    desk.put(".venv/bin/ruff", "#!/bin/sh\necho ran\n");
    std::fs::set_permissions(&program, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    for extend in ["~/.netrc", "../outside/secret.txt", "$HOME/.netrc", "/etc/passwd"] {
        desk.put("ruff.toml", format!("extend = \"{extend}\"\n"));
        desk.fails("lint_code", &json!({}), "outside");
    }
    desk.put("ruff.toml", "\"ext\\u0065nd\" = \"\\u002e./outside/secret.txt\"\n");
    desk.fails("lint_code", &json!({}), "outside");
    desk.put("ruff.toml", "extend = \"conf/base.toml\"\n");
    desk.put("conf/base.toml", "extend = \"../../outside/secret.txt\"\n");
    desk.fails("lint_code", &json!({}), "outside");
    std::fs::remove_file(desk.path("conf/base.toml")).unwrap();
    symlink(desk.outside().join("secret.txt"), desk.path("conf/base.toml")).unwrap();
    desk.fails("lint_code", &json!({}), "outside");
    let all: Vec<_> = (0..30).map(|number| format!("f{number}.toml")).collect();
    for name in all.iter().map(String::as_str).chain(["ruff.toml"]) {
        desk.put(name, format!("extend = {all:?}\n"));
    }
    desk.ok("lint_code", &json!({}));
    desk.put("base.toml", "line-length = 80\n");
    desk.put("ruff.toml", "extend = \"./base.toml\"\n");
    assert!(desk.ok("lint_code", &json!({})).contains("No problems found"));
}

#[test]
fn what_a_linter_says_of_configuration_above_is_not_shown() {
    let desk = Desk::new();
    desk.put("a.py", "x = 1\n");
    let above = desk.outside().with_file_name("ruff.toml");
    desk.put(".venv/bin/ruff", format!("#!/bin/sh\ncat {} || echo none\nexit 2\n", above.display()));
    let program = desk.path(".venv/bin/ruff");
    std::fs::set_permissions(&program, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    assert!(desk.fails("lint_code", &json!({}), "failed").contains("none"), "there is nothing above");
    std::fs::write(&above, "hunter2\n").unwrap();
    let said = desk.fails("lint_code", &json!({}), "failed");
    assert!(!said.contains("hunter2") && said.contains("ruff.toml, which lies outside"), "{said}");
}

#[test]
fn what_nothing_holds_runs_only_with_consent() {
    let desk = Desk::new();
    desk.put("a.rs", "fn main( {\n");
    let plan = desk.toolbox.plan("format_code", "{}").unwrap();
    assert_eq!(plan.class(), Class::Execute);
    assert_eq!(Gate::new(Approval::AutoEdit).verdict(&plan), Verdict::Ask);
    assert!(plan.question().text().contains("rustfmt"), "{}", plan.question().text());
}
