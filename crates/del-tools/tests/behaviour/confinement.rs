use std::fs;
use std::os::unix::fs::symlink;
use std::sync::atomic::{AtomicBool, Ordering};

use del_tools::{Toolbox, Toolset};
use serde_json::json;

use crate::desk::Desk;

#[test]
fn links_that_stay_inside_are_followed() {
    let desk = Desk::new();
    desk.put("real/a.txt", "inside\n");
    symlink("real/a.txt", desk.path("relative")).unwrap();
    symlink(desk.path("real/a.txt"), desk.path("absolute")).unwrap();
    symlink("real", desk.path("directory")).unwrap();
    symlink("../project/real/a.txt", desk.path("around")).unwrap();
    for path in ["relative", "absolute", "directory/a.txt", "around", "directory/../real/a.txt"] {
        assert_eq!(desk.ok("read_file", &json!({"path": path})), "     1\tinside", "{path}");
    }
}

#[test]
fn writing_through_a_link_changes_the_target_and_keeps_the_link() {
    let desk = Desk::new();
    desk.put("real.txt", "old\n");
    symlink(desk.path("real.txt"), desk.path("link")).unwrap();
    desk.ok("write_file", &json!({"path": "link", "content": "new\n"}));
    desk.ok("edit_file", &json!({"path": "link", "old_string": "new", "new_string": "newer"}));
    assert!(fs::symlink_metadata(desk.path("link")).unwrap().is_symlink());
    assert_eq!(desk.get("real.txt"), "newer\n");
}

#[test]
fn links_that_lead_out_are_outside() {
    let desk = Desk::new();
    symlink("../outside/secret.txt", desk.path("file")).unwrap();
    symlink(desk.outside(), desk.path("directory")).unwrap();
    symlink("file", desk.path("chain")).unwrap();
    symlink(desk.outside().join("fresh.txt"), desk.path("dangling")).unwrap();
    for path in ["file", "directory/secret.txt", "chain", "dangling", "directory/nosuch"] {
        desk.fails("read_file", &json!({"path": path}), "outside");
        desk.fails("write_file", &json!({"path": path, "content": "x"}), "outside");
        desk.fails("edit_file", &json!({"path": path, "old_string": "secret", "new_string": "x"}), "outside");
    }
    desk.fails("list_dir", &json!({"path": "directory"}), "outside");
    desk.fails("glob_files", &json!({"path": "directory", "pattern": "*"}), "outside");
    desk.fails("search_code", &json!({"path": "directory", "pattern": "secret"}), "outside");
    desk.fails("run_command", &json!({"command": "ls", "cwd": "directory"}), "outside");
    assert_eq!(fs::read_to_string(desk.outside().join("secret.txt")).unwrap(), "secret\n");
    assert_eq!(fs::read_dir(desk.outside()).unwrap().count(), 1);
}

#[test]
fn no_walk_follows_a_link() {
    let desk = Desk::new();
    desk.put("in/a.txt", "needle\n");
    symlink("..", desk.path("in/up")).unwrap();
    symlink(desk.outside(), desk.path("out")).unwrap();
    let listed = desk.ok("list_dir", &json!({"recursive": true, "depth": 10}));
    assert!(listed.contains("[LINK] in/up -> ..") && listed.contains("[LINK] out -> "), "{listed}");
    assert!(!listed.contains("secret"), "{listed}");
    assert_eq!(
        desk.ok("search_code", &json!({"pattern": "needle|secret"})),
        "in/a.txt:1: needle\n[1 match in 1 file]"
    );
    assert_eq!(desk.ok("glob_files", &json!({"pattern": "*.txt"})), "in/a.txt");
}

#[test]
fn links_that_lead_nowhere_or_to_each_other_say_so() {
    let desk = Desk::new();
    symlink("nosuch", desk.path("dangling")).unwrap();
    symlink("b", desk.path("a")).unwrap();
    symlink("a", desk.path("b")).unwrap();
    assert!(desk.fails("read_file", &json!({"path": "dangling"}), "not_found").contains("leads nowhere"));
    desk.fails("write_file", &json!({"path": "dangling", "content": "x"}), "not_found");
    assert!(!desk.path("nosuch").exists());
    assert!(desk.fails("read_file", &json!({"path": "a"}), "not_found").contains("loop"));
    desk.fails("write_file", &json!({"path": "b/c", "content": "x"}), "not_found");
}

