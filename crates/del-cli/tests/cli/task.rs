//! `del -p` with a scripted server.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::del::{Run, del, directory, run};
use crate::server::{About, Reply, Server, calls, says, words};

pub(crate) fn task(server: &Server, options: &[&str]) -> Command {
    let mut all = vec!["-p", "What is in a.txt?", "--base-url", server.url()];
    all.extend(options);
    del(&all)
}

pub(crate) fn files() -> tempfile::TempDir {
    directory(&[("a.txt", "forty-two\n")])
}

pub(crate) fn run_in(directory: &tempfile::TempDir, mut command: Command) -> Run {
    run(command.current_dir(directory.path()), "")
}

const TEXT_CALL: &str = "I look.\n<tool_call>\n{\"name\": \"read_file\", \"arguments\": {\"file_path\": \"a.txt\"}}\n</tool_call>";

#[test]
fn a_native_call_runs_and_its_result_goes_back() {
    let files = files();
    let server = Server::new(vec![
        calls("c1", "read_file", &json!({"file_path": "a.txt"})),
        says("It says forty-two."),
    ]);
    let got = run_in(&files, task(&server, &[]));
    assert_eq!((got.code, got.out.as_str()), (0, "It says forty-two.\n"), "{got:#?}");
    assert!(got.err.contains("● read_file(file_path: \"a.txt\")"), "{got:#?}");
    assert!(got.err.contains("⎿ 1  forty-two"), "{got:#?}");
    assert!(!got.err.contains("! "), "nothing was tried again: {got:#?}");
    let requests = server.completions();
    assert_eq!(requests.len(), 2);
    assert_eq!(requests[0].body["model"], "scripted");
    assert_eq!(requests[0].body["tools"].as_array().unwrap().len(), 8, "the core set and `task`");
    let messages = requests[1].body["messages"].as_array().unwrap();
    let last = messages.last().unwrap();
    assert_eq!((&last["role"], &last["tool_call_id"]), (&json!("tool"), &json!("c1")));
    assert_eq!(last["content"], "     1\tforty-two");
}

#[test]
fn standard_input_that_is_left_open_is_told_of() {
    let server = Server::new(vec![says("Four.")]);
    let mut command = task(&server, &[]);
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut told = String::new();
    BufReader::new(child.stderr.take().unwrap()).read_line(&mut told).unwrap();
    assert!(told.starts_with("del: waiting for standard input to end"), "{told}");
    drop(child.stdin.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout), "Four.\n");
}

#[test]
fn a_call_with_guessed_arguments_is_told_to_the_model_and_not_run() {
    const CUT: &str = "<tool_call>\n<function=write_file>\n<parameter=file_path>\na.txt\n</parameter>\n\
         <parameter=content>\nHow to\n</function>\n</tool_call>";
    let files = files();
    let server = Server::new(vec![says(CUT), says("I could not.")]);
    let got = run_in(&files, task(&server, &["--unsafe"]));
    assert_eq!((got.code, got.out.as_str()), (0, "I could not.\n"), "{got:#?}");
    let told = &server.completions()[1].body["messages"];
    let last = told.as_array().unwrap().last().unwrap()["content"].as_str().unwrap();
    assert!(last.contains("where a value ends is a guess. Write the call again, whole."), "{last}");
    assert_eq!(std::fs::read_to_string(files.path().join("a.txt")).unwrap(), "forty-two\n");
}

#[test]
fn a_call_as_text_runs_in_prompt_mode() {
    let files = files();
    let server = Server::new(vec![says(TEXT_CALL), says("Forty-two.")]);
    let options = ["--tools-mode", "prompt", "--dialect", "hermes", "--tools", "read_file,list_directory"];
    let got = run_in(&files, task(&server, &options));
    assert_eq!((got.code, got.out.as_str()), (0, "Forty-two.\n"), "{got:#?}");
    assert!(got.err.contains("I look.\n● read_file"), "{got:#?}");
    let requests = server.completions();
    assert_eq!(requests[0].body.get("tools"), None);
    let system = requests[0].body["messages"][0]["content"].as_str().unwrap();
    assert!(system.contains("<tool_call>") && system.contains("list_directory"), "{system}");
    assert!(!system.contains("run_command"), "{system}");
    let last = requests[1].body["messages"].as_array().unwrap().last().unwrap().clone();
    assert!(last["content"].as_str().unwrap().contains("<tool_response>\n     1\tforty-two"), "{last}");
}

