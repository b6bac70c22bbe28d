//! The conversation at the terminal.

use serde_json::json;

use crate::del::{del, directory, run};
use crate::server::{Reply, Server, calls, says, words};
use crate::terminal::Terminal;

#[test]
fn a_conversation_goes_from_word_to_word() {
    let files = directory(&[("a.txt", "forty-two\n")]);
    let server = Server::new(vec![
        calls("c1", "run_command", &json!({"command": "echo made > made.txt"})),
        says("I made it."),
        says("You are welcome."),
    ]);
    let mut terminal = Terminal::start(&files, &["--base-url", server.url()]);
    let greeting = terminal.until("`exit` ends");
    assert!(greeting.contains("safe mode") && greeting.contains("scripted"), "{greeting:?}");
    terminal.until("> ");
    terminal.write("help\r");
    terminal.until("attach the file");
    terminal.write("make it\r");
    terminal.until("Do this?");
    terminal.write("y\r");
    terminal.until("I made it.");
    assert_eq!(std::fs::read_to_string(files.path().join("made.txt")).unwrap(), "made\n");
    terminal.write("unsafe\r");
    terminal.until("without asking");
    terminal.write("safe\r");
    terminal.until("asks before it writes");
    terminal.write("thank you, see @a.txt\r");
    terminal.until("You are welcome.");
    terminal.write("!cat a.txt; printf 'at the end'; exit 3\r");
    let before = terminal.until("forty-two\r\nat the end\r\n");
    assert!(!before.contains("STDOUT") && !before.contains("exit code"), "{before:?}");
    terminal.until("exit code 3");
    terminal.write("!sleep 60\r");
    terminal.until("running `sleep 60`");
    terminal.until("Esc stops");
    terminal.write("\u{1b}");
    terminal.until("cancelled");
    terminal.write("!cat a.txt\r");
    let before = terminal.until("forty-two\r\n");
    let behind = terminal.until("> ");
    assert!(!before.contains("Success") && !behind.contains("code"), "{before:?} {behind:?}");
    terminal.write("/nosuch\r");
    terminal.until("there is no command /nosuch");
    terminal.write("exit\r");
    let (seen, code) = terminal.end();
    assert_eq!(code, 0, "{seen:?}");
    let requests = server.completions();
    let messages = requests[2].body["messages"].as_array().unwrap();
    assert_eq!(messages.len(), 6, "{messages:#?}");
    let last = messages[5]["content"].as_str().unwrap();
    assert!(last.starts_with("thank you, see @a.txt\n\nThe file a.txt:\n     1\tforty-two"), "{last}");
    let history = std::fs::read_to_string(files.path().join(".local/state/del/history")).unwrap();
    assert!(history.contains("make it") && history.contains("/nosuch"), "{history}");
}

#[test]
fn ctrl_c_stops_an_answer_and_the_conversation_goes_on() {
    let files = directory(&[]);
    let server = Server::new(vec![Reply::Silence(words("It is a long story and it ")), says("Yes.")]);
    let mut terminal = Terminal::start(&files, &["--base-url", server.url()]);
    terminal.until("> ");
    terminal.write("tell me\r");
    terminal.until("a long story and");
    terminal.write("\u{3}");
    terminal.until("cancelled");
    terminal.until("> ");
    terminal.write("still there?\r");
    terminal.until("Yes.");
    terminal.until("> ");
    terminal.write("\u{3}");
    terminal.until("ends");
    terminal.write("\u{3}");
    let (seen, code) = terminal.end();
    assert_eq!(code, 130, "{seen:?}");
}

