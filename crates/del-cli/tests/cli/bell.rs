//! How the user is called when something waits for them.

use std::thread::sleep;
use std::time::Duration;

use serde_json::json;

use crate::assistant::{end, start};
use crate::del::directory;
use crate::server::{Server, calls, says};
use crate::terminal::Terminal;

const BELL: &str = "\u{7}";

/// A turn with a question in it, with these options, at a terminal that calls itself so; what came up to the question, and
/// from there to the end of the turn.
fn seen(options: &[&str], program: &str) -> (String, String) {
    let files = directory(&[]);
    let server = Server::new(vec![calls("c1", "run_command", &json!({"command": "make"})), says("Good.")]);
    let arguments = [&["--base-url", server.url(), "--color", "never"], options].concat();
    let mut terminal = Terminal::with(&files, &arguments, 100, &[("TERM_PROGRAM", program)]);
    terminal.until("ends");
    terminal.until("> ");
    terminal.write("go\r");
    let question = terminal.until("Do this?");
    terminal.write("n\r");
    let turn = terminal.until("scripted · safe");
    end(terminal);
    (question, turn)
}

#[test]
fn the_bell_rings_for_a_question_and_for_the_end_of_a_turn() {
    let (question, turn) = seen(&["--notify-after", "0"], "");
    assert_eq!((question.matches(BELL).count(), turn.matches(BELL).count()), (1, 1), "{question:?} {turn:?}");
}

#[test]
fn a_terminal_that_shows_notifications_gets_one_unless_the_bell_is_wanted() {
    let (question, turn) = seen(&["--notify-after", "0"], "WezTerm");
    assert!(question.contains("\u{1b}]9;Del: a question waits for you\u{7}"), "{question:?}");
    assert!(turn.contains("\u{1b}]9;Del: it is your turn\u{7}"), "{turn:?}");
    let (question, _) = seen(&["--notify-after", "0", "--notify", "bell"], "WezTerm");
    assert!(question.contains(BELL) && !question.contains("\u{1b}]9"), "{question:?}");
}

#[test]
fn who_has_just_pressed_a_key_is_not_called_and_neither_is_who_does_not_want_it() {
    for options in [&[][..], &["--notify", "off", "--notify-after", "0"]] {
        let (question, turn) = seen(options, "WezTerm");
        assert!(!question.contains(BELL) && !turn.contains(BELL), "{question:?} {turn:?}");
    }
}

#[test]
fn nobody_is_called_while_something_waits_to_be_done() {
    let files = directory(&[(".config/del/config.toml", "notify_after = 0\n")]);
    let server = Server::new(vec![says("Hello."), says("Next.")]);
    let mut terminal = start(&files, &server, &[]);
    let held = server.hold();
    terminal.write("go\r");
    terminal.until("reading the prompt");
    terminal.write("next\r");
    terminal.until("1 question waits");
    drop(held);
    let first = terminal.until("> next");
    let second = terminal.until("scripted · safe");
    assert!(!first.contains(BELL) && second.contains(BELL), "{first:?} {second:?}");
    end(terminal);
}

#[test]
fn who_leaves_after_the_last_key_is_called_once_when_the_time_is_over() {
    let files = directory(&[]);
    let make = calls("c1", "run_command", &json!({"command": "make"}));
    let server = Server::new(vec![make, says("Good."), says("Well.")]);
    let mut terminal = start(&files, &server, &["--notify-after", "1"]);
    terminal.write("go\r");
    let asked = terminal.until("Do this?");
    assert!(!asked.contains(BELL), "{asked:?}");
    terminal.until(BELL);
    terminal.write("n\r");
    let turn = terminal.until("scripted · safe");
    assert!(!turn.contains(BELL), "{turn:?}");
    terminal.until(BELL);
    // Once, and not for a line at which somebody has begun to type.
    sleep(Duration::from_millis(2500));
    terminal.write("and");
    terminal.write(" now?\r");
    terminal.until("Well.");
    let line = terminal.until("scripted · safe");
    terminal.write("a draft");
    let draft = terminal.until("a draft");
    sleep(Duration::from_millis(2500));
    terminal.write("!");
    let more = terminal.until("!");
    terminal.write("\u{15}");
    end(terminal);
    for seen in [line, draft, more] {
        assert!(!seen.contains(BELL), "{seen:?}");
    }
}
