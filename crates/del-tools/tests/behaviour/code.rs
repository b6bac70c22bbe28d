use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::process::Command;

use del_tools::{Cancel, Control, Progress};
use serde_json::json;

use crate::desk::Desk;

const TOOLS: [&str; 5] =
    ["analyze_code", "extract_functions", "find_references", "project_context", "security_scan"];

#[test]
fn what_is_no_text_is_passed_over_and_links_are_not_followed() {
    let desk = Desk::new();
    let made = Command::new("mkfifo").arg(desk.path("pipe.rs")).status().unwrap();
    assert!(made.success());
    desk.put("a.rs", "fn inner() {}\n");
    desk.put("b.rs", b"fn binary() {}\0");
    fs::write(desk.outside().join("o.rs"), "fn outer() { inner() }\n").unwrap();
    symlink(desk.outside(), desk.path("away")).unwrap();
    symlink(desk.outside().join("o.rs"), desk.path("o.rs")).unwrap();
    symlink(desk.work(), desk.path("loop")).unwrap();
    for tool in TOOLS {
        let text = desk.ok(tool, &json!({"symbol": "inner"}));
        assert!(!text.contains("outer") && !text.contains("binary"), "{tool}: {text}");
    }
    for path in ["away", "o.rs", "../outside/o.rs"] {
        for tool in TOOLS {
            desk.fails(tool, &json!({"symbol": "inner", "path": path}), "outside");
        }
    }
    desk.fails("analyze_code", &json!({"path": "pipe.rs"}), "not_regular");
    desk.fails("extract_functions", &json!({"path": "b.rs"}), "binary");
}

#[test]
fn large_files_are_counted_and_not_read() {
    let desk = Desk::new();
    desk.put("big.py", "def f(): pass\n".repeat(80_000));
    desk.put("small.py", "def g(): pass\n");
    let text = desk.ok("extract_functions", &json!({}));
    assert_eq!(text, "small.py (Python)\n  1-1  fn  g()\n[1 file over 1 MiB not read]");
    desk.fails("analyze_code", &json!({"path": "big.py"}), "too_large");
}

#[test]
fn a_line_of_a_megabyte_is_cut() {
    let desk = Desk::new();
    desk.put("long.js", format!("const a = [{}]; needle(1)", "0, ".repeat(300_000)));
    let text = desk.ok("find_references", &json!({"symbol": "needle"}));
    assert!(text.len() < 2000 && text.starts_with("long.js:1:"), "{text}");
    desk.put("many.txt", "word ".repeat(200_000));
    let text = desk.ok("find_references", &json!({"symbol": "word"}));
    assert!(text.contains("[first ") && text.len() < 70_000, "{}", text.len());
}

#[test]
fn listings_keep_to_their_limits() {
    let desk = Desk::new();
    desk.put("many.py", (0..700).fold(String::new(), |code, n| code + &format!("def f{n}(): pass\n")));
    let result = desk.call("extract_functions", &json!({"path": "many.py"}));
    assert!(result.truncated && result.text.ends_with("[500 of 700 symbols shown; narrow path]"));
    desk.put("README.md", "x".repeat(400).as_str().to_owned() + "\n");
    for n in 0..300 {
        desk.put(&format!("d{n}/{}.rs", "name".repeat(20)), "");
    }
    let page = desk.call("project_context", &json!({"depth": 5}));
    assert!(page.truncated && page.text.len() <= 8 * 1024 + 200, "{}", page.text.len());
}

#[test]
fn a_page_is_the_same_every_time_and_holds_no_secret() {
    let desk = Desk::new();
    desk.put(".env", "API_TOKEN=verysecretvalue\n");
    desk.put("a.py", "x = 1\n");
    let page = desk.ok("project_context", &json!({}));
    assert!(page.contains(".env: API_TOKEN") && !page.contains("verysecret"), "{page}");
    assert_eq!(page, desk.ok("project_context", &json!({})));
    let scan = desk.ok("security_scan", &json!({}));
    assert!(scan.contains("(very…)") && !scan.contains("verysecret"), "{scan}");
}

#[test]
fn a_repository_is_described_and_a_hostile_one_runs_nothing() {
    let desk = Desk::new();
    desk.put("a.txt", "a\n");
    let git = |arguments: &[&str]| {
        let mut git = Command::new("git");
        git.args(["-c", "user.name=n", "-c", "user.email=e", "-c", "init.defaultBranch=trunk"])
            .args(arguments);
        assert!(git.current_dir(desk.work()).output().unwrap().status.success(), "{arguments:?}");
    };
    git(&["init"]);
    git(&["add", "."]);
    git(&["commit", "-m", "First things"]);
    desk.put("b.txt", "b\n");
    let page = desk.ok("project_context", &json!({}));
    assert!(page.contains("Git: trunk, 1 file changed") && page.contains(" First things"), "{page}");
    let canary = desk.path("canary");
    git(&["config", "core.fsmonitor", &format!("touch '{}'", canary.display())]);
    let page = desk.ok("project_context", &json!({}));
    assert!(!canary.exists(), "{page}");
}

#[test]
fn files_that_everybody_may_write_are_named() {
    let desk = Desk::new();
    desk.put("open.sh", "true\n");
    fs::set_permissions(desk.path("open.sh"), fs::Permissions::from_mode(0o666)).unwrap();
    assert!(desk.ok("security_scan", &json!({})).contains("LOW     open.sh  world-writable"));
}

#[test]
fn a_survey_reports_and_can_be_stopped() {
    let desk = Desk::new();
    (0..250).for_each(|n| desk.put(&format!("f{n}.rs"), "fn a() {}\n"));
    let seen = std::sync::Mutex::new(Vec::new());
    let control = Control::default().with_progress(|progress| {
        if let Progress::Files(n) = progress {
            seen.lock().unwrap().push(n);
        }
    });
    assert!(desk.watched("analyze_code", &json!({}), &control).ok);
    drop(control);
    assert_eq!(seen.into_inner().unwrap(), [100, 200]);
    for tool in TOOLS {
        let cancel = Cancel::new();
        cancel.cancel();
        let result = desk.watched(tool, &json!({"symbol": "a"}), &Control::new(cancel));
        assert!(result.text.starts_with("Error: cancelled by the user."), "{tool}: {}", result.text);
    }
}
