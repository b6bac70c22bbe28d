//! A task from question to answer, as models of many dialects write it.

use del_dialects::{Call, Dialects, Tool};
use del_tools::Toolset;
use serde_json::json;

use crate::del::{del, directory, run};
use crate::server::{Reply, Server, says};

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
