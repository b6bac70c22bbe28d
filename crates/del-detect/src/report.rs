//! What was found out.

use serde::{Deserialize, Serialize};

use crate::cases::Case;
use crate::instructions::Instructions;

/// What was found out, and a description where one was asked for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Found {
    /// The answer.
    pub report: Report,
    /// How calls are written, where that can be read off.
    pub description: Option<Description>,
    /// Why it cannot, where it was asked for.
    #[serde(default)]
    pub undescribed: Option<String>,
}

impl Found {
    /// A report without a description.
    pub(crate) fn only(report: Report) -> Self {
        Self { report, description: None, undescribed: None }
    }

    /// A report with what came of describing.
    pub(crate) fn with(report: Report, described: Option<Result<Description, String>>) -> Self {
        let (description, undescribed) = match described {
            Some(Ok(description)) => (Some(description), None),
            Some(Err(why)) => (None, Some(why)),
            None => (None, None),
        };
        Self { report, description, undescribed }
    }
}

/// A description that was made.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Description {
    /// Its text.
    pub toml: String,
    /// What it was made from, as cases that it holds to.
    pub cases: Vec<Case>,
    /// How many turns it was made from.
    pub turns: usize,
    /// How many of them it reads with nothing left over.
    pub read: usize,
    /// What the others show.
    pub missed: Vec<String>,
    /// What could not be read off.
    pub open: Vec<String>,
    /// The known dialect that this is, but for other thinking and other ends of turns.
    pub copy_of: Option<String>,
}

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
    /// What the template says of tools, where it tells the model how to call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instructions: Option<Instructions>,
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
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Thinking {
    /// Opens it.
    pub begin: String,
    /// Closes it.
    pub end: String,
    /// The prompt ends inside it.
    pub prefilled: bool,
    /// It does where thinking is switched on.
    #[serde(default)]
    pub prefilled_on: bool,
    /// It does where thinking is switched off.
    #[serde(default)]
    pub prefilled_off: bool,
}

/// `1 turn`, `11 turns`
pub(crate) fn counted(n: usize, noun: &str) -> String {
    if n == 1 { format!("1 {noun}") } else { format!("{n} {noun}s") }
}

impl Thinking {
    /// How the prompt begins it, in words; empty where it does not.
    pub fn begun(&self) -> &'static str {
        match (self.prefilled, self.prefilled_on, self.prefilled_off) {
            (true, ..) => "begun by the prompt",
            (_, true, true) => "with thinking switched on or off: begun by the prompt",
            (_, true, _) => "with thinking on: begun by the prompt",
            (.., true) => "with thinking off: begun by the prompt",
            _ => "",
        }
    }
}

/// Another way to call tools.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Instead {
    /// The value of `--tools-mode`.
    pub tools_mode: String,
    /// The value of `--dialect`.
    pub dialect: String,
}
