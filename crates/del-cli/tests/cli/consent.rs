//! Consent, asked on a real terminal.

use std::net::TcpListener;

use serde_json::json;
use tempfile::TempDir;

use crate::del::directory;
use crate::server::{Server, calls, says};
use crate::terminal::{Terminal, unbroken};

const PROMPT: &str = "Do this?";

fn writing(content: &str) -> [String; 4] {
    let arguments = json!({"file_path": "b.txt", "content": content}).to_string();
    ["tools".into(), "call".into(), "write_file".into(), arguments]
}

fn start(directory: &TempDir, arguments: &[String; 4]) -> Terminal {
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    Terminal::start(directory, &arguments)
}

#[test]
fn a_yes_at_the_terminal_lets_it_happen() {
    let files = directory(&[]);
    let mut terminal = start(&files, &writing("new line\n"));
    let question = terminal.until(PROMPT);
    assert!(question.contains("create b.txt") && question.contains("+new line"), "{question:?}");
    terminal.write("y\r");
    let (seen, code) = terminal.end();
    assert_eq!(code, 0, "{seen:?}");
    assert_eq!(std::fs::read_to_string(files.path().join("b.txt")).unwrap(), "new line\n");
}

#[test]
fn anything_but_a_yes_is_none() {
    let files = directory(&[]);
    let mut terminal = start(&files, &writing("x"));
    for unclear in ["\r", "maybe\r", "yy\r"] {
        terminal.until(PROMPT);
        terminal.write(unclear);
    }
    terminal.until(PROMPT);
    terminal.write("no, name it c.txt\r");
    let (seen, code) = terminal.end();
    assert_eq!(code, 1, "{seen:?}");
    assert!(seen.contains("Denied: the user said no: name it c.txt"), "{seen:?}");
    assert!(!files.path().join("b.txt").exists());
}

#[test]
fn a_yes_from_before_the_question_does_not_count() {
    let files = directory(&[]);
    let server = Server::new(vec![
        calls("c1", "write_file", &json!({"file_path": "b.txt", "content": "x"})),
        says("I may not."),
    ]);
    let mut terminal = Terminal::start(&files, &["-p", "go", "--base-url", server.url()]);
    // It is there before the program asks, and would be read by the first read of the terminal.
    terminal.write("y\ry\ry\r");
    terminal.until(PROMPT);
    terminal.write("n\r");
    let (seen, code) = terminal.end();
    assert_eq!(code, 0, "{seen:?}");
    assert!(seen.contains("Denied: the user said no"), "{seen:?}");
    assert!(!files.path().join("b.txt").exists());
}

#[test]
fn ctrl_c_at_a_question_ends_the_run_and_leaves_the_terminal_as_it_was() {
    let files = directory(&[]);
    let mut terminal = start(&files, &writing("x"));
    terminal.until(PROMPT);
    terminal.write("y\u{3}");
    let (seen, code) = terminal.end();
    assert_eq!(code, 130, "{seen:?}");
    assert!(!files.path().join("b.txt").exists());
}

#[test]
fn always_holds_for_the_same_call_only() {
    let files = directory(&[]);
    let run = |id: &str, command: &str| calls(id, "run_command", &json!({"command": command}));
    let server = Server::new(vec![
        run("c1", "echo x >> log"),
        run("c2", "echo x >> log"),
        run("c3", "echo y >> log"),
        says("Done."),
    ]);
    let mut terminal = Terminal::start(&files, &["-p", "go", "--base-url", server.url()]);
    let question = terminal.until(PROMPT);
    assert!(question.contains("$ echo x >> log"), "{question:?}");
    terminal.write("always\r");
    let question = terminal.until(PROMPT);
    assert!(question.contains("$ echo y >> log"), "{question:?}");
    terminal.write("n\r");
    let (seen, code) = terminal.end();
    assert_eq!(code, 0, "{seen:?}");
    assert_eq!(std::fs::read_to_string(files.path().join("log")).unwrap(), "x\nx\n");
}

