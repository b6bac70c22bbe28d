use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};

use del_tools::{Answer, Approval, Consent, Control, Gate, Question, Rule, Selection, Subject, Verdict};
use serde_json::{Value, json};

use crate::desk::Desk;

fn batch(operations: &Value) -> Value {
    json!({ "operations": operations })
}

fn undo(desk: &Desk, steps: usize) {
    let undo = desk.toolbox.plan_undo(&Selection::Last(steps), false).unwrap();
    desk.toolbox.undo(&undo).unwrap();
}

struct Says(Answer, Vec<String>);

impl Consent for Says {
    fn ask(&mut self, question: &Question) -> Answer {
        self.1.push(question.text());
        self.0.clone()
    }
}

#[test]
fn one_question_shows_all_that_will_be_done() {
    let desk = Desk::keeping();
    desk.put("a.txt", "a\n");
    let arguments = batch(&json!([
        {"tool": "read_file", "arguments": {"path": "nosuch"}},
        {"tool": "write_file", "arguments": {"path": "b.txt", "content": "b\n"}},
        {"tool": "edit_file", "arguments": {"path": "b.txt", "old_string": "b", "new_string": "c"}},
        {"tool": "run_command", "arguments": {"command": "touch d"}},
        {"tool": "delete", "arguments": {"path": "a.txt"}},
    ]));
    let plan = desk.toolbox.plan("batch_operations", &arguments.to_string()).unwrap();
    let mut consent = Says(Answer::No { reason: None }, Vec::new());
    assert!(Gate::new(Approval::Ask).pass(&plan, Some(&mut consent)).is_err());
    let [text] = &consent.1[..] else { panic!("one question: {:?}", consent.1) };
    for line in [
        "batch_operations: 5 operations",
        "[1/5] read_file nosuch",
        "! would fail: Error: file not found: nosuch.",
        "[2/5] write_file: create b.txt\n--- /dev/null\n+++ b/b.txt\n@@ -0,0 +1 @@\n+b",
        "[3/5] edit_file b.txt: with these arguments\n  {\"path\":\"b.txt\",\"old_string\":\"b\",\"new_string\":\"c\"}",
        "! what comes before it decides what this changes; it cannot be shown yet",
        "  $ touch d",
        "[5/5] batch_operations: delete a.txt (1 file, 2 B)",
    ] {
        assert!(text.contains(line), "{line:?} is not in\n{text}");
    }
    assert!(!desk.path("b.txt").exists() && !desk.path("d").exists());
}

#[test]
fn the_rules_hold_for_each_operation() {
    let desk = Desk::new();
    desk.put("src/a.txt", "a\n");
    let verdict = |gate: &Gate, operations: &Value| {
        gate.verdict(&desk.toolbox.plan("batch_operations", &batch(operations).to_string()).unwrap())
    };
    let write = |path: &str| json!({"tool": "write_file", "arguments": {"path": path, "content": "x"}});
    let delete = json!({"tool": "delete", "arguments": {"path": "src/a.txt"}});
    let command = |text: &str| json!({"tool": "run_command", "arguments": {"command": text}});
    let mut gate = Gate::new(Approval::Ask);
    gate.allow(Rule::parse("write_file(src/**)").unwrap());
    gate.allow(Rule::parse("run_command(cargo test:*)").unwrap());
    assert_eq!(
        verdict(&gate, &json!([write("src/b"), command("cargo test -q"), command("ls")])),
        Verdict::Run
    );
    assert_eq!(verdict(&gate, &json!([write("src/b"), write("c")])), Verdict::Ask);
    assert_eq!(verdict(&gate, &json!([write("src/b"), command("cargo build")])), Verdict::Ask);
    assert_eq!(verdict(&gate, &json!([write("src/b"), delete])), Verdict::Ask);
    gate.allow(Rule::parse("batch_operations").unwrap());
    assert_eq!(verdict(&gate, &json!([write("src/b"), delete])), Verdict::Run);
    let copied = json!({"tool": "copy", "arguments": {"path": "src/a.txt", "to": ".envrc"}});
    assert_eq!(verdict(&gate, &json!([copied])), Verdict::Ask, "something runs it later");
    assert_eq!(
        verdict(&gate, &json!([write("c"), delete])),
        Verdict::Ask,
        "a batch vouches for no other tool"
    );
    let mut strict = Gate::new(Approval::Yolo);
    strict.deny(Rule::parse("write_file(src/**)").unwrap());
    strict.deny(Rule::parse("bash(rm:*)").unwrap());
    assert!(matches!(verdict(&strict, &json!([write("c"), write("src/b")])), Verdict::Deny(_)));
    assert!(matches!(verdict(&strict, &json!([command("ls; rm x")])), Verdict::Deny(_)));
    let edited = json!({"tool": "edit_file", "path": "src/b", "old_string": "", "new_string": "x"});
    assert!(matches!(verdict(&strict, &json!([edited])), Verdict::Deny(_)), "whatever tool writes it");
    assert_eq!(verdict(&strict, &json!([write("c")])), Verdict::Run);
    strict.deny(Rule::parse("batch_operations").unwrap());
    assert!(matches!(verdict(&strict, &json!([write("c")])), Verdict::Deny(_)));
    let plan = Gate::new(Approval::Plan);
    assert!(matches!(verdict(&plan, &json!([command("ls"), write("c")])), Verdict::Deny(_)));
    assert_eq!(verdict(&plan, &json!([command("ls")])), Verdict::Run);
}

