//! Calls that an answer only shows: objects in code fences, which are examples and never run.

use del_dialects::Tool;
use serde_json::Value;

/// The names of these tools of which a fenced block holds a call, each once, in their order.
pub(crate) fn shown(text: &str, tools: &[Tool]) -> Vec<String> {
    let mut names = Vec::new();
    for block in fenced(text) {
        let objects = match serde_json::from_str(&block) {
            Ok(Value::Array(objects)) => objects,
            Ok(object) => vec![object],
            Err(_) => continue,
        };
        for object in &objects {
            let with_arguments = ["arguments", "parameters"].iter().any(|key| object[*key].is_object());
            let name = object["name"].as_str().filter(|_| with_arguments);
            let name = name.filter(|name| tools.iter().any(|tool| tool.name == *name));
            if let Some(name) = name.filter(|name| !names.iter().any(|known| known == name)) {
                names.push(name.to_owned());
            }
        }
    }
    names
}

/// What stands in code fences that are closed.
fn fenced(text: &str) -> Vec<String> {
    let (mut blocks, mut block) = (Vec::new(), None::<String>);
    for line in text.lines() {
        match &mut block {
            _ if line.trim_start().starts_with("```") => match block.take() {
                Some(whole) => blocks.push(whole),
                None => block = Some(String::new()),
            },
            Some(begun) => begun.extend([line, "\n"]),
            None => {}
        }
    }
    blocks
}
