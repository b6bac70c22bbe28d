//! What dialects write, as it is known from the models' own templates: `written.toml` beside a description holds the
//! texts. `UPDATE_WRITTEN=1` writes them anew.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

mod reading;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::sync::Arc;

use del_dialects::{Call, CallResult, Dialect, Message};
use serde::Deserialize;

/// What a dialect writes of an example, by its name.
type Texts = BTreeMap<String, String>;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    /// Where these texts were found, and which of the examples a template writes otherwise or not at all.
    templates: BTreeMap<String, Vec<String>>,
    texts: Texts,
}

fn written(dialect: &Arc<Dialect>) -> Texts {
    let tools = reading::tools();
    let call = |name: &str, id: &str, arguments: &str| Call {
        id: Some(id.to_owned()),
        name: name.to_owned(),
        arguments: arguments.to_owned(),
    };
    let weather = call("get_weather", "abc123XYZ", r#"{"city": "Paris", "days": 3}"#);
    let item =
        call("add_item", "def456UVW", r#"{"item": {"a": 1, "b": "x\"y"}, "tags": ["u", "v"], "ok": true}"#);
    let nothing = call("project_context", "ghi789RST", "{}");
    let result = |call: &Call, text: &str| CallResult {
        id: call.id.clone(),
        name: call.name.clone(),
        text: text.to_owned(),
        ok: true,
    };
    let answer = |reasoning: &str, content: &str, calls: &[&Call]| {
        let calls = calls.iter().map(|call| (*call).clone()).collect();
        let answer =
            Message { reasoning: reasoning.into(), content: content.into(), calls, ..Message::default() };
        dialect.render_answer(&answer, &tools).ok()
    };
    let results = [result(&weather, "RESULTONE"), result(&item, "RESULTTWO")];
    let texts = [
        ("definitions", Some(dialect.definitions(&tools[..2]))),
        ("one", answer("", "", &[&weather])),
        ("two", answer("", "", &[&weather, &item])),
        ("text", answer("", "I will look.", &[&weather])),
        ("empty", answer("", "", &[&nothing])),
        ("thinking", answer("REASON", "I will look.", &[&weather])),
        ("result", Some(dialect.render_results(&results[..1]))),
        ("results", Some(dialect.render_results(&results))),
    ];
    texts.into_iter().filter_map(|(name, text)| Some((name.to_owned(), text?))).collect()
}

#[test]
fn what_is_known_is_written() {
    let update = std::env::var_os("UPDATE_WRITTEN").is_some();
    let mut known = 0;
    reading::every_dialect(|dialect| {
        let path = reading::folder().join(dialect.name()).join("written.toml");
        let Ok(file) = fs::read_to_string(&path) else { return };
        let mut file: Written =
            toml::from_str(&file).unwrap_or_else(|error| panic!("{}: {error}", dialect.name()));
        let texts = written(dialect);
        if update {
            file.texts.retain(|name, _| texts.contains_key(name));
            let mut out = String::from("[templates]\n");
            for (name, others) in &file.templates {
                writeln!(out, "{} = {}", quoted(name), serde_json::json!(others)).unwrap();
            }
            out.push_str("\n[texts]\n");
            for name in file.texts.keys() {
                writeln!(out, "{name} = {}", quoted(&texts[name])).unwrap();
            }
            fs::write(&path, out).unwrap();
        } else {
            for (name, text) in &file.texts {
                assert_eq!(texts.get(name), Some(text), "{}: {name}", dialect.name());
            }
        }
        assert!(file.texts.len() > 3 && !file.templates.is_empty(), "{} says too little", dialect.name());
    });
    for dialect in reading::dialects_of(None) {
        known += usize::from(reading::folder().join(dialect.name()).join("written.toml").is_file());
    }
    assert!(known >= 36, "expected what most families' templates write, got {known} of them");
}

/// A string of TOML. JSON's escapes are TOML's.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
