//! What lies inside and is guarded all the same, and the ways of naming it.

use std::fs;
use std::os::unix::fs::symlink;
use std::sync::atomic::{AtomicBool, Ordering};

use del_tools::{Approval, Control, Gate, Toolbox, Toolset, Verdict};
use rustix::fs::{CWD, FileType, Mode, mknodat};
use serde_json::{Value, json};

use crate::desk::Desk;

fn write(path: &str) -> Value {
    json!({"path": path, "content": "evil\n"})
}

#[test]
fn the_inside_of_a_repository_is_not_written_however_it_is_spelled() {
    let desk = Desk::new();
    desk.put(".git/config", "c\n");
    desk.put("sub/.git/hooks/keep", "");
    symlink(".git", desk.path("door")).unwrap();
    symlink(".git/config", desk.path("link")).unwrap();
    for path in [
        ".git/config",
        "./.git/hooks/pre-commit",
        "sub/../.git/x",
        ".GIT/config",
        ".Git/hooks/x",
        ".git./x",
        ".git /x",
        "git~1/x",
        ".g\u{200c}it/x",
        "sub/.git/hooks/pre-commit",
        "door/hooks/pre-commit",
        "door/config",
        "link",
        ".git",
    ] {
        desk.fails("write_file", &write(path), "denied");
        let edit = json!({"operations": [{"file": path, "old": "", "new": "evil\n"}]});
        desk.fails("multi_edit", &edit, "denied");
        let copy = json!({"operations": [{"tool": "copy", "arguments": {"from": "sub", "to": path}}]});
        assert!(!desk.call("batch_operations", &copy).ok, "{path}");
    }
    assert_eq!(desk.get(".git/config"), "c\n");
    assert!(!desk.path(".git/hooks").exists());
}

#[test]
fn a_working_directory_inside_of_a_repository_is_guarded_too() {
    let desk = Desk::new();
    desk.put(".git/hooks/keep", "");
    let inner = Toolbox::open(&desk.path(".git"), &[], Toolset::All).unwrap();
    assert!(inner.plan("write_file", &write("hooks/pre-commit").to_string()).is_err());
}

/// Writing under one name of a hard-linked file writes them all.
#[test]
fn a_file_that_runs_or_holds_secrets_asks_under_its_other_names_too() {
    let desk = Desk::new();
    let gate = Gate::new(Approval::AutoEdit);
    let calls = |path: &str| {
        [
            ("write_file", write(path)),
            ("edit_file", json!({"path": path, "old_string": "old", "new_string": "evil"})),
            ("multi_edit", json!({"operations": [{"file": path, "old": "old", "new": "evil"}]})),
        ]
    };
    for (number, name) in [".envrc", "deep/.vscode/tasks.json", ".env", "plain.txt"].into_iter().enumerate() {
        let other = format!("notes{number}.txt");
        desk.put(name, "old\n");
        fs::hard_link(desk.path(name), desk.path(&other)).unwrap();
        let expected = if name == "plain.txt" { Verdict::Run } else { Verdict::Ask };
        for (tool, arguments) in calls(&other) {
            let plan = desk.toolbox.plan(tool, &arguments.to_string()).unwrap();
            assert_eq!(gate.verdict(&plan), expected, "{tool} {name}");
        }
    }
}

/// A worktree's `.git` is a file that says where the repository lies; that may lie inside under another name.
#[test]
fn a_repository_under_another_name_asks() {
    let desk = Desk::new();
    desk.put(".git", format!("gitdir: {}\n", desk.path("store").display()));
    desk.put("store/HEAD", "ref: refs/heads/main\n");
    fs::create_dir_all(desk.path("store/objects")).unwrap();
    fs::create_dir_all(desk.path("store/refs")).unwrap();
    desk.fails("write_file", &write(".git"), "denied");
    let gate = Gate::new(Approval::AutoEdit);
    for path in ["store/hooks/pre-commit", "store/config", "store/new/deep/x"] {
        let plan = desk.toolbox.plan("write_file", &write(path).to_string()).unwrap();
        assert_eq!(gate.verdict(&plan), Verdict::Ask, "{path}");
    }
    let plan = desk.toolbox.plan("write_file", &write("stores/config").to_string()).unwrap();
    assert_eq!(gate.verdict(&plan), Verdict::Run);
}

