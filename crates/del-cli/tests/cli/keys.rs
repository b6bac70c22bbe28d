//! What keys and pastes do, at the line and while the model works.

use serde_json::{Value, json};

use crate::assistant::{end, start};
use crate::del::{directory, text};
use crate::server::{Reply, Server, calls, says, words};
use crate::terminal::Terminal;

/// What was asked last in each request.
pub(crate) fn asked(server: &Server) -> Vec<Value> {
    let last = |messages: &Value| messages.as_array().unwrap().last().unwrap()["content"].clone();
    server.completions().iter().map(|seen| last(&seen.body["messages"])).collect()
}

#[test]
fn esc_stops_the_model_and_what_was_typed_meanwhile_stands_in_the_line() {
    let files = directory(&[]);
    let server =
        Server::new(vec![Reply::Silence(words("It begins well and ")), says("Next."), says("Last.")]);
    let mut terminal = start(&files, &server, &[]);
    terminal.write("first\r");
    terminal.until("begins well");
    terminal.write("second\rthi");
    terminal.until("> thi");
    terminal.write("\u{1b}");
    terminal.until("cancelled");
    // What waits is not asked by itself after that: each entry stands in the line, what was being typed first.
    terminal.until("1 more that waited stands in the line after this");
    terminal.until("> thi");
    terminal.write("rd\r");
    terminal.until("Next.");
    terminal.until("> second");
    terminal.write("\r");
    terminal.until("Last.");
    end(terminal);
    assert_eq!(asked(&server), ["first", "third", "second"]);
    let messages = server.completions()[1].body["messages"].clone();
    assert_eq!(messages[2]["content"], "It begins well and", "what came is kept: {messages:#}");
}

#[test]
fn what_is_typed_while_the_model_works_is_asked_next() {
    let files = directory(&[]);
    let server = Server::new(vec![says("Hello."), says("Next."), says("Last.")]);
    let mut terminal = start(&files, &server, &[]);
    let held = server.hold();
    terminal.write("first\r");
    terminal.until("\u{1b}[?2004h");
    terminal.until("reading the prompt");
    terminal.write("second\rthird\r\u{1b}[A");
    terminal.until("> third");
    drop(held);
    terminal.until("> second");
    terminal.until("Next.");
    terminal.until("> third");
    terminal.write("\r");
    terminal.until("Last.");
    end(terminal);
    assert_eq!(asked(&server), ["first", "second", "third"]);
}

#[test]
fn a_question_stopped_before_anything_came_stands_in_the_line_and_in_no_request() {
    let files = directory(&[]);
    let server = Server::new(vec![Reply::Silence(Vec::new()), says("Right.")]);
    let mut terminal = start(&files, &server, &[]);
    terminal.write("a wrong one\r");
    terminal.until("\u{1b}[?2004h");
    terminal.until("reading the prompt");
    terminal.write("\u{1b}");
    terminal.until("goes on without this question");
    terminal.until("> a wrong one");
    terminal.write("\u{15}a right one\r");
    terminal.until("Right.");
    end(terminal);
    let messages = server.completions()[1].body["messages"].clone();
    assert_eq!((messages.as_array().unwrap().len(), &messages[1]["content"]), (2, &json!("a right one")));
}

#[test]
fn ctrl_c_takes_a_draft_away_and_up_brings_it_back() {
    let files = directory(&[]);
    let server = Server::new(vec![says("Hello.")]);
    let mut terminal = start(&files, &server, &[]);
    terminal.write("a draft");
    terminal.until("a draft");
    terminal.write("\u{3}");
    terminal.until("> ");
    terminal.write("\u{12}");
    terminal.until("search for");
    terminal.write("\u{3}");
    terminal.until("> ");
    terminal.write("\u{1b}[A");
    let seen = terminal.until("a draft");
    assert!(!seen.contains("Ctrl-C again"), "{seen:?}");
    terminal.write("\r");
    terminal.until("Hello.");
    end(terminal);
    assert_eq!(asked(&server), ["a draft"]);
}

#[test]
fn a_screen_reader_hears_what_the_first_ctrl_c_means() {
    let files = directory(&[]);
    let server = Server::new(vec![says("Hello.")]);
    let arguments = ["--base-url", server.url()];
    let mut terminal = Terminal::with(&files, &arguments, 100, &[("DEL_PLAIN", "1")]);
    terminal.until("`exit` ends");
    terminal.until("> ");
    terminal.write("\u{3}");
    terminal.until("Ctrl-C again");
    terminal.until("> ");
    terminal.write("hi\r");
    terminal.until("Hello.");
    terminal.until("> ");
    terminal.write("\u{3}");
    terminal.until("Ctrl-C again");
    terminal.write("\u{3}");
    assert_eq!(terminal.end().1, 130);
}

