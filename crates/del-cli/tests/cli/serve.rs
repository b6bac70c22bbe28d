//! `del serve`.

mod execute;

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};

use crate::del::{del, plain};
use crate::server::{About, Away, Reply, Server, says};

/// A proxy that runs.
pub(crate) struct Proxy {
    pub(crate) child: Child,
    /// The line that it printed.
    pub(crate) line: String,
    address: String,
    /// What requests show.
    pub(crate) key: Option<&'static str>,
    /// Its temporary files: who is killed removes nothing.
    _left: tempfile::TempDir,
}

impl Proxy {
    pub(crate) fn start(command: &mut Command) -> Self {
        let left = tempfile::tempdir().unwrap();
        command.env("TMPDIR", left.path());
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let address = line.split(['/', ',']).nth(2).unwrap_or_default().to_owned();
        Self { child, line, address, key: None, _left: left }
    }

    pub(crate) fn post(&self, body: &Value) -> Value {
        let (body, address) = (body.to_string(), &self.address);
        let mut stream = TcpStream::connect(address).unwrap();
        write!(
            stream,
            "POST /v1/chat/completions HTTP/1.1\r\nhost: {address}\r\nauthorization: Bearer {}\r\nconnection: close\r\ncontent-length: {}\r\n\r\n{body}",
            self.key.unwrap_or("none"),
            body.len()
        )
        .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        serde_json::from_str(answer.split_once("\r\n\r\n").unwrap().1).unwrap()
    }

    /// All of an answer.
    fn get(&self, path: &str) -> String {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        write!(stream, "GET {path} HTTP/1.1\r\nhost: {}\r\nconnection: close\r\n\r\n", self.address).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }

    /// Sends a signal: how the program ends.
    pub(crate) fn end(mut self, signal: &str) -> Option<i32> {
        let sent = Command::new("kill").args([signal, &self.child.id().to_string()]).status().unwrap();
        assert!(sent.success());
        self.child.wait().unwrap().code()
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn it_serves_says_where_and_ends_when_told() {
    let completion = json!({"choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant",
        "content": "```json\n{\"name\": \"f\", \"arguments\": {}}\n```"}}]});
    let server = Server::new(vec![Reply::Status(200, completion.to_string())]);
    let serve = ["serve", "--listen", "127.0.0.1:0", "--upstream", server.url(), "--tools-mode", "prompt"];
    let proxy = Proxy::start(&mut del(&serve));
    let expected = format!("listening on http://{}/v1, in front of {}\n", proxy.address, server.url());
    assert_eq!(proxy.line, expected);
    let tool = json!({"type": "function", "function": {"name": "f"}});
    let answer = proxy.post(&json!({"messages": [{"role": "user", "content": "Do it."}], "tools": [tool]}));
    assert_eq!(answer["choices"][0]["message"]["tool_calls"][0]["function"]["name"], "f", "{answer}");
    assert!(server.completions()[0].body.get("tools").is_none());
    assert_eq!(proxy.end("-TERM"), Some(0));
    assert_eq!(Proxy::start(&mut del(&serve)).end("-INT"), Some(130));
}

/// Each stream takes two, and shells give few.
#[cfg(target_os = "linux")]
#[test]
fn it_opens_as_many_files_as_the_system_lets_it() {
    let server = Server::new(Vec::new());
    let serve = del(&["serve", "--listen", "127.0.0.1:0", "--upstream", server.url()]);
    let mut few = Command::new("sh");
    few.args(["-c", "ulimit -S -n 256; exec \"$0\" \"$@\""]).arg(serve.get_program()).args(serve.get_args());
    few.envs(serve.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let proxy = Proxy::start(&mut few);
    let limits = std::fs::read_to_string(format!("/proc/{}/limits", proxy.child.id())).unwrap();
    let files = limits.lines().find_map(|line| line.strip_prefix("Max open files")).unwrap();
    let files: Vec<u64> = files.split_whitespace().filter_map(|number| number.parse().ok()).collect();
    let most = files.get(1).map_or(65_536, |most| *most.min(&65_536));
    assert!(files[0] > 256 && files[0] == most, "{files:?}");
}

#[test]
fn the_words_are_those_of_the_template_unless_others_are_asked_for() {
    let template = concat!(env!("CARGO_MANIFEST_DIR"), "/../del-detect/tests/families/hermes-json.jinja");
    let text = std::fs::read_to_string(template).unwrap();
    let props = json!({"chat_template": text, "default_generation_settings": {"n_ctx": 4096}});
    let models = json!({"data": [{"id": "nobody-knows", "owned_by": "llamacpp"}]}).to_string();
    let about = || About { models: (200, models.clone()), props: Some(props.clone()), ..About::default() };
    let told = |about: About, options: &[&str]| {
        let completion = json!({"choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant",
            "content": "Hi."}}]});
        let server = Server::about(about, vec![Reply::Status(200, completion.to_string())]);
        let serve =
            ["serve", "--listen", "127.0.0.1:0", "--upstream", server.url(), "--tools-mode", "prompt"];
        let proxy = Proxy::start(&mut del(&[&serve[..], options].concat()));
        let tool = json!({"type": "function", "function": {"name": "f"}});
        proxy.post(&json!({"messages": [{"role": "user", "content": "Do it."}], "tools": [tool]}));
        server.completions()[0].body["messages"][0]["content"].as_str().unwrap().to_owned()
    };
    let own = |system: &str| system.starts_with("# Tools\n\nYou have these tools");
    let its =
        |system: &str| system.starts_with("You may call these functions:\n<tools>\n{\"type\": \"function\"");
    let system = told(about(), &[]);
    assert!(its(&system) && system.ends_with("</tool_call> to call one."), "{system}");
    let system = told(about(), &["--chat-template", "none"]);
    assert!(own(&system), "{system}");
    let system = told(About::default(), &[]);
    assert!(own(&system), "{system}");
    let system = told(About::default(), &["--chat-template", template]);
    assert!(its(&system), "{system}");
}

