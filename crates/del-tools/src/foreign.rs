//! Tools that somebody else runs. They are offered beside the built-in ones and pass the same gate.

use std::sync::Arc;

use del_dialects::Tool;
use serde_json::{Map, Value};

use crate::arguments::object;
use crate::class::Class;
use crate::context::Context;
use crate::control::Control;
use crate::job::{Job, Prepared};
use crate::outcome::{Code, Failure, ToolResult, cap};
use crate::question::{Question, Subject};

/// What the names of foreign tools begin with; no built-in one does.
pub(crate) const PREFIX: &str = "mcp__";

/// A tool that another program runs, such as a server of the Model Context Protocol. Nothing that it says of itself is
/// trusted: every call of it asks unless a rule allows it.
pub trait Foreign: Send + Sync {
    /// The tool, as a model is told of it. Its name is `mcp__SERVER__TOOL`.
    fn tool(&self) -> &Tool;

    /// Who runs it, in the user's words.
    fn server(&self) -> &str;

    /// Calls it. Returns soon after `control` is cancelled.
    fn call(&self, arguments: Map<String, Value>, control: &Control<'_>) -> Result<ToolResult, Failure>;
}

/// A call that is ready to be sent.
struct Call {
    tool: Arc<dyn Foreign>,
    arguments: Map<String, Value>,
}

/// Makes a call ready: arguments that are an object, typed as the schema says, none missing.
pub(crate) fn prepare(tool: Arc<dyn Foreign>, json: &str) -> Prepared {
    let definition = tool.tool();
    let mut arguments = object(&definition.name, json)?;
    let schema = &definition.parameters;
    for (key, value) in &mut arguments {
        fit(value, &schema["properties"][key.as_str()]);
    }
    let required = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
    if let Some(missing) = required.into_iter().find(|key| !arguments.contains_key(*key)) {
        let kind = schema["properties"][missing]["type"].as_str().unwrap_or("any type");
        let keys = arguments.keys().map(String::as_str).collect::<Vec<_>>();
        let keys = if keys.is_empty() { "none".to_owned() } else { keys.join(", ") };
        let cause = format!("{} needs '{missing}' ({kind}). Got keys: {keys}.", definition.name);
        return Err(Failure::new(Code::MissingArg, cause));
    }
    Ok(Box::new(Call { tool, arguments }))
}

impl Job for Call {
    fn class(&self) -> Class {
        Class::Network
    }

    fn question(&self, _: &Context) -> Result<Question, Failure> {
        let arguments = Value::Object(self.arguments.clone());
        let subject = Subject::Foreign {
            server: self.tool.server().to_owned(),
            arguments: serde_json::to_string_pretty(&arguments).unwrap_or_default(),
        };
        Ok(Question::new(&self.tool.tool().name, subject))
    }

    fn run(self: Box<Self>, context: &Context, control: &Control<'_>) -> Result<ToolResult, Failure> {
        control.check()?;
        let mut result = self.tool.call(self.arguments, control)?;
        cap(&mut result, context.limits.result_bytes);
        Ok(result)
    }
}

/// Makes text what the schema asks for, where the text says just that: small models put quotes around everything.
fn fit(value: &mut Value, schema: &Value) {
    let Some(text) = value.as_str() else { return };
    let Some(kind) = schema["type"].as_str() else { return };
    let Ok(read) = serde_json::from_str::<Value>(text.trim()) else { return };
    let fits = match kind {
        "integer" => read.is_i64() || read.is_u64(),
        "number" => read.is_number(),
        "boolean" => read.is_boolean(),
        "array" => read.is_array(),
        "object" => read.is_object(),
        _ => false,
    };
    if fits {
        *value = read;
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn text_becomes_what_the_schema_asks_for_and_nothing_else() {
        for (kind, sent, fitted) in [
            ("integer", json!("5"), json!(5)),
            ("integer", json!("5.5"), json!("5.5")),
            ("boolean", json!(" true"), json!(true)),
            ("array", json!("[1]"), json!([1])),
            ("string", json!("5"), json!("5")),
            ("object", json!("x"), json!("x")),
        ] {
            let mut value = sent;
            fit(&mut value, &json!({"type": kind}));
            assert_eq!(value, fitted, "{kind}");
        }
    }
}
