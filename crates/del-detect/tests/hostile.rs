//! Files that are broken, and templates that do not come to an end.

#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::io::Write;
use std::path::PathBuf;

use del_detect::{Kind, Material, Options, RenderError, SourceError, detect};
use del_dialects::Dialects;

fn outcome(template: &str) -> Result<f64, RenderError> {
    let material = Material::of(Kind::Jinja, template);
    detect(&material, Dialects::builtin(), Options::default()).map(|found| found.report.confidence)
}

#[test]
fn templates_that_go_on_are_stopped() {
    for template in [
        "{% for a in range(99999) %}{% for b in range(99999) %}{{ a }}{% endfor %}{% endfor %}",
        "{% macro f(x) %}{{ f(x) }}{{ f(x) }}{% endmacro %}{% for a in range(99999) %}{{ a }}{% endfor %}{{ f(1) }}",
        "{% for a in range(90000) %}{% for b in range(9) %}xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx{% endfor %}{% endfor %}",
    ] {
        assert_eq!(outcome(template), Err(RenderError::Endless), "{template}");
    }
}

#[test]
fn templates_that_ask_for_too_much_are_refused() {
    let deep = "{% set ns = namespace(l=[1]) %}{% for i in range(2000) %}{% set ns.l = [ns.l] %}{% endfor %}";
    let wide =
        "{% set ns = namespace(l=[1]) %}{% for i in range(60) %}{% set ns.l = [ns.l, ns.l] %}{% endfor %}";
    for template in [
        "{% for a in range(10 ** 12) %}{{ a }}{% endfor %}",
        "{{ 'a' * 10 ** 10 }}",
        "{{ [1] * 10 ** 10 }}",
        "{% macro f(x) %}{{ f(x) }}{% endmacro %}{{ f(1) }}",
        "{% for i in range(20) recursive %}{{ loop(range(20)) }}{% endfor %}",
        "{% include 'chat' %}",
        "{% import 'chat' as c %}{{ c.x }}",
        "{% extends 'chat' %}",
        "{% set x = [] %}{{ x.append(x) }}{{ x }}",
        "{% set x = [] %}{{ x.append(x) }}{{ x | tojson }}",
        "{{ ('[' * 1000) | from_json }}",
        "{{ messages | tojson(indent=9999999999) }}",
        &format!("{deep}{{{{ ns.l }}}}"),
        &format!("{wide}{{{{ ns.l }}}}"),
        &format!("{wide}{{{{ ns.l | tojson }}}}"),
    ] {
        let outcome = outcome(template);
        assert!(
            matches!(outcome, Err(RenderError::Excess { .. } | RenderError::Recursion)),
            "{template}: {outcome:?}"
        );
        // Where it only does so for a call, that is no reason to trust it.
        let late = format!(
            "{{% for m in messages %}}{{{{ m.content }}}}{{% if m.tool_calls %}}{template}{{% endif %}}{{% endfor %}}"
        );
        if !template.contains("macro") && !template.contains("extends") && !template.contains("import") {
            assert!(
                matches!(self::outcome(&late), Err(RenderError::Excess { .. } | RenderError::Recursion)),
                "{late}"
            );
        }
    }
}

#[test]
fn templates_that_cannot_be_run_tell_nothing() {
    for template in [
        "{{ messages[0].no.such.thing }}",
        "{{ raise_exception('never') }}",
        "{{ 1 / 0 }}",
        "{{ 'a' | no_such_filter }}",
    ] {
        assert!(matches!(outcome(template), Err(RenderError::Broken(_))), "{template}");
    }
}

