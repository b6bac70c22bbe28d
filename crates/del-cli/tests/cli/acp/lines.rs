//! The protocol's lines as an editor writes and reads them, also where it does otherwise than it should.

use std::process::{Child, ChildStdin, ChildStdout};

use serde_json::Value;

use super::*;

/// An editor that has met the program and opened a conversation.
struct Editor {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    session: String,
    /// What came so far.
    came: Vec<Value>,
}

impl Editor {
    fn new(mut child: Child) -> Self {
        let (input, output) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
        Self { child, input, output, session: String::new(), came: Vec::new() }
    }

    /// One that shows notices.
    fn open(child: Child, directory: &Path, servers: &Value) -> Self {
        let mut editor = Self::new(child);
        let capabilities = json!({"session": {"notices": {}}});
        let met =
            editor.ask("initialize", &json!({"protocolVersion": 1, "clientCapabilities": capabilities}));
        assert_eq!(met["result"]["protocolVersion"], 1, "{met}");
        let opened = editor.ask("session/new", &json!({"cwd": directory, "mcpServers": servers}));
        opened["result"]["sessionId"].as_str().unwrap().clone_into(&mut editor.session);
        editor
    }

    fn write(&mut self, line: &[u8]) {
        self.input.write_all(line).unwrap();
        self.input.write_all(b"\n").unwrap();
    }

    fn send(&mut self, message: &Value) {
        self.write(message.to_string().as_bytes());
    }

    /// Reads until such a message comes.
    fn until(&mut self, wanted: impl Fn(&Value) -> bool) -> Value {
        loop {
            let mut line = String::new();
            assert_ne!(self.output.read_line(&mut line).unwrap(), 0, "it ended; before: {:#?}", self.came);
            let message: Value = serde_json::from_str(&line).unwrap();
            self.came.push(message.clone());
            if wanted(&message) {
                return message;
            }
        }
    }

    /// Asks, under the name of the method, and waits for the answer.
    fn ask(&mut self, method: &str, params: &Value) -> Value {
        self.begin(method, params);
        self.until(|message| message["id"] == method)
    }

    fn begin(&mut self, method: &str, params: &Value) {
        self.send(&json!({"jsonrpc": "2.0", "id": method, "method": method, "params": params}));
    }

    fn prompt(&mut self, text: &str) {
        let prompt = [json!({"type": "text", "text": text})];
        self.begin("session/prompt", &json!({"sessionId": self.session, "prompt": prompt}));
    }

    fn question(&mut self) -> Value {
        self.until(|message| message["method"] == "session/request_permission")
    }

    fn over(&mut self) -> Value {
        self.until(|message| message["id"] == "session/prompt")["result"]["stopReason"].clone()
    }

    /// The updates of this kind so far.
    fn updates(&self, kind: &str) -> Vec<&Value> {
        let update = |message: &'_ Value| message["params"]["update"]["sessionUpdate"] == kind;
        self.came
            .iter()
            .filter(|message| update(message))
            .map(|message| &message["params"]["update"])
            .collect()
    }

    fn end(self) {
        let Self { mut child, input, .. } = self;
        drop(input);
        assert!(child.wait().unwrap().success());
    }
}

#[test]
fn a_line_that_is_no_text_is_answered_and_ends_nothing() {
    let home = tempfile::tempdir().unwrap();
    let server = Server::new(Vec::new());
    let mut editor = Editor::new(start(&server, home.path(), &[]));
    for line in [&b"\xff\xfe{}"[..], b"{\"jsonrpc\": \"2.0\", \"id\": 1, \"method\": \"a\xff\"}", b"no JSON"]
    {
        editor.write(line);
        let told = editor.until(|_| true);
        assert_eq!((&told["id"], &told["error"]["code"]), (&Value::Null, &json!(-32700)), "{told}");
    }
    assert_eq!(editor.ask("initialize", &json!({"protocolVersion": 1}))["result"]["protocolVersion"], 1);
    editor.end();
}

#[test]
fn a_directory_is_one_that_is_there_and_absolute() {
    let (files, home) = (directory(&[("a.txt", "")]), tempfile::tempdir().unwrap());
    let server = Server::new(Vec::new());
    let mut editor = Editor::open(start(&server, home.path(), &[]), files.path(), &json!([]));
    let (gone, file) = (files.path().join("gone"), files.path().join("a.txt"));
    for (path, more) in
        [(gone, vec![]), (file, vec![]), (".".into(), vec![]), (files.path().into(), vec!["."])]
    {
        let params = json!({"cwd": path, "additionalDirectories": more, "mcpServers": []});
        let refused = editor.ask("session/new", &params);
        assert_eq!(refused["error"]["code"], -32602, "{refused}");
        let why = refused["error"]["data"].as_str().unwrap();
        assert!(why.starts_with("expected the absolute path of a directory, got "), "{why}");
    }
    editor.end();
}

