//! Tool definitions in the spellings of the APIs.

mod functions;
mod known;

use std::collections::HashSet;
use std::fmt::Write as _;
use std::str::FromStr;

use del_dialects::Tool;
use serde_json::{Map, Value, json};

use crate::error::excerpt;

pub use functions::Functions;
pub use known::{KnownTools, Lately};

/// Why tool definitions cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ToolsError {
    /// The file is no JSON.
    #[error("tools: expected JSON, got `{got}` ({reason})")]
    Json {
        /// Its beginning.
        got: String,
        /// What the JSON reader says, with line and column.
        reason: String,
    },
    /// A member is missing or of another type.
    #[error("{at}: expected {expected}, got {got}")]
    Shape {
        /// Where, such as `tools[2].name`.
        at: String,
        /// What should stand there.
        expected: &'static str,
        /// What stands there.
        got: String,
    },
    /// Two tools have one name.
    #[error("tools: expected different names, got `{name}` twice")]
    Twice {
        /// The name.
        name: String,
    },
}

/// A way of writing tool definitions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// `{"type": "function", "function": {…}}`.
    OpenAi,
    /// `{"name", "description", "input_schema"}`.
    Anthropic,
    /// `{"name", "description", "inputSchema"}`.
    Mcp,
    /// Elements, for prompts written by hand.
    Xml,
}

impl FromStr for Format {
    type Err = UnknownFormat;

    fn from_str(name: &str) -> Result<Self, UnknownFormat> {
        match name {
            "openai" => Ok(Self::OpenAi),
            "anthropic" => Ok(Self::Anthropic),
            "mcp" => Ok(Self::Mcp),
            "xml" => Ok(Self::Xml),
            _ => Err(UnknownFormat { got: name.to_owned() }),
        }
    }
}

/// No such format of tool definitions.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("expected openai, anthropic, mcp or xml, got `{got}`")]
pub struct UnknownFormat {
    got: String,
}

/// Reads the text of a file of tool definitions.
pub fn read_text(text: &str) -> Result<Vec<Tool>, ToolsError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let value = serde_json::from_str(text)
        .map_err(|error| ToolsError::Json { got: excerpt(text), reason: error.to_string() })?;
    read(&value)
}

/// Reads tool definitions in any of the JSON formats, also mixed: a list, one tool, or an object with `tools`.
pub fn read(value: &Value) -> Result<Vec<Tool>, ToolsError> {
    let inner = ["/tools", "/result/tools"].iter().find_map(|path| value.pointer(path)).unwrap_or(value);
    let tools = match inner {
        Value::Array(list) => list
            .iter()
            .enumerate()
            .map(|(n, tool)| read_tool(tool, &format!("tools[{n}]")))
            .collect::<Result<_, _>>()?,
        Value::Object(_) => vec![read_tool(inner, "tool")?],
        other => return Err(shape("tools", "a list of tools", other)),
    };
    let mut names = HashSet::new();
    match tools.iter().find(|tool: &&Tool| !names.insert(tool.name.as_str())) {
        Some(tool) => Err(ToolsError::Twice { name: tool.name.clone() }),
        None => Ok(tools),
    }
}

/// Tool definitions as text, indented.
pub fn write(tools: &[Tool], format: Format) -> String {
    match format {
        Format::Xml => write_xml(tools),
        _ => format!("{:#}\n", definitions(tools, format)),
    }
}

/// Tool definitions as a JSON list; [`Format::Xml`] has none and gives what OpenAI has.
pub fn definitions(tools: &[Tool], format: Format) -> Value {
    tools
        .iter()
        .map(|Tool { name, description, parameters }| match format {
            Format::OpenAi | Format::Xml => json!({
                "type": "function",
                "function": {"name": name, "description": description, "parameters": parameters},
            }),
            Format::Anthropic => {
                json!({"name": name, "description": description, "input_schema": parameters})
            }
            Format::Mcp => json!({"name": name, "description": description, "inputSchema": parameters}),
        })
        .collect()
}

fn read_tool(value: &Value, at: &str) -> Result<Tool, ToolsError> {
    let Value::Object(outer) = value else { return Err(shape(at, "an object", value)) };
    let (fields, at) = match outer.get("function") {
        Some(Value::Object(inner)) => (inner, format!("{at}.function")),
        Some(other) => return Err(shape(&format!("{at}.function"), "an object", other)),
        None => (outer, at.to_owned()),
    };
    let name = match fields.get("name") {
        Some(Value::String(name)) if !name.trim().is_empty() => name.clone(),
        other => return Err(shape(&format!("{at}.name"), "the tool's name", other.unwrap_or(&Value::Null))),
    };
    let description = match fields.get("description") {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(text)) => text.clone(),
        Some(other) => return Err(shape(&format!("{at}.description"), "a string", other)),
    };
    Ok(Tool { name, description, parameters: read_parameters(fields, &at)?.into() })
}

fn read_parameters(fields: &Map<String, Value>, at: &str) -> Result<Value, ToolsError> {
    let found = ["parameters", "input_schema", "inputSchema"]
        .iter()
        .find_map(|key| fields.get(*key).filter(|value| !value.is_null()).map(|value| (*key, value)));
    match found {
        None => Ok(json!({"type": "object", "properties": {}})),
        Some((_, Value::Object(schema))) => match schema.get("properties") {
            None | Some(Value::Null | Value::Object(_)) => Ok(Value::Object(schema.clone())),
            Some(other) => {
                Err(shape(&format!("{at}.{}.properties", found.map_or("", |f| f.0)), "an object", other))
            }
        },
        Some((key, other)) => Err(shape(&format!("{at}.{key}"), "a JSON Schema object", other)),
    }
}

