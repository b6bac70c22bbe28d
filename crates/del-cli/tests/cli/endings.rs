//! How a task ends where nobody can be asked, and where nothing is answered; and what comes of an answer before its end.

use std::io::Read;
use std::process::Stdio;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::del::{Run, del, directory, run, text};
use crate::server::{Reply, Server, calls, says, thinks, words};
use crate::terminal::Terminal;

fn task(files: &TempDir, server: &Server, options: &[&str]) -> Run {
    let arguments = [&["-p", "Do it.", "--base-url", server.url()], options].concat();
    run(del(&arguments).current_dir(files.path()), "")
}

fn touch(id: &str) -> Reply {
    calls(id, "run_command", &json!({"command": "touch made"}))
}

/// The lines that give advice.
fn advice(got: &Run) -> Vec<&str> {
    got.err.lines().filter(|line| line.contains("nobody is there to ask: ")).collect()
}

#[test]
fn what_was_denied_as_nobody_is_there_says_once_how_it_could_run() {
    let files = directory(&[("a.txt", "x\n")]);
    let write = calls("c2", "write_file", &json!({"file_path": "a.txt", "content": "y"}));
    let server = Server::new(vec![touch("c1"), says("No."), touch("c1"), write, says("No.")]);
    let got = task(&files, &server, &[]);
    let said = "del: 1 call was denied, as nobody is there to ask: `--allow-tool 'run_command(touch:*)'` lets what is like \
        that run, --unsafe anything";
    assert_eq!((got.code, advice(&got)), (0, vec![said]), "{got:#?}");
    let got = task(&files, &server, &["--output-format", "json"]);
    assert_eq!(got.json()["result"], "No.", "{got:#?}");
    let [said] = advice(&got)[..] else { panic!("expected one line: {got:#?}") };
    for part in ["2 calls were denied", "'run_command(touch:*)'", "'write_file(a.txt)'"] {
        assert!(said.contains(part), "{part}: {said}");
    }
    // The advice is right.
    let server = Server::new(vec![touch("c1"), says("Yes.")]);
    let got = task(&files, &server, &["--allow-tool", "run_command(touch:*)"]);
    assert_eq!((advice(&got).len(), files.path().join("made").exists()), (0, true), "{got:#?}");
}

#[test]
fn calls_by_hand_are_told_of_their_own_option() {
    let files = directory(&[]);
    let call = r#"<tool_call>{"name": "run_command", "arguments": {"command": "touch made"}}</tool_call>"#;
    let got = run(del(&["exec"]).current_dir(files.path()), call);
    assert_eq!((got.code, advice(&got).len()), (1, 1), "{got:#?}");
    assert!(advice(&got)[0].ends_with("lets what is like that run, --yes anything"), "{got:#?}");
    // Reading needs nobody, and what a rule forbids is not helped by a yes.
    let denied = run(del(&["exec", "--deny-tool", "run_command"]).current_dir(files.path()), call);
    assert_eq!((denied.code, advice(&denied).len()), (1, 0), "{denied:#?}");
}

#[test]
fn an_empty_answer_is_a_failure_unless_something_was_done() {
    let files = directory(&[("a.txt", "x\n")]);
    let read = || calls("c1", "read_file", &json!({"file_path": "a.txt"}));
    for empty in [says(""), says("\n \n"), thinks("Hm.", "")] {
        let server = Server::new(vec![empty]);
        let got = task(&files, &server, &[]);
        got.fails(1, "there is no answer");
        assert_eq!(got.out, "", "{got:#?}");
    }
    let server = Server::new(vec![says(""), read(), says("")]);
    let got = task(&files, &server, &["--output-format", "json"]);
    assert_eq!((got.code, &got.json()["is_error"]), (1, &Value::Bool(true)), "{got:#?}");
    let got = task(&files, &server, &[]);
    assert_eq!((got.code, got.out.as_str()), (0, ""), "{got:#?}");
    assert!(got.err.contains("the model answered nothing"), "{got:#?}");
}

#[test]
fn what_a_server_sets_apart_as_thinking_stands_apart_in_the_raw_text() {
    let files = directory(&[]);
    let server = Server::new(vec![thinks("It is easy.", "Four.")]);
    let got = task(&files, &server, &["--debug", "--color", "never"]);
    assert_eq!((got.code, got.out.as_str()), (0, "Four.\n"), "{got:#?}");
    assert!(got.err.contains("✻ It is easy.\n│ Four.\n"), "{got:#?}");
}

#[test]
fn no_directory_is_left_behind_whichever_way_it_ends() {
    let files = directory(&[("a.txt", "x\n")]);
    let place = tempfile::tempdir().unwrap();
    let variables = [("TMPDIR", text(place.path()))];
    let variables = variables.each_ref().map(|(name, value)| (*name, value.as_str()));
    let left = || std::fs::read_dir(place.path()).unwrap().count();
    let server = Server::new(vec![Reply::Silence(words("Let me "))]);
    let arguments = ["--base-url", server.url(), "--color", "never"];
    let open = || {
        let mut terminal = Terminal::with(&files, &arguments, 80, &variables);
        terminal.until("`exit` ends");
        terminal.until("> ");
        assert!(left() > 0, "there is something to be left");
        terminal
    };
    let mut terminal = open();
    terminal.write("exit\r");
    assert_eq!((terminal.end().1, left()), (0, 0));
    open().hang_up();
    assert_eq!(left(), 0, "the window was closed");

    let mut busy = del(&["-p", "Do it.", "--base-url", server.url()]);
    busy.current_dir(files.path()).env("TMPDIR", place.path()).stdin(Stdio::null()).stderr(Stdio::null());
    let mut child = busy.spawn().unwrap();
    while server.completions().is_empty() {
        std::thread::yield_now();
    }
    kill_process(Pid::from_child(&child), Signal::TERM).unwrap();
    child.wait().unwrap();
    assert_eq!(left(), 0, "it was told to end");
}

#[test]
fn an_answer_that_no_call_can_follow_comes_as_it_is_written() {
    let server = Server::new(vec![Reply::Silence(words("Once upon a\r\ntime \u{1b}[2J and "))]);
    for (options, told) in [
        (&["--tools", "none"][..], "Once upon a\r\ntime ␛[2J and"),
        (&["--tools", "none", "--raw"], "Once upon a\r\ntime \u{1b}[2J and"),
    ] {
        let mut command = del(&[&["-p", "Tell.", "--base-url", server.url()], options].concat());
        let mut child =
            command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut out = vec![0; told.len()];
        // It would wait for ever for an answer that is kept until its end.
        child.stdout.as_mut().unwrap().read_exact(&mut out).unwrap();
        assert_eq!(String::from_utf8_lossy(&out), told);
        child.kill().unwrap();
        child.wait().unwrap();
    }
    let server = Server::new(vec![Reply::HangUp(words("Half an "))]);
    let got = task(&directory(&[]), &server, &["--tools", "none"]);
    assert_eq!((got.code, got.out.as_str()), (1, "Half an\n"), "{got:#?}");
    let server = Server::new(vec![says("  All of it.\n\n")]);
    let got = task(&directory(&[]), &server, &["--tools", "none", "-S"]);
    assert_eq!((got.code, got.out.as_str()), (0, "All of it.\n"), "{got:#?}");
}