#[test]
fn a_question_that_nobody_answers_ends_with_what_it_was_asked_for() {
    let (files, home) = (directory(&[("a.txt", "one\n")]), tempfile::tempdir().unwrap());
    let server = Server::new(vec![write_a("2\n"), write_a("3\n"), says("Here.")]);
    let mut editor = Editor::open(start(&server, home.path(), &[]), files.path(), &json!([]));
    editor.prompt("Write 2");
    let asked = editor.question();
    editor.send(
        &json!({"jsonrpc": "2.0", "method": "session/cancel", "params": {"sessionId": editor.session}}),
    );
    assert_eq!(editor.over(), "cancelled");
    let back = editor.came.iter().find(|message| message["method"] == "$/cancel_request");
    assert_eq!(back.unwrap()["params"]["requestId"], asked["id"], "the editor is told to take it back");

    // An editor that answers so has cancelled, whichever message comes first.
    editor.prompt("Write 3");
    let id = editor.question()["id"].clone();
    editor.send(&json!({"jsonrpc": "2.0", "id": id, "result": {"outcome": {"outcome": "cancelled"}}}));
    assert_eq!(editor.over(), "cancelled");
    editor.prompt("And now?");
    assert_eq!(editor.over(), "end_turn");
    assert_eq!(std::fs::read_to_string(files.path().join("a.txt")).unwrap(), "one\n");
    editor.end();
}

#[test]
fn what_a_command_writes_is_seen_while_it_runs() {
    what_is_written_is_seen("run_command");
}

#[test]
fn how_far_a_call_of_an_mcp_server_is_is_seen_while_it_runs() {
    what_is_written_is_seen("mcp__own__run_command");
}

fn what_is_written_is_seen(tool: &str) {
    let (files, home) = (directory(&[]), tempfile::tempdir().unwrap());
    let command = json!({"command": "echo first; until [ -e go ]; do sleep 0.05; done; echo last"});
    let server = Server::new(vec![calls("c1", tool, &command), says("Done.")]);
    let own = ["mcp", "serve", "--unsafe"];
    let own = json!({"name": "own", "command": env!("CARGO_BIN_EXE_del"), "args": own, "env": []});
    let mut editor = Editor::open(start(&server, home.path(), &[]), files.path(), &json!([own]));
    editor.prompt("Run it");
    let id = editor.question()["id"].clone();
    let yes = json!({"outcome": {"outcome": "selected", "optionId": "yes"}});
    editor.send(&json!({"jsonrpc": "2.0", "id": id, "result": yes}));
    let written =
        editor.until(|message| message["params"]["update"]["content"].to_string().contains("first"));
    assert_eq!(written["params"]["update"]["status"], Value::Null, "it runs still: {written}");
    std::fs::write(files.path().join("go"), "").unwrap();
    assert_eq!(editor.over(), "end_turn");
    let states: Vec<_> = editor
        .updates("tool_call_update")
        .into_iter()
        .filter_map(|update| update["status"].as_str())
        .collect();
    assert_eq!(states, ["in_progress", "completed"], "one that was asked about runs once it is agreed to");
    let result = editor.updates("tool_call_update").last().unwrap().to_string();
    assert!(result.contains("first") && result.contains("last"), "{result}");
    editor.end();
}

