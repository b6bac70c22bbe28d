//! Hooks: what they are told, and what becomes of what they say.

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::del::{Run, del, directory, run};
use crate::server::{Server, calls, says};
use crate::terminal::Terminal;

fn home(hooks: &str) -> TempDir {
    directory(&[(".config/del/config.toml", hooks)])
}

fn ask(files: &TempDir, home: &TempDir, server: &Server, options: &[&str]) -> Run {
    let arguments = [&["-p", "Go.", "--base-url", server.url()], options].concat();
    run(del(&arguments).current_dir(files.path()).env("HOME", home.path()), "")
}

fn touch(id: &str) -> crate::server::Reply {
    calls(id, "run_command", &json!({"command": "touch made"}))
}

/// What the model was told last.
fn told(server: &Server) -> String {
    server.completions().last().unwrap().body["messages"].as_array().unwrap().last().unwrap().to_string()
}

#[test]
fn a_hook_is_told_of_a_call_however_it_is_written_and_can_deny_it() {
    let home = home(
        "[[hooks.PreToolUse]]\nmatcher = \"Bash\"\ncommand = \"cat > \\\"$CLAUDE_PROJECT_DIR/seen\\\"; echo 'not today' >&2; exit 2\"\n",
    );
    let files = directory(&[]);
    let server = Server::new(vec![
        calls("c1", "shell", &json!({"cmd": "touch made"})),
        calls("c2", "bash", &json!({"cmd": "touch made"})),
        says("I may not."),
    ]);
    // Not even where nothing asks.
    let got = ask(&files, &home, &server, &["--unsafe"]);
    assert_eq!((got.code, got.out.as_str()), (0, "I may not.\n"), "{got:#?}");
    assert!(got.err.contains("hook denied the call: not today (PreToolUse: cat >"), "{got:#?}");
    assert!(!files.path().join("made").exists());
    assert!(told(&server).contains("a hook of the user denied this call: not today"), "{}", told(&server));
    let seen: Value = serde_json::from_slice(&std::fs::read(files.path().join("seen")).unwrap()).unwrap();
    assert_eq!(
        (&seen["tool_name"], &seen["tool_input"], &seen["hook_event_name"], &seen["permission_mode"]),
        (
            &json!("run_command"),
            &json!({"command": "touch made"}),
            &json!("PreToolUse"),
            &json!("bypassPermissions")
        ),
        "{seen:#}"
    );
    assert!(seen["transcript_path"].as_str().unwrap().contains("/sessions/"), "{seen:#}");
    assert_eq!(seen["cwd"], json!(files.path().canonicalize().unwrap()));
}

#[test]
fn a_task_is_told_to_hooks_before_and_after_like_any_call() {
    let log = |event: &str| {
        format!("[[hooks.{event}]]\nmatcher = \"task\"\ncommand = \"cat >> $CLAUDE_PROJECT_DIR/seen")
    };
    let home =
        home(&format!("{}\"\n{}; echo 'ask twice' >&2; exit 2\"\n", log("PreToolUse"), log("PostToolUse")));
    let files = directory(&[]);
    let task = json!({"description": "look", "prompt": "What is here?"});
    let server = Server::new(vec![calls("t1", "task", &task), says("Nothing."), says("Nothing at all.")]);
    let got = ask(&files, &home, &server, &[]);
    assert_eq!((got.code, got.out.as_str()), (0, "Nothing at all.\n"), "{got:#?}");
    let seen = std::fs::read_to_string(files.path().join("seen")).unwrap();
    let events: Vec<Value> =
        serde_json::Deserializer::from_str(&seen).into_iter().collect::<Result<_, _>>().unwrap();
    let names: Vec<_> = events.iter().map(|event| event["hook_event_name"].as_str().unwrap()).collect();
    assert_eq!(names, ["PreToolUse", "PostToolUse"]);
    assert!(events[1]["tool_response"]["text"].as_str().unwrap().starts_with("Nothing."), "{events:#?}");
    assert!(told(&server).contains("[a hook objects: ask twice]"), "{}", told(&server));
}

