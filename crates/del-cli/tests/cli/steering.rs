//! What is said to the model while it works: it gets that with the next results.

use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::assistant::{end, start};
use crate::del::{del, directory, run, text};
use crate::server::{Reply, Server, calls, says};
use crate::terminal::Terminal;

fn reads(id: &str) -> Reply {
    calls(id, "read_file", &json!({"file_path": "a.txt"}))
}

/// The messages of each request.
fn told(server: &Server) -> Vec<Vec<Value>> {
    server.completions().iter().map(|seen| seen.body["messages"].as_array().unwrap().clone()).collect()
}

/// What `del sessions` says, in the same home.
fn sessions(files: &TempDir, arguments: &[&str]) -> String {
    let mut command = del(&[&["sessions"], arguments].concat());
    run(command.current_dir(files.path()).env("HOME", files.path()), "").out
}

#[test]
fn it_goes_along_with_the_next_results_and_moves_up_to_them() {
    let files = directory(&[("a.txt", "forty-two\n"), ("b.txt", "six\n")]);
    let server = Server::new(vec![reads("c1"), says("Only the head then.")]);
    let mut terminal = start(&files, &server, &[]);
    let held = server.hold();
    terminal.write("read it\r");
    terminal.until("reading the prompt");
    terminal.write("only the head\rsee @b.txt\rand a dra");
    terminal.until("2 questions wait");
    drop(held);
    terminal.until("⎿");
    terminal.until("> only the head\r\n");
    terminal.until("> see @b.txt\r\n");
    terminal.until("attached b.txt");
    let between = terminal.until("Only the head then.");
    assert!(!between.contains("wait"), "{between:?}");
    // What was not sent stands in the line.
    terminal.until("scripted · safe");
    terminal.until("> and a dra");
    // What was given can be had again, as any question.
    terminal.write("\u{15}\u{1b}[A\u{1b}[A");
    terminal.until("only the head");
    terminal.write("\u{15}");
    terminal.until("> ");
    end(terminal);
    let told = told(&server);
    assert_eq!(told.len(), 2, "{told:#?}");
    assert_eq!((&told[1][3]["role"], told[1].len()), (&json!("tool"), 5));
    let said = told[1][4]["content"].as_str().unwrap();
    assert!(said.starts_with("only the head\n\nsee @b.txt\n\nThe file b.txt:\n     1\tsix"), "{said}");

    let listed: Value = serde_json::from_str(&sessions(&files, &["list", "--json"])).unwrap();
    let shown = sessions(&files, &["show", "--color", "never", listed[0]["id"].as_str().unwrap()]);
    let places = ["> read it", "forty-two", "> only the head", "Only the head then."];
    let found: Vec<_> = places.iter().map(|place| shown.find(place)).collect();
    assert!(found.iter().all(Option::is_some) && found.is_sorted(), "{found:?} {shown}");
}

#[test]
fn a_conversation_that_goes_on_has_it_where_it_was() {
    let files = directory(&[("a.txt", "forty-two\n")]);
    let server = Server::new(vec![reads("c1"), says("Read."), says("Again.")]);
    let mut terminal = start(&files, &server, &[]);
    let held = server.hold();
    terminal.write("read it\r");
    terminal.until("reading the prompt");
    terminal.write("be brief\r");
    terminal.until("1 question waits");
    drop(held);
    terminal.until("Read.");
    end(terminal);
    let mut terminal = Terminal::with(&files, &["--base-url", server.url(), "-c"], 100, &[]);
    terminal.until("the last question:");
    terminal.until("> read it");
    terminal.until("> be brief");
    terminal.until("Read.");
    terminal.until("> ");
    terminal.write("and now?\r");
    terminal.until("Again.");
    end(terminal);
    let told = told(&server);
    assert_eq!(told[2][..5], told[1][..5]);
    assert_eq!((&told[2][4]["content"], &told[2][6]["content"]), (&json!("be brief"), &json!("and now?")));
}

#[test]
fn where_the_work_stopped_it_is_shown_behind_the_results_again() {
    let files = directory(&[("a.txt", "forty-two\n")]);
    let server = Server::new(vec![reads("c1"), Reply::Silence(Vec::new())]);
    let mut terminal = start(&files, &server, &[]);
    let held = server.hold();
    terminal.write("read it\r");
    terminal.until("reading the prompt");
    terminal.write("be brief\r");
    terminal.until("1 question waits");
    drop(held);
    terminal.until("> be brief\r\n");
    terminal.until("reading the prompt");
    terminal.write("\u{1b}");
    terminal.until("cancelled");
    end(terminal);
    let mut terminal = Terminal::with(&files, &["--base-url", server.url(), "-c"], 100, &[]);
    terminal.until("the last question:");
    terminal.until("> read it");
    terminal.until("forty-two");
    terminal.until("> be brief");
    end(terminal);
}

