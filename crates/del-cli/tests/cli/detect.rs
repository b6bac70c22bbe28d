//! `del detect`.

use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::process::Stdio;

use serde_json::{Value, json};

use crate::del::{del, directory, plain, run, text};
use crate::server::{About, Server};

/// A template in the form of Hermes.
const HERMES: &str = include_str!("../../../del-detect/tests/families/hermes-json.jinja");
const NONE: &str = include_str!("../../../del-detect/tests/families/none.jinja");

/// A template whose calls no known dialect reads.
fn made_up() -> String {
    HERMES
        .replace("tool_call>", "ask_for>")
        .replace("\"name\": \"", "\"what\": \"")
        .replace("\"arguments\": '", "\"how\": '")
        .replace("think>", "ponder>")
}

#[test]
fn a_template_is_told_as_json_and_as_text() {
    let files = directory(&[("chat.jinja", HERMES), ("plain.jinja", NONE)]);
    let file = text(&files.path().join("chat.jinja"));
    let report = plain(&["detect", &file, "--json"]).json();
    assert_eq!(report["dialect"], "hermes-json");
    assert_eq!((&report["source"], &report["tool_calls"]), (&json!("rendering"), &json!(true)));
    assert!(report["confidence"].as_f64().is_some_and(|sure| sure > 0.9), "{report}");
    assert_eq!(report["reasoning"]["prefilled"], false);
    assert!(report["evidence"].as_array().is_some_and(|lines| !lines.is_empty()));
    assert!(report["warnings"].is_array());
    let other = plain(&["detect", &file, "--json", "--rendering-only"]).json();
    assert_eq!(other["dialect"], "hermes-json");
    let shown = plain(&["detect", &file]);
    assert!(shown.out.starts_with("hermes-json (99 % sure)\n"), "{shown:#?}");
    let none = plain(&["detect", &text(&files.path().join("plain.jinja")), "--json"]).json();
    assert_eq!((&none["dialect"], &none["tool_calls"]), (&json!(null), &json!(false)));
    assert_eq!(none["instead"]["tools_mode"], "prompt");
}

#[test]
fn a_configuration_an_answer_and_a_checkpoint_are_told_apart() {
    let config = json!({"chat_template": [{"name": "default", "template": NONE}, {"name": "tool_use", "template": HERMES}]});
    let files = directory(&[("model/tokenizer_config.json", &config.to_string())]);
    for path in ["model/tokenizer_config.json", "model"] {
        let report = plain(&["detect", &text(&files.path().join(path)), "--json"]).json();
        assert_eq!(report["dialect"], "hermes-json", "{path}: {report}");
    }
    let answer = "I will.\n[TOOL_CALLS]get_weather[ARGS]{\"city\": \"Paris\"}";
    let report = run(&mut del(&["detect", "--json"]), answer).json();
    assert_eq!((&report["dialect"], &report["source"]), (&json!("mistral-args"), &json!("text")));
    let report = run(&mut del(&["detect", "--json"]), "Nothing to see here.").json();
    assert_eq!((&report["dialect"], &report["tool_calls"]), (&json!(null), &json!(false)));
    plain(&["detect", "/nowhere/at-all.jinja"]).fails(42, "cannot read /nowhere/at-all.jinja");
}

#[test]
fn a_new_dialect_is_written_checked_and_read() {
    let files = directory(&[("chat.jinja", &made_up())]);
    let folder = files.path().join("dialects");
    let written = text(&folder.join("made-up.toml"));
    let template = text(&files.path().join("chat.jinja"));
    let report = plain(&["detect", &template, "--json", "--write", &written]);
    assert_eq!((report.code, &report.json()["dialect"]), (0, &json!(null)), "{report:#?}");
    let checked = plain(&["dialects", "check", &written]);
    assert!(checked.code == 0 && checked.out.contains("cases hold"), "{checked:#?}");
    let answer = "<ponder>\nHm.\n</ponder>\n\n<ask_for>\n{\"what\": \"f\", \"how\": {\"a\": 1}}\n</ask_for>\n\
                  <ask_for>\n{\"what\": \"g\", \"how\": {}}\n</ask_for>";
    let parse = ["--dialect-dir", &text(&folder), "parse", "--dialect", "made-up"];
    let message = run(&mut del(&parse), answer).json();
    assert_eq!(message["reasoning"], "Hm.", "{message}");
    assert_eq!(message["tool_calls"][1]["function"]["name"], "g");
    assert_eq!(message["faults"], json!([]));
    let case = folder.join("made-up.cases/01-one-call.toml");
    let broken = std::fs::read_to_string(&case)
        .unwrap()
        .replace("Quorville\\\", \\\"days\\\": 7319}\" },", "Elsewhere\\\"}\" },");
    std::fs::write(&case, broken).unwrap();
    plain(&["dialects", "check", &written]).fails(52, "01-one-call.toml");
}

