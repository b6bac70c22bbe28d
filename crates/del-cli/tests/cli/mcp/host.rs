//! The built-in tools for another host.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::del::{del, directory, run};

/// A host that speaks to `del mcp serve`.
struct Host {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
}

impl Host {
    /// Starts it, with what the host can do.
    fn start(files: &TempDir, options: &[&str], capabilities: &Value) -> Self {
        let mut child = del(&[&["mcp", "serve"], options].concat())
            .current_dir(files.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let (input, output) = (child.stdin.take(), BufReader::new(child.stdout.take().unwrap()));
        let mut host = Self { child, input, output };
        let info = json!({"name": "host", "version": "1"});
        let params =
            json!({"protocolVersion": "2025-06-18", "capabilities": capabilities, "clientInfo": info});
        let answer = host.ask(0, "initialize", &params);
        assert_eq!(answer["result"]["protocolVersion"], "2025-06-18", "{answer}");
        host.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        host
    }

    fn send(&mut self, message: &Value) {
        self.write(&format!("{message}\n"));
    }

    fn write(&mut self, text: &str) {
        let input = self.input.as_mut().unwrap();
        input.write_all(text.as_bytes()).unwrap();
        input.flush().unwrap();
    }

    /// The next message; all that comes is the protocol.
    fn next(&mut self) -> Value {
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line:?}"))
    }

    /// Reads until a message answers this request.
    fn answer(&mut self, id: u64) -> Value {
        loop {
            let message = self.next();
            if message["id"] == id && message.get("method").is_none() {
                return message;
            }
        }
    }

    fn request(&mut self, id: u64, method: &str, params: &Value) {
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
    }

    fn ask(&mut self, id: u64, method: &str, params: &Value) -> Value {
        self.request(id, method, params);
        self.answer(id)
    }

    /// Calls a tool: whether it failed, and what it said.
    fn call(&mut self, id: u64, tool: &str, arguments: &Value) -> (bool, String) {
        let answer = self.ask(id, "tools/call", &json!({"name": tool, "arguments": arguments}));
        outcome(&answer)
    }

    /// Closes the input and waits for the end.
    fn end(mut self) -> i32 {
        drop(self.input.take());
        self.child.wait().unwrap().code().unwrap_or(-1)
    }
}

fn outcome(answer: &Value) -> (bool, String) {
    let result = &answer["result"];
    (result["isError"] == true, result["content"][0]["text"].as_str().unwrap_or_default().to_owned())
}

#[test]
fn another_host_gets_the_tools_and_safe_mode_holds() {
    let files = directory(&[("a.txt", "one\n")]);
    let mut host = Host::start(&files, &[], &json!({}));
    let listed = host.ask(1, "tools/list", &json!({}));
    let tools = listed["result"]["tools"].as_array().unwrap().clone();
    let tool = |name: &str| tools.iter().find(|tool| tool["name"] == name).unwrap().clone();
    assert_eq!(tool("read_file")["annotations"]["readOnlyHint"], true);
    assert_eq!(tool("read_file")["inputSchema"]["type"], "object");
    assert_eq!(tool("write_file")["annotations"]["destructiveHint"], true);
    assert_eq!(host.call(2, "read_file", &json!({"path": "a.txt"})), (false, "     1\tone".to_owned()));
    assert_eq!(host.ask(3, "ping", &json!({}))["result"], json!({}));
    let (failed, text) = host.call(4, "run_command", &json!({"command": "touch x.txt"}));
    let ways = "--allow-tool 'run_command(touch:*)', or with --approval-mode yolo.";
    assert!(failed && text.ends_with(ways), "{text}");
    assert!(
        text.starts_with("Denied: needs approval: `touch` is not a program known to only read;"),
        "{text}"
    );
    let (failed, text) = host.call(5, "write_file", &json!({"path": "b.txt", "content": "x"}));
    assert!(failed && text.starts_with("Denied: needs approval; this host cannot ask"), "{text}");
    assert!(text.ends_with("or with --approval-mode auto-edit|yolo."), "{text}");
    let (failed, text) = host.call(6, "read_file", &json!({"path": "/etc/passwd"}));
    assert!(failed && text.starts_with("Denied: "), "{text}");
    let (failed, text) = host.call(7, "nosuch", &json!({}));
    assert!(failed && text.starts_with("Error: unknown tool 'nosuch'"), "{text}");
    assert!(!host.call(8, "run_command", &json!({"command": "cat a.txt"})).0, "safe commands run");
    assert_eq!(host.end(), 0);
    assert!(!files.path().join("x.txt").exists() && !files.path().join("b.txt").exists());
}

