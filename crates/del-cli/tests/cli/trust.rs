//! What a directory brings along, and the trust that it needs.

use serde_json::json;
use tempfile::TempDir;

use crate::del::{Run, del, directory, run, text};
use crate::server::{Server, says};
use crate::terminal::Terminal;

/// Runs it in a directory of a project, with a home of its own.
fn at(files: &TempDir, home: &TempDir, folder: &str, arguments: &[&str]) -> Run {
    run(del(arguments).current_dir(files.path().join(folder)).env("HOME", home.path()), "")
}

fn model(server: &Server, request: usize) -> String {
    server.completions()[request].body["model"].as_str().unwrap().to_owned()
}

/// What a question says, its rows joined.
fn joined(question: &str) -> String {
    question.replace("\r\n    ↪ ", " ").replace("\r\n    │ ↪ ", " ")
}

const PROJECT: &str = "model = \"theirs\"\nmax_turns = 7\nallow_tool = [\"run_command\"]\napproval_mode = \"yolo\"\n\
    base_url = \"http://127.0.0.1:9/v1\"\ndeny_tool = [\"write_file\"]\n";

#[test]
fn a_projects_settings_count_once_they_are_trusted_and_never_loosen() {
    let home = directory(&[]);
    let files = directory(&[(".git/HEAD", "x"), (".del/config.toml", PROJECT), ("inner/a.txt", "x")]);
    let server = Server::new(vec![says("Hello.")]);
    let ask = |options: &[&str]| {
        at(&files, &home, "inner", &[&["-p", "hi", "--base-url", server.url()], options].concat())
    };
    let got = ask(&[]);
    assert_eq!((got.code, got.out.as_str()), (0, "Hello.\n"), "{got:#?}");
    assert!(got.err.contains("left out: .del/config.toml: you have not agreed to this"), "{got:#?}");
    assert!(ask(&["--project", "off"]).err.is_empty());
    ask(&["--project", "require"]).fails(55, ".del/config.toml: you have not agreed");
    at(&files, &home, "inner", &["trust"]).fails(55, "no terminal");
    assert!(at(&files, &home, "inner", &["trust", "--list"]).err.contains("not been asked"));

    let mut terminal = Terminal::with(&files, &["trust"], 100, &[("HOME", &text(home.path()))]);
    let question = joined(&terminal.until("[y]es [n]o:"));
    for said in
        ["max_turns = 7", "without allow_tool (line 3)", "without approval_mode (line 4): you have it at ask"]
    {
        assert!(question.contains(said), "{said}: {question:?}");
    }
    terminal.write("y");
    assert_eq!(terminal.end().1, 0);
    assert_eq!(ask(&["--project", "require"]).code, 0);
    let shown = at(&files, &home, "inner", &["config", "show", "--json"]);
    let row =
        |key: &str| shown.json().as_array().unwrap().iter().find(|row| row["key"] == key).unwrap().clone();
    assert_eq!(row("max_turns")["place"], ".del/config.toml:2", "{shown:#?}");
    assert_eq!((&row("allow_tool")["value"], &row("approval_mode")["value"]), (&json!(null), &json!("ask")));
    assert!(shown.err.contains("base_url does not count: it would say where"), "{shown:#?}");

    std::fs::write(files.path().join(".del/config.toml"), "max_turns = 8\n").unwrap();
    ask(&["--project", "require"]).fails(55, "you have not agreed");
    let list = at(&files, &home, "", &["trust", "--list", "--json"]).json();
    assert_eq!(list[0]["state"], "changed", "{list:#}");
    assert_eq!(at(&files, &home, "", &["trust", "--yes"]).code, 0);
    assert_eq!(ask(&["--project", "require"]).code, 0);
    assert!(at(&files, &home, "inner", &["trust", "--revoke"]).out.contains("asks again: "));
    ask(&["--project", "require"]).fails(55, "you have not agreed");

    std::fs::write(files.path().join(".del/config.toml"), "max_turns = \n").unwrap();
    let got = ask(&["--project", "require"]);
    got.fails(52, ".del/config.toml");
    assert_eq!(got.err.matches("config.toml").count(), 1, "it is said once: {got:#?}");
    assert!(ask(&[]).err.contains("left out: "));
}

#[test]
fn the_projects_model_is_asked_and_its_denials_hold_whatever_is_typed() {
    let home = directory(&[(".config/del/config.toml", "deny_tool = [\"run_command(git push:*)\"]\n")]);
    let files = directory(&[(".del/config.toml", PROJECT)]);
    let server = Server::new(vec![says("Hello.")]);
    assert_eq!(at(&files, &home, "", &["trust", "-y"]).code, 0);
    let own = format!("base_url = \"{}\"\ndeny_tool = [\"run_command(git push:*)\"]\n", server.url());
    std::fs::write(home.path().join(".config/del/config.toml"), own).unwrap();
    assert_eq!(at(&files, &home, "", &["-p", "hi"]).out, "Hello.\n");
    assert_eq!(model(&server, 0), "theirs");
    let shown = at(&files, &home, "", &["config", "show"]).out;
    assert!(shown.contains("run_command(git push:*), write_file"), "{shown}");
    assert!(shown.contains("config.toml:2, .del/config.toml:6"), "{shown}");
}

