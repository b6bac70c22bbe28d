//! The form of a case file.

use std::fs;
use std::path::Path;

use del_dialects::{Call, End, Start, Turn};
use serde::Deserialize;

use crate::reading;

/// One answer of a model and what it means.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Case {
    /// What the case shows, and why the expectation is right.
    pub(super) about: String,
    #[serde(default)]
    pub(super) starts_in: StartsIn,
    #[serde(default)]
    pub(super) finish: Finish,
    #[serde(default)]
    pub(super) tools: ToolSet,
    pub(super) text: String,
    /// The text is byte for byte what `render_calls` writes for the calls.
    #[serde(default)]
    pub(super) canonical: bool,
    /// All dialects together find the same calls in this text as its own alone (`same`, as in every canonical text), or
    /// others (`other`).
    pub(super) auto: Option<Auto>,
    /// Why they do.
    pub(super) auto_reason: Option<String>,
    /// Why the beginning of this text may hold calls that the whole text does not hold, or others.
    pub(super) prefix_may_differ: Option<String>,
    pub(super) expect: Expect,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum StartsIn {
    #[default]
    Text,
    Reasoning,
    Unknown,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Finish {
    #[default]
    End,
    Cut,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum ToolSet {
    #[default]
    All,
    None,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Auto {
    #[default]
    Same,
    Other,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Expect {
    #[serde(default)]
    pub(super) content: String,
    #[serde(default)]
    pub(super) reasoning: String,
    #[serde(default)]
    pub(super) calls: Vec<Call>,
    #[serde(default)]
    pub(super) faults: Vec<String>,
    /// What a fault reports of a call that does not count.
    pub(super) cut_call: Option<Call>,
}

impl Case {
    /// Reads a case file.
    pub(super) fn load(file: &Path) -> Result<Self, String> {
        let text = fs::read_to_string(file).map_err(|error| format!("{}: {error}", file.display()))?;
        let case: Self = toml::from_str(&text).map_err(|error| format!("{}: {error}", file.display()))?;
        if case.about.trim().is_empty() {
            return Err("expected a line in about, got an empty one".to_owned());
        }
        Ok(case)
    }

    /// What was known before the answer.
    pub(super) fn turn(&self) -> Turn {
        let mut turn = if self.tools == ToolSet::None { Turn::default() } else { reading::turn() };
        turn.starts = match self.starts_in {
            StartsIn::Text => Start::Text,
            StartsIn::Reasoning => Start::Reasoning,
            StartsIn::Unknown => Start::Unknown,
        };
        turn
    }

    /// How the answer ended.
    pub(super) fn end(&self) -> End {
        if self.finish == Finish::Cut { End::Cut } else { End::End }
    }
}
