//! What a description has to carry, whatever it was made from: it is written and read again.

use std::sync::Arc;

use del_dialects::description::Codec;
use del_dialects::{Call, Dialect, Tool};
use serde_json::json;

use crate::compare::{read, same_calls};
use crate::text;

/// Calls that a dialect does not carry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// What they show.
    pub about: &'static str,
    /// Why they cannot be written.
    pub why: String,
    /// No dialect can do without them.
    pub is_grave: bool,
}

/// Calls that any dialect has to carry.
const TRIALS: &[(&str, &[&str])] = &[
    ("one text", &[r#"{"city": "Vexholm"}"#]),
    ("no arguments", &["{}"]),
    ("two texts", &[r#"{"city": "Vexholm", "text": "amber"}"#]),
    ("a number", &[r#"{"count": 41}"#]),
    ("a number behind a text", &[r#"{"city": "Vexholm", "count": 41}"#]),
    ("a quote in a text", &[r#"{"text": "say \"hi\" there, it's"}"#]),
    ("a line feed in a text", &[r#"{"text": "first\nsecond"}"#]),
    ("two calls", &[r#"{"city": "Vexholm"}"#, r#"{"count": 41}"#]),
];

/// How many samples are written.
pub const SAMPLES: usize = TRIALS.len();

/// The calls that a dialect cannot write so that it reads them again; nothing for a sound one.
pub fn failures(dialect: &Arc<Dialect>) -> Vec<Failure> {
    let tools = tools();
    // A body that is one argument carries nothing else.
    if let Codec::Raw { key, .. } = dialect.codec() {
        let arguments = json!({key.as_str(): "Vexholm"}).to_string();
        let why = trouble(dialect, &calls(&tools, &[&arguments]), &tools);
        return why.map(|why| Failure { about: "one text", why, is_grave: true }).into_iter().collect();
    }
    let failed = TRIALS.iter().filter_map(|(about, list)| {
        let why = trouble(dialect, &calls(&tools, list), &tools)?;
        let is_grave = !about.contains(" in a text");
        Some(Failure { about, why, is_grave })
    });
    failed.collect()
}

/// Why calls do not come back as they were; nothing where they do.
fn trouble(dialect: &Arc<Dialect>, calls: &[Call], tools: &[Tool]) -> Option<String> {
    let written = match dialect.render_calls(calls, tools) {
        Ok(written) => written,
        Err(error) => return Some(error.to_string()),
    };
    let message = read(dialect, &written, tools);
    let got = || format!("{:?} reads as something else", text::start(&written, LONG));
    (!same_calls(&message.calls, calls) || !message.content.trim().is_empty()).then(got)
}

const LONG: usize = 160;

fn calls(tools: &[Tool], arguments: &[&str]) -> Vec<Call> {
    let call = |arguments: &&str| Call {
        id: None,
        name: tools.first().map(|tool| tool.name.clone()).unwrap_or_default(),
        arguments: (*arguments).to_owned(),
    };
    arguments.iter().map(call).collect()
}

/// One tool, with texts and a number.
fn tools() -> Vec<Tool> {
    vec![Tool {
        name: "probe_depth".to_owned(),
        description: String::new(),
        parameters: json!({
            "type": "object",
            "properties": {
                "city": {"type": "string"}, "text": {"type": "string"}, "count": {"type": "integer"},
            },
        })
        .into(),
    }]
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use del_dialects::Dialects;

    use super::*;

    #[test]
    fn every_known_dialect_carries_what_is_tried() {
        // A form for one tool alone carries calls of no other.
        for dialect in Dialects::builtin().iter().filter(|dialect| dialect.tool().is_none()) {
            assert_eq!(failures(dialect), [], "{}", dialect.name());
        }
    }

    #[test]
    fn what_cannot_be_written_is_found() {
        let toml = r#"
            title = "Seen"
            family = "detected"
            source = "examples of its output"
            [call]
            pieces = [{ mark = "<<" }, { head = "{name}" }, { mark = ">>\n" },
              { args = "fields", form = "@{key}: {value}@@\n" }, { mark = "<</>>" }]
        "#;
        let dialect = Arc::new(Dialect::from_toml("seen", toml).unwrap());
        let failed = failures(&dialect);
        assert!(failed.iter().any(|failure| failure.about == "one text" && failure.is_grave), "{failed:?}");
    }
}