#[test]
fn what_runs_later_asks_in_every_tool() {
    let desk = Desk::new();
    desk.put("a.txt", "a\n");
    symlink(".envrc", desk.path("innocent")).unwrap();
    desk.put(".envrc", "old\n");
    let gate = Gate::new(Approval::AutoEdit);
    for path in [
        ".envrc",
        "innocent",
        ".ENVRC",
        ".cargo/config.toml",
        ".bashrc",
        ".vscode/tasks.json",
        ".config/del/config.toml",
        ".del/config.toml",
        ".mcp.json",
        "deep/.npmrc",
    ] {
        for (tool, arguments) in [
            ("write_file", write(path)),
            (
                "multi_edit",
                json!({"operations": [{"file": "a.txt", "old": "a", "new": "b"}, {"file": path, "old": if path == "innocent" || path == ".envrc" { "old" } else { "" }, "new": "x\n"}]}),
            ),
            ("batch_operations", json!({"operations": [{"tool": "write_file", "arguments": write(path)}]})),
        ] {
            let plan = desk.toolbox.plan(tool, &arguments.to_string()).unwrap();
            assert_eq!(gate.verdict(&plan), Verdict::Ask, "{tool} {path}");
        }
    }
    for (from, to) in [("a.txt", "new/.envrc"), (".envrc", "b.txt")] {
        for tool in ["move", "copy"] {
            let arguments = json!({"operations": [{"tool": tool, "arguments": {"from": from, "to": to}}]});
            let plan = desk.toolbox.plan("batch_operations", &arguments.to_string()).unwrap();
            assert_eq!(gate.verdict(&plan), Verdict::Ask, "{tool} {from} {to}");
        }
    }
    let inner = Toolbox::open(&desk.path("."), &[], Toolset::All).unwrap();
    let plan = inner.plan("write_file", &write("b.txt").to_string()).unwrap();
    assert_eq!(gate.verdict(&plan), Verdict::Run);
}

#[test]
fn a_working_directory_that_programs_obey_asks() {
    let desk = Desk::new();
    for (folder, file) in
        [(".cargo", "config.toml"), (".github", "workflows/ci.yml"), (".vscode", "tasks.json")]
    {
        fs::create_dir(desk.path(folder)).unwrap();
        let inner = Toolbox::open(&desk.path(folder), &[], Toolset::All).unwrap();
        let plan = inner.plan("write_file", &write(file).to_string()).unwrap();
        assert_eq!(Gate::new(Approval::AutoEdit).verdict(&plan), Verdict::Ask, "{folder}/{file}");
    }
}

/// To the system, two spellings of the same letters are two files; a tool touches the one that was named.
#[test]
fn composed_and_decomposed_names_are_two_files() {
    let desk = Desk::new();
    let (composed, decomposed) = ("caf\u{e9}.txt", "cafe\u{301}.txt");
    desk.put(composed, "composed\n");
    desk.fails("read_file", &json!({"path": decomposed}), "not_found");
    desk.ok("write_file", &json!({"path": decomposed, "content": "decomposed\n"}));
    assert_eq!(desk.get(composed), "composed\n");
}

#[test]
fn pipes_and_devices_are_neither_read_nor_written_nor_waited_for() {
    let desk = Desk::keeping();
    mknodat(CWD, desk.path("pipe"), FileType::Fifo, Mode::from_raw_mode(0o600), 0).unwrap();
    let listener = std::os::unix::net::UnixListener::bind(desk.path("socket")).unwrap();
    for path in ["pipe", "socket"] {
        desk.fails("read_file", &json!({"path": path}), "not_regular");
        desk.fails("write_file", &write(path), "not_regular");
        desk.fails(
            "multi_edit",
            &json!({"operations": [{"file": path, "old": "a", "new": "b"}]}),
            "not_regular",
        );
        for operation in [
            json!({"tool": "delete", "arguments": {"path": path}}),
            json!({"tool": "copy", "arguments": {"from": path, "to": "x"}}),
            json!({"tool": "move", "arguments": {"from": path, "to": "x"}}),
        ] {
            assert!(!desk.call("batch_operations", &json!({"operations": [operation]})).ok, "{path}");
        }
    }
    drop(listener);
    assert!(desk.path("pipe").exists() && !desk.path("x").exists());
}

