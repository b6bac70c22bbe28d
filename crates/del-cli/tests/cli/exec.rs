//! `del exec`.

use serde_json::json;

use crate::del::{Run, del, directory, run};

fn exec(directory: &tempfile::TempDir, options: &[&str], text: &str) -> Run {
    let mut all = vec!["exec"];
    all.extend(options);
    run(del(&all).current_dir(directory.path()), text)
}

const READ: &str = "I look.\n<tool_call>\n{\"name\": \"read_file\", \"arguments\": {\"file_path\": \"a.txt\"}}\n</tool_call>";

#[test]
fn calls_run_and_their_results_come_in_the_dialect_of_the_call() {
    let files = directory(&[("a.txt", "one\n"), ("b.txt", "two\n")]);
    let got = exec(&files, &[], &format!("{READ}\n{}", READ.replace("a.txt", "b.txt")));
    let expected =
        "<tool_response>\n     1\tone\n</tool_response>\n<tool_response>\n     1\ttwo\n</tool_response>\n";
    assert_eq!((got.code, got.out.as_str()), (0, expected), "{got:#?}");
    assert!(got.err.contains("● read_file(file_path: \"a.txt\")"), "{got:#?}");
}

#[test]
fn results_in_json_carry_the_ids_and_what_was_changed() {
    let files = directory(&[("a.txt", "one\n")]);
    let edit = "<tool_call>\n{\"name\": \"edit_file\", \"arguments\": {\"file_path\": \"a.txt\", \"old_string\": \"one\", \"new_string\": \"1\"}}\n</tool_call>";
    let got = exec(&files, &["--json", "--yes"], &format!("{READ}\n{edit}\n{READ}"));
    assert_eq!(got.code, 0, "{got:#?}");
    let rows = got.json();
    let texts: Vec<&str> = rows.as_array().unwrap().iter().map(|row| row["text"].as_str().unwrap()).collect();
    assert_eq!((texts[0], texts[2]), ("     1\tone", "     1\t1"));
    assert_eq!(rows[1]["changes"][0], json!({"path": "a.txt", "kind": "modified", "added": 1, "removed": 1}));
    assert!(rows[0]["id"] != rows[1]["id"] && rows[0]["id"].is_string());
    let other = exec(&files, &["--json"], READ).json();
    assert_ne!(other[0]["id"], rows[0]["id"], "another answer");
    assert_eq!(other, exec(&files, &["--json"], READ).json());
}

#[test]
fn safe_mode_holds_for_calls_of_a_model() {
    let files = directory(&[]);
    let run = "<tool_call>\n{\"name\": \"run_command\", \"arguments\": {\"command\": \"touch made\"}}\n</tool_call>";
    let denied = exec(&files, &[], run);
    assert_eq!(denied.code, 1, "{denied:#?}");
    assert!(denied.out.contains("Denied: "), "{denied:#?}");
    assert!(!files.path().join("made").exists());
    assert_eq!(exec(&files, &["--unsafe"], run).code, 0);
    assert!(files.path().join("made").exists());
}

#[test]
fn changes_are_shown_whether_they_are_made_or_denied() {
    let write = "<tool_call>\n{\"name\": \"write_file\", \"arguments\": {\"file_path\": \"b.txt\", \"content\": \"one\\ntwo\\n\"}}\n</tool_call>";
    for (options, code) in [(&[][..], 1), (&["--yes"], 0), (&["--approval-mode", "auto-edit"], 0)] {
        let got = exec(&directory(&[]), options, write);
        assert_eq!(got.code, code, "{got:#?}");
        assert!(got.err.contains("\n    1 +one\n    2 +two\n"), "{got:#?}");
    }
}

