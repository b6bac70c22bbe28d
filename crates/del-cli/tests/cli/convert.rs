//! `del convert`.

use std::io::{BufRead, BufReader, Write};
use std::process::Stdio;

use serde_json::{Value, json};

use crate::del::{del, directory, run, text};

const HERMES: &str = "Let me see.\n<tool_call>\n{\"name\": \"get_weather\", \"arguments\": {\"city\": \"Köln\"}}\n</tool_call>";

#[test]
fn a_text_comes_out_in_the_other_dialect() {
    let there = run(&mut del(&["convert", "--from", "hermes", "--to", "mistral-json"]), HERMES);
    assert_eq!(there.code, 0, "{there:#?}");
    assert!(there.out.contains("[TOOL_CALLS]") && there.out.starts_with("Let me see."), "{there:#?}");
    // Without --from the dialect is found out.
    let back = run(&mut del(&["convert", "--to", "hermes"]), &there.out);
    assert_eq!(back.out, HERMES);
    let broken = run(&mut del(&["convert", "--to", "mistral-json"]), &HERMES[..70]);
    assert_eq!((broken.code, broken.out.as_str()), (42, ""));
    assert!(broken.err.contains("expected calls that are whole"), "{broken:#?}");
}

#[test]
fn the_line_feed_that_ends_a_file_is_not_the_models() {
    let files = directory(&[("call.txt", &format!("{HERMES}\n")), ("said.txt", "Hello.\n")]);
    let path = |name: &str| text(&files.path().join(name));
    let native = |name: &str| run(&mut del(&["convert", "--to", "openai-native", &path(name)]), "");
    assert_eq!(native("said.txt").out, "{\"role\":\"assistant\",\"content\":\"Hello.\"}\n");
    let other = run(&mut del(&["convert", "--to", "qwen3-coder", &path("call.txt")]), "");
    assert!(other.out.ends_with("</tool_call>\n"), "it still ends the file: {other:#?}");
    // The ids are those of this text alone.
    let id = |got: crate::del::Run| got.json()["tool_calls"][0]["id"].clone();
    assert_eq!(id(native("call.txt")), id(native("call.txt")));
    let kiel = HERMES.replace("Köln", "Kiel");
    assert_ne!(id(native("call.txt")), id(run(&mut del(&["convert", "--to", "openai-native"]), &kiel)));
}

#[test]
fn nothing_becomes_nothing() {
    for to in ["qwen3-coder", "harmony", "functionary-v32", "hermes-json"] {
        let got = run(&mut del(&["convert", "--from", "hermes-json", "--to", to]), "");
        assert_eq!((got.code, got.out.as_str()), (0, ""), "{to}: {got:#?}");
    }
}

#[test]
fn thinking_that_has_no_form_is_refused_with_a_way_out() {
    let text = format!("<think>\nhm\n</think>\n\n{HERMES}");
    let refused = run(&mut del(&["convert", "--to", "functionary-v32"]), &text);
    assert_eq!(refused.code, 42);
    assert!(refused.err.contains("--drop-thinking"), "{refused:#?}");
    let dropped = run(&mut del(&["convert", "--to", "functionary-v32", "--drop-thinking"]), &text);
    assert!(dropped.code == 0 && !dropped.out.contains("hm"), "{dropped:#?}");
}

#[test]
fn a_guess_is_refused_with_a_way_out() {
    let text = HERMES.replace("\"Köln\"", "\"Köln\" \"days\": 2");
    let refused = run(&mut del(&["convert", "--to", "qwen3-coder"]), &text);
    assert_eq!((refused.code, refused.out.as_str()), (42, ""), "{refused:#?}");
    assert!(refused.err.contains("--keep-guesses"), "{refused:#?}");
    let kept = run(&mut del(&["convert", "--to", "qwen3-coder", "--keep-guesses"]), &text);
    assert!(kept.code == 0 && kept.out.contains("<parameter=days>\n2\n"), "{kept:#?}");
}

#[test]
fn records_keep_their_order_and_no_bad_one_is_lost() {
    let record = |number: usize| json!({"id": number, "text": HERMES}).to_string();
    let mut lines: Vec<String> = (0..5000).map(record).collect();
    lines[7] = "no JSON".to_owned();
    lines[4000] = json!({"id": 4000, "text": &HERMES[..70]}).to_string();
    let input = lines.join("\n") + "\n";
    for threads in ["1", "3"] {
        let convert = ["convert", "--from", "hermes", "--to", "qwen3-coder", "--jsonl", "--threads", threads];
        let done = run(&mut del(&convert), &input);
        assert_eq!(done.code, 42);
        let out: Vec<Value> = done.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(out.len(), 5000);
        for (number, line) in out.iter().enumerate() {
            match number {
                7 => assert_eq!(line["error"]["code"], "invalid_json"),
                4000 => {
                    assert_eq!((&line["id"], &line["error"]["code"]), (&json!(4000), &json!("broken_call")));
                }
                _ => assert!(
                    line["id"] == number && line["text"].as_str().unwrap().contains("<function="),
                    "{line}"
                ),
            }
        }
        assert!(done.err.contains("line 8: expected a JSON object"), "{}", done.err);
        assert!(
            done.err.contains("4,998 records rewritten, 4,998 calls in them, 0 records mended, 2 bad"),
            "{}",
            done.err
        );
        let told = run(&mut del(&[&convert[..], &["--json"]].concat()), &input);
        let report: Value = serde_json::from_str(told.err.lines().last().unwrap()).unwrap();
        assert_eq!(report, json!({"records": 4998, "calls": 4998, "mended": 0, "bad": 2}));
        assert_eq!((told.code, told.out), (42, done.out));
        let files = directory(&[]);
        let rejects = text(&files.path().join("rejects.jsonl"));
        let done = run(&mut del(&[&convert[..], &["--rejects", &rejects]].concat()), &input);
        assert_eq!((done.code, done.out.lines().count()), (0, 4998));
        assert_eq!(std::fs::read_to_string(rejects).unwrap(), format!("{}\n{}\n", lines[7], lines[4000]));
    }
}