#[test]
fn a_server_that_takes_no_tools_gets_them_in_the_prompt() {
    let files = files();
    let refusal = json!({"error": {"message": "scripted does not support tools"}}).to_string();
    let server = Server::new(vec![Reply::Status(400, refusal), says(TEXT_CALL), says("Forty-two.")]);
    let got = run_in(&files, task(&server, &[]));
    assert_eq!((got.code, got.out.as_str()), (0, "Forty-two.\n"), "{got:#?}");
    assert!(got.err.contains("! tools go into the prompt from now on"), "{got:#?}");
    assert_eq!(server.completions()[1].body.get("tools"), None);
}

#[test]
fn a_llama_server_whose_template_takes_no_tools_gets_them_in_the_prompt_at_once() {
    let files = files();
    let models = json!({"data": [{"id": "small", "owned_by": "llamacpp"}]}).to_string();
    let props = json!({"chat_template_caps": {"supports_tools": false, "supports_tool_calls": false},
        "default_generation_settings": {"n_ctx": 4096}});
    let about = About { models: (200, models), props: Some(props), ..About::default() };
    let server = Server::about(about, vec![says(TEXT_CALL), says("Forty-two.")]);
    let got = run_in(&files, task(&server, &[]));
    assert_eq!((got.code, got.out.as_str()), (0, "Forty-two.\n"), "{got:#?}");
    assert_eq!(server.completions()[0].body.get("tools"), None);
    assert_eq!(server.completions()[0].body["model"], "small");
}

#[test]
fn debug_shows_the_raw_text_and_which_dialect_matched_where() {
    let files = files();
    let raw = TEXT_CALL.replace("I look.", "I \u{1b}[2Jlook.");
    let server = Server::new(vec![says(&raw), says("Forty-two.")]);
    let got = run_in(&files, task(&server, &["--tools-mode", "prompt", "--debug"]));
    assert_eq!((got.code, got.out.as_str()), (0, "Forty-two.\n"), "{got:#?}");
    assert!(got.err.contains("│ I ␛[2Jlook.\n│ <tool_call>\n│ {\"name\": \"read_file\""), "{got:#?}");
    assert!(got.err.contains("hermes-json matched at byte "), "{got:#?}");
    let near = got.err.lines().find(|line| line.starts_with("debug: came near")).unwrap_or_default();
    assert!(near.contains(" (a call of read_file)") && !near.contains("hermes-json"), "{got:#?}");
    assert!(!near.contains("functionary"), "{got:#?}");
    assert!(got.err.contains("dialects came near: all of it is text"), "{got:#?}");
    assert!(!got.err.contains('\u{1b}'), "{got:#?}");
}

#[test]
fn events_are_lines_of_json_and_the_last_one_is_the_result() {
    let files = files();
    let server = Server::new(vec![
        calls("c1", "read_file", &json!({"file_path": "a.txt"})),
        says("It says forty-two."),
    ]);
    let got = run_in(&files, task(&server, &["--output-format", "stream-json", "--no-session"]));
    assert_eq!((got.code, got.err.as_str()), (0, ""), "{got:#?}");
    let lines = got.lines();
    let of = |kind: &str| lines.iter().filter(|line| line["type"] == kind).collect::<Vec<&Value>>();
    assert_eq!((&lines[0]["type"], &lines[0]["model"]), (&json!("init"), &json!("scripted")));
    let call = of("tool_use")[0];
    assert_eq!(
        *call,
        json!({"type": "tool_use", "id": "c1", "name": "read_file", "arguments": {"file_path": "a.txt"}})
    );
    let result = of("tool_result")[0];
    assert_eq!(*result, json!({"type": "tool_result", "id": "c1", "ok": true, "text": "     1\tforty-two"}));
    let said: String = of("message")
        .iter()
        .filter(|line| line["role"] == "assistant")
        .map(|line| line["content"].as_str().unwrap())
        .collect();
    assert_eq!(said, "It says forty-two.");
    let last = lines.last().unwrap();
    assert_eq!((&last["type"], &last["result"]), (&json!("result"), &json!("It says forty-two.")));
    assert_eq!((&last["is_error"], &last["num_turns"]), (&json!(false), &json!(2)));
    assert_eq!(last["usage"], json!({"input_tokens": 200, "output_tokens": 14}));
    assert_eq!(last["session_id"], lines[0]["session_id"]);
}

