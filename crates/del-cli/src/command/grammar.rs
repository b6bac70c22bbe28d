//! `del grammar`: what a model may write, as a grammar for constrained decoding.

use std::io::Write;
use std::path::PathBuf;

use anyhow::Result;
use clap::{Args, ValueEnum};
use del_grammar::{Choice, Grammar, GrammarError};
use serde_json::{Value, json};

use crate::catalog::Catalog;
use crate::common::Common;
use crate::exit::Exit;
use crate::input::read_tools;
use crate::say;
use crate::terminal::shown;

/// Write a grammar that holds a model to calls of these tools
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// The dialect
    #[arg(long, value_name = "NAME")]
    dialect: String,
    /// The tools, as JSON
    #[arg(long, value_name = "FILE")]
    tools: PathBuf,
    /// For which engine
    #[arg(long, value_enum, value_name = "FORMAT", default_value = "gbnf")]
    format: Format,
    /// `auto`: text, or calls behind it; `required`: calls; or the name of the tool to call
    #[arg(long, value_name = "CHOICE", default_value = "auto")]
    choice: String,
    /// Allow several calls in one answer, as is the default
    #[arg(long, overrides_with = "no_parallel")]
    parallel: bool,
    /// Allow one call in an answer
    #[arg(long)]
    no_parallel: bool,
    /// Allow a thought before required calls, where the model's prompt lets it think
    #[arg(long)]
    thinking: bool,
    /// Print the grammar with its triggers and warnings as JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// llama.cpp
    Gbnf,
    /// llguidance
    Lark,
    /// `XGrammar`, for vLLM and `SGLang`
    StructuralTag,
    /// Any engine, where the schemas have a bounded depth
    Regex,
}

pub(crate) fn run(options: &Options, common: &Common) -> Result<Exit> {
    let dialect = Catalog::load(common.dialect_dir.as_deref())?.get(&options.dialect)?;
    let tools = read_tools(&options.tools)?;
    let choice = match options.choice.as_str() {
        "auto" => Choice::Auto,
        "required" => Choice::Required,
        tool => Choice::Named(tool.to_owned()),
    };
    let lets = del_grammar::Options::new(choice).parallel(!options.no_parallel).thinking(options.thinking);
    let grammar = Grammar::new(dialect, &tools, &lets).map_err(|error| match error {
        GrammarError::UnknownTool { .. } => {
            Exit::Usage.because(format!("--choice: expected auto, required or a name; {error}"))
        }
        _ => Exit::BadInput.because(format!("{}: {error}", options.tools.display())),
    })?;
    let text = printed(&grammar, options.format)?;
    let mut out = std::io::stdout().lock();
    if options.json {
        let warnings: Vec<Value> = grammar
            .warnings()
            .iter()
            .map(|warning| {
                json!({
                    "tool": warning.tool, "path": warning.path, "keyword": warning.keyword,
                    "message": warning.to_string(),
                })
            })
            .collect();
        let format = options.format.to_possible_value().map(|value| value.get_name().to_owned());
        let answer = json!({
            "dialect": dialect.name(), "format": format, "grammar": text, "triggers": grammar.triggers(),
            "warnings": warnings,
        });
        writeln!(out, "{}", shown(&format!("{answer:#}")))?;
        return Ok(Exit::Done);
    }
    grammar.warnings().iter().for_each(say);
    match text {
        Value::String(text) => writeln!(out, "{}", shown(text.trim_end_matches('\n')))?,
        value => writeln!(out, "{}", shown(&format!("{value:#}")))?,
    }
    Ok(Exit::Done)
}

fn printed(grammar: &Grammar, format: Format) -> Result<Value> {
    Ok(match format {
        Format::Gbnf => Value::String(grammar.to_gbnf()),
        Format::Lark => Value::String(grammar.to_lark()),
        Format::StructuralTag => grammar.to_structural_tag(),
        Format::Regex => {
            let regex = grammar.to_regex().map_err(|error| Exit::BadInput.because(error.to_string()))?;
            Value::String(regex)
        }
    })
}
