//! The tools of a server as models are offered them: checked, bounded, and under names of their own.

use std::collections::HashSet;

use del_dialects::Tool;
use del_tools::visible;
use serde_json::Value;
use sha2::{Digest, Sha256};

/// A tool of a server.
#[derive(Debug, Clone)]
pub(crate) struct Offer {
    /// As models are told of it.
    pub(crate) tool: Tool,
    /// Its name at the server.
    pub(crate) name: String,
}

/// The longest name that the APIs of models take.
const NAME: usize = 64;
/// The longest name that the protocol has.
const THEIR_NAME: usize = 128;
const DESCRIPTION: usize = 4096;
const SCHEMA: usize = 32 * 1024;
const DEPTH: usize = 16;
/// Tools of one server.
pub(crate) const TOOLS: usize = 128;

/// The tools that can be offered, under names that are not `taken` yet, and a sentence about each that cannot.
pub(crate) fn offers(
    server: &str,
    theirs: Vec<rmcp::model::Tool>,
    taken: &mut HashSet<String>,
) -> (Vec<Offer>, Vec<String>) {
    let (mut offers, mut warnings, mut seen) = (Vec::new(), Vec::new(), HashSet::new());
    for tool in theirs {
        if offers.len() == TOOLS {
            warnings.push(format!("more than {TOOLS} tools; the others are left out"));
            break;
        }
        let shown: String = visible(&tool.name).chars().take(60).collect();
        let refusal = if seen.insert(tool.name.to_string()) {
            refuse(&tool)
        } else {
            Some("a second one of that name")
        };
        if let Some(why) = refusal {
            warnings.push(format!("the tool '{shown}' is left out: {why}"));
            continue;
        }
        let name = name(server, &tool.name);
        if !taken.insert(name.clone()) {
            warnings.push(format!("the tool '{shown}' is left out: its name {name} is taken"));
            continue;
        }
        let description = tool.description.as_deref().or(tool.title.as_deref()).unwrap_or_default();
        let description = shortened(&plain(description), DESCRIPTION);
        let mut parameters = Value::Object(tool.input_schema.as_ref().clone());
        make_plain(&mut parameters);
        offers.push(Offer {
            tool: Tool { name, description, parameters: parameters.into() },
            name: tool.name.into_owned(),
        });
    }
    (offers, warnings)
}

fn refuse(tool: &rmcp::model::Tool) -> Option<&'static str> {
    let schema = tool.input_schema.as_ref();
    if tool.name.trim().is_empty() {
        return Some("it has no name");
    }
    if tool.name.len() > THEIR_NAME {
        return Some("its name is longer than 128 bytes");
    }
    if schema.get("type").and_then(Value::as_str) != Some("object") {
        return Some("its schema is not that of an object");
    }
    if schema.get("properties").is_some_and(|properties| !properties.is_object()) {
        return Some("the properties in its schema are no object");
    }
    if schema.values().any(|value| depth(value) >= DEPTH) {
        return Some("its schema is deeper than 16 levels");
    }
    let size = serde_json::to_string(schema).map_or(usize::MAX, |text| text.len());
    (size > SCHEMA).then_some("its schema is longer than 32 KiB")
}

/// `mcp__SERVER__TOOL`, in the characters that every API takes. A name that had to be changed or cut carries a few
/// digits of what it was, so that no two are alike.
pub(crate) fn name(server: &str, tool: &str) -> String {
    let fitted = |text: &str| -> String {
        text.chars()
            .map(|c| if c.is_ascii_alphanumeric() || matches!(c, '_' | '-') { c } else { '_' })
            .collect()
    };
    let name = format!("mcp__{}__{}", fitted(server), fitted(tool));
    if name.len() <= NAME && fitted(tool) == tool && fitted(server) == server {
        return name;
    }
    let digest = hex::encode(Sha256::digest(format!("{server}\0{tool}")));
    let digits = &digest[..8];
    let kept: String = name.chars().take(NAME - digits.len() - 1).collect();
    format!("{kept}_{digits}")
}

fn depth(value: &Value) -> usize {
    match value {
        Value::Array(list) => 1 + list.iter().map(depth).max().unwrap_or(0),
        Value::Object(map) => 1 + map.values().map(depth).max().unwrap_or(0),
        _ => 0,
    }
}

/// Text of a server as a model may see it: lines end with a newline, and nothing in it is hidden.
pub(crate) fn plain(text: &str) -> String {
    visible(&text.replace("\r\n", "\n")).into_owned()
}

fn make_plain(value: &mut Value) {
    match value {
        Value::String(text) => *text = plain(text),
        Value::Array(list) => list.iter_mut().for_each(make_plain),
        Value::Object(map) => map.values_mut().for_each(make_plain),
        _ => {}
    }
}

/// The beginning of a text that is too long.
pub(crate) fn shortened(text: &str, limit: usize) -> String {
    if text.len() <= limit {
        return text.to_owned();
    }
    let mut cut = limit;
    while !text.is_char_boundary(cut) {
        cut -= 1;
    }
    format!("{}…", &text[..cut])
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn tool(name: &str, schema: &Value) -> rmcp::model::Tool {
        serde_json::from_value(json!({"name": name, "description": "d\u{1b}[2J", "inputSchema": schema}))
            .unwrap()
    }

    #[test]
    fn what_cannot_be_offered_is_left_out_and_said() {
        let deep = (0..40).fold(json!({}), |inner, _| json!({"properties": {"a": inner}}));
        let object = json!({"type": "object"});
        let (offers, warnings) = offers(
            "s",
            vec![
                tool("good", &object),
                tool("good", &object),
                tool(" ", &object),
                tool(&"n".repeat(500), &object),
                tool("list", &json!({"type": "array"})),
                tool("none", &json!({})),
                tool("props", &json!({"type": "object", "properties": []})),
                tool("deep", &json!({"type": "object", "properties": {"a": deep}})),
                tool("long", &json!({"type": "object", "description": "x".repeat(40_000)})),
            ],
            &mut HashSet::new(),
        );
        assert_eq!(offers.iter().map(|offer| offer.tool.name.as_str()).collect::<Vec<_>>(), ["mcp__s__good"]);
        assert_eq!(offers[0].tool.description, "d␛[2J");
        assert_eq!(warnings.len(), 8, "{warnings:#?}");
    }

    #[test]
    fn names_are_short_plain_and_never_alike() {
        assert_eq!(name("files", "read_file"), "mcp__files__read_file");
        let odd = [
            name("a b", "c"),
            name("a.b", "c"),
            name("a_b", "c"),
            name("s", &"n".repeat(90)),
            name("s", &"n".repeat(91)),
        ];
        assert_eq!(odd.iter().collect::<HashSet<_>>().len(), odd.len(), "{odd:#?}");
        assert!(odd.iter().all(|name| name.len() <= NAME), "{odd:#?}");
    }
}
