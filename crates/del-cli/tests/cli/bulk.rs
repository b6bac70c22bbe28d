//! `del parse --out` and `del convert --out`: whole files. What becomes of their rows is tested in `del-bulk`.

use std::fs;

use serde_json::{Value, json};

use crate::del::{directory, plain, text};

const CALL: &str = "<tool_call>{\"name\": \"list_dir\", \"arguments\": {\"path\": \".\",}}</tool_call>";

#[test]
fn files_and_directories_go_through_once() {
    let line = |id: &str, text: &str| json!({"id": id, "text": text}).to_string() + "\n";
    let home = directory(&[
        ("in/a.jsonl", &(line("a", CALL) + "no JSON\n")),
        ("in/deep/b.jsonl", &line("b", "Hello")),
        ("c.jsonl", &line("c", &CALL[..40])),
    ]);
    let path = |name: &str| text(&home.path().join(name));
    let parse = ["parse", "--json", "--out", &path("out"), &path("in"), &path("c.jsonl")];
    let first = plain(&parse);
    assert_eq!(first.code, 42, "{first:#?}");
    let report = json!({
        "files": 3, "finished_before": 0, "rows": 4, "calls": 1,
        "faults": {"repaired": 1, "unclosed_call": 1}, "rejects": {"invalid_json": 1}, "failed": [],
    });
    assert_eq!(first.json(), report);
    for said in [
        "3 files: 4 rows, 1 calls",
        "faults: 1 repaired, 1 unclosed_call",
        "1 rows have an `error`: 1 invalid_json",
    ] {
        assert!(first.err.contains(said), "{said}: {}", first.err);
    }
    let read = fs::read_to_string(home.path().join("out/a.jsonl")).unwrap();
    let rows: Vec<Value> = read.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(rows[0]["answer"]["tool_calls"][0]["function"]["name"], "list_dir");
    assert_eq!((&rows[1]["error"]["code"], &rows[1]["record"]), (&json!("invalid_json"), &json!("no JSON")));
    assert!(home.path().join("out/deep/b.jsonl").exists());

    let again = plain(&parse);
    assert_eq!(
        (again.code, &again.json()["finished_before"], &again.json()["rows"]),
        (42, &json!(3), &json!(4))
    );
    assert!(again.err.contains("3 files, 3 of them before: 4 rows"), "{}", again.err);

    let rewritten =
        ["convert", "--to", "qwen3-coder", "--out", &path("new"), &path("in/a.jsonl"), "--threads", "1"];
    let done = plain(&rewritten);
    assert_eq!((done.code, done.out.as_str()), (42, ""), "{done:#?}");
    let new = fs::read_to_string(home.path().join("new/a.jsonl")).unwrap();
    assert!(new.starts_with("{\"id\":\"a\"") && new.contains("<function=list_dir>"), "{new}");
}

#[test]
fn what_makes_no_sense_is_said() {
    let home = directory(&[("a.jsonl", "{\"text\": \"\"}\n"), ("notes.txt", "")]);
    let path = |name: &str| text(&home.path().join(name));
    let (a, out) = (path("a.jsonl"), path("out"));
    plain(&["parse", &a, &a]).fails(2, "expected one file, got 2; --out takes several");
    plain(&["parse", "--out", &out]).fails(2, "expected files of Parquet or JSON lines, got none");
    plain(&["parse", "--out", &out, "--jsonl", &a]).fails(2, "cannot be used with");
    plain(&["parse", "--column", "text", &a]).fails(2, "--out");
    plain(&["parse", "--out", &out, &path("notes.txt")]).fails(2, "expected a file that ends in .parquet");
    plain(&["parse", "--out", &text(home.path()), &a]).fails(2, "would be written over");
    plain(&["parse", "--out", &out, &path("none.jsonl")]).fails(42, "cannot read");
}