#[test]
fn a_hooks_yes_is_one_to_the_usual_question_and_to_nothing_more() {
    let yes = "echo '{\"hookSpecificOutput\": {\"hookEventName\": \"PreToolUse\", \"permissionDecision\": \"allow\"}}'";
    let hook = format!("[[hooks.PreToolUse]]\ncommand = '''{yes}'''\n");
    let config = home(&hook);
    let files = directory(&[]);
    let server = Server::new(vec![
        touch("c1"),
        calls("c2", "write_file", &json!({"file_path": ".envrc", "content": "x"})),
        calls("c3", "write_file", &json!({"file_path": "../out", "content": "x"})),
        calls("c4", "run_command", &json!({"command": "touch .env"})),
        says("Done."),
    ]);
    let got = ask(&files, &config, &server, &[]);
    assert_eq!(got.code, 0, "{got:#?}");
    assert!(files.path().join("made").exists() && got.err.contains("allowed the call"), "{got:#?}");
    // A reason to look twice still asks, and nobody is there.
    assert!(!files.path().join(".envrc").exists() && !files.path().join(".env").exists());
    // What is advised lets it run.
    assert!(got.err.contains("`--allow-tool 'run_command(touch .env)'"), "{got:#?}");
    let messages = server.completions().last().unwrap().body["messages"].to_string();
    assert!(messages.contains("needs approval") && messages.contains("outside"), "{messages}");

    // A call with a guess in its arguments asks whatever a hook says.
    let guessed = "<tool_call>\n{\"name\": \"run_command\", \"arguments\": {\"command\": \"touch guessed\", \"command\": \"touch guessed2\"}}\n</tool_call>";
    let server = Server::new(vec![says(guessed), says("Done.")]);
    let got = ask(&files, &config, &server, &["--tools-mode", "prompt", "--dialect", "hermes-json"]);
    assert_eq!(got.code, 0, "{got:#?}");
    assert!(!files.path().join("guessed").exists() && !files.path().join("guessed2").exists(), "{got:#?}");

    // That of a project's hook is none at all; its no is one.
    let theirs = directory(&[(".del/config.toml", &hook)]);
    let nobody = directory(&[]);
    let trusted = run(del(&["trust", "-y"]).current_dir(theirs.path()).env("HOME", nobody.path()), "");
    assert_eq!(trusted.code, 0, "{trusted:#?}");
    let server = Server::new(vec![touch("c1"), says("Done.")]);
    let got = ask(&theirs, &nobody, &server, &[]);
    assert!(!theirs.path().join("made").exists() && got.err.contains("allowed the call, which"), "{got:#?}");
}

#[test]
fn before_a_call_a_hook_that_cannot_be_started_asks() {
    for command in ["/nonexistent/check", "/etc/passwd", "no-such-program --check"] {
        let config = home(&format!("[[hooks.PreToolUse]]\ncommand = \"{command}\"\n"));
        let files = directory(&[]);
        let server = Server::new(vec![touch("c1"), says("Done.")]);
        let got = ask(&files, &config, &server, &["--approval-mode", "yolo"]);
        assert!(got.err.contains("was not heard: it cannot be started: "), "{got:#?}");
        assert!(!files.path().join("made").exists(), "{got:#?}");
    }
}

#[test]
fn what_a_hook_says_at_the_start_is_shown_and_the_question_is_asked() {
    for command in ["echo beware >&2; exit 2", "echo '{\"decision\": \"block\", \"reason\": \"beware\"}'"] {
        let config = home(&format!("[[hooks.SessionStart]]\ncommand = '''{command}'''\n"));
        let server = Server::new(vec![says("Hello.")]);
        let got = ask(&directory(&[]), &config, &server, &[]);
        assert_eq!((got.code, got.out.as_str()), (0, "Hello.\n"), "{got:#?}");
        assert!(got.err.contains("says: beware"), "{got:#?}");
    }
}

#[test]
fn a_projects_hooks_do_not_run_before_they_are_trusted() {
    let files = directory(&[(".del/config.toml", "[[hooks.UserPromptSubmit]]\ncommand = \"touch ran\"\n")]);
    let home = directory(&[]);
    let server = Server::new(vec![says("Hello.")]);
    let got = ask(&files, &home, &server, &[]);
    assert!(got.err.contains("left out: ") && !files.path().join("ran").exists(), "{got:#?}");
    let shown = run(del(&["trust"]).current_dir(files.path()).env("HOME", home.path()), "");
    assert!(shown.err.contains("UserPromptSubmit: touch ran"), "{shown:#?}");
    run(del(&["trust", "-y"]).current_dir(files.path()).env("HOME", home.path()), "");
    assert_eq!(ask(&files, &home, &server, &[]).out, "Hello.\n");
    assert!(files.path().join("ran").exists());
}

