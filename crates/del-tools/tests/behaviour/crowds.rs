//! Trees that several threads walk and search.

use std::fs::{self, File};
use std::os::unix::fs::PermissionsExt;
use std::process::Command;
use std::time::{Duration, SystemTime};

use serde_json::json;

use crate::desk::Desk;

/// Files in the order of their paths. Some directories sort before, some after the file that has their name and more.
fn tree(desk: &Desk, content: impl Fn(usize) -> String) -> Vec<String> {
    let mut paths = Vec::new();
    for directory in 0..40 {
        for name in ["a", "a-b", "a/b", "a.b/c", "b/deep/er/still/c", "z"] {
            paths.extend((0..5).map(|file| format!("d{directory}/{name}{file}.txt")));
        }
    }
    paths.sort();
    for (number, path) in paths.iter().enumerate() {
        desk.put(path, content(number));
    }
    paths
}

#[test]
fn matches_come_in_the_order_of_paths_and_stop_at_the_limit() {
    let desk = Desk::new();
    let holds = |number: usize| number % 3 == 1;
    let paths =
        tree(&desk, |number| if holds(number) { "a needle\n".to_owned() } else { "hay\n".to_owned() });
    let all: Vec<_> = (0..paths.len()).filter(|number| holds(*number)).collect();
    for limit in [1, 7, 100, 399, 400, 401] {
        let found = desk.call("search_code", &json!({"pattern": "needle", "max_results": limit}));
        let shown = all.len().min(limit);
        let lines: Vec<_> =
            all[..shown].iter().map(|number| format!("{}:1: a needle", paths[*number])).collect();
        assert!(found.text.starts_with(&lines.join("\n")), "{limit}: {}", found.text);
        // The search ends with the first match too many; what threads have read beyond it does not count.
        let searched = all.get(limit).map_or(paths.len(), |number| number + 1);
        let data = json!({"matches": shown, "files": shown, "searched": searched});
        assert_eq!(found.data, Some(data), "{limit}");
    }
    let none = desk.ok("search_code", &json!({"pattern": "nowhere"}));
    assert_eq!(none, "No matches for nowhere in . (1,200 files searched).");
}

#[test]
fn every_file_is_globbed_once() {
    let desk = Desk::new();
    let paths = tree(&desk, |_| String::new());
    desk.put("d7/.gitignore", "a/\n!a/b3.txt\n*-b0.txt\n");
    let left_out = |path: &str| path.starts_with("d7/a/") || path == "d7/a-b0.txt";
    let day = |number: usize| SystemTime::UNIX_EPOCH + Duration::from_secs(86_400 * (number as u64 % 2));
    for (number, path) in paths.iter().enumerate() {
        File::options().write(true).open(desk.path(path)).unwrap().set_modified(day(number)).unwrap();
    }
    let newer = paths.iter().enumerate().filter(|(number, path)| number % 2 == 1 && !left_out(path));
    let first: Vec<_> = newer.map(|(_, path)| path.as_str()).take(200).collect();
    let found = desk.ok("glob_files", &json!({"pattern": "*.txt"}));
    assert_eq!(found, format!("{}\n[200 of 1,194 matches shown]", first.join("\n")));
}

#[test]
fn directories_that_cannot_be_read_are_passed_over() {
    let desk = Desk::new();
    desk.put("closed/a.txt", "needle\n");
    desk.put("open/a.txt", "needle\n");
    fs::set_permissions(desk.path("closed"), fs::Permissions::from_mode(0o000)).unwrap();
    // Root reads whatever it likes.
    if fs::read_dir(desk.path("closed")).is_err() {
        assert_eq!(desk.ok("glob_files", &json!({"pattern": "*.txt"})), "open/a.txt");
        let found = desk.ok("search_code", &json!({"pattern": "needle"}));
        assert_eq!(found, "open/a.txt:1: needle\n[1 match in 1 file]");
    }
    fs::set_permissions(desk.path("closed"), fs::Permissions::from_mode(0o700)).unwrap();
}

/// This test runs itself again as a process that may open few files.
#[test]
fn a_wide_tree_takes_few_handles() {
    const TREE: &str = "DEL_TEST_WIDE_TREE";
    if let Some(tree) = std::env::var_os(TREE) {
        let desk = Desk::over(tree.as_ref());
        let found = desk.ok("search_code", &json!({"pattern": "needle"}));
        assert_eq!(found, "No matches for needle in . (2,000 files searched).");
        let found = desk.call("glob_files", &json!({"pattern": "*.txt"}));
        assert_eq!(found.data, Some(json!({"matches": 2000})));
        return;
    }
    let desk = Desk::new();
    for number in 0..2000 {
        desk.put(&format!("d{number}/file.txt"), "hay\n");
    }
    let name = "crowds::a_wide_tree_takes_few_handles";
    let output = Command::new("sh")
        .args(["-c", r#"ulimit -n 400 && exec "$0" --exact "$1""#])
        .arg(std::env::current_exe().unwrap())
        .arg(name)
        .env(TREE, desk.work())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && said.contains("1 passed"), "{said}");
}