#[test]
fn templates_in_go_are_held_back() {
    let go = |template: &str| {
        let material = Material::of(Kind::Go, template);
        detect(&material, Dialects::builtin(), Options::default()).map(|found| found.report.confidence)
    };
    let nested = |open: &str, close: &str, times| format!("{}x{}", open.repeat(times), close.repeat(times));
    let parentheses = format!("{{{{ {}.Messages{} }}}}", "(".repeat(5000), ")".repeat(5000));
    for template in [
        nested("{{ if .Messages }}", "{{ end }}", 5000),
        format!("{{{{ if .A }}}}{}{{{{ end }}}}", "{{ else if .B }}".repeat(5000)),
        parentheses,
    ] {
        assert!(matches!(go(&template), Err(RenderError::Excess { .. })), "{}", &template[..60]);
    }
    let calls_itself = "{{ define \"a\" }}{{ template \"a\" . }}{{ end }}{{ template \"a\" . }}";
    assert_eq!(go(calls_itself), Err(RenderError::Recursion));
    let twice = |place: usize| {
        let next = format!("{{{{ template \"t{}\" . }}}}", place + 1);
        format!("{{{{ define \"t{place}\" }}}}{next}{next}{{{{ end }}}}")
    };
    let doubling: String = (0..30).map(twice).collect();
    let doubling = format!("{doubling}{{{{ define \"t30\" }}}}x{{{{ end }}}}{{{{ template \"t0\" . }}}}");
    assert_eq!(go(&doubling), Err(RenderError::Endless));
    let doubled = "{{ $x = print $x $x }}".repeat(60);
    for template in [
        nested("{{ range $.Tools }}", "{{ end }}", 20),
        format!("{{{{ range .Messages }}}}{{{{ $x := .Content }}}}{doubled}{{{{ end }}}}"),
    ] {
        assert_eq!(go(&template), Err(RenderError::Endless), "{}", &template[..60]);
    }
}

#[test]
fn what_is_no_template_is_an_error() {
    let deep = format!("{{{{ {}1{} }}}}", "(".repeat(5000), ")".repeat(5000));
    for template in ["{% if %}", "{% for x in y %}", "{{ a", deep.as_str()] {
        assert!(
            matches!(outcome(template), Err(RenderError::Syntax(_))),
            "{}",
            &template[..template.len().min(40)]
        );
    }
    let long = "a".repeat(2 << 20);
    assert!(matches!(outcome(&long), Err(RenderError::Long(_))));
}

/// The first bytes of a GGUF file: magic, version, number of tensors, number of entries.
fn header(version: u32, entries: u64) -> Vec<u8> {
    let mut bytes = b"GGUF".to_vec();
    bytes.extend(version.to_le_bytes());
    bytes.extend(7_u64.to_le_bytes());
    bytes.extend(entries.to_le_bytes());
    bytes
}

fn text(bytes: &mut Vec<u8>, text: &str) {
    bytes.extend((text.len() as u64).to_le_bytes());
    bytes.extend(text.as_bytes());
}

fn entry(bytes: &mut Vec<u8>, key: &str, value: &str) {
    text(bytes, key);
    bytes.extend(8_u32.to_le_bytes());
    text(bytes, value);
}

fn tokens(bytes: &mut Vec<u8>, list: &[&str]) {
    text(bytes, "tokenizer.ggml.tokens");
    bytes.extend(9_u32.to_le_bytes());
    bytes.extend(8_u32.to_le_bytes());
    bytes.extend((list.len() as u64).to_le_bytes());
    for token in list {
        text(bytes, token);
    }
}

struct Temporary(PathBuf);