#[test]
fn commands_wait_for_the_end_and_so_does_what_stands_behind_them() {
    let files = directory(&[("a.txt", "forty-two\n"), (".config/del/commands/hail.md", "Say hello.")]);
    let script = [reads("c1"), reads("c2"), says("Read."), reads("c3"), says("Hello."), says("Last.")];
    let server = Server::new(script.to_vec());
    let mut terminal = start(&files, &server, &[]);
    let held = server.hold();
    terminal.write("read it\r");
    terminal.until("reading the prompt");
    terminal.write("twice\r!touch own.txt\rlast\rand quickly\r/hail\r");
    terminal.until("5 questions wait");
    drop(held);
    terminal.until("> twice\r\n");
    let worked = terminal.until("Read.");
    assert!(!worked.contains("> !touch") && !worked.contains("> last"), "{worked:?}");
    terminal.until("> !touch own.txt");
    terminal.until("> last");
    // What waits longer than a turn is as good in the next.
    terminal.until("> and quickly");
    terminal.until("Hello.");
    terminal.until("> /hail");
    terminal.until("Last.");
    end(terminal);
    assert!(files.path().join("own.txt").exists());
    let told = told(&server);
    assert_eq!(told.len(), 6, "{told:#?}");
    let last = |request: usize| told[request].last().unwrap()["content"].as_str().unwrap();
    assert_eq!((last(1), last(4), last(5)), ("twice", "and quickly", "Say hello."));
}

#[test]
fn what_waits_when_the_user_stops_is_not_given() {
    let files = directory(&[]);
    let sleeps = calls("c1", "run_command", &json!({"command": "sleep 60"}));
    let server = Server::new(vec![sleeps, says("Right.")]);
    let mut terminal = start(&files, &server, &["--unsafe"]);
    terminal.write("wait\r");
    terminal.until("running `sleep 60`");
    terminal.write("no longer\r");
    terminal.until("1 question waits");
    terminal.write("\u{1b}");
    terminal.until("cancelled");
    terminal.until("> no longer");
    terminal.write("\r");
    terminal.until("Right.");
    end(terminal);
    let told = told(&server);
    let roles: Vec<&Value> = told[1].iter().map(|message| &message["role"]).collect();
    assert_eq!(roles, ["system", "user", "assistant", "tool", "user"]);
    assert_eq!(told[1][4]["content"], "no longer");
}

#[test]
fn a_hook_hears_of_it_and_can_keep_it_from_the_model() {
    let files = hooked(HOOK);
    let server = Server::new(vec![reads("c1"), says("Read.")]);
    let mut terminal = start(&files, &server, &[]);
    let held = server.hold();
    terminal.write("read it\r");
    terminal.until("reading the prompt");
    terminal.write("the password is x\rquickly\r");
    terminal.until("2 questions wait");
    drop(held);
    terminal.until("the model is not told this: a hook does not let this be asked");
    terminal.until("Read.");
    end(terminal);
    assert_eq!(told(&server)[1][4]["content"], "quickly");
}

#[test]
fn what_a_hook_still_looks_at_when_the_user_stops_is_not_given_and_waits_in_the_line() {
    let files = hooked(SLOW_HOOK);
    let server = Server::new(vec![reads("c1"), says("Read.")]);
    let mut terminal = start(&files, &server, &[]);
    terminal.write("the password is x\r");
    until_there(&files.path().join("looks"));
    terminal.write("\u{1b}");
    terminal.until("cancelled");
    terminal.until("> the password is x");
    assert_eq!(server.completions().len(), 0);
    std::fs::remove_file(files.path().join("looks")).unwrap();

    terminal.write("\u{15}read it\r");
    let held = server.hold();
    terminal.until("reading the prompt");
    terminal.write("quickly\rwith the password y\rand more\r");
    terminal.until("3 questions wait");
    drop(held);
    until_there(&files.path().join("looks"));
    terminal.write("\u{1b}");
    terminal.until("cancelled");
    terminal.until("1 more that waited");
    terminal.until("> with the password y");
    terminal.write("\u{15}\r");
    terminal.until("> and more");
    terminal.write("\r");
    terminal.until("Read.");
    end(terminal);
    let told = told(&server);
    assert_eq!((told.len(), &told[1][4]["content"]), (2, &json!("quickly\n\nand more")));
}

