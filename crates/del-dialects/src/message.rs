//! Calls and their results: what a parser collects and a renderer writes.

mod record;

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
