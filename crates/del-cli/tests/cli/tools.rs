//! `del tools`.

use serde_json::{Value, json};

use crate::del::{Run, del, directory, plain, run};
use crate::terminal::Terminal;

fn call(directory: &tempfile::TempDir, arguments: &[&str]) -> Run {
    let mut all = vec!["tools", "call"];
    all.extend(arguments);
    run(del(&all).current_dir(directory.path()), "")
}

#[test]
fn every_set_is_listed_and_described_in_every_form() {
    let rows = plain(&["tools", "--json"]).json();
    assert_eq!(rows.as_array().unwrap().len(), 19);
    assert_eq!(rows[0]["toolsets"], json!(["core", "del", "all"]));
    let core = plain(&["tools", "list", "--toolset", "core", "--json"]).json();
    assert_eq!(core.as_array().unwrap().len(), 7);
    let table = plain(&["tools"]).out;
    assert!(table.contains("run_command") && table.contains("execute"), "{table}");
    // What models see under another name in a set is listed under that name too.
    let list_dir = rows.as_array().unwrap().iter().find(|row| row["name"] == "list_dir").unwrap();
    assert_eq!(list_dir["names"], json!({"core": "list_directory", "del": "list_dir", "all": "list_dir"}));
    for (name, sets) in
        [("list_dir", "core (list_directory) del all"), ("search_code", "core (grep_search) del all")]
    {
        assert!(table.lines().any(|row| row.starts_with(name) && row.contains(sets)), "{table}");
    }
    assert!(table.contains("  core del all  "), "{table}");
    for (format, pointer) in [
        ("openai", "/0/function/parameters/properties"),
        ("anthropic", "/0/input_schema/properties"),
        ("mcp", "/0/inputSchema/properties"),
    ] {
        let schema = plain(&["tools", "schema", "--format", format]).json();
        assert!(schema.pointer(pointer).is_some_and(Value::is_object), "{format}: {schema:#}");
    }
    assert!(plain(&["tools", "schema", "--format", "xml"]).out.contains("<tool name=\"read_file\""));
    plain(&["tools", "schema", "--format", "nosuch"]).fails(2, "expected openai, anthropic, mcp or xml");
    plain(&["tools", "--toolset", "nosuch"]).fails(2, "expected core, del or all");
}

#[test]
fn every_tool_runs_without_a_word_about_sets() {
    let files = directory(&[("a.rs", "fn main() {}\n")]);
    for (tool, path, expected) in
        [("extract_functions", "a.rs", "main"), ("list_dir", ".", "a.rs"), ("list_directory", ".", "a.rs")]
    {
        let got = call(&files, &[tool, &json!({"path": path}).to_string()]);
        assert!(got.code == 0 && got.out.contains(expected), "{got:#?}");
    }
    let small = call(&files, &["extract_functions", "{\"path\": \"a.rs\"}", "--toolset", "core"]);
    assert!(small.code == 2 && small.out.contains("unknown tool"), "{small:#?}");
}

#[test]
fn a_tool_runs_and_prints_what_a_model_would_see() {
    let files = directory(&[("a.txt", "one\ntwo\n")]);
    let got = call(&files, &["read_file", "{\"file_path\": \"a.txt\"}"]);
    assert_eq!((got.code, got.out.as_str()), (0, "     1\tone\n     2\ttwo\n"), "{got:#?}");
    let whole = call(&files, &["read_file", "{\"file_path\": \"a.txt\"}", "--json"]).json();
    assert_eq!((&whole["ok"], &whole["truncated"]), (&json!(true), &json!(false)));
    let piped = run(
        del(&["tools", "call", "read_file", "-"]).current_dir(files.path()),
        "{\"file_path\": \"a.txt\"}",
    );
    assert_eq!(piped.out, got.out);
}

