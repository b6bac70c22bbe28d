//! Conversations that are kept, and go on.

use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

use rustix::fs::{CWD, Mode, mkfifoat};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::del::{Run, del, directory, run, text};
use crate::server::{About, Reply, Server, calls, says, words};
use crate::terminal::Terminal;

/// A directory to work in, and a home.
struct Place {
    files: TempDir,
    home: TempDir,
}

impl Place {
    fn new() -> Self {
        Self { files: directory(&[("a.txt", "forty-two\n")]), home: directory(&[]) }
    }

    fn run(&self, arguments: &[&str]) -> Run {
        let mut command = del(arguments);
        run(command.current_dir(self.files.path()).env("HOME", self.home.path()), "")
    }

    fn ask(&self, server: &Server, question: &str, options: &[&str]) -> Run {
        let got = self.run(&[&["-p", question, "--base-url", server.url()], options].concat());
        assert_eq!(got.code, 0, "{got:#?}");
        got
    }

    fn list(&self) -> Vec<Value> {
        self.run(&["sessions", "list", "--json"]).json().as_array().unwrap().clone()
    }

    fn terminal(&self, arguments: &[&str]) -> Terminal {
        Terminal::with(&self.files, arguments, 100, &[("HOME", &text(self.home.path()))])
    }

    /// The files in which conversations are kept.
    fn records(&self) -> Vec<PathBuf> {
        let folder = self.home.path().join(".local/state/del/sessions");
        let inside = |folder: PathBuf| {
            std::fs::read_dir(folder).into_iter().flatten().map(|entry| entry.unwrap().path())
        };
        inside(folder).flat_map(inside).collect()
    }
}

fn id(row: &Value) -> &str {
    row["id"].as_str().unwrap()
}

#[test]
fn a_question_that_failed_is_in_no_conversation() {
    let place = Place::new();
    let refuses = || Reply::Status(400, json!({"error": {"message": "too much"}}).to_string());
    let server = Server::new(vec![refuses(), says("One."), refuses(), says("Three.")]);
    let fails = |options: &[&str]| {
        let got = place.run(&[&["-p", "a bad one", "--base-url", server.url()], options].concat());
        got.fails(1, "too much");
    };
    fails(&[]);
    assert_eq!((place.list().len(), place.records().len()), (0, 0), "nothing came of the only question");
    place.ask(&server, "first", &[]);
    fails(&["-c"]);
    place.ask(&server, "third", &["-c"]);
    let messages = server.completions()[3].body["messages"].clone();
    let told: Vec<&str> = messages
        .as_array()
        .unwrap()
        .iter()
        .skip(1)
        .map(|message| message["content"].as_str().unwrap())
        .collect();
    assert_eq!(told, ["first", "One.", "third"]);
    assert_eq!(place.list().len(), 1);
}

#[test]
fn a_question_that_was_answered_with_nothing_is_in_no_conversation() {
    let place = Place::new();
    let server = Server::new(vec![says(""), says("One."), says(""), says("Three.")]);
    place.run(&["-p", "nothing?", "--base-url", server.url()]).fails(1, "there is no answer");
    assert_eq!((place.list().len(), place.records().len()), (0, 0));
    place.ask(&server, "first", &[]);
    place.run(&["-p", "nothing?", "-c", "--base-url", server.url()]).fails(1, "there is no answer");
    place.ask(&server, "third", &["-c"]);
    let messages = server.completions()[3].body["messages"].clone();
    assert_eq!((messages.as_array().unwrap().len(), &messages[3]["content"]), (4, &json!("third")));
}

