//! Calls as others are told of them: under one name and with one spelling of each argument, however models write them.

use serde_json::Value;

use crate::arguments::Arguments;
use crate::job::Entry;

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
