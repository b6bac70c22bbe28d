//! What a response says again of its request.

use std::sync::Arc;

use serde_json::{Map, Value};

use crate::members::{Members, on_one_line};
use crate::responses::namespace::Namespaces;
use crate::responses::{LOGPROBS, SEALS};

/// What the writer of a response has to know of the request.
#[derive(Debug, Clone, Default)]
pub struct Echo {
    pub(super) model: String,
    /// The members that the response says again.
    pub(super) members: Arc<Members>,
    /// The client wants to know how likely the tokens were, and the seals on thoughts.
    pub(super) weighs: bool,
    pub(super) seals: bool,
    /// What the model thought is to be told in a summary.
    pub(super) summarises: bool,
    /// The tools that stand in namespaces.
    pub(super) namespaces: Arc<Namespaces>,
}

/// Members of a request that its response says again, and what they are where it does not say them.
const SAID_AGAIN: [(&str, &str); 15] = [
    ("instructions", "null"),
    ("max_output_tokens", "null"),
    ("metadata", "{}"),
    ("parallel_tool_calls", "true"),
    ("previous_response_id", "null"),
    ("reasoning", r#"{"effort":null,"summary":null}"#),
    ("store", "true"),
    ("temperature", "1.0"),
    ("text", r#"{"format":{"type":"text"}}"#),
    ("tool_choice", "\"auto\""),
    ("tools", "[]"),
    ("top_logprobs", "0"),
    ("top_p", "1.0"),
    ("truncation", "\"disabled\""),
    ("user", "null"),
];

impl Echo {
    /// That of this request, whose tools are this JSON.
    pub fn of(request: &Map<String, Value>, tools: Option<&str>) -> Self {
        let said = |name: &str| request.get(name).filter(|value| !value.is_null());
        let mut members = Members::default();
        for (name, usual) in SAID_AGAIN {
            match (said(name), tools.filter(|_| name == "tools")) {
                (_, Some(tools)) => members.add(name, &on_one_line(tools)),
                (Some(value), _) => members.add_value(name, value),
                (None, _) => members.add(name, usual),
            }
        }
        let includes = |what: &str| {
            let list = said("include").and_then(Value::as_array);
            list.is_some_and(|list| list.iter().any(|name| name == what))
        };
        Self {
            model: said("model").and_then(Value::as_str).unwrap_or_default().to_owned(),
            members: Arc::new(members),
            weighs: includes(LOGPROBS) || said("top_logprobs").is_some(),
            seals: includes(SEALS),
            summarises: said("reasoning").is_some_and(|wish| {
                ["summary", "generate_summary"].iter().any(|name| wish[name].is_string())
            }),
            namespaces: tools.map(Namespaces::of).unwrap_or_default().into(),
        }
    }
}
