//! The options of the assistant itself.

use std::path::PathBuf;

use clap::{Args, Command, ValueEnum};

use crate::common::Common;
use crate::screen::bell::BellOptions;
use crate::session::SessionOptions;

/// What standard output carries.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// The answer
    Text,
    /// One object at the end
    Json,
    /// Events as they happen, an object a line
    StreamJson,
}

/// The assistant itself: interactive, or with -p for one task.
#[derive(Debug, Args)]
pub(crate) struct Assistant {
    /// Does one task and ends; what is piped in is added to the prompt
    #[arg(short, long, value_name = "PROMPT", num_args = 0..=1, default_missing_value = "")]
    pub(crate) print: Option<String>,
    /// What standard output carries with -p
    #[arg(long, value_enum, value_name = "FORMAT", default_value = "text", requires = "print")]
    pub(crate) output_format: Format,
    /// The same as --output-format json
    #[arg(id = "print_json", long = "json", requires = "print", conflicts_with = "output_format")]
    json: bool,
    /// A question of more than one word: the conversation begins with it, or -p answers it
    #[arg(value_name = "QUESTION")]
    question: Option<String>,
    /// Attaches FILE to the question: text, an image, or a PDF; may be given again
    #[arg(short, long, value_name = "FILE")]
    pub(crate) file: Vec<PathBuf>,
    /// With -p: the answer is JSON that fits the JSON schema in FILE
    #[arg(long, value_name = "FILE", requires = "print")]
    pub(crate) schema: Option<PathBuf>,
    /// Shows answers as the model wrote them: their Markdown is not laid out, and in a pipe control characters stay
    #[arg(long)]
    pub(crate) raw: bool,
    #[command(flatten)]
    pub(crate) bell: BellOptions,
    #[command(flatten)]
    pub(crate) session: SessionOptions,
}

impl Assistant {
    /// What it takes, with what every command does.
    pub(crate) fn options() -> Command {
        Common::augment_args(Self::augment_args(Command::new("del")))
    }

    /// The one task to do, if that is wanted.
    pub(crate) fn task(&self) -> Option<&str> {
        let print = self.print.as_deref()?;
        Some(if print.is_empty() { self.question.as_deref().unwrap_or_default() } else { print })
    }

    /// What a conversation begins with.
    pub(crate) fn question(&self) -> Option<&str> {
        self.question.as_deref()
    }

    pub(crate) fn format(&self) -> Format {
        if self.json { Format::Json } else { self.output_format }
    }
}
