//! The configuration file, and `del config`.

use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::del::{Run, del, directory, run, text};
use crate::server::{About, Server, calls, says};
use crate::terminal::Terminal;

/// A home with this configuration.
fn home(content: &str) -> TempDir {
    directory(&[(".config/del/config.toml", content)])
}

fn file(home: &TempDir) -> PathBuf {
    home.path().join(".config/del/config.toml")
}

fn with(home: &TempDir, arguments: &[&str], variables: &[(&str, &str)]) -> Run {
    let files = directory(&[]);
    let mut command = del(arguments);
    command.current_dir(files.path()).env("HOME", home.path()).envs(variables.iter().copied());
    run(&mut command, "")
}

/// The value of a key and where it comes from.
fn shown(got: &Run, key: &str) -> (Value, Value, Value) {
    let rows = got.json();
    let row = rows.as_array().unwrap().iter().find(|row| row["key"] == key).unwrap();
    (row["value"].clone(), row["from"].clone(), row["place"].clone())
}

#[test]
fn what_the_file_says_holds_unless_somebody_says_otherwise() {
    let models = json!({"data": [{"id": "one"}, {"id": "two"}]}).to_string();
    let about = About { models: (200, models), ..About::default() };
    let (server, other) =
        (Server::about(about.clone(), vec![says("Yes.")]), Server::about(about, vec![says("No.")]));
    let base = format!("base_url = \"{}\"\nmodel = \"two\"\napi_key_env = \"MY_KEY\"\n", server.url());
    let home = home(&(base + "tools_mode = \"prompt\"\nno_session = true\n"));
    let key = ("MY_KEY", "hunter2");
    let got = with(&home, &["-p", "hello"], &[key]);
    assert_eq!((got.code, got.out.as_str()), (0, "Yes.\n"), "{got:#?}");
    let seen = &server.completions()[0];
    assert!(seen.body["model"] == "two" && seen.body.get("tools").is_none(), "{}", seen.body);
    assert_eq!(seen.authorization.as_deref(), Some("Bearer hunter2"));
    assert!(!home.path().join(".local/state/del/sessions").exists());
    with(&home, &["-p", "hello", "-m", "one", "--tools-mode", "native"], &[key]);
    let body = &server.completions()[1].body;
    assert!(body["model"] == "one" && body["tools"].is_array(), "{body}");
    // Another server gets neither the model nor the key of this one.
    assert_eq!(with(&home, &["-p", "hello", "--base-url", other.url()], &[key]).out, "No.\n");
    assert_eq!(with(&home, &["-p", "hello"], &[key, ("OPENAI_BASE_URL", other.url())]).out, "No.\n");
    for seen in other.completions() {
        assert!(seen.authorization.is_none() && seen.body["model"] == "one", "{seen:?}");
    }
    assert_eq!(with(&home, &["models", "--json"], &[key]).json()[1]["name"], "two");
}

#[test]
fn a_password_in_an_address_is_sent_and_never_shown() {
    let server = Server::new(vec![says("Yes."), says("Yes.")]);
    let address = server.url().replace("http://", "http://user:pa%3A55@");
    let home = home("");
    let got = with(&home, &["-p", "hello", "--base-url", &address, "--output-format", "stream-json"], &[]);
    assert!(got.code == 0 && got.out.contains(server.url()), "{got:#?}");
    assert!(![&got.out, &got.err].iter().any(|text| text.contains("55@")), "{got:#?}");
    let seen = server.completions().into_iter().map(|seen| seen.authorization).collect::<Vec<_>>();
    assert_eq!(seen, [Some("Basic dXNlcjpwYTo1NQ==".to_owned())]);
    let sessions = with(&home, &["sessions", "--all", "--json"], &[]);
    assert!(sessions.out.contains("hello") && !sessions.out.contains("55@"), "{sessions:#?}");
    let gone = with(&home, &["-p", "hello", "--base-url", "http://user:pa55@127.0.0.1:9/v1"], &[]);
    assert!(gone.code != 0 && gone.err.contains("http://127.0.0.1:9/v1"), "{gone:#?}");
    with(&home, &["-p", "hello", "--base-url", "http://h/v1?k=1"], &[]).fails(2, "so it ends with a path");
}

#[test]
fn rules_of_the_file_and_of_the_command_line_add_up() {
    let home = home("allow_tool = [\"run_command(touch:*)\"]\ndeny_tool = [\"write_file\"]\n");
    let call = |tool: &str, arguments: Value, options: &[&str]| {
        let arguments = arguments.to_string();
        with(&home, &[&["tools", "call", tool, &arguments, "--json"], options].concat(), &[])
    };
    assert_eq!(call("run_command", json!({"command": "touch x"}), &[]).code, 0);
    let other = ["--allow-tool", "run_command(mkdir:*)"];
    assert_eq!(call("run_command", json!({"command": "touch x"}), &other).code, 0);
    for options in
        [&["--deny-tool", "edit_file"][..], &["--allow-tool", "write_file"], &["--unsafe"], &["--yes"]]
    {
        let got = call("write_file", json!({"path": "a", "content": "x"}), options);
        assert!(got.code == 1 && got.out.contains("Denied"), "{options:?}: {got:#?}");
    }
}