#[test]
fn what_a_killed_run_left_of_a_question_is_not_gone_on_with() {
    let place = Place::new();
    let server = Server::new(vec![Reply::Silence(Vec::new())]);
    let left = tempfile::tempdir().unwrap();
    let mut child = del(&["-p", "What?", "--base-url", server.url()])
        .current_dir(place.files.path())
        .env("TMPDIR", left.path())
        .env("HOME", place.home.path())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    while server.completions().is_empty() {
        std::thread::sleep(Duration::from_millis(10));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(place.list().len(), 1);
    place.run(&["-p", "And?", "-c", "--base-url", server.url()]).fails(1, "there is no session in");
}

#[test]
fn a_conversation_goes_on_where_it_was() {
    let place = Place::new();
    let server = Server::new(vec![
        calls("c1", "read_file", &json!({"file_path": "a.txt"})),
        says("It says forty-two."),
        says("As I said: forty-two."),
    ]);
    let events = place.ask(&server, "What is in a.txt?", &["--output-format", "stream-json"]).lines();
    let listed = place.list();
    assert_eq!((listed.len(), &listed[0]["id"]), (1, &events.last().unwrap()["session_id"]), "{listed:#?}");
    assert_eq!((&listed[0]["title"], &listed[0]["model"]), (&json!("What is in a.txt?"), &json!("scripted")));
    let got = place.ask(&server, "Again?", &["-c", "--output-format", "json"]).json();
    assert_eq!(got["session_id"], listed[0]["id"]);
    let messages = server.completions()[2].body["messages"].clone();
    let roles: Vec<&str> =
        messages.as_array().unwrap().iter().map(|message| message["role"].as_str().unwrap()).collect();
    assert_eq!(roles, ["system", "user", "assistant", "tool", "assistant", "user"], "{messages:#}");
    assert_eq!(messages[3]["content"], "     1\tforty-two");
    assert_eq!(place.list().len(), 1);
    // By its id as well, from somewhere else, which is said.
    let elsewhere = directory(&[]);
    let mut command = del(&["-p", "And now?", "--base-url", server.url(), "--resume", &id(&listed[0])[..7]]);
    let got = run(command.current_dir(elsewhere.path()).env("HOME", place.home.path()), "");
    assert!(got.code == 0 && got.err.contains("the session was in"), "{got:#?}");
    assert_eq!(server.completions()[3].body["messages"].as_array().unwrap().len(), 8);
}

#[test]
fn what_was_set_is_set_again() {
    let place = Place::new();
    let models = json!({"data": [{"id": "one"}, {"id": "two"}]}).to_string();
    let about = About { models: (200, models), ..About::default() };
    let server = Server::about(about, vec![says("Yes.")]);
    place.ask(&server, "first", &["-m", "two", "--dialect", "mistral-json", "--tools-mode", "prompt"]);
    place.ask(&server, "second", &["-c"]);
    let requests = server.completions();
    assert_eq!(requests[1].body["model"], "two");
    assert!(requests[1].body.get("tools").is_none(), "tools stand in the prompt again");
    let (first, second) = (&requests[0].body["messages"][0], &requests[1].body["messages"][0]);
    assert_eq!(first, second, "and are written as they were");
    // What is asked for now counts more.
    place.ask(&server, "third", &["-c", "-m", "one", "--tools-mode", "native"]);
    let last = server.completions().pop().unwrap().body;
    assert!(last["model"] == "one" && last["tools"].is_array(), "{last:#}");
}

#[test]
fn what_was_done_is_known_after_a_sudden_death() {
    let place = Place::new();
    let server = Server::new(vec![
        calls("c1", "read_file", &json!({"file_path": "a.txt"})),
        Reply::Silence(words("It says ")),
        says("Forty-two, as it was."),
    ]);
    // Who is killed removes nothing.
    let left = tempfile::tempdir().unwrap();
    let mut child = del(&["-p", "What is in a.txt?", "--base-url", server.url()])
        .current_dir(place.files.path())
        .env("TMPDIR", left.path())
        .env("HOME", place.home.path())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    while server.completions().len() < 2 {
        std::thread::sleep(Duration::from_millis(10));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    place.ask(&server, "And?", &["-c"]);
    let messages = server.completions()[2].body["messages"].clone();
    assert_eq!(messages[3]["content"], "     1\tforty-two", "{messages:#}");
    assert_eq!(messages[4]["content"], "And?", "{messages:#}");
}

#[test]
fn a_conversation_that_died_in_the_middle_goes_on() {
    let place = Place::new();
    let server = Server::new(vec![
        calls("c1", "read_file", &json!({"file_path": "a.txt"})),
        says("It says forty-two."),
        says("Yes."),
    ]);
    place.ask(&server, "What is in a.txt?", &[]);
    let record = place.records().remove(0);
    let whole = std::fs::read_to_string(&record).unwrap();
    let lines: Vec<&str> = whole.split_inclusive('\n').collect();
    // The call was made, and its result never came: half of its line is there.
    let call = lines.iter().position(|line| line.contains("\"calls\":[{")).unwrap();
    let torn = lines[..=call].concat() + &lines[call + 1][..lines[call + 1].len() / 2];
    std::fs::write(&record, torn).unwrap();
    let mut terminal = place.terminal(&["-c", "--base-url", server.url(), "--color", "never"]);
    terminal.until("● read_file(file_path: \"a.txt\")");
    terminal.until("⎿ Error: the session ended in the middle of this call.");
    terminal.until("> ");
    terminal.write("exit\r");
    terminal.end();
    let got = place.ask(&server, "And?", &["-c"]);
    assert!(got.err.contains("lines of this session that cannot be read are left out: 1"), "{got:#?}");
    let messages = server.completions()[2].body["messages"].clone();
    let told = "Error: the session ended in the middle of this call. How much of it was done is not known: look before \
                you call it again.";
    assert_eq!(messages[3]["content"], told, "{messages:#}");
    let shown = place.run(&["sessions", "show", id(&place.list()[0]), "--json"]).json();
    assert_eq!(shown["entries"].as_array().unwrap().len(), 5, "{shown:#}");
}

#[test]
fn what_is_kept_is_for_its_owner_and_only_if_it_is_wanted() {
    let place = Place::new();
    let server = Server::new(vec![says("Hello.")]);
    place.ask(&server, "hello", &["--no-session"]);
    assert!(place.records().is_empty());
    place.ask(&server, "hello", &[]);
    let record = place.records().remove(0);
    let mode = |path: &std::path::Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&record), mode(record.parent().unwrap())), (0o600, 0o700));
    let before = std::fs::read(&record).unwrap();
    place.ask(&server, "a secret", &["-c", "--no-session"]);
    assert_eq!(
        server.completions()[2].body["messages"].as_array().unwrap().len(),
        4,
        "it goes on all the same"
    );
    assert_eq!(std::fs::read(&record).unwrap(), before);
}

