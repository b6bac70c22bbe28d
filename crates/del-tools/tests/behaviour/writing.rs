use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt};

use del_tools::{ChangeKind, Control};
use serde_json::json;

use crate::desk::Desk;

fn mode(desk: &Desk, name: &str) -> u32 {
    fs::metadata(desk.path(name)).unwrap().permissions().mode() & 0o7777
}

#[test]
fn a_replaced_file_keeps_its_mode() {
    let desk = Desk::new();
    desk.put("run.sh", "#!/bin/sh\n");
    fs::set_permissions(desk.path("run.sh"), Permissions::from_mode(0o751)).unwrap();
    desk.ok("write_file", &json!({"path": "run.sh", "content": "#!/bin/sh\necho\n"}));
    assert_eq!(mode(&desk, "run.sh"), 0o751);
    desk.ok("edit_file", &json!({"path": "run.sh", "old_string": "echo", "new_string": "true"}));
    assert_eq!(mode(&desk, "run.sh"), 0o751);
}

#[test]
fn a_new_file_has_the_usual_mode_and_leaves_nothing_behind() {
    let desk = Desk::new();
    desk.ok("write_file", &json!({"path": "a/b/c.txt", "content": "x"}));
    fs::write(desk.path("usual"), "").unwrap();
    assert_eq!(mode(&desk, "a/b/c.txt"), mode(&desk, "usual"));
    let names: Vec<_> = fs::read_dir(desk.path("a/b")).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert_eq!(names, ["c.txt"]);
}

#[test]
fn a_read_only_file_is_not_written() {
    let desk = Desk::new();
    desk.put("a.txt", "a\n");
    fs::set_permissions(desk.path("a.txt"), Permissions::from_mode(0o444)).unwrap();
    let text = desk.fails("write_file", &json!({"path": "a.txt", "content": "b\n"}), "denied");
    assert!(text.contains("read-only"), "{text}");
    desk.fails("edit_file", &json!({"path": "a.txt", "old_string": "a", "new_string": "b"}), "denied");
    assert_eq!(desk.get("a.txt"), "a\n");
}

#[test]
fn hard_links_inside_stay_linked() {
    let desk = Desk::new();
    desk.put("a.txt", "old\n");
    fs::create_dir(desk.path("deep")).unwrap();
    fs::hard_link(desk.path("a.txt"), desk.path("deep/b.txt")).unwrap();
    let text = desk.ok("edit_file", &json!({"path": "a.txt", "old_string": "old", "new_string": "new"}));
    assert!(!text.contains("hard link"), "{text}");
    assert_eq!(desk.get("deep/b.txt"), "new\n");
    let (a, b) = (fs::metadata(desk.path("a.txt")).unwrap(), fs::metadata(desk.path("deep/b.txt")).unwrap());
    assert_eq!((a.ino(), a.nlink()), (b.ino(), 2));
}

#[test]
fn a_hard_link_outside_keeps_the_old_content() {
    let desk = Desk::new();
    fs::hard_link(desk.outside().join("secret.txt"), desk.path("a.txt")).unwrap();
    let text = desk.ok("write_file", &json!({"path": "a.txt", "content": "mine\n"}));
    assert!(text.contains("another name (hard link) outside"), "{text}");
    assert_eq!(desk.get("a.txt"), "mine\n");
    assert_eq!(fs::read_to_string(desk.outside().join("secret.txt")).unwrap(), "secret\n");
}

/// The moment between the temporary file and the rename: a process that dies there leaves the old file whole.
#[test]
fn a_temporary_file_left_behind_does_no_harm() {
    let desk = Desk::new();
    desk.put("a.txt", "old\n");
    desk.put(".del-0123456789abcdef", "half of the new con");
    assert_eq!(desk.ok("read_file", &json!({"path": "a.txt"})), "     1\told");
    desk.ok("edit_file", &json!({"path": "a.txt", "old_string": "old", "new_string": "new"}));
    assert_eq!(desk.get("a.txt"), "new\n");
}

#[test]
fn what_a_dead_process_left_behind_is_cleared_up() {
    let desk = Desk::new();
    let hour_ago = std::time::SystemTime::now() - std::time::Duration::from_secs(3600);
    let leave = |name: &str, old: bool| {
        desk.put(name, "half of the new con");
        if old {
            fs::File::options().write(true).open(desk.path(name)).unwrap().set_modified(hour_ago).unwrap();
        }
    };
    leave(".del-0123456789abcdef", true);
    leave(".del-fedcba9876543210", false);
    leave(".del-notes", true);
    leave("sub/.del-0123456789abcdef", true);
    desk.ok("write_file", &json!({"path": "a.txt", "content": "a\n"}));
    let mut names: Vec<_> = desk.snapshot().into_keys().collect();
    names.retain(|path| path.file_name().unwrap().to_str().unwrap().starts_with(".del-"));
    let wanted = [".del-fedcba9876543210", ".del-notes", "sub/.del-0123456789abcdef"];
    assert_eq!(names, wanted.map(|name| desk.path(name)));
}

