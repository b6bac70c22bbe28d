//! The way back: answers, results and definitions as text, from the same description that reads them.

mod answer;
mod call;
mod equal;
mod form;
mod id;
mod literal;
mod parameters;
mod prompt;
mod proof;
mod results;
mod spelling;
mod typescript;

use std::fmt;
use std::sync::Arc;

use crate::collect::Message;
use crate::dialect::Dialect;
use crate::message::Call;
use crate::tool::Tool;
use answer::Stretch;
pub(crate) use spelling::{literal, spaced};

/// Why an answer cannot be written in a dialect.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum RenderError {
    /// The arguments are no JSON object.
    Arguments {
        /// The tool's name.
        name: String,
        /// The start of the arguments.
        got: String,
    },
    /// What would be written does not read as the same call.
    Unrepresentable {
        /// The dialect's name.
        dialect: String,
        /// The tool's name.
        name: String,
    },
    /// Text or thinking would read as something else: as a call, or not at all.
    Text {
        /// The dialect's name.
        dialect: String,
        /// `text` or `thinking`.
        what: &'static str,
        /// The start of it.
        got: String,
    },
}

impl fmt::Display for RenderError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Arguments { name, got } => {
                write!(f, "expected a JSON object as the arguments of {name:?}, got {got:?}")
            }
            Self::Unrepresentable { dialect, name } => write!(
                f,
                "{dialect} cannot carry this call of {name:?}: its text would not read back the same"
            ),
            Self::Text { dialect, what, got } => {
                write!(f, "{dialect} cannot carry this {what}: it would not read back the same: {got:?}")
            }
        }
    }
}

impl std::error::Error for RenderError {}

impl RenderError {
    /// True when it is the thinking that has no form in the dialect.
    pub fn is_about_thinking(&self) -> bool {
        matches!(self, Self::Text { what: "thinking", .. })
    }
}

/// How much a model is told of its tools.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Detail {
    /// Name, required arguments and one sentence, and an example with capitals for values: for models so small that they
    /// copy what they can of whole schemas.
    Compact,
    /// Types of TypeScript with comments: about half the tokens, and nothing left out.
    Types,
    /// The form that the dialect's family is shown.
    #[default]
    Full,
}

impl Dialect {
    /// Calls as the model itself writes them. `tools` are those of the conversation: they type raw values.
    ///
    /// # Errors
    /// When the text would not read back as the same calls: nothing is ever silently changed.
    pub fn render_calls(self: &Arc<Self>, calls: &[Call], tools: &[Tool]) -> Result<String, RenderError> {
        self.render(&[Stretch::Calls(calls.iter().collect())], tools)
    }

    /// A whole answer as the model itself writes it: thinking, text and calls, in the order of the message's parts, or
    /// in that order where it has none. Tokens that end a turn are not written.
    ///
    /// White space around text and thinking may be another when the answer is read again, where it stands beside
    /// markup; text that is nothing but white space is left out beside anything else.
    ///
    /// # Errors
    /// When the answer would not read back the same: a call that the dialect cannot carry, text that holds markup, or
    /// thinking where the dialect knows none.
    pub fn render_answer(self: &Arc<Self>, answer: &Message, tools: &[Tool]) -> Result<String, RenderError> {
        self.render(&answer::stretches(answer), tools)
    }

    fn render(self: &Arc<Self>, stretches: &[Stretch<'_>], tools: &[Tool]) -> Result<String, RenderError> {
        let mut out = String::new();
        self.write_answer(stretches, tools, &mut out)?;
        self.prove(stretches, tools, &out)?;
        Ok(out)
    }
}