#[test]
fn sessions_are_listed_shown_exported_and_removed() {
    let place = Place::new();
    let server = Server::new(vec![
        calls("c1", "read_file", &json!({"file_path": "a.txt"})),
        says("It says ```forty-two```\u{1b}[2J."),
        says("Hello."),
    ]);
    place.ask(&server, "\n  What is\u{1b}]0;x\u{7} in a.txt?\nSay it.", &[]);
    place.ask(&server, "hello", &[]);
    let listed = place.list();
    assert_eq!(listed.len(), 2);
    assert_eq!(place.run(&["sessions", "--json"]).json().as_array(), Some(&listed));
    let table = place.run(&["sessions"]).out;
    assert!(table.contains("scripted  What is␛]0;x␇ in a.txt?\n"), "{table}");
    let first = listed.iter().find(|row| row["title"] != "hello").unwrap();
    let shown = place.run(&["sessions", "show", id(first)]).out;
    assert!(shown.contains("● read_file(file_path: \"a.txt\")\n  ⎿ 1  forty-two\n"), "{shown}");
    assert!(!shown.contains('\u{1b}'), "{shown:?}");
    let exported = place.run(&["sessions", "export", id(first), "-o", "out.md"]);
    assert_eq!((exported.code, exported.out.as_str()), (0, ""));
    let markdown = std::fs::read_to_string(place.files.path().join("out.md")).unwrap();
    for says in [
        "## Question\n\nWhat is␛]0;x␇ in a.txt?\nSay it.\n",
        "Call of `read_file`:\n\n```json\n{",
        "Result of `read_file`:\n\n```text\n",
    ] {
        assert!(markdown.contains(says), "expected {says:?}: {markdown}");
    }
    let data = place.run(&["sessions", "export", id(first), "--format", "json"]).json();
    assert_eq!(data["entries"][1]["calls"][0]["name"], "read_file", "{data:#}");
    let mut command = del(&["sessions"]);
    let elsewhere = run(command.env("HOME", place.home.path()).current_dir(place.home.path()), "");
    assert!(elsewhere.out.is_empty() && elsewhere.err.contains("there are no sessions in"), "{elsewhere:#?}");
    let mut command = del(&["sessions", "list", "--all", "--json"]);
    let all = run(command.env("HOME", place.home.path()).current_dir(place.home.path()), "");
    assert_eq!(all.json().as_array().unwrap().len(), 2);

    place.run(&["sessions", "rm", "--older-than", "1"]);
    assert_eq!(place.list().len(), 2);
    assert_eq!(place.run(&["sessions", "rm", &id(first)[..8]]).out, format!("removed {}\n", id(first)));
    place.run(&["sessions", "show", id(first)]).fails(2, "there is no session");
    assert_eq!(
        place.run(&["sessions", "rm", "--older-than", "0", "--json"]).json()["removed"]
            .as_array()
            .unwrap()
            .len(),
        1
    );
    assert!(place.records().is_empty());
}

