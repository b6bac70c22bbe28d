//! A task from question to answer, as models of many dialects write it.

use del_dialects::{Call, Dialects, Tool};
use del_tools::Toolset;
use serde_json::json;
use tempfile::TempDir;

use crate::consent::Terminal;
use crate::del::{del, directory, run};
use crate::server::{Reply, Server, calls, says, words};

/// Of every family of forms.
const DIALECTS: [&str; 12] = [
    "hermes-json",
    "qwen3-coder",
    "mistral-args",
    "llama3-json",
    "deepseek-v31",
    "kimi-k2",
    "glm45",
    "harmony",
    "gemma4",
    "pythonic",
    "minimax-m2",
    "amrita-am",
];

#[test]
fn a_task_of_several_calls_is_done_in_twelve_dialects() {
    let tools: Vec<Tool> = Toolset::Core.definitions().iter().map(del_tools::Definition::tool).collect();
    for name in DIALECTS {
        let dialect = Dialects::builtin().get(name).unwrap();
        let write = |calls: &[(&str, serde_json::Value)]| {
            let calls: Vec<Call> = calls
                .iter()
                .map(|(name, arguments)| Call {
                    id: None,
                    name: (*name).into(),
                    arguments: arguments.to_string(),
                })
                .collect();
            says(&dialect.render_calls(&calls, &tools).unwrap())
        };
        let files = directory(&[("a.txt", "forty-two\n")]);
        let server = Server::new(vec![
            // One that fails, one that is right, one that nobody agrees to, one that nobody has to.
            write(&[("read_file", json!({"file_path": "b.txt"}))]),
            write(&[("read_file", json!({"file_path": "a.txt"}))]),
            write(&[("run_command", json!({"command": "touch made.txt"}))]),
            write(&[(
                "edit_file",
                json!({"file_path": "a.txt", "old_string": "two", "new_string": "three"}),
            )]),
            says("It is forty-three now."),
        ]);
        let options = [
            "-p",
            "Count on.",
            "--base-url",
            server.url(),
            "--tools-mode",
            "prompt",
            "--dialect",
            name,
            "--approval-mode",
            "auto-edit",
        ];
        let got = run(del(&options).current_dir(files.path()), "");
        assert_eq!((got.code, got.out.as_str()), (0, "It is forty-three now.\n"), "{name}: {got:#?}");
        assert_eq!(std::fs::read_to_string(files.path().join("a.txt")).unwrap(), "forty-three\n", "{name}");
        assert!(!files.path().join("made.txt").exists(), "{name}");
        let told: Vec<String> =
            server.completions().iter().map(|seen| seen.body["messages"].to_string()).collect();
        assert!(told[1].contains("Error: "), "{name}: {}", told[1]);
        assert!(told[2].contains("forty-two") && told[3].contains("Denied"), "{name}: {}", told[3]);
    }
}

/// Ten files, each with a name that is to be another.
fn ten_files() -> TempDir {
    let names: Vec<String> = (0..10).map(|n| format!("src/part{n}.py")).collect();
    let files: Vec<(&str, &str)> =
        names.iter().map(|name| (name.as_str(), "def old():\n    return old\n")).collect();
    directory(&[&files[..], &[("check.sh", "! grep -rq old src\n")]].concat())
}

