//! What whoever is asked may say, and what stays allowed by it.

use std::fmt;

use crate::outcome::Failure;
use crate::plan::Grant;
use crate::question::Question;
use crate::rule::Rule;

/// Whoever can be asked.
pub trait Consent {
    /// Shows `question` and waits for the answer. Text in it comes from a model: show it through [`crate::visible`].
    fn ask(&mut self, question: &Question) -> Answer;

    /// Tells whoever was asked why an answer does not do; the same question follows.
    fn object(&mut self, _why: &Failure) {}
}

/// The answer to a question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// This once.
    Yes,
    /// This, and the same call with the same arguments in the same directory for the rest of the session.
    Always,
    /// What these rules cover, for the rest of the session; this, if they cover it.
    Allow(Vec<Rule>),
    /// The same with this text in place of what the question lets the user change. It is judged and asked about anew.
    Edit(String),
    /// This once, with the network. The question comes anew and says what that means; only a yes to that runs it.
    Network,
    /// Not; the reason, if any, goes to the model.
    No {
        /// Why not, in the user's words.
        reason: Option<String>,
    },
}

/// Something that runs without asking.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Permission {
    /// Calls that fit a rule.
    Rule(Rule),
    /// The same call again.
    Call(Grant),
    /// What is sent to a host.
    Destination(String),
}

impl fmt::Display for Permission {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rule(rule) => write!(f, "{rule}: {}", rule.meaning()),
            Self::Call(grant) => write!(f, "exactly this call: {} {}", grant.tool, grant.arguments),
            Self::Destination(to) => write!(f, "sending to {to}"),
        }
    }
}
