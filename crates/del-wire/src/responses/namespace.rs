//! Tools that stand in a namespace, as Codex has those of MCP servers: on their way they are functions that have its name
//! before theirs.

use std::collections::HashMap;

use serde_json::{Value, json};

/// The namespace and the name of tools, by the names that these have on their way.
#[derive(Debug, Clone, Default)]
pub(super) struct Namespaces(HashMap<String, [String; 2]>);

impl Namespaces {
    /// Those in this JSON of a request's tools.
    pub(super) fn of(tools: &str) -> Self {
        // Few requests have any, and those of agents are long.
        if memchr::memmem::find(tools.as_bytes(), b"\"namespace\"").is_none() {
            return Self::default();
        }
        let tools: Vec<Value> = serde_json::from_str(tools).unwrap_or_default();
        let mut known = HashMap::new();
        for space in tools.iter().filter(|tool| is_namespace(tool)) {
            let Some(space_name) = space["name"].as_str() else { continue };
            for name in inner(space).filter_map(|tool| tool["name"].as_str()) {
                known.insert(joined(space_name, name), [space_name.to_owned(), name.to_owned()]);
            }
        }
        Self(known)
    }

    /// The namespace of a tool, and its name there.
    pub(super) fn split(&self, name: &str) -> Option<&[String; 2]> {
        self.0.get(name)
    }
}

/// The tools of a request, with those of namespaces among the others.
pub(super) fn flat(tools: Vec<Value>) -> Vec<Value> {
    let mut flat = Vec::with_capacity(tools.len());
    for mut tool in tools {
        match (is_namespace(&tool), tool["name"].as_str().map(str::to_owned)) {
            (true, Some(space)) => {
                let list = tool.get_mut("tools").and_then(Value::as_array_mut).map(std::mem::take);
                for mut inner in list.unwrap_or_default() {
                    if let Some(members) = inner.as_object_mut() {
                        let name = members.get("name").and_then(Value::as_str).unwrap_or_default();
                        let name = joined(&space, name);
                        members.insert("name".to_owned(), json!(name));
                        // Nobody here looks for tools that are not told.
                        members.shift_remove("defer_loading");
                    }
                    flat.push(inner);
                }
            }
            _ => flat.push(tool),
        }
    }
    flat
}

/// The name of a tool that an item or a choice is about, on its way.
pub(super) fn name_of(item: &Value) -> Value {
    match (item["namespace"].as_str(), item["name"].as_str()) {
        (Some(space), Some(name)) if !space.is_empty() => json!(joined(space, name)),
        _ => item["name"].clone(),
    }
}

fn is_namespace(tool: &Value) -> bool {
    tool["type"] == "namespace"
}

fn inner(space: &Value) -> impl Iterator<Item = &Value> {
    space["tools"].as_array().into_iter().flatten()
}

/// As agents wrote it before there were namespaces.
fn joined(space: &str, name: &str) -> String {
    format!("{space}__{name}")
}
