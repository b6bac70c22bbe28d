//! Patterns, lines and texts that would take forever.

use std::time::{Duration, Instant};

use serde_json::json;

use crate::desk::Desk;

#[test]
fn no_pattern_breaks_a_tool_or_keeps_it_busy() {
    let desk = Desk::new();
    desk.put(&format!("{}/{}", "a".repeat(100), "a".repeat(100)), "ab".repeat(100_000));
    desk.put(".editorconfig", format!("[{}{}]\nend_of_line = crlf\n", "{".repeat(500), "}".repeat(500)));
    desk.put(".gitattributes", format!("{}{} eol=crlf\n", "{".repeat(500), "}".repeat(500)));
    let since = Instant::now();
    for deep in
        ["{".repeat(500), "{".repeat(500) + "a" + &"}".repeat(500), "{a,".repeat(500) + &"}".repeat(500)]
    {
        desk.fails("glob_files", &json!({"pattern": deep}), "bad_pattern");
        desk.fails("list_dir", &json!({"pattern": deep}), "bad_pattern");
        desk.fails("search_code", &json!({"pattern": "x", "file_pattern": deep}), "bad_pattern");
    }
    for wild in ["*a".repeat(400), "?".repeat(1900), "[!b]".repeat(400)] {
        desk.ok("glob_files", &json!({"pattern": wild}));
        desk.ok("list_dir", &json!({"pattern": wild}));
    }
    let parentheses = "(".repeat(100_000) + &")".repeat(100_000);
    desk.fails("search_code", &json!({"pattern": parentheses}), "bad_pattern");
    desk.fails("search_code", &json!({"pattern": "(((a{1,100}){1,100}){1,100}){1,100}"}), "bad_pattern");
    desk.ok("write_file", &json!({"path": "new.txt", "content": "x\n"}));
    assert!(since.elapsed() < Duration::from_secs(20), "{:?}", since.elapsed());
}

#[test]
fn lines_that_a_pattern_would_take_too_long_on_are_not_searched() {
    let desk = Desk::new();
    desk.put("long.txt", "ab".repeat(100_000));
    let since = Instant::now();
    for path in [".", "long.txt"] {
        let text = desk.ok("search_code", &json!({"pattern": "[ab]*a[ab]{4000}c", "path": path}));
        assert!(text.contains("[1 file over 10 MiB or with very long lines not searched]"), "{text}");
        let text = desk.ok("search_code", &json!({"pattern": "aba", "path": path, "mode": "count"}));
        assert!(text.starts_with("long.txt:1\n"), "{text}");
    }
    assert!(since.elapsed() < Duration::from_secs(10), "{:?}", since.elapsed());
}

#[test]
fn many_places_and_many_patterns_are_counted_at_once() {
    let desk = Desk::new();
    desk.put("a.txt", "a\n".repeat(300_000));
    desk.put(".gitattributes", "*a*b?c[0-9] eol=crlf\n".repeat(40_000));
    desk.put(".editorconfig", "[*{a,b}c]\nend_of_line = crlf\n".repeat(30_000));
    let since = Instant::now();
    let edit = json!({"path": "a.txt", "old_string": "a", "new_string": "b"});
    assert!(desk.fails("edit_file", &edit, "not_unique").contains("occurs 300000 times"));
    desk.ok("write_file", &json!({"path": "new.txt", "content": "x\n"}));
    assert!(since.elapsed() < Duration::from_secs(20), "{:?}", since.elapsed());
}

#[test]
fn many_edits_that_find_nothing_end_in_time() {
    let desk = Desk::new();
    desk.put("a.txt", "some line of a text\n".repeat(20_000));
    let miss =
        |number| json!({"file": "a.txt", "old": format!("no such line {number}\nnor this"), "new": "x"});
    let operations: Vec<_> = (0..100).map(miss).collect();
    let since = Instant::now();
    let result = desk.call("multi_edit", &json!({"operations": operations}));
    assert!(!result.ok && result.text.contains("nothing was changed"), "{}", result.text);
    assert!(since.elapsed() < Duration::from_secs(40), "{:?}", since.elapsed());
}