#[test]
fn a_session_that_is_not_there_is_an_error() {
    let place = Place::new();
    let server = Server::new(vec![says("Hello.")]);
    let ask = |options: &[&str]| place.run(&[&["-p", "x", "--base-url", server.url()], options].concat());
    ask(&["-c"]).fails(1, "there is no session in");
    ask(&["-r", "123"]).fails(2, "there is no session 123");
    ask(&["--resume"]).fails(2, "expected the id of a session");
    ask(&["-c", "-r", "1"]).fails(2, "cannot be used with");
    place.run(&["sessions", "rm"]).fails(2, "required");
    assert_eq!(server.completions().len(), 0);
    let broken = place.home.path().join(".local/state/del/sessions/x/abc.jsonl");
    std::fs::create_dir_all(broken.parent().unwrap()).unwrap();
    std::fs::write(&broken, "\u{0}\u{1}nonsense\n{}\n").unwrap();
    ask(&["-r", "abc"]).fails(1, "expected the record of a session");
    // Neither is it forgotten, nor is what never ends waited for.
    let pipe = broken.with_file_name("pipe.jsonl");
    mkfifoat(CWD, &pipe, Mode::RWXU).unwrap();
    let listed = place.run(&["sessions", "list", "--all", "--json"]);
    assert!(listed.json().as_array().unwrap().is_empty());
    assert!(listed.err.contains("abc.jsonl is left out: its beginning is damaged"), "{listed:#?}");
    assert!(!listed.err.contains("pipe"), "{listed:#?}");
    ask(&["-r", "pipe"]).fails(2, "there is no session pipe");
}

#[test]
fn at_the_terminal_a_session_is_picked_and_shown() {
    let place = Place::new();
    let server = Server::new(vec![says("Red."), says("Blue.")]);
    place.ask(&server, "first colour?", &[]);
    place.ask(&server, "second colour?", &[]);
    let mut terminal = place.terminal(&["--base-url", server.url(), "--resume"]);
    let offered = terminal.until("Esc leaves");
    assert!(offered.contains("first colour?") && offered.contains("second colour?"), "{offered:?}");
    terminal.write("7\r");
    terminal.until("nothing fits");
    terminal.write("\u{7f}\u{1b}[B");
    terminal.until("❯ 2");
    terminal.write("\r");
    let shown = terminal.until("\u{1b}[?2004h");
    assert!(shown.contains("the last question:") && shown.contains(" colour?"), "{shown:?}");
    terminal.write("/clear\r");
    terminal.until("begins anew");
    terminal.write("/sessions\r");
    let table = terminal.until("second colour?");
    assert!(table.contains("TITLE"), "{table:?}");
    terminal.write("/resume nosuch\r");
    terminal.until("there is no session nosuch");
    let id = place
        .list()
        .iter()
        .find(|row| row["title"] == "first colour?")
        .map(|row| id(row).to_owned())
        .unwrap();
    terminal.write(&format!("/resume {}\r", &id[..9]));
    terminal.until("> first colour?");
    terminal.until("Red.");
    terminal.write("/clear\r");
    terminal.until("begins anew");
    terminal.write("exit\r");
    let (seen, code) = terminal.end();
    assert_eq!(code, 0, "{seen:?}");
    assert!(!seen.contains("del -c"), "nothing was asked since: {seen:?}");
    assert_eq!(place.list().len(), 2);
}