#[test]
fn failures_are_results_and_have_an_exit_code() {
    let files = directory(&[]);
    let got = exec(&files, &[], READ);
    assert_eq!(got.code, 54, "{got:#?}");
    assert!(got.out.contains("<tool_response>\nError: file not found: a.txt"), "{got:#?}");
    let none = exec(&files, &[], "just text");
    assert_eq!((none.code, none.out.as_str()), (0, ""), "{none:#?}");
    assert!(none.err.contains("no call"), "{none:#?}");
    let cut = exec(&files, &["--json"], &READ[..READ.len() - 20]);
    assert_eq!(cut.json(), json!([]));
    assert!(cut.err.contains("the answer ended inside a call"), "{cut:#?}");
    let unknown = exec(&files, &[], &READ.replace("read_file", "send_mail"));
    assert!(unknown.code == 54 && unknown.out.contains("unknown tool"), "{unknown:#?}");
    exec(&files, &["/nonexistent"], "").fails(42, "cannot read");
    exec(&files, &["--dialect", "nosuch"], "").fails(2, "expected the name of a dialect");
}

#[test]
fn calls_of_the_api_get_results_of_the_api() {
    let files = directory(&[("a.txt", "one\n")]);
    let message = json!({"role": "assistant", "content": "", "tool_calls": [{"id": "c9", "type": "function",
        "function": {"name": "read_file", "arguments": "{\"file_path\": \"a.txt\"}"}}]});
    let got = exec(&files, &["--dialect", "openai-native"], &message.to_string());
    assert_eq!(got.json(), json!({"role": "tool", "tool_call_id": "c9", "content": "     1\tone"}));
}

const CUT: &str = "<tool_call>\n<function=write_file>\n<parameter=path>\na.md\n</parameter>\n\
     <parameter=content>\nHow to\n</function>\n</tool_call>";

#[test]
fn a_call_with_guessed_arguments_does_not_run_unasked() {
    let files = directory(&[("a.md", "old\n")]);
    let content = || std::fs::read_to_string(files.path().join("a.md")).unwrap();
    for mode in [&["--unsafe"][..], &["--approval-mode", "auto-edit"], &["--allow-tool", "write_file"]] {
        let got = exec(&files, &[&["--dialect", "qwen3-coder"], mode].concat(), CUT);
        assert_eq!((got.code, content().as_str()), (1, "old\n"), "{mode:?} {got:#?}");
        assert!(got.out.contains("where a value ends is a guess"), "{got:#?}");
    }
    let read = "<tool_call>\n<function=read_file>\n<parameter=path>\na.md\n</function>\n</tool_call>";
    let got = exec(&files, &["--dialect", "qwen3-coder"], read);
    assert_eq!((got.code, got.out.contains("old")), (0, true), "reading asks nothing: {got:#?}");
    let got = exec(&files, &["--dialect", "qwen3-coder", "--yes"], CUT);
    assert_eq!((got.code, content().as_str()), (0, "How to"), "{got:#?}");
}

#[test]
fn a_document_that_shows_its_own_markup_overwrites_nothing() {
    const SHOWS: &str = "<tool_call>\n<function=write_file>\n<parameter=content>\nHow to:\n<parameter=path>\nx\n\
         </parameter>\n300 more lines.\n</parameter>\n<parameter=path>\na.md\n</parameter>\n</function>\n</tool_call>";
    const QUOTES: &str = "<tool_call>\n<function=write_file>\n<parameter=path>\na.md\n</parameter>\n\
         <parameter=content>\nSee\n</parameter>\n</function>\n</tool_call>\ndone\n</parameter>\n</function>\n</tool_call>";
    let files = directory(&[("a.md", "old\n")]);
    for text in [SHOWS, QUOTES] {
        for dialect in ["qwen3-coder", "auto"] {
            exec(&files, &["--dialect", dialect, "--approval-mode", "yolo"], text);
            let content = std::fs::read_to_string(files.path().join("a.md")).unwrap();
            assert_eq!(content, "old\n", "{dialect} {text}");
            assert!(!files.path().join("x").exists());
        }
    }
}
