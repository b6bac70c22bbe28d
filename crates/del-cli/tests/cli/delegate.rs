//! Sub-agents: tasks that the model gives to another conversation.

use serde_json::{Value, json};

use crate::del::{del, directory, run};
use crate::server::{Reply, Server, calls, says, words};
use crate::terminal::Terminal;

fn task(prompt: &str, may_change: bool) -> Reply {
    let arguments = json!({"description": "find the number", "prompt": prompt, "may_change": may_change});
    calls("t1", "task", &arguments)
}

fn names(body: &Value) -> Vec<String> {
    let tools = body["tools"].as_array().unwrap();
    tools.iter().map(|tool| tool["function"]["name"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_task_is_done_in_a_context_of_its_own_with_tools_that_read() {
    let files = directory(&[("a.txt", "forty-two\n")]);
    let server = Server::new(vec![
        task("Which number is in a.txt?", false),
        calls("c1", "read_file", &json!({"file_path": "a.txt"})),
        calls("c2", "write_file", &json!({"file_path": "b.txt", "content": "x"})),
        calls("c3", "task", &json!({"description": "d", "prompt": "p"})),
        says("Forty-two, in line 1."),
        says("It is forty-two."),
    ]);
    let arguments = ["-p", "Look.", "--base-url", server.url(), "--unsafe", "--output-format", "stream-json"];
    let got = run(del(&arguments).current_dir(files.path()).env("HOME", files.path()), "");
    assert_eq!(got.code, 0, "{got:#?}");
    let seen = server.completions();
    let parents = names(&seen[0].body);
    let own = names(&seen[1].body);
    assert!(
        parents.contains(&"task".to_owned()) && parents.contains(&"write_file".to_owned()),
        "{parents:?}"
    );
    assert!(own.contains(&"read_file".to_owned()) && !own.contains(&"write_file".to_owned()), "{own:?}");
    assert!(!own.contains(&"task".to_owned()), "{own:?}");
    // It knows its task, and nothing of what was said before.
    let messages = seen[1].body["messages"].as_array().unwrap();
    assert_eq!((messages.len(), &messages[1]["content"]), (2, &json!("Which number is in a.txt?")));
    let refused = seen[4].body["messages"].to_string();
    assert!(refused.contains("write_file may not be called now"), "{refused}");
    assert!(!files.path().join("b.txt").exists());
    // The other way round, only the answer comes back.
    let parent = seen[5].body["messages"].to_string();
    assert!(parent.contains("Forty-two, in line 1.\\n[3 calls in 4 turns]"), "{parent}");
    assert!(!parent.contains("     1\\tforty-two"), "{parent}");
    let events = got.lines();
    let steps: Vec<&Value> = events.iter().filter(|event| event["type"] == "step").collect();
    assert_eq!((steps.len(), &steps[0]["name"], &steps[0]["task"]), (3, &json!("read_file"), &json!("t1")));
    let result = events.last().unwrap();
    assert_eq!(result["usage"], json!({"input_tokens": 600, "output_tokens": 42}), "{result:#}");
    assert_eq!(result["result"], "It is forty-two.");
}

#[test]
fn what_a_sub_agent_may_do_is_asked_of_the_same_person_who_sees_who_asks() {
    let files = directory(&[]);
    let server = Server::new(vec![
        task("Make it.", true),
        calls("c1", "run_command", &json!({"command": "touch made"})),
        calls("c2", "run_command", &json!({"command": "touch more"})),
        says("Half of it."),
        says("Half is done."),
    ]);
    let mut terminal = Terminal::with(&files, &["--base-url", server.url(), "--color", "never"], 100, &[]);
    terminal.until("ends");
    terminal.until("> ");
    terminal.write("go\r");
    let question = terminal.until("Do this?");
    assert!(question.contains("a sub-agent wants this, for: find the number"), "{question:?}");
    terminal.write("y");
    terminal.until("Do this?");
    terminal.write("n");
    terminal.until("because");
    terminal.write("enough\r");
    let seen = terminal.until("Half is done.");
    assert!(seen.contains("Half of it.") && seen.contains("[2 calls in 3 turns]"), "{seen:?}");
    terminal.write("exit\r");
    assert_eq!(terminal.end().1, 0);
    assert!(files.path().join("made").exists() && !files.path().join("more").exists());
    assert!(server.completions()[3].body["messages"].to_string().contains("the user said no: enough"));
}

#[test]
fn a_sub_agent_stops_with_the_one_it_works_for_and_has_its_own_limit() {
    let files = directory(&[]);
    let server = Server::new(vec![
        task("Think.", false),
        Reply::Silence(words("This takes ")),
        task("Count.", false),
        calls("c1", "list_directory", &json!({"path": "."})),
        calls("c2", "glob_files", &json!({"pattern": "*"})),
        says("Well."),
    ]);
    let arguments = ["--base-url", server.url(), "--color", "never", "--max-turns", "2"];
    let mut terminal = Terminal::with(&files, &arguments, 100, &[]);
    terminal.until("ends");
    terminal.until("> ");
    terminal.write("go\r");
    terminal.until("find the number: writing");
    terminal.write("\u{1b}");
    terminal.until("cancelled");
    terminal.until("> ");
    terminal.write("go on\r");
    terminal.until("Well.");
    terminal.write("exit\r");
    assert_eq!(terminal.end().1, 0);
    let told = server.completions().pop().unwrap().body["messages"].to_string();
    assert!(told.contains("the sub-agent has no answer: no answer within the limit of turns (2)"), "{told}");
}
