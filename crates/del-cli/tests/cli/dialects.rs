//! `del dialects`, and dialects of one's own.

use serde_json::json;

use crate::del::{del, directory, plain, run, text};

/// A small dialect of one's own.
fn own() -> String {
    let hermes = plain(&["dialects", "show", "jamba"]).out;
    let without_aliases: Vec<&str> = hermes.lines().filter(|line| !line.starts_with("aliases")).collect();
    without_aliases.join("\n").replace("tool_calls>", "my_calls>")
}

#[test]
fn the_list_has_a_row_for_every_dialect() {
    let rows = plain(&["dialects", "--json"]).json();
    assert_eq!(plain(&["dialects", "list", "--json"]).json(), rows);
    let rows = rows.as_array().unwrap();
    assert!(rows.len() >= 18, "{}", rows.len());
    for row in rows {
        for name in ["name", "title", "family", "source"] {
            assert!(row[name].as_str().is_some_and(|text| !text.is_empty()), "{row}");
        }
        assert!(row["aliases"].is_array() && row["models"].is_array() && row["cases"].is_u64(), "{row}");
    }
    let hermes = rows.iter().find(|row| row["name"] == "hermes-json").unwrap();
    assert!(hermes["cases"].as_u64().is_some_and(|cases| cases >= 10), "{hermes}");
    assert!(hermes["aliases"].as_array().unwrap().contains(&json!("hermes")));
    let table = plain(&["dialects"]).out;
    assert_eq!(table.lines().count(), rows.len() + 1);
    let column = |line: &str| line.find("JSON in tags").unwrap_or(usize::MAX);
    assert_eq!(column(table.lines().nth(1).unwrap()), table.lines().next().unwrap().find("FAMILY").unwrap());
}

#[test]
fn a_dialect_is_shown_by_any_of_its_names() {
    let shown = plain(&["dialects", "show", "hermes-json"]);
    assert!(shown.out.contains("<tool_call>"), "{shown:#?}");
    assert_eq!(plain(&["dialects", "show", "vllm:hermes"]).out, shown.out);
    assert_eq!(plain(&["dialects", "show", "hermes", "--json"]).json()["name"], "hermes-json");
    plain(&["dialects", "show", "nosuch"]).fails(2, "expected the name of a dialect, got `nosuch`");
    for (name, meant) in [("hermess", "hermes-json"), ("harmon", "harmony"), ("minimax", "minimax-m")] {
        plain(&["dialects", "show", name]).fails(2, &format!("; did you mean {meant}"));
    }
    for name in ["hermes-xml", "abc", "my-dialect", "x"] {
        plain(&["dialects", "show", name]).fails(2, &format!("got `{name}`; `del dialects` lists all"));
    }
}

#[test]
fn a_dialect_of_ones_own_is_checked_and_then_read() {
    let files =
        directory(&[("own/mine.toml", &own()), ("own/yours/dialect.toml", &own()), ("own/README", "x")]);
    let folder = text(&files.path().join("own"));
    let file = text(&files.path().join("own/mine.toml"));
    let checked = plain(&["dialects", "check", &file]);
    assert_eq!((checked.code, checked.out.contains("`mine`")), (0, true), "{checked:#?}");
    let inner = text(&files.path().join("own/yours/dialect.toml"));
    assert_eq!(plain(&["dialects", "check", &inner, "--json"]).json()["name"], "yours");
    let answer = "<my_calls>[{\"name\": \"f\", \"arguments\": {\"a\": 1}}]</my_calls>";
    let parse = ["--dialect-dir", &folder, "parse", "--dialect", "mine"];
    let got = run(&mut del(&parse), answer).json();
    assert_eq!((&got["dialect"], &got["tool_calls"][0]["function"]["name"]), (&json!("mine"), &json!("f")));
    let config = directory(&[("del/dialects/configured.toml", &own())]);
    let got = run(del(&["parse", "--dialect", "configured"]).env("XDG_CONFIG_HOME", config.path()), answer);
    assert_eq!(got.json()["dialect"], "configured");
}

#[test]
fn a_response_template_becomes_a_description() {
    let template = json!({"chat_template": "…", "response_template": {"fields": {"tool_calls": {
        "open_pattern": "<run (?P<name>\\w+)>", "close": "</run>", "content": "json",
        "transform": {"function": {"name": "{name}", "arguments": "{content}"}},
    }}}});
    let files = directory(&[("tokenizer_config.json", &template.to_string()), ("bad.json", "{}")]);
    let path = |name: &str| text(&files.path().join(name));
    let got = plain(&["dialects", "import", &path("tokenizer_config.json"), "--title", "Runner"]);
    assert!(got.code == 0 && got.out.starts_with("title = \"Runner\"\n"), "{got:#?}");
    let own = directory(&[("runner.toml", &got.out)]);
    let parse = ["--dialect-dir", &text(own.path()), "parse", "--dialect", "runner"];
    let answer = run(&mut del(&parse), "<run f>{\"a\": 1}</run>").json();
    assert_eq!(answer["tool_calls"][0]["function"], json!({"name": "f", "arguments": "{\"a\": 1}"}));
    plain(&["dialects", "import", &path("bad.json")])
        .fails(42, "bad.json: fields: expected an object, got {}");
}