#[test]
fn a_question_shows_what_would_hide() {
    let files = directory(&[]);
    let command = "echo \u{202e}gnihton\u{200b} \u{1b}[1A\u{1b}[2K\r; rm -rf x";
    let arguments = json!({"command": command}).to_string();
    let mut terminal =
        Terminal::start(&files, &["tools", "call", "run_command", &arguments, "--color", "never"]);
    let question = terminal.until(PROMPT);
    let shown = question.replace("\u{1b}[1m", "").replace("\u{1b}[0m", "");
    assert!(shown.contains("\\u{202e}gnihton\\u{200b} ␛[1A␛[2K␍; rm -rf x"), "{shown:?}");
    assert!(!shown.contains(['\u{1b}', '\u{202e}', '\u{200b}']), "{shown:?}");
    terminal.write("n\r");
    assert_eq!(terminal.end().1, 1);
}

#[test]
fn why_it_asks_is_said_once_and_keys_that_are_no_answer_say_what_is() {
    let files = directory(&[]);
    let arguments = json!({"command": "echo hi > out.txt"}).to_string();
    let mut terminal = Terminal::start(&files, &["tools", "call", "run_command", &arguments]);
    let question = terminal.until(PROMPT);
    assert_eq!(question.matches("this redirection may write a file").count(), 1, "{question:?}");
    terminal.write("x");
    terminal.until("press one of the keys in [ ]");
    terminal.until(PROMPT);
    terminal.write("n");
    terminal.until("no reason) ");
    terminal.write("it is late\u{1b}");
    let (seen, code) = terminal.end();
    assert!(
        code == 1 && seen.contains("Denied: the user said no.") && !seen.contains("no: it is"),
        "{seen:?}"
    );
}

#[test]
fn what_follows_a_reason_that_esc_ended_stands_on_its_own_row() {
    let files = directory(&[]);
    let server =
        Server::new(vec![calls("c1", "run_command", &json!({"command": "touch a.txt"})), says("Done.")]);
    let mut terminal = Terminal::start(&files, &["-p", "go", "--base-url", server.url()]);
    terminal.until(PROMPT);
    terminal.write("n");
    terminal.until("(Enter: no reason) ");
    terminal.write("because\u{1b}");
    let shown = terminal.until("Denied");
    assert!(shown.contains("^[\r\n"), "{shown:?}");
    terminal.until("Done.");
    assert_eq!(terminal.end().1, 0);
}

#[test]
fn a_rule_is_offered_shown_and_holds_for_the_session() {
    let files = directory(&[]);
    let run = |id: &str, command: &str| calls(id, "run_command", &json!({"command": command}));
    let server = Server::new(vec![
        run("c1", "touch a.txt"),
        run("c2", "touch b.txt c.txt"),
        run("c3", "mkdir d"),
        says("Done."),
    ]);
    let mut terminal = Terminal::start(&files, &["-p", "go", "--base-url", server.url()]);
    terminal.until(PROMPT);
    terminal.write("p\r");
    let offered = terminal.until("rule: ");
    assert!(offered.contains("Enter takes it as it stands, Esc goes back."), "{offered:?}");
    // Esc leaves the rule and not the question, whatever of it was changed.
    terminal.write("x\u{1b}");
    terminal.until(PROMPT);
    terminal.write("p\r");
    terminal.until("rule: run_command(touch:*)");
    terminal.write("\r");
    let covers = terminal.until("Take it, for this session?");
    assert!(covers.contains("It covers every command that begins with the words: touch."), "{covers:?}");
    terminal.write("y\r");
    let question = terminal.until(PROMPT);
    assert!(question.contains("$ mkdir d") && !question.contains("$ touch b.txt"), "{question:?}");
    terminal.write("n\r");
    let (seen, code) = terminal.end();
    assert_eq!(code, 0, "{seen:?}");
    assert!(files.path().join("c.txt").exists() && !files.path().join("d").exists());
}

