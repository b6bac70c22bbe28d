//! Servers whose tools models get, well-behaved and not.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::del::{Run, del, directory, plain, run, text};
use crate::server::{Server, says};
use crate::terminal::{Terminal, unbroken};

pub(super) const SERVER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/servers/server.py");

/// A directory to work in, and a home with nothing in it.
pub(super) struct Place {
    pub(super) files: TempDir,
    pub(super) home: TempDir,
}

impl Place {
    pub(super) fn new(files: &[(&str, &str)]) -> Self {
        Self { files: directory(files), home: directory(&[]) }
    }

    pub(super) fn run(&self, arguments: &[&str], input: &str) -> Run {
        let mut command = del(arguments);
        command.current_dir(self.files.path()).env("HOME", self.home.path()).env("MY_API_KEY", "hunter2");
        run(&mut command, input)
    }

    /// Adds a server of this kind under this name.
    pub(super) fn add(&self, name: &str, kind: &str) {
        let got = self.run(&["mcp", "add", name, "--", "python3", SERVER, kind], "");
        assert_eq!(got.code, 0, "{got:#?}");
    }

    /// Runs a call as a model writes it.
    pub(super) fn call(&self, tool: &str, arguments: &Value, options: &[&str]) -> Run {
        let call = json!({"name": tool, "arguments": arguments});
        let all = [&["exec", "--json"], options].concat();
        self.run(&all, &format!("<tool_call>\n{call}\n</tool_call>"))
    }
}

fn project(kind: &str, mark: &Path) -> String {
    let mark = text(mark);
    json!({"mcpServers": {"theirs": {"command": "python3", "args": [SERVER, kind, mark]}}}).to_string()
}

pub(super) fn said(got: &Run) -> String {
    got.json()[0]["text"].as_str().unwrap().to_owned()
}