#[test]
fn ten_files_are_changed_with_one_question_and_undone_with_one_command() {
    let files = ten_files();
    let call = |n: usize, name: &str, arguments: serde_json::Value| calls(&format!("c{n}"), name, &arguments);
    let path = |n: usize| format!("src/part{n}.py");
    // As a model would go about it: it searches, reads, edits, and runs the check before and behind.
    let mut script = vec![
        call(100, "grep_search", json!({"pattern": "old"})),
        call(101, "run_command", json!({"command": "grep -rn old src | head -n 3"})),
        call(102, "run_command", json!({"command": "sh check.sh"})),
    ];
    for n in 0..10 {
        script.push(call(n, "read_file", json!({"file_path": path(n)})));
        let edit =
            json!({"file_path": path(n), "old_string": "old", "new_string": "new", "replace_all": true});
        script.push(call(20 + n, "edit_file", edit));
    }
    script.push(call(103, "run_command", json!({"command": "sh check.sh"})));
    script.push(says("All ten are changed."));
    let server = Server::new(script);
    let arguments = ["--base-url", server.url(), "--color", "never", "--approval-mode", "auto-edit"];
    let mut terminal = Terminal::with(&files, &arguments, 100, &[]);
    terminal.until("ends");
    terminal.until("> ");
    terminal.write("Rename old to new.\r");
    terminal.until("Do this?");
    terminal.write("a");
    let seen = terminal.until("All ten are changed.");
    assert!(!seen.contains("Do this?"), "{seen:?}");
    let changed = |name: &str| {
        (0..10)
            .filter(|n| std::fs::read_to_string(files.path().join(path(*n))).unwrap().contains(name))
            .count()
    };
    assert_eq!((changed("new"), changed("old")), (10, 0));
    terminal.until("> ");
    terminal.write("/undo all\r");
    terminal.until("undone: ");
    terminal.until("> ");
    assert_eq!((changed("new"), changed("old")), (0, 10));
    terminal.write("/redo\r");
    terminal.until("undone: ");
    terminal.until("> ");
    assert_eq!((changed("new"), changed("old")), (10, 0));
    terminal.write("exit\r");
    assert_eq!(terminal.end().1, 0);
    // Another way to the same, from outside of the conversation.
    let undone = run(del(&["undo", "--session"]).current_dir(files.path()).env("HOME", files.path()), "");
    assert_eq!((undone.code, changed("old")), (0, 10), "{undone:#?}");
}

#[test]
fn a_task_goes_on_behind_an_overflow_in_the_middle_of_it() {
    let long = (0..400).map(|n| format!("line {n} of a long file")).collect::<Vec<_>>().join("\n");
    let files = directory(&[("a.txt", &long), ("b.txt", &long), ("c.txt", "forty-two\n")]);
    let too_long =
        json!({"error": {"message": "the request exceeds the available context size", "n_ctx": 4096}});
    let server = Server::new(vec![
        calls("c1", "read_file", &json!({"file_path": "a.txt"})),
        calls("c2", "read_file", &json!({"file_path": "b.txt"})),
        calls("c3", "read_file", &json!({"file_path": "c.txt"})),
        Reply::Status(400, too_long.to_string()),
        says("c.txt says forty-two; it is to say forty-three."),
        calls("c4", "edit_file", &json!({"file_path": "c.txt", "old_string": "two", "new_string": "three"})),
        says("It is forty-three now."),
    ]);
    let arguments = ["-p", "Count c.txt on.", "--base-url", server.url(), "--approval-mode", "auto-edit"];
    let got = run(del(&arguments).current_dir(files.path()).env("HOME", files.path()), "");
    assert_eq!((got.code, got.out.as_str()), (0, "It is forty-three now.\n"), "{got:#?}");
    assert!(got.err.contains("the context was nearly full"), "{got:#?}");
    assert_eq!(std::fs::read_to_string(files.path().join("c.txt")).unwrap(), "forty-three\n");
    let last = server.completions().pop().unwrap().body["messages"].to_string();
    assert!(last.contains("Count c.txt on.") && !last.contains("line 200 of"), "{}", last.len());
}

