//! What a reader of an answer is told: where it starts, and what it may cost.

use std::error;
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use crate::tool::Tool;

/// What is known of an answer before its first byte.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Turn {
    /// The tools that the model was told of; they type raw values and tell bare calls from data.
    pub tools: Arc<[Tool]>,
    /// Where the answer starts.
    pub starts: Start,
    /// What the answer may cost.
    pub limits: Limits,
}

impl Turn {
    /// An answer that starts as text, with default limits.
    pub fn new(tools: impl Into<Arc<[Tool]>>) -> Self {
        Self { tools: tools.into(), ..Self::default() }
    }

    /// The same answer, starting there.
    #[must_use]
    pub fn starting(self, starts: Start) -> Self {
        Self { starts, ..self }
    }

    /// The same answer, which may cost so much.
    #[must_use]
    pub fn limited(self, limits: Limits) -> Self {
        Self { limits, ..self }
    }
}

/// Where an answer starts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Start {
    /// As text.
    #[default]
    Text,
    /// Inside thinking: the prompt ended with its opening mark.
    Reasoning,
    /// Nobody said, as with answers from a file. Where a dialect's own template may end inside the thinking, text is held
    /// until a mark tells: what stands before a closing mark without an opening one is thinking. For whole answers; nothing
    /// streams till then.
    Unknown,
}

impl FromStr for Start {
    type Err = UnknownStart;

    /// `text`, `reasoning` or `unknown`, as programs and files of cases write it.
    fn from_str(name: &str) -> Result<Self, UnknownStart> {
        match name {
            "text" => Ok(Self::Text),
            "reasoning" => Ok(Self::Reasoning),
            "unknown" => Ok(Self::Unknown),
            other => Err(UnknownStart(other.to_owned())),
        }
    }
}

/// A name of no place where an answer starts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownStart(String);

impl fmt::Display for UnknownStart {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, r#"expected "text", "reasoning" or "unknown", got {:?}"#, self.0)
    }
}

impl error::Error for UnknownStart {}

/// What one answer may cost.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Limits {
    /// Nested containers in arguments.
    pub depth: usize,
    /// Calls in one answer; what follows the last is dropped, with one fault.
    pub calls: u32,
    /// Bytes of a name.
    pub name: usize,
    /// Bytes that are held back at a time.
    pub held: usize,
    /// Bytes of the arguments of one call.
    pub arguments: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self { depth: 128, calls: 1024, name: 256, held: 8 << 20, arguments: 64 << 20 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_start_is_read_by_its_name() {
        assert_eq!("text".parse(), Ok(Start::Text));
        assert_eq!("reasoning".parse(), Ok(Start::Reasoning));
        assert_eq!("unknown".parse(), Ok(Start::Unknown));
    }

    #[test]
    fn another_name_is_an_error_that_quotes_it() {
        let error = "Text".parse::<Start>().unwrap_err();
        assert_eq!(error.to_string(), r#"expected "text", "reasoning" or "unknown", got "Text""#);
    }
}
