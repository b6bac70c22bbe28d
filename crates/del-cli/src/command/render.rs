//! `del render`: the way back, from messages and tools to what a model is shown in its dialect.

use std::io::Write;
use std::path::PathBuf;

use anyhow::Result;
use clap::{Args, ValueEnum};
use del_wire::error::excerpt;
use del_wire::{Prompt, prompt};
use serde_json::Value;

use crate::catalog::Catalog;
use crate::common::Common;
use crate::exit::Exit;
use crate::input::{read_text, read_tools};
use crate::terminal;

/// Write tools, calls and results as a model is shown them
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// The dialect
    #[arg(long, value_name = "NAME")]
    dialect: String,
    /// The tools, as JSON
    #[arg(long, value_name = "FILE")]
    tools: PathBuf,
    /// The conversation, as messages of the OpenAI API
    #[arg(long, value_name = "FILE")]
    messages: Option<PathBuf>,
    /// What to write
    #[arg(long, value_enum, value_name = "PART", default_value = "all")]
    part: Part,
    /// Print messages as JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Part {
    /// Everything, in order
    All,
    /// What the model is told of its tools
    Definitions,
    /// The model's calls
    Calls,
    /// The results
    Results,
}

pub(crate) fn run(options: &Options, common: &Common) -> Result<Exit> {
    let catalog = Catalog::load(common.dialect_dir.as_deref())?;
    let dialect = catalog.get(&options.dialect)?;
    let tools = read_tools(&options.tools)?;
    let mut prompt = Prompt::new(dialect, &tools);
    if let Some(path) = &options.messages {
        let bad = |error: String| Exit::BadInput.because(format!("{}: {error}", path.display()));
        let messages = read_messages(&read_text(path, Exit::BadInput)?).map_err(bad)?;
        prompt.read(&messages).map_err(|error| bad(error.to_string()))?;
        if let Some(error) = prompt.unwritten() {
            return Err(bad(error.to_string()));
        }
    }
    let messages = match options.part {
        Part::All => prompt.into_messages(),
        Part::Definitions => prompt.into_part(prompt::Part::Definitions),
        Part::Calls => prompt.into_part(prompt::Part::Calls),
        Part::Results => prompt.into_part(prompt::Part::Results),
    };
    let mut out = std::io::stdout().lock();
    if options.json {
        writeln!(out, "{}", terminal::shown(&format!("{:#}", Value::Array(messages))))?;
    } else {
        let texts: Vec<String> = messages.iter().map(|message| text_of(&message["content"])).collect();
        writeln!(out, "{}", terminal::shown(&texts.join("\n\n")))?;
    }
    Ok(Exit::Done)
}

/// The text of a content: a string, or the text parts of a list.
fn text_of(content: &Value) -> String {
    match content {
        Value::Array(parts) => parts.iter().filter_map(|part| part["text"].as_str()).collect(),
        other => other.as_str().unwrap_or_default().trim_end_matches('\n').to_owned(),
    }
}

fn read_messages(text: &str) -> Result<Vec<Value>, String> {
    let value: Value = serde_json::from_str(text)
        .map_err(|error| format!("expected JSON, got `{}` ({error})", excerpt(text)))?;
    let list = match value {
        Value::Object(mut request) => request.remove("messages").unwrap_or_default(),
        other => other,
    };
    match list {
        Value::Array(list) => Ok(list),
        other => {
            let got = excerpt(&other.to_string());
            Err(format!("expected a list of messages, or an object with `messages`, got `{got}`"))
        }
    }
}
