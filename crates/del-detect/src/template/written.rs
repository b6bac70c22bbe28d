//! What the dialects write is what the models' own templates write. The templates are not in this repository:
//! `DEL_TEMPLATES` names folders of them, with `:` between.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::{Value as Json, json};

use super::Template;

/// A file `written.toml` beside a description.
#[derive(Deserialize)]
struct Written {
    /// Templates, each with the texts that it writes otherwise or not at all.
    templates: BTreeMap<String, Vec<String>>,
    texts: BTreeMap<String, String>,
}

/// A conversation in which the model calls, with its arguments as an object or as text.
fn conversation(name: &str, as_text: bool) -> Vec<Json> {
    let call = |name: &str, id: &str, arguments: &str| {
        let object: Json = serde_json::from_str(arguments).unwrap();
        let arguments = if as_text { Json::from(arguments) } else { object };
        json!({"type": "function", "id": id, "function": {"name": name, "arguments": arguments}})
    };
    let weather = call("get_weather", "abc123XYZ", r#"{"city": "Paris", "days": 3}"#);
    let item = r#"{"item": {"a": 1, "b": "x\"y"}, "tags": ["u", "v"], "ok": true}"#;
    let item = call("add_item", "def456UVW", item);
    let nothing = call("project_context", "ghi789RST", "{}");
    let result = |call: &Json, text: &str| json!({"role": "tool", "tool_call_id": call["id"], "name": call["function"]["name"], "content": text});
    let (calls, content, thinking) = match name {
        "two" | "results" => (vec![weather, item], "", None),
        "empty" => (vec![nothing], "", None),
        "text" => (vec![weather], "I will look.", None),
        "thinking" => (vec![weather], "I will look.", Some("REASON")),
        _ => (vec![weather], "", None),
    };
    let texts = ["RESULTONE", "RESULTTWO"];
    let results: Vec<Json> = calls.iter().zip(texts).map(|(call, text)| result(call, text)).collect();
    let mut said = json!({"role": "assistant", "content": content, "tool_calls": calls});
    if let Some(thinking) = thinking {
        said["reasoning_content"] = json!(thinking);
    }
    [vec![json!({"role": "user", "content": "QUESTION"}), said], results].concat()
}

#[test]
fn templates_write_what_dialects_write() {
    let Some(folders) = std::env::var_os("DEL_TEMPLATES") else { return };
    let folders: Vec<PathBuf> = std::env::split_paths(&folders).collect();
    let dialects = Path::new(env!("CARGO_MANIFEST_DIR")).join("../del-dialects/dialects");
    let tools: Vec<Json> =
        serde_json::from_str(&fs::read_to_string(dialects.join("tools.json")).unwrap()).unwrap();
    let tools: Vec<Json> =
        tools[..2].iter().map(|tool| json!({"type": "function", "function": tool})).collect();
    let (mut same, mut different) = (0, Vec::new());
    for folder in fs::read_dir(&dialects).unwrap().map(|entry| entry.unwrap().path()) {
        let Ok(file) = fs::read_to_string(folder.join("written.toml")) else { continue };
        let file: Written = toml::from_str(&file).unwrap();
        for (name, others) in &file.templates {
            let found = folders.iter().find_map(|folder| fs::read_to_string(folder.join(name)).ok());
            let Some(mut template) = found.map(|source| Template::new(&source).unwrap()) else { continue };
            for (key, text) in file.texts.iter().filter(|(key, _)| !others.contains(key)) {
                let mut render = |as_text: bool| {
                    let context = json!({
                        "messages": conversation(key, as_text), "tools": tools, "functions": "FUNCTIONS",
                        "datetime": "DATETIME", "add_generation_prompt": false, "bos_token": "<BOS>",
                        "eos_token": "<EOS>",
                    });
                    template.render(&context)
                };
                let all = [render(false), render(true)];
                if all.iter().any(|all| all.as_ref().is_ok_and(|all| all.contains(text.as_str()))) {
                    same += 1;
                } else {
                    different.push(format!("{} {name} {key}: {all:?}", folder.display()));
                }
            }
        }
    }
    assert!(same > 0, "expected templates in {folders:?}, got none that is known");
    assert!(different.is_empty(), "{same} are the same, but not\n{}", different.join("\n"));
}