#[test]
fn a_script_of_thirty_lines_can_follow_a_task() {
    let files = files();
    let server = Server::new(vec![
        calls("c1", "read_file", &json!({"file_path": "a.txt"})),
        calls("c2", "read_file", &json!({"file_path": "b.txt"})),
        says("It says forty-two."),
    ]);
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scripts/follow.py");
    let own = env!("CARGO_BIN_EXE_del");
    let mut command = Command::new("python3");
    command.args([script, own, "What is in a.txt?", "--base-url", server.url()]).env("HOME", files.path());
    let got = run_in(&files, command);
    assert_eq!(got.code, 0, "{got:#?}");
    for said in [
        "calls read_file with {\"file_path\": \"a.txt\"} (c1)\ndone (c1):      1\tforty-two\n",
        "failed (c2): Error: ",
        "It says forty-two.\nends after 3 turns and 300 + 21 tokens\n",
    ] {
        assert!(got.out.contains(said), "{said}: {got:#?}");
    }
    let mut command = Command::new("python3");
    command.args([script, own, "x", "--base-url", "http://127.0.0.1:9/v1"]).env("HOME", files.path());
    let got = run_in(&files, command);
    assert_eq!(got.code, 1, "{got:#?}");
    assert!(got.out.contains("error: cannot reach the model server"), "{got:#?}");
}

#[test]
fn json_is_the_last_line_alone_also_of_a_failure() {
    let files = files();
    let got = run_in(&files, task(&Server::new(vec![says("Hello.")]), &["--output-format", "json"]));
    assert_eq!((got.code, got.out.lines().count()), (0, 1), "{got:#?}");
    assert_eq!(got.json()["result"], "Hello.");
    let server = Server::new(vec![Reply::Status(404, "{\"error\": {\"message\": \"no model\"}}".into())]);
    let got = run_in(&files, task(&server, &["--output-format", "json"]));
    got.fails(1, "no model");
    assert_eq!(got.json()["is_error"], true);
    let down = ["-p", "x", "--base-url", "http://127.0.0.1:9/v1", "--output-format", "stream-json"];
    let got = run(&mut del(&down), "");
    got.fails(1, "cannot reach the model server");
    let kinds: Vec<String> = got.lines().iter().map(|line| line["type"].to_string()).collect();
    assert_eq!(kinds, ["\"error\"", "\"result\""]);
}

#[test]
fn what_is_piped_in_is_added_to_the_prompt() {
    let server = Server::new(vec![says("ok")]);
    let got = run(&mut task(&server, &[]), "some\ninput\n");
    assert_eq!(got.code, 0, "{got:#?}");
    let messages = server.completions()[0].body["messages"].clone();
    assert_eq!(messages[1], json!({"role": "user", "content": "What is in a.txt?\n\nsome\ninput"}));
    let only = Server::new(vec![says("ok")]);
    assert_eq!(run(&mut del(&["--base-url", only.url(), "-p"]), "alone").code, 0);
    assert_eq!(only.completions()[0].body["messages"][1]["content"], "alone");
    run(&mut del(&["--base-url", only.url(), "-p"]), "\n").fails(42, "expected a prompt");
}

#[test]
fn who_calls_an_unknown_tool_is_told_of_all_that_there_are() {
    let server = Server::new(vec![calls("c1", "delegate", &json!({})), says("Then not.")]);
    assert_eq!(run_in(&files(), task(&server, &[])).code, 0);
    let (offered, told) = (&server.completions()[0].body["tools"], &server.completions()[1].body["messages"]);
    let told = told.as_array().unwrap().last().unwrap()["content"].as_str().unwrap().to_owned();
    let names: Vec<&str> =
        offered.as_array().unwrap().iter().map(|tool| tool["function"]["name"].as_str().unwrap()).collect();
    assert!(names.contains(&"task") && told.ends_with(&names.join(", ")), "{told}");
}