#[test]
fn what_is_typed_has_the_colour_of_the_terminal() {
    let files = directory(&[]);
    let server = Server::new(vec![says("Hello.")]);
    let arguments = ["--base-url", server.url(), "--color", "always"];
    let mut terminal = Terminal::with(&files, &arguments, 100, &[]);
    terminal.until("> ");
    terminal.write("hello");
    let seen = terminal.until("hello");
    assert!(!seen.contains("\u{1b}[37m"), "{seen:?}");
    terminal.kill();
}

#[test]
fn a_line_goes_on_behind_ctrl_j_and_a_long_paste_is_folded() {
    let files = directory(&[]);
    let server = Server::new(vec![says("Seen.")]);
    let mut terminal = start(&files, &server, &[]);
    let pasted = (0..10_000).map(|n| format!("line {n}")).collect::<Vec<_>>().join("\n");
    terminal.write("two\nrows ");
    terminal.write(&format!("\u{1b}[200~{pasted}\u{1b}[201~"));
    terminal.until("[paste 1: 10000 lines]");
    terminal.write("\r");
    terminal.until("Seen.");
    end(terminal);
    let asked = server.completions()[0].body["messages"][1]["content"].as_str().unwrap().to_owned();
    assert!(asked.starts_with("two\nrows line 0\n") && asked.ends_with("line 9999"), "{}", asked.len());
}

#[test]
fn a_program_that_was_stopped_still_hears_esc() {
    let files = directory(&[]);
    let server = Server::new(vec![Reply::Silence(words("It begins well and "))]);
    let mut terminal = start(&files, &server, &[]);
    terminal.write("first\r");
    terminal.until("\u{1b}[?2004h");
    terminal.until("begins well");
    terminal.suspend();
    terminal.until("\u{1b}[?2004h");
    terminal.write("\u{1b}");
    terminal.until("cancelled");
    end(terminal);
}

#[test]
fn ctrl_z_takes_nothing_back_and_ctrl_underscore_does() {
    let files = directory(&[]);
    let server = Server::new(vec![says("Hello."), says("Again.")]);
    let mut terminal = start(&files, &server, &[]);
    // The terminal is the program's alone: no shell is there to stop it, and the line goes on.
    terminal.write("keep\u{1a}");
    terminal.until("\u{1b}[?2004l");
    terminal.until("keep");
    terminal.write(" going\r");
    terminal.until("Hello.");
    terminal.until("> ");
    terminal.write("x\u{1f}hi\r");
    terminal.until("Again.");
    end(terminal);
    assert_eq!(asked(&server), ["keep going", "hi"]);
}

#[test]
fn a_paste_while_the_model_works_is_one_question() {
    let files = directory(&[]);
    let server = Server::new(vec![Reply::Silence(words("It begins well and ")), says("Seen.")]);
    let mut terminal = start(&files, &server, &[]);
    terminal.write("first\r");
    // Terminals that are not told to mark pastes send them as if they were typed: a question a line.
    terminal.until("\u{1b}[?2004h");
    terminal.until("begins well");
    let pasted = (0..10_000).map(|n| format!("line {n}")).collect::<Vec<_>>().join("\r");
    terminal.write(&format!("look: \u{1b}[200~{pasted}\u{1b}[201~"));
    terminal.until("> look: [paste 1: 10000 lines]");
    terminal.write(" sum it up\r");
    terminal.until("1 question waits");
    terminal.write("\u{1b}");
    terminal.until("> look: [paste 1: 10000 lines] sum it up");
    terminal.write("\r");
    terminal.until("Seen.");
    terminal.until("> ");
    end(terminal);
    let asked: Vec<_> = server.completions().iter().map(|seen| seen.body["messages"].clone()).collect();
    assert_eq!(asked.len(), 2);
    let last = asked[1].as_array().unwrap().last().unwrap()["content"].as_str().unwrap().to_owned();
    assert!(
        last.starts_with("look: line 0\nline 1\n") && last.ends_with("line 9999 sum it up"),
        "{last:.200}"
    );
}

#[test]
fn shift_tab_takes_the_next_mode_and_keeps_what_was_typed() {
    let files = directory(&[]);
    let server = Server::new(vec![says("Hello.")]);
    let mut terminal = start(&files, &server, &[]);
    terminal.write("hel");
    terminal.until("hel");
    for mode in ["auto-edit", "plan", "safe"] {
        terminal.write("\u{1b}[Z");
        terminal.until(&format!("scripted · {mode} ·"));
        terminal.until("> hel");
    }
    terminal.write("lo\r");
    terminal.until("Hello.");
    end(terminal);
    assert_eq!(server.completions()[0].body["messages"][1]["content"], "hello");
}

