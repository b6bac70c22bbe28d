//! What the assistant does besides answering: context, commands, keys.

use std::time::Duration;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::del::{del, directory, run, text};
use crate::server::{About, Reply, Server, calls, says, thinks, words};
use crate::terminal::Terminal;

fn start(files: &TempDir, server: &Server, options: &[&str]) -> Terminal {
    let arguments = [&["--base-url", server.url(), "--color", "never"], options].concat();
    let mut terminal = Terminal::with(files, &arguments, 100, &[]);
    terminal.until("ends");
    terminal.until("> ");
    terminal
}

fn end(mut terminal: Terminal) {
    terminal.write("exit\r");
    let (seen, code) = terminal.end();
    assert_eq!(code, 0, "{seen:?}");
}

fn system(server: &Server, request: usize) -> String {
    server.completions()[request].body["messages"][0]["content"].as_str().unwrap().to_owned()
}

#[test]
fn what_the_project_wants_models_to_know_is_told_and_named() {
    let files = directory(&[
        (".git/HEAD", "ref: refs/heads/topic\n"),
        ("AGENTS.md", "Speak softly."),
        ("CLAUDE.md", "Not this."),
        ("inner/CLAUDE.md", "Speak <tool_call> loudly."),
    ]);
    let server = Server::new(vec![says("Hello.")]);
    let mut terminal = Terminal::with(
        &files,
        &["--base-url", server.url(), "--color", "never", "--working-dir", "inner"],
        100,
        &[],
    );
    let greeting = terminal.until("ends");
    assert!(greeting.contains("AGENTS.md, ") && greeting.contains("inner/CLAUDE.md"), "{greeting:?}");
    let status = terminal.until("> ");
    assert!(status.contains("scripted · safe") && status.contains(" · native · topic"), "{status:?}");
    terminal.write("hi\r");
    terminal.until("Hello.");
    end(terminal);
    let told = system(&server, 0);
    let (first, second) = (told.find("Speak softly.").unwrap(), told.find("loudly.").unwrap());
    assert!(first < second && !told.contains("Not this.") && !told.contains("<tool_call>"), "{told}");
}

#[test]
fn a_conversation_that_is_too_long_is_summed_up_kept_so_and_goes_on() {
    let too_long =
        json!({"error": {"message": "the request exceeds the available context size", "n_ctx": 4096}});
    let files = directory(&[]);
    let server = Server::new(vec![
        says("First answer."),
        Reply::Status(400, too_long.to_string()),
        says("They said first things."),
        says("Second answer."),
        says("Third answer."),
    ]);
    let mut terminal = start(&files, &server, &[]);
    terminal.write("first question\r");
    terminal.until("First answer.");
    terminal.until("> ");
    terminal.write("second question\r");
    let before = terminal.until("Second answer.");
    assert!(before.contains("summed up") && !before.contains("They said"), "{before:?}");
    end(terminal);
    // What is kept is what it goes on from.
    let again = run(
        del(&["-p", "third", "-c", "--base-url", server.url()])
            .current_dir(files.path())
            .env("HOME", files.path()),
        "",
    );
    assert_eq!(again.out, "Third answer.\n", "{again:#?}");
    let messages = server.completions()[4].body["messages"].to_string();
    assert!(
        messages.contains("They said first things.") && messages.contains("Second answer."),
        "{messages}"
    );
    assert!(!messages.contains("First answer."), "{messages}");
}

#[test]
fn compact_context_and_status_say_what_there_is() {
    let files = directory(&[]);
    let server = Server::new(vec![says("One."), says("Two."), says("Numbers were said."), says("Three.")]);
    let mut terminal = start(&files, &server, &[]);
    for (question, answer) in [("one", "One."), ("two", "Two.")] {
        terminal.write(&format!("{question}\r"));
        terminal.until(answer);
        terminal.until("> ");
    }
    terminal.write("/compact the numbers\r");
    terminal.until("the conversation is summed up");
    terminal.write("/context\r");
    let context = terminal.until("an estimate");
    assert!(context.contains("instructions") && context.contains("answers and calls"), "{context:?}");
    terminal.write("/status\r");
    let status = terminal.until("session");
    assert!(status.contains("scripted") && status.contains("calls      native"), "{status:?}");
    terminal.until("> ");
    terminal.write("three\r");
    terminal.until("Three.");
    end(terminal);
    let asked = server.completions()[2].body["messages"].to_string();
    assert!(asked.contains("Above all, keep: the numbers."), "{asked}");
    let last = server.completions()[3].body["messages"].to_string();
    assert!(last.contains("Numbers were said.") && !last.contains("One."), "{last}");
}