#[test]
fn one_command_gets_the_network_where_a_second_question_says_what_that_means() {
    let (files, home) = (directory(&[]), tempfile::tempdir().unwrap());
    let server =
        Server::new(vec![calls("c1", "run_command", &json!({"command": "make"})), says("Not made.")]);
    let mut editor = Editor::open(start(&server, home.path(), &[]), files.path(), &json!([]));
    let offered = |asked: &Value| {
        let options = asked["params"]["options"].as_array().unwrap();
        options.iter().map(|option| option["optionId"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    editor.prompt("Make it");
    let asked = editor.question();
    if !offered(&asked).contains(&"network".to_owned()) {
        eprintln!("nothing keeps the network from commands here: {asked}");
        return;
    }
    let network = json!({"outcome": {"outcome": "selected", "optionId": "network"}});
    editor.send(&json!({"jsonrpc": "2.0", "id": asked["id"], "result": network}));
    let again = editor.question();
    assert_eq!(offered(&again), ["yes", "no"]);
    assert!(again.to_string().contains("it can send away all that it can read"), "{again}");
    let no = json!({"outcome": {"outcome": "selected", "optionId": "no"}});
    editor.send(&json!({"jsonrpc": "2.0", "id": again["id"], "result": no}));
    assert_eq!(editor.over(), "end_turn");
    let states = editor.updates("tool_call_update");
    assert!(states.iter().all(|update| update["status"] != "in_progress"), "{states:?}");
    editor.end();
}

#[test]
fn modes_and_models_are_options_too() {
    let (files, home) = (directory(&[("a.txt", "one\n")]), tempfile::tempdir().unwrap());
    let server = Server::new(vec![write_a("2\n"), says("Done.")]);
    let mut editor = Editor::open(start(&server, home.path(), &["-m", "scripted"]), files.path(), &json!([]));
    let value = |options: &Value| options[0]["currentValue"].as_str().unwrap().to_owned();
    let offered = editor.came.last().unwrap()["result"]["configOptions"].clone();
    assert_eq!((&offered[0]["category"], value(&offered)), (&json!("mode"), "ask".to_owned()), "{offered}");

    let set =
        |option: &str, value: &str| json!({"sessionId": editor.session, "configId": option, "value": value});
    let (mode, nowhere, nothing, nobody) =
        (set("mode", "auto-edit"), set("mode", "x"), set("x", "y"), set("model", "nobody"));
    let answer = editor.ask("session/set_config_option", &mode);
    assert_eq!(value(&answer["result"]["configOptions"]), "auto-edit");
    editor.until(|message| message["params"]["update"]["currentModeId"] == "auto-edit");
    editor.prompt("Write 2");
    assert_eq!(editor.over(), "end_turn");
    assert_eq!(std::fs::read_to_string(files.path().join("a.txt")).unwrap(), "2\n", "nobody was asked");
    for wrong in [nowhere, nothing, nobody] {
        let refused = editor.ask("session/set_config_option", &wrong);
        let why = refused["error"]["data"].as_str().unwrap_or_default();
        assert!(why.starts_with("expected "), "{refused}");
    }

    // Who sets the mode by the older request reads it in the options as well.
    editor.ask("session/set_mode", &json!({"sessionId": editor.session, "modeId": "plan"}));
    let told = editor.until(|message| message["params"]["update"]["sessionUpdate"] == "config_option_update");
    assert_eq!(value(&told["params"]["update"]["configOptions"]), "plan");
    editor.end();
}

#[test]
fn what_is_left_out_is_told_as_a_notice() {
    let (files, home) = (directory(&[]), tempfile::tempdir().unwrap());
    let server = Server::new(vec![says("Hello.")]);
    let servers = json!([
        {"name": "gone", "command": "/no/such/program", "args": [], "env": []},
        {"type": "sse", "name": "old", "url": "http://127.0.0.1:1/sse", "headers": []},
    ]);
    let mut editor = Editor::open(start(&server, home.path(), &[]), files.path(), &servers);
    editor.prompt("Hello");
    assert_eq!(editor.over(), "end_turn");
    let notices = json!(editor.updates("notice")).to_string();
    assert!(notices.contains("'old' is left out") && notices.contains("'gone' is left out"), "{notices}");
    editor.end();
}

#[test]
fn an_image_is_one_and_is_told_again() {
    const DOT: &str =
        "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
    let (files, home) = (directory(&[]), tempfile::tempdir().unwrap());
    let server = Server::new(vec![says("A dot.")]);
    let mut editor = Editor::open(start(&server, home.path(), &[]), files.path(), &json!([]));
    let mut show = |data: &str| {
        let image = [json!({"type": "image", "data": data, "mimeType": "image/png"})];
        editor.ask("session/prompt", &json!({"sessionId": editor.session, "prompt": image}))
    };
    for wrong in ["", "no Base64!", "AAAA"] {
        let refused = show(wrong);
        assert_eq!(refused["error"]["code"], -32602, "{refused}");
    }
    assert_eq!(show(DOT)["result"]["stopReason"], "end_turn");
    let sent = &server.completions()[0].body["messages"][1]["content"];
    assert_eq!(sent.as_array().unwrap().len(), 1, "no empty text beside it: {sent}");
    let load = json!({"sessionId": editor.session, "cwd": files.path(), "mcpServers": []});
    editor.ask("session/load", &load);
    let shown = editor.updates("user_message_chunk");
    assert_eq!(shown.len(), 1, "{shown:#?}");
    assert_eq!(shown[0]["content"]["data"], DOT);
    editor.end();
}

#[test]
fn a_sub_agents_steps_and_a_hooks_words_are_seen() {
    let (files, home) = (directory(&[("a.txt", "one\n")]), tempfile::tempdir().unwrap());
    let config = "[[hooks.PostToolUse]]\nmatcher = \"read_file\"\ncommand = \"echo It broke. >&2; exit 1\"\n";
    std::fs::create_dir(home.path().join("del")).unwrap();
    std::fs::write(home.path().join("del/config.toml"), config).unwrap();
    let server = Server::new(vec![
        calls("c1", "task", &json!({"description": "look", "prompt": "What is in a.txt?"})),
        calls("c2", "read_file", &json!({"file_path": "a.txt"})),
        says("It says one."),
        says("One."),
    ]);
    let mut program = del(&["acp", "--base-url", server.url()]);
    program.env("XDG_STATE_HOME", home.path()).env("XDG_CONFIG_HOME", home.path());
    let child = program.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut editor = Editor::open(child, files.path(), &json!([]));
    editor.prompt("Look");
    assert_eq!(editor.over(), "end_turn");
    let updates = editor.updates("tool_call_update");
    assert!(updates[0].to_string().contains("read_file a.txt"), "{updates:#?}");
    assert!(updates.iter().all(|update| update["toolCallId"] == "c1"), "it is one call: {updates:#?}");
    let notices = json!(editor.updates("notice")).to_string();
    assert!(notices.contains("It broke."), "{notices}");
    editor.end();
}
