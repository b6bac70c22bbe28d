//! A task from question to answer, as models of many dialects write it.

use del_dialects::{Call, Dialects, Tool};
use del_tools::Toolset;
use serde_json::json;

use crate::del::{del, directory, run};
use crate::server::{Server, says};

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