#[test]
fn our_own_server_is_a_server_for_us() {
    let place = Place::new(&[("a.txt", "one\n")]);
    let own = env!("CARGO_BIN_EXE_del");
    assert_eq!(place.run(&["mcp", "add", "own", own, "mcp", "serve"], "").code, 0);
    let tested = place.run(&["mcp", "test", "own", "--json"], "").json();
    let names: Vec<&str> =
        tested["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    assert!(tested["ok"] == true && names.contains(&"mcp__own__read_file"), "{tested:#}");
    let read = ("mcp__own__read_file", json!({"path": "a.txt"}));
    let denied = place.call(read.0, &read.1, &[]);
    assert!(denied.code == 1 && said(&denied).starts_with("Denied: needs approval"), "{denied:#?}");
    let allowed = place.call(read.0, &read.1, &["--allow-tool", "mcp__own__*"]);
    assert_eq!((allowed.code, said(&allowed).as_str()), (0, "     1\tone"), "{allowed:#?}");
    let wrong = place.call("mcp__own__read_file", &json!({}), &["--yes"]);
    assert!(said(&wrong).contains("mcp__own__read_file needs 'path' (string)"), "{wrong:#?}");
    let none = place.call(read.0, &read.1, &["--yes", "--no-mcp"]);
    assert!(said(&none).starts_with("Error: unknown tool"), "{none:#?}");
    let only = place.call(read.0, &read.1, &["--yes", "--tools", "read_file"]);
    assert!(said(&only).starts_with("Error: unknown tool"), "{only:#?}");
}

#[test]
fn servers_are_added_listed_and_removed() {
    let place = Place::new(&[]);
    let add = [
        "mcp",
        "add",
        "web",
        "--url",
        "https://example.test/mcp",
        "--header",
        "X-Key: $MY_API_KEY",
        "--json",
    ];
    assert_eq!(place.run(&add, "").json()["done"], "added");
    assert_eq!(place.run(&add, "").json()["done"], "changed");
    place.add("py", "honest");
    let listed = place.run(&["mcp", "list", "--json"], "").json();
    assert_eq!(
        listed[0],
        json!({"name": "web", "from": "own", "state": "on", "runs": "https://example.test/mcp (sends X-Key)"})
    );
    assert_eq!(listed[1]["state"], "on");
    let file = place.home.path().join(".config/del/mcp.json");
    let written: Value = serde_json::from_str(&std::fs::read_to_string(&file).unwrap()).unwrap();
    assert_eq!(written["mcpServers"]["web"]["headers"]["X-Key"], "$MY_API_KEY");
    let mode = std::os::unix::fs::PermissionsExt::mode(&std::fs::metadata(&file).unwrap().permissions());
    assert_eq!(mode & 0o777, 0o600);
    assert_eq!(place.run(&["mcp", "remove", "web"], "").code, 0);
    place.run(&["mcp", "remove", "web"], "").fails(2, "there is no server 'web'");
    place.run(&["mcp", "test", "web"], "").fails(2, "there is no server 'web'");
    for name in ["a__b", "a b", ""] {
        place.run(&["mcp", "add", name, "x"], "").fails(2, &format!("'{name}' is no name for a server"));
    }
    for url in ["notaurl", "file:///etc/passwd", "ftp://x/y"] {
        place.run(&["mcp", "add", "web", "--url", url], "").fails(2, url);
    }
    let by_variable = ["mcp", "add", "var", "--url", "$MY_URL"];
    assert_eq!(place.run(&by_variable, "").code, 0, "known when it starts");
    plain(&["mcp", "add", "x"]).fails(2, "required");
    std::fs::write(&file, "[]").unwrap();
    place.run(&["mcp", "list"], "").fails(52, "expected a JSON object, got a list");
}

#[test]
fn a_server_that_fails_is_said_and_nothing_waits_for_it() {
    let place = Place::new(&[]);
    for kind in ["exits", "endless", "garbage"] {
        place.add(kind, kind);
    }
    place.run(&["mcp", "add", "silent", "--timeout", "3", "--", "python3", SERVER, "silent"], "");
    place.run(&["mcp", "add", "missing", "--", "/nonexistent/server"], "");
    place.run(&["mcp", "add", "unset", "--", "x", "$NO_SUCH_VARIABLE"], "");
    let started = Instant::now();
    let got = place.call("mcp__garbage__echo", &json!({"n": "5"}), &["--yes"]);
    assert!(started.elapsed() < Duration::from_secs(25), "{:?}", started.elapsed());
    // Text becomes the number that the schema asks for.
    assert_eq!((got.code, said(&got).as_str()), (0, r#"{"n": 5}"#), "{got:#?}");
    for says in [
        "'exits' is left out: it has ended (exit code 7): no database",
        "'endless' is left out: it sent a line above 16 MiB",
        "'silent' is left out: it did not answer within 3 s; try again, for a first start takes longest",
        "'missing' is left out: cannot start /nonexistent/server",
        "'unset' is left out: the variable NO_SUCH_VARIABLE is not set",
    ] {
        assert!(got.err.contains(says), "expected {says:?}: {got:#?}");
    }
}

#[test]
fn servers_start_in_the_background_and_a_question_waits_for_them() {
    let place = Place::new(&[]);
    let gates: Vec<PathBuf> = ["one", "two"].map(|name| place.home.path().join(name)).into();
    for gate in &gates {
        let name = gate.file_name().unwrap().to_str().unwrap();
        place.run(&["mcp", "add", name, "--", "python3", SERVER, "waits", &text(gate)], "");
    }
    let server = Server::new(vec![says("Hello."), says("Again.")]);
    let home = text(place.home.path());
    let mut terminal = Terminal::with(&place.files, &["--base-url", server.url()], 100, &[("HOME", &home)]);
    let greeting = terminal.until("> ");
    assert!(greeting.contains("MCP servers start in the background: one, two"), "{greeting:?}");
    // The second one is there first: neither waits for the other.
    std::fs::write(&gates[1], "").unwrap();
    let until = Instant::now() + Duration::from_secs(20);
    loop {
        terminal.write("/tools\r");
        let told = terminal.until("MCP server one: still starts");
        terminal.until("> ");
        if told.contains("mcp__two__echo") {
            break;
        }
        assert!(Instant::now() < until, "{told:?}");
    }
    terminal.write("hi\r");
    terminal.until("waiting for the MCP servers one");
    std::fs::write(&gates[0], "").unwrap();
    terminal.until("Hello.");
    terminal.until("> ");
    terminal.write("exit\r");
    assert_eq!(terminal.end().1, 0);
    let names = |tools: &Value| -> Vec<String> {
        let names = tools.as_array().unwrap().iter().map(|tool| tool["function"]["name"].as_str().unwrap());
        names.filter(|name| name.starts_with("mcp__")).map(str::to_owned).collect()
    };
    assert_eq!(names(&server.completions()[0].body["tools"]), ["mcp__two__echo", "mcp__one__echo"]);
}

#[test]
fn a_task_waits_for_its_servers_as_long_as_they_may_take() {
    let place = Place::new(&[]);
    let gate = place.home.path().join("gate");
    let add = ["mcp", "add", "late", "--timeout", "2", "--", "python3", SERVER, "waits", &text(&gate)];
    place.run(&add, "");
    let server = Server::new(vec![says("Hello.")]);
    let ask = || place.run(&["-p", "hi", "--base-url", server.url(), "--output-format", "stream-json"], "");
    let got = ask();
    assert_eq!(got.code, 0, "{got:#?}");
    let told = got.err.find("waiting for the MCP servers late").zip(got.err.find("within 2 s; try again"));
    assert!(told.is_some_and(|(waits, late)| waits < late), "{got:#?}");
    place.run(&["mcp", "test", "late"], "").fails(1, "it did not answer within 2 s; try again");
    std::fs::write(&gate, "").unwrap();
    let tools = ask().lines()[0]["tools"].clone();
    assert!(tools.as_array().unwrap().contains(&json!("mcp__late__echo")), "{tools}");
}

#[test]
fn a_call_that_goes_wrong_fails_with_its_reason() {
    let place = Place::new(&[]);
    for (kind, says) in [
        ("dies", "Error: the MCP server 'dies' failed: it has ended (exit code 3): out of ␛[2Jmemory."),
        ("big", "Error: the MCP server 'big' failed: it sent a line above 16 MiB and was stopped."),
        ("hangs", "Error: the MCP server 'hangs' did not answer within 3 s."),
        ("floods", "Error: the MCP server 'floods' did not answer within 3 s."),
        ("storms", "Error: the MCP server 'storms' did not answer within 3 s."),
    ] {
        let timeout = says.contains("within 3 s").then_some(3);
        let server = json!({"command": "python3", "args": [SERVER, kind], "timeout": timeout});
        let config = json!({"mcpServers": {kind: server}});
        let file = place.files.path().join("servers.json");
        std::fs::write(&file, config.to_string()).unwrap();
        let started = Instant::now();
        let options = ["--yes", "--mcp-config", "servers.json"];
        let got = place.call(&format!("mcp__{kind}__echo"), &json!({}), &options);
        assert_eq!((got.code, said(&got).as_str()), (54, says), "{got:#?}");
        assert!(started.elapsed() < Duration::from_secs(20), "{kind} took {:?}", started.elapsed());
    }
}

#[test]
fn results_are_cut_and_nothing_in_them_hides() {
    let place = Place::new(&[]);
    place.add("long", "long");
    let got = place.call("mcp__long__echo", &json!({}), &["--yes"]);
    let text = said(&got);
    assert!(text.len() < 60_000 && text.contains("bytes omitted"), "{}", text.len());
    assert_eq!(got.json()[0]["truncated"], true);
}

#[test]
fn a_server_gets_nothing_by_asking() {
    let place = Place::new(&[]);
    place.add("asks", "asks");
    let text = said(&place.call("mcp__asks__echo", &json!({}), &["--yes"]));
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[0], r#"sampling/createMessage: "refused""#);
    assert_eq!(lines[1], r#"roots/list: {"roots": []}"#);
    assert_eq!(lines[2], r#"elicitation/create: {"action": "decline"}"#);
}

#[test]
fn secrets_of_the_environment_reach_a_server_only_by_name() {
    let place = Place::new(&[]);
    place.add("environment", "environment");
    let seen = said(&place.call("mcp__environment__echo", &json!({}), &["--yes"]));
    assert!(seen.contains("PATH=") && !seen.contains("hunter2"), "{seen}");
    let add =
        ["mcp", "add", "environment", "--env", "GIVEN=a $MY_API_KEY", "--", "python3", SERVER, "environment"];
    place.run(&add, "");
    let seen = said(&place.call("mcp__environment__echo", &json!({}), &["--yes"]));
    assert!(seen.contains("GIVEN=a hunter2") && !seen.contains("MY_API_KEY"), "{seen}");
}

#[test]
fn tools_that_cannot_be_offered_are_left_out_and_said() {
    let place = Place::new(&[]);
    place.add("names", "names");
    let got = place.run(&["mcp", "test", "names", "--json"], "").json();
    let tools = got["tools"].as_array().unwrap();
    let names: Vec<&str> = tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    assert_eq!((names.len(), names[0]), (3, "mcp__names__echo"), "{got:#}");
    assert!(
        names
            .iter()
            .all(|name| name.len() <= 64 && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_'))
    );
    assert_eq!(tools[2]["description"], "hides\\u{202e}");
    assert_eq!(got["warnings"].as_array().unwrap().len(), 7, "{got:#}");
}

#[test]
fn what_a_directory_brings_does_not_run_unless_the_user_agreed_to_it() {
    let home = directory(&[]);
    let mark = home.path().join("ran");
    let place = Place { files: directory(&[(".mcp.json", &project("honest", &mark))]), home };
    let call = || place.call("mcp__theirs__echo", &json!({"n": 1}), &["--yes"]);
    let got = call();
    assert!(got.err.contains("you have not agreed to run them"), "{got:#?}");
    assert!(said(&got).starts_with("Error: unknown tool"), "{got:#?}");
    place.run(&["mcp", "test", "theirs"], "").fails(55, "you have not agreed to run");
    place.run(&["mcp", "trust"], "").fails(55, "there is no terminal to ask on");
    assert_eq!(place.run(&["mcp", "list", "--json"], "").json()[0]["state"], "untrusted");
    assert!(!mark.exists());

    let home = text(place.home.path());
    // So narrow that every path is broken.
    let mut terminal = Terminal::with(&place.files, &["mcp", "trust"], 20, &[("HOME", &home)]);
    let question = unbroken(&terminal.until("[y]es [n]o:"));
    assert!(question.contains("python3") && question.contains("↪ honest"), "{question:?}");
    terminal.write("y\r");
    assert_eq!(terminal.end().1, 0);
    let got = call();
    assert_eq!((got.code, said(&got).as_str()), (0, r#"{"n": 1}"#), "{got:#?}");
    assert!(mark.exists());

    std::fs::write(place.files.path().join(".mcp.json"), project("honest", &PathBuf::from("other"))).unwrap();
    assert!(call().err.contains("you have not agreed to run them"), "a file that changed is another file");
    let elsewhere = directory(&[(".mcp.json", &project("honest", &mark))]);
    let moved = Place { files: elsewhere, home: place.home };
    assert_eq!(moved.run(&["mcp", "list", "--json"], "").json()[0]["state"], "untrusted");
}

#[test]
fn a_directory_cannot_take_the_place_of_the_users_own_server() {
    let home = directory(&[]);
    let mark = home.path().join("ran");
    let place = Place { files: directory(&[(".mcp.json", &project("honest", &mark))]), home };
    place.add("theirs", "garbage");
    let listed = place.run(&["mcp", "list", "--json"], "").json();
    assert_eq!((&listed[0]["from"], &listed[1]["state"]), (&json!("own"), &json!("hidden")), "{listed:#}");
}

#[test]
fn a_call_shows_all_that_is_sent() {
    let place = Place::new(&[]);
    place.add("py", "honest");
    let call = json!({"name": "mcp__py__echo", "arguments": {"n": 5, "text": "a\u{1b}[2Jb"}});
    std::fs::write(place.files.path().join("call.txt"), format!("<tool_call>\n{call}\n</tool_call>"))
        .unwrap();
    let home = text(place.home.path());
    let mut terminal =
        Terminal::with(&place.files, &["exec", "call.txt", "--color", "never"], 80, &[("HOME", &home)]);
    let question = terminal.until("Do this?");
    assert!(question.contains("mcp__py__echo: a call to the MCP server py"), "{question:?}");
    assert!(question.contains("\"n\": 5") && question.contains("\\u001b[2J"), "{question:?}");
    terminal.write("y\r");
    let (seen, code) = terminal.end();
    assert_eq!(code, 0, "{seen:?}");
    // The answer quotes the escape, and on a terminal nothing acts.
    assert!(!seen.contains("\u{1b}[2J"), "{seen:?}");
}