impl Temporary {
    fn new(name: &str, bytes: &[u8]) -> Self {
        let path = std::env::temp_dir().join(format!("del-detect-{}-{name}", std::process::id()));
        std::fs::File::create(&path).unwrap().write_all(bytes).unwrap();
        Self(path)
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

#[test]
fn a_template_in_gguf_is_found_among_tensors() {
    let mut bytes = header(3, 5);
    entry(&mut bytes, "general.architecture", "llama");
    entry(&mut bytes, "general.name", "SmolLM2 135M Instruct");
    tokens(&mut bytes, &["<unk>", "<s>", "</s>"]);
    text(&mut bytes, "tokenizer.ggml.eos_token_id");
    bytes.extend(4_u32.to_le_bytes());
    bytes.extend(2_u32.to_le_bytes());
    entry(
        &mut bytes,
        "tokenizer.chat_template",
        "{% for message in messages %}{{ message.content }}{% endfor %}",
    );
    let file = Temporary::new("tensors.gguf", &bytes);
    // A hundred gigabytes of tensors, none of them on the disk.
    std::fs::OpenOptions::new().write(true).open(&file.0).unwrap().set_len(100 << 30).unwrap();
    let material = Material::read(&file.0).unwrap();
    assert_eq!(material.kind, Kind::Jinja);
    assert_eq!(material.tokens["eos_token"], "</s>");
    assert_eq!(material.model.as_deref(), Some("SmolLM2 135M Instruct"));
    let report = detect(&material, Dialects::builtin(), Options::default()).unwrap().report;
    assert!(!report.tool_calls);
    assert_eq!(report.instead.unwrap().dialect, "hermes-json");
}

#[test]
fn the_template_for_tools_is_preferred() {
    let mut bytes = header(2, 2);
    entry(&mut bytes, "tokenizer.chat_template", "{{ messages }} plain");
    entry(&mut bytes, "tokenizer.chat_template.tool_use", "{{ messages }} tools");
    let file = Temporary::new("two.gguf", &bytes);
    assert!(Material::read(&file.0).unwrap().text.ends_with("tools"));
}

#[test]
fn broken_gguf_is_an_error() {
    let huge_list = {
        let mut bytes = header(3, 1);
        text(&mut bytes, "x");
        bytes.extend(9_u32.to_le_bytes());
        bytes.extend(8_u32.to_le_bytes());
        bytes.extend((1_u64 << 33).to_le_bytes());
        bytes
    };
    let nested = {
        let mut bytes = header(3, 1);
        text(&mut bytes, "x");
        for _ in 0..40 {
            bytes.extend(9_u32.to_le_bytes());
            bytes.extend(9_u32.to_le_bytes());
            bytes.extend(1_u64.to_le_bytes());
        }
        bytes
    };
    let long_text = {
        let mut bytes = header(3, 1);
        text(&mut bytes, "tokenizer.chat_template");
        bytes.extend(8_u32.to_le_bytes());
        bytes.extend(u64::MAX.to_le_bytes());
        bytes
    };
    let unknown = {
        let mut bytes = header(3, 1);
        text(&mut bytes, "x");
        bytes.extend(99_u32.to_le_bytes());
        bytes
    };
    let numberless = {
        let mut bytes = header(3, 1);
        text(&mut bytes, "x");
        bytes.extend(9_u32.to_le_bytes());
        bytes.extend(8_u32.to_le_bytes());
        bytes.extend((1_u64 << 60).to_le_bytes());
        bytes
    };
    let big_endian = {
        let mut bytes = b"GGUF".to_vec();
        bytes.extend(3_u32.to_be_bytes());
        bytes.extend(7_u64.to_be_bytes());
        bytes.extend(1_u64.to_be_bytes());
        bytes
    };
    let long_key = {
        let mut bytes = header(3, 1);
        bytes.extend((1_u64 << 40).to_le_bytes());
        bytes
    };
    let whole = [
        numberless,
        big_endian,
        long_key,
        huge_list,
        nested,
        long_text,
        unknown,
        header(3, u64::MAX),
        header(77, 1),
        header(3, 4),
        b"GGUF".to_vec(),
    ];
    for (place, bytes) in whole.iter().enumerate() {
        for len in [bytes.len() as u64, 100 << 30] {
            let file = Temporary::new(&format!("broken-{place}.gguf"), bytes);
            std::fs::OpenOptions::new().write(true).open(&file.0).unwrap().set_len(len).unwrap();
            // Zeros behind the end may be whole entries; then there is no template.
            match Material::read(&file.0) {
                Err(error) => assert!(matches!(error, SourceError::Gguf { .. }), "{place}: {error}"),
                Ok(material) => assert_eq!(material.kind, Kind::Nothing, "{place}"),
            }
        }
    }
}

#[test]
fn configurations_hold_templates_in_several_forms() {
    let path = PathBuf::from("/nowhere/tokenizer_config.json");
    let read = |json: &str| Material::of_text(json, &path);
    let plain = read(r#"{"chat_template": "{{ messages }}", "eos_token": {"content": "<e>"}}"#).unwrap();
    assert_eq!((plain.kind, plain.text.as_str()), (Kind::Jinja, "{{ messages }}"));
    assert_eq!(plain.tokens["eos_token"], "<e>");
    let list =
        r#"{"chat_template": [{"name": "default", "template": "a"}, {"name": "tool_use", "template": "b"}]}"#;
    assert_eq!(read(list).unwrap().text, "b");
    assert_eq!(read(r#"{"tokenizer_class": "X"}"#).unwrap().kind, Kind::Nothing);
    assert!(matches!(read(r#"{"chat_template": 7}"#), Err(SourceError::Json { .. })));
    let deep = format!("{{\"chat_template\": {}1{}}}", "[".repeat(100_000), "]".repeat(100_000));
    // What is called so and is no JSON object is no answer of a model's either.
    for text in [deep.as_str(), "[]", "", "hello", "{\"chat_template\":", &"[".repeat(500_000)] {
        assert!(matches!(read(text), Err(SourceError::NoObject { .. })), "{}", &text[..text.len().min(40)]);
    }
}
