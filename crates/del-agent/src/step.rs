//! What goes in and what comes out.

use del_dialects::{CallResult, ReadCall};
use del_wire::{ApiError, ApiErrorKind, Usage};
use serde_json::Value;

/// What has happened in the world.
#[derive(Debug, Clone, PartialEq)]
pub enum Input<'a> {
    /// The user asks.
    Start(&'a str),
    /// The last answer is not enough, for this reason, which the model is told. Its requests count as the same question's.
    GoOn(&'a str),
    /// The user wants the conversation summed up, and this kept.
    Compact(&'a str),
    /// Bytes of the body of an answer with a good status: a stream, or one JSON document.
    Bytes(&'a [u8]),
    /// The same, for callers that take streams apart themselves: one JSON text.
    Chunk(&'a str),
    /// The body has ended as bodies end.
    End,
    /// The server could not be reached, or did not answer. Says why.
    Unreachable(&'a str),
    /// The server cannot be reached so, however often it is tried: it leads to another address. Says why.
    Astray(&'a str),
    /// The connection stood, and broke before the body or inside it. Says why.
    HungUp(&'a str),
    /// The connection stands, and nothing has come for as long as anybody waits.
    Silent,
    /// An answer with a status of 400 or more.
    Refused {
        /// The status.
        status: u16,
        /// The whole body.
        body: &'a str,
        /// The `Retry-After` header, in milliseconds.
        retry_after: Option<u64>,
    },
    /// What the calls of [`Effect::Run`] gave, in any order.
    Results(Vec<CallResult>),
    /// The tokens of the request of [`Effect::Count`]; nothing where the server does not say.
    Counted(Option<u64>),
    /// The time of [`Effect::Wait`] is over.
    Waited,
    /// The user wants no more of this.
    Cancel,
    /// The same while calls ran: the results there are. Calls without one were not run.
    Stopped(Vec<CallResult>),
}

impl Input<'_> {
    /// The input's name, for errors.
    pub(crate) const fn name(&self) -> &'static str {
        match self {
            Self::Start(_) => "a question",
            Self::GoOn(_) => "a reason to go on",
            Self::Compact(_) => "a wish for a summary",
            Self::Bytes(_) | Self::Chunk(_) => "a piece of an answer",
            Self::End => "the end of an answer",
            Self::Unreachable(_) => "a failed connection",
            Self::Astray(_) => "a connection that leads elsewhere",
            Self::HungUp(_) => "a broken connection",
            Self::Silent => "silence",
            Self::Refused { .. } => "a refusal",
            Self::Results(_) => "results",
            Self::Counted(_) => "a number of tokens",
            Self::Waited => "the end of a wait",
            Self::Cancel | Self::Stopped(_) => "a cancellation",
        }
    }
}

/// What is to be done in the world.
#[derive(Debug, Clone, PartialEq)]
#[must_use]
pub enum Effect {
    /// Go on: more input of the same kind is expected.
    Continue,
    /// Post this to where the API of the settings gives answers, and stream the answer in. An answer still under way is to be dropped.
    Request(Value),
    /// Ask the server how many tokens this request has, and come back with [`Input::Counted`]: whether room has to be made
    /// depends on it. Nothing is to be answered.
    Count(Value),
    /// Wait, then say [`Input::Waited`].
    Wait {
        /// How long.
        milliseconds: u64,
    },
    /// Run these calls; every one has an id of its own. One with a guess must be asked about first, unless it only
    /// reads. Come back with [`Input::Results`].
    Run(Vec<ReadCall>),
    /// The question is answered, or the conversation summed up as was wanted. The next [`Input::Start`] goes on with the
    /// same conversation.
    Done(Done),
    /// The question cannot be answered. The next [`Input::Start`] goes on with the conversation: without the question
    /// where nothing came of it, with what was said and done otherwise.
    Failed(Failure),
}

/// An answer.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Done {
    /// The model's last text, without white space around it.
    pub answer: String,
    /// The answer was cut at a limit of tokens.
    pub cut: bool,
    /// Requests that the question cost.
    pub turns: u32,
    /// Tokens that the question cost, as far as the server says.
    pub usage: Usage,
}

/// Why there is no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Failure {
    /// No connection.
    #[error("the model server cannot be reached ({reason}; tries: {tries}). Start it, or give its address")]
    Unreachable {
        /// Why.
        reason: String,
        /// How often it was tried.
        tries: u32,
    },
    /// The server was reached, and hung up before it answered.
    #[error(
        "the model server was reached, but hung up before it answered ({reason}; tries: {tries}). Its own log may say why"
    )]
    NoAnswer {
        /// Why.
        reason: String,
        /// How often it was tried.
        tries: u32,
    },
    /// The server was reached, and said nothing for as long as anybody waits.
    #[error(
        "the model server was reached, but said nothing in time (tries: {tries}). It may load the model or read a long prompt, which --first-byte-timeout gives more time for; or it hangs, and has to be started anew"
    )]
    Silent {
        /// How often it was tried.
        tries: u32,
    },
    /// The connection broke inside an answer.
    #[error("the model server hung up in the middle of its answer ({reason}). Ask again")]
    HungUp {
        /// Why.
        reason: String,
    },
    /// The answer is not one of a model server.
    #[error("this is no answer of a model server: {reason}. Check the address; it usually ends in /v1")]
    Garbage {
        /// What was expected and what came.
        reason: String,
    },
    /// The server refused.
    #[error("the model server refused{}: {}{}", status_text(*.status), words(.error), advice(.error))]
    Refused {
        /// The status, if the refusal had one of its own.
        status: Option<u16>,
        /// What the server says.
        error: ApiError,
    },
    /// The server, or its model, takes no images, and some go along.
    #[error(
        "the model server refused{}, as an image goes along: {}. Take a model that sees images, or ask without it",
        status_text(*.status), words(.error)
    )]
    Images {
        /// The status, if the refusal had one of its own.
        status: Option<u16>,
        /// What the server says.
        error: ApiError,
    },
    /// The question cost more requests than it may.
    #[error("no answer within the limit of turns ({turns}). Raise it, or ask for less at once")]
    TurnLimit {
        /// The limit.
        turns: u32,
    },
    /// The model makes the same call again and again.
    #[error(
        "the model made the same call of `{name}` {times} times in a row, also after it was told. Ask in another way, or take another model"
    )]
    Loop {
        /// The tool.
        name: String,
        /// How often.
        times: u32,
    },
    /// The model cannot write a call that can be read.
    #[error(
        "the model wrote {times} calls that cannot be read ({reason}). Try another dialect, constrained calls, or another model"
    )]
    BrokenCalls {
        /// What is wrong with the last one.
        reason: &'static str,
        /// How often.
        times: u32,
    },
    /// The model was to sum the conversation up, and wrote nothing.
    #[error("the model wrote no summary. Try again, or take another model")]
    NoSummary,
    /// The user wanted no more of it.
    #[error("cancelled")]
    Cancelled,
    /// Whoever drives the agent does not let it go on; the agent itself never says so.
    #[error("{why}")]
    Stopped {
        /// Why.
        why: String,
    },
    /// The caller is out of step.
    #[error("expected {expected}, got {got}")]
    OutOfStep {
        /// What the agent waits for.
        expected: &'static str,
        /// What came.
        got: &'static str,
    },
}

fn status_text(status: Option<u16>) -> String {
    status.map_or_else(String::new, |status| format!(" (status {status})"))
}

/// What the server says, without a full stop: a sentence may follow.
fn words(error: &ApiError) -> &str {
    error.message.trim_end().trim_end_matches('.')
}

fn advice(error: &ApiError) -> String {
    match error.kind {
        ApiErrorKind::Authentication => ". Check the key".to_owned(),
        ApiErrorKind::NotFound => ". Check the name of the model and the address".to_owned(),
        ApiErrorKind::ToolsUnsupported => ". Put the tools into the prompt instead".to_owned(),
        ApiErrorKind::ContextExceeded { limit: Some(limit), sent: Some(sent) } => {
            format!(
                ". {sent} tokens are too many for {limit}: begin anew, or start the server with a larger context"
            )
        }
        ApiErrorKind::ContextExceeded { .. } => {
            ". Begin a new conversation, or start the server with a larger context".to_owned()
        }
        _ => String::new(),
    }
}
