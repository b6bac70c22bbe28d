//! What the assistant does besides answering: context, commands, keys.

use std::time::Duration;

use serde_json::json;
use tempfile::TempDir;

use crate::del::{del, directory, run};
use crate::server::{About, Reply, Server, calls, says, thinks, words};
use crate::terminal::Terminal;

pub(crate) fn start(files: &TempDir, server: &Server, options: &[&str]) -> Terminal {
    let arguments = [&["--base-url", server.url(), "--color", "never"], options].concat();
    let mut terminal = Terminal::with(files, &arguments, 100, &[]);
    terminal.until("ends");
    terminal.until("> ");
    terminal
}

pub(crate) fn end(mut terminal: Terminal) {
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
        ("/think", "quite deeply"),
        ("/think lots", "expected off, on, low, medium or high; got lots"),
        ("/cost", "tokens  "),
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
        ("/mode", "`/mode MODE` takes another"),
        ("/export talk.md", "the conversation is in"),
        ("/export talk.md", "is there already"),
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
fn what_helps_where_nothing_is_undone_is_told_in_the_words_of_the_conversation() {
    let files = directory(&[("a.txt", "one\n")]);
    let edit = json!({"file_path": "a.txt", "old_string": "one\n", "new_string": "two\n"});
    let server = Server::new(vec![calls("c1", "edit_file", &edit), says("Done.")]);
    let mut terminal = start(&files, &server, &["--approval-mode", "auto-edit"]);
    // Lines are broken between words.
    let words = |seen: String| seen.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut asks = |command: &str, last: &str| {
        terminal.write(&format!("{command}\r"));
        let seen = words(terminal.until(last));
        terminal.until("> ");
        seen
    };
    let told = asks("/undo all", "older");
    assert!(told.contains("began is left; `/undo` takes older"), "{told:?}");
    asks("go", "Done.");
    std::fs::write(files.path().join("a.txt"), "mine\n").unwrap();
    let told = asks("/undo", "list`");
    assert!(told.contains("came after: a.txt; `del undo ID --force` undoes it"), "{told:?}");
    let told = asks("/undo ffffffff", "shows");
    assert!(told.contains("the id 'ffffffff'; `/undo list` shows"), "{told:?}");
    end(terminal);
}

#[test]
fn how_much_the_model_thinks_is_set_in_the_middle_of_a_conversation() {
    let files = directory(&[]);
    let server = Server::new(vec![says("One."), says("Two.")]);
    let mut terminal = start(&files, &server, &["--think", "high"]);
    terminal.write("go\r");
    terminal.until("One.");
    terminal.until("> ");
    terminal.write("/think off\r");
    terminal.until("asked not to think");
    terminal.until("> ");
    terminal.write("go on\r");
    terminal.until("Two.");
    end(terminal);
    let efforts: Vec<_> =
        server.completions().iter().map(|sent| sent.body["reasoning_effort"].clone()).collect();
    assert_eq!(efforts, ["high", "none"]);
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
    // An answer that is stopped leaves that to the next.
    let server = Server::about(about, vec![Reply::Silence(words("Once upon a ")), says("Hello.")]);
    let mut terminal = start(&files, &server, &[]);
    terminal.write("tell\r");
    terminal.until("Once upon");
    terminal.write("\u{1b}");
    terminal.until("cancelled");
    terminal.until("> ");
    terminal.write("hi\r");
    terminal.until("Hello.");
    terminal.until("% of 4096");
    end(terminal);
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
