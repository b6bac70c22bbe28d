//! `del policy check`.

use std::fmt::Write as _;

use serde_json::{Value, json};

use crate::del::{del, directory, plain, run};

#[test]
fn a_verdict_has_its_reasons() {
    let files = directory(&[("a.txt", "a\n")]);
    let check = |arguments: &[&str]| {
        let mut all = vec!["policy", "check"];
        all.extend(arguments);
        run(del(&all).current_dir(files.path()), "")
    };
    let safe = check(&["cat a.txt | head -1"]);
    assert_eq!((safe.code, safe.out.lines().next()), (0, Some("safe")), "{safe:#?}");
    let ask = check(&["cat a.txt ../b", "--json"]).json();
    assert_eq!(ask["verdict"], "ask");
    assert!(ask["reasons"][0].as_str().unwrap().contains("`../b` lies outside"), "{ask}");
    assert_eq!(check(&["sudo ls", "--json", "--unsafe"]).json()["verdict"], "refuse");
    assert_eq!(
        check(&["cargo test", "--json", "--allow-tool", "run_command(cargo test:*)"]).json()["verdict"],
        "safe"
    );
    assert_eq!(
        check(&["cat a.txt", "--json", "--deny-tool", "run_command(cat:*)"]).json()["verdict"],
        "refuse"
    );
    let piped = run(del(&["policy", "check", "--json"]).current_dir(files.path()), "ls -la\n");
    assert_eq!(piped.json()["verdict"], "safe");
}

#[test]
fn a_denial_says_why_as_a_check_does() {
    let files = directory(&[("a.txt", "a\n")]);
    let run = |arguments: &[&str]| run(del(arguments).current_dir(files.path()), "");
    for command in ["rm a.txt", "cat a.txt ../b", "ls; mkdir x && touch y"] {
        let reasons = run(&["policy", "check", command, "--json"]).json()["reasons"].clone();
        let denied = run(&["tools", "call", "run_command", &json!({"command": command}).to_string()]);
        assert_eq!(denied.code, 1, "{denied:#?}");
        for reason in reasons.as_array().unwrap() {
            assert!(denied.out.contains(reason.as_str().unwrap()), "{reason}: {denied:#?}");
        }
        assert!(denied.out.starts_with("Denied: needs approval: "), "{denied:#?}");
    }
    let write = json!({"path": ".envrc", "content": "x"}).to_string();
    let denied = run(&["tools", "call", "write_file", &write]).out;
    assert!(denied.starts_with("Denied: needs approval: ") && denied.contains("; rerun with"), "{denied}");
}

#[test]
fn records_are_answered_in_order_and_bad_ones_by_an_error() {
    let files = directory(&[("sub/a.txt", "a\n")]);
    let root = files.path().to_str().unwrap();
    let mut input = String::new();
    for record in [
        json!({"id": 1, "command": "ls"}),
        json!({"id": "two", "command": "cat ../x"}),
        json!({"id": 3, "command": "cat ../sub/a.txt", "cwd": "sub"}),
        json!({"id": 4, "command": "rm -rf /"}),
        json!({"id": 5}),
        json!({"id": 6, "command": "ls", "cwd": "/"}),
        json!({"command": "ls\u{0}"}),
    ] {
        writeln!(input, "{record}").unwrap();
    }
    input.push_str("nonsense\n");
    let lines = run(&mut del(&["policy", "check", "--jsonl", "--working-dir", root]), &input).lines();
    let verdicts: Vec<&Value> = lines.iter().map(|line| &line["verdict"]).collect();
    assert_eq!(
        verdicts,
        ["safe", "ask", "safe", "refuse", "", "ask", "ask", ""]
            .map(|verdict| { if verdict.is_empty() { Value::Null } else { json!(verdict) } })
            .iter()
            .collect::<Vec<_>>()
    );
    assert_eq!(lines[1]["id"], "two");
    assert_eq!((&lines[4]["id"], &lines[4]["error"]["code"]), (&json!(5), &json!("invalid_request")));
    assert_eq!((&lines[7]["id"], &lines[7]["error"]["code"]), (&json!(null), &json!("invalid_json")));
}

#[test]
fn a_directory_of_its_own_is_where_a_record_stands() {
    let files = directory(&[("a.txt", "a\n")]);
    let record = json!({"id": 1, "command": "cat a.txt", "cwd": files.path()}).to_string();
    let lines = run(&mut del(&["policy", "check", "--jsonl"]), &record).lines();
    assert_eq!(lines[0]["verdict"], "safe", "{lines:?}");
    assert_eq!(plain(&["policy"]).code, 2);
    for place in ["/nonexistent", "/etc/passwd"] {
        let got = plain(&["policy", "check", "ls", "--working-dir", place]);
        got.fails(52, &format!("cannot work in {place}: "));
    }
}