#[test]
fn what_no_text_can_hold_is_bad() {
    let call = r#"{"id":"c1","type":"function","function":{"name":"f","arguments":"{\"a\": \"\ud83d\"}"}}"#;
    let lines = [
        r#"{"text": "half \ud83d"}"#.to_owned(),
        r#"{"messages": [{"role": "assistant", "content": "half \ud83d"}]}"#.to_owned(),
        r#"{"messages": [{"role": "assistant", "content": [{"type": "text", "text": "half \ud83d"}]}]}"#
            .to_owned(),
        format!(r#"{{"messages": [{{"role": "assistant", "content": "", "tool_calls": [{call}]}}]}}"#),
        r#"{"text": "whole \ud83d\ude00"}"#.to_owned(),
    ];
    let got = run(&mut del(&["convert", "--to", "hermes", "--jsonl"]), lines.join("\n") + "\n");
    assert_eq!(got.code, 42, "{got:#?}");
    let codes: Vec<Value> = got.lines().iter().map(|line| line["error"]["code"].clone()).collect();
    assert_eq!(codes[..4], ["invalid_request"; 4].map(Value::from));
    assert_eq!((codes.len(), &codes[4]), (5, &Value::Null), "{got:#?}");
    assert!(!got.out.contains('\u{fffd}'), "{got:#?}");
    let convert = ["convert", "--to", "hermes", "--jsonl", "--rejects", "/nonexistent/rejects"];
    run(&mut del(&convert), "").fails(1, "cannot write /nonexistent/rejects");
}

#[test]
fn rejects_are_not_written_over_what_is_read() {
    let files = directory(&[("in.jsonl", "{\"id\": 1, \"text\": \"hello\"}\n")]);
    let (path, link) = (files.path().join("in.jsonl"), files.path().join("link"));
    std::os::unix::fs::symlink(&path, &link).unwrap();
    for rejects in [&path, &link] {
        let convert = ["convert", "--to", "hermes", "--jsonl", "--rejects", &text(rejects)];
        let refused = "would be written over while it is read; name another file";
        run(&mut del(&[&convert[..], &[&text(&path)]].concat()), "").fails(2, refused);
        let input = std::fs::File::open(&path).unwrap();
        let redirected = del(&convert).stdin(input).output().unwrap();
        assert_eq!(redirected.status.code(), Some(2));
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "{\"id\": 1, \"text\": \"hello\"}\n");
    }
}

#[test]
fn a_record_says_how_its_text_is_to_be_read() {
    let convert = |record: Value| {
        let done = run(&mut del(&["convert", "--to", "qwen3-coder", "--jsonl"]), record.to_string());
        done.out.lines().next().map(|line| serde_json::from_str::<Value>(line).unwrap()).unwrap()
    };
    // Markup of another dialect is text: one that the new dialect would read as a call.
    let done =
        convert(json!({"dialect": "mistral", "text": "Write <function=f>{\"a\":1}</function> to call."}));
    assert_eq!(done["error"]["code"], "unrepresentable", "{done}");
    let text = "[Calling tool: f({})]";
    assert_eq!(
        convert(json!({"dialect": "mistral", "text": text})),
        json!({"dialect": "qwen3-coder", "text": text})
    );
    let thought = "I think so</think>[TOOL_CALLS]f[ARGS]{\"a\":1}";
    let record =
        json!({"starts_in": "reasoning", "finish": "cut", "dialect": "mistral-args", "text": thought});
    let done = convert(record);
    assert_eq!(
        (&done["starts_in"], &done["dialect"], &done["finish"]),
        (&json!("text"), &json!("qwen3-coder"), &json!("cut"))
    );
    let read = run(&mut del(&["parse", "--jsonl"]), done.to_string());
    let read: Value = serde_json::from_str(&read.out).unwrap();
    assert_eq!((&read["reasoning"], &read["content"]), (&json!("I think so"), &Value::Null), "{read}");
    assert_eq!(read["tool_calls"][0]["function"]["name"], "f");
    let unknown = convert(json!({"id": 5, "dialect": "nope", "text": "x"}));
    assert_eq!((&unknown["id"], &unknown["error"]["code"]), (&json!(5), &json!("unknown_dialect")));
}

#[test]
fn a_record_comes_out_before_the_next_one_goes_in() {
    let mut child = del(&["convert", "--from", "hermes", "--to", "mistral-json", "--jsonl"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let (mut input, mut output) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
    for number in 0..3 {
        writeln!(input, "{}", json!({"id": number, "text": HERMES})).unwrap();
        let mut line = String::new();
        output.read_line(&mut line).unwrap();
        assert_eq!(serde_json::from_str::<Value>(&line).unwrap()["id"], number);
    }
    drop(input);
    assert!(child.wait().unwrap().success());
}