#[test]
fn it_holds_for_the_assistant_and_not_for_what_only_has_the_same_option() {
    let server = Server::new(vec![calls("c1", "nosuch", &json!({})), says("Done.")]);
    let home = home(&format!("base_url = \"{}\"\ndialect = \"mistral-json\"\nmax_turns = 1\n", server.url()));
    assert_eq!(with(&home, &["-p", "x"], &[]).code, 53);
    let mut command = del(&["parse"]);
    let read = run(
        command.env("HOME", home.path()),
        "<tool_call>\n{\"name\": \"f\", \"arguments\": {}}\n</tool_call>",
    );
    assert_eq!(read.json()["dialect"], "hermes-json");
    let mut command = del(&["detect"]);
    let detected =
        run(command.env("HOME", home.path()), "{% for m in messages %}{{ m.content }}{% endfor %}");
    assert!(detected.out.starts_with("no tool calls"), "{detected:#?}");
}

#[test]
fn a_file_that_is_wrong_stops_what_would_use_it_and_nothing_else() {
    let home = home("# mine\ntools_mode = \"hybird\"\n");
    let path = text(&file(&home));
    let says = format!("{path}:2: tools_mode: expected one of auto, native, prompt, hybrid; got `hybird`");
    with(&home, &["-p", "x"], &[]).fails(52, &says);
    with(&home, &["config", "show"], &[]).fails(52, &says);
    assert_eq!(with(&home, &["config", "path"], &[]).out, format!("{path}\n"));
    let fine = self::home("");
    with(&fine, &["dialects", "--profile", "nope"], &[]).fails(2, "--profile: expected the name of a table");
    let named = self::home("profile = \"nope\"\n");
    assert_eq!(with(&named, &["dialects"], &[]).code, 52);
    assert_eq!(with(&home, &["completions", "bash"], &[]).code, 0);
    std::fs::write(file(&home), b"model = \"\xff\"").unwrap();
    with(&home, &["tools"], &[]).fails(52, "expected UTF-8");
}

#[test]
fn an_address_that_is_none_is_said_with_its_line() {
    for (text, says) in [
        ("base_url = \"foo bar\"\n", "config.toml:1: base_url: expected the address of a model server"),
        ("\n[profiles.x]\nbase_url = \"ftp://x\"\n", "config.toml:3: base_url: expected the address"),
        ("modle = 1\n", "dialect_dir, profile, profiles, hooks; got `modle`"),
    ] {
        with(&home(text), &["-p", "hi"], &[]).fails(52, says);
    }
    let pipe = directory(&[(".config/del/x", "")]);
    let made = std::process::Command::new("mkfifo").arg(pipe.path().join(".config/del/config.toml")).status();
    assert!(made.unwrap().success());
    with(&pipe, &["models"], &[]).fails(52, "config.toml: expected a file, got a pipe");
    // One that leads nowhere is no file that is not there.
    let home = directory(&[(".config/del/x", "")]);
    std::os::unix::fs::symlink("gone", home.path().join(".config/del/config.toml")).unwrap();
    with(&home, &["models"], &[]).fails(52, "config.toml");
}

#[test]
fn a_value_that_is_of_no_use_is_said_with_its_line() {
    let server = Server::new(vec![says("Yes.")]);
    let base = ["--base-url", server.url()];
    for (text, says) in [
        ("\ndialect = \"nosuch\"\n", ":2: dialect: expected the name of a dialect, got `nosuch`"),
        ("dialect_dir = \"/no/such\"\n", ":1: dialect_dir: cannot read the dialects in /no/such"),
        ("allow_dir = [\"/\", \"/no/such\"]\n", ":1: allow_dir: cannot open /no/such as a working directory"),
        (
            "profile = \"x\"\n[profiles.x]\ndialect = \"nosuch\"\n",
            ":3: dialect: expected the name of a dialect, got `nosuch`",
        ),
    ] {
        let home = home(text);
        let says = format!("{}{says}", self::text(&file(&home)));
        with(&home, &[&["-p", "hi"], &base[..]].concat(), &[]).fails(52, &says);
        // What does not use it does not mind.
        assert_eq!(with(&home, &["config", "show"], &[]).code, 0);
    }
    let home = home("allow_dir = [\"/no/such\"]\ndialect = \"nosuch\"\n");
    with(&home, &["undo"], &[]).fails(52, "config.toml:1: allow_dir: cannot open /no/such");
    // What is typed stands in no file.
    let typed = [&["-p", "hi", "--allow-dir", "/", "--dialect", "nosuch"], &base[..]].concat();
    let got = with(&home, &typed, &[]);
    assert!(got.code == 2 && !got.err.contains("config.toml"), "{got:#?}");
}