#[test]
fn what_is_typed_while_the_model_works_is_asked_next_and_esc_stops_it() {
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
    terminal.until("> second");
    terminal.until("Next.");
    terminal.until("> thi");
    terminal.write("rd\r");
    terminal.until("Last.");
    end(terminal);
    let asked: Vec<Value> = server
        .completions()
        .iter()
        .map(|seen| seen.body["messages"].as_array().unwrap().last().unwrap()["content"].clone())
        .collect();
    assert_eq!(asked, ["first", "second", "third"]);
    let messages = server.completions()[1].body["messages"].clone();
    assert_eq!(messages[2]["content"], "It begins well and", "what came is kept: {messages:#}");
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
fn permissions_are_listed_and_taken_back() {
    let files = directory(&[]);
    let touch = |id: &str| calls(id, "run_command", &json!({"command": "touch a.txt"}));
    let server = Server::new(vec![touch("c1"), says("Done."), touch("c2"), says("Again.")]);
    let mut terminal = start(&files, &server, &[]);
    terminal.write("go\r");
    let question = terminal.until("Do this?");
    assert!(
        question.contains("asks because") && question.contains("[p]attern: run_command(touch:*)"),
        "{question:?}"
    );
    terminal.write("a");
    terminal.until("Done.");
    terminal.until("> ");
    terminal.write("/permissions\r");
    terminal.until("1  exactly this call: run_command");
    terminal.until("> ");
    terminal.write("/permissions 1\r");
    terminal.until("taken back");
    terminal.until("nothing is allowed");
    terminal.until("> ");
    terminal.write("go on\r");
    terminal.until("Do this?");
    terminal.write("n");
    terminal.until("because");
    terminal.write("use mkdir\r");
    terminal.until("Again.");
    end(terminal);
    let told = server.completions()[3].body["messages"].to_string();
    assert!(told.contains("the user said no: use mkdir"), "{told}");
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
fn plans_thoughts_results_and_changes_can_be_seen_again() {
    let files = directory(&[("a.txt", &(1..=30).map(|n| format!("row {n}")).collect::<Vec<_>>().join("\n"))]);
    let plan =
        json!({"steps": [{"step": "look", "status": "done"}, {"step": "change", "status": "in_progress"}]});
    let edit = json!({"file_path": "a.txt", "old_string": "row 7\n", "new_string": "seven\n"});
    let server = Server::new(vec![
        calls("c1", "plan", &plan),
        calls("c2", "read_file", &json!({"file_path": "a.txt"})),
        calls("c3", "edit_file", &edit),
        thinks("quite deeply ", "Done."),
    ]);
    let mut terminal = start(&files, &server, &["--approval-mode", "auto-edit"]);
    terminal.write("go\r");
    terminal.until("1 of 2 steps done: change");
    terminal.until("more lines · /show shows all");
    terminal.until("+seven");
    terminal.until("Done.");
    terminal.until("> ");
    for (command, says) in [
        ("/plan", "[>] change"),
        ("/thinking", "quite deeply"),
        ("/show 2", "row 30"),
        ("/diff", "-row 7"),
        ("/undo", "a.txt"),
        ("/redo", "a.txt"),
        ("/redo", "nothing was taken back"),
        ("/mcp", "there are no MCP servers"),
        ("/tools", "plan             of the conversation"),
        ("/model nosuch", "the server does not list it, but scripted"),
        ("/modle some-model", "did you mean /mode or /model?"),
        ("/dialect hermes", "calls are written in hermes-json, and read in it alone"),
        ("/mode plan", "plan mode: only reads"),
        ("/system Be brief.", "added to the instructions"),
        ("/export talk.md", "talk.md"),
    ] {
        terminal.write(&format!("{command}\r"));
        terminal.until(says);
        terminal.until("> ");
    }
    end(terminal);
    let exported = std::fs::read_to_string(files.path().join("talk.md")).unwrap();
    assert!(exported.contains("Done."), "{exported}");
}

#[test]
fn nothing_seems_to_go_on_behind_an_answer_whose_raw_text_is_shown() {
    let files = directory(&[]);
    let server = Server::new(vec![thinks("quite deeply ", "Done.")]);
    let mut terminal = start(&files, &server, &["--debug"]);
    terminal.write("go\r");
    terminal.until("all of it is text");
    terminal.until("> ");
    // Whatever is being done is drawn ten times a second.
    std::thread::sleep(Duration::from_millis(500));
    terminal.write("/thinking\r");
    let seen = terminal.until("quite deeply");
    assert!(!seen.contains("writing"), "{seen:?}");
    end(terminal);
}

#[test]
fn the_context_that_a_server_has_is_learnt_once_it_has_answered() {
    let about = About {
        others: vec![
            ("/api/version", json!({"version": "1"}).to_string()),
            ("/api/ps", json!({"models": [{"name": "scripted:latest", "context_length": 4096}]}).to_string()),
        ],
        ..About::default()
    };
    let files = directory(&[]);
    let server = Server::about(about, vec![says("Hello.")]);
    let mut terminal = start(&files, &server, &[]);
    terminal.write("hi\r");
    terminal.until("Hello.");
    terminal.until("2 % of 4096");
    end(terminal);
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

#[test]
fn only_the_tools_that_are_named_are_offered() {
    let files = directory(&[]);
    for (named, offered) in [("read_file", vec!["read_file"]), ("read_file,plan", vec!["read_file", "plan"])]
    {
        let server = Server::new(vec![says("Yes.")]);
        let mut terminal = start(&files, &server, &["--tools", named]);
        terminal.write("go\r");
        terminal.until("Yes.");
        end(terminal);
        let tools = server.completions()[0].body["tools"].as_array().unwrap().clone();
        let names: Vec<&str> = tools.iter().filter_map(|tool| tool["function"]["name"].as_str()).collect();
        assert_eq!(names, offered, "{named}");
    }
}
