//! What keys do while the model works, and what becomes of what was typed meanwhile.

use serde_json::json;

use crate::assistant::{end, start};
use crate::del::directory;
use crate::keys::asked;
use crate::server::{Reply, Server, calls, says};

#[test]
fn what_waited_for_the_shell_and_what_waited_for_the_model_stay_apart_after_a_stop() {
    let files = directory(&[]);
    let server = Server::new(vec![Reply::Silence(Vec::new()), says("Right.")]);
    let mut terminal = start(&files, &server, &[]);
    terminal.write("a wrong one\r");
    terminal.until("reading the prompt");
    terminal.write("!touch own.txt\rtouch pwn.txt please\r");
    terminal.until("2 questions wait");
    terminal.write("\u{1b}");
    terminal.until("2 more that waited stand in the line after this");
    terminal.until("> a wrong one");
    terminal.write("\u{15}\r");
    terminal.until("1 more that waited");
    terminal.until("> !touch own.txt");
    terminal.write("\r");
    terminal.until("> touch pwn.txt please");
    terminal.write("\r");
    terminal.until("Right.");
    end(terminal);
    assert!(files.path().join("own.txt").exists() && !files.path().join("pwn.txt").exists());
    let told = asked(&server)[1].as_str().unwrap().to_owned();
    assert!(told.starts_with("[The user ran a command]\n$ touch own.txt\n"), "{told}");
    assert!(told.ends_with("\n\ntouch pwn.txt please"), "{told}");
}

#[test]
fn shift_tab_while_calls_run_holds_from_the_next_call_on() {
    let files = directory(&[]);
    let write = |path: &str| calls(path, "write_file", &json!({"path": path, "content": "x\n"}));
    let server = Server::new(vec![write("a.txt"), write("b.txt"), says("Made.")]);
    let mut terminal = start(&files, &server, &[]);
    let held = server.hold();
    terminal.write("go\r");
    terminal.until("reading the prompt");
    terminal.write("\u{1b}[Z");
    terminal.until("mode from the next call on: auto-edit");
    drop(held);
    let seen = terminal.until("Made.");
    assert!(!seen.contains("Do this?"), "{seen:?}");
    terminal.until("scripted · auto-edit ·");
    end(terminal);
    assert!(files.path().join("b.txt").exists());
}

#[test]
fn ctrl_z_while_the_model_works_leaves_the_shell_a_row_of_its_own() {
    let files = directory(&[]);
    let server = Server::new(vec![says("Hello.")]);
    let mut terminal = start(&files, &server, &[]);
    let held = server.hold();
    terminal.write("go\r");
    terminal.until("reading the prompt");
    terminal.write("a draft");
    terminal.until("> a draft");
    // No shell is there to stop the program: it goes on at once, and draws what it took away.
    terminal.write("\u{1a}");
    let between = terminal.until("> a draft");
    assert!(between.contains("\u{1b}[J") && between.contains("\u{1b}[?2004l"), "{between:?}");
    drop(held);
    terminal.until("Hello.");
    terminal.write("\u{15}");
    end(terminal);
}

#[test]
fn what_only_shows_something_is_answered_while_the_model_works() {
    let files = directory(&[]);
    let server = Server::new(vec![says("Hello."), says("Next.")]);
    let mut terminal = start(&files, &server, &[]);
    let held = server.hold();
    terminal.write("go\r");
    terminal.until("reading the prompt");
    terminal.write("/status\r");
    terminal.until("> /status");
    terminal.until("directory  ");
    terminal.write("/help undo\r");
    terminal.until("take back the last change of files");
    terminal.write("/nosuch\r");
    terminal.until("1 question waits");
    drop(held);
    terminal.until("Hello.");
    terminal.until("there is no command /nosuch");
    terminal.until("> ");
    end(terminal);
    assert_eq!(asked(&server), ["go"]);
}

#[test]
fn what_the_arrow_up_takes_back_stands_in_the_line_alone() {
    let files = directory(&[]);
    let server = Server::new(vec![says("Hello."), says("Right.")]);
    let mut terminal = start(&files, &server, &[]);
    let held = server.hold();
    terminal.write("go\r");
    terminal.until("reading the prompt");
    terminal.write("!touch own.txt\rtouch pwn.txt please\ra draft");
    terminal.until("2 questions wait");
    terminal.write("\u{1b}[A\u{1b}[A");
    terminal.until("> !touch own.txt  ");
    terminal.write("\r");
    terminal.until("> touch pwn.txt please  ");
    drop(held);
    terminal.until("Hello.");
    terminal.until("> !touch own.txt");
    // What was not sent again stands in the line, one after the other.
    terminal.until("1 more that waited");
    terminal.until("> touch pwn.txt please");
    terminal.write("\r");
    terminal.until("Right.");
    terminal.until("> a draft");
    terminal.write("\u{15}");
    end(terminal);
    assert!(files.path().join("own.txt").exists() && !files.path().join("pwn.txt").exists());
    assert!(asked(&server)[1].as_str().unwrap().ends_with("\n\ntouch pwn.txt please"));
}

#[test]
fn the_line_is_edited_as_when_nothing_else_is_done() {
    let files = directory(&[]);
    let server = Server::new(vec![says("Hello."), says("Right.")]);
    let mut terminal = start(&files, &server, &[]);
    let held = server.hold();
    terminal.write("go\r");
    terminal.until("reading the prompt");
    terminal.write("rows\u{1b}[H");
    terminal.until("> ▏rows");
    terminal.write("two \u{1b}[F\\\rand a third👍🏽\u{7f}");
    terminal.until("> two rows⏎and a third  ");
    terminal.write("\r");
    terminal.until("1 question waits");
    drop(held);
    terminal.until("Right.");
    end(terminal);
    assert_eq!(asked(&server), ["go", "two rows\nand a third"]);
}
