//! `del serve` with a configuration file.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{ChildStderr, Stdio};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::del::{del, plain, run};
use crate::serve::Proxy;
use crate::server::{Away, Reply, Server};

/// A server that says this.
fn saying(text: &str) -> Server {
    let message = json!({"role": "assistant", "content": text});
    let completion = json!({"choices": [{"index": 0, "finish_reason": "stop", "message": message}]});
    Server::new(vec![Reply::Status(200, completion.to_string())])
}

/// A file in a folder of its own.
fn file(text: &str) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("serve.toml");
    fs::write(&path, text).unwrap();
    (folder, path)
}

fn ask(proxy: &Proxy, model: &str) -> Value {
    proxy.post(&json!({"model": model, "messages": [{"role": "user", "content": "Who?"}],
        "tools": [{"type": "function", "function": {"name": "f"}}]}))
}

fn said(proxy: &Proxy, model: &str) -> String {
    ask(proxy, model)["choices"][0]["message"]["content"].as_str().unwrap_or_default().to_owned()
}

/// The next line that the program says.
fn next(said: &mut BufReader<ChildStderr>) -> String {
    let mut line = String::new();
    assert!(said.read_line(&mut line).unwrap() > 0, "it says nothing more");
    line
}

#[test]
fn a_file_has_routes_and_the_command_line_counts_more() {
    let (one, two) = (saying("one"), saying("two"));
    let text = format!(
        "tools_mode = \"native\"\nlisten = \"127.0.0.1:1\"\nupstream = \"{}\"\n\
         [[route]]\nmodels = [\"gpt-*\"]\nupstream = \"{}\"\nmodel = \"scripted\"\n",
        one.url(),
        two.url()
    );
    let (_folder, path) = file(&text);
    let serve = ["serve", "--listen", "127.0.0.1:0", "--config", path.to_str().unwrap()];
    let proxy = Proxy::start(&mut del(&serve));
    assert!(proxy.line.ends_with("in front of the servers of 2 routes\n"), "{}", proxy.line);
    assert_eq!((said(&proxy, "qwen"), said(&proxy, "gpt-4o")), ("one".to_owned(), "two".to_owned()));
    let sent = &two.completions()[0].body;
    assert_eq!((&sent["model"], sent["tools"].is_array()), (&json!("scripted"), true));
    drop(proxy);
    let other = saying("other");
    let typed = [&serve[..], &["--tools-mode", "prompt", "--upstream", other.url()]].concat();
    let proxy = Proxy::start(&mut del(&typed));
    assert_eq!((said(&proxy, "qwen"), said(&proxy, "gpt-4o")), ("other".to_owned(), "two".to_owned()));
    assert!(two.completions()[1].body.get("tools").is_none(), "asked in the prompt");
}

#[test]
fn a_file_is_checked_as_a_whole() {
    let check = |text: &str| {
        let (_folder, path) = file(text);
        let run = plain(&["serve", "--check", "--config", path.to_str().unwrap()]);
        (run.code, run.out, run.err.replace(path.to_str().unwrap(), "F").replace("\n     ", " "))
    };
    let good =
        "[[route]]\nmodels = [\"a\"]\nupstream = \"http://127.0.0.1:9/v1\"\ndialect = \"hermes-json\"\n";
    assert_eq!(check(good), (0, "1 route, nothing is wrong\n".to_owned(), String::new()));
    let bad = "lisen = 1\napi_key_env = \"DEL_NO_KEY\"\n\n[[route]]\nmodels = [\"a\", \"a\"]\nupstream = \"gopher://x\"\n\
        dialect = \"hermez\"\nupstream_key_env = \"DEL_NO_SUCH\"\n\n[[route]]\nmodels = \"b\"\n\n\
        [[key]]\nname = \"n\"\n\n[[route]]\nmodels = \"c\"\nupstream = 5\n";
    let (code, out, err) = check(bad);
    assert_eq!((code, out.as_str()), (52, ""), "{err}");
    for line in [
        "F:1: expected one of listen,",
        "F:2: api_key_env: expected a variable that holds a key, got DEL_NO_KEY",
        "F:5: models: expected names that no other route has, got `a`",
        "F:6: upstream: expected the address of a model server",
        "F:7: dialect:",
        "F:8: upstream_key_env: expected a variable that holds a key, got DEL_NO_SUCH",
        "F:10: upstream: expected the address of a model server, got none",
        "F:13: env: expected the name of a variable, got none",
        "F:18: upstream: expected a string or a list of strings, got a number",
        "F: 9 errors; nothing of it counts",
    ] {
        assert!(err.contains(line), "{line}: {err}");
    }
    let (code, _, err) = check("listen = \"0.0.0.0:1\"\n");
    assert!(code == 52 && err.contains("F:1: listen: 0.0.0.0:1 is not for this machine alone"), "{err}");
    plain(&["serve", "--check"]).fails(2, "--config");
    plain(&["serve", "--config", "/no/such/file"]).fails(52, "/no/such/file");
}