#[test]
fn every_line_is_answered_that_somebody_may_wait_for() {
    let files = directory(&[]);
    let mut host = Host::start(&files, &[], &json!({}));
    let errors = [
        ("no JSON at all", Value::Null, -32700),
        (r#"{"jsonrpc": "2.0", "id": 1,"#, Value::Null, -32700),
        (r#"{"jsonrpc": "2.0", "id": 1, "method": "ping"} {}"#, Value::Null, -32700),
        ("[]", Value::Null, -32600),
        (r#"[{"jsonrpc": "2.0", "id": 1, "method": "ping"}]"#, Value::Null, -32600),
        ("null", Value::Null, -32600),
        ("{}", Value::Null, -32600),
        (r#"{"jsonrpc": "2.0", "id": null, "method": "ping"}"#, Value::Null, -32600),
        (r#"{"jsonrpc": "2.0", "id": 1.5, "method": "ping"}"#, Value::Null, -32600),
        (r#"{"jsonrpc": "2.0", "id": 1, "result": {}, "error": {}}"#, Value::Null, -32600),
        (r#"{"jsonrpc": "2.0", "id": 3}"#, json!(3), -32600),
        (r#"{"jsonrpc": "1.0", "id": "four", "method": "ping"}"#, json!("four"), -32600),
        (r#"{"id": 5, "method": "ping"}"#, json!(5), -32600),
        (r#"{"jsonrpc": "2.0", "id": 6, "method": 7}"#, json!(6), -32600),
        (r#"{"jsonrpc": "2.0", "id": 7, "method": "nosuch"}"#, json!(7), -32601),
        (r#"{"jsonrpc": "2.0", "id": 8, "method": "ping", "params": [1]}"#, json!(8), -32602),
        (r#"{"jsonrpc": "2.0", "id": 9, "method": "tools/call"}"#, json!(9), -32602),
        (r#"{"jsonrpc": "2.0", "id": 10, "method": "tools/call", "params": {"name": 7}}"#, json!(10), -32602),
        (
            r#"{"jsonrpc": "2.0", "id": 11, "method": "tools/call", "params": {"name": "list_dir", "arguments": []}}"#,
            json!(11),
            -32602,
        ),
        (r#"{"jsonrpc": "2.0", "id": 12, "method": "initialize", "params": {}}"#, json!(12), -32602),
        (
            r#"{"jsonrpc": "2.0", "id": 13, "method": "tools/list", "params": {"cursor": "x"}}"#,
            json!(13),
            -32602,
        ),
    ];
    for (line, id, code) in errors {
        host.write(&format!("{line}\n"));
        let answer = host.next();
        assert_eq!(answer.get("id"), Some(&id), "{line}: {answer}");
        assert_eq!((&answer["jsonrpc"], &answer["error"]["code"]), (&json!("2.0"), &json!(code)), "{line}");
    }
    let nothing = [
        "",
        " \t\r",
        r#"{"jsonrpc": "2.0", "method": "nosuch"}"#,
        r#"{"jsonrpc": "2.0", "method": "notifications/cancelled", "params": [1]}"#,
        r#"{"jsonrpc": "2.0", "id": 99, "result": {}}"#,
        r#"{"jsonrpc": "2.0", "id": 99, "error": {"code": 1, "message": "x"}}"#,
    ];
    host.write(&format!("{}\n", nothing.join("\n")));
    host.write("{\"jsonrpc\": \"2.0\", \"id\": 20, \"method\": \"ping\", \"params\": null}\r\n");
    assert_eq!(host.next()["id"], 20, "all before it was no request");
    host.write(&format!("\"{}\"\n", "x".repeat(17 << 20)));
    assert_eq!(host.next()["error"]["code"], -32600, "a line that is too long");
    // The last line needs no end.
    host.write(r#"{"jsonrpc": "2.0", "id": 21, "method": "ping"}"#);
    drop(host.input.take());
    assert_eq!(host.next()["id"], 21);
    assert_eq!(host.end(), 0);
}

#[test]
fn what_comes_before_the_first_request_ends_nothing() {
    let files = directory(&[]);
    let info = json!({"name": "host", "version": "1"});
    let params = json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": info});
    let lines = [
        "no JSON".to_owned(),
        json!({"jsonrpc": "2.0", "method": "notifications/initialized"}).to_string(),
        json!({"jsonrpc": "2.0", "id": 7, "result": {}}).to_string(),
        json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params}).to_string(),
    ];
    let input = lines.map(|line| line + "\n").concat();
    let output = run(del(&["mcp", "serve"]).current_dir(files.path()), &input).out;
    let codes: Vec<Value> = output.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!((codes.len(), &codes[0]["error"]["code"]), (2, &json!(-32700)), "{output}");
    assert_eq!(codes[1]["result"]["serverInfo"]["name"], "del");
}

#[test]
fn consent_is_asked_for_through_the_host() {
    let files = directory(&[]);
    let mut host = Host::start(&files, &[], &json!({"elicitation": {}}));
    let write = |host: &mut Host, id: u64, answer: Value| {
        let arguments = json!({"path": format!("{id}.txt"), "content": "new\n"});
        host.request(id, "tools/call", &json!({"name": "write_file", "arguments": arguments}));
        let question = host.next();
        assert_eq!(question["method"], "elicitation/create", "{question}");
        let message = question["params"]["message"].as_str().unwrap();
        assert!(message.contains(&format!("create {id}.txt")) && message.contains("+new"), "{message}");
        host.send(&json!({"jsonrpc": "2.0", "id": question["id"], "result": answer}));
        outcome(&host.answer(id))
    };
    let yes = json!({"action": "accept", "content": {"answer": "yes"}});
    let no = json!({"action": "accept", "content": {"answer": "no", "reason": "use another name"}});
    assert!(!write(&mut host, 1, yes).0);
    assert_eq!(write(&mut host, 2, no), (true, "Denied: the user said no: use another name".to_owned()));
    assert!(write(&mut host, 3, json!({"action": "decline"})).0);
    assert!(write(&mut host, 4, json!({"action": "accept", "content": {}})).0);
    assert_eq!(host.end(), 0);
    let there = |id: u64| files.path().join(format!("{id}.txt")).exists();
    assert_eq!([1, 2, 3, 4].map(there), [true, false, false, false]);
}

#[test]
fn a_call_can_be_cancelled_and_tells_how_it_goes() {
    let files = directory(&[]);
    let mut host = Host::start(&files, &["--allow-tool", "run_command"], &json!({}));
    let arguments = json!({"command": "echo step; sleep 600"});
    let params = json!({"name": "run_command", "arguments": arguments, "_meta": {"progressToken": "p"}});
    host.request(1, "tools/call", &params);
    let progress = host.next();
    assert_eq!(progress["method"], "notifications/progress", "{progress}");
    assert_eq!(progress["params"]["message"], "step");
    host.send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}));
    let started = Instant::now();
    // The next command waits for the end of the one before.
    assert!(host.call(2, "run_command", &json!({"command": "touch done"})).1.contains("Success"));
    assert!(started.elapsed() < Duration::from_secs(30));
    assert_eq!(host.end(), 0);
}

#[test]
fn it_ends_with_its_input_and_with_what_it_runs() {
    let files = directory(&[]);
    let mut host = Host::start(&files, &["--unsafe"], &json!({}));
    let arguments = json!({"command": "echo $$ > pid; sleep 600"});
    host.request(1, "tools/call", &json!({"name": "run_command", "arguments": arguments}));
    let pid = files.path().join("pid");
    let pid = loop {
        match std::fs::read_to_string(&pid) {
            Ok(text) if text.ends_with('\n') => break text.trim().to_owned(),
            _ => std::thread::sleep(Duration::from_millis(10)),
        }
    };
    let started = Instant::now();
    assert_eq!(host.end(), 0);
    assert!(started.elapsed() < Duration::from_secs(20));
    assert!(!std::path::Path::new("/proc").join(pid).exists());
}

#[test]
fn it_ends_when_it_is_told_to() {
    let files = directory(&[]);
    let mut host = Host::start(&files, &[], &json!({}));
    let pid = host.child.id().to_string();
    std::process::Command::new("kill").args(["-TERM", &pid]).status().unwrap();
    assert_eq!(host.child.wait().unwrap().code(), Some(0));
}
