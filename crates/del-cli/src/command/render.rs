//! `del render`: the way back, from messages and tools to what a model is shown in its dialect.

use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::Result;
use clap::{Args, ValueEnum};
use del_dialects::{Call, CallResult, Detail, Dialect, Tool};
use del_wire::{native, tools};
use serde_json::{Value, json};

use crate::arguments::Common;
use crate::catalog::Catalog;
use crate::exit::Exit;
use crate::input::read_text;
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
    /// The conversation, as messages of the `OpenAI` API
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

/// A message as the model is shown it.
struct Shown {
    part: Part,
    role: String,
    text: String,
}

pub(crate) fn run(options: &Options, common: &Common) -> Result<Exit> {
    let catalog = Catalog::load(common.dialect_dir.as_deref())?;
    let dialect = catalog.get(&options.dialect)?;
    let name = options.tools.display();
    let tools = tools::read_text(&read_text(&options.tools, Exit::BadInput)?)
        .map_err(|error| Exit::BadInput.because(format!("{name}: {error}")))?;
    let messages = options.messages.as_ref().map(|path| {
        read_messages(&read_text(path, Exit::BadInput)?)
            .map_err(|error| Exit::BadInput.because(format!("{}: {error}", path.display())))
    });
    let definitions = dialect.system_prompt(&tools, Detail::Full);
    let mut shown = vec![Shown { part: Part::Definitions, role: "system".to_owned(), text: definitions }];
    render(dialect, &tools, &messages.transpose()?.unwrap_or_default(), &mut shown)?;
    shown.retain(|shown| options.part == Part::All || shown.part == options.part);
    let mut out = std::io::stdout().lock();
    if options.json {
        let list: Value =
            shown.iter().map(|shown| json!({"role": shown.role, "content": shown.text})).collect();
        writeln!(out, "{list:#}")?;
    } else {
        let texts: Vec<&str> = shown.iter().map(|shown| shown.text.trim_end_matches('\n')).collect();
        writeln!(out, "{}", terminal::shown(&texts.join("\n\n")))?;
    }
    Ok(Exit::Done)
}

/// Renders the messages. Results that follow each other are one message.
fn render(dialect: &Arc<Dialect>, tools: &[Tool], messages: &[Value], shown: &mut Vec<Shown>) -> Result<()> {
    let mut calls: Vec<Call> = Vec::new();
    let mut results: Vec<CallResult> = Vec::new();
    for (place, message) in messages.iter().enumerate() {
        let bad = |error: String| Exit::BadInput.because(format!("messages[{place}]: {error}"));
        let role = message["role"].as_str().unwrap_or_default();
        if role == "tool" {
            results.push(result(message, &calls));
            continue;
        }
        flush(dialect, &mut results, shown);
        if role == "assistant" {
            let message = native::read(&message.to_string()).map_err(|error| bad(error.to_string()))?;
            if let Some(fault) = message.faults.iter().find(|fault| fault.kind.ends_call()) {
                return Err(bad(fault.kind.message().to_owned()));
            }
            push(shown, Part::All, role, &message.content);
            if !message.calls.is_empty() {
                let text =
                    dialect.render_calls(&message.calls, tools).map_err(|error| bad(error.to_string()))?;
                push(shown, Part::Calls, role, &text);
            }
            calls = message.calls;
        } else if role.is_empty() {
            return Err(bad("expected a message with a role, got none".to_owned()));
        } else {
            push(shown, Part::All, role, &text_of(&message["content"]));
        }
    }
    flush(dialect, &mut results, shown);
    Ok(())
}

fn flush(dialect: &Dialect, results: &mut Vec<CallResult>, shown: &mut Vec<Shown>) {
    if !results.is_empty() {
        push(shown, Part::Results, dialect.results_role(), &dialect.render_results(results));
        results.clear();
    }
}

fn push(shown: &mut Vec<Shown>, part: Part, role: &str, text: &str) {
    if !text.is_empty() {
        shown.push(Shown { part, role: role.to_owned(), text: text.to_owned() });
    }
}

fn result(message: &Value, calls: &[Call]) -> CallResult {
    let id = message["tool_call_id"].as_str().map(str::to_owned);
    let called = || Some(calls.iter().find(|call| call.id.is_some() && call.id == id)?.name.clone());
    let name = message["name"].as_str().map(str::to_owned).or_else(called).unwrap_or_default();
    CallResult { id, name, text: text_of(&message["content"]), ok: true }
}

/// The text of a content: a string, or the text parts of a list.
fn text_of(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts.iter().filter_map(|part| part["text"].as_str()).collect(),
        _ => String::new(),
    }
}

fn read_messages(text: &str) -> Result<Vec<Value>, String> {
    let value: Value = serde_json::from_str(text).map_err(|error| format!("expected JSON, got {error}"))?;
    let list = match value {
        Value::Object(mut request) => request.remove("messages").unwrap_or_default(),
        other => other,
    };
    match list {
        Value::Array(list) => Ok(list),
        _ => Err("expected a list of messages, or an object with `messages`".to_owned()),
    }
}