#[test]
fn what_needs_consent_is_denied_and_the_model_is_told() {
    let files = files();
    let write = json!({"file_path": "b.txt", "content": "x"});
    let script = || vec![calls("c1", "write_file", &write), says("I may not.")];
    let server = Server::new(script());
    let got = run_in(&files, task(&server, &[]));
    assert_eq!((got.code, got.out.as_str()), (0, "I may not.\n"), "{got:#?}");
    assert!(got.err.contains("⎿ Denied: needs approval"), "{got:#?}");
    assert!(got.err.contains("\n    1 +x\n"), "what it would have written is shown: {got:#?}");
    assert!(!files.path().join("b.txt").exists());
    let messages = server.completions()[1].body["messages"].clone();
    let told = messages.as_array().unwrap().last().unwrap()["content"].as_str().unwrap().to_owned();
    assert!(told.starts_with("Denied: "), "{told}");
    let got = run_in(&files, task(&Server::new(script()), &["--approval-mode", "auto-edit"]));
    assert_eq!(got.code, 0, "{got:#?}");
    assert!(got.err.contains("b.txt +1 -0"), "{got:#?}");
    assert_eq!(std::fs::read_to_string(files.path().join("b.txt")).unwrap(), "x");
}

#[test]
fn a_turn_limit_ends_a_run_that_does_not_end() {
    let files = files();
    let read = |n: u32| calls(&format!("c{n}"), "read_file", &json!({"file_path": "a.txt", "offset": n}));
    let server = Server::new(vec![read(1), read(2), read(3), read(4)]);
    let got = run_in(&files, task(&server, &["--max-turns", "2"]));
    got.fails(53, "no answer within the limit of turns (2)");
    assert_eq!(server.completions().len(), 2);
}

#[test]
fn answers_cannot_act_on_what_is_beside_them() {
    let files = files();
    let server = Server::new(vec![
        calls("c1", "read_file", &json!({"file_path": "\u{1b}]52;c;aGk=\u{7}"})),
        says("done"),
    ]);
    let got = run_in(&files, task(&server, &["--color", "always"]));
    let without_colours = got.err.replace("\u{1b}[", "");
    assert!(!without_colours.contains(['\u{1b}', '\u{7}']), "{got:#?}");
    let message = json!({"error": {"message": "line one\nline \u{1b}]0;two\u{7}"}}).to_string();
    let server = Server::new(vec![Reply::Status(400, message)]);
    let got = run_in(&files, task(&server, &["--no-session"]));
    got.fails(1, "line one line ␛]0;two␇");
    assert_eq!(got.err.lines().count(), 1, "{got:#?}");
    // A terminal may stand behind a pipe.
    let answer = "\u{1b}]52;c;aGk=\u{7}red\u{9b}31m\r\n\tgröße \u{feff}end";
    let server = Server::new(vec![says(answer)]);
    let got = run_in(&files, task(&server, &[]));
    assert_eq!(got.out, "␛]52;c;aGk=␇red\\u{9b}31m\r\n\tgröße \u{feff}end\n", "{got:#?}");
    let got = run_in(&files, task(&server, &["--raw"]));
    assert_eq!(got.out, format!("{answer}\n"), "{got:#?}");
    let got = run_in(&files, task(&server, &["--output-format", "json"]));
    assert_eq!(got.json()["result"], answer, "{got:#?}");
}

