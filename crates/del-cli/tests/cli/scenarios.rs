//! What can happen on the way from a question to its answer. Each test is one row of a table: it is played in every mode,
//! as models of twelve dialects write it, and with the calls of the API itself where the mode has those.
//!
//! A row says what the model does, turn by turn, what the user does, what the model is told, and what comes of it; how a
//! row is played is in `scenarios/player.rs`.

mod player;

use player::{LONG, ROW, Row, Turn};

/// How the model learns of the tools. In `Auto`, the server says that it takes none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mode {
    Native,
    Prompt,
    Hybrid,
    Auto,
}

const MODES: [Mode; 4] = [Mode::Native, Mode::Prompt, Mode::Hybrid, Mode::Auto];

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

const READ: Turn = Turn::Calls(&[("read_file", r#"{"file_path": "a.txt"}"#)]);
const EDIT: Turn =
    Turn::Calls(&[("edit_file", r#"{"file_path": "a.txt", "old_string": "two", "new_string": "three"}"#)]);
const TOUCH: Turn = Turn::Calls(&[("run_command", r#"{"command": "touch made.txt"}"#)]);
const DONE: Turn = Turn::Says("Done.");

const BEFORE: &[(&str, &str)] = &[("a.txt", "forty-two\n")];
const AFTER: &[(&str, Option<&str>)] = &[("a.txt", Some("forty-three\n"))];
const NOT_MADE: &[(&str, Option<&str>)] = &[("made.txt", None)];

#[test]
fn a_call_its_result_and_the_answer() {
    Row {
        files: BEFORE,
        model: &[READ, Turn::Says("It says forty-two.")],
        told: &["forty-two"],
        answer: "It says forty-two.",
        ..ROW
    }
    .play();
}

#[test]
fn several_calls_in_one_answer() {
    Row {
        files: &[("a.txt", "forty-two\n"), ("b.txt", "seventy\n")],
        model: &[
            Turn::Calls(&[
                ("read_file", r#"{"file_path": "a.txt"}"#),
                ("read_file", r#"{"file_path": "b.txt"}"#),
                ("list_directory", r#"{"path": "."}"#),
            ]),
            DONE,
        ],
        told: &["forty-two", "seventy", "b.txt"],
        ..ROW
    }
    .play();
}

#[test]
fn an_unknown_tool() {
    Row {
        files: BEFORE,
        model: &[Turn::Calls(&[("peruse_files", r#"{"file_path": "a.txt"}"#)]), READ, DONE],
        told: &["unknown tool 'peruse_files'", "forty-two"],
        // Without a mark, it is a call only if its name is one of a tool.
        but: &["llama3-json", "pythonic"],
        ..ROW
    }
    .play();
}

#[test]
fn bad_arguments_that_the_model_mends() {
    Row {
        files: BEFORE,
        options: &["--approval-mode", "auto-edit"],
        model: &[
            Turn::Calls(&[("edit_file", r#"{"file_path": "a.txt", "new_string": "three"}"#)]),
            Turn::Calls(&[(
                "edit_file",
                r#"{"file_path": "a.txt", "old_string": "tow", "new_string": "three"}"#,
            )]),
            EDIT,
            DONE,
        ],
        told: &["Error: ", "old_string", "not found"],
        after: AFTER,
        ..ROW
    }
    .play();
}

#[test]
fn a_call_that_the_user_denies_with_a_reason() {
    Row {
        model: &[TOUCH, DONE],
        user: &[("Do this?", "n"), ("because", "not today\r")],
        told: &["the user said no: not today"],
        after: NOT_MADE,
        ..ROW
    }
    .play();
}

#[test]
fn a_call_that_the_user_edits() {
    Row {
        model: &[TOUCH, DONE],
        // To the start of the line, and nothing behind it.
        user: &[("Do this?", "e"), ("> ", "\u{1}\u{b}touch other.txt\r"), ("Do this?", "y")],
        told: &["the user changed the command before it ran: touch other.txt"],
        after: &[("made.txt", None), ("other.txt", Some(""))],
        ..ROW
    }
    .play();
}

#[test]
fn a_call_that_nobody_can_be_asked_about() {
    Row { model: &[TOUCH, DONE], told: &["Denied: needs approval"], after: NOT_MADE, ..ROW }.play();
}

#[test]
fn the_limit_of_turns() {
    Row {
        files: BEFORE,
        options: &["--max-turns", "3"],
        model: &[READ, Turn::Calls(&[("list_directory", r#"{"path": "."}"#)]), READ, DONE],
        told: &["forty-two"],
        code: 53,
        answer: "",
        ..ROW
    }
    .play();
}

#[test]
fn a_task_that_is_interrupted_and_resumed() {
    Row {
        files: BEFORE,
        options: &["--approval-mode", "auto-edit"],
        model: &[READ, Turn::Interrupted("It says that "), EDIT, DONE],
        told: &["forty-two", "It says that", "Go on."],
        after: AFTER,
        ..ROW
    }
    .play();
}

#[test]
fn a_task_that_is_killed_and_resumed() {
    Row {
        files: BEFORE,
        options: &["--approval-mode", "auto-edit"],
        model: &[READ, Turn::Killed("It says that "), EDIT, DONE],
        told: &["forty-two", "Go on."],
        after: AFTER,
        ..ROW
    }
    .play();
}

#[test]
fn a_context_that_fills_up_in_the_middle_of_a_task() {
    Row {
        files: &[("a.txt", "forty-two\n"), ("long.txt", LONG)],
        options: &["--approval-mode", "auto-edit"],
        context: Some(24_000),
        model: &[
            Turn::Calls(&[("read_file", r#"{"file_path": "long.txt"}"#)]),
            Turn::Calls(&[("read_file", r#"{"file_path": "long.txt", "offset": 2}"#)]),
            Turn::Calls(&[("read_file", r#"{"file_path": "long.txt", "offset": 3}"#)]),
            Turn::Calls(&[("read_file", r#"{"file_path": "long.txt", "offset": 4}"#)]),
            READ,
            EDIT,
            DONE,
        ],
        told: &["left out to make room", "forty-two"],
        after: AFTER,
        ..ROW
    }
    .play();
}

#[test]
fn a_request_that_is_too_long_for_the_server() {
    Row {
        files: &[("a.txt", "forty-two\n"), ("long.txt", LONG)],
        options: &["--approval-mode", "auto-edit"],
        model: &[
            Turn::Calls(&[("read_file", r#"{"file_path": "long.txt"}"#)]),
            READ,
            Turn::Overflow,
            Turn::Says("a.txt says forty-two; it is to say forty-three."),
            EDIT,
            DONE,
        ],
        told: &["forty-two", "it is to say forty-three"],
        after: AFTER,
        ..ROW
    }
    .play();
}

#[test]
fn hooks_that_add_to_the_question_and_deny_a_call() {
    Row {
        home: &[(
            ".config/del/config.toml",
            "[[hooks.UserPromptSubmit]]\ncommand = \"echo It is Monday.\"\n\
             [[hooks.PreToolUse]]\nmatcher = \"Bash\"\ncommand = \"echo not on Mondays >&2; exit 2\"\n",
        )],
        options: &["--unsafe"],
        model: &[TOUCH, DONE],
        told: &["It is Monday.", "a hook of the user denied this call: not on Mondays"],
        after: NOT_MADE,
        ..ROW
    }
    .play();
}

#[test]
fn a_sub_agent() {
    Row {
        files: BEFORE,
        model: &[Turn::Task("Which number is in a.txt?", &[READ, Turn::Says("Forty-two, in line 1.")]), DONE],
        told: &["Which number is in a.txt?", "forty-two", "Forty-two, in line 1."],
        ..ROW
    }
    .play();
}

#[test]
fn a_project_that_is_trusted() {
    Row {
        files: &[(".del/config.toml", "deny_tool = [\"run_command\"]\n")],
        first: &["trust", "--yes"],
        options: &["--project", "require", "--unsafe"],
        model: &[TOUCH, DONE],
        told: &["Denied: "],
        after: NOT_MADE,
        ..ROW
    }
    .play();
}

#[test]
fn a_project_that_is_not_trusted() {
    Row {
        files: &[(".del/config.toml", "deny_tool = [\"run_command\"]\n")],
        options: &["--project", "require", "--unsafe"],
        code: 55,
        answer: "",
        after: NOT_MADE,
        ..ROW
    }
    .play();
}