#[test]
fn hooks_ask_change_add_object_and_send_on() {
    let home = home(
        r#"
[[hooks.SessionStart]]
command = "echo It is Monday."
[[hooks.UserPromptSubmit]]
command = "echo The user is in a hurry."
[[hooks.PreToolUse]]
matcher = "read_file"
command = '''echo '{"hookSpecificOutput": {"updatedInput": {"file_path": "b.txt"}}}' '''
[[hooks.PreToolUse]]
matcher = "Write"
command = '''echo '{"hookSpecificOutput": {"permissionDecision": "ask", "permissionDecisionReason": "look at it"}}' '''
[[hooks.PostToolUse]]
matcher = "Read"
command = '''echo '{"decision": "block", "reason": "too short", "hookSpecificOutput": {"additionalContext": "see c.txt"}}' '''
[[hooks.Stop]]
command = '''if grep -q '"stop_hook_active":false'; then echo 'run the tests' >&2; exit 2; fi'''
[[hooks.Stop]]
command = "echo broken >&2; exit 1"
"#,
    );
    let files = directory(&[("a.txt", "first\n"), ("b.txt", "second\n")]);
    let server = Server::new(vec![
        calls("c1", "read_file", &json!({"file_path": "a.txt"})),
        calls("c2", "write_file", &json!({"file_path": "new.txt", "content": "x"})),
        says("Done."),
        says("They pass."),
    ]);
    let got = ask(&files, &home, &server, &["--approval-mode", "auto-edit"]);
    assert_eq!((got.code, got.out.as_str()), (0, "They pass.\n"), "{got:#?}");
    let seen = server.completions();
    let question = seen[0].body["messages"][1]["content"].as_str().unwrap().to_owned();
    assert!(
        question.starts_with("Go.") && question.contains("Monday") && question.contains("hurry"),
        "{question}"
    );
    let read = seen[1].body["messages"].as_array().unwrap().last().unwrap().to_string();
    for said in
        ["second", "a hook changed the arguments", "[a hook objects: too short]", "[a hook adds: see c.txt]"]
    {
        assert!(read.contains(said), "{said}: {read}");
    }
    assert!(!files.path().join("new.txt").exists(), "the hook asks, and nobody is there");
    let denied = seen[2].body["messages"].as_array().unwrap().last().unwrap().to_string();
    assert!(denied.contains("nobody is there: a hook asks: look at it"), "{denied}");
    assert!(told(&server).contains("run the tests"));
    assert!(got.err.contains("failed with exit code 1: broken"), "{got:#?}");
}

#[test]
fn a_hook_stops_a_question_or_a_task() {
    let home = home(
        "[[hooks.UserPromptSubmit]]\ncommand = \"if grep -q secret; then echo 'no secrets' >&2; exit 2; fi\"\n\
         [[hooks.PostToolUse]]\ncommand = '''echo '{\"continue\": false, \"stopReason\": \"enough\"}' '''\n",
    );
    let files = directory(&[("a.txt", "x\n")]);
    let server =
        Server::new(vec![calls("c1", "read_file", &json!({"file_path": "a.txt"})), says("Never said.")]);
    let arguments = ["-p", "the secret", "--base-url", server.url()];
    let got = run(del(&arguments).current_dir(files.path()).env("HOME", home.path()), "");
    got.fails(1, "a hook does not let this be asked: no secrets");
    assert!(server.completions().is_empty());
    ask(&files, &home, &server, &[]).fails(1, "a hook stopped this: enough");
    assert_eq!(server.completions().len(), 1);
    let server = Server::new(vec![calls("c1", "read_file", &json!({"file_path": "a.txt"})), says("x")]);
    let got = ask(&files, &home, &server, &["--output-format", "stream-json"]);
    let hook = got.lines().into_iter().find(|event| event["type"] == "hook").unwrap();
    assert_eq!((&hook["event"], &hook["message"]), (&json!("PostToolUse"), &json!("stops here: enough")));
}

#[test]
fn the_conversation_lists_hooks_and_shows_what_they_say() {
    let files = directory(&[(
        ".config/del/config.toml",
        "[[hooks.PreToolUse]]\nmatcher = \"Bash\"\ncommand = \"echo 'use make' >&2; exit 2\"\n",
    )]);
    let server = Server::new(vec![touch("c1"), says("I may not.")]);
    let mut terminal = Terminal::with(&files, &["--base-url", server.url(), "--color", "never"], 60, &[]);
    terminal.until("> ");
    terminal.write("/hooks\r");
    terminal.until("PreToolUse Bash: echo 'use make' >&2; exit 2");
    terminal.until("> ");
    terminal.write("go\r");
    let seen = terminal.until("I may not.");
    assert!(seen.contains("hook denied the call: use make (PreToolUse: echo"), "{seen:?}");
    terminal.write("exit\r");
    assert_eq!(terminal.end().1, 0);
}