#[test]
fn the_assistant_asks_once_and_remembers_a_no() {
    let home = directory(&[]);
    let home_path = text(home.path());
    let files = directory(&[
        (".del/config.toml", "max_turns = 7\n"),
        (".mcp.json", "{\"mcpServers\": {\"x\": {\"command\": \"nosuch\"}}}"),
    ]);
    let server = Server::new(vec![says("Hello.")]);
    let arguments = ["--base-url", server.url(), "--color", "never"];
    let start = || Terminal::with(&files, &arguments, 100, &[("HOME", &home_path)]);
    let mut terminal = start();
    let question = terminal.until("[y]es [n]o:");
    assert!(question.contains("max_turns = 7") && question.contains("nosuch"), "{question:?}");
    terminal.write("n");
    let said = terminal.until("> ");
    assert!(
        said.contains("left out: .del/config.toml, .mcp.json: you said no") && !said.contains("trusts"),
        "{said:?}"
    );
    terminal.write("exit\r");
    assert_eq!(terminal.end().1, 0);
    let mut terminal = start();
    let said = terminal.until("> ");
    assert!(
        said.contains("left out: .del/config.toml, .mcp.json: you said no") && !said.contains("Trust this"),
        "{said:?}"
    );
    terminal.write("exit\r");
    assert_eq!(terminal.end().1, 0);

    // What changed is asked about, and only that.
    std::fs::write(files.path().join(".del/config.toml"), "max_turns = 9\n").unwrap();
    let mut terminal = start();
    let question = terminal.until("[y]es [n]o:");
    assert!(question.contains("max_turns = 9") && !question.contains("nosuch"), "{question:?}");
    terminal.write("y");
    let said = terminal.until("> ");
    assert!(said.contains("trusts .del/config.toml"), "{said:?}");
    terminal.write("exit\r");
    assert_eq!(terminal.end().1, 0);
}

#[test]
fn the_words_that_a_model_would_get_are_seen_before_they_are_trusted() {
    let home = directory(&[]);
    let body: Vec<String> =
        (1..=40).map(|line| format!("Step {line} does something to some of the files here.")).collect();
    let files = directory(&[
        (".del/config.toml", "[[hooks.PreToolUse]]\ncommand = \"echo one two three four five six seven\"\n"),
        (".claude/commands/long.md", &body.join("\n")),
        (".del/skills/release/SKILL.md", "---\nname: release\n---\nBump the version, then tag.\n"),
    ]);
    let mut terminal =
        Terminal::with(&files, &["trust", "--color", "never"], 46, &[("HOME", &text(home.path()))]);
    let question = terminal.until("[y]es [n]o [v]iew all:");
    assert!(
        question.contains("    │ Step 11 does something to some of the\r\n    │ ↪ files here.\r\n"),
        "{question}"
    );
    assert!(question.contains("    … 29 more lines\r\n") && !question.contains("Step 12"), "{question}");
    assert!(question.contains("│ Bump the version, then tag."), "{question}");
    let words = joined(&question.replace("\r\n      ↪ ", " "));
    assert!(words.contains("echo one two three four five six seven"), "{words}");
    terminal.write("v");
    let mut seen = terminal.until("More: Enter goes on");
    terminal.write("\r");
    seen += &terminal.until("More: Enter goes on");
    terminal.write("\r");
    seen += &terminal.until("[y]es [n]o [v]iew all:");
    assert!(seen.contains("Step 12") && seen.contains("Step 40"), "{seen}");
    terminal.write("n");
    assert_eq!(terminal.end().1, 55);
    let shown = at(&files, &home, "", &["trust"]);
    assert!(shown.err.contains("Step 40"), "{shown:#?}");
}

#[test]
fn a_link_is_no_file_of_the_projects_and_a_mistake_is_said() {
    let home = directory(&[]);
    let files = directory(&[("elsewhere.toml", "max_turns = 7\n"), (".del/x", "")]);
    std::os::unix::fs::symlink("../elsewhere.toml", files.path().join(".del/config.toml")).unwrap();
    let link = "config.toml: expected a file of at most 1 MiB, got a link, and those are not followed";
    at(&files, &home, "", &["trust", "-y"]).fails(52, link);
    let require = ["-p", "hi", "--base-url", "http://127.0.0.1:9/v1", "--project", "require"];
    at(&files, &home, "", &require).fails(52, link);
    std::fs::remove_file(files.path().join(".del/config.toml")).unwrap();
    let long = format!("deny_tool = [\"write_file\"]\n{}", "#\n".repeat(1 << 20));
    std::fs::write(files.path().join(".del/config.toml"), long).unwrap();
    at(&files, &home, "", &["trust", "-y"]).fails(52, "at most 1 MiB, got 2097179 bytes");
    std::fs::write(files.path().join(".del/config.toml"), "\nmodle = 5\n").unwrap();
    let got = at(&files, &home, "", &["trust", "-y"]);
    got.fails(52, ".del/config.toml:2: expected one of base_url");
    at(&files, &home, "", &["trust", "elsewhere.toml"]).fails(42, "expected a directory, got the file");
    // What else there is can be trusted all the same.
    std::fs::write(files.path().join(".mcp.json"), "{\"mcpServers\": {\"x\": {\"command\": \"nosuch\"}}}")
        .unwrap();
    let got = at(&files, &home, "", &["trust", "-y"]);
    assert!(got.code == 52 && got.out.contains("trusted: .mcp.json"), "{got:#?}");
    assert_eq!(got.err.matches("expected one of base_url").count(), 1, "{got:#?}");
}