#[test]
fn windows_into_processes_are_outside_also_through_links() {
    let desk = Desk::new();
    symlink("/proc/self", desk.path("self")).unwrap();
    symlink("/proc/self/root", desk.path("root")).unwrap();
    symlink(format!("/proc/self/cwd/{}", desk.outside().display()), desk.path("around")).unwrap();
    for path in ["self/environ", "self/mem", "root/etc/passwd", "around/secret.txt", "/proc/self/environ"] {
        desk.fails("read_file", &json!({"path": path}), "outside");
        desk.fails("write_file", &write(path), "outside");
    }
}

/// A directory is a link to the outside half of the time, while everything that writes works in it.
#[test]
fn nothing_that_writes_follows_a_link_that_was_swapped_in() {
    let desk = Desk::keeping();
    fs::write(desk.outside().join("a.txt"), "canary\n").unwrap();
    fs::create_dir(desk.outside().join("sub")).unwrap();
    fs::write(desk.outside().join("sub/b.txt"), "canary\n").unwrap();
    desk.put("door/a.txt", "inside\n");
    desk.put("door/sub/b.txt", "inside\n");
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let (door, spare) = (desk.path("door"), desk.path("spare"));
            while !stop.load(Ordering::Relaxed) {
                if fs::rename(&door, &spare).is_ok() {
                    while symlink(desk.outside(), &door).is_err() {
                        let _ = fs::remove_dir_all(&door);
                    }
                    std::thread::yield_now();
                    let _ = fs::remove_file(&door);
                    while fs::rename(&spare, &door).is_err() {
                        let _ = fs::remove_dir_all(&door);
                    }
                }
            }
        });
        for round in 0..150 {
            let (from, to) = if round % 2 == 0 { ("inside", "outside") } else { ("outside", "inside") };
            let edit = |file: &str| json!({"file": file, "old": from, "new": to});
            desk.call("multi_edit", &json!({"operations": [edit("door/a.txt"), edit("door/sub/b.txt")]}));
            let steal = json!({"operations": [{"file": "door/a.txt", "old": "canary", "new": "gone"}]});
            assert!(!desk.call("multi_edit", &steal).ok);
            let operations = json!([
                {"tool": "copy", "arguments": {"from": "door/a.txt", "to": format!("stolen{round}.txt")}},
                {"tool": "copy", "arguments": {"from": "door/a.txt", "to": format!("door/copy{round}.txt")}},
                {"tool": "move", "arguments": {"from": "door/sub", "to": format!("door/moved{round}")}},
                {"tool": "move", "arguments": {"from": format!("door/moved{round}"), "to": "door/sub"}},
                {"tool": "mkdir", "arguments": {"path": format!("door/made{round}")}},
                {"tool": "delete", "arguments": {"path": format!("door/copy{round}.txt")}},
                {"tool": "delete", "arguments": {"path": "door/canary.txt"}},
            ]);
            desk.call("batch_operations", &json!({"operations": operations, "stop_on_error": false}));
        }
        stop.store(true, Ordering::Relaxed);
    });
    for name in ["a.txt", "sub/b.txt"] {
        assert_eq!(fs::read_to_string(desk.outside().join(name)).unwrap(), "canary\n");
    }
    let mut names: Vec<_> = fs::read_dir(desk.outside())
        .unwrap()
        .map(|e| e.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert_eq!(names, ["a.txt", "secret.txt", "sub"]);
    for (path, what) in desk.snapshot() {
        assert!(!what.contains("canary"), "{}", path.display());
    }
}

/// The file is renamed, and another put in its place, while the question stands.
#[test]
fn a_rename_while_the_question_stands_stops_the_write() {
    let desk = Desk::keeping();
    desk.put("a.txt", "one\n");
    desk.put("b.txt", "two\n");
    let over = desk.toolbox.plan("write_file", r#"{"path": "a.txt", "content": "new\n"}"#).unwrap();
    let edit = json!({"operations": [{"file": "a.txt", "old": "one", "new": "1"}]});
    let edit = desk.toolbox.plan("multi_edit", &edit.to_string()).unwrap();
    fs::rename(desk.path("a.txt"), desk.path("old.txt")).unwrap();
    fs::rename(desk.path("b.txt"), desk.path("a.txt")).unwrap();
    for plan in [over, edit] {
        assert!(!desk.toolbox.run(plan, &Control::default()).ok);
    }
    assert_eq!((desk.get("a.txt"), desk.get("old.txt")), ("two\n".to_owned(), "one\n".to_owned()));
}