#[test]
fn a_rule_that_does_not_cover_the_call_lets_it_ask_again() {
    let files = directory(&[]);
    let arguments = json!({"command": "touch a.txt"}).to_string();
    let mut terminal = Terminal::start(&files, &["tools", "call", "run_command", &arguments]);
    terminal.until(PROMPT);
    terminal.write("p\r");
    terminal.until("rule: ");
    // To the start of the line, nothing behind it: another rule.
    terminal.write("\u{1}\u{b}run_command(mkdir:*)\r");
    let covers = terminal.until("Take it, for this session?");
    assert!(covers.contains("begins with the words: mkdir."), "{covers:?}");
    terminal.write("y\r");
    let again = terminal.until(PROMPT);
    assert!(again.contains("does not cover this call") && again.contains("$ touch a.txt"), "{again:?}");
    terminal.write("n\r");
    assert_eq!(terminal.end().1, 1);
    assert!(!files.path().join("a.txt").exists());
}

#[test]
fn what_the_user_changed_is_shown_again_before_it_runs_and_told_to_the_model() {
    let files = directory(&[("edit.sh", "printf 'touch changed.txt\\n' > \"$1\"\n")]);
    let server =
        Server::new(vec![calls("c1", "run_command", &json!({"command": "touch a.txt"})), says("Done.")]);
    let editor = format!("/bin/sh '{}'", files.path().join("edit.sh").display());
    let mut terminal =
        Terminal::with(&files, &["-p", "go", "--base-url", server.url()], 80, &[("EDITOR", &editor)]);
    terminal.until(PROMPT);
    terminal.write("e\r");
    let again = terminal.until(PROMPT);
    assert!(again.contains("$ touch changed.txt"), "{again:?}");
    assert!(!files.path().join("changed.txt").exists());
    terminal.write("y\r");
    let (seen, code) = terminal.end();
    assert_eq!(code, 0, "{seen:?}");
    assert!(files.path().join("changed.txt").exists() && !files.path().join("a.txt").exists());
    let told = server.completions()[1].body.to_string();
    assert!(told.contains("[the user changed the command before it ran: touch changed.txt]"), "{told}");
}