#[test]
fn a_restricted_toolbox_is_restricted_in_a_batch_too() {
    let mut desk = Desk::new();
    desk.put("a.txt", "a\n");
    desk.toolbox.restrict(&["read_file", "batch_operations"]).unwrap();
    desk.ok("batch_operations", &batch(&json!([{"tool": "read_file", "path": "a.txt"}])));
    let arguments = batch(&json!([{"tool": "run_command", "command": "ls"}]));
    desk.fails("batch_operations", &arguments, "unknown_tool");
}

/// What a link was swapped for while the question stood is not what was agreed to.
#[test]
fn an_operation_that_became_another_one_is_refused() {
    let desk = Desk::keeping();
    desk.put("one/a.txt", "one\n");
    desk.put("two/a.txt", "two\n");
    symlink("one", desk.path("door")).unwrap();
    let write = json!({"tool": "write_file", "arguments": {"path": "door/a.txt", "content": "new\n"}});
    let plan = desk.toolbox.plan("batch_operations", &batch(&json!([write])).to_string()).unwrap();
    fs::remove_file(desk.path("door")).unwrap();
    symlink("two", desk.path("door")).unwrap();
    let result = desk.toolbox.run(plan, &Control::default());
    assert!(!result.ok && result.text.contains("another operation"), "{}", result.text);
    assert_eq!((desk.get("one/a.txt"), desk.get("two/a.txt")), ("one\n".to_owned(), "two\n".to_owned()));
}

/// An earlier operation cannot make a later one into something that nobody saw.
#[test]
fn what_comes_before_cannot_smuggle_in_what_comes_after() {
    let desk = Desk::keeping();
    desk.put("safe/a.txt", "a\n");
    symlink("../.envrc", desk.path("safe/link")).unwrap();
    let arguments = batch(&json!([
        {"tool": "delete", "arguments": {"path": "safe/a.txt"}},
        {"tool": "move", "arguments": {"from": "safe/link", "to": "safe/a.txt"}},
        {"tool": "write_file", "arguments": {"path": "safe/a.txt", "content": "evil\n"}},
    ]));
    let text = desk.call("batch_operations", &arguments).text;
    assert!(!desk.path(".envrc").exists(), "{text}");
    assert!(text.contains("[3/3] write_file safe/a.txt: failed"), "{text}");
}

#[test]
fn deleting_a_link_leaves_what_it_leads_to() {
    let desk = Desk::keeping();
    desk.put("real/a.txt", "a\n");
    symlink("real", desk.path("inner")).unwrap();
    symlink(desk.outside(), desk.path("outer")).unwrap();
    symlink("nowhere", desk.path("dangling")).unwrap();
    let delete = |path: &str| json!({"tool": "delete", "arguments": {"path": path, "recursive": true}});
    desk.ok("batch_operations", &batch(&json!([delete("inner"), delete("outer"), delete("dangling")])));
    assert_eq!(desk.get("real/a.txt"), "a\n");
    assert_eq!(fs::read_dir(desk.outside()).unwrap().count(), 1);
    undo(&desk, 3);
    assert_eq!(fs::read_link(desk.path("outer")).unwrap(), desk.outside());
    assert_eq!(fs::read_link(desk.path("dangling")).unwrap().to_str(), Some("nowhere"));
}

#[test]
fn nothing_is_taken_through_a_link_that_leads_out() {
    let desk = Desk::keeping();
    desk.put("a.txt", "a\n");
    symlink(desk.outside(), desk.path("door")).unwrap();
    for operation in [
        json!({"tool": "delete", "arguments": {"path": "door/secret.txt"}}),
        json!({"tool": "copy", "arguments": {"from": "door/secret.txt", "to": "b.txt"}}),
        json!({"tool": "move", "arguments": {"from": "door/secret.txt", "to": "b.txt"}}),
        json!({"tool": "copy", "arguments": {"from": "a.txt", "to": "door/"}}),
        json!({"tool": "move", "arguments": {"from": "a.txt", "to": "door/b.txt"}}),
        json!({"tool": "mkdir", "arguments": {"path": "door/new"}}),
    ] {
        let result = desk.call("batch_operations", &batch(&json!([operation])));
        assert!(!result.ok && result.text.contains("outside the workspace"), "{operation}: {}", result.text);
    }
    assert_eq!(fs::read_dir(desk.outside()).unwrap().count(), 1);
    assert!(desk.path("a.txt").exists() && !desk.path("b.txt").exists());
}

