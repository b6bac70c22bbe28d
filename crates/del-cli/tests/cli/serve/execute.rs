//! `del serve --execute`: what runs, and what does not as nobody can be asked.

use std::path::Path;

use serde_json::{Value, json};

use super::Proxy;
use crate::del::{del, plain};
use crate::server::{Reply, Server};

/// An answer with one call.
fn calling(name: &str, arguments: &Value) -> Reply {
    let function = json!({"name": name, "arguments": arguments.to_string()});
    let call = json!({"id": "c", "type": "function", "function": function});
    let message = json!({"role": "assistant", "content": null, "tool_calls": [call]});
    answer(&message)
}

fn saying(text: &str) -> Reply {
    answer(&json!({"role": "assistant", "content": text}))
}

fn answer(message: &Value) -> Reply {
    let choice = json!({"index": 0, "finish_reason": "stop", "message": message});
    Reply::Status(200, json!({"choices": [choice]}).to_string())
}

/// What the client gets, and the results that the model was told.
fn run(folder: &Path, replies: Vec<Reply>, options: &[&str]) -> (Value, Vec<String>) {
    let server = Server::new(replies);
    let folder = folder.to_str().unwrap();
    let serve = [
        "serve",
        "--listen",
        "127.0.0.1:0",
        "--upstream",
        server.url(),
        "--execute",
        "--working-dir",
        folder,
    ];
    let proxy = Proxy::start(&mut del(&[&serve[..], options].concat()));
    let answer = proxy.post(&json!({"messages": [{"role": "user", "content": "Do it."}]}));
    let sent = server.completions().pop().unwrap().body;
    let results = sent["messages"].as_array().unwrap().iter().filter(|message| message["role"] == "tool");
    (answer, results.map(|message| message["content"].as_str().unwrap().to_owned()).collect())
}

#[test]
fn reading_runs_and_the_client_sees_what_was_done() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("hello.txt"), "bonjour\n").unwrap();
    let replies = vec![calling("read_file", &json!({"file_path": "hello.txt"})), saying("It says bonjour.")];
    let (answer, results) = run(folder.path(), replies, &[]);
    let message = &answer["choices"][0]["message"];
    assert_eq!(message["content"], "It says bonjour.");
    // Signs that nobody sees stand around it.
    let thought = message["reasoning_content"].as_str().unwrap().replace(['\u{2063}', '\u{2064}'], "");
    assert!(thought.starts_with("● read_file(file_path: \"hello.txt\")\n  ⎿ "), "{thought}");
    assert!(results[0].contains("bonjour"), "{results:?}");
}

#[test]
fn writing_and_running_need_a_rule() {
    let folder = tempfile::tempdir().unwrap();
    let made = folder.path().join("made.txt");
    let write = || {
        let arguments = json!({"file_path": "made.txt", "content": "x\n"});
        vec![calling("write_file", &arguments), saying("Well.")]
    };
    let (_, results) = run(folder.path(), write(), &[]);
    assert!(results[0].starts_with("Error: Denied") && !made.exists(), "{results:?}");
    let (_, results) = run(folder.path(), write(), &["--allow-tool", "write_file(made.txt)"]);
    assert!(made.exists(), "{results:?}");
    std::fs::remove_file(&made).unwrap();
    let touch = || vec![calling("run_command", &json!({"command": "touch made.txt"})), saying("Well.")];
    let (_, results) = run(folder.path(), touch(), &[]);
    assert!(results[0].starts_with("Error: Denied") && !made.exists(), "{results:?}");
    let (_, results) = run(folder.path(), touch(), &["--allow-tool", "run_command(touch:*)"]);
    assert!(made.exists(), "{results:?}");
    let outside = vec![calling("read_file", &json!({"file_path": "/etc/passwd"})), saying("Well.")];
    let (_, results) = run(folder.path(), outside, &["--unsafe"]);
    assert!(!results[0].contains("root:"), "{results:?}");
}

#[test]
fn a_guess_never_writes_whatever_is_allowed() {
    let folder = tempfile::tempdir().unwrap();
    // A comma is missing.
    let call = "<tool_call>\n{\"name\": \"write_file\", \"arguments\": {\"file_path\": \"made.txt\" \"content\": \"x\"}}\n\
                </tool_call>";
    let (_, results) = run(folder.path(), vec![saying(call), saying("Well.")], &["--unsafe"]);
    assert!(results[0].contains("may not be what was meant"), "{results:?}");
    assert!(!folder.path().join("made.txt").exists());
}

#[test]
fn what_is_about_running_needs_to_run() {
    for option in [&["--toolset", "all"][..], &["--unsafe"], &["--working-dir", "/"], &["--max-turns", "3"]] {
        plain(&[&["serve", "--upstream", "http://127.0.0.1:1/v1"], option].concat()).fails(2, "--execute");
    }
    let serve = ["serve", "--upstream", "http://127.0.0.1:1/v1", "--execute"];
    plain(&[&serve[..], &["--working-dir", "/no/such"]].concat()).fails(52, "/no/such");
    plain(&[&serve[..], &["--max-turns", "0"]].concat()).fails(2, "--max-turns");
}