#[test]
fn ctrl_c_ends_a_tool_and_everything_that_it_started() {
    let files = files();
    let command = "sleep 1000 & echo $! > child; echo $$ > shell; wait";
    let server = Server::new(vec![calls("c1", "run_command", &json!({"command": command}))]);
    let mut child = task(&server, &["--unsafe"])
        .current_dir(files.path())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let pids = ["child", "shell"].map(|name| {
        loop {
            let pid = std::fs::read_to_string(files.path().join(name)).unwrap_or_default();
            if pid.ends_with('\n') {
                break pid.trim().to_owned();
            }
            assert_eq!(child.try_wait().unwrap(), None);
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
    });
    let pid = child.id().to_string();
    assert!(Command::new("kill").args(["-INT", &pid]).status().unwrap().success());
    assert_eq!(child.wait().unwrap().code(), Some(130));
    for pid in pids {
        let state = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        let gone = state.is_empty() || state.rsplit(") ").next().unwrap().starts_with('Z');
        assert!(gone, "{state}");
    }
}

#[test]
fn ctrl_c_ends_a_run_that_waits_for_its_server() {
    let server = Server::new(vec![Reply::Silence(words("<think> so this is what "))]);
    let mut child = task(&server, &[])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // Once its thinking shows, it waits for more.
    let mut err = BufReader::new(child.stderr.take().unwrap());
    let mut seen = Vec::new();
    while !String::from_utf8_lossy(&seen).contains("what") {
        let bytes = err.fill_buf().unwrap().to_vec();
        assert!(!bytes.is_empty(), "{}", String::from_utf8_lossy(&seen));
        err.consume(bytes.len());
        seen.extend(bytes);
    }
    let pid = child.id().to_string();
    assert!(Command::new("kill").args(["-INT", &pid]).status().unwrap().success());
    assert_eq!(child.wait().unwrap().code(), Some(130));
}
#[test]
fn answers_come_whole_where_that_is_wanted() {
    let files = files();
    let whole = json!({"choices": [{"message": {"role": "assistant", "content": "Forty-two."}, "finish_reason": "stop"}]});
    let server = Server::new(vec![Reply::Status(200, whole.to_string())]);
    let got = run_in(&files, task(&server, &["--no-stream"]));
    assert_eq!((got.code, got.out.as_str()), (0, "Forty-two.\n"), "{got:#?}");
    assert_eq!(server.completions()[0].body.get("stream"), None);
}

#[test]
fn the_model_is_told_which_files_there_are() {
    let files = directory(&[("a.txt", "x\n"), ("src/main.rs", "fn main() {}\n"), (".env", "KEY=1\n")]);
    let server = Server::new(vec![says("Yes.")]);
    assert_eq!(run_in(&files, task(&server, &[])).code, 0);
    let system = server.completions()[0].body["messages"][0]["content"].to_string();
    assert!(system.contains("In it: a.txt, src/main.rs. The system is"), "{system}");
}

#[test]
fn instructions_are_replaced_and_added_to() {
    let files = files();
    let server = Server::new(vec![says("Yes.")]);
    let options = ["--system", "You are a clerk.", "--append-system", "Be short."];
    assert_eq!(run_in(&files, task(&server, &options)).code, 0);
    let system = server.completions()[0].body["messages"][0]["content"].as_str().unwrap().to_owned();
    assert!(system.starts_with("You are a clerk.") && system.ends_with("Be short."), "{system}");
    assert!(!system.contains("You are Del"), "{system}");
}

#[test]
fn without_tools_the_model_is_offered_none_and_told_so() {
    let server = Server::new(vec![says("Hello.")]);
    let arguments = |tools| ["-p", "hi", "--tools", tools, "--base-url", server.url()];
    let got = run(&mut del(&arguments("none")), "");
    assert_eq!((got.code, got.out.as_str()), (0, "Hello.\n"), "{got:#?}");
    let body = &server.completions()[0].body;
    assert!(body.get("tools").is_none() && body.get("tool_choice").is_none(), "{body}");
    let system = body["messages"][0]["content"].as_str().unwrap();
    assert!(system.contains("You have no tools here") && !system.contains("read files"), "{system}");
    run(&mut del(&arguments("none,read_file")), "").fails(2, "unknown tool 'none'");
}

#[test]
fn a_result_says_why_the_answer_ended_and_what_was_denied() {
    let files = directory(&[]);
    let cut = json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "length"}]});
    let half = words("It begins ").into_iter().chain([cut]).collect();
    let server = Server::new(vec![
        calls("c1", "run_command", &json!({"command": "touch a.txt"})),
        Reply::Stream(half),
        says("All."),
    ]);
    let got = run_in(&files, task(&server, &["--json"])).json();
    assert_eq!((&got["stop_reason"], &got["denied"]), (&json!("length"), &json!(1)), "{got}");
    let got = run_in(&files, task(&server, &["--json"])).json();
    assert_eq!((&got["stop_reason"], &got["denied"]), (&json!("end"), &json!(0)), "{got}");
    let got = run_in(&files, del(&["-p", "", "--json", "--base-url", server.url()]));
    assert_eq!((got.code, &got.json()["is_error"]), (42, &json!(true)), "{got:#?}");
}