#[test]
fn without_an_editor_of_the_users_longer_texts_open_in_that_of_the_system() {
    let (files, bin) = (directory(&[]), directory(&[("editor", "#!/bin/sh\necho three >> \"$1\"\n")]));
    let editor = bin.path().join("editor");
    std::fs::set_permissions(editor, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let path = format!("{}:/usr/bin:/bin", bin.path().display());
    let variables = [("EDITOR", ""), ("VISUAL", ""), ("PATH", path.as_str())];
    let arguments = json!({"file_path": "a.txt", "content": "one\ntwo\n"}).to_string();
    let mut terminal = Terminal::with(&files, &["tools", "call", "write_file", &arguments], 80, &variables);
    terminal.until(PROMPT);
    terminal.write("e\r");
    let again = terminal.until(PROMPT);
    assert!(again.contains("+three"), "{again:?}");
    terminal.write("y\r");
    assert_eq!(terminal.end().1, 0);
    assert_eq!(std::fs::read_to_string(files.path().join("a.txt")).unwrap(), "one\ntwo\nthree\n");
}

#[test]
fn what_is_refused_is_refused_to_the_user_who_changes_a_command_too() {
    let files = directory(&[]);
    let arguments = json!({"command": "touch a.txt"}).to_string();
    let mut terminal = Terminal::with(
        &files,
        &["tools", "call", "run_command", &arguments],
        80,
        &[("EDITOR", ""), ("VISUAL", "")],
    );
    terminal.until(PROMPT);
    terminal.write("e\r");
    terminal.until("> ");
    terminal.write("\u{1}\u{b}rm -rf /\r");
    let again = terminal.until(PROMPT);
    assert!(again.contains("this command is never run") && again.contains("$ touch a.txt"), "{again:?}");
    terminal.write("n\r");
    assert_eq!(terminal.end().1, 1);
}

#[test]
fn all_of_a_long_change_can_be_seen() {
    let files = directory(&[]);
    let lines: Vec<String> = (1..=260).map(|n| format!("line {n}.")).collect();
    let mut terminal = start(&files, &writing(&lines.join("\n")));
    let question = terminal.until(PROMPT);
    assert!(question.contains("line 190.") && !question.contains("line 260."), "{question:?}");
    assert!(question.contains("more lines"), "{question:?}");
    terminal.write("v\r");
    let mut seen = String::new();
    for _ in 0..6 {
        seen.push_str(&terminal.until("More:"));
        terminal.write("\r");
    }
    seen.push_str(&terminal.until(PROMPT));
    for n in 1..=260 {
        assert!(seen.contains(&format!("+line {n}.")), "line {n} is missing");
    }
    terminal.write("n\r");
    assert_eq!(terminal.end().1, 1);
}

#[test]
fn single_keys_turn_the_pages_of_a_question_and_leave_them() {
    let files = directory(&[]);
    let lines: Vec<String> = (1..=260).map(|n| format!("line {n}.")).collect();
    let mut terminal = start(&files, &writing(&lines.join("\n")));
    terminal.until(PROMPT);
    for back in ["q", "\u{1b}"] {
        terminal.write("v");
        terminal.until("More: Enter goes on, q goes back to the question");
        // A key that means something to the question means nothing here.
        terminal.write("y");
        terminal.until("More: Enter goes on, q goes back to the question");
        terminal.write(" ");
        assert!(terminal.until("More:").contains("line 60."));
        terminal.until("question");
        terminal.write(back);
        assert!(!terminal.until(PROMPT).contains("line 80."));
    }
    terminal.write("v");
    terminal.until("More:");
    terminal.until("question");
    terminal.write("\u{3}");
    assert_eq!(terminal.end().1, 130);
    assert!(!files.path().join("a.txt").exists());
}

#[test]
fn a_narrow_terminal_shows_all_of_a_command_and_no_row_of_it_looks_like_another() {
    let files = directory(&[]);
    let command = format!("touch {} '! this is safe' {}", "a".repeat(50), "b".repeat(50));
    let arguments = json!({"command": command}).to_string();
    let mut terminal =
        Terminal::with(&files, &["tools", "call", "run_command", &arguments, "--color", "never"], 40, &[]);
    let question = terminal.until(PROMPT);
    let rows: Vec<&str> = question.lines().map(|row| row.trim_end_matches('\r')).collect();
    let start = rows.iter().position(|row| row.starts_with("  $ ")).unwrap();
    let shown: Vec<&str> = rows[start + 1..].iter().map_while(|row| row.strip_prefix("  ↪ ")).collect();
    assert_eq!(format!("{}{}", &rows[start][4..], shown.concat()), command, "{question:?}");
    assert!(rows[start..].iter().all(|row| row.chars().count() <= 40), "{rows:#?}");
    terminal.write("n\r");
    assert_eq!(terminal.end().1, 1);
}

#[test]
fn nothing_that_is_printed_to_a_terminal_can_act_on_it() {
    // A control of the second kind, a change of direction, and what asks the terminal to write its clipboard.
    let hidden = "\u{9b}31mred\u{202e}\u{1b}]52;c;aGk=\u{7}";
    let call = json!({"name": hidden, "arguments": {"city": hidden}});
    let answer = format!("{hidden}\n<tool_call>\n{call}\n</tool_call>");
    let record = json!({"id": 1, "text": answer}).to_string();
    let command = json!({"id": 1, "command": format!("touch '{hidden}'")}).to_string();
    let tools = json!([{"type": "function", "function": {
        "name": "f", "description": hidden, "parameters": {"type": "object", "properties": {hidden: {"enum": [hidden]}}},
    }}]);
    let files = directory(&[
        ("answer.txt", answer.as_str()),
        ("records.jsonl", record.as_str()),
        ("commands.jsonl", command.as_str()),
        ("tools.json", &tools.to_string()),
    ]);
    for arguments in [
        &["parse", "answer.txt"][..],
        &["parse", "--events", "answer.txt"],
        &["parse", "--jsonl", "records.jsonl"],
        &["convert", "--from", "hermes-json", "--to", "qwen3-coder", "answer.txt"],
        &["policy", "check", "--jsonl"],
        &["policy", "check", &format!("touch '{hidden}'")],
        &["policy", "check", "--json", &format!("touch '{hidden}'")],
        &["render", "--dialect", "hermes-json", "--tools", "tools.json"],
        &["grammar", "--dialect", "hermes-json", "--tools", "tools.json", "--json"],
        &["grammar", "--dialect", "hermes-json", "--tools", "tools.json"],
        &["detect", "answer.txt"],
        &["detect", "answer.txt", "--json"],
        &["exec", "answer.txt"],
        &["exec", "answer.txt", "--json"],
        &["tools", "call", "read_file", &json!({"path": hidden}).to_string()],
        &["tools", "call", "read_file", &json!({"path": hidden}).to_string(), "--json"],
    ] {
        let mut terminal = Terminal::with(&files, &[arguments, &["--color", "never"]].concat(), 200, &[]);
        if arguments.ends_with(&["--jsonl"]) {
            terminal.write(&format!("{}\r\u{4}", r#"{"id": 1, "command": "touch '\\u009b\\u202e'"}"#));
        }
        let (seen, _) = terminal.end();
        assert!(
            !seen.contains(['\u{9b}', '\u{202e}', '\u{7}']) && !seen.contains("\u{1b}]"),
            "{arguments:?}: {seen:?}"
        );
    }
}

#[test]
fn one_command_gets_the_network_after_a_second_question() {
    let files = directory(&[]);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let command = format!("bash -c 'exec 3<>/dev/tcp/127.0.0.1/{port} && echo connected > got.txt'");
    let connect = || calls("c1", "run_command", &json!({"command": command, "timeout": 20}));
    let server = Server::new(vec![connect(), says("Got it."), connect(), says("Not now.")]);
    let mut terminal = Terminal::start(&files, &["--base-url", server.url(), "--color", "never"]);
    let greeting = terminal.until("`exit` ends");
    if !greeting.contains("they have no network") {
        eprintln!("nothing keeps the network from commands here: {greeting}");
        return;
    }
    terminal.until("> ");
    terminal.write("fetch it\r");
    terminal.until("[w]ith the network, once");
    terminal.until(PROMPT);
    terminal.write("w");
    let question = unbroken(&terminal.until(PROMPT));
    assert!(question.contains("! with the network, this once: it can send away all"), "{question:?}");
    assert!(!question.contains("[a]lways") && !question.contains("[w]ith"), "{question:?}");
    terminal.write("a");
    terminal.until("this question has no such answer");
    terminal.until(PROMPT);
    terminal.write("y");
    terminal.until("Got it.");
    assert!(files.path().join("got.txt").exists());
    // The next one has none, unless the user says so again.
    std::fs::remove_file(files.path().join("got.txt")).unwrap();
    terminal.write("and again\r");
    terminal.until(PROMPT);
    terminal.write("y");
    terminal.until("the user's word to one that asks");
    terminal.until("Not now.");
    assert!(!files.path().join("got.txt").exists());
    terminal.kill();
}

#[test]
fn what_is_no_command_is_offered_no_network() {
    let files = directory(&[]);
    let mut terminal = start(&files, &writing("x"));
    let question = terminal.until(PROMPT);
    assert!(!question.contains("[w]ith"), "{question:?}");
    terminal.write("w");
    terminal.until("this question has no such answer");
    terminal.until(PROMPT);
    terminal.write("n\r");
    assert_eq!(terminal.end().1, 1);
}