#[test]
fn a_repository_is_neither_deleted_nor_moved() {
    let desk = Desk::keeping();
    desk.put("sub/.git/config", "c\n");
    for operation in [
        json!({"tool": "delete", "arguments": {"path": "sub", "recursive": true}}),
        json!({"tool": "move", "arguments": {"from": "sub", "to": "other"}}),
        json!({"tool": "copy", "arguments": {"from": "sub", "to": "other"}}),
    ] {
        let result = desk.call("batch_operations", &batch(&json!([operation])));
        assert!(!result.ok && result.text.contains("inside .git"), "{}", result.text);
    }
    assert_eq!(desk.get("sub/.git/config"), "c\n");
}

#[test]
fn everything_a_batch_does_can_be_undone() {
    let desk = Desk::keeping();
    desk.put("tree/x/y.txt", "y\n");
    desk.put("tree/z.bin", b"\0\xff");
    fs::create_dir(desk.path("tree/empty")).unwrap();
    symlink("z.bin", desk.path("tree/link")).unwrap();
    for (path, mode) in [("tree/x/y.txt", 0o750), ("tree/x", 0o710), ("tree/empty", 0o1777), ("tree", 0o700)]
    {
        fs::set_permissions(desk.path(path), Permissions::from_mode(mode)).unwrap();
    }
    desk.put("a.txt", "a\n");
    let before = desk.snapshot();
    desk.ok(
        "batch_operations",
        &batch(&json!([
            {"tool": "copy", "arguments": {"from": "tree", "to": "copied"}},
            {"tool": "move", "arguments": {"from": "tree", "to": "moved/tree"}},
            {"tool": "delete", "arguments": {"path": "copied", "recursive": true}},
            {"tool": "mkdir", "arguments": {"path": "made/deep"}},
            {"tool": "delete", "arguments": {"path": "a.txt"}},
            {"tool": "write_file", "arguments": {"path": "a.txt", "content": "new\n"}},
        ])),
    );
    let after = desk.snapshot();
    assert_ne!(before, after);
    undo(&desk, 6);
    assert_eq!(desk.snapshot(), before);
    let id = desk.toolbox.undoable().unwrap()[0].id.clone();
    desk.toolbox.undo(&desk.toolbox.plan_undo(&Selection::Id(id), false).unwrap()).unwrap();
    assert_eq!(desk.snapshot(), after);
    undo(&desk, 6);
    assert_eq!(desk.snapshot(), before);
}

#[test]
fn a_copied_or_moved_directory_has_the_mode_that_it_had() {
    let desk = Desk::keeping();
    desk.put("tree/x/y.sh", "y\n");
    for (path, mode) in [("tree/x/y.sh", 0o750), ("tree/x", 0o500), ("tree", 0o2700)] {
        fs::set_permissions(desk.path(path), Permissions::from_mode(mode)).unwrap();
    }
    fs::create_dir(desk.path("shared")).unwrap();
    fs::set_permissions(desk.path("shared"), Permissions::from_mode(0o2755)).unwrap();
    let mode = |path: &str| fs::metadata(desk.path(path)).unwrap().permissions().mode() & 0o7777;
    desk.ok(
        "batch_operations",
        &batch(&json!([
            {"tool": "copy", "arguments": {"from": "tree", "to": "copied"}},
            {"tool": "copy", "arguments": {"from": "tree/x", "to": "shared/x"}},
            {"tool": "move", "arguments": {"from": "tree", "to": "moved"}},
        ])),
    );
    assert_eq!(["copied", "copied/x", "copied/x/y.sh"].map(mode), [0o700, 0o500, 0o750]);
    assert_eq!(["shared/x", "shared/x/y.sh"].map(mode), [0o2500, 0o750], "the group comes from above");
    assert_eq!(["moved", "moved/x", "moved/x/y.sh"].map(mode), [0o2700, 0o500, 0o750]);
    undo(&desk, 1);
    assert_eq!(["tree", "tree/x", "tree/x/y.sh"].map(mode), [0o2700, 0o500, 0o750]);
    // What nobody may write in can be taken back all the same.
    undo(&desk, 2);
    assert!(!desk.path("copied").exists() && !desk.path("shared/x").exists());
    fs::set_permissions(desk.path("tree/x"), Permissions::from_mode(0o700)).unwrap();
}

