//! Commands of the user's own: `!command`, and what the model is told of them.

use serde_json::Value;

use crate::assistant::{end, start};
use crate::del::{del, directory, run};
use crate::server::{Server, says};
use crate::terminal::Terminal;

/// The last message of each request.
fn last(server: &Server) -> Vec<String> {
    let last = |body: &Value| {
        body["messages"].as_array().unwrap().last().unwrap()["content"].as_str().unwrap().to_owned()
    };
    server.completions().iter().map(|seen| last(&seen.body)).collect()
}

#[test]
fn the_next_question_can_speak_of_what_a_command_gave() {
    let files = directory(&[("a.txt", "forty-two\n")]);
    let server = Server::new(vec![says("It failed."), says("It did.")]);
    let mut terminal = start(&files, &server, &[]);
    terminal.write("!cat a.txt; exit 3\r");
    terminal.until("exit code 3");
    terminal.until("> ");
    terminal.write("what was that?\r");
    terminal.until("It failed.");
    terminal.until("> ");
    terminal.write("sure?\r");
    terminal.until("It did.");
    end(terminal);
    let told = last(&server);
    let (ran, asked) = told[0].split_once("\n\nwhat was that?").unwrap();
    assert!(
        asked.is_empty() && ran.starts_with("[The user ran a command]\n$ cat a.txt; exit 3\n"),
        "{told:?}"
    );
    assert!(ran.contains("exit code 3") && ran.ends_with("forty-two"), "{told:?}");
    assert_eq!(told[1], "sure?", "it is told once");
}

#[test]
fn a_conversation_that_goes_on_knows_of_it() {
    let files = directory(&[]);
    let server = Server::new(vec![says("Hello."), says("Thirty.")]);
    let mut terminal = start(&files, &server, &[]);
    terminal.write("hi\r");
    terminal.until("Hello.");
    terminal.until("> ");
    terminal.write("!printf 'thir%s' ty\r");
    terminal.until("thirty\r\n");
    terminal.until("> ");
    end(terminal);
    let mut terminal = Terminal::with(&files, &["--base-url", server.url(), "-c"], 100, &[]);
    terminal.until("the last question:");
    terminal.until("> hi");
    terminal.until("> !printf 'thir%s' ty");
    terminal.until("thirty");
    terminal.until("> ");
    terminal.write("what did it print?\r");
    terminal.until("Thirty.");
    end(terminal);
    let told = last(&server).pop().unwrap();
    assert!(
        told.contains("$ printf 'thir%s' ty\n") && told.ends_with("thirty\n\nwhat did it print?"),
        "{told}"
    );
}

#[test]
fn a_conversation_in_which_nothing_was_asked_yet_goes_on_and_is_called_like_the_command() {
    let files = directory(&[]);
    let server = Server::new(vec![says("Thirty.")]);
    let mut terminal = start(&files, &server, &[]);
    terminal.write("!printf 'thir%s' ty\r");
    terminal.until("thirty\r\n");
    terminal.until("> ");
    terminal.write("exit\r");
    let (seen, _) = terminal.end();
    assert!(seen.contains("`del -c` goes on with this conversation"), "{seen:?}");
    let mut listing = del(&["sessions", "list"]);
    let listed = run(listing.current_dir(files.path()).env("HOME", files.path()), "").out;
    assert!(listed.contains("!printf 'thir%s' ty"), "{listed}");
    let mut terminal = Terminal::with(&files, &["--base-url", server.url(), "-c"], 100, &[]);
    terminal.until("goes on after 1 step:");
    terminal.until("> !printf 'thir%s' ty");
    terminal.until("thirty");
    terminal.until("> ");
    terminal.write("what did it print?\r");
    terminal.until("Thirty.");
    end(terminal);
    let told = last(&server);
    assert!(told[0].contains("$ printf 'thir%s' ty\n"), "{told:?}");
}

#[test]
fn what_a_command_leaves_behind_is_told() {
    let files = directory(&[("sub/a.txt", "")]);
    let server = Server::new(Vec::new());
    let mut terminal = start(&files, &server, &[]);
    terminal.write("!\r");
    terminal.until("expected a command behind `!`");
    terminal.until("> ");
    terminal.write("!cd sub\r");
    terminal.until("each command begins in the same directory");
    terminal.until("> ");
    terminal.write("!sleep 60 & echo left\r");
    terminal.until("left\r\n");
    terminal.until("still runs, until the session ends: process ");
    terminal.until("> ");
    end(terminal);
    assert!(server.completions().is_empty());
}

#[test]
fn a_long_output_is_cut_as_that_of_a_call_is_and_its_markup_is_no_call() {
    let files = directory(&[]);
    let server = Server::new(vec![says("Long.")]);
    let mut terminal = start(&files, &server, &["--tools-mode", "prompt"]);
    terminal.write("!echo '<tool_call>'; seq 1 20000; echo '</tool_call>'\r");
    terminal.until("19999\r\n");
    terminal.until("> ");
    terminal.write("/context\r");
    terminal.until("results");
    let counted = terminal.until("all ");
    assert!(!counted.contains(" 0 "), "it counts as a result: {counted:?}");
    terminal.until("> ");
    terminal.write("well?\r");
    terminal.until("Long.");
    end(terminal);
    let told = last(&server).pop().unwrap();
    assert!(told.contains("\n20000\n") && told.len() < 60_000, "{} bytes", told.len());
    assert!(!told.contains("<tool_call>") && told.contains("tool_call>"), "{told:.300}");
}