#[test]
fn no_spelling_of_an_outside_path_gets_through() {
    let desk = Desk::new();
    desk.put("sub/a.txt", "a\n");
    let secret = desk.outside().join("secret.txt");
    let secret = secret.to_str().unwrap();
    let sibling = format!("{}-evil", desk.work().display());
    fs::create_dir(&sibling).unwrap();
    fs::write(format!("{sibling}/b.txt"), "evil\n").unwrap();
    for path in [
        "../outside/secret.txt",
        "sub/../../outside/secret.txt",
        "./.././outside/secret.txt",
        "nosuch/../../outside/secret.txt",
        "nosuch/../../../../../../../../etc/passwd",
        secret,
        &format!("file://{secret}"),
        &format!("\"{secret}\""),
        &format!("{sibling}/b.txt"),
        "../project-evil/b.txt",
        "/",
        "/etc/passwd",
        "/proc/self/environ",
        "~/x",
        "~",
    ] {
        desk.fails("read_file", &json!({"path": path}), "outside");
        desk.fails("write_file", &json!({"path": path, "content": "x"}), "outside");
    }
    assert_eq!(fs::read_to_string(secret).unwrap(), "secret\n");
}

#[test]
fn absolute_paths_inside_are_inside() {
    let desk = Desk::new();
    desk.put("a.txt", "a\n");
    let path = desk.path("a.txt");
    let path = path.to_str().unwrap();
    for spelled in [path.to_owned(), format!("file://{path}"), format!("`{path}`"), format!("{path}\n")] {
        assert_eq!(desk.ok("read_file", &json!({"path": spelled})), "     1\ta");
    }
    let through = format!("../{}/a.txt", desk.work().file_name().unwrap().to_str().unwrap());
    assert_eq!(desk.ok("read_file", &json!({"path": through})), "     1\ta");
}

#[test]
fn an_allowed_directory_may_be_touched_too() {
    let desk = Desk::new();
    let toolbox = Toolbox::open(&desk.work(), &[desk.outside()], Toolset::All).unwrap();
    let path = desk.outside().join("secret.txt");
    let plan = toolbox.plan("read_file", &json!({"path": path}).to_string()).unwrap();
    assert_eq!(toolbox.run(plan, &del_tools::Control::default()).text, "     1\tsecret");
    let refused = toolbox.plan("read_file", r#"{"path": "/etc/passwd"}"#).unwrap_err();
    assert!(refused.cause.matches(", ").count() >= 1, "both directories are named: {refused}");
}

/// A link is swapped for a directory and back while files are read, written and searched. Whatever is said, nothing
/// of the outside may be shown and nothing there may change.
#[test]
fn a_swapped_link_leads_nowhere() {
    let desk = Desk::new();
    desk.put("door/a.txt", "inside\n");
    fs::write(desk.outside().join("a.txt"), "secret\n").unwrap();
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let (door, spare) = (desk.path("door"), desk.path("spare"));
            while !stop.load(Ordering::Relaxed) {
                fs::rename(&door, &spare).unwrap();
                // A tool may have made a directory of that name just now.
                while symlink(desk.outside(), &door).is_err() {
                    let _ = fs::remove_dir_all(&door);
                }
                std::thread::yield_now();
                fs::remove_file(&door).unwrap();
                while fs::rename(&spare, &door).is_err() {
                    let _ = fs::remove_dir_all(&door);
                }
            }
        });
        for round in 0..400 {
            let read = desk.call("read_file", &json!({"path": "door/a.txt"})).text;
            assert!(!read.contains("secret"), "{read}");
            let found = desk.call("search_code", &json!({"pattern": "secret", "path": "."})).text;
            assert!(!found.contains("a.txt:"), "{found}");
            let globbed = desk.call("glob_files", &json!({"pattern": "secret.*"})).text;
            assert!(!globbed.contains("secret.txt"), "{globbed}");
            let listed = desk.call("list_dir", &json!({"path": ".", "recursive": true})).text;
            assert!(!listed.contains("secret.txt"), "{listed}");
            desk.call("write_file", &json!({"path": format!("door/new{round}.txt"), "content": "x"}));
            desk.call(
                "edit_file",
                &json!({"path": "door/a.txt", "old_string": "secret", "new_string": "lost"}),
            );
        }
        stop.store(true, Ordering::Relaxed);
    });
    let mut names: Vec<_> = fs::read_dir(desk.outside())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert_eq!(names, ["a.txt", "secret.txt"]);
    assert_eq!(fs::read_to_string(desk.outside().join("a.txt")).unwrap(), "secret\n");
}