#[test]
fn what_a_conversation_goes_on_from_is_shown_as_it_was_shown_then() {
    let place = Place::new();
    let server = Server::new(vec![says("- an item\n- another one")]);
    std::fs::write(place.files.path().join("long.txt"), "a line\n".repeat(1000)).unwrap();
    place.ask(&server, "What is in it?", &["-f", "long.txt"]);
    let mut terminal = place.terminal(&["--base-url", server.url(), "-c"]);
    let shown = terminal.until("\u{1b}[?2004h");
    assert!(shown.contains("> What is in it?") && shown.contains("… 995 more lines"), "{shown:?}");
    assert!(shown.lines().count() < 40 && shown.contains("• an item"), "{shown:?}");
    terminal.write("exit\r");
    assert_eq!(terminal.end().1, 0);
}

#[test]
fn a_conversation_branches_and_is_named_and_models_are_picked() {
    let place = Place::new();
    let models = json!({"data": [{"id": "one"}, {"id": "qwen3-coder"}]}).to_string();
    let server = Server::about(About { models: (200, models), ..About::default() }, vec![says("Red.")]);
    let mut terminal = place.terminal(&["--base-url", server.url(), "-m", "one"]);
    terminal.until("`exit` ends");
    terminal.write("first colour?\r");
    terminal.until("Red.");
    terminal.write("/rename Colours\r");
    terminal.until("is called Colours");
    terminal.write("/fork\r");
    terminal.until("stays as it is");
    terminal.write("/model\r");
    terminal.until("Esc leaves");
    terminal.write("coder\r");
    terminal.until("its dialect is qwen3-coder");
    terminal.write("/model\r");
    terminal.until("❯ 2  qwen3-coder");
    terminal.write("\u{1b}");
    terminal.until("qwen3-coder");
    terminal.write("/model on");
    terminal.until("❯ one");
    terminal.write("\r");
    terminal.until("/model one");
    terminal.write("\r");
    terminal.until("the model is one from now on");
    terminal.write("/resume\r");
    let offered = terminal.until("Esc leaves");
    assert!(offered.contains("Colours") && !offered.contains("first colour?"), "{offered:?}");
    terminal.write("1\r");
    terminal.until("> first colour?");
    terminal.write("/resume Colours (fork)\r");
    terminal.until("> first colour?");
    terminal.write("exit\r");
    let (seen, code) = terminal.end();
    assert_eq!(code, 0, "{seen:?}");
    let titles: Vec<_> = place.list().iter().map(|row| row["title"].clone()).collect();
    assert!(
        titles.len() == 2 && titles.contains(&json!("Colours")) && titles.contains(&json!("Colours (fork)")),
        "{titles:?}"
    );
    assert_eq!(place.run(&["sessions", "rm", "Colours"]).code, 0);
    assert_eq!(place.list()[0]["title"], "Colours (fork)");
}

#[test]
fn whoever_asks_is_told_that_a_conversation_cannot_be_kept() {
    let place = Place::new();
    let state = place.home.path().join(".local/state/del");
    std::fs::create_dir_all(&state).unwrap();
    std::fs::write(state.join("sessions"), "no folder").unwrap();
    let server = Server::new(vec![says("One."), says("Two.")]);
    let told = "this conversation is not kept: ";
    let got = place.ask(&server, "first", &[]);
    assert!(got.out == "One.\n" && got.err.matches(told).count() == 1, "{got:#?}");
    let got = place.ask(&server, "second", &["--no-session"]);
    assert!(!got.err.contains(told), "{got:#?}");
}

#[test]
fn a_home_that_is_no_whole_path_is_none() {
    let place = Place::new();
    let server = Server::new(vec![says("Hello.")]);
    let mut command = del(&["-p", "hi", "--base-url", server.url()]);
    let got = run(command.current_dir(place.files.path()).env("HOME", "some/home"), "");
    assert_eq!((got.code, got.out.as_str()), (0, "Hello.\n"), "{got:#?}");
    let there: Vec<_> =
        std::fs::read_dir(place.files.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(there, ["a.txt"]);
}