#[test]
fn a_known_dialect_is_copied_and_nothing_is_not_written() {
    let files = directory(&[("chat.jinja", HERMES), ("plain.jinja", NONE)]);
    let written = text(&files.path().join("own.toml"));
    let copied = plain(&["detect", &text(&files.path().join("chat.jinja")), "--write", &written]);
    assert!(copied.code == 0 && copied.err.contains("a copy of hermes-json"), "{copied:#?}");
    assert_eq!(plain(&["dialects", "check", &written]).code, 0);
    let nothing = text(&files.path().join("nothing.toml"));
    plain(&["detect", &text(&files.path().join("plain.jinja")), "--write", &nothing])
        .fails(1, "no calls to describe");
}

#[test]
fn examples_make_a_dialect() {
    let call =
        |name: &str, arguments: &str| format!("[{{\"name\": \"{name}\", \"arguments\": {arguments}}}]");
    let files = directory(&[
        ("seen/a.txt", "@@run find\n{\"q\": \"bees\"}\n@@end"),
        ("seen/a.json", &call("find", r#"{"q": "bees"}"#)),
        ("seen/b.txt", "@@run move\n{\"x\": 1, \"y\": 2}\n@@end"),
        (
            "seen/b.json",
            &json!({"tool_calls": [{"function": {"name": "move", "arguments": "{\"x\": 1, \"y\": 2}"}}]})
                .to_string(),
        ),
        (
            "seen/c.toml",
            "text = \"@@run stop\\n{}\\n@@end\"\n[expect]\ncalls = [{ name = \"stop\", arguments = \"{}\" }]\n",
        ),
        ("broken/a.txt", "x"),
        ("broken/a.json", "{\"no\": \"calls\"}"),
    ]);
    let written = text(&files.path().join("own/at.toml"));
    let run_it =
        plain(&["detect", "--examples", &text(&files.path().join("seen")), "--write", &written, "--json"]);
    assert_eq!(run_it.json()["source"], "examples", "{run_it:#?}");
    let parse = ["--dialect-dir", &text(&files.path().join("own")), "parse", "--dialect", "at"];
    let message = run(&mut del(&parse), "@@run fly\n{\"to\": \"Rome\"}\n@@end").json();
    assert_eq!(message["tool_calls"][0]["function"]["name"], "fly", "{message}");
    plain(&["detect", "--examples", &text(&files.path().join("broken"))])
        .fails(42, "expected a list of calls");
    plain(&["detect", "--examples", &text(&files.path().join("own"))]).fails(42, "expected a case");
}

#[test]
fn a_checkpoint_of_a_hundred_gigabytes_is_not_read() {
    let files = directory(&[("chat.jinja", "")]);
    let path = files.path().join("big.gguf");
    let mut bytes = b"GGUF".to_vec();
    bytes.extend(3_u32.to_le_bytes());
    bytes.extend(1_u64.to_le_bytes());
    bytes.extend(1_u64.to_le_bytes());
    for part in ["tokenizer.chat_template", HERMES] {
        bytes.extend((part.len() as u64).to_le_bytes());
        bytes.extend(part.as_bytes());
        if part != HERMES {
            bytes.extend(8_u32.to_le_bytes());
        }
    }
    File::create(&path).unwrap().write_all(&bytes).unwrap();
    OpenOptions::new().write(true).open(&path).unwrap().set_len(100 << 30).unwrap();
    let mut command = del(&["detect", &text(&path), "--json"]);
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap();
    let mut told = String::new();
    child.stdout.take().unwrap().read_to_string(&mut told).unwrap();
    // Once it has ended, and before anybody has asked how, the kernel still knows how much it read.
    let of_child = |name: &str| std::fs::read_to_string(format!("/proc/{}/{name}", child.id())).unwrap();
    while !of_child("stat").contains(") Z ") {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    let read: u64 =
        of_child("io").lines().find_map(|line| line.strip_prefix("rchar: ")).unwrap().parse().unwrap();
    assert!(read < 4 << 20, "{read} bytes were read");
    assert!(child.wait().unwrap().success());
    assert_eq!(serde_json::from_str::<Value>(&told).unwrap()["dialect"], "hermes-json");
    std::fs::write(&path, &bytes[..40]).unwrap();
    plain(&["detect", &text(&path)]).fails(42, "big.gguf");
}

#[test]
fn a_hostile_template_is_stopped() {
    let files = directory(&[
        (
            "memory.jinja",
            "{% set ns = namespace(s='xxxxxxxxxxxxxxxx') %}{% for i in range(60) %}{% set ns.s = ns.s ~ ns.s %}{% endfor %}",
        ),
        (
            "steps.jinja",
            "{% for a in range(99999) %}{% for b in range(99999) %}{{ b }}{% endfor %}{% endfor %}",
        ),
        ("syntax.jinja", "{% for %}"),
        ("range.jinja", "{{ range(10 ** 12) | join }}"),
        ("tokenizer_config.json", &"[".repeat(500_000)),
    ]);
    let detect = |name: &str| plain(&["detect", &text(&files.path().join(name))]);
    detect("memory.jinja")
        .fails(42, "512 MiB of memory, 1 s of work and 30 s by the clock, got one that needs more");
    detect("steps.jinja").fails(42, "does not come to an end");
    detect("range.jinja").fails(42, "expected ranges of at most 100000 numbers");
    detect("tokenizer_config.json").fails(42, "expected a JSON object, got");
    plain(&["detect", &text(&files.path().join("syntax.jinja"))]).fails(42, "cannot be read");
}

#[test]
fn a_server_tells_its_template() {
    let props = json!({
        "default_generation_settings": {"n_ctx": 4096},
        "total_slots": 1,
        "chat_template": HERMES,
        "bos_token": "<s>",
        "eos_token": "</s>",
    });
    let about = About { props: Some(props), ..About::default() };
    let server = Server::about(about, Vec::new());
    let report = plain(&["detect", "--base-url", server.url(), "--json"]).json();
    assert_eq!(report["dialect"], "hermes-json", "{report}");
    let silent = Server::new(Vec::new());
    plain(&["detect", "--base-url", silent.url(), "-m", "other"])
        .fails(1, "does not tell the chat template of other");
}

#[test]
fn ollama_shows_a_template_in_go() {
    let go = include_str!("../../../del-detect/tests/families/hermes-json.gotmpl");
    let show = json!({
        "modelfile": "FROM qwen2.5:0.5b",
        "parameters": "stop \"<|im_end|>\"",
        "template": go,
        "details": {"format": "gguf", "family": "qwen2", "parameter_size": "494.03M"},
        "model_info": {"general.architecture": "qwen2", "tokenizer.ggml.tokens": null},
        "capabilities": ["completion", "tools"],
    });
    let about = About { others: vec![("/api/show", show.to_string())], ..About::default() };
    let server = Server::about(about, Vec::new());
    let report = plain(&["detect", "--base-url", server.url(), "-m", "qwen2.5:0.5b", "--json"]).json();
    assert_eq!(
        (&report["dialect"], &report["source"]),
        (&json!("hermes-json"), &json!("rendering")),
        "{report}"
    );
    let asked = server.requests("/api/show");
    assert_eq!(asked.first().map(|seen| &seen.body), Some(&json!({"model": "qwen2.5:0.5b"})));
}

#[test]
fn vllm_tells_the_configuration_of_its_tokenizer() {
    let one =
        json!({"tokenizer_class": "Qwen2Tokenizer", "chat_template": HERMES, "eos_token": "<|im_end|>"});
    let list =
        [json!({"name": "default", "template": NONE}), json!({"name": "tool_use", "template": HERMES})];
    let several = json!({"tokenizer_class": "Qwen2Tokenizer", "chat_template": list});
    for told in [one, several] {
        let about = About { others: vec![("/tokenizer_info", told.to_string())], ..About::default() };
        let server = Server::about(about, Vec::new());
        let report = plain(&["detect", "--base-url", server.url(), "--json"]).json();
        assert_eq!(report["dialect"], "hermes-json", "{report}");
    }
}

#[test]
fn what_a_server_tells_is_bounded() {
    let refused = "does not tell the chat template of scripted";
    for told in
        ["{\"error\": \"model not found\"}", "[[[[", "{\"template\": 7}", "{\"template\": \"\"}", "\u{1}"]
    {
        let about = About { others: vec![("/api/show", told.to_owned())], ..About::default() };
        let server = Server::about(about, Vec::new());
        plain(&["detect", "--base-url", server.url()]).fails(1, refused);
    }
    let endless = Server::about(About { endless: Some("/api/show"), ..About::default() }, Vec::new());
    plain(&["detect", "--base-url", endless.url()]).fails(1, refused);
    let mute = Server::about(About { mute: Some("/props"), ..About::default() }, Vec::new());
    plain(&["detect", "--base-url", mute.url()]).fails(1, refused);
    let hostile = json!({"template": "{% for a in range(10 ** 12) %}{{ a }}{% endfor %}"});
    let about = About { others: vec![("/api/show", hostile.to_string())], ..About::default() };
    plain(&["detect", "--base-url", Server::about(about, Vec::new()).url()]).fails(42, "expected ranges");
}

#[test]
fn a_description_replaces_the_cases_of_an_earlier_one() {
    let files = directory(&[("a.jinja", &made_up()), ("b.jinja", &made_up().replace("ask_for>", "act>"))]);
    let at = |name: &str| text(&files.path().join(name));
    assert_eq!(plain(&["detect", &at("a.jinja"), "--write", &at("x.toml")]).code, 0);
    // A case that nobody wrote here stays, and one of an earlier run goes.
    std::fs::write(
        files.path().join("x.cases/99-mine.toml"),
        "about = \"Mine.\"\ntext = \"Hi.\"\n[expect]\ncontent = \"Hi.\"\n",
    )
    .unwrap();
    let old = files.path().join("x.cases/77-old.toml");
    std::fs::copy(files.path().join("x.cases/01-one-call.toml"), &old).unwrap();
    assert_eq!(plain(&["detect", &at("b.jinja"), "--write", &at("x.toml")]).code, 0);
    assert!(!old.exists());
    assert!(files.path().join("x.cases/99-mine.toml").exists());
    let checked = plain(&["dialects", "check", &at("x.toml")]);
    assert!(checked.code == 0 && checked.out.contains("cases hold"), "{checked:#?}");
}

#[test]
fn what_is_read_is_not_written_over() {
    let files = directory(&[("a.jinja", &made_up())]);
    let path = text(&files.path().join("a.jinja"));
    let refused = "a.jinja would be written over while it is read";
    plain(&["detect", &path, "--write", &path]).fails(2, refused);
    assert_eq!(std::fs::read_to_string(&path).unwrap(), made_up());
}

#[test]
fn a_report_says_what_a_switch_does_to_thinking() {
    let end = "{%- if add_generation_prompt %}{{- '<|im_start|>assistant\\n' }}";
    let switched =
        HERMES.replace(end, &[end, "{% if enable_thinking %}{{ '<think>\\n' }}{% endif %}"].concat());
    assert_ne!(switched, HERMES);
    let files = directory(&[("chat.jinja", &switched)]);
    let shown = plain(&["detect", &text(&files.path().join("chat.jinja"))]);
    assert!(shown.out.contains("with thinking on: begun by the prompt"), "{shown:#?}");
}
