use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{Seek, SeekFrom, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::UnixListener;
use std::process::Command;

use serde_json::json;

use crate::desk::Desk;

fn fifo(desk: &Desk, name: &str) {
    let made = Command::new("mkfifo").arg(desk.path(name)).status().unwrap();
    assert!(made.success());
}

/// These would hang for ever if a pipe were waited for.
#[test]
fn brackets_of_a_pattern_may_be_part_of_a_name() {
    let desk = Desk::new();
    desk.put("app/[id]/page.tsx", "");
    desk.put("app/i/page.tsx", "");
    let found = |pattern: &str| desk.ok("glob_files", &json!({"pattern": pattern}));
    assert_eq!(found("app/[i]/*.tsx"), "app/i/page.tsx");
    let mut both: Vec<String> = found("app/[id]/*.tsx").lines().map(str::to_owned).collect();
    both.sort();
    assert_eq!(both, ["app/[id]/page.tsx", "app/i/page.tsx"]);
    assert_eq!(found("/app/[[]id]/**"), "app/[id]/page.tsx");
    assert_eq!(found("x[1]"), "No files match x[1].");
}

#[test]
fn pipes_sockets_and_devices_are_refused_at_once() {
    let desk = Desk::new();
    fifo(&desk, "pipe");
    fifo(&desk, ".gitignore");
    let _socket = UnixListener::bind(desk.path("socket")).unwrap();
    assert!(desk.fails("read_file", &json!({"path": "pipe"}), "not_regular").contains("is a FIFO"));
    desk.fails("write_file", &json!({"path": "pipe", "content": "x"}), "not_regular");
    desk.fails("edit_file", &json!({"path": "pipe", "old_string": "a", "new_string": "b"}), "not_regular");
    desk.fails("search_code", &json!({"path": "pipe", "pattern": "a"}), "not_regular");
    assert!(desk.fails("read_file", &json!({"path": "socket"}), "not_regular").contains("is a socket"));
    assert!(desk.ok("search_code", &json!({"pattern": "a"})).starts_with("No matches"));
    assert!(desk.ok("list_dir", &json!({})).contains("[OTHER] pipe"));
    assert!(desk.ok("glob_files", &json!({"pattern": "*"})).starts_with("No files match"));
}

#[test]
fn a_sparse_file_of_a_gibibyte_is_no_burden() {
    let desk = Desk::new();
    File::create(desk.path("nothing.bin")).unwrap().set_len(1 << 30).unwrap();
    let text = desk.fails("read_file", &json!({"path": "nothing.bin"}), "binary");
    assert_eq!(text, "Error: nothing.bin is binary (1.0 GB).");
    // Text at the start, then a hole: the lines are read, the rest is not counted through.
    let mut file = File::create(desk.path("text.txt")).unwrap();
    file.write_all("first line\n".repeat(2000).as_bytes()).unwrap();
    file.set_len(1 << 30).unwrap();
    file.seek(SeekFrom::End(0)).unwrap();
    let text = desk.ok("read_file", &json!({"path": "text.txt", "limit": 2}));
    assert!(text.starts_with("     1\tfirst line\n     2\tfirst line\n[Lines 1-2 of "), "{text}");
    desk.fails(
        "edit_file",
        &json!({"path": "text.txt", "old_string": "first", "new_string": "x"}),
        "too_large",
    );
    assert!(
        desk.ok("search_code", &json!({"pattern": "first"}))
            .contains("[2 files over 10 MiB or with very long lines not searched]")
    );
}

#[test]
fn a_line_of_a_megabyte_is_cut() {
    let desk = Desk::new();
    desk.put("long.txt", format!("{}\nshort\n", "x".repeat(1_000_000)));
    let result = desk.call("read_file", &json!({"path": "long.txt"}));
    assert!(result.truncated && result.text.len() < 3000);
    assert!(result.text.ends_with("… [line truncated, 1,000,000 chars]\n     2\tshort"), "{}", result.text);
}

#[test]
fn a_reading_keeps_to_lines_and_bytes() {
    let desk = Desk::new();
    desk.put("lines.txt", "x\n".repeat(5000));
    let text = desk.ok("read_file", &json!({"path": "lines.txt"}));
    assert!(text.ends_with("  2000\tx\n[Lines 1-2000 of 5000. Use offset=2001 to continue.]"));
    desk.put("bytes.txt", format!("{}\n", "y".repeat(99)).repeat(5000));
    let result = desk.call("read_file", &json!({"path": "bytes.txt"}));
    assert!(result.text.len() < 52 * 1024 && result.text.len() > 49 * 1024, "{}", result.text.len());
    let last = result.data.unwrap()["last"].as_u64().unwrap();
    assert!(result.text.contains(&format!("[Lines 1-{last} of 5000. Use offset={} to continue.]", last + 1)));
    let next = desk.ok("read_file", &json!({"path": "bytes.txt", "offset": last + 1, "limit": 1}));
    assert!(next.starts_with(&format!("{:>6}\ty", last + 1)));
}

#[test]
fn a_small_context_gets_less() {
    let mut desk = Desk::new();
    desk.toolbox.fit_context(8192);
    desk.put("lines.txt", "x\n".repeat(5000));
    assert!(desk.ok("read_file", &json!({"path": "lines.txt"})).contains("[Lines 1-400 of 5000."));
    desk.put("wide.txt", format!("{}\n", "y".repeat(99)).repeat(500));
    assert!(desk.ok("read_file", &json!({"path": "wide.txt"})).len() < 8192 + 200);
    let output = desk.ok("run_command", &json!({"command": "yes | head -n 50000"}));
    assert!(output.chars().count() < 8192 + 400, "{}", output.len());
}

#[test]
fn a_nul_after_the_first_eight_kilobytes_is_text() {
    let desk = Desk::new();
    let mut content = vec![b'a'; 9000];
    content.extend_from_slice(b"\0b\nend\n");
    desk.put("late.txt", &content);
    assert!(desk.ok("read_file", &json!({"path": "late.txt", "offset": 2})).starts_with("     2\tend"));
    desk.ok("edit_file", &json!({"path": "late.txt", "old_string": "end", "new_string": "END"}));
    assert_eq!(fs::read(desk.path("late.txt")).unwrap()[9000..], *b"\0b\nEND\n");
}

#[test]
fn odd_names_are_listed_on_one_line_each() {
    let desk = Desk::new();
    desk.put("two\nlines.txt", "needle\n");
    desk.put("-dash.txt", "");
    fs::write(desk.path(OsStr::from_bytes(b"caf\xe9.txt")), "needle\n").unwrap();
    let listed = desk.ok("list_dir", &json!({}));
    assert_eq!(
        listed,
        ".: 0 directories, 3 files\n[FILE] -dash.txt (0 B)\n[FILE] caf\u{fffd}.txt (7 B)\n[FILE] two\\nlines.txt (7 B)"
    );
    let found = desk.ok("search_code", &json!({"pattern": "needle"}));
    assert_eq!(found, "caf\u{fffd}.txt:1: needle\ntwo\\nlines.txt:1: needle\n[2 matches in 2 files]");
    assert_eq!(desk.ok("read_file", &json!({"path": "two\nlines.txt"})), "     1\tneedle");
}

#[test]
fn long_listings_say_how_much_is_left() {
    let desk = Desk::new();
    fs::create_dir(desk.path("d")).unwrap();
    for n in 0..1824 {
        File::create(desk.path(format!("d/{n:04}.txt"))).unwrap();
    }
    let listed = desk.call("list_dir", &json!({"path": "d"}));
    assert!(listed.truncated);
    assert!(listed.text.starts_with("d: 0 directories, 1,824 files\n[FILE] 0000.txt"));
    assert!(listed.text.ends_with("[500 of 1,824 entries shown; narrow with pattern or path]"));
    let globbed = desk.ok("glob_files", &json!({"pattern": "*.txt"}));
    assert!(globbed.ends_with("[200 of 1,824 matches shown]"));
}

#[test]
fn globbed_files_come_newest_first() {
    let desk = Desk::new();
    for (name, age) in [("old.rs", 300), ("new.rs", 100), ("middle.rs", 200), ("also.rs", 200)] {
        desk.put(name, "");
        let then = std::time::SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(1_700_000_000 - age);
        File::options().write(true).open(desk.path(name)).unwrap().set_modified(then).unwrap();
    }
    assert_eq!(desk.ok("glob_files", &json!({"pattern": "*.rs"})), "new.rs\nalso.rs\nmiddle.rs\nold.rs");
}

#[test]
fn ignore_files_of_the_repository_above_hold() {
    let desk = Desk::new();
    desk.put(".git/HEAD", "ref: x\n");
    desk.put(".git/info/exclude", "private/\n");
    desk.put(".gitignore", "*.log\n!keep.log\n");
    desk.put("pkg/a.log", "needle\n");
    desk.put("pkg/keep.log", "needle\n");
    desk.put("pkg/private/b.txt", "needle\n");
    desk.put("pkg/src/.ignore", "gen.rs\n");
    desk.put("pkg/src/gen.rs", "needle\n");
    desk.put("pkg/src/main.rs", "needle\n");
    let inner = del_tools::Toolbox::open(&desk.path("pkg"), &[], del_tools::Toolset::All).unwrap();
    let plan = inner.plan("grep", r#"{"pattern": "needle"}"#).unwrap();
    let found = inner.run(plan, &del_tools::Control::default()).text;
    assert_eq!(found, "keep.log:1: needle\nsrc/main.rs:1: needle\n[2 matches in 2 files]");
    assert!(
        !desk.ok("list_dir", &json!({"recursive": true, "all": true})).contains("HEAD"),
        ".git is never shown"
    );
    assert!(
        desk.ok("search_code", &json!({"pattern": "needle", "path": "pkg/src"}))
            .contains("[1 match in 1 file]")
    );
}

#[test]
fn a_search_can_be_stopped() {
    let desk = Desk::new();
    desk.put("a.txt", "needle\n");
    let cancel = del_tools::Cancel::new();
    cancel.cancel();
    let control = del_tools::Control::new(cancel);
    let result = desk.watched("search_code", &json!({"pattern": "needle"}), &control);
    assert_eq!(result.text, "Error: cancelled by the user.");
}
