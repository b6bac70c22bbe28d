//! Calls as others are told of them: under one name and with one spelling of each argument, however models write them.

use serde_json::Value;

use crate::arguments::Arguments;
use crate::registry::{self, Entry};
use crate::toolbox::Toolbox;
use crate::tools::batch_operations;

/// A call under the tool's own name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spelt {
    /// The name that rules know.
    pub tool: String,
    /// Its arguments, spelt as the core set declares them.
    pub arguments: Value,
}

impl Spelt {
    pub(crate) fn of(entry: &Entry, arguments: Arguments) -> Self {
        let declared = entry.core.and_then(|(_, json)| serde_json::from_str::<Value>(json).ok());
        let properties = declared.map(|declared| declared["function"]["parameters"]["properties"].clone());
        let arguments = arguments.spelt(entry.parameters, &properties.unwrap_or_default());
        Self { tool: entry.name.to_owned(), arguments }
    }
}

impl Toolbox {
    /// A call, and those that it holds.
    pub fn spelt_out(&self, name: &str, arguments: &str) -> Vec<Spelt> {
        let read = registry::find(name).and_then(|entry| {
            let read = Arguments::read(entry.name, arguments, entry.parameters, &Value::Null).ok()?;
            Some((entry, read.called(name)))
        });
        let Some((entry, read)) = read else {
            let arguments = serde_json::from_str(arguments).unwrap_or_default();
            return vec![Spelt { tool: name.trim().to_owned(), arguments }];
        };
        let mut calls = vec![Spelt::of(entry, read.clone())];
        if entry.name == batch_operations::TOOL.name {
            calls.extend(batch_operations::spelt_out(read, self.context()));
        }
        calls
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::registry::Toolset;

    #[test]
    fn however_a_call_is_written_it_is_told_in_one_way() {
        let folder = tempfile::tempdir().unwrap();
        let toolbox = Toolbox::open(folder.path(), &[], Toolset::All).unwrap();
        let told = |name: &str, arguments: Value| {
            let calls = toolbox.spelt_out(name, &arguments.to_string());
            calls.into_iter().map(|call| (call.tool, call.arguments)).collect::<Vec<_>>()
        };
        let command = ("run_command".to_owned(), json!({"command": "ls"}));
        assert_eq!(told("bash", json!({"cmd": "ls"})), std::slice::from_ref(&command));
        assert_eq!(told("Bash", json!({"command": ["ls"]})), std::slice::from_ref(&command));
        let write = ("write_file".to_owned(), json!({"file_path": "a", "content": "x"}));
        assert_eq!(told("write_file", json!({"path": "a", "text": "x"})), std::slice::from_ref(&write));
        let batch = json!({"operations": [{"tool": "bash", "arguments": {"script": "ls"}},
            {"tool": "write_file", "arguments": {"filename": "a", "data": "x"}}]});
        assert_eq!(told("batch_operations", batch)[1..], [command, write]);
        assert_eq!(told("mcp__x__y", json!({"a": 1})), [("mcp__x__y".to_owned(), json!({"a": 1}))]);
    }
}