#[test]
fn every_value_is_shown_with_its_source() {
    let home = home("model = \"two\"\nallow_dir = [\"~/notes\"]\n");
    let got = with(
        &home,
        &["config", "show", "--json"],
        &[("OPENAI_BASE_URL", "http://x/v1"), ("DEL_WEB_PROVIDER", "brave")],
    );
    let place = |line: u32| json!(format!("config.toml:{line}"));
    assert_eq!(
        shown(&got, "base_url"),
        (json!("http://x/v1"), json!("environment"), json!("OPENAI_BASE_URL"))
    );
    assert_eq!(shown(&got, "model").1, "default", "it is for another server");
    let here = with(&home, &["config", "show", "--json"], &[]);
    assert_eq!(shown(&here, "model"), (json!("two"), json!("file"), place(1)));
    let notes = text(&home.path().join("notes"));
    assert_eq!(shown(&got, "allow_dir"), (json!(notes), json!("file"), place(2)));
    assert_eq!(shown(&got, "toolset"), (json!("core"), json!("default"), Value::Null));
    assert_eq!(shown(&got, "DEL_WEB_PROVIDER").2, "DEL_WEB_PROVIDER");
    let table = with(&home, &["config", "show"], &[]).out;
    let row = table.lines().find(|row| row.starts_with("model ")).unwrap();
    assert!(row.contains(" two ") && row.ends_with(" config.toml:1"), "{table}");
    let paths = with(&home, &["config", "path", "--json"], &[]).json();
    assert!(paths["exists"] == true && paths["mcp"].as_str().unwrap().ends_with("del/mcp.json"), "{paths:#}");
}

/// An editor that puts these texts in, one after the other.
fn editor(home: &TempDir, texts: &[&str]) -> String {
    for (place, text) in texts.iter().enumerate() {
        std::fs::write(home.path().join(format!("text{place}")), text).unwrap();
    }
    let script = "#!/bin/sh\ncd \"$HOME\"\ncat \"$1\" > seen\nfor n in 0 1 2; do\n  if [ -e text$n ]; then mv text$n \"$1\"; exit; fi\ndone\n";
    let path = home.path().join("editor");
    std::fs::write(&path, script).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o700)).unwrap();
    // It is words of a shell.
    format!("'{}'", text(&path))
}

#[test]
fn the_file_is_changed_in_the_users_editor_and_only_to_one_that_can_be_read() {
    let home = directory(&[]);
    let editor = editor(&home, &["model = 5\n", "model = \"two\"\n", "nonsense\n"]);
    let edit = || {
        Terminal::with(&home, &["config", "edit"], 100, &[("HOME", &text(home.path())), ("VISUAL", &editor)])
    };
    let mut terminal = edit();
    let asked = terminal.until("Edit it again?");
    assert!(asked.contains("config.toml:1: model: expected a string, got a number"), "{asked:?}");
    assert!(!file(&home).exists());
    // The first text was the template, in which nothing is set.
    let template = std::fs::read_to_string(home.path().join("seen")).unwrap();
    assert!(
        template.contains("\n# max_turns = 50\n")
            && template.lines().all(|line| line.is_empty() || line.starts_with('#'))
    );
    terminal.write("y\r");
    assert_eq!(terminal.end().1, 0);
    assert_eq!(std::fs::read_to_string(file(&home)).unwrap(), "model = \"two\"\n");
    assert_eq!(std::fs::metadata(file(&home)).unwrap().permissions().mode() & 0o777, 0o600);
    let mut terminal = edit();
    terminal.until("Edit it again?");
    terminal.write("n\r");
    let (seen, code) = terminal.end();
    assert!(code == 52 && seen.contains("it stays as it was"), "{seen:?}");
    assert_eq!(std::fs::read_to_string(file(&home)).unwrap(), "model = \"two\"\n");
    assert!(edit().end().0.contains("was not changed"));
}

#[test]
fn what_changed_while_the_editor_was_open_is_not_lost() {
    let home = home("model = \"one\"\n");
    std::fs::set_permissions(file(&home), std::fs::Permissions::from_mode(0o640)).unwrap();
    let path = home.path().join("editor");
    let other = format!(
        "#!/bin/sh\necho 'model = \"mine\"' > \"$1\"\n[ ! -e meanwhile ] || mv meanwhile '{}'\n",
        text(&file(&home))
    );
    std::fs::write(&path, other).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o700)).unwrap();
    let edit = || {
        Terminal::with(
            &home,
            &["config", "edit"],
            100,
            &[("HOME", &text(home.path())), ("VISUAL", &text(&path))],
        )
    };
    std::fs::write(home.path().join("meanwhile"), "model = \"theirs\"\n").unwrap();
    edit().until("was changed meanwhile, and stays so");
    assert_eq!(std::fs::read_to_string(file(&home)).unwrap(), "model = \"theirs\"\n");
    assert_eq!(
        std::fs::read_to_string(home.path().join(".config/del/config.toml.edited")).unwrap(),
        "model = \"mine\"\n"
    );
    std::fs::set_permissions(file(&home), std::fs::Permissions::from_mode(0o640)).unwrap();
    edit().until("changed ");
    assert_eq!(std::fs::read_to_string(file(&home)).unwrap(), "model = \"mine\"\n");
    assert_eq!(std::fs::metadata(file(&home)).unwrap().permissions().mode() & 0o777, 0o640);
}