#[test]
fn what_is_wrong_with_a_description_is_said_with_its_line() {
    let files = directory(&[
        ("syntax.toml", "title = \"x\"\nfamily = \n"),
        ("shape.toml", "title = \"x\"\nfamily = \"y\"\nsource = \"z\"\nframe = \"nosuch\"\n"),
        ("empty.toml", ""),
        ("taken/jamba.toml", &own()),
        ("bad/broken.toml", "title ="),
    ]);
    let path = |name: &str| text(&files.path().join(name));
    for (name, line) in [("syntax.toml", 2), ("shape.toml", 4)] {
        let got = plain(&["dialects", "check", &path(name)]);
        got.fails(52, &format!("{}:{line}: ", path(name)));
        assert!(got.err.contains("expected"), "{got:#?}");
    }
    plain(&["dialects", "check", &path("empty.toml")]).fails(52, "empty.toml:1: ");
    plain(&["dialects", "check", &path("none.toml")]).fails(42, "cannot read");
    plain(&["parse", "--dialect-dir", &path("none")]).fails(52, "cannot read the dialects in");
}

#[test]
fn a_description_that_can_neither_be_written_nor_read_fails_the_check() {
    let text_of = |form: &str| {
        format!(
            "title = \"X\"\nfamily = \"x\"\nsource = \"x\"\n[call]\npieces = [{{ mark = \"<<\" }}, {{ head = \"{{name}}\" }}, \
             {{ mark = \">>\\n\" }}, {{ args = \"fields\", form = \"{form}\" }}, {{ mark = \"<</>>\" }}]\n"
        )
    };
    let files = directory(&[
        ("bad.toml", &text_of("@{key}: {value}@@\\n")),
        ("good.toml", &text_of("<@{key}>{value}</@>\\n")),
    ]);
    let check = |name: &str| plain(&["dialects", "check", &text(&files.path().join(name))]);
    check("bad.toml").fails(52, "one that fails for one text");
    let good = check("good.toml");
    assert!(good.code == 0 && good.out.contains("there are no cases"), "{good:#?}");
}

#[test]
fn a_broken_description_is_left_out_and_fails_only_where_it_is_asked_for() {
    let folder = "del/dialects";
    let home = directory(&[
        (&format!("{folder}/broken_one.toml"), "title = \"x\"\n"),
        (&format!("{folder}/jamba.toml"), &own()),
        (&format!("{folder}/mine.toml"), &own()),
    ]);
    std::fs::write(home.path().join(folder).join("bytes.toml"), b"title = \"\xff\"").unwrap();
    let more = directory(&[("mine.toml", &own()), ("late.toml", "title =")]);
    let more = text(more.path());
    let del = |arguments: &[&str]| {
        let all = [&["--dialect-dir", &more], arguments].concat();
        run(del(&all).env("XDG_CONFIG_HOME", home.path()), "<my_calls>[{\"name\": \"f\"}]</my_calls>")
    };
    let model = directory(&[("template.jinja", "<tool_call>{{ messages[0].content }}</tool_call>")]);
    let template = text(&model.path().join("template.jinja"));
    for command in [
        &["parse"][..],
        &["dialects"],
        &["dialects", "show", "mine"],
        &["convert", "--from", "mine", "--to", "hermes-json"],
        &["detect", &template],
    ] {
        let got = del(command);
        assert_eq!(got.code, 0, "{command:?}: {got:#?}");
        let told = |part: &str| got.err.lines().filter(|line| line.contains(part)).count();
        for part in ["broken_one.toml:1: ", "bytes.toml: expected UTF-8", "late.toml:1: "] {
            assert_eq!(told(part), 1, "{command:?}, {part}: {got:#?}");
        }
        // One is named like a built-in dialect, one like another of the user's own.
        assert_eq!(told("is taken by another dialect; rename the file"), 2, "{command:?}: {got:#?}");
        assert_eq!(told("this dialect is left out"), 5, "{command:?}: {got:#?}");
    }
    assert_eq!(del(&["parse"]).json()["dialect"], "mine");
    let asked = del(&["parse", "--dialect", "Broken-One"]);
    asked.fails(52, "broken_one.toml:1: ");
    del(&["dialects", "show", "late"]).fails(52, "late.toml:1: ");
}