/// Waits until the file is there.
fn until_there(path: &Path) {
    let began = Instant::now();
    while !path.exists() {
        assert!(began.elapsed() < Duration::from_secs(60), "no {}", path.display());
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// A directory with a file to read, in which this script hears of each question.
fn hooked(script: &str) -> TempDir {
    let files = directory(&[("a.txt", "forty-two\n"), ("hook.sh", script)]);
    let hook = format!("sh '{}'", text(&files.path().join("hook.sh")));
    let config = format!("[[hooks.UserPromptSubmit]]\ncommand = {hook:?}\n");
    let folder = files.path().join(".config/del");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("config.toml"), config).unwrap();
    files
}

/// The same, but it takes its time.
const SLOW_HOOK: &str = "if grep -q password; then touch looks; sleep 60; exit 2; fi\n";
/// Refuses what holds a password.
const HOOK: &str = "if grep -q password; then echo 'no passwords' >&2; exit 2; fi\n";

#[test]
fn a_server_that_takes_no_user_behind_results_is_asked_once_more_in_its_way() {
    let files = directory(&[("a.txt", "forty-two\n")]);
    let refused = r#"{"message":"Unexpected role 'user' after role 'tool'"}"#;
    let script = vec![reads("c1"), Reply::Status(400, refused.to_owned()), says("Right."), says("Again.")];
    let server = Server::new(script);
    let mut terminal = start(&files, &server, &[]);
    let held = server.hold();
    terminal.write("read it\r");
    terminal.until("reading the prompt");
    terminal.write("be brief\r");
    terminal.until("1 question waits");
    drop(held);
    terminal.until("Right.");
    terminal.until("scripted · safe");
    terminal.write("and now?\r");
    terminal.until("Again.");
    end(terminal);
    let told = told(&server);
    let result = told[2][3]["content"].as_str().unwrap();
    assert!(result.ends_with("<user-message>\nbe brief\n</user-message>"), "{result}");
    assert_eq!((&told[3][3], &told[3][5]["content"]), (&told[2][3], &json!("and now?")));
}

#[test]
fn what_the_server_refuses_of_it_is_left_out_again() {
    let files = directory(&[("a.txt", "forty-two\n")]);
    let refused = Reply::Status(400, r#"{"error":{"message":"no"}}"#.to_owned());
    let server = Server::new(vec![reads("c1"), refused, says("Right.")]);
    let mut terminal = start(&files, &server, &[]);
    let held = server.hold();
    terminal.write("read it\r");
    terminal.until("reading the prompt");
    terminal.write("a wrong one\r");
    terminal.until("1 question waits");
    drop(held);
    terminal.until("what you said while calls ran is left out of the conversation");
    terminal.until("the model server refused");
    terminal.until("scripted · safe");
    terminal.write("go on\r");
    terminal.until("Right.");
    end(terminal);
    let told = told(&server);
    assert_eq!((&told[1][4]["content"], &told[2][4]["content"]), (&json!("a wrong one"), &json!("go on")));
    let mut terminal = Terminal::with(&files, &["--base-url", server.url(), "-c"], 100, &[]);
    let shown = terminal.until("Right.");
    assert!(shown.contains("> go on") && !shown.contains("a wrong one"), "{shown:?}");
    end(terminal);
}

#[test]
fn nothing_that_waits_is_done_by_itself_after_a_failure() {
    let files = directory(&[]);
    let refused = Reply::Status(400, r#"{"error":{"message":"no"}}"#.to_owned());
    let server = Server::new(vec![refused, says("Right.")]);
    let mut terminal = start(&files, &server, &["--notify-after", "0"]);
    let held = server.hold();
    terminal.write("go\r");
    terminal.until("reading the prompt");
    terminal.write("!touch own.txt\rand then\r");
    terminal.until("2 questions wait");
    drop(held);
    terminal.until("the model server refused");
    terminal.until("1 more that waited");
    terminal.until("> !touch own.txt");
    assert!(!files.path().join("own.txt").exists());
    terminal.write("\u{15}\r");
    terminal.until("> and then");
    terminal.write("\r");
    terminal.until("Right.");
    end(terminal);
    assert!(!files.path().join("own.txt").exists());
}