#[test]
fn the_files_that_are_shown_can_be_used() {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../../");
    let shown = |name: &str| fs::read_to_string(format!("{root}{name}")).unwrap();
    let kubernetes = shown("deploy/kubernetes.yaml");
    let map = kubernetes.split("serve.toml: |\n").nth(1).unwrap().split("---").next().unwrap();
    let map = map.lines().map(str::trim).collect::<Vec<_>>().join("\n");
    let documented = shown("docs/proxy.md");
    let documented = documented.split("```toml\n").nth(1).unwrap().split("```").next().unwrap().to_owned();
    for text in [shown("deploy/serve.toml"), map, documented] {
        let (_folder, path) = file(&text);
        let mut check = del(&["serve", "--check", "--config", path.to_str().unwrap()]);
        let checked = run(check.env("DEL_KEY", "k").env("TEAM_A_KEY", "k"), "");
        assert_eq!((checked.code, checked.err.as_str()), (0, ""), "{text}");
    }
}

#[test]
fn a_hangup_reads_the_file_anew_and_a_broken_one_changes_nothing() {
    let (one, two) = (saying("one"), saying("two"));
    let route = |url: &str| format!("[[route]]\nmodels = [\"*\"]\nupstream = \"{url}\"\n");
    let (_folder, path) = file(&route(one.url()));
    let serve = ["serve", "--listen", "127.0.0.1:0", "--config", path.to_str().unwrap()];
    let mut proxy = Proxy::start(del(&serve).stderr(Stdio::piped()));
    let mut err = BufReader::new(proxy.child.stderr.take().unwrap());
    let hang_up = |text: &str| {
        fs::write(&path, text).unwrap();
        let sent = run(std::process::Command::new("kill").args(["-HUP", &proxy.child.id().to_string()]), "");
        assert_eq!(sent.code, 0);
    };
    assert_eq!(said(&proxy, "m"), "one");
    hang_up("[[route]]\nmodels = [\"*\"]\n");
    let line = next(&mut err);
    assert!(line.contains(":1: upstream: expected the address of a model server, got none"), "{line}");
    assert!(line.ends_with("the old configuration goes on\n"), "{line}");
    assert_eq!(said(&proxy, "m"), "one");
    hang_up(&route(two.url()));
    let line = next(&mut err);
    assert_eq!(line, "del: the configuration was read anew: 1 route\n");
    assert_eq!(said(&proxy, "m"), "two");
    assert_eq!(proxy.end("-TERM"), Some(0));
}

#[test]
fn a_server_of_a_file_may_come_later() {
    let away = Away::new();
    let works = saying("works");
    let text = format!(
        "[[route]]\nmodels = [\"m\"]\nupstream = [\"http://{}/v1\", \"{}\"]\n[[key]]\nname = \"n\"\nenv = \"K\"\n",
        away.address,
        works.url()
    );
    let (_folder, path) = file(&text);
    let serve = ["serve", "--listen", "127.0.0.1:0", "--config", path.to_str().unwrap()];
    let mut proxy = Proxy::start(del(&serve).env("K", "s3cret").stderr(Stdio::piped()));
    let line = next(&mut BufReader::new(proxy.child.stderr.take().unwrap()));
    assert!(line.contains("cannot reach the model server at"), "{line}");
    assert_eq!(ask(&proxy, "m")["error"]["type"], "authentication_error");
    proxy.key = Some("s3cret");
    assert_eq!((said(&proxy, "m"), said(&proxy, "m")), ("works".to_owned(), "works".to_owned()));
    assert_eq!(ask(&proxy, "x")["error"]["message"], "there is no route for the model `x`");
}