#[test]
fn a_task_that_was_killed_goes_on_in_twelve_dialects() {
    let tools: Vec<Tool> = Toolset::Core.definitions().iter().map(del_tools::Definition::tool).collect();
    for name in DIALECTS {
        let dialect = Dialects::builtin().get(name).unwrap();
        let write = |name: &str, arguments: &serde_json::Value| {
            let call = Call { id: None, name: name.into(), arguments: arguments.to_string() };
            says(&dialect.render_calls(&[call], &tools).unwrap())
        };
        let edit = json!({"file_path": "a.txt", "old_string": "two", "new_string": "three"});
        let files = directory(&[("a.txt", "forty-two\n")]);
        let server = Server::new(vec![
            write("read_file", &json!({"file_path": "a.txt"})),
            Reply::Silence(words("It says ")),
            write("edit_file", &edit),
            says("Done."),
        ]);
        let options = ["--base-url", server.url(), "--approval-mode", "auto-edit"];
        let how = ["--tools-mode", "prompt", "--dialect", name];
        let command = |prompt: &[&str]| {
            let mut command = del(&[prompt, &options[..]].concat());
            command.current_dir(files.path()).env("HOME", files.path());
            command
        };
        let quiet = || std::process::Stdio::null();
        let mut first = command(&[&["-p", "Count on."][..], &how].concat());
        let mut child = first.stdin(quiet()).stdout(quiet()).stderr(quiet()).spawn().unwrap();
        while server.completions().len() < 2 {
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        child.kill().unwrap();
        child.wait().unwrap();
        // The dialect and the mode are those of before.
        let got = run(&mut command(&["-p", "Go on.", "-c"]), "");
        assert_eq!((got.code, got.out.as_str()), (0, "Done.\n"), "{name}: {got:#?}");
        assert_eq!(std::fs::read_to_string(files.path().join("a.txt")).unwrap(), "forty-three\n", "{name}");
        let told = server.completions()[2].body["messages"].to_string();
        assert!(told.contains("forty-two") && told.contains("Go on."), "{name}: {told}");
    }
}

/// How the model learns of the tools, and what the server says before its model answers.
const MODES: [&str; 4] = ["native", "prompt", "hybrid", "auto"];

#[test]
fn in_each_mode_a_file_is_read_in_twelve_dialects() {
    let tools: Vec<Tool> = Toolset::Core.definitions().iter().map(del_tools::Definition::tool).collect();
    let all: Vec<Tool> =
        tools.iter().cloned().chain([del_wire::Hybrid::new(&tools).unwrap().request()]).collect();
    for (mode, name) in MODES.iter().flat_map(|mode| DIALECTS.map(|name| (*mode, name))) {
        let case = format!("{mode}, {name}");
        let dialect = Dialects::builtin().get(name).unwrap();
        let write = |name: &str, arguments: serde_json::Value| {
            let call = Call { id: None, name: name.into(), arguments: arguments.to_string() };
            says(&dialect.render_calls(&[call], &all).unwrap())
        };
        let refused = || {
            let error = json!({"error": {"message": "scripted does not support tools"}});
            Reply::Status(400, error.to_string())
        };
        let before = match mode {
            "hybrid" => vec![write("request_tools", json!({"query": "read_file"}))],
            "auto" => vec![refused()],
            _ => Vec::new(),
        };
        let asked = before.len();
        let answers = [write("read_file", json!({"file_path": "a.txt"})), says("It says forty-two.")];
        let server = Server::new(before.into_iter().chain(answers).collect());
        let files = directory(&[("a.txt", "forty-two\n")]);
        let mut options = vec!["-p", "What is in a.txt?", "--base-url", server.url(), "--tools-mode", mode];
        if mode != "native" {
            options.extend(["--dialect", name]);
        }
        let got = run(del(&options).current_dir(files.path()), "");
        assert_eq!((got.code, got.out.as_str()), (0, "It says forty-two.\n"), "{case}: {got:#?}");

        let bodies: Vec<serde_json::Value> = server.completions().into_iter().map(|seen| seen.body).collect();
        assert_eq!(bodies.len(), asked + 2, "{case}");
        // Over the API where that is the mode, or until the server refuses it.
        assert_eq!(bodies[0].get("tools").is_some(), matches!(mode, "native" | "auto"), "{case}");
        assert_eq!(bodies[1].get("tools").is_some(), mode == "native", "{case}");
        // A parameter that only the whole definition has.
        let defined = |body: &serde_json::Value| body.to_string().contains("file_path");
        assert_eq!(defined(&bodies[0]), mode != "hybrid", "{case}: {}", bodies[0]);
        assert!(bodies[asked..].iter().all(defined), "{case}");
        assert!(bodies[asked + 1]["messages"].to_string().contains("forty-two"), "{case}");
        if (mode, name) == ("hybrid", "amrita-am") {
            let told = bodies[2]["messages"].to_string();
            assert!(told.contains("<am:request_tools>read_file</am:request_tools>"), "{told}");
            assert!(told.contains("<am:tool_result name=\\\"request_tools\\\">"), "{told}");
        }
    }
}