fn shape(at: &str, expected: &'static str, got: &Value) -> ToolsError {
    let got = match got {
        Value::Null => "nothing".to_owned(),
        other => format!("`{}`", excerpt(&other.to_string())),
    };
    ToolsError::Shape { at: at.to_owned(), expected, got }
}

fn write_xml(tools: &[Tool]) -> String {
    let mut out = String::from("<tools>\n");
    for tool in tools {
        let _ = writeln!(
            out,
            "<tool name=\"{}\" description=\"{}\">",
            escape(&tool.name),
            escape(&tool.description)
        );
        let required: Vec<&str> = tool.parameters["required"]
            .as_array()
            .map(|names| names.iter().filter_map(Value::as_str).collect())
            .unwrap_or_default();
        for (name, schema) in tool.parameters["properties"].as_object().into_iter().flatten() {
            write_parameter(&mut out, name, schema, required.contains(&name.as_str()));
        }
        out.push_str("</tool>\n");
    }
    out.push_str("</tools>\n");
    out
}

/// One parameter; a schema of more than a type and a description goes along whole.
fn write_parameter(out: &mut String, name: &str, schema: &Value, required: bool) {
    let _ = write!(out, "<parameter name=\"{}\"", escape(name));
    if let Some(kind) = schema["type"].as_str() {
        let _ = write!(out, " type=\"{}\"", escape(kind));
    }
    if let Some(text) = schema["description"].as_str() {
        let _ = write!(out, " description=\"{}\"", escape(text));
    }
    let _ = write!(out, " required=\"{required}\"");
    let simple = schema.as_object().is_some_and(|schema| {
        schema.iter().all(|(key, value)| matches!(key.as_str(), "type" | "description") && value.is_string())
    });
    if !simple {
        let _ = write!(out, " schema=\"{}\"", escape(&schema.to_string()));
    }
    out.push_str("/>\n");
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
        .replace('\n', "&#10;")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{Format, ToolsError, read, read_text, write};

    #[test]
    fn every_format_is_read_and_written_back() {
        let tools = read(&json!([
            {"type": "function", "function": {"name": "a", "description": "A", "parameters": {"type": "object", "properties": {"x": {"type": "string"}}}}},
            {"name": "b", "parameters": {"type": "object"}},
            {"name": "c", "input_schema": {"type": "object", "properties": null}},
            {"name": "d", "description": null, "inputSchema": {"type": "object"}},
            {"type": "function", "name": "e"},
        ]))
        .unwrap();
        let names: Vec<&str> = tools.iter().map(|tool| tool.name.as_str()).collect();
        assert_eq!(names, ["a", "b", "c", "d", "e"]);
        assert_eq!(*tools[4].parameters, json!({"type": "object", "properties": {}}));
        for format in [Format::OpenAi, Format::Anthropic, Format::Mcp] {
            assert_eq!(read_text(&write(&tools, format)).unwrap(), tools);
        }
    }

    #[test]
    fn wrappers_and_single_tools() {
        let tool = json!({"name": "a"});
        for value in [
            json!([tool]),
            json!({"tools": [tool]}),
            json!({"jsonrpc": "2.0", "result": {"tools": [tool]}}),
            tool,
        ] {
            assert_eq!(read(&value).unwrap()[0].name, "a", "{value}");
        }
    }

    #[test]
    fn errors_say_where_expected_and_got() {
        let error = |value| read(&value).unwrap_err().to_string();
        assert_eq!(error(json!("x")), "tools: expected a list of tools, got `\"x\"`");
        assert_eq!(error(json!([{"name": "a"}, 3])), "tools[1]: expected an object, got `3`");
        assert_eq!(
            error(json!([{"type": "function", "function": {}}])),
            "tools[0].function.name: expected the tool's name, got nothing"
        );
        assert_eq!(
            error(json!([{"name": "a", "parameters": []}])),
            "tools[0].parameters: expected a JSON Schema object, got `[]`"
        );
        assert_eq!(
            error(json!([{"name": "a", "input_schema": {"properties": 1}}])),
            "tools[0].input_schema.properties: expected an object, got `1`"
        );
        assert_eq!(
            read(&json!([{"name": "a"}, {"name": "a"}])).unwrap_err(),
            ToolsError::Twice { name: "a".into() }
        );
        assert!(read_text("[{").unwrap_err().to_string().contains("line 1"));
    }

    #[test]
    fn xml_loses_no_schema() {
        let tools = read(&json!({"name": "f", "description": "a \"b\" <c>", "parameters": {
            "properties": {"x": {"type": "string", "description": "an x"}, "y": {"type": "array", "items": {"type": "integer"}}},
            "required": ["x"],
        }}))
        .unwrap();
        assert_eq!(
            write(&tools, "xml".parse().unwrap()),
            "<tools>\n<tool name=\"f\" description=\"a &quot;b&quot; &lt;c&gt;\">\n\
             <parameter name=\"x\" type=\"string\" description=\"an x\" required=\"true\"/>\n\
             <parameter name=\"y\" type=\"array\" required=\"false\" schema=\"{&quot;type&quot;:&quot;array&quot;,&quot;items&quot;:{&quot;type&quot;:&quot;integer&quot;}}\"/>\n\
             </tool>\n</tools>\n"
        );
        assert_eq!(
            "yaml".parse::<Format>().unwrap_err().to_string(),
            "expected openai, anthropic, mcp or xml, got `yaml`"
        );
    }
}
