//! What there is to show while the agent works.

use std::fmt;

use del_dialects::{Fault, Span};

use crate::settings::Mode;

/// Something to show, as it happens.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum View<'a> {
    /// A request goes out.
    Turn {
        /// Its number within the question, from 1.
        turn: u32,
        /// How the model learns of the tools.
        mode: Mode,
        /// The dialect that calls are written in; prompt mode only.
        dialect: Option<&'a str>,
        /// The request carries a grammar.
        constrained: bool,
    },
    /// The model is asked for a summary of the conversation.
    Compacting,
    /// What the model wrote, before anything is read in it.
    Raw {
        /// As it came.
        text: &'a str,
        /// The server set it apart, as thinking.
        apart: bool,
    },
    /// Text for the user.
    Text(&'a str),
    /// Thinking.
    Reasoning(&'a str),
    /// A call begins.
    CallStart {
        /// Its number within the answer.
        call: u32,
        /// The tool.
        name: &'a str,
        /// The dialect that matched.
        dialect: &'a str,
        /// Where in the model's text, in bytes.
        span: Span,
    },
    /// A piece of a call's arguments.
    Args {
        /// The call's number.
        call: u32,
        /// JSON text.
        json: &'a str,
    },
    /// A call is complete.
    CallEnd {
        /// The call's number.
        call: u32,
    },
    /// Something was wrong with the answer, or was mended.
    Fault {
        /// What.
        fault: Fault,
        /// Where in the model's text, in bytes.
        span: Span,
    },
    /// The model writes the same again and again for kilobytes, or does so no more. It may have been asked to; only what goes
    /// on and on is ended.
    Repeating(bool),
    /// Something that the user should know.
    Notice(&'a Notice),
}

/// What a model wrote again and again, so that its answer was ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Circle {
    /// The same words, for a quarter of a megabyte.
    Words,
    /// The same thoughts, for tens of kilobytes.
    Thoughts,
    /// The same calls, for kilobytes.
    Calls,
    /// White space that means nothing: in a call's arguments, or where a grammar or a schema holds the answer.
    Blanks,
}

/// Something that the user should know.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Notice {
    /// Tools go into the prompt from now on.
    PromptMode {
        /// Why.
        reason: String,
    },
    /// The request is tried again.
    Retry {
        /// Which try comes next, from 2.
        next: u32,
        /// How many there are.
        tries: u32,
        /// Until then.
        milliseconds: u64,
        /// Why.
        reason: String,
    },
    /// Calls are not constrained, although that was wanted.
    Unconstrained {
        /// Why.
        reason: String,
    },
    /// The model asked for definitions, and has them from now on.
    Defined {
        /// The tools.
        names: Vec<String>,
    },
    /// A call was not run, for it is the same again.
    Repeated {
        /// The tool.
        name: String,
        /// How often in a row.
        times: u32,
    },
    /// Old results were left out to make room.
    LeftOut {
        /// Tokens before, about.
        before: u64,
        /// Tokens now, about.
        after: u64,
    },
    /// What the user said while calls ran is no part of the conversation, as the server refused it.
    Unsaid {
        /// How many times the user said something.
        count: usize,
    },
    /// The oldest part of the conversation was summed up to make room.
    SummedUp {
        /// Tokens before, about.
        before: u64,
        /// Tokens now, about.
        after: u64,
    },
    /// It was not.
    NotSummedUp {
        /// Why.
        reason: String,
    },
    /// The server read much less than it was sent.
    Truncated {
        /// Tokens that it was sent, about.
        sent: u64,
        /// Tokens that it read.
        read: u64,
    },
    /// The answer was cut at a limit of tokens.
    Cut,
    /// The answer was ended, for the model wrote the same again and again.
    Circular(Circle),
    /// The answer has calls that cannot be used; the model is told.
    BrokenCall {
        /// What is wrong with the first.
        reason: &'static str,
    },
    /// The answer shows calls as examples, which are not run.
    Shown {
        /// Their tools.
        names: Vec<String>,
    },
    /// The answer is a call of a tool that is not there, in a form that nothing runs.
    NoSuchTool {
        /// The name, as far as it can be read.
        name: String,
    },
    /// The model answered nothing.
    Empty,
    /// The server withheld the answer, or the rest of it.
    Withheld,
}

impl fmt::Display for Notice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::PromptMode { reason } => write!(f, "tools go into the prompt from now on: {reason}"),
            Self::Retry { next, tries, milliseconds, reason } => {
                write!(
                    f,
                    "{reason}; try {next} of {tries} in {}.{} s",
                    milliseconds / 1000,
                    milliseconds % 1000 / 100
                )
            }
            Self::Unconstrained { reason } => write!(f, "calls are not constrained: {reason}"),
            Self::Defined { names } => {
                write!(f, "the model asked for tools, and has their definitions now: {}", names.join(", "))
            }
            Self::Repeated { name, times } => {
                write!(
                    f,
                    "the same call of `{name}` came {times} times in a row and was not run; the model is told"
                )
            }
            Self::Unsaid { count } => {
                let what = if *count == 1 { "what you said" } else { "all that you said" };
                write!(f, "{what} while calls ran is left out of the conversation: the server refused it")
            }
            Self::LeftOut { before, after } => {
                write!(
                    f,
                    "the context was nearly full: old results are left out, {before} tokens are {after} now"
                )
            }
            Self::SummedUp { before, after } => {
                write!(
                    f,
                    "the context was nearly full: the conversation is summed up, {before} tokens are {after} now"
                )
            }
            Self::NotSummedUp { reason } => {
                write!(f, "the context is nearly full, and the conversation cannot be summed up: {reason}")
            }
            Self::Truncated { sent, read } => write!(
                f,
                "the server read {read} tokens of about {sent}: it cut the rest off in silence. Give the model a larger \
                 context (with Ollama: num_ctx, or OLLAMA_CONTEXT_LENGTH)"
            ),
            Self::Cut => f.write_str("the answer was cut at its limit of tokens"),
            Self::Circular(circle) => f.write_str(match circle {
                Circle::Words => {
                    "the model wrote the same again and again, 256 kB of it; its answer was ended, and the conversation keeps \
                     its beginning. Go on by asking for less at once, or for a command that writes so much"
                }
                Circle::Thoughts => {
                    "the model thought the same again and again; its answer was ended. Ask in another way, or have it think \
                     less (`/thinking low`, `--think off`)"
                }
                Circle::Calls => {
                    "the model made the same calls again and again; its answer was ended, and each counts once"
                }
                Circle::Blanks => {
                    "the model wrote nothing but white space where it has no meaning; its answer was ended. Ask again, or \
                     take another model"
                }
            }),
            Self::BrokenCall { reason } => write!(f, "a call cannot be used: {reason}; the model is told"),
            Self::Shown { names } => write!(
                f,
                "nothing was run: the answer only shows how to call {}. Ask the model to do it; `del doctor` says by \
                 which way of calling tools it does",
                names.join(", ")
            ),
            Self::NoSuchTool { name } => {
                write!(f, "nothing was run: the answer is a call of {name}, and there is no such tool")
            }
            Self::Empty => f.write_str("the model answered nothing"),
            Self::Withheld => f.write_str("the server's content filter withheld the answer, or the rest of it"),
        }
    }
}