#[test]
fn what_cannot_be_served_is_said() {
    let server = Server::new(vec![says("hi")]);
    let serve = |options: &[&str]| {
        let given = ["serve", "--upstream", server.url()];
        plain(&[&given[..], options].concat())
    };
    serve(&["--listen", "0.0.0.0:0"]).fails(2, "--api-key-env");
    serve(&["--listen", "nowhere"]).fails(2, "expected an address such as 127.0.0.1:8787, got `nowhere`");
    serve(&["--max-body", "much"]).fails(2, "expected a size such as");
    serve(&["--response-memory", "much"]).fails(2, "expected a size such as");
    serve(&["--idle-timeout", "0"]).fails(2, "expected a number of seconds above 0");
    serve(&["--upstream-api", "grpc"]).fails(2, "[possible values: openai, responses, anthropic, ollama]");
    serve(&["--chat-template", "/no/such/file"]).fails(42, "/no/such/file");
    serve(&["--dialect", "hermez"]).fails(2, "got `hermez`");
    serve(&["--api-key-env", "DEL_NO_SUCH_KEY"])
        .fails(52, "--api-key-env: expected a variable that holds a key, got DEL_NO_SUCH_KEY");
    serve(&["--upstream-key-env", "DEL_NO_SUCH_KEY"])
        .fails(52, "--upstream-key-env: expected a variable that holds a key");
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    serve(&["--listen", &address]).fails(1, "--listen takes another address");
}

#[test]
fn it_waits_for_a_model_server_that_is_away() {
    let away = Away::new();
    let upstream = format!("http://{}/v1", away.address);
    let mut command = del(&["serve", "--listen", "127.0.0.1:0", "--upstream", &upstream]);
    let mut proxy = Proxy::start(command.stderr(Stdio::piped()));
    assert!(proxy.line.contains(&format!("in front of {upstream}")), "{}", proxy.line);
    let mut warning = String::new();
    BufReader::new(proxy.child.stderr.take().unwrap()).read_line(&mut warning).unwrap();
    assert!(
        warning.contains("cannot reach the model server at") && warning.contains("asked again"),
        "{warning}"
    );
    assert!(proxy.get("/ready").starts_with("HTTP/1.1 503 "), "{}", proxy.get("/ready"));
    assert!(proxy.get("/health").starts_with("HTTP/1.1 200 "), "it lives all the same");

    let listener = away.comes();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            BufReader::new(&stream).lines().map_while(Result::ok).find(String::is_empty);
            let body = "{\"data\":[{\"id\":\"small\"}]}";
            let _ = write!(
                stream,
                "HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: {}\r\n\r\n{body}",
                body.len()
            );
        }
    });
    assert!(proxy.get("/ready").starts_with("HTTP/1.1 200 "), "{}", proxy.get("/ready"));
    assert!(proxy.get("/v1/models").contains("small"), "{}", proxy.get("/v1/models"));
}

/// The lines of a request's head.
fn head(stream: &TcpStream) -> Vec<String> {
    let lines = BufReader::new(stream).lines().map(|line| line.unwrap());
    lines.take_while(|line| !line.is_empty()).collect()
}

