//! `del parse`.

use std::collections::HashSet;
use std::io::{BufRead, BufReader, Read, Write};
use std::process::Stdio;

use serde_json::{Value, json};

use crate::del::{del, directory, plain, run, text};

const HERMES: &str = "<think>\nhm\n</think>\n\nLet me see.\n<tool_call>\n{\"name\": \"get_weather\", \"arguments\": {\"city\": \"Köln\"}}\n</tool_call>";

#[test]
fn an_answer_is_one_message() {
    let answer = run(&mut del(&["parse"]), HERMES).json();
    assert_eq!(answer["dialect"], "hermes-json");
    assert_eq!(answer["role"], "assistant");
    assert_eq!(answer["content"], "Let me see.");
    assert_eq!(answer["reasoning"], "hm");
    let call = &answer["tool_calls"][0];
    assert_eq!(call["type"], "function");
    assert_eq!(call["function"], json!({"name": "get_weather", "arguments": "{\"city\": \"Köln\"}"}));
    let kinds: Vec<&str> =
        answer["events"].as_array().unwrap().iter().map(|event| event["type"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["reasoning", "text", "tool_call"]);
    assert_eq!(answer["faults"], json!([]));
}

#[test]
fn a_file_and_standard_input_read_the_same_in_pieces_of_any_size() {
    let files = directory(&[("out.txt", HERMES)]);
    let path = text(&files.path().join("out.txt"));
    let whole = plain(&["parse", &path]);
    assert_eq!(whole.code, 0, "{whole:#?}");
    for arguments in [&["parse", "-"][..], &["parse", "--chunk", "1"], &["parse", "--chunk", "7", "-"]] {
        assert_eq!(run(&mut del(arguments), HERMES).out, whole.out, "{arguments:?}");
    }
}

#[test]
fn tools_type_raw_values_and_an_answer_may_start_in_thought() {
    let tools = json!([{"type": "function", "function": {"name": "f", "parameters":
        {"type": "object", "properties": {"n": {"type": "integer"}, "s": {"type": "string"}}}}}]);
    let files = directory(&[("tools.json", &tools.to_string())]);
    let tools = text(&files.path().join("tools.json"));
    let text = "so</think>ok<tool_call>\n<function=f>\n<parameter=n>\n3\n</parameter>\n<parameter=s>\n3\n</parameter>\n</function>\n</tool_call>";
    let options = ["parse", "--dialect", "qwen3_coder", "--starts-in", "reasoning", "--tools", &tools];
    let answer = run(&mut del(&options), text).json();
    let arguments: Value =
        serde_json::from_str(answer["tool_calls"][0]["function"]["arguments"].as_str().unwrap()).unwrap();
    assert_eq!(arguments, json!({"n": 3, "s": "3"}));
    assert_eq!((&answer["reasoning"], &answer["content"]), (&json!("so"), &json!("ok")));
    // Nobody said where it starts: the closing mark does.
    let answer = run(&mut del(&["parse", "--dialect", "qwen3_coder", "--tools", &tools]), text).json();
    assert_eq!((&answer["reasoning"], &answer["content"]), (&json!("so"), &json!("ok")));
    assert_eq!(answer["evidence"][0]["dialect"], "qwen3-coder");
    let unknown = run(&mut del(&["parse", "--starts-in", "unknown"]), text).json();
    assert_eq!((&unknown["reasoning"], &unknown["content"]), (&json!("so"), &json!("ok")));
    let line = json!({"text": text, "starts_in": "unknown"}).to_string();
    let record = run(&mut del(&["parse", "--jsonl", "--starts-in", "text"]), &line).json();
    assert_eq!((&record["reasoning"], &record["content"]), (&json!("so"), &json!("ok")));
    let answer = run(&mut del(&["parse", "--starts-in", "text"]), text).json();
    assert_eq!((&answer["reasoning"], &answer["content"]), (&Value::Null, &json!("sook")));
}

#[test]
fn events_come_out_while_the_text_comes_in() {
    let mut child = del(&["parse", "--events"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut next = || -> Value { serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap() };
    stdin.write_all(b"Hello <tool_call>\n{\"name\": \"f\", \"arguments\": {\"a\": ").unwrap();
    stdin.flush().unwrap();
    // The input is still open: what is read here was not held back for its end.
    assert_eq!(next()["type"], "text");
    let start = loop {
        let event = next();
        if event["type"] == "tool_call_start" {
            break event;
        }
    };
    assert_eq!((&start["name"], &start["dialect"]), (&json!("f"), &json!("hermes-json")));
    stdin.write_all(b"1}}\n</tool_call>").unwrap();
    drop(stdin);
    let rest: Vec<Value> = lines.map(|line| serde_json::from_str(&line.unwrap()).unwrap()).collect();
    assert!(rest.iter().any(|event| event["type"] == "tool_call_end"), "{rest:#?}");
    assert!(child.wait().unwrap().success());
}

#[test]
fn ids_follow_from_the_text() {
    let id = |arguments: &[&str], text: &str| {
        run(&mut del(arguments), text).json()["tool_calls"][0]["id"].as_str().unwrap().to_owned()
    };
    let first = id(&["parse"], HERMES);
    assert_eq!(first, id(&["parse", "--chunk", "3"], HERMES));
    assert_ne!(first, id(&["parse"], &HERMES.replace("Köln", "Kiel")));
    let lines =
        [json!({"text": HERMES}), json!({"text": HERMES}), json!({"text": HERMES.replace("Köln", "Kiel")})];
    let got = run(&mut del(&["parse", "--jsonl"]), lines.map(|line| line.to_string()).join("\n"));
    let ids: HashSet<String> =
        got.lines().iter().map(|line| line["tool_calls"][0]["id"].to_string()).collect();
    assert_eq!(ids.len(), 3);
}

#[test]
fn a_cut_call_is_a_fault_and_no_call() {
    let answer = run(&mut del(&["parse", "--finish", "cut"]), &HERMES[..HERMES.len() - 20]).json();
    assert_eq!(answer["tool_calls"], json!([]));
    assert_eq!(answer["faults"][0]["kind"], "unclosed_call");
    assert_eq!(answer["faults"][0]["name"], "get_weather");
}

#[test]
fn bytes_that_are_no_text_cost_nothing_else() {
    let mut bytes = HERMES.as_bytes().to_vec();
    bytes.extend(b" a\xff\xfeb \xe2\x82");
    let got = run(&mut del(&["parse"]), &bytes);
    assert_eq!(got.code, 0, "{got:#?}");
    assert_eq!(got.json()["content"], "Let me see. a\u{fffd}\u{fffd}b \u{fffd}");
    assert_eq!(got.json()["tool_calls"].as_array().unwrap().len(), 1);
    let at = HERMES.len() + 2;
    assert!(got.err.contains(&format!("from byte {at} on")), "{got:#?}");
    assert!(got.err.contains("3 places"), "{got:#?}");
}

#[test]
fn records_are_answered_in_order_and_a_bad_line_does_not_end_the_run() {
    let records = [
        json!({"id": 1, "text": HERMES}).to_string(),
        json!({"id": "two", "text": "x", "dialect": "hermess-json"}).to_string(),
        "{broken".to_owned(),
        String::new(),
        "[1]".to_owned(),
        json!({"id": {"a": [1.50]}}).to_string(),
        json!({"text": "so</think>yes", "starts_in": "reasoning", "dialect": "hermes"}).to_string(),
        json!({"id": 8, "text": "<tool_call>\n{\"name\": \"f\"", "finish": "cut"}).to_string(),
    ];
    let got = run(&mut del(&["parse", "--jsonl"]), records.join("\n"));
    assert_eq!(got.code, 0, "{got:#?}");
    let lines = got.lines();
    assert_eq!(lines.len(), records.len(), "{got:#?}");
    assert_eq!((&lines[0]["id"], &lines[0]["content"]), (&json!(1), &json!("Let me see.")));
    let codes: Vec<&str> = lines[1..6].iter().map(|line| line["error"]["code"].as_str().unwrap()).collect();
    assert_eq!(codes, ["unknown_dialect", "invalid_json", "invalid_json", "invalid_json", "invalid_request"]);
    assert_eq!(lines[1]["id"], "two");
    assert!(lines[1]["error"]["message"].as_str().unwrap().contains("did you mean hermes-json"));
    assert_eq!(lines[2]["id"], Value::Null);
    assert!(got.out.lines().nth(5).unwrap().starts_with("{\"id\":{\"a\":[1.5"));
    assert_eq!((&lines[6]["reasoning"], &lines[6]["id"]), (&json!("so"), &Value::Null));
    assert_eq!(lines[7]["tool_calls"], json!([]));
    assert!(got.err.contains("5 of 8 lines"), "{got:#?}");
    let chunked = run(&mut del(&["parse", "--jsonl", "--chunk", "1"]), records.join("\n"));
    assert_eq!(chunked.out, got.out);
}

#[test]
fn a_record_is_answered_before_the_next_one_comes() {
    let mut child = del(&["parse", "--jsonl"]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    for id in 0..3 {
        writeln!(stdin, "{}", json!({"id": id, "text": "hi"})).unwrap();
        let mut line = String::new();
        out.read_line(&mut line).unwrap();
        let answer: Value = serde_json::from_str(&line).unwrap();
        assert_eq!((&answer["id"], &answer["content"]), (&json!(id), &json!("hi")));
    }
    drop(stdin);
    assert!(child.wait().unwrap().success());
}

#[test]
fn many_records_keep_their_order_and_their_ids_differ() {
    // Several blocks for each core, and records of very different cost.
    let call = "<tool_call>\n{\"name\": \"f\", \"arguments\": {}}\n</tool_call>";
    let record = |number: usize| match number % 7 {
        0 => "{".to_owned(),
        1 => json!({"id": number, "text": call.repeat(number % 40)}).to_string(),
        _ => json!({"id": number, "text": format!("{number} {call}"), "tools": [{"name": "f"}]}).to_string(),
    };
    let records: Vec<String> = (0..30_000).map(record).collect();
    let got = run(&mut del(&["parse", "--jsonl"]), records.join("\n"));
    assert_eq!(got.code, 0, "{}", got.err);
    let lines = got.lines();
    assert_eq!(lines.len(), records.len());
    let mut ids = HashSet::new();
    for (number, line) in lines.iter().enumerate() {
        if number % 7 == 0 {
            assert_eq!(line["error"]["code"], "invalid_json", "{number}");
            continue;
        }
        assert_eq!(line["id"], number);
        let calls = line["tool_calls"].as_array().unwrap();
        assert_eq!(calls.len(), if number % 7 == 1 { number % 40 } else { 1 }, "{number}");
        for call in calls {
            assert!(ids.insert(call["id"].as_str().unwrap()), "{number}");
        }
    }
    assert_eq!(run(&mut del(&["parse", "--jsonl"]), records.join("\n")).out, got.out);
}

#[test]
fn a_reader_that_goes_ends_the_run_quietly_though_more_may_come() {
    let mut child = del(&["parse", "--jsonl"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    drop(child.stdout.take());
    writeln!(stdin, "{}", json!({"text": "hi"})).unwrap();
    // Standard input stays open.
    let mut err = String::new();
    child.stderr.take().unwrap().read_to_string(&mut err).unwrap();
    child.wait().unwrap();
    assert_eq!(err, "");
    drop(stdin);
}

#[test]
fn an_answer_of_the_api_reads_as_well() {
    let message = json!({"choices": [{"message": {"role": "assistant", "content": null, "tool_calls": [
        {"id": "c1", "type": "function", "function": {"name": "f", "arguments": {"a": 1}}}]}}]});
    let got = run(&mut del(&["parse", "--dialect", "openai-native"]), message.to_string());
    let call = &got.json()["tool_calls"][0];
    assert_eq!((&call["id"], &call["function"]["arguments"]), (&json!("c1"), &json!("{\"a\":1}")));
    run(&mut del(&["parse", "--dialect", "openai-native"]), "no json").fails(42, "expected JSON");
}

#[test]
fn what_cannot_be_read_is_said_with_the_exit_code_for_it() {
    plain(&["parse", "/nonexistent/x"]).fails(42, "cannot read /nonexistent/x: no such file");
    plain(&["parse", "/"]).fails(42, "is a directory");
    plain(&["parse", "--dialect", "hermes-jsn"]).fails(2, "did you mean hermes-json");
    let files = directory(&[("tools.json", "[{\"nam\": 1}]"), ("broken.json", "{")]);
    let path = |name| text(&files.path().join(name));
    plain(&["parse", "--tools", &path("tools.json")]).fails(42, "tools[0].name");
    plain(&["parse", "--tools", &path("broken.json")]).fails(42, "expected JSON");
    plain(&["parse", "--chunk", "0"]).fails(2, "0 is not in 1..");
    plain(&["parse", "--jsonl", "--events"]).fails(2, "cannot be used with");
}

#[test]
fn the_line_feed_that_ends_a_file_is_not_the_models() {
    let files = directory(&[("one", "Hello.\n"), ("two", "Hello.\n\n"), ("only", "\n"), ("none", "Hello.")]);
    let content = |name: &str, options: &[&str]| {
        let path = text(&files.path().join(name));
        let got = plain(&[&["parse", path.as_str()], options].concat()).json();
        got["content"].as_str().unwrap_or_default().to_owned()
    };
    for options in [&[][..], &["--chunk", "1"]] {
        let contents = ["one", "two", "only", "none"].map(|name| content(name, options));
        assert_eq!(contents, ["Hello.", "Hello.\n", "", "Hello."], "{options:?}");
    }
    let piped = run(&mut del(&["parse"]), "Hello.\n").json();
    assert_eq!(piped["content"], "Hello.\n", "what is piped in is all the model's");
}

#[test]
fn a_pipe_is_opened_once() {
    let files = directory(&[]);
    let path = files.path().join("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&path).status().unwrap().success());
    for arguments in [vec!["parse"], vec!["convert", "--to", "hermes", "--jsonl"]] {
        let child = del(&arguments).arg(&path).stdout(Stdio::piped()).spawn().unwrap();
        // Whoever opens it behind this waits for ever.
        std::fs::write(&path, "{\"text\": \"hello\"}").unwrap();
        let done = child.wait_with_output().unwrap();
        assert!(done.status.success() && String::from_utf8_lossy(&done.stdout).contains("hello"), "{done:?}");
    }
}
