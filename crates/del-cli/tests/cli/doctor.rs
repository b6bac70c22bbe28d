//! `del doctor`, in front of servers of every kind.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::del::{Run, directory, plain};
use crate::server::{About, Reply, Server, calls, says, words};
use crate::terminal::Terminal;

/// The four calls that are asked for, right.
fn right() -> [(&'static str, Value); 4] {
    [
        ("get_weather", json!({"city": "Paris"})),
        ("set_timer", json!({"minutes": 25, "label": "tea"})),
        ("save_note", json!({"text": "She said \"yes\" twice."})),
        ("get_weather", json!({"city": "Oslo", "unit": "fahrenheit"})),
    ]
}

/// The calls over the API, each with the answer that follows its result, and plain words where no tool fits.
fn natively() -> Vec<Reply> {
    let asked = right();
    let called = asked.iter().flat_map(|(name, arguments)| [calls("c1", name, arguments), says("Done.")]);
    called.chain([says("Shakespeare.")]).collect()
}

/// The same as text.
fn written() -> Vec<Reply> {
    let text = |name: &str, arguments: &Value| {
        says(&format!("<tool_call>\n{}\n</tool_call>", json!({"name": name, "arguments": arguments})))
    };
    let asked = right();
    let called = asked.iter().flat_map(|(name, arguments)| [text(name, arguments), says("Done.")]);
    called.chain([says("Shakespeare.")]).collect()
}

fn refusals() -> Vec<Reply> {
    let error = json!({"error": {"message": "registry.local/scripted does not support tools"}}).to_string();
    vec![Reply::Status(400, error); 5]
}

fn doctor(server: &Server, options: &[&str]) -> Run {
    plain(&[&["doctor", "--base-url", server.url()], options].concat())
}

/// The ways and how many calls were right in each.
fn ways(report: &Value) -> Vec<(String, u64)> {
    let ways = report["ways"].as_array().unwrap().iter();
    ways.map(|way| (way["name"].as_str().unwrap().to_owned(), way["right"].as_u64().unwrap())).collect()
}

#[test]
fn a_server_that_does_all_itself_needs_no_help() {
    let server = Server::new([natively(), vec![says("It is sunny.")]].concat());
    let got = doctor(&server, &["--json"]);
    let report = got.json();
    assert_eq!(got.code, 0, "{got:#?}");
    assert_eq!(ways(&report), [("native".to_owned(), 5), ("prompt, in hermes-json".to_owned(), 1)]);
    assert_eq!(report["use"]["options"], json!(["--tools-mode", "native"]));
    assert_eq!(report["model"], "scripted");
    assert_eq!(report["ways"][1]["calls"][0]["wrong"], "the model answered without a call");
    // The results were told, and the tools offered, in the ways that are said.
    let requests = server.completions();
    assert_eq!(requests[0].body["tools"].as_array().unwrap().len(), 3);
    assert_eq!(requests[1].body["messages"][3]["role"], "tool");
    assert!(requests[9].body.get("tools").is_none());
}

#[test]
fn tools_that_a_server_refuses_go_into_the_prompt() {
    let server = Server::new([refusals(), written()].concat());
    let got = doctor(&server, &[]);
    assert_eq!(got.code, 0, "{got:#?}");
    for says in [
        "native                  0 of 5  the model server refused (status 400)",
        "prompt, in hermes-json  5 of 5",
        "use       --tools-mode prompt --dialect hermes-json\n",
        "template  the server does not tell it\n",
    ] {
        assert!(got.out.contains(says), "expected {says:?}: {}", got.out);
    }
}

#[test]
fn on_a_terminal_it_says_what_it_tries_and_nothing_acts() {
    let files = directory(&[]);
    let models = json!({"data": [{"id": "a\u{1b}[2Jb"}]}).to_string();
    let about = About { models: (200, models), ..About::default() };
    let server = Server::about(about, natively());
    let held = server.hold();
    let mut terminal = Terminal::with(&files, &["doctor", "--base-url", server.url()], 80, &[]);
    terminal.until("native: a word (1 of 5)");
    drop(held);
    let (seen, code) = terminal.end();
    assert_eq!(code, 0, "{seen:?}");
    assert!(seen.contains("\u{1b}[1mmodel    \u{1b}[0m a␛[2Jb\r\n"), "{seen:?}");
    assert!(seen.contains("\u{1b}[32m--tools-mode native\u{1b}[0m"), "{seen:?}");
}

#[test]
fn calls_that_leak_as_text_are_said_to() {
    let server = Server::new([written(), vec![says("No.")]].concat());
    let report = doctor(&server, &["--json"]).json();
    assert_eq!(report["ways"][0]["read_in"], json!(["hermes-json"]), "{report:#}");
    assert_eq!(ways(&report)[0].1, 5);
    let text = doctor(&Server::new([written(), vec![says("No.")]].concat()), &[]).out;
    assert!(text.contains("calls come as text, in hermes-json; Del reads them"), "{text}");
}

#[test]
fn llama_cpp_tells_its_template_and_takes_a_grammar() {
    let models = json!({"data": [{"id": "scripted", "owned_by": "llamacpp"}]});
    let template = "{% for message in messages %}<|im_start|>{{ message.role }}\n{{ message.content }}<|im_end|>\n{% endfor %}";
    let props = json!({"chat_template": template, "default_generation_settings": {"n_ctx": 2048}});
    let about = About { models: (200, models.to_string()), props: Some(props), ..About::default() };
    let nothing = vec![says("No."); 10];
    let server = Server::about(about, [nothing, written()].concat());
    let got = doctor(&server, &["--json"]);
    let report = got.json();
    assert_eq!(got.code, 0, "{got:#?}");
    assert_eq!((&report["server"]["program"], &report["context"]), (&json!("llama.cpp"), &json!(2048)));
    assert_eq!(report["template"]["tool_calls"], false, "{report:#}");
    assert!(report["warnings"][0].as_str().unwrap().contains("--ctx-size"), "{report:#}");
    assert_eq!(report["use"]["constrain"], "on", "{report:#}");
    let requests = server.completions();
    assert!(requests[10].body["grammar"].is_string(), "{}", requests[10].body);
}

#[test]
fn the_context_is_what_the_server_says_it_is() {
    let tags = json!({"models": [{"name": "scripted:latest", "context_length": 4096}]}).to_string();
    let ollama = vec![("/api/version", json!({"version": "1"}).to_string()), ("/api/ps", tags)];
    let studio =
        json!({"data": [{"id": "scripted", "max_context_length": 9, "loaded_context_length": 8192}]})
            .to_string();
    let vllm = json!({"data": [{"id": "scripted", "owned_by": "vllm", "max_model_len": 32768}]}).to_string();
    for (others, models, program, context) in [
        (ollama, None, "Ollama", 4096),
        (vec![("/api/v0/models", studio)], None, "LM Studio", 8192),
        (vec![], Some(vllm), "vLLM", 32768),
    ] {
        let mut about = About { others, ..About::default() };
        if let Some(models) = models {
            about.models = (200, models);
        }
        let report = doctor(&Server::about(about, natively()), &["--json"]).json();
        assert_eq!((&report["server"]["program"], &report["context"]), (&json!(program), &json!(context)));
    }
}

#[test]
fn a_model_that_cannot_is_said_to() {
    let wrong = vec![calls("c1", "set_timer", &json!({"minutes": "25"})), says("\u{1b}[2JDone.")];
    let got = doctor(&Server::new(wrong), &[]);
    got.fails(1, "no way of calling tools works with this model");
    assert!(got.out.contains("a word: expected a call of get_weather, got one of set_timer"), "{}", got.out);
    let half = [natively()[..2].to_vec(), vec![says("No.")]].concat();
    let got = doctor(&Server::new(half), &[]);
    got.fails(1, "the best gets 2 of 5");
    assert!(got.out.contains("use       --tools-mode native"), "{}", got.out);
}

#[test]
fn a_call_that_nobody_wanted_is_wrong_and_silence_alone_is_no_way() {
    let mut always = natively();
    let last = always.len() - 1;
    always[last] = calls("c1", "save_note", &json!({"text": "Hamlet"}));
    let report = doctor(&Server::new([always, vec![says("No.")]].concat()), &["--json"]).json();
    assert_eq!(ways(&report)[0].1, 4, "{report:#}");
    assert_eq!(report["ways"][0]["calls"][4]["wrong"], "expected plain words, got a call of save_note");
    // Who never calls is right once, and of no use all the same.
    let report = doctor(&Server::new(vec![says("No.")]), &["--json"]).json();
    assert_eq!((ways(&report)[0].1, &report["use"]), (1, &Value::Null), "{report:#}");
}

#[test]
fn nothing_waits_for_an_answer_that_does_not_come() {
    let server = Server::new(vec![Reply::Silence(words("I will think about "))]);
    let started = Instant::now();
    let got = doctor(&server, &["--timeout", "1"]);
    assert_eq!(got.code, 1, "{got:#?}");
    assert!(got.out.contains("0 of 5  no answer within 1 s"), "{}", got.out);
    assert!(started.elapsed() < Duration::from_secs(60));
}

#[test]
fn what_keeps_it_from_looking_is_said() {
    let locked = About { models: (401, "{}".to_owned()), ..About::default() };
    doctor(&Server::about(locked, vec![]), &[]).fails(41, "wants another key");
    plain(&["doctor", "--base-url", "http://127.0.0.1:1/v1"]).fails(1, "cannot reach the model server");
    let refused = json!({"error": {"message": "bad key", "code": "invalid_api_key"}}).to_string();
    doctor(&Server::new(vec![Reply::Status(401, refused)]), &[]).fails(41, "bad key");
    plain(&["doctor", "--timeout", "0"]).fails(2, "0 is not in 1..");
}

#[test]
fn a_server_that_is_none_or_is_down_is_not_taken_for_the_model() {
    let page = || About { models: (200, "<html>hi</html>".to_owned()), ..About::default() };
    for body in ["<html>hi</html>", ""] {
        let reply = Reply::Header(200, "", body.to_owned());
        let got = doctor(&Server::about(page(), vec![reply]), &[]);
        got.fails(1, "this is no answer of a model server");
        assert!(got.err.contains("Check the address") && !got.err.contains("take another"), "{}", got.err);
    }
    // It asks for more patience than anybody has: one question in each way is enough.
    let down =
        Reply::Header(503, "retry-after: 99999\r\n", "{\"error\": {\"message\": \"down\"}}".to_owned());
    let server = Server::new(vec![down]);
    let got = doctor(&server, &[]);
    got.fails(1, "the model server refused (status 503): down");
    assert_eq!(server.completions().len(), 2, "{}", got.out);
}

#[test]
fn with_many_tools_it_tries_hybrid_mode() {
    let asked = right();
    let called = asked.iter().flat_map(|(name, arguments)| {
        [calls("c0", "request_tools", &json!({"query": name})), calls("c1", name, arguments), says("Done.")]
    });
    let hybrid: Vec<Reply> = called.chain([says("Shakespeare.")]).collect();
    let server = Server::new([vec![says("No."); 10], hybrid].concat());
    let got = doctor(&server, &["--json", "--many-tools"]);
    let report = got.json();
    assert_eq!(got.code, 0, "{got:#?}");
    assert_eq!(ways(&report)[2], ("hybrid".to_owned(), 5), "{report:#}");
    assert_eq!(report["use"]["options"], json!(["--tools-mode", "hybrid"]));
    let requests = server.completions();
    assert_eq!(requests[0].body["tools"].as_array().unwrap().len(), 43);
    let names = |at: usize| requests[at].body["tools"].as_array().unwrap().len();
    assert_eq!((names(10), names(11)), (1, 2));
}