/// Two processes that are Del: each looks and writes while the other is kept out.
#[test]
fn edits_of_two_processes_all_happen() {
    let desk = Desk::keeping();
    let lines: Vec<_> = (0..40).map(|n| format!("line {n:02}\n")).collect();
    desk.put("a.txt", lines.concat());
    let other = desk.another();
    std::thread::scope(|scope| {
        for (worker, toolbox) in [&desk.toolbox, &other].into_iter().enumerate() {
            scope.spawn(move || {
                for n in (worker..40).step_by(2) {
                    let edit = json!({"path": "a.txt", "old_string": format!("line {n:02}"), "new_string": format!("LINE {n:02}")});
                    // Each knows only its own writes, so it reads what the other has done.
                    loop {
                        let read = toolbox.plan("read_file", r#"{"path": "a.txt"}"#).unwrap();
                        toolbox.run(read, &Control::default());
                        let plan = toolbox.plan("edit_file", &edit.to_string());
                        let Ok(plan) = plan else { continue };
                        let result = toolbox.run(plan, &Control::default());
                        if result.ok {
                            break;
                        }
                        assert_eq!(result.data.unwrap()["code"], "stale", "{}", result.text);
                    }
                }
            });
        }
    });
    let expected: Vec<_> = (0..40).map(|n| format!("LINE {n:02}\n")).collect();
    assert_eq!(desk.get("a.txt"), expected.concat());
}

/// The old content or the new one, whole: never a mixture, never nothing.
#[test]
fn a_reader_never_sees_half_a_file() {
    let desk = Desk::new();
    let (short, long) = ("a\n".repeat(10), "b\n".repeat(20_000));
    desk.put("a.txt", &short);
    let path = desk.path("a.txt");
    std::thread::scope(|scope| {
        let writer = scope.spawn(|| {
            for round in 0..60 {
                let content = if round % 2 == 0 { &long } else { &short };
                desk.ok("write_file", &json!({"path": "a.txt", "content": content}));
            }
        });
        while !writer.is_finished() {
            let seen = fs::read_to_string(&path).unwrap();
            assert!(seen == short || seen == long, "{} bytes of a mixture", seen.len());
        }
    });
}

#[test]
fn concurrent_edits_of_one_file_all_happen() {
    let desk = Desk::new();
    let lines: Vec<_> = (0..40).map(|n| format!("line {n:02}\n")).collect();
    desk.put("a.txt", lines.concat());
    std::thread::scope(|scope| {
        for worker in 0..4 {
            let desk = &desk;
            scope.spawn(move || {
                for n in (worker..40).step_by(4) {
                    let (old, new) = (format!("line {n:02}"), format!("LINE {n:02} by {worker}"));
                    desk.ok("edit_file", &json!({"path": "a.txt", "old_string": old, "new_string": new}));
                }
            });
        }
    });
    let expected: Vec<_> = (0..40).map(|n| format!("LINE {n:02} by {}\n", n % 4)).collect();
    assert_eq!(desk.get("a.txt"), expected.concat());
}

#[test]
fn what_was_shown_is_what_is_replaced() {
    let desk = Desk::new();
    desk.put("a.txt", "old\n");
    let over = desk.toolbox.plan("write_file", r#"{"path": "a.txt", "content": "new\n"}"#).unwrap();
    let fresh = desk.toolbox.plan("write_file", r#"{"path": "b.txt", "content": "new\n"}"#).unwrap();
    desk.put("a.txt", "somebody else was faster\n");
    desk.put("b.txt", "somebody else was faster\n");
    for plan in [over, fresh] {
        let result = desk.toolbox.run(plan, &Control::default());
        assert_eq!(result.data.unwrap()["code"], "stale", "{}", result.text);
    }
    assert_eq!(desk.get("a.txt") + &desk.get("b.txt"), "somebody else was faster\n".repeat(2));
}

#[test]
fn a_file_touched_but_not_changed_is_not_stale() {
    let desk = Desk::new();
    desk.put("a.txt", "one\ntwo\n");
    desk.ok("read_file", &json!({"path": "a.txt"}));
    desk.put("a.txt", "one\ntwo\n");
    desk.ok("edit_file", &json!({"path": "a.txt", "old_string": "one", "new_string": "1"}));
    desk.put("a.txt", "1\ntoo\n");
    desk.fails("edit_file", &json!({"path": "a.txt", "old_string": "1", "new_string": "x"}), "stale");
}

#[test]
fn changes_carry_what_undoing_them_needs() {
    let desk = Desk::new();
    let created = desk.call("write_file", &json!({"path": "a.txt", "content": "one\n"})).changes.remove(0);
    assert_eq!((created.path.as_str(), created.kind, created.before), ("a.txt", ChangeKind::Created, None));
    let edit = json!({"path": "a.txt", "old_string": "one", "new_string": "two\nthree"});
    let edited = desk.call("edit_file", &edit).changes.remove(0);
    assert_eq!((edited.kind, edited.added, edited.removed), (ChangeKind::Modified, 2, 1));
    assert_eq!(edited.before.as_deref(), Some(b"one\n".as_slice()));
    let json = serde_json::to_value(&edited).unwrap();
    assert_eq!(json, json!({"path": "a.txt", "kind": "modified", "added": 2, "removed": 1}));
}

#[test]
fn a_large_edit_shows_only_the_start_of_its_diff() {
    let desk = Desk::new();
    desk.put("a.txt", "x\n".repeat(500));
    let text = desk.ok(
        "edit_file",
        &json!({"path": "a.txt", "old_string": "x", "new_string": "y", "replace_all": true}),
    );
    assert!(text.starts_with("Edited a.txt: replaced 500 occurrences (+500 -500)\n--- a/a.txt"), "{text}");
    assert!(text.ends_with("more lines of diff]") && text.lines().count() == 62, "{text}");
}

#[test]
fn a_text_without_the_old_string_is_searched_for_a_hint_in_bounded_time() {
    let desk = Desk::new();
    desk.put("a.txt", "some line of text\n".repeat(100_000));
    let old = "some other line\n".repeat(100);
    desk.fails("edit_file", &json!({"path": "a.txt", "old_string": old, "new_string": "x"}), "no_match");
}
