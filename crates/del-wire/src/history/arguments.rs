//! Arguments of past calls, read as those of a dialect are: by the one reader of values.

use std::sync::{Arc, OnceLock};

use del_dialects::{Collect, Dialect, End, Tool, Turn};
use serde_json::{Map, Value};

/// Nothing but arguments.
const FORM: &str = r#"
title = "Arguments that a client sends back"
family = "marks and JSON"
source = "OpenAI's API: arguments are the JSON text of an object"

[call]
pieces = [{ mark = "[CALL]" }, { head = "{name}" }, { mark = "[ARGUMENTS]" }, { args = "object" }, { mark = "[END]" }]
"#;

/// What some arguments are.
#[derive(Debug, PartialEq)]
pub(super) enum Arguments {
    /// The JSON text of an object.
    Whole,
    /// Such a text, once it is mended.
    Mended(String),
    /// Nothing that can be read.
    Broken,
}

/// Reads the arguments of a call of this tool, where it is known.
pub(super) fn read(text: &str, tool: Option<&Tool>) -> Arguments {
    if serde_json::from_str::<Map<String, Value>>(text).is_ok() {
        return Arguments::Whole;
    }
    if matches!(text.trim(), "" | "null") {
        return Arguments::Mended("{}".to_owned());
    }
    if let Ok(inner) = serde_json::from_str::<String>(text) {
        return match read(&inner, tool) {
            Arguments::Whole => Arguments::Mended(inner),
            other => other,
        };
    }
    mended(text, tool).map_or(Arguments::Broken, Arguments::Mended)
}

fn mended(text: &str, tool: Option<&Tool>) -> Option<String> {
    static DIALECT: OnceLock<Option<Arc<Dialect>>> = OnceLock::new();
    const NAME: &str = "call";
    let dialect =
        DIALECT.get_or_init(|| Dialect::from_toml("arguments", FORM).ok().map(Arc::new)).as_ref()?;
    let tools: Vec<Tool> =
        tool.iter().map(|tool| Tool { name: NAME.to_owned(), ..(*tool).clone() }).collect();
    let mut parser = dialect.parser(Turn::new(tools));
    let mut collect = Collect::new();
    parser.push(&format!("[CALL]{NAME}[ARGUMENTS]"), &mut collect);
    parser.push(text.trim(), &mut collect);
    parser.push("[END]", &mut collect);
    parser.finish(End::End, &mut collect);
    let message = collect.into_message();
    let [call] = message.calls.as_slice() else { return None };
    // What stands behind the arguments would be lost.
    message.content.trim().is_empty().then(|| call.arguments.clone())
}

#[cfg(test)]
mod tests {
    use del_dialects::Tool;
    use serde_json::json;

    use super::{Arguments, read};

    #[test]
    fn what_is_no_object_is_mended_or_broken() {
        let tool = Tool {
            name: "get_weather".to_owned(),
            description: String::new(),
            parameters:
                json!({"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]})
                    .into(),
        };
        for (given, expected) in [
            (r#"{"city": "Paris"}"#, None),
            ("", Some("{}")),
            (" null ", Some("{}")),
            ("{'city': 'Paris',}", Some(r#"{"city": "Paris"}"#)),
            (r#"{city: "Paris"}"#, Some(r#"{"city": "Paris"}"#)),
            (r#"{"city": "Paris""#, Some(r#"{"city": "Paris"}"#)),
            (r#"{"city": "Paris"}}"#, Some(r#"{"city": "Paris"}"#)),
            (r#""{\"city\": \"Paris\"}""#, Some(r#"{"city": "Paris"}"#)),
            (r#""{'city': 'Paris'}""#, Some(r#"{"city": "Paris"}"#)),
            ("{\"city\": \"a\nb\"}", Some(r#"{"city": "a\nb"}"#)),
        ] {
            let expected = expected.map_or(Arguments::Whole, |text| Arguments::Mended(text.to_owned()));
            assert_eq!(read(given, Some(&tool)), expected, "{given}");
        }
        for broken in
            [r#"{"city": "Par"#, "Paris", "[1, 2]", "7", r#"{"city": "Paris"} and {"city": "Rome"}"#]
        {
            assert_eq!(read(broken, Some(&tool)), Arguments::Broken, "{broken}");
            assert_eq!(read(broken, None), Arguments::Broken, "{broken}");
        }
    }
}