#[test]
fn what_is_typed_behind_a_burst_of_shift_tab_is_not_lost() {
    let files = directory(&[("a.txt", "x\n")]);
    let server = Server::new(vec![
        calls("c1", "write_file", &json!({"file_path": "a.txt", "content": "y"})),
        says("Hello."),
    ]);
    let mut terminal = start(&files, &server, &[]);
    terminal.write("he\u{1b}[Z\u{1b}[Z\u{1b}[Z\u{1b}[Z\u{1b}[Zllo");
    terminal.until("scripted · plan ·");
    terminal.until("> hello");
    terminal.write("\u{1b}[Z\u{1b}[Z\u{1b}[Z there\r");
    terminal.until("Hello.");
    terminal.until("scripted · plan ·");
    end(terminal);
    let asked = server.completions();
    assert_eq!(asked[0].body["messages"][1]["content"], "hello there");
    let told = asked[1].body["messages"].to_string();
    assert!(told.contains("only reading is allowed in plan mode"), "{told}");
}

#[test]
fn commands_and_files_are_offered_and_tab_takes_them() {
    let files = directory(&[("src/engine.rs", "fn main() {}\n")]);
    let server = Server::new(vec![says("A file.")]);
    let mut terminal = start(&files, &server, &[]);
    terminal.write("/con");
    terminal.until("what the model's context is filled with");
    terminal.write("\t\r");
    terminal.until("an estimate");
    terminal.until("> ");
    terminal.write("what is @eng");
    terminal.until("@src/engine.rs");
    terminal.write("\t\r");
    terminal.until("A file.");
    end(terminal);
    let asked = server.completions()[0].body["messages"][1]["content"].as_str().unwrap().to_owned();
    assert!(asked.contains("The file src/engine.rs:\n     1\tfn main() {}"), "{asked}");
}

#[test]
fn an_editor_writes_the_question() {
    let files = directory(&[("edit.sh", "printf 'from the\\neditor\\n' > \"$1\"\n")]);
    let server = Server::new(vec![says("Read.")]);
    let editor = format!("/bin/sh '{}'", files.path().join("edit.sh").display());
    let arguments = ["--base-url", server.url(), "--color", "never"];
    let mut terminal = Terminal::with(&files, &arguments, 100, &[("EDITOR", &editor)]);
    terminal.until("ends");
    terminal.until("> ");
    terminal.write("x\u{7}");
    terminal.until("editor");
    terminal.write("\r");
    terminal.until("Read.");
    end(terminal);
    assert_eq!(server.completions()[0].body["messages"][1]["content"], "from the\neditor");
}

#[test]
fn ctrl_z_at_a_question_is_no_answer() {
    let files = directory(&[]);
    let server =
        Server::new(vec![calls("c1", "run_command", &json!({"command": "touch a.txt"})), says("Made.")]);
    let mut terminal = start(&files, &server, &[]);
    terminal.write("go\r");
    terminal.until("Do this?");
    // No shell is there to stop the program: the question stands again at once.
    terminal.write("\u{1a}");
    let between = terminal.until("Do this?");
    assert!(!between.contains("no answer"), "{between:?}");
    terminal.write("y");
    terminal.until("Made.");
    end(terminal);
    assert!(files.path().join("a.txt").exists());
}

#[test]
fn esc_at_a_question_is_a_no() {
    let files = directory(&[]);
    let server =
        Server::new(vec![calls("c1", "run_command", &json!({"command": "touch a.txt"})), says("I may not.")]);
    let mut terminal = start(&files, &server, &[]);
    terminal.write("go\r");
    terminal.until("Do this?");
    terminal.write("\u{1b}");
    terminal.until("I may not.");
    end(terminal);
    assert!(!files.path().join("a.txt").exists());
}

#[test]
fn questions_of_this_directory_come_back_before_those_of_others() {
    let home = directory(&[("here/x", ""), ("there/x", "")]);
    let server = Server::new(vec![says("Yes.")]);
    let ask = |place: &str, keys: &str| {
        let folder = home.path().join(place);
        let arguments =
            ["--base-url", server.url(), "--color", "never", "--working-dir", folder.to_str().unwrap()];
        let mut terminal = Terminal::with(&home, &arguments, 100, &[]);
        terminal.until("ends");
        terminal.until("> ");
        terminal.write(keys);
        terminal.until("Yes.");
        end(terminal);
    };
    ask("here", "asked here\r");
    ask("there", "asked there\r");
    // One up is `exit`, two up the question.
    ask("here", "\u{1b}[A\u{1b}[A\r");
    let last = server.completions().pop().unwrap().body["messages"].clone();
    assert_eq!(last[1]["content"], "asked here");
    // A long one is a word again, and whole in the question.
    let rows = (0..40).map(|n| format!("row {n}")).collect::<Vec<_>>().join("\n");
    ask("here", &format!("\u{1b}[200~{rows}\u{1b}[201~\r"));
    let arguments =
        ["--base-url", server.url(), "--color", "never", "--working-dir", &text(&home.path().join("here"))];
    let mut terminal = Terminal::with(&home, &arguments, 100, &[]);
    terminal.until("ends");
    terminal.until("> ");
    terminal.write("\u{1b}[A\u{1b}[A");
    terminal.until(": 40 lines]");
    terminal.write("\r");
    terminal.until("Yes.");
    end(terminal);
    let last = server.completions().pop().unwrap().body["messages"].clone();
    assert_eq!(last[1]["content"], rows);
}