#[test]
fn no_file_gets_rights_of_its_owner_that_nobody_gave_it() {
    let desk = Desk::keeping();
    let mode = |path: &str| fs::metadata(desk.path(path)).unwrap().permissions().mode() & 0o7777;
    let set = |path: &str| fs::set_permissions(desk.path(path), Permissions::from_mode(0o6755)).unwrap();
    desk.put("run", "a\n");
    set("run");
    desk.ok(
        "batch_operations",
        &batch(&json!([{"tool": "copy", "arguments": {"from": "run", "to": "copied"}}])),
    );
    assert_eq!((mode("run"), mode("copied")), (0o6755, 0o755));
    desk.ok("batch_operations", &batch(&json!([{"tool": "delete", "arguments": {"path": "run"}}])));
    undo(&desk, 1);
    assert_eq!(mode("run"), 0o755);
    set("run");
    let text = desk.ok("edit_file", &json!({"path": "run", "old_string": "a", "new_string": "b"}));
    assert_eq!(mode("run"), 0o755);
    assert!(text.contains("the new content does not"), "{text}");
}

#[test]
fn a_delete_without_a_store_says_that_it_cannot_be_undone() {
    let desk = Desk::new();
    desk.put("a.txt", "a\n");
    let arguments = batch(&json!([{"tool": "delete", "arguments": {"path": "a.txt"}}])).to_string();
    let plan = desk.toolbox.plan("batch_operations", &arguments).unwrap();
    assert!(plan.question().text().contains("! this cannot be undone"));
    assert_eq!(Gate::new(Approval::AutoEdit).verdict(&plan), Verdict::Ask);
}

#[test]
fn long_texts_share_the_room() {
    let desk = Desk::new();
    for name in ["a", "b", "c"] {
        desk.put(name, "some line of text\n".repeat(5000));
    }
    desk.put("d", "short\n");
    let read = |path: &str| json!({"tool": "read_file", "arguments": {"path": path}});
    let result = desk.call("batch_operations", &batch(&json!([read("a"), read("b"), read("c"), read("d")])));
    assert!(result.ok && result.truncated);
    assert!(result.text.len() <= 51 * 1024, "{}", result.text.len());
    assert_eq!(result.text.matches("bytes omitted").count(), 3);
    assert!(result.text.ends_with("4 succeeded, 0 failed, 0 skipped.") && result.text.contains("short"));
}

#[test]
fn a_cancelled_batch_is_cancelled() {
    let desk = Desk::new();
    let cancel = del_tools::Cancel::new();
    cancel.cancel();
    let write = json!({"tool": "write_file", "arguments": {"path": "a.txt", "content": "x"}});
    let result = desk.watched("batch_operations", &batch(&json!([write])), &Control::new(cancel));
    assert_eq!(result.data.unwrap()["code"], "cancelled");
    assert!(!desk.path("a.txt").exists());
}

#[test]
fn the_parts_of_a_multi_edit_are_in_its_question() {
    let desk = Desk::new();
    desk.put("a.txt", "a\n");
    let arguments = batch(
        &json!([{"file": "a.txt", "old": "a", "new": "b"}, {"file": "n.txt", "old": "", "new": "n\n"}]),
    );
    let plan = desk.toolbox.plan("multi_edit", &arguments.to_string()).unwrap();
    let Subject::Several { parts } = &plan.question().subject else { panic!("{:?}", plan.question()) };
    assert_eq!(parts.len(), 2);
    let mut gate = Gate::new(Approval::Ask);
    gate.allow(Rule::parse("multi_edit(a.*)").unwrap());
    assert_eq!(gate.verdict(&plan), Verdict::Ask);
    gate.allow(Rule::parse("multi_edit(n.*)").unwrap());
    assert_eq!(gate.verdict(&plan), Verdict::Run);
    desk.put("a.txt", "a a\n");
    let result = desk.toolbox.run(plan, &Control::default());
    assert_eq!(result.data.unwrap()["code"], "not_unique");
    assert!(!desk.path("n.txt").exists());
}

#[test]
fn a_multi_edit_whose_file_changed_is_not_made() {
    let desk = Desk::new();
    desk.put("a.txt", "one two\n");
    desk.put("b.txt", "b\n");
    let arguments = batch(
        &json!([{"file": "b.txt", "old": "b", "new": "c"}, {"file": "a.txt", "old": "one", "new": "1"}]),
    );
    let plan = desk.toolbox.plan("multi_edit", &arguments.to_string()).unwrap();
    desk.put("a.txt", "one three\n");
    assert_eq!(desk.toolbox.run(plan, &Control::default()).data.unwrap()["code"], "stale");
    assert_eq!((desk.get("a.txt"), desk.get("b.txt")), ("one three\n".to_owned(), "b\n".to_owned()));
}
