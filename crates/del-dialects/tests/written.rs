//! What dialects write, as it is known from the models' own templates: `written.toml` beside a description holds the
//! texts. `UPDATE_WRITTEN=1` writes them anew. `DEL_TEMPLATES` names folders of chat templates, with `:` between, that
//! the texts are compared with.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

mod reading;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use del_dialects::{Call, CallResult, Dialect, Message};
use minijinja::value::Kwargs;
use minijinja::{Environment, Error, ErrorKind, Value};
use serde::{Deserialize, Serialize as _};
use serde_json::{Value as Json, json};

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

/// A conversation in which the model calls, with its arguments as an object or as text.
fn conversation(name: &str, as_text: bool) -> Vec<Json> {
    let call = |name: &str, id: &str, arguments: Json| {
        let arguments = if as_text { Json::from(spaced(&arguments)) } else { arguments };
        json!({"type": "function", "id": id, "function": {"name": name, "arguments": arguments}})
    };
    let weather = call("get_weather", "abc123XYZ", json!({"city": "Paris", "days": 3}));
    let item = json!({"item": {"a": 1, "b": "x\"y"}, "tags": ["u", "v"], "ok": true});
    let item = call("add_item", "def456UVW", item);
    let nothing = call("project_context", "ghi789RST", json!({}));
    let result = |call: &Json, text: &str| json!({"role": "tool", "tool_call_id": call["id"], "name": call["function"]["name"], "content": text});
    let (calls, content, thinking) = match name {
        "two" | "results" => (vec![weather, item], "", None),
        "empty" => (vec![nothing], "", None),
        "text" => (vec![weather], "I will look.", None),
        "thinking" => (vec![weather], "I will look.", Some("REASON")),
        _ => (vec![weather], "", None),
    };
    let results: Vec<Json> =
        calls.iter().zip(["RESULTONE", "RESULTTWO"]).map(|(call, text)| result(call, text)).collect();
    let mut said = json!({"role": "assistant", "content": content, "tool_calls": calls});
    if let Some(thinking) = thinking {
        said["reasoning_content"] = json!(thinking);
    }
    [vec![json!({"role": "user", "content": "QUESTION"}), said], results].concat()
}

/// JSON as Python writes it on one line.
fn spaced(value: &Json) -> String {
    match value {
        Json::Object(all) => {
            let member = |(key, value): (&String, &Json)| format!("{}: {}", json!(key), spaced(value));
            format!("{{{}}}", all.iter().map(member).collect::<Vec<_>>().join(", "))
        }
        Json::Array(all) => format!("[{}]", all.iter().map(spaced).collect::<Vec<_>>().join(", ")),
        other => other.to_string(),
    }
}

fn tojson(value: &Value, options: Kwargs) -> Result<String, Error> {
    let mut json = serde_json::to_value(value)
        .map_err(|error| Error::new(ErrorKind::BadSerialization, error.to_string()))?;
    if options.get::<Option<bool>>("sort_keys")?.unwrap_or_default() {
        json.sort_all_objects();
    }
    let indent = options.get::<Option<usize>>("indent")?;
    let separators = options.get::<Option<Vec<String>>>("separators")?;
    Ok(match (indent, separators) {
        (Some(width), _) => {
            let pad = " ".repeat(width);
            let format = serde_json::ser::PrettyFormatter::with_indent(pad.as_bytes());
            let mut out = Vec::new();
            let mut ser = serde_json::Serializer::with_formatter(&mut out, format);
            json.serialize(&mut ser)
                .map_err(|error| Error::new(ErrorKind::BadSerialization, error.to_string()))?;
            String::from_utf8(out).unwrap_or_default()
        }
        (None, Some(separators)) if separators.first().is_some_and(|comma| comma == ",") => json.to_string(),
        _ => spaced(&json),
    })
}

/// A conversation as a template renders it.
fn rendered(template: &str, messages: &[Json]) -> Result<String, Error> {
    let mut environment = Environment::new();
    environment.set_trim_blocks(true);
    environment.set_lstrip_blocks(true);
    environment.set_unknown_method_callback(minijinja_contrib::pycompat::unknown_method_callback);
    environment.add_filter("tojson", |value: Value, options: Kwargs| {
        tojson(&value, options).map(Value::from_safe_string)
    });
    environment.add_function("raise_exception", |text: String| -> Result<Value, Error> {
        Err(Error::new(ErrorKind::InvalidOperation, text))
    });
    environment.add_function("strftime_now", |_: String| "2026-01-01");
    let template = ["{% generation %}", "{% endgeneration %}", "{%- generation -%}", "{%- endgeneration -%}"]
        .iter()
        .fold(template.to_owned(), |text, tag| text.replace(tag, ""));
    let tools: Vec<Json> =
        reading::tools()[..2].iter().map(|tool| json!({"type": "function", "function": tool})).collect();
    environment.template_from_str(&template)?.render(json!({
        "messages": messages, "tools": tools, "add_generation_prompt": false, "bos_token": "<BOS>",
        "eos_token": "<EOS>", "functions": "FUNCTIONS", "datetime": "DATETIME",
    }))
}

#[test]
fn templates_write_the_same() {
    let Some(folders) = std::env::var_os("DEL_TEMPLATES") else { return };
    let folders: Vec<PathBuf> = std::env::split_paths(&folders).collect();
    let (mut compared, mut different) = (0, Vec::new());
    for dialect in reading::dialects_of(None) {
        let path = reading::folder().join(&dialect.name).join("written.toml");
        let Ok(file) = fs::read_to_string(&path) else { continue };
        let file: Written = toml::from_str(&file).unwrap();
        for (name, others) in &file.templates {
            let found = folders.iter().find_map(|folder| fs::read_to_string(folder.join(name)).ok());
            let Some(template) = found else { continue };
            for (key, text) in file.texts.iter().filter(|(key, _)| !others.contains(key)) {
                let all: Vec<_> =
                    [false, true].map(|as_text| rendered(&template, &conversation(key, as_text))).into();
                if all.iter().any(|all| all.as_ref().is_ok_and(|all| all.contains(text.as_str()))) {
                    compared += 1;
                } else {
                    different.push(format!("{} {name} {key}: {all:?}", dialect.name));
                }
            }
        }
    }
    assert!(compared > 0, "no template in {folders:?}");
    assert!(different.is_empty(), "{compared} the same, but not\n{}", different.join("\n"));
}

#[test]
fn what_is_known_is_written() {
    let update = std::env::var_os("UPDATE_WRITTEN").is_some();
    let mut known = 0;
    reading::every_dialect(|dialect| {
        let path = reading::folder().join(&dialect.name).join("written.toml");
        let Ok(file) = fs::read_to_string(&path) else { return };
        let mut file: Written =
            toml::from_str(&file).unwrap_or_else(|error| panic!("{}: {error}", dialect.name));
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
                assert_eq!(texts.get(name), Some(text), "{}: {name}", dialect.name);
            }
        }
        assert!(file.texts.len() > 3 && !file.templates.is_empty(), "{} says too little", dialect.name);
    });
    for dialect in reading::dialects_of(None) {
        known += usize::from(reading::folder().join(&dialect.name).join("written.toml").is_file());
    }
    assert!(known >= 36, "expected what most families' templates write, got {known} of them");
}

/// A string of TOML. JSON's escapes are TOML's.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