#[test]
fn a_server_of_anthropics_api_is_shown_the_key_in_its_own_header() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let base = format!("http://{}/v1", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let head = head(&stream);
            let shown = ["x-api-key: s3cret", "anthropic-version: 2023-06-01"]
                .iter()
                .all(|header| head.iter().any(|line| line == header));
            let (status, body) = if shown { (200, "{\"data\":[]}") } else { (401, "{}") };
            let length = body.len();
            write!(
                stream,
                "HTTP/1.1 {status} X\r\nconnection: close\r\ncontent-length: {length}\r\n\r\n{body}"
            )
            .unwrap();
        }
    });
    let serve =
        ["serve", "--listen", "127.0.0.1:0", "--upstream", &base, "--upstream-key-env", "DEL_TEST_KEY"];
    let anthropic = [&serve[..], &["--upstream-api", "anthropic"]].concat();
    let proxy = Proxy::start(del(&anthropic).env("DEL_TEST_KEY", "s3cret"));
    assert!(proxy.line.starts_with("listening on http://127.0.0.1:"), "{}", proxy.line);
    let refused = del(&serve).env("DEL_TEST_KEY", "s3cret").output().unwrap();
    assert_eq!(refused.status.code(), Some(41));
}

#[test]
fn no_redirection_leads_to_another_server() {
    let other = TcpListener::bind("127.0.0.1:0").unwrap();
    other.set_nonblocking(true).unwrap();
    let elsewhere = format!("http://{}/v1/models", other.local_addr().unwrap());
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let base = format!("http://{}/v1", listener.local_addr().unwrap());
    let to = elsewhere.clone();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let head = head(&stream);
            // What leads elsewhere on the same server is followed.
            let answer = match head[0].split([' ', '?']).nth(1).unwrap() {
                "/v1/models" => "307 X\r\nlocation: /v1/models/".to_owned(),
                "/v1/models/" => "200 OK\r\nx: y".to_owned(),
                _ => format!("307 X\r\nlocation: {to}"),
            };
            let body = "{\"data\":[{\"id\":\"found\"}]}";
            let length = body.len();
            write!(
                stream,
                "HTTP/1.1 {answer}\r\nconnection: close\r\ncontent-length: {length}\r\n\r\n{body}"
            )
            .unwrap();
        }
    });
    for api in ["openai", "anthropic"] {
        let serve = ["serve", "--listen", "127.0.0.1:0", "--upstream", &base, "--upstream-api", api];
        let proxy = Proxy::start(
            del(&serve).args(["--upstream-key-env", "DEL_TEST_KEY"]).env("DEL_TEST_KEY", "s3cret"),
        );
        assert!(proxy.get("/v1/models").contains("found"));
        let told = proxy.post(&json!({"model": "m", "messages": [{"role": "user", "content": "Hi"}]}));
        let message = told["error"]["message"].as_str().unwrap();
        assert!(
            message.contains("redirects to another address") && message.contains(&elsewhere),
            "{message}"
        );
    }
    assert_eq!(other.accept().unwrap_err().kind(), std::io::ErrorKind::WouldBlock);
}

#[test]
fn hybrid_mode_asks_for_definitions_within_one_request() {
    let says = |text: &str| {
        let message = json!({"role": "assistant", "content": text});
        let choice = json!({"index": 0, "finish_reason": "stop", "message": message});
        Reply::Status(200, json!({"choices": [choice]}).to_string())
    };
    let server = Server::new(vec![
        says("<am:request_tools>get_weather</am:request_tools>"),
        says("<tool_call>\n{\"name\": \"get_weather\", \"arguments\": {\"city\": \"Paris\"}}\n</tool_call>"),
    ]);
    let options = ["serve", "--upstream", server.url(), "--listen", "127.0.0.1:0", "--tools-mode", "hybrid"];
    let proxy = Proxy::start(&mut del(&options));
    let parameters = json!({"type": "object", "properties": {"city": {"type": "string"}}});
    let function =
        json!({"name": "get_weather", "description": "Says the weather.", "parameters": parameters});
    let answer = proxy
        .post(&json!({"model": "scripted", "messages": [{"role": "user", "content": "How is it?"}],
        "tools": [{"type": "function", "function": function}]}));
    let call = &answer["choices"][0]["message"]["tool_calls"][0]["function"];
    assert_eq!((&call["name"], &call["arguments"]), (&json!("get_weather"), &json!("{\"city\": \"Paris\"}")));
    let sent = server.completions();
    let defines = |at: usize| sent[at].body["tools"].to_string().contains("\"city\"");
    assert_eq!((sent.len(), defines(0), defines(1)), (2, false, true));
}
