//! Commands in the background.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::del::{Run, del, directory, run, text};
use crate::server::{Reply, Server, calls, says};
use crate::terminal::Terminal;

/// Does what the script says, with nothing to ask; what was told to the model last.
fn work(script: Vec<Reply>, options: &[&str]) -> (Run, String) {
    let server = Server::new(script);
    let files = directory(&[]);
    let given = ["-p", "Begin.", "--base-url", server.url(), "--sandbox", "off"];
    let got = run(del(&[&given, options].concat()).current_dir(files.path()), "");
    let last = server.completions().pop().unwrap().body["messages"].to_string();
    (got, last)
}

fn command(text: &str) -> Reply {
    calls("c1", "run_command", &json!({"command": text}))
}

fn job(arguments: &Value) -> Reply {
    calls("c2", "job", arguments)
}

#[test]
fn a_model_starts_a_job_waits_for_it_and_reads_it() {
    let script =
        vec![command("echo fin; echo ished &"), job(&json!({"id": 1, "wait": 60})), says("It is done.")];
    let (got, told) = work(script, &["--unsafe"]);
    assert_eq!((got.code, got.out.trim()), (0, "It is done."), "{got:#?}");
    assert!(told.contains("in the background as job 1") && told.contains("fin\\nished"), "{told}");
    assert!(told.contains("exit code 0: echo fin; echo ished; its output: /"), "{told}");
}

/// The names of the tools that a request offers, and what is said of the one that runs commands.
fn offered(server: &Server, request: usize) -> (Vec<String>, String) {
    let tools = server.completions()[request].body["tools"].as_array().unwrap().clone();
    let of = |tool: &Value, key: &str| tool["function"][key].as_str().unwrap().to_owned();
    let runs = tools.iter().find(|tool| of(tool, "name") == "run_command").unwrap();
    (tools.iter().map(|tool| of(tool, "name")).collect(), of(runs, "description"))
}

#[test]
fn a_model_has_the_tool_that_follows_jobs_once_there_is_one() {
    let task = calls("c0", "task", &json!({"description": "d", "prompt": "p", "may_change": true}));
    let script = vec![task, command("true &"), says("Begun."), command("true &"), says("It runs.")];
    let server = Server::new(script);
    let files = directory(&[]);
    let arguments = ["-p", "Begin.", "--base-url", server.url(), "--sandbox", "off", "--unsafe"];
    let got = run(del(&arguments).current_dir(files.path()), "");
    assert_eq!(got.code, 0, "{got:#?}");
    let lists: Vec<(Vec<String>, String)> = (0..5).map(|request| offered(&server, request)).collect();
    // The sub-agent's are the second and the third.
    let has: Vec<bool> = lists.iter().map(|(names, _)| names.iter().any(|name| name == "job")).collect();
    assert_eq!(has, [false, false, true, true, true]);
    assert_eq!(lists[3].0.len(), lists[0].0.len() + 1);
    assert!(lists[3].0.starts_with(&lists[0].0), "the others stay where they were: {:?}", lists[3].0);
    assert!(lists[0].1.contains("ends with `&`"), "{}", lists[0].1);
}

#[test]
fn what_still_runs_ends_with_the_session_and_that_is_said() {
    let (got, _) = work(vec![command("sleep 1000 &"), says("It runs.")], &["--unsafe"]);
    assert_eq!(got.code, 0, "{got:#?}");
    assert!(got.err.contains("ended with the session: job 1, sleep 1000"), "{}", got.err);
    let script = vec![command("sleep 1000 &"), job(&json!({"end": true})), says("It is over.")];
    let (got, told) = work(script, &["--unsafe"]);
    assert!(
        told.contains("ended by request") && !got.err.contains("ended with the session"),
        "{got:#?} {told}"
    );
}

#[cfg(target_os = "linux")]
#[test]
fn a_session_that_is_killed_leaves_nothing_running() {
    let server = Server::new(Vec::new());
    let home = directory(&[]);
    let folder = home.path().to_str().unwrap();
    let arguments = ["--base-url", server.url(), "--color", "never", "--working-dir", folder];
    // Who is killed removes nothing.
    let left = tempfile::tempdir().unwrap();
    let mut terminal = Terminal::with(&home, &arguments, 100, &[("TMPDIR", &text(left.path()))]);
    terminal.until("> ");
    // One of them leaves the session of the command.
    let apart = "setsid sh -c 'echo $$ > apart; echo ready; exec sleep 1000' &";
    terminal.write(&format!("!(echo $$ > here; {apart} sleep 1000) &\r"));
    terminal.until("in the background as job 1");
    let since = Instant::now();
    let waited = |what: &str| assert!(since.elapsed() < Duration::from_secs(60), "{what}");
    let pids = loop {
        let pid =
            |name: &str| std::fs::read_to_string(home.path().join(name)).ok()?.trim().parse::<i32>().ok();
        if let (Some(here), Some(apart)) = (pid("here"), pid("apart")) {
            break [here, apart];
        }
        waited("the job does not start");
        std::thread::sleep(Duration::from_millis(10));
    };
    let runs = |pid: &i32| std::fs::read(format!("/proc/{pid}/cmdline")).is_ok_and(|line| !line.is_empty());
    assert!(pids.iter().all(runs), "{pids:?}");
    terminal.kill();
    while pids.iter().any(runs) {
        waited("it goes on");
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn a_job_needs_the_same_consent_as_any_command() {
    let (got, told) = work(vec![command("touch made &"), says("No.")], &[]);
    assert!(got.code == 0 && told.contains("Denied"), "{told}");
}

#[test]
fn a_job_of_the_models_does_not_hold_up_the_conversation() {
    let server = Server::new(vec![command("sleep 1000 &"), says("It runs.")]);
    let home = directory(&[]);
    let arguments = ["--base-url", server.url(), "--color", "never", "--unsafe"];
    let mut terminal = Terminal::with(&home, &arguments, 100, &[]);
    terminal.until("> ");
    terminal.write("start it\r");
    terminal.until("It runs.");
    terminal.until("> ");
    terminal.write("/jobs\r");
    terminal.until("job 1 runs for");
    terminal.until("> ");
    terminal.write("exit\r");
    let (seen, code) = terminal.end();
    assert!(code == 0 && seen.contains("ended with the session"), "{seen:?}");
}

#[test]
fn the_user_starts_lists_and_ends_jobs() {
    let server = Server::new(vec![says("I see.")]);
    let home = directory(&[]);
    let folder = home.path().to_str().unwrap();
    let arguments = ["--base-url", server.url(), "--color", "never", "--working-dir", folder];
    let mut terminal = Terminal::with(&home, &arguments, 100, &[]);
    terminal.until("> ");
    for (keys, says) in [
        ("!echo going; sleep 1000 &\r", "runs in the background as job 1"),
        ("/jobs 1\r", "job 1 runs for"),
        ("/jobs\r", "echo going; sleep 1000"),
        ("/jobs end 1\r", "ended by request"),
        ("/jobs end 1\r", "job 1 is over already"),
        ("/jobs 7\r", "expected the number of a job"),
        ("What of it?\r", "I see."),
    ] {
        terminal.write(keys);
        terminal.until(says);
        terminal.until("> ");
    }
    assert_eq!(offered(&server, 0).0.last().unwrap(), "job");
    let asked = server.completions()[0].body["messages"].to_string();
    assert!(asked.contains("[job 1 is over after") && asked.contains("ended by request"), "{asked}");
}