#[test]
fn what_writes_needs_consent_and_nobody_is_there_to_give_it() {
    let files = directory(&[]);
    let write = ["write_file", "{\"file_path\": \"b.txt\", \"content\": \"hi\\n\"}"];
    let denied = call(&files, &write);
    assert_eq!(denied.code, 1, "{denied:#?}");
    assert!(denied.out.starts_with("Denied: "), "{denied:#?}");
    assert!(!files.path().join("b.txt").exists());
    for consent in ["--yes", "--unsafe", "--approval-mode=auto-edit", "--allow-tool=write_file(b.*)"] {
        let _ = std::fs::remove_file(files.path().join("b.txt"));
        let got = call(&files, &[write[0], write[1], consent]);
        assert_eq!(got.code, 0, "{consent}: {got:#?}");
        assert_eq!(std::fs::read_to_string(files.path().join("b.txt")).unwrap(), "hi\n", "{consent}");
    }
    let denied = call(&files, &[write[0], write[1], "--yes", "--deny-tool", "write_file"]);
    assert_eq!(denied.code, 1, "{denied:#?}");
    call(&files, &[write[0], write[1], "--allow-tool", "nosuch"]).fails(2, "unknown tool 'nosuch'");
}

#[test]
fn a_shell_that_cannot_be_started_is_named() {
    let files = directory(&[]);
    let mut command = del(&["tools", "call", "run_command", "{\"command\": \"mkdir made\"}", "--yes"]);
    let got = run(command.current_dir(files.path()).env("DEL_SHELL", "/nonexistent"), "");
    let why = "cannot start /nonexistent, which DEL_SHELL names: no such file or directory.";
    assert!(got.code == 54 && got.out.contains(why), "{got:#?}");
}

#[test]
fn consent_never_leads_out_of_the_directory() {
    let files = directory(&[("inner/a.txt", "x"), ("outer.txt", "secret")]);
    let inner = files.path().join("inner");
    let read = |options: &[&str]| {
        let mut all =
            vec!["tools", "call", "read_file", "{\"file_path\": \"../outer.txt\"}", "--working-dir"];
        all.push(inner.to_str().unwrap());
        all.extend(options);
        plain(&all)
    };
    for options in [&["--yes"][..], &["--unsafe"]] {
        let got = read(options);
        assert_eq!(got.code, 1, "{got:#?}");
        assert!(!got.out.contains("secret"), "{got:#?}");
    }
    assert!(read(&["--allow-dir", files.path().to_str().unwrap()]).out.contains("secret"));
}

#[test]
fn every_kind_of_failure_has_its_exit_code() {
    let files = directory(&[]);
    assert_eq!(call(&files, &["read_file", "{\"file_path\": \"none\"}"]).code, 54);
    assert_eq!(call(&files, &["read_file", "{"]).code, 42);
    assert_eq!(call(&files, &["nosuch"]).code, 2);
    call(&files, &["read_file", "{}", "--working-dir", "/nonexistent"]).fails(52, "working directory");
    call(&files, &["read_file", "{}", "--tools", "nosuch"]).fails(2, "unknown tool 'nosuch'");
    call(&files, &["mcp__files__read", "{}"]).fails(2, "those of MCP servers are called by `del`");
    let restricted = call(&files, &["read_file", "{\"file_path\": \"x\"}", "--tools", "list_directory"]);
    assert!(restricted.out.contains("unknown tool 'read_file'"), "{restricted:#?}");
}

#[test]
fn how_far_a_long_call_is_stands_on_a_line_that_goes_again() {
    let names: Vec<String> = (0..250).map(|n| format!("f{n}.rs")).collect();
    let files: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), "fn a() {}\n")).collect();
    let files = directory(&files);
    let arguments = ["find_references", r#"{"symbol": "a"}"#, "--toolset", "all"];
    let mut terminal = Terminal::start(&files, &[&["tools", "call"], &arguments[..]].concat());
    terminal.until("\r\u{1b}[Kfind_references: 100 files");
    let rest = terminal.until("\r\u{1b}[K");
    assert!(!rest.contains('\n'), "{rest:?}");
    let (seen, code) = terminal.end();
    assert!(code == 0 && seen.contains("f0.rs"), "{seen:?}");
    let got = call(&files, &arguments);
    assert!(got.code == 0 && got.err.is_empty(), "{got:#?}");
}
