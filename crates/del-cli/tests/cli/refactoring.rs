//! A task of many files: how often it asks, and how it is taken back.

use serde_json::json;
use tempfile::TempDir;

use crate::del::{del, directory, run};
use crate::server::{Server, calls, says};
use crate::terminal::Terminal;

/// Ten files, each with a name that is to be another.
fn ten_files() -> TempDir {
    let names: Vec<String> = (0..10).map(|n| format!("src/part{n}.py")).collect();
    let files: Vec<(&str, &str)> =
        names.iter().map(|name| (name.as_str(), "def old():\n    return old\n")).collect();
    directory(&[&files[..], &[("check.sh", "! grep -rq old src\n")]].concat())
}

/// What a model does that goes about it in order: it searches, reads, edits, and runs the check before and behind.
fn renaming() -> Server {
    let call = |n: usize, name: &str, arguments: serde_json::Value| calls(&format!("c{n}"), name, &arguments);
    let path = |n: usize| format!("src/part{n}.py");
    let mut script = vec![
        call(100, "grep_search", json!({"pattern": "old"})),
        call(101, "run_command", json!({"command": "grep -rn old src | head -n 3"})),
        call(102, "run_command", json!({"command": "sh check.sh"})),
    ];
    for n in 0..10 {
        script.push(call(n, "read_file", json!({"file_path": path(n)})));
        let edit =
            json!({"file_path": path(n), "old_string": "old", "new_string": "new", "replace_all": true});
        script.push(call(20 + n, "edit_file", edit));
    }
    script.push(call(103, "run_command", json!({"command": "sh check.sh"})));
    script.push(says("All ten are changed."));
    Server::new(script)
}

fn changed(files: &TempDir, name: &str) -> usize {
    let text = |n| std::fs::read_to_string(files.path().join(format!("src/part{n}.py"))).unwrap();
    (0..10).filter(|n| text(*n).contains(name)).count()
}

#[test]
fn ten_files_are_changed_without_a_question_where_commands_are_allowed_as_far_as_they_are_confined() {
    let (files, server) = (ten_files(), renaming());
    let mode = ["--approval-mode", "auto-edit", "--allow-tool", "run_command"];
    let arguments = [&["--base-url", server.url(), "--color", "never"][..], &mode].concat();
    let mut terminal = Terminal::with(&files, &arguments, 100, &[]);
    terminal.until("ends");
    terminal.until("> ");
    terminal.write("Rename old to new.\r");
    let seen = terminal.until("All ten are changed.");
    assert!(!seen.contains("Do this?"), "{seen:?}");
    assert_eq!((changed(&files, "new"), changed(&files, "old")), (10, 0));
    terminal.until("> ");
    terminal.write("/undo all\r");
    terminal.until("undone: ");
    terminal.until("> ");
    assert_eq!((changed(&files, "new"), changed(&files, "old")), (0, 10));
    terminal.write("exit\r");
    assert_eq!(terminal.end().1, 0);
}

#[test]
fn ten_files_are_changed_with_one_question_and_undone_with_one_command() {
    let (files, server) = (ten_files(), renaming());
    let arguments = ["--base-url", server.url(), "--color", "never", "--approval-mode", "auto-edit"];
    let mut terminal = Terminal::with(&files, &arguments, 100, &[]);
    terminal.until("ends");
    terminal.until("> ");
    terminal.write("Rename old to new.\r");
    terminal.until("Do this?");
    terminal.write("a");
    let seen = terminal.until("All ten are changed.");
    assert!(!seen.contains("Do this?"), "{seen:?}");
    let changed = |name: &str| changed(&files, name);
    assert_eq!((changed("new"), changed("old")), (10, 0));
    terminal.until("> ");
    terminal.write("/undo all\r");
    terminal.until("undone: ");
    terminal.until("> ");
    assert_eq!((changed("new"), changed("old")), (0, 10));
    terminal.write("/redo\r");
    terminal.until("undo taken back: ");
    terminal.until("> ");
    assert_eq!((changed("new"), changed("old")), (10, 0));
    terminal.write("exit\r");
    assert_eq!(terminal.end().1, 0);
    // Another way to the same, from outside of the conversation.
    let undone = run(del(&["undo", "--session"]).current_dir(files.path()).env("HOME", files.path()), "");
    assert_eq!((undone.code, changed("old")), (0, 10), "{undone:#?}");
}