#[test]
fn calls_that_have_run_keep_their_results_when_the_turn_is_stopped() {
    let files = directory(&[]);
    let call = |index: usize, command: &str| {
        let function = json!({"name": "run_command", "arguments": json!({"command": command}).to_string()});
        let call =
            json!({"index": index, "id": format!("c{index}"), "type": "function", "function": function});
        json!({"choices": [{"index": 0, "delta": {"tool_calls": [call]}}]})
    };
    let end = json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]});
    let three = vec![
        call(0, "echo whole > a; cat a"),
        call(1, "echo half > b; cat b; sleep 60"),
        call(2, "echo never > c"),
        end,
    ];
    let server = Server::new(vec![Reply::Stream(three), says("Stopped.")]);
    let mut terminal = Terminal::start(&files, &["--base-url", server.url(), "--unsafe", "--color", "never"]);
    terminal.until("> ");
    terminal.write("work\r");
    terminal.until("│ half");
    terminal.write("\u{1b}");
    terminal.until("cancelled\r\n");
    terminal.until("> ");
    terminal.write("what ran?\r");
    terminal.until("Stopped.");
    terminal.until("> ");
    terminal.write("exit\r");
    assert_eq!(terminal.end().1, 0);
    let messages = server.completions()[1].body["messages"].clone();
    let told: Vec<&str> = (3..6).map(|place| messages[place]["content"].as_str().unwrap()).collect();
    assert!(told[0].contains("whole") && !told[0].contains("cancelled"), "{told:#?}");
    assert!(
        told[1].contains("cancelled by the user. Partial output:") && told[1].contains("half"),
        "{told:#?}"
    );
    assert_eq!(told[2], "Error: cancelled by the user.");
    assert!(!files.path().join("c").exists());
}

#[test]
fn a_program_that_is_told_to_end_while_the_model_works_ends() {
    let files = directory(&[]);
    let server = Server::new(vec![Reply::Silence(words("It is a long story and it "))]);
    let mut terminal = Terminal::start(&files, &["--base-url", server.url()]);
    terminal.until("> ");
    terminal.write("tell me\r");
    terminal.until("a long story and");
    terminal.terminate();
    let (seen, code) = terminal.end();
    assert!(code == 143 && seen.contains("cancelled") && !seen.contains("Ctrl-C again"), "{code}: {seen:?}");
}

#[test]
fn a_conversation_may_come_from_a_pipe_and_an_error_does_not_end_it() {
    let error = json!({"error": {"message": "no such model"}}).to_string();
    let server = Server::new(vec![Reply::Status(404, error), says("Hello.")]);
    let got = run(&mut del(&["--base-url", server.url()]), "first\nsecond\nquit\nthird\n");
    assert_eq!(got.code, 0, "{got:#?}");
    assert!(got.err.contains("no such model"), "{got:#?}");
    assert!(got.err.contains("the conversation goes on without this question"), "{got:#?}");
    assert_eq!(got.out.trim(), "Hello.");
    let requests = server.completions();
    let messages = requests[1].body["messages"].as_array().unwrap();
    assert_eq!((requests.len(), messages.len(), &messages[1]["content"]), (2, 2, &json!("second")));
}

#[test]
fn help_and_errors_break_between_words() {
    let files = directory(&[]);
    let error = json!({"error": {"message": "the model that you have asked for is not on this server"}});
    let server = Server::new(vec![Reply::Status(404, error.to_string())]);
    let mut terminal = Terminal::with(&files, &["--base-url", server.url(), "--color", "never"], 50, &[]);
    terminal.until("> ");
    terminal.write("/help all\r");
    // Behind what the popup offered meanwhile.
    terminal.until("/help [NAME]");
    let help = terminal.until("without a slash\r\n");
    terminal.until("> ");
    terminal.write("hi\r");
    terminal.until("error: ");
    let error = terminal.until("without this question");
    terminal.until("> ");
    terminal.write("\u{4}");
    terminal.end();
    let bad =
        Terminal::with(&files, &["parse", "--dialect", "nosuchdialect", "--color", "never"], 50, &[]).end().0;
    for (text, says) in [
        (
            &help,
            "take back the last change of files, the one with this id, the last N, or `all` since Del began; `/undo list` shows them",
        ),
        (&error, "the model that you have asked for is not on this server. Check the name of the model"),
        (&bad, "error: expected the name of a dialect, got `nosuchdialect`; `del dialects` lists all"),
    ] {
        let rows = text.lines().map(|row| row.trim_end_matches('\r'));
        assert!(rows.clone().all(|row| row.chars().count() <= 50), "{text}");
        let words: Vec<&str> = rows.flat_map(str::split_whitespace).collect();
        assert!(words.join(" ").contains(says), "expected {says:?}: {text}");
    }
    assert!(help.contains("\n                     files, the one with this id"), "{help}");
}