#[test]
fn a_profile_is_a_set_of_values_with_a_name() {
    let (one, other) = (Server::new(vec![says("One.")]), Server::new(vec![says("Other.")]));
    let config = format!(
        "base_url = \"{}\"\nmodel = \"small\"\napi_key_env = \"KEY\"\nmax_turns = 3\n\
         [profiles.big]\nmodel = \"big\"\n[profiles.there]\nbase_url = \"{}\"\nmodel = \"far\"\n",
        one.url(),
        other.url()
    );
    let home = directory(&[(".config/del/config.toml", &config)]);
    let ask = |options: &[&str]| {
        let mut command = del(&[&["-p", "hi"], options].concat());
        run(command.env("HOME", home.path()).env("KEY", "secret").current_dir(home.path()), "")
    };
    assert_eq!(ask(&["--profile", "big"]).out, "One.\n");
    assert_eq!(model(&one, 0), "big");
    assert_eq!(one.completions()[0].authorization.as_deref(), Some("Bearer secret"));
    // A profile with a server of its own does not get the key of the other.
    assert_eq!(ask(&["--profile", "there"]).out, "Other.\n");
    assert_eq!((model(&other, 0).as_str(), &other.completions()[0].authorization), ("far", &None));
    // Nor one of the environment, which is for the server that this names, or for that of the API.
    let keyed = |options: &[&str]| {
        let mut command = del(&[&["-p", "hi"], options].concat());
        command.env("OPENAI_BASE_URL", one.url()).env("OPENAI_API_KEY", "env").env("KEY", "secret");
        run(command.env("HOME", home.path()).current_dir(home.path()), "")
    };
    assert_eq!(keyed(&["--profile", "there"]).out, "Other.\n");
    assert_eq!(other.completions()[1].authorization, None);
    assert_eq!(keyed(&["--profile", "there", "--api-key-env", "OPENAI_API_KEY"]).out, "Other.\n");
    assert_eq!(other.completions()[2].authorization.as_deref(), Some("Bearer env"));
    // It was asked for: the environment does not take its place.
    let mut command = del(&["-p", "hi", "--profile", "there"]);
    let command = command.env("HOME", home.path()).env("OPENAI_BASE_URL", one.url()).env("KEY", "secret");
    assert_eq!(run(command.current_dir(home.path()), "").out, "Other.\n");
    ask(&["--profile", "none"]).fails(2, "--profile: expected one of big, there; got `none`");
    let shown = at(&home, &home, "", &["config", "show", "--profile", "big", "--json"]).json();
    let model = shown.as_array().unwrap().iter().find(|row| row["key"] == "model").unwrap();
    assert_eq!((&model["from"], &model["place"]), (&json!("profile"), &json!("config.toml:6 (profile big)")));
    let named = format!("profile = \"there\"\n{config}");
    std::fs::write(home.path().join(".config/del/config.toml"), named).unwrap();
    assert_eq!(ask(&[]).out, "Other.\n");
    assert_eq!(ask(&["--profile", "big"]).out, "One.\n");
    std::fs::write(home.path().join(".config/del/config.toml"), "profile = \"x\"\n").unwrap();
    ask(&[]).fails(52, "config.toml:1: profile: expected the name of a table [profiles.NAME]");
}

#[test]
fn profiles_of_a_project_are_named_and_the_rest_counts() {
    let home = directory(&[]);
    let config = "deny_tool = [\"write_file\"]\nprofile = \"x\"\n[profiles.x]\nmodel = \"y\"\n";
    let files = directory(&[(".del/config.toml", config)]);
    let got = at(&files, &home, "", &["trust", "-y"]);
    assert!(got.code == 0 && got.out.contains("trusted: .del/config.toml"), "{got:#?}");
    let shown = at(&files, &home, "", &["config", "show", "--json"]);
    for refused in [
        ".del/config.toml:2: profile does not count: it is a matter of your own machine",
        ".del/config.toml:3: profiles does not count",
    ] {
        assert!(shown.err.contains(refused), "{shown:#?}");
    }
    let rows = shown.json();
    assert_eq!(
        rows.as_array().unwrap().iter().find(|row| row["key"] == "deny_tool").unwrap()["value"],
        "write_file"
    );
}
