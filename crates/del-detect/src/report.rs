//! What was found out.

use serde::{Deserialize, Serialize};

/// What was found out of a template, a checkpoint or an answer.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// The dialect's name; none where there are no tool calls, or no known dialect fits.
    pub dialect: Option<String>,
    /// How sure the answer is, from 0 to 1.
    pub confidence: f64,
    /// What the answer goes by.
    pub source: Basis,
    /// What was seen, line by line.
    pub evidence: Vec<String>,
    /// Whether there are tool calls at all.
    pub tool_calls: bool,
    /// The marks of thinking, where there are any.
    pub reasoning: Option<Thinking>,
    /// What a user should know.
    pub warnings: Vec<String>,
    /// How to call tools all the same, where the template knows none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instead: Option<Instead>,
}

/// What an answer goes by.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Basis {
    /// Marks in the text of a template.
    #[default]
    Rules,
    /// What a template writes.
    Rendering,
    /// Outputs whose calls are known.
    Examples,
    /// Something that a model wrote.
    Text,
}

/// The marks of thinking.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Thinking {
    /// Opens it.
    pub begin: String,
    /// Closes it.
    pub end: String,
    /// The prompt ends inside it.
    pub prefilled: bool,
}

/// Another way to call tools.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Instead {
    /// The value of `--tools-mode`.
    pub tools_mode: String,
    /// The value of `--dialect`.
    pub dialect: String,
}
