//! The tools of a request as functions, whatever the API of the client.

use serde_json::{Map, Value};

use crate::error::WireError;
use crate::fields;

/// Tools in the shape of chat completions.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Functions {
    /// Functions, and with some APIs tools of other kinds.
    pub list: Vec<Value>,
    /// The kinds of tools that are left out, as only the maker of an API has them.
    pub dropped: Vec<String>,
}

impl Functions {
    /// Takes the tools out of a request whose API writes them so that `read` reads them.
    pub fn take(
        body: &mut Map<String, Value>,
        read: impl FnOnce(Vec<Value>) -> Self,
    ) -> Result<Self, WireError> {
        fields::take_values(body, "tools").map(read)
    }

    /// Tools that are in this shape already.
    pub fn alike(list: Vec<Value>) -> Self {
        Self { list, dropped: Vec::new() }
    }

    /// True when all that was given are functions.
    pub fn are_all(&self) -> bool {
        let kind =
            |tool: &Value| tool.get("type").and_then(Value::as_str).is_none_or(|kind| kind == "function");
        self.dropped.is_empty() && self.list.iter().all(kind)
    }
}
