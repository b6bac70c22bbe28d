//! The neutral model of an answer: what a parser collects and a renderer writes.

mod record;

pub use crate::schema::Schema;

/// A tool as a model is told of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Tool {
    /// The name a model calls it by.
    pub name: String,
    /// What it does, for the model.
    pub description: String,
    /// JSON Schema of the arguments: an object with `properties`, as in OpenAI's `function.parameters`.
    pub parameters: Schema,
}

/// One finished call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Call {
    /// The id the model itself wrote, if its dialect carries one.
    pub id: Option<String>,
    /// The tool's name, as written.
    pub name: String,
    /// JSON text of an object; byte for byte what the model wrote where the dialect writes JSON.
    pub arguments: String,
}

/// What running a call gave.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallResult {
    /// The id of the call, if it has one.
    pub id: Option<String>,
    /// The tool's name.
    pub name: String,
    /// The text for the model.
    pub text: String,
    /// False when the tool failed or was denied.
    pub ok: bool,
}
